"""Rows as the active-set method wants them: unit curvature, no linear cost, and, where there is an intercept, features
measured from near the samples, so that nothing is lost to an offset.

    x = scale * v - q/P,     free unknown = v_last - centre'x
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.solvers.rows.active_rows import ActiveRows
from convexcls.solvers.rows.hard_rows import HardRows
from convexcls.solvers.rows.pool import Pool

#: A feature is centred where its mean is so many times its mean deviation: elsewhere the rows stay as they are.
OFF_CENTRE_DEVIATIONS = 8.0


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
        return self._linear(v, self.origin)

    def start(self, x: Array) -> Array:
        """v of x."""
        d = self.curved
        v = np.array(x)
        v[:d] = (x[:d] + self.origin) / self.scale
        v[d:] = x[d:] + (self.centre @ x[:d])
        return v

    def _linear(self, v: Array, origin: Array | float = 0.0) -> Array:
        d = self.curved
        x = np.array(v)
        x[:d] = self.scale * v[:d] - origin
        x[d:] = v[d:] - (self.centre @ x[:d])
        return x

    def _turned(self, force: Array) -> Array:
        """The transpose of the linear part: a force on x as one on v."""
        d = self.curved
        out = np.array(force)
        out[:d] = self.scale * (force[:d] - (self.centre * force[d] if self.hard.free else 0.0))
        return out

    def refined(self, found: ActiveRows, rounds: int = 2) -> tuple[Array, Array]:
        """x and the multipliers from the active rows as they are, with residuals in extended precision."""
        program, curvature = self.hard.program, self.hard.curvature
        x, u = self.point(found.v), found.multipliers.copy()
        N = self.hard.take(found.active).astype(np.longdouble)
        h, P = program.h[found.active].astype(np.longdouble), curvature.astype(np.longdouble)
        for _ in range(rounds):
            force = self._turned(np.asarray(-(P * x + program.q + N.T @ u), dtype=float))
            short = np.asarray(h - N @ x, dtype=float)
            step, change = found.correction(force, short)
            x, u = x + self._linear(step), u + change
        # no row speaks of these: what rounding left of them is nothing
        unseen = (program.rows.column_max() == 0.0) & (curvature > 0)
        return np.where(unseen, -program.q / np.where(curvature > 0, curvature, 1.0), x), u
