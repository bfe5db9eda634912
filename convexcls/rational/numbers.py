"""Numbers without rounding."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from typing import Any

#: Tables of more entries are not worked on in rationals, which takes a second there, nor are matrices of more rows
#: (of a kernel, of an objective) multiplied.
MAX_RATIONAL_ENTRIES, MAX_RATIONAL_MATRIX_ROWS = 20_000, 60
#: Text with more characters is not a number that anybody measured.
MAX_NUMBER_CHARACTERS = 1000
#: Powers of ten beyond this are refused: they would take all memory.
MAX_POWER_OF_TEN = 10_000
_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?", re.ASCII)


def exactly(value: Any) -> Fraction:
    """A finite number (integer, double, Fraction, Decimal) or decimal text as a rational; ``ValueError`` for others."""
    if isinstance(value, str):
        return read_exactly(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a finite number")
        return read_exactly(str(value))  # the caps hold for decimals, too
    if hasattr(value, "item") and not isinstance(value, Fraction):  # a NumPy scalar; a long double stays one
        value = value.item()
    if isinstance(value, (int, float, Fraction)):
        try:
            return Fraction(value)
        except OverflowError:
            raise ValueError(f"{value!r} is not a finite number") from None
    numerator, denominator = value.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def read_exactly(text: str) -> Fraction:
    """Decimal text, such as -12.5e-3, as a rational; ``ValueError`` where it is none, or beyond all measure."""
    text = text.strip()
    found = _NUMBER.fullmatch(text) if len(text) <= MAX_NUMBER_CHARACTERS else None
    if found is None or not (found[2] or found[3]):
        raise ValueError(f"{text[:40]!r} is not a decimal number")
    sign, whole, fraction, power = found[1], found[2], found[3] or "", int(found[4] or 0)
    if abs(power) > MAX_POWER_OF_TEN:
        raise ValueError(f"{text[:40]!r} is beyond the powers of ten that are taken ({MAX_POWER_OF_TEN})")
    digits = int(f"{sign}{whole}{fraction}")
    power -= len(fraction)
    return Fraction(digits * 10**power) if power >= 0 else Fraction(digits, 10**-power)


@cache
def has_flint() -> bool:
    """Whether python-flint is installed."""
    return find_spec("flint") is not None


def to_double(value: Fraction) -> float:
    """The nearest double; an infinity where there is none."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def nearest_double(value: Fraction) -> float | None:
    """The double that a rational is; None where it is none."""
    if abs(value) >= 2**1023:
        return None
    double = value.numerator / value.denominator
    return double if double == value else None
