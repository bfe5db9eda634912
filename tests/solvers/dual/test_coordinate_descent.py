"""Dual coordinate descent: known answers, other solvers on sparse and wide data, weights, degenerate data, parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import convexcls as cc
from convexcls.choice import choices
from convexcls.rows.doubled import folded
from convexcls.solvers.dual import sweeps
from convexcls.solvers.dual.coordinate_descent import DualPoint, descend, newton_step
from convexcls.solvers.dual.dual_program import DualProgram
from convexcls.solvers.dual.face import Face

NAME = "coordinate-descent"


def words(n: int, d: int, entries: int = 8, seed: int = 0, noise: float = 0.1):
    """Rows of few entries, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, entries)) ** 2).astype(int)
    X = sparse.csr_array((rng.random(n * entries) + 0.5, (np.repeat(np.arange(n), entries), columns.ravel())), (n, d))
    y = np.where(X @ rng.normal(size=d) > 0, 1, -1)
    return X, np.where(rng.random(n) < noise, -y, y)


def proved(problem, **options) -> cc.Solution:
    solution = problem.solve(NAME, **options)
    assert solution.status == "optimal", solution.certificate.explain()
    return solution


# ---- known answers and oracles -----------------------------------------------------------------------------------


def test_four_points_by_hand():
    s = proved(cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1], C=1.0))
    assert s.objective == pytest.approx(26 / 9, rel=1e-12)
    np.testing.assert_allclose(s.multipliers["margin"], [5 / 9, 1, 1, 5 / 9], rtol=1e-9)
    assert s.multipliers["margin"][1] == 1.0  # a bound is met exactly


def test_hard_margin_by_hand():
    X = [[1, 2], [2, 0], [3, 1], [0, 1], [-1, -1], [-2, 0.5]]
    s = proved(cc.HardMarginSVM(X, [1, 1, 1, 0, 0, 0]))
    assert s.objective == pytest.approx(10 / 9, rel=1e-9)
    np.testing.assert_allclose(s.multipliers["margin"], [8 / 9, 2 / 9, 0, 10 / 9, 0, 0], rtol=1e-8, atol=0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("n", "d"), [(150, 40), (60, 300)])
@pytest.mark.parametrize("dense", [True, False])
def test_agrees_with_another_solver(n, d, loss, intercept, dense):
    X, y = words(n, d)
    problem = cc.SoftMarginSVM(X.toarray() if dense else X, y, loss=loss, intercept=intercept)
    found, other = proved(problem), problem.solve("clarabel")
    assert found.objective == pytest.approx(other.objective, rel=1e-7)
    np.testing.assert_allclose(found.coef, other.coef, atol=1e-4 * np.abs(other.coef).max())
    if loss == "hinge":
        alpha = found.multipliers["margin"]
        assert np.any(alpha == 0.0)
        assert n < d or np.any(alpha == 1.0)


def test_weights_are_prices():
    X, y = words(80, 30)
    weights = np.random.default_rng(1).integers(0, 4, 80).astype(float)
    weighted = proved(cc.SoftMarginSVM(X, y, C=0.5, sample_weight=weights))
    repeated = np.repeat(np.arange(80), weights.astype(int))
    same = proved(cc.SoftMarginSVM(sparse.csr_array(X)[repeated], y[repeated], C=0.5))
    assert weighted.objective == pytest.approx(same.objective, rel=1e-8)
    np.testing.assert_allclose(weighted.coef, same.coef, atol=1e-6)
    assert np.all(weighted.multipliers["margin"] <= 0.5 * weights)


def test_hard_margin_of_more_features_than_samples():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(25, 400)), np.arange(25) % 2
    s = proved(cc.HardMarginSVM(X, y))
    margins = np.where(y == 1, 1, -1) * s.decision_function(X)
    assert margins.min() == pytest.approx(1.0, abs=1e-8)
    assert s.objective == pytest.approx(cc.HardMarginSVM(X, y).solve("clarabel").objective, rel=1e-7)


