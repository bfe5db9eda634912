"""What a proof has to know of a problem: which unknowns are slacks, bounded, curved, or flat.

slack      an epigraph that enters every one of its rows with -1: it is the largest of its rows' values. Multipliers
           alpha_k >= 0, one a row, have the sum c, its cost, unless it has curvature of its own; that of one of its
           rows (``reference``) is what the others leave of c, so that the sum is exact
bounded    between two numbers or within a norm: then the least value of c x is known whatever c is
curved     1/2 p x^2 with p > 0: then the least value is -c^2 / 2p
matrix     1/2 x'Px with a matrix P
flat       none of these: then c has to be exactly 0

Multipliers are made valid by it (``valid``): those of a slack's rows are clipped into their range, all but that of the
reference, which is c less the others, known as a ball.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from weakref import ref

import numpy as np

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array, Indices, Mask
from convexcls.caching import cached_property
from convexcls.problem import Constraint, Epigraph, Problem, Term
from convexcls.proofs.rigorous.losses import is_known
from convexcls.proofs.rigorous.rounding import Ball, raised
from convexcls.rows import Rows


class Structure:
    """The parts of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = ref(problem)  # which remembers this: a cycle would keep its data until they are collected
        self.slacks = {e.variable: e for e in problem.epigraphs if e.is_unit}
        self.diagonal = np.zeros(problem.size)  # the curvature of each unknown
        for v, p in problem.diagonals.items():
            self.diagonal[problem.layout[v]] = p
        self.matrices = problem.matrices
        self.groups = [e for e in self.slacks.values() if not e.is_curved]
        self.distances = {c.name: e for e in self.groups if e.is_two_sided and np.any(e.cost > 0) for c in e.pieces}
        self.bounds = [c for c in problem.constraints if _is_bound(c) and next(iter(c.entries)) not in self.slacks]
        bounds = {c.name for c in self.bounds}
        self.rows = [c for c in problem.constraints if c.name not in bounds]
        self.balls = {next(iter(b.entries)): b for b in problem.norm_bounds if b.is_ball}

    @property
    def problem(self) -> Problem:
        """The problem itself."""
        problem = self._problem()
        assert problem is not None
        return problem

    @property
    def unknown(self) -> str:
        """What of the problem no proof is known for; empty where nothing is."""
        for t in self.problem.terms:
            if not is_known(t.loss):
                return f"the rounding of the {t.loss.name} loss is not known"
        if len(self.balls) < len(self.problem.norm_bounds):
            return "a norm bound is not on one variable with a fixed radius"
        for v, e in self.slacks.items():
            if e.is_curved and np.any(e.cost > 0):
                return f"only some entries of {v!r} have curvature"
        return ""

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """The lower and upper bounds of every unknown that is not a slack."""
        low, high = np.full(self.problem.size, -np.inf), np.full(self.problem.size, np.inf)
        for c in self.bounds:
            v, rows = next(iter(c.entries.items()))
            where, signs = self.problem.layout[v], rows.diagonal()
            assert signs is not None
            high[where] = np.where(signs > 0, np.minimum(high[where], c.rhs), high[where])
            low[where] = np.where(signs < 0, np.maximum(low[where], 0.0 - c.rhs), low[where])  # not -0.0
        return low, high

    @cached_property
    def flat(self) -> Mask:
        """The unknowns whose cost has to vanish, those that only follow from others (``gauge``) left out."""
        low, high = self.limits
        out = (self.diagonal == 0) & ~(np.isfinite(low) & np.isfinite(high))
        for v in (*self.slacks, *self.matrices, *self.balls):
            out[self.problem.layout[v]] = False
        out[self.follows] = False
        return out & (self._spoken_of() | (self.problem.q != 0))

    def _spoken_of(self) -> Mask:
        """The unknowns that some row speaks of: the others cost nothing."""
        out = np.zeros(self.problem.size, dtype=bool)
        for b in self.problem.blocks:
            for v, rows in b.entries.items():
                out[self.problem.layout[v]] |= (rows.column_max() > 0) | ~np.isfinite(rows.rounding)
        return out

    @cached_property
    def follows(self) -> Indices:
        """The last class's entry of every direction of the gauge: its cost is minus the sum of the others', exactly,
        where all rows are differences of classes."""
        places = []
        for v, directions in self.problem.gauge.items():
            where = self.problem.layout[v]
            rows = [b.entries[v] for b in self.problem.blocks if v in b.entries]
            low, high = self.limits
            plain = not np.any(self.problem.q[where]) and not np.any(self.diagonal[where])
            plain = plain and not np.any(np.isfinite(low[where]) | np.isfinite(high[where]))
            if plain and all(_is_contrast(r) for r in rows):
                margins = rows[0].as_class_margins if rows else None
                size, count = directions.shape[1], 1 if margins is None else margins.count
                places.append(np.arange(where.stop - size // count, where.stop))
        return np.concatenate([np.zeros(0, dtype=np.intp), *places]).astype(np.intp)


def stated(block: Term | Constraint, field: Literal["rhs", "offset"]) -> Ball:
    """A right-hand side or an offset as it was given: doubles, or numbers that doubles round."""
    values = np.asarray(getattr(block, field), dtype=float)
    if block.given_rationals(field) is None:
        return Ball.exact(values)
    return Ball(values, np.asarray(raised(UNIT_ROUNDOFF * np.abs(values) + ETA)))


def valid(structure: Structure, given: Mapping[str, Array]) -> dict[str, Ball]:
    """Multipliers that are valid without rounding, whatever was given: every sign right, every slack's sum exact. A
    ball for those of every block of rows."""
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
        out |= with_reference(group, {c.name: out[c.name].mid for c in group.others})
    return out


def with_reference(group: Epigraph, others: Mapping[str, Array]) -> dict[str, Ball]:
    """The multipliers of a slack's rows from all but one of them, clipped."""
    total = np.sum(list(others.values()), axis=0) if others else np.zeros(group.cost.size)
    if len(others) == 1:
        clipped = {name: np.minimum(z, group.cost) for name, z in others.items()}
    else:
        most = group.cost * (1.0 - 1e-12)
        factor = np.where(total > most, group.cost / np.where(total > 0, total, 1.0) * (1 - 1e-12), 1.0)
        clipped = {name: z * np.minimum(factor, 1.0) for name, z in others.items()}
    out = {name: Ball.exact(z) for name, z in clipped.items()}
    rest = Ball.exact(group.cost)
    for z in out.values():
        rest = rest - z
    return {**out, group.reference.name: rest}


def _is_contrast(rows: Rows) -> bool:
    return (margins := rows.as_class_margins) is not None and margins.other == -1.0


def _is_bound(c: Constraint) -> bool:
    """Whether a constraint bounds unknowns one by one."""
    if len(c.entries) != 1 or c.relation != "<=":
        return False
    values = next(iter(c.entries.values())).diagonal()
    return values is not None and bool(np.all(np.abs(values) == 1.0))
