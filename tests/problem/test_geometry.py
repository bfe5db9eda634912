"""What a solved classifier says about its samples: support points, margins, the freedom of the intercept,
uniqueness, predictions. The answers are small enough to derive by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.problem.geometry import positive_multipliers, uniqueness

APART = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 3.0], [2.0, 1.0], [3.0, 2.0], [4.0, 1.0]])
SIGNS = np.array([1, 1, 1, -1, -1, -1])
#: On a line: with C = 1/16 every multiplier is at its bound, coef = 6/16, and any intercept in [-1, -1/2] will do.
ROW, ROW_Y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])


# ---- support --------------------------------------------------------------------------------------------------


def test_support_of_the_hard_margin():
    """The slab is held by (1, 2) and (3, 3) above and (3, 2) below; nothing else touches it."""
    solution = cc.HardMarginSVM(APART, SIGNS).solve()
    np.testing.assert_array_equal(solution.support, [0, 2, 4])
    np.testing.assert_allclose(solution.coef, [-1.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(solution.intercept, -2.0, atol=1e-9)
    np.testing.assert_allclose(solution.margins[solution.support], 1.0, atol=1e-9)
    others = np.setdiff1d(np.arange(6), solution.support)
    assert solution.margins[others].min() > 1 + 1e-6


@pytest.mark.parametrize("solver", ["auto", "clarabel", "osqp", "dual:clarabel", "cvxpy:CLARABEL"])
@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
def test_support_does_not_depend_on_solver_or_tolerance(solver, tol):
    solution = cc.HardMarginSVM(APART, SIGNS).solve(solver, tol=tol)
    if solution.status == "optimal":
        np.testing.assert_array_equal(solution.support, [0, 2, 4])
    else:
        assert solver != "auto"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_support_does_not_depend_on_units(scale):
    np.testing.assert_array_equal(cc.HardMarginSVM(scale * APART, SIGNS).solve().support, [0, 2, 4])


def test_support_of_a_soft_margin_is_every_sample_on_or_inside_the_slab():
    solution = cc.SoftMarginSVM(ROW, ROW_Y, C=1 / 16).solve()
    np.testing.assert_array_equal(solution.support, [0, 1, 2, 3])
    np.testing.assert_allclose(solution.multipliers["margin"], 1 / 16, rtol=1e-8)
    wide = cc.SoftMarginSVM(ROW, ROW_Y, C=100.0).solve()
    np.testing.assert_array_equal(wide.support, [1, 2])


def test_the_rule_for_positive_multipliers():
    """alpha_i counts when it beats both its own slack and a millionth, relative to the largest."""
    alpha = np.array([2.0, 1.0, 2e-7, 1e-3, 1e-3, 0.0, -1e-9])
    slack = np.array([1e-9, 1e-7, 0.0, 1e-2, 1e-9, 0.0, 0.0])
    expected = [True, True, False, False, True, False, False]
    np.testing.assert_array_equal(positive_multipliers(alpha, slack, 1.0), expected)
    np.testing.assert_array_equal(positive_multipliers(1e-9 * alpha, slack, 1.0), expected)
    assert not positive_multipliers(np.zeros(3), np.zeros(3), 1.0).any()


def test_models_without_margin_rows_have_no_support():
    assert cc.LeastSquares(APART, SIGNS).solve().support.size == 0
    assert cc.FisherLDA(APART, SIGNS).solve().support.size == 0


# ---- margins --------------------------------------------------------------------------------------------------


def test_functional_and_geometric_margins():
    solution = cc.HardMarginSVM(APART, SIGNS).solve()
    scores = APART @ [-1.0, 2.0] - 2.0
    np.testing.assert_allclose(solution.margins, SIGNS * scores, atol=1e-8)
    np.testing.assert_allclose(solution.geometric_margins, SIGNS * scores / np.sqrt(5.0), atol=1e-8)
    np.testing.assert_allclose(solution.signed_distances, scores / np.sqrt(5.0), atol=1e-8)
    assert solution.geometric_margins.min() == pytest.approx(1 / np.linalg.norm(solution.coef), rel=1e-9)


def test_the_narrowest_geometric_margin_is_the_widest_slab():
    widest = cc.MaxMargin(APART, SIGNS).solve()
    assert widest.geometric_margins.min() == pytest.approx(widest.objective, rel=1e-7)
    assert widest.objective == pytest.approx(1 / np.sqrt(5.0), rel=1e-8)


def test_without_a_hyperplane_there_are_no_distances():
    meeting = cc.MaxMargin(np.array([[0.0], [2.0], [1.0], [3.0]]), [-1, -1, 1, 1]).solve()
    assert meeting.objective == 0
    with pytest.raises(cc.NoAnswer, match="no hyperplane"):
        _ = meeting.geometric_margins


def test_real_targets_have_no_margins():
    fitted = cc.LeastSquares(ROW, [0.0, 1.5, 2.5, 4.0], coding="real").solve()
    with pytest.raises(cc.NoAnswer, match="no margins"):
        _ = fitted.margins


# ---- the intercept's interval -----------------------------------------------------------------------------------


def objective_at(problem, coef, intercept) -> float:
    scores = problem.data.matrix @ coef + intercept
    slack = np.maximum(0.0, 1.0 - problem.data.signs * scores)
    return 0.5 * float(coef @ coef) + float(problem.linear["slack"] @ slack)


def test_with_every_multiplier_at_its_bound_the_intercept_is_an_interval():
    problem = cc.SoftMarginSVM(ROW, ROW_Y, C=1 / 16)
    solution = problem.solve()
    low, high = solution.intercept_interval
    assert low == pytest.approx(-1.0, abs=1e-8)
    assert high == pytest.approx(-0.5, abs=1e-8)
    assert low - 1e-9 <= solution.intercept <= high + 1e-9
    best = solution.objective
    for inside in np.linspace(low, high, 7):
        assert objective_at(problem, solution.coef, inside) == pytest.approx(best, rel=1e-8)
    for outside in (low - 1e-3, high + 1e-3):
        assert objective_at(problem, solution.coef, outside) > best * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_is_where_the_objective_stays_the_least(seed):
    """Against a search over all break points of the objective as a function of the intercept alone."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(8, 2)).astype(float)
    y = np.where(np.arange(8) % 2, 1, -1)
    problem = cc.SoftMarginSVM(X, y, C=float(rng.choice([1 / 64, 1 / 8, 1.0])))
    solution = problem.solve()
    assert solution.status == "optimal"
    breaks = y - X @ solution.coef  # where a margin is exactly one
    values = np.array([objective_at(problem, solution.coef, b) for b in breaks])
    least = breaks[values <= values.min() * (1 + 1e-9)]
    low, high = solution.intercept_interval
    assert low == pytest.approx(least.min(), abs=1e-6)
    assert high == pytest.approx(least.max(), abs=1e-6)


