"""A quadratic program whose unknowns are few and whose rows are many, with the slacks substituted out:

    minimise  1/2 x'Px + q'x + sum_i cost_i(R_i x - h_i)    subject to  Ax = b,
    cost_i(r) = max over low_i <= a <= high_i of  a r - give_i/2 a^2

A soft margin has 0 <= a <= C, a hard row 0 <= a, the absolute loss -1 <= a <= 1; the squared hinge has 0 <= a and
gives. At the solution the maximising a are the multipliers of the rows:  Px + q + R'a + A'nu = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from convexcls.rows import JoinedRows, Rows, StackedRows, as_rows

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RowProgram:
    """The program. ``unit`` is an objective that counts as one, where the optimum may be 0; ``sampled`` says which rows
    are one of many like them, so that some can stand for all; ``origin`` where they stood in the first program."""

    P: Array
    q: Array
    rows: Rows
    h: Array
    low: Array
    high: Array
    give: Array
    A: Array
    b: Array
    sampled: Mask
    origin: Indices
    constant: float = 0.0
    unit: float = 0.0

    def excess(self, x: Array) -> Array:
        """R x - h."""
        return self.rows @ x - self.h

    def gradient(self, x: Array, a: Array, nu: Array) -> Array:
        """Px + q + R'a + A'nu."""
        out = self.P @ x + self.q + self.rows.transposed_matmul(a)
        return np.asarray(out + self.A.T @ nu if nu.size else out)

    def smooth(self, x: Array) -> float:
        """The objective without the rows."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x) + self.constant

    def cost(self, excess: Array) -> float:
        """What the rows cost in all; rows that may not be violated cost nothing."""
        a = self.best_multipliers(excess, free=0.0)
        return float(a @ excess - 0.5 * (self.give * a) @ a)

    def best_multipliers(self, excess: Array, free: float = np.inf) -> Array:
        """The a that maximise a r - give/2 a^2; ``free`` where nothing limits them."""
        gives = self.give > 0
        wanted = np.divide(excess, self.give, out=np.where(excess > 0, np.inf, -np.inf), where=gives)
        out = np.clip(wanted, self.low, self.high)
        return np.where(np.isfinite(out), out, np.where(excess > 0, free, -free))

    def on(self, index: Indices, pull: Array, curvature: Array | None = None, constant: float = 0.0) -> RowProgram:
        """The program on some of its rows, what the others add to q, P and the objective being known."""
        return replace(
            self,
            P=self.P if curvature is None else self.P + curvature,
            q=self.q + pull,
            rows=working_copy(self.rows, index),
            h=self.h[index],
            low=self.low[index],
            high=self.high[index],
            give=self.give[index],
            sampled=self.sampled[index],
            origin=self.origin[index],
            constant=self.constant + constant,
        )

    def sample(self, index: Indices, share: float) -> RowProgram:
        """The program in which the sampled rows among these stand for 1/share as many."""
        part = self.on(index, np.zeros_like(self.q))
        weight = np.where(part.sampled, 1.0 / share, 1.0)
        return replace(part, low=part.low * weight, high=part.high * weight, give=part.give / weight)


def working_copy(rows: Rows, index: Indices) -> Rows:
    """Some rows as one array: many short steps cost more by their layers than by their arithmetic. Sparse ones stay
    sparse."""
    if index.size == rows.shape[0]:
        return as_rows(_matrix(rows))
    return as_rows(_matrix(rows[index]))


def _matrix(rows: Rows) -> Any:
    if isinstance(rows, StackedRows):
        matrices = [_matrix(part) for part in rows.parts if part.shape[0]] or [np.zeros((0, rows.shape[1]))]
        thin = [matrix for matrix in matrices if issparse(matrix)]
        if 2 * sum(matrix.shape[0] for matrix in thin) > rows.shape[0]:
            return StackedRows([as_rows(m) for m in matrices]).to_matrix()
        return np.vstack([m.toarray() if issparse(m) else m for m in matrices])  # bounds beside dense rows
    if not isinstance(rows, JoinedRows):
        return rows.to_matrix()
    matrices = [(where, part.to_matrix()) for where, part in rows.parts]
    large = [matrix for _, matrix in matrices if issparse(matrix) and matrix.shape[1] > 1]
    if large:
        return rows.to_matrix()
    out = np.zeros(rows.shape, order="C")
    for where, matrix in matrices:
        out[:, where] += matrix.toarray() if issparse(matrix) else matrix
    return out
