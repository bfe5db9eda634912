"""The plainest rows, which take no memory of their own to speak of: a diagonal, some rows of one, a column of ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.rows.base import Counts, Rows, column_by_column, rows_selected
from convexcls.rows.doubled import Doubled
from convexcls.rows.summation import total_in_parts


class PickedRows(Rows):
    """One entry a row, ``values[i]`` in the column ``columns[i]``: unknowns picked out one by one."""

    def __init__(self, values: Array, columns: NDArray[np.intp], width: int) -> None:
        self.values, self.columns = np.asarray(values, dtype=float), columns
        self.shape = (self.values.size, width)

    @property
    def entries(self) -> int:
        return self.values.size

    @property
    def row_length(self) -> int:
        return 1

    def largest_reach(self, x: Array) -> float:
        return float(np.abs(self.values * x[self.columns]).max(initial=0.0))

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(column_by_column(self.values, v) * v[self.columns])

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        np.add.at(out, self.columns, column_by_column(self.values, u) * u)
        return out

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        return self.transposed_matmul(u), int(np.bincount(self.columns).max(initial=0))

    def gram(self, weights: Array) -> Array:
        return np.diag(np.bincount(self.columns, weights * self.values**2, self.shape[1]))

    def __getitem__(self, index: Any) -> Rows:
        return PickedRows(self.values[index], self.columns[index], self.shape[1])

    def __abs__(self) -> Rows:
        return PickedRows(np.abs(self.values), self.columns, self.shape[1])

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        factors = right if isinstance(right, float) else np.broadcast_to(right, self.shape[1])[self.columns]
        return PickedRows(self.values * left * factors, self.columns, self.shape[1])

    def _largest_by_column(self) -> Array:
        out = np.zeros(self.shape[1])
        np.maximum.at(out, self.columns, np.abs(self.values))
        return out

    def row_max(self) -> Array:
        return np.abs(self.values)

    def entry_counts(self) -> tuple[Counts, Counts]:
        there = self.values != 0
        return there.astype(np.intp), np.bincount(self.columns[there], minlength=self.shape[1])

    def doubled_at(self, index: Any, columns: Indices) -> Doubled:
        values, own = self.values[index], self.columns[index]
        place = np.minimum(np.searchsorted(columns, own), max(columns.size - 1, 0))
        there = np.flatnonzero(columns[place] == own) if columns.size else np.zeros(0, dtype=np.intp)
        out = Doubled(*np.zeros((2, values.size, columns.size)))
        out.high[there, place[there]] = values[there]
        return out

    def to_matrix(self) -> Any:
        return sparse.csr_array((self.values, self.columns, np.arange(self.values.size + 1)), shape=self.shape)

    def to_dense(self) -> Array:
        out = np.zeros(self.shape)
        out[np.arange(self.values.size), self.columns] = self.values
        return out


class DistinctRows(PickedRows):
    """Rows that pick out unknowns one by one, each at most once: a permutation with factors."""

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        out[self.columns] = column_by_column(self.values, u) * u
        return out

    def __abs__(self) -> Rows:
        return DistinctRows(np.abs(self.values), self.columns, self.shape[1])


class DiagonalRows(PickedRows):
    """A diagonal matrix: a slack for each row, a bound on each variable."""

    def __init__(self, values: Array) -> None:
        super().__init__(values, np.arange(np.size(values)), np.size(values))

    @classmethod
    def identity(cls, size: int, value: float = 1.0) -> DiagonalRows:
        """``value`` times the identity."""
        return cls(np.full(size, value))

    @property
    def T(self) -> Rows:
        return self

    def diagonal(self) -> Array:
        return self.values

    def diagonal_entries(self) -> Array:
        return self.values

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(column_by_column(self.values, v) * v)

    def transposed_matmul(self, u: Array) -> Array:
        return self @ u

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        return self @ u, 1

    def _largest_by_column(self) -> Array:
        return np.abs(self.values)

    def __abs__(self) -> Rows:
        return DiagonalRows(np.abs(self.values))

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        return DiagonalRows(self.values * left * right)

    def to_matrix(self) -> Any:
        n = self.values.size
        return sparse.csc_array((self.values, self.columns, np.arange(n + 1)), shape=self.shape)


class ConstantRows(Rows):
    """An n x 1 column of ones: the intercept's column, at no cost in memory."""

    is_ones = True

    def __init__(self, size: int) -> None:
        self.shape = (size, 1)

    def __matmul__(self, v: Array) -> Array:
        return np.repeat(v, self.shape[0], axis=0)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(u.sum(axis=0, keepdims=True))

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        total, length = total_in_parts(u)
        return total[None], length

    def gram(self, weights: Array) -> Array:
        return np.full((1, 1), weights.sum())

    def __getitem__(self, index: Any) -> Rows:
        return ConstantRows(rows_selected(self.shape[0], index))

    def _largest_by_column(self) -> Array:
        return np.ones(1) if self.shape[0] else np.zeros(1)

    def row_max(self) -> Array:
        return np.ones(self.shape[0])

    def __abs__(self) -> Rows:
        return self

    def to_matrix(self) -> Any:
        return np.ones(self.shape)
