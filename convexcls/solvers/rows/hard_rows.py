"""Problems of many rows that all have to hold, over few unknowns: a ``RowProgram`` in which no a has an upper bound,

    minimise  1/2 x'Px + q'x   subject to  Rx <= h,

P diagonal and positive but for at most one unknown, the intercept. The hard margin is stated so. The widest slab
between two classes is the same problem at the length at which its distance is one:

    maximise  C  subject to  Rx + s C <= 0, e|w| <= g     is     minimise  1/2 |w|^2  subject to  Rx <= -s,

stretched until e|w| = g; and rows of the second that contradict each other prove that the first has the optimum 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.problem import BY_SAMPLE, Constraint, NormBound, Problem
from convexcls.solvers.rows.reduction import RowReduction
from convexcls.solvers.rows.row_program import RowProgram, working_copy

#: More unknowns than this are left to solvers that keep matrices sparse.
MAX_DENSE_UNKNOWNS = 2000


@dataclass(frozen=True, eq=False)
class Slab:
    """How the widest slab is stretched: its distance, its norm bound, and their numbers: the reward -q of the distance,
    its ``column`` s, the ``scale`` e and the ``radius`` g."""

    problem: Problem
    distance: str
    bound: NormBound
    reward: float
    column: float
    scale: float
    radius: float

    def hard_margin(self) -> Problem:
        """The problem at the length at which the distance is one."""
        (block,) = self.problem.constraints
        entries = {v: rows for v, rows in block.entries.items() if v != self.distance}
        margin = Constraint(block.name, entries, block.symbol, block.kind, rhs=-self.column)
        others = [v for v in self.problem.variables if v.name != self.distance]
        return Problem("slab", others, quadratic=dict.fromkeys(self.bound.entries, 1.0), constraints=[margin])

    def shrunk(self, x: Array) -> Array:
        """A point of the slab's problem at the distance one, where it has a distance above 0."""
        distance, place = float(x[self.problem.layout[self.distance]][0]), self.problem.layout[self.distance]
        others = np.delete(x, np.arange(place.start, place.stop))
        return others / distance if distance > 0.0 else np.zeros_like(others)

    def stretched(self, x: Array, a: Array, pull: Array) -> tuple[Array, dict[str, Array]]:
        """The point of the slab's problem and its multipliers, from those of the hard margin: ``pull`` is R'a over the
        unknowns in the norm bound. Without a, or where rows contradict each other, the slab has the width 0."""
        (block,), name = self.problem.constraints, self.bound.name
        (inside,) = self.bound.entries
        place = self.problem.layout[self.distance]
        point = np.insert(x, place.start, 0.0)
        length, total = float(np.linalg.norm(point[self.problem.layout[inside]])), float(a.sum())
        share = self.reward / (self.column * total) if total > 0.0 else 0.0
        if not (length > 0.0 and share > 0.0):
            return np.zeros(self.problem.size), {block.name: share * a, name: np.zeros(self.bound.size + 1)}
        stretch = self.radius / (self.scale * length)
        point *= stretch
        point[place] = stretch
        pull = pull * (share / self.scale)
        return point, {block.name: share * a, name: np.append(pull, np.linalg.norm(pull))}


@dataclass(frozen=True, eq=False)
class HardRows:
    """The program, the free unknown last, with the way back to the problem."""

    reduction: RowReduction
    program: RowProgram
    slab: Slab | None

    @property
    def curvature(self) -> Array:
        """The diagonal of P."""
        return self.program.P.diagonal()

    @property
    def free(self) -> bool:
        """Whether the last unknown has no curvature."""
        return not self.program.P[-1, -1] > 0.0

    def take(self, index: Indices) -> Array:
        """A copy of some rows."""
        return working_copy(self.program.rows, index).to_dense()

    def reduced(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Indices]:
        """A point of the problem in these unknowns, and the rows that have multipliers."""
        point, a, _ = self.reduction.reduced(x if self.slab is None else self.slab.shrunk(x), multipliers)
        return point, np.flatnonzero(a)

    def restored(self, x: Array, active: Indices, weights: Array) -> tuple[Array, dict[str, Array]]:
        """The point of the problem, and its multipliers by constraint."""
        a = np.zeros(self.program.h.size)
        a[active] = weights
        point, multipliers = self.reduction.restored(x, a, np.zeros(0))
        if self.slab is None:
            return point, multipliers
        pull = (self.take(active).T @ weights)[self.curvature > 0.0]
        return self.slab.stretched(point, a, pull)

    def contradiction(self, rows: Indices, weights: Array) -> dict[str, Array]:
        """The Farkas vector of rows that contradict each other."""
        a = np.zeros(self.program.h.size)
        a[rows] = weights
        return self.reduction.restored_farkas(a, np.zeros(0))


