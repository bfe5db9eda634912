"""Sequential minimal optimization for kernel machines, finished by Newton's method on the free unknowns.

    minimise 1/2 x'Qx + q'x      subject to bounds on each unknown and at most one equation a'x = c

as the Wolfe dual of a kernel machine is stated (Platt 1999). Rows of Q are computed when they are needed, and as many
are kept as the problem's memory limit allows. Working sets of violating unknowns are solved on their small matrix, pair
by pair by the second-order rule of Fan, Chen and Lin (2005), until it is nearly known which unknowns are at a bound;
the others then solve a linear system, so that the answer is exact to rounding.
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
from convexcls.solvers.kernel.iterate import Iterate

#: The gap, relative to the linear cost, at which the free unknowns are first solved for, and how it shrinks on a miss.
FIRST_GAP, GAP_FACTOR = 1e-2, 0.1
#: At a gap that is so small, and after so many working sets, pairs are no longer left to themselves.
SMALL_GAP, MAX_SETS_FROM_AFAR, MAX_UNKNOWNS_TO_WALK = 1e-6, 50, 2000
#: The share of the memory limit for the matrix of a working set.
WORKING_SET_MEMORY_SHARE = 0.15
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

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return self.solve_from(Start(np.zeros(problem.size)), problem, tol, callback)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program = BoxProgram.of(problem)
        if problem.size == 0 or np.any(program.low > program.high):
            return Answer(None, message="the bounds exclude each other")
        b = feasible(program, program.scale * start.x)
        if b is None:
            return Answer(None, message="the bounds and the equation exclude each other")
        return _Run(
            self, program, Iterate(program, b, program.gradient(b), self._set_size(program)), Tracer(callback)
        ).run(tol)

    def _set_size(self, program: BoxProgram) -> int:
        fitting = int(np.sqrt(min(WORKING_SET_MEMORY_SHARE * program.store.limit, 1e12) / 8))
        return max(min(self.working_set or min(max(2 * program.p.size // 5, 512), 4096), fitting), 2)


def feasible(program: BoxProgram, b: Array) -> Array | None:
    """The point moved so that it keeps bounds and equation; None if there is none. What is at a bound stays there if
    the others can make up for what the equation lacks."""
    b = np.clip(b, program.low, program.high)
    if program.total is None or b.sum() == program.total:
        return b
    for movable in ((b > program.low) & (b < program.high), np.ones(b.size, dtype=bool)):
        low, high = np.where(movable, program.low, b), np.where(movable, program.high, b)
        if low.sum() <= program.total <= high.sum():
            return _shifted(program.total, b, low, high)
    return None


def _shifted(total: float, b: Array, low: Array, high: Array) -> Array:
    """b + t within the bounds, with t such that the sum is right: found by bisection."""
    finite = [float(np.abs(end[np.isfinite(end)]).max(initial=0.0)) for end in (low, high)]
    reach = 2.0 * (float(np.abs(b).max(initial=0.0)) + abs(total) + max(finite))
    least, most = -reach, reach
    for _ in range(100):
        middle = 0.5 * (least + most)
        if np.clip(b + middle, low, high).sum() < total:
            least = middle
        else:
            most = middle
    b = np.clip(b + most, low, high)
    lacking = total - float(b.sum())  # by rounding
    distance = (high - b) if lacking > 0 else (b - low)
    b[int(np.argmax(distance))] += lacking
    return b


@dataclass
class _Run:
    """One solve: descent and attempts to settle in turn."""

    solver: SMOSolver
    program: BoxProgram
    descent: Iterate
    tracer: Tracer
    lowest: float = np.inf
    smallest: float = np.inf
    waited: int = 0

    def run(self, tol: float) -> Answer:
        unit = self.program.unit
        wanted, sets, message = FIRST_GAP * unit, 0, f"stopped after {self.solver.max_iter} working sets"
        for _ in range(self.solver.max_iter):
            gap = self.descent.gap()
            self._record(gap)
            found, slow = None, False
            if gap <= wanted:
                found = settle(self.program, self.descent.b, self.descent.g, self.descent.shift())
                slow, wanted = not found.optimal and gap <= SMALL_GAP * unit, min(GAP_FACTOR * wanted, gap)
            if found is None or not found.optimal:
                slow |= self.descent.advance(max(0.1 * gap, 0.5 * wanted))
                sets += 1
                if self.descent.endless is not None:
                    return self._endless()
            if slow or (
                sets >= MAX_SETS_FROM_AFAR
                and found is None
                and gap > FIRST_GAP * unit
                and self.descent.b.size <= MAX_UNKNOWNS_TO_WALK
            ):
                found, sets = self._walked(), 0
            if found is not None and (found.optimal or found.direction is not None):
                return self._settled(found)
            if found is not None and gap <= 1e-3 * tol * unit:  # such as where the equations do not fit the memory
                message = "the gap is far below the tolerance"
                break
            if slow and not self._gained(gap):
                message = "no further progress"
                break
        return self._answer(self.descent.b, self.program.gradient(self.descent.b), self.descent.shift(), False, message)

    def _walked(self) -> Settled:
        """Where pairs are slow: the active-set method, whose gain is kept whether it ends or not."""
        descent = self.descent
        found = walk(self.program, descent.b, descent.g, descent.shift(), WALK_ROUNDS)
        descent.b, descent.g = found.b.copy(), found.g.copy()
        return found

    def _gained(self, gap: float) -> bool:
        """Whether the objective has fallen, beyond rounding, since this was last asked, or the gap not long ago."""
        before, self.lowest = self.lowest, self.program.objective(self.descent.b, self.descent.g)
        self.waited = 0 if gap < 0.9 * self.smallest else self.waited + 1
        self.smallest = min(gap, self.smallest)
        fallen = before == np.inf or self.lowest < before - 1e-13 * abs(before)
        return fallen or (gap > 0 and self.waited < MAX_SETS_WITHOUT_GAIN)

    def _record(self, gap: float) -> None:
        b, g, program = self.descent.b, self.descent.g, self.program
        detail = {**partition(program, b), "pairs": self.descent.steps}
        standing = partial(program.standing, b.copy(), g.copy(), self.descent.shift())
        self.tracer.record(program.objective(b, g), gap / program.unit, 1.0, detail, standing=standing)

    def _settled(self, found: Settled) -> Answer:
        self.descent.b, self.descent.g = found.b, found.g
        if found.direction is not None:
            return self._answer(found.b, found.g, found.shift, False, "the objective falls for ever", found.direction)
        self._record(self.descent.gap())
        message = f"the free unknowns solve their equations, found in {found.rounds} rounds"
        return self._answer(found.b, found.g, found.shift, True, message)

    def _endless(self) -> Answer:
        """Two unknowns that gain for ever, one rising and the other falling, or one alone."""
        assert self.descent.endless is not None
        i, j = self.descent.endless
        direction = np.zeros(self.program.problem.size)
        if i == j:
            direction[i] = -np.sign(self.descent.g[i])
        else:
            direction[i], direction[j] = 1.0, -1.0
        message = "two unknowns move for ever" if i != j else "one unknown moves for ever"
        return self._answer(self.descent.b, self.descent.g, self.descent.shift(), False, message, direction)

    def _answer(
        self, b: Array, g: Array, shift: float, settled: bool, message: str, direction: Array | None = None
    ) -> Answer:
        program = self.program
        x, multipliers = program.point(b), program.multipliers(b, g, shift, settled)
        way = None if direction is None else program.point(direction)
        lines = tuple(self.tracer.lines)
        return Answer(x, multipliers, message, len(lines) - 1, lines, direction=way)
