"""Intervals with rational ends: what an enclosure says, the digits it settles; roots, logarithms and pi; and balls.

The logarithm and pi are series in whole numbers of units 2^-bits, with every error counted:

    log m = 2 artanh t,  t = (m - 1) / (m + 1),         artanh t = t + t^3/3 + t^5/5 + ...,  |t| <= 1/3
    pi = 16 arctan 1/5 - 4 arctan 1/239                  (Machin)

A ball is a midpoint and a radius (arb: Johansson 2017, Arb: efficient arbitrary-precision midpoint-radius interval
arithmetic); every operation gives a ball that contains the true result. An exact ball has radius 0. This is the only
file that knows how python-flint writes numbers, and how data become balls: doubles that are the data are read as such;
only where the data were given otherwise (fractions, decimals, text) or are worked out from doubles are they read as
rationals, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.problem import NoAnswer
from convexcls.rows import Rows

if TYPE_CHECKING:
    from flint import arb, arb_mat

#: The lower and the upper end.
Interval = tuple[Fraction, Fraction]
#: Bits in a decimal digit, rounded up.
BITS_PER_DIGIT = 3.33
MAX_DIGITS = 10_000
#: Beyond this many bits nothing is tried: doubles of any exponents are told apart with fewer.
MAX_BITS = 50_000
#: A check works with so many bits more than the search did, so that what is true is accepted on any machine; with the
#: second number where the first did not do.
CHECK_BITS, MORE_CHECK_BITS = 32, 1024
#: The bits of bounds that are compared with doubles, or rounded to them.
BOUND_BITS = 128
#: Bits of a root beyond those of its digits.
ROOT_BITS = 8


def check_digits(digits: int) -> None:
    """Refuse a number of digits that nobody can have."""
    if not isinstance(digits, int) or not 1 <= digits <= MAX_DIGITS:
        raise ValueError(f"digits is {digits!r}: give a whole number from 1 to {MAX_DIGITS}")


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


def sum_of(intervals: Iterable[Interval]) -> Interval:
    """The interval of a sum."""
    lows, highs = zip(*intervals, strict=True)
    return sum(lows, Fraction(0)), sum(highs, Fraction(0))


def times(value: Fraction | int, interval: Interval) -> Interval:
    """The interval of a multiple."""
    ends = (value * interval[0], value * interval[1])
    return min(ends), max(ends)


def widened(interval: Interval) -> Interval:
    """Wider by its own width at both ends: another way of adding up need not give the very same numbers."""
    low, high = interval
    return 2 * low - high, 2 * high - low


# ---- roots ----------------------------------------------------------------------------------------------------


def root_interval(square: Fraction, bits: int) -> Interval:
    """Numbers around the root of a positive rational, 2^-bits of it or less apart."""
    shift = bits + 1 + max(0, square.denominator.bit_length() - square.numerator.bit_length()) // 2
    below = isqrt((square.numerator << 2 * shift) // square.denominator)
    return Fraction(below, 1 << shift), Fraction(below + 1, 1 << shift)


def enclose_root(square: Fraction, ray: Mapping[str, Sequence[Fraction]], digits: int, root: Any = None) -> Enclosure:
    """The enclosure of a maximum sqrt(square) that is attained at sqrt(square) times the ray; ``root`` is its proof."""
    check_digits(digits)
    bits = int(digits * BITS_PER_DIGIT) + ROOT_BITS
    low, high = root_interval(square, bits)
    coefficients = {name: [times(value, (low, high)) for value in values] for name, values in ray.items()}
    every = [(low, high), *(interval for box in coefficients.values() for interval in box)]
    reached = min(count for interval in every if (count := settled_digits(interval, Fraction(1))) is not None)
    out = Enclosure(-high, -low, coefficients, digits, reached, bits, maximised=True, root=root)
    return replace(out, proof=_ROOT_WORDS.format(square, reached))


_ROOT_WORDS = (
    "The optimum is sqrt({}), and the solution is this root times rationals: these satisfy, without rounding, the KKT "
    "conditions of the quadratic program min 1/2 ‖coef‖^2 over all margins of at least 1. At least {} digits of every "
    "number"
)


# ---- logarithms and pi --------------------------------------------------------------------------------------


def log_interval(value: Fraction, bits: int) -> Interval:
    """Numbers around log(value), for value > 0, about 2^-bits apart, or 2^-bits of the binary exponent."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    m = value / Fraction(2) ** exponent  # between 1/2 and 2
    if m > Fraction(4, 3):
        m, exponent = m / 2, exponent + 1
    two = sum_of([_near_one(Fraction(4, 3), bits), times(-1, _near_one(Fraction(2, 3), bits))])  # log 4/3 - log 2/3
    return sum_of([_near_one(m, bits), times(exponent, two)])


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
    return sum_of([times(16, _arctan(5, bits)), times(-4, _arctan(239, bits))])


