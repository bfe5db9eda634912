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

#: The slopes to which the first descent goes, in units of the right-hand side, and what each further one leaves of it.
FIRST_ACCURACY, ACCURACY_FACTOR = 0.1, 0.2
#: The most sweeps of one descent, and how often it looks at all multipliers again.
MAX_SWEEPS, MAX_LOOKS = 60, 3
#: All slopes are to be within this factor of the accuracy: those of multipliers left out may be above it.
REACHED = 2.0
#: Rows are copied side by side where so few of them are left.
COPIED_SHARE = 0.5
#: A Newton step is good where it leaves at most this share of the gap; two that are not end the attempt.
GOOD_SHARE, MAX_BAD_STEPS = 0.5, 2
#: With so few entries the steps go on to rounding.
EASY_ENTRIES = 100_000
#: The equations of a face are solved to this share of the slopes.
FORCING = 1e-2
#: The damping of these equations where slopes are as large as right-hand sides.
DAMPING = 0.1
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
        largest = max(float(np.abs(a).max(initial=0.0)), p.natural_multiplier)
        way = np.where(r > 0, p.high - a, a - p.low)
        cost = np.abs(r) * np.minimum(way, largest)
        soft = p.compliance > 0
        curved = np.divide(0.5 * r * r, p.compliance, out=np.full(r.shape, np.inf), where=soft)
        return float(np.minimum(cost, curved)[~self.held].sum()) + p.beta * self.lacking**2

    def is_optimal(self, tol: float) -> bool:
        """Whether nothing is off by more than a share of the tolerance: the gap relative to the objective, a lack of
        the equation and the multipliers of squared slacks relative to the largest multiplier."""
        p, aim = self.program, SHARE_OF_TOLERANCE * tol
        largest = aim * float(np.abs(self.a).max(initial=0.0))
        soft = (p.compliance > 0) & ~self.held
        off = np.abs(self.r[soft] / p.compliance[soft]).max(initial=0.0)
        lack = abs(self.lacking) <= largest * float(np.abs(p.c).max(initial=0.0))
        return bool(self.gap <= aim * abs(self.objective) and off <= largest and lack)

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
       what crosses a bound put there. Near the solution a few steps end at rounding. Where they do not yet bring the
       gap down, the descent goes on to finer slopes.

    All of it is passes over the nonzero entries. Of fewer rows than features, which are dense, the matrix is compressed
    first: then it takes two passes.
    """

    name: ClassVar[str] = "coordinate-descent"
    accepts: ClassVar[str] = "rows with one kink each under a diagonal quadratic form, and at most one free unknown"
    promise: ClassVar[float] = 1e-9

    max_iter: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "seed", self.seed)

    def refuses(self, problem: Problem) -> str:
        return why_no_dual_program(problem)

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program, run = DualProgram.of(problem), _Run(self, tol, Tracer(callback), np.random.default_rng(self.seed))
        small, a = program.compressed, np.clip(np.zeros(program.size), program.low, program.high)
        point = DualPoint.at(small, a, 0.0)
        if small is not program:
            near = run.to_the_end(point)
            point = newton(program, DualPoint.at(program, near.a, near.b), tol)
        point, lines = run.to_the_end(point), run.tracer.lines
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

    def to_the_end(self, point: DualPoint) -> DualPoint:
        """The optimum of the point's program, as far as it goes."""
        program, most = point.program, self.solver.max_iter
        accuracy, self.message = FIRST_ACCURACY * program.side, f"stopped after {most} rounds"
        for _ in range(most - len(self.tracer.lines)):
            gap = point.gap / (abs(point.objective) or 1.0)
            self.tracer.record(point.objective, gap, 1.0, point.facts(), standing=point.standing)
            if point.is_optimal(self.tol) or point.is_rounded:
                self.message = "the gap is closed" if point.is_optimal(self.tol) else "no further progress"
                break
            point = descend(program, point.with_equation_priced(), accuracy, self.rng)
            point = newton(program, point, self.tol)
            if np.abs(point.a).max(initial=0.0) > ENDLESS * program.natural_multiplier:
                self.message = "the multipliers grow without end"
                break
            accuracy = ACCURACY_FACTOR * max(point.slope, accuracy)
        return point


# ---- a multiplier at a time ------------------------------------------------------------------------------------------


def descend(program: DualProgram, point: DualPoint, accuracy: float, rng: np.random.Generator) -> DualPoint:
    """Sweeps until no slope is above ``accuracy``, over the multipliers that are not held at a bound by more than any
    slope, which are told anew a few times."""
    for _ in range(MAX_LOOKS):
        firmly = point.held & (np.abs(point.r) > max(point.slope, accuracy))
        point = _descend_on(program, point, np.flatnonzero(~firmly), accuracy, rng)
        if point.slope <= REACHED * accuracy:
            break
    return point


def _descend_on(
    program: DualProgram, point: DualPoint, index: Indices, accuracy: float, rng: np.random.Generator
) -> DualPoint:
    """Sweeps over some multipliers. Where shrinking leaves few of them, their rows are copied side by side."""
    a, u, b = point.a.copy(), point.u.copy(), point.b
    above, below = np.inf, -np.inf
    names, part = index, program.restricted(index)
    order, own = np.arange(index.size), a[index]
    for _ in range(MAX_SWEEPS):
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
    return DualPoint.at(program, a, b)


def _sweep(part: DualProgram, order: Indices, a: Array, u: Array, b: float, above: float, below: float) -> Any:
    from convexcls.solvers.dual.sweeps import sweep_dense, sweep_sparse

    M = part.matrix
    sweep = partial(sweep_sparse, M.data, M.indices, M.indptr) if sparse.issparse(M) else partial(sweep_dense, M)
    curvature = part.diagonal + part.beta * part.c**2
    box = part.left, part.c, part.h, part.low, part.high, part.compliance, curvature
    return sweep(*box, order, a, u, b, part.beta, above, below)


# ---- all free multipliers at a time ----------------------------------------------------------------------------------


def newton(program: DualProgram, point: DualPoint, tol: float) -> DualPoint:
    """Newton steps for as long as they bring the gap down and it is not closed; the best point."""
    best, bad = point, 0
    easy = program.entries <= EASY_ENTRIES
    while bad < MAX_BAD_STEPS and not best.is_rounded and (easy or not best.is_optimal(tol)):
        new = newton_step(program, point)
        bad += not new.gap <= GOOD_SHARE * point.gap
        point = new
        best = min(best, point, key=lambda p: p.gap)
    return best


def newton_step(program: DualProgram, point: DualPoint) -> DualPoint:
    """The solution of the equations of the face, what crosses a bound put there."""
    index = np.flatnonzero(~point.held)
    step = Face(program.compressed, index, _damping(point)).newton(point.r[index], point.lacking, FORCING * point.slope)
    return DualPoint.at(program, _moved(program, point, index, step.d), point.b + step.db)


def _damping(point: DualPoint) -> float:
    """What is added to K_FF, relative to its diagonal: less and less, so that a singular face does no harm and the end
    is Newton's."""
    return DAMPING * min(1.0, point.slope / point.program.side)


def _moved(program: DualProgram, point: DualPoint, index: Indices, d: Array) -> Array:
    a = point.a.copy()
    a[index] = np.clip(a[index] + d, program.low[index], program.high[index])
    return a
