"""From a problem to its ``RowProgram`` and back: slacks are substituted out, and put back with their multipliers.

Where no a has an upper bound, all rows have to hold (``HardRows``):

    minimise  1/2 x'Px + q'x   subject to  Rx <= h,

P diagonal and positive but for at most one unknown, the intercept. The hard margin is stated so. The widest slab
between two classes is solved as the quadratic program that it is (``problem/slab.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.data import Coded, Counting, Sparse, joined_vectors, nonzero_places
from convexcls.problem import BY_SAMPLE, Constraint, Problem
from convexcls.problem.slab import Slab, find_slab
from convexcls.rows import JoinedRows, Rows, StackedRows
from convexcls.solvers.base import split_by_block
from convexcls.solvers.rows.row_program import RowProgram, working_copy
from convexcls.solvers.rows.sources import HardSource, SlackSource, Source, read_sources

#: A source with fewer rows than this is never sampled.
MIN_SAMPLED_ROWS = 1000
#: More unknowns than this are left to solvers that keep matrices sparse.
MAX_DENSE_UNKNOWNS = 2000


@dataclass(frozen=True, eq=False)
class RowReduction:
    """A problem read as unknowns, sources of rows and equations."""

    problem: Problem
    sources: list[Source]
    equations: list[Constraint]
    kept: list[str]

    @classmethod
    def of(cls, problem: Problem) -> RowReduction:
        return cls(problem, *read_sources(problem))

    @property
    def width(self) -> int:
        """The number of unknowns that are left."""
        return sum(self.problem.variable(v).size for v in self.kept)

    @property
    def height(self) -> int:
        """The number of equations."""
        return sum(c.size for c in self.equations)

    def _columns(self) -> dict[str, slice]:
        out, start = {}, 0
        for v in self.kept:
            out[v] = slice(start, start + self.problem.variable(v).size)
            start = out[v].stop
        return out

    def _over_kept(self, entries: Mapping[str, Rows], height: int) -> JoinedRows:
        columns = self._columns()
        return JoinedRows(height, self.width, [(columns[v], rows) for v, rows in entries.items() if v in columns])

    @cached_property
    def _source_rows(self) -> list[JoinedRows]:
        """The rows of each source over the unknowns that are left."""
        return [self._over_kept(source.entries, source.rows()[0][0].size) for source in self.sources]

    def _heights(self) -> list[int]:
        """The number of rows of each set of each source."""
        return [part[0].size for source in self.sources for part in source.rows()]

    def _cut(self, values: Array) -> list[list[Array]]:
        """Values of all rows by source and set."""
        heights = self._heights()
        pieces = iter([values] if len(heights) == 1 else np.split(values, np.cumsum(heights)[:-1]))
        return [[next(pieces) for _ in source.rows()] for source in self.sources]

    def program(self) -> RowProgram:
        """The program over the unknowns that are left."""
        P, q = self._smooth_part()
        stack: list[Rows] = []
        sides: list[tuple[Array, ...]] = []
        sampled: list[Any] = []
        constant = self.problem.constant + sum(0.5 * float(t.weights @ t.offset**2) for t in self.problem.terms)
        for source, rows in zip(self.sources, self._source_rows, strict=True):
            parts = source.rows()
            stack += [rows] * len(parts)
            sides += parts
            is_sample = rows.shape[0] > MIN_SAMPLED_ROWS and self._by_sample(source)
            by_block = bool(rows.read_by_block())
            every = Coded.alike(is_sample, rows.shape[0]) if by_block else np.full(rows.shape[0], is_sample)
            sampled += [every] * len(parts)
            if isinstance(source, SlackSource):
                constant += source.shared_height
                if (slope := source.shared_slope) is not None:
                    q = q + rows.T @ slope
        equations = [self._over_kept(c.entries, c.size).to_dense() for c in self.equations]
        A = np.vstack([np.zeros((0, self.width)), *equations])
        b = np.concatenate([np.zeros(0), *(c.rhs for c in self.equations)])
        h, low, high, compliance = (joined_vectors(column) for column in zip(*sides, strict=True))
        joined = stack[0] if len(stack) == 1 else StackedRows(stack)
        origin: Any = Counting(h.size) if joined.read_by_block() else np.arange(h.size)
        of_samples = joined_vectors(sampled)
        return RowProgram(P, q, joined, h, low, high, compliance, A, b, of_samples, origin, constant, self.problem.unit)

    def _by_sample(self, source: Source) -> bool:
        if isinstance(source, SlackSource):
            return self.problem.variable(source.slack).kind in BY_SAMPLE
        return source.constraint.kind in BY_SAMPLE

    def _smooth_part(self) -> tuple[Array, Array]:
        """P and q, half-square terms multiplied out."""
        P, q = np.zeros((self.width, self.width)), np.zeros(self.width)
        for v, where in self._columns().items():
            if v in self.problem.P:
                P[where, where] = self.problem.P[v].to_dense()
            q[where] = self.problem.linear.get(v, 0.0)
        for t in self.problem.terms:
            rows = self._over_kept(t.entries, t.size)
            P += rows.gram(t.row_weights)
            q += rows.T @ (t.row_weights * t.offset)
        return P, q

    def restored(self, x: Array, a: Array, nu: Array) -> tuple[Array, dict[str, Array]]:
        """The point with its slacks, and the multipliers by constraint."""
        multipliers: dict[str, Array] = {}
        for source, parts in zip(self.sources, self._cut(a), strict=True):
            multipliers |= source.multipliers(parts)
        return self._with_slacks(x, SlackSource.slack_values), multipliers | split_by_block(self.equations, nu)

    def restored_direction(self, x: Array) -> Array:
        """A direction with that of its slacks."""
        return self._with_slacks(x, SlackSource.slack_growth)

    def restored_farkas(self, a: Array, nu: Array) -> dict[str, Array]:
        """Multipliers of constraints that have to hold, 0 for those that hold up a slack."""
        out = {c.name: np.zeros(c.size) for c in self.problem.constraints}
        for source, parts in zip(self.sources, self._cut(a), strict=True):
            if isinstance(source, HardSource):
                out |= source.multipliers(parts)
        return out | split_by_block(self.equations, nu)

    def _with_slacks(self, x: Array, slacks: Callable[[SlackSource, Array], Array]) -> Array:
        out = np.zeros(self.problem.size)
        for v, where in self._columns().items():
            out[self.problem.layout[v]] = x[where]
        for source, rows in zip(self.sources, self._source_rows, strict=True):
            if isinstance(source, SlackSource):
                out[self.problem.layout[source.slack]] = slacks(source, rows @ x)
        return out

    def reduced(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """x, a and nu of a point of the problem, or of one that differs in its prices."""
        values = self.problem.split(x)
        a = [part for source in self.sources for part in source.reduced(multipliers)]
        nu = [multipliers.get(c.name, np.zeros(c.size)) for c in self.equations]
        return np.concatenate([values[v] for v in self.kept]), np.concatenate(a), np.concatenate([np.zeros(0), *nu])


# ---- rows that all have to hold ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HardRows:
    """A program in which all rows have to hold, the free unknown last, with the way back to the problem."""

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
        return point, nonzero_places(a)

    def restored(self, x: Array, active: Indices, weights: Array) -> tuple[Array, dict[str, Array]]:
        """The point of the problem, and its multipliers by constraint."""
        a = self._spread_out(active, weights)
        point, multipliers = self.reduction.restored(x, a, np.zeros(0))
        if self.slab is None:
            return point, multipliers
        pull = (self.take(active).T @ weights)[self.curvature > 0.0]
        return self.slab.stretched(point, a, pull)

    def contradiction(self, rows: Indices, weights: Array) -> dict[str, Array]:
        """The Farkas vector of rows that contradict each other."""
        return self.reduction.restored_farkas(self._spread_out(rows, weights), np.zeros(0))

    def _spread_out(self, rows: Indices, weights: Array) -> Array:
        """A vector with one entry a row, 0 but for some."""
        n, order = self.program.h.size, np.argsort(rows)
        if self.program.rows.read_by_block() and self.slab is None:
            return cast("Array", Sparse(n, rows[order], weights[order]))
        a = np.zeros(n)
        a[rows] = weights
        return a


def hard_rows(problem: Problem) -> HardRows | str:
    """The problem as rows that all have to hold, or the reason why it is another."""
    if reason := _refuse_shape(problem):
        return reason
    slab = find_slab(problem) if problem.norm_bounds else None
    if slab is not None:
        problem = slab.program
    elif problem.norm_bounds:
        return "of problems with a norm bound it takes the widest slab between two classes"
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


def _refuse_shape(problem: Problem) -> str:
    """One block of inequalities over few unknowns."""
    if problem.terms:
        return f"it takes rows that have to hold, and the problem has the loss {problem.terms[0].name!r}"
    if any(c.relation == "==" for c in problem.constraints) or len(problem.constraints) != 1:
        return "it takes one block of inequalities and nothing beside it"
    for v in problem.variables:
        if v.kind in BY_SAMPLE:
            return f"it takes few unknowns, and {v.name!r} has one for every sample"
    if problem.size > MAX_DENSE_UNKNOWNS:
        return f"it keeps a matrix of the unknowns squared, and there are {problem.size}: at most {MAX_DENSE_UNKNOWNS}"
    return ""


def _only_column(rows: Rows) -> Array:
    """The column of rows that have one; of ones with factors these."""
    left, core, right = rows.factors()
    if core.is_ones and left is not None:
        return left if right is None else right[0] * left
    return rows @ np.ones(1)


def _refuse_flat(problem: Problem, flat: list[str]) -> str:
    """The unknown without curvature has to be held from both sides by the rows alone."""
    (block,) = problem.constraints
    for v in flat:
        column = _only_column(block.entries[v]) if v in block.entries else np.zeros(1)
        if not (column.min(initial=0.0) < 0.0 < column.max(initial=0.0)):
            return f"the rows do not hold {v!r}, which has no curvature, from both sides"
        if np.any(problem.linear.get(v, 0.0)):
            return f"{v!r} has a linear cost and no curvature"
    return ""
