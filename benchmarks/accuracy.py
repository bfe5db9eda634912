"""How good an answer is, computed from its coefficients on the data and from nothing that its solver says.

Every measure takes the data, the answer and the best lower bound known so far, and returns a ``Measure``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from benchmarks.race import Answer, Data, Measure, relative_gap

Array = NDArray[np.float64]
#: A multiplier this close to an end of its interval, relative to the interval, counts as at that end.
AT_BOUND = 1e-10


def hard_margin(data: Data, answer: Answer, _bound: float) -> Measure:
    """The largest relative KKT residual of minimise 1/2 ‖w‖^2 with y_i (w'x_i + b) >= 1, multipliers alpha: violation,
    w = sum_i alpha_i y_i x_i, sum_i alpha_i y_i = 0, alpha >= 0, every product, and the gap relative to 1/2 ‖w‖^2."""
    X, y, w, alpha = data["X"], data["y"], np.asarray(answer.coef), np.asarray(answer.multipliers)
    margins = y * (X @ w + answer.intercept)
    from_alpha = X.T @ (y * alpha)
    value, largest = 0.5 * w @ w, alpha.max()
    if not (np.all(np.isfinite(w)) and np.all(np.isfinite(alpha)) and value > 0 and largest > 0):
        return Measure(np.inf)
    residuals = {
        "violation": max(0.0, 1.0 - margins.min()),
        "stationarity": np.abs(w - from_alpha).max() / np.abs(w).max(),
        "balance": abs(y @ alpha) / np.abs(alpha).sum(),
        "sign": max(0.0, -alpha.min()) / largest,
        "products": np.abs(alpha * (margins - 1.0)).max() / value,
        "gap": abs(value - (alpha.sum() - 0.5 * from_alpha @ from_alpha)) / value,
    }
    return Measure(max(residuals.values()))


def not_separable(data: Data, answer: Answer, _bound: float) -> Measure:
    """How far sum_i lambda_i y_i (x_i, 1) is from 0 in any coordinate, relative to what was added up; lambda >= 0 and
    not 0 are required. ``rows`` is on how many samples the proof stands."""
    X, y, weights = data["X"], data["y"], np.asarray(answer.multipliers)
    used = np.flatnonzero(weights)
    if used.size == 0 or weights.min() < 0 or not np.all(np.isfinite(weights)):
        return Measure(np.inf)
    rows, signed = np.column_stack([X[used], np.ones(used.size)]), (weights * y)[used]
    left = np.abs(rows.T @ signed) / (np.abs(rows).T @ np.abs(signed))
    return Measure(float(left.max()), extra={"rows": float(used.size)})


def soft_margin(data: Data, answer: Answer, bound: float) -> Measure:
    """The gap between 1/2 ‖w‖^2 + C sum_i max(0, 1 - y_i (w'x_i + b)) and the best lower bound, relative to it.
    Multipliers give a bound once they are cut to [0, C] and both classes are scaled to the same sum."""
    X, y, C, w = data["X"], data["y"], data["C"], np.asarray(answer.coef)
    objective = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + answer.intercept)).sum()
    own = -np.inf
    if answer.multipliers is not None and np.all(np.isfinite(answer.multipliers)):
        alpha = balanced(np.clip(answer.multipliers, 0.0, C), y)
        normal = X.T @ (y * alpha)
        own = float(alpha.sum() - 0.5 * normal @ normal)
    best = max(own, bound)
    gap = relative_gap(objective, best) if np.isfinite(objective) else np.inf
    return Measure(float(gap), float(objective), own)


def balanced(alpha: Array, y: Array) -> Array:
    """alpha with the larger class scaled down, so that sum_i alpha_i y_i = 0."""
    above, below = alpha[y > 0].sum(), alpha[y < 0].sum()
    least = min(above, below)
    if least <= 0:
        return np.zeros_like(alpha)
    return np.asarray(alpha * np.where(y > 0, least / above, least / below))


def logistic(data: Data, answer: Answer, _bound: float) -> Measure:
    """The largest entry of the gradient of sum_i log(1 + exp(-m_i)) + l2/2 ‖w‖^2, divided by the number of samples."""
    X, y, w = data["X"], data["y"], np.asarray(answer.coef).ravel()
    slopes = -y * expit(-y * (X @ w + answer.intercept))
    gradient = np.abs(X.T @ slopes + data["l2"] * w).max()
    if data["intercept"]:
        gradient = max(gradient, abs(slopes.sum()))
    return Measure(_finite(gradient / y.size))


def softmax_gradient(data: Data, answer: Answer, _bound: float) -> Measure:
    """The largest entry of the gradient of the softmax likelihood with l2/2 ‖W‖^2, divided by the number of samples."""
    X, y, W = data["X"], data["y"].astype(int), np.asarray(answer.coef)
    residuals = softmax(X @ W.T + np.asarray(answer.intercept), axis=1)
    residuals[np.arange(y.size), y] -= 1.0
    gradient = max(np.abs(residuals.T @ X + data["l2"] * W).max(), np.abs(residuals.sum(axis=0)).max())
    return Measure(_finite(gradient / y.size))


def kernel(data: Data, answer: Answer, _bound: float) -> Measure:
    """How far the worst pair of samples violates the KKT conditions of the kernel SVM (libsvm's measure, m - M: the
    slack in the intercept), with sum_i alpha_i y_i = 0 relative to sum_i alpha_i."""
    y, C = data["y"], data["C"]
    alpha = np.clip(answer.multipliers, 0.0, C)
    outside = np.abs(alpha - answer.multipliers).max() / C
    alpha[alpha < AT_BOUND * C] = 0.0
    alpha[alpha > (1.0 - AT_BOUND) * C] = C
    pull = y - rbf_times(data["X"], data["gamma"], y * alpha)  # -y_i times the slope in alpha_i
    up = np.where(y > 0, alpha < C, alpha > 0)
    down = np.where(y > 0, alpha > 0, alpha < C)
    worst = max(0.0, pull[up].max() - pull[down].min())
    return Measure(_finite(max(worst, outside, abs(y @ alpha) / alpha.sum())))


def rbf_times(X: Array, gamma: float, v: Array, block: int = 1000) -> Array:
    """K v with K_ij = exp(-gamma ‖x_i - x_j‖^2), block by block."""
    squares, out = np.einsum("ij,ij->i", X, X), np.empty(v.size)
    for i in range(0, v.size, block):
        part = slice(i, i + block)
        distances = squares[part, None] + squares - 2.0 * X[part] @ X.T
        out[part] = np.exp(-gamma * np.maximum(distances, 0.0)) @ v
    return out


def least_squares(data: Data, answer: Answer, _bound: float) -> Measure:
    """The largest cosine between a column of (X, 1) and the residual: 0 at the solution."""
    X, w = data["X"], np.asarray(answer.coef)
    residual = X @ w + answer.intercept - data["y"]
    size = np.linalg.norm(residual)
    cosines = np.abs(X.T @ residual) / (np.linalg.norm(X, axis=0) * size)
    return Measure(_finite(max(cosines.max(), abs(residual.sum()) / (np.sqrt(residual.size) * size))))


def _finite(value: Any) -> float:
    return float(value) if np.isfinite(value) else float("inf")
