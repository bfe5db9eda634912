"""Bounds by norms of violations, products and what bounds cost, worked out by hand."""

from __future__ import annotations

import pytest

import convexcls as cc
from convexcls.rows import DiagonalRows
from tests.norm_bounds import ROWS, assert_bounds, one_to_one, slack
from tests.small_problems import a, block, over

#: -1 <= x_1 <= 3 and -2 <= x_2 <= 8.
BOX = one_to_one("low", 2, -1.0, a(1, 2)), one_to_one("high", 2, 1.0, a(3, 8))
#: name: (problem, point, multipliers), what is known
BY_HAND = {
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
    "squared slacks, by what the last part costs": (
        (slack(0.0, 1000.0, 4.0, 8.0), a(10, 0, 0), {"row": a(0, 0)}),
        {"primal_feasibility": 6 / 8 + 1000 * 6 * 8, "violation": 6.0},
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_rows_by_hand(name):
    assert_bounds(*BY_HAND[name])
