"""The figures of the lectures, against numbers worked out from their formulas."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from scipy.stats import chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

import convexcls as cc
from convexcls.cli import main
from convexcls.plots import (
    BoundaryDisplay,
    DescentDisplay,
    EllipsesDisplay,
    HyperplaneDisplay,
    MistakesDisplay,
    ProjectionDisplay,
    SigmoidDisplay,
    SurfaceDisplay,
)

mpl.use("Agg")


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(size=(40, 2)), rng.normal((2, 1), size=(40, 2))]), np.repeat(["a", "b"], 40)


@pytest.fixture(scope="module")
def soft(clouds):
    return cc.SoftMarginSVM(*clouds).solve()


# ---- the sigmoid --------------------------------------------------------------------------------------------------


def test_samples_on_the_wrong_side_of_a_threshold(clouds):
    X, y = clouds
    s = cc.LogisticMLE(X, y).solve()
    shown = SigmoidDisplay.of(s, threshold=0.7)
    p = 1 / (1 + np.exp(-(X @ s.coef + s.intercept)))
    np.testing.assert_array_equal(shown.wrong, np.flatnonzero((p > 0.7) != (y == "b")))
    assert shown.cut == pytest.approx(np.log(0.7 / 0.3), rel=1e-14)
    lost = np.sum((p <= 0.7) & (y == "b"))
    assert f"and {lost} of b for a" in shown.describe()
    with pytest.raises(ValueError, match="between 0 and 1"):
        SigmoidDisplay.of(s, threshold=1.0)
    with pytest.raises(cc.NoAnswer, match="no probabilities"):
        SigmoidDisplay.of(cc.SoftMarginSVM(X, y).solve())


def test_samples_at_one_place_are_stacked_beside_each_other():
    s = cc.LogisticMLE([[0]] * 5 + [[1]] * 3, [0, 0, 0, 1, 1, 0, 1, 1], l2=0.1).solve()
    ax = SigmoidDisplay.of(s).plot(Figure().subplots()).ax_
    drawn = np.vstack([group.get_offsets() for group in ax.collections[:2]])
    assert len(np.unique(drawn.round(9), axis=0)) == 8


# ---- the hyperplane -------------------------------------------------------------------------------------------------


def test_feet_and_distances_are_those_of_the_formula(clouds):
    X, y = clouds
    beta, beta_0 = np.array([3.0, 4.0]), -2.0
    shown = HyperplaneDisplay.of_plane(beta, beta_0, X, y, rows=[3, 50])
    for row, foot, distance in zip((3, 50), shown.feet, shown.distances, strict=True):
        assert beta @ foot + beta_0 == pytest.approx(0.0, abs=1e-12)  # x0 lies on the hyperplane (ESL 4.40)
        assert distance == pytest.approx(beta @ (X[row] - foot) / 5, abs=1e-12)
        assert np.linalg.norm(X[row] - foot) == pytest.approx(abs(distance), abs=1e-12)
    f = X[[3, 50]] @ beta + beta_0
    np.testing.assert_allclose(shown.functional, f * [-1, 1], atol=1e-12)
    np.testing.assert_allclose(shown.geometric, f * [-1, 1] / 5, atol=1e-12)


def test_twice_the_coefficients_are_the_same_hyperplane_with_twice_the_functional_margins(clouds):
    once, twice = (HyperplaneDisplay.of_plane([k * 1.0, k * 2.0], k * 0.5, *clouds, rows=[0, 70]) for k in (1, 2))
    np.testing.assert_allclose(twice.functional, 2 * once.functional)
    np.testing.assert_allclose(twice.geometric, once.geometric)
    np.testing.assert_allclose(twice.feet, once.feet)


def test_of_many_features_the_distance_is_seen_in_its_length():
    s = cc.load("heart_scale").solve()
    shown = HyperplaneDisplay.of(s, rows=[0, 7])
    lengths = np.linalg.norm(shown.points.at(np.array([0, 7])) - shown.feet, axis=1)
    np.testing.assert_allclose(lengths, np.abs(s.signed_distances[[0, 7]]), rtol=1e-9)


def test_by_default_the_nearest_sample_of_each_class_is_measured():
    s = cc.load("twenty_points").solve()
    shown = HyperplaneDisplay.of(s)
    np.testing.assert_allclose(shown.functional, 1.0, rtol=1e-9)
    np.testing.assert_allclose(shown.geometric, 1 / np.linalg.norm(s.coef), rtol=1e-9)
    assert "f grows by one every 1.061" in shown.describe()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: HyperplaneDisplay.of(cc.load("circle").solve()), "curved"),
        (lambda: HyperplaneDisplay.of_plane([0, 0], 1, [[0, 0], [1, 1]], [0, 1]), "coef is zero"),
        (lambda: HyperplaneDisplay.of_plane([1], 1, [[0, 0], [1, 1]], [0, 1]), "give 2 finite"),
        (lambda: HyperplaneDisplay.of_plane([1, 1], 1, [[0, 0], [1, 1]], [0, 1], rows=[2]), "0 to 1"),
        (lambda: HyperplaneDisplay.of(cc.LogisticMLE([[0], [1], [2], [3]], [0, 1, 0, 1]).solve()), "it is a point"),
    ],
)
def test_a_hyperplane_that_cannot_be_drawn_says_why(make, words):
    with pytest.raises(ValueError, match=words):
        make()


# ---- f, y f and the losses over the plane ---------------------------------------------------------------------------

LOSSES = {
    "zero-one": lambda m: (m <= 0) * 1.0,
    "perceptron": lambda m: np.maximum(0, -m),
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "squared": lambda m: (1 - m) ** 2,
    "absolute": lambda m: np.abs(1 - m),
    "logistic": lambda m: np.log(1 + np.exp(-m)),
    "exponential": lambda m: np.exp(-m),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("label", "y"), [("a", -1), ("b", 1)])
def test_each_loss_over_the_plane(soft, clouds, loss, label, y):
    shown = SurfaceDisplay.of(soft, loss=loss, label=label)
    u, v = np.meshgrid(shown.field.u, shown.field.v)
    f = u * soft.coef[0] + v * soft.coef[1] + soft.intercept
    np.testing.assert_allclose(shown.field.values, LOSSES[loss](y * f), rtol=1e-9, atol=1e-9)
    mine = y * (clouds[0][clouds[1] == label] @ soft.coef + soft.intercept)
    assert shown.paid == pytest.approx(LOSSES[loss](mine).sum(), rel=1e-9)
    assert set(shown.points.classes) == {int(label == "b")}
    shown.plot(Figure().subplots())


def test_score_and_margin_over_the_plane(soft):
    score, margin = (SurfaceDisplay.of(soft, show=show, label="a") for show in ("score", "margin"))
    np.testing.assert_array_equal(margin.field.values, -score.field.values)
    assert score.points.rows.size == 80
    assert margin.points.rows.size == 40
    assert SurfaceDisplay.of(soft).loss == "hinge"  # the model's own
    for options, words in (
        ({"show": "height"}, "show is"),
        ({"label": "c"}, "label is"),
        ({"loss": "huber"}, "loss is"),
    ):
        with pytest.raises(ValueError, match=words):
            SurfaceDisplay.of(soft, **options)


# ---- Gaussian classes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", ["shared", "by-class"])
def test_ellipses_have_the_mahalanobis_radius_of_their_share(clouds, covariance):
    X, y = clouds
    X = np.column_stack([X, X[:, 0] - X[:, 1] ** 2])
    shown = EllipsesDisplay.of(cc.GaussianMLE(X, y, covariance=covariance).solve(), features=(2, 0), shares=(0.3, 0.95))
    parts = [X[y == label][:, [2, 0]] for label in "ab"]
    own = [np.cov(part.T, bias=True) for part in parts]
    for k, part in enumerate(parts):
        V = own[k] if covariance == "by-class" else (own[0] + own[1]) / 2  # as many samples in each
        np.testing.assert_allclose(shown.means[k], part.mean(axis=0), atol=1e-8)
        for line, share in zip(shown.ellipses[k], (0.3, 0.95), strict=True):
            away = line - part.mean(axis=0)
            square = np.einsum("ij,ji->i", away, np.linalg.solve(V, away.T))
            np.testing.assert_allclose(square, chi2.ppf(share, 2), rtol=1e-6)
    assert not shown.boundaries  # three features: the boundary is no line of this plane
    assert "densities of these two alone" in shown.view.names[0]


def test_ellipses_are_of_models_of_the_densities(soft):
    with pytest.raises(cc.NoAnswer, match="see GaussianMLE"):
        EllipsesDisplay.of(soft)


# ---- why mistakes are not minimised ---------------------------------------------------------------------------------


def test_the_count_along_a_line_rises_above_a_chord(soft, clouds):
    X, y = clouds
    shown = MistakesDisplay.of(soft, direction=[0.0, 2.0, 0.0])
    signs = np.where(y == "b", 1, -1)
    for t, count, loss in zip(shown.t, shown.counts, shown.losses, strict=True):
        m = signs * (X @ (soft.coef + np.array([0, t])) + soft.intercept)
        assert count == np.sum(m <= 0)
        assert loss == pytest.approx(np.maximum(0, 1 - m).sum())
    left, middle, right = shown.t[shown.chord]
    share = (middle - left) / (right - left)
    assert 0 < share < 1
    at = shown.counts[shown.chord]
    assert at[1] - ((1 - share) * at[0] + share * at[2]) == pytest.approx(shown.excess)
    assert shown.excess > 0.5
    between = (shown.losses[:-2] + shown.losses[2:]) / 2
    assert np.all(shown.losses[1:-1] <= between + 1e-9)  # the hinge stays below all of its chords


@pytest.mark.parametrize("seed", range(5))
def test_no_chord_shows_more_than_the_one_drawn(seed):
    from convexcls.plots.mistakes import _above_a_chord

    t = np.linspace(-1.0, 1.0, 15)
    counts = np.random.default_rng(seed).integers(0, 6, size=15).astype(float)
    most = max(
        counts[j] - np.interp(t[j], t[[i, k]], counts[[i, k]])
        for j in range(1, 14)
        for i in range(j)
        for k in range(j + 1, 15)
    )
    excess, (i, j, k) = _above_a_chord(t, counts)
    assert excess == pytest.approx(most)
    assert counts[j] - np.interp(t[j], t[[i, k]], counts[[i, k]]) == pytest.approx(most)


@pytest.mark.parametrize("loss", ["zero-one", "0-1", "zero_one", cc.losses.ZeroOne()])
def test_the_zero_one_loss_is_answered_with_the_picture_of_why(clouds, loss):
    with pytest.raises(cc.ProblemError, match=r"not convex.*hinge.*MistakesDisplay"):
        cc.EmpiricalRisk(*clouds, loss=loss)


def test_the_zero_one_loss_of_a_soft_margin_is_not_convex_either(clouds):
    with pytest.raises(cc.ProblemError, match="not convex"):
        cc.SoftMarginSVM(*clouds, loss="0-1")
    with pytest.raises(ValueError, match="choose one of"):
        cc.SoftMarginSVM(*clouds, loss=cc.losses.Hinge())


# ---- ways down ------------------------------------------------------------------------------------------------------


def logistic(X, y, beta):
    return np.log1p(np.exp(-np.where(y == "b", 1, -1) * (X @ beta))).sum()


def test_the_ways_are_those_of_newton_and_of_gradient_descent(clouds):
    X, y = clouds
    problem, start = cc.LogisticMLE(X, y, intercept=False), {"coef": [-0.5, 0.5]}
    runs = {"Newton": "newton", "steps of 0.01": ("gradient", {"step": "fixed", "eta0": 0.01, "max_iter": 30})}
    shown = DescentDisplay.of_solvers(problem, runs, start=start)
    t = (y == "b") * 1.0
    beta = np.array([-0.5, 0.5])
    for place in shown.paths["steps of 0.01"]:
        np.testing.assert_allclose(place, beta, rtol=1e-9)
        beta = beta + 0.01 * X.T @ (t - 1 / (1 + np.exp(-X @ beta)))
    assert len(shown.paths["steps of 0.01"]) == 30
    p = 1 / (1 + np.exp(-X @ [-0.5, 0.5]))
    step = np.linalg.solve(X.T @ (X * (p * (1 - p))[:, None]), X.T @ (t - p))
    np.testing.assert_allclose(shown.paths["Newton"][1], np.array([-0.5, 0.5]) + step, rtol=1e-9)
    for i, j in ((0, 0), (3, 50), (-1, 20)):
        known = logistic(X, y, np.array([shown.u[j], shown.v[i]]))
        assert shown.heights[i, j] == pytest.approx(known, rel=1e-9)
    assert shown.whole
    np.testing.assert_allclose(shown.end, problem.solve().coef, atol=1e-6)


def test_contours_of_more_unknowns_hold_the_others_where_the_best_way_ends(clouds):
    X, y = clouds
    problem = cc.SoftMarginSVM(X, y, C=2.0)
    ends = {"worse": [[0, 0, 0], [1, 1, -2]], "better": [[0.0, 0.0, 0.0], [1.2, 0.9, -1.7]]}
    shown = DescentDisplay.of_paths(problem, ends, unknowns=(2, 0))
    assert (shown.names, shown.whole) == (("intercept", "coef of x1"), False)
    signs = np.where(y == "b", 1, -1)
    for i, j in ((0, 0), (40, 7)):
        b, first = shown.u[j], shown.v[i]
        m = signs * (X @ [first, 0.9] + b)
        known = (first**2 + 0.81) / 2 + 2 * np.maximum(0, 1 - m).sum()
        assert shown.heights[i, j] == pytest.approx(known, rel=1e-9)


def test_ways_that_cannot_be_drawn_say_why(clouds):
    problem = cc.LogisticMLE(*clouds, l2=1.0)
    with pytest.raises(ValueError, match="unknowns is"):
        DescentDisplay.of_paths(problem, {"a": [[0, 0, 0]]}, unknowns=(0, 3))
    with pytest.raises(ValueError, match="of 3 unknowns"):
        DescentDisplay.of_paths(problem, {"a": [[0, 0]]})
    with pytest.raises(cc.NoAnswer, match="of_solvers"):
        DescentDisplay.of(cc.LeastSquares(*clouds).solve("closed-form"))


# ---- any direction; pipelines ---------------------------------------------------------------------------------------


def test_projections_on_other_directions_beside_fishers(clouds):
    X, y = clouds
    s = cc.FisherLDA(X, y).solve()
    means = [X[y == label].mean(axis=0) for label in "ab"]
    within = sum((X[y == label] - m).T @ (X[y == label] - m) for label, m in zip("ab", means, strict=True))
    ratios = []
    for direction, w in ((0, s.coef), ("means", means[1] - means[0]), ([0.0, 1.0], np.array([0.0, 1.0]))):
        shown = ProjectionDisplay.of(s, direction=direction)
        for k, label in enumerate("ab"):
            np.testing.assert_allclose(np.sort(shown.projected[k]), np.sort(X[y == label] @ w), atol=1e-12)
        ratios.append(shown.ratio)
        assert shown.ratio == pytest.approx((w @ (means[1] - means[0])) ** 2 / (w @ within @ w), rel=1e-9)
        places = np.sort(X @ w)
        cuts = (places[1:] + places[:-1]) / 2
        assert shown.errors == min(np.sum((X @ w > cut) != (y == "b")) for cut in cuts)
    assert ratios[0] == max(ratios)
    assert ProjectionDisplay.of(s, direction=[0.0, -1.0]).projected[1].mean() > 0  # turned: the second class above
    with pytest.raises(ValueError, match="2 finite numbers"):
        ProjectionDisplay.of(s, direction=[1.0])
    with pytest.raises(ValueError, match="'means'"):
        ProjectionDisplay.of(s, direction="mean")


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=lambda s: type(s).__name__)
def test_a_pipeline_is_drawn_on_the_axes_of_its_samples(clouds, scaler):
    X, y = clouds[0] * [1.0, 1000.0], clouds[1]
    fitted = make_pipeline(scaler, cc.SoftMarginSVC()).fit(X, y)
    shown = BoundaryDisplay.from_estimator(fitted, X, y=y, ax=Figure().subplots())
    (line,) = shown.boundaries[0]
    np.testing.assert_allclose(fitted.decision_function(line), 0.0, atol=1e-6)
    for lines, level in zip(shown.margins, (-1, 1), strict=True):
        np.testing.assert_allclose(fitted.decision_function(lines[0]), level, atol=1e-6)
    np.testing.assert_array_equal(shown.points.places, X)
    np.testing.assert_array_equal(shown.points.mistakes, np.flatnonzero(fitted.predict(X) != y))
    np.testing.assert_array_equal(shown.points.support, fitted[-1].solution_.support)
    assert not BoundaryDisplay.of_pipeline(fitted, X[::-1]).points.support.size  # other samples, labels as predicted
    with pytest.raises(TypeError, match="give X"):
        BoundaryDisplay.from_estimator(fitted)


def test_a_pipeline_of_a_table_keeps_its_names(clouds):
    table = pd.DataFrame(clouds[0], columns=["age", "dose"])
    bent = QuantileTransformer(n_quantiles=20).set_output(transform="pandas")
    fitted = make_pipeline(bent, cc.LogisticClassifier()).fit(table, clouds[1])
    shown = BoundaryDisplay.of_pipeline(fitted, table, clouds[1], name="bent")
    assert shown.view.names == ("age", "dose")
    assert "before QuantileTransformer" in shown.describe()
    plain = pd.DataFrame(np.vstack(shown.boundaries[0]), columns=["age", "dose"])
    assert np.median(np.abs(fitted.decision_function(plain))) < 1e-2


# ---- the command line -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("spector", "sigmoid"),
        ("twenty_points", "hyperplane"),
        ("twenty_points", "mistakes"),
        ("soft_margin", "surface"),
        ("spector", "descent"),
    ],
)
def test_each_figure_is_drawn_on_the_command_line(source, kind, tmp_path):
    target = tmp_path / "figure.svg"
    done = CliRunner().invoke(main, ["plot", source, "--kind", kind, "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert target.read_bytes().startswith(b"<?xml")


def test_ellipses_are_drawn_on_the_command_line(tmp_path):
    source, target = tmp_path / "data.csv", tmp_path / "figure.svg"
    source.write_text("a,b,y\n1,1,u\n3,2,u\n2,3,u\n7,5,v\n9,6,v\n8,7,v\n")
    args = ["plot", str(source), "-m", "gaussian", "--kind", "ellipses", "-o", str(target)]
    assert CliRunner().invoke(main, args).exit_code == 0
    assert b"holds 90 % of u" in target.read_bytes()


def test_a_descent_that_no_solver_takes_says_so(tmp_path):
    target = tmp_path / "figure.svg"
    done = CliRunner().invoke(main, ["plot", "twenty_points", "--kind", "descent", "-o", str(target)])
    assert done.exit_code == 1
    assert "newton, gradient, sgd" in done.output
