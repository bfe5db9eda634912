"""How well a classifier does on its own samples, as the report tells it."""

import numpy as np
import pytest
from datasets import overlapping

import convexcls as cc
from convexcls.describe import Table, to_text
from convexcls.describe.fit import fit, inference
from convexcls.studies.evaluation import Evaluation


def tables(chapter):
    return [part for part in chapter.parts if isinstance(part, Table)]


def test_confusion_matrices_count_by_label_with_each_sample_and_without_it():
    X, y = overlapping()
    s = cc.LogisticMLE(X, np.where(y == 1, "sick", "well")).solve()
    own, without = tables(fit(s))
    labels, predicted = np.where(y == 1, "sick", "well"), s.predict(X)
    for row in own.rows:
        assert list(row[1:3]) == [int(np.sum((labels == row[0]) & (predicted == name))) for name in ("sick", "well")]
    left_out = cc.leave_one_out(s.problem)
    assert sum(row[1 + k] for k, row in enumerate(without.rows)) == len(y) - left_out.error_count
    assert "leave-one-out" in without.title


def test_three_classes_have_nine_counts():
    X, _ = overlapping()
    y = np.arange(len(X)) % 3
    s = cc.SoftmaxMLE(X, y, l2=1.0).solve()
    (own,) = tables(fit(s))[:1]
    assert np.array([row[1:4] for row in own.rows]).sum() == len(y)
    assert np.trace(np.array([row[1:4] for row in own.rows])) == int(np.sum(s.predict(X) == y))


def test_a_class_that_is_never_predicted_is_named():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(70, 2)), np.where(np.arange(70) < 4, "pos", "neg")
    s = cc.SoftMarginSVM(X, y, C=1e-3).solve()
    assert set(s.predict(X)) == {"neg"}
    assert "always predicts 'neg'" in to_text(fit(s))
    assert Evaluation(("a", "b", "c"), np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]])).warning == "never predicts 'c'"
    assert Evaluation(("a", "b"), np.array([[0, 1], [1, 0]])).warning == ""


def test_odds_ratios_are_exponentials_of_the_coefficients_and_of_their_intervals():
    X, y = overlapping()
    s = cc.LogisticMLE(X, y).solve()
    summary, (*_, odds) = s.summary(), tables(inference(s))
    assert [row[0] for row in odds.rows] == ["x1", "x2", "x3"]
    for name, ratio, low, high in odds.rows:
        c = summary[name]
        assert [ratio, low, high] == pytest.approx(np.exp([c.estimate, c.low, c.high]))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda X, y: cc.LogisticMLE(X, y, l2=1.0), "penal"),
        (lambda X, y: cc.LogisticMLE(X, X[:, 0] > 0), "separat"),
    ],
)
def test_where_there_are_no_standard_errors_the_reason_stands_there(model, reason):
    X, y = overlapping()
    text = to_text(inference(model(X, y).solve()))
    assert "There are none" in text
    assert reason in text


def test_nothing_is_told_of_what_is_not_proved_or_has_no_labels():
    X, y = overlapping()
    assert fit(cc.load("xor_hard_margin").solve()) is None
    assert fit(cc.LeastSquares(X, X[:, 0], coding="real").solve()) is None
    assert inference(cc.SoftMarginSVM(X, y).solve()) is None
