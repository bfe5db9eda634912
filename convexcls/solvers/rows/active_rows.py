"""The active rows N of  minimise 1/2 |v|^2 subject to A v <= h,  where the last coordinate may be free, that is, may
not count in |v|; with their multipliers u and the blocks of the inverse of their KKT matrix,

    [ P  N' ]^-1     [ H   T' ]
    [ N  0  ]     =  [ T  -S  ],      S = T P T',

which exist where P is singular too. A row that joins or leaves changes H and T by one outer product each; from time to
time they are made anew from orthogonal factors of N.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dgeqrf, dorgqr, dtrtri

from convexcls.arrays import Array, Indices
from convexcls.solvers.rows.pool import Pool

#: A row depends on the active ones where what they leave of it is shorter than this fraction of it.
DEPENDENT = 1e-12
#: Below this fraction (squared) a row is projected a second time: the first one lost digits.
PROJECT_AGAIN = 1e-2
#: Multipliers below this fraction of the largest are rounding.
WEAK_MULTIPLIER_SHARE = 1e-13
#: Working space of the orthogonal factorization, in columns: with less it would not go by blocks.
QR_BLOCK_COLUMNS = 32
EPS = float(np.finfo(float).eps)


class ActiveRows:
    """The rows, their right-hand sides, multipliers and names, in the first ``count`` places of arrays that are as
    large as they ever need to be; and the point v that they determine."""

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
