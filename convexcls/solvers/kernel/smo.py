"""Sequential minimal optimization for kernel machines, finished by Newton's method on the free unknowns.

    minimise 1/2 x'Qx + q'x      subject to bounds on each unknown and at most one equation a'x = c

as the Wolfe dual of a kernel machine is stated (Platt 1999). Rows of Q are computed when they are needed, and as many
are kept as the problem's memory limit allows.

At a point b with gradient g an unknown can rise where b < high and fall where b > low. With an equation the point is
optimal when no unknown that can rise has a smaller gradient than one that can fall; the difference is the gap. A
working set takes those that violate this most from both sides; its matrix is small, so pairs are moved at the speed
of the cache, by the second-order rule of Fan, Chen and Lin (2005), and only then the gradient of all unknowns is
brought up to date, by one product with the rows of the set. Once it is nearly known which unknowns are at a bound, the
others solve a linear system (``free_set.py``), so that the answer is exact to rounding. Of many unknowns a sample is
solved first (``sample.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer
from convexcls.solvers.kernel.box_program import BoxProgram, partition, why_not_a_box_program
from convexcls.solvers.kernel.free_set import Settled, settle, walk
from convexcls.solvers.kernel.sample import from_a_sample
from convexcls.solvers.kernel.smo_iterate import SmoIterate, feasible, working_set_size

#: The gap, relative to the linear cost, at which the free unknowns are first solved for, and how it shrinks on a miss.
FIRST_GAP, GAP_FACTOR = 1e-2, 0.1
#: At a gap that is so small, and after so many working sets, pairs are no longer left to themselves.
SMALL_GAP, MAX_SETS_FROM_AFAR, MAX_UNKNOWNS_TO_WALK = 1e-6, 50, 2000
#: How many working sets in a row may bring neither the objective nor the gap down.
MAX_SETS_WITHOUT_GAIN = 20
#: The rounds of the active-set method at a time.
WALK_ROUNDS = 200


@dataclass(frozen=True)
class SMOSolver(Solver):
    """Sequential minimal optimization by at most ``max_iter`` working sets of ``working_set`` unknowns: by default two
    fifths of all, between 512 and 4096, and as many as fit the memory."""

    name: ClassVar[str] = "smo"
    accepts: ClassVar[str] = "a quadratic form given by a matrix or a kernel, with bounds and at most one equation"
    promise: ClassVar[float] = 1e-8
    warm: ClassVar[bool] = True
    whole_matrix: ClassVar[bool] = False

    max_iter: int = 10_000
    working_set: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.working_set is not None and not self.working_set >= 2:
            raise ValueError(f"option working_set of solver 'smo' is {self.working_set!r}: it must be at least 2")

    def refuses(self, problem: Problem) -> str:
        return why_not_a_box_program(problem)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program = BoxProgram.of(problem)
        if problem.size == 0 or np.any(program.low > program.high):
            return Answer(None, message="the bounds exclude each other")
        begin = program.scale * start.x if np.any(start.x) else from_a_sample(program, self.working_set)
        b = feasible(program, begin)
        if b is None:
            return Answer(None, message="the bounds and the equation exclude each other")
        iterate = SmoIterate(program, b, program.gradient_of(b), working_set_size(program, self.working_set))
        return _SmoRun(self, program, iterate, Tracer(callback)).run(tol)


@dataclass
class _SmoRun:
    """One solve: descent and attempts to settle in turn."""

    solver: SMOSolver
    program: BoxProgram
    iterate: SmoIterate
    tracer: Tracer
    lowest: float = np.inf
    smallest: float = np.inf
    waited: int = 0

    def run(self, tol: float) -> Answer:
        iterate, unit = self.iterate, self.program.unit
        target, sets, message = FIRST_GAP * unit, 0, f"stopped after {self.solver.max_iter} working sets"
        for _ in range(self.solver.max_iter):
            gap = iterate.gap()
            self._record(gap)
            settled, slow = None, False
            if gap <= target:
                settled = settle(self.program, iterate.b, iterate.g, iterate.shift())
                slow, target = not settled.optimal and gap <= SMALL_GAP * unit, min(GAP_FACTOR * target, gap)
            if settled is None or not settled.optimal:
                slow |= iterate.advance(max(0.1 * gap, 0.5 * target))
                sets += 1
                if iterate.endless is not None:
                    return self._endless()
            if slow or (settled is None and self._is_far(gap, sets)):
                settled, sets = self._walked(), 0
            if settled is not None and (settled.optimal or settled.direction is not None):
                return self._settled(settled)
            if settled is not None and gap <= 1e-3 * tol * unit:  # such as where the equations do not fit the memory
                message = "the gap is far below the tolerance"
                break
            if slow and not self._gained(gap):
                message = "no further progress"
                break
        return self._answer(iterate.b, self.program.gradient(iterate.b), iterate.shift(), False, message)

    def _is_far(self, gap: float, sets: int) -> bool:
        """Whether so many working sets of few unknowns have not come near."""
        few = self.iterate.b.size <= MAX_UNKNOWNS_TO_WALK
        return few and sets >= MAX_SETS_FROM_AFAR and gap > FIRST_GAP * self.program.unit

    def _walked(self) -> Settled:
        """Where pairs are slow: the active-set method, whose gain is kept whether it ends or not."""
        iterate = self.iterate
        found = walk(self.program, iterate.b, iterate.g, iterate.shift(), WALK_ROUNDS)
        iterate.b, iterate.g = found.b.copy(), found.g.copy()
        return found

    def _gained(self, gap: float) -> bool:
        """Whether the objective has fallen, beyond rounding, since this was last asked, or the gap not long ago."""
        before, self.lowest = self.lowest, self.program.objective(self.iterate.b, self.iterate.g)
        self.waited = 0 if gap < 0.9 * self.smallest else self.waited + 1
        self.smallest = min(gap, self.smallest)
        fallen = before == np.inf or self.lowest < before - 1e-13 * abs(before)
        return fallen or (gap > 0 and self.waited < MAX_SETS_WITHOUT_GAIN)

    def _record(self, gap: float) -> None:
        b, g, program = self.iterate.b, self.iterate.g, self.program
        detail = {**partition(program, b), "pairs": self.iterate.steps}
        standing = partial(program.standing, b.copy(), g.copy(), self.iterate.shift())
        self.tracer.record(program.objective(b, g), gap / program.unit, 1.0, detail, standing=standing)

    def _settled(self, found: Settled) -> Answer:
        self.iterate.b, self.iterate.g = found.b, found.g
        if found.direction is not None:
            return self._answer(found.b, found.g, found.shift, False, "the objective falls for ever", found.direction)
        self._record(self.iterate.gap())
        message = f"the free unknowns solve their equations, found in {found.rounds} rounds"
        return self._answer(found.b, found.g, found.shift, True, message)

    def _endless(self) -> Answer:
        """Two unknowns that gain for ever, one rising and the other falling, or one alone."""
        assert self.iterate.endless is not None
        i, j = self.iterate.endless
        direction = np.zeros(self.program.problem.size)
        if i == j:
            direction[i] = -np.sign(self.iterate.g[i])
        else:
            direction[i], direction[j] = 1.0, -1.0
        message = "two unknowns move for ever" if i != j else "one unknown moves for ever"
        return self._answer(self.iterate.b, self.iterate.g, self.iterate.shift(), False, message, direction)

    def _answer(
        self, b: Array, g: Array, shift: float, settled: bool, message: str, direction: Array | None = None
    ) -> Answer:
        program = self.program
        x, multipliers = program.point(b), program.multipliers(b, g, shift, settled)
        if direction is not None:
            direction = program.point(direction)
        lines = tuple(self.tracer.lines)
        return Answer(x, multipliers, message, len(lines) - 1, lines, direction=direction)
