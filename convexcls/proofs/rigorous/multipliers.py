"""Multipliers that are valid without rounding, whatever was given: every sign right, every slack's sum exact.

The multipliers of a slack's rows are nonnegative and have the sum c, its cost. All but one are clipped into that range;
the last is c less the others, known as a ball. ``central`` are the multipliers in the middle, c / K for K rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Constraint, Epigraph
from convexcls.proofs.rigorous.products import factors
from convexcls.proofs.rigorous.rounding import Ball
from convexcls.proofs.rigorous.structure import Structure
from convexcls.rows import DiagonalRows, Rows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Unit:
    """Multipliers that may be moved by room times m, |m| at most ``reach``, and what that does: ``rows`` by variable
    change the costs, ``loss`` is what each loses, ``price`` what a smooth loss does (losses.py). ``free`` ones may have
    any sign."""

    rows: Mapping[str, Rows]
    room: Array
    loss: Array
    price: float = 0.0
    reach: float = 0.99
    free: bool = False


def valid(structure: Structure, given: Mapping[str, Array]) -> dict[str, Ball]:
    """A ball for the multipliers of every block of rows."""
    out = {}
    for c in structure.rows:
        z = np.asarray(given.get(c.name, np.zeros(c.size)), dtype=float)
        z = z if z.shape == (c.size,) and np.all(np.isfinite(z)) else np.zeros(c.size)
        out[c.name] = Ball.exact(z if c.relation == "==" else np.maximum(z, 0.0))
    for e in structure.slacks.values():  # a slack that costs nothing holds nothing
        idle = (e.curvature == 0) & (e.cost == 0)
        for c in e.pieces:
            out[c.name] = Ball.exact(np.where(idle, 0.0, out[c.name].mid))
    for group in structure.groups:
        out |= shared(group, {c.name: out[c.name].mid for c in group.others})
    return out


def shared(group: Epigraph, others: Mapping[str, Array]) -> dict[str, Ball]:
    """The multipliers of a slack's rows from all but one of them, clipped."""
    total = np.sum(list(others.values()), axis=0) if others else np.zeros(group.cost.size)
    if len(others) == 1:
        clipped = {name: np.minimum(z, group.cost) for name, z in others.items()}
    else:
        over = np.where(
            total > group.cost * (1.0 - 1e-12), group.cost / np.where(total > 0, total, 1.0) * (1 - 1e-12), 1.0
        )
        clipped = {name: z * np.minimum(over, 1.0) for name, z in others.items()}
    out = {name: Ball.exact(z) for name, z in clipped.items()}
    rest = Ball.exact(group.cost)
    for z in out.values():
        rest = rest - z
    return {**out, group.reference.name: rest}


def central(group: Epigraph) -> dict[str, Ball]:
    """The multipliers in the middle."""
    share = group.cost / len(group.pieces)
    return shared(group, {c.name: share for c in group.others})


def central_room(group: Epigraph) -> Array:
    """How far each of them may be moved: together less than the share of the last."""
    return np.asarray(group.cost / len(group.pieces) ** 2)


def units(structure: Structure, multipliers: Mapping[str, Ball], left: Mapping[str, Ball]) -> list[Unit] | None:
    """The movable multipliers of inequalities with their own room; ``left`` is h - Gx by block. None where the rows of
    a slack do not speak of the same data."""
    out = []
    grouped = {c.name for group in structure.groups for c in group.pieces}
    for c in structure.rows:
        if c.relation == "<=" and c.name not in grouped:
            out.append(Unit(c.entries, multipliers[c.name].mid, left[c.name].size))
    for group in structure.groups:
        rest = np.maximum(multipliers[group.reference.name].low, 0.0) / max(len(group.others), 1)
        for c in group.others:
            room = np.minimum(multipliers[c.name].mid, rest * (1.0 - 1e-12))
            moved = moved_unit(group, c, room, left)
            if moved is None:
                return None
            out.append(moved)
    return out


def moved_unit(group: Epigraph, c: Constraint, room: Array, left: Mapping[str, Ball]) -> Unit | None:
    """A multiplier that grows while that of the reference falls by as much."""
    rows = _difference(c, group.reference, group.variable)
    if rows is None:
        return None
    return Unit(rows, room, (left[c.name] - left[group.reference.name]).size)


def _difference(one: Constraint, other: Constraint, slack: str) -> dict[str, Rows] | None:
    """The rows of one block less those of another over the same data, without the slack."""
    out: dict[str, Rows] = {}
    names = {v for v in (*one.entries, *other.entries) if v != slack}
    for v in names:
        a, b = (factors(c.entries[v]) if v in c.entries else None for c in (one, other))
        if a is None or b is None:
            present = one.entries[v] if b is None else -other.entries[v]
            out[v] = present
            continue
        if isinstance(a.core, DiagonalRows) and isinstance(b.core, DiagonalRows):
            out[v] = DiagonalRows(a.core.values - b.core.values)
            continue
        if a.core is not b.core or a.right is not b.right:
            return None
        ones = np.ones(a.core.shape[0])
        left = (ones if a.left is None else a.left) - (ones if b.left is None else b.left)
        right = 1.0 if a.right is None else a.right
        out[v] = a.core.scaled(left, right)
    return out