def _arctan(q: int, bits: int) -> Interval:
    """arctan 1/q: every power and every part of the sum is off by less than 2 units."""
    power, total, j = (1 << bits) // q, 0, 0
    while power:
        total += (-1) ** j * (power // (2 * j + 1))
        power, j = power // (q * q), j + 1
    off = 4 * j + 4
    return Fraction(total - off, 1 << bits), Fraction(total + off, 1 << bits)


# ---- balls ----------------------------------------------------------------------------------------------------


@contextmanager
def working_bits(bits: int) -> Iterator[None]:
    """Everything inside is worked out with that many bits; afterwards flint's setting is as it was."""
    try:
        from flint import ctx
    except ImportError:
        raise NoAnswer(
            "enclosures are worked out in ball arithmetic, by python-flint: install convexcls[exact]"
        ) from None
    with ctx.workprec(bits):
        yield


def ball(value: Fraction | float, exponent: int = 0) -> arb:
    """The ball around value * 2^exponent, exact where the bits suffice."""
    from flint import arb, fmpq

    ratio = fmpq(*value.as_integer_ratio())
    if exponent:
        ratio *= fmpq(2) ** exponent
    return arb(ratio)


def rational(exact: arb) -> Fraction:
    """An exact ball as the rational that it is; ``NoAnswer`` where nobody could write it down."""
    mantissa, exponent = map(int, exact.man_exp())
    if abs(exponent) > 4 * MAX_BITS:
        raise NoAnswer(f"a number of the order of 2^{exponent} occurs, which is not worked out in full")
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def ends(value: arb) -> Interval:
    """Rationals at the lower and the upper end of a ball, or just outside: exponents of balls have no bounds, and of
    exp(-2^60) nobody could write down the digits."""
    (centre, less), (radius, more) = map(_near, (value.mid(), value.rad()))
    return centre - radius - less - more, centre + radius + less + more


def _near(exact: arb) -> tuple[Fraction, Fraction]:
    """A rational and how far it may be off."""
    mantissa, exponent = map(int, exact.man_exp())
    if mantissa and exponent + mantissa.bit_length() < -MAX_BITS:
        return Fraction(0), Fraction(2) ** -MAX_BITS
    return rational(exact), Fraction(0)


def column(entries: Sequence[Any]) -> arb_mat:
    """The entries as a matrix of one column."""
    from flint import arb_mat

    return arb_mat(len(entries), 1, list(entries))


def all_exact(matrix: arb_mat) -> bool:
    """Whether no entry has a radius."""
    return all(entry.is_exact() for entry in matrix.entries())


def power_above(value: Fraction) -> Fraction:
    """The least power of two above a positive number, or twice it."""
    return Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() + 1)


def read_rows(rows: Rows, index: Any, columns: Sequence[int], exponents: Sequence[int]) -> arb_mat:
    """Some rows and columns, column j times 2^-exponents_j."""
    from flint import arb_mat

    shape = (len(index), len(columns))
    doubles = rows.exact_doubles(index)
    if doubles is not None:
        dense = doubles[:, columns]
        powers = np.array(exponents, dtype=np.int64)
        with np.errstate(all="ignore"):
            scaled = np.ldexp(dense, -powers)
            if np.array_equal(np.ldexp(scaled, powers), dense):  # nothing underflowed
                return arb_mat(*shape, scaled.ravel().tolist())
    units = list(zip(columns, exponents, strict=True))
    return arb_mat(*shape, [ball(row[j], -e) for row in rows.rational(index) for j, e in units])
