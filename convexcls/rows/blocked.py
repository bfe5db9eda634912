"""Rows that are formed a block at a time, and forgotten again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from convexcls.rows.base import Array, Rows, added_up_in_parts


class BlockedRows(Rows):
    """Rows whose products are made block by block, so that they are never all there."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """The rows of each block and their entries, in memory that the next block may take again."""

    def __matmul__(self, v: Array) -> Array:
        out = np.empty((self.shape[0], *v.shape[1:]))
        for rows, block in self.blocks():
            out[rows] = block @ v
        return out

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for rows, block in self.blocks():
            out += block.T @ u[rows]
        return out

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        out, most, count = np.zeros((self.shape[1], *u.shape[1:])), 0, 0
        for rows, block in self.blocks():
            part, length = added_up_in_parts(block, u[rows])
            out, most, count = out + part, max(most, length), count + 1
        return out, most + count
