"""Columns that span all others: against ranks and null spaces in rationals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from convexcls.rational import elimination
from convexcls.rational.doubles import as_fractions, rank
from convexcls.rows import as_rows, column_basis
from convexcls.rows.column_basis import ColumnBasis, exact_products, shortest_along
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
    found = ColumnBasis.of_gram(rows.gram(np.ones(300))).on_rows([rows])
    assert found.columns.size == np.linalg.matrix_rank(X) == rank(X)
    flat = found.null_vectors
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
        found = ColumnBasis.of_gram(rows.gram(np.ones(200)))
        assert found is None or found.columns.size == 6 or found.on_rows([rows]) is None


def test_a_solution_of_the_kept_columns():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 5)) * [1e-3, 1.0, 1e4, 1.0, 7.0]
    X[:, 3] = 0.0
    found = ColumnBasis.of_gram(X.T @ X)
    assert sorted(found.columns) == [0, 1, 2, 4]
    assert found.others.tolist() == [3]
    r = rng.standard_normal(5)
    kept = np.sort(found.columns)
    np.testing.assert_allclose(
        found.solve_spread(r)[kept], np.linalg.solve(X[:, kept].T @ X[:, kept], r[kept]), rtol=1e-9
    )


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
def test_the_rank_of_rows_far_apart_in_size(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 9)) * 2.0 ** rng.integers(-40, 40, 9)
    X[:, 3], X[:, 7] = X[:, 1], 4.0 * X[:, 2]
    assert rank(X) == rank(X[:12]) == 7
    X[:, 3] = np.nextafter(X[:, 3], np.inf)
    assert rank(X) == 8


def test_halves_and_fixed_decimals_are_decided_by_whole_numbers(monkeypatch):
    """Multiples of 1/1024 with a copy, a half, a sum and a mean of others: powers of two make all of them whole."""
    rng = np.random.default_rng(8)
    X = np.round(1024.0 * rng.standard_normal((300, 4))) / 1024.0
    more = [X[:, 0], 0.5 * X[:, 1], X[:, 0] + X[:, 2], 0.5 * (X[:, 1] + X[:, 3])]
    rows = as_rows(np.column_stack([X, *more]))
    monkeypatch.setattr(column_basis, "rank", lambda *_: pytest.fail("a rank modulo primes"))
    found = ColumnBasis.of([rows])
    assert found.columns.size == 4
    assert found.is_exact


def test_what_nearly_repeats_is_no_exact_combination():
    rng = np.random.default_rng(9)
    X = np.round(1024.0 * rng.standard_normal((300, 3))) / 1024.0
    other = X[:, 0] + X[:, 1]
    other[7] += 2.0**-40
    found = ColumnBasis.of([as_rows(np.column_stack([X, other]))])
    assert not found.others.size or not found.is_exact


def test_a_gram_matrix_that_is_known_is_not_made_again(monkeypatch):
    rng = np.random.default_rng(10)
    X = rng.integers(-3, 4, size=(200, 4)).astype(float)
    rows = as_rows(np.column_stack([X, X[:, 0] - X[:, 2]]))
    gram, alone = rows.gram(np.ones(200)), ColumnBasis.of([rows])
    monkeypatch.setattr(type(rows), "gram", lambda *_: pytest.fail("made again"))
    found = ColumnBasis.of([rows], gram)
    np.testing.assert_array_equal(found.columns, alone.columns)
    np.testing.assert_array_equal(found.null_vectors, alone.null_vectors)


@pytest.mark.parametrize("d", [7, 12])
def test_as_many_independent_columns_as_rows_span_all(d):
    X = np.random.default_rng(d).normal(size=(6, d))  # no whole numbers show it
    basis = ColumnBasis.of([as_rows(X)])
    assert basis.columns.size == 6 == rational_rank(X)
    assert basis.is_exact
    X[5] = X[4] * (1.0 + 2.0**-40)  # these do not
    basis = ColumnBasis.of([as_rows(X)])
    assert basis.is_exact is (basis.columns.size == rational_rank(X))


def test_whole_numbers_are_seen_in_sparse_rows_as_in_dense_ones():
    X = table(np.random.default_rng(2)) / 4.0
    for almost in (X, X + np.eye(*X.shape) * 2.0**-50):
        dense, thin = (ColumnBasis.of([as_rows(m)]) for m in (almost, sparse.csr_array(almost)))
        assert dense.is_exact is thin.is_exact is (dense.columns.size == rational_rank(almost))
