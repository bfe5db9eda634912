"""The mechanical dual is the dual of the books, and everything comes back from it."""

import numpy as np
import pytest
from datasets import SEPARABLE, every_model, overlapping

import convexcls as cc
from convexcls.losses import BinaryEntropy, HalfSquare

MODELS = every_model()


def wolfe_objective(problem, alpha):
    """ESL 4.52, written out: sum alpha - 1/2 sum sum alpha_i alpha_k y_i y_k x_i'x_k."""
    X, y = problem.data.matrix, problem.data.signs
    Q = (y[:, None] * X) @ (y[:, None] * X).T
    return alpha.sum() - 0.5 * alpha @ Q @ alpha


@pytest.mark.parametrize("intercept", [True, False])
def test_hard_margin_gives_the_wolfe_dual(intercept):
    X, y = SEPARABLE
    problem = cc.HardMarginSVM(X, y, intercept=intercept)
    dual = problem.dual()
    assert dual.sense == "max"
    assert [v.name for v in dual.variables] == ["margin"]
    rng = np.random.default_rng(0)
    for alpha in rng.uniform(size=(5, 6)):
        assert dual.objective(alpha) == pytest.approx(wolfe_objective(problem, alpha), rel=1e-14)
    rows = {c.name: c for c in dual.constraints}
    assert set(rows) == ({"intercept", "margin_sign"} if intercept else {"margin_sign"})
    if intercept:  # sum alpha_i y_i = 0
        np.testing.assert_array_equal(rows["intercept"].entries["margin"].to_dense(), problem.data.signs[None, :])
        assert rows["intercept"].relation == "=="
        assert not rows["intercept"].rhs.any()
    np.testing.assert_array_equal(rows["margin_sign"].entries["margin"].to_dense(), -np.eye(6))


def test_soft_margin_gives_the_box():
    Z, t = overlapping()
    weights = np.linspace(0.5, 2.0, len(t))
    problem = cc.SoftMarginSVM(Z, t, C=3.0, sample_weight=weights)
    dual = problem.dual()
    box = next(c for c in dual.constraints if c.name == "slack")
    np.testing.assert_array_equal(box.entries["margin"].to_dense(), np.eye(len(t)))
    np.testing.assert_allclose(box.rhs, 3.0 * weights)
    alpha = np.linspace(0, 1, len(t))
    assert dual.objective(alpha) == pytest.approx(wolfe_objective(problem, alpha), rel=1e-13)


def test_logistic_gives_the_entropies():
    Z, t = overlapping()
    problem = cc.LogisticMLE(Z, t)
    dual = problem.dual()
    (term,) = dual.terms
    assert isinstance(term.loss, BinaryEntropy)
    lam = np.linspace(0.1, 0.9, len(t))
    entropy = -np.sum(lam * np.log(lam) + (1 - lam) * np.log(1 - lam))
    assert dual.objective(lam) == pytest.approx(entropy, rel=1e-14)
    y = problem.data.signs
    rows = {c.name: c.entries["likelihood"].to_dense() for c in dual.constraints}
    np.testing.assert_allclose(rows["coef"], (y[:, None] * Z).T)
    np.testing.assert_allclose(rows["intercept"], y[None, :])


def test_logistic_multipliers_are_the_probabilities_of_the_other_class():
    Z, t = overlapping()
    solution = cc.LogisticMLE(Z, t).solve()
    dual = solution.problem.dual().solve()
    np.testing.assert_allclose(dual.values["likelihood"], 1 / (1 + np.exp(solution.margins)), rtol=1e-8)


def test_squared_hinge_gains_a_quadratic_and_loses_the_box():
    Z, t = overlapping()
    problem = cc.SoftMarginSVM(Z, t, C=0.5, loss="squared_hinge")
    dual = problem.dual()
    alpha = np.linspace(0, 1, len(t))
    expected = wolfe_objective(problem, alpha) - alpha @ alpha / (4 * 0.5)
    assert dual.objective(alpha) == pytest.approx(expected, rel=1e-13)
    assert {c.name for c in dual.constraints} == {"intercept", "margin_sign"}


def test_maximum_margin_gives_the_distance_of_the_hulls():
    """The dual is the nearest pair of points of the two hulls: alpha halves the weights of each class."""
    X, y = SEPARABLE
    solution = cc.MaxMargin(X, y).dual().solve()
    alpha, signs = solution.values["margin"], np.where(y == 1, 1.0, -1.0)
    assert alpha[signs > 0].sum() == pytest.approx(0.5)
    apart = X[signs > 0].T @ alpha[signs > 0] - X[signs < 0].T @ alpha[signs < 0]
    assert np.linalg.norm(apart) == pytest.approx(solution.objective, rel=1e-7)


