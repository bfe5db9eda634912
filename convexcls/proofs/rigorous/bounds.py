"""Lower and upper bounds of the optimum that hold despite all rounding, and how far coef may be from the minimiser's.

f(x) - optimum >= p/2 ‖coef - coef*‖^2 at every x that satisfies the constraints, where p is the least curvature of
coef: so the gap at x bounds the distance by sqrt(2 gap / p). The gap is known better than the optimum itself: it is a
sum of small terms. Of least squares without constraints x - x* is the solution of a linear system, bounded on the way.

The upper bound is the objective, rounded up, at points that satisfy every constraint without rounding. They are t x on
the ray through x, which rows with a right-hand side of 0 do not notice, with the slacks, and an unknown that only
bounds rows (a margin), set to what their rows ask for, rounded to the safe side:

    hard margin          t = 1 / least margin, rounded up
    norm bound           t = radius / norm, rounded down
    a user's own rows    any t that satisfies them, 1 if it does
    equalities           t = 1 unless they are homogeneous: x is near a point that satisfies them (evaluation.py)

t = 0 is tried, too: where the best is the origin, rounding may have missed it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array
from convexcls.problem import Constraint, Problem
from convexcls.problem.duality import Dual
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.losses import loss_at
from convexcls.proofs.rigorous.lower import Lower, lower_bound, nonnegative_bound, ray_bound
from convexcls.proofs.rigorous.rounding import Ball, raised
from convexcls.proofs.rigorous.structure import Structure, stated

#: The rounding of a cost, and of the bounds that it widens.
COSTS_ROUNDED = 2.0**-51


@dataclass(frozen=True)
class Bounds:
    """lower <= optimum <= upper, of the minimised form, for the problem as stated, without any rounding; infinite where
    none could be shown, for the ``reasons`` given.

    ``distance`` bounds the Euclidean distance of coef from that of the true minimiser, where the objective is strongly
    convex in it. ``passes`` counts products with the data, their transpose, their absolute values, or Gram matrices.

    The bounds may be better than the point: ``at_point`` is the objective at the point itself, rounded up, times
    ``stretch`` where only that satisfies the constraints; ``by_multipliers`` is what the multipliers as they are give
    from below. None where they are not known.
    """

    lower: float
    upper: float
    distance: float | None = None
    passes: int = 0
    reasons: tuple[str, ...] = ()
    at_point: float | None = None
    stretch: float = 1.0
    by_multipliers: float | None = None

    @property
    def width(self) -> float:
        """upper - lower relative to the larger of them, 0 where they agree."""
        if self.lower == self.upper:
            return 0.0
        size = max(abs(self.lower), abs(self.upper))
        return (self.upper - self.lower) / size if math.isfinite(size) else math.inf

    def negated(self) -> Bounds:
        """The bounds of minus the optimum."""
        return Bounds(-self.upper, -self.lower, None, self.passes, self.reasons)


def bounds(problem: Problem, x: Any, multipliers: Mapping[str, Any] | None) -> Bounds:
    """Bounds from a point and multipliers, whatever they are: bad ones give wide bounds, never wrong ones."""
    point = np.array(np.zeros(problem.size) if x is None else x, dtype=float)
    if point.shape != (problem.size,) or not np.all(np.isfinite(point)):
        return Bounds(-math.inf, math.inf, reasons=(f"the point is not {problem.size} finite numbers",))
    given = {name: np.asarray(z, dtype=float) for name, z in (multipliers or {}).items()}
    with np.errstate(all="ignore"):
        if isinstance(problem, Dual):
            return _of_dual(problem, point, given)
        return _bounds(problem, point, given)


def _bounds(problem: Problem, x: Array, given: Mapping[str, Array]) -> Bounds:
    structure = Structure(problem)
    if structure.unknown:
        return Bounds(-math.inf, math.inf, reasons=(structure.unknown,))
    e = Evaluation(structure, x)
    lower, upper = lower_bound(e, given), upper_bound(e)
    below, own = (_minus(e.value, gap) for gap in (lower.gap, lower.own))
    reasons = lower.reasons
    along, along_reasons = ray_bound(e, given)
    if along > below:
        below, reasons = along, along_reasons
    below = max(below, nonnegative_bound(e))
    found = tuple(reason for reason in (*reasons, *upper.reasons) if reason)
    far = _distance(e, lower, upper, x, below)
    out = Bounds(below, upper.value, far, e.products.passes, found, upper.at_nearest, upper.nearest, own)
    return _of_given_costs(e, out) if problem.rounds_costs else out


def _of_given_costs(e: Evaluation, found: Bounds) -> Bounds:
    """The same for costs as they were given, which doubles round: where the objective is a sum of parts that are not
    negative, each times a cost, it is off by no more than costs are, relatively, and so is its infimum. The minimiser
    moves by at most sqrt(2 off / p), p the least curvature of coef."""
    if nonnegative_bound(e) < 0:
        reason = "costs or weights were given as rationals that doubles round, in an objective that may be negative"
        return Bounds(-math.inf, math.inf, None, found.passes, (*found.reasons, reason))
    off, far = COSTS_ROUNDED * abs(found.upper), None
    if found.distance is not None:
        curvature = float(e.structure.diagonal[e.problem.layout["coef"]].min(initial=math.inf))
        if curvature > 0 and math.isfinite(off):
            far = float(raised(found.distance + math.sqrt(4.0 * off / curvature)))
    at_point = None if found.at_point is None else found.at_point * (1.0 + COSTS_ROUNDED)
    own = None if found.by_multipliers is None else found.by_multipliers * (1.0 - COSTS_ROUNDED)
    below = max(found.lower * (1.0 - COSTS_ROUNDED), 0.0)
    return replace(found, lower=below, upper=found.upper + off, distance=far, at_point=at_point, by_multipliers=own)


def _minus(value: Ball, gap: float) -> float:
    """value - gap, rounded down."""
    below = float(np.nextafter(float(value.low) - gap, -math.inf))
    return -math.inf if math.isnan(below) else below


def _distance(e: Evaluation, lower: Lower, upper: Upper, x: Array, below: float) -> float | None:
    """A bound of ‖coef - coef*‖ for the coef in x; None where none is known."""
    if "coef" not in e.problem.layout or not math.isfinite(below) or not math.isfinite(upper.value):
        return None
    where = e.problem.layout["coef"]
    curvature = float(e.structure.diagonal[where].min(initial=math.inf))
    if curvature > 0:
        gap = upper.value - below
        if upper.scale == 1.0 and not e.problem.is_constrained and math.isfinite(lower.gap):
            gap = lower.gap
        moved = (e.x.at(where).times(upper.scale) - Ball.exact(x[where])).norm()
        far = float(raised((math.sqrt(max(2.0 * gap, 0.0) / curvature) + moved) * (1 + 16 * UNIT_ROUNDOFF)))
        return far if math.isfinite(far) else None
    whole = lower.places is not None and lower.places.size == e.problem.size
    least_squares = not e.problem.is_constrained and all(t.is_half_square for t in e.problem.terms)
    if lower.step is None or not whole or not least_squares:
        return None
    return float(raised(np.linalg.norm(lower.step[where]) * (1 + 4 * where.stop * UNIT_ROUNDOFF)))


def _of_dual(problem: Dual, x: Array, given: Mapping[str, Array]) -> Bounds:
    """By the primal: a feasible point of either bounds the other, and the lower bounds of the primal are shown by
    feasible points of its dual. The dual is written with 1/p and 1/weight, which may be rounded: that is the dual of a
    primal with curvatures and weights off by as much, relatively, and so by as much of what they add to the optimum."""
    every = {c.name: np.zeros(c.size) for c in problem.constraints}
    every |= {b.name: np.zeros(b.size + 1) for b in problem.norm_bounds}
    every |= {name: z for name, z in given.items() if name in every and z.shape == every[name].shape}
    found = bounds(problem.primal, *problem.recover(x, every))
    if _is_exact(problem.primal):
        return found.negated()
    slacks = Structure(problem.primal).slacks
    if any(np.any(q) for v, q in problem.primal.linear.items() if v not in slacks):
        reason = "the dual is written with rounded reciprocals of curvatures or weights"
        return Bounds(-math.inf, math.inf, None, found.passes, (reason,))
    off = 2.0**-49 * max(abs(found.lower), abs(found.upper))
    return Bounds(found.lower - off, found.upper + off, None, found.passes, found.reasons).negated()


def _is_exact(primal: Problem) -> bool:
    """Whether all reciprocals that the dual is written with are doubles."""
    numbers = [p for p in primal.quadratic.values() if isinstance(p, np.ndarray)] + [t.weights for t in primal.terms]
    return all(bool(np.all(np.abs(np.frexp(n[n > 0])[0]) == 0.5)) for n in numbers)


# ---- the upper bound ------------------------------------------------------------------------------------------


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
        most = min(most, math.inf if norm == 0 else b.bound / norm * (1 - 4 * UNIT_ROUNDOFF))
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
        least = np.where(below, rhs / np.where(below, value, 1.0), 0.0).max(initial=0.0) * (1 + 4 * UNIT_ROUNDOFF)
        most = np.where(above, rhs / np.where(above, value, 1.0), np.inf).min(initial=np.inf) * (1 - 4 * UNIT_ROUNDOFF)
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
