"""How far to go along a step in a convex piecewise quadratic: where the derivative, which only grows, is nearly 0."""

from __future__ import annotations

from collections.abc import Callable

#: A full step is taken where it leaves at most this share of the slope.
FULL_STEP = 0.3


def nearly_flat(
    derivative: Callable[[float], float],
    slope: float,
    *,
    share: float = 0.1,
    growth: float = 4.0,
    farthest: float = 1e6,
    margin: float = 0.05,
    most: int = 60,
    endless: float | None = None,
) -> float:
    """A length at which at most ``share`` of the ``slope`` at 0 is left: 1 where that will do, else between two lengths
    with slopes of opposite sign, by secants kept ``margin`` away from both ends. Where the slope stays below 0 up to
    ``farthest``, only rounding is left of it: then ``endless``, or as far as that."""
    low, at_low, high, at_high = 0.0, slope, 1.0, derivative(1.0)
    if not slope < 0 or abs(at_high) <= FULL_STEP * abs(slope):
        return 1.0
    while at_high < 0 and high < farthest:
        low, at_low, high = high, at_high, growth * high
        at_high = derivative(high)
    if not at_high > 0:
        return high if endless is None else endless
    t = high
    for _ in range(most):
        secant = (low * at_high - high * at_low) / (at_high - at_low)
        t = min(max(secant, low + margin * (high - low)), high - margin * (high - low))
        value = derivative(t)
        if abs(value) <= share * abs(slope):
            break
        low, at_low, high, at_high = (t, value, high, at_high) if value < 0 else (low, at_low, t, value)
    return t
