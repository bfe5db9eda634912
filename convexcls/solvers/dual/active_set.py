"""A dual active-set method for small dense support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.linalg.lapack import dpotrf

from convexcls.arrays import Array, Indices
from convexcls.compilation import has_numba, is_worth_compiling
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer
from convexcls.solvers.dual.small_program import MAX_ROWS, Box, SmallProgram

#: The most steps for each unknown: ties could make it go round for ever.
STEPS_PER_UNKNOWN = 20
#: What rounding may leave of a sum that is to be the given one.
ROUNDED = 1e-12
#: So many unknowns are factorized at once, where no pivot is below this share of the diagonal.
MANY, SMALLEST_PIVOT = 32, 1e-12


@dataclass(frozen=True)
class ActiveSetSolver(Solver):
    """Support vector machines on a few hundred dense samples, in one compiled loop on the dual (``small_program.py``):

        minimise  1/2 b'Kb + p'b   subject to  low <= b <= high,   sum_i b_i = total   (if there is an intercept)

    1. A guess (``guesses.py``). Bounded multipliers of a linear machine are put at the bounds that a few sweeps of
       coordinate descent tell; those of a kernel machine go pairwise to a rough gap; the others begin at 0.
    2. The active-set method of ``pivots.py``: one unknown at a time joins or leaves those between their bounds, whose
       equations are kept solved. It ends at the optimum, all else exactly at a bound, or where the objective falls for
       ever, with the contradiction of the rows.
    """

    name: ClassVar[str] = "active-set"
    accepts: ClassVar[str] = f"support vector machines, linear or with a kernel, on at most {MAX_ROWS} dense samples"
    promise: ClassVar[float] = 1e-10

    max_iter: int = STEPS_PER_UNKNOWN * MAX_ROWS

    @staticmethod
    def is_worth_compiling() -> bool:
        """Whether its loop is at hand, or asked for often enough to be compiled."""
        if not has_numba():
            return False
        from convexcls.solvers.dual import pivots

        return is_worth_compiling(pivots.descend)

    def refuses(self, problem: Problem) -> str:
        program = problem.remembered(SmallProgram.of)
        return program if isinstance(program, str) else ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        from convexcls.solvers.dual import pivots
        from convexcls.solvers.dual.guesses import guess

        program, tracer = problem.remembered(SmallProgram.of), Tracer(callback)
        assert isinstance(program, SmallProgram)
        box, b = program.box, guess(program.box)
        if box.has_sum and abs(b.sum() - box.total) > ROUNDED * np.abs(b).sum():
            return Answer(None, message="it finds no point within the bounds that satisfies the equation")
        w = pivots.Working.at(b, _widest(box))
        m = _factorized_at_once(box, w.b, w.A, w.R) if box.K.size else 0
        ended, s, steps = pivots.descend(box, w, m, min(self.max_iter, STEPS_PER_UNKNOWN * b.size))
        g = w.g
        standing = partial(program.restored, b, g, s)
        tracer.record(program.objective(b, g), program.residual(b, g, s), standing=standing)
        lines = tuple(tracer.lines)
        if ended == pivots.ENDLESS:
            farkas, direction = program.farkas(w.way), program.direction(w.way)
            x, multipliers = standing() if direction is not None else (None, {})
            message = f"the dual objective falls for ever, after {steps} steps"
            return Answer(x, multipliers or {}, message, steps, lines, farkas=farkas, direction=direction)
        x, multipliers = program.restored(b, g, s, ended == pivots.OPTIMAL)
        message = "every unknown is at a bound or solves its equation" if ended == pivots.OPTIMAL else "too many steps"
        return Answer(x, multipliers or {}, f"{message}, after {steps} steps", steps, lines)


def _factorized_at_once(box: Box, b: Array, A: Indices, R: Array) -> int:
    """Let all join A that are between their bounds, by one factorization of a kernel matrix; their number, or 0 where
    they are few, or nearly depend on each other."""
    inside = np.flatnonzero((box.low < b) & (b < box.high))
    m = inside.size
    if m < MANY:
        return 0
    block = box.K[inside[:, None], inside] + box.sigma
    triangle, failed = dpotrf(block)
    if failed or np.any(np.diag(triangle) ** 2 <= SMALLEST_PIVOT * np.diag(block)):
        return 0
    A[:m], R[:m, :m] = inside, triangle
    return m


def _widest(box: Box) -> int:
    """How many unknowns may stand between their bounds without depending on each other."""
    if box.K.size or box.compliance.any():
        return box.p.size
    return min(box.p.size, box.M.shape[1] + box.has_sum)
