"""The sign of R x for every row, without rounding.

Almost all rows are decided by doubles: the computed value s of a sum of k products differs from the true one by at most

    gamma |R| |x| + underflow,        gamma = (k + c) 2^-53 / (1 - (k + c) 2^-53)

in whatever order it is added up, where c counts the roundings besides: of the entries, of x, of the factors of rows.
Only the rows with |s| below that bound are worked out without rounding: by expansions where x is made of few digits,
otherwise in rationals.

A product of two doubles is the sum of two doubles exactly (Dekker 1971), and so is a sum (Knuth). Terms are added one
by one to an expansion: doubles that do not overlap, in rising order, whose sum is that of all terms so far without
rounding (Shewchuk 1997). Its sign is that of the last one that is not 0. All of it is arithmetic on whole columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import LARGEST_EXACT_INTEGER, Array, Indices
from convexcls.rows.base import Rows
from convexcls.rows.doubled import two_product, two_sum
from convexcls.rows.summation import distinct_rows, rounding, row_blocks

#: Of more borderline rows those that are alike are told apart first.
MAX_UNGROUPED_ROWS = 200
#: Within these powers of two nothing overflows or underflows.
RANGE = 2.0**400
#: More terms than this are left to rationals.
MAX_TERMS = 200


def exact_signs(rows: Rows, x: Sequence[Fraction]) -> NDArray[np.int8]:
    """-1, 0 or 1 for each row: the sign of R_i x, where R is as the data were given."""
    out = np.zeros(rows.shape[0], dtype=np.int8)
    used = np.flatnonzero([bool(value) for value in x])
    if used.size < len(x):  # the other columns have no part
        rows, x = rows.select_columns(used), [x[j] for j in used.tolist()]
    unsure = _filtered(rows, x, out)
    if unsure.size > MAX_UNGROUPED_ROWS and rows.rounding == 0.0:
        few = distinct_rows(rows[unsure].to_dense())  # entries that are equal have the same sign
        if few is not None:
            out[unsure] = exact_signs(rows[unsure[few[0]]], x)[few[1]]
            return out
    plain = as_doubles(x) if unsure.size else None
    for block in row_blocks(unsure.size):
        some = unsure[block]
        signs = None if plain is None else _expanded(rows, some, plain)
        out[some] = [(v > 0) - (v < 0) for v in exact_values(rows, x, some)] if signs is None else signs
    return out


def exact_values(rows: Rows, x: Sequence[Fraction], index: Indices) -> list[Fraction]:
    """R_i x for some rows."""
    used = [j for j, value in enumerate(x) if value]
    factors = [x[j] for j in used]
    exactly = rows[index].select_columns(np.array(used, dtype=np.intp)).rational()
    return [sum((v * f for v, f in zip(row, factors, strict=True) if v), Fraction(0)) for row in exactly]


def _filtered(rows: Rows, x: Sequence[Fraction], out: NDArray[np.int8]) -> Indices:
    """Write down the signs that doubles decide; the rows that are left."""
    every, nearest = np.arange(rows.shape[0]), doubles(x)
    if not np.isfinite(rows.rounding) or nearest is None:
        return every
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        value = rows @ nearest
        reach = abs(rows) @ np.abs(nearest)
        sure = np.abs(value) > 2.0 * rounding(reach, rows.shape[1])  # twice: the bound is rounded, too
    sure &= np.isfinite(reach)
    out[sure] = np.sign(value[sure]).astype(np.int8)
    return every[~sure]


def doubles(values: Sequence[Fraction]) -> Array | None:
    """The nearest doubles, each to full relative accuracy; None where one is beyond their range."""
    try:
        out = np.array([float(value) for value in values])
    except OverflowError:
        return None
    small = np.abs(out) < 2.0**-960
    return None if any(values[k] for k in np.flatnonzero(small).tolist()) else out


# ---- expansions --------------------------------------------------------------------------------------------


def as_doubles(values: Sequence[Fraction]) -> Array | None:
    """The values times one positive number, as doubles without rounding; None where they have too many digits."""
    common = lcm(*(value.denominator for value in values))
    whole = [value.numerator * (common // value.denominator) for value in values]
    longest = max((abs(value).bit_length() for value in whole), default=0)
    zeros = min(((value & -value).bit_length() - 1 for value in whole if value), default=0)
    if longest - zeros > 390 or any(_digits(value) > 53 for value in whole):
        return None
    return np.array([float(value >> zeros) for value in whole])


def _digits(value: int) -> int:
    """How many digits in base two there are from the first to the last that is not 0."""
    return abs(value).bit_length() - ((value & -value).bit_length() - 1) if value else 0


def _expanded(rows: Rows, index: Indices, x: Array) -> NDArray[np.int8] | None:
    """The signs of some rows times x, by expansions; None where these do not do."""
    exactly, used = rows.exact_doubles(index), np.flatnonzero(x)
    return None if exactly is None else product_signs(exactly[:, used], x[used])


def product_signs(matrix: Array, x: Array) -> NDArray[np.int8] | None:
    """The sign of each row times x; None where numbers are too large, too small, or too many."""
    sizes = np.abs(matrix)
    with np.errstate(over="ignore"):
        small = np.all(sizes @ np.abs(x) < LARGEST_EXACT_INTEGER)
    if small and all(np.array_equal(v, np.rint(v)) for v in (x, matrix)):
        return np.sign(matrix @ x).astype(np.int8)  # whole numbers, and so are all sums
    outside = (sizes > RANGE) | ((sizes < 1.0 / RANGE) & (sizes > 0))
    if 2 * x.size > MAX_TERMS or np.any(outside):
        return None
    parts: list[Array] = []
    for column, factor in zip(np.ascontiguousarray(matrix.T), x.tolist(), strict=True):
        if abs(factor) == 1.0:
            parts = _grown(parts, column * factor)
            continue
        high, lost = two_product(column, factor)
        parts = _grown(_grown(parts, lost), high)
    out = np.zeros(matrix.shape[0])
    for part in parts:  # the last that is not 0 has the say
        out = np.where(part != 0.0, part, out)
    return np.sign(out).astype(np.int8)


def _grown(parts: list[Array], term: Array) -> list[Array]:
    """The expansion with one more term."""
    out = []
    for part in parts:
        term, lost = two_sum(term, part)
        out.append(lost)
    return [*out, term]
