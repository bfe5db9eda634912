"""Solutions of the linear KKT systems of small programs,

    [ H  C' ] [ x  ]     [ f ]
    [ C  0  ] [ nu ]  =  [ g ],

by Cholesky factors where a descent needs them, by triangular or orthogonal factors where the last digit counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, pinvh
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs, dpotrf, dpotrs
from scipy.sparse.linalg import splu

from convexcls.arrays import Array

#: Diagonal entries below this share of the largest are rounding.
SMALLEST_DIAGONAL = 1e-60
#: Systems that are worse conditioned are solved by orthogonal factors, in which smaller singular values are rounding.
SMALLEST_RECIPROCAL_CONDITION = 1e-13
SMALLEST_SINGULAR_VALUE = 1e-12
#: Added to the diagonal of sparse systems, and how often at most what it changed is taken out again.
REGULARIZATION, MAX_REFINEMENTS = 1e-10, 20


class KKTFactor:
    """Cholesky factors of H and of C H^-1 C', in units in which H has ones on its diagonal. Multiples of C'C are added
    to H, which changes no solution. Without C, Cholesky's method needs no units where it succeeds."""

    def __init__(self, H: Array, C: Array) -> None:
        self.C, self.unit, self.row_unit = C, np.ones(1), np.ones(1)
        if not C.size:
            self.H = H
            self.factor, info = dpotrf(H, lower=1, clean=0)
            if info == 0 and np.isfinite(self.factor.diagonal()).all():
                return
        diagonal = H.diagonal()
        counts = diagonal > SMALLEST_DIAGONAL * float(diagonal.max(initial=0.0))
        self.unit = np.where(counts, 1.0 / np.sqrt(np.where(counts, diagonal, 1.0)), 0.0)
        H = H * self.unit[:, None] * self.unit
        H.flat[:: H.shape[0] + 1] += ~counts  # nothing moves along these
        if C.size:
            self.C = C * self.unit
            norms = np.linalg.norm(self.C, axis=1)
            self.row_unit = 1.0 / np.where(norms > 0, norms, 1.0)
            self.C = self.C * self.row_unit[:, None]
            H = H + self.C.T @ self.C
        self.H = H
        self.factor = _cholesky(H)
        if C.size:
            self.through = _solved(self.factor, self.C.T)
            self.schur = _cholesky(self.C @ self.through)

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """x and nu, refined once."""
        f = f * self.unit
        if not self.C.size:
            x = _solved(self.factor, f)
            x = x + _solved(self.factor, f - self.H @ x)
            return np.asarray(x * self.unit), np.zeros(0)
        g = g * self.row_unit
        f = f + self.C.T @ g
        x, nu = self._bordered(f, g)
        more_x, more_nu = self._bordered(f - self.H @ x - self.C.T @ nu, g - self.C @ x)
        return (x + more_x) * self.unit, (nu + more_nu) * self.row_unit

    def _bordered(self, f: Array, g: Array) -> tuple[Array, Array]:
        plain = _solved(self.factor, f)
        nu = _solved(self.schur, self.C @ plain - g)
        return np.asarray(plain - self.through @ nu), np.asarray(nu)


def _cholesky(matrix: Array) -> Array:
    """A Cholesky factor, of the matrix with as little added to its diagonal as makes it positive definite."""
    for shift in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        shifted = matrix if shift == 0 else matrix + shift * max(matrix.shape[0], 1) * np.eye(matrix.shape[0])
        factor, info = dpotrf(shifted, lower=1, clean=0)
        if info == 0 and np.isfinite(factor.diagonal()).all():
            return np.asarray(factor)
    raise LinAlgError("the system has no finite Cholesky factor")


def _solved(factor: Array, target: Array) -> Array:
    """The solution of a system whose Cholesky factor is given; LAPACK itself, since SciPy's way there costs more than a
    small system."""
    return np.asarray(dpotrs(factor, target, lower=1)[0])


class TriangularFactor:
    """Triangular factors of the whole matrix, in units in which its rows are alike; ``good`` where they leave enough
    digits."""

    def __init__(self, H: Array, C: Array) -> None:
        matrix = np.block([[H, C.T], [C, np.zeros((C.shape[0], C.shape[0]))]])
        largest = np.abs(matrix).max(axis=1, initial=0.0)
        self.unit = 1.0 / np.sqrt(np.where(largest > 0, largest, 1.0))
        scaled = matrix * self.unit[:, None] * self.unit
        self.factor, self.pivots, info = dgetrf(scaled)
        norm = float(np.abs(scaled).sum(axis=0).max(initial=0.0))
        self.good = info == 0 and dgecon(self.factor, norm)[0] > SMALLEST_RECIPROCAL_CONDITION

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """x and nu."""
        target = np.concatenate([f, g]) * self.unit
        change = dgetrs(self.factor, self.pivots, target)[0] * self.unit
        return change[: f.size], change[f.size :]


class OrthogonalFactor:
    """The shortest solutions where rows repeat each other: within the span of the rows of C, then across it, then the
    multipliers."""

    def __init__(self, H: Array, C: Array) -> None:
        self.H, k = H, H.shape[0]
        # SciPy's refuses empty matrices before 1.14
        left, values, right = np.linalg.svd(C, full_matrices=C.shape[0] < k)
        rank = int(np.sum(values > SMALLEST_SINGULAR_VALUE * values.max(initial=0.0)))
        self.left, self.values, self.span, self.across = left[:, :rank], values[:rank], right[:rank].T, right[rank:].T
        curvature = self.across.T @ H @ self.across
        self.inverse = pinvh(curvature, rtol=SMALLEST_SINGULAR_VALUE) if curvature.size else curvature

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """x and nu."""
        x = self.span @ (self.left.T @ g / self.values)
        x = x + self.across @ (self.inverse @ (self.across.T @ (f - self.H @ x)))
        return x, self.left @ (self.span.T @ (f - self.H @ x) / self.values)


class SparseFactor:
    """Sparse triangular factors of the matrix with a little added to its diagonal, which refinement takes out again."""

    def __init__(self, H: Any, C: Any) -> None:
        n, m = H.shape[0], C.shape[0]
        self.matrix = sparse.block_array([[H, C.T], [C, sparse.csc_array((m, m))]], format="csc")
        added = sparse.diags_array(np.concatenate([np.full(n, REGULARIZATION), np.full(m, -REGULARIZATION)]))
        try:
            self.factor = splu(sparse.csc_matrix(self.matrix + added))
        except RuntimeError as error:
            raise LinAlgError(str(error)) from None

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """x and nu, refined until rounding ends it."""
        target = np.concatenate([f, g])
        solution = np.zeros_like(target)
        for _ in range(MAX_REFINEMENTS):
            step = self.factor.solve(target - self.matrix @ solution)
            if not np.all(np.isfinite(step)):
                raise LinAlgError("the solution is not finite")
            solution = solution + step
            if np.abs(step).max(initial=0.0) <= 1e-16 * np.abs(solution).max(initial=0.0):
                break
        return solution[: f.size], solution[f.size :]


def accurate_factor(H: Any, C: Any) -> TriangularFactor | OrthogonalFactor | SparseFactor:
    """Sparse factors of sparse matrices; of others triangular ones where the condition allows them, else orthogonal."""
    if sparse.issparse(H):
        return SparseFactor(H, C)
    if not np.all(np.isfinite(H)) or not np.all(np.isfinite(C)):
        raise LinAlgError("the system is not finite")
    if C.shape[0] <= C.shape[1]:
        triangular = TriangularFactor(H, C)
        if triangular.good:
            return triangular
    return OrthogonalFactor(H, C)
