"""Columns that span all others: against ranks and null spaces in rationals."""

from __future__ import annotations

import numpy as np
import pytest

from convexcls.rational import elimination
from convexcls.rational.doubles import as_fractions, rank
from convexcls.rows import as_rows
from convexcls.rows.column_basis import ColumnBasis
from convexcls.rows.summation import distinct_rows


def table(rng, n=60, sizes=(3, 4)):
    return np.hstack([*(np.eye(k)[rng.integers(k, size=n)] for k in sizes), np.ones((n, 1))])


def in_thirds(rng):
    """Columns that depend on each other by thirds, which no whole numbers show."""
    a, b = rng.integers(-9, 9, size=(2, 40)).astype(float)
    return np.column_stack([a, b, 3 * a + b, rng.normal(size=40)]) * [3.0, 1.0, 1.0, 1.0]


def rescaled(rng):
    return table(rng) / rng.uniform(0.1, 3.0, size=8)


def rounded_sum(rng):
    X = rng.normal(size=(50, 3))
    return np.column_stack([X, X.sum(axis=1)])


def ill_conditioned(rng):
    X = rng.normal(size=(50, 3))
    return np.column_stack([X, X @ [1.0, 1.0, 1.0] + 1e-9 * rng.normal(size=50)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("matrix_of", [table, in_thirds, rescaled, rounded_sum, ill_conditioned])
def test_columns_depend_as_they_do_in_rationals(matrix_of, seed):
    matrix = matrix_of(np.random.default_rng(seed))
    basis = ColumnBasis.of([as_rows(matrix)])
    true = matrix.shape[1] - len(elimination.null_space(as_fractions(matrix)))
    assert basis.is_exact is (basis.columns.size == true)
    assert true >= basis.columns.size == rational_rank(matrix[:, basis.columns])
    own = matrix[:, basis.columns]
    assert np.allclose(own @ basis.combination, matrix[:, basis.others], atol=1e-12 * np.abs(matrix).max())
    assert np.abs(matrix @ basis.null_vectors).max(initial=0.0) <= 1e-12 * np.abs(matrix).max()
    orthonormal = own @ basis.orthogonal
    assert np.allclose(orthonormal.T @ orthonormal, np.eye(basis.columns.size), atol=1e-6)


def rational_rank(matrix):
    return matrix.shape[1] - len(elimination.null_space(as_fractions(matrix)))


def test_columns_of_zeros_and_rows_one_above_the_other():
    X = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    basis = ColumnBasis.of([as_rows(X), as_rows(np.array([[0.0, 0.0, 1.0]]))])
    assert basis.columns.tolist() == [0, 2]
    assert basis.others.tolist() == [1]
    assert basis.is_exact
    assert ColumnBasis.of([as_rows(np.zeros((3, 2)))]).columns.size == 0


def test_numbers_out_of_range_have_no_basis():
    assert ColumnBasis.of([as_rows(np.array([[np.inf, 1.0], [1.0, 1.0]]))]) is None


@pytest.mark.parametrize("deficient", [False, True])
def test_the_rank_of_many_rows_is_that_of_their_combinations(deficient):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9000, 6)) * 2.0 ** rng.integers(-30, 30, size=(9000, 1))
    if deficient:
        X[:, 5] = X[:, 0] * 2.0
    assert rank(X) == (5 if deficient else 6)


def test_rows_that_differ_are_told():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
    first, place = distinct_rows(X)
    assert np.array_equal(X[first][place], X)
    assert first.size == 2
    assert distinct_rows(np.arange(8.0).reshape(4, 2)) is None