def test_a_free_support_point_fixes_the_intercept():
    for problem in (cc.HardMarginSVM(APART, SIGNS), cc.SoftMarginSVM(APART, SIGNS, C=10.0)):
        solution = problem.solve()
        low, high = solution.intercept_interval
        assert high - low <= 1e-6
        assert low <= solution.intercept <= high


def test_strictly_convex_losses_fix_the_intercept():
    solution = cc.SoftMarginSVM(ROW, ROW_Y, C=1 / 16, loss="squared_hinge").solve()
    assert solution.intercept_interval == (solution.intercept, solution.intercept)


# ---- uniqueness -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem",
    [
        cc.HardMarginSVM(APART, SIGNS),
        cc.SoftMarginSVM(APART, SIGNS, loss="squared_hinge"),
        cc.LeastSquares(APART, SIGNS),
        cc.LeastSquares(np.column_stack([APART, APART[:, 0]]), SIGNS, l2=1.0),
        cc.LogisticMLE(APART, SIGNS, l2=1.0),
        cc.FisherLDA(APART, SIGNS),
        cc.LeastAbsolute(ROW, [0.0, 1.0, 3.0, 4.0], coding="real"),
    ],
    ids=lambda p: p.name,
)
def test_solutions_that_are_the_only_one(problem):
    found = problem.solve().uniqueness
    assert found.unique is True
    assert found
    assert found.another is None


def assert_another_solution(solution: cc.Solution) -> None:
    """The other point that is claimed must be feasible, as good, and different in coef or intercept."""
    problem, found = solution.problem, solution.uniqueness
    assert found.unique is False
    assert not found
    other = found.another
    if other is None:
        return
    for c in problem.constraints:
        excess = problem.rows(c) @ other - c.rhs
        assert (np.abs(excess) if c.relation == "==" else excess).max() <= 1e-7
    assert problem.objective(other) == pytest.approx(problem.objective(solution.x), rel=1e-7, abs=1e-9)
    assert np.abs(other - solution.x)[: solution.coef.size + 1].max() > 1e-5


def test_linear_programs_with_many_solutions():
    tied = cc.LeastAbsolute(np.array([[0.0], [0.0]]), [-1, 1]).solve()  # any intercept in [-1, 1], any coef
    assert_another_solution(tied)
    assert tied.uniqueness.rank == 1
    wide = cc.PerceptronCriterion(APART, SIGNS).solve()  # any hyperplane between the classes
    assert wide.objective == pytest.approx(0.0, abs=1e-9)
    assert_another_solution(wide)


