"""Saved models: the same numbers as the solution and as scikit-learn, nothing of the data, no hostile file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import convexcls as cc
from convexcls.saved import read_model

sys.path.append(str(Path(__file__).parent / "tables"))
from made_tables import coded_by_hand, heart

HEART = heart(80)
TABLE = cc.Table(HEART)
RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 3))
TWO, THREE = (X[:, 0] + RNG.normal(size=60) > 0).astype(int), np.array(["a", "b", "c"])[RNG.integers(0, 3, 60)]
NEW = RNG.normal(size=(17, 3))

MODELS = {
    "logistic": lambda: cc.LogisticMLE(X, TWO, l2=0.5),
    "soft margin": lambda: cc.SoftMarginSVM(X, TWO),
    "least squares": lambda: cc.LeastSquares(X, TWO),
    "real targets": lambda: cc.LeastSquares(X, X[:, 0] * 2 + 1, coding="real"),
    "fisher": lambda: cc.FisherLDA(X, TWO),
    "fisher of three": lambda: cc.FisherLDA(X, THREE),
    "gaussian": lambda: cc.GaussianMLE(X, TWO),
    "gaussian of three": lambda: cc.GaussianMLE(X, THREE),
    "own covariances": lambda: cc.GaussianMLE(X, THREE, covariance="by-class"),
    "softmax": lambda: cc.SoftmaxMLE(X, THREE, l2=0.5),
    "softmax of two": lambda: cc.SoftmaxMLE(X, TWO, l2=0.5),
    "rbf": lambda: cc.KernelSVM(X, TWO, kernel="rbf", C=1.0),
    "linear kernel": lambda: cc.KernelSVM(X, TWO, kernel="linear", C=1.0),
    "quadratic basis": lambda: cc.LogisticMLE(cc.Quadratic()(X), TWO, l2=0.5),
    "radial basis": lambda: cc.LogisticMLE(cc.Radial(5, gamma=0.5)(X), TWO, l2=0.5),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_predicts_the_same_numbers(name, tmp_path):
    s = MODELS[name]().solve()
    s.save(tmp_path / "model.json")
    model = cc.load_model(tmp_path / "model.json")
    assert np.array_equal(model.decision_function(NEW), s.decision_function(NEW))
    assert model.predict(NEW).tolist() == s.predict(NEW).tolist()
    if model.has_probabilities:
        assert np.array_equal(model.predict_proba(NEW), s.predict_proba(NEW))
    else:
        with pytest.raises(cc.NoAnswer):
            model.predict_proba(NEW)
    assert model.to_json() == cc.load_model(tmp_path / "model.json").to_json()


def test_a_table_goes_through_the_coding_and_gives_what_scikit_learn_gives(tmp_path):
    from sklearn.linear_model import LogisticRegression

    s = TABLE.samples("chd").declare(cc.LogisticMLE, l2=1.0).solve()
    s.save(tmp_path / "model.json")
    model = cc.load_model(tmp_path / "model.json")
    by_hand = coded_by_hand(HEART)
    theirs = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(by_hand, HEART["chd"])
    assert model.predict_proba(HEART) == pytest.approx(theirs.predict_proba(by_hand), abs=1e-6)
    assert np.array_equal(model.predict_proba(TABLE), s.predict_proba(TABLE))
    assert str(model.coding) == str(s.data.coding)
    assert model.signed_distance(HEART) == pytest.approx(s.signed_distances)


def test_a_linear_model_holds_none_of_its_data(tmp_path):
    samples = {"secret": [0.123456789, 1.987654321, 2.5, 3.25], "y": [0, 1, 0, 1]}
    cc.Table(samples).samples("y").declare(cc.LogisticMLE, l2=1.0).solve().save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert "123456789" not in text
    assert "987654321" not in text
    assert len(text) < 3000


def test_the_file_names_its_proof(tmp_path):
    import hashlib

    s = cc.LogisticMLE(X, TWO).solve()
    proof = s.save(tmp_path / "model.json").proof
    assert proof["verdict"] == "optimal"
    assert proof["certificate"] == hashlib.sha256(f"{s.certificate.to_json()}\n".encode()).hexdigest()


def test_what_has_no_solution_is_not_saved(tmp_path):
    for problem in (cc.LogisticMLE([[0], [1]], [0, 1]), cc.HardMarginSVM([[0], [1], [2]], [0, 1, 0])):
        with pytest.raises(cc.NoAnswer, match="has no solution to show"):
            problem.solve().save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


# ---- hostile files ------------------------------------------------------------------------------------------------

GOOD = {
    name: json.loads(MODELS[name]().solve().save("/dev/null").to_json())
    for name in ("logistic", "rbf", "own covariances", "fisher of three", "radial basis")
}
WRONG = [None, True, "x", -1, 1e308, [], {}, [[]], [[1, [2]]], ["1"], {"a": 1}, [1.5] * 4, [["a"]], "__import__('os')"]


def places(value, path=()):
    """Every place of a nested value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(value, path, new):
    if not path:
        return new
    out = dict(value) if isinstance(value, dict) else list(value)
    out[path[0]] = changed(value[path[0]], path[1:], new)
    return out


