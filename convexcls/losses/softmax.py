"""The loss of softmax regression, a function of several margins, and its conjugate, an entropy on the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import writing
from convexcls.losses.base import INFINITY, Loss


@dataclass(frozen=True, eq=False)
class SoftmaxMargins(Loss):
    """log(1 + sum_k e^-m_k) of the margins m_k = z_c - z_k of the own class c over each other class k: minus the
    log-likelihood -log softmax(z)_c. With one other class it is the logistic loss.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> np.exp(cc.losses.SoftmaxMargins(2).value(np.zeros(2))).round(6).tolist()  # three classes, all alike
    [3.0]
    """

    others: int
    name: ClassVar[str] = "softmax"
    dual_sign: ClassVar[int] = -1
    slopes: ClassVar[tuple[float, float]] = (-1.0, 0.0)
    steepest: ClassVar[float] = 0.5

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.others

    def _exponents(self, u: Array) -> Array:
        """(0, -m_1, -m_2, ...) for each sample: the scores relative to that of the own class."""
        margins = np.reshape(u, (-1, self.others))
        out = np.zeros((margins.shape[0], self.others + 1))
        np.negative(margins, out=out[:, 1:])
        return out

    def probabilities(self, u: Array) -> Array:
        """softmax(z), the own class first."""
        a = self._exponents(u)
        return np.exp(a - _log_sum_exp(a)[:, None])

    def value(self, u: Array) -> Array:
        return _log_sum_exp(self._exponents(u))

    def slope(self, u: Array) -> Array:
        return -self.probabilities(u)[:, 1:].ravel()

    def curvature(self, u: Array) -> Array:
        p = self.probabilities(u)
        rest = p @ (1.0 - np.eye(self.others + 1))  # 1 - p without cancellation
        out = -p[:, 1:, None] * p[:, None, 1:]
        k = np.arange(self.others)
        out[:, k, k] = p[:, 1:] * rest[:, 1:]
        return np.asarray(out)

    def slope_change(self, u: Array, moved: Array | float) -> Array:
        """p_k ((1 - p_k) moved_k + sum_{l != k} p_l moved_l), without a matrix for each sample."""
        p, others = self.probabilities(u), 1.0 - np.eye(self.others)
        rest = p[:, :1] + p[:, 1:] @ others  # 1 - p without cancellation
        moves = np.broadcast_to(moved, np.shape(u)).reshape(-1, self.others)
        return np.asarray((p[:, 1:] * (rest * moves + (p[:, 1:] * moves) @ others)).ravel())

    def room(self, slope: Array) -> Array:
        """Each -p_k has to stay below 0, and their sum above -1."""
        own = (1.0 + slope.reshape(-1, self.others).sum(axis=1)) / self.others
        return np.minimum(-slope, np.repeat(own, self.others))

    def remaining(self, u: Array, moved: Array) -> Array:
        """The derivative of p_k is p_k times how much faster its score grows than the average."""
        p, growth = self.probabilities(u), self._exponents(moved)
        return np.asarray((1.0 + growth - (p * growth).sum(axis=1, keepdims=True)).min(axis=1))

    def recession(self, moved: Array) -> Array:
        return np.maximum(0.0, -np.reshape(moved, (-1, self.others)).min(axis=1))

    @property
    def conjugate(self) -> Loss:
        return SimplexEntropy(self.others)

    def latex(self, u: str) -> str:
        return rf"\log\left(1 + \sum_{{k \ne y_i}} e^{{-{writing.bracketed(u)}}}\right)"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        margins = cvxpy.reshape(u, (u.size // self.others, self.others), order="C")
        return cvxpy.log_sum_exp(cvxpy.hstack([np.zeros((margins.shape[0], 1)), -margins]), axis=1)


@dataclass(frozen=True, eq=False)
class SimplexEntropy(Loss):
    """sum_k lam_k log lam_k + (1 - sum_k lam_k) log(1 - sum_k lam_k) on the simplex lam >= 0, sum_k lam_k <= 1: the
    conjugate of the softmax loss, minus the entropy of the probabilities of all classes.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> entropy = cc.losses.SoftmaxMargins(2).conjugate
    >>> np.exp(-entropy.value(np.array([1 / 3, 1 / 3]))).round(6).tolist()
    [3.0]
    """

    others: int
    name: ClassVar[str] = "simplex entropy"
    dual_sign: ClassVar[int] = -1
    domain: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.others

    def _probabilities(self, u: Array) -> Array:
        """(1 - sum lam, lam_1, lam_2, ...) for each sample."""
        lam = np.reshape(u, (-1, self.others))
        return np.hstack([1.0 - lam.sum(axis=1, keepdims=True), lam])

    def value(self, u: Array) -> Array:
        p = self._probabilities(u)
        # what rounding leaves of 1 - sum lam is nothing
        p[:, 0] = np.where(np.abs(p[:, 0]) <= 4e-16 * self.others, 0.0, p[:, 0])
        inside = np.all(p >= 0, axis=1)
        safe = np.where(p > 0, p, 1.0)
        return np.where(inside, (safe * np.log(safe)).sum(axis=1), INFINITY)

    def slope(self, u: Array) -> Array:
        p = self._probabilities(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (np.log(p[:, 1:]) - np.log(p[:, :1])).ravel()

    def slope_size(self, u: Array, slope: Array) -> Array:
        """The slope is a difference of logarithms: where they agree, it is what is left of them."""
        logs = np.abs(np.log(np.maximum(self._probabilities(u), 1e-300)))
        return (logs[:, 1:] + logs[:, :1]).ravel()

    def curvature(self, u: Array) -> Array:
        p = self._probabilities(u)
        with np.errstate(divide="ignore"):
            out = np.repeat(np.repeat(1.0 / p[:, :1, None], self.others, axis=1), self.others, axis=2)
            k = np.arange(self.others)
            out[:, k, k] += 1.0 / p[:, 1:]
        return out

    def inside(self, u: Array) -> bool:
        return bool(np.all(self._probabilities(u) > 0))

    def middle(self) -> Array:
        return np.full(self.others, 1.0 / (self.others + 1))

    @property
    def conjugate(self) -> Loss:
        return SoftmaxMargins(self.others)

    def latex(self, u: str) -> str:
        rest = rf"1 - \sum_{{k \ne y_i}} {writing.bracketed(u)}"
        return rf"\sum_{{k \ne y_i}} {writing.bracketed(u)} {writing.log(u)} + ({rest}) {writing.log(rest)}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        lam = cvxpy.reshape(u, (u.size // self.others, self.others), order="C")
        return -cvxpy.sum(cvxpy.entr(lam), axis=1) - cvxpy.entr(1 - cvxpy.sum(lam, axis=1))


def _log_sum_exp(a: Array) -> Array:
    """log sum_k e^a_k by rows; where one term outweighs the rest, what the rest adds keeps its digits."""
    top = np.arange(a.shape[0]), a.argmax(axis=1)
    largest = a[top]
    rest = np.exp(a - largest[:, None])
    rest[top] = 0.0
    return np.asarray(largest + np.log1p(rest.sum(axis=1)))
