"""Bounds by norms, worked out by hand: on small problems in which one part of one bound is larger than all others.

Each number is the bound that the formula of ``at_once.py`` gives; what rounding adds is far below it, or, in the second
half, all there is.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.losses import Exponential, HalfSquare, Logistic
from convexcls.proofs.kkt import at_once
from convexcls.proofs.kkt.at_once import MeasuredLater, _Block, _Bounds, bounded_at_once
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify
from convexcls.rows import DiagonalRows
from tests.small_problems import a, block, over

ROOT = math.sqrt


def known(problem, x, multipliers):
    found = bounded_at_once(problem, x, multipliers)
    assert found is not None
    return found


def one_to_one(name, size, value, rhs, relation="<=", variable="x", **more):
    return cc.Constraint(name, {variable: DiagonalRows.identity(size, value)}, rhs=rhs, relation=relation, **more)


def picked(name, values):
    """Rows that pick out the unknowns one by one, and are not known to be a diagonal."""
    return cc.Constraint(name, {"x": sparse.diags_array(values).tocsr()}, rhs=9.0)


def pair(*constraints, **parts):
    """Over u, v of one entry each, and w of two."""
    names = [cc.Variable("u", 1, "u"), cc.Variable("v", 1, "v"), cc.Variable("w", 2, "w")]
    return cc.Problem("pair", names, constraints=constraints, **parts)


def slack(cost, curvature, *rhs, reach=1.0, **parts):
    """Rows reach x - s <= rhs of a slack s for each, without a sign."""
    n = len(rhs)
    row = cc.Constraint("row", {"x": np.full((n, 1), reach), "s": DiagonalRows.identity(n, -1.0)}, rhs=np.array(rhs))
    names = [cc.Variable("x", 1, "x"), cc.Variable("s", n, "s", "samples")]
    costs = {"linear": {"s": [cost] * n}} if cost else {"quadratic": {"s": [curvature] * n}}
    return cc.Problem("slack", names, constraints=[row], **costs, **parts)


#: min 2 x^2 - 3 x + 5 with 2 x <= 6: at x = 1 it is 4, and with the multiplier 1/2 the gradient is 4 - 3 + 1 = 2.
CURVED = {"quadratic": {"x": [4.0]}, "linear": {"x": [-3.0]}}
CAP = block("cap", [[2.0]], 6.0)
#: min 3 x with 2 x <= 6 and 4 x <= 40; at x = 2, with the multipliers 1/2 and 1/4, the gradient is 3 + 1 + 1 = 5.
TWO_CAPS = (block("cap", [[2.0]], 6.0), block("far", [[4.0]], 40.0))
FLAT = {"linear": {"x": [3.0]}}
FLAT_POINT = a(2), {"cap": a(0.5), "far": a(0.25)}
#: At (1, 3) a row is on its side, one beyond it by 2, and one far within: by 96.
ROWS = ([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [2.0, 4.0, 100.0])
FIT = cc.Term("fit", {"x": [[1.0, 2.0]]}, offset=-4.0, weights=3.0)
BOX = one_to_one("low", 2, -1.0, a(1, 2)), one_to_one("high", 2, 1.0, a(3, 8))

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
                cc.Constraint("second", {"w": sparse.csr_array(a(4, 0)[None])}, rhs=9.0),
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
                2, picked("first", [4.0, 1.0]), picked("second", [2.0, 8.0]), linear={"x": [3.0, 24.0]}, constant=100.0
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
                picked("first", [4.0, 1.0]),
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
            over(2, cc.Constraint("first", {"x": sparse.csr_array(a(4, 0)[None])}, rhs=9.0), linear={"x": [1.0, 0.0]}),
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
    # ---- rows
    "rows beyond their sides": (
        (over(2, block("row", *ROWS)), a(1, 3), {"row": a(0, 0, 0)}),
        {"primal_feasibility": 2 / 100, "violation": 2.0, "complementary_slackness": 0.0, "stationarity": 0.0},
    ),
    "rows beyond their sides, by their price": (
        (over(2, block("row", *ROWS)), a(1, 3), {"row": a(0.5, 0.25, 2)}),
        {
            "primal_feasibility": 2 / 100 + 2 * 2,
            "complementary_slackness": 192.0,
            "relative_gap": 192 + 0.5 + 3 * 1 + 2.5 * 3,
        },
    ),
    "rows beyond their sides, by the costs": (
        (over(2, block("row", *ROWS), linear={"x": [-5.0, 0.0]}), a(1, 3), {"row": a(0, 0, 0)}),
        {"primal_feasibility": 2 / 100 + 5 * 2 / 5, "scale": 5.0},
    ),
    "several rows beyond their sides": (
        (
            over(2, block("row", [[1.0, 0.0], [0.0, 1.0]], a(-4, -8)), linear={"x": [3.0, 0.0]}),
            a(-3, -2),
            {"row": a(0, 0)},
        ),
        {"primal_feasibility": 6 / 8 + 3 * 7 / 9, "violation": 6.0},
    ),
    "equations": (
        (over(2, block("row", *ROWS, "==")), a(1, 3), {"row": a(-0.5, 0.25, 2)}),
        {"primal_feasibility": 96 / 100 + 2 * 98, "violation": 96.0, "complementary_slackness": 0.0},
    ),
    "equations by the unit": (
        (over(2, block("row", *ROWS, "==", unit=400.0)), a(1, 3), {"row": a(0, 0, 0)}),
        {"primal_feasibility": 96 / 400},
    ),
    "equations with a small unit": (
        (over(2, block("row", *ROWS, "==", unit=10.0)), a(1, 3), {"row": a(0, 0, 0)}),
        {"primal_feasibility": 96 / 100},
    ),
    "the worst block is the first": (
        (over(1, block("a", [[1.0]], 1.0), block("b", [[1.0]], 2.0)), a(3), {"a": a(1), "b": a(3)}),
        {
            "primal_feasibility": 2 / 1 + 3 * 2,
            "violation": 2.0,
            "complementary_slackness": 3.0,
            "relative_gap": 12 + 2 + 3,
        },
    ),
    "the worst block is the last": (
        (over(1, block("b", [[1.0]], 2.0), block("a", [[1.0]], 1.0)), a(3), {"a": a(4), "b": a(3)}),
        {
            "primal_feasibility": 2 / 1 + 4 * 2,
            "violation": 2.0,
            "complementary_slackness": 8.0,
            "relative_gap": 21 + 8 + 3,
        },
    ),
    "rows without a side": (
        (over(2, block("row", [[1.0, -1.0], [3.0, -3.0]], 0.0)), a(1, -0.5), {"row": a(0, 0)}),
        {"primal_feasibility": 4.5 / 1.5},
    ),
    "a bound without a side": (
        (over(2, one_to_one("sign", 2, 1.0, 0.0)), a(0.5, 2), {"sign": a(0, 0)}),
        {"primal_feasibility": 2 / 2},
    ),
    "two unknowns in a row without a side": (
        (
            cc.Problem(
                "two",
                [cc.Variable("u", 2, "u"), cc.Variable("v", 2, "v")],
                constraints=[cc.Constraint("row", {"u": DiagonalRows.identity(2), "v": DiagonalRows.identity(2)})],
            ),
            a(1, 4, 1, 4),
            {"row": a(0, 0)},
        ),
        {"primal_feasibility": 8 / 2},
    ),
    "unknowns between two bounds": (
        (over(2, *BOX, linear={"x": [1.0, 1.0]}), a(2, 10), {"low": a(0, 0), "high": a(0, 0)}),
        {"primal_feasibility": 2 / 4 + 1 * 2 / 12, "relative_gap": (4 + 12) / 12},
    ),
    "unknowns below their bounds": (
        (over(2, *BOX, linear={"x": [1.0, 1.0]}, constant=17.0), a(-3, -4), {"low": a(0, 0), "high": a(0, 0)}),
        {"primal_feasibility": 2 / 2 + 1 * 4 / 10, "relative_gap": (6 + 12) / 10},
    ),
    "unknowns above their bounds": (
        (over(2, *BOX, linear={"x": [1.0, 1.0]}), a(5, 11), {"low": a(0, 0), "high": a(0, 0)}),
        {"primal_feasibility": 3 / 4 + 1 * 5 / 16, "relative_gap": (6 + 13) / 16},
    ),
    "a pinned unknown": (
        (
            over(
                2, one_to_one("low", 2, -1.0, a(-3, 2)), one_to_one("high", 2, 1.0, a(3, 8)), linear={"x": [0.0, 1.0]}
            ),
            a(3, 10),
            {"low": a(0, 0), "high": a(0, 0)},
        ),
        {"primal_feasibility": 2 / 8 + 1 * 2 / 10},
    ),
    "a row beside bounds": (
        (
            over(2, *BOX, block("row", [[1.0, 1.0]], 10.0), linear={"x": [1.0, 1.0]}),
            a(3, 8),
            {"low": a(0, 0), "high": a(0, 0), "row": a(0)},
        ),
        {"primal_feasibility": 1 / 10 + 1 * 1 / 11},
    ),
    "bounds beside a row": (
        (
            over(2, *BOX, block("row", [[1.0, 1.0]], 20.0), linear={"x": [1.0, 1.0]}),
            a(2, 10),
            {"low": a(0, 0), "high": a(0, 0), "row": a(0)},
        ),
        {"primal_feasibility": 2 / 4 + 1 * 2 / 12, "relative_gap": (4 + 12) / 12},
    ),
    "an unknown with one bound": (
        (over(2, one_to_one("high", 2, 1.0, a(3, 8)), linear={"x": [1.0, 1.0]}), a(-3, 2), {"high": a(0, 0)}),
        {"primal_feasibility": 0.0, "relative_gap": 5.0},
    ),
    # ---- slacks
    "slacks, by what a side may cost": (  # 2 1 / 8 for each unit; s is off by 50, x by 150
        (slack(100.0, 0.0, 4.0, 8.0), a(0, 0, 0), {"row": a(50, 100)}),
        {"stationarity": 50 / 0.25 + 150 / 2 / 0.25},
    ),
    "many slacks, whose rows are not written out": (  # 150 rows of -2, whose multipliers are 50 each
        (slack(100.0, 0.0, *[8.0] * 150, reach=-2.0), np.eye(151)[0], {"row": np.full(150, 50.0)}),
        {"stationarity": 15000 + 2 * 15000 / 600 / 0.25, "relative_gap": 15000 + 50 * 10 * 150, "violation": 0.0},
    ),
    "squared slacks, by what the last part costs": (
        (slack(0.0, 1000.0, 4.0, 8.0), a(10, 0, 0), {"row": a(0, 0)}),
        {"primal_feasibility": 6 / 8 + 1000 * 6 * 8, "violation": 6.0},
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    given, wanted = BY_HAND[name]
    found = known(*given)._asdict()
    for field, value in wanted.items():
        assert found[field] == pytest.approx(value, rel=1e-9, abs=1e-9), field


# ---- what rounding adds -------------------------------------------------------------------------------------------

#: A rounding and the least number.
U, ETA = 2.0**-53, 2.0**-1074
#: A curved unknown whose gradient is 4 - 4, and a row far from it: 12 + 3 numbers are added up.
STILL = {"quadratic": {"x": [4.0]}, "linear": {"x": [-4.0]}, "constant": 10.0}


def rounded(problem, x, multipliers, wanted):
    found = known(problem, x, multipliers)._asdict()
    for field, value in wanted.items():
        assert found[field] == pytest.approx(value, rel=1e-6, abs=0.0), field


def test_rows_are_rounded():
    """12 roundings and 2 of each row, of the largest entries of the columns and the largest side, on one row's side."""
    problem, x = over(2, block("row", *ROWS)), a(1, 1.5)
    off = 14 * U * (2 * 1 + 2 * 1.5 + 100)
    rounded(problem, x, {"row": a(0, 0, 0)}, {"violation": off, "primal_feasibility": off / 100})
    assert known(problem, a(0.5, 1), {"row": a(0, 0, 0)}).primal_feasibility == 0.0
    unit = over(2, block("row", *ROWS), unit=1e6, linear={"x": [0.0, 3.0]})
    rounded(unit, x, {"row": a(0, 0, 0)}, {"primal_feasibility": off / 100 + 3 * off / 1e6})
    for relation in ("<=", "=="):
        two = over(2, block("row", [[2.0, 0.0], [0.0, 2.0]], [2.0, 3.0], relation), linear={"x": [-2.0, -10.0]})
        off = 14 * U * (2 * 1 + 2 * 1.5 + 3)
        product = 0.0 if relation == "==" else 5 * off / 17
        found = known(two, x, {"row": a(1, 5)})
        assert found.primal_feasibility == pytest.approx(off / 3 + 10 * 2 * off / 17, rel=1e-6)
        assert found.complementary_slackness == pytest.approx(product, rel=1e-6)
        gradient = 1.02 * U * (12 + 2 + 2) * (4 + 20 * 1.5)  # of sizes 2 + 2 and 10 + 10
        assert found.relative_gap == pytest.approx((gradient + 6 * off) / 17, rel=1e-6)


