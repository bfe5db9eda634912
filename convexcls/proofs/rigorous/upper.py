"""An upper bound of the optimum: the objective, rounded up, at points that satisfy every constraint without rounding.

The points are t x on the ray through x, which rows with a right-hand side of 0 do not notice, with the slacks, and an
unknown that only bounds rows (a margin), set to what their rows ask for, rounded to the safe side:

    hard margin          t = 1 / least margin, rounded up
    norm bound           t = radius / norm, rounded down
    a user's own rows    any t that satisfies them, 1 if it does
    equalities           t = 1 unless they are homogeneous: x is near a point that satisfies them (evaluation.py)

t = 0 is tried, too: where the best is the origin, rounding may have missed it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.losses import loss_at
from convexcls.proofs.rigorous.rounding import UNIT, Ball
from convexcls.proofs.rigorous.structure import stated


@dataclass(frozen=True, eq=False)
class Upper:
    """The bound, and the point on the ray that has it; the objective at ``nearest`` times x, the point of the ray next
    to x that satisfies the constraints."""

    value: float
    scale: float = 1.0
    nearest: float = 1.0
    at_nearest: float = math.inf
    reasons: tuple[str, ...] = ()


def upper_bound(e: Evaluation) -> Upper:
    """The best bound on the ray through the point."""
    if e.infeasible:
        return Upper(math.inf, reasons=(e.infeasible,))
    if any(form is None for form in e.forms.values()):
        return Upper(math.inf, reasons=("a matrix is too large to be looked at",))
    least, most, reason = _range(e)
    if not least <= most:
        return Upper(math.inf, reasons=(reason or "no point on the ray through x satisfies the constraints",))
    tries = sorted({t for t in (1.0, least, most, 0.0, _without_slack(e)) if least <= t <= most and math.isfinite(t)})
    found = {t: _value(e, t) for t in tries}
    t = min(found, key=found.__getitem__)
    best, nearest = found[t], min(max(1.0, least), most)
    moved = () if t == 1.0 else (f"the point was multiplied by {t!r} to satisfy all constraints",)
    reasons = moved if math.isfinite(best) else ("the objective is too large for a double",)
    return Upper(best, t, nearest, found.get(nearest, math.inf), reasons)


# ---- which points of the ray satisfy the constraints ------------------------------------------------------------


def _range(e: Evaluation) -> tuple[float, float, str]:
    """The least and the largest t, and what is wrong where there is none."""
    least, most = 0.0, math.inf
    for c in e.structure.rows:
        if c.relation == "==":
            if np.any(c.rhs != 0) or np.any(stated(c, "rhs").rad > 0):
                least, most = max(least, 1.0), min(most, 1.0)
        elif not _follower(e, c) and not any(v in e.structure.slacks for v in c.entries):
            here = _row_range(e.values[c.name].high, stated(c, "rhs").low)
            least, most = max(least, here[0]), min(most, here[1])
            if not here[0] <= here[1]:
                return 1.0, 0.0, f"constraint {c.name!r} is not shown to hold anywhere on the ray through x"
    low, high = e.structure.limits
    if e.structure.bounds:  # x is within them, and so is what lies between x and 0 where 0 is
        least, most = (least if np.all((low <= 0) & (high >= 0)) else max(least, 1.0)), min(most, 1.0)
    for v, b in e.structure.balls.items():
        norm = e.x.at(e.problem.layout[v]).norm()
        most = min(most, math.inf if norm == 0 else b.bound / norm * (1 - 4 * UNIT))
    return least, most, ""


def _without_slack(e: Evaluation) -> float:
    """The least t at which slacks are held up by no row but their own: a margin that all samples reach."""
    least = 1.0
    for c in e.structure.rows:
        if any(v in e.structure.slacks for v in c.entries) and len(c.entries) > 1:
            here = _row_range(e.values[c.name].high, stated(c, "rhs").low)
            least = max(least, here[0]) if here[0] <= here[1] else math.inf
    return least


def _row_range(value: Array, rhs: Array) -> tuple[float, float]:
    """The t with t value <= rhs for all rows, rounded inwards."""
    if np.any((rhs <= 0) & ~(value <= 0)) or np.any((rhs < 0) & ~(value < 0)):
        return math.inf, 0.0
    with np.errstate(all="ignore"):
        below = (rhs < 0) & (value < 0)
        above = (rhs > 0) & (value > 0)
        least = np.where(below, rhs / np.where(below, value, 1.0), 0.0).max(initial=0.0) * (1 + 4 * UNIT)
        most = np.where(above, rhs / np.where(above, value, 1.0), np.inf).min(initial=np.inf) * (1 - 4 * UNIT)
    return float(least), float(most)


def _follower(e: Evaluation, c: Constraint) -> str:
    """An unknown that one block of rows is all there is to: it may be set to what they ask for."""
    others = [b for b in (*e.problem.terms, *e.problem.constraints, *e.problem.norm_bounds) if b is not c]
    for v, rows in c.entries.items():
        f = rows.factors()
        alone = f.core.is_ones and f.left is None and f.right is None
        if alone and not any(v in b.entries for b in others) and v not in e.problem.quadratic:
            return v
    return ""


# ---- the objective there --------------------------------------------------------------------------------------


def _value(e: Evaluation, t: float) -> float:
    """The objective at t x with its slacks and followers, rounded up."""
    values = {name: value.times(t) for name, value in e.values.items()}
    x = e.x.times(t)
    for v, slack in e.structure.slacks.items():
        lowest = slack.lowest([(values[c.name] - stated(c, "rhs")).high for c in slack.pieces])
        x = x.with_part(e.problem.layout[v], Ball.exact(lowest))
    for c in e.structure.rows:
        if c.relation == "<=" and (v := _follower(e, c)):
            violation = float((values[c.name] - stated(c, "rhs")).high.max(initial=-math.inf))
            where = e.problem.layout[v]
            x = x.with_part(where, x.at(where) - Ball.exact(np.array([violation])))
    losses = {b.name: loss_at(b.loss, values[b.name] + stated(b, "offset")).value for b in e.problem.terms}
    high = float(e.objective(x, losses, t).high)
    return high if not math.isnan(high) else math.inf
