"""Rows made of other rows: scaled, transposed, joined side by side. All lazy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.rows.as_given import given_cells
from convexcls.rows.base import (
    Array,
    Counts,
    Factors,
    Rows,
    as_rows,
    column_by_column,
    rows_selected,
)
from convexcls.rows.dense import DenseRows
from convexcls.rows.doubled import Doubled

#: Joined rows with fewer entries are written out.
WRITTEN_OUT = 20_000


def _factor(values: Array | float, size: int) -> Array:
    if isinstance(values, np.ndarray) and values.shape == (size,) and values.dtype == np.float64:
        return values
    return np.broadcast_to(np.asarray(values, dtype=float), (size,))


def _product(factor: Array | float, other: Array, size: int) -> Array:
    return other if isinstance(factor, float) and factor == 1.0 else _factor(factor, size) * other


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
        left, right = (None if np.all(side == 1.0) else side for side in (self.left, self.right))
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

    def gram(self, weights: Array) -> Array:
        inner = self.base.gram(weights * self.left**2)
        return inner * self.right[:, None] * self.right

    def __getitem__(self, index: Any) -> Rows:
        return ScaledRows(self.base[index], self.left[index], self.right)

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

    @property
    def row_length(self) -> int:
        return self.base.row_length

    def _largest_by_column(self) -> Array:
        sizes = np.abs(self.left)
        if sizes.size and np.all(sizes == sizes[0]):  # labels: every factor has one size
            return self.base.column_max() * sizes[0] * np.abs(self.right)
        return super()._largest_by_column()

    def to_matrix(self) -> Any:
        matrix = self.base.to_matrix()
        if sparse.issparse(matrix):
            return sparse.diags_array(self.left) @ matrix @ sparse.diags_array(self.right)
        return matrix * self.left[:, None] * self.right

    def to_dense(self) -> Array:
        return np.asarray(self.base.to_dense() * self.left[:, None] * self.right)


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


class JoinedRows(Rows):
    """Several rows objects side by side, each over its own range of columns, zero elsewhere: the rows of a
    constraint across all blocks of variables. Where they are few they are written out once, as one array: then the
    way through the layers costs more than the arithmetic."""

    def __init__(self, size: int, width: int, parts: Sequence[tuple[slice, Rows]]) -> None:
        self.shape = (size, width)
        flat: list[tuple[slice, Rows]] = []
        for where, rows in parts:
            inner = rows.parts if isinstance(rows, JoinedRows) else ((slice(0, rows.shape[1]), rows),)
            flat += [(slice(where.start + w.start, where.start + w.stop), part) for w, part in inner]
        self.parts: tuple[tuple[slice, Rows], ...] = tuple(flat)

    @cached_property
    def _written_out(self) -> DenseRows | None:
        n, d = self.shape
        return DenseRows(self._filled()) if n * d <= WRITTEN_OUT else None

    @cached_property
    def _sizes(self) -> DenseRows:
        return DenseRows(np.abs(self.to_dense()))

    def _filled(self) -> Array:
        out = np.zeros(self.shape)
        for where, rows in self.parts:
            out[:, where] += rows.to_dense()
        return out

    @property
    def entries(self) -> int:
        return sum(rows.entries for _, rows in self.parts)

    def __matmul__(self, v: Array) -> Array:
        if self._written_out is not None:
            return self._written_out @ v
        out = np.zeros((self.shape[0], *v.shape[1:]))
        for where, rows in self.parts:
            out += rows @ v[where]
        return out

    def transposed_matmul(self, u: Array) -> Array:
        if self._written_out is not None:
            return self._written_out.transposed_matmul(u)
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for where, rows in self.parts:
            out[where] += rows.T @ u
        return out

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        if self._written_out is not None:
            return self._written_out.transposed_matmul(u), self._lengths
        out, lengths = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        for where, rows in self.parts:
            part, length = rows.added_up(u)
            out[where] += part
            lengths[where] += length if rows.diagonal() is not None else length + 1
        return out, lengths

    @cached_property
    def _lengths(self) -> Array:
        """How many entries a column of the rows written out may have."""
        out = np.zeros(self.shape[1])
        for where, rows in self.parts:
            out[where] += 1 if rows.diagonal() is not None else rows.shape[0] + 1
        return out

    def gram(self, weights: Array) -> Array:
        if self._written_out is not None:
            return self._written_out.gram(weights)
        out = np.zeros((self.shape[1], self.shape[1]))
        for k, (where, rows) in enumerate(self.parts):
            out[where, where] += rows.gram(weights)
            for other_where, other in self.parts[:k]:
                cross = cross_gram(rows, weights, other)
                out[where, other_where] += cross
                out[other_where, where] += cross.T
        return out

    def __getitem__(self, index: Any) -> JoinedRows:
        size = rows_selected(self.shape[0], index)
        return JoinedRows(size, self.shape[1], [(where, rows[index]) for where, rows in self.parts])

    def __abs__(self) -> Rows:
        if self._written_out is not None:
            return self._sizes
        return JoinedRows(*self.shape, [(where, abs(rows)) for where, rows in self.parts])

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        height = self.shape[0] if index is None else rows_selected(self.shape[0], index)
        out = [[Fraction(0)] * self.shape[1] for _ in range(height)]
        for where, rows in self.parts:
            for whole, part in zip(out, rows.rational(index), strict=True):
                whole[where] = part
        return out

    @property
    def rounding(self) -> float:
        return max((rows.rounding for _, rows in self.parts), default=0.0)

    def doubled(self, index: Any) -> Doubled:
        out = Doubled(*np.zeros((2, rows_selected(self.shape[0], index), self.shape[1])))
        for where, rows in self.parts:
            out.high[:, where], out.low[:, where] = rows.doubled(index)
        return out

    def exact_doubles(self, index: Any) -> Array | None:
        out = np.zeros((rows_selected(self.shape[0], index), self.shape[1]))
        for where, rows in self.parts:
            inner = rows.exact_doubles(index)
            if inner is None:
                return None
            out[:, where] += inner
        return out

    @property
    def row_length(self) -> int:
        return sum(rows.row_length for _, rows in self.parts)

    def largest_reach(self, x: Array) -> float:
        return sum(rows.largest_reach(x[where]) for where, rows in self.parts)

    def _largest_by_column(self) -> Array:
        out = np.zeros(self.shape[1])
        for where, rows in self.parts:
            out[where] = np.maximum(out[where], rows.column_max())
        return out

    def to_matrix(self) -> Any:
        blocks, done = [], 0
        for where, rows in sorted(self.parts, key=lambda part: part[0].start):
            blocks += [sparse.csc_array((self.shape[0], where.start - done)), rows.to_matrix()]
            done = where.stop
        return sparse.hstack([*blocks, sparse.csc_array((self.shape[0], self.shape[1] - done))], format="csc")

    def compact(self) -> Any:
        matrices = [(where, rows.to_matrix()) for where, rows in self.parts]
        if any(sparse.issparse(matrix) and matrix.shape[1] > 1 for _, matrix in matrices):
            return self.to_matrix()
        out = np.zeros(self.shape, order="C")
        for where, matrix in matrices:
            out[:, where] += matrix.toarray() if sparse.issparse(matrix) else matrix
        return out

    def to_dense(self) -> Array:
        return self._filled() if self._written_out is None else self._written_out.array

    def entry_counts(self) -> tuple[Counts, Counts]:
        by_row, by_column = (np.zeros(size, dtype=np.intp) for size in self.shape)
        for where, rows in self.parts:
            own, columns = rows.entry_counts()
            by_row += own
            by_column[where] += columns
        return by_row, by_column


def one_entry_each(rows: Rows) -> bool:
    """Whether every row has one entry, and every column at most one: then the rows pick out unknowns one by one."""
    by_row, by_column = rows.entry_counts()
    return bool(np.all(by_row == 1) and np.all(by_column <= 1))


def cross_gram(left: Rows, weights: Array, right: Rows) -> Array:
    """``left' diag(weights) right``, by expanding whichever side has fewer columns; of rows with themselves, their
    Gram matrix."""
    if left is right and np.all(weights >= 0):
        return left.gram(weights)
    if left is right and np.all(weights <= 0):
        return -left.gram(-weights)
    if left.shape[1] < right.shape[1]:
        return cross_gram(right, weights, left).T
    columns = right @ np.eye(right.shape[1])
    return left.T @ (weights[:, None] * columns)
