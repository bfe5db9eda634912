"""One step of a primal-dual interior-point method on a ``RowProgram``.

With the distances of a from its bounds, s_low = a - low and s_high = high - a, and their multipliers z,

    R x - h - compliance a = z_high - z_low,     s_low z_low = mu,   s_high z_high = mu,

the Newton equations reduce to the unknowns:  (P + R'DR) dx + A' dnu = ...,

    D = 1/(compliance + z_low/s_low + z_high/s_high).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Mask
from convexcls.solvers.rows.kkt_system import KKTFactor
from convexcls.solvers.rows.row_program import RowProgram

#: A step ends this far short of the bound that limits it.
SHORT_OF_BOUND = 0.995
#: Longer steps need no correction.
LONG_ENOUGH = 0.95
#: Below every curvature: rows whose pairs both vanish are tight.
SMALLEST_CURVATURE = 1e-200


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A point inside: x, the multipliers of the equations, and for each row its two pairs. ``s_low`` is 1 and
    ``z_low`` 0 where a has no lower bound, likewise above."""

    x: Array
    nu: Array
    a: Array
    s_low: Array
    s_high: Array
    z_low: Array
    z_high: Array

    @property
    def iterate(self) -> tuple[Array, Array, Array]:
        """x, a and nu."""
        return self.x, self.a, self.nu


@dataclass(frozen=True, eq=False)
class Bounds:
    """Which bounds there are, as numbers 0 and 1 (one number where all rows agree), and how many."""

    low: Array | float
    high: Array | float
    count: int

    @classmethod
    def of(cls, program: RowProgram) -> Bounds:
        low, high = np.isfinite(program.low), np.isfinite(program.high)
        count = int(low.sum() + high.sum())
        return cls(_common(low), _common(high), count)


def _common(exists: Mask) -> Array | float:
    return float(exists[0]) if exists.size and np.all(exists == exists[0]) else exists.astype(float)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is left of the equations: stationarity, rows, equations; and the complementarity products."""

    dual: Array
    rows: Array
    equal: Array
    gap: float

    @classmethod
    def of(cls, program: RowProgram, p: PathPoint) -> Residuals:
        rows = program.excess(p.x) - program.compliance * p.a - p.z_high + p.z_low
        gap = float(p.s_low @ p.z_low + p.s_high @ p.z_high)
        return cls(program.gradient(p.x, p.a, p.nu), rows, program.A @ p.x - program.b, gap)


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction from a point."""

    x: Array
    nu: Array
    a: Array
    z_low: Array
    z_high: Array


class NewtonEquations:
    """The Newton equations at a point, factored once and solved for several targets."""

    def __init__(self, program: RowProgram, p: PathPoint, residuals: Residuals) -> None:
        self.program, self.p, self.residuals = program, p, residuals
        self.D = 1.0 / np.maximum(program.compliance + p.z_low / p.s_low + p.z_high / p.s_high, SMALLEST_CURVATURE)
        self.factor = KKTFactor(program.P + program.rows.gram(self.D), program.A)

    def direction(self, low: Array, high: Array) -> Direction:
        """The direction in which the products of the pairs change by ``low`` and ``high``."""
        p = self.p
        wanted = self.residuals.rows + low / p.s_low - high / p.s_high
        pull = self.program.rows.transposed_matmul(self.D * wanted)
        dx, dnu = self.factor.solve(-self.residuals.dual - pull, -self.residuals.equal)
        da = self.D * (self.program.rows @ dx + wanted)
        return Direction(dx, dnu, da, (low - p.z_low * da) / p.s_low, (high + p.z_high * da) / p.s_high)


def predictor_corrector(
    program: RowProgram, bounds: Bounds, p: PathPoint, residuals: Residuals, corrections: int = 2
) -> tuple[PathPoint, float, float]:
    """Mehrotra's step from a point: the next point, the length of the step and how far it was centred."""
    newton = NewtonEquations(program, p, residuals)
    below, above = p.s_low * p.z_low, p.s_high * p.z_high
    affine = newton.direction(-below, -above)
    length = step_length(bounds, p, affine)
    after = sum(float(product.sum()) for product in _products(bounds, p, affine, length))
    sigma = min(max(after / residuals.gap, 0.0) ** 3, 1.0) if residuals.gap > 0 else 0.0
    target = sigma * residuals.gap / max(bounds.count, 1)
    low = (target - affine.a * affine.z_low) * bounds.low - below
    high = (target + affine.a * affine.z_high) * bounds.high - above
    best = newton.direction(low, high)
    length = step_length(bounds, p, best)
    for _ in range(corrections):
        if length >= LONG_ENOUGH:
            break
        further = min(1.0, 1.08 * length + 0.08)
        more_low, more_high = _towards_centre(bounds, p, best, further, target)
        low, high = low + more_low, high + more_high
        corrected = newton.direction(low, high)
        reached = step_length(bounds, p, corrected)
        if reached < length + 0.1 * (further - length):
            break
        best, length = corrected, reached
    length *= SHORT_OF_BOUND if length < 1.0 else max(SHORT_OF_BOUND, 1.0 - sigma)
    return _moved(program, bounds, p, best, length), length, sigma


def _products(bounds: Bounds, p: PathPoint, m: Direction, length: float) -> tuple[Array, Array]:
    """The products of both pairs after a step."""
    return (
        (p.s_low + length * m.a * bounds.low) * (p.z_low + length * m.z_low),
        (p.s_high - length * m.a * bounds.high) * (p.z_high + length * m.z_high),
    )


def _towards_centre(bounds: Bounds, p: PathPoint, m: Direction, length: float, target: float) -> tuple[Array, Array]:
    """What would bring the products that are far from the target after a step back into its neighbourhood (Gondzio
    1996)."""
    out = []
    for products, exists in zip(_products(bounds, p, m, length), (bounds.low, bounds.high), strict=True):
        missing = np.clip(products, 0.1 * target, 10.0 * target) - products
        out.append(np.maximum(missing, -10.0 * target) * exists)
    return out[0], out[1]


def step_length(bounds: Bounds, p: PathPoint, m: Direction) -> float:
    """The longest step, at most 1, after which nothing is negative."""
    most = 1.0
    for value, change, exists in (
        (p.s_low, m.a, bounds.low),
        (p.s_high, -m.a, bounds.high),
        (p.z_low, m.z_low, bounds.low),
        (p.z_high, m.z_high, bounds.high),
    ):
        if isinstance(exists, float):
            if exists and value.size:
                most = max(most, -float((change / value).min()))
        else:
            most = max(
                most, -float(np.divide(change, value, out=np.zeros_like(change), where=exists > 0).min(initial=0.0))
            )
    return 1.0 / most


def _moved(program: RowProgram, bounds: Bounds, p: PathPoint, m: Direction, length: float) -> PathPoint:
    s_low = p.s_low + length * m.a * bounds.low
    s_high = p.s_high - length * m.a * bounds.high
    a = p.a + length * m.a
    # next to a bound the distance has more digits than a
    a = np.where(
        s_low < s_high, np.where(bounds.low, program.low + s_low, a), np.where(bounds.high, program.high - s_high, a)
    )
    z_low, z_high = p.z_low + length * m.z_low, p.z_high + length * m.z_high
    return PathPoint(p.x + length * m.x, p.nu + length * m.nu, a, s_low, s_high, z_low, z_high)
