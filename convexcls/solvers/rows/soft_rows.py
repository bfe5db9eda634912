"""Problems whose rows may be violated at a price, with the slacks substituted out:

    minimise  1/2 x'Px + q'x + sum_i cost_i(R_i x - h_i),    cost_i(r) = max over 0 <= a <= cap_i of  a r - give_i/2 a^2

A soft margin has cap_i = C w_i and give_i = 0; the squared hinge has no cap and gives; a hard margin neither. At the
solution the maximising a_i are the multipliers of the rows:  Px + q + R'a = 0.

The slacks are as many as the samples, x only as many as the features: what is left is small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from convexcls.problem import Constraint, Problem
from convexcls.rows import DiagonalRows, JoinedRows, Rows, as_rows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SoftRows:
    """The reduced problem, with the way there and back. P is diagonal."""

    problem: Problem
    P: Array
    q: Array
    rows: Rows
    h: Array
    cap: Array
    give: Array
    kept: tuple[str, ...]
    block: Constraint
    slack: str
    sign: Constraint | None

    def reduced(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Array]:
        """x and a of a point of the problem, or of one that differs in its prices: a keeps its share of the cap."""
        values = self.problem.split(x)
        point = np.concatenate([values[v] for v in self.kept])
        a = np.maximum(multipliers.get(self.block.name, np.zeros(self.h.size)), 0.0)
        if self.sign is not None and self.sign.name in multipliers:
            mu = np.maximum(multipliers[self.sign.name], 0.0) * -_diagonal(self.sign, self.slack)
            price = a * -_diagonal(self.block, self.slack) + mu
            a = (
                np.divide(a * -_diagonal(self.block, self.slack), price, out=np.zeros_like(a), where=price > 0)
                * self.cap
            )
        return point, np.minimum(a, self.cap)

    def restored(self, x: Array, a: Array) -> tuple[Array, dict[str, Array]]:
        """The point with its slacks, and the multipliers by constraint."""
        out, at = np.zeros(self.problem.size), 0
        for v in self.kept:
            where = self.problem.layout[v]
            size = where.stop - where.start
            out[where], at = x[at : at + size], at + size
        multipliers = {self.block.name: a}
        if self.slack:
            per_slack = -_diagonal(self.block, self.slack)
            out[self.problem.layout[self.slack]] = np.maximum(self.rows @ x - self.h, 0.0) / per_slack
            if self.sign is not None:
                price = self.problem.linear[self.slack]
                multipliers[self.sign.name] = (price - a * per_slack) / -_diagonal(self.sign, self.slack)
        return out, multipliers


def soft_rows(problem: Problem) -> SoftRows | None:
    """The reduced problem; None where the problem has another shape."""
    if problem.terms or problem.norm_bounds or any(c.relation == "==" for c in problem.constraints):
        return None
    slacks = [v.name for v in problem.variables if v.kind == "samples"]
    kept = tuple(v.name for v in problem.variables if v.kind != "samples")
    blocks = [c for c in problem.constraints if any(v in kept for v in c.entries)]
    signs = [c for c in problem.constraints if c not in blocks]
    if len(slacks) > 1 or len(blocks) != 1 or len(signs) > 1 or not kept:
        return None
    if any(isinstance(problem.quadratic.get(v), Rows) for v in (*kept, *slacks)):
        return None
    block, slack, sign = blocks[0], slacks[0] if slacks else "", signs[0] if signs else None
    prices = _prices(problem, block, slack, sign)
    if prices is None:
        return None
    size = {v: problem.variable(v).size for v in kept}
    P = np.concatenate([np.asarray(problem.quadratic.get(v, np.zeros(size[v]))) for v in kept])
    q = np.concatenate([problem.linear.get(v, np.zeros(size[v])) for v in kept])
    return SoftRows(problem, P, q, _working_copy(block, size), block.rhs, *prices, kept, block, slack, sign)


def _working_copy(block: Constraint, size: Mapping[str, int]) -> Rows:
    """The rows over the kept variables. Dense ones are copied into one array, as every foreign solver does: many short
    steps cost more by their layers than by their arithmetic."""
    matrices = {v: block.entries[v].to_matrix() for v in size if v in block.entries}
    if not any(issparse(matrix) for matrix in matrices.values()):
        return as_rows(np.hstack([matrices.get(v, np.zeros((block.size, k))) for v, k in size.items()]))
    starts = dict(zip(size, np.cumsum([0, *size.values()]), strict=False))
    parts = [(slice(starts[v], starts[v] + size[v]), as_rows(matrix)) for v, matrix in matrices.items()]
    return JoinedRows(block.size, sum(size.values()), parts)


def _diagonal(c: Constraint, variable: str) -> Array:
    rows = c.entries[variable]
    assert isinstance(rows, DiagonalRows)
    return rows.values


def _prices(problem: Problem, block: Constraint, slack: str, sign: Constraint | None) -> tuple[Array, Array] | None:
    """The caps and gives: what a slack costs, linearly with a sign or quadratically without one."""
    n = block.size
    if not slack:
        return (np.full(n, np.inf), np.zeros(n)) if sign is None else None
    for c in (block, *([] if sign is None else [sign])):
        entry = c.entries.get(slack)
        if not isinstance(entry, DiagonalRows) or entry.shape[0] != n or not np.all(entry.values < 0):
            return None
    linear, curved = problem.linear.get(slack), problem.quadratic.get(slack)
    per_slack = -_diagonal(block, slack)
    if sign is not None and linear is not None and curved is None and np.all(linear >= 0) and not np.any(sign.rhs):
        return linear / per_slack, np.zeros(n)
    if sign is None and linear is None and curved is not None:
        price = np.asarray(curved)
        counts = price > 0  # a slack without a price: the row does not count
        return np.where(counts, np.inf, 0.0), np.divide(per_slack**2, price, out=np.zeros(n), where=counts)
    return None
