"""How far coef may be from that of the true minimiser.

f(x) - optimum >= p/2 ‖coef - coef*‖^2 at every x that satisfies the constraints, where p is the least curvature of
coef: so the gap at x bounds the distance by sqrt(2 gap / p). The gap is known better than the optimum itself: it is a
sum of small terms. Of least squares without constraints x - x* is the solution of a linear system, bounded on the way.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.lower import Lower
from convexcls.proofs.rigorous.rounding import UNIT, Ball, raised
from convexcls.proofs.rigorous.upper import Upper

Array = NDArray[np.float64]


def distance(e: Evaluation, lower: Lower, upper: Upper, x: Array, below: float) -> float | None:
    """A bound of ‖coef - coef*‖ for the coef in x; None where none is known."""
    if "coef" not in e.problem.layout or not math.isfinite(below) or not math.isfinite(upper.value):
        return None
    where = e.problem.layout["coef"]
    curvature = float(e.structure.diagonal[where].min(initial=math.inf))
    if curvature > 0:
        return _by_curvature(e, lower, upper, x[where], below, curvature)
    whole = lower.places is not None and np.array_equal(lower.places, np.arange(e.problem.size))
    if lower.step is not None and whole and _is_least_squares(e):
        return float(raised(np.linalg.norm(lower.step[where]) * (1 + 4 * where.stop * UNIT)))
    return None


def _by_curvature(
    e: Evaluation, lower: Lower, upper: Upper, coef: Array, below: float, curvature: float
) -> float | None:
    where = e.problem.layout["coef"]
    gap = upper.value - below
    there = e.ball.at(where).times(upper.scale)
    if upper.scale == 1.0 and not _has_own_rows(e) and math.isfinite(lower.gap):
        gap = lower.gap  # x with its slacks satisfies all constraints to rounding of the slacks, which are not curved
    moved = (there - Ball.exact(coef)).squared().total()
    far = math.sqrt(max(2.0 * gap, 0.0) / curvature) + math.sqrt(max(float(moved.high), 0.0))
    far = float(raised(far * (1 + 16 * UNIT)))
    return far if math.isfinite(far) else None


def _has_own_rows(e: Evaluation) -> bool:
    """Whether a constraint may be violated: not where there are terms alone."""
    return bool(e.problem.constraints or e.problem.norm_bounds)


def _is_least_squares(e: Evaluation) -> bool:
    return not e.problem.constraints and not e.problem.norm_bounds and all(t.is_half_square for t in e.problem.terms)
