"""A lower bound of the optimum by weak duality, from any point x and any valid multipliers.

With c the gradient of the Lagrangian at x, that is q + Px + M'z + G'lambda + A'nu, and z the true slopes of the losses,

    optimum >= f(x) - lambda'(h - Gx) - nu'(b - Ax) - sum_j (what c_j may cost),

c_j^2 / 2p_j of a curved unknown, max c_j (x_j - x_j') over x_j' within bounds of a bounded one. A flat unknown asks for
c_j = 0 without rounding. There is an exact change D M v of the multipliers that does it, (M'DM) v = -c, with D the room
that they have; it is never worked out, only bounded (``system.py``): that no multiplier leaves its range, and what it
costs. Where the multipliers have too little room they are first moved a little towards the middle of their range.

Every term is small at the optimum, so that rounding and inaccuracy of x cost what they do to second order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.rigorous.evaluation import Evaluation
from convexcls.rigorous.multipliers import Unit, central, central_room, moved_unit, units, valid
from convexcls.rigorous.products import Part
from convexcls.rigorous.rounding import UNIT, Ball, raised, upward_sum
from convexcls.rigorous.stationarity import Correction, System, correction, system

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: A gap of this fraction of the objective is not worth another attempt.
GOOD = 1e-12


@dataclass(frozen=True, eq=False)
class Lower:
    """``gap`` bounds f(x) - optimum from above; ``step`` bounds the distance from a minimiser where there is one whose
    gradient is linear."""

    gap: float
    reasons: tuple[str, ...] = ()
    step: Array | None = None
    places: Places | None = None


@dataclass(frozen=True, eq=False)
class Side:
    """All that is linear in the multipliers, for one choice of them: costs of the unknowns, lambda'(h - Gx), and what
    the room of the multipliers adds up to for each unknown."""

    costs: Ball
    lost: Ball
    reach: Array


def lower_bound(e: Evaluation, given: Mapping[str, Array]) -> Lower:
    """The bound from the multipliers given."""
    multipliers = valid(e.structure, given)
    flat = np.flatnonzero(e.structure.flat)
    own = units(e.structure, multipliers, e.left) if flat.size else []
    if own is None:
        return Lower(math.inf, ("the rows of a slack do not speak of the same data",))
    own += [Unit(t.entries, *e.movable_term(t)) for t in e.problem.terms if flat.size]
    middle = _middle_units(e) if flat.size and e.structure.groups else []
    sides = _sides(e, multipliers, own, middle)
    places = _to_correct(e, sides[:1], flat)
    found = _corrected(e, sides[0], own, places)
    gap = _gap(e, sides[0], found, places)
    if len(sides) > 1 and not gap <= GOOD * abs(float(e.value.mid)):
        mixed = _mixed(e, sides[0], sides[1], middle, _to_correct(e, sides, flat))
        if mixed is not None and mixed < gap:
            return Lower(mixed, ("the multipliers were moved towards the middle of their range",))
    return Lower(gap, (found.reason,) if found.reason else (), found.step, places)


# ---- costs ------------------------------------------------------------------------------------------------------------


def _middle_units(e: Evaluation) -> list[Unit]:
    out = []
    for group in e.structure.groups:
        for c in group.others:
            unit = moved_unit(group, c, central_room(group), e.left)
            assert unit is not None
            out.append(unit)
    return out


def _sides(e: Evaluation, own: Mapping[str, Ball], movable: Sequence[Unit], middle: Sequence[Unit]) -> list[Side]:
    """The costs with the multipliers given and, where wanted, with those of the slacks' rows in the middle."""
    choices = [own]
    if middle:
        choices.append({**own, **{name: z for group in e.structure.groups for name, z in central(group).items()}})
    sets = [movable, middle][: len(choices)]
    linear = Ball.exact(e.problem.q) + e.curved
    parts = {v: _parts(e, v, choices, sets) for v in e.problem.layout if all(v != g.slack for g in e.structure.groups)}
    totals, reaches = e.products.backward(parts, len(choices))
    return [Side(linear + total, _lost(e, z), reach) for z, total, reach in zip(choices, totals, reaches, strict=True)]


