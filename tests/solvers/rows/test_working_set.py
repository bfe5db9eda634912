"""Working sets of rows: hard margins and widest slabs, exact to rounding."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

import convexcls as cc
from convexcls.problem import Constraint, NormBound, Problem, Variable
from convexcls.proofs.claims.farkas import check_farkas
from convexcls.rows import DiagonalRows
from convexcls.solvers.rows.active_set import ActiveSet
from convexcls.solvers.rows.pool import Pool, SmoothFit, follow
from convexcls.solvers.rows.working_set import WorkingSetSolver

EXACT = 1e-12


def separable(n: int, d: int, seed: int = 0, gap: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Two classes on both sides of a random hyperplane."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    X = rng.standard_normal((n, d))
    y = np.where(X @ w >= 0, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    X[:2] = np.outer([2.0, -2.0], w)
    return X + (gap * y)[:, None] * w, y


def mixed(n: int, d: int, flipped: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The same with some labels wrong."""
    X, y = separable(n, d, seed)
    far = np.argsort(-np.abs(X @ X[0]), kind="stable")[:flipped]
    y[far] *= -1
    return X, y


def solve(X, y, model=cc.HardMarginSVM, **options) -> cc.Solution:
    intercept = options.pop("intercept", True)
    return model(X, y, intercept=intercept).solve("working-set", **options)


def assert_exact(solution: cc.Solution, tol: float = EXACT) -> None:
    assert solution.status == "optimal", solution.certificate.reason
    assert solution.certificate.kkt.worst <= tol
    alpha = solution.multipliers["margin"]
    assert alpha.min() >= 0
    assert np.count_nonzero(alpha) <= solution.problem.size


# ---- against others ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [cc.HardMarginSVM, cc.MaxMargin])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(12, 2), (90, 7), (700, 3), (1500, 30)])
def test_it_agrees_with_an_interior_point(model, intercept, n, d):
    X, y = separable(n, d)
    mine, other = solve(X, y, model, intercept=intercept), model(X, y, intercept=intercept).solve("clarabel")
    assert_exact(mine)
    assert mine.objective == pytest.approx(other.objective, rel=1e-7)
    np.testing.assert_allclose(mine.coef, other.coef, rtol=0, atol=1e-6 * np.abs(other.coef).max())


def test_it_agrees_with_libsvm():
    svm = pytest.importorskip("sklearn.svm")
    X, y = separable(400, 6)
    other = svm.SVC(kernel="linear", C=1e8, tol=1e-9).fit(X, y)
    mine = solve(X, y)
    np.testing.assert_allclose(mine.coef, other.coef_[0], rtol=1e-5)
    assert set(np.flatnonzero(mine.multipliers["margin"])) == set(other.support_)


def test_both_forms_are_one_slab():
    X, y = separable(3000, 12)
    hard, widest = solve(X, y), solve(X, y, cc.MaxMargin)
    assert widest.objective == pytest.approx(1 / np.linalg.norm(hard.coef), rel=1e-13)
    np.testing.assert_allclose(widest.coef, hard.coef / np.linalg.norm(hard.coef), rtol=1e-12, atol=1e-14)
    alpha = hard.multipliers["margin"]
    np.testing.assert_allclose(widest.multipliers["margin"], alpha / alpha.sum(), rtol=1e-11, atol=1e-14)


def test_many_rows_need_few_passes():
    X, y = separable(30_000, 15)
    solution = solve(X, y)
    assert_exact(solution)
    assert solution.iterations <= 6


def test_a_quadratic_of_the_users_own():
    """Curvatures and linear costs by unknown, right-hand sides by row."""
    rng = np.random.default_rng(3)
    rows, rhs = rng.normal(size=(900, 8)), rng.uniform(-1, 1, size=900)
    rhs += rows @ rng.normal(size=8) + 1.5
    x = Variable("x", 8, "x")
    problem = Problem(
        "own",
        [x],
        quadratic={"x": rng.uniform(0.5, 4, 8)},
        linear={"x": 5 * rng.normal(size=8)},
        constraints=[Constraint("rows", {"x": rows}, rhs=rhs)],
    )
    mine, other = problem.solve("working-set"), problem.solve("clarabel")
    assert mine.certificate.kkt.worst <= EXACT
    np.testing.assert_allclose(mine.x, other.x, atol=1e-7)
    assert np.count_nonzero(mine.multipliers["rows"]) > 0