@pytest.mark.parametrize("name", GOOD)
def test_a_damaged_file_is_refused_or_predicts_without_a_crash(name):
    for path in places(GOOD[name]):
        for new in WRONG:
            try:
                model = read_model(json.dumps(changed(GOOD[name], path, new)))
            except cc.ModelFileError:
                continue
            with np.errstate(all="ignore"):
                try:
                    model.predict(NEW)
                except ValueError:
                    assert path[0] in ("scores", "features", "basis")


NO_MODELS = ["", "[]", "1", "{", "[" * 100_000, "NaN", "1e999", "9" * 5000, "\x80\x04\x95", '{"schema": NaN}']


@pytest.mark.parametrize("text", [*NO_MODELS, '{"schema": "convexcls-model/2"}', '{"a": 1, "a": 2}'])
def test_text_that_is_no_model_is_refused(text):
    with pytest.raises(cc.ModelFileError):
        read_model(text)


def test_a_field_more_or_less_is_refused():
    for change in ({**GOOD["logistic"], "code": "1"}, {k: v for k, v in GOOD["logistic"].items() if k != "labels"}):
        with pytest.raises(cc.ModelFileError, match="unknown or missing"):
            read_model(json.dumps(change))


def test_a_pickle_is_not_unpickled(tmp_path):
    import pickle

    (tmp_path / "model.json").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(cc.ModelFileError, match="not a model file"):
        cc.load_model(tmp_path / "model.json")
    with pytest.raises(OSError, match="nope"):
        cc.load_model(tmp_path / "nope.json")


# ---- evaluation -----------------------------------------------------------------------------------------------------


def test_measures_are_those_of_scikit_learn():
    from sklearn import metrics

    s = cc.LogisticMLE(X, TWO, l2=0.1).solve()
    found, chances = cc.evaluate(s, X, TWO), s.predict_proba(X)
    predicted = s.predict(X)
    assert found.confusion.tolist() == metrics.confusion_matrix(TWO, predicted).tolist()
    assert found.accuracy == pytest.approx(metrics.accuracy_score(TWO, predicted))
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(TWO, predicted))
    assert found.log_loss == pytest.approx(metrics.log_loss(TWO, chances))
    assert found.brier == pytest.approx(metrics.brier_score_loss(TWO, chances[:, 1]))
    assert found.auc == pytest.approx(metrics.roc_auc_score(TWO, chances[:, 1]))
    assert found.recall == pytest.approx(metrics.recall_score(TWO, predicted, average=None))
    assert found.precision == pytest.approx(metrics.precision_score(TWO, predicted, average=None))


def test_measures_of_three_classes():
    from sklearn import metrics

    s = cc.SoftmaxMLE(X, THREE, l2=0.1).solve()
    found = cc.evaluate(s, X, THREE)
    assert found.log_loss == pytest.approx(metrics.log_loss(THREE, s.predict_proba(X)))
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(THREE, s.predict(X)))
    assert found.auc is None


def test_ties_count_half_in_the_area():
    from convexcls.studies.evaluation import area

    assert area(np.array([True, False]), np.array([1.0, 1.0])) == 0.5


def test_a_classifier_that_knows_one_word_is_told():
    s = cc.SoftMarginSVM([[0.0], [1.0], [2.0], [3.0], [1.5]], ["neg"] * 4 + ["pos"], C=0.01).solve()
    assert cc.evaluate(s, [[0.0], [3.0]], ["neg", "neg"]).warning == "always predicts 'neg'"
    with pytest.raises(cc.DataError, match="row 1 is 'maybe'"):
        cc.evaluate(s, [[0.0], [3.0]], ["neg", "maybe"])
