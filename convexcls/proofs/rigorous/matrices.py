"""Quadratic forms 1/2 x'Px with a matrix P: products as balls, and a lower bound of the least eigenvalue.

The entries of P are taken as the doubles that they are; the linear kernel, which knows its root R, as R'R, and other
kernels as what they are on the samples as given, within the ``spread`` of their values: these are positive
semidefinite. A matrix of doubles that ought to be so may miss it by rounding, so that is not assumed: where a
Cholesky factorization of B = P - sI runs through in doubles, B is at most gamma_{n+1} tr B / (1 - gamma_{n+1}) away
from a positive semidefinite matrix (Rump 2006), and the least eigenvalue of P is at least s less that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.rigorous.rounding import ETA, UNIT, Ball, gamma, raised, spread
from convexcls.rows import DenseRows, Rows

Array = NDArray[np.float64]

#: Larger matrices are not factored.
LARGEST = 3000


@dataclass(frozen=True, eq=False)
class Quadratic:
    """P, or its root R where P = R'R."""

    rows: Rows
    is_root: bool
    spread: Array | None = None

    @classmethod
    def of(cls, p: Rows) -> Quadratic | None:
        """None where the matrix is too large to be looked at, or not symmetric to the last bit."""
        if p.root is not None:
            return cls(p.root, True)
        if p.shape[0] > LARGEST or p.beyond_memory:
            return None
        dense = p.to_dense()
        return cls(DenseRows(dense), False, p.spread()) if np.array_equal(dense, dense.T) else None

    def at(self, x: Ball) -> tuple[Ball, Ball]:
        """P x and x'Px / 2."""
        first = _times(self.rows, x)
        if self.spread is not None:
            first = first.widened(raised(2.0 * self.spread * float(self.spread @ x.size)))
        square = first.squared().total() if self.is_root else (x * first).total()
        value = Ball(0.5 * square.mid, raised(0.5 * square.rad + ETA))
        return (_times(self.rows.T, first) if self.is_root else first), value

    @cached_property
    def least(self) -> float:
        """A lower bound of the least eigenvalue."""
        if self.is_root:
            return 0.0
        least = least_eigenvalue(self.rows.to_dense())
        return least if self.spread is None else max(0.0, least - 1.01 * float(self.spread @ self.spread))

    @property
    def passes(self) -> int:
        """How many passes over the matrix a product takes."""
        return 4 if self.is_root else 2


def _times(rows: Rows, x: Ball) -> Ball:
    k = rows.shape[1] + 16
    g = gamma(k) + 2.0 * rows.rounding * UNIT
    mid = rows @ x.mid
    rad = (abs(rows) @ spread(x, g)) * (1.0 + 4.0 * k * UNIT) + 4 * k * ETA
    return Ball(mid, raised(np.where(np.isfinite(mid), rad, np.inf)))


def least_eigenvalue(matrix: Array) -> float:
    """A lower bound of the least eigenvalue of a symmetric matrix of doubles."""
    n = matrix.shape[0]
    top = float(np.abs(matrix).max(initial=0.0))
    if n == 0 or top == 0:
        return 0.0
    if not math.isfinite(top):
        return -math.inf
    scale = 2.0 ** -math.frexp(top)[1]
    unit = matrix * scale
    if not np.array_equal(unit / scale, matrix):  # entries that underflow
        return -math.inf
    trace = float(np.abs(np.diag(unit)).sum())
    step = 4.0 * (n + 8) * UNIT * (trace + n) + 1e-300
    guess = float(np.linalg.eigvalsh(unit)[0])
    for shift in (guess - step, guess - 16 * step, -1024 * step + min(guess, 0.0)):
        shifted = unit - shift * np.eye(n)
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            continue
        g = gamma(n + 4)
        off = 2.0 * g * float(np.abs(np.diag(shifted)).sum()) + 4 * UNIT * (1.0 + abs(shift)) + n * 1e-290
        return float(np.nextafter((shift - off) / scale, -np.inf))
    return -math.inf
