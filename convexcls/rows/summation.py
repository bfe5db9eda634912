"""Rows a block at a time, and sums over rows with the number of additions that bounds their rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from convexcls.arrays import Array

#: Rows are worked on in blocks of this many, small enough for the second-level cache.
BLOCK = 2048
#: Sums over rows that are to be known closely are made of so many rows at a time.
PART = 256
#: As many rows side by side make one long row.
FOLD = 32
#: A block that is used twice, one after the other, has about this many entries, within these numbers of rows.
SWEPT_ENTRIES = 200_000
SHORTEST_SWEPT, LONGEST_SWEPT = 512, 4096


def row_blocks(n: int) -> Iterator[slice]:
    """The rows 0 to n, a block at a time."""
    return (slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK))


def sweep_blocks(n: int, d: int) -> Iterator[slice]:
    """The rows 0 to n of d entries, in blocks that stay in the second-level cache between two uses."""
    length = n if n * d <= SWEPT_ENTRIES else min(max(SWEPT_ENTRIES // d, SHORTEST_SWEPT), LONGEST_SWEPT)
    return (slice(start, min(start + length, n)) for start in range(0, n, length or 1))


def added_up_in_parts(matrix: Array, u: Array) -> tuple[Array, int]:
    """``matrix.T @ u`` of a dense array, ``PART`` rows at a time, with the number of additions in a row."""
    n, d = matrix.shape
    count = n // PART
    if count < 2 or not d:
        return matrix.T @ u, n
    if not matrix.flags.c_contiguous:
        out = np.zeros((d, *u.shape[1:]))
        for rows in row_blocks(n):
            out += matrix[rows].T @ u[rows]
        return out, additions(n)
    whole = count * PART
    left = np.ascontiguousarray(u[:whole].reshape(count, PART, -1).transpose(0, 2, 1))
    sums = np.matmul(left, matrix[:whole].reshape(count, PART, d)).reshape(count, -1)
    total = _folded(sums).reshape(-1, d).T.reshape(d, *u.shape[1:])
    return total + matrix[whole:].T @ u[whole:], PART + _folds(count)


def total_in_parts(u: Array) -> tuple[Array, int]:
    """The sums of the columns of u, or of a vector, in the same way."""
    count = u.shape[0] // PART
    if count < 2:
        return np.asarray(u.sum(axis=0)), u.shape[0]
    whole = count * PART
    sums = u[:whole].reshape(count, PART, -1).sum(axis=1)
    return _folded(sums).reshape(u.shape[1:]) + u[whole:].sum(axis=0), PART + _folds(count)


def _folded(sums: Array) -> Array:
    """The sums of the parts, added up in parts once more."""
    fold = math.isqrt(sums.shape[0])
    inner = sums[: fold * fold].reshape(fold, fold, -1).sum(axis=0).sum(axis=0)
    return np.asarray(inner + sums[fold * fold :].sum(axis=0))


def _folds(count: int) -> int:
    return 4 * math.isqrt(count) + 3


def additions(n: int) -> int:
    """So many numbers at most are added up, one after the other, in a sum over n rows by blocks."""
    return min(n, BLOCK) + n // BLOCK + 1


def added_up_in_turn(sums: Array) -> Array:
    """The sum over the first axis of what each block of rows was added up to, in parts once more."""
    return _folded(sums.reshape(len(sums), -1)).reshape(sums.shape[1:])


def additions_in_turn(n: int) -> int:
    """So many numbers at most are added up, one after the other, in such a sum over n rows."""
    return PART + _folds(BLOCK // PART) + _folds(n // BLOCK + 1)


def largest_size(matrix: Any, axis: int) -> Array:
    """The largest absolute value along an axis of a dense or sparse matrix, 0 where there is none."""
    if not min(matrix.shape):
        return np.zeros(matrix.shape[1 - axis])
    if issparse(matrix):
        return np.asarray(abs(matrix).max(axis=axis).toarray(), dtype=float).ravel()
    if axis == 0 and matrix.flags.c_contiguous and matrix.shape[0] >= 8 * FOLD:  # short rows are slow to run over
        whole = matrix.shape[0] // FOLD * FOLD
        folded = matrix[:whole].reshape(-1, FOLD * matrix.shape[1])
        wide = np.maximum(folded.max(axis=0), -folded.min(axis=0)).reshape(FOLD, -1).max(axis=0)
        return np.maximum(wide, largest_size(matrix[whole:], axis=0))
    return np.maximum(matrix.max(axis=axis), -matrix.min(axis=axis))
