"""Unknowns in which the columns of the rows are far from repeating each other.

Features with an offset of 1e6 are nearly multiples of the intercept's column: then R'DR has lost most of its digits
before it is factored. With x = Tz, T from the eigenvectors of R'R, the columns of RT are nearly orthogonal, and remain
far from dependent for other weights.

Columns that the others determine are left out before that. Of a one-hot table beside an intercept, or where a column
is the sum of others, there are directions N in which no row, no equation and no linear cost changes. With z the
unknowns of the other columns, x = Sz + Nt, only 1/2 x'Px depends on t:

    t = -(N'PN)^+ N'PS z,     x = Tz,  T = S - N (N'PN)^+ N'PS,     Rx = R_kept z,

so that the program over z has the matrix T'PT and some columns of the rows, as they are. Which columns these are is
decided on some rows (``rows/column_basis.py``) and tried on all of them; rows that contradict join, so that a category
which the first rows do not know is not taken for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, pinvh

from convexcls.arrays import Array, Indices
from convexcls.rows import DenseRows, Rows, as_rows
from convexcls.rows.column_basis import ColumnBasis
from convexcls.solvers.rows.row_program import RowProgram, working_copy

#: Whether columns repeat each other is seen on so many rows.
SAMPLE_ROWS = 2000
#: Columns of zeros are left out before all else where they are more than this share.
MANY_EMPTY_SHARE = 0.05
#: Columns whose scaled Gram matrix has pivots above this are left as they are.
SMALLEST_INDEPENDENT_PIVOT = 1e-3
#: Eigenvalues of the scaled Gram matrix below this may be rounding: such a direction is not made longer.
ROUNDED_EIGENVALUE = 1e-15
#: What rounding leaves of a row along a direction that it does not see, relative to what was added up; and of a sum
#: of rows.
UNSEEN, UNSEEN_SUM = 2.0**-45, 2.0**-40
#: Rows that join for each direction which they see, and how often at most.
ROWS_PER_DIRECTION, MAX_ROUNDS = 4, 30


class RowsInBasis(Rows):
    """RT, lazily; some of its rows are multiplied out, and with them their Gram matrix."""

    def __init__(self, base: Rows, T: Array) -> None:
        self.base, self.shape, self.basis = base, base.shape, T

    def __matmul__(self, v: Array) -> Array:
        return self.base @ (self.basis @ v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.basis.T @ self.base.transposed_matmul(u))

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for block in self.base.own_blocks():
            out += self[block].gram(weights[block])
        return out

    def __getitem__(self, index: Any) -> Rows:
        chosen = np.arange(self.shape[0])[index]
        return DenseRows(working_copy(self.base, chosen).to_dense() @ self.basis)

    def __abs__(self) -> Rows:
        return abs(self[:])

    def to_matrix(self) -> Any:
        return self[:].to_matrix()


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
            if not np.all(np.isfinite(curvature := N.T @ bent)):
                raise np.linalg.LinAlgError("what dependent columns have in common is beyond the range of doubles")
            T -= N @ (pinvh(curvature) @ (bent.T @ T))
        rows = program.rows
        chosen = ChosenColumns(rows, kept) if rows.in_memory() is None else rows.select_columns(kept)
        reduced = replace(program, P=T.T @ program.P @ T, q=program.q[kept], rows=chosen, A=program.A[:, kept])
        return cls(reduced, T, inverse)

    def followed_by(self, inner: Unknowns) -> Unknowns:
        """The unknowns of the program over z, as unknowns of the program over x."""
        if inner.T is None or inner.inverse is None:
            return Unknowns(inner.program, self.T, self.inverse)
        return Unknowns(inner.program, self.T @ inner.T, inner.inverse @ self.inverse)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns in which a program is solved: its own where T is None, else z with x = Tz."""

    program: RowProgram
    T: Array | None = None
    inverse: Array | None = None

    @classmethod
    def of(cls, program: RowProgram) -> Unknowns:
        n, k = program.rows.shape
        empty = np.flatnonzero((program.rows.column_max() == 0) & (program.q == 0) & ~program.A.any(axis=0))
        if empty.size > MANY_EMPTY_SHARE * k and empty.size < k:
            kept = KeptUnknowns.of(program, ColumnBasis.without_empty(program.rows, empty))
            return kept.followed_by(cls.of(kept.program))
        index = np.arange(0, n, max(1, n // max(SAMPLE_ROWS, 5 * k)))
        some = working_copy(program.rows, index)
        if _independent(some.gram(np.ones(index.size))) or _independent(program.rows.gram(np.ones(n))):
            return cls(program)
        basis, index = basis_of_all_rows(program, index)
        if basis is None:
            return cls._in_eigenvectors(program, working_copy(program.rows, index))
        kept = KeptUnknowns.of(program, basis)
        return kept.followed_by(cls._in_eigenvectors(kept.program, working_copy(kept.program.rows, index)))

    @classmethod
    def _in_eigenvectors(cls, program: RowProgram, some: Rows) -> Unknowns:
        """Orthogonal columns, judged by some rows, where they are far from that."""
        array, gram = some.in_memory(), some.gram(np.ones(some.shape[0]))
        if not isinstance(array, np.ndarray) or _independent(gram):
            return cls(program)
        unit = _units(gram)
        scaled = gram * unit[:, None] * unit
        if not np.all(np.isfinite(scaled)):
            return cls(program)
        values, vectors = eigh(scaled, check_finite=False)
        length = 1.0 / np.sqrt(np.where(values <= ROUNDED_EIGENVALUE * values.size, 1.0, values))
        T = unit[:, None] * vectors * length
        other = replace(
            program,
            P=T.T @ program.P @ T,
            q=_without_rounding(program.q, T),
            rows=RowsInBasis(program.rows, T),
            A=_without_rounding(program.A, T),
        )
        return cls(other, T, (vectors / length).T / unit)

    def z_of(self, x: Array) -> Array:
        """z of x."""
        return x if self.inverse is None else np.asarray(self.inverse @ x)

    def x_of(self, z: Array) -> Array:
        """x of z."""
        return z if self.T is None else np.asarray(self.T @ z)


def _without_rounding(matrix: Array, T: Array) -> Array:
    """matrix @ T, with 0 where the products cancel to rounding."""
    product, summed = matrix @ T, np.abs(matrix) @ np.abs(T)
    return np.where(np.abs(product) <= ROUNDED_EIGENVALUE * summed, 0.0, product)


def _units(gram: Array) -> Array:
    """What makes the diagonal one."""
    diagonal = gram.diagonal()
    return np.asarray(1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))


def _independent(gram: Array) -> bool:
    """Whether the columns are far enough from depending on each other; columns of zeros do not count."""
    used = gram.diagonal() > 0
    unit = _units(gram)
    scaled = gram * unit[:, None] * unit
    try:
        factor = cholesky(scaled[np.ix_(used, used)], lower=True, check_finite=False)
    except LinAlgError:
        return False
    return bool(factor.diagonal().min(initial=1.0) > SMALLEST_INDEPENDENT_PIVOT)


def basis_of_all_rows(program: RowProgram, some: Indices) -> tuple[ColumnBasis | None, Indices]:
    """Columns that span the others, on some rows at first and then on all, and the rows that show it; None where none
    depends on others, or where the numbers that say how are beyond the range of doubles."""
    rows, beside = program.rows, [as_rows(program.A)] if program.b.size else []
    weights = np.random.default_rng(0).standard_normal(program.q.size)
    for _ in range(MAX_ROUNDS):
        found = ColumnBasis.of([working_copy(rows, some), *beside])
        if found is None or not found.others.size or not np.all(np.isfinite(found.null_vectors)):
            break
        joining = np.setdiff1d(_rows_that_see(rows, found.null_vectors, weights[: found.others.size]), some)
        if joining.size:
            some = np.append(some, joining)
        elif len(beside) < 2 and _costs_along(program.q, found.null_vectors):
            beside = [as_rows(program.A), as_rows(program.q[None])]
        else:
            return found, some
    return None, some


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
