"""A lower bound of the optimum by weak duality, from any point x and any valid multipliers.

With c the gradient of the Lagrangian at x, that is q + Px + M'z + G'lambda + A'nu, and z the true slopes of the losses,

    f(x) - optimum <= lambda'(h - Gx) + nu'(b - Ax) + sum_j max over x_j' of c_j (x_j - x_j') - p_j/2 (x_j - x_j')^2,

the duality gap. The last is at most c_j^2 / 2p_j of a curved unknown, and at most |c_j| times the distance to a bound
of a bounded one. A flat unknown asks for c_j = 0 without rounding. There is an exact change D M v of the multipliers
that does it, (M'DM) v = -c, with D how far they may move; it is never worked out, only bounded (``multipliers.py``):
that no multiplier leaves its range, and what it costs. Where the multipliers cannot move far enough they are first
moved a little towards the middle of their range.

Every term is small at the optimum, so that rounding and inaccuracy of x cost what they do to second order.

Two more lower bounds need no stationarity. ``nonnegative_bound``: an objective that is a sum of parts, none of which is
negative. It is what there is where the optimum is 0: a separating hyperplane of the perceptron, a perfect fit.

``ray_bound``: quadratic programs over x >= 0 whose only rows are homogeneous equalities: the Wolfe dual of a hard
margin, stated by a kernel. For t >= 0 with t (Px + A'nu) + q >= 0, every feasible x' has

    1/2 x''Px' + q'x' >= 1/2 x''Px' - t x'Px' >= -t^2/2 x'Px.

The least such t is known up to rounding, as that of a hard margin is. Upper bounds of x only make the optimum larger.
Any nu will do; of a single equality it is also tried where the least entries of Px + A'nu on either side of it are
alike, as the intercept of a hard margin is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices, least_squares
from convexcls.problem import Constraint, Epigraph
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.multipliers import (
    Choice,
    Movable,
    NormalEquations,
    RepairedStationarity,
    combined,
    correction,
    free,
    free_reach,
    independent,
    interior,
    middle,
    movable,
    normal_equations,
)
from convexcls.proofs.rigorous.products import Block, by_variable
from convexcls.proofs.rigorous.rounding import Ball, raised, square_over, upward_sum
from convexcls.proofs.rigorous.structure import valid

#: A gap of this fraction of the objective is not worth another attempt.
GOOD_GAP = 1e-12


@dataclass(frozen=True, eq=False)
class Lower:
    """``gap`` bounds f(x) - optimum from above; ``step`` bounds the change of multipliers' v at the flat ``places``.
    ``own`` is the gap of the multipliers as given, without what the curvature of a matrix makes up for."""

    gap: float
    reasons: tuple[str, ...] = ()
    step: Array | None = None
    places: Indices | None = None
    own: float = math.inf


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """All that is linear in the multipliers, for one choice of them: its gradient, lambda'(h - Gx) + nu'(b - Ax), and
    |M|'D, which is how much moving them may change the gradient."""

    gradient: Ball
    slackness: Ball
    reach: Array


def lower_bound(e: Evaluation, given: Mapping[str, Array]) -> Lower:
    """The bound from the multipliers given."""
    multipliers = valid(e.structure, given)
    flat = np.flatnonzero(e.structure.flat)
    own = movable(e, multipliers) if flat.size else []
    if own is None:
        return Lower(math.inf, ("the rows of a slack do not speak of the same data",))
    choices: list[Choice] = [(multipliers, own)]
    if flat.size and e.structure.groups:
        choices.append(middle(e, multipliers))
    L, *others = _lagrangians(e, choices)
    places = _to_correct(e, [L], flat)
    found = _corrected(e, L, own, places)
    gap, reason = duality_gap(e, L, found, places)
    linear = duality_gap(e, L, found, places, by_matrices=False)[0] if e.forms else gap
    if others and not gap <= GOOD_GAP * abs(float(e.value.mid)):
        best = min(gap, _mixed_gap(e, L, others[0], choices[1][1], flat))
        if not math.isfinite(best) and (inside := interior(e, multipliers, L.gradient, places)) is not None:
            (other,) = _lagrangians(e, [inside])
            best = min(best, _mixed_gap(e, L, other, inside[1], flat))
        if best < gap:
            return Lower(best, ("the multipliers were moved towards the inside of their range",), own=linear)
    return Lower(gap, (reason,), found.step, places, linear)


