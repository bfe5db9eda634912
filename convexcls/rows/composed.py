"""Rows made of other rows: scaled, transposed, diagonal, constant, joined side by side. All lazy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.rows.base import Array, Rows, column_by_column


def _factor(values: Array | float, size: int) -> Array:
    return np.broadcast_to(np.asarray(values, dtype=float), (size,))


class ScaledRows(Rows):
    """``diag(left) R diag(right)``: labels times samples, columns in other units."""

    def __init__(self, base: Rows, left: Array | float = 1.0, right: Array | float = 1.0) -> None:
        n, d = base.shape
        self.left, self.right = _factor(left, n), _factor(right, d)
        if isinstance(base, ScaledRows):
            self.left, self.right, base = self.left * base.left, self.right * base.right, base.base
        self.base = base
        self.shape = (n, d)

    def __matmul__(self, v: Array) -> Array:
        inner = self.base @ (column_by_column(self.right, v) * v)
        return np.asarray(column_by_column(self.left, inner) * inner)

    def transposed_matmul(self, u: Array) -> Array:
        inner = self.base.transposed_matmul(column_by_column(self.left, u) * u)
        return np.asarray(column_by_column(self.right, inner) * inner)

    def gram(self, weights: Array) -> Array:
        inner = self.base.gram(weights * self.left**2)
        return inner * self.right[:, None] * self.right

    def __getitem__(self, index: Any) -> Rows:
        return ScaledRows(self.base[index], self.left[index], self.right)

    def __abs__(self) -> Rows:
        return ScaledRows(abs(self.base), np.abs(self.left), np.abs(self.right))

    def column_max(self) -> Array:
        if np.all(np.abs(self.left) == abs(self.left[:1])):  # labels: every factor has one size
            return self.base.column_max() * np.abs(self.left[:1]).sum() * np.abs(self.right)
        matrix = self.base.to_matrix()
        scaled = abs(matrix) if sparse.issparse(matrix) else np.abs(matrix)
        if sparse.issparse(matrix):
            largest = (sparse.diags_array(np.abs(self.left)) @ scaled).max(axis=0).toarray().ravel()
        else:
            largest = (scaled * np.abs(self.left)[:, None]).max(axis=0, initial=0.0)
        return np.asarray(largest * np.abs(self.right), dtype=float)

    def to_matrix(self) -> Any:
        matrix = self.base.to_matrix()
        if sparse.issparse(matrix):
            return sparse.diags_array(self.left) @ matrix @ sparse.diags_array(self.right)
        return matrix * self.left[:, None] * self.right


class TransposedRows(Rows):
    """The transpose of other rows: what was a column is a row."""

    def __init__(self, base: Rows) -> None:
        self.base = base
        self.shape = (base.shape[1], base.shape[0])

    @property
    def T(self) -> Rows:
        return self.base

    def __matmul__(self, v: Array) -> Array:
        return self.base.transposed_matmul(v)

    def transposed_matmul(self, u: Array) -> Array:
        return self.base @ u

    def gram(self, weights: Array) -> Array:
        """``B diag(weights) B'`` of the base B: as many rows and columns as the base has rows."""
        matrix = self.base.to_dense()
        return np.asarray((matrix * weights) @ matrix.T)

    def __getitem__(self, index: Any) -> Rows:
        from convexcls.rows.base import as_rows

        return as_rows(self.base.to_matrix()[:, index].T)

    def __abs__(self) -> Rows:
        return TransposedRows(abs(self.base))

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        return TransposedRows(self.base.scaled(right, left))

    def column_max(self) -> Array:
        matrix = self.base.to_matrix()
        if sparse.issparse(matrix):
            return np.asarray(abs(matrix).max(axis=1).toarray(), dtype=float).ravel()
        return np.asarray(np.maximum(matrix.max(axis=1, initial=0.0), -matrix.min(axis=1, initial=0.0)))

    def to_matrix(self) -> Any:
        return self.base.to_matrix().T


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

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(column_by_column(self.values, v) * v)

    def transposed_matmul(self, u: Array) -> Array:
        return self @ u

    def gram(self, weights: Array) -> Array:
        return np.diag(weights * self.values**2)

    def __getitem__(self, index: Any) -> Rows:
        from convexcls.rows.sparse import SparseRows

        return SparseRows(sparse.csr_array(self.to_matrix())[index])

    def __abs__(self) -> Rows:
        return DiagonalRows(np.abs(self.values))

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        return DiagonalRows(self.values * left * right)

    def column_max(self) -> Array:
        return np.abs(self.values)

    def to_matrix(self) -> Any:
        return sparse.csc_array(sparse.diags_array(self.values))


class ConstantRows(Rows):
    """An n x 1 column of ones: the intercept's column, at no cost in memory."""

    def __init__(self, size: int) -> None:
        self.shape = (size, 1)

    def __matmul__(self, v: Array) -> Array:
        return np.broadcast_to(v[0], (self.shape[0], *v.shape[1:]))

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(u.sum(axis=0, keepdims=True))

    def gram(self, weights: Array) -> Array:
        return np.full((1, 1), weights.sum())

    def __getitem__(self, index: Any) -> Rows:
        return ConstantRows(np.empty(self.shape[0], dtype=bool)[index].size)

    def __abs__(self) -> Rows:
        return self

    def column_max(self) -> Array:
        return np.full(1, float(self.shape[0] > 0))

    def to_matrix(self) -> Any:
        return np.ones(self.shape)


class JoinedRows(Rows):
    """Several rows objects side by side, each over its own range of columns: one row of a
    constraint across all blocks of variables."""

    def __init__(self, size: int, width: int, parts: Sequence[tuple[slice, Rows]]) -> None:
        self.shape = (size, width)
        self.parts = tuple(parts)

    def __matmul__(self, v: Array) -> Array:
        out = np.zeros((self.shape[0], *v.shape[1:]))
        for where, rows in self.parts:
            out += rows @ v[where]
        return out

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for where, rows in self.parts:
            out[where] += rows.T @ u
        return out

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for k, (where, rows) in enumerate(self.parts):
            out[where, where] += rows.gram(weights)
            for other_where, other in self.parts[:k]:
                cross = _cross_gram(rows, weights, other)
                out[where, other_where] += cross
                out[other_where, where] += cross.T
        return out

    def __getitem__(self, index: Any) -> Rows:
        size = np.empty(self.shape[0], dtype=bool)[index].size
        return JoinedRows(size, self.shape[1], [(where, rows[index]) for where, rows in self.parts])

    def __abs__(self) -> Rows:
        return JoinedRows(*self.shape, [(where, abs(rows)) for where, rows in self.parts])

    def column_max(self) -> Array:
        out = np.zeros(self.shape[1])
        for where, rows in self.parts:
            out[where] = np.maximum(out[where], rows.column_max())
        return out

    def to_matrix(self) -> Any:
        out = sparse.csc_array(self.shape)
        for where, rows in self.parts:
            start = where.start
            padded = sparse.coo_array(rows.to_matrix())
            shifted = sparse.coo_array((padded.data, (padded.coords[0], padded.coords[1] + start)), shape=self.shape)
            out = out + sparse.csc_array(shifted)
        return out


def _cross_gram(left: Rows, weights: Array, right: Rows) -> Array:
    """``left' diag(weights) right``, by expanding whichever side has fewer columns."""
    if left.shape[1] < right.shape[1]:
        return _cross_gram(right, weights, left).T
    columns = right @ np.eye(right.shape[1])
    return left.T @ (weights[:, None] * columns)
