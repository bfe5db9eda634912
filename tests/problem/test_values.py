"""Gradient, Hessian and Lagrangian beside a few lines from the formulas and beside differences of the objective."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc

X = np.array([[1.0, -2.0], [0.5, 1.0], [3.0, 1.5], [-1.0, 2.0], [2.0, 0.0]])
Y = np.array([-1.0, 1.0, 1.0, -1.0, 1.0])
POINT = np.array([0.3, -0.2, 0.1])


def test_the_logistic_likelihood_is_that_of_the_lecture():
    problem = cc.LogisticMLE(X, Y, l2=0.5)
    Z, t = np.column_stack([X, np.ones(5)]), (Y + 1) / 2  # labels 0 and 1
    p = 1 / (1 + np.exp(-Z @ POINT))
    penalty = 0.5 * np.array([1.0, 1.0, 0.0])
    W = p * (1 - p)
    assert problem.gradient(POINT) == pytest.approx(Z.T @ (p - t) + penalty * POINT)
    assert problem.hessian(POINT) == pytest.approx(Z.T @ (W[:, None] * Z) + np.diag(penalty))


MODELS = {
    "least-squares": lambda: cc.LeastSquares(X, Y, l2=2.0),
    "softmax": lambda: cc.SoftmaxMLE(X, [0, 1, 2, 1, 0], l2=0.1),
    "gaussian": lambda: cc.GaussianMLE(np.vstack([X, 2 * X + 1]), [0, 1] * 5),
    "kernel": lambda: cc.KernelSVM(X, Y, kernel="rbf", C=1.0),
    "widest margin": lambda: cc.MaxMargin(X, Y),
    "dual of logistic": lambda: cc.LogisticMLE(X, Y, l2=0.5).dual(),
}


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_limits_of_differences(name):
    problem = MODELS[name]()
    g = np.random.default_rng(4)
    x = g.uniform(0.2, 0.7, problem.size)
    if name == "gaussian":  # where its matrix is definite
        x = problem.solve().x
    step, way = 1e-5, g.normal(size=problem.size)
    ahead, behind = x + step * way, x - step * way
    slope = (problem.objective(ahead) - problem.objective(behind)) / (2 * step)
    assert problem.gradient(x) @ way == pytest.approx(slope, rel=1e-6, abs=1e-7)
    bend = (problem.gradient(ahead) - problem.gradient(behind)) / (2 * step)
    assert problem.hessian(x) @ way == pytest.approx(bend, rel=1e-5, abs=1e-6)


def test_the_lagrangian_of_the_soft_margin():
    problem = cc.SoftMarginSVM(X, Y, C=2.0)
    g = np.random.default_rng(5)
    coef, b, slack, alpha, mu = g.normal(size=2), 0.4, g.random(5), g.random(5), g.random(5)
    by_hand = coef @ coef / 2 + 2.0 * slack.sum() - alpha @ (Y * (X @ coef + b) - 1 + slack) - mu @ slack
    found = problem.lagrangian({"coef": coef, "intercept": [b], "slack": slack}, {"margin": alpha, "slack_sign": mu})
    assert found == pytest.approx(by_hand, rel=1e-13)


@pytest.mark.parametrize("model", [cc.HardMarginSVM, cc.MaxMargin, lambda X, y: cc.HardMarginSVM(X, y).dual()])
def test_at_a_solution_the_lagrangian_is_the_optimum_and_flat(model):
    X, y = [[0, 0], [1, 0], [3, 3], [4, 2]], [0, 0, 1, 1]
    problem = model(X, y)
    s = problem.solve()
    assert problem.lagrangian(s.x, s.multipliers) == pytest.approx(s.objective, rel=1e-9)
    for way in np.eye(problem.size):  # no other point has a lower one; of a maximum, a higher one
        there = problem.lagrangian(s.x + 1e-3 * way, s.multipliers)
        assert (there - s.objective) * (-1 if problem.sense == "max" else 1) >= -1e-9


def test_a_maximum_is_reported_as_it_is_written():
    dual = cc.HardMarginSVM([[0], [2]], [0, 1]).dual()
    assert dual.objective([0.25, 0.25]) == pytest.approx(0.5 - 0.5 * (0.25 * 2) ** 2)
    assert dual.gradient([0.25, 0.25]) == pytest.approx([1.0, 0.0])
    assert np.all(np.linalg.eigvalsh(dual.hessian([0.25, 0.25])) <= 1e-12)


def test_what_does_not_fit_is_refused():
    problem = cc.HardMarginSVM([[0], [2]], [0, 1])
    with pytest.raises(cc.ProblemError, match=r"the point has to name coef\[1\], intercept\[1\]"):
        problem.objective({"coef": [1.0]})
    with pytest.raises(cc.ProblemError, match="the hard-margin SVM has 2 unknowns"):
        problem.gradient([1.0])
    with pytest.raises(cc.ProblemError, match=r"the multipliers have to name margin\[2\]"):
        problem.lagrangian([1.0, 0.0], {"margin": [1.0]})
