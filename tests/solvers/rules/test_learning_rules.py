"""Learning rules: what they do step by step, what they report, and what is proved of it."""

import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from datasets import SEPARABLE, overlapping
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import expit, softmax

import convexcls as cc
from convexcls.cli import main
from convexcls.problem import NoAnswer
from convexcls.solve import accepting
from convexcls.solvers import solver_class
from convexcls.solvers.rules import loops, perceptron

RULES = ("perceptron", "perceptron-batch", "lms", "sgd", "subgradient", "irls")


# ---- oracles ----------------------------------------------------------------------------------------------


def signed_rows(X, y) -> np.ndarray:
    """y_i (x_i, 1), with the larger label as +1."""
    signs = np.where(np.asarray(y) == np.max(y), 1, -1)
    return signs[:, None] * np.column_stack([X, np.ones(len(X), dtype=int)])


def rosenblatt(rows, most=10**6, seen=None):
    """The on-line perceptron in whole numbers of any size: weights, counts, passes; ``seen`` gets the weights after
    each pass."""
    rows = [[int(v) for v in row] for row in rows]
    w, counts, passes = [0] * len(rows[0]), [0] * len(rows), 0
    while passes < most:
        passes, wrong = passes + 1, 0
        for i, row in enumerate(rows):
            if sum(a * b for a, b in zip(row, w, strict=True)) <= 0:
                w = [a + b for a, b in zip(w, row, strict=True)]
                counts[i], wrong = counts[i] + 1, wrong + 1
        if seen is not None:
            seen.append(w)
        if not wrong:
            break
    return w, counts, passes


def can_be_separated(rows) -> bool:
    """Whether some w has rows @ w >= 1, by SciPy's own linear program."""
    free = [(None, None)] * rows.shape[1]
    return linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=free).status == 0


def whole_numbers(seed: int, separable: bool) -> tuple[np.ndarray, np.ndarray]:
    """A random set of points on a grid, of either kind."""
    rng = np.random.default_rng(seed)
    while True:
        n, d = int(rng.integers(4, 25)), int(rng.integers(1, 5))
        X = rng.integers(-9, 10, size=(n, d))
        y = (X @ rng.integers(-3, 4, size=d) + rng.integers(-5, 6) > 0).astype(int)
        if not separable:
            flipped = rng.random(n) < 0.2
            y[flipped] = 1 - y[flipped]
        if 0 < y.sum() < n and can_be_separated(signed_rows(X, y)) == separable:
            return X, y


# ---- the perceptron on separable classes --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(200))
def test_updates_stay_below_the_bound_and_counts_reproduce_the_weights(seed):
    X, y = whole_numbers(seed, separable=True)
    solution = cc.PerceptronCriterion(X, y).solve("perceptron")
    report, rows = solution.rule_report, signed_rows(X, y)
    assert solution.status == "optimal"
    assert solution.objective == 0
    assert np.all(rows @ report.weights > 0)
    assert report.separated
    weights, counts, passes = rosenblatt(rows)
    assert (report.counts.tolist(), report.passes, report.updates) == (counts, passes, sum(counts))
    assert report.weights.tolist() == weights
    assert report.counts_reproduce_weights()
    assert [int(v) for v in report.counts @ rows] == weights
    bound = report.mistake_bound()
    assert bound.holds
    assert report.updates <= bound.lowest <= bound.bound <= bound.lowest * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_batch_updates_stay_below_their_bound(seed):
    X, y = whole_numbers(seed, separable=True)
    solution = cc.PerceptronCriterion(X, y).solve("perceptron-batch")
    rows, w, updates = signed_rows(X, y), np.zeros(X.shape[1] + 1, dtype=int), 0
    while np.any(wrong := rows @ w <= 0):
        w, updates = w + rows[wrong].sum(axis=0), updates + int(wrong.sum())
    assert solution.status == "optimal"
    assert (solution.rule_report.weights.tolist(), solution.rule_report.updates) == (w.tolist(), updates)
    assert solution.rule_report.counts_reproduce_weights()
    assert solution.rule_report.mistake_bound().holds


