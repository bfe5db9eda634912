"""Sequential minimal optimization: known answers, oracles, degenerate data, and memory."""

from __future__ import annotations

import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise
from sklearn.svm import SVC

import convexcls as cc
from convexcls.data import DataError
from convexcls.models.kernels import DistanceValues, Kernel, RadialValues, kernel_values
from convexcls.problem import Constraint, Variable
from convexcls.rows import DiagonalRows, as_rows
from convexcls.rows.kernel import KernelRows
from convexcls.rows.kernel_loops import exponentiate
from convexcls.rows.row_store import MatrixStore, MatrixTooLarge, RowStore
from convexcls.solvers.kernel import free_set, smo_pairs


def nonlinear(n: int, d: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=n)
    return X, np.where(score > 0, "yes", "no")


X300, Y300 = nonlinear(300)
X700, Y700 = nonlinear(700)


def proved(problem, **options) -> cc.Solution:
    solution = problem.solve("smo", **options)
    assert solution.status == "optimal", solution.certificate.explain()
    return solution


# ---- known answers and oracles ----------------------------------------------------------------------------------


def test_xor_by_hand():
    """Four corners and the kernel (1 + x'z)^2: alpha = 1/8 each, intercept 0, the score is x1 x2."""
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    solution = proved(cc.KernelSVM(X, [1, 1, 0, 0], kernel="poly", degree=2, coef0=1.0))
    np.testing.assert_allclose(solution.values["margin"], 0.125, rtol=1e-14)
    assert abs(solution.intercept) < 1e-14
    np.testing.assert_allclose(solution.decision_function(X * 2), [4, 4, -4, -4], rtol=1e-13)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("kernel", "C"),
    [(k, C) for k in ("rbf", "poly", "linear", "laplacian") for C in (0.01, 1.0, 100.0)]
    + [("rbf", None), ("laplacian", None)],
)
def test_an_interior_point_agrees(kernel, C, intercept):
    problem = cc.KernelSVM(X300[:120], Y300[:120], kernel=kernel, C=C, gamma=0.5, coef0=1.0, intercept=intercept)
    ours, theirs = proved(problem), problem.solve("clarabel")
    if theirs.status == "optimal":
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-8)
        np.testing.assert_allclose(ours.decision_function(X300), theirs.decision_function(X300), atol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_hard_margin_that_does_not_exist_is_never_taken_for_solved(kernel, intercept):
    """The interior point proves the soft margin to violate rows however large C is; so no hard margin exists."""
    data = X300[:120], Y300[:120]
    soft = proved(cc.KernelSVM(*data, kernel=kernel, C=100.0, gamma=0.5, coef0=1.0, intercept=intercept))
    assert np.any(soft.multipliers["slack"] > 1.0)
    hard = cc.KernelSVM(*data, kernel=kernel, C=None, gamma=0.5, coef0=1.0, intercept=intercept).solve("smo")
    assert hard.status in ("unattained", "undecided")


def test_libsvm_agrees_where_rows_are_computed_when_needed():
    problem = cc.KernelSVM(X700, Y700, kernel="rbf", gamma=0.3, C=2.0)
    assert isinstance(problem.quadratic["margin"].store, RowStore)
    ours = proved(problem)
    theirs = SVC(kernel="rbf", gamma=0.3, C=2.0, tol=1e-10).fit(X700, Y700)
    np.testing.assert_allclose(ours.decision_function(X300), theirs.decision_function(X300), atol=1e-5)
    assert set(ours.support) == set(theirs.support_)
    assert ours.certificate.kkt.worst < 1e-12


def test_multipliers_are_exactly_at_their_bounds():
    alpha = proved(cc.KernelSVM(X700, Y700, kernel="rbf", gamma=0.3, C=0.7)).values["margin"]
    assert np.count_nonzero(alpha == 0) > 100
    assert not np.any(np.signbit(alpha))
    assert np.count_nonzero(alpha == 0.7) > 50
    between = alpha[(alpha > 0) & (alpha < 0.7)]
    assert between.min() > 1e-6
    assert between.max() < 0.7 - 1e-6


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
def test_sparse_samples_are_the_same_samples(kernel):
    X = np.where(np.abs(X700) > 0.8, X700, 0.0)
    setting = {"kernel": kernel, "C": 1.0, "gamma": 0.5, "coef0": 1.0}
    if kernel == "laplacian":
        setting["C"] = 0.1
    dense, thin = (proved(cc.KernelSVM(A, Y700, **setting)) for A in (X, sparse.csr_array(X)))
    assert dense.objective == pytest.approx(thin.objective, rel=1e-10)
    np.testing.assert_allclose(dense.decision_function(X300), thin.decision_function(X300), atol=1e-8)


def test_sample_weights_are_copies():
    weights = np.arange(300) % 3.0
    weighted = proved(cc.KernelSVM(X300, Y300, C=1.0, gamma=0.5, sample_weight=weights))
    copies = np.repeat(np.arange(300), weights.astype(int))
    copied = proved(cc.KernelSVM(X300[copies], Y300[copies], C=1.0, gamma=0.5))
    assert weighted.objective == pytest.approx(copied.objective, rel=1e-11)
    np.testing.assert_allclose(weighted.decision_function(X700), copied.decision_function(X700), atol=1e-9)
    assert np.all(weighted.values["margin"][weights == 0] == 0)


def test_order_labels_and_units():
    old = proved(cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0))
    order = np.random.default_rng(1).permutation(700)
    shuffled = proved(cc.KernelSVM(X700[order], Y700[order], gamma=0.5, C=1.0))
    np.testing.assert_allclose(shuffled.values["margin"], old.values["margin"][order], atol=1e-10)
    swapped = proved(cc.KernelSVM(X700, np.where(Y700 == "yes", "a", "b"), gamma=0.5, C=1.0))
    np.testing.assert_allclose(swapped.decision_function(X300), -old.decision_function(X300), atol=1e-10)
    for e in (-40, 25):
        scaled = proved(cc.KernelSVM(X700 * 2.0**e, Y700, gamma=0.5 * 4.0**-e, C=1.0))
        np.testing.assert_allclose(scaled.values["margin"], old.values["margin"], atol=1e-10)


