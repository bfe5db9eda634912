"""The central path of a ``RowProgram``, followed by Mehrotra's predictor-corrector method.

With the distances of a from its bounds, s_low = a - low and s_high = high - a, and their multipliers z,

    R x - h - compliance a = z_high - z_low,     s_low z_low = mu,   s_high z_high = mu,

the Newton equations reduce to the unknowns:  (P + R'DR) dx + A' dnu = ...,

    D = 1/(compliance + z_low/s_low + z_high/s_high).

Each iteration costs one weighted Gram matrix of the rows and one factorization of the size of the unknowns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from convexcls.arrays import Array, Mask
from convexcls.solvers.rows.kkt_system import KKTFactor
from convexcls.solvers.rows.row_program import RowProgram

#: A step ends this far short of the bound that limits it.
SHORT_OF_BOUND = 0.995
#: Longer steps need no correction.
LONG_ENOUGH = 0.95
#: Below every curvature: rows whose pairs both vanish are tight.
SMALLEST_CURVATURE = 1e-200
SMALLEST_DENOMINATOR = 1e-300
#: Sums are relative to at least this share of the largest: what is smaller may be rounding.
SMALLEST_SHARE = 1e-8


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
class PathStop:
    """A point on the way, with its objective, relative errors and the step that led there."""

    point: PathPoint
    objective: float
    gap: float
    infeasibility: float
    step: float
    sigma: float

    @property
    def error(self) -> float:
        """The largest of the relative errors."""
        return max(self.gap, self.infeasibility)


def follow(program: RowProgram, x: Array, mu: float | None = None, max_iter: int = 100) -> Iterator[PathStop]:
    """Points on the way to the solution, each nearer to it, until numbers give out or the way ends."""
    bounds, sizes = RowBounds.of(program), ResidualScales.of(program)
    point = start_point(program, x, first_mu(program, x) if mu is None else mu)
    step = sigma = 1.0
    for _ in range(max_iter):
        residuals = Residuals.of(program, point)
        stop = _measured(program, sizes, point, residuals, step, sigma)
        if not np.isfinite(stop.error) or not np.isfinite(point.x).all():
            return
        yield stop
        try:
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # numbers give out: seen above
                point, step, sigma = predictor_corrector(program, bounds, point, residuals)
        except LinAlgError:
            return


# ---- where to begin ------------------------------------------------------------------------------------------


def start_point(program: RowProgram, x: Array, mu: float) -> PathPoint:
    """The point at x in which every pair has the product mu, as far as x allows: a solves

    mu/(high - a) - mu/(a - low) + compliance a = r."""
    r = program.excess(x)
    low, high, curved = np.isfinite(program.low), np.isfinite(program.high), program.compliance > 0
    share, interval = _between(program, r, mu)
    t = _beside(program, r, mu)
    s_low = np.where(low & high, share * interval, np.where(low, t, 1.0))
    s_high = np.where(low & high, (1.0 - share) * interval, np.where(high, t, 1.0))
    a = np.where(low, program.low + s_low, np.where(high, program.high - s_high, 0.0))
    a = np.where(curved & ~low & ~high, np.divide(r, program.compliance, out=np.zeros_like(r), where=curved), a)
    z_low, z_high = np.where(low, mu / s_low, 0.0), np.where(high, mu / s_high, 0.0)
    return PathPoint(x, np.zeros(program.b.size), a, s_low, s_high, z_low, z_high)


def _between(program: RowProgram, r: Array, mu: float) -> tuple[Array, Array]:
    """For rows between two bounds the distance of a from the lower one, as a share of the interval between them, as if
    the row had no compliance."""
    boxed = np.isfinite(program.low) & np.isfinite(program.high)
    interval = np.where(boxed, program.high - program.low, 1.0)
    e, k = np.where(boxed, r, 0.0), 2.0 * mu / interval
    return np.clip(0.5 + 0.5 * e / (k + np.sqrt(k * k + e * e)), 1e-8, 1.0 - 1e-8), interval


def _beside(program: RowProgram, r: Array, mu: float) -> Array:
    """For rows with one bound the distance t from it: t (compliance t - e) = mu, e the excess in its direction; without
    compliance     the row is at least some way inside."""
    low, curved = np.isfinite(program.low), program.compliance > 0
    near = np.where(low, program.low, np.where(np.isfinite(program.high), program.high, 0.0))
    e = np.where(low, 1.0, -1.0) * (r - program.compliance * near)
    root = np.sqrt(e * e + 4.0 * mu * program.compliance)
    curving = np.divide(e + root, 2.0 * program.compliance, out=np.zeros_like(e), where=curved & (e > 0))
    curving = np.where(e > 0, curving, 2.0 * mu / (root - e + SMALLEST_DENOMINATOR))
    inside = max(float(np.sqrt(mu)), 1e-3 * float(np.abs(r).max(initial=0.0)), SMALLEST_DENOMINATOR)
    return np.maximum(np.where(curved, curving, mu / np.maximum(-e, inside)), 1e-8 * float(np.sqrt(mu)))


def first_mu(program: RowProgram, x: Array) -> float:
    """The product of the pairs to begin with: excess times multiplier, of typical size."""
    r = program.excess(x)
    typical = float(np.abs(r).mean()) if r.size else 1.0
    interval = program.high - program.low
    finite = interval[np.isfinite(interval)]
    multiplier = float(finite.mean()) if finite.size else 1.0
    return 2.0 * (typical or 1.0) * (multiplier or 1.0)


# ---- one step ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowBounds:
    """Which bounds there are, as numbers 0 and 1 (one number where all rows agree), and how many."""

    low: Array | float
    high: Array | float
    count: int

    @classmethod
    def of(cls, program: RowProgram) -> RowBounds:
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
class NewtonDirection:
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

    def direction(self, low: Array, high: Array) -> NewtonDirection:
        """The direction in which the products of the pairs change by ``low`` and ``high``."""
        p = self.p
        wanted = self.residuals.rows + low / p.s_low - high / p.s_high
        pull = self.program.rows.transposed_matmul(self.D * wanted)
        dx, dnu = self.factor.solve(-self.residuals.dual - pull, -self.residuals.equal)
        da = self.D * (self.program.rows @ dx + wanted)
        return NewtonDirection(dx, dnu, da, (low - p.z_low * da) / p.s_low, (high + p.z_high * da) / p.s_high)


def predictor_corrector(
    program: RowProgram, bounds: RowBounds, p: PathPoint, residuals: Residuals, corrections: int = 2
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


def _products(bounds: RowBounds, p: PathPoint, m: NewtonDirection, length: float) -> tuple[Array, Array]:
    """The products of both pairs after a step."""
    return (
        (p.s_low + length * m.a * bounds.low) * (p.z_low + length * m.z_low),
        (p.s_high - length * m.a * bounds.high) * (p.z_high + length * m.z_high),
    )


def _towards_centre(
    bounds: RowBounds, p: PathPoint, m: NewtonDirection, length: float, target: float
) -> tuple[Array, Array]:
    """What would bring the products that are far from the target after a step back into its neighbourhood (Gondzio
    1996)."""
    out = []
    for products, exists in zip(_products(bounds, p, m, length), (bounds.low, bounds.high), strict=True):
        missing = np.clip(products, 0.1 * target, 10.0 * target) - products
        out.append(np.maximum(missing, -10.0 * target) * exists)
    return out[0], out[1]


def step_length(bounds: RowBounds, p: PathPoint, m: NewtonDirection) -> float:
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


def _moved(program: RowProgram, bounds: RowBounds, p: PathPoint, m: NewtonDirection, length: float) -> PathPoint:
    s_low = p.s_low + length * m.a * bounds.low
    s_high = p.s_high - length * m.a * bounds.high
    a = p.a + length * m.a
    # next to a bound the distance has more digits than a
    a = np.where(
        s_low < s_high, np.where(bounds.low, program.low + s_low, a), np.where(bounds.high, program.high - s_high, a)
    )
    z_low, z_high = p.z_low + length * m.z_low, p.z_high + length * m.z_high
    return PathPoint(p.x + length * m.x, p.nu + length * m.nu, a, s_low, s_high, z_low, z_high)


# ---- how near it is ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ResidualScales:
    """The sizes of what is added up, the same at all points: P, q, A, b, the largest entry of each column of the rows,
    the largest right-hand side and the longest interval between bounds."""

    P: Array
    q: Array
    A: Array
    b: Array
    reach: Array
    side: float
    interval: float

    @classmethod
    def of(cls, program: RowProgram) -> ResidualScales:
        interval = program.high - program.low
        interval = interval[np.isfinite(interval)]
        return cls(
            P=np.abs(program.P),
            q=np.abs(program.q),
            A=np.abs(program.A),
            b=np.abs(program.b),
            reach=program.rows.column_max(),
            side=float(np.abs(program.h).max(initial=0.0)),
            interval=float(interval.max()) if interval.size else np.inf,
        )


def _measured(
    program: RowProgram, sizes: ResidualScales, p: PathPoint, residuals: Residuals, step: float, sigma: float
) -> PathStop:
    excess = residuals.rows + program.compliance * p.a + p.z_high - p.z_low
    cost = float(p.a @ excess - 0.5 * (program.compliance * p.a) @ p.a)
    objective = program.quadratic(p.x) + cost + residuals.gap
    scale = max(abs(objective), abs(objective - residuals.gap), program.unit) or 1.0
    side = max(sizes.side, float(np.abs(excess).max(initial=0.0))) or 1.0
    # where all multipliers may be 0, an objective of one unit gives their size, or their bounds do
    natural = min(program.unit / side, sizes.interval)
    size = np.abs(p.x)
    summed = sizes.P @ size + sizes.q + sizes.reach * (float(np.abs(p.a).sum()) + natural)
    infeasibility = float(np.abs(residuals.rows).max(initial=0.0)) / side
    if p.nu.size:
        summed += sizes.A.T @ np.abs(p.nu)
        infeasibility = max(infeasibility, _largest_share(residuals.equal, sizes.b + sizes.A @ size))
    summed += SMALLEST_SHARE * summed.max(initial=0.0)
    infeasibility = max(infeasibility, _largest_share(residuals.dual, summed))
    return PathStop(p, objective, residuals.gap / scale, infeasibility, step, sigma)


def _largest_share(residuals: Array, summed: Array) -> float:
    """The largest residual, relative to what was added up."""
    return float((np.abs(residuals) / np.where(summed > 0, summed, 1.0)).max(initial=0.0))
