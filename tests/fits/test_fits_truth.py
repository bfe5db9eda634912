"""What is proved of fits of others is true: the optimum lies between its lower bound and the objective of the fit.

The optimum is known exactly, or to 40 digits, from ``exact.py``, which shares nothing with the package, or to some
digits from a program written by hand in cvxpy."""

from __future__ import annotations

import warnings
from fractions import Fraction

import cvxpy as cp
import exact as rational
import numpy as np
import pytest
from datasets import overlapping

import convexcls as cc

pytest.importorskip("sklearn")
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

N = 16


def exact(name: str, *arguments, **options):
    """A function of ``exact.py`` on arrays: their entries as Python's own numbers, which do not overflow."""
    plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in arguments]
    named = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in options.items()}
    found = getattr(rational, name)(*plain, **named)
    return found[0] if isinstance(found, tuple) else found


SEEDS = range(6)


def dyadic(seed: int, d: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples on a grid of eighths, signs, and weights that are multiples of a quarter. The classes overlap: two pairs
    of samples are the same but for their class."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-16, 17, size=(N, d)) / 8.0
    signs = np.where(X @ rng.integers(-3, 4, size=d) + rng.normal(size=N) > 0, 1, -1)
    X[2:4], signs[:4] = X[:2], [1, -1, -1, 1]
    return X, signs, rng.integers(1, 9, size=N) / 4.0


def fitted(estimator, X, y, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **arguments)


def contains(appraisal, truth, sharp: float = 1e-7) -> None:
    """lower <= truth <= objective, as rationals, and the bound is worth something."""
    truth = Fraction(truth)
    assert Fraction(appraisal.lower) <= truth <= Fraction(appraisal.objective)
    assert truth <= Fraction(appraisal.upper)
    slack = float(truth - Fraction(appraisal.lower))
    assert slack <= sharp * max(abs(float(truth)), 1.0)


# ---- against exact rationals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_support_vector_machines(seed):
    X, y, weights = dyadic(seed)
    e = fitted(SVC(kernel="linear", C=0.5), X, y, sample_weight=weights)
    contains(cc.certify(e, X, y, sample_weight=weights), exact("soft_margin", X, y, Fraction(1, 2), weights=weights))
    constant = np.column_stack([X, np.full(N, 4.0)])  # what liblinear sees with intercept_scaling = 4
    for loss in ("hinge", "squared_hinge"):
        e = fitted(LinearSVC(loss=loss, C=0.25, intercept_scaling=4.0, random_state=0), X, y)
        contains(cc.certify(e, X, y), exact("soft_margin", constant, y, Fraction(1, 4), loss, intercept=False))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("degree", [2, 3])
def test_a_kernel_whose_feature_is_known(seed, degree):
    """Of one feature, (x z)^degree is the linear kernel of x^degree."""
    X, y, _ = dyadic(seed, d=1)
    e = fitted(SVC(kernel="poly", degree=degree, gamma=1.0, coef0=0.0, C=0.5), X, y)
    contains(cc.certify(e, X, y), exact("soft_margin", X**degree, y, Fraction(1, 2)))


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_of_classes(seed):
    X, y, _ = dyadic(seed)
    labels = np.where(np.arange(N) % 3 == 0, 2, y)
    found = cc.certify(fitted(SVC(kernel="linear"), X, labels), X, labels)
    for a, (low, high) in zip(found, [(-1, 1), (-1, 2), (1, 2)], strict=True):
        rows = np.isin(labels, [low, high])
        contains(a, exact("soft_margin", X[rows], np.where(labels[rows] == high, 1, -1)))


@pytest.mark.parametrize("seed", SEEDS)
def test_least_squares(seed):
    X, y, weights = dyadic(seed)
    target = (X @ [3.0, -1.0] + y) / 2.0
    for e, l2, t in (
        (LinearRegression(), 0, target),
        (Ridge(alpha=2.0), 2, target),
        (RidgeClassifier(alpha=0.5), 0.5, y),
    ):
        fitted(e, X, t, sample_weight=weights)
        contains(cc.certify(e, X, t, sample_weight=weights), exact("least_squares", X, t, l2, weights=weights), 1e-11)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_fishers_discriminant(seed, solver):
    X, y, _ = dyadic(seed)
    a = cc.certify(fitted(LinearDiscriminantAnalysis(solver=solver), X, y), X, y)
    contains(a, exact("fisher", X, y), 1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_logistic_regression(seed):
    X, y, weights = dyadic(seed)
    for C in (0.5, np.inf):
        e = fitted(LogisticRegression(C=C), X, y, sample_weight=weights)
        truth = exact("logistic", X, y, 2 if C == 0.5 else 0, weights=weights)
        contains(cc.certify(e, X, y, sample_weight=weights), truth)
    e = fitted(LogisticRegression(C=2.0, solver="liblinear"), X, y)
    truth = exact("logistic", np.column_stack([X, np.ones(N)]), y, Fraction(1, 2), intercept=False)
    contains(cc.certify(e, X, y), truth)


@pytest.mark.parametrize("seed", SEEDS)
def test_statsmodels(seed):
    sm = pytest.importorskip("statsmodels.api")
    X, y, weights = dyadic(seed)
    design, t = sm.add_constant(X), (y + 1) // 2
    truth = exact("logistic", design, y, intercept=False)
    contains(cc.certify(sm.Logit(t, design).fit(disp=0), design, t), truth)
    glm = sm.GLM(t, design, family=sm.families.Binomial(), freq_weights=weights).fit()
    contains(cc.certify(glm, design, t), exact("logistic", design, y, intercept=False, weights=weights))


@pytest.mark.parametrize("seed", SEEDS)
def test_learning_rules(seed):
    X, y, _ = dyadic(seed)
    e = fitted(SGDClassifier(alpha=2.0**-6, random_state=0), X, y)  # alpha n = 1/4
    contains(cc.certify(e, X, y), exact("soft_margin", X, y, 4))
    e = fitted(SGDClassifier(loss="log_loss", alpha=2.0**-6, random_state=0), X, y)
    contains(cc.certify(e, X, y), exact("logistic", X, y, Fraction(1, 4)))
    e = fitted(Perceptron(), X, y)
    a = cc.certify(e, X, y)
    if "scaled to mean margin one" in a.named:
        assert Fraction(a.lower) <= exact("perceptron", X, y)
        assert exact("perceptron", X, y) <= Fraction(a.objective) * (1 + Fraction(1, 10**12))  # scaled in doubles
    else:
        assert a.lower == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_bare_pairs(seed):
    X, y, _ = dyadic(seed)
    rng = np.random.default_rng(seed)
    coef, intercept = rng.normal(size=2), float(rng.normal())
    pair = (coef, intercept)
    contains(cc.certify(pair, X, y, model="soft-margin", C=0.5), exact("soft_margin", X, y, Fraction(1, 2)))
    contains(cc.certify(pair, X, y, model="least-absolute"), exact("least_absolute", X, y))
    contains(cc.certify(pair, X, y, model="logistic"), exact("logistic", X, y))


# ---- against programs written by hand ------------------------------------------------------------------------------

X, LABELS = overlapping(40, 3, seed=2)
SIGNS = np.where(LABELS == 1, 1.0, -1.0)
THREE = (LABELS + np.arange(40)) % 3


def optimum(objective, *constraints) -> float:
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    problem.solve(cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value)


def near(appraisal, truth: float, accuracy: float = 1e-7) -> None:
    """The same for a truth that is known to some digits."""
    room = accuracy * max(1.0, abs(truth))
    assert appraisal.lower <= truth + room
    assert truth <= appraisal.objective + room
    assert abs(appraisal.lower - truth) <= 2 * room


@pytest.mark.parametrize("nu", [0.5, 0.7])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_nu_svc(nu, kernel):
    e = fitted(NuSVC(nu=nu, kernel=kernel, gamma=0.4), X, LABELS)
    K = X @ X.T
    if kernel == "rbf":
        K = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    root = np.linalg.cholesky(K + 1e-13 * np.eye(40)).T if kernel == "rbf" else X.T
    w, b, rho, slack = cp.Variable(root.shape[0]), cp.Variable(), cp.Variable(), cp.Variable(40, nonneg=True)
    value = optimum(
        cp.sum_squares(w) / 2 - nu * 40 * rho + cp.sum(slack), cp.multiply(SIGNS, root.T @ w + b) >= rho - slack
    )
    near(cc.certify(e, X, LABELS), value, 1e-6)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_penalised_logistic_regression(ratio):
    e = fitted(LogisticRegression(solver="saga", l1_ratio=ratio, C=0.3, max_iter=5000), X, LABELS)
    w, b = cp.Variable(3), cp.Variable()
    penalty = ratio * cp.norm1(w) + (1 - ratio) * cp.sum_squares(w) / 2
    near(
        cc.certify(e, X, LABELS),
        optimum(cp.sum(cp.logistic(-cp.multiply(SIGNS, X @ w + b))) + penalty / 0.3),
    )


@pytest.mark.parametrize("ratio", [0.0, 1.0, 0.5])
def test_softmax_regression(ratio):
    e = fitted(LogisticRegression(solver="saga" if ratio else "lbfgs", l1_ratio=ratio, C=0.3, max_iter=5000), X, THREE)
    W, b = cp.Variable((3, 3)), cp.Variable((1, 3))
    scores = X @ W + np.ones((40, 1)) @ b
    own = cp.sum(cp.multiply(scores, np.eye(3)[THREE]))
    penalty = ratio * cp.sum(cp.abs(W)) + (1 - ratio) * cp.sum_squares(W) / 2
    near(cc.certify(e, X, THREE), optimum(cp.sum(cp.log_sum_exp(scores, axis=1)) - own + penalty / 0.3))


def test_sgd_with_the_elastic_net():
    e = fitted(SGDClassifier(penalty="elasticnet", l1_ratio=0.3, alpha=0.02, random_state=0), X, LABELS)
    w, b = cp.Variable(3), cp.Variable()
    losses = cp.sum(cp.pos(1 - cp.multiply(SIGNS, X @ w + b)))
    near(cc.certify(e, X, LABELS), optimum(losses + 0.8 * (0.3 * cp.norm1(w) + 0.7 * cp.sum_squares(w) / 2)))


def test_linear_svc_with_l1():
    e = fitted(LinearSVC(penalty="l1", dual=False, C=0.4), X, LABELS)
    w, b = cp.Variable(3), cp.Variable()
    losses = cp.sum(cp.square(cp.pos(1 - cp.multiply(SIGNS, X @ w + b))))
    near(cc.certify(e, X, LABELS), optimum(cp.norm1(w) + cp.abs(b) + 0.4 * losses))


def test_least_squares_with_signs():
    target = X @ [1.0, -1.0, 0.5] + LABELS
    for e, alpha in ((LinearRegression(positive=True), 0.0), (Ridge(positive=True, alpha=2.0), 2.0)):
        fitted(e, X, target)
        w, b = cp.Variable(3), cp.Variable()
        value = optimum(cp.sum_squares(X @ w + b - target) / 2 + alpha * cp.sum_squares(w) / 2, w >= 0)
        near(cc.certify(e, X, target), value)


# ---- scales ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [-30, 30])
def test_a_scale_far_from_one(power):
    """Features times 2^p: the soft margin with C times 4^-p has the optimum times 4^-p."""
    Z, y, _ = dyadic(3)
    factor = Fraction(2) ** power
    e = fitted(SVC(kernel="linear", C=4.0**-power / 2), 2.0**power * Z, y)
    a = cc.certify(e, 2.0**power * Z, y)
    truth = exact("soft_margin", Z, y, Fraction(1, 2)) / factor**2
    assert Fraction(a.lower) <= truth <= Fraction(a.objective)
    assert float(truth - Fraction(a.lower)) <= 1e-7 * float(truth)
