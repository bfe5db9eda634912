"""A problem with a diagonal P read as the program of its multipliers, in a box and with at most one equation:

    minimise    1/2 |u|^2 + 1/2 sum_i compliance_i a_i^2 + h'a,      u = u_0 - M'(l a)
    subject to  low <= a <= high,      c'a + total = 0               (if there is a free unknown)

It is the dual of a ``RowProgram`` whose rows are diag(l) M beside the column c of the free unknown, the intercept,
which has no curvature: u are the other unknowns in units in which P is the identity, and the multiplier of the equation
is the intercept b. The slope of a_i is -r_i with the excess of its row,

    r_i = l_i M_i'u + c_i b - h_i - compliance_i a_i,

so that a is optimal where r is 0 between bounds, below 0 at the lower and above 0 at the upper ones. M is the data as
they lie in memory: nothing is as large but what is worked with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky

from convexcls.arrays import Array, Indices
from convexcls.problem import Problem
from convexcls.rows import JoinedRows, Rows
from convexcls.solvers.rows.reduction import RowReduction
from convexcls.solvers.rows.sources import Source

#: The most multipliers whose K is factorized.
MAX_FACTORIZED = 2500
#: Added to the diagonal of M M' for each row, relative to it: its rounding is as large.
SHIFT = 5e-16


def why_no_dual_program(problem: Problem) -> str:
    """Why a problem is not of this form; empty if it is."""
    if problem.terms or problem.norm_bounds:
        names = ", ".join(block.name for block in (*problem.terms, *problem.norm_bounds))
        return f"it takes a diagonal quadratic form with rows that are inequalities or losses, and there is {names}"
    if problem.matrices:
        return f"it takes a diagonal quadratic form, and that of {next(iter(problem.matrices))!r} is a matrix"
    reduction = problem.remembered(RowReduction.of)
    if reduction.equations:
        return f"it takes inequalities, and {reduction.equations[0].name!r} is an equation"
    if len(reduction.sources) != 1 or len(reduction.sources[0].rows()) != 1:
        return "it takes one inequality or one loss with a single kink for each row"
    curved, free = _by_curvature(problem, reduction)
    if not curved:
        return "it takes a diagonal quadratic form, and there is none"
    if sum(problem.variable(v).size for v in free) > 1:
        return f"it takes at most one unknown without curvature, and {' and '.join(map(repr, free))} has more"
    return ""


def _by_curvature(problem: Problem, reduction: RowReduction) -> tuple[list[str], list[str]]:
    """The variables besides slacks whose entries all have curvature, and the others."""
    curved = [v for v in reduction.kept if v in problem.diagonals and problem.diagonals[v].all()]
    return curved, [v for v in reduction.kept if v not in curved]


@dataclass(frozen=True, eq=False)
class DualProgram:
    """The program. Without a free unknown c is 0."""

    problem: Problem
    matrix: Any
    left: Array
    c: Array
    h: Array
    low: Array
    high: Array
    compliance: Array
    u0: Array
    total: float
    #: M M' where that is known.
    gram: Array | None = None

    @classmethod
    def of(cls, problem: Problem) -> DualProgram:
        reduction = problem.remembered(RowReduction.of)
        (source,) = reduction.sources
        h, low, high, compliance = source.rows()[0]
        curved, (free,) = (names or [""] for names in _by_curvature(problem, reduction))
        P = np.concatenate([problem.diagonals[v] for v in curved])
        q = np.concatenate([problem.linear.get(v, np.zeros(problem.variable(v).size)) for v in curved])
        matrix, left = _in_units(_side_by_side(problem, source, curved, h.size), P)
        column = source.entries.get(free)
        c = np.zeros(h.size) if column is None else column.to_dense().ravel()
        total = float(problem.linear[free][0]) if free in problem.linear else 0.0
        return cls(problem, matrix, left, c, h, low, high, compliance, -q / np.sqrt(P), total)

    @property
    def size(self) -> int:
        """The number of multipliers."""
        return self.h.size

    @property
    def entries(self) -> int:
        """The number of entries of M."""
        return int(self.matrix.nnz if sparse.issparse(self.matrix) else self.matrix.size)

    @cached_property
    def diagonal(self) -> Array:
        """k_ii = l_i^2 |M_i|^2 + compliance_i: the curvature along each multiplier."""
        if sparse.issparse(self.matrix):
            starts, filled = self.matrix.indptr[:-1], np.diff(self.matrix.indptr) > 0
            squares = np.zeros(self.size)
            squares[filled] = np.add.reduceat(self.matrix.data**2, starts[filled]) if filled.any() else 0.0
        else:
            squares = np.einsum("ij,ij->i", self.matrix, self.matrix)
        return np.asarray(self.left**2 * squares + self.compliance)

    @cached_property
    def beta(self) -> float:
        """The weight of c'a + total in a penalty: as the intercept's column were a feature of the size of a row."""
        size = float(self.c @ self.c)
        return float(self.diagonal.sum()) / size if size > 0 else 0.0

    @cached_property
    def side(self) -> float:
        """An excess that counts as one."""
        return float(np.abs(self.h).max(initial=0.0)) or 1.0

    @cached_property
    def natural_multiplier(self) -> float:
        """A multiplier that moves its own row by its right-hand side."""
        return self.side / float(self.diagonal.max(initial=0.0) or 1.0)

    def weights(self, a: Array) -> Array:
        """u."""
        return np.asarray(self.u0 - self.matrix.T @ (self.left * a))

    def lacking(self, a: Array) -> float:
        """c'a + total."""
        return float(self.c @ a) + self.total

    def excess(self, a: Array, u: Array, b: float) -> Array:
        """r."""
        return np.asarray(self.left * (self.matrix @ u) + self.c * b - self.h - self.compliance * a)

    def restricted(self, index: Indices) -> DualProgram:
        """The program of some multipliers, the others at 0."""
        parts = {name: getattr(self, name)[index] for name in ("left", "c", "h", "low", "high", "compliance")}
        parts["gram"] = None if self.gram is None else self.gram[np.ix_(index, index)]
        whole = index.size == self.size
        out = self if whole else replace(self, matrix=self.matrix[index], **parts)
        out.__dict__.update(diagonal=self.diagonal[index], beta=self.beta)  # which are known
        return out

    def restored(self, a: Array, b: float) -> tuple[Array, Mapping[str, Array]]:
        """The point with its slacks, and the multipliers by constraint."""
        reduction, problem = self.problem.remembered(RowReduction.of), self.problem
        (source,) = reduction.sources
        curved, x = _by_curvature(problem, reduction)[0], []
        for v in reduction.kept:
            pull = problem.linear.get(v, np.zeros(problem.variable(v).size))
            if v in curved and v in source.entries:
                pull = pull + source.entries[v].T @ a
            x.append(-pull / problem.diagonals[v] + 0.0 if v in curved else np.array([b]))
        return reduction.restored(np.concatenate(x), a, np.zeros(0))

    @cached_property
    def compressed(self) -> DualProgram:
        """Nearly the same program with a triangle L in place of a wide M: only M M' = L L' matters to the multipliers.
        The program itself where M is not wide."""
        wide = not sparse.issparse(self.matrix) and self.size < self.matrix.shape[1]
        if not wide or self.size > MAX_FACTORIZED or np.any(self.u0):
            return self
        K = self.matrix @ self.matrix.T
        where = np.arange(self.size)
        K[where, where] += SHIFT * self.size * float(K[where, where].max(initial=0.0))  # centred rows add up to 0
        try:
            L = cholesky(K, lower=True, check_finite=False)
        except LinAlgError:
            return self
        return replace(self, matrix=np.ascontiguousarray(L), u0=np.zeros(self.size), gram=K)

    def farkas(self, a: Array) -> Mapping[str, Array] | None:
        """The multipliers as those of a contradiction, of rows that have to hold; None where there are none."""
        if not np.all(np.isinf(self.high)) or np.any(self.compliance):
            return None
        return self.problem.remembered(RowReduction.of).restored_farkas(a, np.zeros(0))


