"""The shortest point of a polyhedron by a dual active-set method (Goldfarb and Idnani 1983):

    minimise  1/2 |v|^2   subject to  A v <= h,

where the last coordinate may be free, that is, may not count in |v|. The iterate is always the shortest point of the
active rows N taken as equations, with multipliers u >= 0 that prove it: Pv + N'u = 0, N v = h. The most violated row
joins, rows whose multiplier would fall below 0 leave, and the objective only grows.

What a step needs are the blocks of the inverse of the KKT matrix,

    [ P  N' ]^-1     [ H   T' ]
    [ N  0  ]     =  [ T  -S  ],      S = T P T',

which exist where P is singular too. A row that joins or leaves changes H and T by one outer product each; from time to
time they are made anew from orthogonal factors of N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dgeqrf, dorgqr, dtrtri

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Outcome = Literal["solved", "contradiction", "stalled"]

#: A row depends on the active ones where what they leave of it is shorter than this fraction of it.
DEPENDENT = 1e-12
#: Below this fraction (squared) a row is projected a second time: the first one lost digits.
PROJECT_AGAIN = 1e-2
#: After so many changes the inverse is made anew.
FRESH = 64
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows among which the active ones are chosen, with the numbers they have in the whole problem."""

    rows: Array
    rhs: Array
    names: Indices

    def excess(self, v: Array) -> Array:
        """A v - h."""
        return np.asarray(self.rows @ v - self.rhs)

    def noise(self, v: Array) -> float:
        """What counts as no violation: what rounding may leave of the sums in A v - h."""
        reach = np.maximum(self.rows.max(axis=0), -self.rows.min(axis=0))
        return 4.0 * EPS * (float(reach @ np.abs(v)) + float(np.abs(self.rhs).max()))


