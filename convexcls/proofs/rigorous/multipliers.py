"""Which multipliers may be moved, and the exact change of them that makes every flat unknown stationary.

Multipliers at the ends of their range cannot be moved. Then there are two proposals inside of it, judged as any other
multipliers are: the middle, c / K for the K rows of a slack with the cost c, and the solution of a linear program. In
units of the slacks' costs, with a_k the shares of a slack's rows,

    maximise t   subject to   sum_k M_k'(c a_k) + A'nu = -q,   a_k >= t,   1 - sum_k a_k >= t

There is an exact change of multipliers that makes the gradient of every flat unknown vanish (``correction``): they move
by D M v with (M'DM) v = -c, the normal equations. In units in which no entry of M exceeds 1, |Mv| <= sum |v|: a
multiplier moves by at most D sum |v|.

Flat unknowns whose columns depend on others are found without rounding. The gradient at an unknown is the sum of its
column, q and all rows, times the multipliers. Where a column is a combination of others, so is its gradient, exactly:
where theirs vanish, it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from convexcls.arrays import ETA, Array, Indices
from convexcls.problem import Constraint, Epigraph
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.matrices import Gram
from convexcls.proofs.rigorous.products import largest_factors
from convexcls.proofs.rigorous.rounding import Ball, powers_of_two, raised, upward_sum
from convexcls.proofs.rigorous.structure import with_reference
from convexcls.rational.elimination import independent_rows
from convexcls.rational.numbers import exactly
from convexcls.rows import DiagonalRows, Rows

#: Systems with more unknowns are not solved.
MAX_UNKNOWNS = 2000
#: Dependent columns are looked for in tables of so many entries.
MAX_RANKED_ENTRIES = 4000
#: Multipliers given, and those proposed, may be moved by so much of what their range leaves.
OWN_SHARE, PROPOSED_SHARE = 1.0 - 1e-12, 0.9
#: Tables with more entries are not made a linear program.
MAX_PROGRAM_ENTRIES = 20_000
#: Multipliers nearer to the ends of their range than this, in units of the cost, are not inside.
MIN_INSIDE = 1e-6


@dataclass(frozen=True, eq=False)
class Movable:
    """Multipliers that may be moved by D m, |m| at most ``reach``, and what that does: ``rows`` by variable change the
    gradient, ``loss`` is what each loses, ``price`` what a smooth loss does (losses.py). ``free`` ones may have any
    sign."""

    rows: Mapping[str, Rows]
    D: Array
    loss: Array
    price: float = 0.0
    reach: float = 0.99
    free: bool = False


#: Multipliers by block of rows, and those of them that may be moved.
Choice = tuple[dict[str, Ball], list[Movable]]


# ---- which may be moved ---------------------------------------------------------------------------------------


def movable(e: Evaluation, multipliers: Mapping[str, Ball]) -> list[Movable] | None:
    """The multipliers given that may be moved. None where the rows of a slack do not speak of the same data."""
    grouped = {c.name for group in e.structure.groups for c in group.pieces}
    out = [
        Movable(c.entries, multipliers[c.name].mid, e.residuals[c.name].size)
        for c in e.structure.rows
        if c.relation == "<=" and c.name not in grouped
    ]
    of_slacks = _of_slacks(e, multipliers, OWN_SHARE)
    return None if of_slacks is None else [*out, *of_slacks, *_of_losses(e)]


def free(e: Evaluation) -> list[Movable]:
    """The multipliers of equalities, which have no range."""
    return [
        Movable(c.entries, np.zeros(c.size), e.residuals[c.name].size, reach=math.inf, free=True) for c in e.equalities
    ]


def _of_losses(e: Evaluation) -> list[Movable]:
    """The slopes of the losses."""
    terms = [(t, e.losses[t.name]) for t in e.problem.terms]
    return [
        Movable(t.entries, at.D * t.row_weights * (1.0 - 1e-10), np.zeros(t.size), at.price, at.reach)
        for t, at in terms
    ]


def _of_slacks(e: Evaluation, multipliers: Mapping[str, Ball], share: float) -> list[Movable] | None:
    """The multipliers of slacks' rows, each of which grows while that of the reference falls by as much."""
    out = []
    for group in e.structure.groups:
        rest = np.maximum(multipliers[group.reference.name].low, 0.0) / max(len(group.others), 1) * share
        for c in group.others:
            rows = _moved_rows(group, c)
            if rows is None:
                return None
            loss = (e.residuals[c.name] - e.residuals[group.reference.name]).size
            out.append(Movable(rows, np.minimum(multipliers[c.name].mid, rest), loss))
    return out


def _moved_rows(group: Epigraph, c: Constraint) -> dict[str, Rows] | None:
    """The rows of a block less those of the reference, without the slack; None for rows over other data."""
    out: dict[str, Rows] = {}
    own, reference = c.entries, group.reference.entries
    for v in {v: None for v in (*own, *reference) if v != group.variable}:
        if v not in own or v not in reference:
            out[v] = own[v] if v in own else -reference[v]
        elif (difference := combined(own[v], reference[v], -1.0)) is None:
            return None
        else:
            out[v] = difference
    return out


