"""Rows of a dense array, used in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from convexcls.data import Given
from convexcls.rows.as_given import AsGiven
from convexcls.rows.base import BLOCK, Array, Rows, added_up_in_parts, largest_size, row_blocks
from convexcls.rows.blocked import BlockedRows

#: So many entries stay in the second-level cache.
IN_CACHE = 50_000


class DenseRows(AsGiven):
    """The rows of a NumPy array of doubles; the array itself, not a copy."""

    def __init__(self, array: Array, given: Given | None = None) -> None:
        if array.ndim != 2:
            raise ValueError(f"rows need a matrix, got an array of dimension {array.ndim}")
        self.array = np.asarray(array, dtype=float)
        self.shape = (self.array.shape[0], self.array.shape[1])
        self.given = given

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(self.array @ v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.array.T @ u)

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        return added_up_in_parts(self.array, u)

    def gram(self, weights: Array) -> Array:
        return _gram_by_blocks(self.array.__getitem__, self.shape, weights)

    def __getitem__(self, index: Any) -> DenseRows:
        return DenseRows(self.array[index], self.given_at(index))

    def __abs__(self) -> Rows:
        return AbsoluteRows(self)

    def _largest_by_column(self) -> Array:
        out = np.zeros(self.shape[1])
        for rows in row_blocks(self.shape[0]):  # both extremes of a block while it is in the cache
            np.maximum(out, largest_size(self.array[rows], axis=0), out=out)
        return out

    def in_memory(self) -> Array:
        return self.array

    def to_matrix(self) -> Array:
        return self.array


class AbsoluteRows(BlockedRows):
    """|R| of dense rows, formed a block at a time so that no copy of the data is made."""

    def __init__(self, base: DenseRows) -> None:
        self.base = base
        self.shape = base.shape

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """The absolute values, a block at a time, in memory that the next block takes again."""
        n, d = self.shape
        length = max(IN_CACHE // max(d, 1), 16)
        memory = np.empty((min(length, n), d))
        for start in range(0, n, length):
            rows = slice(start, min(start + length, n))
            yield rows, np.abs(self.base.array[rows], out=memory[: rows.stop - start])

    def gram(self, weights: Array) -> Array:
        return _gram_by_blocks(lambda rows: np.abs(self.base.array[rows]), self.shape, weights)

    def __getitem__(self, index: Any) -> Rows:
        return abs(self.base[index])

    def __abs__(self) -> Rows:
        return self

    def _largest_by_column(self) -> Array:
        return self.base.column_max()

    def to_matrix(self) -> Array:
        return np.abs(self.base.array)


def _gram_by_blocks(block: Callable[[slice], Array], shape: tuple[int, int], weights: Array) -> Array:
    """``R' diag(weights) R``: blocks of rows, each scaled by the square roots of its weights and added by
    BLAS syrk, which computes one triangle only."""
    n, d = shape
    if n <= BLOCK and d:
        scaled = block(slice(0, n)) * np.sqrt(weights)[:, None]
        return np.asarray(scaled.T @ scaled)  # NumPy sees that it is symmetric
    total = np.zeros((d, d), order="F")
    for rows in row_blocks(n if d else 0):  # BLAS refuses empty matrices
        scaled = block(rows) * np.sqrt(weights[rows])[:, None]
        total = dsyrk(1.0, scaled.T, beta=1.0, c=total, overwrite_c=1)
    return np.asarray(np.triu(total) + np.triu(total, 1).T)
