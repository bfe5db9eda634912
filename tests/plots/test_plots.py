"""What displays draw, against numbers worked out in other ways."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.special import expit

import convexcls as cc
from convexcls.plots import (
    AnswersDisplay,
    BoundaryDisplay,
    ConvergenceDisplay,
    HullsDisplay,
    LossesDisplay,
    LossSliceDisplay,
    MultipliersDisplay,
    ProbabilityDisplay,
    ProjectionDisplay,
    SlacknessDisplay,
    TrajectoryDisplay,
    pictures,
)
from convexcls.plots.hulls import hull

mpl.use("Agg")


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(size=(40, 2)), rng.normal((2, 1), size=(40, 2))]), np.repeat(["a", "b"], 40)


@pytest.fixture(scope="module")
def twenty():
    return cc.load("twenty_points").solve()


@pytest.fixture(scope="module")
def soft(clouds):
    return cc.SoftMarginSVM(*clouds, C=1.0).solve()


@pytest.fixture(scope="module")
def logistic(clouds):
    return cc.LogisticMLE(*clouds).solve()


# ---- boundary -----------------------------------------------------------------------------------------------------


def test_boundary_and_slab_are_the_known_lines(twenty):
    shown = BoundaryDisplay.of(twenty)
    for lines, level in ((shown.boundaries[0], 0.0), (shown.margins[0], -1.0), (shown.margins[1], 1.0)):
        (line,) = lines
        np.testing.assert_allclose((2 * line[:, 0] + 2 * line[:, 1] - 25) / 3, level, atol=1e-9)
        left, right, low, high = shown.frame
        for x, y in line[[0, -1]]:  # it goes from edge to edge
            assert min(abs(x - left), abs(x - right), abs(y - low), abs(y - high)) < 1e-9
    assert shown.points.support.tolist() == [7, 10, 18]
    np.testing.assert_allclose(shown.points.alpha, [4 / 9, 2 / 33, 38 / 99], rtol=1e-9)
    assert not shown.points.mistakes.size
    assert not len(shown.slack)


def test_slack_lines_are_perpendicular_and_end_on_the_margin(soft):
    shown = BoundaryDisplay.of(soft)
    signs = np.where(soft.data.classes == 1, 1.0, -1.0)
    short = np.flatnonzero(signs * (soft.data.matrix @ soft.coef + soft.intercept) < 1 - 1e-6)
    assert shown.slack_rows == len(shown.slack) == short.size
    np.testing.assert_array_equal(shown.slack[:, 0], soft.data.matrix[short])
    np.testing.assert_allclose(shown.slack[:, 1] @ soft.coef + soft.intercept, signs[short], atol=1e-6)
    way = shown.slack[:, 1] - shown.slack[:, 0]
    np.testing.assert_allclose(way @ [-soft.coef[1], soft.coef[0]], 0.0, atol=1e-6)


def test_slack_of_a_kernel_ends_on_its_margin(clouds):
    s = cc.KernelSVM(*clouds, C=1.0, gamma=0.5).solve()
    shown = BoundaryDisplay.of(s)
    assert len(shown.slack) > 10
    np.testing.assert_allclose(np.abs(s.decision_function(shown.slack[:, 1])), 1.0, atol=1e-3)


def test_mistakes_are_those_of_predict(soft, clouds):
    wrong = np.flatnonzero(soft.predict(clouds[0]) != clouds[1])
    np.testing.assert_array_equal(BoundaryDisplay.of(soft).points.mistakes, wrong)


def test_several_classifiers_on_one_picture():
    problem = cc.load("twenty_points_perceptron")
    solutions = [
        cc.load("twenty_points_least_squares").solve(),
        problem.solve("perceptron"),
        problem.solve("perceptron", random_start=True, seed=3),
    ]
    shown = BoundaryDisplay.of_several(solutions, ["least squares", "from 0", "from elsewhere"])
    for s, lines in zip(solutions, shown.boundaries, strict=True):
        np.testing.assert_allclose(lines[0] @ s.coef + s.intercept, 0.0, atol=1e-9)
    assert shown.points.mistakes.tolist() == [18]  # least squares errs once, as in ESL figure 4.14
    assert "misclassified by least squares (row 18)" in shown.describe()
    assert shown.slab is None


def test_the_optimal_hyperplane_beside_logistic_regression(twenty):
    logistic = cc.LogisticMLE(twenty.data.matrix, twenty.data.given).solve()
    shown = BoundaryDisplay.of_several([logistic, twenty])
    assert shown.slab == 1.0
    assert shown.slab_of == 1
    assert shown.points.support.tolist() == [7, 10, 18]
    assert "no minimum exists" in shown.names[0]


def test_a_quadratic_boundary_is_the_circle():
    shown = BoundaryDisplay.of(cc.load("circle").solve())
    radii = [np.linalg.norm(np.vstack(lines), axis=1) for lines in (*shown.boundaries, *shown.margins)]
    for radius, known in zip(radii, (np.sqrt(5), 1.0, 3.0), strict=True):
        np.testing.assert_allclose(radius, known, rtol=2e-3)
    assert "a circle around (0, 0) with radius 2.236" in shown.describe()


def test_a_basis_keeps_its_samples():
    X = np.random.default_rng(0).normal(size=(12, 2))
    basis = cc.Radial(4, gamma=0.5)(X)
    np.testing.assert_array_equal(basis.take([3, 5]).origin, X[[3, 5]])
    s = cc.LogisticMLE(basis, X[:, 0] > 0, l2=1.0).solve()
    np.testing.assert_array_equal(BoundaryDisplay.of(s).points.places, X)


def test_the_slab_of_the_widest_margin_is_its_distance():
    shown = BoundaryDisplay.of(cc.load("three_four_five_max_margin").solve())
    assert shown.slab == pytest.approx(5.0)


def test_many_features_are_seen_along_coef():
    s = cc.load("heart_scale").solve()
    shown = BoundaryDisplay.of(s)
    w = s.coef / np.linalg.norm(s.coef)
    np.testing.assert_allclose(shown.points.places[:, 0], s.data.matrix @ w, atol=1e-12)
    for lines, level in ((shown.boundaries[0], 0.0), (shown.margins[1], 1.0)):
        np.testing.assert_allclose(lines[0][:, 0], (level - s.intercept) / np.linalg.norm(s.coef), atol=1e-9)
    left = s.data.matrix - s.data.matrix @ np.outer(w, w)
    _, vectors = np.linalg.eigh(np.cov(left.T))
    assert abs(shown.view.axes[1] @ w) < 1e-9
    assert abs(shown.view.axes[1] @ vectors[:, -1]) > 0.99
    assert "coef" in shown.view.names[0]


def test_two_named_features_are_drawn_with_the_others_at_their_mean():
    s = cc.load("heart_scale").solve()
    shown = BoundaryDisplay.of(s, features=("x3", 7))
    X = s.data.matrix
    np.testing.assert_array_equal(shown.points.places, X[:, [2, 7]])
    full = np.tile(X.mean(axis=0), (len(shown.boundaries[0][0]), 1))
    full[:, [2, 7]] = shown.boundaries[0][0]
    np.testing.assert_allclose(full @ s.coef + s.intercept, 0.0, atol=1e-9)
    assert shown.view.names == ("x3\n(all else at its mean)", "x8")
    assert not len(shown.slack)  # the section does not go through the samples


def test_one_feature_is_a_line(clouds):
    s = cc.SoftMarginSVM(clouds[0][:, :1], clouds[1]).solve()
    shown = BoundaryDisplay.of(s)
    np.testing.assert_allclose(shown.boundaries[0][0][:, 0], -s.intercept / s.coef[0], atol=1e-9)
    np.testing.assert_array_equal(shown.points.places[:, 1], s.data.classes)


def test_regions_of_several_classes_change_at_their_borders():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(20, 2)) + shift for shift in ([0, 0], [3, 1], [0, 3])])
    s = cc.SoftmaxMLE(X, np.repeat(["a", "b", "c"], 20), l2=0.1).solve()
    for line in BoundaryDisplay.of(s).boundaries[0]:
        first, second = np.sort(s.decision_function(line), axis=1)[:, [-1, -2]].T
        assert np.median(np.abs(first - second)) < 1e-9


def test_other_samples_are_shown_in_their_place(logistic):
    shown = BoundaryDisplay.from_estimator(SimpleNamespace(solution_=logistic), [[0.0, 0.0], [5.0, 5.0]], y=["b", "b"])
    np.testing.assert_array_equal(shown.points.places, [[0.0, 0.0], [5.0, 5.0]])
    assert shown.points.mistakes.tolist() == [0]
    mpl.pyplot.close(shown.figure_)


def test_the_training_samples_given_again_are_the_training_samples(soft, clouds):
    shown = BoundaryDisplay.of(soft, clouds[0])
    assert shown.points.support.size
    assert len(shown.slack) == shown.slack_rows > 0
    other = BoundaryDisplay.of(soft, clouds[0][::-1])
    assert not other.points.support.size
    assert not other.points.mistakes.size  # labelled as predicted


def test_one_against_the_rest_is_the_largest_score():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(20, 2)) + shift for shift in ([0, 0], [3, 1], [0, 3])])
    y = np.repeat(["a", "b", "c"], 20)
    solutions = tuple(cc.SoftMarginSVM(X, y == label).solve() for label in "abc")
    estimator = SimpleNamespace(solution_=solutions, classes_=np.array(["a", "b", "c"]))
    shown = BoundaryDisplay.from_estimator(estimator, ax=Figure().subplots())
    scores = np.column_stack([X @ s.coef + s.intercept for s in solutions])
    np.testing.assert_array_equal(shown.points.classes, np.repeat([0, 1, 2], 20))
    np.testing.assert_array_equal(shown.points.mistakes, np.flatnonzero(scores.argmax(axis=1) != shown.points.classes))
    for line in shown.boundaries[0]:
        first, second = np.sort(np.column_stack([line @ s.coef + s.intercept for s in solutions]), axis=1)[
            :, [-1, -2]
        ].T
        assert np.median(np.abs(first - second)) < 1e-9
    with pytest.raises(ValueError, match="2 labels for 3 solutions"):
        BoundaryDisplay.of_one_vs_rest(solutions, "ab")


def test_classifiers_on_one_picture_have_the_same_samples(soft, clouds):
    X, y = clouds
    others = cc.SoftMarginSVM(X[:-1], y[:-1]).solve()
    with pytest.raises(ValueError, match="other samples"):
        BoundaryDisplay.of_several([soft, others])
    assert len(BoundaryDisplay.of_several([soft, others], X=X, y=y).boundaries) == 2
    with pytest.raises(ValueError, match="need the same"):
        BoundaryDisplay.of_several([soft, cc.load("heart_scale").solve()])
    with pytest.raises(ValueError, match="1 names for 2"):
        BoundaryDisplay.of_several([soft, soft], ["one"])


# ---- hulls --------------------------------------------------------------------------------------------------------


def test_nearest_points_of_the_hulls(twenty):
    shown = HullsDisplay.of(twenty)
    blue, orange = (twenty.data.matrix[twenty.data.classes == k] for k in (0, 1))

    def squared(weights):
        return np.sum((weights[:10] @ blue - weights[10:] @ orange) ** 2)

    sums = [{"type": "eq", "fun": lambda w, part=part: w[part].sum() - 1} for part in (slice(10), slice(10, 20))]
    other = minimize(squared, np.full(20, 0.1), bounds=[(0, 1)] * 20, constraints=sums, options={"ftol": 1e-14})
    assert shown.distance**2 == pytest.approx(other.fun, rel=1e-5)
    assert shown.distance == pytest.approx(2 / np.linalg.norm(twenty.coef), rel=1e-9)
    np.testing.assert_allclose(shown.nearest[0], [2, 9], atol=1e-9)
    np.testing.assert_allclose(shown.nearest[1], [3.5, 10.5], atol=1e-9)
    assert shown.separable


def test_hulls_that_meet_share_a_point_with_its_weights():
    shown = HullsDisplay.of(cc.load("xor_hard_margin").solve())
    assert {str(w) for w in shown.weights.values()} == {"1/2"}
    np.testing.assert_allclose(shown.nearest, 0.5)
    assert not shown.separable
    assert "1/2" in shown.describe()


def test_another_model_is_told_by_the_hard_margin_on_its_samples(logistic, clouds):
    shown = HullsDisplay.of(logistic)
    y = clouds[1]
    sums = [float(sum(w for i, w in shown.weights.items() if y[i] == label)) for label in "ab"]
    np.testing.assert_allclose(sums, 1.0)
    np.testing.assert_allclose(shown.nearest[0], shown.nearest[1], atol=1e-9)
    assert shown.distance < 1e-9


def test_corners_of_a_hull(clouds):
    for places in (clouds[0], np.random.default_rng(5).integers(0, 5, size=(60, 2)).astype(float)):
        known = places[ConvexHull(places).vertices]
        np.testing.assert_array_equal(np.unique(hull(places), axis=0), np.unique(known, axis=0))
    np.testing.assert_array_equal(hull(np.array([[1.0, 2.0]])), [[1.0, 2.0]])
    np.testing.assert_array_equal(hull(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])), [[0, 0], [2, 2]])


# ---- the others ---------------------------------------------------------------------------------------------------


def test_multipliers_and_their_box(soft):
    shown = MultipliersDisplay.of(soft)
    known = soft.multipliers["margin"]
    assert shown.rows.tolist() == soft.support.tolist()
    np.testing.assert_array_equal(shown.alpha, known[soft.support])
    np.testing.assert_array_equal(shown.box, 1.0)
    assert shown.at_bound == int(np.sum(known > 1 - 1e-6))


def test_every_pair_of_slack_and_multiplier_lies_on_an_axis(soft):
    shown = SlacknessDisplay.of(soft)
    signs = np.where(soft.data.classes == 1, 1.0, -1.0)
    f = soft.data.matrix @ soft.coef + soft.intercept
    np.testing.assert_allclose(shown.slack["margin"], signs * f - 1 + soft.values["slack"], atol=1e-12)
    assert max(shown.products.values()) < 1e-12


def test_losses_are_those_of_the_source():
    shown = LossesDisplay.of_losses()
    m = shown.margins
    known = {
        "zero-one": m <= 0,
        "perceptron": np.maximum(0, -m),
        "hinge": np.maximum(0, 1 - m),
        "squared_hinge": np.maximum(0, 1 - m) ** 2,
        "squared": (1 - m) ** 2,
        "absolute": abs(1 - m),
        "logistic": np.log(1 + np.exp(-m)),
        "exponential": np.exp(-m),
        "softmax": np.log(1 + 2 * np.exp(-m)),
    }
    assert shown.values.keys() == known.keys()
    for name, values in known.items():
        np.testing.assert_allclose(shown.values[name], values, rtol=1e-12, atol=1e-15)


def test_the_softmax_loss_is_told_with_its_classes():
    assert "logistic 0.6931" in LossesDisplay.of_losses().describe()
    assert "softmax of 3 classes 1.099" in LossesDisplay.of_losses().describe()


def test_a_boundary_that_is_not_there_is_not_named():
    level = cc.MaxMargin([[1, 1], [-1, -1], [1, -1], [-1, 1]], [0, 0, 1, 1]).solve()  # no margin above 0: coef is 0
    shown = BoundaryDisplay.of(level)
    assert "maximum margin has no boundary: coef is 0." in shown.describe()
    assert "boundary f = 0" not in [text.get_text() for text in shown.plot().ax_.get_legend().get_texts()]


def test_a_boundary_that_given_priors_move_is_not_drawn_as_if_they_did_not():
    X, y = [[1, 1], [3, 2], [2, 3], [7, 5], [9, 6], [8, 7]], ["a", "a", "a", "b", "b", "b"]
    for display in (BoundaryDisplay, ProbabilityDisplay):
        assert display.from_estimator(cc.GaussianClassifier().fit(X, y), ax=Figure().subplots())
        with pytest.raises(ValueError, match="priors given to this GaussianClassifier"):
            display.from_estimator(cc.GaussianClassifier(priors=[0.9, 0.1]).fit(X, y))


def test_a_problem_in_place_of_its_solution_is_refused_in_words():
    with pytest.raises(TypeError, match="HardMarginSVM is no solution: give what solve"):
        BoundaryDisplay.from_solution(cc.HardMarginSVM([[0, 0], [1, 1]], [0, 1]))


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import convexcls as cc\n"
        "s = cc.HardMarginSVM([[0, 0], [1, 1]], [0, 1]).solve()\n"
        "for draw in (cc.plots.BoundaryDisplay.from_solution, lambda s: cc.plots.pictures(s)[0].figure()):\n"
        "    try: draw(s)\n"
        "    except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install 'convexcls[plot]'") == 2


def test_slices_of_the_soft_margin(soft):
    shown = LossSliceDisplay.of(soft)
    signs = np.where(soft.data.classes == 1, 1.0, -1.0)
    for t, value in zip(shown.t, shown.values["coef of x1"], strict=True):
        coef = soft.coef + np.array([t, 0])
        slack = np.maximum(0, 1 - signs * (soft.data.matrix @ coef + soft.intercept))
        assert value == pytest.approx(coef @ coef / 2 + slack.sum(), rel=1e-9)
    assert min(values.min() for values in shown.values.values()) >= soft.objective - 1e-9


def test_a_slice_of_the_hard_margin_ends_at_its_constraints(twenty):
    (values,) = LossSliceDisplay.of(twenty).values.values()
    middle = values.size // 2
    assert np.all(np.isnan(values[:middle]))
    assert np.all(np.diff(values[middle:]) > 0)


def test_traces_are_told_by_gap_residual_and_time(logistic):
    (trace,) = ConvergenceDisplay.of(logistic).traces
    values = [line.objective for line in logistic.trace]
    np.testing.assert_allclose(
        trace.gap, np.abs(np.array(values) - logistic.objective) / logistic.objective, atol=1e-15
    )
    np.testing.assert_array_equal(trace.residual, [line.residual for line in logistic.trace])
    assert np.all(np.diff(trace.seconds) > 0)
    assert 0 <= trace.seconds[0] <= trace.seconds[-1] <= logistic.seconds


def test_a_comparison_shows_where_each_solver_ended(soft):
    table = cc.compare(soft.problem, ["interior-point", "osqp"])
    ways = {t.name: t for t in ConvergenceDisplay.of(table).traces}
    assert ways["osqp"].iteration.tolist() == [table.rows[1].iterations]
    assert ways["interior-point"].iteration.size > 3
    assert ways["interior-point"].gap[-1] < 1e-14  # with its exact finish
    shown = AnswersDisplay.of(table, certified=soft)
    size = np.linalg.norm([*soft.coef, soft.intercept])
    for name, distance in zip(shown.solvers, shown.distances, strict=True):
        (row,) = [row for row in table.rows if row.solver == name]
        away = np.linalg.norm([*(row.solution.coef - soft.coef), row.solution.intercept - soft.intercept])
        assert distance == pytest.approx(away / size)


@pytest.mark.parametrize("options", [{}, {"order": "random", "seed": 4}, {"step": "decay"}, {"random_start": True}])
def test_the_perceptron_is_replayed_to_its_weights(options):
    s = cc.load("twenty_points_perceptron").solve("perceptron", **options)
    shown = TrajectoryDisplay.of(s)
    assert len(shown.weights) == s.rule_report.updates + 1
    np.testing.assert_allclose(shown.weights[-1], s.rule_report.weights, rtol=1e-9)
    np.testing.assert_array_equal(shown.weights[0], s.rule_report.start)
    if not options:  # each update adds a sample: whole numbers of this problem
        rows = np.hstack([s.data.matrix, np.ones((20, 1))]) * s.data.signs[:, None]
        steps = {tuple(step) for step in np.diff(shown.weights, axis=0)}
        assert steps <= {tuple(row) for row in rows}


def test_lines_of_the_perceptron_follow_the_order_of_the_axes():
    s = cc.load("twenty_points_perceptron").solve("perceptron")
    as_given, turned = TrajectoryDisplay.of(s), TrajectoryDisplay.of(s, features=("x2", "x1"))
    np.testing.assert_array_equal(turned.weights, as_given.weights[:, [1, 0, 2]])
    np.testing.assert_array_equal(turned.points.places, as_given.points.places[:, ::-1])
    for line in (as_given._line(as_given.weights[-1]), turned._line(turned.weights[-1])[:, ::-1]):
        np.testing.assert_allclose(line @ s.rule_report.weights[:2] + s.rule_report.weights[2], 0.0, atol=1e-9)


def test_the_batch_perceptron_is_replayed():
    s = cc.load("twenty_points_perceptron").solve("perceptron-batch")
    np.testing.assert_allclose(TrajectoryDisplay.of(s).weights[-1], s.rule_report.weights, rtol=1e-9)


def test_projections_and_threshold_of_fisher(clouds):
    s = cc.FisherLDA(*clouds).solve()
    shown = ProjectionDisplay.of(s)
    for k, label in enumerate("ab"):
        along = clouds[0][clouds[1] == label] @ s.coef
        np.testing.assert_allclose(shown.projected[k], along)
        np.testing.assert_array_equal(shown.counts[k], np.histogram(along, shown.edges)[0])
    assert shown.threshold == -s.intercept
    assert shown.errors == np.sum(s.predict(clouds[0]) != clouds[1])


def test_probabilities_over_the_plane(logistic):
    shown = ProbabilityDisplay.of(logistic)
    u, v = np.meshgrid(shown.field.u, shown.field.v)
    known = expit(u * logistic.coef[0] + v * logistic.coef[1] + logistic.intercept)
    np.testing.assert_allclose(shown.field.values, known, rtol=1e-9)


# ---- what suits, and what does not ---------------------------------------------------------------------------------


def test_pictures_that_suit(twenty, soft, logistic):
    names = {s.problem.kind: [p.name for p in pictures(s)] for s in (twenty, soft, logistic)}
    assert names["hard-margin"][:2] == ["boundary", "hulls"]
    assert {"multipliers", "slackness"} <= set(names["soft-margin"])
    assert "probability" in names["logistic"]
    assert "multipliers" not in names["logistic"]
    assert [p.name for p in pictures(cc.load("xor_hard_margin").solve())] == ["hulls"]


def test_words_of_a_picture_have_its_numbers(twenty):
    words = {p.name: p.alt for p in pictures(twenty)}
    assert "20 samples (10 blue, 10 orange), 3 of them support points (rows 7, 10 and 18)" in words["boundary"]
    assert "0.6667 x1 + 0.6667 x2 - 8.333 = 0" in words["boundary"]
    assert "2.121 apart" in words["hulls"]


@pytest.mark.parametrize("display", [BoundaryDisplay, MultipliersDisplay, SlacknessDisplay, LossSliceDisplay])
def test_an_infeasible_problem_points_to_its_hulls(display):
    with pytest.raises(cc.NoAnswer, match=r"infeasible.*HullsDisplay"):
        display.from_solution(cc.load("xor_hard_margin").solve())


@pytest.mark.parametrize(
    ("display", "problem", "words"),
    [
        (BoundaryDisplay, "nist_norris", "real targets"),
        (MultipliersDisplay, "spector", "no multipliers by sample"),
        (SlacknessDisplay, "spector", "no inequalities"),
        (ProbabilityDisplay, "twenty_points", "no probabilities"),
        (TrajectoryDisplay, "twenty_points_perceptron", "not a perceptron"),
        (LossesDisplay, "fisher", "not a sum of losses"),
        (ConvergenceDisplay, "twenty_points", "trace of one line"),
        (HullsDisplay, "softmax_table", "not two classes"),
        (HullsDisplay, "through_the_origin", "intercept"),
        (LossSliceDisplay, "kernel_xor", "not stated in coef"),
    ],
)
def test_a_picture_that_makes_no_sense_says_why(display, problem, words):
    with pytest.raises(cc.NoAnswer, match=words):
        display.from_solution(cc.load(problem).solve())


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ((0, 99), "no feature 99"),
        (("x1", "zz"), "no feature 'zz'"),
        ((1, "x2"), "twice"),
        ((1, 2, 3), "name two"),
    ],
)
def test_features_that_are_not_there(features, words):
    with pytest.raises(ValueError, match=words):
        BoundaryDisplay.of(cc.load("heart_scale").solve(), features=features)


def test_estimators_are_read_by_their_solution(soft):
    shown = MultipliersDisplay.from_estimator(SimpleNamespace(solution_=soft), ax=Figure().subplots())
    assert shown.n == 80
    with pytest.raises(ValueError, match="made of 2 problems"):
        MultipliersDisplay.from_estimator(SimpleNamespace(solution_=(soft, soft)))
    with pytest.raises(TypeError, match="fit it first"):
        MultipliersDisplay.from_estimator(SimpleNamespace())
