"""Every model on samples by block: the answer and the proof of the same samples in memory, in few passes."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.rows import by_block

N, D, ROWS = 12_000, 6, 1500
WEIGHTS = np.array([1.0, -2.0, 0.5, 0.0, 0.75, 1.5])


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D))
    score = X @ WEIGHTS + 0.3
    y = np.where(score > 0, 1, -1)
    return X, y, np.where(rng.random(N) < 0.1, -y, y), np.digitize(score + rng.normal(size=N), [-1.0, 1.0]), score


def apart(X, y):
    return X + 0.2 * y[:, None] * WEIGHTS


#: A model, which labels it takes, and how many passes it may make: to the answer, and to its proof.
MODELS = {
    "hard margin": (lambda X, y: cc.HardMarginSVM(X, y), "y", 7, 3),
    "maximum margin": (lambda X, y: cc.MaxMargin(X, y), "y", 7, 3),
    "soft margin": (lambda X, y: cc.SoftMarginSVM(X, y), "noisy", 25, 3),
    "squared hinge": (lambda X, y: cc.SoftMarginSVM(X, y, loss="squared_hinge"), "noisy", 25, 3),
    "logistic": (lambda X, y: cc.LogisticMLE(X, y), "noisy", 8, 3),
    "ridge logistic": (lambda X, y: cc.LogisticMLE(X, y, l2=1.0), "noisy", 8, 3),
    "weighted logistic": (lambda X, y: cc.LogisticMLE(X, y, sample_weight=np.arange(N) % 3), "noisy", 8, 3),
    "softmax": (lambda X, y: cc.SoftmaxMLE(X, y, l2=1.0), "three", None, 3),
    "least squares": (lambda X, y: cc.LeastSquares(X, y), "noisy", 3, 3),
    "ridge": (lambda X, y: cc.LeastSquares(X, y, l2=1.0), "noisy", 3, 3),
    "regression": (lambda X, y: cc.LeastSquares(X, y, coding="real"), "score", 3, 3),
    "least absolute": (lambda X, y: cc.LeastAbsolute(X, y), "noisy", None, None),
    "perceptron criterion": (lambda X, y: cc.PerceptronCriterion(X, y), "noisy", None, 3),
    "fisher": (lambda X, y: cc.FisherLDA(X, y), "noisy", None, 3),
    "fisher of three": (lambda X, y: cc.FisherLDA(X, y), "three", None, None),
    "gaussian": (lambda X, y: cc.GaussianMLE(X, y), "three", None, 3),
    "quadratic gaussian": (lambda X, y: cc.GaussianMLE(X, y, covariance="by-class"), "three", None, 3),
    "risk": (lambda X, y: cc.EmpiricalRisk(X, y, loss="exponential", l2=1.0), "noisy", 8, 3),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_answer_and_proof(name, samples, monkeypatch):
    declare, which, most, most_to_prove = MODELS[name]
    X, plain, noisy, three, score = samples
    labels = {"y": plain, "noisy": noisy, "three": three, "score": score}[which]
    X = apart(X, plain) if which == "y" else X
    read = cc.read_blocks(X, target=labels, rows=ROWS)
    model, expected = declare(*read), declare(X, labels).solve()
    passes = _counted_verdicts(monkeypatch, read.rows)
    solution = model.solve()
    assert solution.status == expected.status == "optimal"
    assert solution.objective == pytest.approx(expected.objective, rel=1e-9)
    for variable, values in expected.values.items():
        np.testing.assert_allclose(solution.values[variable], values, rtol=1e-6, atol=1e-6)
    if most is not None:
        assert passes[0] <= most
    if most_to_prove is not None:
        assert read.rows.passes - passes[0] <= most_to_prove
    np.testing.assert_array_equal(solution.predict(read.X), solution.predict(X))
    rigorous = model.solve(level="rigorous")
    assert (rigorous.status, rigorous.certificate.level) == ("optimal", "rigorous")


def _counted_verdicts(monkeypatch, rows):
    """How many passes were made when a verdict was asked for."""
    from convexcls import job

    passes, judge = [], job.Job._judged

    def judged(self, *arguments):
        passes.append(rows.passes)
        return judge(self, *arguments)

    monkeypatch.setattr(job.Job, "_judged", judged)
    return passes


def test_verdicts_without_a_solution(samples):
    X, y, noisy, *_ = samples
    assert cc.HardMarginSVM(*cc.read_blocks(X, target=noisy, rows=ROWS)).solve().status == "infeasible"
    assert cc.LogisticMLE(*cc.read_blocks(apart(X, y), target=y, rows=ROWS)).solve().status == "unattained"


def test_the_exact_level(samples):
    X, y, *_ = samples
    X = np.round(apart(X, y)[:3000], 2)
    blocks, memory = (cc.HardMarginSVM(*pair).solve(level="exact") for pair in
                      (cc.read_blocks(X, target=y[:3000], rows=500), (X, y[:3000])))  # fmt: skip
    assert blocks.certificate.level == "exact"
    assert blocks.certificate.optimum == memory.certificate.optimum


def test_features_far_from_zero_are_centred(samples):
    """As in memory: times in seconds since 1970 lose no digits."""
    X, _, noisy, *_ = samples
    X = np.round(X * 1e3) + 1.6e9
    read = cc.read_blocks(X, target=noisy, rows=ROWS)
    s, expected = cc.LogisticMLE(*read).solve(), cc.LogisticMLE(X, noisy).solve()
    assert s.status == expected.status == "optimal"
    np.testing.assert_allclose(s.coef, expected.coef, rtol=1e-6)


def test_certificates_are_verified_on_blocks(samples):
    """The file is the same whether the samples were read by block or not, and so is what verifies it."""
    X, _, noisy, *_ = samples
    X, y = X[:300], noisy[:300]
    read = cc.read_blocks(X, target=y, rows=40)
    text = cc.LogisticMLE(*read, l2=1.0).solve().certificate.to_json()
    assert cc.verify(text, *read)
    assert cc.verify(text, X, y)
    other = X.copy()
    other[290, 1] += 1e-9
    assert not cc.verify(text, *cc.read_blocks(other, target=y, rows=40))


def test_solvers_that_make_no_passes(samples, monkeypatch):
    X, y, *_ = samples
    problem = cc.HardMarginSVM(*cc.read_blocks(apart(X, y)[:2000], target=y[:2000], rows=500))
    with pytest.raises(cc.SolverRefused, match="does not go through its samples by passes"):
        problem.solve("coordinate-descent")
    assert problem.solve("clarabel").status == "optimal"  # few enough to be gathered
    monkeypatch.setattr(by_block, "MAX_GATHERED_ENTRIES", 10_000)
    for solver in ("clarabel", "dual:osqp"):
        with pytest.raises(cc.SolverRefused, match="more than 10,000 are not gathered"):
            problem.solve(solver)
