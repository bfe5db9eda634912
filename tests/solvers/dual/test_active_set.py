"""The dual active-set method: known answers, other solvers, exact bounds, degenerate data, contradictions, parts."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import convexcls as cc
from convexcls import compilation
from convexcls.choice import choices
from convexcls.solvers.dual import guesses, pivots
from convexcls.solvers.dual.small_program import Box

NAME, NONE = "active-set", np.empty((0, 0))


def proved(problem, **options) -> cc.Solution:
    solution = problem.solve(NAME, **options)
    assert solution.status == "optimal", solution.certificate.explain()
    return solution


def scores(n: int, d: int, seed: int = 0, noise: float = 0.5, apart: float = 0.0):
    """Standard normal samples, labelled by noisy scores, or pushed ``apart`` by these."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    y = X @ w + noise * np.linalg.norm(w) * rng.normal(size=n) > 0
    return X + apart * np.where(y, 1, -1)[:, None] * w / np.linalg.norm(w), y.astype(int)


# ---- known answers and other solvers -----------------------------------------------------------------------------


def test_four_points_by_hand():
    s = proved(cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1], C=1.0))
    assert s.objective == pytest.approx(26 / 9, rel=1e-14)
    np.testing.assert_allclose(s.multipliers["margin"], [5 / 9, 1, 1, 5 / 9], rtol=1e-14)
    assert s.multipliers["margin"][1] == 1.0  # a bound is met exactly


def test_hard_margin_by_hand():
    X = [[1, 2], [2, 0], [3, 1], [0, 1], [-1, -1], [-2, 0.5]]
    s = proved(cc.HardMarginSVM(X, [1, 1, 1, 0, 0, 0]))
    assert s.objective == pytest.approx(10 / 9, rel=1e-14)
    np.testing.assert_allclose(s.multipliers["margin"], [8 / 9, 2 / 9, 0, 10 / 9, 0, 0], rtol=1e-13, atol=0)


def test_squared_hinge_of_one_sample():
    """(w - 1)^2 C + w^2 / 2 has its minimum at 2C / (1 + 2C)."""
    s = proved(cc.SoftMarginSVM([[1.0], [-1.0]], [1, 0], C=3.0, loss="squared_hinge", intercept=False))
    assert s.coef[0] == pytest.approx(12 / 13, rel=1e-14)


PROBLEMS = {
    "hard": lambda X, y, i: cc.HardMarginSVM(X, y, intercept=i),
    "hinge": lambda X, y, i: cc.SoftMarginSVM(X, y, C=0.7, intercept=i),
    "dear hinge": lambda X, y, i: cc.SoftMarginSVM(X, y, C=1e4, intercept=i),
    "squared": lambda X, y, i: cc.SoftMarginSVM(X, y, C=2.0, loss="squared_hinge", intercept=i),
    "weighted": lambda X, y, i: cc.SoftMarginSVM(X, y, sample_weight=np.arange(len(y)) % 3, intercept=i),
    "kernel": lambda X, y, i: cc.KernelSVM(X, y, C=2.0, gamma=0.3, intercept=i),
    "hard kernel": lambda X, y, i: cc.KernelSVM(X, y, C=None, gamma=1.0, intercept=i),
}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize(("n", "d"), [(90, 2), (60, 15), (25, 40)])
def test_agrees_with_another_solver(n, d, kind, intercept):
    X, y = scores(n, d, noise=0.0, apart=0.3) if kind == "hard" else scores(n, d)
    problem = PROBLEMS[kind](X, y, intercept)
    s = proved(problem)
    other = problem.solve("smo" if "kernel" in kind else "working-set" if kind == "hard" else "interior-point")
    assert other.status == "optimal"
    assert s.objective == pytest.approx(other.objective, rel=1e-9)
    np.testing.assert_allclose(s.decision_function(X), other.decision_function(X), atol=1e-7)


def test_bounds_are_met_exactly_and_free_margins_to_rounding():
    X, y = scores(150, 6)
    s = proved(cc.SoftMarginSVM(X, y, C=0.5))
    a, margins = s.multipliers["margin"], np.where(y, 1, -1) * (X @ s.coef + s.intercept)
    free = (a > 0) & (a < 0.5)
    assert 0 < free.sum() <= 7
    assert np.all((a == 0) | (a == 0.5) | free)
    np.testing.assert_allclose(margins[free], 1.0, atol=1e-12)
    assert abs(a @ np.where(y, 1, -1)) <= 1e-12


