"""The compiled loops over sparse rows give what SciPy gives."""

import numpy as np
import pytest
from scipy import sparse

from convexcls.rows import SparseRows, sparse_loops


@pytest.fixture
def matrix():
    X = sparse.random(60, 9, density=0.3, random_state=3, format="csr")
    X.data -= 0.5
    return sparse.csr_array(X)


def test_gram_is_that_of_the_dense_matrix(matrix):
    weights, X = np.random.default_rng(0).random(60), matrix.toarray()
    found = sparse_loops.gram(matrix, weights)
    assert np.allclose(found, X.T @ (weights[:, None] * X), rtol=1e-14, atol=1e-14)
    assert np.array_equal(found, found.T)


def test_gram_of_entries_in_any_order(matrix):
    row = sparse.csr_array(matrix[:1])
    backwards = sparse.csr_array((row.data[::-1], row.indices[::-1], row.indptr), shape=row.shape)
    assert np.allclose(sparse_loops.gram(backwards, np.ones(1)), row.toarray().T @ row.toarray(), rtol=1e-15)


def test_largest_by_column_keeps_what_is_no_number(matrix):
    assert np.array_equal(sparse_loops.largest_by_column(matrix), np.abs(matrix.toarray()).max(axis=0))
    for place in (0, matrix.nnz // 2, matrix.nnz - 1):
        broken = matrix.copy()
        broken.data[place] = np.nan
        found = sparse_loops.largest_by_column(broken)
        assert np.flatnonzero(np.isnan(found)).tolist() == [broken.indices[place]]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_gram_of_rows_in_both_formats(matrix, kind):
    rows, weights, X = SparseRows(kind(matrix)), np.linspace(0.0, 2.0, 60), matrix.toarray()
    assert np.allclose(rows.gram(weights), X.T @ (weights[:, None] * X), rtol=1e-14, atol=1e-14)
    assert np.allclose(rows.gram_diagonal(weights), weights @ X**2, rtol=1e-14)
    assert np.array_equal(rows.to_dense(), X)  # nothing was written to
