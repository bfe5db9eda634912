"""Gordan's theorem with its proof: for rows a_i exactly one of these holds,

    some v has a_i'v > 0 for all i,      or      some lambda >= 0, not 0, has sum_i lambda_i a_i = 0.

HiGHS guesses; the guess is proved in rationals; where that fails, the nearest point of the hull decides without
rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from convexcls import rational
from convexcls.arrays import Array
from convexcls.proofs.separability import guess as guessing
from convexcls.proofs.separability.guess import Guess
from convexcls.proofs.separability.nearest_point import nearest_point
from convexcls.proofs.separability.section import Places, Section, Vector

#: Directions of fewer entries of rows are put in small numbers, for people to read.
READABLE = 20_000
#: Digits in base two of a direction, tried one after the other.
ROUNDED_TO = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, eq=False)
class Alternative:
    """``direction``: coordinates in the section, with every row above 0. Otherwise ``circuit``: weights > 0 of rows
    of the section (by place) that add up to 0, on as many rows as their rank and one: none of them can be left
    out."""

    direction: Vector | None
    circuit: dict[int, Fraction]


def alternative(section: Section, tip: Guess | None = None) -> Alternative:
    """Which of the two holds for the rows of a section, of which there is at least one; ``tip`` is tried first."""
    support: Places = np.empty(0, dtype=np.intp)
    for found in _guesses(section, tip):
        if (direction := _direction(section, found.direction)) is not None:
            return Alternative(direction, {})
        if circuit := _circuit(section, found.support):
            return Alternative(None, circuit)
        support = found.support
    point, circuit = nearest_point(section, support)
    if point is None:
        return Alternative(None, circuit)
    return Alternative(_direction(section, _rounded(point)) or point, {})


def _guesses(section: Section, tip: Guess | None) -> Iterator[Guess]:
    if tip is not None:
        yield tip
    yield guessing.guess(section.floats)


def _rounded(point: Vector) -> Array:
    largest = max(abs(v) for v in point)
    return np.array([float(v / largest) for v in point])


def _direction(section: Section, guessed: Array | None) -> Vector | None:
    """The direction in rationals, with few digits where the rows are few; None where some row is not above 0."""
    if guessed is None or not np.all(np.isfinite(guessed)) or not np.any(guessed):
        return None
    exactly = [Fraction(v) for v in guessed.tolist()]
    if np.any(section.signs(exactly) <= 0):
        return None
    if section.size * section.rows.shape[1] <= READABLE:
        largest = np.abs(guessed).max()
        for bits in ROUNDED_TO:
            simple = [Fraction(round(v)) for v in (guessed / largest * 2.0**bits).tolist()]
            if np.all(section.signs(simple) > 0):
                return simple
    return exactly


def _circuit(section: Section, support: Places) -> dict[int, Fraction]:
    """The weights with which the rows of the support add up to 0, where these are one up to a factor and above 0."""
    if not 0 < support.size <= section.dimension + 1:
        return {}
    columns = [list(column) for column in zip(*section.exact(support), strict=True)]
    basis = rational.null_space(columns)
    if len(basis) != 1:
        return {}
    weights = basis[0] if basis[0][0] > 0 else [-v for v in basis[0]]
    if min(weights) <= 0:
        return {}
    return {int(i): v for i, v in zip(support, weights, strict=True)}
