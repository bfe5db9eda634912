"""The KKT conditions of a small problem, bounded by a few norms.

To measure every condition row by row, each against its own size, takes far longer than to solve a problem of a few
hundred samples. A good answer satisfies them by orders: then norms tell as much. Each number here is at least what
``check.py`` measures from afar, with the same bounds on rounding,

stationarity         by what it is surely measured against: the sum of absolute values or, of unknowns with curvature,
                     the root of 2 f p where that is less; and the change of multipliers that removes a residual r,

                         max |K (K'K)^-1 r| <= ‖L^-1 r‖,        K'K = LL'

primal feasibility   the largest violation by the block's unit, and all of them by the largest price
dual feasibility     every sign, exactly
complementarity      the largest product, by the objective
gap                  the sum of what the residuals cost, each with its absolute value

so that where these are below a tolerance, the conditions hold to that tolerance. What norms do not decide, or problems
of another kind, are left to ``check.py``, which also works out the measures themselves where somebody looks at them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array, top
from convexcls.problem import Constraint, Problem, Term
from convexcls.problem.centring import centre
from convexcls.proofs.kkt.correction import FreeRows
from convexcls.proofs.kkt.products import facts, plain_values
from convexcls.proofs.kkt.residuals import KKT, ratio
from convexcls.proofs.rigorous.rounding import RAISE, ROUNDINGS_BESIDE_SUM, gamma
from convexcls.proofs.rigorous.structure import Structure
from convexcls.rows import JoinedRows

#: Of problems with more entries, or more unknowns, the passes over the data count, and not the calls.
MAX_SMALL_ENTRIES, MAX_SMALL_UNKNOWNS = 50_000, 1_500
#: The relative rounding of a slope, in units of 2^-53.
SLOPE_ROUNDING = 8


class AtOnce(NamedTuple):
    """Bounds of the relative measures, stationarity by its two; multipliers have the right signs. ``violation`` bounds
    the absolute violation, ``gradient`` is that of the Lagrangian."""

    stationarity: float
    change: float
    primal_feasibility: float
    complementary_slackness: float
    relative_gap: float
    violation: float
    objective: float
    gradient: Array

    def holds(self, tol: float) -> bool:
        """Whether all of them are at most ``tol``."""
        return all([value <= tol for value in self[:5]])  # also of what is not a number: then it does not


class MeasuredLater(KKT):
    """The measures of a point whose bounds say that the conditions hold: each worked out when somebody looks at it."""

    def __init__(self, known: AtOnce, measure: Callable[[], KKT]) -> None:
        self.__dict__.update(known=known, measure=measure, objective=known.objective, dependent=())

    def __getattr__(self, name: str) -> Any:
        """What ``check.py`` measures: asked for where it is not there yet."""
        if name not in KKT.__dataclass_fields__ or "measure" not in self.__dict__:
            raise AttributeError(name)
        self.__dict__.update(vars(self.measure()))
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return KKT, tuple(getattr(self, name) for name in KKT.__dataclass_fields__)

    @property
    def violation(self) -> float:
        return self.known.violation

    def holds(self, tol: float) -> bool:
        return self.known.holds(tol) or super().holds(tol)


@np.errstate(all="ignore")  # what overflows is not a number in the end, and then nothing is said
def bounded_at_once(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> AtOnce | None:
    """Bounds of the measures at a finite point; None where there are none to be had by norms."""
    if problem.norm_bounds or problem.matrices or problem.size > MAX_SMALL_UNKNOWNS or not problem.blocks:
        return None
    if sum([problem.rows(b).entries for b in problem.blocks]) > MAX_SMALL_ENTRIES:
        return None
    structure = problem.remembered(Structure)
    if structure.distances or problem.remembered(centre) is not None:
        return None
    return _Bounds(problem, structure, x, multipliers).found


class _Bounds:
    """The Lagrangian's gradient and what every block adds to the measures; ``found`` is None where norms say nothing."""

    def __init__(self, problem: Problem, structure: Structure, x: Array, multipliers: Mapping[str, Array]) -> None:
        self.problem, self.structure, self.x = problem, structure, x
        self.reach, self.diagonal = np.abs(x), structure.diagonal
        self.curved = bool(problem.diagonals)
        self.moved = moved = problem.apply_quadratic(x)
        self.pull, self.size = moved + problem.q, np.abs(moved) + np.abs(problem.q)
        self.additions, self.off = float(ROUNDINGS_BESIDE_SUM), 0.0
        self.inherited: Array | float = 0.0
        self.largest, self.lost, self.losses = 0.0, 0.0, 0.0
        self.found = self._found(multipliers)

    def _found(self, multipliers: Mapping[str, Array]) -> AtOnce | None:
        problem, x = self.problem, self.x
        for t in problem.terms:
            if t.counted.size < t.size:
                return None
            self._add_term(t)
        for c in problem.constraints:
            z = multipliers[c.name]
            if c.relation == "<=" and z.size and not float(z.min()) >= 0.0:
                return None
            self._add(problem.rows(c), z, np.abs(z) if c.relation == "==" else z)
        curvature = sum([0.5 * float(x[where] @ self.moved[where]) for where in [problem.layout[v] for v in problem.P]])
        self.objective = curvature + float(problem.q @ x) + problem.constant + self.losses
        self.scale = max(problem.unit, abs(self.objective))
        if not 0.0 < self.scale < math.inf:
            return None
        self.violation = self.infeasible = self.slackness = self.cost = 0.0
        self.sides = max([0.0, *[max(c.unit, top(np.abs(c.rhs))) for c in problem.constraints]])
        for c in problem.constraints:
            self._add_constraint(c, multipliers[c.name])
        rad = (1.02 * UNIT_ROUNDOFF * self.additions) * self.size + self.off + 64 * ETA * (self.size > 0.0)
        residual = np.abs(self.pull) + rad + self.inherited
        gap = (self._cost(residual) + self.cost) * RAISE + self.lost
        if not math.isfinite(gap):  # nor is some residual a number, or some product
            return None
        measures = self._stationarity(residual), self._change(residual), self.infeasible, self.slackness / self.scale
        return AtOnce(*measures, gap / self.scale, self.violation, self.objective, self.pull)

    # ---- the gradient ---------------------------------------------------------------------------------------------

    def _add(self, rows: JoinedRows, z: Array, size: Array) -> float:
        """Add R'z, whose sizes are known; the largest of these."""
        self.pull += rows.transposed_matmul(z)
        added = abs(rows).transposed_matmul(size)
        self.size += added
        self.additions += rows.shape[0] + 2.0
        known, largest = facts(rows, False), top(size)
        if known.relative or not isinstance(known.absolute, float):
            self.off = self.off + known.relative * added + known.absolute * float(size.sum())
        self.largest = max(self.largest, largest)
        return largest

    def _add_term(self, t: Term) -> None:
        rows, weights = self.problem.rows(t), t.row_weights
        u, rad = plain_values(rows, self.x, t, "offset")
        slopes = t.loss.slope(u)
        size = weights * t.loss.slope_size(u, slopes)
        self._add(rows, weights * slopes, size)
        error = float((weights * (rad if t.is_half_square else 2.0 * t.loss.slope_change(u, rad))).sum())
        self.lost += 0.5 * error * rad
        if self.curved:
            own = 1 if t.is_half_square else SLOPE_ROUNDING
            off = own * UNIT_ROUNDOFF * float(size.sum()) + error
            self.inherited = self.inherited + rows.column_max() * (off * RAISE)
        self.losses += t.value(u)

    # ---- the measures ---------------------------------------------------------------------------------------------

    def _stationarity(self, residual: Array) -> float:
        """The residual by the least that it may be measured against."""
        reference = np.minimum(self.size, self.scale / self.reach)  # infinite where x is 0
        for v in self.structure.slacks:
            where = self.problem.layout[v]
            np.minimum(reference[where], self._costly, out=reference[where])
        if self.curved:
            root = np.sqrt((2.0 * self.scale) * self.diagonal)
            reference = np.where(self.diagonal > 0, np.minimum(self.size, root), reference)
        return top(np.divide(residual, reference, out=np.zeros(residual.size), where=residual > 0.0))

    @property
    def _costly(self) -> float:
        """What one unit of a right-hand side costs where it is worth twice the objective."""
        return 2.0 * self.scale / self.sides if self.sides > 0 else math.inf

    def _change(self, residual: Array) -> float:
        """At least the change of multipliers, relative to the largest, that removes the residual of unknowns without
        curvature in sums over samples; infinite where their columns nearly depend on each other."""
        free = self.problem.remembered(FreeRows)
        if not free.kinds:
            return 0.0
        unit = self.largest if self.problem.terms else min(self.largest, self._costly)
        most = max([kind.bounded_change(residual[where]) for kind in free.kinds for where in kind.places])
        return ratio(most, unit)

    def _cost(self, residual: Array) -> float:
        """What the residuals of all unknowns cost."""
        reach, curved = self.reach, self.diagonal > 0
        if self.structure.bounds:
            low, high = self.structure.limits
            reach = np.where(np.isfinite(high - low), high - low, reach)
        if not self.curved:
            return float(residual @ reach)
        squares = residual[curved]
        return float(residual @ np.where(curved, 0.0, reach)) + float((squares**2 / self.diagonal[curved]).sum())

    def _add_constraint(self, c: Constraint, z: Array) -> None:
        rows, price, equal = self.problem.rows(c), max(self.largest, top(np.abs(self.problem.q))), c.relation == "=="
        mid, rad = plain_values(rows, self.x, c, "rhs")
        over = np.abs(mid) if equal else np.maximum(mid, 0.0)
        near = c.size if equal else np.count_nonzero(mid > -rad)
        size, products = (np.abs(z) if equal else z), np.abs(z * mid)
        if near:
            most, together = top(over) + rad, float(over.sum()) + near * rad
            if bend := max([0.0, *[top(e.curvature) for e in self.structure.slacks.values()]]):
                price = max(price, bend * most)
            self.violation = max(self.violation, most)
            self.infeasible = max(self.infeasible, ratio(most, self._unit(c)), price * together / self.scale)
        if not equal:
            self.slackness = max(self.slackness, top(products) + top(size) * rad)
        self.cost += float(products.sum()) + rad * float(size.sum())

    def _unit(self, c: Constraint) -> float:
        """What a violation is surely measured against: the right-hand side, of a homogeneous row its own left-hand side,
        and no more than an unknown has room for."""
        unit = max(c.unit, top(np.abs(c.rhs)))
        if not unit:
            sizes = abs(self.problem.rows(c)) @ self.reach
            unit = top(sizes) if c in self.structure.bounds else float(sizes.min(initial=math.inf))
        if c in self.structure.bounds:
            low, high = self.structure.limits
            unit = min(unit, float(np.where(high > low, high - low, math.inf).min()))
        return unit
