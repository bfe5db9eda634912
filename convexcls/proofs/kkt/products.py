"""Products with the rows of a problem, each with a bound on its own rounding.

A sum of k products of doubles is off by at most gamma_k sum |a_i| |b_i| (``rigorous/rounding.py``). Three answers, the
next where the one before is not good enough for what is asked:

1. doubles, with the bound from the largest entry of each column: at no pass over the data
2. the bound row by row, from |R| |x|
3. the rows or columns in doubt once more: in doubled precision, of the entries as they were given
   (``rows/doubled.py``), and in rationals where numbers are too large or too small for that
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array, Indices, Mask, top
from convexcls.data import nonzero_places
from convexcls.problem import Block, Problem
from convexcls.proofs.rigorous.products import EntryError, entry_error, error_from_afar
from convexcls.proofs.rigorous.rounding import ROUNDINGS_BESIDE_SUM, Ball, gamma, raised, raised_number
from convexcls.rational.elimination import dot
from convexcls.rational.numbers import MAX_RATIONAL_ENTRIES, MAX_RATIONAL_MATRIX_ROWS
from convexcls.rows import JoinedRows, Rows
from convexcls.rows.doubled import (
    FOLDED_ERROR,
    LARGEST_SPLIT,
    SMALLEST_SPLIT,
    Doubled,
    dots,
    folded,
    product_error,
    total,
    two_product,
)

#: So many entries at a time are written out in doubled precision: what the processor holds near.
BLOCK_ENTRIES = 100_000
#: At least so many rows at a time: of many slacks beside them, they have as many.
MIN_BLOCK_ROWS = 64
#: More products than this are added up by halves, not one by one.
MAX_PRODUCTS_IN_TURN = 1000
#: Matrices of more rows are not multiplied in doubled precision.
MAX_DOUBLED_MATRIX_ROWS = 2_000
#: Of fewer rows all are multiplied, even where few count.
MAX_ROWS_MULTIPLIED_ALL = 2000


#: What is known of rows, as long as they are there.
_KNOWN: WeakKeyDictionary[Rows, EntryError] = WeakKeyDictionary()
_KNOWN_FROM_AFAR: WeakKeyDictionary[Rows, EntryError | None] = WeakKeyDictionary()


class RowFacts(NamedTuple):
    """What the bounds of products with some rows need, whatever they are multiplied with."""

    #: How far entries may be from those that were given: relative to their size, and by column; 0 where by none.
    relative: float
    absolute: Array | float


def facts(rows: JoinedRows, closely: bool = True) -> RowFacts:
    """What is known of the rows; how far entries are off that were centred or added up may be bounded from afar, which
    takes no time, or ``closely``."""
    if (known := rows.memory.get(closely)) is None:
        known = rows.memory[closely] = RowFacts(*_entry_errors(rows, closely))
    return known


def _entry_errors(rows: JoinedRows, closely: bool) -> tuple[float, Array | float]:
    relative, inexact = 0.0, []
    for where, part in rows.parts:
        if math.isfinite(r := part.rounding):
            relative = max(relative, r * UNIT_ROUNDOFF * 1.01)
        else:
            inexact.append((where, part))
    if not inexact:
        return relative, 0.0
    absolute = np.zeros(rows.shape[1])
    for where, part in inexact:
        f = part.factors()
        error = _error_of(f.core if f.core.as_centred is None else f.core.as_centred.whole, closely)
        largest = 1.0 if f.left is None else float(np.abs(f.left).max(initial=0.0))
        absolute[where] = largest * error.absolute * (1.0 if f.right is None else np.abs(f.right)) * 1.01
    return relative, absolute


def _error_of(core: Rows, closely: bool) -> EntryError:
    if (known := _KNOWN.get(core)) is not None:
        return known
    if not closely:
        if core not in _KNOWN_FROM_AFAR:
            _KNOWN_FROM_AFAR[core] = error_from_afar(core)
        if (afar := _KNOWN_FROM_AFAR[core]) is not None:
            return afar
    known = _KNOWN[core] = entry_error(core)
    return known


def plain_values(rows: JoinedRows, x: Array, block: Block, field: str, closely: bool = False) -> tuple[Array, float]:
    """R x + offset, or R x - rhs, in doubles, with one bound for all rows, from the largest entries of the columns."""
    side = getattr(block, field)
    mid = rows @ x
    mid = mid - side if field == "rhs" else mid + side
    rad = plain_rounding(rows, x, block, field, closely)
    return mid, rad if math.isfinite(rad + float(mid.sum())) else math.inf


def plain_rounding(rows: JoinedRows, x: Array, block: Block, field: str, closely: bool = False) -> float:
    """That bound, which is one of values that do not overflow: it takes no reading."""
    known, k = facts(rows, closely), rows.row_length + ROUNDINGS_BESIDE_SUM
    largest = rows.largest_reach(x) + top(np.abs(getattr(block, field)))
    off = 0.0 if isinstance(known.absolute, float) else float(known.absolute @ np.abs(x))
    return raised_number((gamma(k) + known.relative) * largest + off) + (8 * k * ETA if largest > 0 or x.any() else 0.0)


def rounding_by_row(rows: JoinedRows, x: Array, block: Block, field: str) -> Array:
    """How far each of the values in doubles may be off, from |R| |x|."""
    k, known = rows.row_length + ROUNDINGS_BESIDE_SUM, facts(rows)
    off = float(np.sum(known.absolute * np.abs(x))) + (4 * k * ETA if np.any(x) else 0.0)
    return raised((gamma(k) + known.relative) * (abs(rows) @ np.abs(x) + np.abs(getattr(block, field))) + off)


def row_values(rows: JoinedRows, x: Array, block: Block, field: str, wanted: Array | float) -> Ball:
    """R x + offset, or R x - rhs, with bounds of at most ``wanted`` where that can be had."""
    mid, largest = plain_values(rows, x, block, field, closely=True)
    if np.all(largest <= wanted):
        return Ball(mid, np.full(mid.shape, largest))
    sign, rad = -1.0 if field == "rhs" else 1.0, rounding_by_row(rows, x, block, field)
    wanted = np.broadcast_to(wanted, rad.shape)
    doubt = np.flatnonzero(~(rad <= wanted))
    for some in (doubt[chunk] for chunk in _chunks(doubt.size, rows.shape[1])):
        used = np.flatnonzero((x != 0) & _used(rows, some))
        mid[some], rad[some] = dots(rows.doubled_at(some, used), x[used], _sides(block, field, some, sign))
    left = doubt[~(rad[doubt] <= wanted[doubt])]
    if 0 < left.size * rows.shape[1] <= MAX_RATIONAL_ENTRIES and np.all(np.isfinite(x)):
        point = [Fraction(v) for v in x.tolist()]
        for i, row in zip(left.tolist(), rows.rational(left), strict=True):
            (s,) = block.rational_vector(field, [i])
            mid[i], rad[i] = _rounded(dot(row, point) + Fraction(sign) * s)
    return Ball(mid, rad)


def _sides(block: Block, field: str, some: Indices, sign: float) -> Doubled:
    """Some of the offsets or right-hand sides, one a row, as they were given, times the sign."""
    if block.given_rationals(field) is not None:
        return Doubled.of([[Fraction(sign) * v] for v in block.rational_vector(field, some)], 1)
    values = sign * getattr(block, field)[some]
    return Doubled(values[:, None], np.zeros((values.size, 1)))


def _used(rows: JoinedRows, some: Indices | slice) -> Mask:
    """The columns in which some rows have entries: of many slacks their own. An entry that was worked out may be 0 in
    doubles and not as given: there every column counts."""
    used = np.asarray(rows[some].entry_counts()[1] > 0)
    for where, part in rows.parts:
        if not np.isfinite(part.rounding):
            used[where] = True
    return used


def _chunks(size: int, width: int) -> Iterator[slice]:
    """So many rows at a time that they have ``BLOCK_ENTRIES`` entries, and a few in any case."""
    length = max(BLOCK_ENTRIES // max(width, 1), MIN_BLOCK_ROWS)
    return (slice(start, start + length) for start in range(0, size, length))


def _rounded(value: Fraction) -> tuple[float, float]:
    """The nearest double and a bound on the distance."""
    try:
        near = float(value)
    except OverflowError:
        return np.nan, np.inf
    return near, 0.0 if Fraction(near) == value else UNIT_ROUNDOFF * abs(near) + ETA


def quadratic_value(problem: Problem, x: Array, moved: Array, tol: float) -> float:
    """1/2 x'Px, given ``moved`` = Px; of a matrix P in doubled precision, or by its root, where doubles might miss
    ``tol`` of it."""
    out = 0.0
    for v, p in problem.P.items():
        own = x[problem.layout[v]]
        value = float(own @ moved[problem.layout[v]])
        if v in problem.matrices and np.all(np.isfinite(own)):
            roundings = 2 * own.size
            if p.as_kernel is not None:  # there may be many samples: only the product with P rounds more than once
                value, roundings = total((own * moved[problem.layout[v]]).tolist()), p.additions(own)
            off = gamma(roundings + ROUNDINGS_BESIDE_SUM) * float(np.abs(own) @ (abs(p) @ np.abs(own)))
            if p.shape[0] <= MAX_RATIONAL_MATRIX_ROWS:  # of more samples the values of a kernel are what doubles say
                off += float(np.abs(own) @ p.spread_of_product(own))
            little = off <= 0.1 * tol * max(abs(value), abs(float(problem.q @ x)))
            if not little and p.shape[0] <= MAX_DOUBLED_MATRIX_ROWS:
                value = _doubled_value(problem, p, own)
        out += 0.5 * value
    return out


def _doubled_value(problem: Problem, p: Rows, x: Array) -> float:
    if p.root is not None:
        moved, _ = _product(p.root.doubled(slice(None)), x)
        return float(moved @ moved)
    known = _exact_kernel(problem, p)
    moved, _ = _product(p.doubled(slice(None)) if known is None else known, x)
    return total(np.concatenate(two_product(moved, x)).tolist())


def _product(rows: Doubled, x: Array) -> tuple[Array, Array]:
    """R x, rounded once, with a bound on what that is off."""
    moved, rad = dots(rows, x, Doubled(*np.zeros((2, rows.high.shape[0], 1))))
    return moved, raised(rad + UNIT_ROUNDOFF * np.abs(moved))


def _exact_kernel(problem: Problem, p: Rows) -> Doubled | None:
    """The matrix of a kernel that takes rationals to rationals, of the samples as they were given; None where it is
    another one, or large."""
    if p.shape[0] > MAX_RATIONAL_MATRIX_ROWS or p.spread() is None:
        return None
    return problem.remembered(_doubled_kernel)


def _doubled_kernel(problem: Problem) -> Doubled | None:
    from convexcls.proofs.claims.curvature import exact_kernel

    matrix = exact_kernel(problem)
    if matrix is None or any(v and not SMALLEST_SPLIT < abs(v) < LARGEST_SPLIT for row in matrix for v in row):
        return None
    return Doubled.of(matrix, len(matrix))


class Gradient:
    """P x + q + sum of R_k' z_k over blocks of rows, with the sum of absolute values beside it, from which its rounding
    follows. The columns in doubt are added up once more in doubled precision."""

    def __init__(self, problem: Problem, x: Array, closely: bool = True) -> None:
        self.problem, self.x, self.closely = problem, x, closely
        self.curved = problem.apply_quadratic(x)  # P x
        self.pull = problem.q.copy()  # the sum without P x
        self.magnitude = np.abs(problem.q)  # the same sum of absolute values
        self.errors = np.zeros(problem.size)  # what comes of the rounding of the entries
        self.inherited = np.zeros(problem.size)  # what comes of the rounding of the z
        self.lengths = np.full(problem.size, float(ROUNDINGS_BESIDE_SUM))  # how many numbers are added up
        self.parts: list[tuple[JoinedRows, Array]] = []

    def add(self, rows: JoinedRows, z: Array, size: Array | None = None) -> None:
        """Add R'z; ``size`` are the sizes of z, against which its rounding is judged."""
        size = np.abs(z) if size is None else size
        many = self.closely or z.size > MAX_ROWS_MULTIPLIED_ALL
        if many and 2 * (used := nonzero_places(size)).size < z.size:  # most rows of a margin are far from it
            rows, z, size = rows[used], z[used], size[used]
        self.parts.append((rows, z))
        self.take(rows, *rows.added_up_with_sizes(z, size), float(size.sum()))

    def take(self, rows: JoinedRows, pull: Array, additions: Array | int, added: Array, size: float) -> None:
        """Add R'z, which is known, with its additions, |R|' of the sizes and the sum of these."""
        known = facts(rows, self.closely)
        self.pull += pull
        self.magnitude += added
        self.lengths += additions
        if known.relative or not isinstance(known.absolute, float):
            self.errors += known.relative * added + known.absolute * size

    def inherit(self, rows: JoinedRows, off: Array | float) -> None:
        """Bear in mind that the z of these rows may be ``off`` from what they stand for: each by as much, or, where it
        is one number, all of them together."""
        if isinstance(off, float):
            self.inherited += rows.column_max() * off
        else:
            self.inherited += abs(rows).T @ off

    @property
    def value(self) -> Array:
        """The sum in doubles."""
        return self.curved + self.pull

    @cached_property
    def sizes(self) -> Array:
        """The sum of absolute values."""
        out = self.magnitude + np.abs(self.curved)
        for v, p in self.problem.matrices.items():
            where = self.problem.layout[v]
            out[where] = self.magnitude[where] + abs(p) @ np.abs(self.x[where])
            self.lengths[where] += p.additions(self.x[where])
            self.errors[where] += p.spread_of_product(self.x[where])
        return out

    @property
    def rounding(self) -> Array:
        """How far the sum may be off."""
        sizes = self.sizes
        rad = raised(1.01 * UNIT_ROUNDOFF * self.lengths * sizes + self.errors + np.where(sizes > 0, 64 * ETA, 0.0))
        return np.where(np.isfinite(rad), rad, np.inf)

    @property
    def height(self) -> int:
        """How many rows it is added up from."""
        return sum(rows.shape[0] for rows, _ in self.parts)

    def refined(self, columns: Indices) -> Ball:
        """Some entries in doubled precision, or in rationals where numbers are too large or too small for that."""
        parts = [[float(c)] for c in self.problem.q[columns]]
        off = np.zeros(columns.size)
        for v, p in self.problem.P.items():
            where = np.arange(self.problem.size)[self.problem.layout[v]]
            mine = np.flatnonzero(np.isin(columns, where))
            inside = columns[mine] - self.problem.layout[v].start
            if (diagonal := self.problem.diagonals.get(v)) is not None:
                entries = Doubled(diagonal[inside][:, None], np.zeros((inside.size, 1)))
                z = self.x[columns[mine]][:, None]
            elif p.root is not None:
                z, rad = _product(p.root.doubled(slice(None)), self.x[where])
                entries = p.root.T.doubled(inside)
                off[mine] += 1.01 * (abs(p.root.T[inside]) @ rad)
            else:
                known, z = _exact_kernel(self.problem, p), self.x[where]
                # P is symmetric
                entries = p.doubled(inside) if known is None else Doubled(*(part[inside] for part in known))
                off[mine] += p.spread_of_product(z)[inside] if known is None else 0.0
            off[mine] += _gather(parts, mine, entries, z)
        rising = np.argsort(columns)
        for rows, z in self.parts:
            for some in _chunks(rows.shape[0], columns.size):
                mine = rising[_used(rows, some)[columns[rising]]]
                entries = rows.doubled_at(some, columns[mine])
                off[mine] += _gather(parts, mine, Doubled(entries.high.T, entries.low.T), z[some])
                off += _condense(parts)
        mid = np.array([total(own) for own in parts])
        rad = raised(2 * UNIT_ROUNDOFF * np.abs(mid) + off)
        rad = np.where(np.isfinite(mid), rad, np.inf)
        entries_in_all = sum(rows.shape[0] * rows.shape[1] for rows, _ in self.parts)
        given = all(np.all(np.isfinite(z)) for _, z in self.parts)
        # the values of a kernel that are blurred are no better in rationals
        given &= all(p.spread() is None for p in self.problem.matrices.values())
        if not np.all(np.isfinite(rad)) and entries_in_all <= MAX_RATIONAL_ENTRIES and given:
            mid, rad = self._rational(columns)
        return Ball(mid, rad)

    def _rational(self, columns: Indices) -> tuple[Array, Array]:
        """The same without any rounding but the last."""
        point = [Fraction(v) for v in self.x.tolist()]
        sums = [Fraction(c) for c in self.problem.q.tolist()]
        for v, p in self.problem.P.items():
            where = range(self.problem.size)[self.problem.layout[v]]
            own, diagonal = point[where.start : where.stop], self.problem.diagonals.get(v)
            if diagonal is None:
                moved = [dot(row, own) for row in p.rational()]
            else:
                moved = [Fraction(value) * t for value, t in zip(diagonal.tolist(), own, strict=True)]
            for j, value in zip(where, moved, strict=True):
                sums[j] += value
        for rows, z in self.parts:
            for row, weight in zip(rows.rational(), z.tolist(), strict=True):
                factor = Fraction(weight)
                for j in columns.tolist():
                    if row[j]:
                        sums[j] += row[j] * factor
        found = [_rounded(sums[j]) for j in columns.tolist()]
        return np.array([mid for mid, _ in found]), np.array([rad for _, rad in found])


def _condense(parts: list[list[float]]) -> Array:
    """Put the sum of each list, in two doubles, in its place, so that they do not grow with the rows; a bound on what
    is left."""
    lost = np.zeros(len(parts))
    for k, own in enumerate(parts):
        high = total(own)
        own.append(-high)
        low = total(own)
        own[:] = [high, low]
        lost[k] = UNIT_ROUNDOFF * abs(low)
    return lost


def _gather(parts: list[list[float]], places: Indices, entries: Doubled, z: Array) -> Array:
    """Put the products of each row with z, in two doubles each, among the numbers to be added up; a bound on what is
    left."""
    high, error = two_product(entries.high, z)
    pieces, off = [high, error, entries.low * z], product_error(entries, z, high)
    if z.size > MAX_PRODUCTS_IN_TURN and np.all(np.isfinite(off)):
        several = np.concatenate([part for part in pieces if part.any()] or pieces, axis=1)
        pieces = [part[:, None] for part in folded(several)]
        off = raised(off + FOLDED_ERROR * np.abs(several).sum(axis=1))
    for k, *own in zip(places.tolist(), *(part.tolist() for part in pieces), strict=True):
        for piece in own:
            parts[k].extend(piece)
    return off