def test_the_bound_is_that_of_the_hard_margin_through_the_origin():
    X, y = SEPARABLE
    bound = cc.PerceptronCriterion(X, y).solve("perceptron").rule_report.mistake_bound()
    widest = cc.HardMarginSVM(np.column_stack([X, np.ones(len(X))]), y, intercept=False).solve()
    assert bound.margin == pytest.approx(1 / np.linalg.norm(widest.coef), rel=1e-9)
    assert bound.radius == pytest.approx(np.sqrt(11))
    assert bound.bound == pytest.approx(11 * widest.coef @ widest.coef, rel=1e-9)
    assert bound.bound >= 11 * widest.coef @ widest.coef * (1 - 1e-9)


def test_the_bound_can_be_met_with_equality():
    """Two opposite points through the origin: one update, R²/γ² = 1."""
    report = cc.PerceptronCriterion([[3.0, 4.0], [-3.0, -4.0]], [1, 0], intercept=False).solve("perceptron").rule_report
    assert report.updates == 1
    assert report.mistake_bound().holds
    assert report.mistake_bound().bound == pytest.approx(1.0, abs=1e-12)


def test_different_starts_end_in_different_lines():
    """ESL figure 4.14: two starts of the same rule on the same twenty points."""
    data = cc.load("twenty_points").data
    problem = cc.PerceptronCriterion(data.matrix, data.target)
    zero = problem.solve("perceptron")
    other = problem.solve("perceptron", start={"coef": [1.0, -1.0], "intercept": -20.0})
    assert zero.rule_report.weights.tolist() == [2, 2, -27]
    assert other.rule_report.weights.tolist() == [11, 7, -87]
    assert zero.status == other.status == "optimal"
    assert other.rule_report.start.tolist() == [1, -1, -20]
    assert other.rule_report.counts_reproduce_weights()
    with pytest.raises(NoAnswer, match="start at 0"):
        other.rule_report.mistake_bound()


def test_a_random_start_and_a_random_order_follow_their_seed():
    X, y = whole_numbers(7, separable=True)
    problem = cc.PerceptronCriterion(X, y)
    starts = [problem.solve("perceptron", random_start=True, seed=seed) for seed in (1, 1, 2)]
    assert np.array_equal(starts[0].rule_report.weights, starts[1].rule_report.weights)
    assert not np.array_equal(starts[0].rule_report.start, starts[2].rule_report.start)
    assert all(s.status == "optimal" and s.rule_report.counts_reproduce_weights() for s in starts)
    runs = [problem.solve("perceptron", order="random", seed=seed) for seed in range(6)]
    again = problem.solve("perceptron", order="random", seed=3)
    assert np.array_equal(again.rule_report.counts, runs[3].rule_report.counts)
    assert len({tuple(run.rule_report.counts) for run in runs}) > 1
    assert all(run.status == "optimal" and run.rule_report.mistake_bound().holds for run in runs)
    with pytest.raises(ValueError, match="leave one out"):
        problem.solve("perceptron", random_start=True, start={"coef": np.zeros(X.shape[1])})


def test_from_start_zero_the_rate_only_scales_the_weights():
    X, y = whole_numbers(3, separable=True)
    problem = cc.PerceptronCriterion(X, y)
    one, quarter, tenth = (problem.solve("perceptron", rate=rate).rule_report for rate in (1.0, 0.25, 0.1))
    assert np.array_equal(one.counts, quarter.counts)
    assert np.array_equal(one.weights / 4, quarter.weights)
    assert quarter.counts_reproduce_weights()
    assert quarter.mistake_bound().holds
    # a tenth is not a double: w rounds, and the report says by how much
    assert tenth.rounding < 1e-12
    assert tenth.exact_weights[0] == Fraction(0.1) * sum(
        int(c) * int(v) for c, v in zip(tenth.counts, signed_rows(X, y)[:, 0], strict=True)
    )


@pytest.mark.parametrize("solver", ["perceptron", "perceptron-batch"])
def test_a_rate_that_decays(solver):
    X, y = whole_numbers(5, separable=True)
    solution = cc.PerceptronCriterion(X, y).solve(solver, step="decay")
    assert solution.status == "optimal"
    assert [line.step for line in solution.trace] == [1.0 / k for k in range(1, len(solution.trace) + 1)]
    with pytest.raises(NoAnswer, match="rate changed"):
        solution.rule_report.counts_reproduce_weights()
    with pytest.raises(NoAnswer, match="fixed rate"):
        solution.rule_report.mistake_bound()
    assert "rate 1/pass" in str(solution.rule_report)


