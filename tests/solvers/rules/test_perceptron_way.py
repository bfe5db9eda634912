"""The way of the perceptron: ties, every w_t, the two halves of the convergence proof, pocket and average, errors by
kind; against the rule written out in a few lines."""

import numpy as np
import pytest
from datasets import overlapping
from scipy import sparse

import convexcls as cc
from convexcls.plots import NormsDisplay, TrajectoryDisplay
from convexcls.problem import NoAnswer
from convexcls.solvers.rules import history


def whole_numbers(seed, flipped=0.0, d=2, n=12):
    rng = np.random.default_rng(seed)
    while True:
        X = rng.integers(-4, 5, size=(n, d)).astype(float)
        y = (X @ rng.integers(-3, 4, size=d) + rng.integers(-2, 3) > 0).astype(int)
        y[rng.random(n) < flipped] ^= 1
        if 0 < y.sum() < n:
            return X, y


def by_hand(X, y, passes, *, ties="mistake", rate=lambda tau: 1.0, batch=False, intercept=True):
    """All w_t, the samples that made them, and the sum of the weights over all visits (batch: passes)."""
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else np.asarray(X)
    w = np.zeros(Z.shape[1])
    way, made, total, visits = [w], [], np.zeros(Z.shape[1]), 0

    def mistaken(i):
        f = Z[i] @ w
        if ties == "positive":
            return (f >= 0) != (y[i] == 1)
        return f <= 0 if y[i] == 1 else f >= 0

    for tau in range(1, passes + 1):
        before = len(made)
        if batch:
            wrong = [i for i in range(len(X)) if mistaken(i)]
            w = w + rate(tau) * sum(((2 * y[i] - 1) * Z[i] for i in wrong), np.zeros(Z.shape[1]))
            made += wrong
            way += [w] if wrong else []
            total, visits = total + w, visits + 1
        else:
            for i in range(len(X)):
                if mistaken(i):
                    w = w + rate(tau) * (2 * y[i] - 1) * Z[i]
                    made.append(i)
                    way.append(w)
                total, visits = total + w, visits + 1
        if len(made) == before:
            break
    return np.array(way), made, total / visits, Z


