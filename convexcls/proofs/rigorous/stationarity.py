"""The exact change of multipliers that makes the gradient of every flat unknown vanish: that it exists, and its cost.

Multipliers move by D M v with (M'DM) v = -c, the normal equations. In units in which no entry of M exceeds 1,
|Mv| <= sum |v|: a multiplier moves by at most D sum |v|.

Flat unknowns whose columns depend on others are found without rounding. The gradient at an unknown is the sum of its
column, q and all rows, times the multipliers. Where a column is a combination of others, so is its gradient, exactly:
where theirs vanish, it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.matrices import Gram
from convexcls.proofs.rigorous.multipliers import Movable
from convexcls.proofs.rigorous.products import largest_factors
from convexcls.proofs.rigorous.rounding import ETA, Ball, powers_of_two, raised, upward_sum
from convexcls.rational.elimination import independent_rows
from convexcls.rational.numbers import exactly
from convexcls.rows import Rows

#: Systems with more unknowns are not solved.
MAX_UNKNOWNS = 2000
#: Dependent columns are looked for in tables of so many entries.
MAX_RATIONAL_ENTRIES = 4000


@dataclass(frozen=True, eq=False)
class RepairedStationarity:
    """``share`` of their D is what multipliers move at most, ``cost`` what it costs; ``reach`` is what the multipliers
    of equalities add to the gradient, ``step`` the bound of v; ``reason`` says why none is shown to exist."""

    share: float = 0.0
    cost: float = 0.0
    reach: Array | float = 0.0
    step: Array | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """M'DM over some places, in units: ``size`` of the unknowns, ``top`` of D."""

    places: Indices
    size: Array
    top: float
    matrix: Gram
    movable: Sequence[Movable]

    def only(self, places: Indices) -> NormalEquations:
        """Those of some of the places."""
        at = np.flatnonzero(np.isin(self.places, places))
        return replace(self, places=self.places[at], matrix=self.matrix.only(at))

    def bound(self, gradient: Array) -> Array | None:
        """A bound of |v| in these units for gradients up to this."""
        c = gradient[self.places]
        with np.errstate(all="ignore"):  # both units are powers of two: one step, lest it underflows on the way
            r = np.ldexp(c, -(np.frexp(self.size[self.places])[1] + math.frexp(self.top)[1] - 2))
            r = r + np.where(c > 0, ETA, 0.0)
        return self.matrix.bound(r) if np.all(np.isfinite(r)) else None


def normal_equations(
    e: Evaluation, movable: Sequence[Movable], free: Sequence[Movable], chosen: Indices
) -> NormalEquations | str:
    """Those of some unknowns, or why there are none. ``free`` are multipliers of any sign, whose D is set here: as
    large as that of the others."""
    if chosen.size > MAX_UNKNOWNS:
        return f"{chosen.size} unknowns without curvature are more than are corrected"
    top = max((float(u.D.max(initial=0.0)) for u in movable), default=0.0)
    top = 2.0 ** math.frexp(top)[1] if 0 < top < 2.0**1022 else 1.0
    largest = np.zeros(e.problem.size)
    for u in (*movable, *free):
        for v, entries in _largest_entries(u.rows).items():
            where = e.problem.layout[v]
            largest[where] = np.maximum(largest[where], entries)
    size = 2.0 * powers_of_two(largest, np.ceil)
    if not np.all(size[chosen] > 0) or not np.all(np.isfinite(size[chosen])):
        return "an unknown without curvature has a cost but no multiplier to change it"
    total, counted = None, []
    for u in (*movable, *free):
        part = e.grams.gram(u.rows, np.ones(u.D.size) if u.free else u.D / top, chosen, size)
        if part is None:
            continue
        if u.free:
            weight = 1.0 if total is None else _ratio(total, part)
            part, u = part.times(weight), replace(u, D=np.full(u.D.size, weight * top))
        total = part if total is None else total + part
        counted.append(u)
    if total is None:
        return "no multiplier has room to be moved"
    return NormalEquations(chosen, size, top, total, counted)


def _ratio(total: Gram, part: Gram) -> float:
    """The power of two that makes one matrix as large as another."""
    ratio = float(np.trace(total.matrix)) / max(float(np.trace(part.matrix)), 1e-300)
    return float(2.0 ** round(math.log2(ratio))) if ratio > 0 and math.isfinite(ratio) else 1.0


def _largest_entries(entries: Mapping[str, Rows]) -> dict[str, Array]:
    """At least the largest absolute value of each column, by variable."""
    taken = {v: rows.factors() for v, rows in entries.items()}
    return {v: np.asarray(f.core.column_max() * largest_factors(f)) for v, f in taken.items()}


def correction(e: Evaluation, equations: NormalEquations | str, gradient: Ball) -> RepairedStationarity:
    """The change that removes the gradient at the places of the equations."""
    if isinstance(equations, str):
        return RepairedStationarity(reason=equations)
    v = equations.bound(gradient.size)
    if v is None:
        return RepairedStationarity(reason="that the flat directions are independent is not shown")
    share = upward_sum(v)
    if not share <= min((u.reach for u in equations.movable if np.any(u.D > 0)), default=math.inf):
        return RepairedStationarity(
            reason="multipliers would have to leave their range to make the flat directions stationary"
        )
    size = equations.size[equations.places]
    price = max((u.price for u in equations.movable), default=0.0)
    cost = price * upward_sum(gradient.size[equations.places] / size * v) if price else 0.0
    cost += sum(share * upward_sum(u.D * u.loss) for u in equations.movable if not u.price)
    return RepairedStationarity(share, float(raised(cost)), free_reach(e, equations), v / size)


def free_reach(e: Evaluation, equations: NormalEquations) -> Array:
    """What the multipliers of equalities add to the gradient at most."""
    out = np.zeros(e.problem.size)
    for u in equations.movable:
        if u.free:
            for v, largest in _largest_entries(u.rows).items():
                out[e.problem.layout[v]] += largest * upward_sum(u.D)
    return np.asarray(raised(out))


def independent(e: Evaluation, places: Indices) -> Indices:
    """The places whose columns span those of all; all of them where that is not looked at."""
    blocks = [*e.problem.terms, *e.structure.rows]
    if (1 + sum(b.size for b in blocks)) * places.size > MAX_RATIONAL_ENTRIES:
        return places
    columns = [[exactly(q)] for q in e.problem.q[places].tolist()]
    for b in blocks:
        names = [v for v in b.entries if np.any(np.isin(e.problem.places([v]), places))]
        for row in e.problem.joined({v: b.entries[v] for v in names}, b.size).rational() if names else ():
            for column, place in zip(columns, places.tolist(), strict=True):
                column.append(row[place])
    return places[independent_rows(columns)]
