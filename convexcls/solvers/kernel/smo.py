"""Sequential minimal optimization for kernel machines, finished by Newton's method on the free unknowns.

    minimise 1/2 x'Qx + q'x      subject to bounds on each unknown and at most one equation a'x = c

as the Wolfe dual of a kernel machine is stated (Platt 1999). Rows of Q are computed when they are needed, and as many
are kept as the problem's memory limit allows.

At a point b with gradient g an unknown can rise where b < high and fall where b > low. With an equation the point is
optimal when no unknown that can rise has a smaller gradient than one that can fall; the difference is the gap. A
working set takes those that violate this most from both sides; its matrix is small, so pairs are moved at the speed
of the cache, by the second-order rule of Fan, Chen and Lin (2005), and only then the gradient of all unknowns is
brought up to date, by one product with the rows of the set. Once it is nearly known which unknowns are at a bound, the
others solve a linear system (``free_set.py``), so that the answer is exact to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from convexcls.arrays import Array, Indices, Mask
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer
from convexcls.solvers.kernel.box_program import BoxProgram, partition, why_not_a_box_program
from convexcls.solvers.kernel.free_set import Settled, settle, walk

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

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program = BoxProgram.of(problem)
        if problem.size == 0 or np.any(program.low > program.high):
            return Answer(None, message="the bounds exclude each other")
        b = feasible(program, program.scale * start.x)
        if b is None:
            return Answer(None, message="the bounds and the equation exclude each other")
        iterate = SmoIterate(program, b, program.gradient(b), self._set_size(program))
        return _SmoRun(self, program, iterate, Tracer(callback)).run(tol)

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
class SmoIterate:
    """A point with its gradient, brought forward one working set at a time."""

    program: BoxProgram
    b: Array
    g: Array
    working_set: int
    steps: int = 0
    #: A pair of unknowns that can move for ever, if one was found.
    endless: tuple[int, int] | None = None
    memory: Array = field(default_factory=lambda: np.empty(0))
    last: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def can_rise(self) -> Mask:
        return self.b < self.program.high

    def can_fall(self) -> Mask:
        return self.b > self.program.low

    def gap(self) -> float:
        """How far the point is from optimal, in units of the gradient."""
        rising, falling = -self.g[self.can_rise()], self.g[self.can_fall()]
        if self.program.total is None:
            return max(float(rising.max(initial=0.0)), float(falling.max(initial=0.0)))
        if not rising.size or not falling.size:
            return 0.0
        return max(float(rising.max()) + float(falling.max()), 0.0)

    def shift(self) -> float:
        """The multiplier of the equation: minus the gradient of free unknowns, or the middle of what is allowed."""
        if self.program.total is None:
            return 0.0
        rise, fall = self.can_rise(), self.can_fall()
        free = rise & fall
        if np.any(free):
            return -float(self.g[free].mean())
        ends = [-self.g[side] for side in (rise, fall)]
        if not ends[0].size or not ends[1].size:
            return 0.0 if not ends[0].size and not ends[1].size else float((ends[0] if ends[0].size else ends[1]).max())
        return 0.5 * (float(ends[0].max()) + float(ends[1].min()))

    def advance(self, gap: float) -> bool:
        """Choose a working set, solve on it to the gap, and bring the gradient up to date. Returns whether pairs came
        forward too slowly to get there."""
        from convexcls.solvers.kernel import smo_pairs

        program = self.program
        chosen = self._working_set()
        K = self._matrix(chosen.size)
        program.store.fill_block(chosen, chosen, K)
        b, g = self.b[chosen], self.g[chosen]
        loop = smo_pairs.descend_singles if program.total is None else smo_pairs.descend_pairs
        bounds = program.low[chosen], program.high[chosen]
        allowed = 20 * max(chosen.size, 50)
        steps, i, j = loop(K, np.diag(K).copy(), *bounds, b, g, gap, allowed)
        if i >= 0:
            self.endless = int(chosen[i]), int(chosen[j])
        moves = b - self.b[chosen]
        self.b[chosen] = b
        moved = np.flatnonzero(moves)
        program.store.add_product(chosen[moved], moves[moved], self.g, keep=True)
        self.steps += steps
        self.last = chosen
        return bool(steps == allowed)

    def _matrix(self, size: int) -> Array:
        """Room for the matrix of a working set, in memory that is used again: new memory costs more than the copy."""
        if self.memory.size < size * size:
            self.memory = np.empty(size * size)
        return self.memory[: size * size].reshape(size, size)

    def _working_set(self) -> Indices:
        """The unknowns that violate most, from both sides, and free ones of the last set, which are likely to move
        again: at most half of the set. Those that violate nothing are left out."""
        size = max(min(self.working_set, self.b.size), 2)
        rise, fall = self.can_rise(), self.can_fall()
        rising, falling = np.where(rise, -self.g, -np.inf), np.where(fall, self.g, -np.inf)
        if self.program.total is None:
            violating = (rising > 0) | (falling > 0)
        else:
            violating = (rising > -falling.max()) | (falling > -rising.max())
        violating |= rise & fall
        if np.count_nonzero(violating) <= size:
            return np.flatnonzero(violating)
        kept = self.last[(rise & fall)[self.last]][: size // 2]
        taken = np.zeros(self.b.size, dtype=bool)
        taken[kept] = True
        new = size - kept.size
        for scores, count in ((rising, new - new // 2), (falling, new // 2)):
            scores[taken | ~violating] = -np.inf
            top = np.argpartition(scores, -count)[-count:]
            taken[top[scores[top] > -np.inf]] = True
        return np.flatnonzero(taken)


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
