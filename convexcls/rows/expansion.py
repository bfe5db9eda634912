"""Signs of sums of products of doubles without rounding, for many rows at once.

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

from convexcls.rows.base import Array

#: Within these powers of two nothing overflows or underflows.
RANGE = 2.0**400
SPLIT = 134217729.0  # 2^27 + 1
#: More terms than this are left to rationals.
MOST_TERMS = 200


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


def product_signs(matrix: Array, x: Array) -> NDArray[np.int8] | None:
    """The sign of each row times x; None where numbers are too large, too small, or too many."""
    sizes = np.abs(matrix)
    outside = (sizes > RANGE) | ((sizes < 1.0 / RANGE) & (sizes > 0))
    if 2 * x.size > MOST_TERMS or np.any(outside):
        return None
    parts: list[Array] = []
    for column, factor in zip(np.ascontiguousarray(matrix.T), x.tolist(), strict=True):
        if abs(factor) == 1.0:
            parts = _grown(parts, column * factor)
            continue
        high = column * factor
        parts = _grown(_grown(parts, _error(column, factor, high)), high)
    out = np.zeros(matrix.shape[0])
    for part in parts:  # the last that is not 0 has the say
        out = np.where(part != 0.0, part, out)
    return np.sign(out).astype(np.int8)


def _error(column: Array, factor: float, high: Array) -> Array:
    """What is missing in the rounded product."""
    a, b = column * SPLIT, factor * SPLIT
    head, factor_head = a - (a - column), b - (b - factor)
    tail, factor_tail = column - head, factor - factor_head
    return ((head * factor_head - high) + head * factor_tail + tail * factor_head) + tail * factor_tail


def _grown(parts: list[Array], term: Array) -> list[Array]:
    """The expansion with one more term."""
    out = []
    for part in parts:
        total = term + part
        other = total - term
        out.append((term - (total - other)) + (part - other))
        term = total
    out.append(term)
    return out
