"""Each classifier against its formula in NumPy, and its solution against independent oracles."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import statsmodels.api as sm
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, LinearSVC

import convexcls as cc
from convexcls.losses import BY_NAME, PiecewiseLinear, ZeroOne
from convexcls.models import by_kind
from convexcls.problem import Constraint

pytestmark = pytest.mark.by_block

RNG = np.random.default_rng(20)
N, D = 40, 3
X = RNG.standard_normal((N, D)) * [1.0, 3.0, 0.5] + [0.0, 1.0, -2.0]
TRUTH = X @ [1.0, -0.5, 2.0] + 4.5
Y = np.where(TRUTH + 1.5 * RNG.standard_normal(N) > 0, 1.0, -1.0)
APART = X + np.outer(np.where(TRUTH > 0, 0.6, -0.6), [1.0, -0.5, 2.0])  # separable by the sign of TRUTH
SIDES = np.where(TRUTH > 0, 1.0, -1.0)
REAL = TRUTH + RNG.standard_normal(N)
W = RNG.uniform(0.5, 2.0, N)
assert 15 <= np.sum(Y > 0) <= 25
assert np.sum(SIDES != Y) >= 3

both = pytest.mark.parametrize("intercept", [True, False])
weighted = pytest.mark.parametrize("w", [None, W], ids=["plain", "weighted"])


def ones(w) -> np.ndarray:
    return np.ones(N) if w is None else w


def point(p: cc.Problem, **values) -> np.ndarray:
    """x from its named blocks; ``intercept`` is left out where the model has none."""
    return np.concatenate([np.atleast_1d(values[v.name]) for v in p.variables])


def random_scores(seed: int, intercept: bool, data=X):
    rng = np.random.default_rng(seed)
    coef, b = rng.standard_normal(D), rng.standard_normal() if intercept else 0.0
    return coef, b, data @ coef + b


def close(found, expected, rel=1e-6) -> None:
    """Equal to a relative 1e-6 of the largest entry."""
    found, expected = np.atleast_1d(found), np.atleast_1d(expected)
    assert np.max(np.abs(found - expected)) <= rel * np.max(np.abs(expected)), (found, expected)


def excess(p: cc.Problem, name: str, x: np.ndarray) -> np.ndarray:
    block = next(c for c in p.constraints if c.name == name)
    return p.rows(block) @ x - block.rhs


LOSSES = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0, -m),
    "squared": lambda m: (1 - m) ** 2,
    "absolute": lambda m: np.abs(1 - m),
    "perceptron": lambda m: np.maximum(0, -m),
    "exponential": lambda m: np.exp(-m),
}
SLACK = {  # the least slack that satisfies the rows of a loss with kinks
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m),
    "absolute": lambda m: np.abs(1 - m),
    "perceptron": lambda m: np.maximum(0, -m),
}


# ---- formulas ------------------------------------------------------------------------------------------------


def check_slack(p: cc.Problem, x: np.ndarray) -> None:
    """All slack rows hold, and with each sample one of them holds with equality: there is no less slack. (Squared
    losses need no sign row; at a margin beyond one their least slack is 0 all the same.)"""
    rows = [excess(p, c.name, x) for c in p.constraints if "slack" in c.entries]
    tightest = np.max(rows, axis=0)
    assert np.all(tightest <= 1e-12)
    free = p.split(x)["slack"] == 0 if len(rows) == 1 else np.zeros(N, dtype=bool)
    assert np.all((tightest >= -1e-12) | free)


@both
def test_hard_margin(intercept):
    p = cc.HardMarginSVM(X, Y, intercept=intercept)
    for seed in range(3):
        coef, b, f = random_scores(seed, intercept)
        x = point(p, coef=coef, intercept=b)
        assert p.objective(x) == pytest.approx(0.5 * coef @ coef, rel=1e-14)
        np.testing.assert_allclose(excess(p, "margin", x), 1 - Y * f, rtol=1e-12, atol=1e-12)


@both
def test_max_margin(intercept):
    p = cc.MaxMargin(X, Y, intercept=intercept)
    for seed in range(3):
        coef, b, f = random_scores(seed, intercept)
        x = point(p, coef=coef, intercept=b, distance=0.7)
        assert p.objective(x) == pytest.approx(0.7)
        np.testing.assert_allclose(excess(p, "margin", x), 0.7 - Y * f, rtol=1e-12, atol=1e-12)
        (unit,) = p.norm_bounds
        assert np.array_equal(p.rows(unit) @ x, coef)
        assert unit.bound == 1.0


@both
@weighted
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_soft_margin(loss, intercept, w):
    p = cc.SoftMarginSVM(X, Y, C=2.5, loss=loss, intercept=intercept, sample_weight=w)
    for seed in range(3):
        coef, b, f = random_scores(seed, intercept)
        x = point(p, coef=coef, intercept=b, slack=SLACK[loss](Y * f))
        formula = 0.5 * coef @ coef + 2.5 * ones(w) @ LOSSES[loss](Y * f)
        assert p.objective(x) == pytest.approx(formula, rel=1e-13)
        check_slack(p, x)


@both
@weighted
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_logistic(intercept, w, l2):
    p = cc.LogisticMLE(X, Y, l2=l2, intercept=intercept, sample_weight=w)
    for seed in range(3):
        coef, b, f = random_scores(seed, intercept)
        likelihood = np.where(Y > 0, 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(f)))
        formula = -ones(w) @ np.log(likelihood) + l2 / 2 * coef @ coef
        assert p.objective(point(p, coef=coef, intercept=b)) == pytest.approx(formula, rel=1e-13)


TARGETS = {"pm1": Y, "01": (Y + 1) / 2, "real": REAL}


@both
@weighted
@pytest.mark.parametrize("coding", TARGETS)
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_least_squares(intercept, w, coding, l2):
    p = cc.LeastSquares(X, REAL if coding == "real" else Y, coding=coding, l2=l2, intercept=intercept, sample_weight=w)
    for seed in range(3):
        coef, b, f = random_scores(seed, intercept)
        formula = 0.5 * ones(w) @ (f - TARGETS[coding]) ** 2 + l2 / 2 * coef @ coef
        assert p.objective(point(p, coef=coef, intercept=b)) == pytest.approx(formula, rel=1e-13)
    assert p.threshold == (0.5 if coding == "01" else 0.0)


@both
@weighted
@pytest.mark.parametrize("coding", TARGETS)
def test_least_absolute(intercept, w, coding):
    p = cc.LeastAbsolute(X, REAL if coding == "real" else Y, coding=coding, intercept=intercept, sample_weight=w)
    for seed in range(3):
        coef, b, f = random_scores(seed, intercept)
        x = point(p, coef=coef, intercept=b, slack=np.abs(f - TARGETS[coding]))
        assert p.objective(x) == pytest.approx(ones(w) @ np.abs(f - TARGETS[coding]), rel=1e-13)
        check_slack(p, x)


@both
@weighted
def test_perceptron(intercept, w):
    p = cc.PerceptronCriterion(X, Y, intercept=intercept, sample_weight=w)
    for seed in range(3):
        coef, b, f = random_scores(seed, intercept)
        x = point(p, coef=coef, intercept=b, slack=np.maximum(0, -Y * f))
        wrong = Y * f < 0
        assert p.objective(x) == pytest.approx(-(ones(w) * Y * f)[wrong].sum(), rel=1e-13)
        check_slack(p, x)
        assert excess(p, "normalization", x)[0] == pytest.approx(ones(w) @ (Y * f) - ones(w).sum(), rel=1e-12)


def test_fisher():
    p = cc.FisherLDA(X, Y)
    minus, plus = X[Y < 0], X[Y > 0]
    within = sum((c - c.mean(axis=0)).T @ (c - c.mean(axis=0)) for c in (minus, plus))
    for seed in range(3):
        coef = random_scores(seed, False)[0]
        assert p.objective(coef) == pytest.approx(0.5 * coef @ within @ coef, rel=1e-12)
        assert excess(p, "separation", coef)[0] == pytest.approx((plus.mean(axis=0) - minus.mean(axis=0)) @ coef - 1)


@both
@weighted
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.0, 0.7), (0.4, 0.0), (0.4, 0.7)])
def test_empirical_risk(loss, intercept, w, l1, l2):
    p = cc.EmpiricalRisk(X, Y, loss=loss, l1=l1, l2=l2, intercept=intercept, sample_weight=w)
    for seed in range(2):
        coef, b, f = random_scores(seed, intercept)
        slack = SLACK[loss](Y * f) if loss in SLACK else None
        x = point(p, coef=coef, intercept=b, slack=slack, size=np.abs(coef))
        formula = ones(w) @ LOSSES[loss](Y * f) + l2 / 2 * coef @ coef + l1 * np.abs(coef).sum()
        assert p.objective(x) == pytest.approx(formula, rel=1e-13)
        if loss in SLACK:
            check_slack(p, x)
        if l1:
            assert np.array_equal(excess(p, "size_above", x), coef - np.abs(coef))
            assert np.array_equal(excess(p, "size_below", x), -coef - np.abs(coef))


def test_a_users_own_loss_with_several_pieces():
    lines = ((-1.0, 1.0), (-0.25, 0.5), (0.0, 0.125), (0.1, 0.0))
    loss = PiecewiseLinear(lines)
    p = cc.EmpiricalRisk(X, Y, loss=loss, l2=0.5)
    coef, b, f = random_scores(0, True)
    slack = np.max([a * Y * f + c for a, c in lines], axis=0)
    x = point(p, coef=coef, intercept=b, slack=slack)
    assert p.objective(x) == pytest.approx(slack.sum() + 0.25 * coef @ coef, rel=1e-13)
    check_slack(p, x)
    w, c = cp.Variable(D), cp.Variable()
    m = cp.multiply(Y, X @ w + c)
    goal = cp.sum(cp.maximum(*[a * m + h for a, h in lines])) + 0.25 * cp.sum_squares(w)
    s = p.solve()
    assert s.status == "optimal"
    assert s.objective == pytest.approx(by_cvxpy(goal), rel=1e-8)
    close(s.coef, w.value)


def test_the_losses_by_hand_are_the_losses():
    m = np.linspace(-3, 3, 31)
    for name, formula in LOSSES.items():
        np.testing.assert_allclose(BY_NAME[name].value(m), formula(m), rtol=1e-14, atol=1e-14)
    assert set(LOSSES) == set(BY_NAME)


# ---- solutions: cvxpy by hand ----------------------------------------------------------------------------------


def by_cvxpy(goal, rules=(), maximise=False, tol=1e-9) -> float:
    stated = cp.Problem(cp.Maximize(goal) if maximise else cp.Minimize(goal), list(rules))
    stated.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=1e-9)
    assert stated.status == "optimal"
    return float(stated.value)


def solved(p: cc.Problem) -> cc.Solution:
    s = p.solve()
    assert s.status == "optimal"
    return s


def unknowns(intercept: bool):
    return cp.Variable(D), cp.Variable() if intercept else cp.Constant(0.0)


@both
def test_hard_margin_by_hand(intercept):
    centred = APART if intercept else SIDES[:, None] * np.abs(APART)  # separable through the origin
    w, b = unknowns(intercept)
    s = solved(cc.HardMarginSVM(centred, SIDES, intercept=intercept))
    value = by_cvxpy(0.5 * cp.sum_squares(w), [cp.multiply(SIDES, centred @ w + b) >= 1])
    assert s.objective == pytest.approx(value, rel=1e-8)
    close(s.coef, w.value)
    if intercept:
        close(s.intercept, b.value)
    widest = solved(cc.MaxMargin(centred, SIDES, intercept=intercept))
    distance = cp.Variable()
    rules = [cp.multiply(SIDES, centred @ w + b) >= distance, cp.norm(w) <= 1]
    assert widest.objective == pytest.approx(by_cvxpy(distance, rules, maximise=True), rel=1e-7)
    assert widest.objective == pytest.approx(1 / np.linalg.norm(s.coef), rel=1e-7)
    close(widest.coef, s.coef / np.linalg.norm(s.coef))


@both
@weighted
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_soft_margin_by_hand(loss, intercept, w):
    s = solved(cc.SoftMarginSVM(X, Y, C=0.7, loss=loss, intercept=intercept, sample_weight=w))
    v, b = unknowns(intercept)
    slack = cp.pos(1 - cp.multiply(Y, X @ v + b))
    cost = ones(w) @ (slack if loss == "hinge" else cp.square(slack))
    assert s.objective == pytest.approx(by_cvxpy(0.5 * cp.sum_squares(v) + 0.7 * cost), rel=1e-8)
    close(s.coef, v.value)


@both
@weighted
def test_perceptron_by_hand(intercept, w):
    s = solved(cc.PerceptronCriterion(X, Y, intercept=intercept, sample_weight=w))
    v, b = unknowns(intercept)
    m = cp.multiply(Y, X @ v + b)
    value = by_cvxpy(ones(w) @ cp.pos(-m), [ones(w) @ m == ones(w).sum()])
    assert s.objective == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("l1", [0.0, 0.4])
@pytest.mark.parametrize("loss", LOSSES)
@weighted
def test_empirical_risk_by_hand(loss, l1, w):
    s = solved(cc.EmpiricalRisk(X, Y, loss=loss, l1=l1, l2=0.7, sample_weight=w))
    v, b = unknowns(True)
    m = cp.multiply(Y, X @ v + b)
    values = {
        "hinge": cp.pos(1 - m),
        "squared_hinge": cp.square(cp.pos(1 - m)),
        "logistic": cp.logistic(-m),
        "squared": cp.square(1 - m),
        "absolute": cp.abs(1 - m),
        "perceptron": cp.pos(-m),
        "exponential": cp.exp(-m),
    }[loss]
    goal = ones(w) @ values + 0.35 * cp.sum_squares(v) + l1 * cp.norm1(v)
    value = by_cvxpy(goal, tol=1e-12 if loss in ("logistic", "exponential") else 1e-9)  # curved: coef is the root of it
    assert s.objective == pytest.approx(value, rel=1e-8, abs=1e-8)
    if loss != "perceptron":  # whose best is coef = 0
        close(s.coef, v.value)


def test_constraints_of_a_users_own():
    rule = Constraint("shape", {"coef": [[1.0, 1.0, 1.0]], "intercept": [[1.0]]}, rhs=0.1)
    fixed = Constraint("equal", {"coef": [[1.0, 1.0, 0.0]]}, rhs=0.0, relation="==")
    s = solved(cc.EmpiricalRisk(X, Y, loss="squared", l2=0.1, constraints=[rule, fixed]))
    v, b = unknowns(True)
    goal = cp.sum_squares(1 - cp.multiply(Y, X @ v + b)) + 0.05 * cp.sum_squares(v)
    value = by_cvxpy(goal, [cp.sum(v) + b <= 0.1, v[0] + v[1] == 0])
    assert s.objective == pytest.approx(value, rel=1e-8)
    close(s.coef, v.value)
    assert s.multipliers["shape"][0] > 0


# ---- solutions: scikit-learn and statsmodels -------------------------------------------------------------------


def short(data: np.ndarray) -> np.ndarray:
    """Data of few bits: libsvm keeps the products of samples as floats of single precision, here exactly."""
    return np.round(data * 8) / 8


@weighted
@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
def test_soft_margin_against_libsvm(C, w):
    data = short(X)
    s = solved(cc.SoftMarginSVM(data, Y, C=C, sample_weight=w))
    svc = SVC(kernel="linear", C=C, tol=1e-12).fit(data, Y, sample_weight=w)
    close(s.coef, svc.coef_[0])
    low, high = s.intercept_interval
    assert low - 1e-6 <= svc.intercept_[0] <= high + 1e-6
    assert np.array_equal(s.predict(data), svc.predict(data))


def test_hard_margin_against_libsvm():
    data = short(APART)
    s = solved(cc.HardMarginSVM(data, SIDES))
    svc = SVC(kernel="linear", C=1e8, tol=1e-12).fit(data, SIDES)
    close(s.coef, svc.coef_[0])
    close(s.intercept, svc.intercept_)
    assert np.array_equal(np.sort(svc.support_), s.support)
    close(s.multipliers["margin"][svc.support_] * SIDES[svc.support_], svc.dual_coef_[0])


def test_squared_hinge_against_liblinear():
    s = solved(cc.SoftMarginSVM(X, Y, C=0.7, loss="squared_hinge", intercept=False))
    liblinear = LinearSVC(C=0.7, fit_intercept=False, dual=False, tol=1e-14, max_iter=10_000).fit(X, Y)
    close(s.coef, liblinear.coef_[0])


@both
@weighted
@pytest.mark.parametrize("l2", [0.01, 1.0, 50.0])
def test_logistic_against_scikit_learn(l2, w, intercept):
    s = solved(cc.LogisticMLE(X, Y, l2=l2, intercept=intercept, sample_weight=w))
    other = LogisticRegression(C=1 / l2, fit_intercept=intercept, solver="newton-cholesky", tol=1e-13, max_iter=500)
    other.fit(X, Y, sample_weight=w)
    close(s.coef, other.coef_[0])
    if intercept:
        close(s.intercept, other.intercept_)
    close(s.predict_proba(X), other.predict_proba(X))


@both
def test_logistic_against_statsmodels(intercept):
    s = solved(cc.LogisticMLE(X, Y, intercept=intercept))
    design = sm.add_constant(X) if intercept else X
    fit = sm.Logit((Y + 1) / 2, design).fit(method="newton", tol=1e-14, disp=False)
    close(s.coef, fit.params[-D:])
    assert s.objective == pytest.approx(-fit.llf, rel=1e-10)


@both
@weighted
@pytest.mark.parametrize("coding", TARGETS)
def test_least_squares_against_statsmodels(intercept, w, coding):
    s = solved(cc.LeastSquares(X, REAL if coding == "real" else Y, coding=coding, intercept=intercept, sample_weight=w))
    design = sm.add_constant(X) if intercept else X
    fit = sm.WLS(TARGETS[coding], design, weights=ones(w)).fit()
    close(s.coef, fit.params[-D:], rel=1e-9)
    assert s.objective == pytest.approx(fit.ssr / 2, rel=1e-9)
    if intercept:
        close(s.intercept, fit.params[0], rel=1e-9)


@both
@weighted
@pytest.mark.parametrize("l2", [0.1, 10.0])
def test_ridge_against_scikit_learn(intercept, w, l2):
    s = solved(cc.LeastSquares(X, REAL, coding="real", l2=l2, intercept=intercept, sample_weight=w))
    ridge = Ridge(alpha=l2, fit_intercept=intercept, solver="svd").fit(X, REAL, sample_weight=w)
    close(s.coef, ridge.coef_, rel=1e-9)
    close(s.predict(X), ridge.predict(X), rel=1e-9)


@both
def test_least_absolute_against_statsmodels(intercept):
    s = solved(cc.LeastAbsolute(X, REAL, coding="real", intercept=intercept))
    design = sm.add_constant(X) if intercept else X
    fit = sm.QuantReg(REAL, design).fit(q=0.5, p_tol=1e-13, max_iter=10_000)
    close(s.coef, fit.params[-D:])
    theirs = np.abs(fit.resid).sum()  # by reweighted least squares, which comes close and stays above
    assert theirs * (1 - 1e-6) <= s.objective <= theirs
    residuals = np.abs(X @ s.coef + s.intercept - REAL)
    assert np.sum(residuals < 1e-12) == D + intercept  # a vertex: it passes through as many points as unknowns


def test_fisher_against_scikit_learn_and_least_squares():
    s = solved(cc.FisherLDA(X, Y))
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, Y)
    squares = solved(cc.LeastSquares(X, Y))
    direction = s.coef / np.linalg.norm(s.coef)
    close(direction, lda.coef_[0] / np.linalg.norm(lda.coef_[0]), rel=1e-9)
    close(direction, squares.coef / np.linalg.norm(squares.coef), rel=1e-9)
    minus, plus = X[Y < 0], X[Y > 0]
    within = sum((c - c.mean(axis=0)).T @ (c - c.mean(axis=0)) for c in (minus, plus))
    gap = plus.mean(axis=0) - minus.mean(axis=0)
    assert s.objective == pytest.approx(0.5 / (gap @ np.linalg.solve(within, gap)), rel=1e-9)


def test_the_threshold_of_fisher_makes_the_fewest_errors():
    s = solved(cc.FisherLDA(X, Y))
    along = np.sort(X @ s.coef)
    cuts = np.concatenate([[along[0] - 1], (along[1:] + along[:-1]) / 2, [along[-1] + 1]])
    errors = [np.sum(np.where(X @ s.coef > cut, 1, -1) != Y) for cut in cuts]
    assert np.sum(s.predict(X) != Y) == min(errors)


def test_fisher_of_sparse_data_far_from_the_origin():
    far = X + 1e6
    close(solved(cc.FisherLDA(sparse.csr_array(far), Y)).coef, solved(cc.FisherLDA(far, Y)).coef)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: cc.LeastSquares(X, REAL * 1e200, coding="real"),
        lambda: cc.LogisticMLE(X, Y, sample_weight=np.full(N, 1e308)),
    ],
    ids=["least squares", "weights"],
)
def test_huge_numbers_do_not_warn(declare):
    assert isinstance(declare(), cc.Problem)


# ---- weights, sparse data, labels ------------------------------------------------------------------------------

WEIGHTED = {
    "soft margin": lambda X, y, w: cc.SoftMarginSVM(X, y, C=0.7, sample_weight=w),
    "squared hinge": lambda X, y, w: cc.SoftMarginSVM(X, y, C=0.7, loss="squared_hinge", sample_weight=w),
    "logistic": lambda X, y, w: cc.LogisticMLE(X, y, sample_weight=w),
    "ridge logistic": lambda X, y, w: cc.LogisticMLE(X, y, l2=0.5, sample_weight=w),
    "least squares": lambda X, y, w: cc.LeastSquares(X, y, l2=0.1, sample_weight=w),
    "least squares 01": lambda X, y, w: cc.LeastSquares(X, y, coding="01", sample_weight=w),
    "least absolute": lambda X, y, w: cc.LeastAbsolute(X, y, sample_weight=w),
    "perceptron": lambda X, y, w: cc.PerceptronCriterion(X, y, sample_weight=w),
    "lasso": lambda X, y, w: cc.EmpiricalRisk(X, y, loss="squared", l1=0.5, sample_weight=w),
    "exponential": lambda X, y, w: cc.EmpiricalRisk(X, y, loss="exponential", l2=0.1, sample_weight=w),
}
PLAIN = {
    "hard margin": (lambda X, y: cc.HardMarginSVM(X, y), APART, SIDES),
    "max margin": (lambda X, y: cc.MaxMargin(X, y), APART, SIDES),
    "fisher": (lambda X, y: cc.FisherLDA(X, y), X, Y),
    **{name: ((lambda X, y, make=make: make(X, y, None)), X, Y) for name, make in WEIGHTED.items()},
}
NOT_UNIQUE = ("least absolute", "perceptron")


def same(s: cc.Solution, t: cc.Solution, name: str, rel: float = 1e-6) -> None:
    assert (s.status, t.status) == ("optimal", "optimal")
    assert s.objective == pytest.approx(t.objective, rel=1e-8)
    if name not in NOT_UNIQUE:
        close(s.coef, t.coef, rel)


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weight_of_two_is_a_sample_twice(name):
    twice = np.arange(N) % 3 == 0
    s = WEIGHTED[name](X, Y, 1.0 + twice).solve()
    t = WEIGHTED[name](np.vstack([X, X[twice]]), np.concatenate([Y, Y[twice]]), None).solve()
    same(s, t, name)


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weight_of_zero_is_a_sample_left_out(name):
    kept = np.arange(N) % 4 != 0
    s = WEIGHTED[name](X, Y, kept).solve()
    t = WEIGHTED[name](X[kept], Y[kept], None).solve()
    same(s, t, name)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("name", PLAIN)
def test_sparse_data_give_the_same_answer(name, format):
    make, data, y = PLAIN[name]
    data = np.where(np.abs(data) < 0.3, 0.0, data)
    stored = getattr(sparse, f"{format}_array")(data)
    before = stored.data.tobytes()
    p = make(stored, y)
    assert p.data.sparse or p.data.matrix.is_sparse
    s = p.solve()
    same(s, make(data, y).solve(), name)
    np.testing.assert_allclose(s.decision_function(stored), s.decision_function(data), rtol=1e-12, atol=1e-12)
    assert stored.data.tobytes() == before


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (False, True), (-7.5, 3.25), (b"a", b"b")], ids=repr)
@pytest.mark.parametrize("name", PLAIN)
def test_any_two_labels(name, labels):
    make, data, y = PLAIN[name]
    named = [labels[1] if side > 0 else labels[0] for side in y]
    s, t = make(data, named).solve(), make(data, y).solve()
    same(s, t, name)
    assert s.objective == t.objective
    expected = [labels[1] if side > 0 else labels[0] for side in t.predict(data)]
    assert s.predict(data).tolist() == expected


@pytest.mark.parametrize("name", PLAIN)
def test_the_callers_data_are_untouched(name):
    make, data, y = PLAIN[name]
    mine, labels = data.copy(), y.copy()
    make(mine, labels).solve()
    assert np.array_equal(mine, data)
    assert np.array_equal(labels, y)
    assert mine.flags.writeable
    assert labels.flags.writeable
    p = make(mine, labels)
    assert np.shares_memory(p.data.matrix, mine)


# ---- errors ----------------------------------------------------------------------------------------------------

BAD = {
    "C=0": (lambda: cc.SoftMarginSVM(X, Y, C=0), "C is 0: .*above 0"),
    "C=-1": (lambda: cc.SoftMarginSVM(X, Y, C=-1), "C is -1: .*above 0"),
    "C=nan": (lambda: cc.SoftMarginSVM(X, Y, C=np.nan), "C is nan: .*finite"),
    "C=inf": (lambda: cc.SoftMarginSVM(X, Y, C=np.inf), "C is inf: .*finite"),
    "C=text": (lambda: cc.SoftMarginSVM(X, Y, C="large"), "C is 'large': .*number"),
    "C=None": (lambda: cc.SoftMarginSVM(X, Y, C=None), "C is None: .*number"),
    "l2=-1": (lambda: cc.LogisticMLE(X, Y, l2=-1), "l2 is -1: .*0 or more"),
    "l2=nan": (lambda: cc.LeastSquares(X, Y, l2=np.nan), "l2 is nan: .*finite"),
    "l1=-1": (lambda: cc.EmpiricalRisk(X, Y, l1=-1), "l1 is -1: .*0 or more"),
    "loss of the SVM": (lambda: cc.SoftMarginSVM(X, Y, loss="logistic"), "loss is 'logistic': choose one of 'hinge'"),
    "loss": (lambda: cc.EmpiricalRisk(X, Y, loss="huber"), "loss is 'huber': choose one of .*'logistic'"),
    "coding": (
        lambda: cc.LeastSquares(X, Y, coding="pm2"),
        "coding is 'pm2': choose one of 'pm1', '01', 'counts', 'real'",
    ),
    "coding of absolute": (lambda: cc.LeastAbsolute(X, Y, coding=1), "coding is 1: choose one of"),
    "normalization": (lambda: cc.PerceptronCriterion(X, Y, normalization="unit"), "normalization is 'unit'"),
    "data": (lambda: cc.HardMarginSVM(X[:, 0], Y), "X has 1 dimension"),
    "labels": (lambda: cc.LogisticMLE(X, REAL), "40 distinct labels"),
    "weights": (lambda: cc.LogisticMLE(X, Y, sample_weight=-W), "sample_weight row 0"),
}


@pytest.mark.parametrize(("build", "message"), BAD.values(), ids=BAD)
def test_errors_say_what_to_give_instead(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_the_error_count_cannot_be_minimised():
    with pytest.raises(ValueError, match=r"zero-one loss is not convex.*MistakesDisplay"):
        cc.EmpiricalRisk(X, Y, loss=ZeroOne())


def test_models_by_kind():
    kinds = by_kind()
    assert kinds["hard-margin"] is cc.HardMarginSVM
    assert all(cls.kind == kind for kind, cls in kinds.items())
    assert list(kinds) == sorted(kinds)
    assert cc.SoftMarginSVM(X, Y, C=2).parameters == {"C": 2.0, "loss": "hinge", "intercept": True}


def test_fisher_names_squares_that_overflow():
    with pytest.raises(cc.DataError, match="overflow"):
        cc.FisherLDA(X * 1e200, Y)


def test_what_cannot_be_meant_is_refused_in_words():
    with pytest.raises(ValueError, match="intercept is 'no'"):
        cc.HardMarginSVM(X, Y, intercept="no")
    with pytest.raises(ValueError, match="loss is None"):
        cc.EmpiricalRisk(X, Y, loss=None)
    with pytest.raises(cc.ProblemError, match="there is no variable 'z'; there are coef, intercept"):
        cc.LogisticMLE(X, Y).variable("z")


def test_one_constraint_need_not_be_in_a_list():
    fixed = cc.Constraint("fixed", {"intercept": [[1.0]]}, rhs=0.25, relation="==")
    one, listed = (cc.EmpiricalRisk(X, Y, l2=1.0, constraints=c) for c in (fixed, [fixed]))
    assert one == listed
    assert one.solve().intercept == pytest.approx(0.25)


@pytest.mark.parametrize("solver", ["highs", "interior-point"])
@pytest.mark.parametrize("shape", [(55, 5), (31, 5), (3, 6)])
def test_a_feature_that_repeats_another_is_no_obstacle_to_the_perceptron_criterion(shape, solver):
    """The normalization adds up all samples: rounded differently by column, it would tell the two apart."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape)
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 0, 1, 0)
    y[:2] = 0, 1
    once = cc.PerceptronCriterion(X, y).solve(solver)
    twice = cc.PerceptronCriterion(np.column_stack([X, 4.0 * X[:, 1]]), y).solve(solver)
    assert (once.status, twice.status) == ("optimal", "optimal")
    assert twice.objective == pytest.approx(once.objective, rel=1e-9, abs=1e-9)


def test_the_perceptron_names_sums_that_overflow():
    with pytest.raises(cc.DataError, match="the sums of the features overflow"):
        cc.PerceptronCriterion([[1.7e308], [-1.7e308]], [1, 0])
