"""Features far from zero, measured from near their middle: the same problem, with digits to spare."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.problem.centring import centre
from convexcls.problem.shifts import at_shift, balanced, far_columns, fitted, moved
from convexcls.rows import DenseRows, SparseRows

RNG = np.random.default_rng(20)
NEAR = RNG.integers(-9, 10, (14, 2)).astype(float)
LABELS = (NEAR @ [1.0, -0.5] > 0.2).astype(int)
LABELS[::4] = 1 - LABELS[::4]  # classes that overlap
OFFSETS = {"epoch": [1.7e9, 0.0], "coordinates": [5.5e6, 4.2e5], "both": [1e9, 3e8], "negative": [-1e8, 1e7]}
MODELS = {
    "least squares": lambda X, y: cc.LeastSquares(X, y),
    "ridge": lambda X, y: cc.LeastSquares(X, y, l2=0.1),
    "soft margin": lambda X, y: cc.SoftMarginSVM(X, y, C=10.0),
    "squared hinge": lambda X, y: cc.SoftMarginSVM(X, y, C=0.1, loss="squared_hinge"),
    "least absolute": lambda X, y: cc.LeastAbsolute(X, y),
    "logistic": lambda X, y: cc.LogisticMLE(X, y),
    "logistic with a penalty": lambda X, y: cc.LogisticMLE(X, y, l2=0.1),
    "softmax with a penalty": lambda X, y: cc.SoftmaxMLE(X, y, l2=0.1),
    "perceptron": lambda X, y: cc.PerceptronCriterion(X, y),
    "linear kernel": lambda X, y: cc.KernelSVM(X, y, kernel="linear", C=1.0),
    "radial kernel": lambda X, y: cc.KernelSVM(X, y, kernel="rbf", C=1.0, gamma=0.1),
}


def scores(solution, X):
    """coef'x + intercept for every row, without rounding but the last."""
    coef, b = [Fraction(v) for v in solution.coef], Fraction(solution.intercept)
    return np.array([float(sum(Fraction(v) * w for v, w in zip(row, coef, strict=True)) + b) for row in X.tolist()])


# ---- shifts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [1.7e9, 1e6 + 0.1, -3e8, 2.0**40])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e3])
def test_differences_are_exact(offset, spread):
    X = (offset + spread * RNG.normal(size=50))[:, None]
    shift = far_columns(DenseRows(X))
    assert shift is not None
    assert X.min() <= shift[0] <= X.max()
    shifted = moved(DenseRows(X), shift).to_dense()
    assert all(Fraction(a) - Fraction(shift[0]) == Fraction(b) for a, b in zip(X[:, 0], shifted[:, 0], strict=True))


def test_columns_near_zero_are_left_alone():
    assert far_columns(DenseRows(NEAR)) is None
    X = np.column_stack([NEAR[:, 0], NEAR[:, 0] + 1e6])
    shift = far_columns(DenseRows(X))
    assert shift[0] == 0.0
    assert abs(shift[1] - 1e6) < 20


def test_a_constant_column_is_all_shift():
    X = np.column_stack([np.full(14, 3.7), NEAR])
    assert far_columns(DenseRows(X)).tolist() == [3.7, 0.0, 0.0]


def test_a_late_row_may_show_that_a_column_is_not_far():
    X = np.full((1000, 1), 1e6) + np.arange(1000.0)[:, None]
    X[-1] = -1e6
    assert far_columns(DenseRows(X)) is None


def test_sparse_columns_stay_sparse():
    X = sparse.csr_array(np.column_stack([NEAR[:, 0] * (NEAR[:, 0] > 0), NEAR[:, 1] + 1e6]))
    rows = SparseRows(X)
    shift = far_columns(rows)
    assert shift[0] == 0.0
    shifted = moved(rows, shift)
    assert shifted.entries == rows.entries
    assert np.array_equal(shifted.to_dense(), X.toarray() - shift)


def test_entries_as_given_are_shifted_without_rounding():
    X = [[Fraction(10**8) + Fraction(k, 3)] for k in (0, 1, 2, 5)]
    problem = cc.LeastSquares(X, [0, 1, 0, 1])
    centred = centre(problem)
    rows = centred.problem.terms[0].entries["coef"]
    assert rows.rational() == [[row[0] - Fraction(centred.shift[0])] for row in X]
    assert rows[1:3].rational() == rows.rational()[1:3]


# ---- which problems ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [name for name in MODELS if name != "radial kernel"])
def test_models_with_an_intercept_are_centred(model):
    assert centre(MODELS[model](NEAR + 1e6, LABELS)) is not None
    assert centre(MODELS[model](NEAR, LABELS)) is None


def test_without_an_intercept_a_shift_is_another_problem():
    assert centre(cc.LeastSquares(NEAR + 1e6, LABELS, intercept=False)) is None
    assert centre(cc.KernelSVM(NEAR + 1e6, LABELS, kernel="linear", C=1.0, intercept=False)) is None


def test_an_intercept_that_stands_elsewhere_too_stays():
    at_most = cc.Constraint("cap", {"intercept": [[1.0]]}, r"\nu", "scalar", rhs=2.0)
    problem = cc.EmpiricalRisk(NEAR + 1e6, LABELS, loss="logistic", l2=1.0, constraints=[at_most])
    assert centre(problem) is None


def test_a_centred_problem_needs_no_centring():
    centred = centre(cc.LogisticMLE(NEAR + 1e6, LABELS, l2=1.0))
    assert centre(centred.problem) is None


