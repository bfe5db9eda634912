"""Sweeps of coordinate descent over some multipliers, compiled where numba is installed (Hsieh et al. 2008).

Multiplier i alone moves to its minimiser within its bounds,

    a_i = min(max(a_i + r_i / k_ii, low_i), high_i),      r_i = l_i M_i'u + c_i b - h_i - compliance_i a_i,

and u = u_0 - M'(l a) and b follow at the cost of one row. A multiplier at a bound whose slope points outwards by more
than any did at the sweep before is left out of the next ones (shrinking).

Rows are taken in an order of chance, which needs fewer sweeps than any other. Otherwise most of the time would be
waiting: sparse rows are asked for a little before they are needed, and sums are kept in four parts that do not wait for
each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.compilation import compiled_fused
from convexcls.solvers.dual.prefetching import prefetch

#: Sparse rows are asked for so many rows ahead, in steps of a cache line: doubles and their columns.
AHEAD = 2
DOUBLES_A_LINE, COLUMNS_A_LINE = 8, 16


@compiled_fused
def _dot(data: Array, columns: Any, start: Any, stop: Any, u: Array) -> Any:
    """The product of a row with u."""
    one, four = np.uint64(1), np.uint64(4)
    two, three = one + one, one + one + one
    p, a, b, c, d = start, 0.0, 0.0, 0.0, 0.0
    while p + four <= stop:
        a += data[p] * u[np.uint32(columns[p])]
        b += data[p + one] * u[np.uint32(columns[p + one])]
        c += data[p + two] * u[np.uint32(columns[p + two])]
        d += data[p + three] * u[np.uint32(columns[p + three])]
        p += four
    while p < stop:
        a += data[p] * u[np.uint32(columns[p])]
        p += one
    return (a + b) + (c + d)


@compiled_fused
def _subtract(data: Array, columns: Any, start: Any, stop: Any, step: float, u: Array) -> None:
    """Take so much of a row from u. No column is in a row twice, so that four are read before any is written."""
    one, four = np.uint64(1), np.uint64(4)
    two, three = one + one, one + one + one
    p = start
    while p + four <= stop:
        g, h = np.uint32(columns[p]), np.uint32(columns[p + one])
        i, j = np.uint32(columns[p + two]), np.uint32(columns[p + three])
        a, b = u[g] - data[p] * step, u[h] - data[p + one] * step
        c, d = u[i] - data[p + two] * step, u[j] - data[p + three] * step
        u[g], u[h], u[i], u[j] = a, b, c, d
        p += four
    while p < stop:
        u[np.uint32(columns[p])] -= data[p] * step
        p += one


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
    for k in range(order.size):
        i = order[k]
        if k + AHEAD < order.size:
            later = order[k + AHEAD]
            for q in range(starts[later], starts[later + 1], DOUBLES_A_LINE):
                prefetch(data, q)
            for q in range(starts[later], starts[later + 1], COLUMNS_A_LINE):
                prefetch(columns, q)
        start, stop = np.uint64(starts[i]), np.uint64(starts[i + 1])
        old = a[i]
        r = left[i] * _dot(data, columns, start, stop, u) + c[i] * b - h[i] - compliance[i] * old
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
        _subtract(data, columns, start, stop, step, u)
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
