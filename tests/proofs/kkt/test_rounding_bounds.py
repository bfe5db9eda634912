"""The bounds on rounding that the KKT measures carry: as large as the sums they stand for, and no larger than asked.

In units of 2^-53: a sum of k products is off by k times the sum of their sizes; twelve more are counted besides. A sum
over rows that are no diagonal counts one more. One bound is enough for all rows of a block: that of the largest.
"""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import convexcls as cc
from convexcls.losses import HalfSquare, Logistic, SoftmaxMargins
from convexcls.proofs.kkt import check as kkt
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.products import Gradient
from convexcls.proofs.rigorous.rounding import Ball
from convexcls.rows import DiagonalRows
from tests.small_problems import a, block, over

ULP = 2.0**-53
#: A tolerance that rounding does not reach: nothing is looked at twice.
LOOSE = 1e9


def assert_near(found, wanted):
    """In units of 2^-53, to a quarter; what is 0 is 0."""
    np.testing.assert_allclose(np.asarray(found) / ULP, wanted, rtol=0.25, atol=0)


def one_to_one(name, size, value, rhs, relation="<="):
    return cc.Constraint(name, {"x": DiagonalRows.identity(size, value)}, rhs=rhs, relation=relation)


# ---- rows and cones -----------------------------------------------------------------------------------------------

