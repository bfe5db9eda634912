"""The logistic loss of margins in one reading of the samples, compiled: scores, slopes and gradient of a few rows while
these are in the nearest cache.

With margins u_i = y_i (x_i'v + shift) and slopes s_i = -1/(1 + e^u_i), the pull of a sample is p_i = weight_i s_i y_i:

    value = sum_i weight_i log(1 + e^-u_i),      X'p,      sum_i p_i,      sum_i |p_i|

This module loads numba where it is installed: import it where a loop is run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.compilation import compiled_fused, compiled_reordered
from convexcls.rows.fused import FusedRows, read_only
from convexcls.rows.kernel_loops import exponentials

#: So many rows at a time, and so many are added up before their sum is added to that of the others: fewer roundings.
ROWS, SUMMED = 64, 2048


def sweep(
    margins: FusedRows, x: Array, weights: Array, alike: bool, arguments: Array, slopes: Array
) -> tuple[Array, tuple[float, float]]:
    """The gradient over all unknowns, with the value and the sum of the sizes of the pulls; arguments and slopes are
    written. Weights that are ``alike`` are one number."""
    loop = _sweep_dense if margins.is_dense else _sweep_sparse
    gradient, (value, size) = margins.swept_by(loop, x, read_only(weights), alike, arguments, slopes)
    return gradient, (value, size)


@compiled_reordered
def _sweep_dense(
    X: Array,
    v: Array,
    shift: float,
    factor: Array,
    weights: Array,
    alike: bool,
    u: Array,
    slopes: Array,
    pulled: Array,
) -> tuple[float, float, float]:
    n, d = X.shape
    ones, value, size, small, pulls = 0.0, 0.0, 0.0, np.empty((1, ROWS)), np.empty(ROWS)
    part, one = np.zeros(d), 0.0
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        for i in range(start, stop):
            score = 0.0
            for j in range(d):
                score += X[i, j] * v[j]
            u[i] = (score + shift) * factor[i]
        value += _losses(u[start:stop], weights[start:stop], alike, small, slopes[start:stop])
        for i in range(start, stop):
            size -= weights[i] * slopes[i]
            pulls[i - start] = weights[i] * slopes[i] * factor[i]
            one += pulls[i - start]
        whole = stop - (stop - start) % 4
        for i in range(start, whole, 4):
            p, q, r, s = pulls[i - start], pulls[i - start + 1], pulls[i - start + 2], pulls[i - start + 3]
            for j in range(d):
                part[j] += (p * X[i, j] + q * X[i + 1, j]) + (r * X[i + 2, j] + s * X[i + 3, j])
        for i in range(whole, stop):
            p = pulls[i - start]
            for j in range(d):
                part[j] += p * X[i, j]
        if stop % SUMMED == 0 or stop == n:
            pulled += part
            ones += one
            part[:] = 0.0
            one = 0.0
    return ones, value, size


@compiled_reordered
def _sweep_sparse(
    data: Array,
    columns: Any,
    starts: Any,
    v: Array,
    shift: float,
    factor: Array,
    weights: Array,
    alike: bool,
    u: Array,
    slopes: Array,
    pulled: Array,
) -> tuple[float, float, float]:
    n = factor.size
    ones, value, size, small = 0.0, 0.0, 0.0, np.empty((1, ROWS))
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        for i in range(start, stop):
            score = 0.0
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                score += data[k] * v[columns[k]]
            u[i] = (score + shift) * factor[i]
        value += _losses(u[start:stop], weights[start:stop], alike, small, slopes[start:stop])
        for i in range(start, stop):
            p = weights[i] * slopes[i]
            size -= p
            p *= factor[i]
            ones += p
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                pulled[columns[k]] += p * data[k]
    return ones, value, size


@compiled_fused
def _losses(u: Array, weights: Array, alike: bool, small: Array, slopes: Array) -> float:
    """The weighted losses of a few margins, added up, and their slopes. The sum of log(1 + e^-|u|) is the logarithm of
    a product; where that is near 1, rounding it would cost digits, and the logarithms are taken one by one."""
    for i in range(u.size):
        small[0, i] = -abs(u[i])
    exponentials(small, 0, u.size)
    product, below = 1.0, 0.0
    for i in range(u.size):
        e = small[0, i]
        slopes[i] = -(e if u[i] > 0.0 else 1.0) / (1.0 + e)
        product *= 1.0 + e
        below += 0.0 if u[i] > 0.0 else u[i]
    if alike and product > 2.0:
        return weights[0] * (np.log(product) - below) if weights[0] > 0.0 else 0.0
    value = 0.0
    for i in range(u.size):
        if weights[i] > 0.0:
            value += weights[i] * (np.log1p(small[0, i]) - (0.0 if u[i] > 0.0 else u[i]))
    return value
