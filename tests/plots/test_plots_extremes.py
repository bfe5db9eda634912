"""Pictures of one sample a class and of 100,000, with hostile names; they touch nothing but their axes."""

from __future__ import annotations

import io
import time
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import convexcls as cc
from convexcls.plots import KINDS, BoundaryDisplay, HullsDisplay, LossesDisplay, MultipliersDisplay, Picture, pictures
from convexcls.plots.points import MAX_SAMPLES_SHOWN, thinned

mpl.use("Agg")

FEW = {
    "two points": ([[0.0, 0.0], [2.0, 0.0]], ["a", "b"]),
    "one feature": ([[0.0], [2.0]], ["a", "b"]),
    "three features": ([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], ["a", "b"]),
    "far away": ([[1e9, 1e9], [1e9 + 2, 1e9]], ["a", "b"]),
    "same point": ([[1.0, 2.0], [1.0, 2.0]], ["a", "b"]),
}
MODELS = {
    "hard": cc.HardMarginSVM,
    "soft": cc.SoftMarginSVM,
    "kernel": lambda X, y: cc.KernelSVM(X, y, C=1.0),
    "logistic": lambda X, y: cc.LogisticMLE(X, y, l2=1.0),
    "least squares": lambda X, y: cc.LeastSquares(X, y, l2=1.0),
    "absolute": cc.LeastAbsolute,
    "quadratic": lambda X, y: cc.SoftMarginSVM(cc.Quadratic()(np.array(X)), y),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", FEW)
def test_one_sample_a_class(data, model):
    solution = MODELS[model](*FEW[data]).solve()
    found = pictures(solution)
    assert found
    for picture in found:
        assert picture.figure().axes[0].has_data()
        assert picture.alt


def test_one_sample_of_each_of_three_classes():
    solution = cc.SoftmaxMLE([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], ["a", "b", "c"], l2=1.0).solve()
    assert {"boundary", "probability"} <= {p.name for p in pictures(solution)}
    for picture in pictures(solution):
        picture.figure().canvas.draw()


def test_the_perceptron_on_two_samples():
    solution = cc.PerceptronCriterion([[0.0, 0.0], [2.0, 0.0]], ["a", "b"]).solve("perceptron")
    KINDS["trajectory"].of(solution).plot(Figure().subplots())


# ---- many ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(100_000) % 20 == 0, "rare", "common")
    X = rng.normal(size=(100_000, 2)) + 2.5 * (y == "rare")[:, None]
    return {
        "overlapping": cc.SoftMarginSVM(X, y, C=0.1).solve(),
        "apart": cc.HardMarginSVM(X + 20.0 * (y == "rare")[:, None], y).solve(),
        "likelihood": cc.LogisticMLE(X, y).solve(),
        "gaussian": cc.GaussianMLE(X, y).solve(),
        "rule": cc.PerceptronCriterion(X + 20.0 * (y == "rare")[:, None], y).solve("perceptron"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_many_samples_are_thinned_and_drawn_soon(many, kind):
    of_likelihoods = dict.fromkeys(("probability", "sigmoid", "calibration"), "likelihood")
    which = {"hulls": "apart", "trajectory": "rule", "ellipses": "gaussian", **of_likelihoods}.get(kind, "overlapping")
    begun = time.process_time()
    if kind == "descent":
        display = KINDS[kind].of_solvers(many["likelihood"].problem, ["newton"])
    else:
        display = KINDS[kind].of(many[which])
    figure = Picture.of(display).figure()
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    assert time.process_time() - begun < 4.0  # measured: up to one second
    assert len(file.getvalue()) < 1_000_000


def test_what_matters_is_kept_and_the_picture_says_what_is_not(many):
    shown = HullsDisplay.of(many["apart"])
    assert np.isin(shown.points.support, shown.points.rows).all()
    assert shown.points.rows.size < 1.1 * MAX_SAMPLES_SHOWN
    assert np.sum(shown.points.classes == 1) >= 20
    ax = Figure().subplots()
    shown.plot(ax)
    assert f"{shown.points.rows.size:,} of 100,000 samples shown" in ax.get_xlabel()


def test_thinning_is_the_same_every_time_and_keeps_what_it_must():
    classes = (np.arange(50_000) % 1000 == 0).astype(np.intp)
    always = np.arange(0, 50_000, 97)
    rows = thinned(classes, always)
    np.testing.assert_array_equal(rows, thinned(classes, always))
    assert np.isin(always, rows).all()
    assert np.sum(classes[rows]) == 50  # a rare class is shown whole
    assert np.all(np.diff(rows) > 0)
    assert thinned(classes, np.arange(40_000)).size <= 2 * MAX_SAMPLES_SHOWN + 50
    np.testing.assert_array_equal(thinned(classes[:100], always[:1]), np.arange(100))


# ---- names --------------------------------------------------------------------------------------------------------

HOSTILE = [
    "$\\frac{1}{$",
    "a\nb\x00\x1b[31m",
    "<script>alert(1)</script>",
    "x" * 500,
    r"\$a$ $b$",
    " ",
    "%s {0} &amp;",
    "",
]


@pytest.mark.parametrize("names", [HOSTILE[:4], HOSTILE[4:]])
def test_names_of_features_and_labels_are_letters(names):
    frame = pd.DataFrame([[0.0, 0.0], [2.0, 1.0], [1.0, 3.0], [3.0, 2.0]], columns=names[:2])
    labels = names[2:4] * 2
    svm, penalised = cc.SoftMarginSVM(frame, labels), cc.SoftmaxMLE(frame, labels, l2=1.0)
    for model, kinds in ((svm, ("boundary", "multipliers", "slice")), (penalised, ("probability",))):
        solution = model.solve()
        for kind in kinds:  # those that write names
            picture = Picture.of(KINDS[kind].of(solution))
            file = io.BytesIO()
            picture.figure().savefig(file, format="svg")
            ElementTree.fromstring(file.getvalue())  # well formed
            assert picture.alt


def test_dollars_are_drawn_as_dollars():
    frame = pd.DataFrame([[0.0, 0.0], [2.0, 1.0]], columns=["price $x$", "cost $y$"])
    ax = Figure().subplots()
    BoundaryDisplay.from_solution(cc.HardMarginSVM(frame, ["$a$", "$b$"]).solve(), ax=ax)
    drawn = [ax.xaxis.label, ax.yaxis.label, *ax.get_legend().get_texts()]
    for text in drawn:
        letters, is_formula = text._preprocess_math(text.get_text())
        assert not is_formula
        assert "\\" not in letters
    assert ax.xaxis.label._preprocess_math(ax.get_xlabel())[0] == "price $x$"


# ---- nothing else is touched -----------------------------------------------------------------------------------------


def test_only_the_axes_given_are_drawn_on():
    solution = cc.load("twenty_points").solve()
    figure = Figure()
    left, right = figure.subplots(1, 2)
    before, settings = pyplot.get_fignums(), dict(mpl.rcParams)
    shown = BoundaryDisplay.from_solution(solution, ax=left)
    assert shown.ax_ is left
    assert shown.figure_ is figure
    assert left.has_data()
    assert not right.has_data()
    assert figure.axes == [left, right]
    assert pyplot.get_fignums() == before
    assert dict(mpl.rcParams) == settings


def test_a_new_figure_is_the_callers_and_a_failed_one_is_closed(monkeypatch):
    before = pyplot.get_fignums()
    shown = MultipliersDisplay.from_solution(cc.load("twenty_points").solve())
    assert len(pyplot.get_fignums()) == len(before) + 1
    pyplot.close(shown.figure_)
    with pytest.raises(cc.NoAnswer):
        BoundaryDisplay.from_solution(cc.load("xor_hard_margin").solve())
    monkeypatch.setattr(HullsDisplay, "draw", lambda self, ax: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        HullsDisplay.from_solution(cc.load("xor_hard_margin").solve())
    assert pyplot.get_fignums() == before
    LossesDisplay.of_losses()
    assert pyplot.get_fignums() == before


def test_arrays_of_the_solution_are_left_alone():
    solution = cc.load("heart_scale").solve()
    before = solution.data.matrix.copy(), solution.x.copy()
    for picture in pictures(solution):
        picture.figure()
    np.testing.assert_array_equal(solution.data.matrix, before[0])
    np.testing.assert_array_equal(solution.x, before[1])


def test_sparse_samples_are_drawn():
    from scipy import sparse

    rng = np.random.default_rng(3)
    X = sparse.random_array((60, 3000), density=0.01, random_state=rng, format="csr")
    solution = cc.LogisticMLE(X, np.arange(60) % 2, l2=1.0).solve()
    assert {"boundary", "projection", "probability"} <= {p.name for p in pictures(solution)}