def test_rows_that_do_not_matter_leave_the_free_minimum():
    x = Variable("x", 3, "x")
    rows = np.random.default_rng(0).normal(size=(50, 3))
    problem = Problem(
        "slack",
        [x],
        quadratic={"x": 2.0},
        linear={"x": [-2.0, 0.0, 4.0]},
        constraints=[Constraint("rows", {"x": rows}, rhs=100.0)],
    )
    solution = problem.solve("working-set")
    assert solution.status == "optimal"
    np.testing.assert_array_equal(solution.x, [1.0, 0.0, -2.0])
    assert not np.any(solution.multipliers["rows"])


# ---- the same problem, written otherwise -------------------------------------------------------------------


def test_sparse_rows_give_the_same():
    rng = np.random.default_rng(1)
    X = sparse.random_array((2500, 30), density=0.15, random_state=rng, format="csr")
    scores = X @ rng.normal(size=30)
    kept = np.abs(scores) > 0.1
    X, y = X[kept], np.sign(scores[kept])
    first = solve(X, y)
    assert_exact(first)
    for form in (X.toarray(), X.tocsc(), X.tocoo()):
        other = solve(form, y)
        np.testing.assert_allclose(other.coef, first.coef, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(other.support, first.support)


def test_the_order_of_samples_and_features_does_not_matter():
    X, y = separable(2000, 9)
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(2000), rng.permutation(9)
    first, other = solve(X, y), solve(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(other.coef, first.coef[columns], rtol=1e-11)
    np.testing.assert_allclose(other.multipliers["margin"], first.multipliers["margin"][rows], rtol=1e-9, atol=1e-12)


def test_swapped_labels_turn_the_hyperplane():
    X, y = separable(1200, 5)
    first, other = solve(X, y), solve(X, -y)
    np.testing.assert_allclose(other.coef, -first.coef, rtol=1e-12)
    assert other.intercept == pytest.approx(-first.intercept, rel=1e-11)


@pytest.mark.parametrize("model", [cc.HardMarginSVM, cc.MaxMargin])
@pytest.mark.parametrize("power", [-500, -20, 20, 500])
def test_powers_of_two_change_nothing(model, power):
    X, y = separable(300, 4)
    first, other = solve(X, y, model), solve(np.ldexp(X, power), y, model)
    assert_exact(other)
    shift = -power if model is cc.HardMarginSVM else 0
    np.testing.assert_allclose(other.coef, np.ldexp(first.coef, shift), rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
def test_units_are_no_obstacle(scale):
    X, y = separable(1500, 6)
    solution = solve(X * scale, y)
    assert_exact(solution)
    np.testing.assert_allclose(solution.coef * scale, solve(X, y).coef, rtol=1e-9)


# ---- degenerate data ---------------------------------------------------------------------------------------


def degenerate() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    X, y = separable(1000, 5)
    rng = np.random.default_rng(2)
    grid = np.array([[i, j] for i in range(-15, 16) for j in range(-15, 16) if i + j], dtype=float)
    steps = np.array([[float(i)] for i in range(-40, 40)])
    return {
        "duplicates": (np.vstack([X, X, X]), np.concatenate([y, y, y])),
        "repeated columns": (np.column_stack([X, X[:, :2]]), y),
        "dependent columns": (np.column_stack([X, X @ rng.normal(size=(5, 3))]), y),
        "a constant column": (np.column_stack([X, np.full(1000, 3.0)]), y),
        "a column of zeros": (np.column_stack([np.zeros(1000), X]), y),
        "one feature": (steps, np.where(steps[:, 0] < 7, 0, 1)),
        "a grid": (grid, np.sign(grid.sum(axis=1))),
        "two points": (np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0, 1])),
        "more features than points": (rng.normal(size=(15, 60)), np.arange(15) % 2),
        "one against many": (np.vstack([X, np.full((1, 5), 50.0)]), np.append(np.zeros(1000), 1)),
        "features of many sizes": (X * 10.0 ** np.arange(-2, 3), y),
    }


@pytest.mark.parametrize("name", degenerate())
def test_degenerate_data(name):
    X, y = degenerate()[name]
    solution = solve(X, y)
    assert_exact(solution)
    other = cc.HardMarginSVM(X, y).solve("clarabel")
    assert solution.objective == pytest.approx(other.objective, rel=1e-7)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_an_offset_costs_only_the_digits_it_hides(offset):
    X, y = separable(1500, 8)
    solution = solve(X + offset, y)
    assert_exact(solution, 1e-14 * offset)
    np.testing.assert_allclose(solution.coef, solve(X, y).coef, rtol=1e-7)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_classes_close_to_each_other(gap):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.3, gap], [0.7, gap], [0.2, 1.0]])
    solution = solve(X, [0, 0, 1, 1, 1])
    # multipliers of size 2 / gap^2 are rounded, and with them sum alpha_i y_i x_i = coef, of size 2 / gap
    assert_exact(solution, max(1e-12, 2.0**-52 / gap))
    np.testing.assert_allclose(solution.coef, [0.0, 2 / gap], rtol=1e-12, atol=1e-5 / gap * 1e-6)


