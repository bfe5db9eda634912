"""scikit-learn beside every model: at its defaults, and as accurate as we measure it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.race import Answer, Contender, Data

#: The tolerance that stands for a peer's own settings.
DEFAULTS = 0.0
#: Seconds after which a peer is stopped: what takes longer is no bar.
PEER_CAP = 12.0
#: Iterations allowed where a tolerance is asked for.
MANY = 100_000


def linear_svc(data: Data, tol: float, *, loss: str) -> Answer:
    """LinearSVC with this loss. It penalises the intercept; where a tolerance is asked for intercept_scaling is 10, so
    that it does so a hundred times less."""
    from sklearn.svm import LinearSVC

    tight = {} if tol == DEFAULTS else {"tol": tol, "max_iter": MANY, "intercept_scaling": 10.0}
    model = LinearSVC(loss=loss, C=data["C"], fit_intercept=data["intercept"], random_state=0, **tight)
    model.fit(data["X"], data["labels"])
    return Answer(model.coef_[0], float(np.ravel(model.intercept_)[0]))


def svc(data: Data, tol: float) -> Answer:
    """SVC with a linear kernel, or with the RBF kernel where the case has a gamma; where a tolerance is asked for with
    1 GB of cache."""
    from sklearn.svm import SVC

    tight = {} if tol == DEFAULTS else {"tol": tol, "cache_size": 1000}
    kernel = {"kernel": "rbf", "gamma": data["gamma"]} if "gamma" in data else {"kernel": "linear"}
    model = SVC(C=data["C"], **kernel, **tight).fit(data["X"], data["labels"])
    coefficients = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    alpha = np.zeros(data["y"].size)
    alpha[model.support_] = np.abs(coefficients[0])
    if "gamma" in data:
        return Answer(None, model.intercept_[0], alpha)
    w = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    return Answer(w[0], float(model.intercept_[0]), alpha)


def logistic_regression(data: Data, tol: float, *, solver: str) -> Answer:
    """LogisticRegression with this solver, C = 1/l2, infinite without a penalty (1e6 with liblinear, which always
    penalises, and the intercept, too)."""
    from sklearn.linear_model import LogisticRegression

    C = 1.0 / data["l2"] if data["l2"] else 1e6 if solver == "liblinear" else np.inf
    tight = {} if tol == DEFAULTS else {"tol": tol, "max_iter": 10_000}
    model = LogisticRegression(C=C, solver=solver, fit_intercept=data["intercept"], **tight)
    model.fit(data["X"], data["labels"])
    coef, intercept = model.coef_, np.ravel(model.intercept_)
    return Answer(coef[0], float(intercept[0])) if len(coef) == 1 else Answer(coef, intercept)


def l1_logistic_regression(data: Data, tol: float, *, solver: str) -> Answer:
    """LogisticRegression with an l1 penalty and this solver; liblinear penalises the intercept, too."""
    from sklearn.linear_model import LogisticRegression

    tight = {} if tol == DEFAULTS else {"tol": tol, "max_iter": 10_000}
    model = LogisticRegression(C=1.0 / data["l1"], l1_ratio=1.0, solver=solver, random_state=0, **tight)
    model.fit(data["X"], data["labels"])
    return Answer(model.coef_[0], float(model.intercept_[0]))


def linear_regression(data: Data, _tol: float) -> Answer:
    """LinearRegression, as it is."""
    from sklearn.linear_model import LinearRegression

    model = LinearRegression(fit_intercept=data["intercept"]).fit(data["X"], data["y"])
    return Answer(model.coef_, model.intercept_)


def ridge(data: Data, tol: float) -> Answer:
    """Ridge with alpha = l2 and the solver that it chooses."""
    from sklearn.linear_model import Ridge

    tight = {} if tol == DEFAULTS else {"tol": tol, "max_iter": MANY}
    model = Ridge(alpha=data["l2"], fit_intercept=data["intercept"], **tight).fit(data["X"], data["y"])
    return Answer(model.coef_, model.intercept_)


def quantile_regressor(data: Data, _tol: float) -> Answer:
    """QuantileRegressor of the median without a penalty, as it is (HiGHS)."""
    from sklearn.linear_model import QuantileRegressor

    model = QuantileRegressor(alpha=0.0, fit_intercept=data["intercept"]).fit(data["X"], data["y"])
    return Answer(model.coef_, model.intercept_)


def perceptron(data: Data, _tol: float) -> Answer:
    """Perceptron, as it is: a rule, which minimises nothing where the classes overlap."""
    from sklearn.linear_model import Perceptron

    model = Perceptron(fit_intercept=data["intercept"]).fit(data["X"], data["labels"])
    return Answer(model.coef_[0], float(np.ravel(model.intercept_)[0]))


def discriminant(data: Data, _tol: float, *, solver: str, covariance: bool) -> Answer:
    """LinearDiscriminantAnalysis with this solver; for the Gaussian likelihood it is asked for the covariance, too."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    store = {"store_covariance": True} if covariance and solver == "svd" else {}
    model = LinearDiscriminantAnalysis(solver=solver, **store).fit(data["X"], data["labels"])
    if covariance:
        return Answer(SimpleNamespace(means=model.means_, covariance=model.covariance_))
    return Answer(model.scalings_[:, : len(model.classes_) - 1].T)


