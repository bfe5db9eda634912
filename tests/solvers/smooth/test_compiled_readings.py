"""The compiled reading of many samples: value, gradient and slopes are those of the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.solvers.smooth import terms
from convexcls.solvers.smooth.newton import NewtonSolver
from convexcls.solvers.smooth.objective import SmoothObjective

pytest.importorskip("numba")


def samples(kind: str, n: int, d: int, seed: int):
    """Normal samples; sparse ones with empty rows and columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if kind == "sparse":
        X[rng.random((n, d)) < 0.8] = 0.0
        X[::50], X[:, 3] = 0.0, 0.0
    return sparse.csr_array(X) if kind == "sparse" else X, np.where(rng.random(n) < 0.4, 1, -1), rng


def reading(X, y, x, weights=None):
    objective = SmoothObjective(cc.LogisticMLE(X, y, l2=0.5, sample_weight=weights))
    assert isinstance(objective.terms[0], terms.LogisticTerm)
    assert objective.terms[0].margins is not None
    return objective.at(x)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(terms, "MIN_ENTRIES_COMPILED", 0)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighed", [False, True], ids=["alike", "weighed"])
@pytest.mark.parametrize("size", [0.01, 1.0, 300.0], ids=["near zero", "usual", "far out"])
def test_reading_is_that_of_the_formulas(kind, size, weighed):
    X, y, rng = samples(kind, 1003, 21, 5)  # a number of rows that no block divides
    x = size * rng.standard_normal(22)
    w = np.where(rng.random(1003) < 0.2, 0.0, rng.uniform(0.5, 2.0, 1003)) if weighed else np.ones(1003)
    found = reading(X, y, x, w if weighed else None)
    A = X.toarray() if kind == "sparse" else X
    u = y * (A @ x[:21] + x[21])
    slopes = -np.exp(-np.logaddexp(0.0, u))
    pull = w * slopes
    value = w @ np.logaddexp(0.0, -u) + 0.25 * (x[:21] @ x[:21])
    gradient = np.append(A.T @ (y * pull) + 0.5 * x[:21], (y * pull).sum())
    sizes = np.append(abs(A).T @ abs(pull), abs(pull).sum()) + np.abs(0.5 * x)
    assert found.objective == pytest.approx(value, rel=1e-13)
    assert np.all(np.abs(found.gradient - gradient) <= 1e-12 * sizes)
    np.testing.assert_allclose(found.readings[0].arguments, u, rtol=0, atol=1e-12 * max(1.0, size))
    np.testing.assert_allclose(found.readings[0].slopes, slopes, rtol=1e-10 * max(1.0, size), atol=1e-300)
    assert found.readings[0].size == pytest.approx(abs(pull).sum(), rel=1e-12)


def test_small_values_keep_their_digits():
    """Where all margins are large, log(1 + e^-u) is e^-u: a product of factors that are rounded to 1 would be 0."""
    X, y = np.linspace(1.0, 2.0, 30_000).reshape(1500, 20), np.tile([1, -1], 750)
    X = X * y[:, None]
    x = np.append(np.full(20, 2.0), 0.0)
    found = reading(X, y, x)
    u = y * (X @ x[:20])
    value = np.log1p(np.exp(-u)).sum()
    assert value < 1e-10
    assert found.readings[0].value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_point_out_of_range_has_no_value(bad):
    """A step that leads there is not taken."""
    X, y, _ = samples("dense", 1200, 20, 7)
    x = np.zeros(21)
    x[4] = bad
    assert not np.isfinite(reading(X, y, x).objective)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_answer_is_certified_and_the_same(kind, monkeypatch):
    X, y, _ = samples(kind, 2500, 30, 11)
    ours = cc.LogisticMLE(X, y, l2=1.0).solve(solver=NewtonSolver(hessian="subsampled"))
    monkeypatch.setattr(terms, "MIN_ENTRIES_COMPILED", 10**9)
    plain = cc.LogisticMLE(X, y, l2=1.0).solve(solver="newton")
    assert ours.status == plain.status == "optimal"
    np.testing.assert_allclose(ours.coef, plain.coef, atol=1e-8)
