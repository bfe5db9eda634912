"""Where every sample stands: on which of its lines its slack rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.exact.measured import compared
from convexcls.proofs.exact.products import Array, Matrix
from convexcls.proofs.exact.statement import Samples

#: A sample of quadratic cost whose lines are all below 0: it costs nothing.
OFF = -1
#: A sample whose slack is an unknown of the small program.
OPEN = -2


@dataclass(eq=False)
class Sides:
    """``side[i]`` is the line on which the slack of sample i rests, OFF or OPEN. The samples that rest on a line cost
    linear or quadratic functions of z, whose sum is kept as

        1/2 (z, 1)' gram (z, 1) + total' (z, 1)."""

    samples: Samples
    side: NDArray[np.intp]

    def __post_init__(self) -> None:
        #: Whether a sample with a fixed side rests on several lines at once.
        self.touching = False
        width = self.samples.lines[0].width + 1
        self.total = [Fraction(0)] * width
        self.gram: Matrix | None = None
        for k, line in enumerate(self.samples.lines):
            for costs, curved in ((self.samples.cost, False), (self.samples.curvature, True)):
                index = np.flatnonzero((self.side == k) & (costs > 0))
                if not index.size:
                    continue
                if curved:
                    part = line.gram(index, costs[index])
                    self.gram = part if self.gram is None else _sum(self.gram, part)
                else:
                    self.total = [a + b for a, b in zip(self.total, line.total(index, costs[index]), strict=True)]

    def open(self, i: int) -> int:
        """Make the slack of a sample an unknown, and take its cost out of the sums; the side it was on."""
        k = int(self.side[i])
        self.side[i] = OPEN
        if k >= 0:
            (row,) = self.samples.lines[k].rational(np.array([i]))
            c, p = Fraction(float(self.samples.cost[i])), Fraction(float(self.samples.curvature[i]))
            if c:
                self.total = [a - c * b for a, b in zip(self.total, row, strict=True)]
            if p and self.gram is not None:
                self.gram = _sum(self.gram, [[-p * a * b for b in row] for a in row])
        return k

    def contradicted(self, z: Sequence[Fraction], moving: bool = False) -> NDArray[np.intp]:
        """The samples that stand elsewhere at z than where they are taken to stand; or that leave their side along a
        direction."""
        lines, out = self.samples.lines, np.zeros(self.samples.size, dtype=bool)
        self.touching, counts = False, (self.side != OPEN) & (self.samples.cost > 0)
        for k, j in combinations(range(len(lines)), 2):
            sign = compared(lines[k], lines[j], z, moving)
            self.touching |= bool(np.any(counts & (sign == 0)))
            out |= ((self.side == k) & (sign < 0)) | ((self.side == j) & (sign > 0))
        curved = self.samples.curvature > 0
        if curved.any():
            for k, line in enumerate(lines):
                sign = line.moves(z) if moving else line.signs(z)
                out |= (self.side == OFF) & (sign > 0)
                if not moving:
                    out |= (self.side == k) & curved & (sign < 0)
        return np.flatnonzero(out)

    def worst(self, index: NDArray[np.intp], z: Array, most: int) -> NDArray[np.intp]:
        """Of some samples those that are farthest from where they are taken to stand, by doubles."""
        if index.size <= most:
            return index
        values = np.array([line.values(z)[index] for line in self.samples.lines])
        resting = np.where(self.side[index] >= 0, values[self.side[index], np.arange(index.size)], 0.0)
        away = np.maximum(values.max(axis=0) - resting, -np.minimum(resting, 0.0) * (self.samples.curvature[index] > 0))
        return np.sort(index[np.argsort(-away, kind="stable")[:most]])


def _sum(first: Matrix, second: Matrix) -> Matrix:
    return [[a + b for a, b in zip(u, v, strict=True)] for u, v in zip(first, second, strict=True)]
