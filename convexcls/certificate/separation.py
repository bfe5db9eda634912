"""What separability says of four models, so that they always agree: with each other, and with ``cc.separability``.

==============  ========================================================================================================
hard margin     feasible iff the classes are strictly separable; otherwise a circuit is a Farkas vector
logistic,       without a penalty attained iff the classes overlap; otherwise a direction along which no margin shrinks
softmax         and some grow proves that there is no minimum
perceptron      infeasible iff all margins add up to 0; its optimum is 0 iff the classes are separable, or weakly so
==============  ========================================================================================================

An optimum that doubles show clearly stands as it is. One that hangs on their last digits has to agree with the verdict
in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate.infeasibility import Farkas
from convexcls.certificate.kkt import check_kkt
from convexcls.certificate.linear_program import largest_ratio
from convexcls.certificate.measures import KKT
from convexcls.certificate.recession import Direction
from convexcls.problem import Problem
from convexcls.rows import Array, Rows
from convexcls.separability import Guess, Separation, separate, strictly
from convexcls.separability.check import complaints
from convexcls.separability.section import exponent_of, power_of_two

#: With more unknowns, or more entries, rationals would take too long: then doubles have the last word.
LARGEST_DIMENSION = 150
LARGEST_ENTRIES = 100_000_000
#: Half a rounding, with room for the sums of rounded bounds.
UNIT = 2.0**-52
#: How far curvature, relative to what was added up, has to be above what rounding leaves.
CLEAR_CURVATURE = 1e-9
#: So many samples are enough to see that there is curvature.
SAMPLES = 2000


@dataclass(frozen=True, eq=False)
class Finding:
    """A proof that separability gives: one of the three, the last with its multipliers and measures."""

    farkas: Farkas | None = None
    direction: Direction | None = None
    x: Array | None = None
    multipliers: Mapping[str, Array] | None = None
    kkt: KKT | None = None


def separation_of(problem: Problem) -> Separating | None:
    """How separability bears on a problem; None where it does not, or where it would take too long."""
    view: Separating | None = problem.__dict__.get("_separating")
    if view is None:
        kind = {"hard-margin": _HardMargin, "logistic": _Likelihood, "softmax": _Likelihood, "perceptron": _Perceptron}
        hook = getattr(problem, "separation_rows", None)
        rows: Rows | None = hook() if hook is not None and problem.kind in kind else None
        if rows is None or rows.shape[1] > LARGEST_DIMENSION or rows.entries > LARGEST_ENTRIES:
            return None
        view = kind[problem.kind](problem, rows)
        problem.__dict__["_separating"] = view  # what is found once is kept, as a cached property would
    return view


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


class _HardMargin(Separating):
    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        if kkt.primal_feasibility.max < 0.25 and self._rounding(x) < 0.25:
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
        residual = largest_ratio(rows.T @ z[used], abs(rows).T @ z[used])  # of doubles: told, the proof is in rationals
        exactly = {"margin": {i: weight / whole for i, weight in circuit.items()}}
        return Finding(farkas=Farkas({"margin": z}, -float(z.sum()), residual, exactly))


class _Likelihood(Separating):
    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        return self._clear(x) or self.separation.kind == "overlapping"

    def _clear(self, x: Array) -> bool:
        """Whether the curvature of some samples is so far above rounding, in every direction, that a stationary point
        is a minimum: the exact multipliers are then near those of doubles, and above 0 like these."""
        if not self._rounding(x) < 1e-6:
            return False
        term = self.problem.terms[0]
        counted = np.flatnonzero(term.weights > 0)
        few = term.thinned(counted[:: max(counted.size // SAMPLES, 1)])
        rows = self.problem.joined(few.entries, few.size)
        hessian = few.gram(rows, rows @ x + few.offset)
        places = self._places()
        units = 1.0 / np.where(self.reach > 0, self.reach, 1.0)
        with np.errstate(over="ignore", under="ignore"):
            scaled = hessian[np.ix_(places, places)] * units[:, None] * units
        if not np.all(np.isfinite(scaled)):
            return False
        return bool(np.linalg.eigvalsh(scaled)[0] > CLEAR_CURVATURE * float(term.weights.sum()))

    @cached_property
    def reach(self) -> Array:
        whole = np.concatenate([self.problem.terms[0].entries[v.name].column_max() for v in self.problem.variables])
        return np.asarray(whole[self._places()])

    def _places(self) -> NDArray[np.intp]:
        """Where the unknowns of the rows stand: of softmax those of all classes but the last."""
        term, out = self.problem.terms[0], []
        width = term.loss.width
        for v in self.problem.variables:
            where = np.arange(self.problem.size)[self.problem.layout[v.name]]
            out.append(where if self.problem.kind == "logistic" else where[: where.size // (width + 1) * width])
        return np.concatenate(out)

    def _narrowed(self, x: Array) -> Array:
        if self.problem.kind == "logistic":
            return x
        by_class = [part.reshape(self.problem.terms[0].loss.width + 1, -1) for part in self.problem.split(x).values()]
        return np.concatenate([(part[:-1] - part[-1]).ravel() for part in by_class])

    def finding(self, tol: float) -> Finding | None:
        if self.separation.direction is None:
            return None
        exactly = self._whole(self.separation.direction)
        x = np.array([float(value) for value in exactly])
        term = self.problem.terms[0]
        samples = np.flatnonzero(term.weights > 0)[self._moves.reshape(-1, term.loss.width).any(axis=1)]
        return Finding(direction=Direction(x, 0.0, samples, 0.0, tuple(exactly)))

    def rational_direction(self) -> dict[str, list[Fraction]] | None:
        found = self.separation
        if found.direction is None or complaints(self.rows, found):
            return None
        x = self._whole(found.direction)
        return {v.name: x[self.problem.layout[v.name]] for v in self.problem.variables}

    @property
    def _moves(self) -> NDArray[np.bool_]:
        """Which margins grow along the direction."""
        moves = np.ones(self.rows.shape[0], dtype=bool)
        moves[self.separation.still] = False
        return moves

    def _whole(self, direction: tuple[Fraction, ...]) -> list[Fraction]:
        """The direction of all unknowns, those of softmax with sum zero over the classes, so long that the margin that
        grows least does so by one to two."""
        v = _as_doubles(direction)
        with np.errstate(over="ignore", under="ignore"):
            least = float((self.rows @ v)[self._moves].min())
        growth = math.frexp(least)[1] - 1 if 0 < least < math.inf else 0
        scale = power_of_two(-growth - max(exponent_of(value) for value in direction if value))
        x = [Fraction(0)] * self.problem.size
        for place, value in zip(self._places().tolist(), direction, strict=True):
            x[place] = value * scale
        if self.problem.kind == "softmax":
            classes = self.problem.terms[0].loss.width + 1
            for where in self.problem.layout.values():
                x[where] = _with_sum_zero(x[where], classes)
        return x


class _Perceptron(Separating):
    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        if self._sums_cancel():
            return False
        size = self.problem.unit
        clear = kkt.dual_objective > 1e-6 * size and self._rounding(x) < 1e-9
        if clear or kkt.objective <= 1e-6 * size:
            return True
        return self.separation.kind == "overlapping"

    def _sums_cancel(self) -> bool:
        """Whether all margins add up to 0, so that no hyperplane can have a mean margin of one."""
        row = next(c for c in self.problem.constraints if c.name == "normalization")
        sums = self.problem.rows(row).to_dense()[0][: self.rows.shape[1]]
        if np.any(np.abs(sums) > 1e-9 * self.problem.unit * self.reach):
            return False
        return not any(value for entries in row.entries.values() for value in entries.rational()[0])

    def finding(self, tol: float) -> Finding | None:
        if self._sums_cancel():
            z = {c.name: np.zeros(c.size) for c in self.problem.constraints}
            z["normalization"] = np.full(1, -1.0)
            exactly = {"normalization": {0: Fraction(-1)}}
            return Finding(farkas=Farkas(z, -self.problem.unit, 0.0, exactly))
        found = self.separation
        if found.direction is None:
            return None
        weights = self.problem.linear["slack"]
        v = _as_doubles(found.direction)
        x = np.zeros(self.problem.size)
        x[: v.size] = v * (self.problem.unit / float(weights[weights > 0] @ (self.rows @ v)))
        x[self.problem.layout["slack"]] = np.maximum(-self._margins(x), 0.0)
        z = {c.name: weights.copy() if c.name == "slack_sign" else np.zeros(c.size) for c in self.problem.constraints}
        measures = check_kkt(self.problem, x, z)
        return Finding(x=x, multipliers=z, kkt=measures) if measures.holds(tol) else None

    def _margins(self, x: Array) -> Array:
        """y_i f(x_i) of all samples, those without weight, too."""
        margin = next(c for c in self.problem.constraints if c.name == "margin")
        names = [v for v in margin.entries if v != "slack"]
        return -sum((margin.entries[v] @ x[self.problem.layout[v]] for v in names), np.zeros(margin.size))


def _as_doubles(direction: tuple[Fraction, ...]) -> Array:
    """The direction with its largest entry about one, rounded: by a power of two, so that doubles stay what they
    are."""
    scale = power_of_two(-max(exponent_of(v) for v in direction if v))
    return np.array([float(v * scale) for v in direction])


def _with_sum_zero(values: list[Fraction], classes: int) -> list[Fraction]:
    """The values by class, less their mean over the classes."""
    features = len(values) // classes
    means = [sum(values[j::features], Fraction(0)) / classes for j in range(features)]
    return [value - means[k % features] for k, value in enumerate(values)]
