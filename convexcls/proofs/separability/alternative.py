"""Gordan's theorem with its proof: for rows a_i exactly one of these holds,

    some v has a_i'v > 0 for all i,      or      some lambda >= 0, not 0, has sum_i lambda_i a_i = 0.

HiGHS guesses; the guess is proved in rationals, or not used. Where that fails, the point of the hull that is nearest to
the origin decides, in rationals (Wolfe 1976).

Either it is 0, and then a positive combination of few rows is 0. Or it is not, and then it is a direction along which
every row moves the right way. The points that the nearest one is made of (the corral) are affinely independent; a row
that the current point x does not move, a_i'x <= 0 < x'x, joins them, the nearest point of their affine span is solved
for, and points that would get a negative weight leave on the way there. ‖x‖ falls with every step, so that no corral
comes back: without rounding, the method ends.

Whether some direction moves all rows the right way is asked again and again on fewer rows and in fewer dimensions:
those that are known to stay at 0 along every such direction confine it to a subspace L. A ``Section`` holds the rows
that do not vanish on L, and a basis of L. What it is asked for it answers twice: in doubles, for guesses, and in
rationals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.proofs.claims.linear_program import solve_linear_program
from convexcls.rational.elimination import Matrix, Vector, dot, null_space, solve
from convexcls.rows import DenseRows, Rows
from convexcls.rows.signs import exact_signs

#: Powers of two beyond this are left alone: their products would leave the range of doubles.
MAX_POWER_OF_TWO = 900
#: Directions of fewer entries of rows are put in small numbers, for people to read.
READABLE = 20_000
#: Digits in base two of a direction, tried one after the other.
ROUNDED_TO = (1, 2, 4, 8, 16, 32)
#: Fewer rows than this are all taken at once.
MAX_ROWS_AT_ONCE = 400
#: So many rounds of adding rows at most.
ROUNDS = 30
#: A smaller margin is taken for none.
SMALLEST_MARGIN = 1e-9
#: Rows with smaller entries are not divided by their size.
SMALLEST = 1e-280


@dataclass(frozen=True, eq=False)
class Alternative:
    """``direction``: coordinates in the section, with every row above 0. Otherwise ``circuit``: weights > 0 of rows
    of the section (by place) that add up to 0, on as many rows as their rank and one: none of them can be left
    out."""

    direction: Vector | None
    circuit: dict[int, Fraction]


def alternative(section: Section, tip: Guess | None = None) -> Alternative:
    """Which of the two holds for the rows of a section, of which there is at least one; ``tip`` is tried first."""
    support: Indices = np.empty(0, dtype=np.intp)
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
    yield guess(section.floats)


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


def _circuit(section: Section, support: Indices) -> dict[int, Fraction]:
    """The weights with which the rows of the support add up to 0, where these are one up to a factor and above 0."""
    if not 0 < support.size <= section.dimension + 1:
        return {}
    columns = [list(column) for column in zip(*section.exact(support), strict=True)]
    basis = null_space(columns)
    if len(basis) != 1:
        return {}
    weights = basis[0] if basis[0][0] > 0 else [-v for v in basis[0]]
    if min(weights) <= 0:
        return {}
    return {int(i): v for i, v in zip(support, weights, strict=True)}


@dataclass(frozen=True, eq=False)
class Guess:
    """A direction that may have every row above 0, and rows of which a positive combination may be 0."""

    direction: Array | None
    support: Indices


def guess(rows: Rows) -> Guess:
    """The widest margin in a box,

        maximise t   subject to   a_i'v >= t ‖a_i‖,   |v_j| <= 1,

    by HiGHS on some of the rows, those that are violated added until there are none. The multipliers of a margin that
    is 0 are a positive combination of rows that is 0, and as they are a vertex, on few of them."""
    n, p = rows.shape
    sizes = abs(rows) @ np.ones(p)
    if not np.all(sizes > SMALLEST):  # too small for doubles, or 0
        return Guess(None, np.flatnonzero(~(sizes > SMALLEST))[:1])
    inverse = 1.0 / sizes
    chosen = (
        np.arange(n) if n <= MAX_ROWS_AT_ONCE else _lowest(inverse * (rows @ (rows.T @ inverse)), MAX_ROWS_AT_ONCE // 2)
    )
    found = Guess(None, chosen[:0])
    for _ in range(ROUNDS):
        solved = _widest(rows[chosen].to_dense() * inverse[chosen, None])
        if solved is None:
            return found
        margin, direction, weights = solved
        found = Guess(direction if margin > 0 else None, chosen[weights > SMALLEST_MARGIN * weights.max(initial=0.0)])
        if margin <= SMALLEST_MARGIN or chosen.size == n:
            return found
        margins = inverse * (rows @ direction)
        if margins.min() > 0.01 * margin:
            return found
        chosen = np.union1d(chosen, _lowest(margins, max(50, 4 * p)))
    return found


def _lowest(values: Array, count: int) -> Indices:
    """The places of the lowest values, in rising order."""
    return np.sort(np.argpartition(values, min(count, values.size) - 1)[:count])


def _widest(rows: Array) -> tuple[float, Array, Array] | None:
    """The margin t, the direction, and the multipliers of the rows; None where HiGHS gives no answer."""
    m, p = rows.shape
    bounds = np.column_stack([np.append(np.full(p, -1.0), 0.0), np.ones(p + 1)])
    upper = np.column_stack([-rows, np.ones(m)])
    found = solve_linear_program(c=np.append(np.zeros(p), -1.0), A_ub=upper, b_ub=np.zeros(m), bounds=bounds)
    if found.x is None:
        return None
    return float(found.x[p]), np.asarray(found.x[:p]), np.abs(np.asarray(found.ineqlin.marginals))


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
        self.points[place] = [v * Fraction(2) ** -self.sizes[place] for v in row]
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
        found = solve(system, [Fraction(0)] * len(self.places) + [one])
        assert found is not None, "the points of a corral are affinely independent"
        return found[:-1]

    def _towards(self, target: Vector) -> None:
        """Move towards the target weights until one becomes 0, and drop it."""
        moves = list(zip(self.weights, target, strict=True))
        step = min(w / (w - t) for w, t in moves if t <= 0 and w > t)
        moved = [w + step * (t - w) for w, t in moves]
        kept = [k for k, w in enumerate(moved) if w > 0]
        self.places, self.weights = [self.places[k] for k in kept], [moved[k] for k in kept]

    @property
    def point(self) -> Vector:
        """The point that the corral stands for."""
        columns = zip(*(self.points[i] for i in self.places), strict=True)
        return [dot(column, self.weights) for column in columns]

    @property
    def combination(self) -> dict[int, Fraction]:
        """The weights of the rows as they are in the section."""
        return {i: w * Fraction(2) ** -self.sizes[i] for i, w in sorted(zip(self.places, self.weights, strict=True))}


def nearest_point(section: Section, first: Sequence[int] | Indices) -> tuple[Vector | None, dict[int, Fraction]]:
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
    along = scaled_doubles(point)
    rows = section.floats[behind]
    sizes = abs(rows) @ np.ones(rows.shape[1])
    return int(behind[np.argmin((rows @ along) / np.where(sizes > 0, sizes, 1.0))])


# ---- rows seen from a subspace --------------------------------------------------------------------------------


class Section:
    """The rows ``alive`` of ``rows`` on the span of ``basis`` (everything where it is None). Coordinates are those of
    the basis, in units by column (powers of two) that make the largest entry of each column about one."""

    def __init__(self, rows: Rows, alive: Indices | None = None, basis: Matrix | None = None) -> None:
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

    def exact(self, places: Sequence[int] | Indices) -> Matrix:
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
        basis = [near_one(vector) for vector in basis]
        moved = np.zeros(self.size, dtype=bool)
        for vector in basis:
            rest = np.flatnonzero(~moved)
            along = [v * Fraction(2) ** e for v, e in zip(vector, self.units.tolist(), strict=True)]
            moved[rest] = exact_signs(self.rows[self.alive[rest]], along) != 0
        return Section(self.rows, self.alive[moved], basis)


def exponent_of(value: Fraction) -> int:
    """About the binary logarithm of |value|, which is not 0."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def near_one(vector: Sequence[Fraction]) -> Vector:
    """The vector times the power of two that brings its largest entry near one."""
    scale = Fraction(2) ** -max((exponent_of(v) for v in vector if v), default=0)
    return [v * scale for v in vector]


def scaled_doubles(vector: Sequence[Fraction]) -> Array:
    """The same, rounded."""
    return np.array([float(v) for v in near_one(vector)])


def _units(reach: Array) -> NDArray[np.int64]:
    exponents = -np.frexp(np.where(reach > 0, reach, 1.0))[1].astype(np.int64)
    return np.clip(exponents, -MAX_POWER_OF_TWO, MAX_POWER_OF_TWO)
