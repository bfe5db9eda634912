"""Rows against plain NumPy.

Most tests draw entries, factors and weights for which every sum and product is exact (small multiples of 1/4,
weights that are squares), so that "the same" means the same bits, whatever the order of summation.
"""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from convexcls.data import GivenCells
from convexcls.rows import (
    ClassMarginRows,
    ConstantRows,
    DenseRows,
    DiagonalRows,
    JoinedRows,
    PickedRows,
    Rows,
    ScaledRows,
    SparseRows,
    StackedRows,
    TransposedRows,
    as_rows,
    joined,
    summation,
)

QUARTERS = st.integers(-8, 8).map(lambda k: k / 4)
SQUARES = st.sampled_from([0.0, 0.25, 1.0, 4.0])
small_blocks = patch.multiple(summation, BLOCK_ROWS=3, SUMMED_ROWS=2)


def exact(shape) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, shape, elements=QUARTERS)


# ---- random compositions, each with the matrix it stands for -------------------------------------------------


@st.composite
def leaves(draw, n, d):
    kinds = ["C", "F", "strided", "csr", "csc", "coo"]
    kinds += ["diagonal"] * (n == d) + ["ones"] * (d == 1) + ["picked"] * (d > 0)
    kind = draw(st.sampled_from(kinds))
    if kind == "ones":
        return ConstantRows(n), np.ones((n, 1))
    if kind == "diagonal":
        values = draw(exact(n))
        return DiagonalRows(values), np.diag(values)
    if kind == "picked":
        values, columns = draw(exact(n)), draw(arrays(np.intp, n, elements=st.integers(0, d - 1)))
        return PickedRows(values, columns, d), values[:, None] * np.eye(d)[columns]
    dense = draw(exact((n, d)))
    if kind in ("csr", "csc", "coo"):
        return SparseRows(getattr(sparse, f"{kind}_array")(dense)), dense
    made = {"C": dense, "F": np.asfortranarray(dense), "strided": np.repeat(dense, 2, axis=1)[:, ::2]}[kind]
    rows = DenseRows(made)
    assert rows.to_matrix() is made
    return rows, dense


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_transposed_picks_side_by_side_are_a_permutation(order):
    places = np.array([4, 0, 5, 2, 1, 3])
    parts, dense, start = [], np.zeros((6, 6)), 0
    for k in order:
        own = places[2 * k : 2 * k + 2]
        values = np.array([1.0, -2.0]) * 4.0**k
        parts.append((slice(start, start + 2), PickedRows(values, own, 6).T))
        dense[own, [start, start + 1]] = values
        start += 2
    rows, v = JoinedRows(6, 6, parts), np.arange(1.0, 7.0)
    assert rows.one_entry_each
    assert rows.written is None
    for own, theirs in ((rows, dense), (abs(rows), np.abs(dense))):
        assert np.array_equal(own @ v, theirs @ v)
        assert np.array_equal(own.T @ v, theirs.T @ v)
        assert np.array_equal(own.to_dense(), theirs)
    assert np.array_equal(rows.gram(v), dense.T @ (v[:, None] * dense))
    assert np.array_equal(rows.column_max(), np.abs(dense).max(axis=0))


@pytest.mark.parametrize("places", [[0, 1, 1], [0, 1]])
def test_picks_that_are_no_permutation_are_written_out(places):
    parts = [(slice(0, len(places)), PickedRows(np.ones(len(places)), np.array(places), 3).T)]
    rows = JoinedRows(3, len(places), parts)
    dense = parts[0][1].to_dense()
    assert not rows.one_entry_each
    assert np.array_equal(rows @ np.ones(len(places)), dense @ np.ones(len(places)))
    assert np.array_equal(rows.T @ np.ones(3), dense.T @ np.ones(3))


