"""Rows seen from a subspace.

Whether some direction moves all rows the right way is asked again and again on fewer rows and in fewer dimensions:
those that are known to stay at 0 along every such direction confine it to a subspace L. A section holds the rows that
do not vanish on L, and a basis of L. What it is asked for it answers twice: in doubles, for guesses, and in rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.rational.elimination import dot
from convexcls.rows import DenseRows, Rows
from convexcls.rows.signs import exact_signs

Vector = list[Fraction]
Matrix = list[Vector]
Places = NDArray[np.intp]

#: Powers of two beyond this are left alone: their products would leave the range of doubles.
LARGEST_POWER = 900


class Section:
    """The rows ``alive`` of ``rows`` on the span of ``basis`` (everything where it is None). Coordinates are those of
    the basis, in units by column (powers of two) that make the largest entry of each column about one."""

    def __init__(self, rows: Rows, alive: Places | None = None, basis: Matrix | None = None) -> None:
        self.rows = rows
        self.alive = np.arange(rows.shape[0]) if alive is None else alive
        self.basis = basis
        self.units = _units(rows.column_max())

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.alive.size)

    @property
    def dimension(self) -> int:
        """The dimension of the subspace."""
        return self.rows.shape[1] if self.basis is None else len(self.basis)

    @cached_property
    def chosen(self) -> Rows:
        """The rows themselves."""
        return self.rows if self.size == self.rows.shape[0] else self.rows[self.alive]

    @cached_property
    def floats(self) -> Rows:
        """The rows in the coordinates of the subspace, rounded."""
        scaled = self.chosen.scaled(1.0, np.exp2(self.units))
        if self.basis is None:
            return scaled
        return DenseRows(np.asarray(scaled @ np.array([[float(v) for v in vector] for vector in self.basis]).T))

    def exact(self, places: Sequence[int] | Places) -> Matrix:
        """Some rows in the coordinates of the subspace."""
        scale = [Fraction(2) ** e for e in self.units.tolist()]
        rows = self.rows.rational(self.alive[np.asarray(places, dtype=np.intp)])
        scaled = [[v * s for v, s in zip(row, scale, strict=True)] for row in rows]
        if self.basis is None:
            return scaled
        return [[dot(row, vector) for vector in self.basis] for row in scaled]

    def lift(self, u: Sequence[Fraction]) -> Vector:
        """A vector of the subspace in the coordinates of the rows as given."""
        if self.basis is not None:
            u = [dot(u, [vector[j] for vector in self.basis]) for j in range(self.rows.shape[1])]
        return [v * Fraction(2) ** e for v, e in zip(u, self.units.tolist(), strict=True)]

    def signs(self, u: Sequence[Fraction]) -> NDArray[np.int8]:
        """The sign of each row along a vector of the subspace, without rounding."""
        return exact_signs(self.chosen, self.lift(u))

    def within(self, basis: Matrix) -> Section:
        """The rows that do not vanish on a smaller subspace, whose basis is given in units by column."""
        basis = [_near_one(vector) for vector in basis]
        moved = np.zeros(self.size, dtype=bool)
        for vector in basis:
            rest = np.flatnonzero(~moved)
            along = [v * Fraction(2) ** e for v, e in zip(vector, self.units.tolist(), strict=True)]
            moved[rest] = exact_signs(self.rows[self.alive[rest]], along) != 0
        return Section(self.rows, self.alive[moved], basis)


def exponent_of(value: Fraction) -> int:
    """About the binary logarithm of |value|, which is not 0."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def _near_one(vector: Vector) -> Vector:
    """The vector times the power of two that brings its largest entry near one."""
    scale = Fraction(2) ** -max((exponent_of(v) for v in vector if v), default=0)
    return [v * scale for v in vector]


def _units(reach: Array) -> NDArray[np.int64]:
    exponents = -np.frexp(np.where(reach > 0, reach, 1.0))[1].astype(np.int64)
    return np.clip(exponents, -LARGEST_POWER, LARGEST_POWER)
