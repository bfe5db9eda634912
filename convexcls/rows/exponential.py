"""exp of a block of numbers up to 0, in place: what a radial kernel spends its time on.

e^x = 2^k e^r with k = round(x / ln 2) and |r| <= ln 2 / 2, where a polynomial of degree 11 is exact to rounding (the
error is below 1.5 units in the last place). Compiled, a processor works on four numbers at a time, faster than
``numpy.exp`` on doubles without AVX-512; without numba ``numpy.exp`` does it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from convexcls.rows.compilation import compiled_fused, has_numba

Array = NDArray[np.float64]

#: Numbers are worked on in chunks of this many, which stay in the first-level cache.
CHUNK = 512
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
    """Replace every x in some rows and columns of an array in row order by e^min(x, 0)."""
    if has_numba():
        _loop(array[rows], columns.start, columns.stop)
    else:
        block = array[rows, columns]
        np.exp(np.minimum(block, 0.0, out=block), out=block)


@compiled_fused
def _loop(array: Array, first: int, stop: int) -> None:
    bits = np.empty(CHUNK, dtype=np.int64)
    powers = bits.view(np.float64)
    for i in range(array.shape[0]):
        row = array[i]  # a whole row: the compiler has to know that its entries stand side by side
        for start in range(first, stop, CHUNK):
            part = row[start : min(start + CHUNK, stop)]
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