def test_a_row_on_its_side_may_be_beyond_it():
    problem = over(1, block("row", [[1.0], [1.0], [1.0]], [3.0, 3.0 + 16 * U * 4, 4.0]))  # within by half, and by far
    off = 13 * U * (3 + 4)
    rounded(problem, a(3), {"row": a(1, 0, 0)}, {"violation": off, "primal_feasibility": off / 4 + 1 * 2 * off})


def test_the_least_numbers():
    problem = over(1, block("row", [[1.0]], 0.0), quadratic={"x": [1.0]})
    assert known(problem, a(0), {"row": a(0)}).violation == 8 * 13 * ETA
    still = over(1, CAP, quadratic={"x": [1.0]}, linear={"x": [-(2.0**-1064)]})
    found = known(still, a(2.0**-1064), {"cap": a(0)})
    assert found.stationarity == 64 / (2 * 1024)


def test_the_gradient_is_rounded():
    """12 and 2 numbers more than the rows of each block are added up, of sizes 4 + 4 and 1/2 2."""
    problem = over(1, CAP, block("far", [[4.0], [0.0]], 40.0), **STILL)
    for z, size in ((0.0, 8.0), (1.0, 8.0)):
        given = {"cap": a(0), "far": a(0, z)}
        rad = 1.02 * U * (12 + 3 + 4) * size
        rounded(problem, a(1), given, {"stationarity": rad / 8, "scale": 8.0})
    tied = over(1, block("tie", [[2.0], [-2.0]], a(2, -2), "=="), **STILL)
    rounded(tied, a(1), {"tie": a(-1, -1)}, {"stationarity": 1.02 * U * (12 + 4) * (8 + 4) / 8})