def mistakes(Z, y, w, ties="mistake"):
    """False positives and false negatives."""
    f = Z @ w
    if ties == "positive":
        return int(np.sum((f >= 0) & (y == 0))), int(np.sum((f < 0) & (y == 1)))
    return int(np.sum((f >= 0) & (y == 0))), int(np.sum((f <= 0) & (y == 1)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("ties", ["mistake", "positive"])
@pytest.mark.parametrize("flipped", [0.0, 0.3])
def test_every_weight_and_its_sample(seed, batch, ties, flipped):
    X, y = whole_numbers(seed, flipped)
    solver = "perceptron-batch" if batch else "perceptron"
    s = cc.PerceptronCriterion(X, y).solve(solver, ties=ties, max_passes=25)
    report = s.rule_report
    way, made, average, Z = by_hand(X, y, report.passes, ties=ties, batch=batch)
    weights, count = report.way()
    assert report.updates_made.samples.tolist() == made
    np.testing.assert_array_equal(weights, way)
    np.testing.assert_array_equal(weights[-1], report.weights)
    assert count[-1] == report.updates == len(made)
    np.testing.assert_allclose(report.averaged, average, rtol=1e-12, atol=1e-12)
    errors = [sum(mistakes(Z, y, w, ties)) for w in way]
    best = int(np.argmin(errors))
    assert report.pocket.updates == count[best]
    np.testing.assert_array_equal(report.pocket.weights, way[best])
    found = report.pocket.errors
    assert (found.false_positives, found.false_negatives) == mistakes(Z, y, way[best], ties)
    found = report.errors()
    assert (found.false_positives, found.false_negatives) == mistakes(Z, y, way[-1], ties)
    assert report.separated == (found.total == 0)


@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_decaying_rates_sparse_rows_and_weights(order):
    X, y = whole_numbers(3, 0.3)
    weights = np.array([1.0, 2.0, 0.0, 1.0, 4.0, 1.0, 1.0, 0.5, 1.0, 1.0, 0.0, 2.0])
    options = {"step": "decay", "order": order, "seed": 5, "max_passes": 9}
    runs = [
        cc.PerceptronCriterion(form(X), y, sample_weight=weights).solve("perceptron", **options).rule_report
        for form in (np.asarray, sparse.csr_array)
    ]
    way, _ = runs[0].way()
    np.testing.assert_allclose(way[-1], runs[0].weights, rtol=1e-12)
    np.testing.assert_array_equal(runs[1].way()[0], way)
    made = runs[0].updates_made
    Z = (2 * y - 1)[:, None] * np.column_stack([X, np.ones(12)])
    np.testing.assert_allclose(
        np.diff(way, axis=0),
        (weights / 1.0)[made.samples][:, None] * Z[made.samples] / made.passes[:, None],
        atol=1e-12,
    )
    assert not np.isin([2, 10], made.samples).any()
    # the average once more, visit by visit: ten samples with a weight in each pass
    after = (made.passes - 1) * 10 + made.visits
    total = sum((way[np.searchsorted(after, k, side="right")] for k in range(1, 91)), np.zeros(3))
    np.testing.assert_allclose(runs[0].averaged, total / 90, rtol=1e-11)


def test_ties_make_another_rule():
    """At the start 0 every f is 0: with ties="positive" only negative samples are mistakes."""
    X, y = [[1.0], [2.0], [-1.0]], [1, 1, 0]
    strict, positive = (
        cc.PerceptronCriterion(X, y).solve("perceptron", ties=t).rule_report for t in ("mistake", "positive")
    )
    assert strict.updates_made.samples[0] == 0
    assert positive.updates_made.samples[0] == 2
    assert "f = 0 taken for positive" in str(positive)
    with pytest.raises(ValueError, match="choose one of mistake, positive"):
        cc.PerceptronCriterion(X, y).solve("perceptron", ties="negative")


def test_a_rate_may_run_on_after_the_proof():
    X, y = overlapping(40, 2)
    problem = cc.PerceptronCriterion(X, y)
    stopped = problem.solve("perceptron", step="decay").rule_report
    on = problem.solve("perceptron", step="decay", run_on=True, max_passes=700).rule_report
    assert (stopped.passes, on.passes) == (100, 700)
    assert stopped.proof_verifies()
    assert on.proof_verifies()
    way = by_hand(X, y, 700, rate=lambda tau: 1.0 / tau)[0]
    np.testing.assert_allclose(on.weights, way[-1], rtol=1e-9)
    XOR = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    cycling = cc.PerceptronCriterion(*XOR, normalization=None).solve("perceptron", run_on=True, max_passes=150)
    assert cycling.rule_report.passes == 150
    assert cycling.rule_report.cycle is not None
    assert cycling.rule_report.proof_verifies()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("batch", "rate"), [(False, 1.0), (False, 0.25), (True, 1.0)])
def test_the_two_halves_of_the_convergence_proof(seed, batch, rate):
    X, y = whole_numbers(seed)
    solver = "perceptron-batch" if batch else "perceptron"
    report = cc.PerceptronCriterion(X, y).solve(solver, rate=rate).rule_report
    if not report.separated:
        with pytest.raises(NoAnswer, match="not separable"):
            report.convergence()
        return
    way, made, _, Z = by_hand(X, y, report.passes, batch=batch, rate=lambda tau: rate)
    V = (2 * y - 1)[:, None] * Z
    widest = cc.HardMarginSVM(Z, y, intercept=False).solve().coef
    gamma, R = 1 / np.linalg.norm(widest), np.linalg.norm(V, axis=1).max()
    proof = report.convergence()
    t, times = proof.updates, len(X) if batch else 1
    assert t[-1] == len(made)
    np.testing.assert_allclose(proof.squared_norms, (way**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(proof.at_most, times * t * (rate * R) ** 2, rtol=1e-9)
    np.testing.assert_allclose(proof.along, way @ widest * gamma, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(proof.at_least, t * rate * gamma, rtol=1e-6)
    assert np.all(proof.squared_norms <= proof.at_most)
    assert np.all(proof.along >= proof.at_least - 1e-9)
    assert len(proof.table()) == len(way)
    assert str(proof).splitlines()[-1].split()[0] == str(t[-1])


def test_the_picture_of_the_proof():
    s = cc.load("twenty_points_perceptron").solve("perceptron")
    shown = NormsDisplay.from_solution(s)
    drawn = {line.get_label(): line.get_ydata() for line in shown.ax_.get_lines()}
    np.testing.assert_array_equal(drawn["‖w‖²"], (s.rule_report.way()[0] ** 2).sum(axis=1))
    assert len(drawn) == 4
    assert "no more than" in shown.describe()
    for other in (cc.load("twenty_points_least_squares").solve(), cc.load("perceptron_overlap").solve("perceptron")):
        with pytest.raises(NoAnswer):
            NormsDisplay.of(other)


def test_very_many_updates_are_not_kept(monkeypatch):
    monkeypatch.setattr(history, "MAX_UPDATES_KEPT", 30)
    X, y = overlapping(40, 2)
    s = cc.PerceptronCriterion(X, y).solve("perceptron", max_passes=20)
    assert not s.rule_report.updates_made.complete
    for what in (lambda r: r.way(), lambda r: r.pocket, lambda r: r.averaged):
        with pytest.raises(NoAnswer, match="are kept"):
            what(s.rule_report)
    assert not TrajectoryDisplay.of(s).complete


def test_the_trace_counts_errors_by_kind_and_the_callback_sees_the_point():
    X, y = whole_numbers(4, 0.3)
    seen = []
    s = cc.PerceptronCriterion(X, y, normalization=None).solve("perceptron", max_passes=5, callback=seen.append)
    made = s.rule_report.updates_made
    way, _ = s.rule_report.way()
    for line in seen:
        own = made.samples[made.passes == line.detail["pass"]]
        assert line.detail["mistakes"] == {
            "false_positives": int((y[own] == 0).sum()),
            "false_negatives": int(y[own].sum()),
        }
        np.testing.assert_array_equal(
            line.point[:3], way[np.searchsorted(made.passes, line.detail["pass"], side="right")]
        )
