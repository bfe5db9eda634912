"""Multipliers in the inside of their range that make the flat unknowns stationary, by a linear program in doubles.

Where multipliers stand at the ends of their range they have no room to be corrected, and the middle of the range may be
far from stationary. In units of the slacks' costs, with a_k the shares of a slack's rows,

    maximise t   subject to   sum_k M_k'(c a_k) + A'nu = -q,   a_k >= t,   1 - sum_k a_k >= t

What it finds is a proposal: it is judged as any other multipliers are. Only small tables are worth it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.gap import Side
from convexcls.proofs.rigorous.multipliers import Unit, moved_unit, shared
from convexcls.proofs.rigorous.rounding import Ball
from convexcls.rows import Rows

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Choice = tuple[dict[str, Ball], list[Unit]]

#: Tables with more entries are not made a linear program.
LARGEST = 20_000
#: Less room than this is none.
LEAST = 1e-6


def interior(e: Evaluation, own: Mapping[str, Ball], side: Side, places: Places) -> Choice | None:
    """The multipliers of all rows and the units that may be moved; None where nothing was found."""
    members = [(group, c) for group in e.structure.groups for c in group.others]
    equal = [c for c in e.structure.rows if c.relation == "=="]
    if sum(c.size for _, c in members) * places.size > LARGEST or not members:
        return None
    moved = [moved_unit(group, c, np.zeros(c.size), e.left) for group, c in members]
    columns = [
        _dense(e, u.rows, places) * group.cost[:, None] for (group, _), u in zip(members, moved, strict=True) if u
    ]
    if len(columns) < len(members):
        return None
    now = [np.divide(own[c.name].mid, g.cost, out=np.zeros(c.size), where=g.cost > 0) for g, c in members]
    base = side.costs.mid[places] - sum((M.T @ a for M, a in zip(columns, now, strict=True)), np.zeros(places.size))
    found = _solve(e, np.vstack(columns), [_dense(e, c.entries, places) for c in equal], base)
    if found is None:
        return None
    shares, moves = found
    out, start = dict(own), 0
    for group in e.structure.groups:
        chosen = {}
        for c in group.others:
            chosen[c.name] = group.cost * np.clip(shares[start : start + c.size], 0.0, 1.0)
            start += c.size
        out |= shared(group, chosen)
    start = 0
    for c in equal:
        out[c.name] = Ball.exact(out[c.name].mid + moves[start : start + c.size])
        start += c.size
    return out, _units(e, out)


def _dense(e: Evaluation, rows: Mapping[str, Rows], places: Places) -> Array:
    height = next(iter(rows.values())).shape[0]
    return e.problem.joined(rows, height).to_dense()[:, places]


def _solve(e: Evaluation, columns: Array, equal: list[Array], base: Array) -> tuple[Array, Array] | None:
    from scipy.optimize import linprog

    n, groups = len(columns), e.structure.groups
    free = np.vstack(equal) if equal else np.zeros((0, base.size))
    unit = np.maximum(np.abs(columns).max(axis=0, initial=0.0), 1e-300)
    m = len(free)
    sides = np.hstack([(columns / unit).T, (free / unit).T, np.zeros((base.size, 1))])
    if not np.all(np.isfinite(sides)) or not np.all(np.isfinite(base / unit)):
        return None
    together, row = np.zeros((sum(group.cost.size for group in groups), n)), 0
    top = 0
    for group in groups:  # the shares of each slack's rows, together
        size = group.cost.size
        for _ in group.others:
            together[top : top + size, row : row + size] = np.eye(size)
            row += size
        top += size
    above = np.hstack([-np.eye(n), np.zeros((n, m)), np.ones((n, 1))])
    below = np.hstack([together, np.zeros((len(together), m)), np.ones((len(together), 1))])
    found = linprog(
        np.append(np.zeros(n + m), -1.0),
        A_ub=np.vstack([above, below]),
        b_ub=np.append(np.zeros(n), np.ones(len(together))),
        A_eq=sides,
        b_eq=-base / unit,
        bounds=[(None, None)] * (n + m + 1),
        method="highs",
    )
    if found.x is None or found.x[-1] < LEAST:
        return None
    return found.x[:n], found.x[n : n + m]


def _units(e: Evaluation, multipliers: Mapping[str, Ball]) -> list[Unit]:
    out = []
    for group in e.structure.groups:
        rest = np.maximum(multipliers[group.reference.name].low, 0.0) / max(len(group.others), 1)
        for c in group.others:
            room = 0.9 * np.minimum(multipliers[c.name].mid, rest)
            unit = moved_unit(group, c, room, e.left)
            if unit is not None:
                out.append(unit)
    return out