def with_errors(problem, x, multipliers, relative, absolute):
    """The bounds where the entries of all blocks are off by so much of themselves, and by so much."""
    blocks = [_Block.of(problem, b)._replace(relative=relative, absolute=absolute) for b in problem.blocks]
    return _Bounds(problem, blocks, x).found(multipliers)


def test_entries_may_be_off():
    """By a half of themselves, by 1/4 and 1/8, or by both: the rows, 2 + 2 and 4 more, and the gradient at 3 and 1."""
    problem = over(
        2,
        block("row", [[2.0, 0.0], [0.0, 2.0]], [2.0, 4.0], "=="),
        quadratic={"x": [1.0, 2.0]},
        linear={"x": [1.0, 6.0]},
        constant=-1000.0,
    )
    x, z, scale = a(1, 2), {"row": a(-1, -5)}, 982.5
    for relative, absolute, off, rad in (
        (0.5, 0.0, 0.5 * (6 + 4), (1, 5)),
        (0.0, a(0.25, 0.125), 0.5, (6 / 4, 6 / 8)),
        (0.5, a(0.25, 0.125), 5.5, (1 + 6 / 4, 5 + 6 / 8)),
    ):
        found = with_errors(problem, x, z, relative, absolute)
        assert found.scale == scale
        assert found.violation == pytest.approx(off, rel=1e-9)
        assert found.primal_feasibility == pytest.approx(off / 4 + 6 * 2 * off / scale, rel=1e-9)
        assert found.stationarity == pytest.approx(max(rad[0] / 4, rad[1] / 20), rel=1e-9)
        assert found.relative_gap == pytest.approx((rad[0] ** 2 + rad[1] ** 2 / 2 + 6 * off) / scale, rel=1e-9)


