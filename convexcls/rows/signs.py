"""The sign of R x - shift for every row, without rounding.

Almost all rows are decided by doubles: the computed value s of a sum of k products differs from the true one by at most

    gamma (|R| |x| + |shift|) + underflow,        gamma = (k + c) 2^-53 / (1 - (k + c) 2^-53)

in whatever order it is added up, where c counts the roundings besides: of the entries, of x, of the factors of rows, of
the difference. Only the rows with |s| below that bound are worked out without rounding: by expansions
where x is made of few digits, otherwise in rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from convexcls.rows import expansion
from convexcls.rows.base import Array, Rows
from convexcls.rows.columns import chosen_columns

UNIT = 2.0**-53
TINY = 2.0**-1074
#: Roundings besides those of the sum: entry, factors of its row and column, x, shift, their difference, this bound.
BESIDES = 16
#: So many borderline rows are worked out at a time.
BLOCK = 4096


def exact_signs(rows: Rows, x: Sequence[Fraction], shift: Sequence[Fraction] | Fraction | int = 0) -> NDArray[np.int8]:
    """-1, 0 or 1 for each row: the sign of R_i x - shift_i, where R is as the data were given."""
    out = np.zeros(rows.shape[0], dtype=np.int8)
    unsure = _filtered(rows, x, shift, out)
    possible = unsure.size and isinstance(shift, (Fraction, int)) and not shift
    plain = expansion.as_doubles(x) if possible else None
    used = np.flatnonzero(plain) if plain is not None else np.empty(0, dtype=np.intp)
    for start in range(0, unsure.size, BLOCK):
        some = unsure[start : start + BLOCK]
        doubles = None if plain is None else rows.exact_doubles(some)
        if plain is not None and doubles is not None:
            signs = expansion.product_signs(doubles[:, used], plain[used])
            if signs is not None:
                out[some] = signs
                continue
        for i, value in zip(some.tolist(), exact_values(rows, x, shift, some), strict=True):
            out[i] = (value > 0) - (value < 0)
    return out


def exact_values(
    rows: Rows, x: Sequence[Fraction], shift: Sequence[Fraction] | Fraction | int, index: NDArray[np.intp]
) -> list[Fraction]:
    """R_i x - shift_i for some rows."""
    used = [j for j, value in enumerate(x) if value]
    factors, out = [x[j] for j in used], []
    exactly = chosen_columns(rows[index], np.array(used, dtype=np.intp)).rational()
    for i, row in zip(index.tolist(), exactly, strict=True):
        s = shift if isinstance(shift, (Fraction, int)) else shift[i]
        out.append(sum((v * f for v, f in zip(row, factors, strict=True) if v), Fraction(0)) - s)
    return out


def _filtered(
    rows: Rows, x: Sequence[Fraction], shift: Sequence[Fraction] | Fraction | int, out: NDArray[np.int8]
) -> NDArray[np.intp]:
    """Write down the signs that doubles decide; the rows that are left."""
    n, d = rows.shape
    every = np.arange(n)
    one = isinstance(shift, (Fraction, int))
    double_x, double_shift = doubles(x), doubles([shift] if one else shift)  # type: ignore[list-item,arg-type]
    if not np.isfinite(rows.rounding) or double_x is None or double_shift is None:
        return every
    count = d + BESIDES
    gamma = count * UNIT / (1.0 - count * UNIT)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        value = rows @ double_x - double_shift
        reach = abs(rows) @ np.abs(double_x) + np.abs(double_shift)
        sure = np.abs(value) > 2.0 * (gamma * reach + 4 * count * TINY)  # twice: the bound is rounded, too
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