@pytest.mark.parametrize("n", [40, 2000])
def test_classes_with_a_narrow_gap(n):
    X, y = separable(n, 3, gap=1e-7)
    assert_exact(solve(X, y), 1e-9)


# ---- data without a hyperplane -----------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "d", "flipped"), [(30, 2, 1), (900, 10, 2), (5000, 20, 500)])
def test_mixed_classes_end_with_few_rows_that_contradict_each_other(n, d, flipped, intercept):
    X, y = mixed(n, d, flipped)
    problem = cc.HardMarginSVM(X, y, intercept=intercept)
    answer = WorkingSetSolver().solve(problem, 1e-8)
    assert answer.x is None
    assert np.count_nonzero(answer.farkas["margin"]) <= problem.size + 1
    assert check_farkas(problem, answer.farkas) is not None
    assert 1 <= answer.iterations <= 10
    assert problem.solve("working-set").status == "infeasible"


def test_mixed_classes_have_no_slab():
    X, y = mixed(3000, 6)
    solution = solve(X, y, cc.MaxMargin)
    assert (solution.status, solution.objective) == ("optimal", 0.0)
    assert not np.any(solution.coef)
    assert np.count_nonzero(solution.multipliers["margin"]) <= 8
    assert "contradict" in solution.message


@pytest.mark.parametrize(
    ("X", "y", "rows"),
    [
        ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], 2),
        ([[0.0], [2.0], [1.0], [5.0]], [0, 0, 1, 1], 3),
        ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1], 4),
        ([[1.0, 2.0], [1.0, 2.0]], [0, 1], 2),
    ],
)
def test_touching_classes(X, y, rows):
    solution = solve(X, y)
    assert solution.status == "infeasible"
    assert np.count_nonzero(solution.certificate.farkas.multipliers["margin"]) == rows
    assert solve(X, y, cc.MaxMargin).objective == 0.0


# ---- starts, options, traces, refusals ---------------------------------------------------------------------


@pytest.mark.parametrize("model", [cc.HardMarginSVM, cc.MaxMargin])
def test_a_solution_is_found_again_in_one_pass(model):
    X, y = separable(4000, 10)
    first = solve(X, y, model)
    again = solve(X, y, model, start=first)
    assert_exact(again)
    assert again.iterations == 1
    assert "0 changes" in again.message
    near = solve(X + 1e-3 * np.random.default_rng(1).normal(size=X.shape), y, model, start=first)
    assert_exact(near)
    assert near.iterations <= 3


def test_a_useless_start_does_no_harm():
    X, y = separable(2000, 6)
    known = solve(X, y)
    for start in ({"coef": np.zeros(6)}, {"coef": -known.coef, "intercept": 1e3}, solve(X, -y)):
        found = solve(X, y, start=start)
        assert_exact(found)
        np.testing.assert_allclose(found.coef, known.coef, rtol=1e-10)
    assert solve(*mixed(2000, 6), start=known).status == "infeasible"
    assert solve(X, y, cc.MaxMargin, start={"coef": np.ones(6)}).status == "optimal"


@pytest.mark.parametrize("options", [{"pool": 20}, {"pool": 100, "seed": 3}, {"pool": 5000}, {"seed": 1}])
def test_every_choice_of_pools_ends_at_the_same_point(options):
    X, y = separable(1500, 6)
    solution = solve(X, y, **options)
    assert_exact(solution)
    np.testing.assert_allclose(solution.coef, solve(X, y).coef, rtol=1e-11)


