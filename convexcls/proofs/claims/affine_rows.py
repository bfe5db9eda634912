"""The rows of constraints, lines and terms with their shifts, over the unknowns that exact arithmetic keeps.

They are added up over many samples without rounding. Of samples that are read by block each block's sums are made where
it is, or from its rows alone: sums of rationals are the same in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.data import GivenCells
from convexcls.problem import Constraint, Term
from convexcls.rational.doubles import as_fractions, product, rational_product
from convexcls.rational.elimination import Matrix
from convexcls.rational.numbers import nearest_double
from convexcls.rows import JoinedRows, Rows, as_rows
from convexcls.rows.signs import exact_signs

#: Blocks of so few rows are kept as rationals.
MAX_RATIONAL_ROWS = 64
#: Samples with so many different weights are multiplied as rationals; fewer are added up weight by weight.
MAX_DISTINCT_WEIGHTS = 32
#: Of rows that are read by block so many entries are gathered at a time.
MAX_GATHERED_ENTRIES = 1_000_000
#: So many columns beside those of the blocks travel to them.
MAX_COLUMNS_BESIDE = 16
#: Doubles or, where these would round them, rationals.
Weights = Array | list[Fraction]


@dataclass(frozen=True, eq=False)
class AffineRows:
    """The rows (R, s) of a block: of a term R x + s, of a constraint R x - rhs, over the unknowns that are kept. Rows
    that speak of none of these are None."""

    block: Term | Constraint
    rows: JoinedRows | None
    width: int

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.block.size

    @property
    def _field(self) -> str:
        return "offset" if isinstance(self.block, Term) else "rhs"

    @property
    def _sign(self) -> int:
        return 1 if isinstance(self.block, Term) else -1

    @property
    def _shift(self) -> Array:
        """The shifts, rounded to doubles."""
        return self._sign * np.asarray(getattr(self.block, self._field))

    @cached_property
    def _few(self) -> Matrix:
        """All rows of a small block: they may be sums over samples, which are not added up twice."""
        return self._rational(np.arange(self.size))

    def rational(self, index: Indices | None = None) -> Matrix:
        """Some of the rows, or all, each with its shift as last entry."""
        index = np.arange(self.size) if index is None else index
        return [self._few[i] for i in index.tolist()] if self.size <= MAX_RATIONAL_ROWS else self._rational(index)

    def _rational(self, index: Indices) -> Matrix:
        shifts = self.block.rational_vector(self._field, index)
        rows: Matrix = [[Fraction(0)] * self.width for _ in shifts] if self.rows is None else self.rows.rational(index)
        return [[*row, self._sign * shift] for row, shift in zip(rows, shifts, strict=True)]

    def doubles(self, index: Indices) -> Array | None:
        """The same as doubles, None where these would round."""
        if self.block.given_rationals(self._field) is not None:
            return None
        shifts = self._shift[index]
        rows = np.zeros((index.size, self.width)) if self.rows is None else self.rows.exact_doubles(index)
        return None if rows is None else np.column_stack([rows, shifts])

    @cached_property
    def whole(self) -> JoinedRows:
        """The rows (R, s) as one object."""
        exact = self.block.given_rationals(self._field)
        given = None if exact is None else GivenCells(np.array([[self._sign * v] for v in exact], dtype=object))
        parts: list[tuple[slice, Rows]] = [(slice(self.width, self.width + 1), as_rows(self._shift, given))]
        if self.rows is not None:
            parts.append((slice(0, self.width), self.rows))
        return JoinedRows(self.size, self.width + 1, parts)

    def signs(self, z: Sequence[Fraction]) -> NDArray[np.int8]:
        """The sign of R z + s for every row."""
        return self._signs([*z, Fraction(1)])

    def moves(self, direction: Sequence[Fraction]) -> NDArray[np.int8]:
        """The sign of R d for every row."""
        return self._signs([*direction, Fraction(0)])

    def _signs(self, point: Sequence[Fraction]) -> NDArray[np.int8]:
        return exact_signs(self.whole, point) if self.size > MAX_RATIONAL_ROWS else _sign_array(self.few_values(point))

    def few_values(self, point: Sequence[Fraction]) -> list[Fraction]:
        """(R, s) times a point for every row of a small block."""
        used = [(j, value) for j, value in enumerate(point) if value]
        return [sum((row[j] * value for j, value in used if row[j]), Fraction(0)) for row in self._few]

    def values(self, z: Array) -> Array:
        """R z + s in doubles."""
        return self._shift if self.rows is None else np.asarray(self.rows @ z + self._shift)

    def exact_values(
        self, index: Indices, z: Sequence[Fraction], factors: Sequence[Fraction] | None = None
    ) -> list[Fraction]:
        """R z + s of some rows, times factors, over common denominators: the sums are of whole numbers."""
        scale = lcm(*(value.denominator for value in z))
        whole = [value.numerator * (scale // value.denominator) for value in (*z, Fraction(1))]
        times = [(1, 1)] * index.size if factors is None else [f.as_integer_ratio() for f in factors]
        out = []
        for (top, bottom), (unit, row) in zip(times, self._whole_rows(index), strict=True):
            total = sum(v * w for v, w in zip(row, whole, strict=True) if v)
            out.append(Fraction(top * total, bottom * unit * scale))
        return out

    def _whole_rows(self, index: Indices) -> Iterator[tuple[int, list[int]]]:
        """Some rows (R, s) as whole numbers, each with the number by which they are to be divided."""
        if (cuts := self._cuts(index)) is not None:
            for cut in cuts:
                yield from self._whole_rows(index[cut])
            return
        doubles = self.doubles(index) if index.size else np.zeros((0, 1))
        pairs: Iterable[Iterable[tuple[int, int]]]
        if doubles is None:
            pairs = ([(v.numerator, v.denominator) for v in row] for row in self.rational(index))
        else:
            pairs = ([v.as_integer_ratio() for v in row] for row in doubles.tolist())
        for row in pairs:
            unit = lcm(*(bottom for _, bottom in row))
            yield unit, [top * (unit // bottom) for top, bottom in row]

    def total(self, index: Indices, weights: Weights) -> list[Fraction]:
        """sum_i weights_i (R_i, s_i) over some rows."""
        if (cuts := self._cuts(index)) is not None:
            parts = [self.total(index[cut], weights[cut]) for cut in cuts]
            return [sum(column, Fraction(0)) for column in zip(*parts, strict=True)]
        doubles = None if isinstance(weights, list) else self.doubles(index)
        if doubles is not None and not isinstance(weights, list):
            return [row[0] for row in product(doubles, weights[:, None])]
        sums = rational_product(self.rational(index), [[Fraction(w)] for w in _listed(weights)])
        return [row[0] for row in sums] or [Fraction(0)] * (self.width + 1)

    def combined(self, used: Mapping[int, Fraction]) -> list[Fraction]:
        """sum_i used_i (R_i, s_i): factors that are doubles over many rows at once, the others one by one."""
        index = np.array(sorted(used), dtype=np.intp)
        values = [used[i] for i in index.tolist()]
        known = {id(value): nearest_double(value) for value in {id(value): value for value in values}.values()}
        doubles = np.array([known[id(value)] for value in values], dtype=float)  # NaN for None
        plain = np.isfinite(doubles)
        total = [Fraction(0)] * (self.width + 1)
        if plain.any():
            total = self.total(index[plain], doubles[plain])
        rest = [[value] for value, simple in zip(values, plain.tolist(), strict=True) if not simple]
        if rest:
            others = rational_product(self.rational(index[~plain]), rest)
            total = [t + other for t, (other,) in zip(total, others, strict=True)]
        return total

    def gram(self, index: Indices, weights: Weights) -> Matrix:
        """sum_i weights_i (R_i, s_i)'(R_i, s_i) over some rows."""
        if not isinstance(weights, list):
            if (centred := self._centred(index, weights)) is not None:
                return centred
            if (found := self._gram_by_block(index, weights)) is not None:
                return found
        if (cuts := self._cuts(index)) is not None:
            parts = (self.gram(index[cut], weights[cut]) for cut in cuts)
            return reduce(added, parts)
        doubles = None if isinstance(weights, list) else self.doubles(index)
        if doubles is None or isinstance(weights, list):
            return self._weighted_gram(index, weights)
        return weighted_product(doubles, weights)

    def _cuts(self, index: Indices) -> list[slice] | None:
        """Where to cut the numbers of very many rows that are read by block, which are not gathered at once: the sums
        of blocks merge in any order. None where there is nothing to cut."""
        if self.rows is None or self.rows.by_block is None or index.size * self.width <= MAX_GATHERED_ENTRIES:
            return None
        ends = np.searchsorted(index, [0, *(block.stop for block in self.rows.own_blocks())])
        cuts = [slice(a, b) for a, b in pairwise(ends.tolist()) if b > a]
        return cuts if len(cuts) > 1 else None

    def _gram_by_block(self, index: Indices, weights: Array) -> Matrix | None:
        """The same, of each block where it is; None where the rows are not those of blocks with few columns beside."""
        parts = () if self.rows is None else self.rows.parts
        cores = [(where, rows) for where, rows in parts if rows.by_block is rows]
        if len(cores) != 1 or any(rows.by_block is not None for _, rows in parts if rows is not cores[0][1]):
            return None
        ((where, core),) = cores
        others = np.setdiff1d(np.arange(self.width + 1), np.arange(where.start, where.stop))
        if index.size * self.width <= MAX_GATHERED_ENTRIES or others.size > MAX_COLUMNS_BESIDE:
            return None
        beside = self._beside(core, others)
        if beside is None:
            return None
        mass = np.zeros(self.size)
        mass[index] = weights
        sums = gram_of_blocks(core, beside, mass)
        if sums is None:
            return None
        order = [*range(where.start, where.stop), *others.tolist()]
        out = [[Fraction(0)] * (self.width + 1) for _ in range(self.width + 1)]
        for j, row in zip(order, sums, strict=True):
            for k, value in zip(order, row, strict=True):
                out[j][k] = value
        return out

    def _beside(self, core: Rows, others: Indices) -> Array | None:
        """The columns of (R, s) that are not those of the core, as doubles; None where these would round."""
        if self.rows is None or self.block.given_rationals(self._field) is not None:
            return None
        out = np.zeros((self.size, others.size))
        out[:, -1] = self._shift
        for place, rows in self.rows.parts:
            if rows is not core:
                inner = rows.exact_doubles(np.arange(self.size))
                if inner is None:
                    return None
                out[:, np.searchsorted(others, np.arange(place.start, place.stop))] += inner
        return out

    def _weighted_gram(self, index: Indices, weights: Weights) -> Matrix:
        rows = self.rational(index)
        weighed = [[Fraction(w) * v for v in row] for w, row in zip(_listed(weights), rows, strict=True)]
        return rational_product(rows, weighed) or [[Fraction(0)] * (self.width + 1) for _ in range(self.width + 1)]

    def _centred(self, index: Indices, weights: Array) -> Matrix | None:
        """The same for rows minus the means of their groups: sum_i x_i x_i' less what the means add up to. None where
        that is not what the rows are."""
        parts = () if self.rows is None else self.rows.parts
        alike = len(parts) == 1 and index.size == self.size and np.all(weights == weights[0])
        if not alike or (rows := parts[0][1].as_centred) is None or np.any(self._shift):
            return None
        members = (rows.groups[:, None] == np.unique(rows.groups)).astype(float)
        sums = gram_of_blocks(rows.base, members, np.ones(index.size)) if rows.whole is rows else None
        if sums is None:
            return None
        where, d = parts[0][0], rows.base.shape[1]
        total = [[Fraction(0)] * (self.width + 1) for _ in range(self.width + 1)]
        for j in range(d):
            for k in range(d):
                means = sum((sums[j][g] * sums[g][k] / sums[g][g] for g in range(d, len(sums))), Fraction(0))
                total[where.start + j][where.start + k] = Fraction(float(weights[0])) * (sums[j][k] - means)
        return total


