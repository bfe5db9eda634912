"""ROC and calibration curves beside their definitions, worked out sample by sample, and beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import auc, roc_auc_score, roc_curve

import convexcls as cc
from convexcls.plots import CalibrationDisplay, RocDisplay


def made(kind, n=120):
    """Samples of two classes; of ``ties`` a feature with few values, of ``rare`` few of the second."""
    rng = np.random.default_rng(11)
    positive = rng.random(n) < (0.05 if kind == "rare" else 0.4)
    positive[:4] = [True, True, True, False]
    X = rng.normal(size=(n, 2)) + 0.9 * positive[:, None]
    if kind == "ties":
        X = np.round(X).clip(-1, 1)
    return X, np.where(positive, "yes", "no")


KINDS = ("plain", "ties", "rare")
MODELS = {
    "logistic": lambda X, y: cc.LogisticMLE(X, y, l2=0.1),
    "soft margin": lambda X, y: cc.SoftMarginSVM(X, y, C=0.3),
    "gaussian": lambda X, y: cc.GaussianMLE(X, y),
    "kernel": lambda X, y: cc.KernelSVM(X, y, C=1.0, gamma=0.5),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_roc_curve_has_the_shares_above_every_threshold(kind, model):
    X, y = made(kind)
    s = MODELS[model](X, y).solve()
    display, scores = RocDisplay.of(s), s.decision_function(X)
    yes, no = scores[y == "yes"], scores[y == "no"]
    wanted = {(0.0, 0.0)} | {(float(np.mean(no >= t)), float(np.mean(yes >= t))) for t in scores}
    assert set(zip(display.false_positives.tolist(), display.true_positives.tolist(), strict=True)) == wanted
    pairs = np.sign(yes[:, None] - no[None, :])  # the area is how often a yes is above a no, ties half
    assert display.auc == pytest.approx(float(np.mean((pairs + 1) / 2)), abs=1e-12)
    assert display.at_zero == (np.mean(no > 0), np.mean(yes > 0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_roc_curve_is_scikit_learns(kind):
    X, y = made(kind)
    s = MODELS["logistic"](X, y).solve()
    display = RocDisplay.of(s)
    false, true, _ = roc_curve(y == "yes", s.decision_function(X), drop_intermediate=False)
    assert np.array_equal(display.false_positives, false)
    assert np.array_equal(display.true_positives, true)
    assert display.auc == pytest.approx(auc(false, true), abs=1e-12)
    assert display.auc == pytest.approx(roc_auc_score(y == "yes", s.predict_proba(X)[:, 1]), abs=1e-12)
    assert display.auc == pytest.approx(cc.evaluate(s, X, y).auc, abs=1e-12)


def test_curves_of_other_samples_are_of_those():
    X, y = made("plain")
    s = MODELS["logistic"](X[:60], y[:60]).solve()
    assert RocDisplay.of(s, X[60:], y[60:]).auc == pytest.approx(
        roc_auc_score(y[60:] == "yes", s.decision_function(X[60:]))
    )
    chances = s.predict_proba(X[60:])[:, 1]
    display = CalibrationDisplay.of(s, X[60:], y[60:])
    assert display.counts @ display.said == pytest.approx(chances.sum())
    assert display.counts @ display.found == pytest.approx(np.sum(y[60:] == "yes"))


@pytest.mark.parametrize("model", ["logistic", "gaussian"])
@pytest.mark.parametrize(("n", "groups"), [(120, 10), (47, 4), (9, 1)])
def test_calibration_groups_are_means_of_equally_many_in_order(model, n, groups):
    X, y = made("plain", n)
    s = MODELS[model](X, y).solve()
    display, chances = CalibrationDisplay.of(s), s.predict_proba(X)[:, 1]
    assert display.counts.size == groups
    assert display.counts.sum() == n
    assert np.ptp(display.counts) <= 1
    begin, order = 0, sorted(range(n), key=lambda i: chances[i])
    for said, found, count in zip(display.said, display.found, display.counts, strict=True):
        rows = order[begin : begin + count]
        assert said == pytest.approx(sum(chances[i] for i in rows) / count)
        assert found == pytest.approx(sum(y[i] == "yes" for i in rows) / count)
        begin += count


def test_calibration_is_scikit_learns_where_its_quantiles_are_ours():
    X, y = made("plain", 100)  # ten groups of ten: no quantile falls on a sample
    s = MODELS["logistic"](X, y).solve()
    found, said = calibration_curve(y == "yes", s.predict_proba(X)[:, 1], n_bins=10, strategy="quantile")
    display = CalibrationDisplay.of(s)
    assert display.counts.tolist() == [10] * 10
    assert display.said == pytest.approx(said)
    assert display.found == pytest.approx(found)
