"""Slacks that cost far more than the objective: multipliers are measured by what the right-hand side may cost."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.kkt.check import check_kkt
from convexcls.rows import DiagonalRows
from tests.small_problems import a, block

ONE = DiagonalRows.identity(1, -1.0)
ROW = cc.Constraint("row", {"x": [[2.0]], "s": ONE}, rhs=-4.0)
SIGN = cc.Constraint("sign", {"s": ONE})
TWO = cc.Constraint("row", {"x": [[2.0]], "s": ONE, "t": ONE}, rhs=-4.0)
TALL = cc.Constraint("tall", {"x": [[1.0]], "t": ONE}, rhs=8.0)


def weighed(*blocks, names="xs", unit=3.0, **parts):
    """2 x - s <= -4 at x = s = 0, where the objective is its unit: twice that by 4 is the most of a multiplier, 1.5."""
    variables = [cc.Variable(v, 1, v) for v in names]
    linear = {v: [100.0] for v in names[1:]}
    return cc.Problem("weighed", variables, constraints=blocks, linear=linear, unit=unit, **parts)


BESIDE = {"terms": [cc.Term("fit", {"x": [[0.0]]})]}
CONE = {"norm_bounds": [cc.NormBound("cone", {"x": [[0.0]]}, bound=1.0)]}
#: name: (problem, multipliers but for zeros, condition, block, its relative residual)
MEASURES = {
    "a change of multipliers": (weighed(ROW, SIGN), {"row": 3}, "stationarity", "x", 3 / 1.5),
    "of rows without slacks, too": (
        weighed(ROW, SIGN, block("plain", [[0.5]], 9.0)),
        {"row": 3},
        "stationarity",
        "x",
        2 * 6 / 4.25 / 3,
    ),
    "beside losses": (weighed(ROW, SIGN, **BESIDE), {"row": 3}, "stationarity", "x", 3 / 3),
    "beside a cone": (weighed(ROW, SIGN, **CONE), {"row": 3}, "stationarity", "x", 3 / 3),
    "the pull on a slack": (weighed(ROW, SIGN), {"row": 3}, "stationarity", "s", 97 / 1.5),
    "the pull on a slack, of its sign": (weighed(SIGN, ROW), {"row": 3, "sign": 47}, "stationarity", "s", 50 / 47),
    "the pull on a slack, of a small sign": (weighed(ROW, SIGN), {"row": 3, "sign": 1}, "stationarity", "s", 96 / 1.5),
    "a sign": (weighed(ROW, SIGN), {"sign": -0.01}, "dual_feasibility", "sign", 0.01 / 1.5),
    "of two slacks": (weighed(TWO, TALL, names="xst"), {"row": -0.01}, "dual_feasibility", "row", 0.01 / 0.75),
    "no objective": (weighed(ROW, SIGN, unit=0.0), {"sign": -0.01}, "dual_feasibility", "sign", 0.01 / 100),
}


@pytest.mark.parametrize("name", MEASURES)
def test_multipliers_are_measured_by_what_the_side_may_cost(name):
    problem, given, condition, where, wanted = MEASURES[name]
    multipliers = {c.name: a(given.get(c.name, 0)) for c in problem.constraints} | {"cone": a(0, 0)}
    found = getattr(check_kkt(problem, np.zeros(problem.size), multipliers), condition)
    assert found.relative_values[where] == pytest.approx(wanted, rel=1e-9)


def test_slacks_without_a_cost_are_measured_by_their_block_alone():
    """A squared slack has no cost of its own, nor has a distance that does not count: it is no yardstick."""
    names = [cc.Variable("x", 1, "x"), cc.Variable("s", 1, "s")]
    squared = cc.Problem("squared", names, constraints=[ROW, SIGN], quadratic={"s": [100.0]}, unit=3.0)
    signs = check_kkt(squared, a(0, 0.1), {"row": a(0), "sign": a(-0.01)}).dual_feasibility
    assert signs.relative == pytest.approx(0.01 / 1.5)  # as where it has a cost
    two = DiagonalRows.identity(2, -1.0)
    sides = [cc.Constraint(name, {"x": [[k], [k]], "s": two}, rhs=4 * k) for name, k in (("up", 1.0), ("down", -1.0))]
    names = [cc.Variable("x", 1, "x"), cc.Variable("s", 2, "s")]
    distances = cc.Problem("distances", names, constraints=sides, linear={"s": [1.0, 0.0]}, unit=3.0)
    z = a(0.5, 0.25)  # of the second, which costs nothing, both should be 0; 2 3 by 4 is the most of a multiplier
    pulls = check_kkt(distances, a(4, 0, 0), {"up": z, "down": z}).stationarity.relative_values["s"]
    assert pulls.tolist() == pytest.approx([0, 0.5 / 1.5])


@pytest.mark.parametrize(("x", "constant", "share"), [(250.0, -750.0, 0.25), (-4000.0, -3000.0, 1.0), (0.0, 1e3, 0.01)])
def test_a_sign_is_measured_by_the_cost_of_its_own_slack_as_far_as_costs_count(x, constant, share):
    """-x + 100 s_1 + s_2 is 1/4 of the objective, all of it, or nothing: then the cost of the block's slacks, 100."""
    two, names = DiagonalRows.identity(2, -1.0), [cc.Variable("x", 1, "x"), cc.Variable("s", 2, "s")]
    blocks = [cc.Constraint("row", {"x": [[2.0], [2.0]], "s": two}, rhs=-4.0), cc.Constraint("sign", {"s": two})]
    costs = {"x": [-1.0], "s": [100.0, 1.0]}
    problem = cc.Problem("weighed", names, constraints=blocks, linear=costs, constant=constant)
    kkt = check_kkt(problem, a(x, 0, 0), {"row": a(0, 0), "sign": a(0, -0.01)})
    assert kkt.scale == 1000.0
    assert kkt.dual_feasibility.relative_values["sign"].tolist() == pytest.approx([0.0, 0.01 * share])
