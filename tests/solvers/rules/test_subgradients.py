"""Subgradients of losses with kinks, all samples at a time and one at a time, against a few lines from the formulas."""

import numpy as np
import pytest
from datasets import overlapping
from scipy import sparse

import convexcls as cc

X, Y = overlapping(24, 2, seed=3)
SIGNS = np.where(Y == 1, 1.0, -1.0)
#: y_i (x_i, 1)
ROWS = SIGNS[:, None] * np.column_stack([X, np.ones(len(Y))])
COSTS = 0.5 + np.arange(24) % 3
SMALL_ROWS = np.column_stack([X, np.ones(len(Y))])


def hinge(w, rows, c):
    """sum of c max(0, 1 - m) and of its subgradients."""
    m = rows @ w
    return c @ np.maximum(0, 1 - m), -(c * (m <= 1)) @ rows


def squared_hinge(w, rows, c):
    m = rows @ w
    return c @ np.maximum(0, 1 - m) ** 2, -(2 * c * np.maximum(0, 1 - m)) @ rows


def perceptron(w, rows, c):
    m = rows @ w
    return c @ np.maximum(0, -m), -(c * (m <= 0)) @ rows


def soft(loss):
    def declare(X, weights):
        return cc.SoftMarginSVM(X, Y, C=0.7, loss=loss, sample_weight=weights)

    return declare


def risk(loss, l2):
    def declare(X, weights):
        return cc.EmpiricalRisk(X, Y, loss=loss, l2=l2, sample_weight=weights)

    return declare


#: How the problem is declared, the sum of its losses, the factor before it, l2.
CASES = {
    "soft margin": (soft("hinge"), hinge, 0.7, 1.0),
    "squared hinge": (soft("squared_hinge"), squared_hinge, 0.7, 1.0),
    "hinge risk": (risk("hinge", 0.0), hinge, 1.0, 0.0),
    "hinge risk with ridge": (risk("hinge", 2.5), hinge, 1.0, 2.5),
    "perceptron risk": (risk("perceptron", 0.5), perceptron, 1.0, 0.5),
    "perceptron": (
        lambda X, c: cc.PerceptronCriterion(X, Y, normalization=None, sample_weight=c),
        perceptron,
        1.0,
        0.0,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weights", [None, COSTS])
@pytest.mark.parametrize("step", ["root", "decay", "fixed"])
def test_the_subgradient_method_step_by_step(name, weights, step):
    declare, losses, factor, l2 = CASES[name]
    c, penalty = factor * (np.ones(24) if weights is None else weights), l2 * np.array([1.0, 1.0, 0.0])
    points = []
    s = declare(X, weights).solve(
        "subgradient", step=step, eta0=0.01, max_iter=10, callback=lambda line: points.append(line.point[:3])
    )
    w, values = np.zeros(3), []
    for tau in range(1, 11):
        value, g = losses(w, ROWS, c)
        values.append(value + 0.5 * penalty @ w**2)
        np.testing.assert_allclose(points[tau - 1], w, rtol=1e-11, atol=1e-14)
        w = w - 0.01 / {"root": np.sqrt(tau), "decay": tau, "fixed": 1}[step] * (g + penalty * w)
    assert [line.objective for line in s.trace] == pytest.approx(values, rel=1e-12)
    assert [line.detail["best"] for line in s.trace] == pytest.approx(np.minimum.accumulate(values), rel=1e-12)
    assert s.objective == pytest.approx(min(values), rel=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sgd_on_losses_with_kinks_step_by_step(name, batch, form):
    declare, losses, factor, l2 = CASES[name]
    c, penalty = factor * COSTS, l2 * np.array([1.0, 1.0, 0.0]) / 24
    s = declare(form(X), COSTS).solve("sgd", order="cyclic", eta0=0.1, max_passes=3, batch=batch)
    w = np.zeros(3)
    for k in range(3):
        for first in range(0, 24, batch):
            chosen = slice(first, first + batch)
            g = losses(w, ROWS[chosen], c[chosen])[1] / len(ROWS[chosen])
            w = w - 0.1 / (k + 1) * (g + penalty * w)
    np.testing.assert_allclose([*s.coef, s.intercept], w, rtol=1e-11, atol=1e-14)
    assert s.trace[-1].objective == pytest.approx(losses(w, ROWS, c)[0] + 12 * penalty @ w**2, rel=1e-11)


def test_the_default_step_moves_no_margin_by_more_than_one():
    s = cc.SoftMarginSVM(X, Y, C=0.7).solve("sgd", max_passes=1)
    assert s.trace[0].step == pytest.approx(1 / (0.7 * (ROWS**2).sum(axis=1).max() + 1.0 / 24), rel=1e-12)


def test_absolute_losses_have_two_sloping_pieces():
    s = cc.LeastAbsolute(X, Y).solve("subgradient", eta0=0.01, step="fixed", max_iter=6)
    w = np.zeros(3)
    for line in s.trace:
        residual = SMALL_ROWS @ w - SIGNS
        assert line.objective == pytest.approx(np.abs(residual).sum(), rel=1e-12)
        w = w - 0.01 * np.sign(residual) @ SMALL_ROWS


@pytest.mark.parametrize("name", CASES)
def test_they_get_near_the_optimum_and_claim_no_more(name):
    problem = CASES[name][0](X, None)
    best = problem.solve()
    for solver, options in (("subgradient", {"max_iter": 3000}), ("sgd", {})):
        s = problem.solve(solver, **options)
        assert s.objective <= best.objective + 0.02 * max(best.objective, 1.0)
        assert s.objective >= best.objective - 1e-9 * max(best.objective, 1.0)
        assert s.status in ("optimal", "undecided")


@pytest.mark.parametrize(
    ("problem", "solver", "reason"),
    [
        (cc.PerceptronCriterion(X, Y), "sgd", "normalization"),
        (cc.EmpiricalRisk(X, Y, loss="hinge", l1=1.0), "subgradient", "one sum of losses"),
        (cc.HardMarginSVM(X, Y), "subgradient", "one sum of losses"),
        (cc.LogisticMLE(X, Y), "subgradient", "one sum of losses"),
        (cc.SoftMarginSVM(X, Y), "lms", "without constraints"),
    ],
)
def test_what_they_do_not_take(problem, solver, reason):
    with pytest.raises(cc.SolverRefused, match=reason):
        problem.solve(solver)
