"""Polynomials of one unknown with rational coefficients, the lowest first: values, interpolation, first roots."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt

Polynomial = list[Fraction]

#: A root that is not rational is told from below, so closely relative to its size.
ROOT_WIDTH = Fraction(1, 10**30)


def trimmed(p: Sequence[Fraction]) -> Polynomial:
    """Without leading zeros."""
    out = list(p)
    while out and not out[-1]:
        out.pop()
    return out


def value(p: Sequence[Fraction], x: Fraction) -> Fraction:
    """p(x), by Horner's rule."""
    out = Fraction(0)
    for c in reversed(p):
        out = out * x + c
    return out


def derivative(p: Sequence[Fraction]) -> Polynomial:
    """p'."""
    return [k * c for k, c in enumerate(p)][1:]


def interpolation(places: Sequence[Fraction], values: Sequence[Fraction]) -> Polynomial:
    """The polynomial of least degree with these values at these places, by Newton's divided differences."""
    table = list(values)
    n = len(places)
    for step in range(1, n):
        for k in range(n - 1, step - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (places[k] - places[k - step])
    out: Polynomial = []
    for c, x in zip(reversed(table), reversed(places), strict=True):  # out (t - x) + c
        out = [Fraction(0), *out]
        out = [a - x * b for a, b in zip(out, [*out[1:], Fraction(0)], strict=True)]
        out[0] += c
    return trimmed(out)


def sign_after(p: Sequence[Fraction]) -> int:
    """The sign of p on the right of 0, next to it."""
    lowest = next((c for c in p if c), Fraction(0))
    return (lowest > 0) - (lowest < 0)


def first_root(p: Sequence[Fraction]) -> tuple[Fraction, bool] | None:
    """The least root above 0, and whether it is told exactly (else from below, to ``ROOT_WIDTH``); None where there is
    none. A root at 0 does not count."""
    q = trimmed(p)
    while q and not q[0]:
        q = q[1:]
    if len(q) < 2:
        return None
    if len(q) == 2:
        root = -q[0] / q[1]
        return (root, True) if root > 0 else None
    if len(q) == 3:
        return _of_quadratic(q)
    return _by_sturm(q)


def _of_quadratic(q: Polynomial) -> tuple[Fraction, bool] | None:
    c, b, a = q
    inside = b * b - 4 * a * c
    if inside < 0:
        return None
    root, exact = _square_root(inside)
    if exact:
        found = sorted((-b + s * root) / (2 * a) for s in (-1, 1))
        return next(((x, True) for x in found if x > 0), None)
    return _by_sturm(q)


def _square_root(x: Fraction) -> tuple[Fraction, bool]:
    top, bottom = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(top, bottom), top * top == x.numerator and bottom * bottom == x.denominator


def _by_sturm(q: Polynomial) -> tuple[Fraction, bool] | None:
    """Bisection, with the number of roots between two places from Sturm's sequence."""
    sequence = _sturm(q)
    low, high = Fraction(0), 1 + max(abs(c / q[-1]) for c in q[:-1])
    if not _changes(sequence, low) - _changes(sequence, high):
        return None
    while high - low > ROOT_WIDTH * high:
        middle = (low + high) / 2
        if _changes(sequence, low) - _changes(sequence, middle):
            high = middle
        else:
            low = middle
        near = ((low + high) / 2).limit_denominator(10**9)
        if low < near <= high and not value(q, near) and high - low < Fraction(1, 10**18):
            return near, True
    return low, False


def _sturm(q: Polynomial) -> list[Polynomial]:
    out = [q, trimmed(derivative(q))]
    while out[-1]:
        rest = _remainder(out[-2], out[-1])
        if not rest:
            break
        size = max(map(abs, rest))
        out.append([-c / size for c in rest])
    return out


def _remainder(p: Polynomial, q: Polynomial) -> Polynomial:
    rest = list(p)
    while len(rest) >= len(q):
        factor, shift = rest[-1] / q[-1], len(rest) - len(q)
        for k, c in enumerate(q):
            rest[shift + k] -= factor * c
        rest = trimmed(rest[:-1])
    return rest


def _changes(sequence: Sequence[Polynomial], x: Fraction) -> int:
    signs = [s > 0 for p in sequence if (s := value(p, x))]
    return sum(a != b for a, b in pairwise(signs))
