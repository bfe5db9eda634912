"""Where the active-set method begins: the nearer, the fewer unknowns have to change their place.

This module loads numba where it is installed: import it where a loop is run.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.compilation import compiled, compiled_reordered
from convexcls.solvers.dual.small_program import Box
from convexcls.solvers.kernel.smo_pairs import descend_pairs, descend_singles

#: After so many sweeps it is known of most unknowns at which bound they are.
SWEEPS = 5
#: The gap, in units of the linear cost, to which pairs bring a kernel machine, and the most of them for each unknown.
PAIRS_GAP, PAIRS_PER_UNKNOWN = 1e-2, 20


def guess(box: Box) -> Array:
    """Where to begin."""
    b = np.clip(np.zeros(box.p.size), box.low, box.high)
    if not np.all(np.isfinite(box.high - box.low)):
        return b
    if box.M.size:
        to_bounds(box.M @ swept(box, b) + box.p, box, b)
        return b
    g, gap = box.K @ b + box.p, PAIRS_GAP * float(np.abs(box.p).max(initial=0.0))
    pairs = descend_pairs if box.has_sum else descend_singles
    pairs(box.K, box.diagonal, box.low, box.high, b, g, gap, PAIRS_PER_UNKNOWN * b.size)
    return b


@compiled_reordered
def swept(box: Box, b: Array) -> Array:
    """M'b after a few sweeps of coordinate descent from b, in place (Hsieh et al. 2008): each b_i moves to its
    minimiser. The equation is the penalty beta/2 (sum - total)^2, whose centre follows (the method of multipliers)."""
    M, n, i, price = box.M, b.size, 0, 0.0
    v, beta, beyond, stride = np.zeros(M.shape[1]), 0.0, -box.total, coprime(n)
    for t in range(n):
        beyond += b[t]
        beta += box.diagonal[t] / n if box.has_sum else 0.0
        for j in range(v.size):
            v[j] += b[t] * M[t, j]
    for _ in range(SWEEPS * n):
        slope = box.p[i] + box.compliance[i] * b[i] + beta * beyond + price
        for j in range(v.size):
            slope += M[i, j] * v[j]
        if box.diagonal[i] + beta > 0.0:
            step = min(max(b[i] - slope / (box.diagonal[i] + beta), box.low[i]), box.high[i]) - b[i]
            if step != 0.0:
                b[i] += step
                beyond += step
                for j in range(v.size):
                    v[j] += step * M[i, j]
        i += stride
        if i >= n:  # in an order that has nothing to do with that of the samples
            i -= n
        if i == 0:
            price += beta * beyond
    return v


@compiled
def coprime(n: int) -> int:
    """A number without a common divisor with n, near n / 1.618."""
    stride = max(int(0.618 * n), 1)
    while True:
        one, other = n, stride
        while other:
            one, other = other, one % other
        if one == 1:
            return stride
        stride += 1


def to_bounds(g: Array, box: Box, b: Array) -> None:
    """Put every unknown at the bound that its gradient tells, with the multiplier s for which the sum is right: one is
    between its bounds then."""
    room = box.high - box.low
    if box.has_sum:
        order, lacking = np.argsort(g), box.total - float(box.low.sum())
        sums = np.cumsum(room[order])
        part = np.empty(b.size)
        part[order] = np.clip(lacking - sums + room[order], 0.0, room[order])
    else:
        part = np.where(g < 0.0, room, 0.0)
    b[:] = np.where(part == room, box.high, box.low + part)
    if box.has_sum:  # sums of large and of small rooms leave more of a small one than its rounding
        off = box.total - float(b.sum())
        k = int(np.argmax(box.high - b if off > 0.0 else b - box.low))
        b[k] = min(max(b[k] + off, box.low[k]), box.high[k])
