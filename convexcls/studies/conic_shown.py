"""A conic for people: points on it, for a plot, and a phrase that says what it is and where."""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.studies.conic import Conic, Point


def trace(conic: Conic, n: int) -> list[Array]:
    """The branches as points in order; a branch without end as far as the data reach, and as far again."""
    if n < 2:
        raise ValueError(f"n is {n!r}: a curve needs at least 2 points")
    if conic.kind in ("ellipse", "circle"):
        t = np.linspace(0.0, 2 * np.pi, n)
        branches = [_from_centre(conic, np.cos(t), np.sin(t))]
    elif conic.kind == "hyperbola":
        assert conic.axes is not None
        end = np.arcsinh(max(_reach(conic, conic.centre) / min(conic.axes), 1.0))
        t = np.linspace(-end, end, max(n // 2, 2))
        branches = [_from_centre(conic, side * np.cosh(t), np.sinh(t)) for side in (1.0, -1.0)]
    elif conic.kind == "parabola":
        branches = [_parabola(conic, n)]
    elif conic.kind == "point":
        return [np.array([conic.centre])]
    else:
        lines = conic.lines
        return [_segment(conic, line, max(n // len(lines), 2)) for line in lines]
    return [_settled(conic, branch) for branch in branches]


def _reach(conic: Conic, start: tuple[float, float] | None) -> float:
    """How far to go from a point to pass the data."""
    away = np.subtract(start or conic.around, conic.around)
    return 2.0 * float(np.hypot(*away) + np.hypot(*conic.units))


def _from_centre(conic: Conic, along: Array, across: Array) -> Array:
    """Points by their coordinates in semi-axes."""
    assert conic.axes is not None
    assert conic.angle is not None
    turn = np.radians(conic.angle)
    first, second = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    return np.asarray(
        np.array(conic.centre) + np.outer(along * conic.axes[0], first) + np.outer(across * conic.axes[1], second)
    )


def _parabola(conic: Conic, n: int) -> Array:
    """v^2 / width along the axis for v across it."""
    assert conic.angle is not None
    assert conic.width is not None
    turn = np.radians(conic.angle)
    axis, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    reach = _reach(conic, conic.vertex)
    end = min(reach, np.sqrt(reach * conic.width))
    v = np.linspace(-end, end, n)
    return np.asarray(np.array(conic.vertex) + np.outer(v, across) + np.outer(v * v / conic.width, axis))


def _segment(conic: Conic, line: tuple[float, float, float], n: int) -> Array:
    """The part of p x + q y + r = 0 near the data; p^2 + q^2 = 1."""
    normal, middle = np.array(line[:2]), np.array(conic.around)
    foot = middle - (float(normal @ middle) + line[2]) * normal
    reach = _reach(conic, (float(foot[0]), float(foot[1])))
    return np.asarray(foot + np.outer(np.linspace(-reach, reach, n), [-normal[1], normal[0]]))


def _settled(conic: Conic, points: Array) -> Array:
    """The points after a few Newton steps towards the curve: what the formulas lose, to rounding or because the kind
    holds only up to the tolerance, is put back. A step that leads away is not taken: where what was neglected leaves no
    curve to go to, the points stay on the one of that kind."""
    for _ in range(12):
        x, y = points.T
        slope = np.column_stack([2 * conic.a * x + conic.b * y + conic.d, conic.b * x + 2 * conic.c * y + conic.e])
        square = np.square(slope).sum(axis=1)
        step = np.divide(conic(points), square, out=np.zeros_like(square), where=square > 0)
        moved = points - step[:, None] * slope
        nearer = np.abs(conic(moved)) < np.abs(conic(points))
        points = np.where(nearer[:, None], moved, points)
    return points


# ---- in words -------------------------------------------------------------------------------------------


def in_words(conic: Conic) -> str:
    """One phrase that says what it is and where."""
    axes, kind = conic.axes, conic.kind
    if kind == "circle" and axes is not None:
        return f"a circle around {_at(conic, conic.centre)} with radius {_n((axes[0] * axes[1]) ** 0.5)}"
    if axes is not None:
        called = "an ellipse" if kind == "ellipse" else "a hyperbola"
        measures = f"semi-axes {_n(axes[0])} and {_n(axes[1])}"
        return f"{called} around {_at(conic, conic.centre)} with {measures}{_turned(conic)}"
    if kind == "parabola":
        opening = _n(round(conic.angle or 0.0, 3))
        return f"a parabola with its vertex at {_at(conic, conic.vertex)}, opening at {opening} degrees"
    if kind == "point":
        return f"the point {_at(conic, conic.centre)}"
    if kind == "empty":
        return "empty: the score is nowhere zero"
    if kind == "plane":
        return "the whole plane: the score is zero everywhere"
    lines = " and ".join(_line(line, conic) for line in conic.lines)
    if kind == "line":
        return f"the line {lines}"
    if kind == "parallel lines":
        return f"two parallel lines, {lines}"
    return f"two lines that cross at {_at(conic, conic.centre)}, {lines}"


def _n(value: float) -> str:
    return f"{value + 0.0:.4g}"


def _at(conic: Conic, point: Point | None) -> str:
    """A place; a coordinate that is zero up to the tolerance, in units of the data, is shown as zero."""
    assert point is not None
    x, y = (0.0 if abs(v) <= conic.tol * unit else v for v, unit in zip(point, conic.units, strict=True))
    return f"({_n(x)}, {_n(y)})"


def _turned(conic: Conic) -> str:
    angle = conic.angle or 0.0
    return "" if abs(angle) < 5e-4 else f", turned by {_n(round(angle, 3))} degrees"


def _line(line: tuple[float, float, float], conic: Conic) -> str:
    p, q, r = line
    r = 0.0 if abs(r) <= conic.tol * max(conic.units) else r
    if abs(q) <= 1e-12:
        return f"x = {_n(-r / p)}"
    if abs(p) <= 1e-12:
        return f"y = {_n(-r / q)}"
    return f"{_n(p)} x {'-' if q < 0 else '+'} {_n(abs(q))} y = {_n(-r)}"
