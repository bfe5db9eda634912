"""What proves that a minimum exists, worked out once more by its formula: one Newton step and what it leaves of slopes.

With the loss e^-u, whose slopes end at 0, a step that moves the argument by v leaves 1 - v of the slope.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.losses import Exponential, HalfSquare, Logistic
from convexcls.proofs.kkt import attainment as attained
from convexcls.proofs.kkt.attainment import attainment, linear_costs_are_held
from convexcls.proofs.kkt.correction import FreeRows
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


PAIR = [[1.0, 1.0], [-1.0, -1.0]]


@pytest.mark.parametrize(("share", "proved"), [(1.25, True), (0.75, True), (2.5, False), (0.4, False)])
def test_a_multiplier_may_change_by_half_of_itself(share, proved):
    """x1 - x2 costs 1/4, held by a multiplier that should be 1/4: 1.25 times that has to fall by a fifth of itself."""
    held = over(2, block("held", [[-1.0, 1.0]], 0.0), terms=[exponentials(PAIR)], linear={"x": a(0.25, -0.25)})
    assert (attainment(held, a(0, 0), {"held": a(share * 0.25)}, a(0, 0)) > 0.9) is proved


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_multiplier_of_an_equation_may_change_as_it_likes(sign):
    equal = over(2, block("equal", [[-1.0, 1.0]], 0.0, "=="), terms=[exponentials(PAIR)], linear={"x": a(sign, -sign)})
    assert attainment(equal, a(0, 0), {"equal": a(0)}, a(0, 0)) > 0.9


def test_a_row_without_a_multiplier_holds_no_cost_however_small():
    """x2 costs the last digit of 1 more than x1: the row over x1 - x2 would hold that, but nothing pays it."""
    loose = block("loose", [[1.0, -1.0]], 5.0)
    problem = over(2, loose, terms=[exponentials(PAIR)], linear={"x": a(1.0, 1.0 + 2.0**-52)})
    assert attainment(problem, a(0, 0), {"loose": a(0)}, a(0, 0)) == -np.inf
    assert attainment(problem, a(0, 0), {"loose": a(2.0**-52)}, a(0, 0)) > 0.9


def test_a_cost_of_some_unknowns_alone():
    """x1 and x2 repeat each other. Their difference costs, beside a third that does not; then the third costs, which is
    nothing along their difference."""
    rows = [[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    falls = over(3, terms=[exponentials(rows)], linear={"x": a(1e-9, -1e-9, 0)})
    assert attainment(falls, np.zeros(3), {}, np.zeros(3)) == -np.inf
    third = over(3, terms=[exponentials(rows)], linear={"x": a(0, 0, 0.5)})
    assert attainment(third, np.zeros(3), {}, np.zeros(3)) > 0.9


@pytest.mark.parametrize("cost", [2.0**-10, -(2.0**-10), 2.0**-45])
@pytest.mark.parametrize("also", [0, 1])
def test_rows_that_hardly_differ_hold_no_cost_across_them(cost, also):
    """Only x3 is in the losses. x2 costs; of x1 and x1 + 2^-52 cost x2 that is a combination, of 2^52 times each: more
    than a multiplier may change, and more than least squares finds. A fourth unknown costs nothing."""
    seen = np.hstack([[[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], np.zeros((2, also))])
    nearly = np.hstack([[[1.0, 0.0, 0.0], [1.0, 2.0**-52 * cost, 0.0], [-1.0, 0.0, 0.0]], np.zeros((3, also))])
    q = np.append(cost * a(0, 1, 0), np.zeros(also))
    problem = over(q.size, block("held", nearly, 0.0), terms=[exponentials(seen)], linear={"x": q})
    assert attainment(problem, np.zeros(q.size), {"held": abs(cost) * a(1, 1, 2)}, np.zeros(q.size)) == -np.inf


def test_rows_that_doubles_round_hold_no_cost():
    """Entries of 1/10: where nothing costs there is nothing to hold; what does is no combination of their doubles."""
    tenth = Fraction(1, 10)
    tenths = cc.EmpiricalRisk([[tenth, tenth], [tenth, tenth]], [0, 1], loss="exponential", intercept=False)
    assert attainment(tenths, a(0, 0), {}, a(0, 0)) > 0.9
    variables, q = [cc.Variable("coef", 2, "x")], {"coef": a(0.5, 0.5)}
    for rows, proved in ((tenths.terms[0].entries["coef"], False), (np.array(PAIR), True)):
        term = cc.Term("rows", {"coef": rows}, loss=Exponential())
        hold = cc.Constraint("hold", {"coef": np.array([[1.0, 1.0]])}, rhs=0.0, relation="<=")
        for constraints in ([], [hold]):
            problem = cc.Problem("small", variables, constraints=constraints, terms=[term], linear=q)
            assert (attainment(problem, a(0, 0), {"hold": a(1)}, a(0, 0)) > 0.9) is proved


@pytest.mark.parametrize(("limit", "proved"), [(6, True), (5, False)])
def test_costs_are_ranked_with_few_entries_alone(limit, proved, monkeypatch):
    monkeypatch.setattr(LIMITS, "MAX_RANKED_ENTRIES", limit)
    problem = over(2, terms=[exponentials([*PAIR, [2.0, 2.0]])], linear={"x": a(0.5, 0.5)})
    assert (attainment(problem, a(0, 0), {}, a(0, 0)) > 0.9) is proved


LAST = a(1, -1, -1, 1)


@pytest.mark.parametrize(("limit", "proved"), [(12, True), (11, False)])
def test_few_entries_alone_are_multiplied_out_for_a_basis(limit, proved, monkeypatch):
    monkeypatch.setattr(LIMITS, "MAX_MULTIPLIED_ENTRIES", limit)
    rows = np.column_stack([SIGNS, SIGNS + 2.0**-25 * OTHER, THIRD])
    assert (attainment(over(3, terms=[exponentials(rows)]), np.zeros(3), {}, np.zeros(3)) > 0.9) is proved


@pytest.mark.parametrize(("second", "proved"), [(SIGNS, True), (SIGNS + 2.0**-45 * OTHER, False)])
def test_columns_are_left_out_of_a_basis_only_where_they_repeat_others_exactly(second, proved):
    """Beside two that are too near for eigenvectors."""
    rows = np.column_stack([SIGNS, second, THIRD, THIRD + 2.0**-25 * LAST])
    assert (attainment(over(4, terms=[exponentials(rows)]), np.zeros(4), {}, np.zeros(4)) > 0.9) is proved


def test_units_of_columns_do_not_matter_to_eigenvectors():
    rows = np.column_stack([SIGNS, 1e-9 * OTHER, THIRD])
    assert attainment(over(3, terms=[exponentials(rows)], quadratic=FLAT), np.zeros(3), {}, np.zeros(3)) > 0.9


def test_rows_of_zeros_have_nothing_that_moves():
    problem = over(1, terms=[exponentials([[0.0], [0.0]])], quadratic={"x": as_rows(np.zeros((1, 1)))})
    assert attainment(problem, a(0), {}, a(0)) == 1.0


def test_a_gauge_beside_columns_that_repeat_each_other():
    X = np.column_stack([SIGNS, SIGNS])
    problem = cc.SoftmaxMLE(X, [0, 1, 1, 0])
    s = problem.solve()
    assert s.status == "optimal"
    assert attainment(problem, s.x, s.multipliers) > 0.9


def test_a_norm_bound_pulls_by_its_multiplier():
    """‖(x1 + 2 x2, 3 x2)‖ <= 5 + x1 / 2 - x2 / 4 with the multiplier (u, mu) adds -E'u - mu f to the gradient."""
    E, f, z = np.array([[1.0, 2.0], [0.0, 3.0]]), a(0.5, -0.25), a(0.25, -0.125, 0.5)
    bound = cc.NormBound("bound", {"x": E}, bound_entries={"x": f[None]}, bound=5.0)
    problem = over(2, terms=[exponentials(M, OFFSET, WEIGHTS)], norm_bounds=[bound])
    expected = by_formula(M, SLOPE - E.T @ z[:2] - f * z[2], CURVATURE, WEIGHTS)
    assert attainment(problem, X, {"bound": z}) == pytest.approx(expected)


