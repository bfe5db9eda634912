"""The shortest point of a polyhedron by a dual active-set method (Goldfarb and Idnani 1983):

    minimise  1/2 |v|^2   subject to  A v <= h,

where the last coordinate may be free. The iterate is always the shortest point of the active rows taken as equations,
with multipliers u >= 0 that prove it. The most violated row joins, rows whose multiplier would fall below 0 leave, and
the objective only grows. A violated row that the active rows cannot make slack for contradicts them: n = -N'w with
w >= 0, so that w and 1 are the weights of a proof.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.solvers.rows.active_rows import EPS, ActiveRows
from convexcls.solvers.rows.pool import Pool

Status = Literal["solved", "contradiction", "stalled"]

#: After so many changes, and at least as many as there are unknowns, the inverse is made anew.
CHANGES_BEFORE_REFACTOR = 64
#: Of a large pool, so many rows for each unknown are looked at in every step: the most violated ones.
ROWS_LOOKED_AT_PER_UNKNOWN = 4


class ActiveSet(ActiveRows):
    """The method, its active rows, and the rows of a contradiction once one was met."""

    def __init__(self, size: int, free: bool) -> None:
        super().__init__(size, free)
        self.steps = 0
        #: The rows, by name, that contradict each other, and their weights.
        self.contradiction: tuple[Indices, Array] | None = None

    # ---- where to begin ----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """At the origin, without active rows."""
        self.count, self.v = 0, np.zeros(self.size)
        self.refactor()

    def begin_with(self, pool: Pool) -> None:
        """With all rows of a small pool as the active ones, without those whose multipliers come out below 0."""
        if self.take(pool):
            self.settle()
            while self.count:
                least = int(self.multipliers.argmin())
                if self.u[least] >= 0.0:
                    self.settle()
                    return
                if not self.drop(least):
                    break
        self.begin()

    def _hold(self, pool: Pool) -> None:
        """A free coordinate needs a row that determines it: unless rows with multipliers do, the one of the pool that
        asks most of it, so that no row on its side is violated."""
        k = self.count
        held = self.N[:k, -1] != 0.0
        if not self.free or np.any(self.u[:k][held] > 0.0):
            return
        kept = np.flatnonzero(~held)
        self.count = kept.size
        self.N[: kept.size], self.h[: kept.size] = self.N[kept], self.h[kept]
        self.u[: kept.size], self.names[: kept.size] = self.u[kept], self.names[kept]
        slope, slack = pool.rows[:, -1], pool.rhs - pool.rows[:, :-1] @ self.v[:-1]
        for side in (-1.0, 1.0):
            rows = np.flatnonzero(side * slope > 0.0)
            if rows.size:
                asked = slack[rows] / slope[rows]
                first = int(rows[np.argmin(side * asked)])
                self.v[-1] = slack[first] / slope[first]
                self.put(pool.rows[first], pool.rhs[first], pool.names[first], 0.0)
                break
        self.refactor()

    # ---- the method --------------------------------------------------------------------------------------------------

    def improve(self, pool: Pool, most: int) -> Status:
        """Let violated rows of the pool join until there are none, in at most so many changes."""
        self._hold(pool)
        last, reach = self.steps + most, pool.reach()
        few = ROWS_LOOKED_AT_PER_UNKNOWN * self.size
        for _ in range(most):
            excess, noise = pool.excess(self.v), self._noise(pool, reach)
            if not excess.max() > noise:
                return "solved"
            looked_at, before = pool, self.height()
            if pool.rhs.size > 2 * few:
                nearest = np.argpartition(excess, excess.size - few)[excess.size - few :]
                looked_at, excess = pool.some(nearest), excess[nearest]
            while excess[worst := int(excess.argmax())] > noise:
                if (outcome := self._join(looked_at, worst, excess, last)) != "solved":
                    return outcome
            if self.stale >= CHANGES_BEFORE_REFACTOR // 2:
                self.refactor()
            self.settle()
            if not self.height() > before:  # what is violated is rounding, more than usual
                break
        self.refactor()
        self.settle()
        return "solved"

    def _noise(self, pool: Pool, reach: Array) -> float:
        """What counts as no violation: what rounding may leave of the sums in A v - h."""
        return 8.0 * EPS * (float(reach @ np.abs(self.v)) + float(np.abs(pool.rhs).max()))

    def _join(self, pool: Pool, p: int, excess: Array, last: int) -> Status:
        """Let row p join: raise its multiplier until it holds, dropping rows whose multipliers reach 0."""
        n, height, multiplier, fresh = pool.rows[p], float(excess[p]), 0.0, max(CHANGES_BEFORE_REFACTOR, self.size)
        while self.steps < last:
            self.steps += 1
            if self.stale >= fresh:
                self.refactor()
            k = self.count
            z, rest = self.left_over(n)
            r = n @ self.T[:, :k]
            until_block, first = self._until_block(r)
            until_tight = height / rest if rest > 0.0 else np.inf
            if until_block == until_tight == np.inf:
                self.contradiction = (np.append(self.names[:k], pool.names[p]), np.append(np.maximum(-r, 0.0), 1.0))
                return "contradiction"
            t = min(until_block, until_tight)
            self.u[:k] -= t * r
            multiplier += t
            if rest > 0.0:
                self.v -= t * z
                excess -= pool.rows @ (t * z)
                height -= t * rest
            if until_tight <= until_block:
                self.add(n, pool.rhs[p], pool.names[p], multiplier, z, r, rest)
                excess[p] = 0.0
                return "solved"
            self.u[first] = 0.0
            if not self.drop(first):
                return "stalled"
        return "stalled"

    def _until_block(self, r: Array) -> tuple[float, int]:
        """How far the new multiplier can grow before one of the active rows has none left, and which one."""
        largest = float(r.max(initial=0.0))
        if not largest > 1e-11:
            return np.inf, 0
        falling = np.flatnonzero(r > 1e-11 * max(1.0, largest))
        ratios = self.u[falling] / r[falling]
        first = int(ratios.argmin())
        return max(float(ratios[first]), 0.0), int(falling[first])
