"""What the separability of classes says of problems, so that these always agree: with each other, and with
``cc.separability``. A model says which of them it is, and by which blocks, in its method ``separating``.

==============  ========================================================================================================
a hard margin   feasible iff the classes are strictly separable; otherwise a circuit is a Farkas vector
a likelihood    without a penalty attained iff the classes overlap; otherwise a direction along which no margin shrinks
                and some grow proves that there is no minimum
the perceptron  infeasible iff all margins add up to 0; its optimum is 0 iff the classes are separable, or weakly so
==============  ========================================================================================================

An optimum that doubles show clearly stands as it is. One that hangs on their last digits has to agree with the verdict
in rationals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array
from convexcls.problem import Constraint, Problem
from convexcls.proofs.claims.direction import Direction
from convexcls.proofs.claims.farkas import Farkas
from convexcls.proofs.claims.linear_program import largest_ratio
from convexcls.proofs.claims.separation import Separation
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.residuals import KKT
from convexcls.proofs.separability.alternative import Guess, scaled_doubles
from convexcls.proofs.separability.core import separate, strictly
from convexcls.rational.elimination import dot
from convexcls.rows import Rows
from convexcls.rows.spanning import dimension

#: With more unknowns, or more entries, rationals would take too long: then doubles have the last word.
MAX_DIMENSION = 150
MAX_ENTRIES = 100_000_000


def separation_of(problem: Problem) -> Separating | None:
    """How separability bears on a problem; None where it does not, or where it would take too long."""
    view: Separating | None = problem.__dict__.get("_separating")
    if view is None:
        view = problem.separating()
        if view is None or dimension(view.rows) > MAX_DIMENSION or view.rows.entries > MAX_ENTRIES:
            return None
        problem.__dict__["_separating"] = view  # what is found once is kept, as a cached property would
    return view


@dataclass(frozen=True, eq=False)
class Finding:
    """A proof that separability gives: one of the three, the last with its multipliers and measures."""

    farkas: Farkas | None = None
    direction: Direction | None = None
    x: Array | None = None
    multipliers: Mapping[str, Array] | None = None
    kkt: KKT | None = None


class Separating:
    """A problem whose verdict hangs on whether its ``rows`` can be moved to one side: those that count of the block
    ``margin``, over its variables but for slacks."""

    #: The slacks of the margins, where they have any.
    slack = ""

    def __init__(self, problem: Problem, rows: Rows, margin: str = "margin") -> None:
        self.problem, self.rows = problem, rows
        self.margin = next(b for b in (*problem.terms, *problem.constraints) if b.name == margin)
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
        z = None if farkas is None else farkas.get(self.margin.name)
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
            return float(4 * (v.size + 16) * UNIT_ROUNDOFF * (self.reach @ np.abs(v)))

    @cached_property
    def reach(self) -> Array:
        """The largest entry of each column, which the problem's own rows have worked out before."""
        names = [v.name for v in self.problem.variables if v.name != self.slack]
        return np.concatenate([self.margin.entries[v].column_max() for v in names])

    @cached_property
    def separation(self) -> Separation:
        """The verdict on the rows, in rationals."""
        return separate(self.rows, self.tip)


class SeparatingMargin(Separating):
    """The margins are constraints, at least one each."""

    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        if kkt.violation < 0.25 and self._rounding(x) < 0.25:
            return True  # every margin is above 1/2: x separates the classes
        return self.strict[0] is not None

    @cached_property
    def strict(self) -> tuple[list[Fraction] | None, dict[int, Fraction]]:
        """A direction with every margin above 0, or a circuit."""
        return strictly(self.rows, self.tip)

    def finding(self, tol: float) -> Finding | None:
        _, circuit = self.strict
        if not circuit:
            return None
        whole = sum(circuit.values())
        z = np.zeros(self.rows.shape[0])
        for i, weight in circuit.items():
            z[i] = float(weight / whole)
        used = np.flatnonzero(z)
        rows = self.rows[used]
        residual = largest_ratio(rows.T @ z[used], abs(rows).T @ z[used])  # of doubles; the proof is in rationals
        exactly = {self.margin.name: {i: weight / whole for i, weight in circuit.items()}}
        return Finding(farkas=Farkas({self.margin.name: z}, -float(z.sum()), residual, exactly))


class SeparatingPerceptron(Separating):
    """The slacks of the margins add up to the objective, and the margins themselves to a number that is not 0."""

    def __init__(self, problem: Problem, rows: Rows, margin: str, slack: str, sign: str, normalization: str) -> None:
        super().__init__(problem, rows, margin)
        self.slack, self.sign = slack, sign
        self.normalization: Constraint = next(c for c in problem.constraints if c.name == normalization)

    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        if self._sums_cancel():
            return False
        size = self.problem.unit
        if kkt.objective <= 1e-6 * size or (kkt.lower > 1e-6 * size and self._rounding(x) < 1e-9):
            return True
        return self.separation.kind == "overlapping"

    def _sums_cancel(self) -> bool:
        """Whether all margins add up to 0, so that no hyperplane can have a mean margin of one."""
        row = self.problem.rows(self.normalization)
        if np.any(np.abs(row.to_dense()[0][: self.rows.shape[1]]) > 1e-9 * self.problem.unit * self.reach):
            return False
        return not any(self._sums())

    def _sums(self) -> list[Fraction]:
        """The rows times their weights, added up without rounding."""
        return [value for entries in self.normalization.entries.values() for value in entries.rational()[0]]

    def finding(self, tol: float) -> Finding | None:
        if self._sums_cancel():
            z = {c.name: np.zeros(c.size) for c in self.problem.constraints}
            z[self.normalization.name] = np.full(1, -1.0)
            exactly = {self.normalization.name: {0: Fraction(-1)}}
            return Finding(farkas=Farkas(z, -self.problem.unit, 0.0, exactly))
        found = self.separation
        if found.direction is None:
            return None
        if (v := self._normalized(found.direction)) is None:
            return None
        weights = self.problem.linear[self.slack]
        x = np.zeros(self.problem.size)
        x[: v.size] = v
        x[self.problem.layout[self.slack]] = np.maximum(-self._margins(x), 0.0)
        z = {c.name: weights.copy() if c.name == self.sign else np.zeros(c.size) for c in self.problem.constraints}
        measures = check_kkt(self.problem, x, z)
        return Finding(x=x, multipliers=z, kkt=measures) if measures.holds(tol) else None

    def _normalized(self, direction: tuple[Fraction, ...]) -> Array | None:
        """The multiple of a separating direction whose mean margin is one; None where doubles do not reach so far."""
        v, weights, unit = scaled_doubles(direction), self.problem.linear[self.slack], self.problem.unit
        total = float(weights[weights > 0] @ (self.rows @ v))
        if total > 1e6 * unit * self._rounding(v):
            return v * (unit / total)
        # of columns that nearly depend on each other rounding may leave nothing
        exactly = dot(self._sums(), direction)
        try:
            return np.array([float(a * Fraction(unit) / exactly) for a in direction])
        except OverflowError:
            return None

    def _margins(self, x: Array) -> Array:
        """y_i f(x_i) of all samples, those without weight, too."""
        entries = {v: rows for v, rows in self.margin.entries.items() if v != self.slack}
        return -sum((rows @ x[self.problem.layout[v]] for v, rows in entries.items()), np.zeros(self.margin.size))
