"""Pools of rows for the active-set method, and which of them will be active.

The method wants unit curvature, no linear cost, and, where there is an intercept, features measured from near the
samples, so that nothing is lost to an offset:

    x = scale * v - q/P,     free unknown = v_last - centre'x.

Which rows will be active is guessed from a smooth neighbour of the problem on the pool,

    minimise  1/2 |v|^2 + 1/(2 sigma) sum_i max(0, A_i v - h_i)^2,

which is a squared hinge. Newton's method needs few steps for it, each of the cost of one Gram matrix, where an active
set built one row at a time needs hundreds; as sigma falls, the rows with a loss become the active ones, and their
multipliers are max(0, A_i v - h_i)/sigma.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.rows import DenseRows
from convexcls.solvers.rows.reduction import HardRows
from convexcls.solvers.rows.row_program import RowProgram
from convexcls.solvers.rows.smoothing import Smoothed

#: The first sigma, as a fraction of the mean square of the columns.
FIRST_SIGMA_SHARE = 1e-4
#: Each sigma is this fraction of the one before.
SIGMA_FACTOR = 0.2
#: Newton steps for one sigma, and how many sigmas there are at most.
MAX_STEPS_PER_WIDTH, MAX_WIDTHS = 8, 24
#: Where twice running this share of the loss is left, it will not vanish.
UNMOVED_LOSS_SHARE = 0.9
#: A feature is centred where its mean is so many times its mean deviation: elsewhere the rows stay as they are.
OFF_CENTRE_DEVIATIONS = 8.0


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows among which the active ones are chosen, with the numbers they have in the whole problem."""

    rows: Array
    rhs: Array
    names: Indices

    def excess(self, v: Array) -> Array:
        """A v - h."""
        out = self.rows @ v
        out -= self.rhs
        return out

    def reach(self) -> Array:
        """The largest size of each column."""
        return np.maximum(self.rows.max(axis=0), -self.rows.min(axis=0))

    def program(self, free: bool) -> RowProgram:
        """The problem on these rows, the last coordinate free or not."""
        k = self.rows.shape[1]
        P = np.eye(k)
        P[-1, -1] -= free
        return RowProgram.hard(P, np.zeros(k), DenseRows(self.rows), self.rhs, np.zeros((0, k)), np.zeros(0))

    def some(self, index: Indices) -> Pool:
        """A smaller pool."""
        return Pool(self.rows[index], self.rhs[index], self.names[index])


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


def follow(fit: SmoothFit, pool: Pool, free: bool, enough: float, accuracy: float = 0.0) -> SmoothFit:
    """The fits to a pool for falling sigma, from that of the fit given, until at most so many rows for each unknown
    have a loss; the excess of each to such a share of the typical loss."""
    program = pool.program(free)
    v, sigma, excess = fit.v, fit.sigma, pool.excess(fit.v)
    if not sigma > 0.0:
        sigma = FIRST_SIGMA_SHARE * float(np.einsum("ij,ij->", pool.rows, pool.rows)) / v.size or 1.0
    before, unmoved = np.inf, 0
    for _ in range(MAX_WIDTHS):
        squared_hinge = Smoothed.proximal(program, np.zeros_like(excess), sigma, _typical_loss(excess))
        v, _, excess = squared_hinge.minimise(v, np.zeros(0), excess, accuracy, MAX_STEPS_PER_WIDTH)
        loss = np.maximum(excess, 0.0)
        if np.count_nonzero(loss) <= enough * v.size:
            return SmoothFit(v, loss / sigma, sigma)
        remaining = float(loss @ loss)
        unmoved = unmoved + 1 if remaining > UNMOVED_LOSS_SHARE * before else 0
        if unmoved == 2:
            break
        before, sigma = remaining, sigma * SIGMA_FACTOR
    return SmoothFit(v, loss / sigma, sigma, stuck=True)


def _typical_loss(excess: Array) -> float:
    """The root of the mean square of the losses that there are."""
    loss = excess[excess > 0.0]
    return float(np.sqrt(loss @ loss / max(loss.size, 1)))


@dataclass(frozen=True, eq=False)
class WorkingRows:
    """The change of unknowns. ``curved`` counts the unknowns with curvature."""

    hard: HardRows
    scale: Array
    origin: Array
    centre: Array
    #: The largest size of each column, over a sample.
    reach: Array

    @classmethod
    def of(cls, hard: HardRows, sample: Indices) -> tuple[WorkingRows, Pool]:
        """With features centred on a sample of the rows; and this sample."""
        d = hard.program.q.size - hard.free
        P = hard.curvature[:d]
        rows, centre = hard.take(sample), np.zeros(d)
        reach = np.maximum(rows.max(axis=0), -rows.min(axis=0))
        if hard.free:
            slope = rows[:, -1]
            used = np.flatnonzero(slope)
            points = rows[used, :d] / slope[used, None]
            mean = points.sum(axis=0) / used.size
            far = np.abs(mean) * used.size > OFF_CENTRE_DEVIATIONS * np.abs(points - mean).sum(axis=0)
            centre[far] = mean[far]
        out = cls(hard, 1.0 / np.sqrt(P), hard.program.q[:d] / P, centre, reach)
        return out, out._turned_rows(rows, sample)

    @property
    def curved(self) -> int:
        return self.scale.size

    def pool(self, index: Indices) -> Pool:
        """Some rows in the new unknowns."""
        return self._turned_rows(self.hard.take(index), index)

    def _turned_rows(self, rows: Array, index: Indices) -> Pool:
        d, rhs = self.curved, self.hard.program.h[index]
        if self.hard.free and np.any(self.centre):
            rows[:, :d] -= rows[:, d:] * self.centre
        if np.any(self.origin):
            rhs = rhs + rows[:, :d] @ self.origin
        if np.any(self.scale != 1.0):
            rows[:, :d] *= self.scale
        return Pool(rows, rhs, index)

    def point(self, v: Array) -> Array:
        """x of v."""
        return self.linear(v, self.origin)

    def linear(self, v: Array, origin: Array | float = 0.0) -> Array:
        """The linear part of x of v, less an origin."""
        d = self.curved
        x = np.array(v)
        x[:d] = self.scale * v[:d] - origin
        x[d:] = v[d:] - (self.centre @ x[:d])
        return x

    def turned(self, force: Array) -> Array:
        """The transpose of the linear part: a force on x as one on v."""
        d = self.curved
        out = np.array(force)
        out[:d] = self.scale * (force[:d] - (self.centre * force[d] if self.hard.free else 0.0))
        return out
