"""Dual coordinate descent, finished by Newton's method on the free multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer, check_whole
from convexcls.solvers.dual.dual_program import DualProgram, why_no_dual_program
from convexcls.solvers.dual.face import Face
from convexcls.solvers.dual.point import Point

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


@dataclass(frozen=True)
class CoordinateDescentSolver(Solver):
    """Support vector machines on many features or on sparse ones, by the dual (``dual_program.py``):

        minimise  1/2 |u|^2 + 1/2 sum_i compliance_i a_i^2 + h'a    subject to  low <= a <= high,  c'a + total = 0

    1. Coordinate descent with shrinking (Hsieh et al. 2008; ``sweeps.py``): one multiplier at a time, each at the cost
       of its row. The equation is a penalty there, whose centre moves (the method of multipliers).
    2. Newton's method on the multipliers between their bounds (``face.py``): their equations by conjugate gradients,
       what crosses a bound put there. Near the solution a few steps end at rounding. Where they do not yet bring the
       gap down, the descent goes on to finer slopes.

    All of it is passes over the nonzero entries.
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
        program, tracer, rng = DualProgram.of(problem), Tracer(callback), np.random.default_rng(self.seed)
        point = Point.at(program, np.clip(np.zeros(program.size), program.low, program.high), 0.0)
        accuracy, message = FIRST_ACCURACY * program.side, f"stopped after {self.max_iter} rounds"
        for _ in range(self.max_iter):
            tracer.record(
                point.objective, point.gap / (abs(point.objective) or 1.0), 1.0, point.facts(), standing=point.standing
            )
            if point.is_optimal(tol) or point.is_rounded:
                message = "the gap is closed" if point.is_optimal(tol) else "no further progress"
                break
            point = descend(program, point.with_equation_priced(), accuracy, rng)
            point = newton(program, point, tol)
            if np.abs(point.a).max(initial=0.0) > ENDLESS * program.natural_multiplier:
                message = "the multipliers grow without end"
                break
            accuracy = ACCURACY_FACTOR * max(point.slope, accuracy)
        x, multipliers = program.restored(point.a, point.b)
        return Answer(x, multipliers, message, len(tracer.lines), tuple(tracer.lines), farkas=program.farkas(point.a))


# ---- a multiplier at a time ------------------------------------------------------------------------------------------


def descend(program: DualProgram, point: Point, accuracy: float, rng: np.random.Generator) -> Point:
    """Sweeps until no slope is above ``accuracy``, over the multipliers that are not held at a bound by more than any
    slope, which are told anew a few times."""
    for _ in range(MAX_LOOKS):
        firmly = point.held & (np.abs(point.r) > max(point.slope, accuracy))
        point = _descend_on(program, point, np.flatnonzero(~firmly), accuracy, rng)
        if point.slope <= REACHED * accuracy:
            break
    return point


def _descend_on(program: DualProgram, point: Point, index: Indices, accuracy: float, rng: np.random.Generator) -> Point:
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
    return Point.at(program, a, b)


def _sweep(part: DualProgram, order: Indices, a: Array, u: Array, b: float, above: float, below: float) -> Any:
    from convexcls.solvers.dual.sweeps import sweep_dense, sweep_sparse

    M = part.matrix
    sweep = partial(sweep_sparse, M.data, M.indices, M.indptr) if sparse.issparse(M) else partial(sweep_dense, M)
    curvature = part.diagonal + part.beta * part.c**2
    box = part.left, part.c, part.h, part.low, part.high, part.compliance, curvature
    return sweep(*box, order, a, u, b, part.beta, above, below)


# ---- all free multipliers at a time ----------------------------------------------------------------------------------


def newton(program: DualProgram, point: Point, tol: float) -> Point:
    """Newton steps for as long as they bring the gap down and it is not closed; the best point."""
    best, bad = point, 0
    easy = program.entries <= EASY_ENTRIES
    while bad < MAX_BAD_STEPS and not best.is_rounded and (easy or not best.is_optimal(tol)):
        new = newton_step(program, point)
        bad += not new.gap <= GOOD_SHARE * point.gap
        point = new
        best = min(best, point, key=lambda p: p.gap)
    return best


def newton_step(program: DualProgram, point: Point) -> Point:
    """The solution of the equations of the face, what crosses a bound put there."""
    index = np.flatnonzero(~point.held)
    step = Face(program, index, _damping(point)).newton(point.r[index], point.lacking, FORCING * point.slope)
    return Point.at(program, _moved(program, point, index, step.d), point.b + step.db)


def _damping(point: Point) -> float:
    """What is added to K_FF, relative to its diagonal: less and less, so that a singular face does no harm and the end
    is Newton's."""
    return DAMPING * min(1.0, point.slope / point.program.side)


def _moved(program: DualProgram, point: Point, index: Indices, d: Array) -> Array:
    a = point.a.copy()
    a[index] = np.clip(a[index] + d, program.low[index], program.high[index])
    return a