def _parts(e: Evaluation, v: str, choices: Sequence[Mapping[str, Ball]], sets: Sequence[Sequence[Unit]]) -> list[Part]:
    """What is multiplied with the rows over a variable."""
    out, count = [], len(choices)
    for t in e.problem.terms:
        if v in t.entries:
            out.append(Part(t.entries[v], [e.slopes(t)] * count, [np.zeros(t.size)] * count))
    for c in e.structure.rows:
        if v in c.entries:
            out.append(Part(c.entries[v], [z[c.name] for z in choices], [np.zeros(c.size)] * count))
    for k, moved in enumerate(sets):
        for u in moved:
            if v in u.rows and np.any(u.room > 0):
                nothing = np.zeros(u.room.size)
                rooms = [u.room if k == other else nothing for other in range(count)]
                out.append(Part(u.rows[v], [Ball.exact(nothing)] * count, rooms))
    return out


def _lost(e: Evaluation, multipliers: Mapping[str, Ball]) -> Ball:
    """lambda'(h - Gx) + nu'(b - Ax), over the rows that have a multiplier."""
    parts = [Ball.exact(np.zeros(1))]
    for c in e.structure.rows:
        z = multipliers[c.name]
        used = np.flatnonzero(z.size > 0)
        parts.append(z.at(used) * e.left[c.name].at(used))
    return Ball(np.concatenate([p.mid for p in parts]), np.concatenate([p.rad for p in parts])).total()


# ---- flat unknowns ----------------------------------------------------------------------------------------------------


def _to_correct(e: Evaluation, sides: Sequence[Side], flat: Places) -> Places:
    """The flat unknowns whose cost is not borne by a bound on one side; none where all of them cost nothing."""
    low, high = e.structure.limits
    needed = np.zeros(flat.size, dtype=bool)
    for side in sides:
        c = side.costs.at(flat)
        borne = (np.isfinite(low[flat]) & (c.low > 0)) | (np.isfinite(high[flat]) & (c.high < 0))
        needed |= ~borne
    cost = any(np.any(side.costs.size[flat[needed]] > 0) for side in sides)
    return flat[needed] if cost else flat[:0]


def _free_units(e: Evaluation) -> list[Unit]:
    """The multipliers of equalities, which have no range."""
    equal = [c for c in e.structure.rows if c.relation == "=="]
    return [Unit(c.entries, np.zeros(c.size), e.left[c.name].size, reach=math.inf, free=True) for c in equal]


def _corrected(e: Evaluation, side: Side, own: Sequence[Unit], places: Places) -> Correction:
    if not places.size:
        return Correction()
    smooth = any(u.price and np.any(u.room > 0) for u in own)
    solved = system(e.problem, e.products, own, [] if smooth else _free_units(e), places)
    return correction(e.problem, solved, side.costs)


def _mixed(e: Evaluation, own: Side, other: Side, middle: Sequence[Unit], places: Places) -> float | None:
    """The gap of multipliers on the way to the middle, as far as it takes to have enough room."""
    if not places.size:
        return None
    solved = system(e.problem, e.products, middle, _free_units(e), places)
    if isinstance(solved, str):
        return None
    other = _balanced(e, other, solved)
    here, there = solved.bound(own.costs.size), solved.bound(other.costs.size)
    if here is None or there is None:
        return None
    share, rest = upward_sum(here), 0.98 - upward_sum(there)
    way = 1.01 * share / rest if rest > 0 else math.inf
    if not way < 0.5:
        return None
    costs = own.costs.times(1.0 - way) + other.costs.times(way)
    # 1 - way is rounded: the multipliers are those with the rounded one, and their sum is off by as much
    costs = costs.widened(2 * UNIT * (own.costs.size + other.costs.size))
    lost = own.lost.times(1.0 - way) + other.lost.times(way)
    lost = lost.widened(2 * UNIT * (own.lost.size + other.lost.size))
    moved = correction(e.problem, solved, Ball.exact(np.zeros(e.problem.size)))
    cost = sum(way * upward_sum(u.room * u.loss) for u in solved.units)
    extra = np.asarray(way * moved.reach)
    found = Correction(1.0, float(raised(cost)), extra)
    return _gap(e, Side(costs, lost, np.asarray(raised(way * other.reach))), found, places)


