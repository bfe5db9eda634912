"""Balls and rationals: the only file that knows how python-flint writes numbers, and how data become balls.

A ball is a midpoint and a radius (arb: Johansson 2017, Arb: efficient arbitrary-precision midpoint-radius interval
arithmetic); every operation gives a ball that contains the true result. An exact ball has radius 0.

Doubles that are the data are read as such; only where the data were given otherwise (fractions, decimals, text) or are
worked out from doubles are they read as rationals, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.problem import NoAnswer
from convexcls.proofs.enclosure.intervals import MAX_BITS, Interval
from convexcls.rows import Rows

if TYPE_CHECKING:
    from flint import arb, arb_mat


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
