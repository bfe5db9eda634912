"""A point of a box program with its gradient, brought forward one working set at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from convexcls.arrays import Array, Indices, Mask
from convexcls.solvers.kernel.box_program import BoxProgram

#: The share of the memory limit for the matrix of a working set.
WORKING_SET_MEMORY_SHARE = 0.15
#: The fewest and the most unknowns of a working set, where it is not said how many.
FEWEST_MOVED, MOST_MOVED = 512, 4096


def working_set_size(program: BoxProgram, asked: int | None) -> int:
    """How many unknowns move at a time: what is asked for, or two fifths of all, and what fits the memory."""
    fitting = int(np.sqrt(min(WORKING_SET_MEMORY_SHARE * program.store.limit, 1e12) / 8))
    return max(min(asked or min(max(2 * program.p.size // 5, FEWEST_MOVED), MOST_MOVED), fitting), 2)


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
