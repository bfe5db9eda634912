"""What the descents of the Newton solver share: how far to go along a step, what to record of an iterate, and when to
stop because there is no minimum.

On separated classes the likelihood has no maximiser. A few Newton steps lead to a point with every margin positive;
going on along it, every loss falls towards its infimum. That is a proof, and it needs no further iteration.

Where only some margins can grow for ever, and the others stay, no iterate shows it. As a rule it is a column whose
entries all pull one way, such as a category that all samples of one class have: the unknown itself is a direction.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices, least_squares
from convexcls.problem import Problem
from convexcls.rows.column_basis import ColumnBasis
from convexcls.solvers.base import Tracer
from convexcls.solvers.smooth.objective import Iterate

#: The share of the slope that a step has to gain (Armijo), and how short it may become.
ARMIJO = 1e-4
SHORTEST_STEP = 1e-10
#: A step that leaves such a share of the slope, or more, was too short.
MUCH_LEFT = 0.2
#: An objective is lower by this fraction of it.
LOWER = 1e-5
#: A margin counts as positive above this fraction of what it may be at most: rounding has no say in it.
POSITIVE_MARGIN_SHARE = 1e-7
#: A Newton step moves margins that grow for ever by more, and others by less.
GROWS, STAYS = 0.5, 0.05
#: Directions are rounded to multiples of one over this.
FEW_DIGITS = 2.0**10
#: A margin as large may be one that grows for ever.
FAR_OUT = 12.0
#: So many samples are looked at first for one-sided columns.
FEW_ROWS = 500
#: The iterations after which one-sided columns are looked for.
STEPS_BEFORE_ONE_SIDED = 5
#: Where margins grow for ever, Newton's steps lower the residual by no more than this, at last; otherwise they do
#: until only this is left of it.
SLOW, NEARLY_THERE = 0.25, 1e-10
ONE_SIDED = "margins grow along a direction that lowers none: there is no minimum"
SEPARATED = "every margin is positive: the classes are separated, and there is no minimum"


@dataclass(frozen=True, eq=False)
class DescentOutcome:
    """Where a descent ended and why; a direction where it found that there is no minimum."""

    iterate: Iterate
    message: str
    finished: bool
    direction: Array | None = None


class Progress:
    """What a descent has come to: the residual of every iterate is recorded, with ``detail`` of it, and the steps
    since the residual was last halved are counted as ``stalled``; with ``by_objective``, those with a lower objective
    to speak of are not."""

    by_objective = False

    def __init__(self, problem: Problem, tracer: Tracer, detail: Callable[[Iterate], Mapping[str, Any]]) -> None:
        self.tracer, self.detail, self.begun = tracer, detail, len(tracer.lines)
        self.may_run_away = problem.remembered(may_run_away)
        self.best, self.halved, self.stalled, self.lowest = math.inf, math.inf, 0, sys.float_info.max
        self.slow, self.gained, self.looked = True, 1.0, False

    @property
    def iterations(self) -> int:
        """The iterates so far."""
        return len(self.tracer.lines) - self.begun

    def residual(self, iterate: Iterate, step: float) -> float:
        """The relative gradient at the iterate that a step of this length led to."""
        residual = iterate.relative_gradient()
        self.slow = residual > max(SLOW * self.best, NEARLY_THERE)
        self.gained = self.best / residual if residual > 0.0 else math.inf
        self.tracer.record(iterate.objective, residual, step, self.detail(iterate), point=iterate.x)
        lower = self.by_objective and iterate.objective < self.lowest - LOWER * abs(self.lowest)
        gain = residual <= 0.5 * self.halved
        self.stalled = 0 if gain or lower else self.stalled + 1
        self.best, self.halved = min(self.best, residual), residual if gain else self.halved
        self.lowest = iterate.objective if lower else self.lowest
        return residual

    def growing(self, iterate: Iterate, step: Array) -> DescentOutcome | None:
        """The end of the descent where a Newton step shows margins that grow for ever."""
        if not self.may_run_away or self.iterations < STEPS_BEFORE_ONE_SIDED:
            return None
        if self.iterations % STEPS_BEFORE_ONE_SIDED or not iterate.is_far_out(FAR_OUT):
            return None
        direction = growing_direction(iterate, step)
        return None if direction is None else DescentOutcome(iterate, ONE_SIDED, True, direction)

    def separated(self, iterate: Iterate) -> DescentOutcome | None:
        """The end of the descent where the iterate separates the classes."""
        if not self.may_run_away:
            return None
        if (direction := separating_direction(iterate)) is not None:
            return DescentOutcome(iterate, SEPARATED, True, direction)
        if self.looked or not self.slow or self.iterations < STEPS_BEFORE_ONE_SIDED:
            return None
        self.looked = True
        direction = one_sided_direction(iterate)
        direction = threshold_direction(iterate) if direction is None else direction
        return None if direction is None else DescentOutcome(iterate, ONE_SIDED, True, direction)


def may_run_away(problem: Problem) -> bool:
    """Whether there may be such a direction: all losses fall towards one side, and nothing else pulls back. An unknown
    that alone is free of a penalty, as an intercept, is one if it moves no margin against the others."""
    free = [v.name for v in problem.variables if v.name not in problem.quadratic]
    if not problem.terms or not free or not all(t.loss.slopes[1] == 0.0 for t in problem.terms):
        return False
    if problem.linear and np.any(problem.q):
        return False
    return len(free) > 1 or problem.variable(free[0]).size > 1 or not _moves_both_ways(problem, free[0])


def _moves_both_ways(problem: Problem, name: str) -> bool:
    """Whether a single unknown raises some margins and lowers others."""
    low = high = 0.0
    for t in problem.terms:
        if (rows := t.entries.get(name)) is not None:
            moved = (rows @ np.ones(1))[t.row_weights > 0]
            low, high = min(low, float(moved.min(initial=0.0))), max(high, float(moved.max(initial=0.0)))
    return low < 0.0 < high


def separating_direction(iterate: Iterate) -> Array | None:
    """The point itself, where it is such a direction, as long as it takes to move every margin by one."""
    if iterate.curved.any():
        return None
    least = math.inf
    for t, reading in zip(iterate.function.terms, iterate.readings, strict=True):
        smallest = t.smallest_margin(reading)
        if not smallest > 0 or not smallest > POSITIVE_MARGIN_SHARE * float(t.reach @ np.abs(iterate.x)):
            return None
        least = min(least, smallest)
    if not math.isfinite(least):
        return None
    return np.asarray(iterate.x / least)


def one_sided_direction(iterate: Iterate) -> Array | None:
    """A step of one along every unknown without curvature whose entries move all margins the same way; None where there
    are none. It is judged by exact signs afterwards."""
    may = np.ones(iterate.x.size, dtype=bool)
    for v in iterate.problem.quadratic:
        may[iterate.problem.layout[v]] = False
    for most in (FEW_ROWS, None):  # few rows rule most columns out
        total, sizes = np.zeros(iterate.x.size), np.zeros(iterate.x.size)
        for t in iterate.function.terms:
            rows, counted = t.rows, (np.repeat(t.weights, t.loss.width) > 0).astype(float)
            if most is not None and t.samples > most:
                rows, counted = rows[: most * t.loss.width], counted[: most * t.loss.width]
            total += rows.T @ counted
            sizes += abs(rows).T @ counted
        may &= np.abs(total) >= (1 - POSITIVE_MARGIN_SHARE) * sizes
        if not np.any(may):
            return None
    one_sided = may & (sizes > 0)
    return np.where(one_sided, np.sign(total), 0.0) if np.any(one_sided) else None


def threshold_direction(iterate: Iterate) -> Array | None:
    """A direction along unknowns whose feature alone has no sample on the wrong side of a threshold, such as a category
    that one class alone has, whatever its column was centred and divided by; None where there are none. With a column c
    of one size, as of an intercept, and r_ij = a_ij / a_ic, no row a_i shrinks along

        e_j - t e_c   where   max of r_ij over a_ic < 0  <=  t  <=  min of r_ij over a_ic > 0

    nor along -e_j + t e_c where it is the other way round. It is judged by exact signs afterwards."""
    (term, *more), size = iterate.function.terms, iterate.x.size
    if more or term.loss.width != 1 or 2 * term.rows.entries < term.samples * size:  # sparse columns are not centred
        return None
    low, high = np.full((2, size), np.inf), np.full((2, size), -np.inf)  # by the sign of a_ic
    own = np.ones(size, dtype=bool)
    for v in iterate.problem.quadratic:
        own[iterate.problem.layout[v]] = False
    flat: Indices = np.flatnonzero(own & (term.reach > 0))
    for block in term.rows.own_blocks():
        entries = term.rows[block].to_dense()[term.weights[block] > 0]
        flat = flat[np.all(np.abs(entries[:, flat]) == term.reach[flat], axis=0)]
        if not flat.size:
            return None
        positive = entries[:, flat[0]] > 0
        for k, part in enumerate((entries[positive], -entries[~positive])):
            np.minimum(low[k], part.min(axis=0, initial=np.inf), out=low[k])
            np.maximum(high[k], part.max(axis=0, initial=-np.inf), out=high[k])
        above, below = low[0] >= high[1], high[0] <= low[1]
        if not np.any((above | below) & own & (np.arange(size) != flat[0])):  # which is above itself
            return None
    found = np.flatnonzero((above | below) & own & (np.max(high, axis=0) > np.min(low, axis=0)))
    if not found.size or not np.all(np.isfinite(low)):
        return None
    along = np.where(above, 1.0, -1.0)[found] / term.reach[found]
    direction = np.zeros(size)
    direction[found] = along
    direction[flat[0]] -= float(along @ np.where(above, low[0], high[0])[found]) / term.reach[flat[0]]
    return direction


def growing_direction(iterate: Iterate, step: Array) -> Array | None:
    """The direction along which margins grow and all others stay, where a Newton step shows some: far out it moves
    these by about one, for their losses fall by e, and hardly moves the others. Of the directions that leave the others
    where they are, it is the one nearest to the step."""
    if len(iterate.function.terms) != 1 or np.any(iterate.curved):
        return None
    rows = iterate.function.terms[0].rows
    moved = rows @ step
    grows = moved > GROWS
    if not np.any(grows) or not np.all(np.abs(moved[~grows]) < STAYS):
        return None
    basis = ColumnBasis.of([rows[np.flatnonzero(~grows)]])
    if basis is None or not basis.others.size:
        return None
    still = basis.null_vectors
    near = np.rint(still)
    still = near if np.all(np.abs(still - near) < POSITIVE_MARGIN_SHARE) else still
    part = least_squares(rows[np.flatnonzero(grows)] @ still, moved[grows])
    direction = still @ (np.rint(part * FEW_DIGITS) / FEW_DIGITS)
    return direction if np.all(np.isfinite(direction)) and np.all((rows @ direction)[grows] > 0) else None


def backtrack(iterate: Iterate, step: Array) -> tuple[Iterate, float]:
    """The first of the steps 1, 1/2, 1/4, ... that lowers the objective enough, or no step (0.0). Near the solution,
    where the rounding of margins hides the decrease, a smaller slope will do. A quadratic needs no such care: there the
    full step is the solution, whatever rounding says of the objective."""
    function = iterate.function
    if function.problem.is_quadratic_program:
        return function.at(iterate.x + step), 1.0
    slope = float(iterate.gradient @ step)
    noise = 1e-14 * max(abs(iterate.objective), function.problem.unit)
    hidden = noise + iterate.rounding()
    shrink = 1.0
    while shrink > SHORTEST_STEP:
        new = function.at(iterate.x + shrink * step)
        rise = new.objective - iterate.objective
        if math.isfinite(new.objective) and rise <= ARMIJO * shrink * slope + noise:
            return new, shrink
        if rise <= hidden and abs(float(new.gradient @ step)) <= 0.5 * abs(slope):
            return new, shrink
        shrink *= 0.5
    return iterate, 0.0


def stretched(before: Iterate, step: Array, after: Iterate, length: float) -> tuple[Iterate, float]:
    """The point of a full step, or one farther along it where it left much of the slope: where the secant of the slopes
    is 0. Far from the solution Newton's steps for losses that flatten out are too short; one more reading of the rows
    takes less time than one more Hessian."""
    slope = float(before.gradient @ step)
    if length != 1.0 or not slope < 0.0:
        return after, length
    left = float(after.gradient @ step) / slope
    if not MUCH_LEFT < left < 1.0 - MUCH_LEFT:
        return after, length
    farther = before.function.at(before.x + step / (1.0 - left))
    return (farther, 1.0 / (1.0 - left)) if farther.objective < after.objective else (after, length)


def advance(iterate: Iterate, step: Array) -> tuple[Iterate, float]:
    """The first length, from 1 down, that lowers the objective enough: the next one is where a parabola through what
    is known has its minimum. Near the solution, where rounding hides the decrease, a smaller slope will do."""
    function = iterate.function
    slope = float(iterate.gradient @ step)
    unit = max(abs(iterate.objective), function.problem.unit)
    length = 1.0
    while length > SHORTEST_STEP:
        new = function.at(iterate.x + length * step)
        rise = new.objective - iterate.objective
        if rise <= ARMIJO * length * slope:
            return new, length
        if rise <= 1e-12 * unit and abs(float(new.gradient @ step)) <= 0.9 * abs(slope):
            return new, length
        bent = rise - length * slope
        best = -0.5 * slope * length * length / bent if np.isfinite(bent) and bent > 0 else 0.0
        length = min(max(best, 0.1 * length), 0.5 * length)
    return iterate, 0.0
