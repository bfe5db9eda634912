"""The Gram matrix of some of many rows, which are not the same ones for long."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from convexcls.arrays import Array, Indices, Mask
from convexcls.rows import Rows
from convexcls.rows.summation import row_blocks
from convexcls.solvers.rows.row_program import working_copy

#: Where so small a share of a column is left of what it was, the digits may have left with the rest.
SMALLEST_SHARE_LEFT = 1e-6


@dataclass(eq=False)
class ChangingGram:
    """R'WR over the rows chosen last, W a weight for each row. What changes is added and taken away, where that is less
    than to begin anew."""

    rows: Rows
    weights: Array
    chosen: Mask | None = None
    matrix: Array | None = None
    largest: Array | None = None

    @cached_property
    def diagonal_of_all(self) -> Array:
        """The diagonal of the matrix over all rows."""
        return self.rows.gram_diagonal(self.weights)

    def of(self, chosen: Mask) -> Array:
        """The matrix over some rows."""
        before, matrix, largest = self.chosen, self.matrix, self.largest
        self.chosen = chosen
        if before is None or matrix is None or largest is None:
            return self._anew()
        joining, leaving = np.flatnonzero(chosen > before), np.flatnonzero(before > chosen)
        if joining.size + leaving.size >= np.count_nonzero(chosen):
            return self._anew()
        if joining.size:
            matrix = matrix + self._gram(joining)
        if leaving.size:
            matrix = matrix - self._gram(leaving)
        self.matrix, self.largest = matrix, np.maximum(largest, matrix.diagonal())
        lost = np.any(matrix.diagonal() < SMALLEST_SHARE_LEFT * self.largest)
        return self._anew() if lost else matrix

    def _anew(self) -> Array:
        assert self.chosen is not None
        self.matrix = self._gram(np.flatnonzero(self.chosen))
        self.largest = self.matrix.diagonal()
        return self.matrix

    def _gram(self, index: Indices) -> Array:
        """R'WR of some rows, a block at a time."""
        if index.size == self.weights.size:
            return self.rows.gram(self.weights)
        if self.rows.by_block is not None:  # in one reading
            return self.rows[index].gram(self.weights[index])
        parts = (index[block] for block in row_blocks(index.size))
        return sum(
            (working_copy(self.rows, part).gram(self.weights[part]) for part in parts),
            np.zeros((self.rows.shape[1], self.rows.shape[1])),
        )
