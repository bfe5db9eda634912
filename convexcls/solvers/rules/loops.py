"""The loops that NumPy cannot express: one sample at a time.

With numba installed (the extra ``fast``) they are compiled when first called, and the result is kept on disk; without
it the same functions run as plain Python. This module loads numba: import it where a loop is run.

Sample i is the row ``factor[i] * (X[i], bias)``; ``w`` has one entry more than X has columns, the last one for the
bias (which is 0 in a model without intercept). Every loop changes ``w`` in place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.compilation import compiled

Indices = NDArray[np.int64]

#: The losses that ``descent_pass`` knows: u^2/2, log(1 + e^-u), e^-u, max(0, u), max(0, u)^2/2.
HALF_SQUARE, LOGISTIC, EXPONENTIAL, POSITIVE_PART, HALF_SQUARED_PART = 0, 1, 2, 3, 4


@compiled
def dot(x: Array, w: Array) -> float:
    """The sum of x_j w_j over the entries of x, in four partial sums that a processor adds up side by side."""
    a = b = c = d = 0.0
    last = x.size - x.size % 4
    for j in range(0, last, 4):
        a += x[j] * w[j]
        b += x[j + 1] * w[j + 1]
        c += x[j + 2] * w[j + 2]
        d += x[j + 3] * w[j + 3]
    for j in range(last, x.size):
        a += x[j] * w[j]
    return (a + b) + (c + d)


@compiled
def perceptron_pass(
    X: Array,
    factor: Array,
    bias: float,
    order: Indices,
    rate: float,
    w: Array,
    counts: Indices,
    zero_is_positive: bool = False,
    made: Any = None,
) -> tuple[int, float]:
    """Visit the samples in the given order; where v_i'w <= 0, add rate v_i to w and 1 to the count of i (ESL 4.44);
    with ``zero_is_positive`` not where a positive sample has v_i'w = 0. Returns the updates and the sum of
    max(0, -v_i'w) as met on the way. ``made`` has a column an update: the sample and the number of its visit."""
    d = X.shape[1]
    updates, visits, loss = 0, 0, 0.0
    for i in order:
        if factor[i] == 0.0:
            continue
        visits += 1
        margin = factor[i] * (dot(X[i], w) + bias * w[d])
        right = margin > 0.0 or (zero_is_positive and margin == 0.0 and factor[i] > 0.0)
        if not right:  # what is not a number is no success
            if made is not None:
                made[0, updates], made[1, updates] = i, visits
            step = rate * factor[i]
            for j in range(d):
                w[j] += step * X[i, j]
            w[d] += step * bias
            counts[i] += 1
            updates += 1
            loss -= margin
    return updates, loss


@compiled
def perceptron_pass_sparse(
    data: Array,
    columns: Any,
    ends: Any,
    factor: Array,
    bias: float,
    order: Indices,
    rate: float,
    w: Array,
    counts: Indices,
    zero_is_positive: bool = False,
    made: Any = None,
) -> tuple[int, float]:
    """The same on the rows of a sparse matrix in compressed form (CSR)."""
    d = w.size - 1
    updates, visits, loss = 0, 0, 0.0
    for i in order:
        if factor[i] == 0.0:
            continue
        visits += 1
        inner = bias * w[d]
        for k in range(ends[i], ends[i + 1]):
            inner += data[k] * w[columns[k]]
        margin = factor[i] * inner
        right = margin > 0.0 or (zero_is_positive and margin == 0.0 and factor[i] > 0.0)
        if not right:
            if made is not None:
                made[0, updates], made[1, updates] = i, visits
            step = rate * factor[i]
            for k in range(ends[i], ends[i + 1]):
                w[columns[k]] += step * data[k]
            w[d] += step * bias
            counts[i] += 1
            updates += 1
            loss -= margin
    return updates, loss


@compiled
def slope(loss: int, u: float) -> float:
    """The derivative of the loss at u; on a kink, that on its steep side."""
    if loss == HALF_SQUARE:
        return u
    if loss == POSITIVE_PART:
        return 1.0 if u >= 0.0 else 0.0
    if loss == HALF_SQUARED_PART:
        return u if u > 0.0 else 0.0
    if loss == EXPONENTIAL:
        return -math.exp(min(-u, 709.0))  # larger ones overflow
    small = math.exp(-abs(u))  # -1/(1 + e^u) without overflow
    return -small / (1.0 + small) if u > 0.0 else -1.0 / (1.0 + small)


@compiled
def descent_pass(
    loss: int,
    X: Array,
    factor: Array,
    bias: float,
    offset: Array,
    weights: Array,
    ridge: Array,
    order: Indices,
    eta0: float,
    tau: float,
    growth: float,
    w: Array,
) -> float:
    """Visit the samples in the given order, each time a step of eta0/tau down the gradient of the sample's own share

        weights_i loss(v_i'w + offset_i) + 1/(2n) sum_j ridge_j w_j^2,

    tau growing by ``growth`` with every visit. Returns the last tau."""
    d, n = X.shape[1], order.size
    for i in order:
        u = factor[i] * (dot(X[i], w) + bias * w[d]) + offset[i]
        eta = eta0 / tau
        step = -eta * weights[i] * slope(loss, u) * factor[i]
        for j in range(d):
            w[j] += step * X[i, j] - eta * ridge[j] * w[j] / n
        w[d] += step * bias - eta * ridge[d] * w[d] / n
        tau += growth
    return tau


@compiled
def softmax_pass(
    X: Array,
    classes: Indices,
    bias: float,
    weights: Array,
    ridge: Array,
    order: Indices,
    eta0: float,
    tau: float,
    growth: float,
    w: Array,
) -> float:
    """The same for softmax regression: ``w`` and ``ridge`` have one row a class, and the gradient of a sample of class
    c with probabilities p is (p_k - [k = c]) (x_i, bias) in row k."""
    d, n, count = X.shape[1], order.size, w.shape[0]
    p = np.empty(count)
    for i in order:
        for k in range(count):
            p[k] = dot(X[i], w[k]) + bias * w[k, d]
        p = np.exp(p - p.max())
        p /= p.sum()
        p[classes[i]] -= 1.0
        eta = eta0 / tau
        for k in range(count):
            step = -eta * weights[i] * p[k]
            for j in range(d):
                w[k, j] += step * X[i, j] - eta * ridge[k, j] * w[k, j] / n
            w[k, d] += step * bias - eta * ridge[k, d] * w[k, d] / n
        tau += growth
    return tau
