"""Compiled loops of kernel matrices: weighted sums and blocks of some rows of a large array, without a copy of them,
and exp of a block of numbers.

This module loads numba where it is installed: import it where a loop is run.
"""

from __future__ import annotations

import math

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.compilation import compiled_fused, has_numba

#: Columns are worked on so many at a time: their sums stay in the first-level cache.
BLOCK_COLUMNS = 1024


def add_rows(slab: Array, slots: Indices, weights: Array, out: Array) -> None:
    """Add ``slab[slots]' weights`` to ``out``; weights may be a vector or a matrix of few columns."""
    if not has_numba():
        out += slab[slots].T @ weights
    elif weights.ndim == 1:
        _add_one(slab, slots, weights, out)
    else:
        _add_several(slab, slots, np.ascontiguousarray(weights.T), out)


def gather(slab: Array, slots: Indices, columns: Indices, out: Array) -> None:
    """Copy some rows and columns into ``out``."""
    if has_numba():
        _gather(slab, slots, columns, out)
    else:
        out[:] = slab[np.ix_(slots, columns)]


@compiled_fused
def _add_one(slab: Array, slots: Indices, weights: Array, out: Array) -> None:
    last = slots.size - slots.size % 4
    for start in range(0, out.size, BLOCK_COLUMNS):
        stop = min(start + BLOCK_COLUMNS, out.size)
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
def _add_several(slab: Array, slots: Indices, weights: Array, out: Array) -> None:
    """The rows are read once: a block of two rows stays in the cache for all weights."""
    sums = np.zeros((weights.shape[0], BLOCK_COLUMNS))
    last = slots.size - slots.size % 2
    for start in range(0, out.shape[0], BLOCK_COLUMNS):
        width = min(BLOCK_COLUMNS, out.shape[0] - start)
        sums[:] = 0.0
        for k in range(0, last, 2):
            a, b = slab[slots[k]][start : start + width], slab[slots[k + 1]][start : start + width]
            for c in range(weights.shape[0]):
                own, p, q = sums[c], weights[c, k], weights[c, k + 1]
                for t in range(width):
                    own[t] += p * a[t] + q * b[t]
        for k in range(last, slots.size):
            a = slab[slots[k]][start : start + width]
            for c in range(weights.shape[0]):
                own, p = sums[c], weights[c, k]
                for t in range(width):
                    own[t] += p * a[t]
        for c in range(weights.shape[0]):
            for t in range(width):
                out[start + t, c] += sums[c, t]


@compiled_fused
def _gather(slab: Array, slots: Indices, columns: Indices, out: Array) -> None:
    for i in range(slots.size):
        row, target = slab[slots[i]], out[i]
        for j in range(columns.size):
            target[j] = row[columns[j]]


# ---- e^x ---------------------------------------------------------------------------------------------------

#: Numbers are worked on in chunks of this many, which stay in the first-level cache.
BLOCK_EXPONENTIALS = 512
#: Below this e^x is not a normal double, and is taken for 0.
LOWEST = -708.0
LOG2E = 1.0 / math.log(2.0)
#: ln 2 in two parts; k times the first is exact.
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
#: (e^r - 1 - r) / r^2 as the polynomial that agrees with it at ten Chebyshev points: 1.3e-17 off in e^r.
C2, C3, C4, C5, C6 = 0.5, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717
C7, C8, C9 = 0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06
C10, C11 = 2.7620088445409746e-07, 2.510038549551032e-08


def exponentiate(array: Array, rows: slice, columns: slice) -> None:
    """Replace every x in some rows and columns of an array in row order by e^min(x, 0): what a radial kernel spends its
    time on.

    e^x = 2^k e^r with k = round(x / ln 2) and |r| <= ln 2 / 2, where a polynomial of degree 11 is exact to rounding
    (the error is below 1.5 units in the last place). Compiled, a processor works on four numbers at a time, faster than
    ``numpy.exp`` on doubles without AVX-512; without numba ``numpy.exp`` does it.
    """
    if has_numba():
        exponentials(array[rows], columns.start, columns.stop)
    else:
        block = array[rows, columns]
        np.exp(np.minimum(block, 0.0, out=block), out=block)


@compiled_fused
def exponentials(array: Array, first: int, stop: int) -> None:
    """The same of all rows, for compiled loops."""
    bits = np.empty(BLOCK_EXPONENTIALS, dtype=np.int64)
    powers = bits.view(np.float64)
    for i in range(array.shape[0]):
        row = array[i]  # a whole row: the compiler has to know that its entries stand side by side
        for start in range(first, stop, BLOCK_EXPONENTIALS):
            part = row[start : min(start + BLOCK_EXPONENTIALS, stop)]
            for j in range(part.size):
                x = part[j]
                kept = x >= LOWEST
                x = x if kept and x < 0.0 else 0.0
                k = np.floor(x * LOG2E + 0.5)
                r = (x - k * LN2_HIGH) - k * LN2_LOW
                p = C11
                p = p * r + C10
                p = p * r + C9
                p = p * r + C8
                p = p * r + C7
                p = p * r + C6
                p = p * r + C5
                p = p * r + C4
                p = p * r + C3
                p = p * r + C2
                p = (p * r) * r + r + 1.0
                part[j] = p if kept else 0.0
                bits[j] = np.int64(np.int32(k)) + 1023 << 52  # the double 2^k
            for j in range(part.size):
                part[j] *= powers[j]
