"""The exact change of multipliers that makes the cost of every flat unknown vanish: that it exists, and what it costs.

In units in which no entry of M exceeds 1, |Mv| <= sum |v|: a multiplier with room D moves by at most D sum |v|.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.proofs.rigorous.multipliers import Unit
from convexcls.proofs.rigorous.products import Products
from convexcls.proofs.rigorous.rounding import ETA, Ball, raised, upward_sum
from convexcls.proofs.rigorous.system import Gram, gram
from convexcls.rows import Rows

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: Systems with more unknowns are not solved.
LARGEST = 2000


@dataclass(frozen=True, eq=False)
class Correction:
    """``share`` of their room is what multipliers move at most, ``cost`` what it costs; ``reach`` is what the
    multipliers of equalities add to the costs of all unknowns, ``step`` the bound of v. Not ``shown``: why not."""

    share: float = 0.0
    cost: float = 0.0
    reach: Array | float = 0.0
    step: Array | None = None
    reason: str = ""

    @property
    def shown(self) -> bool:
        """Whether the change exists."""
        return not self.reason


@dataclass(frozen=True, eq=False)
class System:
    """M'DM over the places that need it, in units: ``size`` of the unknowns, ``top`` of the room."""

    places: Places
    size: Array
    top: float
    matrix: Gram
    units: Sequence[Unit]

    def only(self, places: Places) -> System:
        """The system of some of its places."""
        at = np.flatnonzero(np.isin(self.places, places))
        pick = np.ix_(at, at)
        return replace(self, places=self.places[at], matrix=Gram(self.matrix.matrix[pick], self.matrix.off[pick]))

    def bound(self, costs: Array) -> Array | None:
        """A bound of |v| in these units for costs up to these."""
        cost = costs[self.places]
        with np.errstate(all="ignore"):  # both units are powers of two: one step, lest it underflows on the way
            r = np.ldexp(cost, -(np.frexp(self.size[self.places])[1] + math.frexp(self.top)[1] - 2))
            r = r + np.where(cost > 0, ETA, 0.0)
        return self.matrix.bound(r) if np.all(np.isfinite(r)) else None


def system(
    problem: Problem, products: Products, units: Sequence[Unit], free: Sequence[Unit], chosen: Places
) -> System | str:
    """The system of some unknowns, or why there is none. ``free`` are multipliers of any sign, whose room is set here:
    as much as the others have."""
    if chosen.size > LARGEST:
        return f"{chosen.size} unknowns without curvature are more than are corrected"
    top = max((float(u.room.max(initial=0.0)) for u in units), default=0.0)
    top = 2.0 ** math.frexp(top)[1] if 0 < top < 2.0**1022 else 1.0
    size = _sizes(problem, [u.rows for u in (*units, *free)])
    if not np.all(size[chosen] > 0) or not np.all(np.isfinite(size[chosen])):
        return "an unknown without curvature has a cost but no multiplier to change it"
    total, counted = None, []
    for u in units:
        part = gram(problem, products, u.rows, u.room / top, chosen, size)
        if part is not None:
            total = part if total is None else total + part
            counted.append(u)
    for u in free:
        part = gram(problem, products, u.rows, np.ones(u.room.size), chosen, size)
        if part is not None:
            weight = 1.0 if total is None else _like(total, part)
            total = part.times(weight) if total is None else total + part.times(weight)
            counted.append(replace(u, room=np.full(u.room.size, weight * top)))
    if total is None:
        return "no multiplier has room to be moved"
    return System(chosen, size, top, total, counted)


def _like(total: Gram, part: Gram) -> float:
    """The power of two that makes one matrix as large as another."""
    ratio = float(np.trace(total.matrix)) / max(float(np.trace(part.matrix)), 1e-300)
    return float(2.0 ** round(math.log2(ratio))) if ratio > 0 and math.isfinite(ratio) else 1.0


def _sizes(problem: Problem, rows: Sequence[Mapping[str, Rows]]) -> Array:
    """Powers of two, above the largest entry of each column."""
    out = np.zeros(problem.size)
    for entries in rows:
        for v, largest in largest_entries(entries).items():
            where = problem.layout[v]
            out[where] = np.maximum(out[where], largest)
    return np.where(out > 0, np.exp2(np.ceil(np.log2(np.where(out > 0, out, 1.0))) + 1.0), 0.0)


def largest_entries(entries: Mapping[str, Rows]) -> dict[str, Array]:
    """At least the largest absolute value of each column, by variable."""
    out = {}
    for v, rows in entries.items():
        f = rows.factors()
        left = 1.0 if f.left is None else float(np.abs(f.left).max(initial=0.0))
        right = 1.0 if f.right is None else np.abs(f.right)
        out[v] = np.asarray(f.core.column_max() * left * right)
    return out


def correction(problem: Problem, solved: System | str, costs: Ball) -> Correction:
    """The change that removes the costs of the system's unknowns."""
    if isinstance(solved, str):
        return Correction(reason=solved)
    v = solved.bound(costs.size)
    if v is None:
        return Correction(reason="that the flat directions are independent is not shown")
    share = upward_sum(v)
    if not share <= min((u.reach for u in solved.units if np.any(u.room > 0)), default=math.inf):
        return Correction(reason="multipliers would have to leave their range to make the flat directions stationary")
    r = costs.size[solved.places] / solved.size[solved.places]
    price = max((u.price for u in solved.units), default=0.0)
    cost = price * upward_sum(r * v) if price else 0.0
    reach = np.zeros(problem.size)
    for u in solved.units:
        if not u.price:
            cost += share * upward_sum(u.room * u.loss)
        if u.free:
            for name, largest in largest_entries(u.rows).items():
                reach[problem.layout[name]] += largest * upward_sum(u.room)
    return Correction(share, float(raised(cost)), np.asarray(raised(reach)), v / solved.size[solved.places])
