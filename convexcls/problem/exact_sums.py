"""Doubles chosen so that a sum comes out as it should: an intercept after a shift, multipliers whose sum is zero.

An intercept in doubles is b = b~ - w's, where b has less room than b~. With s = 1e9 and scores near one, the last place
of b counts 1e-7. But w's moves by s ulp(w) where w moves by its own last place, which is no multiple of that of b: some
w near the given one makes b~ - w's almost a double.

Multipliers whose sum is zero have to be so exactly, not only to rounding: what is left of it counts as much as features
are far from zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.rational import to_double

#: An error of the intercept below this fraction of the scores is left alone.
NEGLIGIBLE_ERROR = 2.0**-46
#: So many units in the last place of a coefficient are tried, up and down.
MAX_ULPS = 4096


def at_shift(shift: Array, w: Array, b: float) -> Fraction:
    """b + w's without rounding."""
    used = np.flatnonzero((shift != 0) & (w != 0))
    products = (Fraction(u) * Fraction(v) for u, v in zip(shift[used].tolist(), w[used].tolist(), strict=True))
    return sum(products, Fraction(b))


def fitted(shift: Array, reach: Array, w: Array, b: float) -> tuple[Array, float]:
    """Coefficients within a few thousand units in the last place of w, and an intercept, that have the score b at the
    shift: of all that are tried, those with the least error of a score. ``reach`` is the largest |x - s|."""
    exact = at_shift(-shift, w, b)
    plain = to_double(exact)
    if not math.isfinite(plain):
        return w, plain
    unit, missing = Fraction(math.ulp(plain)), exact - Fraction(plain)
    if abs(missing) <= NEGLIGIBLE_ERROR * (abs(b) + float(np.abs(w) @ reach)):
        return w, plain
    best, chosen = abs(float(missing)), (0, 0.0)
    steps = np.arange(-MAX_ULPS, MAX_ULPS + 1)
    for j in np.flatnonzero((shift != 0) & (w != 0)):
        # k units in the last place of w_j move the sum by k turns of its own unit, of which only the part counts
        last = math.ulp(w[j])
        turn = float(Fraction(last) * Fraction(shift[j]) / unit % 1)
        residual = float(missing / unit) - steps * turn
        cost = float(unit) * np.abs(residual - np.rint(residual)) + np.abs(steps) * (last * reach[j])
        if cost[k := int(np.argmin(cost))] < best:
            best, chosen = float(cost[k]), (int(j), last * float(steps[k]))
    w = w.copy()
    w[chosen[0]] += chosen[1]
    return w, to_double(at_shift(-shift, w, b))


def balanced(factors: Mapping[str, Array], multipliers: Mapping[str, Array]) -> dict[str, Array]:
    """The multipliers on a common grid, some of them moved by a few of its steps, so that sum_i factor_i z_i = 0 over
    all blocks. A sum that is not zero to rounding is left as it is, and so is one without factors -1 and +1."""
    out = dict(multipliers)
    signs = {name: f for name, f in factors.items() if np.all(np.abs(f) == 1.0)}
    largest = max((float(np.abs(out[name]).max(initial=0.0)) for name in signs), default=0.0)
    if not 0.0 < largest < math.inf:
        return out
    step = math.ulp(largest)
    on_grid = {name: step * np.rint(out[name] / step) for name in factors}
    steps = _total(factors, signs, on_grid) / Fraction(step)
    count = sum(z.size for z in on_grid.values())
    if abs(steps) > 64 * count:
        return out
    out.update(on_grid)
    name = max(signs, key=lambda name: float(np.abs(out[name]).max(initial=0.0)))
    sizes = np.abs(out[name])
    movable = np.flatnonzero((sizes > 0.01 * largest) & (sizes < 0.99 * largest))  # away from the ends of a box
    movable = movable if movable.size else np.array([int(np.argmax(sizes))])
    each, rest = divmod(abs(round(steps)), movable.size)
    share = each + (np.arange(movable.size) < rest)
    out[name][movable] -= math.copysign(step, steps) * signs[name][movable] * share
    return out


def _total(factors: Mapping[str, Array], signs: Mapping[str, Array], multipliers: Mapping[str, Array]) -> Fraction:
    """The sum without rounding: of signs by ``fsum``, which rounds once, and the sum has few digits."""
    total = Fraction(math.fsum(np.concatenate([f * multipliers[name] for name, f in signs.items()]).tolist()))
    for name in factors.keys() - signs:
        pairs = zip(factors[name].tolist(), multipliers[name].tolist(), strict=True)
        total += sum((Fraction(f) * Fraction(z) for f, z in pairs), Fraction(0))
    return total
