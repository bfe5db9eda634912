"""Columns that the others determine, and the program without them.

A one-hot table beside an intercept, a column that is the sum of others: there are directions N in which no row, no
equation and no linear cost changes. With z the unknowns of the other columns, x = Sz + Nt, only 1/2 x'Px depends on t:

    t = -(N'PN)^+ N'PS z,     x = Tz,  T = S - N (N'PN)^+ N'PS,     Rx = R_kept z,

so that the program over z has the matrix T'PT and some columns of the rows, as they are. Which columns these are is
read off some rows, by a pivoted Cholesky factor of their Gram matrix, and tried on all of them; rows that contradict
join, so that a category which the first rows do not know is not taken for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import pinvh
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf

from convexcls.arrays import Array, Indices, Mask
from convexcls.rows import Rows, as_rows
from convexcls.solvers.rows.row_program import RowProgram, working_copy

#: Pivots of the scaled Gram matrix below this belong to columns that may depend on others.
SMALLEST_PIVOT = 1e-9
#: Coefficients of a dependency this near to multiples of 2^-10 are these.
GRID, NEAR_GRID = 2.0**10, 1e-11
#: What rounding leaves of a row along a direction that it does not see, relative to what was added up; and of a sum
#: of rows.
UNSEEN, UNSEEN_SUM = 2.0**-45, 2.0**-40
#: A row sees a direction clearly where so much is left of it.
FAR = 1e-2
#: Rows that join for each direction which they see, how often at most, and how often a dependency is refined.
ROWS_PER_DIRECTION, MAX_ROUNDS, REFINEMENTS = 4, 30, 2


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
class Dependency:
    """The columns that are ``kept``, the ``others``, and the M by which R_others = R_kept M."""

    kept: Indices
    others: Indices
    M: Array

    @property
    def directions(self) -> Array:
        """N."""
        out = np.zeros((self.kept.size + self.others.size, self.others.size))
        out[self.kept], out[self.others] = -self.M, np.eye(self.others.size)
        return out

    def apart_from(self, seen: Mask) -> Dependency:
        """The same where some of the other columns are kept after all."""
        kept = np.append(self.kept, self.others[seen])
        order = np.argsort(kept)
        M = np.vstack([self.M[:, ~seen], np.zeros((np.count_nonzero(seen), np.count_nonzero(~seen)))])
        return Dependency(kept[order], self.others[~seen], M[order])

    def program(self, program: RowProgram) -> RowProgram:
        """The program over the unknowns that are kept."""
        T = self.basis(program.P)
        return replace(
            program,
            P=T.T @ program.P @ T,
            q=program.q[self.kept],
            rows=_columns(program.rows, self.kept),
            A=program.A[:, self.kept],
        )

    def basis(self, P: Array) -> Array:
        """T."""
        N, S = self.directions, np.zeros((self.kept.size + self.others.size, self.kept.size))
        S[self.kept, np.arange(self.kept.size)] = 1.0
        if not np.any(bent := P @ N):
            return S
        return np.asarray(S - N @ (pinvh(N.T @ bent) @ (bent.T @ S)))

    def inverse(self) -> Array:
        """z of x, R_kept z = Rx."""
        out = np.zeros((self.kept.size, self.kept.size + self.others.size))
        out[:, self.kept], out[:, self.others] = np.eye(self.kept.size), self.M
        return out


def _columns(rows: Rows, chosen: Indices) -> Rows:
    """Some columns: of a copy in memory a copy, of other rows lazily."""
    return ChosenColumns(rows, chosen) if rows.in_memory() is None else rows.select_columns(chosen)


def dependency(program: RowProgram, some: Indices) -> Dependency | None:
    """The dependency of the columns, looked for on some rows at first; None where there is none."""
    rows, weights = program.rows, np.random.default_rng(0).standard_normal(program.q.size)
    gram = program.A.T @ program.A + working_copy(rows, some).gram(np.ones(some.size))
    found = _of_gram(gram, working_copy(rows, some))
    for _ in range(MAX_ROUNDS):
        if found is None or not found.others.size:
            break
        N = found.directions
        joining, seen = _rows_that_see(rows, N, weights[: N.shape[1]])
        if joining.size:
            gram, some = gram + working_copy(rows, joining).gram(np.ones(joining.size)), np.append(some, joining)
            found = _of_gram(gram, working_copy(rows, some))
        elif np.any(seen):
            found = found.apart_from(seen)
        else:
            found = found.apart_from(_seen_by(program.A, N, UNSEEN) | _seen_by(program.q[None], N, UNSEEN_SUM))
            return found if found.others.size else None
    return None


def _of_gram(gram: Array, some: Rows) -> Dependency | None:
    """What the Gram matrix of some rows says of their columns; None where they are independent."""
    diagonal = gram.diagonal()
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = gram * unit[:, None] * unit
    if not np.all(np.isfinite(scaled)):
        return None
    _, pivots, rank, _ = dpstrf(scaled, tol=SMALLEST_PIVOT, lower=1)
    kept, others = np.sort(pivots[:rank] - 1), np.sort(pivots[rank:] - 1)
    factor, info = dpotrf(scaled[np.ix_(kept, kept)], lower=1)
    if not others.size or info != 0:
        return None
    found = Dependency(kept, others, np.zeros((kept.size, others.size)))
    left = gram[np.ix_(kept, others)]
    for _ in range(1 + REFINEMENTS):
        M = found.M + unit[kept][:, None] * dpotrs(factor, unit[kept][:, None] * left, lower=1)[0]
        found = replace(found, M=M)
        left = some.transposed_matmul(some @ found.directions)[kept]
    fraction = np.round(found.M * GRID) / GRID
    return replace(found, M=np.where(np.abs(fraction - found.M) <= NEAR_GRID, fraction, found.M))


def _rows_that_see(rows: Rows, N: Array, weights: Array) -> tuple[Indices, Mask]:
    """Rows that are far from 0 along one of the directions, a few for each, and the directions that some row sees at
    all: those among the rows that are farthest from 0 along a sum of all directions, with random weights."""
    reach = rows.column_max() @ np.abs(N)
    along = np.abs(rows @ (N @ weights))
    count = min(ROWS_PER_DIRECTION * N.shape[1], along.size)
    farthest = np.argpartition(-along, count - 1)[:count]
    farthest = farthest[along[farthest] > UNSEEN * float(reach @ np.abs(weights))]
    along = np.abs(working_copy(rows, farthest) @ N)
    return farthest[np.any(along > FAR * reach, axis=1)], np.any(along > UNSEEN * reach, axis=0)


def _seen_by(matrix: Array, N: Array, tolerance: float) -> Mask:
    """The directions in which a row of the matrix changes, rounding aside."""
    return np.asarray(np.any(np.abs(matrix @ N) > tolerance * (np.abs(matrix) @ np.abs(N)), axis=0))
