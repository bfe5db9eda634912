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

from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.gap import Side, gap
from convexcls.proofs.rigorous.independence import independent
from convexcls.proofs.rigorous.interior import Choice, interior
from convexcls.proofs.rigorous.multipliers import Unit, central, central_room, moved_unit, units, valid
from convexcls.proofs.rigorous.products import Part
from convexcls.proofs.rigorous.rounding import UNIT, Ball, raised, upward_sum
from convexcls.proofs.rigorous.stationarity import Correction, System, correction, system
from convexcls.rows.least_squares import least_squares

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: A gap of this fraction of the objective is not worth another attempt.
GOOD = 1e-12


@dataclass(frozen=True, eq=False)
class Lower:
    """``gap`` bounds f(x) - optimum from above; ``step`` bounds the change of multipliers' v at the flat ``places``.
    ``own`` is the gap of the multipliers as given, without what the curvature of a matrix makes up for."""

    gap: float
    reasons: tuple[str, ...] = ()
    step: Array | None = None
    places: Places | None = None
    own: float = math.inf


def lower_bound(e: Evaluation, given: Mapping[str, Array]) -> Lower:
    """The bound from the multipliers given."""
    multipliers = valid(e.structure, given)
    flat = np.flatnonzero(e.structure.flat)
    own = units(e.structure, multipliers, e.left) if flat.size else []
    if own is None:
        return Lower(math.inf, ("the rows of a slack do not speak of the same data",))
    own += [Unit(t.entries, *e.movable_term(t)) for t in e.problem.terms if flat.size]
    choices: list[Choice] = [(multipliers, own)]
    if flat.size and e.structure.groups:
        choices.append(_middle(e, multipliers))
    sides = _sides(e, choices)
    places = _to_correct(e, sides[:1], flat)
    found = _corrected(e, sides[0], own, places)
    lost, reason = gap(e, sides[0], found, places)
    linear = gap(e, sides[0], found, places, by_matrices=False)[0] if e.forms else lost
    if len(sides) == 1 or lost <= GOOD * abs(float(e.value.mid)):
        return Lower(lost, (reason,), found.step, places, linear)
    best = min(lost, _mixed(e, sides[0], sides[1], choices[1][1], _to_correct(e, sides, flat)))
    if not math.isfinite(best) and (inside := interior(e, multipliers, sides[0], places)) is not None:
        (other,) = _sides(e, [inside])
        best = min(best, _mixed(e, sides[0], other, inside[1], _to_correct(e, [sides[0], other], flat)))
    if best < lost:
        return Lower(best, ("the multipliers were moved towards the inside of their range",), own=linear)
    return Lower(lost, (reason,), found.step, places, linear)


# ---- costs ----------------------------------------------------------------------------------------------------


def _middle(e: Evaluation, own: Mapping[str, Ball]) -> Choice:
    """The multipliers of the slacks' rows in the middle of their range."""
    multipliers, moved = dict(own), []
    for group in e.structure.groups:
        multipliers |= central(group)
        units_ = [moved_unit(group, c, central_room(group), e.left) for c in group.others]
        moved += [u for u in units_ if u is not None]
    return multipliers, moved


def _sides(e: Evaluation, choices: Sequence[Choice]) -> list[Side]:
    """The costs with each choice of multipliers."""
    linear = Ball.exact(e.problem.q) + e.curved
    flat_slacks = [group.variable for group in e.structure.groups]
    parts = {v: _parts(e, v, choices) for v in e.problem.layout if v not in flat_slacks}
    totals, reaches = e.products.backward(parts, len(choices))
    return [
        Side(linear + total, _lost(e, z), reach) for (z, _), total, reach in zip(choices, totals, reaches, strict=True)
    ]


def _parts(e: Evaluation, v: str, choices: Sequence[Choice]) -> list[Part]:
    """What is multiplied with the rows over a variable."""
    out, count = [], len(choices)
    for t in e.problem.terms:
        if v in t.entries:
            out.append(Part(t.entries[v], [e.slopes(t)] * count, [np.zeros(t.size)] * count))
    for c in e.structure.rows:
        if v in c.entries:
            out.append(Part(c.entries[v], [z[c.name] for z, _ in choices], [np.zeros(c.size)] * count))
    for k, (_, moved) in enumerate(choices):
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


# ---- flat unknowns --------------------------------------------------------------------------------------------


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
    free = [] if smooth else _free_units(e)
    solved = system(e.problem, e.products, own, free, places)
    found = correction(e.problem, solved, side.costs)
    if not found.shown and isinstance(solved, System) and (fewer := independent(e, places)).size < places.size:
        return correction(e.problem, solved.only(fewer), side.costs)
    return found


def _mixed(e: Evaluation, own: Side, other: Side, middle: Sequence[Unit], places: Places) -> float:
    """The gap of multipliers on the way to the middle, as far as it takes to have enough room."""
    if not places.size:
        return math.inf
    solved = system(e.problem, e.products, middle, _free_units(e), independent(e, places))
    if isinstance(solved, str):
        return math.inf
    other = _balanced(e, other, solved)
    here, there = solved.bound(own.costs.size), solved.bound(other.costs.size)
    if here is None or there is None:
        return math.inf
    share, rest = upward_sum(here), 0.98 - upward_sum(there)
    way = 1.01 * share / rest if rest > 0 else math.inf
    if not way < 0.5:
        return math.inf
    costs = own.costs.times(1.0 - way) + other.costs.times(way)
    # 1 - way is rounded: the multipliers are those with the rounded one, and their sum is off by as much
    costs = costs.widened(2 * UNIT * (own.costs.size + other.costs.size))
    lost = own.lost.times(1.0 - way) + other.lost.times(way)
    lost = lost.widened(2 * UNIT * (own.lost.size + other.lost.size))
    moved = correction(e.problem, solved, Ball.exact(np.zeros(e.problem.size)))
    cost = sum(way * upward_sum(u.room * u.loss) for u in solved.units)
    extra = np.asarray(way * moved.reach)
    found = Correction(1.0, float(raised(cost)), extra)
    return gap(e, Side(costs, lost, np.asarray(raised(way * other.reach))), found, places)[0]


def _balanced(e: Evaluation, side: Side, solved: System) -> Side:
    """With the multipliers of equalities moved to where the costs are least."""
    equal = [c for c in e.structure.rows if c.relation == "=="]
    if not equal:
        return side
    unit = solved.size[solved.places]
    rows = [e.problem.joined(c.entries, c.size).to_dense()[:, solved.places] / unit for c in equal]
    moves = least_squares(np.vstack(rows).T, -side.costs.mid[solved.places] / unit)
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