def test_the_same_weights_as_scikit_learn():
    from sklearn.linear_model import Perceptron

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X @ rng.normal(size=6) > 0.3).astype(int)
    theirs = Perceptron(tol=None, max_iter=400, shuffle=False).fit(X, y)
    report = cc.PerceptronCriterion(X, y).solve("perceptron", max_passes=400).rule_report
    assert report.separated
    np.testing.assert_allclose(report.weights, np.append(theirs.coef_[0], theirs.intercept_), rtol=1e-12)
    assert report.rounding < 1e-14  # these numbers are not whole: w rounds
    assert report.rounding > 0


@pytest.mark.parametrize("solver", ["perceptron", "perceptron-batch"])
def test_sparse_samples_give_the_same_run(solver):
    X, y = whole_numbers(11, separable=True)
    dense = cc.PerceptronCriterion(X, y).solve(solver)
    for form in (sparse.csr_array, sparse.csc_array):
        thin = cc.PerceptronCriterion(form(X.astype(float)), y).solve(solver)
        assert np.array_equal(thin.rule_report.weights, dense.rule_report.weights)
        assert np.array_equal(thin.rule_report.counts, dense.rule_report.counts)
        assert thin.status == "optimal"
        assert thin.rule_report.counts_reproduce_weights()


@pytest.mark.parametrize("solver", ["perceptron", "perceptron-batch"])
def test_weights_scale_the_steps_and_none_means_no_visit(solver):
    X = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -1.0], [-2.0, 0.0], [-3.0, -3.0]])
    y, weights = np.array([1, 1, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 1.0, 0.0])  # the last is on the wrong side
    solution = cc.PerceptronCriterion(X, y, sample_weight=weights).solve(solver)
    assert solution.status == "optimal"
    assert solution.rule_report.counts[4] == 0
    assert solution.rule_report.counts_reproduce_weights()
    expected = (solution.rule_report.counts * weights) @ signed_rows(X, y)
    assert solution.rule_report.weights.tolist() == expected.tolist()


@pytest.mark.parametrize("normalization", ["mean-margin", None])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_form_of_the_criterion(normalization, intercept):
    X, y = [[1.0, 2.0], [2.0, 1.0], [-1.0, -3.0]], [1, 1, 0]
    solution = cc.PerceptronCriterion(X, y, normalization=normalization, intercept=intercept).solve("perceptron")
    assert solution.status == "optimal"
    assert solution.rule_report.weights.size == 2 + intercept
    if normalization:
        assert solution.margins.sum() == pytest.approx(3)
    risk = cc.EmpiricalRisk(X, y, loss="perceptron", intercept=intercept).solve("perceptron-batch")
    assert risk.status == "optimal"


# ---- the perceptron where no hyperplane separates --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(200))
def test_it_stops_with_a_proof_where_classes_cannot_be_separated(seed):
    X, y = whole_numbers(1000 + seed, separable=False)
    rows = signed_rows(X, y)
    solution = cc.PerceptronCriterion(X, y).solve("perceptron")
    report = solution.rule_report
    assert not report.separated
    assert report.proof_verifies()
    z = report.proof.multipliers["margin"]
    assert np.all(z >= 0)
    assert z.sum() > 0
    assert np.abs(z @ rows).max() <= 1e-12 * (z @ np.abs(rows)).max()
    assert report.counts_reproduce_weights()
    assert "not separable, which is proved" in solution.message
    if report.cycle is not None:  # the updates of a cycle are a proof of their own, in whole numbers
        assert not np.any(report.cycle.counts @ rows)
        assert report.cycle.counts.sum() == report.cycle.updates > 0
    if solution.status == "optimal":  # a hyperplane with points on it, but none beyond
        assert np.all(rows @ report.weights >= 0)
    with pytest.raises(NoAnswer, match="not separable"):
        report.mistake_bound()


@pytest.mark.parametrize("options", [{"order": "random"}, {"step": "decay"}, {"max_passes": 3}])
def test_a_proof_without_a_cycle(options):
    X, y = overlapping(40, 2)
    solution = cc.PerceptronCriterion(X, y).solve("perceptron", **options)
    assert solution.rule_report.proof_verifies()
    assert solution.rule_report.cycle is None
    assert solution.rule_report.passes == options.get("max_passes", 100)
    assert solution.status == "undecided"