def at_defaults(name: str, fit: Callable[..., Answer], **settings: Any) -> Contender:
    """A peer as it comes."""
    return Contender(f"{name} (defaults)", partial(fit, **settings), (DEFAULTS,), cap=PEER_CAP, at_defaults=True)


def to_accuracy(name: str, fit: Callable[..., Answer], *ladder: float, **settings: Any) -> Contender:
    """A peer at the loosest of these tolerances that reaches the accuracy."""
    return Contender(name, partial(fit, **settings), ladder, cap=PEER_CAP, quick=False)


def both(name: str, fit: Callable[..., Answer], *ladder: float, **settings: Any) -> tuple[Contender, ...]:
    """A peer as it comes, and to accuracy."""
    return at_defaults(name, fit, **settings), to_accuracy(name, fit, *ladder, **settings)


def _logistic(*solvers: str) -> tuple[Contender, ...]:
    ladder = (1e-4, 1e-6, 1e-8, 1e-10)
    return tuple(c for s in solvers for c in both(f"sklearn:{s}", logistic_regression, *ladder, solver=s))


LOGISTIC = _logistic("lbfgs", "newton-cholesky", "liblinear")
WIDE_LOGISTIC = _logistic("lbfgs", "liblinear")
SOFTMAX = _logistic("lbfgs", "newton-cholesky")
L1_LOGISTIC = tuple(
    c for s in ("liblinear", "saga") for c in both(f"sklearn:{s}", l1_logistic_regression, 1e-4, 1e-6, 1e-8, solver=s)
)
HINGE = both("LinearSVC", linear_svc, 1e-6, 1e-9, loss="hinge")
SQUARED_HINGE = both("LinearSVC", linear_svc, 1e-6, 1e-9, loss="squared_hinge")
SVC = both("SVC", svc, 1e-4, 1e-6, 1e-8)
SQUARES = (
    at_defaults("LinearRegression", linear_regression),
    *both("Ridge", ridge, 1e-6, 1e-9, 1e-12),
)
ABSOLUTE = (at_defaults("QuantileRegressor", quantile_regressor),)
PERCEPTRON = (at_defaults("Perceptron", perceptron),)
FISHER = (
    at_defaults("LDA:svd", discriminant, solver="svd", covariance=False),
    at_defaults("LDA:eigen", discriminant, solver="eigen", covariance=False),
)
GAUSSIAN = tuple(at_defaults(f"LDA:{s}", discriminant, solver=s, covariance=True) for s in ("svd", "lsqr"))