def gram_of_blocks(rows: Rows, beside: Array, weights: Array) -> Matrix | None:
    """sum_i weights_i (x_i, b_i)'(x_i, b_i), x_i the rows and b_i those of an array beside them; None where doubles
    would round an entry. Of rows that are read by block each block's sum is made where it is: sums of rationals are
    the same in any order."""
    if rows.by_block is not rows:
        return _gram_beside(rows, beside, weights)
    total: Matrix | None = None
    for part in rows.by_block.each(_gram_beside, beside, weights):
        if part is None:
            return None
        total = part if total is None else added(total, part)
    return total


def _gram_beside(rows: Rows, beside: Array, weights: Array) -> Matrix | None:
    used = np.flatnonzero(weights)
    doubles = rows.exact_doubles(used)
    if doubles is None:
        return None
    return weighted_product(np.hstack([doubles, beside[used]]), weights[used])


def weighted_product(rows: Array, weights: Array) -> Matrix:
    """sum_i weights_i r_i'r_i of rows of doubles: weight by weight where these are few."""
    different = np.unique(weights)
    if different.size > MAX_DISTINCT_WEIGHTS:
        exact = as_fractions(rows)
        weighed = [[Fraction(w) * v for v in row] for w, row in zip(weights.tolist(), exact, strict=True)]
        return rational_product(exact, weighed)
    total = [[Fraction(0)] * rows.shape[1] for _ in range(rows.shape[1])]
    for weight in different.tolist():
        chosen = rows if different.size == 1 else rows[weights == weight]
        total = added(total, product(chosen, chosen), Fraction(weight))
    return total


def compared(first: AffineRows, second: AffineRows, z: Sequence[Fraction], moving: bool = False) -> NDArray[np.int8]:
    """The sign of (R z + s) of the first rows minus that of the second, for each pair of rows; of R z alone where only
    a direction is asked for."""
    one = Fraction(0 if moving else 1)
    if first.size <= MAX_RATIONAL_ROWS:
        values = [a - b for a, b in zip(first.few_values([*z, one]), second.few_values([*z, one]), strict=True)]
        return _sign_array(values)
    point = [*z, one, *(-value for value in z), -one]
    m = first.width + 1
    both = JoinedRows(first.size, 2 * m, [(slice(0, m), first.whole), (slice(m, 2 * m), second.whole)])
    return exact_signs(both, point)


def _listed(weights: Weights) -> list[Any]:
    return weights if isinstance(weights, list) else weights.tolist()


def _sign_array(values: Iterable[Fraction]) -> NDArray[np.int8]:
    return np.array([(value > 0) - (value < 0) for value in values], dtype=np.int8)


def added(total: Matrix, other: Matrix, factor: Fraction | int = 1) -> Matrix:
    """total + factor other."""
    return [[a + factor * b for a, b in zip(u, v, strict=True)] for u, v in zip(total, other, strict=True)]
