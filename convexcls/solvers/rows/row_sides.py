"""On which side of its kinks a row is, and what rows that stay on their side add to a program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.rows.base import row_blocks
from convexcls.solvers.rows.row_program import Indices, Mask, RowProgram

Array = NDArray[np.float64]
Sides = NDArray[np.int8]

#: a is at its lower or upper bound, a = r/give, or none of them is possible: the row breaks a constraint.
LOW, HIGH, GIVING, BROKEN = 0, 1, 2, 3


def sides_of(program: RowProgram, excess: Array) -> Sides:
    """The side of every row at a point."""
    if not np.any(program.give):
        out = (excess > 0).astype(np.int8)
        open_ends = np.where(out == HIGH, np.isinf(program.high), np.isinf(program.low))
    else:
        low, high = excess <= program.give * program.low, excess >= program.give * program.high
        low, high = low & np.isfinite(program.low), high & np.isfinite(program.high) & ~low
        out = np.where(low, LOW, np.where(high, HIGH, GIVING)).astype(np.int8)
        open_ends = (out == GIVING) & (program.give == 0)
    out[open_ends] = BROKEN
    out[program.low == program.high] = LOW
    return out


def distances(program: RowProgram, excess: Array) -> Array:
    """How far every row is from its nearest kink; infinite where its a is given."""
    if not np.any(program.give):
        out = np.abs(excess)
    else:
        with np.errstate(invalid="ignore"):
            gives = program.give > 0
            ends = [
                np.where(gives, np.abs(excess - np.where(gives, program.give * end, 0.0)), np.abs(excess))
                for end in (program.low, program.high)
            ]
        out = np.minimum(*ends)
    return np.where(program.low == program.high, np.inf, out)


@dataclass(eq=False)
class FixedRows:
    """The rows that stay on their side, and what they add up to: a linear cost, a curvature and a constant. Changes of
    side are added to the curvature, which is not worked out anew."""

    program: RowProgram
    giving: Mask
    curvature: Array | None = None

    @classmethod
    def none(cls, program: RowProgram) -> FixedRows:
        return cls(program, np.zeros(program.h.size, dtype=bool))

    def without(self, sides: Sides, band: Indices) -> tuple[RowProgram, Array]:
        """The program on the rows of the band, the others on their sides, and the a of those (0 in the band)."""
        program = self.program
        a = np.where(sides == HIGH, program.high, program.low)
        giving = sides == GIVING
        giving[band] = False
        a[giving] = 0.0
        a[band] = 0.0
        constant = -float(a @ program.h)
        pulling = a
        if np.any(program.give):
            self._update(giving)
            h, give = program.h[giving], program.give[giving]
            pulling = a.copy()
            pulling[giving] = -h / give
            constant += 0.5 * float((h / give) @ h)
        pull = program.rows.T @ pulling if np.any(pulling) else np.zeros_like(program.q)
        return program.on(band, pull, self.curvature, constant), a

    def _update(self, giving: Mask) -> None:
        if self.curvature is None:
            self.curvature = np.zeros_like(self.program.P)
        for rows, sign in ((giving & ~self.giving, 1.0), (self.giving & ~giving, -1.0)):
            self.curvature = self.curvature + sign * self._gram(rows)
        self.giving = giving

    def _gram(self, chosen: Mask) -> Array:
        """R'R/give of some rows, a block at a time."""
        out = np.zeros_like(self.program.P)
        for block in row_blocks(chosen.size):
            if np.any(inside := chosen[block]):
                index = np.flatnonzero(inside) + block.start
                out += self.program.rows[index].gram(1.0 / self.program.give[index])
        return out