@st.composite
def compositions(draw, n, d, depth):
    how = draw(st.sampled_from(["leaf", "scaled", "transposed", "joined", "absolute", "negative", "selected"]))
    if depth == 0 or how == "leaf":
        return draw(leaves(n, d))
    if how == "transposed":
        rows, dense = draw(compositions(d, n, depth - 1))
        return rows.T, dense.T
    if how == "joined":
        gap, width = draw(st.integers(0, d)), draw(st.integers(0, d))
        width = min(width, d - gap)
        parts, total = [], np.zeros((n, d))
        for where in (slice(gap, gap + width), slice(0, gap)):
            if where.stop > where.start:
                rows, dense = draw(compositions(n, where.stop - where.start, depth - 1))
                parts.append((where, rows))
                total[:, where] = dense
        return JoinedRows(n, d, parts), total
    if how == "selected":
        rows, dense = draw(compositions(n + 2, d, depth - 1))
        chosen = draw(st.permutations(range(n + 2)))[:n]
        return rows[np.array(chosen, dtype=int)], dense[np.array(chosen, dtype=int)]
    rows, dense = draw(compositions(n, d, depth - 1))
    if how == "absolute":
        return abs(rows), np.abs(dense)
    if how == "negative":
        return -rows, -dense
    left, right = draw(st.one_of(QUARTERS, exact(n))), draw(st.one_of(QUARTERS, exact(d)))
    return rows.scaled(left, right), np.reshape(left, (-1, 1)) * dense * right


@st.composite
def cases(draw, depth=3):
    n, d = draw(st.integers(0, 8)), draw(st.integers(0, 5))
    rows, dense = draw(compositions(n, d, depth))
    return rows, dense


@small_blocks
@given(cases(), st.data())
@settings(max_examples=300)
def test_products(case, data):
    rows, dense = case
    n, d = dense.shape
    assert rows.shape == (n, d)
    for columns in ((), (1,), (3,)):
        v, u = data.draw(exact((d, *columns))), data.draw(exact((n, *columns)))
        before = v.copy(), u.copy()
        forward, backward = rows @ v, rows.T @ u
        assert np.array_equal(forward, dense @ v)
        assert np.array_equal(backward, dense.T @ u)
        assert columns or np.array_equal(rows.added_up(u)[0], backward)
        assert np.array_equal(v, before[0])
        assert np.array_equal(u, before[1])
        assert forward.flags.writeable
        assert not np.shares_memory(forward, v)


@small_blocks
@given(cases(), st.data())
@settings(max_examples=300)
def test_gram(case, data):
    rows, dense = case
    weights = data.draw(arrays(np.float64, dense.shape[0], elements=SQUARES))
    expected = dense.T @ (weights[:, None] * dense)
    found = rows.gram(weights)
    assert type(found) is np.ndarray
    assert np.array_equal(found, expected)
    assert np.array_equal(rows.gram(np.zeros(dense.shape[0])), np.zeros_like(expected))


@pytest.mark.parametrize("written_out", [0, joined.WRITTEN_OUT])
@small_blocks
@patch.multiple(summation, SWEPT_ENTRIES=6, MIN_SWEPT_ROWS=2, MAX_SWEPT_ROWS=3)
@given(cases(), st.data())
@settings(max_examples=200, suppress_health_check=[HealthCheck.differing_executors])
def test_a_sweep_visits_every_row_once_and_in_order(written_out, case, data):
    rows, dense = case
    for columns in ((), (2,)):
        x, seen = data.draw(exact((dense.shape[1], *columns))), []

        def visit(block: slice, u: np.ndarray, x=x, seen=seen) -> np.ndarray:
            assert np.array_equal(u, dense[block] @ x)
            seen.extend(range(block.start, block.stop))
            u *= 2.0
            return u + 1.0

        with patch.object(joined, "WRITTEN_OUT", written_out):
            found = rows.sweep(x, visit)
        assert np.array_equal(found, dense.T @ (2.0 * (dense @ x) + 1.0))
        assert seen == list(range(dense.shape[0]))


