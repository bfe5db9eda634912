"""Sequential minimal optimization by working sets: the unknowns that violate most, solved on their small matrix.

At a point b with gradient g an unknown can rise where b < high and fall where b > low. With an equation the point is
optimal when no unknown that can rise has a smaller gradient than one that can fall; the difference is the gap. A
working set takes those that violate this most from both sides; its matrix is small, so pairs are moved at the speed
of the cache, and only then the gradient of all unknowns is brought up to date, by one product with the rows of the set.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from convexcls.arrays import Array, Indices, Mask
from convexcls.solvers.kernel.box_program import BoxProgram


@dataclass
class Iterate:
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
        from convexcls.solvers.kernel import loops

        program = self.program
        chosen = self._working_set()
        K = self._matrix(chosen.size)
        program.store.fill_block(chosen, chosen, K)
        b, g = self.b[chosen], self.g[chosen]
        loop = loops.descend_singles if program.total is None else loops.descend_pairs
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