def test_the_soft_margins_interval_is_not_unique():
    assert_another_solution(cc.SoftMarginSVM(ROW, ROW_Y, C=1 / 16).solve())


def test_multipliers_that_are_rounding_errors_fix_nothing():
    """Every sample is at its cost, so that the multipliers of slack >= 0 are 0: another kernel may leave 1e-16."""
    solution = cc.SoftMarginSVM(ROW, ROW_Y, C=1 / 16).solve()
    noise = {**solution.multipliers, "slack_sign": np.full(4, 2.0**-52)}
    assert uniqueness(solution.problem, solution.x, noise).unique is False


def test_a_repeated_feature_leaves_least_squares_undetermined():
    X = np.column_stack([APART, APART[:, 0] - 2 * APART[:, 1]])
    found = cc.LeastSquares(X, SIGNS).solve().uniqueness
    assert found.unique is False
    assert (found.rank, found.columns) == (3, 4)
    assert "rank 3" in found.reason


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_rank_does_not_depend_on_units(scale):
    X = APART * [scale, 1.0]
    found = cc.LeastSquares(X, SIGNS).solve().uniqueness
    assert (found.unique, found.rank) == (True, 3)


# ---- predictions ----------------------------------------------------------------------------------------------


def test_scores_and_labels():
    solution = cc.HardMarginSVM(APART, np.where(SIGNS > 0, "spam", "ham")).solve()
    X = np.array([[0.0, 5.0], [5.0, 0.0]])
    # "spam" sorts after "ham", so it is the label above 0
    np.testing.assert_allclose(solution.decision_function(X), [8.0, -7.0], atol=1e-8)
    assert list(solution.predict(X)) == ["spam", "ham"]
    assert list(solution.predict(APART)) == ["spam"] * 3 + ["ham"] * 3


def test_the_01_coding_is_cut_at_one_half():
    """The same classification as with -1 and +1: 01 targets are (pm1 + 1) / 2, and so are the fits."""
    pm1, zero_one = cc.LeastSquares(APART, SIGNS).solve(), cc.LeastSquares(APART, SIGNS, coding="01").solve()
    np.testing.assert_allclose(zero_one.decision_function(APART), pm1.decision_function(APART) / 2, atol=1e-10)
    np.testing.assert_array_equal(zero_one.predict(APART), pm1.predict(APART))


def test_real_targets_are_fitted():
    fitted = cc.LeastSquares(ROW, [1.0, 3.0, 7.0, 9.0], coding="real").solve()
    np.testing.assert_allclose(fitted.predict(np.array([[2.0], [10.0]])), [5.0, 21.0], atol=1e-9)


def test_probabilities_of_a_logistic_model():
    solution = cc.LogisticMLE(APART, SIGNS, l2=0.5).solve()
    probabilities = solution.predict_proba(APART)
    assert probabilities.shape == (6, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-15)
    scores = solution.decision_function(APART)
    np.testing.assert_allclose(probabilities[:, 1], 1 / (1 + np.exp(-scores)), rtol=1e-12)
    np.testing.assert_array_equal(solution.predict(APART), np.where(probabilities[:, 1] > 0.5, 1, -1))
    far = solution.predict_proba(np.array([[1e6, -1e6], [-1e6, 1e6]]))
    assert np.all(np.isfinite(far))
    assert far[0, 0] == far[1, 1] == 1.0


def test_a_small_probability_keeps_its_digits_on_both_sides():
    solution = cc.LogisticMLE(np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, 1, -1, 1]).solve()
    slope, intercept = solution.coef[0], solution.intercept
    X = np.array([[(50.0 - intercept) / slope], [(-50.0 - intercept) / slope]])
    np.testing.assert_allclose(solution.predict_proba(X).min(axis=1), np.exp(-50.0), rtol=1e-6)


@pytest.mark.parametrize("problem", [cc.HardMarginSVM(APART, SIGNS), cc.LeastSquares(APART, SIGNS)], ids=["svm", "ls"])
def test_scores_that_are_no_log_odds_are_no_probabilities(problem):
    with pytest.raises(cc.NoAnswer, match="no probabilities"):
        problem.solve().predict_proba(APART)


