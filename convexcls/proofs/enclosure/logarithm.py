"""Logarithms of rationals, and pi, between rational ends: whole numbers of units 2^-bits, with every error counted.

log m = 2 artanh t,  t = (m - 1) / (m + 1),         artanh t = t + t^3/3 + t^5/5 + ...,  |t| <= 1/3
pi = 16 arctan 1/5 - 4 arctan 1/239                  (Machin)
"""

from __future__ import annotations

from fractions import Fraction

from convexcls.proofs.enclosure.result import Interval


def log_interval(value: Fraction, bits: int) -> Interval:
    """Numbers around log(value), for value > 0, about 2^-bits apart, or 2^-bits of the binary exponent."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    m = value / Fraction(2) ** exponent  # between 1/2 and 2
    if m > Fraction(4, 3):
        m, exponent = m / 2, exponent + 1
    low, high = _near_one(m, bits)
    two = _near_one(Fraction(4, 3), bits), _near_one(Fraction(2, 3), bits)  # log 2 = log 4/3 - log 2/3
    ends = (exponent * (two[0][0] - two[1][1]), exponent * (two[0][1] - two[1][0]))
    return low + min(ends), high + max(ends)


def _near_one(m: Fraction, bits: int) -> Interval:
    """log m for 1/2 <= m <= 4/3. With t in units, rounded down (which costs 9/4 units of 2 artanh t, as its slope is
    at most that), a power t^(2j+1) is below the true one by less than 3/2 units, and its part of the sum by less than
    3; what is left out behind the last power is less than 3."""
    t = (m - 1) / (m + 1)
    sign, unit = (-1 if t < 0 else 1), 1 << bits
    power = whole = (abs(t).numerator << bits) // abs(t).denominator
    square, total, j = whole * whole >> bits, 0, 0
    while power:
        total += power // (2 * j + 1)
        power, j = power * square >> bits, j + 1
    low, high = sorted((sign * 2 * total, sign * (2 * total + 6 * j + 16)))
    return Fraction(low, unit), Fraction(high, unit)


def pi_interval(bits: int) -> Interval:
    """Numbers around pi."""
    parts = [_arctan(5, bits), _arctan(239, bits)]
    return 16 * parts[0][0] - 4 * parts[1][1], 16 * parts[0][1] - 4 * parts[1][0]


def _arctan(q: int, bits: int) -> Interval:
    """arctan 1/q: every power and every part of the sum is off by less than 2 units."""
    power, total, j = (1 << bits) // q, 0, 0
    while power:
        total += (-1) ** j * (power // (2 * j + 1))
        power, j = power // (q * q), j + 1
    off = 4 * j + 4
    return Fraction(total - off, 1 << bits), Fraction(total + off, 1 << bits)
