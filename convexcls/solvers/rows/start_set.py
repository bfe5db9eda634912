"""Which rows will be active: a guess from a smooth neighbour of the problem, for a pool of rows,

    minimise  1/2 |v|^2 + 1/(2 sigma) sum_i max(0, A_i v - h_i)^2,

which is a squared hinge. Newton's method needs few steps for it, each of the cost of one Gram matrix, where an active
set built one row at a time needs hundreds; as sigma falls, the rows with a loss become the active ones, and their
multipliers are max(0, A_i v - h_i)/sigma.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dposv

from convexcls.solvers.rows.active_rows import Pool
from convexcls.solvers.rows.flat_point import nearly_flat

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: The first sigma, as a fraction of the mean square of the columns.
FIRST = 1e-4
#: Each sigma is this fraction of the one before.
NARROWER = 0.2
#: Newton steps for one sigma, and how many sigmas there are at most.
STEPS, WIDTHS = 8, 24
#: Where twice running this share of the loss is left, it will not vanish.
UNMOVED = 0.9


@dataclass(frozen=True, eq=False)
class SmoothFit:
    """The minimum for one sigma, with the multipliers of the pool's rows. ``stuck`` where the loss does not fall with
    sigma: the rows contradict each other, or nearly so."""

    v: Array
    u: Array
    sigma: float = 0.0
    stuck: bool = False

    def likely_rows(self) -> Indices:
        """The rows with the largest multipliers, at most as many as can be active."""
        rows = np.flatnonzero(self.u)
        most = self.v.size
        return rows if rows.size <= most else rows[np.argsort(-self.u[rows], kind="stable")[:most]]


def follow(fit: SmoothFit, pool: Pool, free: bool, enough: float) -> SmoothFit:
    """The fits to a pool for falling sigma, from that of the fit given, until at most so many rows for each unknown
    have a loss."""
    v, sigma = fit.v, fit.sigma
    if not sigma > 0.0:
        sigma = FIRST * float(np.einsum("ij,ij->", pool.rows, pool.rows)) / v.size or 1.0
    before, unmoved = np.inf, 0
    for _ in range(WIDTHS):
        v, excess = smooth_fit(pool, v, free, sigma)
        loss = np.maximum(excess, 0.0)
        if np.count_nonzero(loss) <= enough * v.size:
            return SmoothFit(v, loss / sigma, sigma)
        left = float(loss @ loss)
        unmoved = unmoved + 1 if left > UNMOVED * before else 0
        if unmoved == 2:
            break
        before, sigma = left, sigma * NARROWER
    return SmoothFit(v, loss / sigma, sigma, stuck=True)


def smooth_fit(pool: Pool, v: Array, free: bool, sigma: float) -> tuple[Array, Array]:
    """The minimum over v for one sigma, by Newton's method, and A v - h there."""
    excess = pool.excess(v)
    bending = np.flatnonzero(excess > 0.0)
    for _ in range(STEPS):
        rows = pool.rows[bending]
        gradient = excess[bending] @ rows + sigma * v
        if free:
            gradient[-1] -= sigma * v[-1]
        step = _newton_step(rows, gradient, sigma, free)
        if step is None:
            break
        along = pool.rows @ step
        t = _length(v, step, excess, along, sigma, free, float(gradient @ step))
        v, excess = v + t * step, excess + t * along
        before, bending = bending, np.flatnonzero(excess > 0.0)
        if t == 1.0 and np.array_equal(bending, before):
            break
    return v, excess


def _newton_step(rows: Array, gradient: Array, sigma: float, free: bool) -> Array | None:
    """The step of least squares on the rows with a loss; None where they do not determine it."""
    if not rows.size:
        return None
    hessian = dsyrk(1.0, rows.T, lower=1)
    diagonal = np.einsum("ii->i", hessian)
    diagonal[: diagonal.size - free] += sigma
    _, step, info = dposv(hessian, -gradient, lower=1)
    return None if info else np.asarray(step)


def _length(v: Array, step: Array, excess: Array, along: Array, sigma: float, free: bool, slope: float) -> float:
    """Where the derivative along the step, which only grows, nearly vanishes."""
    stop = v.size - free
    level, growth = sigma * float(v[:stop] @ step[:stop]), sigma * float(step[:stop] @ step[:stop])

    def derivative(t: float) -> float:
        return level + t * growth + float(along @ np.maximum(excess + t * along, 0.0))

    return nearly_flat(derivative, slope, share=0.3, most=20, endless=1.0)