#: On its side, beyond it by 2, and far within; 14 (8 + the largest rhs) roundings each.
ROWS = ([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [2.0, 4.0, 100.0])


def test_rows():
    """Relative to the unit, 100, or by the price, 2, of all rows that may be violated; a product by its multiplier."""
    for relation, near, product in (("<=", 2, 3024), ("==", 3, 0)):
        problem = over(2, block("row", *ROWS, relation))
        found = check_kkt(problem, a(1, 3), {"row": np.zeros(3)}, LOOSE).primal_feasibility
        assert_near(found.roundings["row"], 15.12)
        kkt = check_kkt(problem, a(1, 3), {"row": a(-0.5, 0.25, 2)}, LOOSE)
        assert_near(kkt.primal_feasibility.roundings["row"], 2 * near * 1512)
        assert_near(kkt.complementary_slackness.roundings["row"], product)


def test_squared_slacks_cost_what_rounding_may_hide():
    """16 (2^31) roundings of the row cost half its square, 10^6 times, over."""
    problem, x, multipliers = squared_slack()
    found = check_kkt(problem, x, multipliers, LOOSE).primal_feasibility
    assert_near(found.roundings["row"], [1e6 * (16 * 2**31) ** 2 * ULP])


#: f, g and sizes: the norm of what is added up in both entries, sqrt(41), what is in the bound, and its constant.
@pytest.mark.parametrize(
    ("f", "g", "sizes", "unit"),
    [([0.5, -1.0], 0.25, 4 + 0.25, 5), ([0.5, -1.0], -10.0, 4 + 10, 14), ([40.0, -40.0], 1.0, 200 + 1, 199)],
)
def test_cones(f, g, sizes, unit):
    rows = {"x": np.array([[-2.0, 0.0], [0.0, 1.0]])}
    bound = cc.NormBound("cone", rows, offset=a(-1, 1), bound_entries={"x": [f]}, bound=g)
    problem = over(2, norm_bounds=[bound])
    sizes += 41**0.5
    kkt = check_kkt(problem, a(-2, 3), {"cone": a(0, 0, 0)}, LOOSE)
    assert_near(kkt.primal_feasibility.roundings["cone"], [20 * sizes / unit])
    kkt = check_kkt(problem, a(-2, 3), {"cone": a(0.3, -0.4, 0.25)}, LOOSE)
    assert_near(kkt.dual_feasibility.roundings["cone"], [6 * 0.5 / 0.4])
    assert_near(kkt.complementary_slackness.roundings["cone"], [2 * 0.4 * 20 * sizes])
    problem = over(2, norm_bounds=[bound], unit=2.0 * unit)
    kkt = check_kkt(problem, a(-2, 3), {"cone": a(0.3, -0.4, 0.25)}, LOOSE)
    assert_near(kkt.dual_feasibility.roundings["cone"], [6 * 0.5 / 2])


def test_a_cone_of_many_rows():
    """The norm of 40 numbers is their sum."""
    ball = cc.NormBound("ball", {"x": DiagonalRows.identity(40)}, bound=40.0)
    kkt = check_kkt(over(40, norm_bounds=[ball]), np.ones(40), {"ball": np.zeros(41)}, LOOSE)
    assert_near(kkt.primal_feasibility.roundings["ball"], [(1 + 40 + 16) * (40**0.5 + 40) / 40])


# ---- the gradient -------------------------------------------------------------------------------------------------


def absolute(kkt, variable="x"):
    """How far rounding may have put the gradient off."""
    s = kkt.stationarity
    return s.roundings[variable] * s.values[variable] / s.relative_values[variable]


BIG = 2.0**20
SOFTMAX = SoftmaxMargins(2)


@pytest.mark.parametrize(
    ("loss", "weights", "off"),
    [(Logistic(), 3.0, 2 * 3 / 4 * 28), (HalfSquare(), 3.0, 3 * 28), (SOFTMAX, 1.0, 2 * 2 * 28 / 3)],
)
def test_slopes_are_off_where_their_arguments_are(loss, weights, off):
    """u = 2^20 - 2^20 is off by 28 2^20 roundings, its slope by twice the curvature times that: of a curved unknown it
    counts, of one without curvature it is a small change of multipliers."""
    rows = np.array([[BIG, -BIG]] * loss.width + [[0.0, 0.0]] * loss.width)  # the last ones count little or nothing
    term = cc.Term("rows", {"x": rows}, np.repeat([0.0, 9.0], loss.width), loss=loss, weights=[weights, 1e-3])
    curved = over(2, terms=[term], quadratic={"x": [1.0, 1.0]})
    assert_near(absolute(check_kkt(curved, a(1, 1), {}, LOOSE)) / BIG**2, [off, off])
    flat = over(2, terms=[term], linear={"x": [0.5, 0.5]})
    assert np.all(absolute(check_kkt(flat, a(1, 1), {}, LOOSE)) < 1e4 * BIG * ULP)


@pytest.mark.parametrize(
    ("loss", "x", "q", "off"),
    [(Logistic(), [1, 1], [0.5, -2.5], 8 * 1.5 / 2.5), (HalfSquare(), [3, 1], [-9.0, 5.0], 6 / 9)],
)
def test_slopes_are_rounded_themselves(loss, x, q, off):
    """Where all else is known exactly: 8 roundings of a slope, 1 of an argument times a weight, relative to q."""
    term = cc.Term("rows", {"x": [[1.0, -1.0]]}, loss=loss, weights=3.0)
    problem = over(2, terms=[term], quadratic={"x": [1.0, 1.0]}, linear={"x": q})
    found = check_kkt(problem, np.array(x, dtype=float), {}, 0.0).stationarity
    assert not found.values["x"].any()
    assert_near(found.roundings["x"], [off, off])


def test_slopes_are_off_each_for_itself_where_that_counts():
    """From afar the roundings of all slopes, 8 halves each, are added up, and 15 of the gradient; closely each counts
    in its column, and the gradient is known."""
    term = cc.Term("rows", {"x": np.eye(4)}, loss=Logistic())
    problem = over(4, terms=[term], quadratic={"x": np.ones(4)}, linear={"x": np.full(4, 0.5)})
    for tol, off in ((LOOSE, 15 + 4 * 4), (0.0, 4)):
        found = check_kkt(problem, np.zeros(4), {}, tol).stationarity
        assert not found.values["x"].any()
        assert_near(found.roundings["x"], off)


def test_a_slope_that_may_be_anything_proves_nothing():
    """e^700 has a curvature of 1e304; what the argument may be off makes the slope one of any size."""
    term = cc.Term("rows", {"x": [[1e22, -1e22]] * 2}, offset=[-700.0, -700.0], loss=cc.losses.Exponential())
    problem = over(2, terms=[term], quadratic={"x": [1.0, 1.0]})
    assert np.all(np.isinf(check_kkt(problem, a(1, 1), {}, LOOSE).stationarity.roundings["x"]))


def test_a_change_of_multipliers_is_off_as_the_gradient_is():
    for rows, multiplier, off in (([[1.0]] * 3, 0.25, 16 * 0.75 / 2.25), ([[2.0]], 0.25, 14 * 0.5 / 4 * 2 / 0.75)):
        rhs = 2.0 if len(rows) == 3 else 4.0
        problem = over(1, block("row", rows, rhs), unit=3.0)
        found = check_kkt(problem, a(3), {"row": np.full(len(rows), multiplier)}, LOOSE).stationarity
        assert_near(found.roundings["x"], [off])


def test_costs_that_doubles_round_are_off_by_a_rounding_each():
    """Thirds of x and of x^2, at a point where those of both cancel; what weighs losses is a cost, too."""
    given = {"quadratic": {"x": [Fraction(1, 3)] * 2}, "linear": {"x": [Fraction(-2, 3), Fraction(4, 3)]}}
    problem, x, costs = over(2, **given), a(2, -4), 1.01 * ULP * a(4 / 3, 8 / 3)
    assert problem.rounds_costs
    for closely in (False, True):
        check = kkt._Check(problem, x, {}, LOOSE, closely, 1.0, given=True)
        assert not check.residual.mid.any()
        np.testing.assert_allclose(check.residual.rad - check.gradient.rounding, costs, rtol=1e-6)
    check._refine(np.array([True, True]))
    np.testing.assert_allclose(check.residual.rad, costs, rtol=1e-6)
    plain = kkt._Check(problem, x, {}, LOOSE, False, 1.0)
    assert (plain.doubled, plain.given, plain.costs_off.any()) == (False, False, False)
    for loss, size, own in ((Logistic(), 0.5, 8), (HalfSquare(), 1.0, 1)):
        term = cc.Term("rows", {"x": [[1.0]]}, offset=float(loss.name == "half-square"), loss=loss)
        problem = over(1, terms=[term], quadratic={"x": [1.0]})
        off = [kkt._Check(problem, a(0), {}, LOOSE, False, 1.0, given=k).gradient.inherited[0] for k in (False, True)]
        assert_near(off[1] - off[0], size)
        assert off[0] >= own * size * ULP


# ---- the gap ------------------------------------------------------------------------------------------------------


def boxed(size, low, high, **parts):
    return over(size, one_to_one("low", size, -1.0, -low), one_to_one("high", size, 1.0, high), **parts)


ALTERNATING = np.tile([1.0, -1.0], 100)
MATRIX = np.array([[2.0, 1.0], [1.0, 2.0]])
BALL = cc.NormBound("ball", {"x": DiagonalRows.identity(2)}, bound=5.0)
#: name: (problem, point, multipliers, roundings relative to the scale)
GAPS = {
    "a flat unknown": (over(1, linear={"x": [3.0]}), [-1e3], {}, 12 + 9),
    "a curved unknown": (over(1, linear={"x": [-1.0]}, quadratic={"x": [1e-6]}), [0], {}, 12e6 + 9 * 0.5e6),
    "bounds": (
        boxed(1, -1e3, 1e3, linear={"x": [3.0]}),
        [0],
        {"low": a(1), "high": a(1)},
        14 * 5 * 2000 + 13 * 2e3 + 11 * 5e3,
    ),
    "mass": (
        boxed(2, 0.0, 2.0, linear={"x": [-1.0, -2.0]}, quadratic={"x": MATRIX}, unit=0.5),
        [0.1, 0.5],
        {"low": a(1, 1), "high": a(1, 1)},
        (16 * (3.7 * 1.58 + 3.7 * 0.1 + 5.1 * 0.5) + 13 * 5.2 + 14 * 5.13) / 0.79,
    ),
    "a ball": (
        over(2, norm_bounds=[BALL], linear={"x": [-3.0, -4.0]}),
        [-3, 0],
        {"ball": a(-3.3, -4.4, 5.5)},
        (13 * (6.3 * 3 + 5 * 10.5) + 11 * 39 + 19 * 8 * 60.5**0.5) / 9,
    ),
    "the edge of a ball": (
        over(2, norm_bounds=[BALL], linear={"x": [100.0, 0.0]}),
        [-5, 0],
        {"ball": a(0, 0, 0)},
        13 * 100 * 10 / 500,
    ),
    "an equation": (
        over(1, one_to_one("tie", 1, 1.0, 1e3, "=="), linear={"x": [2.0]}, constant=-2e3),
        [1e3],
        {"tie": a(-2)},
        13 * 4 * 1e3 + 13 * 2e3 * 2,
    ),
    "losses": (
        over(1, terms=[cc.Term("fit", {"x": [[2.0**30]] * 2}, offset=-(2.0**30), weights=3.0)]),
        [1],
        {},
        0.5 * 2 * 3 * (13 * 2**31) ** 2 * ULP,
    ),
    "a sum of many": (
        over(200, one_to_one("tie", 200, 1.0, 2.0, "==")),
        np.ones(200),
        {"tie": ALTERNATING},
        408 * 400 + 8000 + 2700,
    ),
}


@pytest.mark.parametrize("name", GAPS)
def test_gaps(name):
    problem, x, multipliers, off = GAPS[name]
    assert_near(check_kkt(problem, np.array(x, dtype=float), multipliers, LOOSE).gap_rounding, off)


#: The same where the multipliers of bounds, which are far off, are left out: what their sums are rounded by is not.
WITHOUT_BOUNDS = {
    "towards a bound": ({"linear": {"x": [3.0]}}, {}, (14 * 5 + 4 + 3) * 1e3 + 9 * 3e3),
    "towards the other": ({"linear": {"x": [-3.0]}}, {}, (14 * 5 + 4 + 3) * 1e3 + 9 * 3e3),
    "either way": ({}, {}, (14 * 2 + 1) * 2e3),
    "bounds that cancel": ({}, {"low": a(99), "high": a(99)}, (14 * 198 + 99) * 2e3),
    "a row": (
        {"constraints": [block("row", [[1.0]], 1e6)]},
        {"row": a(2)},
        (14 * 4 + 3 + 2) * 1e3 + 9 * 2e3 + 2 * 13e6 + 9 * 2e6,
    ),
}


@pytest.mark.parametrize("name", WITHOUT_BOUNDS)
def test_gaps_without_bounds(name):
    parts, multipliers, off = WITHOUT_BOUNDS[name]
    rows = (one_to_one("low", 1, -1.0, 1e3), one_to_one("high", 1, 1.0, 1e3), *parts.pop("constraints", ()))
    found = check_kkt(over(1, *rows, unit=1.0, **parts), a(0), {"low": a(1), "high": a(1), **multipliers}, 1.0)
    assert_near(found.gap_rounding, off)


@pytest.mark.parametrize(("residual", "low", "high", "sums"), [(3.0, 99.0, 99.0, 105), (-102.0, 0.0, -99.0, 105)])
def test_taking_the_multipliers_of_bounds_off_is_rounded(residual, low, high, sums):
    """Each time by what is left; here of a residual that is known without rounding, and ends at 3 or -3."""
    problem = over(1, one_to_one("low", 1, -1.0, 1e3), one_to_one("high", 1, 1.0, 1e3), unit=1.0)
    check = kkt._Check(problem, a(0), {"low": a(low), "high": a(high)}, 1.0, False, 1.0)
    check.residual = Ball.exact(a(residual))
    gap, rounding = check._gap_without_bounds()
    assert gap == 3e3
    assert_near(rounding, sums * 1e3 + 9 * 3e3)


# ---- what rounding hides is looked at more closely ----------------------------------------------------------------

GIANT = 2.0**30
CANCEL = [[GIANT, -GIANT, 1.0]]  # at (1, 1, 0) it is 0, to 4e-6 in doubles


def squared_slack():
    row = cc.Constraint("row", {"x": np.array(CANCEL), "s": DiagonalRows.identity(1, -1.0)}, unit=1e6)
    names = [cc.Variable("x", 3, "x"), cc.Variable("s", 1, "s")]
    problem = cc.Problem("slack", names, constraints=[row], quadratic={"s": [1e6]})
    return problem, a(1, 1, 0, 0), {"row": a(0)}


def priced(multiplier, unit):
    """Only what the row costs asks for digits."""
    costs = {"x": (-multiplier * np.array(CANCEL[0])).tolist()}
    return over(3, block("row", CANCEL, 0.0, unit=1e6), linear=costs, unit=unit), a(1, 1, 0), {"row": a(multiplier)}


def many(relation="<="):
    """Each of a hundred rows is known well enough, all together are not."""
    rows = np.tile([[2.0**17, -(2.0**17)]], (100, 1))
    costs = {"x": (-rows.sum(axis=0)).tolist()}
    return over(2, block("row", rows, 0.0, relation, unit=1e6), linear=costs), a(1, 1), {"row": np.ones(100)}


def pinned(p, x, slope, **parts):
    """One unknown between a row and its opposite, whose multipliers 1 and 1 + slope / 2^30 nearly cancel."""
    rows = block("row", [[GIANT], [-GIANT]], [GIANT * x, -GIANT * x])
    curved = {"quadratic": {"x": [p]}} if p else {}
    return over(1, rows, **curved, **parts), a(x), {"row": a(1, 1 + slope / GIANT)}


def tilted():
    """Columns that differ by a few hundredths of a hundredth: a rounding of the gradient is a larger change of
    multipliers."""
    rows = np.column_stack([[1e4, 1e4 + 1, 1e4 + 2, 1e4 + 3], np.ones(4)])
    return over(2, block("tie", rows, 0.0, "==")), a(0, 0), {"tie": a(1, -1, -1, 1)}


def opposite(reach, p, weight, unit):
    """Two losses that balance each other, of an argument 2^17 - 2^17, and an unknown with little curvature."""
    rows = np.array([[2.0**17, -(2.0**17), reach, 0.25]])
    term = cc.Term("rows", {"x": np.vstack([rows, -rows])}, loss=Logistic(), weights=weight)
    return over(4, terms=[term], quadratic={"x": [0.0, 0.0, p, 1.0]}, unit=unit), a(1, 1, 0, 0), {}


def fitted(h=2.0**-9):
    """Residuals h and -h of targets near 2^30: what they may be off costs more of the objective than the tolerance."""
    fit = cc.Term("fit", {"x": [[GIANT], [GIANT]]}, offset=[h - GIANT, -h - GIANT])
    return over(1, terms=[fit], unit=0.0), a(1), {}


#: name: (problem, point, multipliers), tolerance
CLOSELY = {
    "a row, of its unit": ((over(3, block("row", CANCEL, 1e-6)), a(1, 1, 1e-6), {"row": a(0)}), 1e-8),
    "a row, by its price": (priced(1.0, 1.0), 1e-8),
    "a row, by a high price": (priced(1e4, 1.0), 1e-8),
    "a row, of a small objective": (priced(1.0, 1e-6), 1e-8),
    "a row, by its squared slack": (squared_slack(), 1e-8),
    "many rows": (many(), 1e-8),
    "many equations": (many("=="), 1e-8),
    "a curved unknown": (pinned(1.0, 1.0, 1.0), 1e-8),
    "a curved unknown, hardly": (pinned(2.0**-20, 1.0, 2.0**-20, unit=0.0), 1e-8),
    "a flat unknown, by its effect": (pinned(0.0, -1024.0, 0.0), 1e-8),
    "a flat unknown, far away": (pinned(0.0, 2.0**20, 0.0), 1e-8),
    "a change of multipliers": (tilted(), 1e-11),
    "residuals, by what they cost": (fitted(), 1e-8),
    "an argument": (opposite(1.0, 1e-8, 1.0, 1.0), 1e-8),
    "an argument, of a long column": (opposite(1e3, 1e-2, 1.0, 1.0), 1e-8),
    "an argument, with weight": (opposite(1.0, 1e-4, 1e3, 1.0), 1e-8),
    "an argument, of a small unit": (opposite(1.0, 1e-12, 1e-6, 1e-6), 1e-8),
}


@pytest.mark.parametrize("name", CLOSELY)
def test_what_rounding_hides_is_looked_at_more_closely(name):
    """In doubles alone some bound is above the tolerance; with more digits all are far below it."""
    (problem, x, multipliers), tol = CLOSELY[name]
    loosely = check_kkt(problem, x, multipliers, LOOSE)
    closely = check_kkt(problem, x, multipliers, tol)
    assert max(loosely.measures().values()) <= 1e-14
    assert max(loosely.bounds().values()) > 2 * tol
    assert max(closely.bounds().values()) < 0.5 * tol


@pytest.mark.parametrize("relation", ["<=", "=="])
@pytest.mark.parametrize(("side", "counts"), [(0.0, True), (-1e-6, True), (1e-2, False)])
def test_where_digits_do_not_count_none_are_asked_for(relation, side, counts):
    """One block has to be looked at closely; of the other, on its side, beyond it or far within, the rounding of
    doubles, 15 times 2^31, is little of its unit, and of the objective at its multiplier."""
    blocks = block("row", CANCEL, 1e-6), block("other", CANCEL, side, relation, unit=1e6)
    for multiplier in (0.0, 2.0**-29):
        problem = over(3, *blocks, linear={"x": -multiplier * np.array(CANCEL[0])})
        kkt = check_kkt(problem, a(1, 1, 0), {"row": a(0), "other": a(multiplier)}, 1e-7)
        assert np.max(kkt.primal_feasibility.roundings["row"]) < 1e-9
        counted = (counts or relation == "==") * 15 * 2**31 / 1e6
        assert_near(np.max(kkt.primal_feasibility.roundings["other"]), counted)
        product = (relation == "<=") * multiplier * 15 * 2**31
        assert_near(np.max(kkt.complementary_slackness.roundings["other"]), product)


def sides(relation="<="):
    """At x = (1, 1) two rows are on their side and one is far within, or on it, too; the first has a multiplier."""
    rows = [[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]
    rhs = [0.0, 0.0, 0.0 if relation == "==" else 9.0]
    return (
        over(2, block("rows", rows, rhs, relation, unit=100.0), linear={"x": [-2.0, 2.0]}),
        a(1, 1),
        {"rows": a(2, 0, 0)},
    )


def nearly():
    """The last of the equations is off by little of the tolerance; another row has to be looked at closely."""
    rows = np.array([[1.0, -1.0, 0.0], [2.0, -2.0, 0.0], [3.0, -3.0, 0.0]])
    blocks = block("row", CANCEL, 1e-6), block("rows", rows, [0.0, 0.0, 1e-9], "==", unit=100.0)
    return over(3, *blocks, linear={"x": -2 * rows[0]}), a(1, 1, 1e-6), {"row": a(0), "rows": a(2, 0, 0)}


def idle(cost):
    """No row is near, and a slack that is 0 costs something."""
    rows = cc.Constraint("rows", {"x": np.eye(1), "s": DiagonalRows.identity(1, -1.0)}, rhs=100.0)
    sign = cc.Constraint("sign", {"s": DiagonalRows.identity(1, -1.0)})
    names = [cc.Variable("x", 1, "x"), cc.Variable("s", 1, "s")]
    problem = cc.Problem("idle", names, constraints=[rows, sign], linear={"s": [cost]})
    return problem, a(1, 0), {"rows": a(0), "sign": a(cost)}


def squared_slacks(multiplier):
    """1/2 2^20 s^2 for two rows that s = multiplier / 2^20 satisfies."""
    s = multiplier / 2**20
    row = cc.Constraint("rows", {"x": np.array(CANCEL * 2), "s": DiagonalRows.identity(2, -1.0)}, unit=1e6)
    names = [cc.Variable("x", 3, "x"), cc.Variable("s", 2, "s")]
    linear = {"x": -2 * multiplier * np.array(CANCEL[0])}
    problem = cc.Problem("slacks", names, constraints=[row], quadratic={"s": [2.0**20] * 2}, linear=linear)
    return problem, a(1, 1, s, s, s), {"rows": np.full(2, multiplier)}


def losses(loss, rows, offset=0.0, weights=1.0, x=0.0, **parts):
    term = cc.Term("rows", {"x": np.array(rows)}, loss=loss, offset=offset, weights=weights)
    return over(len(rows[0]), terms=[term], **parts), np.full(len(rows[0]), x), {}


#: name: (problem, point, multipliers), tolerance, what is asked for of its rows, in tenths of the tolerance
ASKED = {
    "rows, of their unit": ((over(2, block("rows", [[1.0, -1.0]], 0.0, unit=4.0)), a(1, 1), {"rows": a(0)}), 1e-20, 4),
    "rows, of their sizes": (
        (over(2, block("rows", [[1.0, -1.0], [3.0, -3.0]], 0.0)), a(1, 1), {"rows": a(0, 0)}),
        1e-20,
        [2, 6],
    ),
    "rows, by their price": (sides(), 1e-20, 1 / 2 / 2),
    "equations, by their price": (sides("=="), 1e-20, 1 / 2 / 3),
    "equations, beyond rounding": (nearly(), 1e-8, 1 / 2 / 3),
    "no row is near": (idle(4.0), 1e-20, 1 / 4),
    "squared slacks": (squared_slacks(0.0), 1e-8, (1 / 2 / 2**20 / 1e-9) ** 0.5),
    "squared slacks, by their price": (squared_slacks(1.0), 1e-8, 1 / 2),
    "a square": (losses(HalfSquare(), [[1.0]] * 3, [-1.5, -0.75, -0.75], x=1.0), 1e-20, 0.5),
    "a logarithm": (losses(Logistic(), [[1.0], [-1.0]]), 1e-20, 1),
    "a logarithm of curved unknowns": (losses(Logistic(), [[1.0], [-1.0]], quadratic={"x": [1e6]}), 1e-20, 1),
    "slopes that are 0": (
        losses(Logistic(), [[1.0], [-1.0]], 1e3, x=1.0, quadratic={"x": [1.0]}, linear={"x": [-1.0]}),
        1e-20,
        1,
    ),
    "by what it costs": (  # the losses are balanced by the constant, and the objective is 4, a unit
        losses(
            Logistic(), [CANCEL[0][:2], [-GIANT, GIANT]], 0.0, 2.0**40, 1.0, constant=-(2.0**41) * np.log(2), unit=4.0
        ),
        1e-8,
        (2 * 4 / 2**40 / 1e-9) ** 0.5,
    ),
    "by the gradient": (  # sqrt(2 f p) = (sqrt(32), sqrt(2), 4) by (4, 1/2, 0); slopes have twice 1/4 of 3 each
        losses(
            Logistic(), [[4.0, 0.5, 0.0], [-4.0, -0.5, 0.0]], 0.0, 3.0, quadratic={"x": [2.0, 0.125, 1.0]}, unit=8.0
        ),
        1e-20,
        2**0.5 / 3,
    ),
}


def test_bounds_by_row_come_before_doubled_precision():
    """Large entries in rows of their own, whose losses are flat there: one bound for all rows hides the answer, one a
    row does not, and nothing is worked out again. A point that is a little off is refused all the same."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), np.arange(60) % 2
    X[np.arange(8), np.arange(8)] = 2.0**20 * np.where(y[:8], 1.0, -1.0)
    problem = cc.LogisticMLE(X, y, l2=1.0)
    x = problem.solve(tol=1e-12).x
    with patch.object(kkt, "row_values", side_effect=AssertionError("doubled")):
        assert not kkt._Check(problem, x, {}, 1e-12, False, problem.unit).run().holds(1e-12)
        assert check_kkt(problem, x, {}, 1e-12).holds(1e-12)
    assert not check_kkt(problem, x * (1 + 1e-8), {}, 1e-12).holds(1e-12)


@pytest.mark.parametrize("name", ASKED)
def test_so_many_digits_are_asked_for(name):
    (problem, x, multipliers), tol, wanted = ASKED[name]
    scale = kkt._Check(problem, x, multipliers, tol, False, problem.unit).scale
    with patch.object(kkt, "row_values", wraps=kkt.row_values) as looked_at, np.errstate(all="ignore"):
        kkt._Check(problem, x, multipliers, tol, True, scale, doubled=True).run()
    asked = [call.args[4] for call in looked_at.call_args_list if call.args[2].name == "rows"]
    assert len(asked) == 1
    np.testing.assert_allclose(asked[0], 0.1 * tol * np.array(wanted), rtol=1e-9)


def test_what_is_wrong_whatever_rounding_hides_is_not_looked_at_twice():
    problem, x, _ = tilted()
    with (
        patch.object(kkt, "row_values", side_effect=AssertionError),
        patch.object(Gradient, "refined", side_effect=AssertionError),
    ):
        assert check_kkt(problem, x, {"tie": a(1, 1, 1, 1)}, 1e-11).stationarity.relative > 0.1


def test_the_tolerance_is_2e_10_where_none_is_named():
    """2^19 of 16 roundings are 9e-10 and looked at again, 2^15 of them 6e-11 and left."""
    for size, least, most in ((2.0**18, 0.0, 1e-13), (2.0**14, 1e-11, 1e-10)):
        problem = over(3, block("row", [[size, -size, 1.0]], 1.0))
        bound = check_kkt(problem, a(1, 1, 1), {"row": a(0)}).primal_feasibility.bound
        assert least <= bound <= most


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_point_that_is_no_number_has_measures_that_do_not_hold(value):
    curved = over(2, quadratic={"x": [1.0, 1.0]}), a(0, 0), {}
    for problem, x, multipliers in (squared_slack(), many(), pinned(1.0, 1.0, 1.0), tilted(), fitted(), curved):
        assert not check_kkt(problem, np.where(np.arange(x.size) == 0, value, x), multipliers).holds(1e6)
