"""Samples drawn from models: frequencies beside the probabilities of the formulas, moments beside the parameters."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import convexcls as cc


def within(count, chance, n, deviations=5.0):
    """Whether a count of n draws is one that its probability explains."""
    return abs(count - n * chance) <= deviations * np.sqrt(n * chance * (1 - chance))


def test_labels_have_the_probabilities_of_the_logistic_model():
    n, coef, b = 20_000, np.array([1.5, -0.5]), 0.25
    for x in ([0.0, 0.0], [1.0, 0.5], [-1.0, 2.0]):
        y = cc.draw_labels(np.tile(x, (n, 1)), coef, b, seed=3)
        assert within(y.sum(), 1 / (1 + np.exp(-(coef @ x + b))), n)


def test_labels_have_the_probabilities_of_the_softmax_model():
    n, coef, b = 20_000, np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([0.0, 0.5, 1.0])
    x = np.array([0.7, -0.2])
    y = cc.draw_labels(np.tile(x, (n, 1)), coef, b, labels=["a", "b", "c"], seed=4)
    odds = np.exp(coef @ x + b)
    for label, share in zip("abc", odds / odds.sum(), strict=True):
        assert within((y == label).sum(), share, n)


def test_scores_beyond_exp_leave_no_doubt():
    X = np.array([[-1e6], [1e6]])
    assert cc.draw_labels(X, [1e3]).tolist() == [0, 1]
    assert cc.draw_labels(X, [[-1e3], [1e3]], [0.0, 0.0]).tolist() == [0, 1]


def test_the_fit_to_drawn_labels_is_near_the_model():
    g = np.random.default_rng(5)
    X, coef = g.normal(size=(20_000, 2)), np.array([1.0, -2.0])
    s = cc.LogisticMLE(X, cc.draw_labels(X, coef, 0.5, seed=6)).solve()
    Z = np.column_stack([X, np.ones(len(X))])
    p = 1 / (1 + np.exp(-Z @ [*coef, 0.5]))
    errors = np.sqrt(np.diag(np.linalg.inv(Z.T @ ((p * (1 - p))[:, None] * Z))))
    assert np.all(np.abs(np.append(s.coef - coef, s.intercept - 0.5)) <= 5 * errors)


@pytest.mark.parametrize("shared", [True, False])
def test_samples_have_the_moments_of_their_classes(shared):
    covariance = np.array([[2.0, 0.8], [0.8, 1.0]])
    stated = SimpleNamespace(
        priors=np.array([0.25, 0.75]),
        means=np.array([[0.0, 1.0], [3.0, -1.0]]),
        covariance=covariance if shared else np.array([covariance, 0.25 * covariance]),
    )
    n = 40_000
    X, y = cc.draw_samples(n, stated, seed=7)
    assert within(y.sum(), 0.75, n)
    for k in (0, 1):
        part = X[y == k]
        sigma = covariance if shared or k == 0 else 0.25 * covariance
        assert np.all(np.abs(part.mean(axis=0) - stated.means[k]) <= 5 * np.sqrt(np.diag(sigma) / len(part)))
        assert np.cov(part.T) == pytest.approx(sigma, abs=5 * 2.0 * 2 / np.sqrt(len(part)))


def test_a_singular_covariance_stays_on_its_line():
    stated = SimpleNamespace(
        priors=np.ones(1), means=np.array([[1.0, 2.0]]), covariance=np.array([[1.0, 2.0], [2.0, 4.0]])
    )
    X, _ = cc.draw_samples(100, stated, seed=8)
    assert 2 * (X[:, 0] - 1) == pytest.approx(X[:, 1] - 2, abs=1e-6)


def test_the_same_seed_draws_the_same():
    X = np.zeros((50, 1))
    assert cc.draw_labels(X, [1.0], seed=9).tolist() == cc.draw_labels(X, [1.0], seed=9).tolist()
    assert cc.draw_labels(X, [1.0], seed=9).tolist() != cc.draw_labels(X, [1.0], seed=10).tolist()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: cc.draw_labels([[1.0]], [1.0, 2.0]), r"coef is of the shape \(2,\): give one entry a feature \(1\)"),
        (lambda: cc.draw_labels([[1.0]], [[1.0], [2.0]], [0, 0, 0]), "there are 3 intercepts for 2 classes"),
        (lambda: cc.draw_labels([[1.0]], [1.0], labels="abc"), "there are 3 labels for 2 classes"),
        (lambda: cc.draw_labels([[1.0]], [float("nan")]), "coef"),
        (
            lambda: cc.draw_samples(
                1, SimpleNamespace(priors=[1.0], means=[[0.0, 0.0]], covariance=[[1.0, 2.0], [2.0, 1.0]])
            ),
            "the covariance is not positive semidefinite: eigenvalue -1",
        ),
        (lambda: cc.draw_samples(-1, SimpleNamespace(priors=[1.0], means=[[0.0]], covariance=[[1.0]])), "n is -1"),
    ],
)
def test_what_is_no_model_is_refused(call, told):
    with pytest.raises(cc.DataError, match=told):
        call()
