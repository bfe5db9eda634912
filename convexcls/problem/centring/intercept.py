"""An intercept in doubles: b = b~ - w's, where b has less room than b~.

With s = 1e9 and scores near one, the last place of b counts 1e-7. But w's moves by s ulp(w) where w moves by its own
last place, which is no multiple of that of b: some w near the given one makes b~ - w's almost a double.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array

#: An error of the intercept below this fraction of the scores is left alone.
CLOSE = 2.0**-46
#: So many units in the last place of a coefficient are tried, up and down.
TRIED = 4096


def at_shift(shift: Array, w: Array, b: float) -> Fraction:
    """b + w's without rounding."""
    used = np.flatnonzero((shift != 0) & (w != 0))
    products = (Fraction(u) * Fraction(v) for u, v in zip(shift[used].tolist(), w[used].tolist(), strict=True))
    return sum(products, Fraction(b))


def rounded(value: Fraction) -> float:
    """The nearest double, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def fitted(shift: Array, reach: Array, w: Array, b: float) -> tuple[Array, float]:
    """Coefficients within a few thousand units in the last place of w, and an intercept, that have the score b at the
    shift: of all that are tried, those with the least error of a score. ``reach`` is the largest |x - s|."""
    exact = at_shift(-shift, w, b)
    plain = rounded(exact)
    if not math.isfinite(plain):
        return w, plain
    unit, missing = Fraction(math.ulp(plain)), exact - Fraction(plain)
    if abs(missing) <= CLOSE * (abs(b) + float(np.abs(w) @ reach)):
        return w, plain
    best, chosen = abs(float(missing)), (0, 0.0)
    steps = np.arange(-TRIED, TRIED + 1)
    for j in np.flatnonzero((shift != 0) & (w != 0)):
        # k units in the last place of w_j move the sum by k turns of its own unit, of which only the part counts
        last = math.ulp(w[j])
        turn = float(Fraction(last) * Fraction(shift[j]) / unit % 1)
        left = float(missing / unit) - steps * turn
        cost = float(unit) * np.abs(left - np.rint(left)) + np.abs(steps) * (last * reach[j])
        if cost[k := int(np.argmin(cost))] < best:
            best, chosen = float(cost[k]), (int(j), last * float(steps[k]))
    w = w.copy()
    w[chosen[0]] += chosen[1]
    return w, rounded(at_shift(-shift, w, b))
