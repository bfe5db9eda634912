"""A dual active-set method for small dense support vector machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer
from convexcls.solvers.dual.dual_program import DualProgram, why_no_dual_program
from convexcls.solvers.kernel.box_program import BoxProgram, why_not_a_box_program

#: More rows are left to solvers whose steps do not grow with them.
MAX_ROWS = 2000
#: The most steps for each unknown; without end where ties make it go round.
STEPS_PER_UNKNOWN = 20
#: The gap, in units of the linear cost, to which pairs bring a kernel machine first.
PAIRS_GAP = 1e-2


@dataclass(frozen=True)
class ActiveSetSolver(Solver):
    """Support vector machines on a few hundred dense samples, in one compiled loop on the dual:

        minimise  1/2 b'Kb + p'b   subject to  low <= b <= high,   sum_i b_i = total   (if there is an intercept)

    with K = M M' + diag(compliance), M the samples in units in which the penalty is 1/2 |w|^2, or K a kernel matrix.

    1. A guess. Bounded multipliers of a linear machine are put at the bounds that a few sweeps of coordinate descent
       tell; those of a kernel machine go pairwise to a rough gap; the others begin at 0.
    2. The active-set method of ``pivots.py``: one unknown at a time joins or leaves those between their bounds, whose
       equations are kept solved. It ends at the optimum, all else exactly at a bound, or where the objective falls for
       ever, with the contradiction of the rows.
    """

    name: ClassVar[str] = "active-set"
    accepts: ClassVar[str] = f"support vector machines, linear or with a kernel, on at most {MAX_ROWS} dense samples"
    promise: ClassVar[float] = 1e-10

    max_iter: int = STEPS_PER_UNKNOWN * MAX_ROWS

    def refuses(self, problem: Problem) -> str:
        rows = max((c.size for c in problem.constraints), default=0)
        if rows > MAX_ROWS:
            return f"it takes at most {MAX_ROWS} rows, and the problem has {rows}"
        reason = why_not_a_box_program(problem) if problem.matrices else why_no_dual_program(problem)
        program = reason or problem.remembered(SmallProgram.of)
        return program if isinstance(program, str) else ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program = problem.remembered(SmallProgram.of)
        assert isinstance(program, SmallProgram)
        return program.descended(self, Tracer(callback))


@dataclass(frozen=True, eq=False)
class SmallProgram:
    """The program, with what it was read from; either K or M has no rows."""

    source: DualProgram | BoxProgram
    K: Array
    M: Array
    p: Array
    compliance: Array
    low: Array
    high: Array
    total: float | None

    @classmethod
    def of(cls, problem: Problem) -> SmallProgram | str:
        """The problem so, or why it is another."""
        return cls.of_kernel(problem) if problem.matrices else cls.of_rows(problem)

    @classmethod
    def of_rows(cls, problem: Problem) -> SmallProgram | str:
        """With b = c a, which has the intercept's column in place of signs; a and b are the same without one."""
        source = DualProgram.of(problem)
        free = bool(np.any(source.c))
        c = source.c if free else np.ones(source.size)
        if sparse.issparse(source.matrix) or not np.all(c):
            return "it takes dense rows that all have the intercept or none"
        M = np.ascontiguousarray((source.left / c)[:, None] * source.matrix)
        ends = source.low * c, source.high * c
        p = source.h / c - M @ source.u0
        total = -source.total if free else None
        return cls(source, _NONE, M, p, source.compliance / c**2, np.fmin(*ends), np.fmax(*ends), total)

    @classmethod
    def of_kernel(cls, problem: Problem) -> SmallProgram | str:
        """As it is read for pairs of unknowns, with the whole of the kernel matrix."""
        source = BoxProgram.of(problem)
        if source.store.capacity < problem.size:
            return "it keeps the whole of the kernel matrix, which is more than the memory that was allowed"
        if np.any(source.low > source.high):
            return "the bounds exclude each other"
        everyone = np.arange(problem.size)
        array, slots = source.store.place(everyone)
        K, p = array if np.array_equal(slots, everyone) else array[slots], source.p
        return cls(source, K, _NONE, p, np.zeros(p.size), source.low, source.high, source.total)

    def descended(self, solver: ActiveSetSolver, tracer: Tracer) -> Answer:
        """The optimum, as far as it goes."""
        from convexcls.solvers.dual import pivots

        b = self._guess()
        if self.total is not None and abs(b.sum() - self.total) > pivots.FLAT * np.abs(b).sum():
            return Answer(None, message="the bounds and the equation exclude each other")
        self._record(tracer, b, pivots.gradient(self.K, self.M, self.p, self.compliance, b))
        has_sum, most = self.total is not None, min(solver.max_iter, STEPS_PER_UNKNOWN * b.size)
        curved = self.K.size or self.compliance.any()
        widest = b.size if curved else min(b.size, self.M.shape[1] + has_sum)
        box = self.p, self.compliance, self._diagonal, self.low, self.high, has_sum
        ended, g, s, steps, way = pivots.descend(self.K, self.M, *box, b, most, widest)
        self._record(tracer, b, g)
        if ended == pivots.ENDLESS:
            return self._endless(b, g, s, way, tracer)
        message = "every unknown is at a bound or solves its equation" if ended == pivots.OPTIMAL else "too many steps"
        x, multipliers = self._restored(b, g, s, ended == pivots.OPTIMAL)
        return Answer(x, multipliers, f"{message}, after {steps} steps", steps, tuple(tracer.lines))

    @cached_property
    def _diagonal(self) -> Array:
        """The diagonal of K."""
        return np.diag(self.K).copy() if self.K.size else np.einsum("ij,ij->i", self.M, self.M) + self.compliance

    def _guess(self) -> Array:
        """Where to begin."""
        from convexcls.solvers.dual import pivots
        from convexcls.solvers.kernel import smo_pairs

        total, has_sum = self.total or 0.0, self.total is not None
        b = np.clip(np.zeros(self.p.size), self.low, self.high)
        if not np.all(np.isfinite(self.high - self.low)):
            return b
        if self.M.size:
            v = pivots.swept(self.M, self.p, self.low, self.high, self._diagonal, total, has_sum, b)
            pivots.to_bounds(self.M @ v + self.p, self.low, self.high, total, has_sum, b)
        else:
            pairs = smo_pairs.descend_pairs if has_sum else smo_pairs.descend_singles
            g, gap = self.K @ b + self.p, PAIRS_GAP * float(np.abs(self.p).max(initial=0.0))
            pairs(self.K, self._diagonal, self.low, self.high, b, g, gap, STEPS_PER_UNKNOWN * b.size)
        return b

    def _record(self, tracer: Tracer, b: Array, g: Array) -> None:
        objective = 0.5 * float(b @ (g + self.p))
        box, problem = isinstance(self.source, BoxProgram), self.source.problem
        tracer.record(self.source.weight * objective + problem.constant if box else problem.constant - objective, 0.0)

    def _restored(self, b: Array, g: Array, s: float, settled: bool) -> tuple[Array, Mapping[str, Array]]:
        """The point of the problem and its multipliers."""
        if isinstance(self.source, BoxProgram):
            return self.source.point(b), self.source.multipliers(b, g, s, settled)
        a = b / self.source.c if self.total is not None else b
        return self.source.restored(a, -s)

    def _endless(self, b: Array, g: Array, s: float, way: Array, tracer: Tracer) -> Answer:
        """Where the objective falls for ever: of a kernel machine the direction, of rows that have to hold their
        contradiction."""
        lines, message = tuple(tracer.lines), "the dual objective falls for ever"
        if isinstance(self.source, BoxProgram):
            x, multipliers = self._restored(b, g, s, False)
            return Answer(x, multipliers, message, len(lines), lines, direction=self.source.point(way))
        a = way / self.source.c if self.total is not None else way
        return Answer(None, {}, message, len(lines), lines, farkas=self.source.farkas(np.maximum(a, 0.0)))


_NONE = np.empty((0, 0))
