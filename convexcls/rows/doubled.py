"""Products in doubled precision: what is lost when a product of doubles is rounded is a double again.

    a b = p + e,    p = fl(a b),    e by Dekker's split into halves of 26 bits                       (Dekker 1971)

so that a sum of products, added up by ``math.fsum``, is rounded once, whatever cancels in it. Entries are pairs
high + low, which hold twice the digits of a double: data that were given as fractions, or that were centred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array
from convexcls.rational.numbers import to_double

#: 2^27 + 1: times a number, it splits the number's digits in the middle.
SPLIT = 134217729.0
#: Products of larger or smaller numbers may leave the range in which the split is exact.
LARGEST_SPLIT, SMALLEST_SPLIT = 2.0**480, 2.0**-480

#: What a sum by halves is off, relative to the sum of absolute values.
FOLDED_ERROR = 32.0 * UNIT_ROUNDOFF**2


class Doubled(NamedTuple):
    """Numbers high + low, off by at most 2 u^2 |high| each."""

    high: Array
    low: Array

    @classmethod
    def of(cls, values: Sequence[Sequence[Fraction]], width: int) -> Doubled:
        """Rationals, one row each; beyond the range of doubles they are infinite."""
        high = np.array([[to_double(v) for v in row] for row in values]).reshape(-1, width)
        low = np.zeros(high.shape)
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                if math.isfinite(high[i, j]):
                    low[i, j] = to_double(value - Fraction(high[i, j]))
        return cls(high, low)

    def at(self, columns: NDArray[np.intp]) -> Doubled:
        """Some of the columns."""
        return Doubled(self.high[:, columns], self.low[:, columns])

    def times(self, factor: Array) -> Doubled:
        """Multiplied by doubles, entry by entry."""
        if np.all(np.abs(factor) == 1.0):
            return Doubled(self.high * factor, self.low * factor)
        with np.errstate(all="ignore"):
            high, error = two_product(self.high, factor)
            return Doubled(*two_sum(high, error + self.low * factor))

    def minus(self, other: Doubled) -> Doubled:
        """The difference, entry by entry."""
        high, error = two_sum(self.high, -other.high)
        low_high, low_error = two_sum(self.low, -other.low)
        return Doubled(*two_sum(high, (error + low_high) + low_error))


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b rounded, and what was lost (Knuth)."""
    with np.errstate(all="ignore"):
        total = a + b
        other = total - a
        return total, (a - (total - other)) + (b - other)


def two_product(a: Array, b: Array | float) -> tuple[Array, Array]:
    """a b rounded, and what was lost, where neither leaves the range."""
    with np.errstate(all="ignore"):
        product = a * b
        c, d = SPLIT * a, SPLIT * b
        a_head, b_head = c - (c - a), d - (d - b)
        a_tail, b_tail = a - a_head, b - b_head
        return product, ((a_head * b_head - product) + a_head * b_tail + a_tail * b_head) + a_tail * b_tail


def folded(values: Array) -> tuple[Array, Array]:
    """The sums along the last axis in two doubles, of up to 2^26 numbers each, off by at most ``FOLDED_ERROR`` times
    the sums of absolute values: halves are added to each other, and what that loses likewise, log2(n) times; what is
    lost then is added up. The last sum alone is rounded, and of size log2(n) u times that of the numbers."""
    high, lost = _halved(values)
    low, rest = _halved(lost)
    return two_sum(high, low + rest.sum(axis=-1))


def _halved(values: Array) -> tuple[Array, Array]:
    """The sums along the last axis in doubles, and what was lost on the way."""
    lost = [np.zeros((*values.shape[:-1], 0))]
    while (n := values.shape[-1]) > 1:
        total, error = two_sum(values[..., : n // 2], values[..., n // 2 : 2 * (n // 2)])
        if error.any():
            lost.append(error)
        values = np.concatenate([total, values[..., -1:]], axis=-1) if n % 2 else total
    return values.sum(axis=-1), np.concatenate(lost, axis=-1)


def dots(matrix: Doubled, vector: Array, more: Doubled) -> tuple[Array, Array]:
    """Each row times the vector, plus ``more``, and a bound on the error: rounded once, but for the digits beyond the
    second double. The bound is infinite where numbers are too large or too small to be split."""
    high, error = two_product(matrix.high, vector)
    low = [matrix.low * vector] if matrix.low.any() else []
    parts = np.hstack([high, error, *low, more.high, more.low])
    with np.errstate(all="ignore"):
        value, _ = folded(parts)
        missing = FOLDED_ERROR * np.abs(parts).sum(axis=1)
        bound = 2.0 * UNIT_ROUNDOFF * np.abs(value) + product_error(matrix, vector, high) + missing
    return value, np.where(np.isfinite(value), bound, np.inf)


def product_error(matrix: Doubled, vector: Array, products: Array) -> Array:
    """What two doubles leave of the products of each row with the vector, added up."""
    with np.errstate(all="ignore"):
        reach = np.abs(products).sum(axis=1)
        bound = 16.0 * UNIT_ROUNDOFF**2 * reach + 8.0 * products.shape[1] * ETA * (reach > 0)
    fits = _splits(matrix.high, axis=1) & np.all(_splits(np.atleast_2d(vector), axis=1))
    return np.where(fits & np.isfinite(reach), bound, np.inf)


def total(values: list[float]) -> float:
    """The sum, rounded once; not a number where it overflows."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


def _splits(values: Array, axis: int) -> NDArray[np.bool_]:
    """Whether products of these numbers are split without loss."""
    size = np.abs(values)
    return np.asarray(np.all((size == 0) | ((size < LARGEST_SPLIT) & (size > SMALLEST_SPLIT)), axis=axis))
