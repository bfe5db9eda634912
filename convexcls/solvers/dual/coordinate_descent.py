"""Dual coordinate descent, finished by Newton's method on the free multipliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices, Mask
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Standing, Tracer, check_whole
from convexcls.solvers.dual.dual_program import DualProgram, why_no_dual_program
from convexcls.solvers.dual.face import Face

#: The slopes to which the first descent goes, in units of the right-hand side, and its most sweeps.
FIRST_ACCURACY, FIRST_SWEEPS = 0.1, 40
#: The sweeps between two Newton steps, twice as many where they leave no smaller a gap than the last ones did, and at
#: most so many.
SWEEPS, MAX_SWEEPS = 15, 120
#: A sweep that leaves so little of the slopes is the last.
ACCURACY_FACTOR = 1e-2
#: Rows are copied side by side where so few of them are left.
COPIED_SHARE = 0.5
#: A step is good where it leaves at most this share of the gap.
GOOD_SHARE = 0.5
#: Where no more multipliers than this share of them cross a bound, a Newton step is followed by the next one.
SETTLED_SHARE = 2e-3
#: A Newton step is halved so often at most, until the objective falls by more than its rounding.
MAX_HALVINGS, ROUNDED_OBJECTIVE = 6, 1e-14
#: So many multipliers at most are put at bounds one after the other.
MAX_BOUNDS_MET = 50
#: With so few entries the steps go on to rounding.
EASY_ENTRIES = 100_000
#: The equations of a face are solved to this share of the slopes: while these are above so much, in units of the
#: right-hand side, and afterwards. Once hardly any multiplier crosses a bound, to what is left to do, within these.
COARSE_FORCING, COARSE = 0.1, 1e-2
FORCING = 1e-2
LEAST_FORCING, MOST_FORCING = 1e-4, 0.1
#: The damping of these equations where slopes are as large as right-hand sides.
DAMPING = 0.03
#: Multipliers that have grown by this factor, where nothing bounds them, will not stop.
ENDLESS = 1e10
#: The share of the tolerance that is aimed at: the check measures in other ways, some of them less kind.
SHARE_OF_TOLERANCE = 0.02
#: What rounding leaves of excesses, in units of what is added up.
ROUNDED = 1e-14


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Multipliers a, the unknowns u and the intercept b that go with them, and the excess r of every row."""

    program: DualProgram
    a: Array
    u: Array
    b: float
    r: Array

    @classmethod
    def at(cls, program: DualProgram, a: Array, b: float) -> DualPoint:
        u = program.weights(a)
        return cls(program, a, u, b, program.excess(a, u, b))

    @cached_property
    def held(self) -> Mask:
        """The multipliers at a bound that their slope does not lead away from."""
        low, high = self.a <= self.program.low, self.a >= self.program.high
        return low & (self.r <= 0.0) | high & (self.r >= 0.0)

    @cached_property
    def slope(self) -> float:
        """The largest slope of a multiplier that can follow it."""
        return float(np.abs(self.r[~self.held]).max(initial=0.0))

    @cached_property
    def lacking(self) -> float:
        """c'a + total."""
        return self.program.lacking(self.a)

    @cached_property
    def objective(self) -> float:
        """The dual objective."""
        p, a = self.program, self.a
        return p.problem.constant - float(0.5 * self.u @ self.u + 0.5 * (p.compliance * a) @ a + p.h @ a)

    @cached_property
    def gap(self) -> float:
        """What the rows cost more than the multipliers say, sum_i cost_i(r_i) - a_i r_i, but of each row no more than
        the largest multiplier makes of it; and what c'a + total moves."""
        p, r, a = self.program, self.r, self.a
        largest = max(self.largest, p.natural_multiplier)
        way = np.where(r > 0, p.high - a, a - p.low)
        cost = np.abs(r) * np.minimum(way, largest)
        soft = p.compliance > 0
        curved = np.divide(0.5 * r * r, p.compliance, out=np.full(r.shape, np.inf), where=soft)
        return float(np.minimum(cost, curved)[~self.held].sum()) + p.beta * self.lacking**2

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return self.gap / (abs(self.objective) or 1.0)

    def is_optimal(self, tol: float) -> bool:
        """Whether nothing is off by more than a share of the tolerance."""
        lack, unit = abs(self.lacking), float(np.abs(self.program.c).max(initial=0.0))
        return self.off(tol) <= 1.0 and lack <= SHARE_OF_TOLERANCE * tol * self.largest * unit

    def off(self, tol: float) -> float:
        """How many times a share of the tolerance the gap is, relative to the objective, or what the multipliers of
        squared slacks are off, relative to the largest multiplier."""
        p, aim = self.program, SHARE_OF_TOLERANCE * tol
        soft = (p.compliance > 0) & ~self.held
        off = float(np.abs(self.r[soft] / p.compliance[soft]).max(initial=0.0))
        sizes = ((self.gap, abs(self.objective)), (off, self.largest))
        return max(0.0 if part == 0.0 else part / (aim * whole) if whole else np.inf for part, whole in sizes)

    @cached_property
    def largest(self) -> float:
        """The largest multiplier."""
        return float(np.abs(self.a).max(initial=0.0))

    @cached_property
    def is_rounded(self) -> bool:
        """Whether rounding is all that is left."""
        reach = self.program.side + abs(self.b) * float(np.abs(self.program.c).max(initial=0.0))
        return self.slope <= ROUNDED * reach and self.program.beta * abs(self.lacking) <= ROUNDED * reach

    def with_equation_priced(self) -> DualPoint:
        """The point with b moved by what the equation lacks (the update of the method of multipliers), where that is
        more than the slopes are."""
        shift = -self.program.beta * self.lacking
        if abs(shift) * float(np.abs(self.program.c).max(initial=0.0)) < self.slope:
            return self
        return replace(self, b=self.b + shift, r=self.r + shift * self.program.c)

    def facts(self) -> Mapping[str, int]:
        """How many multipliers are at bounds and between them."""
        low, high = self.a <= self.program.low, self.a >= self.program.high
        return {"low": int(low.sum()), "free": int((~low & ~high).sum()), "high": int((high & ~low).sum())}

    def standing(self) -> Standing:
        """Where the solver stands, in the unknowns of the problem."""
        return self.program.restored(self.a, self.b)