def _balanced(e: Evaluation, side: Side, solved: System) -> Side:
    """With the multipliers of equalities moved to where the costs are least."""
    equal = [c for c in e.structure.rows if c.relation == "=="]
    if not equal:
        return side
    unit = solved.size[solved.places]
    rows = [e.problem.joined(c.entries, c.size).to_dense()[:, solved.places] / unit for c in equal]
    moves = np.linalg.lstsq(np.vstack(rows).T, -side.costs.mid[solved.places] / unit, rcond=None)[0]
    lost, start = side.lost, 0
    parts: dict[str, list[Part]] = {}
    for c in equal:
        move = Ball.exact(moves[start : start + c.size])
        start += c.size
        for v, r in c.entries.items():
            parts.setdefault(v, []).append(Part(r, [move], [np.zeros(c.size)]))
        lost = lost + (move * e.left[c.name]).total()
    (added,), _ = e.products.backward(parts)
    return Side(side.costs + added, lost, side.reach)


# ---- the gap ------------------------------------------------------------------------------------------------------------


def _gap(e: Evaluation, side: Side, found: Correction, places: Places) -> float:
    """What is lost in all, rounded up."""
    if not found.shown:
        return math.inf
    costs = side.costs.widened(found.share * (side.reach + found.reach)) if found.share else side.costs
    by_place = _place_gaps(e, costs)
    by_place[places] = 0.0
    by_place[e.structure.follows] = 0.0
    total = upward_sum(by_place) + found.cost + float(side.lost.high)
    for v, b in e.structure.balls.items():
        total += _ball_gap(e, costs.at(e.problem.layout[v]), v, b.bound)
    for v, form in e.forms.items():
        total += curvature_gap(e, v, None if form is None else form.least)
    return float(np.nextafter(total * (1.0 + math.copysign(8 * UNIT, total)), math.inf)) if total == total else math.inf


def _place_gaps(e: Evaluation, costs: Ball) -> Array:
    """What the cost of each unknown may cost: of a curved one c^2 / 2p, of a bounded one the way to the farther bound."""
    low, high = e.structure.limits
    p, x = e.structure.diagonal, e.x
    down, up = raised(x - low), raised(high - x)
    falls, rises = np.maximum(costs.high, 0.0), np.maximum(-costs.low, 0.0)
    exact = costs.size == 0
    falls, rises = np.where(exact, 0.0, falls), np.where(exact, 0.0, rises)
    linear = np.maximum(_product(falls, down), _product(rises, up))
    curved = np.where(p > 0, raised(costs.size**2 / np.where(p > 0, 2.0 * p, 1.0)), np.inf)
    out = np.minimum(raised(linear), curved)
    for group in e.structure.groups:
        out[e.problem.layout[group.slack]] = 0.0
    for v in e.structure.slacks:  # an entry without curvature has neither cost nor multiplier
        where = e.problem.layout[v]
        out[where] = np.where(p[where] > 0, out[where], 0.0)
    for v in e.structure.balls:
        out[e.problem.layout[v]] = 0.0
    for v, form in e.forms.items():
        where = e.problem.layout[v]
        if form is not None and form.least > 0:
            out[where] = np.minimum(out[where], raised(costs.size[where] ** 2 / (2.0 * form.least)))
    return np.asarray(out)


def _product(cost: Array, way: Array) -> Array:
    """cost times way, 0 where there is no cost."""
    return np.where(cost > 0, cost * np.where(cost > 0, way, 0.0), 0.0)


def _ball_gap(e: Evaluation, costs: Ball, v: str, radius: float) -> float:
    """max c'(x - x') over ‖x'‖ <= radius: c'x + radius ‖c‖."""
    x = e.ball.at(e.problem.layout[v])
    norm = math.sqrt(float(costs.squared().total().high)) * (1.0 + 4 * UNIT)
    return float((costs * x).total().high) + radius * norm * (1.0 + 4 * UNIT)


def curvature_gap(e: Evaluation, v: str, least: float | None) -> float:
    """What a matrix that is not positive semidefinite may cost over the range of x."""
    if least is None:
        return math.inf
    if least >= 0:
        return 0.0
    low, high = e.structure.limits
    where = e.problem.layout[v]
    reach = np.maximum(e.x[where] - low[where], high[where] - e.x[where])
    return float(raised(-0.5 * least * upward_sum(reach**2) * (1 + 8 * UNIT)))