def wide(kind: str, n: int = 30, d: int = 90):
    """Dense rows of more features than samples."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(n, d)) * np.geomspace(1.0, 300.0, d), np.arange(n) % 2
    if kind == "centred":  # the rows add up to 0
        X = X - X.mean(axis=0)
    if kind == "repeated":
        X[n // 2 :: 2], y[n // 2 :: 2] = X[0], y[0]
    return X, y


@pytest.mark.parametrize("model", ["hard", "hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", ["plain", "centred", "repeated"])
def test_wide_dense_rows(kind, model):
    """Against the same rows with a feature of zeros, held sparse, where nothing is compressed."""
    X, y = wide(kind)
    held = sparse.csr_array(np.column_stack([X, np.zeros(len(X))]))
    dense, thin = (cc.HardMarginSVM(Z, y) if model == "hard" else cc.SoftMarginSVM(Z, y, loss=model) for Z in (X, held))
    assert DualProgram.of(dense).compressed.matrix.shape == (30, 30)
    assert DualProgram.of(thin).compressed.matrix.shape == (30, 91)
    found, other = proved(dense), proved(thin)
    assert found.objective == pytest.approx(other.objective, rel=1e-8)
    np.testing.assert_allclose(found.coef, other.coef[:-1], atol=1e-6 * np.abs(other.coef).max())


def test_a_compressed_program_has_the_same_curvature():
    program = DualProgram.of(cc.SoftMarginSVM(*wide("centred")))
    M, L = program.matrix, program.compressed.matrix
    assert L.shape == (30, 30)
    np.testing.assert_allclose(L @ L.T, M @ M.T, atol=1e-13 * np.abs(M @ M.T).max())
    a = np.random.default_rng(0).random(program.size)
    for part in (program, program.compressed):
        r = part.excess(a, part.weights(a), 0.5)
        np.testing.assert_allclose(r, program.excess(a, program.weights(a), 0.5), atol=1e-12 * np.abs(r).max())


@given(
    n=st.integers(4, 20),
    d=st.integers(1, 30),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=25, deadline=None)
def test_random_problems_are_proved(n, d, C, loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < 0.4)
    y = np.arange(n) % 2
    s = proved(cc.SoftMarginSVM(sparse.csr_array(X.astype(float)), rng.permutation(y), C=C, loss=loss))
    assert s.certificate.kkt.holds(1e-8)


# ---- degenerate data ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_repeated_rows_zero_rows_and_zero_columns(loss):
    X, y = words(40, 20)
    X = np.vstack([np.hstack([X.toarray(), np.zeros((40, 3))])] * 2 + [np.zeros((3, 23))])
    y = np.concatenate([y, y, [1, -1, 1]])
    s = proved(cc.SoftMarginSVM(X, y, loss=loss))
    assert np.all(s.coef[20:] == 0.0)


def test_all_multipliers_at_their_bound():
    """Two points of each class in the same places: w = 0, every slack is 1 and every multiplier C."""
    s = proved(cc.SoftMarginSVM([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1], C=0.25))
    assert s.objective == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(s.coef, 0.0, atol=1e-12)


def test_no_free_support_vector():
    """A small price: all of the smaller class and as many of the other are at C, and none between."""
    s = proved(cc.SoftMarginSVM([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1], C=0.01))
    assert set(s.multipliers["margin"].tolist()) <= {0.0, 0.01}
    assert s.coef[0] == pytest.approx(0.06, rel=1e-9)


def test_inseparable_classes_are_infeasible():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    assert cc.HardMarginSVM(X, [0, 1, 0, 1]).solve(NAME).status == "infeasible"


# ---- choice, options and parts -----------------------------------------------------------------------------------


def test_auto_takes_it_for_sparse_and_wide_rows():
    X, y = words(700, 900, entries=10)
    tried = list(choices(cc.SoftMarginSVM(X, y)))
    assert tried[1].solver == NAME
    assert f"with {X.nnz + len(y)} entries" in tried[1].why  # those of the intercept among them
    assert not any("clarabel" in choice.solver.lower() for choice in tried)
    assert cc.SoftMarginSVM(X, y).solve().solver == NAME
    narrow = np.random.default_rng(0).normal(size=(700, 10))
    assert NAME not in [choice.solver for choice in choices(cc.SoftMarginSVM(narrow, y))]


def test_what_it_refuses():
    X, y = words(20, 5)
    for problem in (cc.LogisticMLE(X, y), cc.MaxMargin(X, y), cc.LeastAbsolute(X, y), cc.KernelSVM(X.toarray(), y)):
        with pytest.raises(cc.SolverRefused, match="it takes"):
            problem.solve(NAME)
    with pytest.raises(ValueError, match="seed"):
        cc.SoftMarginSVM(X, y).solve(NAME, seed=-1)


def test_limit_of_rounds_and_seed():
    X, y = words(200, 60)
    assert cc.SoftMarginSVM(X, y, C=100.0).solve(NAME, max_iter=1).message == "stopped after 1 rounds"
    problem = cc.SoftMarginSVM(X, y, C=10.0)
    assert proved(problem, seed=5).objective == pytest.approx(proved(problem).objective, rel=1e-7)


def test_sweeps_that_are_not_compiled(monkeypatch):
    """Without numba the same loops run as they are written."""
    for name in ("sweep_sparse", "sweep_dense"):
        loop = getattr(sweeps, name)
        monkeypatch.setattr(sweeps, name, getattr(loop, "py_func", loop))
    X, y = words(60, 15)
    for matrix in (X, X.toarray()):
        problem = cc.SoftMarginSVM(matrix, y)
        assert proved(problem).objective == pytest.approx(problem.solve("clarabel").objective, rel=1e-7)


def test_a_face_is_solved_with_its_equation():
    X, y = words(50, 200)
    program = DualProgram.of(cc.SoftMarginSVM(X, y))
    point = DualPoint.at(program, np.full(50, 0.3), 0.0)
    step = Face(program, np.arange(50), 0.0).newton(point.r, point.lacking, 1e-12)
    after = DualPoint.at(program, point.a + step.d, point.b + step.db)
    assert np.abs(after.r).max() < 1e-9
    assert abs(after.lacking) < 1e-9


def test_sums_by_halves_keep_what_cancels():
    parts = np.array([[1e16, 1.0, -1e16, 2.0**-40, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    value, missing = folded(parts)
    np.testing.assert_array_equal(value, [4.0 + 2.0**-40, 15.0])
    np.testing.assert_array_equal(missing, 0.0)


# ---- the parts of a step -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_no_step_raises_what_is_minimised(C):
    X, y = words(300, 120, noise=0.2)
    program, rng = DualProgram.of(cc.SoftMarginSVM(X, y, C=C)), np.random.default_rng(0)
    point = DualPoint.at(program, np.zeros(300), 0.0)
    for _ in range(12):
        before = descent_function(point, point.b)
        stepped, _ = newton_step(program, point, 0.1)
        assert descent_function(stepped, point.b) <= before + 1e-12 * abs(before)
        assert np.all((program.low <= stepped.a) & (stepped.a <= program.high))
        np.testing.assert_allclose(stepped.u, program.weights(stepped.a), rtol=0, atol=1e-12 * C)
        stepped = stepped.with_equation_priced()
        before = descent_function(stepped, stepped.b)
        point = descend(program, stepped, 3, 1e-3, rng)
        assert descent_function(point, stepped.b) <= before + 1e-12 * abs(before)


def descent_function(point: DualPoint, b: float) -> float:
    """The objective of the multipliers with the penalty of the equation about a price b, from the formula."""
    p, a = point.program, point.a
    u, lacking = p.u0 - p.matrix.T @ (p.left * a), float(p.c @ a) + p.total
    return 0.5 * u @ u + 0.5 * p.compliance @ a**2 + p.h @ a - b * lacking + 0.5 * p.beta * lacking**2


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_large_price_of_slack_where_classes_overlap(loss):
    X, y = words(300, 100, noise=0.2, seed=3)
    problem = cc.SoftMarginSVM(X, y, C=100.0, loss=loss)
    assert proved(problem).objective == pytest.approx(problem.solve("interior-point").objective, rel=1e-7)


def test_sparse_rows_of_any_length_are_summed_whole():
    """Four entries at a time, and what is left over; rows without any."""
    lengths = [0, 1, 2, 3, 4, 5, 7, 8, 9, 0]
    columns = np.concatenate([np.arange(k) for k in lengths]).astype(np.int32)
    data, starts = np.arange(1.0, 1 + sum(lengths)), np.concatenate([[0], np.cumsum(lengths)])
    u = np.linspace(-1.0, 2.0, 9)
    dense = sparse.csr_array((data, columns, starts), shape=(10, 9)).toarray()
    for i in range(10):
        start, stop = np.uint64(starts[i]), np.uint64(starts[i + 1])
        assert sweeps._dot(data, columns, start, stop, u) == pytest.approx(dense[i] @ u, rel=1e-14, abs=1e-14)
        moved = u.copy()
        sweeps._subtract(data, columns, start, stop, 0.5, moved)
        np.testing.assert_allclose(moved, u - 0.5 * dense[i], rtol=1e-15)