def test_predictions_check_their_input():
    solution = cc.HardMarginSVM(APART, SIGNS).solve()
    with pytest.raises(cc.DataError, match="3 columns"):
        solution.predict(np.ones((2, 3)))
    with pytest.raises(cc.DataError, match="dimension"):
        solution.predict(np.ones(2))
    with pytest.raises(cc.DataError, match="row 1, column 0"):
        solution.predict([[0.0, 1.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(solution.predict(sparse.csr_array(APART)), solution.predict(APART))
    assert solution.predict(np.empty((0, 2))).shape == (0,)


def test_without_a_solution_nothing_is_predicted():
    none = cc.HardMarginSVM(np.array([[0.0], [1.0], [0.5]]), [-1, -1, 1]).solve()
    assert none.status == "infeasible"
    for ask in (lambda: none.predict(np.array([[0.0]])), lambda: none.coef, lambda: none.margins, lambda: none.support):
        with pytest.raises(cc.NoAnswer, match="infeasible"):
            ask()


def test_nothing_in_a_solution_can_be_changed():
    solution = cc.HardMarginSVM(APART, SIGNS).solve()
    with pytest.raises(ValueError, match="read-only"):
        solution.coef[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        solution.multipliers["margin"][0] = 1.0
    with pytest.raises(TypeError):
        solution.multipliers["margin"] = np.zeros(6)
    with pytest.raises(AttributeError):
        solution.solver = "another"


def test_fishers_threshold_makes_the_fewest_errors():
    X = np.array([[0.0], [1.0], [4.0], [3.0], [5.0], [6.0]])
    y = np.array([-1, -1, -1, 1, 1, 1])
    solution = cc.FisherLDA(X, y).solve()
    assert np.sum(solution.predict(X) != y) == 1  # no threshold on a line makes fewer
    for threshold in np.linspace(-1, 7, 81):
        assert np.sum(np.where(X[:, 0] > threshold, 1, -1) != y) >= 1


@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_the_rank_of_the_design_does_not_depend_on_units(scale):
    X = scale * np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0], [4.0, 4.0]])
    with np.errstate(all="raise", under="ignore"):
        found = cc.LeastSquares(X, [0, 1, 0, 1]).solve().uniqueness
    assert (found.rank, found.columns) == (3, 3)


# ---- new points -----------------------------------------------------------------------------------------------------


def test_distances_of_new_points_are_those_of_the_formula():
    s = cc.HardMarginSVM([[0.0, 0.0], [3.0, 4.0]], [0, 1]).solve()
    new = np.array([[1.0, 7.0], [-2.0, 0.5]])
    by_hand = (new @ s.coef + s.intercept) / np.sqrt(s.coef @ s.coef)
    np.testing.assert_allclose(s.signed_distance(new), by_hand, rtol=1e-12)
    np.testing.assert_array_equal(s.signed_distance(s.data.matrix), s.signed_distances)


@pytest.mark.parametrize(("coding", "targets"), [("pm1", [-1, -1, 1, 1]), ("01", [0, 0, 1, 1])])
def test_fitted_values_are_in_the_coding_of_the_targets(coding, targets):
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    s = cc.LeastSquares(X, ["a", "a", "b", "b"], coding=coding).solve()
    Z = np.column_stack([X, np.ones(4)])
    by_hand = Z @ np.linalg.solve(Z.T @ Z, Z.T @ np.array(targets, dtype=float))
    np.testing.assert_allclose(s.fitted_values(X), by_hand, rtol=1e-10, atol=1e-12)


def test_a_threshold_moves_the_boundary_to_its_probability():
    X, y = [[0], [0], [0], [1], [1], [1]], ["no", "no", "yes", "no", "yes", "yes"]
    s = cc.LogisticMLE(X, y).solve()
    new = np.linspace(-2.0, 3.0, 41)[:, None]
    for T in (0.0, 0.2, 0.5, 0.9, 1.0):
        p = 1 / (1 + np.exp(-(new[:, 0] * s.coef[0] + s.intercept)))
        clear = np.abs(p - T) > 1e-9
        assert np.array_equal((s.predict(new, threshold=T) == "yes")[clear], (p > T)[clear])


def test_a_threshold_is_refused_where_it_means_nothing():
    two, three = ([[0], [1], [2], [3]], [0, 1, 0, 1]), ([[0], [1], [2], [3], [4], [5]], [0, 1, 2, 0, 1, 2])
    with pytest.raises(ValueError, match=r"threshold is 1\.5: give a probability"):
        cc.LogisticMLE(*two).solve().predict([[0]], threshold=1.5)
    with pytest.raises(cc.NoAnswer, match="has no probabilities"):
        cc.LeastSquares(*two).solve().predict([[0]], threshold=0.5)
    with pytest.raises(cc.NoAnswer, match="a threshold needs two classes"):
        cc.SoftmaxMLE(*three, l2=1.0).solve().predict([[0]], threshold=0.5)