@pytest.mark.parametrize(("loss", "steepest"), [(HalfSquare(), 0.5), (Logistic(), 0.25), (Exponential(), None)])
def test_slopes_are_off_where_their_arguments_are(loss, steepest):
    """Of the weights 3 and 1/4; by twice the curvature, of a square by it. It costs its half, and goes to curved
    unknowns with the largest entries of their columns."""
    term = cc.Term("fit", {"x": [[2.0], [-1.0]]}, offset=a(-2, 1), loss=loss, weights=a(3, 0.25))
    slope = float(3 * 2 * loss.slope(np.zeros(1))[0] - 0.25 * loss.slope(np.zeros(1))[0])
    problem = over(1, terms=[term], quadratic={"x": [8.0]}, linear={"x": [-8.0 - slope]}, constant=1000.0)
    off = 0.125 * (2 * 1 + 2)
    error = 2 * 3.25 * steepest * off if steepest else 2 * 3.25 * float(loss.slope_change(np.zeros(1), off)[0])
    found = with_errors(problem, a(1), {}, 0.125, 0.0)
    size = 8 + abs(8 + slope) + (2 * 3 + 0.25) * abs(float(loss.slope(np.zeros(1))[0]))
    rad = 2 * error + 0.125 * (2 * 3 + 0.25) * abs(float(loss.slope(np.zeros(1))[0]))
    assert found.stationarity == pytest.approx(rad / size, rel=1e-9)
    assert found.relative_gap == pytest.approx((rad**2 / 8 + 0.5 * error * off) / found.scale, rel=1e-9)
    flat = over(1, terms=[term], linear={"x": [-slope]}, constant=1000.0)
    found = with_errors(flat, a(1), {}, 0.125, 0.0)
    own = rad - 2 * error  # a slope that is off is another multiplier
    assert found.relative_gap == pytest.approx((own * 1 + 0.5 * error * off) / found.scale, rel=1e-9)


