"""Rows by block: the verbs and questions of any rows, each in one reading, with the same answers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import convexcls as cc
from convexcls.rows import ConstantRows, JoinedRows, RowsByBlock, Travelling, as_rows, by_block

N, D = 4600, 4


@pytest.fixture(params=["dense", "sparse"])
def both(request):
    """The same rows by block and in memory."""
    rng = np.random.default_rng(2)
    X = rng.integers(-8, 9, size=(N, D)) / 8.0  # sums of these are exact in any order
    X = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if request.param == "sparse" else X
    return cc.read_blocks(X, rows=1000).rows, as_rows(X)


def test_verbs(both):
    rows, expected = both
    rng = np.random.default_rng(3)
    v, u = rng.integers(-4, 5, size=D) / 2.0, rng.integers(-4, 5, size=N) / 2.0
    np.testing.assert_array_equal(rows @ v, expected @ v)
    np.testing.assert_array_equal(rows @ np.eye(D), expected @ np.eye(D))
    np.testing.assert_array_equal(rows.T @ u, expected.T @ u)
    np.testing.assert_array_equal(rows.T @ u[:, None], expected.T @ u[:, None])
    np.testing.assert_array_equal(rows.gram(u * u), _gram(expected, u * u))
    np.testing.assert_array_equal(rows.sweep(v, lambda block, z: z * u[block]), expected.T @ (u * (expected @ v)))
    np.testing.assert_array_equal(abs(rows) @ np.abs(v), abs(expected) @ np.abs(v))
    assert rows.rational() == expected.rational()


def _gram(rows, weights):
    dense = rows.to_dense()
    return dense.T @ (weights[:, None] * dense)


def test_questions(both):
    rows, expected = both
    np.testing.assert_array_equal(rows.column_max(), expected.column_max())
    np.testing.assert_array_equal(rows.row_max(), expected.row_max())
    for mine, theirs in zip(rows.entry_counts(), expected.entry_counts(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(rows.extent.low, expected.to_dense().min(axis=0))
    np.testing.assert_allclose(rows.extent.mean, expected.to_dense().mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(rows.extent.deviation, expected.to_dense().std(axis=0), rtol=1e-12)
    columns = rows.select_columns(np.array([1, 3]))
    np.testing.assert_array_equal(columns.to_dense(), expected.to_dense()[:, [1, 3]])
    np.testing.assert_array_equal(columns.column_max(), expected.column_max()[[1, 3]])


@pytest.mark.parametrize(
    "index", [slice(10, 2120, 7), np.array([4599, 0, 57, 57, 1003]), np.arange(N) % 3 == 0, slice(0, 0)]
)
def test_some_rows(both, index, monkeypatch):
    """Few are gathered, in any order; many stay in their blocks."""
    rows, expected = both
    np.testing.assert_array_equal(rows[index].to_dense(), expected[index].to_dense())
    monkeypatch.setattr(by_block, "MAX_GATHERED_ENTRIES", 20)
    chosen = np.unique(np.arange(N)[index])
    if chosen.size * D > 20:
        thin = rows[chosen]
        assert isinstance(thin, RowsByBlock)
        np.testing.assert_array_equal(thin @ np.ones(D), expected[chosen] @ np.ones(D))
        with pytest.raises(cc.DataError, match="not gathered in one memory"):
            thin.to_matrix()
        with pytest.raises(cc.DataError, match="in rising order"):
            _ = rows[chosen[::-1]]


def test_an_answer_is_one_reading(both):
    """Products, sums with their sizes, a sweep with a Gram matrix, and a price with the rows that it asks for next."""
    rows = both[0]
    u, x, joined = np.ones(N), np.arange(D + 1.0), _margins(rows)
    for ask in (
        lambda: joined @ x,
        lambda: joined.added_up_with_sizes(u, u),
        lambda: joined.gram(u),
        lambda: joined.sweep(x, Travelling(_half, (u,), lambda block, found: None)),
        lambda: joined.sweep_and_gram(x, Travelling(_half, (u,), lambda block, found: None, _ones)),
        lambda: joined.priced(x, 1.0, 10),
    ):
        before = rows.passes
        ask()
        assert rows.passes == before + 1
    readings, excess = rows.readings, joined.priced(x, 1.0, 10)
    assert rows.readings == readings + 5
    nearest = np.sort(np.argsort(-excess)[:5])
    np.testing.assert_array_equal(joined[nearest] @ x - 1.0, excess[nearest])
    assert rows.readings == readings + 5
    before = rows.passes
    np.testing.assert_array_equal(joined @ (2.0 * x), joined @ (2.0 * x))
    assert rows.passes == before + 1


def _margins(rows):
    signs = np.where(np.arange(N) % 2, 1.0, -1.0)
    return JoinedRows(N, D + 1, [(slice(0, D), rows.scaled(signs)), (slice(D, D + 1), ConstantRows(N).scaled(signs))])


def _half(u, own):
    return 0.5 * u * own, u


def _ones(found, own):
    return own


def test_a_sweep_brings_the_gram_matrix(both):
    rows, expected = both
    x, weights = np.array([1.0, -0.5, 2.0, 0.25, 0.5]), np.arange(N) % 4 / 4.0
    mine, theirs = _margins(rows), _margins(expected)
    gradient, gram = mine.sweep_and_gram(x, Travelling(_half, (weights,), lambda block, found: None, _ones))
    np.testing.assert_array_equal(gradient, theirs.T @ (0.5 * weights * (theirs @ x)))
    np.testing.assert_allclose(gram, theirs.gram(weights), rtol=1e-14, atol=1e-13)


def test_bounds_of_sums_count_the_additions():
    """A sum over blocks of one row each is a tree; one block is added up in parts: never more numbers one after the
    other than is said."""
    from convexcls.engines.base import tree_depth

    for n, rows in ((100, 1), (5000, 5000), (5000, 700)):
        blocks = cc.read_blocks(np.ones((n, 1)), rows=rows).rows
        total, length = blocks.added_up(np.ones(n))
        assert total.tolist() == [n]
        assert length <= blocks.most_additions
        assert blocks.most_additions >= min(rows, 256) + np.log2(max(n / rows, 1.0))
        assert tree_depth(len(blocks.sizes)) >= np.ceil(np.log2(len(blocks.sizes) or 1))


def test_a_pass_that_is_watched_tells_rows_and_bytes():
    """Of other views of the same blocks, too: features that are centred, say."""
    rows = cc.read_blocks(np.ones((250, 2)), rows=100).rows
    told = []
    rows.watch = told.append
    _ = rows @ np.ones(2)
    assert told == [
        "pass 1, row 100 of 250, 1.6 kB of 4 kB",
        "pass 1, row 200 of 250, 3.2 kB of 4 kB",
        "pass 1, row 250 of 250, 4 kB of 4 kB",
    ]
    _ = abs(rows) @ np.ones(2)
    assert len(told) == 6
