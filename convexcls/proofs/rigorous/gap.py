"""What a choice of multipliers loses: f(x) - optimum is at most this, rounded up.

    lambda'(h - Gx) + nu'(b - Ax) + sum_j max over x_j' of c_j (x_j - x_j') - p_j/2 (x_j - x_j')^2

The last is at most c_j^2 / 2p_j of a curved unknown, and at most |c_j| times the way to a bound of a bounded one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.rounding import UNIT, Ball, raised, square_over, upward_sum
from convexcls.proofs.rigorous.stationarity import Correction

Array = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Side:
    """All that is linear in the multipliers, for one choice of them: costs of the unknowns, lambda'(h - Gx), and what
    the room of the multipliers adds up to for each unknown."""

    costs: Ball
    lost: Ball
    reach: Array


def gap(e: Evaluation, side: Side, found: Correction, places: Places, by_matrices: bool = True) -> tuple[float, str]:
    """What is lost in all, and why it is infinite where it is. ``by_matrices``: with what their curvature gains."""
    if not found.shown:
        return math.inf, found.reason
    costs = side.costs.widened(found.share * (side.reach + found.reach)) if found.share else side.costs
    by_place = place_gaps(e, costs, by_matrices)
    by_place[places] = 0.0
    by_place[e.structure.follows] = 0.0
    total = upward_sum(by_place) + found.cost + float(side.lost.high)
    for v, b in e.structure.balls.items():
        total += _ball_gap(e, costs.at(e.problem.layout[v]), v, b.bound)
    for v, form in e.forms.items():
        total += _matrix_gap(e, v, None if form is None else form.least)
    total = float(np.nextafter(total * (1.0 + math.copysign(8 * UNIT, total)), math.inf))
    return (total, "") if total < math.inf else (math.inf, _why(e, by_place))


def _why(e: Evaluation, by_place: Array) -> str:
    for v, form in e.forms.items():
        if form is None:
            return f"the matrix of {v!r} is too large to be looked at, or not symmetric to the last bit"
        if form.least < 0:
            return f"that the matrix of {v!r} is positive semidefinite is not shown"
    if not np.all(np.isfinite(by_place)):
        return "an unknown may fall without end: its cost has the wrong sign"
    return "a number is too large for a double"


def place_gaps(e: Evaluation, costs: Ball, by_matrices: bool) -> Array:
    """What the cost of each unknown may cost, but of those with a norm bound."""
    low, high = e.structure.limits
    p, x = e.structure.diagonal, e.x
    nothing = costs.size == 0
    falls = np.where(nothing, 0.0, np.maximum(costs.high, 0.0))
    rises = np.where(nothing, 0.0, np.maximum(-costs.low, 0.0))
    linear = np.maximum(_product(falls, raised(x - low)), _product(rises, raised(high - x)))
    curved = np.where(p > 0, square_over(costs.size, np.where(p > 0, p, 1.0)), np.inf)
    out = np.minimum(raised(linear), curved)
    for v in e.structure.slacks:  # without curvature the cost is 0 by the choice of the multipliers
        where = e.problem.layout[v]
        out[where] = np.where(p[where] > 0, out[where], 0.0)
    for v in e.structure.balls:
        out[e.problem.layout[v]] = 0.0
    for v, form in e.forms.items():
        where = e.problem.layout[v]
        if by_matrices and form is not None and form.least > 0:
            out[where] = np.minimum(out[where], square_over(costs.size[where], form.least))
    return np.asarray(out)


def _product(cost: Array, way: Array) -> Array:
    """cost times way, 0 where there is no cost."""
    return np.where(cost > 0, cost * np.where(cost > 0, way, 0.0), 0.0)


def _ball_gap(e: Evaluation, costs: Ball, v: str, radius: float) -> float:
    """max c'(x - x') over ‖x'‖ <= radius: c'x + radius ‖c‖."""
    x = e.ball.at(e.problem.layout[v])
    norm = math.sqrt(float(costs.squared().total().high)) * (1.0 + 4 * UNIT)
    return float((costs * x).total().high) + radius * norm * (1.0 + 4 * UNIT)


def _matrix_gap(e: Evaluation, v: str, least: float | None) -> float:
    """What a matrix that is not positive semidefinite may cost over the range of x."""
    if least is None:
        return math.inf
    if least >= 0:
        return 0.0
    low, high = e.structure.limits
    where = e.problem.layout[v]
    reach = np.maximum(e.x[where] - low[where], high[where] - e.x[where])
    return float(raised(-0.5 * least * upward_sum(reach**2) * (1 + 8 * UNIT)))
