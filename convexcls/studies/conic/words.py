"""A conic in words."""

from __future__ import annotations

from convexcls.studies.conic.form import Conic, Point


def in_words(conic: Conic) -> str:
    """One phrase that says what it is and where."""
    axes, kind = conic.axes, conic.kind
    if kind == "ellipse" and axes is not None:
        measures = f"semi-axes {_n(axes[0])} and {_n(axes[1])}"
        return f"an ellipse around {_at(conic, conic.centre)} with {measures}{_turned(conic)}"
    if kind == "circle" and axes is not None:
        return f"a circle around {_at(conic, conic.centre)} with radius {_n((axes[0] * axes[1]) ** 0.5)}"
    if kind == "hyperbola" and axes is not None:
        measures = f"semi-axes {_n(axes[0])} and {_n(axes[1])}"
        return f"a hyperbola around {_at(conic, conic.centre)} with {measures}{_turned(conic)}"
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
