"""Tables of categories: the dummy trap, rare categories, repeated rows and ties, by the interior point alone."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.job import Forms
from convexcls.rows import DiagonalRows, JoinedRows, as_rows
from convexcls.rows.doubled import FOLDED_ERROR, folded
from convexcls.solvers.rows.reduction import RowReduction
from convexcls.solvers.rows.shrinking import RowOrder
from convexcls.solvers.rows.unknowns import KeptUnknowns, basis_of_all_rows

MODELS = {
    "hinge": lambda X, y, **more: cc.SoftMarginSVM(X, y, C=1.0, **more),
    "squared hinge": lambda X, y, **more: cc.SoftMarginSVM(X, y, C=1.0, loss="squared_hinge", **more),
    "absolute": lambda X, y, **more: cc.LeastAbsolute(X, y, **more),
    "perceptron": lambda X, y, **more: cc.PerceptronCriterion(X, y, **more),
}


def one_hot(n, seed, widths=(2, 3, 5, 9), rare=0):
    """A table with the dummy trap; the last category of the last feature has ``rare`` rows."""
    rng = np.random.default_rng(seed)
    codes = [rng.choice(k, n, p=np.arange(k, 0, -1) / (k * (k + 1) / 2)) for k in widths]
    if rare:
        codes[-1] = np.minimum(codes[-1], widths[-1] - 2)
        codes[-1][rng.choice(n, rare, replace=False)] = widths[-1] - 1
    X = np.hstack([np.eye(k)[code] for k, code in zip(widths, codes, strict=True)])
    score = X @ rng.standard_normal(X.shape[1])
    return X, np.where(score - np.median(score) + rng.logistic(size=n) > 0, 1, -1)


def both_labels(n, seed):
    """Every row with either label."""
    X, y = one_hot(n // 2, seed)
    return np.vstack([X, X]), np.concatenate([y, -y])


def whole_numbers(n, seed):
    """Small whole numbers beside a column that is the sum of two others: ties everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, 4)).astype(float)
    y = np.where(X @ [1, -1, 2, 0] + rng.integers(-2, 3, n) > 0, 1, -1)
    return np.column_stack([X, X[:, 0] + X[:, 1]]), y


