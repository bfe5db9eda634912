"""Paths: every point is the solution, proved, whatever the one before was; and what is not proved is shown."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import matplotlib as mpl
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import convexcls as cc
from convexcls.cli import main
from convexcls.cli.studies import read_values
from convexcls.problem import Problem
from convexcls.problem.scaling import equilibrate
from convexcls.solvers import Start
from convexcls.solvers.rows.continuation import can_be_continued, continued, settled
from convexcls.solvers.rows.reduction import RowReduction
from tests.datasets import every_model, overlapping

mpl.use("Agg")
CS = np.geomspace(1e-3, 1e3, 9)


def objective(X, y, C, s, loss="hinge"):
    lost = np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * (X @ s.coef + s.intercept))
    return 0.5 * s.coef @ s.coef + C * (lost if loss == "hinge" else lost**2).sum()


# ---- the soft margin along C ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_point_is_the_one_found_from_nothing(loss, intercept):
    X, y = overlapping(80, 4)
    path = cc.path(cc.SoftMarginSVM, X, y, C=CS, loss=loss, intercept=intercept)
    assert path.statuses == ("optimal",) * 9
    for C, s in zip(CS, path.solutions, strict=True):
        alone = cc.SoftMarginSVM(X, y, C=C, loss=loss, intercept=intercept).solve()
        assert s.objective == pytest.approx(alone.objective, rel=1e-12)  # coefficients of 1 are sums of multipliers C
        np.testing.assert_allclose(s.coef, alone.coef, rtol=1e-9, atol=1e-10)
        assert s.problem.parameters["C"] == C


def test_scikit_learn_agrees():
    from sklearn.svm import SVC

    X, y = overlapping(40, 3)
    path = cc.path(cc.SoftMarginSVM, X, y, C=[0.03, 0.3, 1.0])
    for C, s in zip(path.values, path.solutions, strict=True):
        theirs = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(s.coef, theirs.coef_[0], rtol=1e-6, atol=1e-7)
        assert s.support.size == theirs.support_.size


def test_the_points_are_continued_and_not_begun_anew():
    X, y = overlapping(120, 5)
    path = cc.path(cc.SoftMarginSVM, X, y, C=CS)
    assert all("continued" in s.message for s in path.solutions[1:])
    assert "continued" not in path[0].message
    assert path[-1].kkt.worst < 1e-12


def test_an_active_set_that_is_right_already_needs_no_step():
    X, y = overlapping(40, 2)
    problem = cc.SoftMarginSVM(X, y, C=0.7)
    for solver in ("clarabel", "osqp"):
        first = problem.solve(solver)
        again = problem.solve(solver, start=first)
        assert (again.status, again.iterations) == ("optimal", 0)
        np.testing.assert_allclose(again.coef, first.coef, rtol=1e-12)


@pytest.mark.parametrize("solver", ["clarabel", "osqp"])
def test_a_named_solver_is_kept(solver):
    X, y = overlapping(40, 2)
    path = cc.path(cc.SoftMarginSVM, X, y, C=[0.1, 1.0, 10.0], solver=solver)
    assert {s.solver for s in path.solutions} == {solver}
    assert path.proved


def test_a_solver_that_cannot_begin_anywhere_solves_each_point():
    X, y = overlapping(40, 2)
    path = cc.path(cc.LogisticMLE, X, y, l2=[1.0, 2.0], solver="newton-kkt")
    assert path.statuses == ("optimal", "optimal")


def test_weights_and_sparse_samples():
    X, y = overlapping(60, 4)
    X[np.abs(X) < 0.7] = 0.0
    w = np.arange(60) % 3 + 0.5
    dense = cc.path(cc.SoftMarginSVM, X, y, C=CS, sample_weight=w)
    thin = cc.path(cc.SoftMarginSVM, sparse.csr_array(X), y, C=CS, sample_weight=w)
    assert dense.statuses == thin.statuses == ("optimal",) * 9
    np.testing.assert_allclose(dense.coef, thin.coef, rtol=1e-9, atol=1e-11)


def test_samples_of_weight_zero_and_repeated_samples():
    X, y = overlapping(30, 2)
    X, y = np.vstack([X, X]), np.append(y, y)  # multipliers are not unique
    w = np.ones(60)
    w[:5] = 0.0
    for loss in ("hinge", "squared_hinge"):
        path = cc.path(cc.SoftMarginSVM, X, y, C=CS, sample_weight=w, loss=loss)
        assert path.statuses == ("optimal",) * 9
        assert all("continued" in s.message for s in path.solutions[1:])


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(6, 30), st.integers(1, 4), st.sampled_from(["hinge", "squared_hinge"]))
def test_small_grids_of_integers_are_followed_too(seed, n, d, loss):
    """Ties, repeated and contradicting samples: what a continuation stumbles over falls back to solving anew."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, size=(n, d)).astype(float), rng.integers(0, 2, size=n)
    y[:2] = [0, 1]
    path = cc.path(cc.SoftMarginSVM, X, y, C=[0.01, 0.5, 1.0, 20.0], loss=loss)
    assert path.statuses == ("optimal",) * 4
    for C, s in zip(path.values, path.solutions, strict=True):
        alone = cc.SoftMarginSVM(X, y, C=C, loss=loss).solve("clarabel")
        assert s.objective == pytest.approx(alone.objective, rel=1e-9)
        assert s.objective == pytest.approx(objective(X, y, C, s, loss), rel=1e-9)


