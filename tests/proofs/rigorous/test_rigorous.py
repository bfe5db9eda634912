"""The parts of rigorous bounds against exact arithmetic, and bounds of every model, of duals, and of nonsense."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import exact
import numpy as np
import pytest
from datasets import every_model, overlapping
from hypothesis import given
from hypothesis import strategies as st
from rigorous_cases import contains
from scipy import sparse

import convexcls as cc
from convexcls.losses import Exponential, Logistic, SoftmaxMargins
from convexcls.proofs.rigorous import Bounds, bounds
from convexcls.proofs.rigorous.losses import LIBRARY, loss_at
from convexcls.proofs.rigorous.matrices import Gram, least_eigenvalue
from convexcls.proofs.rigorous.products import Part, Products
from convexcls.proofs.rigorous.rounding import Ball

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
pairs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6)
#: Models whose loss is not among those whose rounding is known.
UNKNOWN = ("gaussian", "gaussian-by-class")


def ball_of(values: list[tuple[float, float]]) -> Ball:
    array = np.array(values, dtype=float)
    return Ball(array[:, 0], np.abs(array[:, 1]) * 2.0**-60)


def inside(ball: Ball, k: int, value: Fraction) -> bool:
    with np.errstate(all="ignore"):
        low, high = float(ball.low.flat[k]), float(ball.high.flat[k])
    return (low == -math.inf or Fraction(low) <= value) and (high == math.inf or value <= Fraction(high))


def ends(ball: Ball, k: int) -> list[Fraction]:
    mid, rad = Fraction(float(ball.mid[k])), Fraction(float(ball.rad[k]))
    return [mid - rad, mid, mid + rad]


# ---- arithmetic ------------------------------------------------------------------------------------------------------


@given(pairs, pairs)
def test_balls_contain_what_their_members_make(one, other):
    count = min(len(one), len(other))
    a, b = ball_of(one[:count]), ball_of(other[:count])
    with np.errstate(all="ignore"):
        results = {"+": a + b, "-": a - b, "*": a * b, "square": a.squared(), "times": a.times(b.mid)}
    for k in range(count):
        for x in ends(a, k):
            assert inside(results["square"], k, x * x)
            assert inside(results["times"], k, x * Fraction(float(b.mid[k])))
            for y in ends(b, k):
                assert inside(results["+"], k, x + y)
                assert inside(results["-"], k, x - y)
                assert inside(results["*"], k, x * y)


@given(pairs)
def test_totals_contain_the_sum(values):
    ball = ball_of(values)
    with np.errstate(all="ignore"):
        total = ball.total()
    for end in range(3):
        assert inside(total, 0, sum((ends(ball, k)[end] for k in range(len(values))), Fraction(0)))


def test_the_library_functions_are_as_accurate_as_is_assumed():
    flint = pytest.importorskip("flint")
    rng = np.random.default_rng(0)
    flint.ctx.prec = 200
    plain = np.concatenate([-(10.0 ** rng.uniform(-17, 2.84, 4000)), rng.uniform(-40, 40, 2000)])
    small = 10.0 ** rng.uniform(-300, 0, 3000)
    for name, values in (("exp", plain), ("expm1", small), ("log1p", small)):
        found = getattr(np, name)(values)
        for x, y in zip(values.tolist(), found.tolist(), strict=True):
            true = getattr(flint.arb(x), name)()
            if abs(y) > 1e-300:
                assert abs(true - flint.arb(y)) <= abs(true) * flint.arb(LIBRARY / 2), (name, x)


@pytest.mark.parametrize("loss", [Logistic(), SoftmaxMargins(3), Exponential()])
def test_losses_contain_the_true_value_and_slope(loss):
    flint = pytest.importorskip("flint")
    flint.ctx.prec = 300
    rng = np.random.default_rng(1)
    u = rng.normal(size=60 * loss.width) * np.repeat(10.0 ** rng.uniform(-3, 2.5, 60), loss.width)
    rad = np.abs(u) * 10.0 ** rng.uniform(-17, -1, u.size)
    with np.errstate(all="ignore"):
        found = loss_at(loss, Ball(u, rad))
    for g in range(60):
        for end in (-1, 0, 1):
            part = slice(g * loss.width, (g + 1) * loss.width)
            margins = [
                flint.arb(a) + end * flint.arb(b) for a, b in zip(u[part].tolist(), rad[part].tolist(), strict=True)
            ]
            powers = [(-m).exp() for m in margins]
            total = sum(powers, flint.arb(0)) + (0 if isinstance(loss, Exponential) else 1)
            value = total if isinstance(loss, Exponential) else total.log()
            slopes = [-p if isinstance(loss, Exponential) else -p / total for p in powers]
            assert not value < flint.arb(float(found.value.low[g]))
            assert not value > flint.arb(float(found.value.high[g]))
            for k, slope in enumerate(slopes, part.start):
                assert not slope < flint.arb(float(found.slope.low[k]))
                assert not slope > flint.arb(float(found.slope.high[k]))


# ---- linear algebra --------------------------------------------------------------------------------------------------


def problems_with_rows() -> dict[str, cc.Problem]:
    X, y = overlapping(12, 3, seed=5)
    X = X * [1.0, 1e-80, 1e9] + [0.0, 0.0, 1e11]
    thin = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    return {
        "dense": cc.LogisticMLE(X, y),
        "sparse": cc.LogisticMLE(thin, y),
        "classes": cc.SoftmaxMLE(X, (y + np.arange(12)) % 3),
        "centred": cc.FisherLDA(X, y),
        "decimals": cc.LeastSquares([[Decimal(str(v)) for v in row] for row in X.tolist()], y),
    }


@pytest.mark.parametrize("name", problems_with_rows())
def test_products_contain_the_true_ones(name):
    problem = problems_with_rows()[name]
    rng, products, term = np.random.default_rng(2), Products(problem), problem.terms[0]
    rows = problem.rows(term).rational()
    x = Ball(rng.normal(size=problem.size), np.full(problem.size, 1e-9))
    z = Ball(rng.normal(size=term.size), np.full(term.size, 1e-12))
    (head,) = products.forward([term.entries], x)
    room = rng.uniform(size=term.size)
    parts = {v: [Part(r, [z], [room])] for v, r in term.entries.items()}
    (back,), (reach,) = products.backward(parts)
    for end in range(3):
        point, slopes = [ends(x, j)[end] for j in range(problem.size)], [ends(z, i)[end] for i in range(term.size)]
        for i, row in enumerate(rows):
            assert inside(head, i, exact.dot(row, point))
        for j in range(problem.size):
            assert inside(back, j, exact.dot([row[j] for row in rows], slopes))
            assert exact.dot([abs(row[j]) for row in rows], [Fraction(v) for v in room.tolist()]) <= Fraction(reach[j])


def test_bounds_of_a_linear_system_hold_and_singular_ones_are_refused():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(1, 5))
        M = rng.normal(size=(n + 2, n)) * 10.0 ** rng.integers(-3, 4, n)
        A, r = M.T @ M, rng.normal(size=n)
        found = Gram(A, 1e-13 * np.abs(A)).bound(np.abs(r))
        true = exact.solve_linear(exact.fractions(A.tolist()), [Fraction(v) for v in r.tolist()])
        if found is not None:
            assert all(abs(t) <= Fraction(b) for t, b in zip(true, found.tolist(), strict=True))
            assert np.all(found <= 100 * np.linalg.inv(A).__abs__() @ np.abs(r))
        assert Gram(np.ones((2, 2)), np.zeros((2, 2))).bound(np.ones(2)) is None


def test_the_least_eigenvalue_is_bounded_from_below():
    rng = np.random.default_rng(4)
    for _ in range(25):
        n = int(rng.integers(1, 6))
        M = rng.normal(size=(int(rng.integers(1, 7)), n)) * 10.0 ** rng.integers(-60, 60)
        A = M.T @ M
        A = (A + A.T) / 2
        bound = least_eigenvalue(A)
        top = float(np.abs(A).max())
        assert bound >= np.linalg.eigvalsh(A)[0] - 1e-12 * top
        shifted = exact.fractions(A.tolist())
        for j in range(n):
            shifted[j][j] -= Fraction(bound) - Fraction(top) / 2**70  # a little more: then pivots are positive
        for k in range(n):
            assert shifted[k][k] > 0
            for i in range(k + 1, n):
                factor = shifted[i][k] / shifted[k][k]
                shifted[i] = [a - factor * b for a, b in zip(shifted[i], shifted[k], strict=True)]


# ---- whole problems --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in every_model() if name not in UNKNOWN])
def test_every_model_has_narrow_bounds_in_at_most_six_passes(name):
    problem = every_model()[name]
    solution = problem.solve()
    found = bounds(problem, solution.x, solution.multipliers)
    assert found.width <= 1e-10, found
    assert found.passes <= 6
    assert found.lower <= problem.minimised(solution.x) * (1 + 1e-9 * np.sign(problem.minimised(solution.x)))
    dual = problem.dual()
    other = dual.solve()
    turned = bounds(dual, other.x, other.multipliers)
    assert turned.lower <= -found.lower
    assert turned.upper >= -found.upper
    assert turned.width <= 1e-7


@pytest.mark.parametrize("name", UNKNOWN)
def test_where_rounding_is_not_known_it_is_said(name):
    problem = every_model()[name]
    solution = problem.solve()
    found = bounds(problem, solution.x, solution.multipliers)
    assert (found.lower, found.upper) == (-math.inf, math.inf)
    assert "log-det" in found.reasons[0]


def test_nonsense_gives_wide_bounds_not_errors():
    X, y = overlapping(8, 2)
    problem = cc.SoftMarginSVM(X, y)
    best = exact.soft_margin(X.tolist(), np.where(y == 1, 1, -1).tolist())[0]
    n = problem.size
    for x, z in (
        (None, None),
        (np.full(n, np.nan), {}),
        (np.zeros(n + 1), {}),
        (np.full(n, 1e300), {"margin": np.full(8, np.nan)}),
        (np.full(n, -1e200), {"margin": np.full(8, 1e200), "slack_sign": np.full(8, -1e200)}),
        (np.ones(n), {"margin": np.ones(3), "no such block": np.ones(2)}),
    ):
        found = bounds(problem, x, z)
        assert contains(found.lower, best, found.upper), found
    assert bounds(problem, np.full(n, np.nan), None).reasons


def test_nothing_of_the_callers_is_modified():
    X, y = overlapping()
    problem = cc.SoftMarginSVM(X, y)
    solution = problem.solve()
    x, z = np.array(solution.x), {k: np.array(v) - 0.01 for k, v in solution.multipliers.items()}
    kept = x.copy(), {k: v.copy() for k, v in z.items()}
    bounds(problem, x, z)
    assert np.array_equal(x, kept[0])
    assert all(np.array_equal(z[k], kept[1][k]) for k in z)


@pytest.mark.parametrize("model", [cc.LogisticMLE, cc.LeastSquares, cc.LeastAbsolute, cc.FisherLDA, cc.SoftMarginSVM])
def test_sparse_and_permuted_data_have_the_same_optimum(model):
    X, y = overlapping(25, 3, seed=7)
    X = np.where(np.abs(X) > 0.4, X, 0.0)
    order = np.random.default_rng(0).permutation(25)
    found = []
    for data, labels in ((X, y), (sparse.csr_array(X), y), (sparse.csc_array(X), y), (X[order], y[order])):
        problem = model(data, labels)
        solution = problem.solve()
        found.append(bounds(problem, solution.x, solution.multipliers))
    assert max(b.lower for b in found) <= min(b.upper for b in found)
    assert max(b.width for b in found) <= 1e-10


@pytest.mark.parametrize("power", [-300, -160, 150, 300])
def test_what_overflows_is_infinite_not_wrong(power):
    X, y = overlapping(8, 2, seed=9)
    signs = np.where(y == 1, 1, -1)
    tall = X * 10.0**power
    for problem, best in (
        (cc.LeastSquares(tall, y), exact.least_squares(tall.tolist(), signs.tolist())[0]),
        (cc.LeastAbsolute(tall, y), exact.least_absolute(tall.tolist(), signs.tolist())),
    ):
        with np.errstate(all="ignore"):
            solution = problem.solve()
        for x in (solution.x, np.ones(problem.size)):
            found = bounds(problem, x, solution.multipliers)
            assert contains(found.lower, best, found.upper), found


def test_decimals_are_taken_as_they_are_written():
    X = overlapping(10, 2, seed=11)[0]
    written = [[Decimal(repr(round(v, 3))) for v in row] for row in X.tolist()]
    target = [Decimal(k) / 10 for k in range(10)]
    problem = cc.LeastSquares(written, target, coding="real")
    solution = problem.solve()
    found = bounds(problem, solution.x, solution.multipliers)
    assert contains(found.lower, exact.least_squares(written, target)[0], found.upper)
    assert found.width <= 1e-12


# ---- distance from the minimiser --------------------------------------------------------------------------------


def far(coef, true) -> Fraction:
    return sum(((Fraction(a) - b) ** 2 for a, b in zip(coef.tolist(), true, strict=True)), Fraction(0))


@pytest.mark.parametrize("nudge", [0.0, 1e-12, 1e-6, 1e-2])
def test_the_distance_from_the_minimiser_is_bounded(nudge):
    X, y = overlapping(8, 2, seed=13)
    signs = np.where(y == 1, 1, -1)
    rng = np.random.default_rng(0)
    for problem, true in (
        (cc.SoftMarginSVM(X, y), exact.soft_margin(X.tolist(), signs.tolist())[1]),
        (cc.LeastSquares(X, y), exact.least_squares(X.tolist(), signs.tolist())[1][:2]),
        (cc.LeastSquares(X, y, l2=0.5), exact.least_squares(X.tolist(), signs.tolist(), Fraction(1, 2))[1][:2]),
    ):
        solution = problem.solve()
        x = np.array(solution.x) * (1 + nudge * rng.uniform(-1, 1, problem.size))
        found = bounds(problem, x, solution.multipliers)
        assert found.distance is not None
        assert far(x[:2], true) <= Fraction(found.distance) ** 2
        assert found.distance <= 1e-5 + 10 * math.sqrt(nudge) * np.abs(x).max()  # the root of the gap


# ---- a user's own constraints ----------------------------------------------------------------------------------


def test_bounded_coefficients():
    X, y = overlapping(9, 2, seed=15)
    signs = np.where(y == 1, 1, -1)
    at_most = cc.Constraint("most", {"coef": np.eye(2)}, kind="vector", rhs=[0.1, 5.0])
    own = cc.Constraint("both", {"coef": np.ones((1, 2))}, kind="scalar", rhs=0.2)
    problem = cc.EmpiricalRisk(X, y, loss="squared", constraints=[at_most, own])
    solution = problem.solve()
    found = bounds(problem, solution.x, solution.multipliers)
    best = least_squares_with_rows(X, signs, [([1, 0], 0.1), ([0, 1], 5.0), ([1, 1], 0.2)])
    assert contains(found.lower, best, found.upper), (found, float(best))
    assert found.width <= 1e-8


def least_squares_with_rows(X, signs, rows) -> Fraction:
    """min sum_i (1 - y_i f(x_i))^2 with rows of coef below limits: the best of all active sets that is feasible."""
    Z, best = exact.signed_rows(X.tolist(), signs.tolist(), True), None
    for mask in range(2 ** len(rows)):
        active = [row for k, row in enumerate(rows) if mask >> k & 1]
        m = len(active)
        A = [
            [2 * sum(z[j] * z[k] for z in Z) for k in range(3)] + [Fraction([*a, 0][j]) for a, _ in active]
            for j in range(3)
        ]
        A += [[Fraction(v) for v in [*a, 0]] + [Fraction(0)] * m for a, _ in active]
        rhs = [2 * sum(z[j] for z in Z) for j in range(3)] + [Fraction(limit) for _, limit in active]
        v = exact.solve_linear(A, rhs)
        if v is None or any(exact.dot(exact.fractions([a])[0], v[:2]) > Fraction(limit) for a, limit in rows):
            continue
        value = sum((1 - exact.dot(z, v[:3])) ** 2 for z in Z)
        best = value if best is None or value < best else best
    assert best is not None
    return best


@pytest.mark.parametrize(
    ("X", "y", "C"),
    [
        ([[-1e-44, 0.0], [0.0, -1e69], [0.0, 0.0]], [0, 1, 1], 1e-300),
        ([[-3e-323], [0.0], [1e-323], [0.0], [1e-323]], [0, 1, 0, 1, 0], 1e-300),
        ([[0.0], [-1.25], [2.0]], [0, 1, 1], 2.0**-800),
    ],
)
def test_squares_that_underflow_are_counted(X, y, C):
    """The square of a gradient below 1e-162 is 0 as a double; divided by a curvature as small, it is not."""
    best = exact.soft_margin(X, [2 * v - 1 for v in y], C, "squared_hinge", True)[0]
    problem = cc.SoftMarginSVM(X, y, C=C, loss="squared_hinge")
    for x in (np.zeros(problem.size), np.full(problem.size, 1e-3)):
        found = bounds(problem, x, {"margin": np.full(len(y), C)})
        assert contains(found.lower, best, found.upper), (found, float(best))


def test_products_with_multipliers_near_the_end_of_the_range():
    """gamma |z| underflows, and rows of 1e200 bring it back."""
    rows = np.array([[1.1e200, 1.7e200, 1.3e200]])
    problem = cc.LeastSquares(rows.T, [1.0, 2.0, 4.0], coding="real", intercept=False)
    z = np.array([3.3e-314, 1.7e-313, 7.1e-314])
    part = Part(problem.terms[0].entries["coef"], [Ball.exact(z)], [np.zeros(3)])
    (product,), _ = Products(problem).backward({"coef": [part]})
    truth = sum(Fraction(a) * Fraction(b) for a, b in zip(rows[0].tolist(), z.tolist(), strict=True))
    assert inside(product, 0, truth)
    assert product.rad[0] >= 2.0**-53 * float(truth)


@pytest.mark.parametrize("scale", [5e307, 1e-308, 1e223])
def test_the_ends_of_the_range_are_no_errors(scale):
    """Multipliers and rows so large that their units, or a linear program of them, are beyond doubles."""
    X, y = np.array([[1.6, 0.0], [-0.7, 0.5], [0.2, -1.0]]) * scale, [0, 1, 1]
    for declare in (cc.LeastAbsolute, cc.PerceptronCriterion, cc.HardMarginSVM, cc.LeastSquares):
        problem = declare(X, y)
        for size in (1e308, 1.0, 1e-308):
            wild = {c.name: np.full(c.size, size) for c in problem.constraints}
            found = bounds(problem, np.full(problem.size, size), wild)
            assert found.lower <= found.upper


def test_the_objective_at_the_point_is_not_that_of_a_better_one():
    X, y = overlapping(20)
    problem = cc.LogisticMLE(X, y, l2=1.0)
    x = -10.0 * problem.solve().x
    found = bounds(problem, x, {})
    assert found.at_point == pytest.approx(problem.minimised(x), rel=1e-12)
    assert found.upper <= 20 * math.log(2) * (1 + 1e-12) < found.at_point  # at the origin


def test_width_is_relative():
    assert Bounds(1.0, 1.0).width == 0.0
    assert Bounds(-2.0, -1.0).width == 0.5
    assert Bounds(-math.inf, 1.0).width == math.inf
