"""Columns that span all columns of rows, decided once.

A one-hot table beside an intercept, a column that repeats another, one of zeros: then R'R is singular, and every
factorization of it, whatever the weights of its rows, has to find that out again. A Cholesky factor of the Gram matrix
with pivoting tells which columns are no combinations of others; the others are, to rounding, where no row moves along
what the factor says:

    K = [B, D],      K'K = R'R,      R = ( R1  R2 ),      D = B Y,      Y = R1^-1 R2.
                                         ( 0   ~0 )

Where pivots are so small that rounding may have made them, orthogonal factors K = QR of all rows, a block at a time,
keep the digits that a Gram matrix loses. Who has a Gram matrix alone asks that (``of_gram``), and the rows afterwards
(``on_rows``).

That the others are combinations without rounding is proved on the few columns and the different rows that it is about:
for the entries as doubles by whole numbers, or modulo primes; where doubles round what was given, in rationals, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpocon, dpstrf
from scipy.sparse import issparse

from convexcls.arrays import LARGEST_EXACT_INTEGER, Array, Indices, Mask
from convexcls.rational.doubles import rank
from convexcls.rational.elimination import rank as rational_rank
from convexcls.rational.numbers import MAX_RATIONAL_ENTRIES
from convexcls.rows.base import Rows
from convexcls.rows.summation import distinct_rows, row_blocks

#: A column nearer to the span of others, relative to its length, is taken to be in it.
IN_SPAN_DISTANCE = 1e-12
#: Squares of lengths that a Gram matrix shows, and those that may be rounding.
CLEAR_SQUARE, ROUNDED_SQUARE = 1e-8, 1e-11
#: Pivots of a Gram matrix alone: above the first a column stands alone, below the second it is a combination of others
#: up to the rounding of the matrix. Those between are left to an orthogonal factorization.
LEAST_PIVOT, ROUNDING_PIVOT = 1e-6, 1e-11
#: The condition of a Gram matrix with a diagonal of ones, that of the columns squared, up to which a solution by its
#: factor, refined on the rows, has all digits.
MAX_GRAM_CONDITION = 1e8
#: The part of a column that may remain of it, relative to what was subtracted from it.
SMALLEST_PART = 1e-13
#: More than this does not remain by the rounding of a Gram matrix.
FAR_PART = 1e-5
#: A row moves along a combination of columns if it does by more than this, relative to the sum of absolute values.
MOVES = 1e-14
#: Smaller coefficients of a combination are rounding.
NO_PART = 1e-9
#: Coefficients are looked for in parts of whole numbers down to one over this, entries in parts that get so much finer.
MOST_PARTS, FINER = 8.0, 2.0**10
#: More entries that doubles round are not read as they were given; then they are not known to depend on each other.
MAX_ENTRIES_AS_GIVEN = 1_000_000
#: A block of rows that is factored at a time has so many rows for each column, and at least so many.
ROWS_PER_COLUMN, BLOCK = 4, 2048


@dataclass(frozen=True, eq=False)
class ColumnBasis:
    """``columns`` span the ``others``: K_others = K_columns ``combination``, to rounding. ``factor`` is R with
    K_columns = Q R, in units in which the columns have length one; ``lengths`` are those of all columns."""

    rows: tuple[Rows, ...]
    columns: Indices
    others: Indices
    combination: Array
    factor: Array
    lengths: Array

    @classmethod
    def without_empty(cls, rows: Rows, empty: Indices) -> ColumnBasis:
        """All columns but those of zeros, ``empty``, whatever the others are."""
        others = np.setdiff1d(np.arange(rows.shape[1]), empty)
        none = np.zeros((others.size, 0))
        return cls((rows,), others, empty, np.zeros((others.size, empty.size)), none.T, rows.column_max())

    @classmethod
    def of(cls, rows: Sequence[Rows], gram: Array | None = None) -> ColumnBasis | None:
        """Of rows one above the other, whose Gram matrix may be known; None where numbers are out of range."""
        unit = np.max([part.column_max() for part in rows], axis=0, initial=0.0)
        unit = np.where(unit > 0, unit, 1.0)
        with np.errstate(all="ignore"):
            if gram is None:
                gram = np.sum([part.gram(np.ones(part.shape[0])) for part in rows], axis=0)
            found = cls._by_cholesky(tuple(rows), unit, gram / np.outer(unit, unit))
            return found or cls._by_orthogonal_factors(tuple(rows), unit)

    @classmethod
    def _by_cholesky(cls, rows: tuple[Rows, ...], unit: Array, gram: Array) -> ColumnBasis | None:
        """From the Gram matrix in units; None where it does not tell."""
        lengths = np.sqrt(gram.diagonal())
        lengths = np.where(lengths > 0, lengths, 1.0)
        scaled = gram / np.outer(lengths, lengths)
        if not np.all(np.isfinite(scaled)) or not scaled.size:
            return None
        _, order, count, _ = dpstrf(scaled, tol=CLEAR_SQUARE)
        columns, others = np.sort(order[:count] - 1), np.sort(order[count:] - 1)
        factor = np.asarray(np.linalg.cholesky(scaled[np.ix_(columns, columns)]).T)
        along = solve_triangular(factor, scaled[np.ix_(columns, others)], trans="T")
        if np.any(scaled.diagonal()[others] - np.square(along).sum(axis=0) > ROUNDED_SQUARE):
            return None
        found = cls._in_units(rows, unit * lengths, columns, others, solve_triangular(factor, along), factor).refined()
        found = replace(found, combination=_nearly_whole(found.combination))
        return None if found.moves_rows else found

    @classmethod
    def _by_orthogonal_factors(cls, rows: tuple[Rows, ...], unit: Array) -> ColumnBasis | None:
        R = triangular_factor(rows, unit)
        lengths = np.linalg.norm(R, axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        R = R / lengths
        if not np.all(np.isfinite(R)):
            return None
        pivots, order = qr(R, mode="r", pivoting=True, check_finite=False)
        sizes = np.abs(pivots.diagonal()) if pivots.size else np.zeros(0)
        columns = np.sort(order[: np.count_nonzero(sizes > IN_SPAN_DISTANCE)])
        others = np.setdiff1d(np.arange(unit.size), columns)
        Q, own = np.linalg.qr(R[:, columns])
        return cls._in_units(rows, unit * lengths, columns, others, solve_triangular(own, Q.T @ R[:, others]), own)

    @classmethod
    def _in_units(
        cls, rows: tuple[Rows, ...], lengths: Array, columns: Indices, others: Indices, along: Array, factor: Array
    ) -> ColumnBasis:
        combination = along / lengths[columns, None] * lengths[others]
        return cls(rows, columns, others, combination, factor, lengths)

    @classmethod
    def of_gram(cls, gram: Array) -> ColumnBasis | None:
        """What a Gram matrix alone tells, the columns in the order of the pivots; None where it is not finite, or a
        pivot is neither clear nor rounding."""
        diagonal = gram.diagonal()
        if not np.all(np.isfinite(gram)) or not diagonal.size:
            return None
        lengths = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = gram / lengths / lengths[:, None]
        factor, order, count, info = dpstrf(scaled, tol=ROUNDING_PIVOT, lower=0)
        full = count == diagonal.size
        if info < 0 or not count or (not full and factor[count - 1, count - 1] ** 2 < LEAST_PIVOT):
            return None
        columns, others = (part.astype(np.intp) - 1 for part in (order[:count], order[count:]))
        upper = np.triu(factor[:count, :count])
        if full:
            return cls((), columns, others, np.zeros((count, 0)), upper, lengths)
        along = solve_triangular(upper, factor[:count, count:]) if others.size else np.zeros((count, 0))
        found = cls._in_units((), lengths, columns, others, along, upper)
        return replace(found, combination=_nearly_whole(found.combination))

    def on_rows(self, maps: Sequence[Rows]) -> ColumnBasis | None:
        """The same with combinations that hold on all of these rows up to rounding; None where there are none."""
        found = replace(self, rows=tuple(maps))
        for _ in range(2):
            flat = found.null_vectors
            moved = [rows @ flat for rows in maps]
            most = np.sum([rows.column_max() for rows in maps], axis=0) @ np.abs(flat)
            if all(np.all(np.abs(part) <= SMALLEST_PART * most) for part in moved):
                return found
            if not all(np.all(np.abs(part) <= FAR_PART * most) for part in moved):
                return None
            pulled = np.sum([rows.T @ part for rows, part in zip(maps, moved, strict=True)], axis=0)
            finer = _nearly_whole(found.combination + found.solve(pulled[found.columns]))
            found = replace(found, combination=finer)
        return None

    def refined(self) -> ColumnBasis:
        """The same with combinations that are known to rounding: what the rows still move along them is solved for."""
        if not np.any(self.combination):
            return self
        there = np.flatnonzero(np.any(self.combination, axis=0))
        vectors = self.null_vectors[:, there]
        left = sum((part.T @ (part @ vectors) for part in self.rows), np.zeros(vectors.shape))[self.columns]
        combination = self.combination.copy()
        combination[:, there] += self.solve(left)
        return replace(self, combination=combination)

    @property
    def moves_rows(self) -> bool:
        """Whether some row moves along what should be a null vector, by more than rounding."""
        vectors = self.null_vectors[:, np.any(self.combination, axis=0)]
        if not vectors.size:
            return False
        return any(np.any(np.abs(part @ vectors) > MOVES * (abs(part) @ np.abs(vectors))) for part in self.rows)

    def solve(self, r: Array) -> Array:
        """(K'K)^-1 r for the columns of the basis."""
        own = self.own_lengths.reshape(-1, *[1] * (r.ndim - 1))
        first = solve_triangular(self.factor, r / own, trans="T")
        return np.asarray(solve_triangular(self.factor, first) / own)

    def solve_spread(self, r: Array) -> Array:
        """The same for one entry, or row, a column: those of the basis are solved for, the others 0."""
        return self.spread(self.solve(r[self.columns]))

    @cached_property
    def condition(self) -> float:
        """The condition number of the Gram matrix of the basis at length one, about, as LAPACK estimates it."""
        gram = self.factor.T @ self.factor
        reciprocal, info = dpocon(self.factor, 1.0, uplo="U")
        inverse = 1.0 / float(reciprocal) if info == 0 and reciprocal > 0 else np.inf
        return float(np.abs(gram).sum(axis=0).max(initial=0.0)) * inverse

    @property
    def own_lengths(self) -> Array:
        """The lengths of the columns of the basis."""
        return self.lengths[self.columns]

    @cached_property
    def smallest(self) -> float:
        """The least singular value of the columns at length one."""
        return float(np.linalg.svd(self.factor, compute_uv=False).min(initial=1.0))

    @cached_property
    def orthogonal(self) -> Array:
        """T with K_columns T nearly orthonormal."""
        inverse = solve_triangular(self.factor, np.eye(self.columns.size))
        return np.asarray(inverse / self.own_lengths[:, None])

    def spread(self, values: Array) -> Array:
        """Values by column of the basis as values by column, 0 for the others."""
        out = np.zeros((self.lengths.size, *values.shape[1:]))
        out[self.columns] = values
        return out

    @cached_property
    def null_vectors(self) -> Array:
        """Directions along which no row moves, one a column; all others are combinations of these."""
        out = np.zeros((self.lengths.size, self.others.size))
        out[self.columns] = -self.combination
        out[self.others, np.arange(self.others.size)] = 1.0
        return out

    @cached_property
    def is_exact(self) -> bool:
        """Whether the others are combinations of the columns without rounding, for the entries as they were given."""
        parts = np.abs(self.null_vectors) * self.lengths[:, None]
        part_of = parts > NO_PART * parts.max(axis=0, initial=0.0)
        involved = np.any(part_of, axis=1)
        return (self._by_whole_numbers(part_of) or self._by_rank(involved)) and self._as_given(involved)

    def _by_whole_numbers(self, part_of: Mask) -> bool:
        """Whether null vectors rounded to whole numbers, or to parts of them, move no row, in whole numbers that
        doubles hold: entries and coefficients times powers of two, which round nothing."""
        times, exact = 1.0, np.where(part_of, self.null_vectors, 0.0)
        while np.any(np.abs(np.rint(times * exact) - times * exact) > NO_PART * times):
            if (times := 2.0 * times) > MOST_PARTS:
                return False
        near = np.rint(times * exact)
        used = np.flatnonzero(np.any(near, axis=1))
        near, total = near[used], float(np.abs(near).sum(axis=0).max(initial=0.0))
        for part in self.rows:
            most, finer = total * float(part.column_max()[used].max(initial=0.0)), 1.0
            for block in part.own_blocks():
                entries = part[block].compact()[:, used]
                values = entries.data if issparse(entries) else entries
                while finer * most < LARGEST_EXACT_INTEGER and not _are_whole(finer * values):
                    finer *= FINER
                if not finer * most < LARGEST_EXACT_INTEGER or np.any((finer * entries) @ near):
                    return False
        return True

    def _by_rank(self, involved: Mask) -> bool:
        """Whether the columns involved have so low a rank."""
        columns = self._with_flat_columns(involved)
        every = np.vstack([part.select_columns(columns).to_dense() for part in self.rows])
        different = distinct_rows(every)
        return rank(every if different is None else every[different[0]]) == columns.size - self.others.size

    def _as_given(self, involved: Mask) -> bool:
        """Whether they do with entries that doubles round, as these were given: columns whose doubles repeat each other
        may differ in what doubles do not hold. No prime decides that: what was given may be a multiple of it."""
        if not any(part.rounding for part in self.rows):
            return True
        columns = self._with_flat_columns(involved)
        found = rank_as_given([part.select_columns(columns) for part in self.rows])
        return found is not None and found <= columns.size - self.others.size

    def _with_flat_columns(self, involved: Mask) -> Indices:
        """The columns involved. A column of one size, as of an intercept, may have a part that is as small as
        rounding."""
        sizes = [(part.column_max(), part.shape[0]) for part in self.rows]
        flat = np.sqrt(np.sum([n * np.square(most) for most, n in sizes], axis=0)) <= self.lengths * (1 + NO_PART)
        return np.flatnonzero(involved | flat)


def rank_as_given(rows: Sequence[Rows]) -> int | None:
    """The rank of rows one above the other, of the entries as they were given; None where there are too many."""
    width = rows[0].shape[1]
    if sum(part.shape[0] for part in rows) * width > MAX_ENTRIES_AS_GIVEN:
        return None
    different = list(dict.fromkeys(tuple(row) for part in rows for row in part.rational()))
    return None if len(different) * width > MAX_RATIONAL_ENTRIES else rational_rank(different)


def triangular_factor(rows: Sequence[Rows], unit: Array) -> Array:
    """R with K'K = R'R, K the rows with columns divided by ``unit``; NaN where an entry is not finite."""
    step = max(ROWS_PER_COLUMN * unit.size, BLOCK)
    places = ((part, block) for part in rows for block in _steps(part, step))
    return triangle((part[block].to_dense() / unit for part, block in places), unit.size)


def _steps(rows: Rows, step: int) -> Iterator[slice]:
    """So many rows at a time, or the blocks in which they are read."""
    return row_blocks(rows.shape[0], step) if rows.by_block is None else rows.own_blocks()


def triangle(blocks: Iterable[Array], width: int) -> Array:
    """The square triangular factor of rows that come a block at a time: each is factored with the R of those before
    it. NaN where an entry is not finite."""
    R = np.zeros((0, width))
    for block in blocks:
        if not np.all(np.isfinite(block)):
            return np.full((width, width), np.nan)
        R = np.asarray(np.linalg.qr(np.vstack([R, block]), mode="r"))
    return np.vstack([R, np.zeros((width - len(R), width))])


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
    for block in rows.own_blocks():
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
    Q = qr(flat, mode="economic")[0]
    for _ in range(2):  # the second round takes what rounding left
        x = x - Q @ (Q.T @ x)
    return np.asarray(x)


def _nearly_whole(values: Array) -> Array:
    """The values, those next to whole numbers as these: of one-hot columns the coefficients are."""
    near = np.rint(values)
    return np.asarray(np.where(np.abs(values - near) <= NO_PART, near, values))