@small_blocks
@given(cases(), st.data())
@settings(max_examples=200)
def test_selecting_rows(case, data):
    rows, dense = case
    n = dense.shape[0]
    v = data.draw(exact(dense.shape[1]))
    indices = [
        slice(None),
        slice(1, None, 2),
        slice(n, None),
        np.zeros(0, dtype=int),
        data.draw(arrays(bool, n)),
        data.draw(arrays(np.intp, st.integers(0, 4), elements=st.integers(-n, n - 1))) if n else slice(None),
    ]
    for index in indices:
        part = rows[index]
        assert isinstance(part, Rows)
        assert part.shape == dense[index].shape
        assert np.array_equal(part.to_dense(), dense[index])
        assert np.array_equal(part @ v, dense[index] @ v)


@small_blocks
@given(cases())
@settings(max_examples=300)
def test_entries_sizes_and_transposes(case):
    rows, dense = case
    assert np.array_equal(rows.to_dense(), dense)
    assert rows.to_dense().dtype == np.float64
    assert np.array_equal(abs(rows).to_dense(), np.abs(dense))
    assert np.array_equal(rows.column_max(), np.abs(dense).max(axis=0, initial=0.0))
    assert np.array_equal(rows.T.column_max(), np.abs(dense).max(axis=1, initial=0.0))
    assert np.array_equal(rows.row_max(), np.abs(dense).max(axis=1, initial=0.0))
    for counts, axis in zip(rows.entry_counts(), (1, 0), strict=True):
        assert np.array_equal(counts, np.count_nonzero(dense, axis=axis))
    assert np.array_equal((-rows).to_dense(), -dense)
    assert np.array_equal(rows.T.to_dense(), dense.T)
    assert rows.T.T.equals(rows)
    assert rows.T.shape == dense.T.shape
    assert repr(rows) == f"{type(rows).__name__}({dense.shape[0]} x {dense.shape[1]})"


@small_blocks
@given(cases(), st.data())
def test_equality_is_of_entries(case, data):
    rows, dense = case
    assert rows.equals(DenseRows(dense))
    assert DenseRows(dense).equals(rows)
    assert rows.equals(SparseRows(sparse.csr_array(dense)))
    assert rows.equals(SparseRows(sparse.csc_array(dense)))
    if dense.size:
        i, j = data.draw(st.integers(0, dense.shape[0] - 1)), data.draw(st.integers(0, dense.shape[1] - 1))
        other = dense.copy()
        other[i, j] += 1.0
        assert not rows.equals(DenseRows(other))
        assert not rows.equals(SparseRows(sparse.csr_array(other)))
    assert not rows.equals(DenseRows(np.zeros((dense.shape[0] + 1, dense.shape[1]))))


def test_stored_zeros_do_not_matter_for_equality():
    stored = sparse.csr_array(([1.0, 0.0], ([0, 1], [0, 1])), shape=(2, 2))
    assert SparseRows(stored).equals(SparseRows(sparse.csr_array([[1.0, 0.0], [0.0, 0.0]])))
    assert DiagonalRows(np.array([1.0, 0.0])).equals(SparseRows(stored))


# ---- what a composition is made of ----------------------------------------------------------------------------


def test_compositions_stay_simple():
    rows = DenseRows(np.arange(6.0).reshape(3, 2))
    twice = rows.scaled(2.0).scaled(np.array([1.0, 2.0, 4.0]), 0.5)
    assert isinstance(twice, ScaledRows)
    assert twice.base is rows
    assert rows.T.T is rows
    assert isinstance(-rows.T, TransposedRows)
    diagonal = DiagonalRows(np.array([1.0, -2.0]))
    assert diagonal.T is diagonal
    assert isinstance(-diagonal, DiagonalRows)
    assert isinstance(abs(diagonal), DiagonalRows)
    assert isinstance(diagonal.scaled(np.array([2.0, 3.0]), 0.5), DiagonalRows)
    assert np.array_equal(DiagonalRows.identity(2, 3.0).to_dense(), 3.0 * np.eye(2))
    size = abs(rows)
    assert abs(size) is size
    assert isinstance(ConstantRows(4)[1:3], ConstantRows)


