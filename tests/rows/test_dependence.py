"""Columns that are combinations of others, against rationals and SVDs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from convexcls.rational.doubles import rank
from convexcls.rows import as_rows
from convexcls.rows.dependence import Dependence, exact_products, shortest_along


def one_hot(rng, n, cards):
    """Tables of categories, side by side, and a column of ones: as many columns too many as there are tables."""
    parts = [np.eye(c)[np.concatenate([np.arange(c), rng.integers(0, c, n - c)])] for c in cards]
    return np.hstack([*parts, np.ones((n, 1))])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_one_hot_tables_depend_exactly(seed, kind):
    rng = np.random.default_rng(seed)
    X = one_hot(rng, 300, rng.integers(2, 7, 3 + seed % 3))
    rows = as_rows(kind(X))
    found = Dependence.of(rows.gram(np.ones(300))).on_rows([rows])
    assert found.kept.size == np.linalg.matrix_rank(X) == rank(X)
    flat = found.flat_directions()
    products = exact_products(rows, flat)
    assert products is not None
    assert not products.any()
    x = rng.standard_normal(X.shape[1])
    expected = np.linalg.lstsq(X, X @ x, rcond=1e-10)[0]
    np.testing.assert_allclose(shortest_along(flat, x), expected, atol=1e-12)


def test_columns_that_nearly_repeat_each_other_are_left_to_others():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 6))
    for little in (1e-4, 1e-6, 1e-9):
        X[:, 5] = X[:, 0] + little * X[:, 1] ** 2
        rows = as_rows(X)
        found = Dependence.of(rows.gram(np.ones(200)))
        assert found is None or found.kept.size == 6 or found.on_rows([rows]) is None


def test_a_solution_of_the_kept_columns():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 5)) * [1e-3, 1.0, 1e4, 1.0, 7.0]
    X[:, 3] = 0.0
    found = Dependence.of(X.T @ X)
    assert sorted(found.kept) == [0, 1, 2, 4]
    assert found.others.tolist() == [3]
    r = rng.standard_normal(5)
    kept = np.sort(found.kept)
    np.testing.assert_allclose(found.solve(r)[kept], np.linalg.solve(X[:, kept].T @ X[:, kept], r[kept]), rtol=1e-9)


def test_products_are_exact_or_not_given():
    X = np.array([[0.1, 0.1, 3.0], [0.7, 0.7, -2.0]])
    rows = as_rows(X)
    assert exact_products(rows, np.array([[1.0], [-1.0], [0.0]])).tolist() == [[0.0], [0.0]]
    assert exact_products(rows, np.array([[0.0], [1.0], [0.0]])).tolist() == [[0.1], [0.7]]
    assert exact_products(rows, np.array([[0.0], [0.0], [5.0]])).tolist() == [[15.0], [-10.0]]
    assert exact_products(rows, np.array([[1.0], [1.0], [0.0]])) is None
    assert exact_products(rows, np.array([[0.0], [0.0], [0.5]])) is None
    assert exact_products(as_rows(2.0**50 * X[:, 2:]), np.array([[5.0]])) is None


@pytest.mark.parametrize("seed", range(4))
def test_the_rank_of_many_rows_is_that_of_their_combinations(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 9)) * 2.0 ** rng.integers(-40, 40, 9)
    X[:, 3], X[:, 7] = X[:, 1], 4.0 * X[:, 2]
    assert rank(X) == rank(X[:12]) == 7
    X[:, 3] = np.nextafter(X[:, 3], np.inf)
    assert rank(X) == 8
