"""What proves that a minimum exists, worked out once more by its formula: one Newton step and what it leaves of slopes.

With the loss e^-u, whose slopes end at 0, a step that moves the argument by v leaves 1 - v of the slope.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.losses import Exponential, HalfSquare, Logistic
from convexcls.proofs.kkt.attainment import attainment
from convexcls.proofs.verdict import certify
from convexcls.rows import as_rows
from tests.small_problems import a, block, over

LIMITS = sys.modules[attainment.__module__]


def exponentials(rows, offset=0.0, weights=1.0, name="rows", loss=None):
    """Losses over x, or over several variables."""
    entries = rows if isinstance(rows, dict) else {"x": np.array(rows)}
    return cc.Term(name, entries, offset=offset, weights=weights, loss=loss or Exponential())


def by_formula(M, gradient, curvature, weights, P=0.0):
    """The least of 1 - M s, at most 1, over rows with weight; the loss is e^-u, so that 1 / curvature is its room."""
    M, weights = np.array(M, dtype=float), np.array(weights, dtype=float)
    s = np.linalg.solve(M.T @ np.diag(weights * curvature) @ M + P, -np.array(gradient))
    return min(1.0, float((1.0 - M @ s)[weights > 0].min()))


M = [[1.0, 0.5], [-1.0, 0.25], [0.5, -1.0], [0.25, -0.25], [-0.5, 0.125]]
OFFSET, WEIGHTS, X = a(0.25, -0.5, 0, 1, 0.5), a(1, 2, 0.5, 0, 3), a(0.125, -0.25)
CURVATURE = np.exp(-(np.array(M) @ X + OFFSET))
SLOPE = -np.array(M).T @ (WEIGHTS * CURVATURE)


def test_the_step_is_that_of_newton():
    """Losses with offsets and weights, one of them 0, a linear part, rows with multipliers and a quadratic part that
    leaves a direction without curvature of its own."""
    term, q, P = exponentials(M, OFFSET, WEIGHTS), a(0.25, -0.125), np.array([[2.0, 1.0], [1.0, 0.5]])
    cap = block("cap", [[1.0, 2.0], [0.5, -1.0]], 9.0)
    assert attainment(over(2, terms=[term]), X, {}) == pytest.approx(by_formula(M, SLOPE, CURVATURE, WEIGHTS))
    linear = over(2, terms=[term], linear={"x": q})
    assert attainment(linear, X, {}) == pytest.approx(by_formula(M, SLOPE + q, CURVATURE, WEIGHTS))
    ruled = over(2, cap, terms=[term])
    pull = SLOPE + np.array([[1.0, 0.5], [2.0, -1.0]]) @ a(0.25, 0.5)
    assert attainment(ruled, X, {"cap": a(0.25, 0.5)}) == pytest.approx(by_formula(M, pull, CURVATURE, WEIGHTS))
    curved = over(2, terms=[term], quadratic={"x": P})
    assert attainment(curved, X, {}) == pytest.approx(by_formula(M, SLOPE + P @ X, CURVATURE, WEIGHTS, P))
    partly = over(2, terms=[term], quadratic={"x": [3.0, 0.0]})
    P = np.diag([3.0, 0.0])
    assert attainment(partly, X, {}) == pytest.approx(by_formula(M, SLOPE + P @ X, CURVATURE, WEIGHTS, P))
    given = attainment(linear, X, {}, a(0.5, -0.75))
    assert given == pytest.approx(by_formula(M, [0.5, -0.75], CURVATURE, WEIGHTS))
    assert len({round(attainment(p, X, {"cap": a(0.25, 0.5)}), 6) for p in (linear, ruled, curved, partly)}) == 4


def test_slopes_between_two_ends():
    """Of the logistic loss: slope -s(-u), curvature s(u) s(-u), so that a move v leaves 1 - s(u) v and 1 + s(-u) v."""
    rows = np.array([[1.0], [-1.0], [2.0]])
    problem = over(1, terms=[exponentials(rows, loss=Logistic())])
    for x in (-1.0, 0.5, 2.0):
        u = rows[:, 0] * x
        share = 1 / (1 + np.exp(-u))
        step = float(rows[:, 0] @ (1 - share)) / float(rows[:, 0] ** 2 @ (share * (1 - share)))
        left = min(1.0, *(1 - share * rows[:, 0] * step), *(1 + (1 - share) * rows[:, 0] * step))
        assert attainment(problem, a(x), {}) == pytest.approx(left)


def several(**quadratic):
    """Losses over x and z together, and over z alone, which has curvature of its own."""
    variables = [cc.Variable("z", 1, "z"), cc.Variable("x", 2, "x")]
    both = exponentials({"x": np.array(M), "z": np.full((5, 1), 0.5)}, OFFSET, WEIGHTS, "both")
    alone = exponentials({"z": [[1.0]]}, name="alone")
    return cc.Problem("several", variables, terms=[both, alone], quadratic=quadratic)


def test_only_unknowns_without_curvature_have_to_be_stationary():
    """z is held by its own curvature: its part of the gradient does not count, nor do losses of it alone."""
    x = a(0.5, *X)
    bend = np.exp(-(np.array(M) @ X + OFFSET + 0.25))
    pull = -np.array(M).T @ (WEIGHTS * bend)
    assert attainment(several(z=[4.0]), x, {}) == pytest.approx(by_formula(M, pull, bend, WEIGHTS))
    whole = np.column_stack([np.full(5, 0.5), M])
    every = np.vstack([whole, [1.0, 0.0, 0.0]])
    bends, weights = np.append(bend, np.exp(-0.5)), np.append(WEIGHTS, 1)
    left = by_formula(every, -every.T @ (weights * bends), bends, weights)
    assert attainment(several(), x, {}) == pytest.approx(left)
    P = np.diag([4.0, 0.0, 0.0])  # as a matrix, curvature counts as any other
    gradient = -every.T @ (weights * bends) + P @ x
    left = by_formula(every, gradient, bends, weights, P)
    assert attainment(several(z=as_rows(np.array([[4.0]]))), x, {}) == pytest.approx(left)


def test_where_all_unknowns_have_curvature_a_minimum_exists():
    """And where no loss moves with the others."""
    far = a(50, 0)
    assert attainment(over(2, terms=[exponentials(M)], quadratic={"x": [1.0, 2.0]}), far, {}) == 1.0
    assert attainment(several(z=[1.0], x=[1.0, 1.0]), a(1, 2, 3), {}) == 1.0
    variables = [cc.Variable("z", 1, "z"), cc.Variable("x", 2, "x")]
    held = cc.Problem("held", variables, terms=[exponentials({"z": [[1.0]]})], quadratic={"z": [1.0]})
    assert attainment(held, a(1, 2, 3), {}) == 1.0
    assert attainment(over(1, linear={"x": [1.0]}), a(0), {}) == 1.0


def test_losses_with_a_minimum_of_their_own_leave_everything():
    """Their slopes have no ends; those of others count."""
    square = exponentials(M, loss=HalfSquare())
    assert attainment(over(2, terms=[square]), a(3, 4), {}) == 1.0
    both = over(2, terms=[square, exponentials(M, name="more")])
    u = np.array(M) @ X
    H = np.array(M).T @ np.diag(1 + np.exp(-u)) @ np.array(M)
    s = np.linalg.solve(H, -np.array(M).T @ (u - np.exp(-u)))
    assert attainment(both, X, {}) == pytest.approx(min(1.0, (1 - np.array(M) @ s).min()))


def test_at_a_minimum_nothing_has_to_move():
    assert attainment(over(1, terms=[exponentials([[1.0], [-1.0]])]), a(0), {}) == 1.0
    assert attainment(over(1, terms=[exponentials([[1.0], [1.0]])]), a(0), {}) <= 1e-12  # which keeps falling


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_gradient_that_is_no_number_proves_nothing(value):
    problem = over(2, terms=[exponentials(M)])
    assert attainment(problem, X, {}, a(0, value)) == -np.inf
    assert attainment(problem, X, {}, a(value, 0)) == -np.inf


def test_curvatures_that_overflow_prove_nothing():
    problem = over(1, terms=[exponentials([[1.0], [-1.0]])])
    assert attainment(problem, a(800), {}, a(0)) == -np.inf


def test_only_few_unknowns_are_factored(monkeypatch):
    problem = over(2, terms=[exponentials(M)])
    for limit, proved in ((2, True), (1, False)):
        monkeypatch.setattr(LIMITS, "MAX_FACTORED_UNKNOWNS", limit)
        assert (attainment(problem, X, {}) > -np.inf) is proved
    monkeypatch.undo()
    wide = over(5001, terms=[exponentials({"x": sparse.csr_array(([1.0], ([0], [0])), shape=(1, 5001))})])
    assert attainment(wide, np.zeros(5001), {}) == -np.inf


# ---- columns that repeat each other -------------------------------------------------------------------------------

COLUMN = np.array(M)[:, 1:]
ALONE = over(1, terms=[exponentials(COLUMN, OFFSET, WEIGHTS)])


@pytest.mark.parametrize("scale", [1.0, 1e8, 1e-8])
def test_columns_that_repeat_each_other_leave_the_proof(scale):
    """The step is that of one column, whatever its unit and that of others; a gradient along what moves no loss does
    not count."""
    twice = over(2, terms=[exponentials(np.hstack([COLUMN, scale * COLUMN]), OFFSET, WEIGHTS)])
    alone = attainment(ALONE, a(0.125), {})
    assert alone < 0.99
    assert attainment(twice, a(0.125, 0), {}) == pytest.approx(alone)
    assert attainment(twice, a(0, 0.125 / scale), {}) == pytest.approx(alone)
    alone = attainment(ALONE, a(0.125), {}, a(0.25))
    assert attainment(twice, a(0.125, 0), {}, a(0.5, 0)) == pytest.approx(alone)


@pytest.mark.parametrize("scale", [1e8, 1e-8])
def test_units_of_columns_do_not_matter(scale):
    wanted = attainment(over(2, terms=[exponentials(M, OFFSET, WEIGHTS)]), X, {})
    scaled = over(2, terms=[exponentials(np.array(M) * [1.0, scale], OFFSET, WEIGHTS)])
    assert attainment(scaled, X / [1.0, scale], {}) == pytest.approx(wanted)


def test_rows_without_weight_may_differ_where_columns_repeat_each_other():
    rows = np.hstack([COLUMN, COLUMN])
    rows[3, 1] = 7.0  # of weight 0
    alone = attainment(ALONE, a(0.125), {})
    assert attainment(over(2, terms=[exponentials(rows, OFFSET, WEIGHTS)]), a(0.125, 0), {}) == pytest.approx(alone)


def test_a_loss_that_has_run_off_is_no_column_that_repeats_another():
    """Of the third row, at u = 60, no curvature is left; the Hessian cannot tell it from a repeated column."""
    rows = [[1.0, 1.0], [-1.0, -1.0], [1.0, 0.0]]
    problem = over(2, terms=[exponentials(rows)])
    assert attainment(problem, a(60, -60), {}) == -np.inf
    other = over(2, terms=[exponentials(rows[:2]), exponentials(rows[2:], name="more")])
    assert attainment(other, a(60, -60), {}) == -np.inf
    beside = over(3, terms=[exponentials(np.column_stack([np.zeros(3), rows]))])  # a column that repeats 0
    assert attainment(beside, a(7, 60, -60), {}) == -np.inf


def test_a_column_of_zeros_has_no_part():
    problem = over(2, terms=[exponentials(np.array(M) * [0.0, 1.0], OFFSET, WEIGHTS)])
    assert attainment(problem, a(7, 0.125), {}) == pytest.approx(attainment(ALONE, a(0.125), {}))
    assert attainment(over(1, terms=[exponentials([[0.0]])]), a(7), {}) == 1.0


SIGNS, OTHER, THIRD = a(1, -1, 1, -1), a(1, 1, -1, -1), a(1, 1, 1, 1)


FLAT = {"x": as_rows(np.zeros((3, 3)))}


@pytest.mark.parametrize(("power", "proved"), [(-20, True), (-21, False), (-22, False)])
def test_columns_are_flat_below_a_limit(power, proved):
    """c and c + e d at right angles have the eigenvalues e^2 / 2 and 2, beside 1 of a third column: at e = 2^-20 that
    is above 2e-13, at 2^-21 it is not, and then e d is a movement. A matrix P leaves no other way."""
    rows = np.column_stack([SIGNS, SIGNS + 2.0**power * OTHER, THIRD])
    problem = over(3, terms=[exponentials(rows)], quadratic=FLAT)
    assert attainment(problem, np.zeros(3), {}, np.zeros(3)) == (1.0 if proved else -np.inf)


@pytest.mark.parametrize("power", [-20, -21, -22, -39])
def test_columns_of_a_basis_may_be_nearer(power):
    """Without P the columns are made orthogonal, down to a distance of 1e-12."""
    rows = np.column_stack([SIGNS, SIGNS + 2.0**power * OTHER, THIRD])
    problem = over(3, terms=[exponentials(rows)])
    assert attainment(problem, np.zeros(3), {}, np.zeros(3)) == pytest.approx(1.0)
    pull = a(0, 3 * 2.0**power, 0)  # which 3/4 of d removes: the four slopes are one
    assert attainment(problem, np.zeros(3), {}, pull) == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("power", "proved"), [(-39, True), (-38, False)])
def test_a_flat_direction_moves_no_loss(power, proved, sign):
    """By up to 5e-13: the direction (1, -1) / sqrt 2 moves e / 4 sqrt 2, of columns whose size is 4."""
    rows = np.column_stack([SIGNS, sign * (SIGNS + 2.0**power * OTHER)])
    problem = over(2, terms=[exponentials(rows, weights=4.0)], quadratic={"x": as_rows(np.zeros((2, 2)))})
    assert attainment(problem, np.zeros(2), {}, np.zeros(2)) == (1.0 if proved else -np.inf)


def test_steps_that_overflow_prove_nothing():
    """Losses of 1e-300 with a gradient of 1e200."""
    square = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    problem = over(2, terms=[exponentials(square, offset=[690.0, 0.0, 690.0, 0.0])])
    assert attainment(problem, a(0, 0), {}, a(1e200, 0)) == -np.inf
    assert attainment(over(1, terms=[exponentials([[1.0]])]), a(0), {}, a(np.inf)) == -np.inf


def test_losses_without_weight_leave_everything():
    assert attainment(over(1, terms=[exponentials([[1.0], [2.0]], weights=0.0)]), a(0), {}) == 1.0


# ---- few samples first --------------------------------------------------------------------------------------------


def many(n, weights=1.0):
    """e^-u of n rows (1, t), t alternating between 1 and -1 and growing, with twins of the other sign."""
    t = np.where(np.arange(n) % 2, 1.0, -1.0) * (1 + np.arange(n) / n)
    rows = np.column_stack([np.where(np.arange(n) % 4 < 2, 1.0, -1.0), t])
    return rows, over(2, terms=[exponentials(rows, weights=weights)])


def judged_by(rows, weights, gradient, x):
    u = rows @ x
    return by_formula(rows, gradient, np.exp(-u), weights)


@pytest.mark.parametrize("n", [40, 41])
def test_a_few_samples_are_tried_first(monkeypatch, n):
    """Two rows for each unknown: every tenth of those with weight."""
    monkeypatch.setattr(LIMITS, "MAX_SAMPLES_TAKEN_ALL", 20)
    x, weights = a(0.05, -0.025), np.where(np.arange(n) < 4, 0.0, 1.0)
    rows, problem = many(n, weights)
    gradient = -rows.T @ (weights * np.exp(-rows @ x)) / 50
    counted = np.flatnonzero(weights)
    few = counted[:: counted.size // 4]
    found = judged_by(rows[few], weights[few], gradient, x)
    assert 0.5 <= found < 1.0
    assert attainment(problem, x, {}, gradient) == pytest.approx(found)
    assert found != pytest.approx(judged_by(rows, weights, gradient, x))


def test_all_samples_are_tried_where_a_few_do_not_prove_it(monkeypatch):
    monkeypatch.setattr(LIMITS, "MAX_SAMPLES_TAKEN_ALL", 20)
    rows, problem = many(40)
    x, weights = a(0.05, -0.025), np.ones(40)
    gradient = rows.T @ np.exp(-rows @ x)
    few = np.arange(40)[::10]
    assert judged_by(rows[few], weights[few], gradient, x) < 0.5
    assert attainment(problem, x, {}, gradient) == pytest.approx(judged_by(rows, weights, gradient, x))


def test_samples_are_few_up_to_a_limit(monkeypatch):
    x = a(0.05, -0.025)
    for limit, n, all_of_them in ((40, 40, True), (39, 40, False), (4, 7, True), (4, 8, False)):
        monkeypatch.setattr(LIMITS, "MAX_SAMPLES_TAKEN_ALL", limit)
        rows, problem = many(n)
        gradient = -rows.T @ np.exp(-rows @ x) / 50
        whole = judged_by(rows, np.ones(n), gradient, x)
        found = attainment(problem, x, {}, gradient)
        assert (found == pytest.approx(whole, rel=1e-12)) is all_of_them


def test_all_samples_are_tried_where_few_cannot_be_factored(monkeypatch):
    """Every tenth row says nothing of the second unknown; or hardly any row has weight."""
    monkeypatch.setattr(LIMITS, "MAX_SAMPLES_TAKEN_ALL", 20)
    x = a(0.05, -0.025)
    rows, _ = many(40)
    rows[::10, 1] = 0.0
    gradient = -rows.T @ np.exp(-rows @ x) / 50
    found = attainment(over(2, terms=[exponentials(rows)]), x, {}, gradient)
    assert found == pytest.approx(judged_by(rows, np.ones(40), gradient, x))
    weights = np.where(np.arange(40) < 3, 1.0, 0.0)
    found = attainment(over(2, terms=[exponentials(rows, weights=weights)]), x, {}, gradient)
    assert found == pytest.approx(judged_by(rows, weights, gradient, x))


def test_terms_are_thinned_each_for_itself(monkeypatch):
    monkeypatch.setattr(LIMITS, "MAX_SAMPLES_TAKEN_ALL", 20)
    x, (rows, _) = a(0.05, -0.025), many(44)
    gradient = -rows.T @ np.exp(-rows @ x) / 50
    problem = over(2, terms=[exponentials(rows[:40]), exponentials(rows[40:], name="more")])
    few = [*range(0, 40, 10), *range(40, 44)]
    assert attainment(problem, x, {}, gradient) == pytest.approx(judged_by(rows[few], np.ones(8), gradient, x))


@pytest.mark.parametrize("slope", [1e-9, 1e-15])
def test_a_cost_that_falls_where_no_loss_moves_is_no_minimum(slope):
    """e^-(x1 + x2) + e^(x1 + x2) + slope (x1 - x2) falls for ever along (-1, 1), however small the residual is; with
    slope (x1 + x2) it does not, and with rows that hold x1 - x2 the multipliers decide."""
    term = exponentials([[1.0, 1.0], [-1.0, -1.0]])
    assert attainment(over(2, terms=[term], linear={"x": a(slope, -slope)}), a(0, 0), {}) == -np.inf
    assert attainment(over(2, terms=[term], linear={"x": a(slope, slope)}), a(0, 0), {}) > 0.9
    held = over(2, block("held", [[-1.0, 1.0]], 0.0), terms=[term], linear={"x": a(slope, -slope)})
    assert attainment(held, a(0, 0), {"held": a(slope)}) > 0.9
    assert attainment(held, a(0, 0), {"held": a(0.5 * slope)}) == -np.inf
    apart = over(2, block("apart", [[1.0, -1.0]], 5.0), terms=[term], linear={"x": a(slope, -slope)})
    assert attainment(apart, a(0, 0), {"apart": a(0)}) == -np.inf  # which keeps x1 - x2 from growing, not from falling


def test_a_likelihood_with_a_linear_cost_along_a_repeated_column_is_unattained():
    term = exponentials([[1.0, 1.0], [-1.0, -1.0]])
    certificate = certify(over(2, terms=[term], linear={"x": a(1e-9, -1e-9)}), a(0, 0), {})
    assert certificate.status == "unattained"
    assert certify(over(2, terms=[term]), a(0, 0), {}).status == "optimal"


@pytest.mark.parametrize("fall", [1e-9, 2.0**-43, 2.0**-52])
def test_a_multiplier_elsewhere_holds_no_cost(fall):
    """(1 + fall) x2 + x1 falls for ever along (1, -1), which no row sees, however large the multiplier of x3 is."""
    both, q = [[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]], a(1.0, 1.0 + fall, -1.0)
    x, held = a(np.arcsinh(-0.5), 0, 0), {"cap": a(1.0)}
    cap = block("cap", [[0.0, 0.0, 1.0]], 0.0)
    assert certify(over(3, cap, terms=[exponentials(both)], linear={"x": a(1, 1, -1)}), x, held).status == "optimal"
    problem = over(3, cap, terms=[exponentials(both)], linear={"x": q})
    assert attainment(problem, x, held) == -np.inf
    assert certify(problem, x, held).status != "optimal"
    free = over(2, terms=[exponentials(np.array(both)[:, :2])], linear={"x": q[:2]})
    assert attainment(free, x[:2], {}) == -np.inf
    assert certify(free, x[:2], {}).status != "optimal"


@pytest.mark.parametrize(("relation", "rows", "proved"), [("<=", 1.0, True), ("<=", -1.0, False), ("==", -1.0, True)])
def test_a_multiplier_that_would_have_to_be_negative_holds_no_cost(relation, rows, proved):
    """q falls by 2^-30 along (1, -1, 0), which a row holds in the one direction only; its multiplier, tiny and above 0,
    shows nothing."""
    term, q = exponentials([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]), a(1, 1 + 2.0**-30, 1)
    hold = block("hold", [[rows, -rows, 0.0]], 0.0, relation)
    problem = over(3, hold, terms=[term], linear={"x": q})
    x = a(*[0.5 * np.arcsinh(-0.5)] * 2, 0)
    right = 2.0**-31 * rows if proved else 1e-12
    # x3 is in the sum alone: what (1, 1, -2) costs is held by nothing
    assert attainment(problem, x, {"hold": a(right)}) == -np.inf
    level = over(3, hold, terms=[term], linear={"x": a(1 - 2.0**-31, 1 + 2.0**-31, 1)})
    assert (attainment(level, x, {"hold": a(right)}) > 0.9) is proved
    assert (certify(level, x, {"hold": a(right)}).status == "optimal") is proved


def test_only_rows_with_a_multiplier_hold_a_cost():
    """x3 - x4 costs 1, held by a row; x1 - x2 costs 2^-30, for which the row over it would need a multiplier, too."""
    term = exponentials([[1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, 0.0, 0.0]])
    q, rows = a(2.0**-30, -(2.0**-30), -1.0, 1.0), [[-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]
    problem = over(4, block("held", rows, 0.0), terms=[term], linear={"x": q})
    assert attainment(problem, np.zeros(4), {"held": a(2.0**-30, 1)}) > 0.9
    assert attainment(problem, np.zeros(4), {"held": a(0, 1)}) == -np.inf
    equal = over(4, block("held", rows, 0.0, "=="), terms=[term], linear={"x": q})
    assert attainment(equal, np.zeros(4), {"held": a(2.0**-30, 1)}) > 0.9
