"""The shortest point of a polyhedron by a dual active-set method (Goldfarb and Idnani 1983):

    minimise  1/2 |v|^2   subject to  A v <= h,

where the last coordinate may be free. The iterate is always the shortest point of the active rows taken as equations,
with multipliers u >= 0 that prove it. The most violated row joins, rows whose multiplier would fall below 0 leave, and
the objective only grows. A violated row that the active rows cannot make slack for contradicts them: n = -N'w with
w >= 0, so that w and 1 are the weights of a proof.

The active rows N come with the blocks of the inverse of their KKT matrix, which exist where P is singular too: P is the
identity, but for a 0 where the last coordinate is free,

    [ P  N' ]^-1     [ H   T' ]
    [ N  0  ]     =  [ T  -S  ],      S = T P T'.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dgeqrf, dorgqr, dtrtri

from convexcls.arrays import Array, Indices
from convexcls.solvers.rows.pool import Pool

Status = Literal["solved", "contradiction", "stalled"]

#: A row depends on the active ones where what they leave of it is shorter than this fraction of it.
DEPENDENT = 1e-12
#: Below this fraction (squared) a row is projected a second time: the first one lost digits.
PROJECT_AGAIN = 1e-2
#: Multipliers below this fraction of the largest are rounding.
WEAK_MULTIPLIER_SHARE = 1e-13
#: Working space of the orthogonal factorization, in columns: with less it would not go by blocks.
QR_BLOCK_COLUMNS = 32
EPS = float(np.finfo(float).eps)
#: After so many changes, and at least as many as there are unknowns, the inverse is made anew.
CHANGES_BEFORE_REFACTOR = 64
#: Of a large pool, so many rows for each unknown are looked at in every step: the most violated ones.
ROWS_LOOKED_AT_PER_UNKNOWN = 4


class ActiveRows:
    """The rows, their right-hand sides, multipliers and names, in the first ``count`` places of arrays that are as
    large as they ever need to be; and the point v that they determine. H and T change by one outer product each where
    a row joins or leaves; from time to time they are made anew from orthogonal factors of N."""

    def __init__(self, size: int, free: bool) -> None:
        self.size, self.free = size, free
        self.curved = size - free  # how many coordinates count in |v|
        self.v = np.zeros(size)
        self.count = 0
        self.N = np.zeros((size + 1, size))
        self.h = np.zeros(size + 1)
        self.u = np.zeros(size + 1)
        self.names = np.zeros(size + 1, dtype=np.intp)
        self.H = np.zeros((size, size), order="F")
        self.T = np.zeros((size, size + 1), order="F")  # transposed: one column for each row of N
        #: How many changes were made since H and T were made anew.
        self.stale = 0

    @property
    def active(self) -> Indices:
        """The names of the active rows."""
        return self.names[: self.count]

    @property
    def multipliers(self) -> Array:
        """Their multipliers."""
        return self.u[: self.count]

    def height(self) -> float:
        """|v|^2 / 2."""
        return 0.5 * float(self.v[: self.curved] @ self.v[: self.curved])

    def take(self, pool: Pool) -> bool:
        """Make all rows of a pool the active ones; False where they depend on each other."""
        k = self.count = pool.rhs.size
        self.N[:k], self.h[:k], self.names[:k], self.u[:k] = pool.rows, pool.rhs, pool.names, 0.0
        self.v = np.zeros(self.size)
        return self.refactor()

    def refactor(self) -> bool:
        """H and T from an orthogonal factorization of the active rows: with N' = Y R and the projection I - YY' = ZZ',

            H = Z (Z'PZ)^-1 Z',     T' = (I - HP) Y R'^-1,

        and Z'PZ is the identity, less one outer product where a coordinate is free. False where a row depends on the
        others."""
        k, self.stale = self.count, 0
        if not k:
            self.H = np.zeros((self.size, self.size), order="F")
            np.fill_diagonal(self.H[: self.curved, : self.curved], 1.0)
            return True
        factors, tau, _, _ = dgeqrf(np.asfortranarray(self.N[:k].T), lwork=QR_BLOCK_COLUMNS * k)
        pivots = np.abs(np.diagonal(factors)[:k])
        if np.any(pivots <= DEPENDENT * np.sqrt(np.einsum("ij,ij->i", self.N[:k], self.N[:k]))):
            return False
        inverse, _ = dtrtri(factors[:k, :k])
        Y, _, _ = dorgqr(factors, tau, lwork=QR_BLOCK_COLUMNS * k)
        H = Y @ -Y.T
        H.flat[:: self.size + 1] += 1.0
        self.H = H = np.asfortranarray(H)
        T = Y @ np.triu(inverse).T
        if self.free:
            bent, rest = H[:, -1].copy(), float(Y[-1] @ Y[-1])
            if not rest > 0.0:
                return False
            dger(1.0 / rest, bent, bent, a=H, overwrite_a=1)
            T = T - H[:, : self.curved] @ T[: self.curved]
        self.T[:, :k] = T
        return True

    def settle(self) -> None:
        """The point and the multipliers again from the active rows, by one step of refinement."""
        if self.count:
            k, d = self.count, self.curved
            N = self.N[:k]
            force = -(N.T @ self.u[:k])
            force[:d] -= self.v[:d]
            step, change = self.correction(force, self.h[:k] - N @ self.v)
            self.v = self.v + step
            self.u[:k] += change

    def correction(self, force: Array, short: Array) -> tuple[Array, Array]:
        """The changes of v and u by which Pv + N'u grows by ``force`` and N v by ``short``."""
        T, d = self.T[:, : self.count], self.curved
        lift = T @ short
        return self.H @ force + lift, T.T @ force - T[:d].T @ lift[:d]

    def left_over(self, n: Array) -> tuple[Array, float]:
        """H n, and n'Hn as the sum of squares that it is; 0 where the row depends on the active ones."""
        d = self.curved
        if self.count >= self.size:
            return n, 0.0
        z = self.H @ n
        rest, length = float(z[:d] @ z[:d]), float(n @ n)
        if rest < PROJECT_AGAIN * length:
            z = self.H[:, :d] @ z[:d]
            rest = float(z[:d] @ z[:d])
            if rest <= DEPENDENT**2 * length:
                return z, 0.0
        return z, rest

    def add(self, n: Array, rhs: float, name: int, multiplier: float, z: Array, r: Array, rest: float) -> None:
        """Let a row join: z = H n, r = T n, rest = n'Hn."""
        k = self.count
        dger(-1.0 / rest, z, z, a=self.H, overwrite_a=1)  # in place: H and the first columns of T are contiguous
        if k:
            dger(-1.0 / rest, z, r, a=self.T[:, :k], overwrite_a=1)
        np.divide(z, rest, out=self.T[:, k])
        self.put(n, rhs, name, multiplier)
        self.stale += 1

    def put(self, n: Array, rhs: float, name: int, multiplier: float) -> None:
        """Write a row in the next place, without a change of H and T."""
        k = self.count
        self.N[k], self.h[k], self.u[k], self.names[k] = n, rhs, multiplier, name
        self.count = k + 1

    def drop_weak(self) -> None:
        """Let rows leave whose multipliers are rounding: they are tight and carry nothing."""
        weak = self.multipliers <= WEAK_MULTIPLIER_SHARE * self.multipliers.max(initial=0.0)
        holds = self.N[: self.count, -1] != 0.0
        if self.free and not np.any(holds & ~weak):  # one of them holds the free coordinate all the same
            weak &= ~holds
        weak = np.flatnonzero(weak)
        for j in weak[::-1]:
            if not self.drop(int(j)):
                break
        if weak.size:
            self.refactor()
            self.settle()

    def drop(self, j: int) -> bool:
        """Let the row in place j leave, and the others take over its multiplier; False where these do not determine
        the free coordinate."""
        k, d = self.count, self.curved
        t = self.T[:, j].copy()
        sigma = float(t[:d] @ t[:d])
        if not sigma > DEPENDENT**2 * float(t @ t):
            return False
        s = t[:d] @ self.T[:d, :k]
        if carried := float(self.u[j]) / sigma:
            self.v += carried * t
            self.u[:k] -= carried * s
        dger(1.0 / sigma, t, t, a=self.H, overwrite_a=1)
        dger(-1.0 / sigma, t, s, a=self.T[:, :k], overwrite_a=1)
        last = k - 1
        if j != last:
            self.T[:, j] = self.T[:, last]
            self.N[j], self.h[j], self.u[j], self.names[j] = self.N[last], self.h[last], self.u[last], self.names[last]
        self.count, self.stale = last, self.stale + 1
        return True


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