def test_slopes_are_rounded_themselves():
    """8 halves, of the weight 3; 14 roundings of an argument near 0 are nothing beside them, and 15 of the gradient."""
    term = cc.Term("fit", {"x": [[1.0]]}, loss=Logistic(), weights=3.0)
    problem = over(1, terms=[term], quadratic={"x": [4.0]}, linear={"x": [1.5]}, constant=100.0)
    rounded(problem, a(0), {}, {"stationarity": (8 * 1.5 + 1.02 * 15 * 3) * U / 3})
    fit = cc.Term("fit", {"x": [[1.0]]}, weights=3.0)  # of a square the slope is the argument: one rounding, of 3
    problem = over(1, terms=[fit], quadratic={"x": [4.0]}, linear={"x": [-7.0]}, constant=100.0)
    rounded(problem, a(1), {}, {"stationarity": (1 * 3 + 3 * 13 + 1.02 * 15 * 14) * U / 14})


# ---- what is left to the check ------------------------------------------------------------------------------------


def test_what_norms_do_not_decide_is_left_to_the_check(monkeypatch):
    fine = over(1, CAP, **CURVED)
    assert bounded_at_once(fine, a(1), {"cap": a(0)}) is not None
    ball = cc.NormBound("ball", {"x": np.eye(2)}, bound=5.0)
    rows = block("row", [[1.0, 1.0]], 100.0)
    assert bounded_at_once(over(2, rows, norm_bounds=[ball]), a(0, 0), {"row": a(0), "ball": a(0, 0, 0)}) is None
    matrix = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert bounded_at_once(over(2, rows, quadratic={"x": matrix}), a(0, 0), {"row": a(0)}) is None
    assert bounded_at_once(over(2, quadratic={"x": [1.0, 1.0]}), a(0, 0), {}) is None
    third = over(1, CAP, quadratic={"x": [1.0]}, linear={"x": [Fraction(1, 3)]})  # costs that doubles round
    assert bounded_at_once(third, a(0), {"cap": a(0)}) is None
    names = [cc.Variable("x", 1, "x"), cc.Variable("s", 1, "s")]
    sides = [
        cc.Constraint(name, {"x": [[sign]], "s": DiagonalRows.identity(1, -1.0)}, rhs=1.0)
        for name, sign in (("up", 1.0), ("down", -1.0))
    ]
    distance = cc.Problem("distance", names, constraints=sides, linear={"s": [1.0]})
    assert bounded_at_once(distance, a(1, 0), {"up": a(0.5), "down": a(0.5)}) is None
    for weights, counts in (([1.0, 0.0], False), ([0.5, 2.0], True)):
        fit = cc.Term("fit", {"x": [[1.0], [2.0]]}, weights=weights)
        assert (bounded_at_once(over(1, terms=[fit]), a(1), {}) is not None) is counts
    wrong = over(1, block("row", [[1.0], [1.0]], 1.0))
    assert bounded_at_once(wrong, a(0), {"row": a(1, -1e-300)}) is None
    assert bounded_at_once(wrong, a(0), {"row": a(0, 0)}) is not None
    empty = over(1, CAP, block("none", np.zeros((0, 1)), 0.0), **CURVED)
    assert bounded_at_once(empty, a(1), {"cap": a(0), "none": a()}) is not None
    for unit, constant, counts in ((0.0, 0.0, False), (0.0, 0.5, True), (0.5, 0.0, True)):
        found = bounded_at_once(over(1, CAP, quadratic={"x": [1.0]}, unit=unit, constant=constant), a(0), {"cap": a(0)})
        assert (found is not None) is counts
    far = over(1, block("cap", [[1.0]], -1e155), quadratic={"x": [1.0]})  # where nothing but the objective overflows
    assert bounded_at_once(far, a(-1e155), {"cap": a(1e155)}) is None
    assert bounded_at_once(over(1, CAP, **CURVED), a(1), {"cap": a(1e308)}) is None  # and here the gap
    for name, least, more in (("MAX_SMALL_UNKNOWNS", 2, 1), ("MAX_SMALL_ENTRIES", 2, 1)):
        for most, small in ((least, True), (more, False)):
            with monkeypatch.context() as patched:
                patched.setattr(at_once, name, most)
                assert at_once.is_small(over(2, rows)) is small
                assert (bounded_at_once(over(2, rows), a(0, 0), {"row": a(0)}) is not None) is small


