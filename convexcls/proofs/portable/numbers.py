"""Numbers of a certificate file: text, read by a strict pattern with caps.

``p`` and ``p/q`` are what they say; text with a point or an exponent is the double nearest to it. An exponent makes
huge numbers of short text, and a denominator of its own for every entry makes sums that grow without end: both are
capped before any arithmetic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from convexcls.rational.numbers import nearest_double

#: No numerator and no denominator has more digits.
MAX_DIGITS = 4_000
#: The numbers of one block have a common denominator of at most so many bits.
MAX_DENOMINATOR_BITS = 20_000

_RATIONAL = re.compile(rf"(-?[0-9]{{1,{MAX_DIGITS}}})(?:/([1-9][0-9]{{0,{MAX_DIGITS - 1}}}))?")
#: Plain decimal notation, as Python writes a double and as a cell of a table may hold it.
DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?")


class CertificateError(ValueError):
    """A file that is not a certificate; the message names the field and what is wrong with it."""


def read_number(text: Any, where: str) -> Fraction:
    """The number that a text stands for."""
    if not isinstance(text, str):
        raise CertificateError(f"{where} is not text: numbers are written as '1/3' or '0.25'")
    if found := _RATIONAL.fullmatch(text):
        return Fraction(int(found[1]), int(found[2] or 1))
    if not DECIMAL.fullmatch(text):
        raise CertificateError(f"{where} is {_short(text)}: it must be written as p, as p/q or as a decimal number")
    double = float(text)
    if not math.isfinite(double):
        raise CertificateError(f"{where} is {_short(text)}: it is beyond the range of doubles")
    return Fraction(double)


def read_numbers(texts: Iterable[Any], where: str) -> list[Fraction]:
    """Numbers that will be added up."""
    out, below = [], 1
    for text in texts:
        out.append(read_number(text, where))
        below = math.lcm(below, out[-1].denominator)
        if below.bit_length() > MAX_DENOMINATOR_BITS:
            raise CertificateError(
                f"{where} has no common denominator of a bearable size ({MAX_DENOMINATOR_BITS} bits)"
            )
    return out


def write_number(value: float | int | Fraction) -> str:
    """The text of a number: a double by its shortest digits, a rational as p or p/q."""
    if isinstance(value, Fraction):
        nearest = nearest_double(value)
        return repr(nearest) if nearest is not None and value.denominator != 1 else _digits(value)
    return repr(float(value))


def _digits(value: Fraction) -> str:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 3.32 * MAX_DIGITS:
        raise CertificateError(f"a number has more than {MAX_DIGITS} digits: it is too long for a portable certificate")
    return str(value)


def _short(text: str) -> str:
    shown = ascii(text[:40])
    return shown if len(text) <= 40 else f"{shown[:-1]}...'"
