"""A lower bound for quadratic programs over x >= 0 whose only rows are homogeneous equalities: the Wolfe dual of a hard
margin, stated by a kernel.

For t >= 0 with t (Px + A'nu) + q >= 0, every feasible x' has 1/2 x''Px' + q'x' >= 1/2 x''Px' - t x'Px' >= -t^2/2 x'Px.
The least such t is known up to rounding, as that of a hard margin is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from convexcls.rigorous.evaluation import Evaluation
from convexcls.rigorous.multipliers import valid
from convexcls.rigorous.products import Part
from convexcls.rigorous.rounding import UNIT, Ball

Array = NDArray[np.float64]


def ray_bound(e: Evaluation, given: Mapping[str, Array]) -> tuple[float, tuple[str, ...]]:
    """The bound and what was done for it; minus infinity where the problem is of another kind or t is not shown."""
    nothing: tuple[float, tuple[str, ...]] = (-math.inf, ())
    low, high = e.structure.limits
    if e.problem.terms or e.structure.slacks or e.structure.balls or np.any(e.structure.diagonal):
        return nothing
    if not np.all(low == 0) or np.any(np.isfinite(high)) or any(f is None or f.least < 0 for f in e.forms.values()):
        return nothing
    if any(c.relation != "==" or np.any(c.rhs != 0) for c in e.structure.rows):
        return nothing
    pull, q = _pull(e, given), e.problem.q
    if not np.all(np.where(q < 0, pull.low > 0, pull.low >= 0)):
        return nothing
    t = float(np.where(q < 0, -q / np.where(q < 0, pull.low, 1.0), 0.0).max(initial=0.0)) * (1 + 4 * UNIT)
    value = sum((v for _, v in e.matrix_parts.values()), Ball.exact(np.float64(0.0)))
    least = Ball.exact(np.float64(e.problem.constant)) - value.times(t).times(t)
    return float(least.low), (f"point and multipliers were multiplied by {t!r} to satisfy all constraints",)


def _pull(e: Evaluation, given: Mapping[str, Array]) -> Ball:
    """Px + A'nu."""
    multipliers = valid(e.structure, given)
    parts: dict[str, list[Part]] = {}
    for c in e.structure.rows:
        for v, rows in c.entries.items():
            parts.setdefault(v, []).append(Part(rows, [multipliers[c.name]], [np.zeros(c.size)]))
    (added,), _ = e.products.backward(parts)
    return e.curved + added