def test_as_rows():
    rows = DenseRows(np.ones((2, 2)))
    assert as_rows(rows) is rows
    column = np.array([1.0, 2.0, 3.0])
    assert as_rows(column).shape == (3, 1)
    assert np.shares_memory(as_rows(column).to_matrix(), column)
    assert np.array_equal(as_rows([[1, 2], [3, 4]]).to_dense(), [[1.0, 2.0], [3.0, 4.0]])
    assert isinstance(as_rows(sparse.lil_array(np.eye(2))), SparseRows)
    integers = as_rows(sparse.csr_array(np.array([[1, 0], [0, 3]])))
    assert integers.to_matrix().dtype == np.float64
    with pytest.raises(ValueError, match="dimension 3"):
        as_rows(np.ones((2, 2, 2)))
    for complex_matrix in (np.array([[1j]]), sparse.csr_array(np.array([[1j]]))):
        with pytest.raises(ValueError, match="real and imaginary"):
            as_rows(complex_matrix)


def test_an_array_times_rows_is_an_error():
    with pytest.raises(TypeError):
        np.ones(2) @ DenseRows(np.ones((2, 2)))
    with pytest.raises(TypeError):
        np.ones((2, 2)) * DenseRows(np.ones((2, 2)))


def test_factors_of_a_wrong_size_are_refused():
    with pytest.raises(ValueError):
        DenseRows(np.ones((3, 2))).scaled(np.ones(2))
    with pytest.raises(ValueError):
        DenseRows(np.ones((3, 2))).scaled(1.0, np.ones(3))


