"""Descent as the books write it, against a few lines from the formulas: Armijo's rule, exact line search, Newton's
method without a guard, iteratively reweighted least squares."""

from itertools import pairwise

import numpy as np
import pytest
from datasets import overlapping
from scipy.optimize import minimize_scalar
from scipy.special import expit

import convexcls as cc

X, Y = overlapping(40, 2)
DESIGN = np.column_stack([X, np.ones(len(Y))])
SIGNS = np.where(Y == 1, 1.0, -1.0)


def likelihood(theta):
    """-log-likelihood with y in {0, 1}, and its gradient X'(p - y)."""
    score = DESIGN @ theta
    return np.sum(np.logaddexp(0.0, score) - Y * score), DESIGN.T @ (expit(score) - Y)


def squares(theta):
    """1/2 ‖X theta - y‖² with y in {-1, 1}, and its gradient."""
    residual = DESIGN @ theta - SIGNS
    return 0.5 * residual @ residual, DESIGN.T @ residual


PROBLEMS = {"logistic": (cc.LogisticMLE(X, Y), likelihood), "squares": (cc.LeastSquares(X, Y), squares)}


def theta_of(values):
    return np.array([*values["coef"], values["intercept"]])


# ---- Armijo -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("options", [{}, {"eta0": 0.3, "beta": 0.7, "armijo": 0.2}, {"eta0": 1e-3}])
def test_armijo_takes_the_first_of_the_steps_that_is_accepted(name, options):
    problem, f = PROBLEMS[name]
    eta0, beta, share = options.get("eta0", 1.0), options.get("beta", 0.5), options.get("armijo", 0.5)
    theta, steps, objectives = np.zeros(3), [], []
    for _ in range(9):  # further on, rounding decides what is a decrease
        value, g = f(theta)
        eta = eta0
        while f(theta - eta * g)[0] > value - share * eta * g @ g:
            eta *= beta
        theta = theta - eta * g
        steps.append(eta)
        objectives.append(value)
    points = []
    s = problem.solve("gradient", max_iter=10, callback=lambda line: points.append(line.point), **options)
    assert [line.step for line in s.trace[1:]] == pytest.approx(steps, rel=1e-12)
    assert [line.objective for line in s.trace[:-1]] == pytest.approx(objectives, rel=1e-12)
    np.testing.assert_allclose(points[-1], theta, rtol=1e-11)
    assert max(line.step for line in s.trace) <= eta0


def test_no_step_is_longer_than_eta0_though_longer_ones_would_do():
    problem = cc.LogisticMLE([[0.5], [0.25], [1.0]], [0, 1, 1], intercept=False)
    s = problem.solve("gradient", eta0=0.25, max_iter=50)
    assert {line.step for line in s.trace} == {0.25}


def test_steps_are_in_the_units_of_the_data():
    """Columns in other units give other steps, as they do on paper."""
    wide = cc.LeastSquares(X * [4.0, 1.0], Y).solve("gradient", max_iter=3)
    theta, D = np.zeros(3), DESIGN * [4.0, 1.0, 1.0]
    for line in wide.trace[1:]:
        theta = theta - line.step * D.T @ (D @ theta - SIGNS)
        assert line.objective == pytest.approx(0.5 * np.sum((D @ theta - SIGNS) ** 2), rel=1e-12)


def test_what_would_take_too_long_is_refused_with_a_remedy():
    with pytest.raises(cc.SolverRefused, match="raise eta0"):
        cc.LogisticMLE(X, Y).solve("gradient", eta0=1e-9)
    with pytest.raises(cc.SolverRefused, match="standardise X"):
        cc.LogisticMLE(X * [1e4, 1.0], Y).solve("gradient")
    with pytest.raises(ValueError, match=r"option armijo of solver 'gradient' is 1\.5: it must lie between 0 and 1"):
        cc.LogisticMLE(X, Y).solve("gradient", armijo=1.5)


# ---- exact line search ----------------------------------------------------------------------------------------------


def test_exact_steps_of_a_quadratic_are_given_by_a_formula():
    s = PROBLEMS["squares"][0].solve("gradient", step="exact", max_iter=12)
    theta = np.zeros(3)
    for line in s.trace[1:]:
        g = squares(theta)[1]
        eta = g @ g / np.sum((DESIGN @ g) ** 2)
        assert line.step == pytest.approx(eta, rel=1e-9)
        theta = theta - eta * g
        assert line.objective == pytest.approx(squares(theta)[0], rel=1e-11)


def test_exact_steps_minimise_along_the_line():
    points = []
    s = PROBLEMS["logistic"][0].solve("gradient", step="exact", max_iter=8, callback=lambda k: points.append(k.point))
    for line, before, after in zip(s.trace[1:], points, points[1:], strict=False):
        g = likelihood(before)[1]
        along = minimize_scalar(lambda eta, x=before, d=g: likelihood(x - eta * d)[0], bracket=(0.0, 1.0))
        assert line.objective <= along.fun + 1e-12
        assert line.step == pytest.approx(along.x, rel=1e-5)  # a minimum of doubles is known to half their digits
        # at right angles to the next gradient
        assert abs(likelihood(after)[1] @ g) <= 1e-9 * (g @ g)


def test_a_line_without_a_minimum_is_said_to_be_one():
    s = cc.LogisticMLE([[1.0], [2.0]], [0, 1], intercept=False).solve("gradient", step="exact")
    assert s.status == "optimal"
    away = cc.LogisticMLE([[-1.0], [2.0]], [0, 1], intercept=False).solve("gradient", step="exact")
    assert away.status == "unattained"


