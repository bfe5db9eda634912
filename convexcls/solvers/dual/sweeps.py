"""Sweeps of coordinate descent over some multipliers, compiled where numba is installed (Hsieh et al. 2008).

Multiplier i alone moves to its minimiser within its bounds,

    a_i = min(max(a_i + r_i / k_ii, low_i), high_i),      r_i = l_i M_i'u + c_i b - h_i - compliance_i a_i,

and u = u_0 - M'(l a) and b follow at the cost of one row. A multiplier at a bound whose slope points outwards by more
than any did at the sweep before is left out of the next ones (shrinking).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.compilation import compiled_fused


@compiled_fused
def sweep_sparse(
    data: Array,
    columns: Any,
    starts: Any,
    left: Array,
    c: Array,
    h: Array,
    low: Array,
    high: Array,
    compliance: Array,
    diagonal: Array,
    order: Indices,
    a: Array,
    u: Array,
    b: float,
    beta: float,
    above: float,
    below: float,
) -> tuple[int, float, float, float]:
    """One sweep over the multipliers in ``order``, whose first entries are those to go on with; their number, b, and
    the largest and the smallest slope. A multiplier is left out where its slope is beyond ``above`` or ``below``."""
    kept, top, bottom = 0, 0.0, 0.0
    one = np.uint64(1)
    for k in range(order.size):
        i = order[k]
        start, stop = np.uint64(starts[i]), np.uint64(starts[i + 1])
        score, p = 0.0, start
        while p < stop:
            score += data[p] * u[np.uint32(columns[p])]
            p += one
        old = a[i]
        r = left[i] * score + c[i] * b - h[i] - compliance[i] * old
        slope = r
        if old <= low[i] and r < 0.0:
            if r < below:
                continue
            slope = 0.0
        elif old >= high[i] and r > 0.0:
            if r > above:
                continue
            slope = 0.0
        order[kept] = i
        kept += 1
        if slope == 0.0:
            continue
        top, bottom = max(top, slope), min(bottom, slope)
        if diagonal[i] > 0.0:
            a[i] = min(max(old + r / diagonal[i], low[i]), high[i])
        elif np.isfinite(high[i] - low[i]):
            a[i] = high[i] if r > 0.0 else low[i]
        step = (a[i] - old) * left[i]
        b -= beta * c[i] * (a[i] - old)
        p = start
        while p < stop:
            u[np.uint32(columns[p])] -= data[p] * step
            p += one
    return kept, b, top, bottom


@compiled_fused
def sweep_dense(
    matrix: Array,
    left: Array,
    c: Array,
    h: Array,
    low: Array,
    high: Array,
    compliance: Array,
    diagonal: Array,
    order: Indices,
    a: Array,
    u: Array,
    b: float,
    beta: float,
    above: float,
    below: float,
) -> tuple[int, float, float, float]:
    """The same for a matrix without zeros to speak of."""
    kept, top, bottom = 0, 0.0, 0.0
    for k in range(order.size):
        i = order[k]
        row, old = matrix[i], a[i]
        r = left[i] * np.dot(row, u) + c[i] * b - h[i] - compliance[i] * old
        slope = r
        if old <= low[i] and r < 0.0:
            if r < below:
                continue
            slope = 0.0
        elif old >= high[i] and r > 0.0:
            if r > above:
                continue
            slope = 0.0
        order[kept] = i
        kept += 1
        if slope == 0.0:
            continue
        top, bottom = max(top, slope), min(bottom, slope)
        if diagonal[i] > 0.0:
            a[i] = min(max(old + r / diagonal[i], low[i]), high[i])
        elif np.isfinite(high[i] - low[i]):
            a[i] = high[i] if r > 0.0 else low[i]
        step = (a[i] - old) * left[i]
        b -= beta * c[i] * (a[i] - old)
        for j in range(u.size):
            u[j] -= row[j] * step
    return kept, b, top, bottom