# ---- real numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (2047, 3), (2048, 3), (2049, 3), (5000, 1), (4096, 17), (3, 40)])
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_gram_of_real_numbers(n, d, make):
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d)
    w = rng.uniform(0.0, 3.0, n)
    w[:: max(2, n // 7)] = 0.0
    found = as_rows(make(X)).gram(w)
    expected = X.T @ (w[:, None] * X)
    size = np.abs(X).T @ (w[:, None] * np.abs(X))
    assert np.all(np.abs(found - expected) <= 1e-13 * size)
    assert np.array_equal(found, found.T)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    scaled = as_rows(make(X)).scaled(signs, 2.0 ** np.arange(d))
    assert np.array_equal(scaled.gram(w), found * np.outer(2.0 ** np.arange(d), 2.0 ** np.arange(d)))


def test_gram_of_coefficients_and_intercept():
    rng = np.random.default_rng(1)
    X, w = rng.standard_normal((3000, 4)), rng.uniform(size=3000)
    joined = JoinedRows(3000, 5, [(slice(0, 4), as_rows(X)), (slice(4, 5), ConstantRows(3000))])
    whole = np.column_stack([X, np.ones(3000)])
    np.testing.assert_allclose(joined.gram(w), whole.T @ (w[:, None] * whole), rtol=1e-13, atol=1e-13 * w.sum())


def _heavy() -> tuple[np.ndarray, Rows]:
    X = np.random.default_rng(0).standard_normal((200_000, 20))
    signs = np.where(np.arange(200_000) % 3, 1.0, -1.0)
    parts = [(slice(0, 20), as_rows(X).scaled(signs)), (slice(20, 21), ConstantRows(200_000).scaled(signs))]
    return X, JoinedRows(200_000, 21, parts)


def test_results_are_the_same_bits_every_time():
    _, rows = _heavy()
    rng = np.random.default_rng(2)
    v, u, w = rng.standard_normal(21), rng.standard_normal(200_000), rng.uniform(size=200_000)
    for verb in (lambda: rows @ v, lambda: rows.T @ u, lambda: rows.gram(w), lambda: abs(rows).T @ u):
        assert verb().tobytes() == verb().tobytes()


HEAVY_VERBS = {
    "R @ v": lambda R, n: R @ np.ones(R.shape[1]),
    "R.T @ u": lambda R, n: R.T @ np.ones(n),
    "gram": lambda R, n: R.gram(np.ones(n)),
    "abs @ v": lambda R, n: abs(R) @ np.ones(R.shape[1]),
    "abs.T @ u": lambda R, n: abs(R).T @ np.ones(n),
    "abs gram": lambda R, n: abs(R).gram(np.ones(n)),
    "column_max": lambda R, n: R.column_max(),
    "column_max of weighted rows": lambda R, n: R.scaled(np.linspace(1, 2, n)).column_max(),
    "column_max of the transpose": lambda R, n: R.T.column_max(),
    "a slice": lambda R, n: R[1000:2000] @ np.ones(R.shape[1]),
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("verb", HEAVY_VERBS.values(), ids=HEAVY_VERBS)
def test_no_verb_copies_the_data(verb, order):
    X = np.asarray(_heavy()[0], order=order)
    n = X.shape[0]
    rows = as_rows(X).scaled(np.where(np.arange(n) % 3, 1.0, -1.0))
    assert np.shares_memory(rows.base.to_matrix(), X)
    tracemalloc.start()
    try:
        verb(rows, n)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 4, f"{peak / 1e6:.1f} MB for data of {X.nbytes / 1e6:.1f} MB"


def test_sparse_rows_use_the_matrix_in_place_and_leave_it_alone():
    dense = np.random.default_rng(3).standard_normal((50, 7)) * (np.random.default_rng(4).uniform(size=(50, 7)) < 0.3)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix):
        X = kind(dense)
        before = [X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()]
        rows = as_rows(X)
        assert np.shares_memory(rows.to_matrix().data, X.data)
        for part in (rows, abs(rows), rows[::2], rows.T, rows.scaled(np.arange(50.0))):
            part @ np.ones(part.shape[1])
            part.gram(np.ones(part.shape[0]))
            part.column_max()
        assert [X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()] == before


def test_repeated_sparse_entries_count_once_added_up():
    X = sparse.csr_array((np.array([1.0, -3.0, 2.0]), np.array([1, 1, 0]), np.array([0, 3, 3])), shape=(2, 2))
    before = X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()
    rows = as_rows(X)
    assert np.array_equal(abs(rows).to_dense(), [[2.0, 2.0], [0.0, 0.0]])
    assert np.array_equal(rows.column_max(), [2.0, 2.0])
    assert np.array_equal(rows.gram(np.ones(2)), [[4.0, -4.0], [-4.0, 4.0]])
    assert (X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes()) == before


def test_wide_sparse_rows_stay_sparse():
    width = 10**6
    X = sparse.csr_array(([1.0, 2.0, -3.0], ([0, 299, 299], [5, 10, 5])), shape=(300, width))
    rows = as_rows(X).scaled(-1.0)
    tracemalloc.start()
    try:
        gram = rows.T.gram(np.ones(width))
        assert (gram[0, 0], gram[0, 299], gram[299, 299]) == (1.0, -3.0, 13.0)
        assert rows.column_max()[5] == 3.0
        assert np.array_equal(rows.T[[5]] @ np.eye(300)[:, [0, 299]], [[-1.0, 3.0]])
        assert rows[[0, 299]].equals(as_rows(X[[0, 299]]).scaled(-1.0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300 * width * 8 / 20


def test_row_blocks_cover_everything_once():
    for n in (0, 1, 2047, 2048, 2049, 10_000):
        assert [i for block in summation.row_blocks(n) for i in range(n)[block]] == list(range(n))


# ---- entries that doubles round ---------------------------------------------------------------------------


def rounded_samples() -> DenseRows:
    cells = np.array([[Fraction(2**61 + 3 * i + j) for j in range(2)] for i in range(5)], dtype=object)
    return DenseRows(cells.astype(float), GivenCells(cells))


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows,
        lambda rows: SparseRows(sparse.csr_array(rows.array), rows.given),
        lambda rows: rows.scaled(np.array([1.0, -1.0, 1.0, 1.0, -1.0]), np.array([2.0, 0.5])),
        lambda rows: rows.T,
        lambda rows: rows.scaled(np.array([1.0, -1.0, 1.0, 1.0, -1.0])).T,
        lambda rows: JoinedRows(5, 3, [(slice(0, 2), rows), (slice(2, 3), ConstantRows(5))]),
        lambda rows: StackedRows([rows, rows.scaled(-1.0)]),
        lambda rows: ClassMarginRows(rows, np.array([0, 1, 2, 2, 0]), 3),
    ],
    ids=["dense", "sparse", "scaled", "transposed", "scaled and transposed", "joined", "stacked", "class margins"],
)
def test_some_rows_know_their_entries_as_given(make):
    """What is chosen from rows says of itself what the rows say of it."""
    rows = make(rounded_samples())
    for index in ([0, 1], slice(0, 2), np.arange(rows.shape[0]) == 1):
        assert rows[index].rational() == rows.rational(index)
        assert rows[index].rounding == rows.rounding > 0


@pytest.mark.parametrize("other", [-1.0, 0.5, -3.0])
def test_a_margin_of_two_classes_reaches_as_far_as_these(other):
    """At least |R| |x|, by rows written out; and for as many classes as one likes, no more than two of them count."""
    rng = np.random.default_rng(1)
    X, classes, x = rng.standard_normal((40, 3)), np.arange(40) % 6, rng.standard_normal(18)
    rows = ClassMarginRows(as_rows(X), classes, 6, other)
    written = np.abs(rows.to_dense())
    assert rows.row_length == np.count_nonzero(written, axis=1).max() == 6
    reach = (np.abs(X).max(axis=0) * np.abs(x.reshape(6, 3))).sum(axis=1)
    assert (
        (written @ np.abs(x)).max() <= rows.largest_reach(x) <= max(1.0, abs(other)) * np.sort(reach)[-2:].sum() + 1e-12
    )


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, np.asarray])
@pytest.mark.parametrize("weights", [np.ones(40), np.repeat([0.25, 4.0], 20)])
def test_gram_matrices_of_samples_and_a_constant_are_kept_and_come_out_the_same(make, weights):
    X = np.random.default_rng(4).integers(-3, 4, size=(40, 3)) / 4.0
    rows = JoinedRows(40, 4, [(slice(0, 3), as_rows(make(X))), (slice(3, 4), ConstantRows(40))])
    whole = np.column_stack([X, np.ones(40)])
    truth = whole.T @ (weights[:, None] * whole)
    first = rows.gram(weights)
    np.testing.assert_array_equal(first, truth)
    first[:] = 0.0  # who asked may write to it
    np.testing.assert_array_equal(rows.gram(weights), truth)
    np.testing.assert_array_equal(rows.gram(4.0 * weights), 4.0 * truth)


def test_entries_of_sparse_rows_are_counted_without_stored_zeros():
    stored = sparse.csr_array((np.array([1.0, 0.0, 2.0]), ([0, 0, 2], [1, 2, 1])), shape=(3, 4))
    for matrix in (stored, stored.tocsc()):
        for rows in (SparseRows(matrix), SparseRows(sparse.csr_array(matrix.toarray()).asformat(matrix.format))):
            by_row, by_column = rows.entry_counts()
            assert by_row.tolist() == [1, 0, 1]
            assert by_column.tolist() == [0, 2, 0, 0]


def test_some_entries_of_transposed_rows_in_doubled_precision():
    """Of picks, too, of which nothing else is written out."""
    rng = np.random.default_rng(5)
    picks = DiagonalRows(rng.normal(size=7))
    for base in (as_rows(rng.normal(size=(6, 4))), picks):
        rows = base.T
        index, columns = np.array([3, 0, 2]), np.array([1, 4, 5])
        found, whole = rows.doubled_at(index, columns), rows.to_dense()[np.ix_(index, columns)]
        np.testing.assert_array_equal(found.high, whole)
        assert not found.low.any()
