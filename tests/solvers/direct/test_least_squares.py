"""Least squares of large and of sparse data: the same digits as a QR factorization of the data."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import lstsq

import convexcls as cc
from convexcls.problem.scaling import equilibrate
from convexcls.solvers.direct import closed_form
from convexcls.solvers.direct.closed_form import by_normal_equations
from convexcls.solvers.smooth.objective import SmoothObjective


def drawn(n=4000, d=30, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.1)
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


def fitted(X, y, **options):
    return cc.LeastSquares(X, y, coding="real", **options).solve("closed-form")


def point(problem):
    """What the solver alone answers, in the units of the data."""
    scaled = equilibrate(problem)
    return scaled.restore_point(closed_form.ClosedFormSolver().solve(scaled.problem, 1e-8).x)


def answered(X, y, **options):
    return point(cc.LeastSquares(X, y, coding="real", **options))


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_large_data_agree_with_lapack(scale):
    X, y = drawn()
    solution = fitted(X * scale, y)
    assert solution.status == "optimal"
    expected = lstsq(np.column_stack([X, np.ones(len(y))]), y)[0]
    np.testing.assert_allclose(solution.coef * scale, expected[:-1], rtol=1e-11)
    assert solution.intercept == pytest.approx(expected[-1], rel=1e-10)
    assert solution.certificate.kkt.worst < 1e-12


def test_ridge_weights_and_no_intercept():
    X, y = drawn()
    weights = np.arange(len(y)) % 4 + 0.5
    solution = fitted(X, y, l2=3.0, intercept=False, sample_weight=weights)
    expected = np.linalg.solve(X.T @ (weights[:, None] * X) + 3.0 * np.eye(30), X.T @ (weights * y))
    np.testing.assert_allclose(solution.coef, expected, rtol=1e-11)


@pytest.mark.parametrize("columns", [1e3, 1e5, 1e7])
def test_nearly_dependent_columns_keep_the_digits_of_qr(columns):
    """Columns that differ by 1/columns have that condition: the normal equations would lose twice its digits."""
    X, _ = drawn()
    X = np.column_stack([X, X[:, 0] + np.cos(np.arange(len(X))) / columns])
    beta = np.linspace(1, 2, X.shape[1])
    y = X @ beta
    np.testing.assert_allclose(answered(X, y, intercept=False), beta, rtol=1e-14 * columns)


def test_ill_conditioned_columns_are_left_to_qr():
    X, y = drawn()
    problems = [
        cc.LeastSquares(Z, y, coding="real")
        for Z in (X, np.column_stack([X, X[:, 0] + 1e-7 * np.cos(np.arange(len(y)))]))
    ]
    good, bad = (by_normal_equations(SmoothObjective(equilibrate(p).problem)) for p in problems)
    assert good is not None
    assert bad is None


def test_repeated_columns_give_the_shortest_solution():
    X, y = drawn()
    x = answered(np.column_stack([X, X[:, 3]]), y, intercept=False)
    assert x[3] == pytest.approx(x[30])
    assert x[3] + x[30] == pytest.approx(answered(X, y, intercept=False)[3])


def test_far_from_zero():
    X, y = drawn()
    np.testing.assert_allclose(answered(X + 1e6, y)[:-1], answered(X, y)[:-1], rtol=1e-8)


def test_a_perfect_fit():
    X, _ = drawn()
    np.testing.assert_allclose(answered(X, X @ np.arange(30.0), intercept=False), np.arange(30.0), atol=1e-11)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_sparse_is_dense(form):
    X, y = drawn()
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    np.testing.assert_allclose(fitted(form(X), y).coef, fitted(X, y).coef, rtol=1e-11)


@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_wide_sparse_data_are_never_made_dense(l2, monkeypatch):
    rng = np.random.default_rng(2)
    X = sparse.csr_array(sparse.random(2600, 2100, density=0.004, random_state=3) + sparse.eye_array(2600, 2100))
    y = rng.normal(size=2600)
    problem = cc.LeastSquares(X, y, coding="real", l2=l2, intercept=False)
    monkeypatch.setattr(closed_form, "_stack", lambda *_: pytest.fail("made dense"))
    gram = (X.T @ X + l2 * sparse.eye_array(2100)).toarray()
    np.testing.assert_allclose(point(problem), np.linalg.solve(gram, X.T @ y), rtol=1e-7, atol=1e-9)


def test_a_solution_beyond_the_range_of_doubles_is_no_crash():
    """Coefficients near 1e322: the factors are finite, what is solved with them is not."""
    X = 1e-322 * np.array([[-1, 1, -3, -3], [1, 2, 0, -1], [2, 0, 3, -3], [1, -1, 0, 3]])
    problem = cc.LeastSquares(X, [-0.5273, -1.366, -0.1522, -0.4746], coding="real", intercept=False)
    s = problem.solve("closed-form")
    assert s.status == "undecided"
    assert "no finite solution" in s.message
    assert problem.solve().status == "undecided"


@pytest.mark.parametrize("n", [30, 200])
def test_wide_data_of_any_size_have_the_shortest_solution(n):
    X = np.random.default_rng(n).normal(size=(n, 5 * n))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    solution = cc.LeastSquares(X, y).solve()
    assert solution.status == "optimal"
    assert "shortest" in " ".join(solution.certificate.notes)
    assert solution.objective < 1e-20
    middle = X.mean(axis=0)  # the intercept takes what the middle needs
    expected = np.linalg.pinv(X - middle) @ (y - y.mean())
    np.testing.assert_allclose(solution.coef, expected, rtol=1e-8, atol=1e-10)
