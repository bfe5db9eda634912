"""The soft margin with C = 1 on two noisy classes."""

from __future__ import annotations

import numpy as np

from benchmarks import accuracy
from benchmarks.bars import Bar
from benchmarks.hard_margin import BACKENDS
from benchmarks.ours import ours
from benchmarks.quadratic_peers import cvxpy_contenders
from benchmarks.race import Answer, Case, Contender, Data


def noisy(n: int, d: int) -> Data:
    """Normal samples; the label is the side of a hyperplane, seen with noise."""
    rng = np.random.default_rng(3)
    normal = rng.standard_normal(d) / np.sqrt(d)
    X = rng.standard_normal((n, d))
    y = np.where(X @ normal + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return {"X": X, "y": y, "C": 1.0}


def libsvm(data: Data, tol: float) -> Answer:
    """SVC at tol 1e-5 with 1 GB of cache."""
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=data["C"], tol=tol, cache_size=1000).fit(data["X"], data["y"])
    alpha = np.zeros(data["y"].size)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return Answer(model.coef_[0], model.intercept_[0], alpha)


def liblinear(data: Data, tol: float) -> Answer:
    """LinearSVC (hinge, dual coordinate descent) at tol 1e-5, at most 2000 passes. It penalises the intercept: with
    intercept_scaling 10 a hundred times less."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(loss="hinge", C=data["C"], tol=tol, max_iter=2000, intercept_scaling=10, random_state=0)
    model.fit(data["X"], data["y"])
    return Answer(model.coef_[0], model.intercept_[0])


LIBLINEAR = Contender("liblinear", liblinear, (1e-5,))

CASES = (
    Case(
        "soft margin, C = 1",
        noisy,
        {"n": 20_000, "d": 50},
        {"n": 1_000, "d": 10},
        1e-8,
        "relative gap",
        accuracy.soft_margin,
        (
            *ours("SoftMarginSVM", "interior-point", C=1.0),
            Contender("libsvm", libsvm, (1e-5,)),
            LIBLINEAR,
            *cvxpy_contenders(*BACKENDS),
        ),
        (
            Bar("ratio", 50.0, ("libsvm",), at_own_accuracy=True),
            Bar("ratio", 1.0, ("liblinear",), at_own_accuracy=True),
        ),
        cap=50.0,
    ),
    Case(
        "soft margin, C = 1, large",
        noisy,
        {"n": 100_000, "d": 100},
        None,
        1e-8,
        "relative gap",
        accuracy.soft_margin,
        (*ours("SoftMarginSVM", "interior-point", C=1.0), LIBLINEAR),
        (Bar("ratio", 5.0, ("liblinear",), at_own_accuracy=True),),
        cap=60.0,
    ),
)
