"""Rows of a SciPy sparse matrix, never densified."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.data import Given, compressed
from convexcls.rows.as_given import AsGiven
from convexcls.rows.base import Array, largest_size


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

    @property
    def entries(self) -> int:
        return int(self.matrix.nnz)

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(self.matrix @ v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.matrix.T @ u)

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        return self.transposed_matmul(u), self._longest_column

    @cached_property
    def _longest_column(self) -> int:
        if self.matrix.format == "csr":
            return int(np.bincount(self.matrix.indices).max(initial=0))
        return int(np.diff(self.matrix.indptr).max(initial=0))

    def gram(self, weights: Array) -> Array:
        weighted = sparse.diags_array(np.sqrt(weights)) @ self.matrix
        return np.asarray((weighted.T @ weighted).toarray())

    def __getitem__(self, index: Any) -> SparseRows:
        return SparseRows(self._by_row[index], self.given_at(index))

    def __abs__(self) -> SparseRows:
        return SparseRows(abs(self.matrix))

    def _largest_by_column(self) -> Array:
        if self.matrix.format != "csr":
            return largest_size(self.matrix, axis=0)
        out = np.zeros(self.shape[1])
        np.maximum.at(out, self.matrix.indices, np.abs(self.matrix.data))  # SciPy would convert it for this
        return out

    def in_memory(self) -> Any:
        return self.matrix

    def to_matrix(self) -> Any:
        return self.matrix