def test_the_length_of_a_cycle_is_the_shortest():
    found = 0
    for seed in range(1000, 1012):
        X, y = whole_numbers(seed, separable=False)
        report = cc.PerceptronCriterion(X, y).solve("perceptron").rule_report
        if report.cycle is None:
            continue
        found += 1
        begin, length, seen = report.cycle.begin, report.cycle.passes, []
        rosenblatt(signed_rows(X, y), begin + length, seen)
        assert seen[begin - 1] == seen[-1] == report.weights.tolist()
        assert seen[-1] not in seen[begin:-1]
    assert found > 5


def test_brents_search_on_a_known_sequence():
    """0, 1, ..., 9 and then 3, 4, 5, 6, 7, 8, 9 over and over: a tail of three, a cycle of seven."""
    watch = perceptron.CycleWatch()
    for k in range(1, 100):
        value = np.array([float(k if k < 10 else 3 + (k - 3) % 7)])
        if (cycle := watch.look(value, np.array([k]), k, 2 * k)) is not None:
            break
    assert (cycle.passes, cycle.updates, cycle.counts.tolist()) == (7, 14, [7])
    assert cycle.begin >= 3


def test_classes_that_touch():
    """The criterion's value is 0, which the rule may find, but nothing separates strictly, which it proves."""
    solution = cc.load("touching_classes_perceptron").solve("perceptron")
    assert (solution.status, solution.objective) == ("optimal", 0)
    assert not solution.rule_report.separated
    assert solution.rule_report.proof_verifies()
    assert solution.rule_report.cycle.passes == 1


def test_what_rounding_stops_is_not_called_a_proof():
    X, y = SEPARABLE
    stuck = cc.PerceptronCriterion(X, y).solve("perceptron", start={"coef": [-1e20, 1e20]})
    assert stuck.status == "undecided"
    assert stuck.rule_report.proof is None
    assert "by rounding" in stuck.message
    with np.errstate(over="ignore"):
        huge = cc.PerceptronCriterion(np.array(X) * 1e300, y).solve("perceptron", rate=1e300)
    assert huge.status in ("undecided", "optimal")
    assert huge.rule_report.separated is False
    assert "no longer finite" in huge.message


@pytest.mark.parametrize("flipped", [0, 40])
def test_many_samples_are_asked_about_a_few_at_a_time(flipped, monkeypatch):
    """Above a size, the proof comes from the samples that caused updates; without one, the run goes on."""
    monkeypatch.setattr(perceptron, "MAX_SAMPLES_TO_ASK_EARLY", 50)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    y = (X @ [1.0, 2.0] > 0).astype(int)
    y[:flipped] = 1 - y[:flipped]
    X += 0.05 * np.where(y == 1, 1.0, -1.0)[:, None] * (flipped == 0) + 20.0  # far from the origin: it takes long
    report = cc.PerceptronCriterion(X, y).solve("perceptron").rule_report
    if flipped:
        assert report.proof_verifies()
        assert 100 <= report.passes < 1000
    else:
        assert report.separated
        assert report.passes > 100


def test_a_limit_is_said_to_be_one():
    X = np.array([[0.0], [1.0], [1.001], [2.0]])
    solution = cc.PerceptronCriterion(X, [0, 0, 1, 1]).solve("perceptron", max_passes=150)
    assert solution.rule_report.passes == 150
    assert solution.rule_report.proof is None
    assert "more may help (max_passes)" in solution.message


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_counts_reproduce_the_weights_whatever_the_run(data):
    n, d = data.draw(st.integers(2, 8)), data.draw(st.integers(1, 3))
    entries = st.lists(st.integers(-100, 100), min_size=d, max_size=d)
    X = data.draw(st.lists(entries, min_size=n, max_size=n))
    y = [0, 1, *data.draw(st.lists(st.sampled_from([0, 1]), min_size=n - 2, max_size=n - 2))]
    options = {"rate": data.draw(st.sampled_from([1.0, 0.5, 3.0])), "max_passes": 120, "cycle_visits": 500}
    solver = data.draw(st.sampled_from(["perceptron", "perceptron-batch"]))
    if solver == "perceptron":
        options["order"] = data.draw(st.sampled_from(["cyclic", "random"]))
    start = {"coef": data.draw(entries), "intercept": data.draw(st.integers(-5, 5))}
    solution = cc.PerceptronCriterion(X, y).solve(solver, start=start, **options)
    report, rows = solution.rule_report, signed_rows(X, y)
    begin = np.array([*start["coef"], start["intercept"]])
    assert (report.weights == begin + options["rate"] * (report.counts @ rows)).all()
    assert report.counts_reproduce_weights()
    assert report.updates == report.counts.sum()
    assert report.separated == bool(np.all(rows @ report.weights > 0))
    assert not (report.proof is not None and can_be_separated(rows))


