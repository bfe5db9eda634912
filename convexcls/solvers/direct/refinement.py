"""When normal equations are trusted, and the rounds that take out what they leave."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from convexcls.arrays import Array

#: Matrices with so few entries are refined in extended precision, whatever their condition.
MAX_ENTRIES_ALWAYS_REFINED = 100_000
#: A round that changes the solution by less than this leaves it as good as doubles allow.
SMALLEST_RELATIVE_STEP = 1e-13
MAX_REFINEMENTS = 6


def refined_steps(step: Callable[[Array], Array], unknowns: int, size: Array | float) -> Array | None:
    """The point that steps lead to, each from the residual of the last, as far as rounding lets them; None where they
    do not get near it. ``size`` gives the units in which a step is measured."""
    x, before = step(np.zeros(unknowns)), np.inf
    for _ in range(MAX_REFINEMENTS):
        more = step(x)
        change = float(np.abs(size * more).max(initial=0.0)) / max(float(np.abs(size * x).max(initial=0.0)), 1e-300)
        if not change < 0.5 * before:
            break  # rounding has the last word
        x, before = x + more, change
        if change <= SMALLEST_RELATIVE_STEP:
            break
    return x if before <= 1e-10 else None
