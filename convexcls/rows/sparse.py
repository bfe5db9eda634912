"""Rows of a SciPy sparse matrix, never densified."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexcls.rows.base import Array, Rows


class SparseRows(Rows):
    """The rows of a sparse matrix in compressed form. CSR and CSC are kept as they are; other
    formats are converted once."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix if matrix.format in ("csr", "csc") else sparse.csr_array(matrix)
        self.shape = (self.matrix.shape[0], self.matrix.shape[1])

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(self.matrix @ v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.matrix.T @ u)

    def gram(self, weights: Array) -> Array:
        weighted = sparse.diags_array(np.sqrt(weights)) @ self.matrix
        return np.asarray((weighted.T @ weighted).toarray(), dtype=float)

    def __getitem__(self, index: Any) -> SparseRows:
        by_row = self.matrix if self.matrix.format == "csr" else self.matrix.tocsr()
        return SparseRows(by_row[index])

    def __abs__(self) -> SparseRows:
        return SparseRows(abs(self.matrix))

    def column_max(self) -> Array:
        if not min(self.shape):
            return np.zeros(self.shape[1])
        largest = abs(self.matrix).max(axis=0)
        return np.asarray(largest.toarray(), dtype=float).ravel()

    def to_matrix(self) -> Any:
        return self.matrix