@dataclass(frozen=True)
class CoordinateDescentSolver(Solver):
    """Support vector machines on many features or on sparse ones, by the dual (``dual_program.py``):

        minimise  1/2 |u|^2 + 1/2 sum_i compliance_i a_i^2 + h'a    subject to  low <= a <= high,  c'a + total = 0

    1. Coordinate descent with shrinking (Hsieh et al. 2008; ``sweeps.py``): one multiplier at a time, each at the cost
       of its row. The equation is a penalty there, whose centre moves (the method of multipliers).
    2. Newton's method on the multipliers between their bounds (``face.py``): their equations by conjugate gradients,
       what crosses a bound put there, the step halved until the objective falls (projected Newton, Bertsekas 1982).
       A step that puts many multipliers at bounds is followed by some sweeps, which sort out those that have to leave
       them. Near the solution none cross, and a few steps end at rounding.

    All of it is passes over the nonzero entries. Of fewer rows than features, which are dense, the matrix is compressed
    first: then it takes two passes.
    """

    name: ClassVar[str] = "coordinate-descent"
    accepts: ClassVar[str] = "rows with one kink each under a diagonal quadratic form, and at most one free unknown"
    promise: ClassVar[float] = 1e-9

    max_iter: int = 150
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "seed", self.seed)

    def refuses(self, problem: Problem) -> str:
        return why_no_dual_program(problem)

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program, run = DualProgram.of(problem), _Run(self, tol, Tracer(callback), np.random.default_rng(self.seed))
        small, a = program.compressed, np.clip(np.zeros(program.size), program.low, program.high)
        point = run.to_the_end(DualPoint.at(small, a, 0.0), FIRST_SWEEPS)
        if small is not program:
            point = run.to_the_end(DualPoint.at(program, point.a, point.b), 0)
        lines = run.tracer.lines
        x, multipliers = program.restored(point.a, point.b)
        return Answer(x, multipliers, run.message, len(lines), tuple(lines), farkas=program.farkas(point.a))


