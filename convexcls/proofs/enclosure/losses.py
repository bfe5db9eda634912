"""Values, slopes and curvatures of the smooth losses, in ball arithmetic.

A loss of width w takes w arguments u at a time. Its slopes are w balls, its curvature is the matrix

    diag(curvature) - tilt tilt'

with ``tilt`` of softmax the probabilities of the other classes, and none for losses of one argument. The formulas are
those without cancellation: what is small comes out with as many digits as what is large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from convexcls.losses import Exponential, HalfSquare, Logistic, Loss, SoftmaxMargins

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class Local:
    """A loss at some arguments: its value, its slopes and its curvature diag(curvature) - tilt tilt'."""

    value: arb
    slopes: Sequence[arb]
    curvature: Sequence[arb]
    tilt: Sequence[arb] = ()


def _logistic(u: Sequence[arb]) -> Local:
    """log(1 + e^-u) by t = e^-|u|: slope -1/(1 + e^u), curvature t/(1 + t)^2."""
    (margin,) = u
    positive = margin.mid() > 0
    small = (-margin if positive else margin).exp()
    share = 1 / (1 + small)
    other = small * share
    height = small.log1p() if positive else small.log1p() - margin
    return Local(height, [-other if positive else -share], [other * share])


def _softmax(u: Sequence[arb]) -> Local:
    """log(1 + sum_k e^-u_k), with the largest of the exponents 0, -u_1, -u_2, ... taken out of the sum."""
    from flint import arb

    if len(u) == 1:
        return _logistic(u)
    exponents = [arb(0), *(-margin for margin in u)]
    top = max(range(len(exponents)), key=lambda k: exponents[k].mid())
    shares = [arb(1) if k == top else (a - exponents[top]).exp() for k, a in enumerate(exponents)]
    rest = sum((s for k, s in enumerate(shares) if k != top), arb(0))
    total = 1 + rest
    probabilities = [s / total for s in shares]
    height = rest.log1p() + exponents[top]
    others = probabilities[1:]
    return Local(height, [-p for p in others], others, others)


def _half_square(u: Sequence[arb]) -> Local:
    from flint import arb

    (residual,) = u
    return Local(residual * residual / 2, [residual], [arb(1)])


def _exponential(u: Sequence[arb]) -> Local:
    height = (-u[0]).exp()
    return Local(height, [-height], [height])


#: The losses that can be enclosed.
BY_TYPE: dict[type[Loss], Callable[[Sequence[arb]], Local]] = {
    Logistic: _logistic,
    SoftmaxMargins: _softmax,
    HalfSquare: _half_square,
    Exponential: _exponential,
}
#: Those that fall for ever as their arguments grow.
FALLING = (Logistic, SoftmaxMargins, Exponential)