def combined(a: Rows, b: Rows, sign: float) -> Rows | None:
    """a + b, or a - b, of rows over the same data; None for others."""
    if (p := a.diagonal()) is not None and (q := b.diagonal()) is not None:
        return DiagonalRows(p + sign * q)
    f, g = a.factors(), b.factors()
    if f.core is not g.core or f.right is not g.right:
        return None
    ones = np.ones(a.shape[0])
    left = (ones if f.left is None else f.left) + sign * (ones if g.left is None else g.left)
    return f.core.scaled(left, 1.0 if f.right is None else f.right)


# ---- inside their range ---------------------------------------------------------------------------------------


def middle(e: Evaluation, own: Mapping[str, Ball]) -> Choice:
    """The multipliers of the slacks' rows in the middle of their range."""
    out = dict(own)
    for group in e.structure.groups:
        out |= with_reference(group, {c.name: group.cost / len(group.pieces) for c in group.others})
    return out, _of_slacks(e, out, PROPOSED_SHARE) or []


def interior(e: Evaluation, own: Mapping[str, Ball], gradient: Ball, places: Indices) -> Choice | None:
    """Those that a linear program in doubles finds; None where it finds none. ``gradient`` is that of the Lagrangian
    with their ``own`` multipliers."""
    members = [(group, c) for group in e.structure.groups for c in group.others]
    if not members or sum(c.size for _, c in members) * places.size > MAX_PROGRAM_ENTRIES:
        return None
    rows = [(_moved_rows(group, c) or {}, group.cost) for group, c in members]
    M = [_dense(e, entries, places) * cost[:, None] for entries, cost in rows]
    A = [_dense(e, c.entries, places) for c in e.equalities]
    now = [np.divide(own[c.name].mid, g.cost, out=np.zeros(c.size), where=g.cost > 0) for g, c in members]
    constant = gradient.mid[places] - sum((m.T @ a for m, a in zip(M, now, strict=True)), np.zeros(places.size))
    found = _solve_program(e, np.vstack(M), np.vstack([np.zeros((0, places.size)), *A]), constant)
    if found is None:
        return None
    out, sizes = dict(own), [c.size for c in (*(c for _, c in members), *e.equalities)]
    parts = iter(np.split(found, np.cumsum(sizes)[:-1]))
    for group in e.structure.groups:
        chosen = {c.name: group.cost * np.clip(next(parts), 0.0, 1.0) for c in group.others}
        out |= with_reference(group, chosen)
    for c in e.equalities:
        out[c.name] = Ball.exact(out[c.name].mid + next(parts))
    return out, _of_slacks(e, out, PROPOSED_SHARE) or []


def _dense(e: Evaluation, rows: Mapping[str, Rows], places: Indices) -> Array:
    height = next(iter(rows.values())).shape[0]
    return e.problem.joined(rows, height).to_dense()[:, places]


def _solve_program(e: Evaluation, M: Array, A: Array, constant: Array) -> Array | None:
    """a and nu with M'a + A'nu = -constant; None where none is inside."""
    from scipy.linalg import block_diag
    from scipy.optimize import linprog

    n, m = len(M), len(A)
    unit = np.maximum(np.abs(M).max(axis=0, initial=0.0), 1e-300)
    stationarity = np.hstack([(M / unit).T, (A / unit).T, np.zeros((constant.size, 1))])
    if not np.all(np.isfinite(stationarity)) or not np.all(np.isfinite(constant / unit)):
        return None
    sums = block_diag(*(np.tile(np.eye(g.cost.size), len(g.others)) for g in e.structure.groups))
    inside = np.vstack([-np.eye(n), sums])  # -a_k + t <= 0 and sum_k a_k + t <= 1
    found = linprog(
        np.append(np.zeros(n + m), -1.0),
        A_ub=np.hstack([inside, np.zeros((len(inside), m)), np.ones((len(inside), 1))]),
        b_ub=np.append(np.zeros(n), np.ones(len(sums))),
        A_eq=stationarity,
        b_eq=-constant / unit,
        bounds=[(None, None)] * (n + m + 1),
        method="highs",
    )
    return None if found.x is None or found.x[-1] < MIN_INSIDE else np.asarray(found.x[:-1])


# ---- the exact change of multipliers --------------------------------------------------------------------------


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
    if (1 + sum(b.size for b in blocks)) * places.size > MAX_RANKED_ENTRIES:
        return places
    columns = [[exactly(q)] for q in e.problem.q[places].tolist()]
    for b in blocks:
        names = [v for v in b.entries if np.any(np.isin(e.problem.places([v]), places))]
        for row in e.problem.joined({v: b.entries[v] for v in names}, b.size).rational() if names else ():
            for column, place in zip(columns, places.tolist(), strict=True):
                column.append(row[place])
    return places[independent_rows(columns)]