def test_a_norm_bound_holds_no_linear_cost():
    """‖x‖ <= 1 keeps x1 - x2 from falling, but by a multiplier that is no rational."""
    disc = cc.NormBound("disc", {"x": np.eye(2)}, bound=1.0)
    problem = over(2, terms=[exponentials(PAIR)], linear={"x": a(0.25, -0.25)}, norm_bounds=[disc])
    z = a(0.25, -0.25, np.sqrt(0.125))
    assert attainment(problem, np.sqrt(0.5) * a(-1, 1), {"disc": z}, a(0, 0)) == -np.inf
    across = over(2, terms=[exponentials(PAIR)], linear={"x": a(0.5, 0.5)}, norm_bounds=[disc])
    assert attainment(across, a(0, 0), {"disc": a(2.0**-52, -(2.0**-52), 2.0**-51)}, a(0, 0)) == -np.inf


@pytest.mark.parametrize("cost", [1e9, -1e9])
@pytest.mark.parametrize("quadratic", [{}, FLAT])
def test_large_costs_leave_much_by_rounding(cost, quadratic):
    """The third column is the first and twice the second, and so are the costs: of 1e9 rounding leaves along their
    difference more than 1e-12."""
    rows = [[1.0, 2.0, 5.0], [-1.0, -2.0, -5.0], [3.0, 1.0, 5.0], [-3.0, -1.0, -5.0]]
    problem = over(3, terms=[exponentials(rows)], linear={"x": cost * a(1, 2, 5)}, quadratic=quadratic)
    assert attainment(problem, np.zeros(3), {}, np.zeros(3)) > 0.9