def _lagrangians(e: Evaluation, choices: Sequence[Choice]) -> list[Lagrangian]:
    """The Lagrangian with each choice of multipliers."""
    count = len(choices)
    slopes = {t.name: e.losses[t.name].slope.times(t.row_weights) for t in e.problem.terms}
    blocks: list[Block] = [(t.entries, [slopes[t.name]] * count, []) for t in e.problem.terms]
    blocks += [(c.entries, [z[c.name] for z, _ in choices], []) for c in e.structure.rows]
    for k, (_, moved) in enumerate(choices):
        for u in moved:
            if np.any(u.D > 0):
                blocks.append((u.rows, [], [u.D if k == other else np.zeros(u.D.size) for other in range(count)]))
    flat_slacks = [group.variable for group in e.structure.groups]
    parts = {v: parts for v, parts in by_variable(blocks).items() if v not in flat_slacks}
    sums, reaches = e.products.backward(parts, count)
    constant = Ball.exact(e.problem.q) + e.curved
    return [
        Lagrangian(constant + total, e.slackness(z), reach)
        for (z, _), total, reach in zip(choices, sums, reaches, strict=True)
    ]


# ---- the duality gap ------------------------------------------------------------------------------------------


def duality_gap(
    e: Evaluation, L: Lagrangian, found: RepairedStationarity, places: Indices, by_matrices: bool = True
) -> tuple[float, str]:
    """A bound of f(x) - optimum, and why it is infinite where it is; the gradient at some places is corrected.
    ``by_matrices``: with what their curvature gains."""
    if found.reason:
        return math.inf, found.reason
    c = L.gradient.widened(found.share * (L.reach + found.reach)) if found.share else L.gradient
    by_place = _place_gaps(e, c, by_matrices)
    by_place[places] = 0.0
    by_place[e.structure.follows] = 0.0
    total = upward_sum(by_place) + found.cost + float(L.slackness.high)
    for v, b in e.structure.balls.items():  # max c'(x - x') over ‖x'‖ <= radius
        own, x = (ball.at(e.problem.layout[v]) for ball in (c, e.x))
        total += float((own * x).total().high) + b.bound * own.norm() * (1.0 + 4 * UNIT_ROUNDOFF)
    total += sum(_indefinite_gap(e, v) for v in e.forms)
    total = float(np.nextafter(total * (1.0 + math.copysign(8 * UNIT_ROUNDOFF, total)), math.inf))
    return (total, "") if total < math.inf else (math.inf, _why_infinite(e, by_place))


def _why_infinite(e: Evaluation, by_place: Array) -> str:
    for v, form in e.forms.items():
        if form is None:
            return f"the matrix of {v!r} is too large to be looked at, or not symmetric to the last bit"
        if form.least < 0:
            return f"that the matrix of {v!r} is positive semidefinite is not shown"
    if not np.all(np.isfinite(by_place)):
        return "an unknown may fall without end: its cost has the wrong sign"
    return "a number is too large for a double"


def _place_gaps(e: Evaluation, c: Ball, by_matrices: bool) -> Array:
    """What the gradient at each unknown may cost, but of those with a norm bound."""
    low, high = e.structure.limits
    p, x = e.structure.diagonal, e.x.mid
    zero = c.size == 0
    falling = np.where(zero, 0.0, np.maximum(c.high, 0.0))
    rising = np.where(zero, 0.0, np.maximum(-c.low, 0.0))
    linear = np.maximum(_product(falling, raised(x - low)), _product(rising, raised(high - x)))
    curved = np.where(p > 0, square_over(c.size, np.where(p > 0, p, 1.0)), np.inf)
    out = np.minimum(raised(linear), curved)
    for v in e.structure.slacks:  # without curvature the gradient is 0 by the choice of the multipliers
        where = e.problem.layout[v]
        out[where] = np.where(p[where] > 0, out[where], 0.0)
    for v in e.structure.balls:
        out[e.problem.layout[v]] = 0.0
    for v, form in e.forms.items():
        where = e.problem.layout[v]
        if by_matrices and form is not None and form.least > 0:
            out[where] = np.minimum(out[where], square_over(c.size[where], form.least))
    return np.asarray(out)


def _product(gradient: Array, distance: Array) -> Array:
    """gradient times distance, 0 where there is no gradient."""
    return np.where(gradient > 0, gradient * np.where(gradient > 0, distance, 0.0), 0.0)