def test_features_of_very_different_size():
    X, y = overlapping(60, 3)
    path = cc.path(cc.SoftMarginSVM, X * [1e-6, 1.0, 1e6], y, C=np.geomspace(1e-8, 1e-2, 7))
    assert path.statuses == ("optimal",) * 7


def test_the_order_of_the_values_does_not_matter():
    X, y = overlapping(50, 3)
    up, mixed = CS, CS[[4, 0, 8, 2, 6, 1, 3, 5, 7]]
    first, other = cc.path(cc.SoftMarginSVM, X, y, C=up), cc.path(cc.SoftMarginSVM, X, y, C=mixed)
    np.testing.assert_array_equal(other.values, mixed)
    np.testing.assert_allclose(other.coef[np.argsort(mixed)], first.coef, rtol=1e-12)


def test_shrinking_c_pulls_the_coefficients_to_zero():
    X, y = overlapping(50, 3)
    norms = np.linalg.norm(cc.path(cc.SoftMarginSVM, X, y, C=CS).coef, axis=1)
    assert np.all(np.diff(norms) >= -1e-12)
    assert norms[0] < 0.2 * norms[-1]


# ---- continuation: exact or not at all ------------------------------------------------------------------


CONTINUED = (
    "hard-margin",
    "hard-margin-no-intercept",
    "soft-margin",
    "soft-margin-no-intercept",
    "soft-margin-weighted",
    "squared-hinge",
    "least-absolute",
    "least-absolute-weighted",
    "hinge-l1",
    "squared-l1",
    "perceptron",
)


def test_which_problems_can_be_continued():
    assert {name for name, p in every_model().items() if can_be_continued(p)} == set(CONTINUED)


@pytest.mark.parametrize("name", ["hard-margin", "soft-margin", "soft-margin-weighted", "squared-hinge"])
def test_there_and_back(name):
    problem = equilibrate(every_model()[name]).problem
    s = problem.solve("clarabel")
    reduction = RowReduction.of(problem)
    x, multipliers = reduction.restored(*reduction.reduced(s.x, s.multipliers))
    np.testing.assert_allclose(x, s.x, atol=1e-9)
    for block, z in multipliers.items():
        np.testing.assert_allclose(z, s.multipliers[block], atol=1e-9)


@pytest.mark.parametrize("name", CONTINUED)
def test_continued_from_nothing_it_is_a_solver(name):
    problem = every_model()[name]
    answer = continued(Start(np.zeros(problem.size)), problem)
    assert answer is not None
    assert problem.objective(answer.x) == pytest.approx(problem.solve("clarabel").objective, rel=1e-12)


@pytest.mark.parametrize("name", CONTINUED)
def test_continued_from_the_solution_it_makes_no_step(name):
    problem = every_model()[name]
    s = problem.solve("clarabel")
    answer = continued(Start(np.array(s.x), s.multipliers), problem)
    assert answer is not None
    assert answer.iterations == 0


def test_a_step_that_is_rounding_is_no_step():
    """Where every row is at a bound, the solution off by a few roundings is as good as the solution."""
    problem = every_model()["squared-l1"]
    s = problem.solve("clarabel")
    for k in (-2, -1, 1, 2):
        answer = continued(Start(np.array(s.x) * (1.0 + k * 2.0**-52), s.multipliers), problem)
        assert answer is not None
        assert answer.iterations == 0


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_costs_without_curvature_are_continued_along_their_penalty(loss):
    X, y = overlapping(80, 4)
    path = cc.path(cc.EmpiricalRisk, X, y, loss=loss, l1=[8.0, 2.0, 0.5], solver="interior-point")
    assert path.statuses == ("optimal",) * 3
    assert all("continued" in s.message for s in path.solutions[1:])


