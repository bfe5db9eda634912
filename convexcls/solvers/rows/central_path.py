"""The central path of a ``RowProgram``, followed by Mehrotra's predictor-corrector method.

Each iteration costs one weighted Gram matrix of the rows and one factorization of the size of the unknowns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from convexcls.arrays import Array
from convexcls.solvers.rows.path_step import Bounds, PathPoint, Residuals, predictor_corrector
from convexcls.solvers.rows.row_program import RowProgram

SMALLEST_DENOMINATOR = 1e-300
#: Sums are relative to at least this share of the largest: what is smaller may be rounding.
SMALLEST_SHARE = 1e-8


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


def follow(program: RowProgram, x: Array, mu: float | None = None, max_iter: int = 100) -> Iterator[PathStop]:
    """Points on the way to the solution, each nearer to it, until numbers give out or the way ends."""
    bounds, sizes = Bounds.of(program), Sizes.of(program)
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


@dataclass(frozen=True, eq=False)
class Sizes:
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
    def of(cls, program: RowProgram) -> Sizes:
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
    program: RowProgram, sizes: Sizes, p: PathPoint, residuals: Residuals, step: float, sigma: float
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
