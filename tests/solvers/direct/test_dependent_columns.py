"""Least squares, Fisher directions and Gaussian classes on tables with dependent columns, and wide ones, against NumPy
and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse

import convexcls as cc


def table(seed, n=1500, cards=(3, 5, 4, 6, 30, 20)):
    """One-hot columns, some rare, and numbers of large scale."""
    rng = np.random.default_rng(seed)
    parts = [np.eye(c)[np.append(np.arange(c), rng.integers(0, c, n - c))] for c in cards]
    X = np.hstack([*parts, rng.integers(1500, 4000, (n, 2)).astype(float)])
    return X, rng


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_least_squares_of_one_hot_tables_are_the_shortest(seed, kind):
    X, rng = table(seed)
    y = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(X.shape[0])
    s = cc.LeastSquares(kind(X), y, coding="real").solve()
    centred = X - X.mean(axis=0)
    expected = np.linalg.lstsq(centred, y - y.mean(), rcond=1e-11)[0]
    assert s.status == "optimal"
    assert any("depend on each other" in note for note in s.certificate.notes)
    np.testing.assert_allclose(s.coef, expected, atol=1e-9)


@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_wide_least_squares_are_solved_in_the_span_of_the_samples(seed, l2):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 3000)), rng.standard_normal(40)
    s = cc.LeastSquares(X, y, coding="real", l2=l2).solve()
    assert s.status == "optimal"
    assert "span" in s.message
    if l2:
        centred = X - X.mean(axis=0)
        expected = centred.T @ np.linalg.solve(centred @ centred.T + l2 * np.eye(40), y - y.mean())
        np.testing.assert_allclose(s.coef, expected, atol=1e-11)
    else:
        np.testing.assert_allclose(X @ s.coef + s.intercept, y, atol=1e-11)


@pytest.mark.parametrize("classes", [3, 6])
def test_fisher_directions_of_several_classes_solve_the_eigenproblem(classes):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 4000)
    X = rng.standard_normal((4000, 30)) @ rng.standard_normal((30, 30)) + rng.standard_normal((classes, 30))[y]
    s = cc.FisherLDA(X, y).solve()
    means = np.array([X[y == k].mean(axis=0) for k in range(classes)])
    within = (X - means[y]).T @ (X - means[y])
    between = (means[y] - X.mean(axis=0)).T @ (means[y] - X.mean(axis=0))
    expected = linalg.eigh(between, within, eigvals_only=True)[::-1][: classes - 1]
    assert s.status == "optimal"
    assert s.estimates.holds(1e-10)
    np.testing.assert_allclose(s.estimates.ratios, expected, rtol=1e-10)


def test_fisher_directions_of_one_hot_tables():
    X, rng = table(5)
    y = rng.integers(0, 4, len(X)) + (X[:, 0] > 0)
    s = cc.FisherLDA(X, y).solve()
    kept = [0, 1, 3, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 16, *range(18, 47), *range(48, 67), 68, 69]
    other = cc.FisherLDA(X[:, kept], y).solve()
    assert s.status == other.status == "optimal"
    assert s.estimates.holds()
    np.testing.assert_allclose(s.estimates.ratios, other.estimates.ratios, rtol=1e-9)


@pytest.mark.parametrize("covariance", ["shared", "by-class"])
def test_gaussian_classes_of_one_hot_tables_have_no_maximum(covariance):
    X, rng = table(3, cards=(3, 5, 4, 6, 30))
    X = np.hstack([X, np.zeros((len(X), 1)), 0.1 + np.zeros((len(X), 1))])
    s = cc.GaussianMLE(X, rng.integers(0, 2, len(X)), covariance=covariance).solve()
    assert s.status == "unattained"
    assert "leave these out" in s.problem.unattained_words


def test_gaussian_classes_have_a_maximum_without_the_features_that_are_named():
    X, rng = table(4, cards=(3, 5, 4, 6, 30))
    y = rng.integers(0, 2, len(X))
    problem = cc.GaussianMLE(X, y)
    assert problem.solve().status == "unattained"
    (part,) = problem.parts
    kept = np.sort(part.columns.columns)
    assert cc.GaussianMLE(X[:, kept], y).solve().status == "optimal"


def test_a_feature_that_nearly_does_not_vary_is_no_proof():
    X, rng = table(6, cards=(3, 5, 4, 6, 30))
    kept = [0, 1, 3, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 16, *range(18, 47), 48, 49]
    X = np.hstack([X[:, kept], X[:, :1]])
    X[7, -1] += 1e-13
    assert cc.GaussianMLE(X, rng.integers(0, 2, len(X))).solve().status != "unattained"
