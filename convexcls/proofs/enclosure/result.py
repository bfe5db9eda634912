"""What was proved: intervals with rational ends, and the decimal digits that they settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from convexcls.problem import NoAnswer

Interval = tuple[Fraction, Fraction]
#: Bits in a decimal digit, rounded up.
BITS_PER_DIGIT = 3.33
MOST_DIGITS = 10_000


def check_digits(digits: int) -> None:
    """Refuse a number of digits that nobody can have."""
    if not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise ValueError(f"digits is {digits!r}: give a whole number from 1 to {MOST_DIGITS}")


@dataclass(frozen=True)
class Enclosure:
    """The optimum lies between ``lower`` and ``upper`` (minimised form), the coefficients between the ends given by
    variable. All ends are exact rationals.

    ``digits`` were asked for, ``reached`` are proved of every number: an interval is at most 10^-reached of its
    number wide; one that contains 0, of the size of what cancels in it. ``pinned`` are unknowns (places in x) whose
    columns depend on the others: there is no unique minimiser, and the one enclosed has 0 there. ``precision`` is the
    number of bits of the proof, ``proof`` says what was shown. ``maximised`` says that the problem reports minus the
    minimised form; ``root`` is the proof in rationals where the optimum is the root of one.
    """

    lower: Fraction
    upper: Fraction
    coefficients: Mapping[str, list[Interval]]
    digits: int
    reached: int
    precision: int
    pinned: tuple[int, ...] = ()
    proof: str = ""
    maximised: bool = False
    root: Any = None

    @property
    def unique(self) -> bool:
        """Whether the coefficients are those of the only minimiser."""
        return not self.pinned

    @property
    def middle(self) -> dict[str, list[Fraction]]:
        """The middle of each interval, by variable."""
        return {v: [(low + high) / 2 for low, high in box] for v, box in self.coefficients.items()}

    @property
    def optimum_text(self) -> str:
        """The optimum in decimals, as far as they are proved."""
        low, high = (-self.upper, -self.lower) if self.maximised else (self.lower, self.upper)
        return proved_digits(low, high, self.digits)

    def text(self, variable: str) -> list[str]:
        """The entries of a variable in decimals, as far as they are proved."""
        if variable not in self.coefficients:
            raise NoAnswer(f"there is no variable {variable!r}; there are {', '.join(self.coefficients)}")
        return [proved_digits(low, high, self.digits) for low, high in self.coefficients[variable]]


def proved_digits(low: Fraction, high: Fraction, digits: int) -> str:
    """The decimal to which every number of the interval is rounded, with as many digits as that is true for, at most
    those given. A number that may be 0 comes out as 0 with the power of ten to which that is known."""
    if low == high == 0:
        return "0"
    place = decimal_exponent(max(abs(low), abs(high))) - digits + 1
    while True:
        unit = Fraction(10) ** place
        first, last = round(low / unit), round(high / unit)
        if first == last:
            return str(Decimal((int(first < 0), tuple(map(int, str(abs(first)))), place)))
        place += 1


def decimal_exponent(value: Fraction) -> int:
    """The k with 10^k <= value < 10^(k+1), for value > 0."""
    k = int((value.numerator.bit_length() - value.denominator.bit_length()) * 0.30103) - 1
    while Fraction(10) ** (k + 1) <= value:
        k += 1
    while Fraction(10) ** k > value:
        k -= 1
    return k


def settled_digits(interval: Interval, unit: Fraction) -> int | None:
    """How many digits an interval settles: of its own number, or of the unit where it contains 0. None for a point."""
    low, high = interval
    if low == high:
        return None
    size = min(abs(low), abs(high)) if low * high > 0 else unit
    return decimal_exponent(size / (high - low)) if size else -1
