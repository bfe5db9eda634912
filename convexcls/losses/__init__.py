"""Loss functions of one real argument, or of a few taken together, with their conjugates.

A loss is a convex function of the margin m = y f(x) (or of a residual). It knows its value, slope and
curvature, the function it turns into in the dual, how it is written, and its cvxpy expression.

>>> import convexcls as cc
>>> import numpy as np
>>> hinge, margins = cc.losses.BY_NAME["hinge"], np.array([-1.0, 0.0, 2.0])
>>> hinge.value(margins).tolist(), hinge.slope(margins).tolist()
([2.0, 1.0, 0.0], [-1.0, -1.0, 0.0])
"""

from convexcls.losses.base import Loss, PiecewiseLinear
from convexcls.losses.conjugates import (
    BinaryEntropy,
    ExponentialEntropy,
    LinearOnInterval,
    QuadraticOnInterval,
)
from convexcls.losses.log_det import LogDet
from convexcls.losses.margin import (
    Absolute,
    Exponential,
    HalfSquare,
    Hinge,
    Logistic,
    Modulus,
    Perceptron,
    Squared,
    SquaredHinge,
    ZeroOne,
)
from convexcls.losses.softmax import SimplexEntropy, SoftmaxMargins

#: The losses that can be asked for by name, as functions of the margin.
BY_NAME: dict[str, Loss] = {
    loss.name: loss
    for loss in (Hinge(), SquaredHinge(), Logistic(), Squared(), Absolute(), Perceptron(), Exponential())
}

__all__ = [
    "BY_NAME",
    "Absolute",
    "BinaryEntropy",
    "Exponential",
    "ExponentialEntropy",
    "HalfSquare",
    "Hinge",
    "LinearOnInterval",
    "LogDet",
    "Logistic",
    "Loss",
    "Modulus",
    "Perceptron",
    "PiecewiseLinear",
    "QuadraticOnInterval",
    "SimplexEntropy",
    "SoftmaxMargins",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
]