class ActiveSet:
    """The active rows with their multipliers, the point they determine, and the inverse of their KKT matrix."""

    def __init__(self, size: int, free: bool) -> None:
        self.size, self.free = size, free
        self.v = np.zeros(size)
        self.count = 0
        self.steps = 0
        self.N = np.zeros((size + 1, size))
        self.h = np.zeros(size + 1)
        self.u = np.zeros(size + 1)
        self.names = np.zeros(size + 1, dtype=np.intp)
        self.H = np.zeros((size, size), order="F")
        self.T = np.zeros((size, size + 1), order="F")  # transposed: one column a row of N
        self.stale = 0
        #: Weights of rows, by name, that add up to a contradiction, once one was met.
        self.contradiction: tuple[Indices, Array] | None = None
        self.refactor()

    # ---- the active rows ---------------------------------------------------------------------------------------------

    @property
    def active(self) -> Indices:
        """The names of the active rows."""
        return self.names[: self.count]

    @property
    def multipliers(self) -> Array:
        """Their multipliers."""
        return self.u[: self.count]

    def curved(self, z: Array) -> Array:
        """P z: without the free coordinate."""
        if not self.free:
            return z
        out = z.copy()
        out[-1] = 0.0
        return out

    def refactor(self) -> bool:
        """H and T from an orthogonal factorization of the active rows: with N' = Y R and the projection I - YY' = ZZ',

        H = Z (Z'PZ)^-1 Z',   T' = (I - HP) Y R'^-1,

        and Z'PZ is the identity less one outer product where a coordinate is free. False where a row depends on
        the others."""
        k, self.stale = self.count, 0
        if not k:
            self.H = np.asfortranarray(np.diag(self.curved(np.ones(self.size))))
            return True
        factors, tau, _, _ = dgeqrf(np.asfortranarray(self.N[:k].T))
        left = np.abs(np.diagonal(factors)[:k])
        if np.any(left <= DEPENDENT * np.sqrt(np.einsum("ij,ij->i", self.N[:k], self.N[:k]))):
            return False
        inverse, _ = dtrtri(factors[:k, :k])
        Y, _, _ = dorgqr(factors, tau)
        self.H = np.asfortranarray(np.eye(self.size) - Y @ Y.T)
        T = Y @ np.triu(inverse).T
        if self.free:
            bent = self.H[:, -1].copy()
            rest = float(Y[-1] @ Y[-1])
            if not rest > 0.0:
                return False
            self.H += np.outer(bent, bent) / rest
            T = T - self.H @ (T - _only_last(T))
        self.T[:, :k] = T
        return True

    def settle(self) -> None:
        """The point and the multipliers again from the active rows, by one step of refinement."""
        k = self.count
        if not k:
            return
        N, T = self.N[:k], self.T[:, :k]
        force = -(self.curved(self.v) + N.T @ self.u[:k])
        short = self.h[:k] - N @ self.v
        self.v = self.v + self.H @ force + T @ short
        self.u[:k] += T.T @ force - T.T @ self.curved(T @ short)

    def begin(self, pool: Pool) -> None:
        """With a free coordinate one row has to determine it: the one that asks most of it at the origin."""
        self.v[:] = 0.0
        self.count = 0
        if self.free:
            slope = pool.rows[:, -1]
            with np.errstate(divide="ignore", invalid="ignore"):
                asked = np.where(slope < 0, pool.rhs / slope, -np.inf)
            first = int(np.argmax(asked))
            if slope[first] < 0:
                self.take(pool.rows[first : first + 1], pool.rhs[first : first + 1], pool.names[first : first + 1])
                self.v[-1] = asked[first]
                self.refactor()

    def begin_with(self, pool: Pool, likely: Indices) -> None:
        """Begin with these rows of the pool as active ones, without those whose multipliers come out below 0."""
        if likely.size:
            self.take(pool.rows[likely], pool.rhs[likely], pool.names[likely])
            self.v = np.zeros(self.size)
            if self.refactor():
                self.settle()
                while self.count and (least := int(self.multipliers.argmin())) >= 0 and not self.u[least] >= 0.0:
                    if not self._drop(least):
                        break
                    self.settle()
                else:
                    if self.count:
                        return
        self.begin(pool)

    def take(self, rows: Array, rhs: Array, names: Indices) -> None:
        """Make these the active rows, without multipliers yet."""
        k = self.count = rhs.size
        self.N[:k], self.h[:k], self.names[:k], self.u[:k] = rows, rhs, names, 0.0

    # ---- the method --------------------------------------------------------------------------------------------------

    def improve(self, pool: Pool, most: int) -> Outcome:
        """Let violated rows of the pool join until there are none, in at most so many changes."""
        last = self.steps + most
        for _ in range(3):
            excess, noise = pool.excess(self.v), pool.noise(self.v)
            while True:
                worst = int(excess.argmax())
                if not excess[worst] > noise:
                    break
                outcome = self._join(pool, worst, excess, last)
                if outcome != "solved":
                    return outcome
            if self.stale:
                self.refactor()
            self.settle()
            if pool.excess(self.v).max() <= 2.0 * pool.noise(self.v):
                return "solved"
        return "solved"

    def _join(self, pool: Pool, p: int, excess: Array, last: int) -> Outcome:
        """Let row p join: raise its multiplier until it holds, dropping rows whose multipliers reach 0."""
        n, height, multiplier = pool.rows[p], float(excess[p]), 0.0
        length = float(n @ n)
        while True:
            if self.steps >= last:
                return "stalled"
            self.steps += 1
            if self.stale >= FRESH:
                self.refactor()
            k = self.count
            z, rest = self._left_over(n, length)
            r = self.T[:, :k].T @ n
            blocks = r > 1e-11 * max(1.0, float(np.abs(r).max(initial=0.0)))
            ratios = np.divide(self.u[:k], r, out=np.full(k, np.inf), where=blocks)
            first = int(ratios.argmin()) if k else 0
            until_block = float(ratios[first]) if k else np.inf
            until_tight = height / rest if rest > 0.0 else np.inf
            if until_block == until_tight == np.inf:
                self.contradiction = (np.append(self.names[:k], pool.names[p]), np.append(np.maximum(-r, 0.0), 1.0))
                return "contradiction"
            t = min(until_block, until_tight)
            self.u[:k] -= t * r
            multiplier += t
            if rest > 0.0:
                self.v -= t * z
                excess -= t * (pool.rows @ z)
                height -= t * rest
            if until_tight <= until_block:
                self._add(n, pool.rhs[p], pool.names[p], multiplier, z, r, rest)
                excess[p] = 0.0
                return "solved"
            self.u[first] = 0.0
            if not self._drop(first):
                return "stalled"

    def _left_over(self, n: Array, length: float) -> tuple[Array, float]:
        """H n, and n'H n as the sum of squares that it is; 0 where the row depends on the active ones."""
        if self.count >= self.size:
            return n, 0.0
        z = self.H @ n
        curved = self.curved(z)
        rest = float(curved @ curved)
        if rest < PROJECT_AGAIN * length:
            z = self.H @ curved
            curved = self.curved(z)
            rest = float(curved @ curved)
            if rest <= DEPENDENT**2 * length:
                return z, 0.0
        return z, rest

    def _add(self, n: Array, rhs: float, name: int, multiplier: float, z: Array, r: Array, rest: float) -> None:
        k = self.count
        self.H = dger(-1.0 / rest, z, z, a=self.H, overwrite_a=1)
        if k:
            self.T[:, :k] = dger(-1.0 / rest, z, r, a=self.T[:, :k], overwrite_a=1)
        self.T[:, k] = z / rest
        self.N[k], self.h[k], self.u[k], self.names[k] = n, rhs, multiplier, name
        self.count, self.stale = k + 1, self.stale + 1

    def _drop(self, j: int) -> bool:
        """Let an active row leave; False where the others do not determine the free coordinate."""
        k = self.count
        t = self.T[:, j].copy()
        curved = self.curved(t)
        s = self.T[:, :k].T @ curved
        sigma = float(curved @ curved)
        if not sigma > 0.0:
            return False
        self.H = dger(1.0 / sigma, t, t, a=self.H, overwrite_a=1)
        self.T[:, :k] = dger(-1.0 / sigma, t, s, a=self.T[:, :k], overwrite_a=1)
        last = k - 1
        if j != last:
            self.T[:, j] = self.T[:, last]
            self.N[j], self.h[j], self.u[j] = self.N[last], self.h[last], self.u[last]
            self.names[j] = self.names[last]
        self.count, self.stale = last, self.stale + 1
        return True


def _only_last(T: Array) -> Array:
    out = np.zeros_like(T)
    out[-1] = T[-1]
    return out
