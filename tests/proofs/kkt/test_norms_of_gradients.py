"""Bounds by norms of the gradient and of what it costs, worked out by hand: each time another part is the largest.

Each number is what the formula of ``at_once.py`` gives; what rounding adds is far below it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.rows import DiagonalRows
from tests.norm_bounds import CAP, CURVED, assert_bounds, pair, picked, slack
from tests.small_problems import a, block, over

ROOT = math.sqrt
#: min 3 x with 2 x <= 6 and 4 x <= 40; at x = 2, with the multipliers 1/2 and 1/4, the gradient is 3 + 1 + 1 = 5.
TWO_CAPS = (block("cap", [[2.0]], 6.0), block("far", [[4.0]], 40.0))
FLAT = {"linear": {"x": [3.0]}}
FLAT_POINT = a(2), {"cap": a(0.5), "far": a(0.25)}
#: One row, which picks out the first of two unknowns.
FIRST = sparse.csr_array(a(4, 0)[None])
#: name: (problem, point, multipliers), what is known
BY_HAND = {
    "the gradient, by the root of 2 f p": (
        (over(1, CAP, **CURVED, constant=5.0), a(1), {"cap": a(0.5)}),
        {
            "stationarity": 2 / ROOT(2 * 4 * 4),
            "complementary_slackness": 2 / 4,
            "relative_gap": (4 / 4 + 2) / 4,
            "primal_feasibility": 0.0,
            "violation": 0.0,
            "objective": 4.0,
            "scale": 4.0,
            "gradient": [2.0],
        },
    ),
    "the gradient, by the sum of sizes": (
        (over(1, CAP, **CURVED, constant=100.0), a(1), {"cap": a(0.5)}),
        {"stationarity": 2 / 8, "complementary_slackness": 2 / 99, "relative_gap": 3 / 99, "scale": 99.0},
    ),
    "a negative objective": (
        (over(1, CAP, **CURVED, constant=-99.0), a(1), {"cap": a(0.5)}),
        {"stationarity": 2 / 8, "relative_gap": 3 / 100, "objective": -100.0, "scale": 100.0},
    ),
    "a unit above the objective": (
        (over(1, CAP, **CURVED, constant=5.0, unit=100.0), a(1), {"cap": a(0.5)}),
        {"stationarity": 2 / 8, "relative_gap": 3 / 100, "objective": 4.0, "scale": 100.0},
    ),
    "a unit below the objective": (
        (over(1, CAP, **CURVED, constant=1.5, unit=0.25), a(1), {"cap": a(0.5)}),
        {"stationarity": 2 / ROOT(2 * 0.5 * 4), "relative_gap": 3 / 0.5, "scale": 0.5},
    ),
    "some unknowns curved": (  # the gradient is (2, -1), all of the second; its cost 2^2 / 4 and 1 |-2|
        (
            over(
                2,
                block("cap", [[2.0, -1.0]], 8.0),
                quadratic={"x": [4.0, 0.0]},
                linear={"x": [-3.0, -0.5]},
                constant=4.0,
            ),
            a(1, -2),
            {"cap": a(0.5)},
        ),
        {"stationarity": 1 / 1, "relative_gap": (1 + 2 + 2) / 4, "scale": 4.0},
    ),
    "little curvature": (  # 1/16 x^2 with x = 4: a gradient of 1/2 - 2 costs (3/2)^2 8
        (over(1, CAP, quadratic={"x": [0.125]}, linear={"x": [-2.0]}, constant=15.0), a(4), {"cap": a(0.0)}),
        {
            "stationarity": 1.5 / ROOT(2 * 8 / 8),
            "relative_gap": 18 / 8,
            "scale": 8.0,
            "primal_feasibility": 2 / 6 + 2 * 2 / 8,
            "violation": 2.0,
        },
    ),
    "the change of multipliers of rows with one entry": (  # their largest is 4, against 12 / 40
        (over(1, *TWO_CAPS, **FLAT), *FLAT_POINT),
        {
            "stationarity": 5 / 3 + 5 / 4 / 0.3,
            "complementary_slackness": 8 / 6,
            "relative_gap": (10 + 1 + 8) / 6,
            "objective": 6.0,
        },
    ),
    "a change of multipliers, the largest side first": (
        (over(1, *TWO_CAPS[::-1], **FLAT), *FLAT_POINT),
        {"stationarity": 5 / 3 + 5 / 4 / 0.3},
    ),
    "a change of large multipliers": (
        (over(1, *TWO_CAPS, **FLAT, constant=-5.0), *FLAT_POINT),
        {"stationarity": 5 / (1 / 2) + 5 / 4 / 0.05, "scale": 1.0},
    ),
    "a change of small multipliers": (
        (over(1, *TWO_CAPS, **FLAT, constant=94.0), *FLAT_POINT),
        {"stationarity": 5 / 5 + 5 / 4 / 0.5, "scale": 100.0},
    ),
    "a change of the slopes of losses": (  # 3 (2 - 4) = -6, and the gradient 3 - 12 + 7/2; without losses 3 / 4 counts
        (
            over(
                1,
                block("cap", [[1.0]], 4.0),
                terms=[cc.Term("fit", {"x": [[2.0]]}, offset=-4.0, weights=3.0)],
                linear={"x": [3.0]},
                constant=-7.5,
            ),
            a(1),
            {"cap": a(3.5)},
        ),
        {"scale": 1.5, "stationarity": 5.5 / 1.5 + 5.5 / 2 / 6, "relative_gap": (5.5 + 3 * 3.5) / 1.5},
    ),
    "the change of multipliers of one column": (  # 12 by 3^2 + 4^2 + 12^2; the gradient is 1/2 - 3 - 8 + 12
        (
            over(
                1,
                block("tie", [[-3.0], [4.0]], a(-6, 8), "=="),
                block("cap", [[-12.0], [0.0]], a(-24, 50)),
                linear={"x": [12.5]},
                constant=975.0,
            ),
            a(2),
            {"tie": a(1, -2), "cap": a(0, 0)},
        ),
        {
            "scale": 1000.0,
            "stationarity": 1.5 / 23.5 + 12 * 1.5 / 169 / 2,
            "relative_gap": 3 / 1000,
            "primal_feasibility": 0.0,
        },
    ),
    "the change of multipliers of columns": (  # (1, r; r, 1), r^2 = 1/2, has the inverse (2, -2r; -2r, 2)
        (
            over(2, block("cap", [[3.0, 4.0], [0.0, 4.0]], a(7, 4)), linear={"x": [3.0, 4.0]}, constant=93.0),
            a(1, 1),
            {"cap": a(0, 1)},
        ),
        {"scale": 100.0, "stationarity": 1 + 1.1 * ROOT(4 * (1 + 8**2 / 32)) / 1, "relative_gap": 11 / 100},
    ),
    "columns of two variables in a row": (  # as above; u and v are taken together
        (
            pair(
                cc.Constraint("cap", {"u": [[3.0], [0.0]], "v": [[4.0], [4.0]]}, rhs=a(7, 4)),
                linear={"u": [3.0], "v": [4.0]},
                constant=93.0,
            ),
            a(1, 1, 0, 0),
            {"cap": a(0, 1)},
        ),
        {"scale": 100.0, "stationarity": 1 + 1.1 * ROOT(4 * (1 + 8**2 / 32)) / 1},
    ),
    "variables in rows of their own": (  # 3 of u and 8 of v are 3 3 / 25 and 4 8 / 16 in multipliers
        (
            pair(
                cc.Constraint("first", {"u": [[3.0], [4.0]]}, rhs=a(3, 4)),
                cc.Constraint("second", {"v": [[4.0], [0.0]]}, rhs=a(4, 0)),
                linear={"u": [3.0], "v": [4.0]},
                constant=93.0,
            ),
            a(1, 1, 0, 0),
            {"first": a(0, 0), "second": a(1, 0)},
        ),
        {"scale": 100.0, "stationarity": 1 + 4 * 8 / 16},
    ),
    "variables in rows of their own, the first one worse": (
        (
            pair(
                cc.Constraint("first", {"u": [[3.0], [4.0]]}, rhs=a(3, 4)),
                cc.Constraint("second", {"v": [[4.0], [0.0]]}, rhs=a(4, 0)),
                linear={"u": [93.0], "v": [4.0]},
                constant=3.0,
            ),
            a(1, 1, 0, 0),
            {"first": a(0, 1), "second": a(0, 0)},
        ),
        {"scale": 100.0, "stationarity": 1 + 4 * 97 / 25},
    ),
    "a variable that is a slack in another row": (  # of the second row only u is added up: 1 + 4, 0; 0, 4 and 3, 2
        (
            pair(
                cc.Constraint("first", {"u": [[1.0], [0.0]], "w": [[0.0, 0.0], [2.0, 0.0]]}, rhs=a(9, 9)),
                cc.Constraint("second", {"u": [[2.0], [0.0]], "w": DiagonalRows.identity(2, -4.0)}, rhs=a(9, 9)),
                cc.Constraint("third", {"w": [[0.0, 2.0]]}, rhs=9.0),
                linear={"u": [3.0], "w": [2.0, 0.0]},
                constant=1000.0,
            ),
            a(0, 0, 0, 0),
            {"first": a(0, 0), "second": a(0, 1), "third": a(2)},
        ),
        {"scale": 1000.0, "stationarity": 1 + 1.1 * ROOT(3 * (9 / 5 + 4 / 4)) / 2},
    ),
    "columns that follow from others": (  # (1, -1; -1, 1) / 1 with 1/2 (1, 1; 1, 1): its inverse has the trace 1 + 1/2
        (
            pair(
                cc.Constraint("cap", {"w": [[1.0, -1.0]]}, rhs=1.0),
                linear={"w": [3.0, -3.0]},
                constant=100.0,
                gauge={"w": [[1.0, 1.0]]},
            ),
            a(0, 0, 0, 0),
            {"cap": a(1)},
        ),
        {"scale": 100.0, "stationarity": 1 + 1.1 * ROOT(1.5 * 2) * 4},
    ),
    "columns that nearly depend": (
        (over(2, block("cap", [[1.0, 1.0], [0.0, 5e-4]], 1.0), linear={"x": [1.0, 1.0]}), a(0, 0), {"cap": a(1, 0)}),
        {"stationarity": math.inf},
    ),
    "columns that depend": (
        (over(2, block("cap", [[1.0, 1.0], [0.0, 0.0]], 1.0), linear={"x": [1.0, 1.0]}), a(0, 0), {"cap": a(1, 0)}),
        {"stationarity": math.inf},
    ),
    "an unknown that no row has, beside others": (
        (
            pair(
                cc.Constraint("first", {"u": [[3.0], [4.0]]}, rhs=9.0),
                cc.Constraint("second", {"w": FIRST}, rhs=9.0),
                linear={"u": [3.0], "w": [1.0, 0.0]},
            ),
            a(0, 0, 0, 0),
            {"first": a(1, 0), "second": a(1)},
        ),
        {"stationarity": math.inf},
    ),
    "an unknown that no row has": (
        (over(2, block("cap", [[1.0, 0.0]], 1.0), linear={"x": [1.0, 1.0]}), a(0, 0), {"cap": a(1)}),
        {"stationarity": math.inf},
    ),
    "an unknown that nothing speaks of, beside small ones": (  # 1/4 - 1/8, of a size of 3/8
        (
            over(
                2,
                quadratic={"x": [0.25, 0.0]},
                linear={"x": [-0.125, 0.0]},
                constant=100.0,
                terms=[cc.Term("none", {"x": [[0.0, 0.0]]})],
            ),
            a(1, 0),
            {},
        ),
        {"stationarity": 0.125 / 0.375},
    ),
    "an unknown that nothing speaks of": (
        (
            over(2, block("cap", [[1.0, 0.0]], 1.0), quadratic={"x": [1.0, 0.0]}, linear={"x": [1.0, 0.0]}),
            a(0, 0),
            {"cap": a(1)},
        ),
        {"stationarity": 2 / ROOT(2)},
    ),
    "rows of one entry in two blocks": (  # of each unknown the largest entry: 4 and 8
        (
            over(
                2,
                picked("first", [4.0, 0.0], [0.0, 1.0]),
                picked("second", [2.0, 0.0], [0.0, 8.0]),
                linear={"x": [3.0, 24.0]},
                constant=100.0,
            ),
            a(0, 0),
            {"first": a(0, 1), "second": a(1, 0)},
        ),
        {"scale": 100.0, "stationarity": 1 + 25 / 8 / 1},
    ),
    "rows of one entry beside others": (  # 4^2 + 3^2 and 1 + 4^2, between them 3 4
        (
            over(
                2,
                picked("first", [4.0, 0.0], [0.0, 1.0]),
                block("second", [[3.0, 4.0]], 9.0),
                linear={"x": [5.0, 0.0]},
                constant=100.0,
            ),
            a(0, 0),
            {"first": a(1, 1), "second": a(0)},
        ),
        {"scale": 100.0, "stationarity": 1 + 1.1 * ROOT(2 / (1 - 144 / 425) * (9**2 / 25 + 1 / 17))},
    ),
    "rows of one entry, of one unknown only": (
        (
            over(2, picked("first", [4.0, 0.0]), linear={"x": [1.0, 0.0]}),
            a(0, 0),
            {"first": a(1)},
        ),
        {"stationarity": math.inf},
    ),
    "a unit of rows without sides": (
        (over(1, block("cap", [[2.0]], 0.0), linear={"x": [3.0]}, constant=100.0), a(0), {"cap": a(1)}),
        {"scale": 100.0, "stationarity": 1 + 5 / 2 / 1},
    ),
    "small sides": (  # 2 / 0.5 = 4 may be paid for one unit
        (over(1, block("cap", [[2.0]], 0.5), linear={"x": [3.0]}), a(0), {"cap": a(100)}),
        {"scale": 1.0, "stationarity": 1 + 203 / 2 / 4, "complementary_slackness": 50.0},
    ),
    "variables with an entry for each sample": (  # are judged by sizes alone
        (
            cc.Problem(
                "dual",
                [cc.Variable("z", 2, "z", "samples")],
                constraints=[cc.Constraint("sum", {"z": [[1.0, 1.0]]}, rhs=2.0, relation="==")],
                linear={"z": [3.0, 1.0]},
                constant=96.0,
            ),
            a(1, 1),
            {"sum": a(-2)},
        ),
        {"scale": 100.0, "stationarity": 1 / 3, "relative_gap": 2 / 100},
    ),
    "slacks, by what a side may cost": (  # 2 1 / 8 for each unit; s is off by 50, x by 150
        (slack(100.0, 0.0, 4.0, 8.0), a(0, 0, 0), {"row": a(50, 100)}),
        {"stationarity": 50 / 0.25 + 150 / 2 / 0.25},
    ),
    "many slacks, whose rows are not written out": (  # 150 rows of -2, whose multipliers are 50 each
        (slack(100.0, 0.0, *[8.0] * 150, reach=-2.0), np.eye(151)[0], {"row": np.full(150, 50.0)}),
        {"stationarity": 15000 + 2 * 15000 / 600 / 0.25, "relative_gap": 15000 + 50 * 10 * 150, "violation": 0.0},
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_gradients_by_hand(name):
    assert_bounds(*BY_HAND[name])
