"""The everyday data are like what they are made after, their objectives are those of the models, and the table says
what was measured."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

from benchmarks import everyday, objectives
from benchmarks import everyday_cases as cases
from benchmarks import everyday_data as data
from benchmarks import everyday_peers as peers
from benchmarks.bars import OURS
from benchmarks.race import Answer, Outcome, Result

# ---- data -----------------------------------------------------------------------------------------------------------


def test_the_same_call_gives_the_same_numbers() -> None:
    (X, y), (again, labels), (other, _) = data.adult(50), data.adult(50), data.adult(50, seed=1)
    assert (again != X).nnz == 0
    assert np.array_equal(y, labels)
    assert (other != X).nnz > 0


def test_the_census_has_the_dummy_trap_and_rare_categories() -> None:
    X, y = data.adult(3000)
    assert X.shape == (3000, 123)
    assert set(np.unique(X.data)) == {1.0}
    counts = np.diff(X.indptr)
    assert counts.max() == 14 > counts.min()
    dense, _ = data.adult(3000, dense=True)
    assert np.array_equal(dense, X.toarray())
    assert np.all(dense[:, :5].sum(axis=1) == 1)  # the ages
    used = np.any(dense, axis=0)
    assert np.linalg.matrix_rank(np.column_stack([dense, np.ones(3000)])) < used.sum() - 5
    assert any(0 < dense[:, j].sum() < 30 and not y[dense[:, j] > 0].any() for j in range(123))
    assert 0.15 < y.mean() < 0.35
    assert len(np.unique(data.adult(3000, dense=True, repeated=0.3)[0], axis=0)) < len(np.unique(dense, axis=0)) - 500


def test_the_forest_has_scales_and_categories() -> None:
    X, y = data.covtype(4000)
    assert X.shape == (4000, 54)
    assert np.array_equal(X, np.round(X))
    assert np.all(X[:, 10:14].sum(axis=1) == 1)
    assert np.all(X[:, 14:].sum(axis=1) == 1)
    assert np.ptp(X[:, 5]) > 2000
    assert set(y) == set(range(7))
    Z, two = data.covtype(4000, classes=2, standardised=True)
    assert np.array_equal(two, y == 1)
    varied = np.ptp(X, axis=0) > 0
    assert Z[:, varied].std(axis=0) == pytest.approx(1.0)
    assert not Z[:, ~varied].any()


def test_text_is_sparse_of_length_one_and_its_words_follow_zipf() -> None:
    X, y = data.text(2000, 3000)
    assert sparse.issparse(X)
    assert 60 < X.nnz / 2000 < 100
    assert sparse.linalg.norm(X, axis=1) == pytest.approx(1.0)
    often = np.sort(np.bincount(X.indices, minlength=3000))[::-1]
    assert often[10] > 10 * often[1000]
    assert 0.4 < y.mean() < 0.6


def test_pictures_have_an_empty_border() -> None:
    X, y = data.pictures(300)
    assert X.shape == (300, 784)
    assert 0.1 < np.count_nonzero(X) / X.size < 0.3
    border = np.ones((28, 28), dtype=bool)
    border[1:-1, 1:-1] = False
    assert not X[:, border.ravel()].any()
    assert set(y) == set(range(10))
    assert np.array_equal(data.pictures(300, classes=2)[1], y % 2)
    means = np.array([X[y == k].mean(axis=0) for k in range(10)])
    nearest = np.argmin(((X[:, None, :] - means) ** 2).sum(axis=2), axis=1)
    assert np.mean(nearest == y) > 0.5


def test_genes_are_many_and_their_classes_can_be_separated() -> None:
    X, y = data.genes(30, 400, standardised=False)
    assert np.array_equal(X, np.round(X))
    assert X.max() > 100 * np.median(np.abs(X))
    assert np.linalg.matrix_rank(np.column_stack([data.genes(30, 400)[0], np.ones(30)])) == 30
    assert y.sum() == 10


def test_dependent_columns() -> None:
    X, _ = data.conditioned(300, 10)
    values = np.linalg.svd(X, compute_uv=False)
    assert 1e7 < values[0] / values[-1] < 1e9
    X, _ = data.collinear(300, 10)
    assert np.linalg.matrix_rank(X) == 9  # of eight free columns and the constant one
    assert np.array_equal(X[:, 8], X[:, 0] + X[:, 1])


# ---- objectives -----------------------------------------------------------------------------------------------------


def small(model: str, **stated: object) -> tuple[dict[str, object], Answer, float]:
    """Data, our certified answer and the objective that convexcls gives for it."""
    import convexcls as cc

    family = "bundled" if model == "hard margin" else "collinear"
    options = {"name": "iris", "classes": (0, 1)} if model == "hard margin" else {"n": 60, "d": 5}
    made = cases.made(family=family, options=options, stated=stated)
    name, _, _ = cases.MODELS[model]
    parameters = {key: value for key, value in stated.items() if key in cases.TOLD}
    if model == "squared hinge":
        parameters["loss"] = "squared_hinge"
    answer = cases.certified(made, 1e-8, model=name, parameters=parameters)
    return made, answer, getattr(cc, name)(made["X"], made["y"], **parameters).solve().objective


@pytest.mark.parametrize(
    ("model", "stated"),
    [
        ("soft margin", {"C": 0.5}),
        ("squared hinge", {"C": 0.5}),
        ("hard margin", {}),
        ("logistic", {"l2": 0.5}),
        ("softmax", {"l2": 0.5, "several": True}),
        ("least squares", {"l2": 0.5}),
        ("least absolute", {}),
        ("perceptron", {}),
    ],
)
def test_objectives_are_those_of_the_models(model: str, stated: dict[str, object]) -> None:
    made, answer, value = small(model, **stated)
    objective = cases.MODELS[model][1]
    assert objective(made, answer) == pytest.approx(value, rel=1e-9)
    found = objectives.gap(made, answer, -np.inf, objective=objective)
    assert found.accuracy < 1e-8
    assert found.bound == pytest.approx(value, rel=1e-8)
    moved = replace(
        answer,
        coef=np.asarray(answer.coef) + 0.01 * np.arange(1, np.size(answer.coef) + 1).reshape(np.shape(answer.coef)),
    )
    assert objectives.gap(made, moved, found.bound, objective=objective).accuracy > 1e-6


def test_fisher_and_gaussian_agree_with_scikit_learn() -> None:
    made = cases.made(family="bundled", options={"name": "iris"}, stated={"several": True})
    for model, contenders in (("Fisher", peers.FISHER), ("Gaussian", peers.GAUSSIAN)):
        name, objective, _ = cases.MODELS[model]
        least = objective(made, cases.certified(made, 1e-8, model=name, parameters={}))
        for contender in contenders:
            theirs = contender.fit(made, peers.DEFAULTS)
            assert objective(made, theirs) == pytest.approx(least, rel=1e-9)
            if model == "Fisher":
                worse = replace(theirs, coef=theirs.coef + np.array([[0.1], [0.0]]))
            else:
                theirs.coef.covariance = 1.1 * theirs.coef.covariance
                worse = theirs
            assert objective(made, worse) > least + 1e-4


def test_what_is_no_answer_has_no_accuracy() -> None:
    objective = partial(objectives.gap, objective=objectives.hinge)
    assert objective({}, Answer(None), 0.0).accuracy == math.inf
    assert objective({}, Answer(None, none_exists=True), 0.0).accuracy == 0.0
    separable = cases.made(family="bundled", options={"name": "iris", "classes": (0, 1)}, stated={})
    assert cases.certified(separable, 1e-8, model="LogisticMLE", parameters={}).none_exists
    split = {**separable, "y": -separable["y"]}
    wrong = cases.certified(separable, 1e-8, model="HardMarginSVM", parameters={})
    assert objectives.hard_margin(split, wrong) == math.inf


def test_samples_that_are_fitted_leave_no_gap() -> None:
    made = {"X": np.array([[0.0], [1.0]]), "y": np.array([-1.0, 1.0]), "l2": 0.0}
    fitted = Answer(np.array([2.0]), -1.0 + 1e-12, bound=0.0)
    measure = partial(objectives.gap, objective=objectives.squares)
    assert measure(made, fitted, -np.inf).accuracy == 1.0
    assert measure(made, fitted, -np.inf, floor=1e-6).accuracy < 1e-12
    assert measure(made, replace(fitted, intercept=-0.99), -np.inf, floor=1e-6).accuracy > 0.9


# ---- cases and the table --------------------------------------------------------------------------------------------


def test_every_model_and_family_is_there() -> None:
    families = {case.make.keywords["family"] for case in cases.CASES}
    assert families == {
        "adult",
        "covtype",
        "text",
        "pictures",
        "genes",
        "conditioned",
        "collinear",
        "clusters",
        "bundled",
    }
    models = {case.name.split(": ")[1].split(",")[0] for case in cases.CASES}
    assert models == {*cases.MODELS, "RBF"}
    titles = [case.title for case in cases.CASES]
    assert len(set(titles)) == len(titles)


def test_cases_are_chosen_by_title_and_limit() -> None:
    few = everyday.chosen(("genes: soft", "wine"), 5.0)
    assert [case.title for case in few] == ["genes: soft margin, C = 1, n = 72 x d = 7129", "wine: Gaussian"]
    assert {case.cap for case in few} == {5.0}
    quick = everyday.chosen((), 5.0, quick=True)
    assert 0 < len(quick) < len(cases.CASES)
    assert all(case.cap <= 2.0 for case in quick)
    (at_defaults,) = everyday.chosen(("genes: soft",), 5.0, defaults=True)
    assert [c.name for c in at_defaults.contenders] == [OURS, "LinearSVC (defaults)", "SVC (defaults)"]


def test_a_line_tells_both_fastest_peers() -> None:
    (case,) = everyday.chosen(("wine",), 75.0)
    ours = Result(OURS, ours=True, seconds=2.0, wall=3.0, memory=1.5, runs=1, reached=True, note="optimal by moments")
    exact = Result("exact", seconds=3.0, runs=1, accuracy=1e-9, reached=True)
    rough = Result("rough", seconds=1.0, runs=1, accuracy=1e-3)
    row = everyday.line(Outcome(case, (ours, exact, rough)))
    assert row == (
        "wine: Gaussian",
        "2",
        "3",
        "1.5",
        "optimal by moments",
        "exact 3 s",
        "1.50",
        "rough 1 s (1e-03)",
        "0.50",
        "met",
    )
    stopped = Result(OURS, ours=True, status="> 75 s")
    row = everyday.line(Outcome(case, (stopped, rough)))
    assert row[1:4] == ("> 75 s", "", "")
    alone = everyday.line(Outcome(case, (stopped, replace(exact, bound=-math.inf))))
    assert alone[5:9] == ("", "", "exact 3 s (unproved)", "")  # the best of one says nothing
    assert row[-1] == "missed"
    assert everyday.table([Outcome(case, (ours, exact, rough))]).row_count == 1
