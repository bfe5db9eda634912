"""The boundary of a classifier on a quadratic basis in the plane: a conic that can be read off, with its measures.

    a x^2 + b x y + c y^2 + d x + e y + f = 0

Its kind is decided in units of the data: coordinates are counted from ``around`` in ``units``, which for a solution are
the middle and the half-width of the training samples, so that a coefficient is judged by what it adds to the score
there. In these units a number counts as zero when it is below ``tol`` times

    the largest of the six coefficients       the quadratic part as a whole, and the linear part beside it
    the larger eigenvalue                     the smaller eigenvalue of the quadratic part (a parabola)
    the terms it is the sum of                the value at the centre, and the discriminant of two parallel lines

(the value at the centre also when it is below 1e-11 of the largest coefficient: a solver leaves such an intercept of 0)
and a circle is an ellipse whose squared semi-axes, as measured on paper, differ by less than ``tol`` of the larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.basis import exponents_of
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

Kind = Literal[
    "ellipse", "circle", "parabola", "hyperbola", "crossing lines", "parallel lines", "line", "point", "empty", "plane"
]

Point = tuple[float, float]
#: What a solver may leave of an intercept that should be 0, relative to the largest coefficient.
ROUNDED_INTERCEPT = 1e-11


@dataclass(frozen=True)
class Conic:
    """The points where a x^2 + b x y + c y^2 + d x + e y + f = 0, with its ``kind`` and measures. A measure that its
    kind does not have is None.

    Coordinates are counted from ``around`` in ``units`` to decide the kind, with the relative tolerance ``tol``.

    >>> import convexcls as cc
    >>> ellipse = cc.Conic(1, 0, 4, 0, 0, -4)  # x^2 + 4 y^2 = 4
    >>> ellipse.kind, ellipse.axes, round(ellipse.eccentricity**2, 6)
    ('ellipse', (2.0, 1.0), 0.75)
    >>> print(cc.Conic(1, 0, 0, 0, -1, 0))
    a parabola with its vertex at (0, 0), opening at 90 degrees
    """

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    around: Point = (0.0, 0.0)
    units: Point = (1.0, 1.0)
    tol: float = 1e-8

    def __call__(self, points: object) -> Array:
        """The left-hand side at points, one a row: the classifier's score."""
        x, y = np.atleast_2d(np.asarray(points, dtype=float)).T
        return np.asarray(self.a * x * x + self.b * x * y + self.c * y * y + self.d * x + self.e * y + self.f)

    @cached_property
    def _standard(self) -> tuple[Array, Array, float]:
        """Matrix, vector and constant in units of the data: u'Au + g'u + k with (x, y) = around + units * u."""
        scale, origin = np.array(self.units), np.array(self.around)
        Q = np.array([[self.a, self.b / 2], [self.b / 2, self.c]])
        g = 2 * Q @ origin + [self.d, self.e]
        k = float(origin @ Q @ origin + np.dot([self.d, self.e], origin) + self.f)
        return Q * np.outer(scale, scale), g * scale, k

    @cached_property
    def kind(self) -> Kind:
        """What it is, decided by the rule at the top of the module."""
        A, g, k = self._standard
        size = max(float(np.abs(A).max()), float(np.abs(g).max()), abs(k))
        if size == 0:
            return "plane"
        small, large = sorted(np.linalg.eigvalsh(A), key=abs)
        if abs(large) <= self.tol * size:
            return "empty" if np.abs(g).max() <= self.tol * size else "line"
        if abs(small) <= self.tol * abs(large):
            return self._without_centre()
        centre = np.linalg.solve(A, -g / 2)
        value = k + float(g @ centre) / 2
        touches = abs(value) <= max(self.tol * (abs(k) + abs(float(g @ centre)) / 2), ROUNDED_INTERCEPT * size)
        if small * large < 0:
            return "crossing lines" if touches else "hyperbola"
        if touches:
            return "point"
        if value * large > 0:
            return "empty"
        few, many, _ = self._principal
        return "circle" if abs(many - few) <= self.tol * abs(many) else "ellipse"

    def _without_centre(self) -> Kind:
        """A parabola, or lines, where one direction has no curvature."""
        A, g, k = self._standard
        values, vectors = np.linalg.eigh(A)
        bent = int(np.argmax(np.abs(values)))
        across, along = float(g @ vectors[:, bent]), float(g @ vectors[:, 1 - bent])
        if abs(along) > self.tol * max(abs(values[bent]), abs(across), abs(k)):
            return "parabola"
        discriminant = across**2 - 4 * values[bent] * k
        if abs(discriminant) <= self.tol * (across**2 + abs(4 * values[bent] * k)):
            return "line"
        return "parallel lines" if discriminant > 0 else "empty"

    # ---- measures -----------------------------------------------------------------------------------------------

    @cached_property
    def centre(self) -> Point | None:
        """The centre of an ellipse, a circle, a hyperbola or crossing lines; a point itself."""
        if self.kind in ("ellipse", "circle", "hyperbola", "crossing lines", "point"):
            return pair(self._centre)
        return None

    @property
    def _centre(self) -> Array:
        A, g, _ = self._standard
        return np.array(self.around) + np.array(self.units) * np.linalg.solve(A, -g / 2)

    @cached_property
    def _height(self) -> float:
        """The value at the centre."""
        A, g, k = self._standard
        return k - float(g @ np.linalg.solve(A, g)) / 4

    @cached_property
    def _principal(self) -> tuple[float, float, float]:
        """The eigenvalues of the quadratic part on paper, the smaller in size first, and the direction of that one; the
        smaller one from the determinant, which keeps its digits."""
        radius = float(np.hypot(self.a - self.c, self.b)) / 2
        middle = (self.a + self.c) / 2
        large = middle + np.copysign(radius, middle)
        small = (self.a * self.c - self.b * self.b / 4) / large
        top = 0.5 * float(np.arctan2(self.b, self.a - self.c))  # the direction of the larger signed one
        return small, large, top + np.pi / 2 if large == middle + radius else top

    @cached_property
    def axes(self) -> tuple[float, float] | None:
        """The semi-axes: of an ellipse the longer first, of a hyperbola the one that meets the curve first."""
        if self.kind not in ("ellipse", "circle", "hyperbola"):
            return None
        small, large, _ = self._principal
        first, second = (small, large) if self._height * small < 0 else (large, small)
        return float(np.sqrt(abs(self._height / first))), float(np.sqrt(abs(self._height / second)))

    @cached_property
    def angle(self) -> float | None:
        """Degrees from the x-axis, counted against the clock: to the longer axis of an ellipse or the axis that meets a
        hyperbola, from -90 (excluded) to 90; to where a parabola opens, from -180 (excluded) to 180."""
        if self.kind == "parabola":
            x, y = self._parabola[1]
            return _degrees(x, y, whole=True)
        if self.kind == "circle":
            return 0.0
        if self.kind not in ("ellipse", "hyperbola"):
            return None
        turn = self._principal[2]
        if self.kind == "hyperbola" and self._height * self._principal[0] >= 0:  # the other axis meets the curve
            turn += np.pi / 2
        return _degrees(np.cos(turn), np.sin(turn))

    @cached_property
    def eccentricity(self) -> float | None:
        """0 for a circle, below 1 for an ellipse, 1 for a parabola, above for a hyperbola."""
        if self.kind == "circle":
            return 0.0
        if self.kind == "parabola":
            return 1.0
        if self.kind not in ("ellipse", "hyperbola") or self.axes is None:
            return None
        ratio = (self.axes[1] / self.axes[0]) ** 2
        return float(np.sqrt(1 - ratio if self.kind == "ellipse" else 1 + ratio))

    @cached_property
    def _parabola(self) -> tuple[Array, Array, float]:
        """The vertex, the unit vector to where it opens, and the width. Only the bent direction of the data's units is
        kept of the quadratic part: large (across'p)^2 + g'p + k with p = (x, y) - around."""
        A, g, k = self._standard
        values, vectors = np.linalg.eigh(A)
        bent = int(np.argmax(np.abs(values)))
        across, g = vectors[:, bent] / self.units, g / self.units
        large = values[bent] * float(across @ across)
        across = across / np.linalg.norm(across)
        axis = np.array([-across[1], across[0]])
        slope, v = float(g @ axis), -float(g @ across) / (2 * large)
        value = k + float(g @ across) * v + large * v * v
        vertex = np.array(self.around) + v * across - value / slope * axis
        return vertex, -np.sign(slope * large) * axis, abs(slope / large)

    @cached_property
    def vertex(self) -> Point | None:
        """Where a parabola turns."""
        return pair(self._parabola[0]) if self.kind == "parabola" else None

    @cached_property
    def width(self) -> float | None:
        """Of a parabola, the chord through its focus: off its axis by v, it has come v^2 / width from its vertex."""
        return self._parabola[2] if self.kind == "parabola" else None

    @cached_property
    def lines(self) -> tuple[tuple[float, float, float], ...]:
        """The lines that it is made of, as (p, q, r): p x + q y + r = 0 with p^2 + q^2 = 1."""
        A, g, k = self._standard
        if self.kind == "line" and np.abs(A).max() <= self.tol * max(np.abs(g).max(), abs(k)):
            return (self._on_paper(g, k),)
        values, vectors = np.linalg.eigh(A)
        if self.kind in ("line", "parallel lines"):
            bent = int(np.argmax(np.abs(values)))
            half = float(g @ vectors[:, bent]) / (2 * values[bent])
            root = np.sqrt(max(half**2 - k / values[bent], 0.0)) if self.kind == "parallel lines" else 0.0
            return tuple(self._on_paper(vectors[:, bent], half + r) for r in ((root, -root) if root else (0.0,)))
        if self.kind != "crossing lines":
            return ()
        first, second = (np.sqrt(abs(v)) * w for v, w in zip(values, vectors.T, strict=True))
        centre = np.linalg.solve(A, -g / 2)
        return tuple(self._on_paper(w, -float(w @ centre)) for w in (first + second, first - second))

    def _on_paper(self, normal: Array, offset: float) -> tuple[float, float, float]:
        """The line normal'u + offset = 0, given in units of the data."""
        p, q = normal / np.array(self.units)
        length = float(np.hypot(p, q)) * (-1.0 if p < 0 or (p == 0 and q < 0) else 1.0)
        r = offset - float(np.dot([p, q], self.around))
        return float(p / length) + 0.0, float(q / length) + 0.0, float(r / length) + 0.0

    @cached_property
    def inside(self) -> int | None:
        """The sign of the score inside an ellipse or circle, or between the branches of a hyperbola."""
        if self.kind not in ("ellipse", "circle", "hyperbola"):
            return None
        return int(np.sign(self(self._centre)[0]))

    def points(self, n: int = 200) -> Array:
        """About n points on it, one a row; of a curve without end the part around the data. None for an empty one."""
        curves = self.curves(n)
        return np.vstack(curves) if curves else np.empty((0, 2))

    def curves(self, n: int = 200) -> list[Array]:
        """The points by branch, each in order, for a plot."""
        from convexcls.studies.conic_shown import trace

        return trace(self, n)

    def __str__(self) -> str:
        from convexcls.studies.conic_shown import in_words

        return in_words(self)


