"""The data as they were given: rationals behind the doubles, and signs without rounding."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import convexcls as cc
from convexcls.cli.sources import ColumnNames, Request, read_problem
from convexcls.data import GivenCells
from convexcls.rational import elimination, numbers
from convexcls.rows import DenseRows, JoinedRows, Rows, as_rows
from convexcls.rows import signs as signs_module
from convexcls.rows.rounded import exact_sum
from convexcls.rows.signs import exact_signs

TENTHS = [[Decimal("0.1"), Decimal("0.2")], [Fraction(1, 3), 2], [5, Decimal("6e-1")], [Decimal("-0.7"), 0]]


def rows_of(problem, name):
    blocks = {block.name: block for block in (*problem.terms, *problem.constraints)}
    return problem.rows(blocks[name])


# ---- numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (0.5, Fraction(1, 2)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        ("0.1", Fraction(1, 10)),
        (" -12.5e-3 ", Fraction(-1, 80)),
        (".5", Fraction(1, 2)),
        ("7.", Fraction(7)),
        (Decimal("1e3"), Fraction(1000)),
        (Fraction(2, 3), Fraction(2, 3)),
        (np.float32(0.5), Fraction(1, 2)),
        (np.int64(-4), Fraction(-4)),
        (True, Fraction(1)),
    ],
)
def test_a_number_is_what_it_says(value, expected):
    assert numbers.exactly(value) == expected


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1e", "1_000", "0x10", "nan", "inf", "1/2", "٣", "1e99999999", "1e20000", "9" * 2000, "--1"]
)
def test_text_that_is_no_number_or_beyond_all_measure_is_refused_at_once(text):
    with pytest.raises(ValueError):
        numbers.read_exactly(text)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), Decimal("Infinity"), Decimal("1e1000000")]
)
def test_what_is_not_finite_is_no_rational(value):
    with pytest.raises(ValueError):
        numbers.exactly(value)


# ---- linear algebra -------------------------------------------------------------------------------------------

small = st.integers(-3, 3).map(Fraction)


@pytest.mark.parametrize("flint", [True, False])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_elimination_solves_what_can_be_solved(flint, data):
    height, width = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 7))
    matrix = data.draw(st.lists(st.lists(small, min_size=width, max_size=width), min_size=height, max_size=height))
    target = data.draw(st.lists(small, min_size=height, max_size=height))
    patch = pytest.MonkeyPatch()
    patch.setattr(elimination, "has_flint", lambda: flint)
    patch.setattr(elimination, "MIN_FLINT_ENTRIES", 0)
    with patch.context():
        z = elimination.solve(matrix, target)
        basis, rank = elimination.null_space(matrix), elimination.rank(matrix)
        chosen = elimination.independent_rows(matrix)
    patch.undo()
    assert rank == np.linalg.matrix_rank(np.array(matrix, dtype=float))
    assert len(basis) == width - rank
    for v in basis:
        assert all(sum(a * b for a, b in zip(row, v, strict=True)) == 0 for row in matrix)
    assert (
        len(chosen)
        == rank
        == np.linalg.matrix_rank(np.array([matrix[i] for i in chosen], dtype=float) if chosen else np.zeros((1, 1)))
    )
    augmented = np.array([[*row, t] for row, t in zip(matrix, target, strict=True)], dtype=float)
    assert (z is None) == (np.linalg.matrix_rank(augmented) > rank)
    if z is not None:
        assert [sum(a * b for a, b in zip(row, z, strict=True)) for row in matrix] == target


# ---- the data of a model --------------------------------------------------------------------------------------


def test_every_row_of_a_model_knows_what_was_given():
    hard = cc.HardMarginSVM(TENTHS, [0, 1, 1, 0])
    assert rows_of(hard, "margin").rational([0]) == [[Fraction(1, 10), Fraction(1, 5), Fraction(1)]]
    assert rows_of(hard, "margin").rational()[1] == [Fraction(-1, 3), Fraction(-2), Fraction(-1)]
    assert hard.on([1, 0, 3]).data.exact_rows([0]) == [[Fraction(1, 3), Fraction(2)]]
    softmax = cc.SoftmaxMLE(TENTHS, [0, 1, 2, 0])
    assert rows_of(softmax, "likelihood").rational([1]) == [
        [Fraction(1, 10), Fraction(1, 5), 0, 0, Fraction(-1, 10), Fraction(-1, 5), 1, 0, -1]
    ]
    perceptron = cc.PerceptronCriterion(TENTHS, [0, 1, 1, 0])
    sums = rows_of(perceptron, "normalization").rational()[0]
    assert sums[:3] == [Fraction(1, 3) + 5 - Fraction(1, 10) + Fraction(7, 10), Fraction(24, 10), 0]
    fisher = cc.FisherLDA(TENTHS, [0, 1, 1, 0])
    mean = Fraction(-3, 10)
    assert rows_of(fisher, "scatter").rational([3])[0][0] == Fraction(-7, 10) - mean
    assert rows_of(fisher, "separation").rational()[0][0] == Fraction(16, 6) - mean


def test_real_targets_keep_their_decimals():
    y = [Decimal("0.1"), 1, Fraction(2, 3), 0]
    squares = cc.LeastSquares(TENTHS, y, coding="real")
    assert squares.terms[0].rational_vector("offset") == [Fraction(-1, 10), -1, Fraction(-2, 3), 0]
    absolute = cc.LeastAbsolute(TENTHS, y, coding="real")
    ends = {c.name: c.rational_vector("rhs", [2]) for c in absolute.constraints}
    assert ends == {"residual_above": [Fraction(2, 3)], "residual_below": [Fraction(-2, 3)]}
    assert squares.solve().status == absolute.solve().status == "optimal"


def test_doubles_are_the_dyadic_rationals_that_they_are():
    X = np.array([[0.1, 2.0], [3.0, 1e-300]])
    for matrix in (X, sparse.csr_array(X)):
        data = cc.HardMarginSVM(matrix, [0, 1]).data
        assert data.exact_matrix is None
        assert data.exact_rows() == [[Fraction(0.1), 2], [3, Fraction(1e-300)]]


@pytest.mark.parametrize("name", ["table.csv", "table.svm"])
def test_the_text_of_a_file_is_taken_exactly_where_asked(tmp_path, name):
    lines = {
        "table.csv": "a,b,label\n0.1,2,no\n.30,1e-3,yes\n-7.,0,yes\n",
        "table.svm": "0 1:0.1 2:2 # a comment\n1 1:.30 2:1e-3\n\n1 1:-7.\n",
    }
    path = tmp_path / name
    path.write_text(lines[name])
    exact = read_problem(Request(str(path), "hard-margin", columns=ColumnNames(), exact=True)).data
    assert exact.exact_rows() == [[Fraction(1, 10), 2], [Fraction(3, 10), Fraction(1, 1000)], [-7, 0]]
    rounded = read_problem(Request(str(path), "hard-margin", columns=ColumnNames())).data
    assert rounded.exact_rows()[0] == [Fraction(0.1), 2]
    assert rounded.exact_matrix is None


def test_the_gallery_is_read_as_it_is_written():
    longley = cc.load("nist_longley")
    assert longley.data.exact_rows([0])[0][0] == Fraction("83.0")
    assert cc.load("heart_scale").data.exact_rows([0])[0][0] == Fraction("0.708333")


# ---- signs and sums -------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_signs_are_those_of_rational_arithmetic(data):
    d, scale = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([1.0, 2.0**-500, 2.0**500, 1e-160, 1e150]))
    entry = st.integers(-4, 4).map(lambda k: k * scale) | st.floats(-1, 1).map(lambda v: v * scale)
    X = np.array(data.draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=1, max_size=6)))
    x = [Fraction(data.draw(st.integers(-5, 5)), data.draw(st.integers(1, 7))) for _ in range(d)]
    exact = [sum(Fraction(a) * b for a, b in zip(row, x, strict=True)) for row in X.tolist()]
    shift = [value + data.draw(st.sampled_from([0, Fraction(1, 10**40), -1, Fraction(scale)])) for value in exact]
    for rows in (as_rows(X), as_rows(sparse.csr_array(X))):
        expected = [(v > s) - (v < s) for v, s in zip(exact, shift, strict=True)]
        column = as_rows(np.array([[-float(s)] for s in shift]), GivenCells(np.array([[-s] for s in shift])))
        shifted = JoinedRows(len(X), d + 1, [(slice(0, d), rows), (slice(d, d + 1), column)])
        assert exact_signs(shifted, [*x, Fraction(1)]).tolist() == expected
        assert exact_signs(rows, x).tolist() == [(v > 0) - (v < 0) for v in exact]


@pytest.mark.parametrize("excess", [0, Fraction(1, 10**40)])
def test_the_filter_leaves_only_borderline_rows_to_exact_arithmetic(monkeypatch, excess):
    """Doubles decide all rows but one; that one goes to expansions where x is made of doubles, else to rationals."""
    X = np.random.default_rng(0).normal(size=(5000, 4))
    X[17] = [1.0, 1.0, -2.0, 0.0]
    rows, rational, expanded = as_rows(X), [], []
    product_signs = signs_module.product_signs
    in_rationals = Rows.rational
    monkeypatch.setattr(
        DenseRows,
        "rational",
        lambda self, index=None: rational.append(self.array.tolist()) or in_rationals(self, index),
    )
    monkeypatch.setattr(signs_module, "product_signs", lambda R, x: expanded.append(R.tolist()) or product_signs(R, x))
    signs = exact_signs(rows, [1 + Fraction(excess), Fraction(1), Fraction(1), Fraction(0)])
    assert signs[17] == (excess > 0)
    assert np.array_equal(np.delete(signs, 17), np.delete(np.sign(X[:, :3].sum(axis=1)), 17))
    if not excess:
        assert (expanded, rational) == ([[[1.0, 1.0, -2.0]]], [])
    else:
        assert (rational, expanded) == ([[[1.0, 1.0, -2.0]]], [])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=True), min_size=1, max_size=40), st.randoms())
def test_sums_are_without_rounding(values, random):
    signs = [random.choice([-1.0, 1.0, 0.0]) for _ in values]
    expected = sum((Fraction(v) * Fraction(s) for v, s in zip(values, signs, strict=True)), Fraction(0))
    assert exact_sum(as_rows(np.array(values)), np.array(signs)) == [expected]