def test_a_quarter_of_the_tolerance_is_asked_for():
    """Bounds may be half of what is measured."""
    problem, x, z = over(1, CAP, **CURVED, constant=5.0), a(1), {"cap": a(0.5)}  # the largest is the gap, 3/4
    found = known(problem, x, z)
    assert found.holds(3.0001)
    assert not found.holds(2.9999)
    exact = found._replace(stationarity=0.0, primal_feasibility=0.25, complementary_slackness=0.25, relative_gap=0.25)
    assert exact.holds(1.0)
    for name in found._fields[:4]:
        assert not exact._replace(**{name: 0.26}).holds(1.0)
        assert not exact._replace(**{name: math.nan}).holds(1.0)
    assert exact._replace(violation=9.0, scale=9.0, objective=9.0).holds(1.0)


def test_what_is_not_far_below_the_tolerance_is_measured():
    problem, x, z = over(1, CAP, **CURVED, constant=5.0), a(1), {"cap": a(0.5)}
    plain = check_kkt(problem, x, z)
    assert 0.5 < plain.worst <= 0.75  # a cap that is not tight has a multiplier
    later = certify(problem, x, z, 4.0).kkt
    assert isinstance(later, MeasuredLater)
    assert later.holds(3.5)
    assert later.dependent == ()
    assert (later.objective, later.scale, later.violation) == (4.0, 4.0, 0.0)
    assert later.lower == pytest.approx(4.0 - 3.0)
    assert not {"stationarity", "gap_rounding"} & vars(later).keys()  # so far nobody has looked
    assert later.holds(2.0)  # by the measures
    assert "stationarity" in vars(later)
    assert not later.holds(0.5)
    assert not isinstance(certify(problem, x, z, 2.0).kkt, MeasuredLater)
    with pytest.raises(AttributeError, match="colour"):
        _ = later.colour
    with pytest.raises(AttributeError, match="stationarity"):  # half made, as by copying
        _ = MeasuredLater.__new__(MeasuredLater).stationarity