# ---- what is hard ------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.01, 1.0, 1000.0]), st.booleans())
def test_ties_and_repeated_rows(seed, d, C, intercept):
    """Whole numbers, so that rows repeat each other, within a class and across."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-1, 2, size=(30, d)), rng.integers(0, 2, size=30)
    y[:2] = 0, 1
    problem = cc.SoftMarginSVM(X, y, C=C, intercept=intercept)
    assert proved(problem).objective == pytest.approx(problem.solve("interior-point").objective, rel=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_hard_rows_are_met_or_contradict_each_other(seed, d):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(8, d)), rng.integers(0, 2, size=8)
    y[:2] = 0, 1
    problem = cc.HardMarginSVM(X, y)
    found, other = problem.solve(NAME), problem.solve("working-set")
    assert found.status == other.status != "undecided"
    if found.status == "optimal":
        assert found.objective == pytest.approx(other.objective, rel=1e-8)


def test_a_contradiction_is_shown():
    X, y = scores(200, 5)
    s = cc.HardMarginSVM(X, y).solve(NAME)
    assert s.status == "infeasible"
    assert np.count_nonzero(s.certificate.farkas.multipliers["margin"]) <= 7  # d + 2 rows suffice


def test_dependent_columns():
    X, y = scores(80, 4)
    s = proved(cc.SoftMarginSVM(np.column_stack([X, X[:, 0] + X[:, 1], np.ones(80)]), y))
    assert s.objective == pytest.approx(cc.SoftMarginSVM(np.column_stack([X, X[:, 0] + X[:, 1]]), y).solve().objective)


# ---- who takes what ----------------------------------------------------------------------------------------------


def test_auto_begins_with_it_where_samples_are_few():
    pytest.importorskip("numba")
    few, many = scores(200, 5), scores(3000, 5)
    cc.SoftMarginSVM(*few).solve(NAME)  # compiled now, if it was not
    for make in (cc.SoftMarginSVM, cc.KernelSVM):
        assert make(*few).solve().solver == NAME
        assert NAME not in [choice.solver for choice in choices(make(*many))]
    assert cc.HardMarginSVM(*scores(200, 5, noise=0.0)).solve().solver == NAME


def test_refusals():
    X, y = scores(2100, 3)
    for problem, reason in (
        (cc.SoftMarginSVM(X, y), "at most 2000 rows"),
        (cc.LeastAbsolute(X[:50], y[:50]), "diagonal quadratic form"),
        (cc.LogisticMLE(X[:50], y[:50]), "logistic"),
        (cc.KernelSVM(X[:100], y[:100], memory_limit=20_000), "memory"),
    ):
        with pytest.raises(cc.SolverRefused, match=reason):
            problem.solve(NAME)


def test_too_few_steps_are_no_optimum():
    s = cc.SoftMarginSVM(*scores(100, 5)).solve(NAME, max_iter=1)
    assert (s.status, s.iterations) == ("undecided", 1)


def test_without_numba_the_answer_is_the_same():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np, convexcls as cc\n"
        "X = np.random.default_rng(0).normal(size=(25, 2)); y = X[:, 0] + X[:, 1] ** 2 > 0.5\n"
        "for problem in (cc.SoftMarginSVM(X, y), cc.KernelSVM(X, y, gamma=1.0)):\n"
        "    s = problem.solve('active-set')\n"
        "    print(s.status, problem.solve().solver, float(s.objective).hex())\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    X = np.random.default_rng(0).normal(size=(25, 2))
    y = X[:, 0] + X[:, 1] ** 2 > 0.5
    for problem, (status, auto, objective) in zip(
        (cc.SoftMarginSVM(X, y), cc.KernelSVM(X, y, gamma=1.0)), (out[:3], out[3:]), strict=True
    ):
        assert status == "optimal"
        assert auto != NAME
        assert float.fromhex(objective) == pytest.approx(problem.solve(NAME).objective, rel=1e-12)


def test_a_loop_is_compiled_when_it_is_asked_for_often(tmp_path, monkeypatch):
    pytest.importorskip("numba")

    stats = SimpleNamespace(cache_path=str(tmp_path))
    loop = SimpleNamespace(py_func=scores, signatures=(), stats=stats, __module__="loops", __name__="loop")
    monkeypatch.setattr(compilation, "_times", Counter())
    asked = [compilation.is_worth_compiling(loop) for _ in range(compilation.TIMES_WITHOUT + 2)]
    assert asked == [False] * compilation.TIMES_WITHOUT + [True] * 2
    monkeypatch.setattr(compilation, "_times", Counter())
    (tmp_path / "test_active_set.loop-1.nbi").touch()
    assert compilation.is_worth_compiling(loop)  # on the disk
    stats.cache_path = None
    assert not any(compilation.is_worth_compiling(loop) for _ in range(compilation.TIMES_WITHOUT + 2))
    assert not compilation.is_worth_compiling(len)


# ---- its parts ---------------------------------------------------------------------------------------------------


def box(M, low=-1.0, high=1.0, total=0.0) -> Box:
    n = len(M)
    return Box.of(NONE, M, np.zeros(n), np.zeros(n), np.full(n, low), np.full(n, high), total)


def test_the_triangle_follows_what_joins_and_leaves():
    M = np.random.default_rng(3).normal(size=(12, 9))
    program, w, K = box(M), pivots.Working.at(np.zeros(12), 9), M @ M.T
    m, joined = 0, []
    for i, leaves in ((4, None), (7, None), (1, 0), (9, None), (0, None), (5, 2), (4, 3), (2, None)):
        pivots._fill_column(program, w, m, i)
        m = pivots._join(w, m, i, pivots._pivot(w.R, m, K[i, i] + program.sigma))
        joined.append(i)
        if leaves is not None:
            m = pivots._leave(w, m, leaves)
            joined.pop(leaves)
        assert w.A[:m].tolist() == joined
        triangle = np.triu(w.R[:m, :m])
        np.testing.assert_allclose(triangle.T @ triangle, K[np.ix_(joined, joined)] + program.sigma, atol=1e-12)
        np.testing.assert_allclose(triangle.T @ w.R[:m, -2], np.ones(m), atol=1e-12)


def test_at_bounds_the_sum_is_right():
    g, b = np.array([3.0, -1.0, 0.5, -2.0]), np.zeros(4)
    guesses.to_bounds(g, box(np.eye(4), total=0.5), b)
    np.testing.assert_array_equal(b, [-1.0, 1.0, -0.5, 1.0])
    guesses.to_bounds(g, box(np.eye(4), total=None), b)
    np.testing.assert_array_equal(b, [-1.0, 1.0, -1.0, 1.0])


@pytest.mark.parametrize("n", [1, 2, 3, 8, 15, 60, 200])
def test_a_sweep_goes_through_all(n):
    stride = guesses.coprime(n)
    assert sorted((k * stride) % n for k in range(n)) == list(range(n))