# ---- data that make trouble -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
def test_units_far_from_one(scale):
    for kernel, C in (("rbf", 1.0), ("linear", 1.0 / scale / scale)):
        if kernel == "linear" and not 1e-100 < scale < 1e100:
            continue
        gamma = 0.5 / scale / scale if 1e-100 < scale < 1e100 else 1.0
        problem = cc.KernelSVM(X300[:80] * scale, Y300[:80], kernel=kernel, C=C, gamma=gamma)
        proved(problem)


@pytest.mark.parametrize(
    "X",
    [
        np.repeat(X300[:40], 3, axis=0),
        np.round(X300[:120]),
        np.column_stack([X300[:120], X300[:120, :2], np.ones(120)]),
        X300[:120, :1],
        X300[:120] + 1e6,
        np.zeros((120, 2)),
        np.hstack([X300[:120]] * 40),
    ],
    ids=["copies", "grid", "rank deficient", "one feature", "far away", "all the same", "n < d"],
)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_degenerate_samples(X, kernel):
    y = np.where(Y300[:120] == "yes", 1, 0)
    problem = cc.KernelSVM(X, y, kernel=kernel, C=0.5, gamma=0.2, degree=2, coef0=1.0)
    if kernel != "rbf" and np.abs(X).max() > 1e5:  # k is 1e12 or 1e24, and what differs is gone: no verdict is wrong
        assert problem.solve("smo").status in ("optimal", "undecided")
        return
    expected = problem.solve("clarabel")
    assert proved(problem).objective == pytest.approx(expected.objective, rel=1e-7)


