"""The losses of classification, as functions of the margin m = y f(x), and two of a residual."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import writing
from convexcls.losses.base import INFINITY, Loss, Polyhedral, square
from convexcls.losses.conjugates import (
    BinaryEntropy,
    ExponentialEntropy,
    LinearOnInterval,
    QuadraticOnInterval,
)


class ZeroOne(Loss):
    """1[m <= 0], the error count: not convex, so it is shown and counted, never minimised.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.ZeroOne().value(np.array([-1.0, 0.0, 0.5])).tolist()
    [1.0, 1.0, 0.0]
    """

    name = "zero-one"
    smooth = False

    def value(self, u: Array) -> Array:
        return (np.asarray(u) <= 0).astype(float)

    def slope(self, u: Array) -> Array:
        raise TypeError("the zero-one loss is not convex: it has no slope to follow")

    @property
    def conjugate(self) -> Loss:
        raise TypeError("the zero-one loss is not convex: minimise a surrogate such as the hinge")

    def latex(self, u: str) -> str:
        return rf"\mathbf{{1}}[{u} \le 0]"

    def cvxpy(self, u: Any) -> Any:
        raise TypeError("the zero-one loss is not convex: minimise a surrogate such as the hinge")


class Hinge(Polyhedral):
    """max(0, 1 - m): the soft-margin SVM (ESL 12.25).

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Hinge().value(np.array([-1.0, 0.5, 2.0])).tolist()
    [2.0, 0.5, 0.0]
    """

    name = "hinge"
    dual_sign = -1
    lines = ((0.0, 0.0), (-1.0, 1.0))

    @property
    def conjugate(self) -> Loss:
        return LinearOnInterval(-1.0, (0.0, 1.0), self)

    def latex(self, u: str) -> str:
        return rf"\max\{{0,\ 1 - {writing.bracketed(u)}\}}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.pos(1 - u)


class Perceptron(Polyhedral):
    """max(0, -m): the perceptron criterion (ESL 4.41).

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Perceptron().value(np.array([-1.5, 0.5, 2.0])).tolist()
    [1.5, 0.0, 0.0]
    """

    name = "perceptron"
    dual_sign = -1
    lines = ((0.0, 0.0), (-1.0, 0.0))

    @property
    def conjugate(self) -> Loss:
        return LinearOnInterval(0.0, (0.0, 1.0), self)

    def latex(self, u: str) -> str:
        return rf"\max\{{0,\ -{writing.bracketed(u)}\}}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.pos(-u)


class Absolute(Polyhedral):
    """|1 - m|, which is |y - f| for y = -1, +1: least absolute deviations.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Absolute().value(np.array([-1.0, 1.0, 2.5])).tolist()
    [2.0, 0.0, 1.5]
    """

    name = "absolute"
    dual_sign = -1
    lines = ((-1.0, 1.0), (1.0, -1.0))

    @property
    def conjugate(self) -> Loss:
        return LinearOnInterval(-1.0, (-1.0, 1.0), self)

    def latex(self, u: str) -> str:
        return f"|1 - {writing.bracketed(u)}|"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.abs(1 - u)


class Modulus(Polyhedral):
    """|u| of a residual u = f - target.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Modulus().value(np.array([-2.0, 0.5])).tolist()
    [2.0, 0.5]
    """

    name = "modulus"
    lines = ((-1.0, 0.0), (1.0, 0.0))

    @property
    def conjugate(self) -> Loss:
        return LinearOnInterval(0.0, (-1.0, 1.0), self)

    def latex(self, u: str) -> str:
        return f"|{u}|"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.abs(u)


class SquaredHinge(Polyhedral):
    """max(0, 1 - m)^2: the L2-SVM. Its slack form needs no sign: minimise slack^2, slack >= 1 - m.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.SquaredHinge().value(np.array([-1.0, 0.5, 2.0])).tolist()
    [4.0, 0.25, 0.0]
    """

    name = "squared_hinge"
    dual_sign = -1
    slopes = (-INFINITY, 0.0)
    lines = ((-1.0, 1.0),)
    power = 2

    def value(self, u: Array) -> Array:
        return square(np.maximum(0.0, 1.0 - u))

    def slope(self, u: Array) -> Array:
        return -2.0 * np.maximum(0.0, 1.0 - u)

    def curvature(self, u: Array) -> Array:
        return np.where(u < 1.0, 2.0, 0.0)

    @property
    def conjugate(self) -> Loss:
        return QuadraticOnInterval(0.5, -1.0, (0.0, INFINITY), self)

    def latex(self, u: str) -> str:
        return rf"\max\{{0,\ 1 - {writing.bracketed(u)}\}}^2"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.square(cvxpy.pos(1 - u))


class Squared(Loss):
    """(1 - m)^2, which is (y - f)^2 for y = -1, +1.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Squared().value(np.array([-1.0, 0.5, 2.0])).tolist()
    [4.0, 0.25, 1.0]
    """

    name = "squared"
    dual_sign = -1
    half_square = (2.0, -1.0)

    def value(self, u: Array) -> Array:
        return square(1.0 - u)

    def slope(self, u: Array) -> Array:
        return 2.0 * (u - 1.0)

    def curvature(self, u: Array) -> Array:
        return np.full(np.shape(u), 2.0)

    @property
    def conjugate(self) -> Loss:
        return QuadraticOnInterval(0.5, -1.0, (-INFINITY, INFINITY), self)

    def latex(self, u: str) -> str:
        return f"(1 - {writing.bracketed(u)})^2"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.square(1 - u)


class HalfSquare(Loss):
    """u^2 / 2 of a residual: its own conjugate, and the shape of every quadratic term.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> loss = cc.losses.HalfSquare()
    >>> loss.value(np.array([3.0])).tolist(), loss.conjugate.value(np.array([3.0])).tolist()
    ([4.5], [4.5])
    """

    name = "half-square"
    half_square = (1.0, 0.0)

    def value(self, u: Array) -> Array:
        return 0.5 * square(u)

    def slope(self, u: Array) -> Array:
        return np.array(u, dtype=float)

    def curvature(self, u: Array) -> Array:
        return np.ones(np.shape(u))

    @property
    def conjugate(self) -> Loss:
        return self

    def latex(self, u: str) -> str:
        return rf"\tfrac12 {writing.squared(u)}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return 0.5 * cvxpy.square(u)


class Logistic(Loss):
    """log(1 + e^-m): minus the log-likelihood of logistic regression (ESL 4.20).

    >>> import convexcls as cc
    >>> import numpy as np
    >>> np.exp(cc.losses.Logistic().value(np.array([0.0]))).round(6).tolist()  # 1 + e^0
    [2.0]
    """

    name = "logistic"
    dual_sign = -1
    slopes = (-1.0, 0.0)
    curvature_per_room = 1.0
    steepest = 0.25

    def value(self, u: Array) -> Array:
        return np.logaddexp(0.0, -np.asarray(u))

    def slope(self, u: Array) -> Array:
        small = np.exp(-np.abs(u))  # -1/(1 + e^u) without overflow
        return -np.where(np.asarray(u) > 0, small, 1.0) / (1.0 + small)

    def weighed(self, u: Array, weights: Array | float) -> tuple[float, Array]:
        """Both from one exponential: log(1 + e^-u) = log(1 + e^-|u|) + max(0, -u)."""
        small = np.exp(-np.abs(u))
        whole = 1.0 + small
        slopes = np.where(u > 0, small, 1.0)
        slopes /= whole
        np.negative(slopes, out=slopes)
        if isinstance(weights, float):
            return weights * (_sum_of_logs(whole, small) - float(np.minimum(u, 0.0).sum())) if weights else 0.0, slopes
        counts = weights > 0
        values = np.log1p(small) - np.minimum(u, 0.0)
        return float(weights[counts] @ values[counts]), slopes

    def curvature(self, u: Array) -> Array:
        small = np.exp(-np.abs(u))
        return np.asarray(small / (1.0 + small) ** 2)

    def remaining(self, u: Array, moved: Array) -> Array:
        """The distances from both ends are probabilities, p and 1 - p, and the curvature is their product."""
        p = -self.slope(u)
        return np.minimum(np.minimum(1.0 + p * moved, 1.0 - (1.0 - p) * moved), 1.0)

    @property
    def conjugate(self) -> Loss:
        return BinaryEntropy(self)

    def latex(self, u: str) -> str:
        return rf"\log\left(1 + e^{{-{writing.bracketed(u)}}}\right)"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.logistic(-u)


class Exponential(Loss):
    """e^-m: the surrogate that AdaBoost minimises (ESL 10.8). Overflows to +inf below m = -709.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Exponential().value(np.array([0.0, -1000.0])).tolist()
    [1.0, inf]
    """

    name = "exponential"
    dual_sign = -1
    slopes = (-INFINITY, 0.0)
    curvature_per_room = 1.0

    def value(self, u: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(-np.asarray(u))

    def slope(self, u: Array) -> Array:
        return -self.value(u)

    def curvature(self, u: Array) -> Array:
        return self.value(u)

    @property
    def conjugate(self) -> Loss:
        return ExponentialEntropy(self)

    def latex(self, u: str) -> str:
        return rf"e^{{-{writing.bracketed(u)}}}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return cvxpy.exp(-u)


def _sum_of_logs(whole: Array, small: Array) -> float:
    """sum_i log(1 + small_i) with 0 <= small <= 1: the logarithm of products of 500 factors, none of which overflows.
    Where the sum is small, rounding 1 + small would cost digits, and the logarithms are taken one by one."""
    if whole.size >= 500:
        total = float(np.log(np.multiply.reduceat(whole, np.arange(0, whole.size, 500))).sum())
        if total >= 0.05 * whole.size:
            return total
    return float(np.log1p(small).sum())
