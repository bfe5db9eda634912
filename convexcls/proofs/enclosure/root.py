"""The root of a rational, and a solution that is a root times rationals, between rational ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Any

from convexcls.proofs.enclosure.result import BITS_PER_DIGIT, Enclosure, Interval, check_digits, settled_digits

#: Bits beyond those of the digits.
SPARE_BITS = 8


def root_interval(square: Fraction, bits: int) -> Interval:
    """Numbers around the root of a positive rational, 2^-bits of it or less apart."""
    shift = bits + 1 + max(0, square.denominator.bit_length() - square.numerator.bit_length()) // 2
    below = isqrt((square.numerator << 2 * shift) // square.denominator)
    return Fraction(below, 1 << shift), Fraction(below + 1, 1 << shift)


def enclose_root(square: Fraction, ray: Mapping[str, Sequence[Fraction]], digits: int, root: Any = None) -> Enclosure:
    """The enclosure of a maximum sqrt(square) that is attained at sqrt(square) times the ray; ``root`` is its proof."""
    check_digits(digits)
    bits = int(digits * BITS_PER_DIGIT) + SPARE_BITS
    low, high = root_interval(square, bits)
    coefficients = {name: [_times(value, low, high) for value in values] for name, values in ray.items()}
    every = [(low, high), *(interval for box in coefficients.values() for interval in box)]
    reached = min(count for interval in every if (count := settled_digits(interval, Fraction(1))) is not None)
    out = Enclosure(-high, -low, coefficients, digits, reached, bits, maximised=True, root=root)
    return replace(out, proof=_WORDS.format(square, reached))


def _times(value: Fraction, low: Fraction, high: Fraction) -> Interval:
    ends = (value * low, value * high)
    return min(ends), max(ends)


_WORDS = (
    "The optimum is sqrt({}), and the solution is this root times rationals: these satisfy, without rounding, the KKT "
    "conditions of the quadratic program min 1/2 ‖coef‖^2 over all margins of at least 1. At least {} digits of every "
    "number"
)
