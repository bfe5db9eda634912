"""The objective of each model at an answer, computed from its coefficients on the data and from nothing else.

Each function takes the data and the answer and returns what the model minimises. ``gap`` makes a measure of it: how far
the answer is above the best lower bound that was proved, relative to it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.special import logsumexp

from benchmarks.accuracy import Array
from benchmarks.race import Answer, Data, Measure, relative_gap

Objective = Callable[[Data, Answer], float]


def gap(data: Data, answer: Answer, least: float, *, objective: Objective, floor: float = 0.0) -> Measure:
    """How far the objective is above the least that is known. A proof that there is no minimum is as good as any
    answer; without coefficients there is none. Where the optimum may be 0, ``floor`` of it a sample is added to all:
    then what is left of rounding is small beside it."""
    if answer.coef is None:
        return Measure(0.0 if answer.none_exists else np.inf)
    with np.errstate(all="ignore"):
        value = objective(data, answer)
    if not np.isfinite(value):
        return Measure(np.inf)
    added = floor * len(data["y"])
    value, bound = value + added, answer.bound + added
    return Measure(relative_gap(value, max(least, bound)), value, bound)


def margins(data: Data, answer: Answer) -> Array:
    """y_i (w'x_i + b)."""
    return np.asarray(data["y"] * (data["X"] @ np.ravel(answer.coef) + answer.intercept))


def hinge(data: Data, answer: Answer) -> float:
    """1/2 ‖w‖^2 + C sum_i max(0, 1 - m_i)."""
    return _half_square(answer.coef) + data["C"] * float(np.maximum(0.0, 1.0 - margins(data, answer)).sum())


def squared_hinge(data: Data, answer: Answer) -> float:
    """1/2 ‖w‖^2 + C sum_i max(0, 1 - m_i)^2."""
    return _half_square(answer.coef) + data["C"] * float((np.maximum(0.0, 1.0 - margins(data, answer)) ** 2).sum())


def hard_margin(data: Data, answer: Answer) -> float:
    """1/2 ‖w‖^2 once w is scaled and b moved so that the nearest samples of both classes have margin 1."""
    scores = data["X"] @ np.ravel(answer.coef)
    width = 0.5 * float(scores[data["y"] > 0].min() - scores[data["y"] < 0].max())
    return _half_square(answer.coef) / width**2 if width > 0.0 else np.inf


def logistic(data: Data, answer: Answer) -> float:
    """sum_i log(1 + exp(-m_i)) + l2/2 ‖w‖^2."""
    return float(np.logaddexp(0.0, -margins(data, answer)).sum()) + data["l2"] * _half_square(answer.coef)


def l1_logistic(data: Data, answer: Answer) -> float:
    """sum_i log(1 + exp(-m_i)) + l1 ‖w‖_1."""
    size = float(np.abs(np.ravel(answer.coef)).sum())
    return float(np.logaddexp(0.0, -margins(data, answer)).sum()) + data["l1"] * size


def softmax(data: Data, answer: Answer) -> float:
    """sum_i (log sum_k exp s_ik - s_{i, y_i}) + l2/2 ‖W‖^2."""
    scores = data["X"] @ np.asarray(answer.coef).T + np.asarray(answer.intercept)
    own = scores[np.arange(len(scores)), data["y"].astype(int)]
    return float((logsumexp(scores, axis=1) - own).sum()) + data["l2"] * _half_square(answer.coef)


def squares(data: Data, answer: Answer) -> float:
    """1/2 sum_i (w'x_i + b - y_i)^2 + l2/2 ‖w‖^2."""
    residual = data["X"] @ np.ravel(answer.coef) + answer.intercept - data["y"]
    return 0.5 * float(residual @ residual) + data["l2"] * _half_square(answer.coef)


def absolute(data: Data, answer: Answer) -> float:
    """sum_i |w'x_i + b - y_i|."""
    return float(np.abs(data["X"] @ np.ravel(answer.coef) + answer.intercept - data["y"]).sum())


def perceptron(data: Data, answer: Answer) -> float:
    """sum_i max(0, -m_i) once the mean margin is scaled to 1."""
    m = margins(data, answer)
    return float(np.maximum(0.0, -m).sum()) / float(m.mean()) if m.mean() > 0.0 else np.inf


def fisher(data: Data, answer: Answer) -> float:
    """Minus the sum of the Rayleigh quotients in the span of the directions: -tr (V'S_W V)^-1 V'S_B V."""
    classes = data["y"].astype(int)
    Z = np.asarray(data["X"] @ np.atleast_2d(answer.coef).T)
    Z -= Z.mean(axis=0)
    counts = np.bincount(classes)
    means = np.column_stack([np.bincount(classes, weights=z) for z in Z.T]) / counts[:, None]
    within, between = Z - means[classes], means * np.sqrt(counts)[:, None]
    triangle = np.linalg.qr(within, mode="r")
    return -float((linalg.solve_triangular(triangle.T, between.T, lower=True) ** 2).sum())


def gaussian(data: Data, answer: Answer) -> float:
    """n/2 (log det Sigma + tr Sigma^-1 S), S the mean square of the samples from the answer's means."""
    X, classes = data["X"], data["y"].astype(int)
    centred = (X.toarray() if hasattr(X, "toarray") else X) - np.asarray(answer.coef.means)[classes]
    try:
        factor = linalg.cholesky(answer.coef.covariance, lower=True)
    except linalg.LinAlgError:  # it has no density
        return np.inf
    whitened = linalg.solve_triangular(factor, centred.T, lower=True)
    return len(classes) * float(np.log(np.diag(factor)).sum()) + 0.5 * float((whitened**2).sum())


def _half_square(w: Array) -> float:
    w = np.ravel(w)
    return 0.5 * float(w @ w)
