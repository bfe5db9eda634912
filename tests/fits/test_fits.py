"""Fits of others: every estimator is judged by the program that it really solved, written out here by hand."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from datasets import overlapping
from scipy import sparse

import convexcls as cc

sklearn_svm = pytest.importorskip("sklearn.svm")
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import (  # noqa: E402
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.svm import SVC, LinearSVC, NuSVC  # noqa: E402

X, y = overlapping(60, 4, seed=1)
SIGNS = np.where(y == 1, 1.0, -1.0)
THREE = np.array(["a", "b", "c"])[(y + np.arange(60)) % 3]
WEIGHTS = 0.5 + np.arange(60) % 3


def fitted(estimator, X=X, y=y, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a rule did not converge is what we want to see
        return estimator.fit(X, y, **arguments)


def hinge(margins):
    return np.maximum(0.0, 1.0 - margins)


def logistic(margins):
    return np.logaddexp(0.0, -margins)


def margins(estimator, signs=SIGNS, k=0, X=X):
    return signs * (X @ np.atleast_2d(estimator.coef_)[k] + np.atleast_1d(estimator.intercept_)[k])


def half_square(estimator, k=0):
    return 0.5 * float(np.sum(np.atleast_2d(estimator.coef_)[k] ** 2))


# ---- the objective of each estimator, by hand -----------------------------------------------------------------------


def test_svc_with_a_linear_kernel():
    e = fitted(SVC(kernel="linear", C=0.7, class_weight={0: 1.0, 1: 2.0}), sample_weight=WEIGHTS)
    a = cc.certify(e, X, y, sample_weight=WEIGHTS)
    costs = 0.7 * WEIGHTS * np.where(y == 1, 2.0, 1.0)
    assert a.objective == pytest.approx(half_square(e) + costs @ hinge(margins(e)), rel=1e-12)
    assert isinstance(a.problem, cc.SoftMarginSVM)
    assert a.source == "of dual_coef_"
    assert 0 < a.relative_suboptimality < 1e-3
    assert not a.findings


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": "auto", "C": 3.0},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.3},
    ],
)
def test_svc_with_a_kernel(options):
    from sklearn.metrics.pairwise import pairwise_kernels

    e = fitted(SVC(**options))
    a = cc.certify(e, X, y)
    parameters = {"gamma": e._gamma}
    if e.kernel == "poly":
        parameters |= {"degree": e.degree, "coef0": e.coef0}
    K = pairwise_kernels(e.support_vectors_, metric=e.kernel, **parameters)
    beta = e.dual_coef_[0]
    value = 0.5 * beta @ K @ beta + e.C * hinge(SIGNS * e.decision_function(X)).sum()
    assert a.objective == pytest.approx(value, rel=1e-10)
    assert a.lower <= a.upper <= a.objective * (1 + 1e-12)
    assert 0 < a.relative_suboptimality < 1e-2
    assert a.problem.kind == "kernel"


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_svc_counts_samples_with_weight_only(kernel):
    """libsvm leaves the others out before it counts: support_ are places among those that are left."""
    weights = np.arange(len(y)) % 3.0
    given = X @ X.T if kernel == "precomputed" else X
    a = cc.certify(fitted(SVC(kernel=kernel), given, sample_weight=weights), given, y, sample_weight=weights)
    assert a.findings == ()
    assert "exceed" not in a.verdict
    assert a.relative_suboptimality < 1e-2


def test_svc_with_a_precomputed_kernel_is_that_of_the_kernel():
    K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    one = cc.certify(fitted(SVC(kernel="precomputed"), X=K), K, y)
    two = cc.certify(fitted(SVC(kernel="rbf", gamma=0.2)), X, y)
    assert one.objective == pytest.approx(two.objective, rel=1e-6)
    assert one.lower == pytest.approx(two.lower, rel=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_nu_svc(kernel):
    e = fitted(NuSVC(nu=0.6, kernel=kernel, gamma=0.3, tol=1e-7))
    a = cc.certify(e, X, y)
    # minimise 1/2 |w|^2 - nu n rho + sum max(0, rho - y f); kept divided by rho
    rho = 0.6 * 60 / np.abs(e.dual_coef_).sum()
    K = e.support_vectors_ @ e.support_vectors_.T
    if kernel == "rbf":
        squares = np.diag(K)
        K = np.exp(-0.3 * (squares[:, None] + squares - 2 * K))
    beta = rho * e.dual_coef_[0]
    slack = np.maximum(0.0, rho - rho * SIGNS * e.decision_function(X))
    value = 0.5 * beta @ K @ beta - 0.6 * 60 * rho + slack.sum()
    assert a.objective == pytest.approx(value, rel=1e-8)
    assert a.lower <= a.objective
    # Chang and Lin: a solution of nu is one of C = 1/rho
    same = cc.KernelSVM(X, y, kernel=kernel, gamma=0.3, C=1 / rho).solve()
    assert 0.5 * beta @ K @ beta / rho**2 + slack.sum() / rho**2 == pytest.approx(same.objective, rel=1e-6)
    assert a.suboptimality < 2e-7 * 60
    assert not a.findings
    assert f"C = {1 / rho:.6g}" in a.named


def test_nu_svc_does_not_look_at_class_weights():
    plain = fitted(NuSVC(nu=0.5, tol=1e-8))
    weighted = fitted(NuSVC(nu=0.5, tol=1e-8, class_weight={0: 1.0, 1: 5.0}))
    assert np.allclose(plain.decision_function(X), weighted.decision_function(X), atol=1e-5)
    a = cc.certify(weighted, X, y)
    assert a.relative_suboptimality < 1e-6
    assert any("class_weight has no effect" in f for f in a.findings)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scaling", [1.0, 10.0])
def test_linear_svc_names_its_penalised_intercept(loss, scaling):
    e = fitted(LinearSVC(loss=loss, C=0.5, intercept_scaling=scaling, max_iter=100_000, random_state=0))
    a = cc.certify(e, X, y)
    losses = hinge(margins(e)) ** (2 if loss == "squared_hinge" else 1)
    value = half_square(e) + 0.5 * (e.intercept_[0] / scaling) ** 2 + 0.5 * losses.sum()
    assert a.objective == pytest.approx(value, rel=1e-12)
    assert a.relative_suboptimality < 1e-3
    assert "PENALISED intercept" in a.named
    assert ("squared-hinge" in a.named) == (loss == "squared_hinge")
    assert any("intercept_scaling" in f for f in a.findings)


def test_linear_svc_without_intercept_and_with_l1():
    e = fitted(LinearSVC(penalty="l1", dual=False, fit_intercept=False, C=0.3))
    a = cc.certify(e, X, y)
    value = np.abs(e.coef_).sum() + 0.3 * (hinge(SIGNS * (X @ e.coef_[0])) ** 2).sum()
    assert a.objective == pytest.approx(value, rel=1e-12)
    assert a.relative_suboptimality < 1e-5
    assert "without an intercept" in a.named
    assert not a.findings


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "liblinear", "saga"])
def test_logistic_regression_with_the_ridge_penalty(solver):
    e = fitted(LogisticRegression(solver=solver, C=0.4, max_iter=2000, class_weight="balanced"), sample_weight=WEIGHTS)
    a = cc.certify(e, X, y, sample_weight=WEIGHTS)
    sums = np.bincount(y, weights=WEIGHTS)
    weights = WEIGHTS * (sums.sum() / (2 * sums))[y]
    value = weights @ logistic(margins(e)) + half_square(e) / 0.4
    if solver == "liblinear":
        value += 0.5 * e.intercept_[0] ** 2 / 0.4
    assert a.objective == pytest.approx(value, rel=1e-12)
    assert a.relative_suboptimality < 1e-4
    assert ("PENALISED" in a.named) == (solver == "liblinear")


@pytest.mark.parametrize(("ratio", "solver"), [(1.0, "saga"), (1.0, "liblinear"), (0.4, "saga")])
def test_logistic_regression_with_other_penalties(ratio, solver):
    e = fitted(LogisticRegression(solver=solver, C=0.2, l1_ratio=ratio, max_iter=5000))
    a = cc.certify(e, X, y)
    size = np.abs(e.coef_).sum() + (abs(e.intercept_[0]) if solver == "liblinear" else 0.0)
    value = logistic(margins(e)).sum() + ratio * size / 0.2 + (1 - ratio) * half_square(e) / 0.2
    assert a.objective == pytest.approx(value, rel=1e-12)
    assert a.relative_suboptimality < 1e-4


def test_what_the_slope_at_the_end_explains_is_not_blamed():
    """A quasi-Newton method ends by the slope; along a long flat valley the objective is then farther from its minimum
    than the tolerance."""
    labels = X[:, 0] > 0
    e = LogisticRegression(C=1e6, max_iter=10000).fit(X, labels)
    a = cc.certify(e, X, labels)
    assert a.findings == ()
    assert a.suboptimality_at_least > 1000 * e.tol * a.objective  # which the verdict says
    e.coef_ = -e.coef_
    assert "more than the stopping rule explains" in cc.certify(e, X, labels).findings[0]


def test_logistic_regression_without_penalty():
    e = fitted(LogisticRegression(C=np.inf, fit_intercept=False))
    a = cc.certify(e, X, y)
    assert a.objective == pytest.approx(logistic(SIGNS * (X @ e.coef_[0])).sum(), rel=1e-12)
    assert a.relative_suboptimality < 1e-5


@pytest.mark.parametrize(("C", "ratio"), [(0.5, 0.0), (np.inf, 0.0), (0.2, 1.0), (0.2, 0.3)])
def test_logistic_regression_of_several_classes(C, ratio):
    solver = "saga" if ratio else "lbfgs"
    e = fitted(LogisticRegression(C=C, l1_ratio=ratio, solver=solver, max_iter=5000), y=THREE)
    a = cc.certify(e, X, THREE)
    scores = X @ e.coef_.T + e.intercept_
    own = scores[np.arange(60), np.searchsorted(e.classes_, THREE)]
    value = float(np.sum(np.log(np.exp(scores).sum(axis=1)) - own))
    value += ratio / C * np.abs(e.coef_).sum() + (1 - ratio) / C * 0.5 * (e.coef_**2).sum()
    assert a.objective == pytest.approx(value, rel=1e-12)
    assert a.relative_suboptimality < 1e-5
    assert "softmax regression of 3 classes" in a.named


def test_logistic_regression_by_cross_validation():
    from sklearn.linear_model import LogisticRegressionCV

    e = fitted(LogisticRegressionCV(Cs=[0.1, 1.0], cv=3))
    a = cc.certify(e, X, y)
    C = float(np.ravel(e.C_)[0])
    assert a.objective == pytest.approx(logistic(margins(e)).sum() + half_square(e) / C, rel=1e-12)
    assert a.relative_suboptimality < 1e-4


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [("hinge", "l2"), ("log_loss", "l2"), ("hinge", "elasticnet"), ("log_loss", "l1"), ("hinge", None)],
)
def test_sgd_classifier(loss, penalty):
    e = fitted(SGDClassifier(loss=loss, penalty=penalty, alpha=0.05, random_state=0))
    a = cc.certify(e, X, y)
    values = hinge(margins(e)) if loss == "hinge" else logistic(margins(e))
    ratio = {"l2": 0.0, "l1": 1.0}.get(penalty, 0.15)
    value = values.sum()
    if penalty:
        value += 0.05 * 60 * ((1 - ratio) * half_square(e) + ratio * np.abs(e.coef_).sum())
    if loss == "hinge" and penalty == "l2":
        value /= 0.05 * 60
    assert a.objective == pytest.approx(value, rel=1e-12)
    assert "learning rule" in a.named
    assert a.lower <= a.objective


def test_sgd_says_when_it_has_not_settled():
    e = fitted(SGDClassifier(random_state=0, max_iter=2, early_stopping=True, average=True))
    a = cc.certify(e, 50 * X, y)
    text = " ".join(a.findings)
    assert "max_iter" in text
    assert "held out" in text
    assert "average" in text
    assert "has not settled" in text


def test_perceptron_on_separable_classes_keeps_its_promise():
    labels = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "yes", "no")
    e = fitted(Perceptron(tol=None, max_iter=2000), y=labels)
    a = cc.certify(e, X, labels)
    assert (e.predict(X) == labels).all()
    assert 0 <= a.objective < 1e-300
    assert a.lower == 0
    assert "makes no error" in a.verdict


def test_perceptron_on_overlapping_classes_cannot():
    e = fitted(Perceptron())
    a = cc.certify(e, X, y)
    m = margins(e)
    assert m.mean() > 0
    assert a.objective == pytest.approx(np.maximum(0.0, -m / m.mean()).sum(), rel=1e-10)
    assert f"{(m <= 0).sum()} of 60 samples are not on their side" in a.verdict
    assert any("no hyperplane separates" in f for f in a.findings)


def test_perceptron_stopped_early_is_told_that_a_hyperplane_exists():
    labels = (X[:, 0] > 0.05).astype(int)
    e = fitted(Perceptron(max_iter=1, random_state=3), y=labels)
    assert (e.predict(X) != labels).any()
    a = cc.certify(e, X, labels)
    assert any("a hyperplane without errors exists" in f for f in a.findings)
    assert a.suboptimality > 0


def test_ridge_and_its_classifier():
    target = X @ [1.0, -2.0, 0.5, 0.0] + y
    e = fitted(Ridge(alpha=3.0), y=target, sample_weight=WEIGHTS)
    a = cc.certify(e, X, target, sample_weight=WEIGHTS)
    residual = X @ e.coef_ + e.intercept_ - target
    assert a.objective == pytest.approx(0.5 * WEIGHTS @ residual**2 + 1.5 * (e.coef_**2).sum(), rel=1e-12)
    assert a.relative_suboptimality < 1e-12
    e = fitted(RidgeClassifier(alpha=2.0, class_weight="balanced"))
    a = cc.certify(e, X, y)
    weights = (60 / (2 * np.bincount(y)))[y]
    residual = X @ np.ravel(e.coef_) + e.intercept_ - SIGNS
    assert a.objective == pytest.approx(0.5 * weights @ residual**2 + (e.coef_**2).sum(), rel=1e-12)
    assert a.relative_suboptimality < 1e-12
    assert "targets -1 and +1" in a.named


@pytest.mark.parametrize("positive", [False, True])
def test_linear_regression(positive):
    target = X @ [1.0, -2.0, 0.5, 0.0] + y
    e = fitted(LinearRegression(positive=positive), y=target)
    a = cc.certify(e, X, target)
    assert a.objective == pytest.approx(0.5 * ((X @ e.coef_ + e.intercept_ - target) ** 2).sum(), rel=1e-12)
    assert a.relative_suboptimality < 1e-12
    assert not a.findings


def test_linear_regression_of_nearly_dependent_columns_is_found_out():
    noise = np.random.default_rng(5).normal(size=60)
    wide = np.column_stack([X, X[:, 0] + 2.0**-24 * noise])
    target = 2.0**24 * (wide[:, 4] - wide[:, 0])
    e = fitted(LinearRegression(), X=wide, y=target)
    a = cc.certify(e, wide, target)
    assert any("rank 4 of 5" in f for f in a.findings)
    assert any("above the optimum" in f for f in a.findings)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("labels", [y, THREE])
def test_linear_discriminant_analysis_is_fishers(solver, labels):
    e = fitted(LinearDiscriminantAnalysis(solver=solver), y=labels)
    a = cc.certify(e, X, labels)
    classes = np.unique(labels)
    means = np.array([X[labels == c].mean(axis=0) for c in classes])
    scatter = sum((X[labels == c] - m).T @ (X[labels == c] - m) for c, m in zip(classes, means, strict=True))
    M = means[1:] - means[0]
    value = 0.5 * np.trace(np.linalg.inv(M @ np.linalg.solve(scatter, M.T)))
    assert a.objective == pytest.approx(value, rel=1e-10)
    assert a.relative_suboptimality < 1e-11
    assert "divided by n" in a.named
    assert not a.findings


@pytest.mark.parametrize("options", [{"shrinkage": 0.3}, {"shrinkage": "auto"}, {"priors": [0.2, 0.8]}])
def test_linear_discriminant_analysis_with_its_own_covariance(options):
    e = fitted(LinearDiscriminantAnalysis(solver="lsqr", **options))
    a = cc.certify(e, X, y)
    difference = e.means_[1] - e.means_[0]
    assert a.objective == pytest.approx(0.5 / (difference @ np.linalg.solve(e.covariance_, difference)), rel=1e-10)
    assert a.relative_suboptimality < 1e-11
    assert "covariance_" in a.named
    assert not a.findings


# ---- statsmodels, and a bare pair ----------------------------------------------------------------------------------


def test_statsmodels_logit_and_glm():
    sm = pytest.importorskip("statsmodels.api")
    design = sm.add_constant(X)
    for result in (sm.Logit(y, design).fit(disp=0), sm.GLM(y, design, family=sm.families.Binomial()).fit()):
        a = cc.certify(result, design, y)
        assert a.objective == pytest.approx(-result.llf, rel=1e-12)
        assert a.relative_suboptimality < 1e-10
        assert "column 0 of X" in a.named
        with pytest.raises(ValueError, match="no implicit intercept"):
            cc.certify(result, X, y)


def test_statsmodels_weights_penalties_and_other_models():
    sm = pytest.importorskip("statsmodels.api")
    result = sm.GLM(y, X, family=sm.families.Binomial(), freq_weights=WEIGHTS).fit()
    a = cc.certify(result, X, y)
    assert a.objective == pytest.approx(WEIGHTS @ logistic(SIGNS * (X @ result.params)), rel=1e-12)
    assert a.relative_suboptimality < 1e-10
    assert any("no constant column" in f for f in a.findings)
    result = sm.Logit(y, X).fit_regularized(alpha=2.0, disp=0)
    a = cc.certify(result, X, y)
    value = logistic(SIGNS * (X @ result.params)).sum() + 2.0 * np.abs(result.params).sum()
    assert a.objective == pytest.approx(value, rel=1e-12)
    assert a.relative_suboptimality < 1e-6
    with pytest.raises(TypeError, match="Binomial"):
        cc.certify(sm.GLM(y, X).fit(), X, y)
    with pytest.raises(TypeError, match="does not know"):
        cc.certify(sm.OLS(y, X).fit(), X, y)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("soft-margin", {"C": 0.3}),
        ("soft-margin", {"C": 0.3, "loss": "squared_hinge"}),
        ("logistic", {"l2": 0.5}),
        ("least-squares", {"coding": "01"}),
        ("least-absolute", {}),
        ("perceptron", {}),
        ("empirical-risk", {"loss": "hinge", "l1": 1.0, "l2": 0.5}),
        ("softmax", {}),
        ("fisher", {}),
    ],
)
def test_a_bare_pair(model, parameters):
    labels = THREE if model == "softmax" else y
    s = cc.models.by_kind()[model](X, labels, **parameters).solve(tol=1e-10)
    pair = (s.coef, None if model == "fisher" else s.intercept)
    a = cc.certify(pair, X, labels, model=model, **parameters)
    assert a.objective == pytest.approx(s.objective, rel=1e-9)
    assert a.relative_suboptimality < 1e-8
    assert a.kkt.worst < 1e-6
    worse = cc.certify((1.5 * np.roll(s.coef, 1), pair[1]), X, labels, model=model, **parameters)
    assert worse.suboptimality_at_least > 1e-3 * a.objective


def test_a_bare_hard_margin_that_violates_its_constraints():
    labels = X[:, 0] > 0
    s = cc.HardMarginSVM(X, labels).solve()
    a = cc.certify((s.coef, s.intercept), X, labels, model="hard-margin")
    assert a.relative_suboptimality < 1e-9
    bad = cc.certify((0.9 * s.coef, 0.9 * s.intercept), X, labels, model="hard-margin")
    assert bad.kkt.primal_feasibility.max == pytest.approx(0.1, rel=1e-6)
    assert bad.verdict.startswith("violates its constraints by up to 0.1 (margin[")
    assert "1.11111 times it does not" in bad.verdict
    for level in ("float", "rigorous", "exact"):
        worse = cc.certify((0.01 * s.coef[::-1], 0.0), X, labels, model="hard-margin", level=level)
        assert worse.verdict.startswith("violates its constraints")
        assert worse.suboptimality == np.inf  # though its coef is shorter than the best


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), LinearSVC(loss="hinge"), SGDClassifier(random_state=0), SVC(kernel="linear")]
)
def test_the_objective_is_that_of_the_fit_not_of_a_better_point(estimator):
    """Bounds look at multiples of a point, too: a fit turned round is worse than no fit at all."""
    e = fitted(estimator)
    turned = (-10.0 * e.coef_[0], e.intercept_[0])
    if isinstance(e, SVC):
        a = cc.certify(turned, X, y, model="soft-margin", C=1.0)
    else:
        e.coef_ = -10.0 * e.coef_
        a = cc.certify(e, X, y)
    assert a.objective == pytest.approx(a.kkt.objective, rel=1e-10)
    assert a.suboptimality > 100.0


def test_a_kernel_fit_scaled_down_is_judged_as_it_is():
    """On separable classes a multiple of the classifier would do."""
    labels = X[:, 0] > 0
    e = SVC(C=1e6).fit(X, labels)
    before = cc.certify(e, X, labels)
    e._dual_coef_, e.dual_coef_ = 0.1 * e._dual_coef_, 0.1 * e.dual_coef_
    after = cc.certify(e, X, labels)
    assert after.objective > 1000 * before.objective


def test_at_the_exact_level_the_optimum_is_exact():
    for e, problem in (
        (fitted(SVC(kernel="linear")), cc.SoftMarginSVM(X, y)),
        (fitted(LogisticRegression(C=0.5)), cc.LogisticMLE(X, y, l2=2.0)),
    ):
        a, truth = cc.certify(e, X, y, level="exact"), problem.solve(level="exact").certificate
        assert a.level == "exact"
        assert a.bound_by == "the optimum in exact arithmetic"
        assert a.lower <= truth.lower <= truth.upper <= a.upper
        assert a.upper <= np.nextafter(np.nextafter(a.lower, np.inf), np.inf)
    shrunk = cc.certify(fitted(LogisticRegression(l1_ratio=0.5, solver="saga", max_iter=5000)), X, y, level="exact")
    assert shrunk.level == "rigorous"
    assert any("not proved in exact arithmetic" in f for f in shrunk.findings)


# ---- several programs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_svc_of_several_classes_is_one_program_for_each_pair(kernel):
    e = fitted(
        SVC(kernel=kernel, C=0.5, class_weight={"a": 1.0, "b": 2.0, "c": 1.5}, decision_function_shape="ovo"), y=THREE
    )
    found = cc.certify(e, X, THREE)
    assert [a.subject for a in found] == ["a against b", "a against c", "b against c"]
    decisions = e.decision_function(X)
    cost = dict(zip("abc", (1.0, 2.0, 1.5), strict=True))
    for p, a in enumerate(found):
        first, _, second = a.subject.split()
        rows = np.isin(THREE, [first, second])
        signs = np.where(THREE[rows] == first, 1.0, -1.0)
        losses = hinge(signs * decisions[rows, p])
        costs = 0.5 * np.array([cost[c] for c in THREE[rows]])
        if kernel == "linear":
            norm = 0.5 * (e.coef_[p] ** 2).sum()
            assert a.objective == pytest.approx(norm + costs @ losses, rel=1e-10)
        assert a.relative_suboptimality < 1e-2
        assert a.upper <= a.objective
    assert found.suboptimality == pytest.approx(sum(a.suboptimality for a in found), rel=1e-9)
    assert "3 programs" in repr(found)
    assert "b against c" in found.explain()


@pytest.mark.parametrize(
    "estimator", [LinearSVC(C=0.1), SGDClassifier(random_state=0), Perceptron(), RidgeClassifier()]
)
def test_one_class_against_the_rest(estimator):
    estimator.set_params(class_weight={"a": 1.0, "b": 3.0, "c": 1.0})
    e = fitted(estimator, y=THREE)
    found = cc.certify(e, X, THREE)
    assert len(found) == 3
    assert found[1].subject == "b against the rest"
    assert found.lower <= found.objective


def test_class_weights_of_one_class_against_the_rest_do_not_weigh_the_rest():
    """liblinear weighs the class, not the rest: with a tight tolerance the fit is optimal for that program alone."""
    e = fitted(LinearSVC(C=0.1, class_weight={"a": 1.0, "b": 3.0, "c": 1.0}, tol=1e-10, max_iter=100_000), y=THREE)
    assert cc.certify(e, X, THREE).relative_suboptimality < 1e-9


def test_several_targets():
    targets = np.column_stack([y, X[:, 0]])
    found = cc.certify(fitted(Ridge(alpha=[1.0, 4.0]), y=targets), X, targets)
    assert [a.subject for a in found] == ["target 0", "target 1"]
    assert found.relative_suboptimality < 1e-12


# ---- tampering -----------------------------------------------------------------------------------------------------


def test_a_multiplier_above_C_is_counted():
    e = fitted(SVC(kernel="linear"))
    count = e.support_.size
    e.dual_coef_ = e.dual_coef_.copy()
    e.dual_coef_[0, :3] *= 4.0
    a = cc.certify(e, X, y)
    assert f"of {count} multipliers exceed C" in a.verdict
    assert any("dual_coef_" in f and "sum_i dual_coef_i x_i" in f for f in a.findings)
    assert a.suboptimality > 1e-2


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_negative_multiplier_is_counted(kernel):
    e = fitted(SVC(kernel=kernel))
    e.dual_coef_ = e.dual_coef_.copy()
    e.dual_coef_[0, 0] *= -1.0
    a = cc.certify(e, X, y)
    assert "multipliers are negative" in a.verdict
    assert "must balance" in a.verdict


def test_other_support_vectors_break_the_relation():
    e = fitted(SVC(kernel="linear"))
    e.support_vectors_ = 1.1 * e.support_vectors_
    a = cc.certify(e, X, y)
    text = " ".join(a.findings)
    assert "support_vectors_ are not the rows support_ of X" in text
    assert "coef_ is not sum_i dual_coef_i x_i" in text


def test_a_changed_intercept_is_named():
    e = fitted(SVC())
    e.intercept_ = e.intercept_ + 0.5
    a = cc.certify(e, X, y)
    assert any("predict() uses" in f for f in a.findings)
    assert a.suboptimality_at_least > 1e-3


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LogisticRegression(solver="liblinear"),
        LinearSVC(C=0.1),
        Ridge(),
        RidgeClassifier(),
        LinearRegression(),
        LinearDiscriminantAnalysis(),
        LogisticRegression(l1_ratio=1.0, solver="liblinear"),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("feature", [0, 3])
def test_a_changed_coefficient_is_named(estimator, feature):
    e = fitted(estimator)
    before = cc.certify(e, X, y)
    assert not any("more than the stopping rule explains" in f for f in before.findings)
    coef = np.atleast_2d(e.coef_).copy()
    coef[0, feature] += 0.3
    e.coef_ = coef.reshape(np.shape(e.coef_))
    after = cc.certify(e, X, y)
    assert after.suboptimality_at_least > 10 * before.suboptimality
    assert any("more than the stopping rule explains" in f for f in after.findings)
    if not isinstance(e, LinearDiscriminantAnalysis):  # there the scale of all entries changes, too
        assert any(f"coef[{feature}] is" in f for f in after.findings)


def test_discriminant_means_intercept_and_length_are_checked():
    e = fitted(LinearDiscriminantAnalysis())
    e.intercept_ = e.intercept_ + 0.1
    assert any("halfway between the means" in f for f in cc.certify(e, X, y).findings)
    e = fitted(LinearDiscriminantAnalysis())
    e.coef_ = 2.0 * e.coef_
    assert any("neither n = 60 nor n - K = 58" in f for f in cc.certify(e, X, y).findings)
    e = fitted(LinearDiscriminantAnalysis(), y=THREE)
    e.means_ = e.means_ + 0.1
    assert any("means_ are not" in f for f in cc.certify(e, X, THREE).findings)
    e = fitted(LinearDiscriminantAnalysis(), y=THREE)
    e.intercept_ = e.intercept_ + np.array([0.1, 0.0, 0.0])
    assert any("halfway between the means" in f for f in cc.certify(e, X, THREE).findings)


def test_an_unbiased_covariance_is_named():
    e = fitted(LinearDiscriminantAnalysis())
    e.coef_ = e.coef_ * (58 / 60)
    a = cc.certify(e, X, y)
    assert "n - K (unbiased), 58" in a.named


def test_other_data_than_those_of_the_fit():
    e = fitted(LogisticRegression())
    a = cc.certify(e, X[:, ::-1], y)
    assert any("are not those of the fit" in f for f in a.findings)


# ---- what may be off -----------------------------------------------------------------------------------------------


def test_the_likelihood_of_separated_classes_has_no_maximum():
    labels = (X[:, 0] > 0).astype(int)
    a = cc.certify(fitted(LogisticRegression(C=np.inf), y=labels), X, labels)
    assert "no minimiser" in a.verdict
    assert any("does not exist" in f for f in a.findings)
    assert a.proof.status == "unattained"


def test_too_few_iterations_are_named():
    for e in (LogisticRegression(max_iter=2), SVC(max_iter=3), LinearSVC(loss="hinge", C=100.0, max_iter=5)):
        a = cc.certify(fitted(e), X, y)
        assert any("max_iter" in f for f in a.findings), type(e)
        assert a.suboptimality > 0


def test_single_precision_is_named():
    small = X.astype(np.float32)
    for e in (LogisticRegression(), SVC()):
        a = cc.certify(fitted(e, X=small), small, y)
        assert any("single precision" in f for f in a.findings)
    e = fitted(LogisticRegression(), X=small)
    assert any("rounded copy of X" in f for f in cc.certify(e, X, y).findings)


def test_sparse_samples_and_text_labels():
    labels = np.where(y == 1, "spam", "ham")
    table = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    for e in (
        SVC(kernel="linear"),
        SVC(),
        LinearSVC(),
        LogisticRegression(),
        SGDClassifier(random_state=0),
        RidgeClassifier(),
    ):
        dense = cc.certify(fitted(e, X=table.toarray(), y=labels), table.toarray(), labels)
        a = cc.certify(fitted(e, X=table, y=labels), table, labels)
        assert a.lower == pytest.approx(dense.lower, rel=1e-6)


def test_nothing_is_modified():
    e = fitted(SVC(kernel="linear"))
    before = {k: np.array(v) for k, v in vars(e).items() if isinstance(v, np.ndarray)}
    given = X.copy()
    a = cc.certify(e, given, y)
    assert np.array_equal(given, X)
    assert all(np.array_equal(v, getattr(e, k)) for k, v in before.items())
    with pytest.raises(ValueError, match="read-only"):
        a.point[0] = 1.0
    with pytest.raises(AttributeError):
        a.objective = 0.0


def test_a_loss_that_may_be_negative_has_no_bound_of_zero():
    """|u| - 5 has a minimum below 0: neither 0 nor a box from a loss above 0 may be used."""
    loss = cc.losses.PiecewiseLinear(((1.0, -6.0), (-1.0, -4.0)))
    s = cc.EmpiricalRisk(X, y, loss=loss, l1=0.5).solve(tol=1e-10)
    a = cc.certify((s.coef, s.intercept), X, y, model="empirical-risk", loss=loss, l1=0.5)
    assert s.objective < -100
    assert a.lower <= s.objective * (1 - 1e-12)
    assert a.objective == pytest.approx(s.objective, rel=1e-9)


# ---- words ---------------------------------------------------------------------------------------------------------


def test_explain_is_a_paragraph_a_table_and_the_samples_that_matter():
    e = fitted(SVC(kernel="linear"))
    a = cc.certify(e, X, y)
    text = a.explain()
    assert "weak duality" in text
    for condition in (
        "stationarity",
        "primal feasibility",
        "dual feasibility",
        "complementary slackness",
        "duality gap",
    ):
        assert condition in text
    held = np.flatnonzero(a.multipliers["margin"] > 0)
    assert f"Samples that hold the answer: {held.size} of 60" in text
    assert a.verdict in text
    assert a.verdict.startswith("within ")
    assert "SVC" in repr(a)
    assert a.verdict in a._repr_html_()


def test_a_fit_without_constraints_names_the_largest_losses():
    e = fitted(LogisticRegression())
    worst = int(np.argmax(logistic(margins(e))))
    assert f"Samples with the largest losses: {worst} (" in cc.certify(e, X, y).explain()


# ---- bad input -----------------------------------------------------------------------------------------------------


def test_unfitted_estimators_and_wrong_shapes():
    for e in (SVC(), LinearSVC(), LogisticRegression(), Ridge(), LinearDiscriminantAnalysis(), Perceptron()):
        with pytest.raises(ValueError, match="fit it before"):
            cc.certify(e, X, y)
    e = fitted(LogisticRegression())
    with pytest.raises(ValueError, match="3 columns"):
        cc.certify(e, X[:, :3], y)
    with pytest.raises(ValueError, match="59 entries"):
        cc.certify(e, X, y[:-1])
    with pytest.raises(ValueError, match="labels a, b, c"):
        cc.certify(e, X, THREE)
    with pytest.raises(ValueError, match="sample_weight"):
        cc.certify(e, X, y, sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="rows"):
        cc.certify(fitted(SVC()), X[:5], [0, 1, 0, 1, 1])
    with pytest.raises(ValueError, match="level"):
        cc.certify(e, X, y, level="certain")
    e.coef_ = np.full_like(e.coef_, np.nan)
    with pytest.raises(ValueError, match="coef_"):
        cc.certify(e, X, y)


def test_what_is_not_known_lists_what_is():
    from sklearn.model_selection import GridSearchCV
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline

    with pytest.raises(TypeError, match="LinearDiscriminantAnalysis"):
        cc.certify(GaussianNB().fit(X, y), X, y)
    with pytest.raises(TypeError, match="last step"):
        cc.certify(make_pipeline(SVC()).fit(X, y), X, y)
    with pytest.raises(TypeError, match="best_estimator_"):
        cc.certify(GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, y), X, y)
    with pytest.raises(TypeError, match="soft-margin"):
        cc.certify((np.zeros(4), 0.0), X, y)
    with pytest.raises(TypeError, match="model="):
        cc.certify((np.zeros(4), 0.0), X, y, model="forest")
    with pytest.raises(TypeError, match="bare pair"):
        cc.certify(fitted(SVC()), X, y, C=2.0)
    with pytest.raises(ValueError, match="coef has 3 entries"):
        cc.certify((np.zeros(3), 0.0), X, y, model="soft-margin", C=1.0)
    with pytest.raises(ValueError, match="crammer_singer"):
        cc.certify(fitted(LinearSVC(multi_class="crammer_singer")), X, y)
    with pytest.raises(ValueError, match="modified_huber"):
        cc.certify(fitted(SGDClassifier(loss="modified_huber")), X, y)


def test_a_subclass_is_known_by_its_base():
    class Mine(LogisticRegression):
        pass

    a = cc.certify(fitted(Mine()), X, y)
    assert "Mine solves logistic regression" in a.named


def test_import_does_not_load_scikit_learn():
    code = "import sys, convexcls as cc; cc.certify; print('sklearn' in sys.modules, 'statsmodels' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("factor", [0.5, 0.9])
def test_a_rescaled_hard_margin_is_told_from_the_multiple_that_is_feasible(factor):
    X, y = [[0.0, 0.0], [2.0, 0.0]], [0, 1]
    short = cc.certify(([factor, 0.0], -factor), X, y, model="hard-margin")
    assert short.stretch == pytest.approx(1 / factor)
    assert short.distance is None
    assert short.certificate.x.tolist() == [factor, 0.0, -factor]
    assert (short.certificate.status, short.certificate.bounds) == ("undecided", None)
    said = short.explain()
    assert f"at {1 / factor:.6g} times them, which do not, the objective of this program is 0.5" in said
    assert "At the fitted parameters the objective" not in said
    assert "coef is within" not in said
    right = cc.certify(([1.0, 0.0], -1.0), X, y, model="hard-margin")
    assert right.stretch == 1.0
    assert "At the fitted parameters the objective of this program is 0.5" in right.explain()
