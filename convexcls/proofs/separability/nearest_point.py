"""The point of a polytope that is nearest to the origin, in rationals (Wolfe 1976).

Either it is 0, and then a positive combination of few rows is 0. Or it is not, and then it is a direction along which
every row moves the right way. The points that the nearest one is made of (the corral) are affinely independent; a row
that the current point x does not move, a_i'x <= 0 < x'x, joins them, the nearest point of their affine span is solved
for, and points that would get a negative weight leave on the way there. ‖x‖ falls with every step, so that no corral
comes back: without rounding, the method ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from convexcls import rational
from convexcls.arrays import Array
from convexcls.proofs.separability.section import Matrix, Places, Section, Vector, dot, exponent_of, power_of_two


class _Corral:
    """Rows of a section with weights > 0 that add up to one; the point is their combination."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.places: list[int] = []
        self.weights: Vector = []
        self.points: dict[int, Vector] = {}
        self.sizes: dict[int, int] = {}
        self.products: dict[tuple[int, int], Fraction] = {}

    def join(self, place: int) -> None:
        """Take a row in, with weight 0 for now, and move to the nearest point."""
        row = self.section.exact([place])[0]
        # rows of the same length up to a factor of two make better corrals; a positive factor changes nothing else
        self.sizes[place] = max((exponent_of(v) for v in row if v), default=0)
        self.points[place] = [v * power_of_two(-self.sizes[place]) for v in row]
        for other in (*self.places, place):
            product = dot(self.points[other], self.points[place])
            self.products[other, place] = self.products[place, other] = product
        self.places.append(place)
        self.weights.append(Fraction(int(not self.weights)))
        while True:
            target = self._affine_weights()
            if min(target) > 0:
                self.weights = target
                return
            self._towards(target)

    def _affine_weights(self) -> Vector:
        """The weights, of any sign, of the point of the affine span that is nearest to 0."""
        one = Fraction(1)
        system: Matrix = [[*(self.products[i, j] for j in self.places), one] for i in self.places]
        system.append([one] * len(self.places) + [Fraction(0)])
        found = rational.solve(system, [Fraction(0)] * len(self.places) + [one])
        assert found is not None, "the points of a corral are affinely independent"
        return found[:-1]

    def _towards(self, target: Vector) -> None:
        """Move towards the target weights until one becomes 0, and drop it."""
        moves = list(zip(self.weights, target, strict=True))
        step = min(w / (w - t) for w, t in moves if t <= 0 and w > t)
        left = [w + step * (t - w) for w, t in moves]
        kept = [k for k, w in enumerate(left) if w > 0]
        self.places, self.weights = [self.places[k] for k in kept], [left[k] for k in kept]

    @property
    def point(self) -> Vector:
        """The point that the corral stands for."""
        columns = zip(*(self.points[i] for i in self.places), strict=True)
        return [dot(column, self.weights) for column in columns]

    @property
    def combination(self) -> dict[int, Fraction]:
        """The weights of the rows as they are in the section."""
        return {i: w * power_of_two(-self.sizes[i]) for i, w in sorted(zip(self.places, self.weights, strict=True))}


def nearest_point(section: Section, first: Sequence[int] | Places) -> tuple[Vector | None, dict[int, Fraction]]:
    """A direction u with every row of the section above 0, or weights > 0 of a few rows that add up to 0, as many rows
    as their rank and one. ``first`` are rows to be tried before the others."""
    start = [int(i) for i in first] or [0]
    corral = _Corral(section)
    corral.join(start[0])
    some = Section(section.rows, section.alive[start], section.basis)
    while any(point := corral.point):
        entering = _entering(some, point)
        place = None if entering is None else start[entering]
        if place is None:
            place = _entering(section, point)
        if place is None:
            return point, {}
        corral.join(place)
    return None, corral.combination


def _entering(section: Section, point: Vector) -> int | None:
    """The row that is furthest on the wrong side of 0 among those not above it; None where all are above."""
    behind = np.flatnonzero(section.signs(point) <= 0)
    if not behind.size:
        return None
    scale = power_of_two(-max(exponent_of(v) for v in point if v))
    along: Array = np.array([float(v * scale) for v in point])
    rows = section.floats[behind]
    sizes = abs(rows) @ np.ones(rows.shape[1])
    return int(behind[np.argmin((rows @ along) / np.where(sizes > 0, sizes, 1.0))])
