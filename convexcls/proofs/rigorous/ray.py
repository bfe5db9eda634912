"""A lower bound for quadratic programs over x >= 0 whose only rows are homogeneous equalities: the Wolfe dual of a hard
margin, stated by a kernel.

For t >= 0 with t (Px + A'nu) + q >= 0, every feasible x' has 1/2 x''Px' + q'x' >= 1/2 x''Px' - t x'Px' >= -t^2/2 x'Px.
The least such t is known up to rounding, as that of a hard margin is. Upper bounds of x only make the optimum larger.
Any nu will do; of a single equality it is also tried where the least pulls on either side of it are alike, as the
intercept of a hard margin is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.multipliers import valid
from convexcls.proofs.rigorous.products import Part
from convexcls.proofs.rigorous.rounding import UNIT, Ball

Array = NDArray[np.float64]


def ray_bound(e: Evaluation, given: Mapping[str, Array]) -> tuple[float, tuple[str, ...]]:
    """The bound and what was done for it; minus infinity where the problem is of another kind or t is not shown."""
    nothing: tuple[float, tuple[str, ...]] = (-math.inf, ())
    low, _ = e.structure.limits
    if e.problem.terms or e.structure.slacks or e.structure.balls or np.any(e.structure.diagonal):
        return nothing
    if not e.forms or not np.all(low == 0) or any(f is None or f.least < 0 for f in e.forms.values()):
        return nothing
    if any(c.relation != "==" or np.any(c.rhs != 0) for c in e.structure.rows):
        return nothing
    pull = _pull(e, given)
    pulls = [pull, *(_pull(e, moved) for moved in _centred(e, given, pull))]
    t = min(_multiple(pull, e.problem.q) for pull in pulls)
    if not t < math.inf:
        return nothing
    value = sum((v for _, v in e.matrix_parts.values()), Ball.exact(np.float64(0.0)))
    least = Ball.exact(np.float64(e.problem.constant)) - value.times(t).times(t)
    return float(least.low), (f"point and multipliers were multiplied by {t!r} to satisfy all constraints",)


def _multiple(pull: Ball, q: Array) -> float:
    """The least t with t pull + q >= 0, rounded up; infinite where there is none."""
    if not np.all(np.where(q < 0, pull.low > 0, pull.low >= 0)):
        return math.inf
    return float(np.where(q < 0, -q / np.where(q < 0, pull.low, 1.0), 0.0).max(initial=0.0)) * (1 + 4 * UNIT)


def _centred(e: Evaluation, given: Mapping[str, Array], pull: Ball) -> list[Mapping[str, Array]]:
    """The multipliers with that of a single equality where the least pulls on either side are alike."""
    if len(e.structure.rows) != 1 or (c := e.structure.rows[0]).size != 1:
        return []
    a = e.problem.joined(c.entries, 1).to_dense()[0]
    up, down = (np.flatnonzero((e.problem.q < 0) & (side > 0)) for side in (a, -a))
    if not up.size or not down.size:
        return []
    i, j = (side[np.argmin(pull.low[side])] for side in (up, down))
    shift = (pull.low[j] - pull.low[i]) / (a[i] - a[j])
    return [{**given, c.name: given.get(c.name, np.zeros(1)) + shift}] if math.isfinite(shift) else []


def _pull(e: Evaluation, given: Mapping[str, Array]) -> Ball:
    """Px + A'nu."""
    multipliers = valid(e.structure, given)
    parts: dict[str, list[Part]] = {}
    for c in e.structure.rows:
        for v, rows in c.entries.items():
            parts.setdefault(v, []).append(Part(rows, [multipliers[c.name]], [np.zeros(c.size)]))
    (added,), _ = e.products.backward(parts)
    return e.curved + added