def hard_rows(problem: Problem) -> HardRows | str:
    """The problem in the form above, or the reason why it has another."""
    if problem.terms:
        return f"it takes rows that have to hold, and the problem has the loss {problem.terms[0].name!r}"
    if any(c.relation == "==" for c in problem.constraints) or len(problem.constraints) != 1:
        return "it takes one block of inequalities and nothing beside it"
    for v in problem.variables:
        if v.kind in BY_SAMPLE:
            return f"it takes few unknowns, and {v.name!r} has one for every sample"
    if problem.size > MAX_DENSE_UNKNOWNS:
        return f"it keeps a matrix of the unknowns squared, and there are {problem.size}: at most {MAX_DENSE_UNKNOWNS}"
    slab = _slab(problem)
    if isinstance(slab, str):
        return slab
    if slab is not None:
        problem = slab.hard_margin()
    if problem.matrices:
        return "its quadratic part is a matrix, not a diagonal"
    flat = [v.name for v in problem.variables if not np.all(np.asarray(problem.quadratic.get(v.name, 0.0)) > 0.0)]
    if len(flat) > 1 or any(problem.variable(v).size > 1 for v in flat):
        return "more than one unknown has no curvature: linear programs go to 'highs'"
    if len(flat) == len(problem.variables):
        return "no unknown has curvature: linear programs go to 'highs'"
    if reason := _refuse_flat(problem, flat):
        return reason
    reduction = RowReduction.of(problem)
    reduction = RowReduction(problem, reduction.sources, [], [*(v for v in reduction.kept if v not in flat), *flat])
    return HardRows(reduction, reduction.program(), slab)


def _refuse_flat(problem: Problem, flat: list[str]) -> str:
    """The unknown without curvature has to be held from both sides by the rows alone."""
    (block,) = problem.constraints
    for v in flat:
        column = block.entries[v] @ np.ones(1) if v in block.entries else np.zeros(1)
        if not (column.min(initial=0.0) < 0.0 < column.max(initial=0.0)):
            return f"the rows do not hold {v!r}, which has no curvature, from both sides"
        if np.any(problem.linear.get(v, 0.0)):
            return f"{v!r} has a linear cost and no curvature"
    return ""


def _slab(problem: Problem) -> Slab | str | None:
    """The numbers of a widest slab; None where there is no norm bound, a reason where it is another problem."""
    if not problem.norm_bounds:
        return None
    other = "of problems with a norm bound it takes the widest slab between two classes"
    (block,) = problem.constraints
    if len(problem.norm_bounds) > 1 or problem.quadratic or np.any(block.rhs):
        return other
    (bound,) = problem.norm_bounds
    rewarded = [v.name for v in problem.variables if np.any(problem.linear.get(v.name, 0.0))]
    if len(rewarded) != 1 or rewarded[0] in bound.entries or problem.variable(rewarded[0]).size != 1:
        return other
    if bound.bound_entries or np.any(bound.offset) or not bound.bound > 0.0 or rewarded[0] not in block.entries:
        return other
    scales = [np.zeros(1) if (d := r.diagonal()) is None else d for r in bound.entries.values()]
    if len(scales) != 1 or not scales[0].size or not scales[0][0] > 0.0 or np.any(scales[0] != scales[0][0]):
        return other
    column = block.entries[rewarded[0]] @ np.ones(1)
    reward = -float(problem.linear[rewarded[0]][0])
    if not column.size or not column[0] > 0.0 or np.any(column != column[0]) or not reward > 0.0:
        return other
    return Slab(problem, rewarded[0], bound, reward, float(column[0]), float(scales[0][0]), bound.bound)