def pair(values: object) -> Point:
    """Two numbers as a point."""
    x, y = np.asarray(values, dtype=float) + 0.0  # no negative zero
    return float(x), float(y)


def _degrees(x: float, y: float, whole: bool = False) -> float:
    """The angle of a direction, or of a line, where both ways count as one."""
    angle = float(np.degrees(np.arctan2(y, x)))
    if not whole:
        angle = angle - 180.0 if angle > 90.0 else angle + 180.0 if angle <= -90.0 else angle
    return angle + 0.0 if angle > -180.0 else 180.0


# ---- the boundary of a solution -------------------------------------------------------------------------


def conic(solution: Solution, tol: float = 1e-8) -> Conic:
    """The boundary f(x) = 0 of a solution on two features, plain or by a basis of degree two.

    >>> import convexcls as cc
    >>> X, y = [[1, 0], [-1, 0], [0, 1], [0, -1], [3, 0], [-3, 0], [0, 3], [0, -3]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> print(cc.conic(cc.HardMarginSVM(cc.Quadratic()(X), y).solve()))
    a circle around (0, 0) with radius 2.236
    """
    data = solution.data
    inputs = data.d if data.expanded is None else len(data.expanded.inputs)
    powers = exponents_of(data.basis, inputs) if inputs == 2 else None
    if powers is None or max(map(sum, powers)) > 2:
        basis = "" if data.basis is None else f" by {data.basis!r}"
        raise NoAnswer(f"a conic needs two features and a basis of degree two; this has {inputs}{basis}")
    quadratic = solution.problem.quadratic_from(solution.values) if data.basis is None else None
    if quadratic is not None:
        A, g, k = quadratic
        around, units = _frame(np.asarray(data.samples.matrix))
        a, b, c, d, e = (float(v) for v in (A[0, 0], 2 * A[0, 1], A[1, 1], g[0], g[1]))
        return Conic(a, b, c, d, e, k, around, units, tol)
    if np.ndim(solution.coef) != 1 or solution.coef.size != len(powers):
        raise NoAnswer(f"the {solution.problem.name} has not one boundary: a conic needs two classes")
    by_power = dict(zip(powers, map(float, solution.coef), strict=True))
    constant = float(solution.intercept) - solution.problem.threshold
    a, b, c, d, e = (by_power.get(p, 0.0) for p in ((2, 0), (1, 1), (0, 2), (1, 0), (0, 1)))
    columns = [powers.index((1, 0)), powers.index((0, 1))]
    samples = data.matrix[:, columns]
    samples = samples.toarray() if data.sparse else samples
    return Conic(a, b, c, d, e, constant, *_frame(samples), tol)


def _frame(samples: Array) -> tuple[Point, Point]:
    """The middle of the samples and their half-widths: what the conic is measured in."""
    low, high = samples.min(axis=0), samples.max(axis=0)
    around, units = low / 2 + high / 2, high / 2 - low / 2
    units = np.where(units > 0, units, np.where(around != 0, np.abs(around), 1.0))
    return pair(around), pair(units)