def test_a_basis_is_taken_of_the_unknowns_in_question():
    """y is in the radius of a norm bound, so that its rows are not among those that are measured by columns."""
    term = exponentials({"x": np.array([*PAIR, [0, 0], [0, 0]]), "y": np.array([[0.0], [0.0], [1.0], [-1.0]])})
    cone = cc.NormBound("cone", {"x": np.eye(2)}, bound_entries={"y": [[1.0]]}, bound=5.0)
    variables = [cc.Variable("x", 2, "x"), cc.Variable("y", 1, "y")]
    problem = cc.Problem("small", variables, terms=[term], norm_bounds=[cone])
    assert attainment(problem, np.zeros(3), {"cone": np.zeros(3)}, np.zeros(3)) > 0.9


# ---- linear costs of quadratic programs -----------------------------------------------------------------------------

SQUARES = [cc.Term("squares", {"x": [[1.0, 1.0], [2.0, 2.0]]}, loss=HalfSquare())]
SUM, BOTH = [[-1.0, -1.0]], [[-1.0, 0.0], [0.0, -1.0]]
#: What holds a cost of (1, 1 + fall), or of -fall where only x1 is held: a point and multipliers for fall = 0.
HELD_BY = {
    "squares": (lambda q: over(2, terms=SQUARES, linear={"x": q}), a(-0.1, -0.1), {}),
    "matrix": (lambda q: over(2, quadratic={"x": np.ones((2, 2))}, linear={"x": q}), a(-0.5, -0.5), {}),
    "equation": (lambda q: over(2, block("total", SUM, -1.0, "=="), linear={"x": q}), a(0.5, 0.5), {"total": a(1)}),
    "row": (lambda q: over(2, block("total", SUM, -1.0), linear={"x": q}), a(0.5, 0.5), {"total": a(1)}),
    "rows": (
        lambda q: over(2, block("least", [*SUM, [-2.0, -2.0]], [-1.0, -2.0]), linear={"x": q}),
        a(0.5, 0.5),
        {"least": a(0.5, 0.25)},
    ),
}


@pytest.mark.parametrize("fall", [1e-9, 2.0**-40, 2.0**-52])
@pytest.mark.parametrize("by", HELD_BY)
def test_a_linear_cost_that_falls_slowly_is_no_optimum(by, fall):
    """Whatever holds x1 + x2 does not hold x1 - x2; where each has a row of its own, both are."""
    build, x, z = HELD_BY[by]
    assert certify(build(a(1, 1)), x, z).status == "optimal"
    certificate = certify(build(a(1, 1 + fall)), x, z)
    assert certificate.kkt.holds(1e-8)
    assert certificate.status != "optimal"
    assert build(a(1, 1 + fall)).solve().status == "unattained"


