"""Rows of a dense array, used in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from convexcls.rows.base import Array, Rows

# A block of scaled rows stays in the second-level cache between the scaling and the product.
BLOCK = 2048


class DenseRows(Rows):
    """The rows of a NumPy array of doubles; the array itself, not a copy."""

    def __init__(self, array: Array) -> None:
        if array.ndim != 2:
            raise ValueError(f"rows need a matrix, got an array of dimension {array.ndim}")
        self.array = np.asarray(array, dtype=float)
        self.shape = (self.array.shape[0], self.array.shape[1])

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(self.array @ v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.array.T @ u)

    def gram(self, weights: Array) -> Array:
        """Blocks of rows, each scaled by the square roots of its weights and added by BLAS syrk,
        which computes one triangle only."""
        n, d = self.shape
        total = np.zeros((d, d), order="F")
        roots = np.sqrt(weights)
        for start in range(0, n, BLOCK):
            block = self.array[start : start + BLOCK] * roots[start : start + BLOCK, None]
            total = dsyrk(1.0, block.T, beta=1.0, c=total, overwrite_c=1)
        return np.asarray(np.triu(total) + np.triu(total, 1).T)

    def __getitem__(self, index: Any) -> DenseRows:
        return DenseRows(self.array[index])

    def __abs__(self) -> Rows:
        return AbsoluteRows(self)

    def column_max(self) -> Array:
        if not self.shape[0]:
            return np.zeros(self.shape[1])
        return np.maximum(self.array.max(axis=0), -self.array.min(axis=0))

    def to_matrix(self) -> Array:
        return self.array


class AbsoluteRows(Rows):
    """|R| of dense rows, formed a block at a time so that no copy of the data is made."""

    def __init__(self, base: DenseRows) -> None:
        self.base = base
        self.shape = base.shape

    def _blocks(self) -> Any:
        for start in range(0, self.shape[0], BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, np.abs(self.base.array[rows])

    def __matmul__(self, v: Array) -> Array:
        out = np.empty((self.shape[0], *v.shape[1:]))
        for rows, block in self._blocks():
            out[rows] = block @ v
        return out

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for rows, block in self._blocks():
            out += block.T @ u[rows]
        return out

    def gram(self, weights: Array) -> Array:
        return DenseRows(self.to_matrix()).gram(weights)

    def __getitem__(self, index: Any) -> Rows:
        return abs(self.base[index])

    def __abs__(self) -> Rows:
        return self

    def column_max(self) -> Array:
        return self.base.column_max()

    def to_matrix(self) -> Array:
        return np.abs(self.base.array)