TABLES = {
    "one-hot": one_hot,
    "rare category": lambda n, seed: one_hot(n, seed, rare=3),
    "repeated rows": lambda n, seed: tuple(np.repeat(part, 5, axis=0) for part in one_hot(n // 5, seed, (2, 3))),
    "whole numbers": whole_numbers,
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n", [120, 3000])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", MODELS)
def test_proved_without_another_solver(model, table, n, seed):
    problem = MODELS[model](*TABLES[table](n, seed))
    found = problem.solve("interior-point")
    assert found.status == "optimal", found.certificate.reason
    if n < 1000:
        other = problem.solve("highs" if problem.is_linear_program else "clarabel")
        assert found.objective == pytest.approx(other.objective, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("model", ["hinge", "squared hinge"])
def test_columns_that_a_sample_does_not_know(model):
    """Of 8000 rows every fourth is looked at first, and a category of three rows may not be among them."""
    found = MODELS[model](*one_hot(8000, 1, rare=3)).solve("interior-point")
    assert found.status == "optimal", found.certificate.reason


@pytest.mark.parametrize("model", ["hinge", "squared hinge", "absolute"])
def test_every_row_with_both_labels(model):
    """With l(m) + l(-m) for each row, scores of 0 are optimal: one a row."""
    X, y = both_labels(400, 3)
    found = MODELS[model](X, y).solve("interior-point")
    assert found.status == "optimal", found.certificate.reason
    assert found.objective == pytest.approx(y.size, rel=1e-9)


@pytest.mark.parametrize("model", ["hinge", "absolute"])
def test_repeated_rows_are_weights(model):
    X, y = one_hot(150, 5, (2, 3, 4))
    count = np.random.default_rng(5).integers(1, 30, y.size)
    weighted = MODELS[model](X, y, sample_weight=count.astype(float)).solve("interior-point")
    repeated = MODELS[model](np.repeat(X, count, axis=0), np.repeat(y, count)).solve("interior-point")
    assert weighted.status == repeated.status == "optimal"
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_sparse_tables_give_the_same(model):
    X, y = one_hot(3000, 8, rare=2)
    dense, thin = (MODELS[model](table, y).solve("interior-point") for table in (X, sparse.csr_matrix(X)))
    assert dense.status == thin.status == "optimal"
    assert dense.objective == pytest.approx(thin.objective, rel=1e-8, abs=1e-8)


def program_of(problem):
    return RowReduction.of(Forms(problem).job("interior-point").scaled.problem).program().in_memory()


def test_a_category_that_some_rows_do_not_know_is_not_taken_for_nothing():
    X, y = one_hot(4000, 4, rare=1)
    program = program_of(cc.SoftMarginSVM(X, y))
    (row,) = np.flatnonzero(X[:, -1])
    some = np.setdiff1d(np.arange(0, 4000, 7), [row])
    basis, _ = basis_of_all_rows(program, some)
    assert basis.columns.size == np.linalg.matrix_rank(np.column_stack([X, np.ones(4000)]))
    kept = KeptUnknowns.of(program, basis)
    z = np.random.default_rng(0).standard_normal(basis.columns.size)
    np.testing.assert_allclose(program.rows @ (kept.T @ z), kept.program.rows @ z, atol=1e-12)
    np.testing.assert_allclose(kept.inverse @ (kept.T @ z), z, atol=1e-12)
    # of all x with these scores the one of least x'Px
    assert np.abs(basis.null_vectors.T @ (program.P @ (kept.T @ z))).max() < 1e-12


def test_a_sample_has_rare_categories_and_stands_for_all():
    X, y = one_hot(20_000, 6, rare=10)
    program = program_of(cc.SoftMarginSVM(X, y))
    order = RowOrder.of(program, 5000, 1200)
    for m in (1200, 5000):
        rows, stands_for = order.sample(m)
        assert rows.size == np.unique(rows).size == m
        assert np.all(stands_for >= 1.0)
        assert stands_for.sum() == pytest.approx(20_000, rel=0.1)
        assert X[rows, -1].sum() >= 8
        np.testing.assert_allclose(stands_for @ X[rows], X.sum(axis=0), rtol=0.5, atol=5)


def test_rows_that_are_alike_are_drawn_alike():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((5000, 4))
    order = RowOrder.of(program_of(cc.SoftMarginSVM(X, np.where(X[:, 0] > 0, 1, -1))), 2000, 700)
    assert np.all(order.sample(700)[1] == 5000 / 700)


def test_doubled_precision_takes_the_columns_that_rows_have():
    n = 30_000  # of n x n slacks only those of some rows
    rng = np.random.default_rng(2)
    left, right = as_rows(rng.standard_normal((n, 3))).scaled(0.5), DiagonalRows(-np.ones(n))
    rows = JoinedRows(n, n + 3, [(slice(0, 3), left), (slice(3, n + 3), right)])
    some, columns = np.array([5, 17, 29_000]), np.array([0, 2, 8, 20, 21, 29_003])
    found = rows.doubled_at(some, columns)
    wanted = rows[some].to_matrix().toarray()[:, columns]
    assert np.array_equal(found.high, wanted)
    assert not found.low.any()


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 4097])
def test_sums_by_halves(n):
    rng = np.random.default_rng(n)
    values = rng.standard_normal((3, n)) * 10.0 ** rng.integers(-12, 12, (3, n))
    values[0, : n // 2] = -values[0, n - n // 2 :][::-1]  # cancels
    for own, high, low in zip(values, *folded(values), strict=True):
        error = abs(sum(map(Fraction, own.tolist())) - Fraction(float(high)) - Fraction(float(low)))
        assert error <= Fraction(FOLDED_ERROR) * Fraction(math.fsum(np.abs(own)))


@pytest.mark.parametrize("model", [cc.PerceptronCriterion, cc.LeastAbsolute])
def test_columns_that_depend_by_factors_beyond_doubles_end_in_a_verdict(model):
    X = [[4e-300, -3e305, 2e-310, -3e305], [-3e-300, 4e305, 2e-310, 2e305], [0.0, -2e305, -3e-310, -1e305]]
    exact = model(X, [0, 0, 1]).solve(level="exact")
    found = model(X, [0, 0, 1]).solve()
    assert found.status in (exact.status, "undecided")
