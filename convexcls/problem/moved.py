"""Samples measured from elsewhere: a number subtracted from each column, where that is exact or rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import issparse

from convexcls.arrays import Array
from convexcls.data import Given
from convexcls.rows import DenseRows, Rows, SparseRows

#: A column is far from zero where its values differ by less than this fraction of their size.
FAR = 1.0 / 32.0
#: So many rows show for almost every column that it is not.
FIRST_ROWS = 64


def far_columns(rows: Rows) -> Array | None:
    """For each column a double that its values differ from exactly, near their middle where they are far from zero and
    0 where they are not; None where all are 0. Entries that are not stored are not looked at: a sparse column stays
    one."""
    n, matrix = rows.shape[0], rows.in_memory()
    if issparse(matrix):
        far = np.flatnonzero(rows.entry_counts()[1] == n)
        columns = matrix.tocsc()[:, far].toarray() if far.size else np.zeros((n, 0))
    else:
        first = matrix[:FIRST_ROWS]
        far = np.flatnonzero(_is_far(first.min(axis=0, initial=np.inf), first.max(axis=0, initial=-np.inf)))
        columns = matrix[:, far]
    if not far.size or not n:
        return None
    out = np.zeros(rows.shape[1])
    out[far] = _middle(columns.min(axis=0), columns.max(axis=0))
    return out if np.any(out) else None


def _is_far(low: Array, high: Array) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        return (high - low <= FAR * np.maximum(np.abs(low), np.abs(high))) & (low * np.sign(high) > 0)


def _middle(low: Array, high: Array) -> Array:
    """A number of few digits between low and high, 0 where these are not far from zero. Both have one sign and differ
    by less than a factor of two: then every difference of a value from it is a double (Sterbenz)."""
    spread = high - low
    grid = np.ldexp(1.0, np.frexp(spread)[1] - 3)  # at most a quarter of the spread
    middle = low + 0.5 * spread
    coarse = np.where(spread > 0, grid * np.rint(middle / np.where(spread > 0, grid, 1.0)), low)
    within = np.isfinite(coarse) & (low <= coarse) & (coarse <= high)
    return np.where(_is_far(low, high), np.where(within, coarse, low), 0.0)


def moved(rows: Rows, shift: Array) -> Rows:
    """``R - 1 shift'`` for a shift that ``far_columns`` found. Of entries that doubles round, the differences are
    rounded, not the entries: what they differ by may be all that they say."""
    given = None if rows.given is None else GivenMoved(rows.given, tuple(Fraction(s) for s in shift.tolist()))
    matrix = rows.in_memory()
    if not issparse(matrix):
        return DenseRows(matrix - shift if given is None else _rounded(given, rows.shape[0]), given)
    matrix = matrix.tocsc(copy=True)
    columns = np.repeat(np.arange(shift.size), np.diff(matrix.indptr))
    if given is None:
        matrix.data -= shift[columns]
    else:
        matrix.data = _rounded(given, rows.shape[0])[matrix.indices, columns]
    return SparseRows(matrix, given)


def _rounded(given: GivenMoved, n: int) -> Array:
    return np.array([[float(value) for value in given.row(i)] for i in range(n)])


@dataclass(frozen=True, eq=False)
class GivenMoved:
    """A table of exact entries with a number subtracted from each column."""

    table: Given
    shift: tuple[Fraction, ...]

    def row(self, i: int) -> list[Fraction]:
        return [value - s for value, s in zip(self.table.row(i), self.shift, strict=True)]

    def take(self, rows: Any) -> GivenMoved:
        return GivenMoved(self.table.take(rows), self.shift)

    def columns(self, chosen: Any) -> GivenMoved:
        return GivenMoved(self.table.columns(chosen), tuple(self.shift[j] for j in np.asarray(chosen).tolist()))
