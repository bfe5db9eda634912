"""A problem whose verdict hangs on whether its rows can be moved to one side: what all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.proofs.certificate.infeasibility import Farkas
from convexcls.proofs.certificate.measures import KKT
from convexcls.proofs.certificate.recession import Direction
from convexcls.proofs.separability import Guess, Separation, separate
from convexcls.proofs.separability.section import exponent_of, power_of_two
from convexcls.rows import Rows

#: Half a rounding, with room for the sums of rounded bounds.
UNIT = 2.0**-52


@dataclass(frozen=True, eq=False)
class Finding:
    """A proof that separability gives: one of the three, the last with its multipliers and measures."""

    farkas: Farkas | None = None
    direction: Direction | None = None
    x: Array | None = None
    multipliers: Mapping[str, Array] | None = None
    kkt: KKT | None = None


class Separating:
    """A problem whose verdict hangs on whether its ``rows`` can be moved to one side."""

    def __init__(self, problem: Problem, rows: Rows) -> None:
        self.problem, self.rows = problem, rows
        self.tip: Guess | None = None

    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        """Whether an optimum that doubles show stands."""
        raise NotImplementedError

    def finding(self, tol: float) -> Finding | None:
        """A proof that there is no optimum, or of one; None where neither follows from separability alone."""
        raise NotImplementedError

    def rational_direction(self) -> dict[str, list[Fraction]] | None:
        """The direction that proves a minimum unattained, by variable and in rationals; None where there is none."""
        return None

    def consider(self, x: Array | None, farkas: Mapping[str, Array] | None, direction: Array | None) -> None:
        """Take a solver's answer as a guess of what to look for."""
        way = direction if direction is not None and direction.shape == (self.problem.size,) else x
        if way is not None and (way.shape != (self.problem.size,) or not np.all(np.isfinite(way))):
            way = None
        support = np.empty(0, dtype=np.intp)
        z = None if farkas is None else farkas.get("margin")
        if z is not None and z.shape == (self.rows.shape[0],) and np.all(np.isfinite(z)):
            support = np.flatnonzero(np.abs(z) > 1e-6 * np.abs(z).max(initial=0.0))
        self.tip = Guess(None if way is None else self._narrowed(way), support)

    def _narrowed(self, x: Array) -> Array:
        """The entries of x that the rows are over."""
        return x[: self.rows.shape[1]]

    def _rounding(self, x: Array) -> float:
        """How far rounding may put a margin off."""
        v = self._narrowed(x)
        with np.errstate(over="ignore"):
            return float(2 * (v.size + 16) * UNIT * (self.reach @ np.abs(v)))

    @cached_property
    def reach(self) -> Array:
        """The largest entry of each column, which the problem's own rows have worked out before."""
        block = self.problem.terms[0] if self.problem.terms else self.problem.constraints[0]
        names = [v.name for v in self.problem.variables if v.name != "slack"]
        return np.concatenate([block.entries[v].column_max() for v in names])

    @cached_property
    def separation(self) -> Separation:
        """The verdict on the rows, in rationals."""
        return separate(self.rows, self.tip)


def as_doubles(direction: tuple[Fraction, ...]) -> Array:
    """The direction with its largest entry about one, rounded: by a power of two, so that doubles stay what they
    are."""
    scale = power_of_two(-max(exponent_of(v) for v in direction if v))
    return np.array([float(v * scale) for v in direction])