@pytest.mark.parametrize("model", [cc.HardMarginSVM, cc.MaxMargin])
@pytest.mark.parametrize("seed", range(8))
def test_pools_of_one_class_find_the_other(model, seed):
    """Pools smaller than the active set, whose first sample may hold one class only."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(60, 1 + seed % 3)))
    scores = X @ rng.integers(1, 3, size=X.shape[1]) - 3.5
    y = np.where(scores > 0, 1, 0)
    y[np.argmax(scores)] = 1
    known, found = solve(X, y, model), solve(X, y, model, pool=3)
    assert_exact(found)
    assert found.objective == pytest.approx(known.objective, rel=1e-12)


def test_too_few_passes_are_told():
    X, y = separable(4000, 10)
    solution = solve(X, y, pool=15, max_passes=1)
    assert solution.status == "undecided"
    assert "passes" in solution.message
    assert solve(X, y, cc.MaxMargin, pool=1, max_passes=1).status == "undecided"


def test_the_trace_shows_every_pass():
    X, y = separable(4000, 10)
    seen = []
    solution = solve(X, y, callback=seen.append, pool=100)
    assert len(seen) == len(solution.trace) == solution.iterations > 1
    objectives = [line.objective for line in seen if line.detail["active"]]
    assert objectives == sorted(objectives)
    assert seen[-1].residual < EXACT
    assert seen[-1].detail["active"] == np.count_nonzero(solution.multipliers["margin"])


@pytest.mark.parametrize("model", [cc.HardMarginSVM, cc.MaxMargin])
def test_callbacks_see_where_it_stands(model):
    X, y = separable(4000, 10)
    seen = []
    solution = solve(X, y, model, callback=seen.append, pool=100)
    assert seen[0].point is None
    last = seen[-1]
    np.testing.assert_allclose(last.point, solution.x, rtol=1e-15)
    np.testing.assert_allclose(last.multipliers["margin"], solution.multipliers["margin"], rtol=1e-15)


def refused(problem: Problem) -> str:
    return WorkingSetSolver().refuses(problem)


def test_other_problems_are_refused_with_a_reason():
    X, y = separable(20, 3)
    assert "one block" in refused(cc.PerceptronCriterion(X, y))
    assert "one block" in refused(cc.LeastAbsolute(X, y)) or "every sample" in refused(cc.LeastAbsolute(X, y))
    assert refused(cc.SoftMarginSVM(X, y))
    assert "loss" in refused(cc.LogisticMLE(X, y))
    assert refused(cc.KernelSVM(X, y))
    assert refused(cc.HardMarginSVM(X, y).dual())
    wide = np.random.default_rng(0).normal(size=(4, 3000))
    assert "3001" in refused(cc.HardMarginSVM(wide, [0, 1, 0, 1]))
    for option, value in (("pool", -1), ("pool", 2.5), ("seed", "x"), ("max_passes", 1.5)):
        with pytest.raises(cc.SolverRefused, match=f"option {option} is {value!r}"):
            solve(X, y, **{option: value})


def own(q, columns, quadratic, **more) -> Problem:
    x, t = Variable("x", 2, "x"), Variable("t", 1, "t", "scalar")
    rows = Constraint("rows", {"x": np.eye(2), "t": np.asarray(columns)}, rhs=1.0)
    return Problem("own", [x, t], quadratic=quadratic, linear={"t": q}, constraints=[rows], **more)


def test_unknowns_without_curvature_have_to_be_held_by_rows():
    assert "both sides" in refused(own(0.0, [1.0, 1.0], {"x": 1.0}))
    assert "linear cost" in refused(own(1.0, [1.0, -1.0], {"x": 1.0}))
    assert "curvature" in refused(own(0.0, [1.0, -1.0], {"x": [1.0, 0.0]}))
    assert "curvature" in refused(own(0.0, [1.0, -1.0], {}))
    assert "matrix" in refused(own(0.0, [1.0, -1.0], {"x": [[2.0, 1.0], [1.0, 2.0]]}))
    assert not refused(own(0.0, [1.0, -1.0], {"x": 1.0}))
    assert own(0.0, [1.0, -1.0], {"x": 1.0}).solve("working-set").status == "optimal"


def test_other_norm_bounds_are_refused():
    def slab(bound: NormBound, reward: float = -1.0, column: float = 1.0) -> str:
        x, t = Variable("x", 2, "x"), Variable("t", 1, "t", "scalar")
        rows = Constraint("rows", {"x": np.eye(2), "t": np.full(2, column)})
        return refused(Problem("own", [x, t], linear={"t": reward}, constraints=[rows], norm_bounds=[bound]))

    unit = DiagonalRows.identity(2)
    assert not slab(NormBound("unit", {"x": unit}, bound=1.0))
    assert "widest slab" in slab(NormBound("unit", {"x": unit}, bound=1.0), reward=1.0)
    assert "widest slab" in slab(NormBound("unit", {"x": unit}, bound=1.0), column=-1.0)
    assert "widest slab" in slab(NormBound("unit", {"x": unit}, bound=0.0))
    assert "widest slab" in slab(NormBound("unit", {"x": unit}, offset=1.0, bound=1.0))
    assert "widest slab" in slab(NormBound("unit", {"x": DiagonalRows(np.array([1.0, 2.0]))}, bound=1.0))
    assert "widest slab" in slab(NormBound("unit", {"x": np.eye(2)}, bound=1.0))
    assert "widest slab" in slab(NormBound("unit", {"t": DiagonalRows.identity(1)}, bound=1.0))


# ---- the parts ---------------------------------------------------------------------------------------------


def shortest_point(A, h) -> np.ndarray | None:
    """The shortest point of A v <= h from the least distance program (Lawson and Hanson, chapter 23)."""
    E, f = np.vstack([-A.T, -h[None, :]]), np.append(np.zeros(A.shape[1]), 1.0)
    z, rest = nnls(E, f)
    residual = E @ z - f
    return None if rest < 1e-10 else -residual[:-1] / residual[-1]


@pytest.mark.parametrize("seed", range(20))
def test_the_active_set_finds_the_shortest_point(seed):
    rng = np.random.default_rng(seed)
    A = np.round(3 * rng.normal(size=(12, 3)))  # whole numbers: ties and rows that depend on each other
    h = np.round(rng.normal(size=12) - 0.5)
    pool, found = Pool(A, h, np.arange(12)), ActiveSet(3, free=False)
    found.begin()
    outcome, known = found.improve(pool, 1000), shortest_point(A, h)
    if known is None:
        names, weights = found.contradiction
        assert outcome == "contradiction"
        assert weights.min() >= 0
        np.testing.assert_allclose(weights @ A[names], 0.0, atol=1e-12)
        assert weights @ h[names] < 0
    else:
        assert outcome == "solved"
        np.testing.assert_allclose(found.v, known, atol=1e-9)
        np.testing.assert_allclose(found.v, -found.multipliers @ A[found.active], atol=1e-12)


@pytest.mark.parametrize("free", [True, False])
def test_updates_keep_the_inverse(free):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 8))
    A[:, -1] = np.where(np.arange(300) % 2, 1.0, -1.0)
    A[:, 0] = -np.abs(A[:, 0])
    pool, found = Pool(A, np.full(300, -1.0), np.arange(300)), ActiveSet(8, free)
    found.begin()
    assert found.improve(pool, 1000) == "solved"
    P = np.eye(8)
    P[-1, -1] = not free
    k = found.count
    kkt = np.block([[P, found.N[:k].T], [found.N[:k], np.zeros((k, k))]])
    inverse = np.linalg.inv(kkt)
    np.testing.assert_allclose(found.H, inverse[:8, :8], atol=1e-12)
    np.testing.assert_allclose(found.T[:, :k], inverse[:8, 8:], atol=1e-12)


def test_too_many_changes_are_a_stall():
    X, y = separable(200, 6)
    pool = Pool(np.column_stack([-y[:, None] * X, -y]), np.full(200, -1.0), np.arange(200))
    found = ActiveSet(7, free=True)
    found.begin()
    assert found.improve(pool, 2) == "stalled"


def test_a_smooth_neighbour_tells_the_active_rows():
    X, y = separable(600, 8)
    pool = Pool(np.column_stack([-y[:, None] * X, -y]), np.full(600, -1.0), np.arange(600))
    fit = follow(SmoothFit(np.zeros(9), np.zeros(0)), pool, True, 1.0)
    assert fit.sigma > 0
    assert not fit.stuck
    known = np.flatnonzero(solve(X, y).multipliers["margin"])
    assert len(np.intersect1d(fit.likely_rows(), known)) >= 7
    assert SmoothFit(np.zeros(2), np.array([0.0, 3.0, 1.0, 2.0])).likely_rows().tolist() == [1, 3]


def test_a_contradiction_leaves_the_smooth_neighbour_stuck():
    X, y = mixed(600, 8, 60)
    pool = Pool(np.column_stack([-y[:, None] * X, -y]), np.full(600, -1.0), np.arange(600))
    assert follow(SmoothFit(np.zeros(9), np.zeros(0)), pool, True, 1.0).stuck