def unknowns(solution, problem):
    """coef, alpha where that is what is solved for, or everything; without what the gauge leaves open."""
    null = problem.null_directions
    x = solution.x - np.linalg.pinv(null) @ (null @ solution.x)
    values = problem.split(x)
    return values.get("coef", values.get("margin", x))


@pytest.mark.parametrize("name", MODELS)
def test_strong_duality_and_the_way_back(name):
    problem = MODELS[name]
    primal = problem.solve()
    cc.testing.assert_optimal(primal, 1e-8)
    tol = 1e-8
    dual = problem.dual().solve(tol=tol)
    assert dual.status == "optimal", dual.certificate.reason
    assert dual.objective == pytest.approx(primal.objective, rel=10 * tol, abs=10 * tol * problem.unit)
    back = dual.primal()
    assert back.problem is problem
    cc.testing.assert_optimal(back, 100 * tol)
    if primal.uniqueness:
        size = np.abs(unknowns(primal, problem)).max()
        np.testing.assert_allclose(unknowns(back, problem), unknowns(primal, problem), atol=1e3 * tol * size)


@pytest.mark.parametrize("name", MODELS)
def test_the_dual_of_the_dual_is_the_primal(name):
    problem = MODELS[name]
    again = problem.dual().dual()
    assert again.sense == problem.sense
    first, second = problem.solve(), again.solve()
    assert second.status == "optimal", second.certificate.reason
    assert second.objective == pytest.approx(first.objective, rel=1e-8, abs=1e-8 * problem.unit)
    if first.uniqueness:
        size = np.abs(unknowns(first, problem)).max()
        np.testing.assert_allclose(unknowns(second, problem), unknowns(first, problem), atol=1e-6 * size)


EXACTLY = [name for name in MODELS if name not in {"max-margin", "squared-hinge", "squared-l1"}]


@pytest.mark.parametrize("name", EXACTLY)
def test_the_dual_of_the_dual_is_the_same_object(name):
    """Not only the same optimum: block by block the same problem. (The maximum margin comes back with its radius as a
    variable, and squared slacks come back as squared residuals.)"""
    assert MODELS[name].dual().dual() == MODELS[name]


def test_intercept_and_slack_are_multipliers_of_the_dual():
    Z, t = overlapping()
    primal = cc.SoftMarginSVM(Z, t, C=0.7).solve()
    dual = primal.problem.dual().solve()
    assert dual.multipliers["intercept"][0] == pytest.approx(primal.intercept, abs=1e-7)
    np.testing.assert_allclose(dual.multipliers["slack"], primal.values["slack"], atol=1e-7)
    np.testing.assert_allclose(dual.multipliers["margin_sign"], np.maximum(primal.margins - 1, 0), atol=1e-7)


def test_solving_through_the_dual():
    Z, t = overlapping()
    problem = cc.SoftMarginSVM(Z, t)
    through = problem.solve("dual:clarabel")
    assert through.solver == "dual:clarabel"
    cc.testing.assert_optimal(through)
    cc.testing.assert_same_answer(through, problem.solve("clarabel"))


def test_least_squares_dual_written_out():
    Z, t = overlapping()
    problem = cc.LeastSquares(Z, t)
    r = np.linspace(-1, 1, len(t))
    dual = problem.dual()
    assert dual.objective(r) == pytest.approx(-0.5 * r @ r - problem.data.target @ r, rel=1e-13)
    assert not dual.terms
    solved, fitted = dual.solve(), problem.solve()
    residual = fitted.decision_function(Z) - problem.data.target
    np.testing.assert_allclose(solved.values["residual"], residual, atol=1e-9)


def test_a_variable_with_a_cost_and_no_constraint_is_unbounded():
    problem = cc.Problem("free fall", [cc.Variable("x", 2, "x")], linear={"x": 1.0})
    with pytest.raises(ValueError, match="unbounded"):
        problem.dual()
    assert problem.solve("clarabel").status == "unattained"


def test_half_square_terms_on_single_coordinates_are_part_of_the_quadratic():
    """The conjugate of a half-square is one: the dual of ridge has P, not a term, for the residuals."""
    dual = MODELS["ridge"].dual()
    assert [t.name for t in dual.terms] == ["coef"]
    assert isinstance(dual.terms[0].loss, HalfSquare)
    assert set(dual.quadratic) == {"residual"}
