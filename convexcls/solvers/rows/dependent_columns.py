"""Columns that the others determine, and the program without them.

A one-hot table beside an intercept, a column that is the sum of others: there are directions N in which no row, no
equation and no linear cost changes. With z the unknowns of the other columns, x = Sz + Nt, only 1/2 x'Px depends on t:

    t = -(N'PN)^+ N'PS z,     x = Tz,  T = S - N (N'PN)^+ N'PS,     Rx = R_kept z,

so that the program over z has the matrix T'PT and some columns of the rows, as they are. Which columns these are is
decided on some rows (``rows/column_basis.py``) and tried on all of them; rows that contradict join, so that a category
which the first rows do not know is not taken for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import pinvh

from convexcls.arrays import Array, Indices
from convexcls.rows import Rows, as_rows
from convexcls.rows.column_basis import ColumnBasis
from convexcls.solvers.rows.row_program import RowProgram, working_copy

#: What rounding leaves of a row along a direction that it does not see, relative to what was added up; and of a sum
#: of rows.
UNSEEN, UNSEEN_SUM = 2.0**-45, 2.0**-40
#: Rows that join for each direction which they see, and how often at most.
ROWS_PER_DIRECTION, MAX_ROUNDS = 4, 30


class ChosenColumns(Rows):
    """Some columns of rows, which are multiplied as they are."""

    def __init__(self, base: Rows, columns: Indices) -> None:
        self.base, self.columns, self.shape = base, columns, (base.shape[0], columns.size)

    def __matmul__(self, v: Array) -> Array:
        whole = np.zeros((self.base.shape[1], *v.shape[1:]))
        whole[self.columns] = v
        return self.base @ whole

    def transposed_matmul(self, u: Array) -> Array:
        return self.base.transposed_matmul(u)[self.columns]

    def gram(self, weights: Array) -> Array:
        return self.base.gram(weights)[np.ix_(self.columns, self.columns)]

    def __getitem__(self, index: Any) -> Rows:
        return as_rows(self.base[index].compact()[:, self.columns])

    def __abs__(self) -> Rows:
        return ChosenColumns(abs(self.base), self.columns)

    def _largest_by_column(self) -> Array:
        return self.base.column_max()[self.columns]

    def to_matrix(self) -> Any:
        return self.base.compact()[:, self.columns]


@dataclass(frozen=True, eq=False)
class KeptUnknowns:
    """The unknowns z of the columns that span the others, x = Tz, and the program over them."""

    program: RowProgram
    T: Array
    #: z of x, R_kept z = Rx.
    inverse: Array

    @classmethod
    def of(cls, program: RowProgram, basis: ColumnBasis) -> KeptUnknowns:
        kept, N, k = basis.columns, basis.null_vectors, program.q.size
        T, inverse = np.zeros((k, kept.size)), np.zeros((kept.size, k))
        T[kept], inverse[:, kept], inverse[:, basis.others] = np.eye(kept.size), np.eye(kept.size), basis.combination
        if np.any(bent := program.P @ N):
            T -= N @ (pinvh(N.T @ bent) @ (bent.T @ T))
        rows = program.rows
        chosen = ChosenColumns(rows, kept) if rows.in_memory() is None else rows.select_columns(kept)
        reduced = replace(program, P=T.T @ program.P @ T, q=program.q[kept], rows=chosen, A=program.A[:, kept])
        return cls(reduced, T, inverse)


def spanning_columns(program: RowProgram, some: Indices) -> ColumnBasis | None:
    """Columns that span the others, on some rows at first and then on all; None where none depends on others, or where
    the numbers that say how are beyond the range of doubles."""
    rows, beside = program.rows, [as_rows(program.A)] if program.b.size else []
    weights = np.random.default_rng(0).standard_normal(program.q.size)
    for _ in range(MAX_ROUNDS):
        found = ColumnBasis.of([working_copy(rows, some), *beside])
        if found is None or not found.others.size or not np.all(np.isfinite(found.null_vectors)):
            return None
        joining = np.setdiff1d(_rows_that_see(rows, found.null_vectors, weights[: found.others.size]), some)
        if joining.size:
            some = np.append(some, joining)
        elif len(beside) < 2 and _costs_along(program.q, found.null_vectors):
            beside = [as_rows(program.A), as_rows(program.q[None])]
        else:
            return found
    return None


def _rows_that_see(rows: Rows, N: Array, weights: Array) -> Indices:
    """Rows that change along one of the directions: a few of those that change most along the sum of all, with random
    weights."""
    reach = float(rows.column_max() @ np.abs(N) @ np.abs(weights))
    along = np.abs(rows @ (N @ weights))
    count = min(ROWS_PER_DIRECTION * N.shape[1], along.size)
    farthest = np.argpartition(-along, count - 1)[:count]
    return np.asarray(farthest[along[farthest] > UNSEEN * reach])


def _costs_along(q: Array, N: Array) -> bool:
    """Whether the linear cost changes along a direction, rounding of a sum of rows aside."""
    return bool(np.any(np.abs(q @ N) > UNSEEN_SUM * (np.abs(q) @ np.abs(N))))
