"""Rows that were worked out from data and rounded, and sums over samples without rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array, Indices, Mask
from convexcls.rows.base import Rows
from convexcls.rows.in_memory import DenseRows
from convexcls.rows.scaled import ColumnRows
from convexcls.rows.summation import additions, row_blocks

#: The lower half of a double's 53 bits.
HALF = 27


def exact_sum(rows: Rows, weights: Array) -> list[Fraction]:
    """``R' weights`` without rounding, one rational a column, of the entries as they were given."""
    left, core, right = rows.factors()
    if core is not rows and (left is None or np.all(np.abs(left) == 1.0)):  # labels
        inner = exact_sum(core, weights if left is None else weights * left)
        scales = np.ones(rows.shape[1]) if right is None else right
        return [Fraction(scale) * value for scale, value in zip(scales.tolist(), inner, strict=True)]
    if rows.by_block is rows:  # each block's sums where it is: they are the same in any order
        parts = list(rows.by_block.each(exact_sum, weights))
        return [sum(column, Fraction(0)) for column in zip(*parts, strict=True)]
    used = np.flatnonzero(weights)
    if rows.is_ones:
        return [_sum_of_doubles(weights[used])]
    array = rows.in_memory()
    if isinstance(array, np.ndarray) and rows.rounding == 0.0 and np.all(np.abs(weights[used]) == 1.0):
        sums, known = _sums_of_whole_numbers(array, used, weights)
        return [
            Fraction(total) if exact else _sum_of_doubles(array[used, j] * weights[used])
            for j, (total, exact) in enumerate(zip(sums.tolist(), known.tolist(), strict=True))
        ]
    out = [Fraction(0)] * rows.shape[1]
    for weight, row in zip(weights[used].tolist(), rows.rational(used), strict=True):
        factor = Fraction(weight)
        out = [total + factor * value for total, value in zip(out, row, strict=True)]
    return out


def _sums_of_whole_numbers(array: Array, used: Indices, signs: Array) -> tuple[Array, Mask]:
    """The sums of the columns over some rows, and which of them are of whole numbers that doubles add up exactly."""
    sums, sizes = np.zeros((2, array.shape[1]))
    whole = np.ones(array.shape[1], dtype=bool)
    for block in row_blocks(used.size):
        part = array[used[block]]
        whole &= np.all(part == np.rint(part), axis=0)
        sums += signs[used[block]] @ part
        sizes += np.abs(part).sum(axis=0)
    return sums, whole & (sizes < 2.0**53)


def _sum_of_doubles(values: Array) -> Fraction:
    """The sum of doubles without rounding: whole numbers of 53 bits, added up for each power of two in two halves, of
    which 2^36 fit into 63 bits."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    high, low = whole >> HALF, whole & ((1 << HALF) - 1)
    different, place = np.unique(exponents, return_inverse=True)
    sums = np.zeros((2, different.size), dtype=np.int64)
    np.add.at(sums[0], place, high)
    np.add.at(sums[1], place, low)
    total = Fraction(0)
    for exponent, top, bottom in zip(different.tolist(), *sums.tolist(), strict=True):
        total += Fraction((top << HALF) + bottom) * Fraction(2) ** (exponent - 53)
    return total


class RoundedRows(DenseRows):
    """Rows of doubles that were worked out from data, and rounded; ``exactly`` works them out without."""

    def __init__(
        self,
        array: Array,
        exactly: Callable[[], list[list[Fraction]]],
        source: tuple[Rows, Array] | None = None,
        afar: Callable[[], Array] | None = None,
    ) -> None:
        super().__init__(array)
        self.exactly = exactly
        self._column_error = afar
        #: The rows and weights that were added up, of a single sum.
        self.source = source

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        rows = self.exactly()
        return rows if index is None else [rows[i] for i in np.arange(self.shape[0])[index].tolist()]

    def __getitem__(self, index: Any) -> DenseRows:
        return RoundedRows(self.array[index], partial(self.rational, index))  # not a lambda: that cannot be pickled

    def _some_columns(self, chosen: Indices) -> Rows:
        return ColumnRows(self, chosen)

    def column_error(self) -> Array | None:
        return None if self._column_error is None else self._column_error()

    @property
    def rounding(self) -> float:
        return float("inf")  # a sum may cancel


def summed(rows: Rows, weights: Array, given: Sequence[Fraction] | None = None) -> RoundedRows:
    """One row, R' weights: rounded, until it is asked for without rounding. ``given`` are the weights as they were
    given, where doubles round them."""
    afar = partial(_sum_error, rows, weights) if np.isfinite(rows.rounding) else None
    if given is not None:
        return RoundedRows(_added_up(rows, weights)[None, :], partial(_weighted_row, rows, tuple(given)), None, afar)
    return RoundedRows(_added_up(rows, weights)[None, :], partial(_exact_row, rows, weights), (rows, weights), afar)


def _sum_error(rows: Rows, weights: Array) -> Array:
    """How far ``_added_up`` may be off: of each product by its own rounding and that of the entry, and those of the
    sum; of sparse rows no blocks are made."""
    n = rows.shape[0]
    sums = n if _is_sparse(rows) else additions(n) + rows.extra_parts
    k = sums + rows.rounding + 5  # one for weights as given
    return np.asarray(1.02 * k * UNIT_ROUNDOFF * rows.column_max() * np.abs(weights).sum() + 8 * n * ETA)


def _added_up(rows: Rows, weights: Array) -> Array:
    """``R' weights``, every column added up in the same order: a column that is a power of two times another one keeps
    that in its sum, so that what repeats in the data repeats in the sums."""
    if _is_sparse(rows):
        return rows.T @ weights
    out = np.zeros(rows.shape[1])
    for block, matrix in rows.in_blocks():
        out += np.add.reduce(matrix * weights[block, None], axis=0)
    return out


def _weighted_row(rows: Rows, weights: Sequence[Fraction]) -> list[list[Fraction]]:
    used = [i for i, weight in enumerate(weights) if weight]
    chosen = rows.rational(np.array(used, dtype=np.intp))
    columns = zip(*chosen, strict=True)
    return [[sum((weights[i] * v for i, v in zip(used, column, strict=True)), Fraction(0)) for column in columns]]


def _is_sparse(rows: Rows) -> bool:
    core = rows.factors().core
    return issparse(rows[:1].to_matrix() if (matrix := core.in_memory()) is None and not core.is_ones else matrix)


def _exact_row(rows: Rows, weights: Array) -> list[list[Fraction]]:
    return [exact_sum(rows, weights)]