# ---- Widrow-Hoff and stochastic gradients ------------------------------------------------------------------------


def design(X) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))])


@pytest.mark.parametrize(("step", "count"), [("decay", "pass"), ("decay", "visit"), ("fixed", "pass")])
def test_lms_is_the_delta_rule(step, count):
    X, y = overlapping(20, 2)
    rows, targets = design(X), np.where(y == 1, 1.0, -1.0)
    solution = cc.LeastSquares(X, y).solve("lms", step=step, count=count, max_passes=3)
    eta0, w, tau = 1 / (rows**2).sum(axis=1).max(), np.zeros(3), 1
    for k in range(3):
        for x, t in zip(rows, targets, strict=True):
            eta = eta0 if step == "fixed" else eta0 / (tau if count == "visit" else k + 1)
            w = w + eta * (t - x @ w) * x
            tau += 1
    np.testing.assert_allclose([*solution.coef, solution.intercept], w, rtol=1e-12)
    assert len(solution.trace) == 4
    assert solution.trace[-1].objective == pytest.approx(0.5 * ((rows @ w - targets) ** 2).sum())


def test_a_penalty_is_spread_over_the_samples():
    X, y = overlapping(20, 2)
    rows, targets, l2 = design(X), np.where(y == 1, 1.0, -1.0), 4.0
    weights = 0.5 + np.arange(20) % 3
    solution = cc.LeastSquares(X, y, l2=l2, sample_weight=weights).solve("lms", eta0=0.01, max_passes=2)
    w, penalty = np.zeros(3), np.array([l2, l2, 0.0]) / 20
    for k in range(2):
        for x, t, c in zip(rows, targets, weights, strict=True):
            w = w + 0.01 / (k + 1) * (c * (t - x @ w) * x - penalty * w)
    np.testing.assert_allclose([*solution.coef, solution.intercept], w, rtol=1e-12)


@pytest.mark.parametrize("batch", [1, 6])
def test_sgd_follows_the_score_of_logistic_regression(batch):
    X, y = overlapping(20, 2)
    rows = design(X)
    solution = cc.LogisticMLE(X, y).solve("sgd", order="cyclic", eta0=0.3, max_passes=3, batch=batch)
    w = np.zeros(3)
    for k in range(3):
        for first in range(0, 20, batch):
            chosen = slice(first, first + batch)
            w = w + 0.3 / (k + 1) * np.mean((y[chosen] - expit(rows[chosen] @ w))[:, None] * rows[chosen], axis=0)
    np.testing.assert_allclose([*solution.coef, solution.intercept], w, rtol=1e-12)


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("intercept", [True, False])
def test_sgd_follows_the_score_of_softmax_regression(batch, intercept):
    X, y = overlapping(30, 2)[0], np.arange(30) % 3
    rows, l2 = (design(X) if intercept else X), 0.8
    problem = cc.SoftmaxMLE(X, y, l2=l2, intercept=intercept)
    solution = problem.solve("sgd", order="cyclic", eta0=0.3, max_passes=2, batch=batch)
    w, own = np.zeros((3, rows.shape[1])), np.eye(3)[y]
    penalty = np.array([l2, l2, *([0.0] * intercept)]) / 30
    for k in range(2):
        for first in range(0, 30, batch):
            chosen = slice(first, first + batch)
            pull = (own[chosen] - softmax(rows[chosen] @ w.T, axis=1)).T @ rows[chosen]
            w = w + 0.3 / (k + 1) * (pull / len(rows[chosen]) - penalty * w)
    np.testing.assert_allclose(solution.coef, w[:, :2], rtol=1e-11)
    if intercept:
        np.testing.assert_allclose(solution.intercept, w[:, 2], rtol=1e-11)