# ---- the way back -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_intercept_has_its_digits(seed):
    rng = np.random.default_rng(seed)
    shift, reach = np.array([1e9 + rng.integers(0, 1000), 1e8 + 7.0]), np.array([5.0, 5.0])
    w, b = rng.normal(size=2), float(rng.normal())
    near, intercept = fitted(shift, reach, w, b)
    assert np.all(np.abs(near - w) <= 1e-12 * np.abs(w))
    assert abs(float(at_shift(shift, near, intercept) - Fraction(b))) < 1e-10  # its last place is 1e-7


def test_multipliers_are_balanced_exactly():
    rng = np.random.default_rng(5)
    z, signs = rng.uniform(size=40), np.where(rng.uniform(size=40) > 0.5, 1.0, -1.0)
    z[0] -= signs[0] * float(signs @ z)
    found = balanced({"margin": signs}, {"margin": z})["margin"]
    assert sum(Fraction(s) * Fraction(v) for s, v in zip(signs, found, strict=True)) == 0
    assert np.abs(found - z).max() < 1e-14


def test_what_is_not_balanced_is_left_alone():
    z = np.array([1.0, 2.0])
    assert np.array_equal(balanced({"margin": np.ones(2)}, {"margin": z})["margin"], z)


# ---- answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("model", MODELS)
def test_a_shift_of_the_features_changes_nothing_but_the_intercept(model, offset):
    """Whole numbers, so that the shifted table holds the same differences exactly."""
    X = NEAR + np.array(OFFSETS[offset])
    here, there = (MODELS[model](table, LABELS).solve() for table in (NEAR, X))
    assert here.status == there.status == "optimal"
    assert there.objective == pytest.approx(here.objective, rel=1e-7)
    if model in ("ridge", "logistic with a penalty", "squared hinge", "logistic", "least squares"):
        assert np.abs(scores(there, X) - scores(here, NEAR)).max() < 1e-6


@pytest.mark.parametrize("offset", OFFSETS)
def test_hard_margins_far_from_zero(offset):
    y = (NEAR @ [1.0, -0.5] > 0.2).astype(int)
    X = NEAR + np.array(OFFSETS[offset])
    solution = cc.HardMarginSVM(X, y).solve()
    assert solution.status == "optimal"
    assert (scores(solution, X) * np.where(y, 1, -1)).min() > 1 - 1e-8
    assert solution.objective == pytest.approx(cc.HardMarginSVM(NEAR, y).solve().objective, rel=1e-8)


@pytest.mark.parametrize("solver", ["dual:clarabel", "interior-point", "clarabel"])
def test_every_way_to_solve_goes_back(solver):
    X = NEAR + np.array([1e8, 0.0])
    solution = cc.SoftMarginSVM(X, LABELS, C=1.0).solve(solver)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(cc.SoftMarginSVM(NEAR, LABELS, C=1.0).solve().objective, rel=1e-7)


def test_a_start_far_from_zero_is_centred():
    X = NEAR + 1e7
    problem = cc.LogisticMLE(X, LABELS, l2=1.0)
    found = problem.solve("newton")
    again = problem.solve("newton", start=found)
    assert again.status == "optimal"
    assert again.iterations <= found.iterations


def test_slack_that_is_dear():
    """The true objective of the coefficients, with the slack that they need."""
    X = np.array([[24, 75000], [65, 148000], [63, 67000], [18, 13000], [48, 129000.0]])
    signs = [-1, 1, -1, -1, 1]
    solution = cc.SoftMarginSVM(X, signs, C=1e8).solve(level="float")
    coef, b = [Fraction(v) for v in solution.coef], Fraction(solution.intercept)
    lacking = [
        max(0, 1 - s * (sum(Fraction(v) * w for v, w in zip(row, coef, strict=True)) + b))
        for s, row in zip(signs, X.tolist(), strict=True)
    ]
    true = sum(w * w for w in coef) / 2 + 10**8 * sum(lacking)
    best = cc.SoftMarginSVM(X, signs, C=1e8).solve(level="exact").certificate.optimum
    assert solution.status == "optimal"
    assert float(true / best) == pytest.approx(1.0, abs=1e-8)


# ---- columns that depend on each other ----------------------------------------------------------------------------

KIND = RNG.integers(0, 3, 40)
AGE = RNG.integers(18, 70, 40).astype(float)
TABLES = {
    "the dummy trap": np.column_stack([np.eye(3)[KIND], AGE]),
    "a sum": np.column_stack([AGE, KIND, AGE + KIND]),
    "a repeated column": np.column_stack([AGE, KIND, AGE]),
    "a constant column": np.column_stack([AGE, KIND, np.full(40, 3.7)]),
}
MIXED = RNG.integers(0, 2, 40)
FREE = {
    "least squares": cc.LeastSquares,
    "logistic": cc.LogisticMLE,
    "least absolute": cc.LeastAbsolute,
    "perceptron": cc.PerceptronCriterion,
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", FREE)
def test_the_shortest_of_many_coefficients(model, table):
    X = TABLES[table]
    solution = FREE[model](X, MIXED).solve()
    assert solution.status == "optimal"
    assert any("depend on each other" in note for note in solution.certificate.notes)
    away = X - X.mean(axis=0)
    least = np.linalg.pinv(away) @ (away @ solution.coef)  # the shortest with the same differences of scores
    assert np.abs(solution.coef - least).max() < 1e-8 * np.abs(least).max()


def test_independent_columns_are_not_said_to_depend():
    solution = cc.LogisticMLE(NEAR, LABELS).solve()
    assert not any("depend" in note for note in solution.certificate.notes)


def test_columns_that_nearly_depend_are_not_shortened():
    k = RNG.integers(0, 30, 40).astype(float)
    X = np.column_stack([0.1 * k, 0.3 * k])  # as doubles, no multiples of each other
    solution = cc.LeastSquares(X, MIXED).solve()
    assert not any("shortest" in note for note in solution.certificate.notes)
