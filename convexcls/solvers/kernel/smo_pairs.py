"""The inner loops of sequential minimal optimization, on a working set that fits the cache.

With numba installed (the extra ``fast``) they are compiled; without it the same source runs as plain Python. This
module loads numba: import it where a loop is run.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.compilation import compiled_fused

#: A curvature below this fraction of the diagonal is none: the two rows are alike.
SMALLEST_CURVATURE = 1e-14


@compiled_fused
def descend_pairs(
    K: Array, diagonal: Array, low: Array, high: Array, b: Array, g: Array, gap: float, steps: int
) -> tuple[int, int, int]:
    """Minimise 1/2 b'Kb + ... over b with its sum kept, in place, g being the gradient; stop when the gradients of what
    can rise and of what can fall differ by at most ``gap``.

    Two unknowns move at a time: i, which gains most per unit when it rises, and j, with which the pair gains most by
    its second-order model (Fan, Chen and Lin 2005). Returns the steps taken and, if a pair can move for ever, that
    pair, else -1, -1.
    """
    n = b.size
    i, best = -1, -np.inf
    for t in range(n):
        if b[t] < high[t] and -g[t] > best:
            i, best = t, -g[t]
    for step in range(steps):
        if i < 0:
            return step, -1, -1
        j, gain, highest = -1, 0.0, -np.inf
        row, own = K[i], diagonal[i]
        for t in range(n):
            if b[t] > low[t]:
                slope = best + g[t]
                highest = max(highest, slope)
                if slope > 0.0:
                    pair = own + diagonal[t]
                    curvature = max(pair - 2.0 * row[t], SMALLEST_CURVATURE * pair)
                    value = slope * slope / curvature if curvature > 0.0 else np.inf
                    if value > gain:
                        j, gain = t, value
        if j < 0 or highest <= gap:
            return step, -1, -1
        curvature = own + diagonal[j] - 2.0 * row[j]
        distance, other_distance = high[i] - b[i], b[j] - low[j]
        move = (best + g[j]) / curvature if curvature > SMALLEST_CURVATURE * (own + diagonal[j]) else np.inf
        move = min(move, distance, other_distance)
        if move == np.inf:
            return step, i, j
        b[i] = high[i] if move == distance else b[i] + move
        b[j] = low[j] if move == other_distance else b[j] - move
        other = K[j]
        i, best = -1, -np.inf
        for t in range(n):
            g[t] += move * (row[t] - other[t])
            if b[t] < high[t] and -g[t] > best:
                i, best = t, -g[t]
    return steps, -1, -1


@compiled_fused
def descend_singles(
    K: Array, diagonal: Array, low: Array, high: Array, b: Array, g: Array, gap: float, steps: int
) -> tuple[int, int, int]:
    """The same without an equation: one unknown at a time, the one that gains most."""
    n = b.size
    for step in range(steps):
        i, gain, worst, move = -1, 0.0, 0.0, 0.0
        for t in range(n):
            distance = high[t] - b[t] if g[t] < 0.0 else b[t] - low[t]
            if distance > 0.0 and g[t] != 0.0:
                worst = max(worst, abs(g[t]))
                size = min(abs(g[t]) / diagonal[t], distance) if diagonal[t] > 0.0 else distance
                value = size * (abs(g[t]) - 0.5 * size * diagonal[t]) if size < np.inf else np.inf
                if value > gain:
                    i, gain, move = t, value, size
        if i < 0 or worst <= gap:
            return step, -1, -1
        if move == np.inf:
            return step, i, i
        if g[i] < 0.0:
            b[i] = high[i] if move == high[i] - b[i] else b[i] + move
        else:
            b[i] = low[i] if move == b[i] - low[i] else b[i] - move
            move = -move
        row = K[i]
        for t in range(n):
            g[t] += move * row[t]
    return steps, -1, -1
