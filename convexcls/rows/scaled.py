"""Rows with factors, some of their columns, and their transpose: all lazy."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices, top
from convexcls.caching import cached_property
from convexcls.data import Coded
from convexcls.rows.base import Counts, Factors, Rows, Travelling, Visit, as_rows, column_by_column
from convexcls.rows.doubled import Doubled
from convexcls.rows.in_memory import given_cells

if TYPE_CHECKING:
    from convexcls.rows.by_block import RowsByBlock


@lru_cache(maxsize=64)
def _ones(size: int) -> Array:
    """So many ones, in the memory of one."""
    return np.broadcast_to(np.ones(1), (size,))


def _factor(values: Array | float, size: int) -> Array:
    if isinstance(values, np.ndarray | Coded) and values.shape == (size,) and values.dtype == np.float64:
        return values
    if isinstance(values, float) and values == 1.0:
        return _ones(size)
    return np.broadcast_to(np.asarray(values, dtype=float), (size,))


def _product(factor: Array | float, other: Array, size: int) -> Array:
    if isinstance(factor, float):
        return other if factor == 1.0 else factor * other
    return _factor(factor, size) * other


def _exactly_scaled(array: Array, factor: Array) -> Array | None:
    """An array times powers of two; None where these are other numbers, or where a product underflows or overflows."""
    if not np.all((np.abs(np.frexp(factor)[0]) == 0.5) | (factor == 0.0)):
        return None
    with np.errstate(all="ignore"):
        out = array * factor
        same = (out / np.where(factor == 0.0, 1.0, factor) == array) | (factor == 0.0)
    return np.asarray(out) if np.all(same) else None


def _times(factor: float, row: list[Fraction]) -> list[Fraction]:
    """A row times a number, which mostly is a label."""
    if abs(factor) == 1.0:
        return row if factor > 0 else [-value for value in row]
    exactly = Fraction(factor)
    return [exactly * value for value in row]


def _visit_scaled(function: Any, u: Array, left: Array, *own: Array) -> tuple[Array, Any]:
    left = column_by_column(left, u)
    z, found = function(left * u, *own)
    return left * z, found


class ScaledRows(Rows):
    """``diag(left) R diag(right)``: labels times samples, columns in other units."""

    base: Rows
    left: Array
    right: Array

    def __init__(self, base: Rows, left: Array | float = 1.0, right: Array | float = 1.0) -> None:
        self.shape = base.shape
        n, d = base.shape
        if isinstance(base, ScaledRows):
            self.left, self.right, base = _product(left, base.left, n), _product(right, base.right, d), base.base
        else:
            self.left, self.right = _factor(left, n), _factor(right, d)
        self.base = base

    @property
    def entries(self) -> int:
        return self.base.entries

    def factors(self) -> Factors:
        return self._factors

    @cached_property
    def _factors(self) -> Factors:
        left = None if self.left is _ones(self.shape[0]) or (self.left == 1.0).all() else self.left
        right = None if self.right is _ones(self.shape[1]) or (self.right == 1.0).all() else self.right
        return Factors(left, self.base, right)

    def diagonal(self) -> Array | None:
        inner = self.base.diagonal()
        return None if inner is None else self.left * inner * self.right

    def exact_doubles(self, index: Any) -> Array | None:
        inner = self.base.exact_doubles(index)
        for side in (self.left[index][:, None], self.right):
            inner = None if inner is None else _exactly_scaled(inner, side)
        return inner

    def __matmul__(self, v: Array) -> Array:
        inner = self.base @ (column_by_column(self.right, v) * v)
        return np.asarray(column_by_column(self.left, inner) * inner)

    def transposed_matmul(self, u: Array) -> Array:
        inner = self.base.transposed_matmul(column_by_column(self.left, u) * u)
        return np.asarray(column_by_column(self.right, inner) * inner)

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        inner, length = self.base.added_up(column_by_column(self.left, u) * u)
        return np.asarray(column_by_column(self.right, inner) * inner), length

    @property
    def by_block(self) -> RowsByBlock | None:  # type: ignore[override]
        return self.base.by_block

    def added_up_with_sizes(self, u: Array, size: Array) -> tuple[Array, Array | int, Array]:
        if self.by_block is None:
            return super().added_up_with_sizes(u, size)
        left = column_by_column(self.left, u)
        inner, length, sizes = self.base.added_up_with_sizes(left * u, np.abs(left) * size)
        right = column_by_column(self.right, inner)
        return np.asarray(right * inner), length, np.asarray(np.abs(right) * sizes)

    def sweep(self, x: Array, visit: Visit) -> Array:
        right = column_by_column(self.right, x)
        if isinstance(visit, Travelling):
            function = partial(_visit_scaled, visit.function)
            scaled = Travelling(function, (self.left, *visit.own), visit.take, brief=visit.brief)
            return np.asarray(right * self.base.sweep(right * x, scaled))

        def visit_scaled(block: slice, u: Array) -> Array:
            left = column_by_column(self.left[block], u)
            return np.asarray(left * visit(block, left * u))

        return np.asarray(right * self.base.sweep(right * x, visit_scaled))

    def _some_columns(self, chosen: Indices) -> Rows:
        return ScaledRows(self.base.select_columns(chosen), self.left, self.right[chosen])

    def gram(self, weights: Array) -> Array:
        inner = self.base.gram(weights * self.left**2)
        return inner * self.right[:, None] * self.right

    def __getitem__(self, index: Any) -> Rows:
        return ScaledRows(self.base[index], self.left[index], self.right)

    def read_by_block(self) -> list[RowsByBlock]:
        return self.base.read_by_block()

    def of_block(self, block: slice, samples: Rows) -> Rows | None:
        inner = self.base.of_block(block, samples)
        return None if inner is None else ScaledRows(inner, self.left[block], self.right)

    def __abs__(self) -> Rows:
        return ScaledRows(abs(self.base), np.abs(self.left), np.abs(self.right))

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        left = self.left if index is None else self.left[index]
        rows = self.base.rational(index)
        if np.any(self.right != 1.0):
            right = [Fraction(value) for value in self.right.tolist()]
            rows = [[value * scale for value, scale in zip(row, right, strict=True)] for row in rows]
        return [_times(factor, row) for factor, row in zip(left.tolist(), rows, strict=True)]

    @property
    def rounding(self) -> float:
        return self.base.rounding  # factors are applied when rows are multiplied, not before

    def doubled(self, index: Any) -> Doubled:
        return self.base.doubled(index).times(self.left[index][:, None]).times(self.right)

    def doubled_at(self, index: Any, columns: Indices) -> Doubled:
        return self.base.doubled_at(index, columns).times(self.left[index][:, None]).times(self.right[columns])

    @property
    def row_length(self) -> int:
        return self.base.row_length

    def largest_reach(self, x: Array) -> float:
        return self._largest_left * self.base.largest_reach(x if self.right is _ones(x.size) else self.right * x)

    @cached_property
    def _largest_left(self) -> float:
        return top(np.abs(self.left))

    def _largest_by_column(self) -> Array:
        sizes = np.abs(self.left)
        if sizes.size and (sizes == sizes[0]).all():  # labels: every factor has one size
            return self.base.column_max() * sizes[0] * np.abs(self.right)
        return super()._largest_by_column()

    def to_matrix(self) -> Any:
        matrix = self.base.to_matrix()
        if sparse.issparse(matrix):
            by_row = sparse.csr_array(matrix)
            data = by_row.data * np.repeat(self.left, np.diff(by_row.indptr)) * self.right[by_row.indices]
            return sparse.csr_array((data, by_row.indices, by_row.indptr), shape=self.shape)
        return self._written(matrix)

    def to_dense(self) -> Array:
        return self._written(self.base.to_dense())

    def _written(self, matrix: Array) -> Array:
        out: Array = matrix * self.left[:, None]
        if self.right is not _ones(self.shape[1]):
            out *= self.right
        return out


class ColumnRows(Rows):
    """Some columns of rows, by their numbers in rising order: the others are multiplied by 0."""

    def __init__(self, base: Rows, chosen: Indices) -> None:
        self.base, self.chosen = base, chosen
        self.shape = (base.shape[0], chosen.size)
        self.by_block = base.by_block

    def __matmul__(self, v: Array) -> Array:
        filled = np.zeros((self.base.shape[1], *v.shape[1:]))
        filled[self.chosen] = v
        return self.base @ filled

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.base.T @ u)[self.chosen]

    def gram(self, weights: Array) -> Array:
        return self.base.gram(weights)[np.ix_(self.chosen, self.chosen)]

    def __getitem__(self, index: Any) -> Rows:
        return ColumnRows(self.base[index], self.chosen)

    def read_by_block(self) -> list[RowsByBlock]:
        return self.base.read_by_block()

    def of_block(self, block: slice, samples: Rows) -> Rows | None:
        inner = self.base.of_block(block, samples)
        return None if inner is None else ColumnRows(inner, self.chosen)

    def __abs__(self) -> Rows:
        return ColumnRows(abs(self.base), self.chosen)

    def _some_columns(self, chosen: Indices) -> Rows:
        return self.base.select_columns(self.chosen[chosen])

    def _largest_by_column(self) -> Array:
        return self.base.column_max()[self.chosen]

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        places = self.chosen.tolist()
        return [[row[j] for j in places] for row in self.base.rational(index)]

    def exact_doubles(self, index: Any) -> Array | None:
        inner = self.base.exact_doubles(index)
        return None if inner is None else inner[:, self.chosen]

    @property
    def rounding(self) -> float:
        return self.base.rounding

    def to_matrix(self) -> Any:
        return self.base.to_matrix()[:, self.chosen]

    def to_dense(self) -> Array:
        return self.base.to_dense()[:, self.chosen]


class TransposedRows(Rows):
    """The transpose of other rows: what was a column is a row."""

    is_transposed = True

    def __init__(self, base: Rows) -> None:
        self.base = base
        self.shape = (base.shape[1], base.shape[0])

    @property
    def T(self) -> Rows:
        return self.base

    @property
    def entries(self) -> int:
        return self.base.entries

    def __matmul__(self, v: Array) -> Array:
        return self.base.transposed_matmul(v)

    def transposed_matmul(self, u: Array) -> Array:
        return self.base @ u

    def gram(self, weights: Array) -> Array:
        """``B diag(weights) B'`` of the base B: as many rows and columns as the base has rows."""
        return as_rows(self.to_matrix()).gram(weights)

    def __getitem__(self, index: Any) -> Rows:
        chosen = np.atleast_1d(np.arange(self.shape[0])[index])
        return as_rows(self.to_matrix()[chosen], given_cells(self, chosen))

    def __abs__(self) -> Rows:
        return TransposedRows(abs(self.base))

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        columns = [list(column) for column in zip(*self.base.rational(), strict=True)]
        return columns if index is None else [columns[j] for j in np.arange(self.shape[0])[index].tolist()]

    @property
    def rounding(self) -> float:
        return self.base.rounding

    def doubled(self, index: Any) -> Doubled:
        high, low = self.base.doubled(slice(None))
        return Doubled(high.T[index], low.T[index])

    def doubled_at(self, index: Any, columns: Indices) -> Doubled:
        rows = np.arange(self.shape[0])[index]
        rising, place = np.unique(rows, return_inverse=True)
        high, low = self.base.doubled_at(columns, rising)
        return Doubled(high.T[place], low.T[place])

    def exact_doubles(self, index: Any) -> Array | None:
        inner = self.base.exact_doubles(slice(None))
        return None if inner is None else inner.T[index]

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        return TransposedRows(self.base.scaled(right, left))

    def _largest_by_column(self) -> Array:
        return self.base.row_max()

    def to_matrix(self) -> Any:
        return self.base.to_matrix().T

    def to_dense(self) -> Array:
        return self.base.to_dense().T

    def entry_counts(self) -> tuple[Counts, Counts]:
        by_column, by_row = self.base.entry_counts()
        return by_row, by_column
