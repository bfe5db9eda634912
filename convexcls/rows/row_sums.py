"""Weighted sums and blocks of some rows of a large array, without a copy of the rows.

This module loads numba where it is installed: import it where a loop is run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls.rows.compilation import compiled_fused, has_numba

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Columns are worked on so many at a time: their sums stay in the first-level cache.
CHUNK = 1024


def add_rows(slab: Array, slots: Indices, weights: Array, out: Array) -> None:
    """Add ``slab[slots]' weights`` to ``out``; weights may be a vector or a matrix of two columns."""
    if not has_numba():
        out += slab[slots].T @ weights
    elif weights.ndim == 1:
        _add_one(slab, slots, weights, out)
    elif weights.shape[1] == 2:
        _add_two(slab, slots, weights, out)
    else:
        for k in range(weights.shape[1]):
            column = np.zeros(out.shape[0])
            _add_one(slab, slots, np.ascontiguousarray(weights[:, k]), column)
            out[:, k] += column


def gather(slab: Array, slots: Indices, columns: Indices, out: Array) -> None:
    """Copy some rows and columns into ``out``."""
    if has_numba():
        _gather(slab, slots, columns, out)
    else:
        out[:] = slab[np.ix_(slots, columns)]


@compiled_fused
def _add_one(slab: Array, slots: Indices, weights: Array, out: Array) -> None:
    last = slots.size - slots.size % 4
    for start in range(0, out.size, CHUNK):
        stop = min(start + CHUNK, out.size)
        for k in range(0, last, 4):
            a, b, c, d = slab[slots[k]], slab[slots[k + 1]], slab[slots[k + 2]], slab[slots[k + 3]]
            p, q, r, s = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for t in range(start, stop):
                out[t] += (p * a[t] + q * b[t]) + (r * c[t] + s * d[t])
        for k in range(last, slots.size):
            a, p = slab[slots[k]], weights[k]
            for t in range(start, stop):
                out[t] += p * a[t]


@compiled_fused
def _add_two(slab: Array, slots: Indices, weights: Array, out: Array) -> None:
    one, two = np.zeros(CHUNK), np.zeros(CHUNK)
    last = slots.size - slots.size % 2
    for start in range(0, out.shape[0], CHUNK):
        width = min(CHUNK, out.shape[0] - start)
        one[:] = 0.0
        two[:] = 0.0
        for k in range(0, last, 2):
            a, b = slab[slots[k]][start : start + width], slab[slots[k + 1]][start : start + width]
            p, q = weights[k, 0], weights[k + 1, 0]
            r, s = weights[k, 1], weights[k + 1, 1]
            for t in range(width):
                x, y = a[t], b[t]
                one[t] += p * x + q * y
                two[t] += r * x + s * y
        for k in range(last, slots.size):
            a = slab[slots[k]][start : start + width]
            for t in range(width):
                one[t] += weights[k, 0] * a[t]
                two[t] += weights[k, 1] * a[t]
        for t in range(width):
            out[start + t, 0] += one[t]
            out[start + t, 1] += two[t]


@compiled_fused
def _gather(slab: Array, slots: Indices, columns: Indices, out: Array) -> None:
    for i in range(slots.size):
        row, target = slab[slots[i]], out[i]
        for j in range(columns.size):
            target[j] = row[columns[j]]