@pytest.mark.parametrize("fall", [1e-9, 2.0**-52])
def test_costs_that_other_rows_hold(fall):
    apart = over(2, block("each", BOTH, -1.0), linear={"x": a(1, 1 + fall)})
    assert certify(apart, a(1, 1), {"each": a(1, 1)}).status == "optimal"
    free = over(2, block("each", BOTH, -1.0), linear={"x": a(1, -fall)})
    assert certify(free, a(1, 1), {"each": a(1, 0)}).status != "optimal"  # x2 is held from below
    curved = over(2, quadratic={"x": a(1, 1)}, linear={"x": a(1, fall)})
    assert certify(curved, a(-1, -fall), {}).status == "optimal"
    empty = over(2, quadratic={"x": a(1, 0)}, linear={"x": a(1, fall)})
    assert certify(empty, a(-1, 0), {}).status != "optimal"


@pytest.mark.parametrize("share", [1.25, 2.5])
def test_a_row_holds_what_its_multiplier_can_pay(share):
    """Of a multiplier that should be 1; at 2.5 more than half of it would have to go."""
    problem = over(1, block("least", [[-1.0]], -1.0), linear={"x": a(1)})
    assert linear_costs_are_held(problem, a(1), {"least": a(share)}) is (share < 2)


def test_programs_that_are_too_large_are_left_open(monkeypatch):
    build, x, z = HELD_BY["row"]
    problem = build(a(1, 1))
    assert linear_costs_are_held(problem, x, z)
    with monkeypatch.context() as patch:
        patch.setattr(LIMITS, "MAX_UNKNOWNS_OF_EIGENVECTORS", 1)
        assert not linear_costs_are_held(problem, x, z)
    monkeypatch.setattr(LIMITS, "MAX_FACTORED_UNKNOWNS", 1)
    assert not linear_costs_are_held(problem, x, z)
    assert linear_costs_are_held(build(a(0, 0)), x, {"total": a(0)})  # without costs there is nothing to hold


@pytest.mark.parametrize("seed", range(12))
def test_programs_of_whole_numbers_keep_their_optima(seed):
    """min q'x + 1/2 x'Px with Ax <= b and q = -A'z - Px for chosen x and z >= 0: optimal whatever depends on what; and
    with a cost more that is no combination of the rows in use, x being free, without end."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    B, A = rng.integers(-2, 3, (n // 2 - 1, n)), rng.integers(-3, 4, (int(rng.integers(1, 9)), n))
    x, z = rng.integers(-2, 3, n), rng.integers(0, 3, len(A))
    P, b, free = B.T @ B, A @ x + (z == 0), {"x": (B.T @ B).astype(float)}
    q = -A.T @ z - P @ x
    problem = over(n, block("rows", A, b), linear={"x": q}, quadratic=free)
    assert certify(problem, x.astype(float), {"rows": z.astype(float)}).status == "optimal"
    used = np.vstack([A[z > 0], B])
    flat = [e for e in np.eye(n) if np.linalg.matrix_rank(np.vstack([used, e])) > np.linalg.matrix_rank(used)]
    for e in flat[:1]:
        tilted = over(n, block("rows", A, b), linear={"x": q + 2.0**-40 * e}, quadratic=free)
        assert certify(tilted, x.astype(float), {"rows": z.astype(float)}).status != "optimal"


def test_of_many_unknowns_the_change_that_is_measured_proves_it(monkeypatch):
    """The change of the multipliers of a few rows that removes the gradient, worked out here, leaves as much of the
    slopes."""
    rng = np.random.default_rng(12)
    X = rng.standard_normal((4000, 205))
    y = rng.random(4000) < 0.5
    problem = cc.LogisticMLE(X, y, intercept=False)
    x = problem.solve().x + 1e-5 * rng.standard_normal(205)
    (term,) = problem.terms
    rows = problem.rows(term).to_dense()
    slopes = term.loss.slope(rows @ x)
    (every,) = problem.remembered(FreeRows).known_factor[1]
    few, own = rows[::every], slopes[::every]
    assert every > 1
    change = -few @ np.linalg.solve(few.T @ few, rows.T @ slopes)
    left = min(((own + change + 1.0) / (own + 1.0)).min(), ((own + change) / own).min(), 1.0)
    monkeypatch.setattr(attained, "_Correction", lambda *_: pytest.fail("another factor"))
    assert left > 0.5
    assert attainment(problem, x, {}) == pytest.approx(left, rel=1e-9)