@dataclass
class _Run:
    """One solve: descent and Newton steps in turn."""

    solver: CoordinateDescentSolver
    tol: float
    tracer: Tracer
    rng: np.random.Generator
    message: str = ""

    def to_the_end(self, point: DualPoint, sweeps: int) -> DualPoint:
        """The optimum of the point's program, as far as it goes, after ``sweeps`` of the first descent."""
        program, most, best = point.program, self.solver.max_iter, point
        usual, left, settled = SWEEPS, np.inf, False
        accuracy, self.message = FIRST_ACCURACY * program.side, f"stopped after {most} rounds"
        for _ in range(most - len(self.tracer.lines)):
            self.tracer.record(point.objective, point.relative_gap, 1.0, point.facts(), standing=point.standing)
            if self._is_done(point, best):
                break
            best = min(best, point, key=lambda p: p.gap)
            if sweeps:
                point = descend(program, point.with_equation_priced(), sweeps, accuracy, self.rng)
                usual = usual if point.relative_gap < left else min(2 * usual, MAX_SWEEPS)
                best, left = min(best, point, key=lambda p: p.gap), point.relative_gap
            before = point.gap
            point, settled = newton_step(program, point, self._forcing(point, settled))
            if point.largest > ENDLESS * program.natural_multiplier:
                self.message = "the multipliers grow without end"
                break
            sweeps = 0 if settled and point.gap <= GOOD_SHARE * before else usual
            accuracy = ACCURACY_FACTOR * point.slope
        return min(best, point, key=lambda p: p.gap)

    def _forcing(self, point: DualPoint, settled: bool) -> float:
        """The share of the slopes to which the equations of a face are solved."""
        if point.slope > COARSE * point.program.side:
            return COARSE_FORCING
        if not settled:
            return FORCING
        return float(np.clip(1.0 / point.off(self.tol), LEAST_FORCING, MOST_FORCING))

    def _is_done(self, point: DualPoint, best: DualPoint) -> bool:
        """Whether the gap is closed or rounding is all that is left. Where steps take no time they go on for as long as
        they are good."""
        closed = min(best, point, key=lambda p: p.gap).is_optimal(self.tol)
        goes_on = point.program.entries <= EASY_ENTRIES and point.gap <= GOOD_SHARE * best.gap
        if (closed and not goes_on) or point.is_rounded:
            self.message = "the gap is closed" if closed else "no further progress"
            return True
        return False


# ---- a multiplier at a time ------------------------------------------------------------------------------------------


def descend(
    program: DualProgram, point: DualPoint, sweeps: int, accuracy: float, rng: np.random.Generator
) -> DualPoint:
    """Sweeps until no slope is above ``accuracy``, over the multipliers that are not held at a bound by more than any
    slope. Where shrinking leaves few of them, their rows are copied side by side."""
    index = np.flatnonzero(~(point.held & (np.abs(point.r) > max(point.slope, accuracy))))
    a, u, b = point.a.copy(), point.u.copy(), point.b
    above, below = np.inf, -np.inf
    names, part = index, program.restricted(index)
    order, own = np.arange(index.size), a[index]
    for _ in range(sweeps):
        order = rng.permutation(order)
        kept, b, top, bottom = _sweep(part, order, own, u, b, above, below)
        if top - bottom <= accuracy:
            break
        order, above, below = order[:kept], top or np.inf, bottom or -np.inf
        if kept < COPIED_SHARE * part.size:
            a[names] = own
            names = names[order]
            part, own, order = program.restricted(names), a[names], np.arange(kept)
    a[names] = own
    u = program.weights(a) if program.entries <= EASY_ENTRIES else u  # else as it was kept, to a few roundings
    return DualPoint(program, a, u, b, program.excess(a, u, b))


