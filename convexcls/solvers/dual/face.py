"""The multipliers between their bounds, F, all at once: the equations of their rows,

    K_FF d - c_F db = r_F,      c_F'd = -(c'a + total),      K = diag(l) M M' diag(l) + diag(compliance),

by conjugate gradients, each step of which is two passes over the rows of F. The equation is kept by the preconditioner
(Gould, Hribar and Nocedal 2001): the diagonal of K_FF or, where that is cheap, a Cholesky factor of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from convexcls.arrays import Array, Indices
from convexcls.solvers.dual.dual_program import MAX_FACTORIZED, DualProgram

#: A sparse K_FF is factorized where its products are no more than those of so many steps of conjugate gradients.
STEPS_PER_FACTOR = 60
#: Added to the diagonal of what is factorized, relative to it.
RIDGE = 1e-12
#: Curvature below this, relative to the diagonal, is rounding.
FLAT = 1e-14
#: The most steps of conjugate gradients: what they leave is left to the next face.
MAX_STEPS = 200

Map = Callable[[Array], Array]
#: Takes a residual to its part that counts, and to the direction that the preconditioner makes of it.
Preconditioner = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class FaceStep:
    """A step d of the free multipliers and db of the intercept."""

    d: Array
    db: float
    steps: int


class Face:
    """The equations of some multipliers."""

    def __init__(self, program: DualProgram, index: Indices, damping: float) -> None:
        self.part, self.index = program.restricted(index), index
        self.ridge = self.part.compliance + damping * self.part.diagonal
        self.transposed = self.part.matrix.T

    def pull(self, d: Array) -> Array:
        """M_F'(l d): what u falls by where the multipliers rise by d."""
        return np.asarray(self.transposed @ (self.part.left * d))

    def product(self, d: Array) -> Array:
        """K_FF d."""
        return np.asarray(self.part.left * (self.part.matrix @ self.pull(d)) + self.ridge * d)

    def newton(self, r: Array, lacking: float, tolerance: float) -> FaceStep:
        """The step that solves the equations, to residuals of ``tolerance``."""
        c = self.part.c
        inverse_c = self.inverse(c)
        size = float(c @ inverse_c)
        if not size > 0:
            return conjugate_gradients(self.product, lambda left: (left, self.inverse(left)), r, tolerance)

        def on_the_plane(left: Array) -> tuple[Array, Array]:
            z = self.inverse(left)
            shift = float(c @ z) / size
            return left - shift * c, z - shift * inverse_c

        begin = inverse_c * (-lacking / size)
        left = r - self.product(begin) if lacking else r
        found = conjugate_gradients(self.product, on_the_plane, left, tolerance)
        rest = self.inverse(left - self.product(found.d))
        return FaceStep(begin + found.d, -float(c @ rest) / size, found.steps)

    @cached_property
    def inverse(self) -> Map:
        """Multiplies by the inverse of the preconditioner."""
        part, diagonal = self.part, self.part.diagonal
        if not self._is_cheap():
            return lambda z: np.asarray(z / np.where(diagonal > 0, diagonal, 1.0))
        K: Any = part.matrix @ part.matrix.T if part.gram is None else part.gram
        K = (K.toarray() if sparse.issparse(K) else K) * part.left * part.left[:, None]
        where = np.arange(self.index.size)
        K[where, where] += self.ridge + RIDGE * float(diagonal.max(initial=0.0)) * self.index.size
        try:
            factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return lambda z: np.asarray(z / np.where(diagonal > 0, diagonal, 1.0))
        return lambda z: np.asarray(cho_solve(factor, z, check_finite=False))

    def _is_cheap(self) -> bool:
        """Whether a factor costs less than what it saves."""
        m = self.index.size
        if m > MAX_FACTORIZED:
            return False
        if not sparse.issparse(self.part.matrix):
            return True
        worth = STEPS_PER_FACTOR * 2.0 * self.part.matrix.nnz - m**3 / 60.0
        if worth <= 0.0:
            return False
        counts = np.bincount(self.part.matrix.indices).astype(float)
        return float(counts @ counts) <= worth


def conjugate_gradients(product: Map, precondition: Preconditioner, r: Array, tolerance: float) -> FaceStep:
    """Solve K d = r, to residuals of ``tolerance``, on the plane that the preconditioner keeps to."""
    d, (left, z) = np.zeros_like(r), precondition(r)
    p, fall = z, float(left @ z)
    for k in range(MAX_STEPS):
        if float(np.abs(left).max(initial=0.0)) <= tolerance or not fall > 0:
            return FaceStep(d, 0.0, k)
        moved = product(p)
        curvature = float(p @ moved)
        if not curvature > FLAT * fall:
            return FaceStep(d, 0.0, k)
        length = fall / curvature
        d = d + length * p
        left, z = precondition(left - length * moved)
        before, fall = fall, float(left @ z)
        p = z + (fall / before) * p
    return FaceStep(d, 0.0, MAX_STEPS)
