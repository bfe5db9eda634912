"""Numbers known up to rounding: a ball is a double with a bound on its distance from the true number.

Doubles are rounded to nearest: fl(a op b) = (a op b)(1 + e) with |e| <= u = 2^-53, and a product that underflows is
off by at most eta = 2^-1074. A sum of k products, added up in whatever order and with or without fused operations, is
off by at most

    gamma_k sum |a_i| |b_i| + k eta,        gamma_k = k u / (1 - k u)                    (Higham 2002, section 3.1)

A bound is itself worked out in doubles, from nonnegative numbers in a few operations: ``raised`` makes up for that.
What is too large for a double becomes infinite or not a number, and whoever asks for an end of such a ball gets an
infinite one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array

#: More than the relative rounding of sixty operations on nonnegative numbers.
RAISE = 1.0 + 2.0**-46
#: Roundings besides those of a sum: of an entry, the factors of its row and column, the shift and the bound.
ROUNDINGS_BESIDE_SUM = 12
#: So many numbers at a time become Python's.
BLOCK_NUMBERS = 65536


def gamma(k: float) -> float:
    """k u / (1 - k u), rounded up; infinite where that says nothing."""
    return k * UNIT_ROUNDOFF / (1.0 - k * UNIT_ROUNDOFF) * RAISE if k * UNIT_ROUNDOFF < 0.01 else math.inf


def raised(bound: Any) -> Any:
    """At least the true value of a bound that was worked out in doubles; 0 stays 0, and what is not a number too."""
    values = np.asarray(bound, dtype=float)
    out = values * RAISE
    return np.add(out, 8 * ETA, out=out, where=values > 0) if values.ndim else out + 8 * ETA * (values > 0)


def raised_number(bound: float) -> float:
    """The same of one bound."""
    return bound * RAISE + 8 * ETA if bound > 0 else bound


@dataclass(frozen=True, eq=False)
class Ball:
    """Numbers within ``rad`` of ``mid``, entry by entry."""

    mid: Array
    rad: Array

    @classmethod
    def exact(cls, values: Any) -> Ball:
        """Doubles that are what they are."""
        mid = np.asarray(values, dtype=float)
        return cls(mid, np.zeros(mid.shape))

    @classmethod
    def joined(cls, balls: Sequence[Ball]) -> Ball:
        """The numbers of several balls, one after the other."""
        return cls(np.concatenate([np.ravel(b.mid) for b in balls]), np.concatenate([np.ravel(b.rad) for b in balls]))

    @property
    def high(self) -> Array:
        """Upper ends."""
        return _or(np.where(self.rad == 0, self.mid, np.nextafter(self.mid + self.rad, np.inf)), np.inf)

    @property
    def low(self) -> Array:
        """Lower ends."""
        return _or(np.where(self.rad == 0, self.mid, np.nextafter(self.mid - self.rad, -np.inf)), -np.inf)

    @property
    def size(self) -> Array:
        """The largest absolute values."""
        return _or(np.where(self.rad == 0, np.abs(self.mid), raised(np.abs(self.mid) + self.rad)), np.inf)

    def __add__(self, other: Ball) -> Ball:
        mid = self.mid + other.mid
        exact = (self.mid == 0) | (other.mid == 0)
        return Ball(mid, raised(self.rad + other.rad + np.where(exact, 0.0, UNIT_ROUNDOFF * np.abs(mid))))

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad)

    def __sub__(self, other: Ball) -> Ball:
        return self + (-other)

    def __mul__(self, other: Ball) -> Ball:
        mid = self.mid * other.mid
        spread = np.abs(self.mid) * other.rad + np.abs(other.mid) * self.rad + self.rad * other.rad
        spread = spread + UNIT_ROUNDOFF * np.abs(mid) + 4 * ETA
        nothing = ((self.mid == 0) & (self.rad == 0)) | ((other.mid == 0) & (other.rad == 0))
        return Ball(np.where(nothing, 0.0, mid), np.where(nothing, 0.0, raised(spread)))

    def times(self, factor: Array | float) -> Ball:
        """Multiplied by doubles; without rounding where they are all 1 or -1."""
        if np.all(np.abs(factor) == 1.0):
            return Ball(self.mid * factor, self.rad)
        return self * Ball.exact(factor)

    def widened(self, rad: Any) -> Ball:
        """With more room."""
        return Ball(self.mid, raised(self.rad + rad))

    def at(self, index: Any) -> Ball:
        """Some of the numbers."""
        return Ball(self.mid[index], self.rad[index])

    def with_part(self, index: Any, part: Ball) -> Ball:
        """With other numbers in some places."""
        mid, rad = self.mid.copy(), self.rad.copy()
        mid[index], rad[index] = part.mid, part.rad
        return Ball(mid, rad)

    def total(self) -> Ball:
        """Their sum."""
        mid = _rounded_once(self.mid)
        spread = float(np.sum(self.rad)) * (1.0 + 4.0 * self.rad.size * UNIT_ROUNDOFF)
        return Ball(np.asarray(mid), np.asarray(raised(spread + 2 * UNIT_ROUNDOFF * abs(mid))))

    def squared(self) -> Ball:
        """Their squares, which are not negative."""
        mid = self.mid * self.mid
        spread = 2.0 * np.abs(self.mid) * self.rad + self.rad * self.rad + UNIT_ROUNDOFF * mid + 4 * ETA
        nothing = (self.mid == 0) & (self.rad == 0)
        return Ball(mid, np.where(nothing, 0.0, raised(spread)))

    def half(self) -> Ball:
        """Half of them: exact, unless a half underflows."""
        nothing = (self.mid == 0) & (self.rad == 0)
        return Ball(0.5 * self.mid, raised(0.5 * self.rad + np.where(nothing, 0.0, ETA)))

    def norm(self) -> float:
        """At least their Euclidean norm."""
        return math.sqrt(max(float(self.squared().total().high), 0.0)) * (1.0 + 4 * UNIT_ROUNDOFF)


def spread(ball: Ball, g: float) -> Array:
    """At least g |mid| + (1 + g) rad, where products may underflow: what rows of any size are then multiplied with."""
    return np.asarray(g * np.abs(ball.mid) + (1.0 + 2 * g) * ball.rad + np.where(ball.size > 0, 2 * ETA, 0.0))


def square_over(size: Array, p: Any) -> Array:
    """At least size^2 / 2p, p > 0; the square alone may be beyond the range of doubles."""
    some = np.where(size > 0, ETA, 0.0)
    return np.asarray(raised(0.5 * size * (size / p + some)) + some)


def powers_of_two(sizes: Array, rounded: Callable[[Array], Array]) -> Array:
    """The powers of two that are not above the sizes (``np.floor``) or not below (``np.ceil``); 0 for 0."""
    return np.where(sizes > 0, np.exp2(rounded(np.log2(np.where(sizes > 0, sizes, 1.0)))), 0.0)


def _rounded_once(values: Array) -> float:
    """The sum of doubles, rounded once; not a number where it overflows."""
    flat = np.ravel(values)
    parts = (flat[start : start + BLOCK_NUMBERS].tolist() for start in range(0, flat.size, BLOCK_NUMBERS))
    try:
        return math.fsum(chain.from_iterable(parts))
    except (OverflowError, ValueError):
        return math.nan


def upward_sum(values: Array) -> float:
    """At least the sum of nonnegative numbers."""
    total = float(np.sum(values))
    return math.inf if math.isnan(total) else float(raised(total * (1.0 + 4.0 * np.size(values) * UNIT_ROUNDOFF)))


def _or(values: Array, otherwise: float) -> Array:
    return np.where(np.isnan(values), otherwise, values)