# ---- Newton without a guard ------------------------------------------------------------------------------------------


def test_newton_without_a_guard_takes_every_step_whole():
    theta, values = np.array([0.5, -0.5, 0.5]), []
    start = {"coef": theta[:2], "intercept": theta[2]}
    for _ in range(6):
        value, g = likelihood(theta)
        values.append(value)
        p = expit(DESIGN @ theta)
        theta = theta - np.linalg.solve(DESIGN.T @ ((p * (1 - p))[:, None] * DESIGN), g)
    s = PROBLEMS["logistic"][0].solve("newton", guard=False, start=start)
    assert [line.objective for line in s.trace[:6]] == pytest.approx(values, rel=1e-9)
    assert s.status == "optimal"


@pytest.mark.parametrize("begin", [1.0, 3.0])
def test_newton_without_a_guard_may_diverge_and_says_so(begin):
    """Of log(1 + e^-t) + log(1 + e^t) the step is -sinh(t): from |t| above 2.177 it overshoots more each time."""
    problem = cc.LogisticMLE([[1.0], [1.0]], [0, 1], intercept=False)
    s, guarded = (problem.solve("newton", start={"coef": [begin]}, guard=guard) for guard in (False, True))
    t = begin
    for line in s.trace[:3]:
        assert line.objective == pytest.approx(np.logaddexp(0, t) + np.logaddexp(0, -t), rel=1e-9)
        t -= np.sinh(t)
    assert guarded.status == "optimal"
    assert s.status == ("optimal" if begin < 2.177 else "undecided")
    if begin > 2.177:
        assert "diverged: after 3 steps the Hessian vanishes" in s.message
        assert s.trace[-1].objective > s.trace[0].objective


def test_newton_without_a_guard_has_the_exact_hessian():
    with pytest.raises(ValueError, match="takes the exact Hessian"):
        PROBLEMS["logistic"][0].solve("newton", guard=False, hessian="free")


# ---- iteratively reweighted least squares ---------------------------------------------------------------------------


@pytest.mark.parametrize("l2", [0.0, 1.5])
@pytest.mark.parametrize("weights", [None, 0.5 + np.arange(40) % 3])
def test_irls_is_the_weighted_fit_of_the_adjusted_response(l2, weights):
    c = np.ones(40) if weights is None else weights
    s = cc.LogisticMLE(X, Y, l2=l2, sample_weight=weights).solve("irls")
    theta = np.zeros(3)
    for line in s.trace:
        p = expit(DESIGN @ theta)
        W = np.diag(c * p * (1 - p))
        z = DESIGN @ theta + (Y - p) / (p * (1 - p))
        np.testing.assert_allclose(line.detail["theta"], theta, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(line.detail["p"], p, rtol=1e-9)
        np.testing.assert_allclose(line.detail["W"], np.diag(W), rtol=1e-9)
        np.testing.assert_allclose(line.detail["z"], z, rtol=1e-8, atol=1e-10)
        penalty = np.diag([l2, l2, 0.0])
        theta = np.linalg.solve(DESIGN.T @ W @ DESIGN + penalty, DESIGN.T @ W @ z)
    assert s.status == "optimal"
    np.testing.assert_allclose(theta, [*s.coef, s.intercept], rtol=1e-12, atol=1e-13)
    assert s.objective == pytest.approx(cc.LogisticMLE(X, Y, l2=l2, sample_weight=weights).solve().objective, rel=1e-13)


def test_irls_without_intercept_on_sparse_rows_and_from_a_start():
    from scipy import sparse

    dense, thin = (cc.LogisticMLE(form, Y, intercept=False).solve("irls") for form in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.coef, thin.coef, rtol=1e-12)
    again = cc.LogisticMLE(X, Y, intercept=False).solve("irls", start=dense)
    assert again.iterations <= 1


def test_irls_diverges_and_runs_away_as_newton_without_a_guard():
    problem = cc.LogisticMLE([[1.0], [1.0]], [0, 1], intercept=False)
    s = problem.solve("irls", start={"coef": [3.0]})
    assert "diverged after 3 steps" in s.message
    assert s.status == "undecided"
    away = cc.LogisticMLE([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).solve("irls", max_iter=20)
    slopes = [line.detail["theta"][0] for line in away.trace]
    assert all(b > a for a, b in pairwise(slopes))
    assert away.status == "unattained"


def test_irls_with_repeated_columns_takes_the_shortest_step():
    s = cc.LogisticMLE(np.column_stack([X, X[:, 0]]), Y).solve("irls")
    best = cc.LogisticMLE(X, Y).solve()
    assert s.objective == pytest.approx(best.objective, rel=1e-12)
    assert s.coef[0] == pytest.approx(s.coef[2], rel=1e-7)


@pytest.mark.parametrize(
    "problem",
    [
        cc.LeastSquares(X, Y),
        cc.EmpiricalRisk(X, Y, loss="exponential", l2=1.0),
        cc.SoftmaxMLE(X, (Y + np.arange(40)) % 3),
        cc.SoftMarginSVM(X, Y),
    ],
)
def test_irls_refuses_what_is_no_logistic_likelihood(problem):
    with pytest.raises(cc.SolverRefused, match="solver 'irls' does not take"):
        problem.solve("irls")
