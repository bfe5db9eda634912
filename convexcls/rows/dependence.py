"""Which columns are combinations of others: a pivoted Cholesky factorization of the Gram matrix, checked on the rows.

With the columns of K scaled to length one and taken in the order of the pivots,

    K = [B, D],      K'K = R'R,      R = ( R1  R2 ),      D = B Y,      Y = R1^-1 R2,
                                         ( 0   ~0 )

B are columns that no combination of the others comes near, D those that are combinations of B. A Gram matrix tells the
latter to half the digits only: D - B Y is looked at on the rows themselves, and Y refined where that is not small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpocon, dpstrf, dtrtrs
from scipy.sparse import issparse

from convexcls.arrays import Array, Indices
from convexcls.rows.base import Rows
from convexcls.rows.summation import row_blocks

#: Pivots of a Gram matrix with a diagonal of ones: above the first a column stands alone, below the second it is a
#: combination of others up to the rounding of the matrix. Those between are left to an orthogonal factorization.
LEAST_PIVOT, ROUNDING_PIVOT = 1e-6, 1e-11
#: The condition of a Gram matrix with a diagonal of ones, that of the columns squared, up to which a solution by its
#: factor, refined on the rows, has all digits.
MAX_GRAM_CONDITION = 1e8
#: The part of a column that may be left of it, relative to what was subtracted from it.
SMALLEST_PART = 1e-13
#: More than this is not left by the rounding of a Gram matrix.
FAR_PART = 1e-5
#: Coefficients so near to whole numbers are these: of one-hot columns they are.
NEARLY_WHOLE = 1e-9


@dataclass(frozen=True, eq=False)
class Dependence:
    """The columns ``kept`` with the factor of their Gram matrix; those of ``others`` are the kept ones times
    ``combinations``."""

    kept: Indices
    others: Indices
    combinations: Array
    upper: Array
    unit: Array
    #: The norm of the factored matrix: its largest sum of a column.
    norm: float

    @classmethod
    def of(cls, gram: Array, unit: Array | float = 1.0) -> Dependence | None:
        """What a Gram matrix tells, given in units of the columns (row and column j divided by ``unit_j``); None where
        it is not finite, or a pivot is neither clear nor rounding."""
        diagonal = gram.diagonal()
        if not np.all(np.isfinite(gram)) or not diagonal.size:
            return None
        inner = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled, length = gram / inner / inner[:, None], inner * unit
        norm = float(np.abs(scaled).sum(axis=0).max())
        factor, order, rank, info = dpstrf(scaled, tol=ROUNDING_PIVOT, lower=0)
        full = rank == diagonal.size
        if info < 0 or not rank or (not full and factor[rank - 1, rank - 1] ** 2 < LEAST_PIVOT):
            return None
        kept, others = (part.astype(np.intp) - 1 for part in (order[:rank], order[rank:]))
        upper, combinations = np.triu(factor[:rank, :rank]), np.zeros((rank, others.size))
        if others.size:
            combinations = dtrtrs(upper, factor[:rank, rank:])[0] * length[others] / length[kept][:, None]
        return cls(kept, others, _whole(combinations), upper, length[kept], norm)

    def solve(self, right: Array) -> Array:
        """(B'B)^-1 times the entries of the kept columns; 0 for the others. ``right`` has one entry a column, or a
        row."""
        unit = self.unit if right.ndim == 1 else self.unit[:, None]
        inner = dtrtrs(self.upper, right[self.kept] / unit, trans=1)[0]
        out = np.zeros(right.shape)
        out[self.kept] = dtrtrs(self.upper, inner)[0] / unit
        return out

    @property
    def inverse_norm(self) -> float:
        """The norm of the inverse of the factored matrix, as LAPACK estimates it."""
        reciprocal, info = dpocon(self.upper, 1.0, uplo="U")
        return 1.0 / float(reciprocal) if info == 0 and reciprocal > 0 else np.inf

    @property
    def condition(self) -> float:
        """The condition number of the factored matrix, about."""
        return self.norm * self.inverse_norm

    def flat_directions(self) -> Array:
        """[-Y; I], one direction a column: the rows do not change along any of them."""
        out = np.zeros((self.kept.size + self.others.size, self.others.size))
        out[self.kept] = -self.combinations
        out[self.others, np.arange(self.others.size)] = 1.0
        return out

    def on_rows(self, maps: Sequence[Rows]) -> Dependence | None:
        """The same with coefficients that hold on all of these rows up to rounding; None where there are none."""
        found = self
        for _ in range(2):
            flat = found.flat_directions()
            left = [rows @ flat for rows in maps]
            most = np.sum([rows.column_max() for rows in maps], axis=0) @ np.abs(flat)
            if all(np.all(np.abs(part) <= SMALLEST_PART * most) for part in left):
                return found
            if not all(np.all(np.abs(part) <= FAR_PART * most) for part in left):
                return None
            pulled = np.sum([rows.T @ part for rows, part in zip(maps, left, strict=True)], axis=0)
            finer = _whole(found.combinations + found.solve(pulled)[found.kept])
            found = replace(found, combinations=finer)
        return None


def exact_products(rows: Rows, directions: Array) -> Array | None:
    """R times some directions, one a column, where doubles make no rounding error in it: whole numbers times whole
    numbers, a single entry, or the difference of two that is 0. None where it may have one."""
    used = np.flatnonzero(np.any(directions, axis=1))
    inner = directions[used]
    if rows.rounding or not _are_whole(inner) or not _reach(rows, used, inner) < 2.0**52:
        return None
    plain = np.all(np.abs(inner) <= 1.0, axis=0)
    terms, narrow = np.count_nonzero(inner, axis=0), rows.select_columns(used)
    out = np.empty((rows.shape[0], directions.shape[1]))
    for block in row_blocks(rows.shape[0]):
        part = narrow[block].to_matrix()
        out[block] = moved = part @ inner
        if not _are_whole(part.data if issparse(part) else part):
            few = plain & ((terms == 1) | ((terms == 2) & ~np.any(moved, axis=0)))
            if not np.all(few):
                return None
    return out


def _reach(rows: Rows, used: Indices, inner: Array) -> float:
    return float((rows.column_max()[used] @ np.abs(inner)).max(initial=0.0))


def _are_whole(values: Array) -> bool:
    return np.array_equal(values, np.rint(values))


def shortest_along(flat: Array, x: Array) -> Array:
    """The shortest of the points that differ from x by combinations of these directions."""
    from scipy.linalg import qr

    Q = qr(flat, mode="economic")[0]
    for _ in range(2):  # the second round takes what rounding left
        x = x - Q @ (Q.T @ x)
    return np.asarray(x)


def _whole(values: Array) -> Array:
    near = np.rint(values)
    return np.asarray(np.where(np.abs(values - near) <= NEARLY_WHOLE, near, values))
