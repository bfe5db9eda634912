"""Compiled loops over the entries of sparse rows, where SciPy makes other sparse matrices on the way.

This module loads numba where it is installed: import it where a loop is run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.compilation import compiled, compiled_fused


def gram(matrix: Any, weights: Array) -> Array:
    """X' diag(weights) X of a matrix X in compressed rows."""
    out = np.zeros((matrix.shape[1], matrix.shape[1]))
    _add_products(matrix.data, matrix.indices, matrix.indptr, weights, out)
    return out + np.tril(out, -1).T + np.triu(out, 1).T


def largest_by_column(matrix: Any) -> Array:
    """The largest absolute value of each column of a matrix in compressed rows; NaN where one is not a number."""
    out = np.zeros(matrix.shape[1])
    _raise_to_sizes(matrix.data, matrix.indices, out)
    return out


@compiled_fused
def _add_products(data: Array, columns: Any, starts: Any, weights: Array, out: Array) -> None:
    """Add the products of every two entries of a row, each pair once."""
    for i in range(weights.size):
        for p in range(starts[i], starts[i + 1]):
            value, row = weights[i] * data[p], out[columns[p]]
            for q in range(starts[i], p + 1):
                row[columns[q]] += value * data[q]


@compiled
def _raise_to_sizes(data: Array, columns: Any, out: Array) -> None:
    for p in range(data.size):
        size = abs(data[p])
        if size > out[columns[p]] or size != size:
            out[columns[p]] = size
