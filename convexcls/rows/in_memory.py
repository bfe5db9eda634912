"""Rows of a NumPy array or of a SciPy sparse array, used in place, with their entries as they were given."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.caching import cached_property
from convexcls.compilation import compiles
from convexcls.data import Given, GivenCells, compressed
from convexcls.rows.base import Counts, Rows, Visit
from convexcls.rows.summation import BLOCK_ROWS, added_up_in_parts, largest_size, outer_products, sweep_blocks


def given_cells(rows: Rows, index: Any) -> GivenCells | None:
    """Some rows as they were given, for other rows that hold the same entries; None where the doubles are exact."""
    if not rows.rounding:
        return None
    exact = rows.rational(index)
    cells = np.empty((len(exact), rows.shape[1]), dtype=object)
    for i, row in enumerate(exact):
        cells[i] = row
    return GivenCells(cells)


class AsGiven(Rows):
    """Rows of data: doubles for all work but exact proofs, which read ``given`` instead."""

    def given_at(self, index: Any) -> Given | None:
        """What some of the rows were given as."""
        return None if self.given is None else self.given.take(index)

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        if self.given is None:
            return super().rational(index)
        chosen = np.arange(self.shape[0])
        return [self.given.row(i) for i in (chosen if index is None else chosen[index]).tolist()]

    @property
    def rounding(self) -> float:
        return 0.0 if self.given is None else 1.0


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
        """Blocks of rows, each scaled by the square roots of its weights and added by BLAS syrk, which computes one
        triangle only."""
        roots = np.sqrt(weights)[:, None]
        if self.shape[0] > BLOCK_ROWS:
            return outer_products(self.array, roots)
        scaled = self.array * roots
        return np.asarray(scaled.T @ scaled)  # NumPy sees that it is symmetric

    def __getitem__(self, index: Any) -> DenseRows:
        return DenseRows(self.array[index], self.given_at(index))

    def _some_columns(self, chosen: Indices) -> Rows:
        return DenseRows(self.array[:, chosen], None if self.given is None else self.given.columns(chosen))

    def sweep(self, x: Array, visit: Visit) -> Array:
        out = np.zeros(x.shape)
        for rows in sweep_blocks(*self.shape):
            X = self.array[rows]
            out += X.T @ visit(rows, X @ x)
        return out

    def _largest_by_column(self) -> Array:
        return super()._largest_by_column() if self.shape[0] > BLOCK_ROWS else largest_size(self.array, axis=0)

    def in_memory(self) -> Array:
        return self.array

    def to_matrix(self) -> Array:
        return self.array

    def to_dense(self) -> Array:
        return self.array


def _with_data(matrix: Any, data: Array) -> Any:
    """A compressed matrix with other entries in the same places."""
    return type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)


class SparseRows(AsGiven):
    """The rows of a sparse matrix in compressed form. CSR and CSC are used in place; other formats are
    converted once."""

    def __init__(self, matrix: Any, given: Given | None = None) -> None:
        self.matrix = compressed(matrix)
        self.shape = (self.matrix.shape[0], self.matrix.shape[1])
        self.given = given

    @cached_property
    def _by_row(self) -> Any:
        return self.matrix.tocsr()

    @cached_property
    def _by_column(self) -> Any:
        return self.matrix.tocsc()

    @property
    def entries(self) -> int:
        return int(self.matrix.nnz)

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(self.matrix @ v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self._transposed @ u)

    @cached_property
    def _transposed(self) -> Any:
        """The transpose, which shares the memory."""
        return self.matrix.T

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        return self.transposed_matmul(u), self._longest_column

    @cached_property
    def _longest_column(self) -> int:
        return self._longest(self.matrix.format == "csc")

    @cached_property
    def row_length(self) -> int:
        return self._longest(self.matrix.format == "csr")

    def _longest(self, along: bool) -> int:
        """The most entries of a row or column, ``along`` those that the format keeps together or across them."""
        counts = np.diff(self.matrix.indptr) if along else np.bincount(self.matrix.indices)
        return int(counts.max(initial=0))

    def largest_reach(self, x: Array) -> float:
        """A row adds up no more numbers than it has entries."""
        sizes = self.column_max() * np.abs(x)
        return min(float(sizes.sum()), self.row_length * float(sizes.max(initial=0.0)))

    def entry_counts(self) -> tuple[Counts, Counts]:
        """Of the compressed form directly."""
        matrix = self.matrix
        there, width = matrix.data != 0, self.shape[matrix.format == "csr"]
        if there.all():
            across, along = np.bincount(matrix.indices, minlength=width), np.diff(matrix.indptr)
        else:
            across = np.bincount(matrix.indices[there], minlength=width)
            along = np.diff(np.concatenate([[0], np.cumsum(there)])[matrix.indptr])
        return (along, across) if matrix.format == "csr" else (across, along)

    def gram(self, weights: Array) -> Array:
        if not (weights == 1.0).all():
            return self._gram(weights)
        if self.shape[1] ** 2 > self.entries:
            return self._gram(None)
        return self._plain_gram.copy()

    @cached_property
    def _plain_gram(self) -> Array:
        """R'R, kept where it takes less memory than the entries: solvers and checks ask for it in turn."""
        return self._gram(None)

    def _gram(self, weights: Array | None) -> Array:
        """R' diag(weights) R; the weights are ones where none are given."""
        by_row = self._by_row
        if compiles(self.entries * self.row_length):
            from convexcls.rows import sparse_loops  # not at import: numba takes longer to load than all the rest

            return sparse_loops.gram(by_row, np.ones(self.shape[0]) if weights is None else weights)
        by_column = self._by_column
        if weights is not None:
            roots = np.sqrt(weights)
            by_row = _with_data(by_row, by_row.data * np.repeat(roots, np.diff(by_row.indptr)))
            by_column = _with_data(by_column, by_column.data * roots[by_column.indices])
        return np.asarray((by_column.T @ by_row).toarray())

    def gram_diagonal(self, weights: Array) -> Array:
        squares = self.matrix.copy()
        squares.data *= squares.data
        return np.asarray(squares.T @ weights)

    def __getitem__(self, index: Any) -> SparseRows:
        return SparseRows(self._by_row[index], self.given_at(index))

    def _some_columns(self, chosen: Indices) -> Rows:
        return SparseRows(self.matrix[:, chosen], None if self.given is None else self.given.columns(chosen))

    def __abs__(self) -> SparseRows:
        return SparseRows(abs(self.matrix))

    def _largest_by_column(self) -> Array:
        if self.matrix.format != "csr":
            return largest_size(self.matrix, axis=0)
        if compiles(self.entries):
            from convexcls.rows import sparse_loops

            return sparse_loops.largest_by_column(self.matrix)
        out = np.zeros(self.shape[1])
        np.maximum.at(out, self.matrix.indices, np.abs(self.matrix.data))  # SciPy would convert it for this
        return out

    def in_memory(self) -> Any:
        return self.matrix

    def to_matrix(self) -> Any:
        return self.matrix
