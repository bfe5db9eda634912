"""Problems of many rows that all have to hold, over few unknowns:

    minimise  1/2 x'Px + q'x   subject to  Rx <= h,

P diagonal and positive but for at most one unknown, the intercept. The hard margin is stated so. The widest slab
between two classes is the same problem at the length at which its distance is one:

    maximise  C  subject to  Rx + s C <= 0, e|w| <= g     is     minimise  1/2 |w|^2  subject to  Rx <= -s,

stretched until e|w| = g; and rows of the second that contradict each other prove that the first has the optimum 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.problem import BY_SAMPLE, Constraint, NormBound, Problem
from convexcls.rows import DiagonalRows, JoinedRows, Rows

#: More unknowns than this are left to solvers that keep matrices sparse.
LARGEST = 2000


@dataclass(frozen=True, eq=False)
class Slab:
    """How the widest slab is stretched: its distance, its norm bound, and their numbers: the reward -q of the distance,
    its ``column`` s, the ``scale`` e and the ``radius`` g."""

    distance: str
    bound: NormBound
    reward: float
    column: float
    scale: float
    radius: float


@dataclass(frozen=True, eq=False)
class HardRows:
    """The problem in the form above, the free unknown last, with the way back."""

    problem: Problem
    block: Constraint
    kept: tuple[str, ...]
    P: Array
    q: Array
    rows: JoinedRows
    h: Array
    slab: Slab | None

    @property
    def free(self) -> bool:
        """Whether the last unknown has no curvature."""
        return not self.P[-1] > 0.0

    def excess(self, x: Array) -> Array:
        """Rx - h: one pass over the rows."""
        out = self.rows @ x
        out -= self.h
        return out

    def take(self, index: Indices) -> Array:
        """A copy of some rows."""
        out = np.zeros((index.size, self.P.size))
        for where, part in self.rows.parts:
            out[:, where] = part[index].to_dense()
        return out

    def objective(self, x: Array) -> float:
        """1/2 x'Px + q'x."""
        return float(0.5 * x @ (self.P * x) + self.q @ x)

    def reduced(self, x: Array) -> Array:
        """A point of the problem in these unknowns, the slab at distance one where it has one."""
        values = self.problem.split(x)
        out = np.concatenate([values[v] for v in self.kept])
        if self.slab is None:
            return out
        distance = float(values[self.slab.distance][0])
        return out / distance if distance > 0.0 else np.zeros_like(out)

    def restored(self, x: Array, active: Indices, weights: Array) -> tuple[Array, dict[str, Array]]:
        """The point of the problem, and its multipliers by constraint."""
        a = np.zeros(self.block.size)
        if self.slab is None:
            a[active] = weights
            return self._placed(x), {self.block.name: a}
        curved = self.P > 0.0
        slab, length = self.slab, float(np.linalg.norm(x[curved]))
        if not (length > 0.0 and weights.any()):  # no slab yet
            return np.zeros(self.problem.size), {self.block.name: a, slab.bound.name: np.zeros(slab.bound.size + 1)}
        stretch, share = slab.radius / (slab.scale * length), slab.reward / (slab.column * float(weights.sum()))
        a[active] = share * weights
        point = self._placed(stretch * x)
        point[self.problem.layout[slab.distance]] = stretch
        pull = (self.take(active).T @ a[active])[curved] / slab.scale
        return point, {self.block.name: a, slab.bound.name: np.append(pull, np.linalg.norm(pull))}

    def touching(self, rows: Indices, weights: Array) -> tuple[Array, dict[str, Array]]:
        """The optimum 0 of a slab whose rows contradict each other, and its multipliers."""
        assert self.slab is not None
        a = np.zeros(self.block.size)
        a[rows] = weights * (self.slab.reward / (self.slab.column * float(weights.sum())))
        return np.zeros(self.problem.size), {
            self.block.name: a,
            self.slab.bound.name: np.zeros(self.slab.bound.size + 1),
        }

    def _placed(self, x: Array) -> Array:
        out, at = np.zeros(self.problem.size), 0
        for v in self.kept:
            where = self.problem.layout[v]
            size = where.stop - where.start
            out[where], at = x[at : at + size], at + size
        return out


def hard_rows(problem: Problem) -> HardRows | str:
    """The problem in the form above, or the reason why it has another."""
    if problem.terms:
        return f"it takes rows that have to hold, and the problem has the loss {problem.terms[0].name!r}"
    if any(c.relation == "==" for c in problem.constraints) or len(problem.constraints) != 1:
        return "it takes one block of inequalities and nothing beside it"
    for v in problem.variables:
        if v.kind in BY_SAMPLE:
            return f"it takes few unknowns, and {v.name!r} has one for every sample"
    if problem.size > LARGEST:
        return f"it keeps a matrix of the unknowns squared, and there are {problem.size}: at most {LARGEST}"
    (block,) = problem.constraints
    slab = _slab(problem, block)
    if isinstance(slab, str):
        return slab
    named = {v.name: v.size for v in problem.variables if slab is None or v.name != slab.distance}
    if any(isinstance(problem.quadratic.get(v), Rows) for v in named):
        return "its quadratic part is a matrix, not a diagonal"
    P = {v: _curvature(problem, v, size, slab) for v, size in named.items()}
    flat = [v for v in named if not np.all(P[v] > 0.0)]
    if sum(int(np.sum(P[v] == 0.0)) for v in flat) > 1 or any(named[v] > 1 for v in flat):
        return "more than one unknown has no curvature: linear programs go to 'highs'"
    if sum(named.values()) == len(flat):
        return "no unknown has curvature: linear programs go to 'highs'"
    if reason := _refuse_flat(problem, block, flat):
        return reason
    kept = tuple(v for v in named if v not in flat) + tuple(flat)
    starts = dict(zip(kept, np.cumsum([0, *(named[v] for v in kept)]).tolist(), strict=False))
    parts = [(slice(starts[v], starts[v] + named[v]), block.entries[v]) for v in kept if v in block.entries]
    q = np.concatenate([problem.linear.get(v, np.zeros(named[v])) for v in kept])
    h = block.rhs if slab is None else np.full(block.size, -slab.column)
    rows = JoinedRows(block.size, q.size, parts)
    return HardRows(problem, block, kept, np.concatenate([P[v] for v in kept]), q, rows, h, slab)


def _curvature(problem: Problem, v: str, size: int, slab: Slab | None) -> Array:
    if slab is not None:
        return np.full(size, float(v in slab.bound.entries))
    return np.asarray(problem.quadratic.get(v, np.zeros(size)))


def _refuse_flat(problem: Problem, block: Constraint, flat: list[str]) -> str:
    """The unknown without curvature has to be held from both sides by the rows alone."""
    for v in flat:
        column = block.entries[v] @ np.ones(1) if v in block.entries else np.zeros(1)
        if not (column.min(initial=0.0) < 0.0 < column.max(initial=0.0)):
            return f"the rows do not hold {v!r}, which has no curvature, from both sides"
        if np.any(problem.linear.get(v, 0.0)):
            return f"{v!r} has a linear cost and no curvature"
    return ""


def _slab(problem: Problem, block: Constraint) -> Slab | str | None:
    """The numbers of a widest slab; None where there is no norm bound, a reason where it is another problem."""
    if not problem.norm_bounds:
        return None
    other = "of problems with a norm bound it takes the widest slab between two classes"
    if len(problem.norm_bounds) > 1 or problem.quadratic or np.any(block.rhs):
        return other
    (bound,) = problem.norm_bounds
    rewarded = [v.name for v in problem.variables if np.any(problem.linear.get(v.name, 0.0))]
    if len(rewarded) != 1 or rewarded[0] in bound.entries or problem.variable(rewarded[0]).size != 1:
        return other
    if bound.bound_entries or np.any(bound.offset) or not bound.bound > 0.0 or rewarded[0] not in block.entries:
        return other
    scales = [r.values if isinstance(r, DiagonalRows) else np.zeros(1) for r in bound.entries.values()]
    if len(scales) != 1 or not scales[0].size or not scales[0][0] > 0.0 or np.any(scales[0] != scales[0][0]):
        return other
    column = block.entries[rewarded[0]] @ np.ones(1)
    reward = -float(problem.linear[rewarded[0]][0])
    if not column.size or not column[0] > 0.0 or np.any(column != column[0]) or not reward > 0.0:
        return other
    return Slab(rewarded[0], bound, reward, float(column[0]), float(scales[0][0]), bound.bound)