def _indefinite_gap(e: Evaluation, v: str) -> float:
    """What a matrix that is not shown to be positive semidefinite may cost over the range of x."""
    form = e.forms[v]
    if form is None or form.least >= 0:
        return math.inf if form is None else 0.0
    low, high, x = (values[e.problem.layout[v]] for values in (*e.structure.limits, e.x.mid))
    reach = np.maximum(x - low, high - x)
    return float(raised(-0.5 * form.least * upward_sum(reach**2) * (1 + 8 * UNIT_ROUNDOFF)))


# ---- flat unknowns --------------------------------------------------------------------------------------------


def _to_correct(e: Evaluation, lagrangians: Sequence[Lagrangian], flat: Indices) -> Indices:
    """The flat unknowns whose gradient is not borne by a bound on one side; none where it is 0 at all of them."""
    low, high = e.structure.limits
    needed = np.zeros(flat.size, dtype=bool)
    for L in lagrangians:
        c = L.gradient.at(flat)
        needed |= ~((np.isfinite(low[flat]) & (c.low > 0)) | (np.isfinite(high[flat]) & (c.high < 0)))
    some = any(np.any(L.gradient.size[flat[needed]] > 0) for L in lagrangians)
    return flat[needed] if some else flat[:0]


def _corrected(e: Evaluation, L: Lagrangian, own: Sequence[Movable], places: Indices) -> RepairedStationarity:
    if not places.size:
        return RepairedStationarity()
    smooth = any(u.price and np.any(u.D > 0) for u in own)
    equations = normal_equations(e, own, [] if smooth else free(e), places)
    found = correction(e, equations, L.gradient)
    if found.reason and isinstance(equations, NormalEquations) and (fewer := independent(e, places)).size < places.size:
        return correction(e, equations.only(fewer), L.gradient)
    return found


def _mixed_gap(e: Evaluation, own: Lagrangian, other: Lagrangian, moved: Sequence[Movable], flat: Indices) -> float:
    """The gap of (1 - t) own + t other multipliers, with t as large as it takes to be able to correct them."""
    places = _to_correct(e, [own, other], flat)
    if not places.size:
        return math.inf
    equations = normal_equations(e, moved, free(e), independent(e, places))
    if isinstance(equations, str):
        return math.inf
    other = _balanced(e, other, equations)
    v, v_other = equations.bound(own.gradient.size), equations.bound(other.gradient.size)
    if v is None or v_other is None:
        return math.inf
    rest = 0.98 - upward_sum(v_other)
    t = 1.01 * upward_sum(v) / rest if rest > 0 else math.inf
    if not t < 0.5:
        return math.inf
    cost = sum(t * upward_sum(u.D * u.loss) for u in equations.movable)
    found = RepairedStationarity(1.0, float(raised(cost)), np.asarray(t * free_reach(e, equations)))
    L = Lagrangian(
        _mixed(own.gradient, other.gradient, t),
        _mixed(own.slackness, other.slackness, t),
        np.asarray(raised(t * other.reach)),
    )
    return duality_gap(e, L, found, places)[0]


def _mixed(own: Ball, other: Ball, t: float) -> Ball:
    """(1 - t) own + t other. 1 - t is rounded: the multipliers are those with the rounded one, and their sum is off by
    as much."""
    return (own.times(1.0 - t) + other.times(t)).widened(2 * UNIT_ROUNDOFF * (own.size + other.size))


def _balanced(e: Evaluation, L: Lagrangian, equations: NormalEquations) -> Lagrangian:
    """With the multipliers of equalities moved to where the gradient is least."""
    if not e.equalities:
        return L
    unit = equations.size[equations.places]
    A = np.vstack([e.problem.joined(c.entries, c.size).to_dense()[:, equations.places] / unit for c in e.equalities])
    moves = np.split(
        least_squares(A.T, -L.gradient.mid[equations.places] / unit), np.cumsum([c.size for c in e.equalities])[:-1]
    )
    nu = {c.name: Ball.exact(move) for c, move in zip(e.equalities, moves, strict=True)}
    return Lagrangian(L.gradient + e.pull(nu), L.slackness + e.slackness(nu), L.reach)


# ---- bounds that need no stationarity -------------------------------------------------------------------------


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
    given = [c.given_rationals("rhs") is not None for c in (one, other)]
    if any(given) or one.entries.keys() != other.entries.keys() or not np.array_equal(one.rhs, -other.rhs):
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
    return float(np.where(q < 0, -q / np.where(q < 0, pull.low, 1.0), 0.0).max(initial=0.0)) * (1 + 4 * UNIT_ROUNDOFF)


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
