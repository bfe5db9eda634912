"""What losses turn into in the dual: entropies, and linear or quadratic functions on an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import writing
from convexcls.losses.base import INFINITY, Conjugate, Loss, square


def _x_log_x(x: Array) -> Array:
    """x log x, which is 0 at 0."""
    return x * np.log(np.where(x > 0, x, 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class BinaryEntropy(Conjugate):
    """lam log lam + (1 - lam) log(1 - lam) on [0, 1]: the conjugate of the logistic loss.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> entropy = cc.losses.Logistic().conjugate
    >>> entropy.value(np.array([0.0, 1.0])).tolist(), np.exp(-entropy.value(np.array([0.5]))).round(6).tolist()
    ([0.0, 0.0], [2.0])
    """

    origin: Loss
    name: ClassVar[str] = "binary entropy"
    domain: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def value(self, u: Array) -> Array:
        u = np.asarray(u)
        inside = (u >= 0) & (u <= 1)
        lam = np.where(inside, u, 0.0)
        rest = (1.0 - lam) * np.log1p(-np.where(lam < 1, lam, 0.0))  # log(1 - lam) would round lam away
        return np.where(inside, _x_log_x(lam) + rest, INFINITY)

    def slope(self, u: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(u) - np.log1p(-np.asarray(u))

    def slope_size(self, u: Array, slope: Array) -> Array:
        """The slope is a difference of logarithms: at 1/2 it is what is left of them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.abs(np.log(u)) + np.abs(np.log1p(-np.asarray(u)))

    def curvature(self, u: Array) -> Array:
        with np.errstate(divide="ignore"):
            return 1.0 / (u * (1.0 - np.asarray(u)))

    def latex(self, u: str) -> str:
        rest = f"1 - {writing.bracketed(u)}"
        return rf"{writing.bracketed(u)} {writing.log(u)} + ({rest}) {writing.log(rest)}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return -cvxpy.entr(u) - cvxpy.entr(1 - u)


@dataclass(frozen=True, eq=False, repr=False)
class ExponentialEntropy(Conjugate):
    """lam log lam - lam on [0, inf): the conjugate of the exponential loss.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Exponential().conjugate.value(np.array([1.0])).tolist()
    [-1.0]
    """

    origin: Loss
    name: ClassVar[str] = "exponential entropy"
    domain: ClassVar[tuple[float, float]] = (0.0, INFINITY)

    def value(self, u: Array) -> Array:
        u = np.asarray(u)
        inside = (u >= 0) & (u < INFINITY)
        lam = np.where(inside, u, 0.0)
        return np.where(inside, _x_log_x(lam) - lam, INFINITY)

    def slope(self, u: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(u)

    def curvature(self, u: Array) -> Array:
        with np.errstate(divide="ignore"):
            return 1.0 / np.asarray(u)

    def latex(self, u: str) -> str:
        return rf"{writing.bracketed(u)} {writing.log(u)} - {writing.bracketed(u)}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return -cvxpy.entr(u) - u


@dataclass(frozen=True, eq=False, repr=False)
class LinearOnInterval(Conjugate):
    """c lam on [low, high], +inf outside: the conjugate of hinge, perceptron and absolute losses.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Hinge().conjugate.value(np.array([0.5, 1.0, 1.5])).tolist()
    [-0.5, -1.0, inf]
    """

    coefficient: float
    interval: tuple[float, float]
    origin: Loss
    name: ClassVar[str] = "linear on an interval"
    smooth: ClassVar[bool] = False

    @property
    def domain(self) -> tuple[float, float]:  # type: ignore[override]
        return self.interval

    def value(self, u: Array) -> Array:
        low, high = self.interval
        u = np.asarray(u)
        return np.where((u >= low) & (u <= high), self.coefficient * u, INFINITY)

    def slope(self, u: Array) -> Array:
        return np.full(np.shape(u), self.coefficient)

    def latex(self, u: str) -> str:
        return writing.line(self.coefficient, 0.0, u)

    def cvxpy(self, u: Any) -> Any:
        return self.coefficient * u


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticOnInterval(LinearOnInterval):
    """q lam^2 / 2 + c lam on [low, high], +inf outside: the conjugate of squared losses.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.Squared().conjugate.value(np.array([2.0])).tolist()
    [-1.0]
    """

    quadratic: float = 0.0
    name: ClassVar[str] = "quadratic on an interval"

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether there is no end of the interval to run into."""
        return self.interval == (-INFINITY, INFINITY)

    def __init__(self, quadratic: float, coefficient: float, interval: tuple[float, float], origin: Loss) -> None:
        super().__init__(coefficient, interval, origin)
        object.__setattr__(self, "quadratic", quadratic)

    def value(self, u: Array) -> Array:
        return super().value(u) + 0.5 * self.quadratic * square(u)

    def slope(self, u: Array) -> Array:
        return self.quadratic * u + super().slope(u)

    def curvature(self, u: Array) -> Array:
        return np.full(np.shape(u), self.quadratic)

    def latex(self, u: str) -> str:
        square = rf"\tfrac{{{writing.squared(u)}}}{{{writing.number(2 / self.quadratic)}}}"
        if self.coefficient == 0:
            return square
        sign = "-" if self.coefficient < 0 else "+"
        return f"{square} {sign} {writing.bracketed(writing.multiple(abs(self.coefficient), u))}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        return 0.5 * self.quadratic * cvxpy.square(u) + self.coefficient * u
