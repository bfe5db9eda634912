"""Rows a block at a time, and sums over rows with the number of additions that bounds their rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk, ssyrk
from scipy.sparse import issparse

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array, Indices

#: Rows are worked on in blocks of this many, small enough for the second-level cache.
BLOCK_ROWS = 2048
#: Sums over rows that are to be known closely are made of so many rows at a time.
SUMMED_ROWS = 256
#: As many rows side by side make one long row.
FOLD = 32
#: Arrays of so few entries are turned around instead: then a column is one run.
TURNED_ENTRIES = 16_384
#: Roundings besides those of a sum: entry, factors of its row and column, x, shift, their difference, the bound itself.
ROUNDINGS_OF_A_TERM = 16
#: A block that is used twice, one after the other, has about this many entries, within these numbers of rows.
SWEPT_ENTRIES = 200_000
MIN_SWEPT_ROWS, MAX_SWEPT_ROWS = 512, 4096


def row_blocks(n: int, length: int = BLOCK_ROWS) -> Iterator[slice]:
    """The rows 0 to n, a block at a time."""
    return (slice(start, min(start + length, n)) for start in range(0, n, length))


def sweep_blocks(n: int, d: int) -> Iterator[slice]:
    """The rows 0 to n of d entries, in blocks that stay in the second-level cache between two uses."""
    length = n if n * d <= SWEPT_ENTRIES else min(max(SWEPT_ENTRIES // d, MIN_SWEPT_ROWS), MAX_SWEPT_ROWS)
    return row_blocks(n, length or 1)


def added_up_in_parts(matrix: Array, u: Array) -> tuple[Array, int]:
    """``matrix.T @ u`` of a dense array, ``SUMMED_ROWS`` rows at a time, with the number of additions in a row."""
    n, d = matrix.shape
    count = n // SUMMED_ROWS
    if count < 2 or not d:
        return matrix.T @ u, n
    if not matrix.flags.c_contiguous:
        out = np.zeros((d, *u.shape[1:]))
        for rows in row_blocks(n):
            out += matrix[rows].T @ u[rows]
        return out, additions(n)
    whole = count * SUMMED_ROWS
    left = np.ascontiguousarray(u[:whole].reshape(count, SUMMED_ROWS, -1).transpose(0, 2, 1))
    sums = np.matmul(left, matrix[:whole].reshape(count, SUMMED_ROWS, d)).reshape(count, -1)
    total = _folded(sums).reshape(-1, d).T.reshape(d, *u.shape[1:])
    return total + matrix[whole:].T @ u[whole:], SUMMED_ROWS + _folds(count)


def total_in_parts(u: Array) -> tuple[Array, int]:
    """The sums of the columns of u, or of a vector, in the same way."""
    count = u.shape[0] // SUMMED_ROWS
    if count < 2:
        return np.asarray(u.sum(axis=0)), u.shape[0]
    whole = count * SUMMED_ROWS
    sums = u[:whole].reshape(count, SUMMED_ROWS, -1).sum(axis=1)
    return _folded(sums).reshape(u.shape[1:]) + u[whole:].sum(axis=0), SUMMED_ROWS + _folds(count)


def _folded(sums: Array) -> Array:
    """The sums of the parts, added up in parts once more."""
    fold = math.isqrt(sums.shape[0])
    inner = sums[: fold * fold].reshape(fold, fold, -1).sum(axis=0).sum(axis=0)
    return np.asarray(inner + sums[fold * fold :].sum(axis=0))


def _folds(count: int) -> int:
    return 4 * math.isqrt(count) + 3


def additions(n: int) -> int:
    """So many numbers at most are added up, one after the other, in a sum over n rows by blocks."""
    return min(n, BLOCK_ROWS) + n // BLOCK_ROWS + 1


def added_up_in_turn(sums: Array) -> Array:
    """The sum over the first axis of what each block of rows was added up to, in parts once more."""
    return _folded(sums.reshape(len(sums), -1)).reshape(sums.shape[1:])


def additions_in_turn(n: int, extra: int = 0) -> int:
    """So many numbers at most are added up, one after the other, in such a sum over n rows, with so many parts more."""
    return SUMMED_ROWS + _folds(BLOCK_ROWS // SUMMED_ROWS) + _folds(n // BLOCK_ROWS + 1 + extra)


def outer_products(X: Array, factors: Array, ones: bool = False, single_precision: bool = False) -> Array:
    """The sum of f_i f_i' (x) x_i x_i', f_i the factors of a row x_i, which ends in 1 where there are to be ``ones``; a
    block of rows at a time, by BLAS syrk, which computes one triangle only."""
    syrk, kind = (ssyrk, np.float32) if single_precision else (dsyrk, np.float64)
    d, count = X.shape[1], factors.shape[1]
    width = d + ones
    if X.shape[0] <= BLOCK_ROWS and not single_precision:
        scaled = np.empty((X.shape[0], count, width))
        np.multiply(factors[:, :, None], X[:, None, :], out=scaled[:, :, :d])
        scaled[:, :, d:] = factors[:, :, None]
        scaled = scaled.reshape(X.shape[0], -1)
        return np.asarray(scaled.T @ scaled)  # NumPy sees that it is symmetric
    total = np.zeros((count * width, count * width), order="F", dtype=kind)
    for rows in row_blocks(X.shape[0] if width else 0):  # BLAS refuses empty matrices
        scaled = np.empty((rows.stop - rows.start, count, width), dtype=kind)
        np.multiply(factors[rows, :, None], X[rows, None, :], out=scaled[:, :, :d], casting="same_kind")
        scaled[:, :, d:] = factors[rows, :, None]
        total = syrk(1.0, scaled.reshape(scaled.shape[0], -1).T, beta=1.0, c=total, overwrite_c=1)
    return mirrored(np.array(total.T, dtype=float, order="C"))


def mirrored(lower: Array, tile: int = 64) -> Array:
    """A symmetric matrix, in rows, from its lower triangle: the same array, its upper triangle filled in."""
    for k in range(0, lower.shape[0], tile):
        end = k + tile
        corner = lower[k:end, k:end]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        lower[k:end, end:] = lower[end:, k:end].T
    return lower


def rounding(sizes: Any, terms: int) -> Any:
    """The bound on the rounding of a sum of so many terms, whose absolute values add up to ``sizes``."""
    count = terms + ROUNDINGS_OF_A_TERM
    return count * UNIT_ROUNDOFF / (1.0 - count * UNIT_ROUNDOFF) * sizes + 4 * count * ETA


def squared_norms(matrix: Any) -> Array:
    """‖x_i‖² of every row of a dense or sparse matrix."""
    if issparse(matrix):
        return np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=float).ravel()
    return np.asarray(np.einsum("ij,ij->i", matrix, matrix))


def largest_size(matrix: Any, axis: int) -> Array:
    """The largest absolute value along an axis of a dense or sparse matrix, 0 where there is none."""
    if not min(matrix.shape):
        return np.zeros(matrix.shape[1 - axis])
    if issparse(matrix):
        return np.asarray(abs(matrix).max(axis=axis).toarray(), dtype=float).ravel()
    if axis == 0 and matrix.size <= TURNED_ENTRIES:
        return np.asarray(np.abs(matrix.T, order="C").max(axis=1))
    if axis == 0 and matrix.flags.c_contiguous and matrix.shape[0] >= 8 * FOLD:  # short rows are slow to run over
        whole = matrix.shape[0] // FOLD * FOLD
        folded = matrix[:whole].reshape(-1, FOLD * matrix.shape[1])
        wide = np.maximum(folded.max(axis=0), -folded.min(axis=0)).reshape(FOLD, -1).max(axis=0)
        return np.maximum(wide, largest_size(matrix[whole:], axis=0))
    return np.maximum(matrix.max(axis=axis), -matrix.min(axis=axis))


def distinct_rows(matrix: Array) -> tuple[Indices, Indices] | None:
    """The places of rows that differ, and for each row which of these it is; None where most differ: of a table of
    categories they are few."""
    key = matrix @ np.random.default_rng(0).uniform(1.0, 2.0, matrix.shape[1])
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    if 2 * first.size > matrix.shape[0] or not np.array_equal(matrix[first][place], matrix):
        return None
    return first, place