def _side_by_side(problem: Problem, source: Source, names: list[str], height: int) -> Rows:
    """The rows over some variables."""
    if len(names) == 1 and names[0] in source.entries:
        return source.entries[names[0]]
    ends = np.cumsum([0, *(problem.variable(v).size for v in names)]).tolist()
    places = {v: slice(start, stop) for v, start, stop in zip(names, ends[:-1], ends[1:], strict=True)}
    parts = [(places[v], rows) for v, rows in source.entries.items() if v in places]
    return JoinedRows(height, ends[-1], parts)


def _in_units(rows: Rows, P: Array) -> tuple[Any, Array]:
    """M and l with diag(l) M = R P^-1/2: the data in place where that is a factor by row."""
    left, core, right = rows.factors()
    n, d = rows.shape
    matrix: Any = core.in_memory()
    stretch = (1.0 if right is None else right) / np.sqrt(P)
    left = np.ones(n) if left is None else left
    if matrix is None:
        matrix, left, stretch = rows.to_matrix(), np.ones(n), 1.0 / np.sqrt(P)
    thin = sparse.issparse(matrix)
    matrix = matrix.tocsr() if thin else np.ascontiguousarray(matrix)
    if d and np.all(stretch == stretch[0]):
        return matrix, left * float(stretch[0])
    if not thin:
        return matrix * stretch, left
    data = matrix.data * stretch[matrix.indices]
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape), left
