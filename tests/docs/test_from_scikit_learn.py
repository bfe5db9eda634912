"""The page for those who come from scikit-learn is true: its Python runs, its table is fitted row by row."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, QuantileRegressor, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import convexcls as cc

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "from_scikit_learn.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.split("## What differs")[0].splitlines()
    if line.startswith(("| `", "| none"))
]
THEIRS = {
    cls.__name__: cls
    for cls in (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        LogisticRegression,
        Perceptron,
        QuantileRegressor,
        RidgeClassifier,
        SVC,
        LinearSVC,
    )
}


def made(cell, names):
    return eval(re.search(r"`(.*?)`", cell).group(1), names)


def two_classes():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X[:100]), y[:100]


def test_the_table_has_every_estimator():
    ours = {
        type(made(row[1], vars(cc) | {n: getattr(cc, n) for n in cc.estimators.ESTIMATORS})).__name__ for row in ROWS
    }
    assert ours == set(cc.estimators.ESTIMATORS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.sub("[`]", "", row[1]))
def test_a_row_of_the_table(row):
    X, y = two_classes()
    ours = made(row[1], {name: getattr(cc, name) for name in cc.estimators.ESTIMATORS}).fit(X, y)
    assert ours.certificate_.status == "optimal"
    if row[0] == "none":
        assert row[2] == "no counterpart"
        return
    theirs = made(row[0], THEIRS)
    if row[2].startswith("the same optimum"):
        target = np.where(y == 1, 1.0, -1.0)
        deviations = np.abs(theirs.fit(X, target).predict(X) - target).sum()
        assert ours.solution_.objective == pytest.approx(deviations, rel=1e-6)
        return
    theirs.fit(X, y)
    off = (
        np.abs(ours.decision_function(X) - theirs.decision_function(X)).max()
        / np.abs(theirs.decision_function(X)).max()
    )
    if row[2].startswith("yes"):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert off < 1e-2  # as far as scikit-learn's default tolerances go
    else:
        assert row[2].startswith("no:")
        assert off > 1e-2
    assert ("to the last bit" not in row[2]) or np.array_equal(ours.coef_, theirs.coef_)


def test_defaults_are_those_of_scikit_learn():
    for ours, theirs, but in (
        (cc.SoftMarginSVC(), SVC(), {"tol", "max_iter"}),
        (cc.KernelSVC(), SVC(), {"tol", "max_iter"}),
        (cc.LogisticClassifier(), LogisticRegression(), {"tol", "max_iter", "solver"}),
        (cc.SoftmaxClassifier(), LogisticRegression(), {"tol", "max_iter", "solver"}),
        (cc.LeastSquaresClassifier(), RidgeClassifier(), {"tol", "solver", "alpha"}),
        (cc.PerceptronClassifier(), Perceptron(), {"tol", "max_iter"}),
        (cc.GaussianClassifier(), LinearDiscriminantAnalysis(), {"tol", "solver"}),
        (cc.FisherClassifier(), LinearDiscriminantAnalysis(), {"tol", "solver"}),
    ):
        mine, known = ours.get_params(), theirs.get_params()
        shared = (mine.keys() & known.keys()) - but
        assert shared
        assert {k: mine[k] for k in shared} == {k: known[k] for k in shared}


def test_the_examples_run(capsys):
    names = {}
    for block in BLOCKS:
        exec(block, names)
    printed = capsys.readouterr().out
    assert names["best"].certificate_.status == "optimal"
    assert names["best"].certificate_.holds(1e-8)
    assert "have convex hulls that meet" in printed
    assert names["proof"].verify()
    assert names["runs"]
    assert names["told"][0].category is cc.NoMaximumWarning
    assert names["ridge"].certificate_.holds(1e-8)
    told = re.search(r"relative_suboptimality  # (\S+), (\S+)\n", PAGE)
    for appraisal, figure in zip((names["theirs"], names["ours"]), told.groups(), strict=True):
        assert 0.1 * float(figure) < appraisal.relative_suboptimality < 10 * float(figure)


def test_the_perceptron_example_keeps_below_its_bound(capsys):
    mpl.use("Agg")
    names = runpy.run_path(str(ROOT / "examples" / "perceptron_digits.py"))
    printed = capsys.readouterr().out
    lines = re.findall(r"(\d+) updates in +\d+ passes; .* = ([\d,]+); errors: (\d+)", printed)
    assert len(lines) == 3
    for updates, bound, errors in lines:
        assert 0 < int(updates) <= int(bound.replace(",", ""))
        assert errors == "0"
    assert "mistake bound: " in printed
    assert "the proof holds: True" in printed
    assert names["__doc__"].strip().splitlines()[1] == "=" * len(names["__doc__"].strip().splitlines()[0])
