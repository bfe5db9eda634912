"""The two plainest rows, which take no memory of their own to speak of: a diagonal and a column of ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexcls.rows.base import Array, Rows, column_by_column, rows_selected
from convexcls.rows.sparse import SparseRows


class DiagonalRows(Rows):
    """A diagonal matrix: a slack for each row, a bound on each variable."""

    def __init__(self, values: Array) -> None:
        self.values = np.asarray(values, dtype=float)
        self.shape = (self.values.size, self.values.size)

    @classmethod
    def identity(cls, size: int, value: float = 1.0) -> DiagonalRows:
        """``value`` times the identity."""
        return cls(np.full(size, value))

    @property
    def T(self) -> Rows:
        return self

    @property
    def entries(self) -> int:
        return self.values.size

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(column_by_column(self.values, v) * v)

    def transposed_matmul(self, u: Array) -> Array:
        return self @ u

    def gram(self, weights: Array) -> Array:
        return np.diag(weights * self.values**2)

    def __getitem__(self, index: Any) -> Rows:
        chosen = np.arange(self.values.size)[index]
        entries = (self.values[chosen], chosen, np.arange(chosen.size + 1))
        return SparseRows(sparse.csr_array(entries, shape=(chosen.size, self.values.size)))

    def __abs__(self) -> Rows:
        return DiagonalRows(np.abs(self.values))

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        return DiagonalRows(self.values * left * right)

    def _largest_by_column(self) -> Array:
        return np.abs(self.values)

    def to_matrix(self) -> Any:
        n = self.values.size
        return sparse.csc_array((self.values, np.arange(n), np.arange(n + 1)), shape=self.shape)


class ConstantRows(Rows):
    """An n x 1 column of ones: the intercept's column, at no cost in memory."""

    def __init__(self, size: int) -> None:
        self.shape = (size, 1)

    def __matmul__(self, v: Array) -> Array:
        return np.repeat(v, self.shape[0], axis=0)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(u.sum(axis=0, keepdims=True))

    def gram(self, weights: Array) -> Array:
        return np.full((1, 1), weights.sum())

    def __getitem__(self, index: Any) -> Rows:
        return ConstantRows(rows_selected(self.shape[0], index))

    def __abs__(self) -> Rows:
        return self

    def _largest_by_column(self) -> Array:
        return np.full(1, float(self.shape[0] > 0))

    def to_matrix(self) -> Any:
        return np.ones(self.shape)