def _sweep(part: DualProgram, order: Indices, a: Array, u: Array, b: float, above: float, below: float) -> Any:
    from convexcls.solvers.dual.sweeps import sweep_dense, sweep_sparse

    M = part.matrix
    sweep = partial(sweep_sparse, M.data, M.indices, M.indptr) if sparse.issparse(M) else partial(sweep_dense, M)
    curvature = part.diagonal + part.beta * part.c**2
    box = part.left, part.c, part.h, part.low, part.high, part.compliance, curvature
    return sweep(*box, order, a, u, b, part.beta, above, below)


# ---- all free multipliers at a time ----------------------------------------------------------------------------------


def newton_step(program: DualProgram, point: DualPoint, forcing: float) -> tuple[DualPoint, bool]:
    """Towards the solution of the equations of the face, what crosses a bound put there, as far as the objective falls;
    whether hardly any multiplier crossed one."""
    index = np.flatnonzero(~point.held)
    face = Face(program.compressed, index, _damping(point))
    step = face.newton(point.r[index], point.lacking, forcing * point.slope)
    pull = face.pull if program.compressed is program else Face(program, index, 0.0).pull
    before, length = _merit(program, point.a, point.u, point.b), 1.0
    for _ in range(MAX_HALVINGS):
        a, inside = _moved(program, point, index, length * step.d)
        u = point.u - pull((a - point.a)[index])
        if _merit(program, a, u, point.b) <= before + ROUNDED_OBJECTIVE * abs(before):
            break
        length *= 0.5
    else:
        length = 0.0
    if length < 1.0 and program.entries <= EASY_ENTRIES:
        return _bound_by_bound(program, point, forcing), False
    if not length:
        return point, False
    b = point.b + length * step.db
    settled = length == 1.0 and index.size - int(inside.sum()) <= SETTLED_SHARE * index.size
    return DualPoint(program, a, u, b, program.excess(a, u, b)), settled


def _bound_by_bound(program: DualProgram, point: DualPoint, forcing: float) -> DualPoint:
    """The same as far as the first bound, which keeps the multiplier that meets it, and on from there without that one,
    as an active-set method goes: where many are put at bounds at once the objective may rise."""
    index = np.flatnonzero(~point.held)
    for _ in range(min(index.size, MAX_BOUNDS_MET)):
        step = Face(program.compressed, index, _damping(point)).newton(
            point.r[index], point.lacking, forcing * point.slope
        )
        own = point.a[index]
        ends = np.where(step.d > 0.0, program.high[index], program.low[index])
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step.d != 0.0, (ends - own) / step.d, np.inf)
        length = min(1.0, float(reach.min(initial=np.inf)))
        a = point.a.copy()
        a[index] = np.where(reach <= length, ends, own + length * step.d)
        u, b = program.weights(a), point.b + length * step.db
        point = DualPoint(program, a, u, b, program.excess(a, u, b))
        index = index[reach > length]
        if length == 1.0:
            break
    return point


def _damping(point: DualPoint) -> float:
    """What is added to K_FF, relative to its diagonal: less and less, so that a singular face does no harm and the end
    is Newton's."""
    return DAMPING * min(1.0, point.slope / point.program.side)


def _moved(program: DualProgram, point: DualPoint, index: Indices, d: Array) -> tuple[Array, Mask]:
    """The multipliers with d added to some of them, none beyond its bounds; those that would not have been."""
    a, target, low, high = point.a.copy(), point.a[index] + d, program.low[index], program.high[index]
    a[index] = np.clip(target, low, high)
    return a, (low <= target) & (target <= high)


def _merit(program: DualProgram, a: Array, u: Array, b: float) -> float:
    """The function that sweeps descend on: what is minimised, with a multiplier and a penalty of the equation."""
    lacking = program.lacking(a)
    cost = 0.5 * u @ u + 0.5 * (program.compliance * a) @ a + program.h @ a
    return float(cost) - b * lacking + 0.5 * program.beta * lacking**2
