"""Lower and upper bounds of the optimum that hold despite all rounding, and how far coef may be from the minimiser's.

f(x) - optimum >= p/2 ‖coef - coef*‖^2 at every x that satisfies the constraints, where p is the least curvature of
coef: so the gap at x bounds the distance by sqrt(2 gap / p). The gap is known better than the optimum itself: it is a
sum of small terms. Of least squares without constraints x - x* is the solution of a linear system, bounded on the way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.problem.duality import Dual
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.lower import Lower, lower_bound
from convexcls.proofs.rigorous.rounding import UNIT, Ball, raised
from convexcls.proofs.rigorous.simple_bounds import nonnegative_bound, ray_bound
from convexcls.proofs.rigorous.structure import Structure
from convexcls.proofs.rigorous.upper import Upper, upper_bound


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
    return Bounds(below, upper.value, far, e.products.passes, found, upper.at_nearest, upper.nearest, own)


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
        far = float(raised((math.sqrt(max(2.0 * gap, 0.0) / curvature) + moved) * (1 + 16 * UNIT)))
        return far if math.isfinite(far) else None
    whole = lower.places is not None and lower.places.size == e.problem.size
    least_squares = not e.problem.is_constrained and all(t.is_half_square for t in e.problem.terms)
    if lower.step is None or not whole or not least_squares:
        return None
    return float(raised(np.linalg.norm(lower.step[where]) * (1 + 4 * where.stop * UNIT)))


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
