"""Rows that an answer satisfies without slack, satisfied without rounding error.

A margin of 1 - 1e-13 is no violation to speak of, unless slack costs 1e13 times what the multiplier says. Then the
objective of (w, b) itself, with the slack that it truly needs, is another one than that of the answer. Rows

    -y_i (w'x_i + b) - slack_i <= rhs_i,        rhs_i < 0,

are moved inside by a factor 1 + epsilon on (w, b), with epsilon of the size of rounding: the objective pays for it
relative to itself, not to the price of slack.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls.centring import centre, in_centred_form
from convexcls.problem import BY_SAMPLE, Constraint, Problem
from convexcls.rows import DiagonalRows

Array = NDArray[np.float64]

#: More than this is no rounding error.
LARGEST = 1e-9
#: Violations of this size, at the price of slack, are looked at where they cost more than that share of the objective.
ROUNDING, SMALL = 2.0**-40, 1e-9
#: Roundings of one sum, in units of 2^-53 of the sizes added up, besides one for each summand.
ROUNDINGS = 8
ROUNDS = 3


def inside(problem: Problem, x: Array) -> Array:
    """The point, its rows without slack on their right side; the point itself where the problem has no such rows, or
    where they are violated by more than rounding."""
    found = problem.remembered(_margin_rows)
    if found is None or not np.all(np.isfinite(x)):
        return x
    block, slack = found
    if float(problem.q[slack].sum()) * ROUNDING <= SMALL * problem.objective(x):
        return x
    slackless, out = x[slack] <= 0.0, x
    for _ in range(ROUNDS):
        excess, noise = _excess(problem, block, out, slack)
        needed = float(((excess + noise) / -block.rhs)[slackless].max(initial=0.0))
        if not 0.0 < needed <= LARGEST:
            break
        out = _stretched(problem, out, 1.0 + 2.0 * needed, slack)
    if out is not x:
        excess, _ = _excess(problem, block, out, slack)
        out[slack] = np.where(slackless, 0.0, np.maximum(out[slack] + excess, 0.0))
    return out


def _margin_rows(problem: Problem) -> tuple[Constraint, slice] | None:
    """The rows, and where their slacks stand, where slack has a linear price and everything else may be stretched."""
    slacks = [v.name for v in problem.variables if v.kind in BY_SAMPLE and np.all(problem.linear.get(v.name, -1.0) > 0)]
    others = [c for c in problem.constraints if not (slacks and c.entries.keys() == {slacks[0]})]
    if len(slacks) != 1 or len(others) != 1 or problem.terms or problem.norm_bounds or len(problem.linear) != 1:
        return None
    (block,), (name,) = others, slacks
    rows = block.entries.get(name)
    if block.relation != "<=" or not np.all(block.rhs < 0) or not isinstance(rows, DiagonalRows):
        return None
    return (block, problem.layout[name]) if np.all(rows.values == -1.0) else None


def _excess(problem: Problem, block: Constraint, x: Array, slack: slice) -> tuple[Array, Array]:
    """By how much each row is violated, with a bound on the error of that."""
    form, point, _ = in_centred_form(problem, x, {})
    rows = form.rows(next(c for c in form.constraints if c.name == block.name))
    sizes = abs(rows) @ np.abs(point) + np.abs(block.rhs)
    summands = x.size - (slack.stop - slack.start)
    return rows @ point - block.rhs, (ROUNDINGS + summands) * 2.0**-53 * sizes


def _stretched(problem: Problem, x: Array, factor: float, slack: slice) -> Array:
    centred = problem.remembered(centre)
    point = np.array(x if centred is None else centred.centre(x, {})[0])
    kept = point[slack].copy()
    point *= factor
    point[slack] = kept
    return point if centred is None else np.array(centred.restore(point, {})[0])
