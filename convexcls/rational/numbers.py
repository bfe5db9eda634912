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


class GivenNumber(float):
    """A double that remembers the rational it was given as: arithmetic takes it for the double, ``Fraction`` and
    ``exactly`` for the rational.

    >>> from fractions import Fraction
    >>> from convexcls.rational.numbers import GivenNumber, exactly
    >>> tenth = GivenNumber(Fraction(1, 10))
    >>> tenth + 0.2, str(exactly(tenth)), str(Fraction(tenth))
    (0.30000000000000004, '1/10', '1/10')
    """

    given: Fraction

    def __new__(cls, given: Fraction) -> GivenNumber:
        out = super().__new__(cls, to_double(given))
        out.given = given
        return out

    def as_integer_ratio(self) -> tuple[int, int]:
        return self.given.numerator, self.given.denominator

    def __reduce__(self) -> tuple[type[GivenNumber], tuple[Fraction]]:
        return GivenNumber, (self.given,)


def remembered_number(value: Fraction) -> float:
    """The double nearest to a rational, which remembers the rational where it is another number."""
    double = nearest_double(value)
    return GivenNumber(value) if double is None else double


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
