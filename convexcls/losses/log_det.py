"""Minus the logarithm of a determinant: what a Gaussian likelihood says of its precision matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.linalg.lapack import dtrtri

from convexcls.arrays import Array, Indices, Mask
from convexcls.losses.base import INFINITY, Loss

#: The factors of matrices up to this order are remembered: of larger ones the memory would count.
MAX_ORDER_KEPT = 100


@dataclass(frozen=True, eq=False)
class LogDet(Loss):
    """-log det U of a symmetric matrix, given by its lower triangle row by row; +inf unless U is positive definite.

    Paired entry by entry with a triangle, an entry off the diagonal stands for two. So the conjugate is the same
    function of the triangle with those entries ``halved``, minus the order of the matrix:

        sup_U (-tr LU + log det U) = -log det L - order.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> np.exp(-cc.losses.LogDet(2).value(np.array([2.0, 1.0, 3.0]))).round(6).tolist()  # det of ((2, 1), (1, 3))
    [5.0]
    """

    order: int
    halved: bool = False
    name: ClassVar[str] = "log-det"
    dual_sign: ClassVar[int] = -1
    domain: ClassVar[tuple[float, float]] = (0.0, INFINITY)

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.order * (self.order + 1) // 2

    def matrices(self, u: Array) -> Array:
        """The symmetric matrices whose lower triangles are given."""
        i, j = lower_triangle(self.order)
        entries = np.reshape(u, (-1, self.width))
        if self.halved:
            entries = np.where(i == j, entries, 0.5 * entries)
        out = np.zeros((entries.shape[0], self.order, self.order))
        out[:, i, j] = out[:, j, i] = entries
        return out

    def value(self, u: Array) -> Array:
        factors = self._factors(u)
        out = np.full(len(factors), INFINITY)
        for k, factor in enumerate(factors):
            if factor is not None:
                out[k] = -2.0 * np.log(np.diag(factor)).sum() - (self.order if self.halved else 0)
        return out

    def slope(self, u: Array) -> Array:
        i, j = lower_triangle(self.order)
        pairs = np.where(i == j, 1.0, 1.0 if self.halved else 2.0)
        return -(pairs * self._inverses(u)[:, i, j]).ravel()

    def slope_size(self, u: Array, slope: Array) -> Array:
        """An entry V_ij of the inverse is of the size of the root of V_ii V_jj, even where it is 0."""
        i, j = lower_triangle(self.order)
        roots = np.sqrt(np.diagonal(self._inverses(u), axis1=1, axis2=2))
        return (roots[:, i] * roots[:, j]).ravel()

    def curvature(self, u: Array) -> Array:
        """d^2 = tr(V dU V dU) with V = U^-1."""
        i, j = lower_triangle(self.order)
        share = np.where(i == j, 0.5, 0.5 if self.halved else 1.0)
        V = self._inverses(u)
        with np.errstate(over="ignore", invalid="ignore"):
            both = V[:, i[:, None], i] * V[:, j[:, None], j] + V[:, i[:, None], j] * V[:, j[:, None], i]
            return np.asarray(2.0 * share[:, None] * share * both)

    def slope_change(self, u: Array, moved: Array | float) -> Array:
        """|V dU V| <= |V| |dU| |V|, entry by entry: products of matrices, where the curvature has order^4 entries."""
        i, j = lower_triangle(self.order)
        both = np.where(i == j, 1.0, 1.0 if self.halved else 2.0)
        V = np.abs(self._inverses(u))
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(moved, float) and not self.halved:  # |dU| = moved 1 1'
                sums = V.sum(axis=2)
                return np.asarray((both * (moved * sums[:, i] * sums[:, j])).ravel())
            out = V @ self.matrices(np.broadcast_to(moved, u.shape)) @ V
        return np.asarray((both * out[:, i, j]).ravel())

    def _factors(self, u: Array) -> tuple[Array | None, ...]:
        """The Cholesky factor of each matrix, None where it is not positive definite."""
        if self.order > MAX_ORDER_KEPT:
            return tuple(map(_cholesky, self.matrices(u)))
        return _kept_factors(self, np.asarray(u, dtype=float).tobytes())

    def _inverses(self, u: Array) -> Array:
        if self.order > MAX_ORDER_KEPT:
            return _inverted(self.order, self._factors(u))
        return _kept_inverses(self, np.asarray(u, dtype=float).tobytes())

    def inside(self, u: Array) -> bool:
        return all(factor is not None for factor in self._factors(u))

    def middle(self) -> Array:
        i, j = lower_triangle(self.order)
        return (i == j).astype(float)

    def recession(self, moved: Array) -> Array:
        """0 where the matrix moves by a positive semidefinite one; otherwise the line leaves the domain."""
        return np.where(self._lowest(moved) >= 0, 0.0, INFINITY)

    def falling(self, moved: Array) -> Mask:
        return (self._lowest(moved) >= 0) & np.any(np.reshape(moved, (-1, self.width)) != 0, axis=1)

    def _lowest(self, moved: Array) -> Array:
        """The smallest eigenvalue, 0 where rounding leaves it below."""
        values = np.linalg.eigvalsh(self.matrices(moved))
        return np.where(
            values[:, 0] >= -1e-14 * np.abs(values).max(axis=1), np.maximum(values[:, 0], 0.0), values[:, 0]
        )

    @property
    def conjugate(self) -> Loss:
        return LogDet(self.order, not self.halved)

    def latex(self, u: str) -> str:
        return rf"-\log \det {u}" + (f" - {self.order}" if self.halved else "")

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        i, j = lower_triangle(self.order)
        spread = np.zeros((self.order**2, self.width))
        spread[i * self.order + j, np.arange(self.width)] = np.where(i == j, 1.0, 0.5 if self.halved else 1.0)
        spread[j * self.order + i, np.arange(self.width)] = spread[i * self.order + j, np.arange(self.width)]
        parts = [
            -cvxpy.log_det(cvxpy.reshape(spread @ u[k : k + self.width], (self.order, self.order), order="C"))
            for k in range(0, u.size, self.width)
        ]
        return cvxpy.hstack(parts) - (self.order if self.halved else 0)


@lru_cache(maxsize=16)
def lower_triangle(order: int) -> tuple[Indices, Indices]:
    """Rows and columns of the lower triangle, row by row."""
    i, j = np.tril_indices(order)
    i.setflags(write=False)
    j.setflags(write=False)
    return i, j


@lru_cache(maxsize=4)
def _kept_factors(loss: LogDet, arguments: bytes) -> tuple[Array | None, ...]:
    """The factors of small matrices, which are remembered: value, slope and the size and change of the slope are asked
    for at one point, and each takes them."""
    return tuple(map(_cholesky, loss.matrices(np.frombuffer(arguments))))


@lru_cache(maxsize=4)
def _kept_inverses(loss: LogDet, arguments: bytes) -> Array:
    out = _inverted(loss.order, _kept_factors(loss, arguments))
    out.setflags(write=False)
    return out


def _inverted(order: int, factors: tuple[Array | None, ...]) -> Array:
    """The inverses of the matrices with these factors; no numbers where there is no factor."""
    out = np.full((len(factors), order, order), np.nan)
    for k, factor in enumerate(factors):
        if factor is not None:
            half, _ = dtrtri(factor, lower=1)  # without pivots: no entry of a positive diagonal is lost
            out[k] = half.T @ half
    return out


def _cholesky(matrix: Array) -> Array | None:
    if not np.all(np.isfinite(matrix)):
        return None
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