def three_classes(n: int = 60, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Samples whose classes follow a softmax model: they overlap."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    return X, np.argmax(X @ rng.normal(size=(d, 3)) + rng.gumbel(size=(n, 3)), axis=1)


SMALL = overlapping(60, 3, seed=4)
REACHED = {
    "lms": cc.LeastSquares(*SMALL),
    "lms-ridge": cc.LeastSquares(*SMALL, l2=2.0),
    "sgd": cc.LogisticMLE(*SMALL),
    "sgd-ridge": cc.LogisticMLE(*SMALL, l2=0.5),
    "sgd-softmax": cc.SoftmaxMLE(*three_classes(), l2=1.0),
    "sgd-exponential": cc.EmpiricalRisk(*SMALL, loss="exponential", l2=1.0),
}


@pytest.mark.parametrize("name", REACHED)
def test_rules_keep_their_rough_promise_and_claim_no_more(name):
    problem, solver = REACHED[name], name.partition("-")[0]
    promise = solver_class(solver).promise
    best, rough = problem.solve(), problem.solve(solver, tol=promise)
    assert rough.status == "optimal", rough.certificate.reason
    assert rough.objective == pytest.approx(best.objective, rel=promise)
    np.testing.assert_allclose(rough.coef, best.coef, atol=promise * np.abs(best.coef).max())
    sharp = problem.solve(solver, max_passes=20)
    assert sharp.status == "undecided"
    assert [line.detail["pass"] for line in sharp.trace] == list(range(21))


def test_sparse_rows_take_the_same_steps():
    X, y = overlapping(25, 3)
    X[np.abs(X) < 0.4] = 0.0
    for model, solver in ((cc.LeastSquares, "lms"), (cc.LogisticMLE, "sgd")):
        dense, thin = (model(form, y).solve(solver, max_passes=3) for form in (X, sparse.csr_array(X)))
        np.testing.assert_allclose(thin.coef, dense.coef, rtol=1e-10)


def test_a_step_that_is_too_large_is_named():
    X, y = overlapping()
    for solver in ("lms", "sgd", "gradient"):
        solution = cc.LeastSquares(X, y).solve(solver, step="fixed", eta0=50.0)
        assert solution.status == "undecided"
        assert "lower eta0" in solution.message


def test_an_order_by_chance_follows_its_seed_and_a_start_is_taken():
    problem = cc.LogisticMLE(*SMALL, l2=0.5)
    first, same, other = (problem.solve("sgd", seed=seed, max_passes=2) for seed in (4, 4, 5))
    assert np.array_equal(first.coef, same.coef)
    assert not np.array_equal(first.coef, other.coef)
    best = problem.solve()
    warm = problem.solve("sgd", start=best, max_passes=1)
    assert warm.iterations == 0
    assert warm.status == "optimal"
    assert problem.solve("gradient", start=best, tol=1e-5).iterations == 0


# ---- gradient descent by schedule ----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fixed", "decay"])
def test_gradient_steps_are_in_the_units_of_the_data(step):
    X, y = overlapping(20, 2)
    rows, targets = design(1000.0 * X), np.where(y == 1, 1.0, -1.0)
    solution = cc.LeastSquares(1000.0 * X, y).solve("gradient", step=step, eta0=1e-9, max_iter=5)
    w = np.zeros(3)
    for tau in range(1, 6):
        w = w - (1e-9 / tau if step == "decay" else 1e-9) * rows.T @ (rows @ w - targets)
    np.testing.assert_allclose([*solution.coef, solution.intercept], w, rtol=1e-10)


def test_gradient_with_a_fixed_step_arrives_and_never_rises():
    problem = cc.LogisticMLE(*SMALL, l2=0.5)
    solution = problem.solve("gradient", tol=1e-5, step="fixed")
    assert solution.status == "optimal"
    assert np.all(np.diff([line.objective for line in solution.trace]) < 0)
    largest = np.linalg.eigvalsh(0.25 * design(SMALL[0]).T @ design(SMALL[0]) + np.diag([0.5, 0.5, 0.5, 0]))[-1]
    assert [line.step for line in solution.trace] == pytest.approx([1 / largest] * len(solution.trace))


# ---- the contract -----------------------------------------------------------------------------------------------


def test_rules_are_compared_only_where_they_are_named():
    for problem in (cc.PerceptronCriterion(*SEPARABLE), cc.LeastSquares(*SEPARABLE), cc.LogisticMLE(*SMALL)):
        plain = [info.name for info in accepting(problem)]
        every = [info.name for info in accepting(problem, rules=True)]
        assert not set(RULES) & set(plain)
        assert set(plain) < set(every)
    table = cc.compare(cc.PerceptronCriterion(*SEPARABLE), ["highs", "perceptron", "perceptron-batch"])
    assert [row.status for row in table.rows] == ["optimal"] * 3
    assert {info.name for info in cc.list_solvers() if info.rule} == set(RULES)


@pytest.mark.parametrize(
    ("problem", "solver", "reason"),
    [
        (cc.HardMarginSVM(*SEPARABLE), "perceptron", "the perceptron criterion"),
        (cc.SoftMarginSVM(*SEPARABLE), "perceptron-batch", "the perceptron criterion"),
        (cc.EmpiricalRisk(*SEPARABLE, loss="perceptron", l2=1.0), "perceptron", "and nothing else"),
        (cc.EmpiricalRisk(*SEPARABLE, loss="perceptron", l1=1.0), "perceptron", "the problem has size_above"),
        (cc.EmpiricalRisk(*SEPARABLE, loss="hinge"), "perceptron", "not the perceptron's"),
        (cc.LeastAbsolute(*SEPARABLE), "perceptron-batch", "the perceptron criterion"),
        (cc.LogisticMLE(*SEPARABLE), "lms", "the loss is logistic"),
        (cc.FisherLDA(*SMALL), "lms", "without constraints"),
        (cc.PerceptronCriterion(*SEPARABLE), "sgd", "without constraints"),
    ],
)
def test_rules_refuse_what_they_do_not_minimise(problem, solver, reason):
    with pytest.raises(cc.SolverRefused, match=reason):
        problem.solve(solver)


@pytest.mark.parametrize(
    ("solver", "options", "message"),
    [
        ("perceptron", {"order": "backwards"}, "choose one of cyclic, random"),
        ("perceptron", {"step": "armijo"}, "choose one of fixed, decay"),
        ("perceptron", {"rate": 0.0}, "above 0"),
        ("perceptron", {"rate": float("inf")}, "finite number above 0"),
        ("perceptron", {"seed": -1}, "whole number from 0 on"),
        ("perceptron-batch", {"max_passes": 1.5}, "whole number"),
        ("perceptron-batch", {"max_passes": 0}, "above 0"),
    ],
)
def test_options_that_make_no_sense_are_named(solver, options, message):
    with pytest.raises(ValueError, match=message):
        cc.PerceptronCriterion(*SEPARABLE).solve(solver, **options)


@pytest.mark.parametrize("options", [{"eta0": -1.0}, {"eta0": True}, {"count": "day"}, {"batch": 0}, {"order": 1}])
def test_options_of_sgd_that_make_no_sense_are_named(options):
    with pytest.raises(ValueError, match=f"option {next(iter(options))} of solver 'sgd'"):
        cc.LogisticMLE(*SMALL).solve("sgd", **options)


def test_the_callers_arrays_stay_as_they_are():
    X, y = overlapping(20, 3)
    kept = X.copy()
    X.setflags(write=False)
    start = {"coef": np.ones(3)}
    for problem, solver in ((cc.PerceptronCriterion(X, y), "perceptron"), (cc.LeastSquares(X, y), "lms")):
        problem.solve(solver, start=start, max_passes=5)
    assert np.array_equal(X, kept)
    assert np.array_equal(start["coef"], np.ones(3))


def test_the_trace_has_a_line_a_pass_and_is_thinned_later():
    X, y = whole_numbers(5, separable=True)
    seen = []
    solution = cc.PerceptronCriterion(X, y).solve("perceptron", callback=seen.append)
    assert [line.detail["pass"] for line in seen] == list(range(1, solution.rule_report.passes + 1))
    assert seen[-1].detail["updates"] == solution.rule_report.updates
    assert seen[-1].objective == seen[-1].residual == 0
    shown = [k for k in range(1, 20_001) if perceptron._is_shown(k)]
    assert shown[:1000] == list(range(1, 1001))
    assert shown[1000:1900] == list(range(1010, 10_001, 10))
    assert shown[1900:] == list(range(10_100, 20_001, 100))


def test_the_report_in_words_and_on_the_command_line():
    data = cc.load("twenty_points").data
    text = str(cc.PerceptronCriterion(data.matrix, data.target).solve("perceptron").rule_report)
    assert "holds exactly" in text
    assert "mistake bound: " in text
    overlap = CliRunner().invoke(main, ["solve", "perceptron_overlap", "--solver", "perceptron"])
    assert overlap.exit_code == 1
    words = " ".join(overlap.output.split())
    assert "82 updates in 36 passes, by 5 of the samples" in words
    assert "a cycle of 4 passes with 8 updates" in words
    plain = CliRunner().invoke(main, ["solve", "perceptron_overlap", "--solver", "perceptron", "--json"])
    assert json.loads(plain.output)["report"]["cycle"] == {"passes": 4, "updates": 8}


# ---- compiled and plain ---------------------------------------------------------------------------------------------

SCRIPT = """
import sys
if sys.argv[1] == "plain":
    sys.modules["numba"] = None     # as if it were not installed
import json
import numpy as np
import convexcls as cc
from convexcls.solvers.rules import loops
rng = np.random.default_rng(2)
X = rng.normal(size=(40, 5))
y = (X @ rng.normal(size=5) > 0).astype(int)
noisy = (X @ rng.normal(size=5) + rng.normal(size=40) > 0).astype(int)
run = cc.PerceptronCriterion(X, y).solve("perceptron")
runs = [cc.LeastSquares(X, noisy).solve("lms", max_passes=9), cc.LogisticMLE(X, noisy).solve("sgd", max_passes=9)]
runs.append(cc.SoftmaxMLE(X, np.where(X[:, 0] > 0.5, 2, noisy)).solve("sgd", max_passes=9))
print(json.dumps({
    "compiled": hasattr(loops.dot, "py_func"),
    "perceptron": [run.status, run.rule_report.weights.tolist(), run.rule_report.counts.tolist()],
    "rest": [r.last_point["coef"].tolist() for r in runs],
}))
"""


def test_without_numba_the_same_source_gives_the_same_numbers():
    pytest.importorskip("numba")
    found = []
    for way in ("compiled", "plain"):
        done = subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT, way], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert [f["compiled"] for f in found] == [True, False]
    assert found[0]["perceptron"] == found[1]["perceptron"]
    for fast, plain in zip(found[0]["rest"], found[1]["rest"], strict=True):
        np.testing.assert_allclose(fast, plain, rtol=1e-12)


