"""Samples measured from elsewhere, and doubles chosen so that sums come out as they should all the same.

A number is subtracted from each column, where that is exact or rounded once (``moved``).

An intercept in doubles is b = b~ - w's, where b has less room than b~. With s = 1e9 and scores near one, the last place
of b counts 1e-7. But w's moves by s ulp(w) where w moves by its own last place, which is no multiple of that of b: some
w near the given one makes b~ - w's almost a double (``fitted``).

Multipliers whose sum is zero have to be so exactly, not only to rounding (``balanced``): what is left of it counts as
much as features are far from zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import issparse

from convexcls.arrays import Array
from convexcls.data import Given
from convexcls.rational.numbers import to_double
from convexcls.rows import DenseRows, Rows, SparseRows
from convexcls.rows.by_block import Extent

#: A column is far from zero where its values differ by less than this fraction of their size.
FAR_COLUMN_SPREAD = 1.0 / 32.0
#: So many rows show for almost every column that it is not.
FIRST_ROWS = 64


def far_columns(rows: Rows) -> Array | None:
    """For each column a double that its values differ from exactly, near their middle where they are far from zero and
    0 where they are not; None where all are 0. Entries that are not stored are not looked at: a sparse column stays
    one."""
    n, matrix = rows.shape[0], rows.in_memory()
    if rows.by_block is not None:
        return _middles(rows.extent)
    if issparse(matrix):
        if matrix.format == "csr" and not _in_first_rows(matrix).any():  # as of most data: no column is full
            return None
        far = np.flatnonzero(rows.entry_counts()[1] == n)
        columns = matrix.tocsc()[:, far].toarray() if far.size else np.zeros((n, 0))
    else:
        first = np.ascontiguousarray(matrix[:FIRST_ROWS].T)
        low, high = first.min(axis=1, initial=np.inf), first.max(axis=1, initial=-np.inf)
        if ((low <= 0.0) & (high >= 0.0)).all():  # as of most data: all have 0 between their values
            return None
        far = np.flatnonzero(_is_far(low, high))
        columns = matrix[:, far]
    if not far.size or not n:
        return None
    out = np.zeros(rows.shape[1])
    out[far] = _middle(columns.min(axis=0), columns.max(axis=0))
    return out if np.any(out) else None


def _in_first_rows(matrix: Any) -> Any:
    """Whether a column of a sparse matrix has an entry in each of the first rows."""
    first = min(FIRST_ROWS, matrix.shape[0])
    return np.bincount(matrix.indices[: matrix.indptr[first]], minlength=matrix.shape[1]) == first


def _middles(extent: Extent | None) -> Array | None:
    """The same of rows of which the lowest and the highest values are known, where they are dense."""
    if extent is None:
        return None
    out = _middle(extent.low, extent.high)
    return out if np.any(out) else None


def _is_far(low: Array, high: Array) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        return (high - low <= FAR_COLUMN_SPREAD * np.maximum(np.abs(low), np.abs(high))) & (low * np.sign(high) > 0)


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
    if rows.by_block is rows:
        return rows.by_block.moved(shift)
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


# ---- doubles for an intercept, multipliers whose sum is zero ------------------------------------------------------

#: An error of the intercept below this fraction of the scores is left alone.
NEGLIGIBLE_ERROR = 2.0**-46
#: So many units in the last place of a coefficient are tried, up and down.
MAX_ULPS = 4096


def at_shift(shift: Array, w: Array, b: float) -> Fraction:
    """b + w's without rounding."""
    used = np.flatnonzero((shift != 0) & (w != 0))
    products = (Fraction(u) * Fraction(v) for u, v in zip(shift[used].tolist(), w[used].tolist(), strict=True))
    return sum(products, Fraction(b))


def fitted(shift: Array, reach: Array, w: Array, b: float) -> tuple[Array, float]:
    """Coefficients within a few thousand units in the last place of w, and an intercept, that have the score b at the
    shift: of all that are tried, those with the least error of a score. ``reach`` is the largest |x - s|."""
    exact = at_shift(-shift, w, b)
    plain = to_double(exact)
    if not math.isfinite(plain):
        return w, plain
    unit, missing = Fraction(math.ulp(plain)), exact - Fraction(plain)
    if abs(missing) <= NEGLIGIBLE_ERROR * (abs(b) + float(np.abs(w) @ reach)):
        return w, plain
    best, chosen = abs(float(missing)), (0, 0.0)
    steps = np.arange(-MAX_ULPS, MAX_ULPS + 1)
    for j in np.flatnonzero((shift != 0) & (w != 0)):
        # k units in the last place of w_j move the sum by k turns of its own unit, of which only the part counts
        last = math.ulp(w[j])
        turn = float(Fraction(last) * Fraction(shift[j]) / unit % 1)
        residual = float(missing / unit) - steps * turn
        cost = float(unit) * np.abs(residual - np.rint(residual)) + np.abs(steps) * (last * reach[j])
        if cost[k := int(np.argmin(cost))] < best:
            best, chosen = float(cost[k]), (int(j), last * float(steps[k]))
    w = w.copy()
    w[chosen[0]] += chosen[1]
    return w, to_double(at_shift(-shift, w, b))


def balanced(factors: Mapping[str, Array], multipliers: Mapping[str, Array]) -> dict[str, Array]:
    """The multipliers on a common grid, some of them moved by a few of its steps, so that sum_i factor_i z_i = 0 over
    all blocks. A sum that is not zero to rounding is left as it is, and so is one without factors -1 and +1."""
    out = dict(multipliers)
    signs = {name: f for name, f in factors.items() if np.all(np.abs(f) == 1.0)}
    largest = max((float(np.abs(out[name]).max(initial=0.0)) for name in signs), default=0.0)
    if not 0.0 < largest < math.inf:
        return out
    step = math.ulp(largest)
    on_grid = {name: step * np.rint(out[name] / step) for name in factors}
    steps = _total(factors, signs, on_grid) / Fraction(step)
    count = sum(z.size for z in on_grid.values())
    if abs(steps) > 64 * count:
        return out
    out.update(on_grid)
    name = max(signs, key=lambda name: float(np.abs(out[name]).max(initial=0.0)))
    sizes = np.abs(out[name])
    movable = np.flatnonzero((sizes > 0.01 * largest) & (sizes < 0.99 * largest))  # away from the ends of a box
    movable = movable if movable.size else np.array([int(np.argmax(sizes))])
    each, rest = divmod(abs(round(steps)), movable.size)
    share = each + (np.arange(movable.size) < rest)
    out[name] = np.array(out[name])  # those of samples by block may be told by their places alone
    out[name][movable] -= math.copysign(step, steps) * signs[name][movable] * share
    return out


def _total(factors: Mapping[str, Array], signs: Mapping[str, Array], multipliers: Mapping[str, Array]) -> Fraction:
    """The sum without rounding: of signs by ``fsum``, which rounds once, and the sum has few digits."""
    total = Fraction(math.fsum(np.concatenate([f * multipliers[name] for name, f in signs.items()]).tolist()))
    for name in factors.keys() - signs:
        pairs = zip(factors[name].tolist(), multipliers[name].tolist(), strict=True)
        total += sum((Fraction(f) * Fraction(z) for f, z in pairs), Fraction(0))
    return total
