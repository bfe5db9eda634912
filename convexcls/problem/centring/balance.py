"""Multipliers whose sum is zero, not only to rounding: what is left of it counts as much as features are far from
zero."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array


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