def test_a_wrong_partition_is_not_taken_for_the_solution():
    """From a point that is off by far more than rounding, the nearest partition is another one."""
    problem = every_model()["soft-margin"]
    s = problem.solve("clarabel")
    swapped = {name: z[::-1].copy() for name, z in s.multipliers.items()}
    assert settled(problem, np.array(s.x), swapped) is None
    exact = settled(problem, np.array(s.x), dict(s.multipliers))
    assert exact is not None
    np.testing.assert_allclose(exact[0], s.x, atol=1e-12)


def test_infeasible_problems_are_not_continued():
    problem = cc.load("xor_hard_margin")
    assert continued(Start(np.zeros(problem.size)), problem) is None
    assert problem.solve("clarabel", start={"coef": [1.0, 1.0]}).status == "infeasible"


def test_where_clarabel_makes_no_progress_the_rest_of_the_way_is_found():
    """Clarabel 0.11 says InsufficientProgress here, half a percent above the optimum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(270, 13))
    y = np.where(X @ rng.normal(size=13) + 2 * rng.normal(size=270) > 0, 1, 0)
    assert cc.SoftMarginSVM(X, y, C=100.0, loss="squared_hinge").solve("clarabel").status == "optimal"


def test_a_column_of_zeros_without_a_penalty_is_no_obstacle():
    X, y = overlapping(40, 3)
    X[:, 1] = 0.0
    path = cc.path(cc.EmpiricalRisk, X, y, loss="hinge", l2=[0.0, 1e-3, 1.0])
    assert path.statuses == ("optimal",) * 3


def test_numbers_at_the_ends_of_the_range_are_no_obstacle():
    X, y = overlapping(30, 2)
    for size in (1e-100, 1e100):
        path = cc.path(cc.SoftMarginSVM, size * X, y, C=np.array([0.1, 1.0, 10.0]) / size**2)
        assert path.statuses == ("optimal",) * 3


def test_osqp_begins_where_it_is_told():
    problem = every_model()["least-absolute-weighted"]
    cold = problem.solve("osqp")
    warm = problem.solve("osqp", start=cold)
    assert warm.status == "optimal"
    assert warm.iterations < cold.iterations / 10


# ---- penalties ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [cc.LogisticMLE, cc.LeastSquares])
def test_ridge_paths_from_none_to_much(model):
    X, y = overlapping(50, 3)
    path = cc.path(model, X, y, l2=[0.0, 1e-8, 1e-2, 1.0, 1e3, 1e8])
    assert path.statuses == ("optimal",) * 6
    np.testing.assert_allclose(path.coef[0], model(X, y).solve().coef, rtol=1e-8)
    assert np.abs(path.coef[-1]).max() < 1e-5
    for l2, s in zip(path.values, path.solutions, strict=True):
        assert s.objective == pytest.approx(model(X, y, l2=l2).solve().objective, rel=1e-12)


def test_a_kernel_has_a_path_without_coefficients():
    X, y = overlapping(30, 2)
    path = cc.path(cc.KernelSVM, X, y, kernel="rbf", C=[0.1, 1.0, 10.0])
    assert path.proved
    assert path.to_dict()["points"][0]["coef"] is None
    assert [row[4] for row in path.table()] == ["-"] * 3
    with pytest.raises(cc.NoAnswer, match="no coef"):
        path.plot()


def test_softmax_path():
    X, _ = overlapping(60, 2)
    y = np.arange(60) % 3
    path = cc.path(cc.SoftmaxMLE, X, y, l2=[0.1, 1.0, 10.0])
    assert path.coef.shape == (3, 3, 2)
    assert path.intercept.shape == (3, 3)
    assert path.proved
    np.testing.assert_allclose(path.coef[1], cc.SoftmaxMLE(X, y, l2=1.0).solve().coef, rtol=1e-7, atol=1e-10)


def test_the_lasso_path_along_l1():
    X, y = overlapping(40, 4)
    path = cc.path(cc.EmpiricalRisk, X, y, loss="squared", l1=[0.1, 10.0, 1000.0])
    assert path.proved
    np.testing.assert_allclose(path.coef[-1], 0.0, atol=1e-9)


def test_an_unattained_point_is_shown_as_such():
    data = cc.load("logistic_separated").data
    path = cc.path(cc.LogisticMLE, data.matrix, data.given, l2=[0.0, 0.1, 1.0])
    assert path.statuses == ("unattained", "optimal", "optimal")
    assert np.isnan(path.coef[0]).all()
    assert np.isnan(path.objective[0])
    text = str(path)
    assert "unattained" in text
    assert "l2 = 0: no minimum exists" in text
    assert path.proved
    assert path.to_dict()["points"][0]["coef"] is None


def test_a_point_that_is_not_proved_is_shown_as_such():
    X, y = overlapping(40, 3)
    path = cc.path(cc.LogisticMLE, X, y, l2=[1e-6, 1.0], solver="newton", tol=1e-200)
    assert "undecided" in path.statuses
    assert not path.proved
    assert "not proved: " in str(path)


# ---- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"C": [1.0, 0.0]}, r"C\[1\] is 0: every value must be finite and above 0"),
        ({"C": [1.0, -2.0]}, r"C\[1\] is -2"),
        ({"C": [np.nan]}, r"C\[0\] is nan"),
        ({"C": [1.0, 2.0, 1.0]}, r"C\[2\] is 1, which is there before"),
        ({"C": []}, "at least one"),
        ({"C": [[1.0]]}, "shape"),
        ({"C": ["a lot"]}, "not a number"),
        ({"C": 1.0}, "none was given"),
        ({}, "none was given"),
        ({"C": [1.0], "l2": [1.0]}, "C and l2 were given"),
    ],
)
def test_values_that_make_no_path(given, words):
    X, y = overlapping(20, 2)
    with pytest.raises(ValueError, match=words):
        cc.path(cc.SoftMarginSVM, X, y, **given)


def test_a_model_and_not_a_problem():
    X, y = overlapping(20, 2)
    with pytest.raises(TypeError, match="give the class"):
        cc.path(cc.SoftMarginSVM(X, y), X, y, C=[1.0])
    with pytest.raises(TypeError, match="give the class"):
        cc.path(Problem, X, y, C=[1.0])
    with pytest.raises(TypeError, match="l2"):
        cc.path(cc.SoftMarginSVM, X, y, l2=[1.0])


def test_the_callers_arrays_are_left_alone():
    X, y = overlapping(20, 2)
    values = np.array([1.0, 0.1])
    copies = X.copy(), y.copy(), values.copy()
    path = cc.path(cc.SoftMarginSVM, X, y, C=values)
    for array, copy in zip((X, y, values), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    values[0] = 5.0
    assert path.values[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        path.values[0] = 2.0


# ---- the object -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def path():
    X, y = overlapping(40, 3)
    return cc.path(cc.SoftMarginSVM, X, y, C=[0.1, 1.0, 10.0])


def test_what_it_holds(path):
    assert (path.parameter, path.model, len(path)) == ("C", "soft-margin", 3)
    assert path.coef.shape == (3, 3)
    assert path.intercept.shape == path.objective.shape == path.seconds.shape == (3,)
    assert path.support == tuple(s.support.size for s in path.solutions)
    assert path[1].problem.parameters["C"] == 1.0
    values = json.loads(json.dumps(path.to_dict(), allow_nan=False))
    assert [point["C"] for point in values["points"]] == [0.1, 1.0, 10.0]


def test_progress_hears_of_every_point():
    X, y = overlapping(30, 2)
    heard = []
    cc.path(cc.LogisticMLE, X, y, l2=[0.1, 10.0, 1.0], progress=heard.append)
    assert [s.problem.parameters["l2"] for s in heard] == [10.0, 1.0, 0.1]


def test_text_has_a_line_a_point(path):
    lines = str(path).splitlines()
    assert len(lines) == 2 + 3
    assert lines[0].split()[:2] == ["C", "status"]
    assert [line.split()[:2] for line in lines[2:]] == [["0.1", "optimal"], ["1", "optimal"], ["10", "optimal"]]


@pytest.mark.parametrize("against", ["log", "linear", "norm"])
def test_a_picture_has_a_line_a_coefficient(path, against):
    from matplotlib import pyplot

    ax = path.plot(against=against).ax_
    drawn = [line for line in ax.get_lines() if line.get_label() in ("x1", "x2", "x3")]
    np.testing.assert_array_equal([line.get_ydata() for line in drawn], path.coef.T)
    assert ax.get_xscale() == ("log" if against == "log" else "linear")
    pyplot.close("all")


def test_a_picture_into_given_axes_marks_what_has_no_solution():
    from matplotlib.figure import Figure

    data = cc.load("logistic_separated").data
    path = cc.path(cc.LogisticMLE, data.matrix, data.given, l2=[0.0, 0.1, 1.0])
    ax = Figure().subplots()
    assert path.plot(ax).ax_ is ax
    assert ax.get_xscale() == "symlog"
    assert [text.get_text() for text in ax.texts] == ["unattained"]


def test_a_picture_names_classes_and_takes_dollars_for_dollars():
    import pandas as pd
    from matplotlib.figure import Figure

    X, _ = overlapping(60, 2)
    ax = Figure().subplots()
    frame = pd.DataFrame(X, columns=["price_$", "cost_$"])
    cc.path(cc.SoftmaxMLE, frame, np.arange(60) % 3, l2=[1.0, 2.0]).plot(ax)
    assert ax.get_legend_handles_labels()[1][:2] == [r"price_\$ (0)", r"cost_\$ (0)"]
    ax.figure.canvas.draw()


def test_an_unknown_axis_is_refused(path):
    with pytest.raises(ValueError, match="against is 'time'"):
        path.plot(against="time")


# ---- command line ---------------------------------------------------------------------------------------


def run(*args, code=0):
    result = CliRunner().invoke(main, [str(a) for a in args], env={"COLUMNS": None, "CONVEXCLS_DEBUG": None})
    assert result.exit_code == code, result.output
    return result


def test_path_on_the_command_line(tmp_path: FilePath):
    picture = tmp_path / "p.png"
    out = run("path", "soft_margin", "--over", "C=0.01..100", "--points", "3", "--plot", picture).stdout
    assert [line.split()[:2] for line in out.splitlines()[2:]] == [
        ["0.01", "optimal"],
        ["1", "optimal"],
        ["100", "optimal"],
    ]
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_path_as_json_holds_every_coefficient():
    points = json.loads(run("path", "spector", "--over", "l2=0,1", "--json").stdout)["points"]
    assert [p["l2"] for p in points] == [0.0, 1.0]
    np.testing.assert_allclose(points[0]["coef"], cc.load("spector").solve().coef, rtol=1e-8)


def test_a_weighted_problem_keeps_its_weights():
    known = cc.load("soft_margin_weighted")
    point = json.loads(run("path", "soft_margin_weighted", "--over", f"C={known.parameters['C']}", "--json").stdout)
    assert point["points"][0]["objective"] == pytest.approx(known.solve().objective, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--over", "C=0..1"], "above 0"),
        (["--over", "C=2..1"], "a larger one"),
        (["--over", "C"], "C=0.01..100"),
        (["--over", "degree=1,2"], "C, l2, l1"),
        (["--over", "C=1,x"], "C=0.01..100"),
        (["--over", "l2=1,2"], "no parameter 'l2'"),
        (["--over", "C=1,1"], "every value once"),
        (["--over", "C=1,2", "--plot", "p.txt"], ".png"),
        (["--over", "C=1,2", "--plot", "nowhere/p.png"], "no directory"),
        ([], "--over"),
    ],
)
def test_bad_ranges_are_refused_in_words(arguments, words):
    assert words in run("path", "soft_margin", *arguments, code=2).stderr


def test_values_are_read_as_written():
    assert read_values("l2=0, 0.1,1e2", 5) == ("l2", [0.0, 0.1, 100.0])
    name, values = read_values("C=1e-2..1e2", 5)
    assert name == "C"
    np.testing.assert_allclose(values, [0.01, 0.1, 1.0, 10.0, 100.0])


def test_summary_on_the_command_line():
    assert run("summary", "spector").stdout.rstrip("\n") == str(cc.load("spector").solve().summary())
    values = json.loads(run("summary", "spector", "--json", "--confidence", "0.9").stdout)
    assert values["confidence"] == 0.9
    assert len(values["covariance"]) == 4


def test_no_summary_is_told_with_the_reason():
    result = run("summary", "logistic_separated", code=1)
    assert "does not exist" in result.stderr
    assert result.stdout == ""
    assert "between 0 and 1" in run("summary", "spector", "--confidence", "95", code=2).stderr


@pytest.mark.parametrize("command", ["summary", "path"])
def test_help_has_examples(command):
    assert f"convexcls {command}" in run(command, "--help").stdout