def test_every_loop_is_the_same_function_both_ways():
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(7, 6)), rng.normal(size=7)
    factor, order = np.where(rng.random(7) < 0.5, 1.0, -1.0), np.arange(7)
    assert loops.dot.py_func(X[0], w) == loops.dot(X[0], w) == pytest.approx(X[0] @ w[:6])
    thin = sparse.csr_array(X)
    results = []
    for way in (loops.perceptron_pass, loops.perceptron_pass.py_func):
        weights, counts = w.copy(), np.zeros(7, dtype=np.int64)
        results.append((way(X, factor, 1.0, order, 0.5, weights, counts), weights.tolist(), counts.tolist()))
    assert results[0] == results[1]
    results = []
    for way in (loops.perceptron_pass_sparse, loops.perceptron_pass_sparse.py_func):
        weights, counts = w.copy(), np.zeros(7, dtype=np.int64)
        arrays = (thin.data, thin.indices, thin.indptr)
        results.append((way(*arrays, factor, 1.0, order, 0.5, weights, counts), weights.tolist(), counts.tolist()))
    assert results[0] == results[1]


def test_compiled_code_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch):
    caching = pytest.importorskip("numba.core.caching")
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    function = loops.compiled(loops.dot.py_func)
    assert function(np.arange(5.0), np.ones(6)) == 10


def test_naming_the_solvers_does_not_load_numba():
    code = "import sys, convexcls as cc; cc.list_solvers(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