def test_random_problems_of_all_kinds():
    """Low rank, copies, bounds far away: never an open verdict where an interior point has a proof."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(4, 60)), int(rng.integers(1, 6))
        X = rng.normal(size=(n, d)) if seed % 3 else np.round(rng.normal(size=(n, d)))
        y = np.append(np.arange(n - 1) % 2, 1)
        setting = {"C": [None, 0.1, 10.0, 1e3][seed % 4], "intercept": bool(rng.random() < 0.7)}
        problem = cc.KernelSVM(X, y, kernel=["linear", "rbf", "poly"][seed % 3], degree=2, coef0=1.0, **setting)
        ours = problem.solve("smo")
        if ours.status == "undecided":
            assert problem.solve("clarabel").status == "undecided", seed
        elif ours.status == "optimal" and seed % 5 == 0:
            assert ours.objective == pytest.approx(problem.solve("clarabel").objective, rel=1e-7)


def test_no_maximum_is_proved_by_a_direction():
    X, y = X700.copy(), Y700.copy()
    twin = int(np.flatnonzero(y != y[0])[0])
    X[twin] = X[0]
    solution = cc.KernelSVM(X, y, kernel="rbf").solve("smo")
    assert solution.status == "unattained"
    assert sorted(np.flatnonzero(solution.certificate.direction.x)) == [0, twin]
    linear = cc.KernelSVM(X300[:30, :2], Y300[:30], kernel="linear").solve("smo")
    assert linear.status == "unattained"


def test_few_samples():
    two = proved(cc.KernelSVM([[0.0], [2.0]], [0, 1], kernel="linear"))
    np.testing.assert_allclose(two.values["margin"], 0.5)
    assert two.intercept == pytest.approx(-1.0)
    assert proved(cc.KernelSVM([[1.0], [2.0]], [0, 1], kernel="rbf", C=1.0, intercept=False)).objective > 0


# ---- other problems of the form ---------------------------------------------------------------------------------


def box_program(equation=None, total: float = 0.0) -> cc.Problem:
    rng = np.random.default_rng(5)
    root = rng.normal(size=(9, 9))
    constraints = [
        Constraint("upper", {"x": DiagonalRows(np.full(9, 2.0))}, "u", rhs=np.full(9, 1.0)),
        Constraint("lower", {"x": DiagonalRows(np.full(9, -1.0))}, "l", rhs=np.full(9, 0.25)),
    ]
    if equation is not None:
        rows = {"x": as_rows(equation[None, :])}
        constraints.append(Constraint("sum", rows, "m", relation="==", rhs=np.array([total])))
    quadratic, linear = {"x": root @ root.T}, {"x": rng.normal(size=9)}
    return cc.Problem("box", [Variable("x", 9, "x")], quadratic=quadratic, linear=linear, constraints=constraints)


@pytest.mark.parametrize("equation", [None, np.ones(9), np.arange(1.0, 10.0) * np.where(np.arange(9) % 2, 1.0, -1.0)])
def test_any_box_program(equation):
    for total in (0.0, 0.3):
        problem = box_program(equation, total)
        ours, theirs = proved(problem), problem.solve("clarabel")
        np.testing.assert_allclose(ours.x, theirs.x, atol=1e-9)
        assert ours.certificate.kkt.worst < 1e-12


def test_bounds_that_exclude_the_equation_give_no_point():
    assert box_program(np.ones(9), 100.0).solve("smo").status == "infeasible"


def test_what_is_refused():
    with pytest.raises(cc.SolverRefused, match=r"quadratic form with bounds and one equation.*there is"):
        cc.LogisticMLE(X300, Y300).solve("smo")
    with pytest.raises(cc.SolverRefused, match="one block of unknowns"):
        cc.SoftMarginSVM(X300, Y300).solve("smo")
    with pytest.raises(cc.SolverRefused, match="not all unknowns take part in the equation 'sum'"):
        box_program(np.arange(9.0)).solve("smo")
    pair = Constraint("pair", {"x": as_rows(np.ones((1, 2)))}, "p", rhs=np.ones(1))
    with pytest.raises(cc.SolverRefused, match="'pair' are not bounds of single unknowns"):
        cc.Problem("pair", [Variable("x", 2, "x")], quadratic={"x": np.eye(2)}, constraints=[pair]).solve("smo")
    with pytest.raises(cc.SolverRefused, match="given by a matrix, and 'x' has none"):
        cc.Problem("diagonal", [Variable("x", 2, "x")], quadratic={"x": np.ones(2)}).solve("smo")


# ---- trace, start, options --------------------------------------------------------------------------------------


def test_the_trace_descends_and_callbacks_see_it():
    seen = []
    solution = proved(cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0), callback=seen.append, working_set=64)
    objectives = [line.objective for line in solution.trace]
    assert np.all(np.diff(objectives) >= -1e-12 * objectives[-1])
    assert [line.objective for line in seen] == objectives
    assert objectives[-1] == pytest.approx(solution.objective, rel=1e-12)
    assert solution.iterations == len(solution.trace) - 1
    detail = solution.trace[-1].detail
    assert detail["low"] + detail["free"] + detail["high"] == 700
    assert detail["pairs"] > 0


@pytest.mark.parametrize("working_set", [2, 16, 5000])
def test_working_sets_of_any_size(working_set):
    problem = cc.KernelSVM(X300, Y300, gamma=0.5, C=1.0)
    found = proved(problem, working_set=working_set)
    assert found.objective == pytest.approx(proved(problem).objective, rel=1e-12)


def test_a_start_near_the_solution_saves_work():
    problem = cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0)
    cold = proved(problem, working_set=128)
    again = proved(problem, start=cold, working_set=128)
    assert again.iterations <= 2 < cold.iterations
    other = proved(cc.KernelSVM(X700, Y700, gamma=0.5, C=1.05), start=cold, working_set=128)
    assert other.iterations < cold.iterations
    nonsense = proved(problem, start={"margin": np.linspace(-3, 9, 700)})  # outside the bounds
    assert nonsense.objective == pytest.approx(cold.objective, rel=1e-12)


def test_a_limit_on_iterations_is_kept_and_the_answer_is_honest():
    solution = cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0).solve("smo", max_iter=1, working_set=16)
    assert solution.status == "undecided"
    assert "stopped after 1 working sets" in solution.message
    with pytest.raises(ValueError, match="working_set"):
        cc.KernelSVM(X300, Y300).solve("smo", working_set=0)


# ---- rows and memory --------------------------------------------------------------------------------------------


def test_a_small_memory_gives_the_same_answer():
    free = proved(cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0))
    problem = cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0, memory_limit=8e5)  # a fifth of the matrix
    store = problem.quadratic["margin"].store
    assert not store.fits
    assert store.capacity == 71
    tight = proved(problem)
    np.testing.assert_allclose(tight.values["margin"], free.values["margin"], atol=1e-9)
    np.testing.assert_allclose(tight.decision_function(X300), free.decision_function(X300), atol=1e-9)


def test_memory_stays_within_the_limit():
    X, y = nonlinear(3000, 5, seed=2)
    limit = 1.5e7  # the matrix takes 7.2e7
    problem = cc.KernelSVM(X, y, gamma=0.2, C=1.0, memory_limit=limit)
    tracemalloc.start()
    solution = problem.solve("smo", tol=1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.status == "optimal"
    assert peak < 1.2 * limit


def test_a_matrix_that_does_not_fit_is_never_made():
    problem = cc.KernelSVM(X700, Y700, C=1.0, memory_limit=1e6)
    message = r"700 x 700 matrix .* 3.92e\+06 bytes, and memory_limit allows 1e\+06: use solver=\"smo\""
    with pytest.raises(MatrixTooLarge, match=message):
        problem.quadratic["margin"].to_matrix()
    with pytest.raises(MatrixTooLarge, match="that the sigmoid kernel is positive semidefinite is seen only from"):
        cc.KernelSVM(X700, Y700, kernel="sigmoid", memory_limit=1e6)
    with pytest.raises(ValueError, match="memory_limit is 0"):
        cc.KernelSVM(X300, Y300, memory_limit=0)
    assert problem.on(slice(0, 650)).memory_limit == 1e6


def test_an_open_verdict_needs_no_matrix_either():
    """No direction is looked for by a linear program whose rows would not fit."""
    stopped = cc.KernelSVM(X700, Y700, C=1.0, memory_limit=1e6).solve("smo", max_iter=1, working_set=4)
    assert stopped.status == "undecided"
    assert stopped.objective > 0


def test_kernel_rows_are_the_matrix():
    K = pairwise.rbf_kernel(X700, gamma=0.5)
    signs = np.where(Y700 == "yes", 1.0, -1.0)
    Q = K * signs * signs[:, None]
    rows = cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0, memory_limit=1e7).quadratic["margin"]
    few = cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0, memory_limit=1e5).quadratic["margin"]
    rng = np.random.default_rng(0)
    v, V, chosen = rng.normal(size=700), rng.normal(size=(700, 3)), rng.permutation(700)[:90]
    for R in (rows, few, rows.scaled(np.full(700, 8.0), np.full(700, 2.0))):
        expected = Q * (16.0 if R.weight != 1.0 else 1.0)
        for _ in range(2):  # the second time it is remembered
            np.testing.assert_allclose(R @ v, expected @ v, atol=1e-11)
            np.testing.assert_allclose(abs(R) @ np.abs(v), np.abs(expected) @ np.abs(v), rtol=1e-12)
            np.testing.assert_allclose(abs(R) @ v, np.abs(expected) @ v, atol=1e-11)
        np.testing.assert_allclose(R @ V, expected @ V, atol=1e-11)
        np.testing.assert_allclose(R.T @ (v * (v > 1)), expected @ (v * (v > 1)), atol=1e-11)
        np.testing.assert_allclose(R[chosen].to_dense(), expected[chosen], atol=1e-13)
        np.testing.assert_allclose(R.diagonal_entries(), np.diag(expected), atol=1e-13)
        np.testing.assert_allclose(R.store.block(chosen, chosen[:7]), K[np.ix_(chosen, chosen[:7])], atol=1e-13)
    dense = rows.to_dense()
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_allclose(dense, Q, atol=1e-13)
    uneven = rows.scaled(np.arange(700.0), 1.0)
    np.testing.assert_allclose(uneven @ v, np.arange(700.0) * (Q @ v), atol=1e-8)


def test_negative_entries_have_their_absolute_values():
    rows = cc.KernelSVM(X700, Y700, kernel="linear", C=1.0).quadratic["margin"]
    expected = np.abs(X700 @ X700.T)
    v = np.random.default_rng(0).uniform(size=700)
    np.testing.assert_allclose(abs(rows) @ v, expected @ v, rtol=1e-12)
    np.testing.assert_allclose(abs(rows)[:5].to_dense(), expected[:5], rtol=1e-9, atol=1e-12)


def test_a_store_keeps_what_was_used_last():
    store = RowStore(kernel_values(Kernel("rbf", 0.5), X300), limit=8 * 300 * 20)
    K = np.exp(-0.5 * cdist(X300, X300, "sqeuclidean"))
    rng = np.random.default_rng(3)
    assert store.capacity == 10
    for _ in range(30):
        index = rng.permutation(300)[: rng.integers(1, 11)]
        slab, slots = store.place(index)
        assert slab.shape == (10, 300)
        np.testing.assert_allclose(slab[slots], K[index], atol=1e-13)
    out = np.ones(300)
    store.add_product(np.arange(50), np.arange(50.0), out)
    np.testing.assert_allclose(out, 1 + K[:50].T @ np.arange(50.0), rtol=1e-12)


def test_radial_kernels_keep_their_digits():
    near = kernel_values(Kernel("rbf", 0.5), X300)
    assert isinstance(near, RadialValues)
    assert isinstance(kernel_values(Kernel("rbf", 1e5), X300), DistanceValues)
    for shift in (0.0, 2.0**20):
        values, out = kernel_values(Kernel("rbf", 0.5), X300 + shift), np.empty((300, 300))
        values.fill(np.arange(300), out)
        there = (X300 + shift) - shift
        np.testing.assert_allclose(out, np.exp(-0.5 * cdist(there, there, "sqeuclidean")), rtol=2e-14)
        assert np.all(np.diag(out) == 1.0)


def test_exponentials():
    x = -np.concatenate(
        [np.linspace(0, 1, 3000), np.geomspace(1e-300, 700, 3000), [0.0, 0.5 * np.log(2), 708.5, 1e300]]
    )
    block = np.vstack([x, x[::-1], np.abs(x)])
    exponentiate(block, slice(0, 3), slice(0, x.size))
    # by the C library: NumPy's own takes another way on each processor and is off by a last digit here and there
    expected = [0.0 if v < -708 else math.exp(v) for v in x.tolist()]
    np.testing.assert_allclose(block[0], expected, rtol=3e-16)
    np.testing.assert_array_equal(block[1], block[0][::-1])
    assert np.all(block[2] == 1.0)
    assert np.all(block <= 1.0)


def test_overflow_is_told():
    with pytest.raises(DataError, match="linear kernel of row 3 and sample 3 is inf: divide X by its largest value"):
        cc.KernelSVM(np.where(np.arange(700)[:, None] == 3, 1e200, X700), Y700, kernel="linear", C=1.0)
    with pytest.raises(DataError, match=r"chi2 kernel does not take these samples: .*negative"):
        cc.KernelSVM(X700, Y700, kernel="chi2", C=1.0)


def test_a_precomputed_matrix_is_not_copied():
    K = pairwise.rbf_kernel(X700, gamma=0.5)
    K = 0.5 * (K + K.T)
    ours = proved(cc.KernelSVM(K, Y700, kernel="precomputed", C=1.0, memory_limit=10.0))
    assert isinstance(ours.problem.quadratic["margin"], KernelRows)
    assert isinstance(ours.problem.quadratic["margin"].store, MatrixStore)
    theirs = proved(cc.KernelSVM(X700, Y700, gamma=0.5, C=1.0))
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-12)
    np.testing.assert_array_equal(ours.support, theirs.support)


# ---- parts ------------------------------------------------------------------------------------------------------


def test_the_loops_run_uncompiled():
    """The same source as plain Python takes the same steps."""
    K = pairwise.rbf_kernel(X300[:30], gamma=0.5)
    y = np.where(Y300[:30] == "yes", 1.0, -1.0)
    low, high = np.minimum(y, 0.0), np.maximum(y, 0.0)
    for loop in (smo_pairs.descend_pairs, smo_pairs.descend_singles):
        found = []
        for run in (loop, getattr(loop, "py_func", loop)):
            b, g = np.zeros(30), -y.copy()
            steps = run(K, np.ones(30), low, high, b, g, 1e-9, 5000)
            np.testing.assert_allclose(g, K @ b - y, atol=1e-12)
            found.append((steps[0], b))
        assert abs(found[0][0] - found[1][0]) <= 5
        np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-8)


def test_without_numba_the_answer_is_the_same():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np, convexcls as cc\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(520, 3)); y = (X[:, 0] * X[:, 1] > 0).astype(int)\n"
        "s = cc.KernelSVM(X, y, gamma=0.5, C=1.0).solve('smo')\n"
        "print(s.status, repr(float(s.objective)))"
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(520, 3))
    here = proved(cc.KernelSVM(X, (X[:, 0] * X[:, 1] > 0).astype(int), gamma=0.5, C=1.0))
    status, objective = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert status == "optimal"
    assert float(objective) == pytest.approx(here.objective, rel=1e-12)


def test_a_free_set_solves_its_equations():
    problem = cc.KernelSVM(X300, Y300, gamma=0.5, C=1.0)
    from convexcls.solvers.kernel.box_program import BoxProgram

    program = BoxProgram.of(problem)
    index, g = np.arange(40), np.random.default_rng(0).normal(size=40)
    equations = free_set.FreeSet.of(program, index)
    d, shift = equations.step(g, 0.7)
    K = program.store.block(index, index)
    np.testing.assert_allclose(K @ d + shift, -g, atol=1e-11)
    assert d.sum() == pytest.approx(0.7)
