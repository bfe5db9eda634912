"""Two lower bounds of the optimum that need no stationarity.

``nonnegative_bound``: an objective that is a sum of parts, none of which is negative. It is what there is where the
optimum is 0: a separating hyperplane of the perceptron, a perfect fit.

``ray_bound``: quadratic programs over x >= 0 whose only rows are homogeneous equalities: the Wolfe dual of a hard
margin, stated by a kernel. For t >= 0 with t (Px + A'nu) + q >= 0, every feasible x' has

    1/2 x''Px' + q'x' >= 1/2 x''Px' - t x'Px' >= -t^2/2 x'Px.

The least such t is known up to rounding, as that of a hard margin is. Upper bounds of x only make the optimum larger.
Any nu will do; of a single equality it is also tried where the least entries of Px + A'nu on either side of it are
alike, as the intercept of a hard margin is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Epigraph
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.multipliers import combined, valid
from convexcls.proofs.rigorous.rounding import UNIT, Ball


def nonnegative_bound(e: Evaluation) -> float:
    """The constant of the objective where nothing else of it can be negative, else minus infinity. Squares, and losses
    whose rounding is known, are not negative; a slack is not where its rows say so."""
    problem, slacks = e.problem, e.structure.slacks
    if any(np.any(q) for v, q in problem.linear.items() if v not in slacks):
        return -math.inf
    if any(form is None or form.least < 0 for form in e.forms.values()):
        return -math.inf
    if any(np.any(slack.cost) and not _is_nonnegative(slack) for slack in slacks.values()):
        return -math.inf
    return problem.constant


def _is_nonnegative(slack: Epigraph) -> bool:
    """Whether a slack is above a number that is not negative, or above two numbers whose sum is not."""
    if any(np.all(c.rhs <= 0) for c in slack.flat_pieces):
        return True
    pieces = slack.pieces
    return any(_are_opposite(a, b, slack.variable) for a in pieces for b in pieces if a is not b)


def _are_opposite(one: Constraint, other: Constraint, slack: str) -> bool:
    """Whether the rows of one block are minus those of the other, right-hand sides and all."""
    given = {*getattr(one, "_exactly", {}), *getattr(other, "_exactly", {})}
    if given or one.entries.keys() != other.entries.keys() or not np.array_equal(one.rhs, -other.rhs):
        return False
    sums = [combined(rows, other.entries[v], 1.0) for v, rows in one.entries.items() if v != slack]
    return all(rows is not None and not np.any(rows.column_max()) for rows in sums)


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


def _pull(e: Evaluation, given: Mapping[str, Array]) -> Ball:
    """Px + A'nu."""
    return e.curved + e.pull(valid(e.structure, given))


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
    sides = [np.flatnonzero((e.problem.q < 0) & (side > 0)) for side in (a, -a)]
    if not all(side.size for side in sides):
        return []
    i, j = (side[np.argmin(pull.low[side])] for side in sides)
    shift = (pull.low[j] - pull.low[i]) / (a[i] - a[j])
    return [{**given, c.name: given.get(c.name, np.zeros(1)) + shift}] if math.isfinite(shift) else []
