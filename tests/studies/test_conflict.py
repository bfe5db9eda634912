"""Why infeasible: the fewest constraints, by name, with a proof and with a point for each, checked here anew."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import convexcls as cc


def problem(blocks, size=2, **more):
    return cc.Problem("plan", [cc.Variable("x", size, "x")], constraints=blocks, **more)


def block(name, rows, rhs, relation="<="):
    return cc.Constraint(name, {"x": rows}, rhs=rhs, relation=relation)


def rows_of(found):
    """The members' rows, right-hand sides and relations, read off the blocks."""
    out = []
    for m in found.members:
        (c,) = (c for c in found.problem.constraints if c.name == m.block)
        row = np.zeros(found.problem.size)
        for v, rows in c.entries.items():
            row[found.problem.layout[v]] += rows.to_dense()[m.row]
        out.append(([Fraction(float(v)) for v in row], Fraction(float(c.rhs[m.row])), c.relation))
    return out


def check(found):
    """In rationals: the multipliers cancel all unknowns and leave less than 0; each point satisfies all but its own."""
    rows = rows_of(found)
    z = [m.multiplier for m in found.members]
    assert all(v > 0 or relation == "==" for v, (_, _, relation) in zip(z, rows, strict=True))
    for j in range(found.problem.size):
        assert sum(v * row[j] for v, (row, _, _) in zip(z, rows, strict=True)) == 0
    assert sum(v * side for v, (_, side, _) in zip(z, rows, strict=True)) == found.total < 0
    for k, m in enumerate(found.members):
        x = [v for variable in found.problem.variables for v in m.point[variable.name]]
        for j, (row, side, relation) in enumerate(rows):
            left = sum(a * b for a, b in zip(row, x, strict=True))
            holds = left == side if relation == "==" else left <= side
            assert holds if j != k else not holds


def feasible(rows):
    """By HiGHS: whether some point satisfies them."""
    upper = [(row, side) for row, side, relation in rows if relation == "<="]
    equal = [(row, side) for row, side, relation in rows if relation == "=="]
    size = len(rows[0][0])
    named = {}
    for part, chosen in (("ub", upper), ("eq", equal)):
        if chosen:
            named |= {f"A_{part}": np.array([[float(v) for v in r] for r, _ in chosen])}
            named |= {f"b_{part}": np.array([float(s) for _, s in chosen])}
    return linprog(np.zeros(size), bounds=[(None, None)] * size, **named).status == 0


def test_a_week_in_names():
    blocks = [
        block("sleep", [[-1.0, 0]], -56),
        block("work", [[0, -1.0]], -60),
        block("whole week", [[1.0, 1.0]], 112),
        block("bed is empty at noon", [[1.0, 0]], 140),
    ]
    found = problem(blocks).why_infeasible()
    check(found)
    assert [m.name for m in found.members] == ["sleep", "work", "whole week"]
    assert found.total == -4
    text = found.explain()
    assert "1 times whole week   x[0] + x[1] <= 112" in text
    assert "Without work the others hold at x = (56, 56)." in text
    assert "bed" not in text
    assert found.to_dict()["members"][0]["point"] == {"x": [str(v) for v in found.members[0].point["x"]]}
    assert "sleep" in found._repr_html_()


def test_equations_have_multipliers_of_either_sign():
    blocks = [block("sum", [[1.0, 1]], 1, "=="), block("difference", [[2.0, -1]], 3, "=="), block("low", [[1.0, 0]], 1)]
    found = problem(blocks).why_infeasible()
    check(found)
    assert {m.name for m in found.members} == {"sum", "difference", "low"}
    assert min(m.multiplier for m in found.members) < 0


def test_a_row_of_nothing_and_rows_of_a_block():
    found = problem([block("impossible", [[0.0, 0]], -1), block("fine", [[1.0, 0]], 1)]).why_infeasible()
    check(found)
    assert [m.text for m in found.members] == ["0 <= -1"]
    found = problem([block("box", [[1.0, 0], [0, 1], [-1, 0]], [1, 1, -2])]).why_infeasible()
    check(found)
    assert [m.name for m in found.members] == ["box[0]", "box[2]"]


def test_a_hard_margin_is_explained_by_its_samples():
    found = cc.load("xor_hard_margin").why_infeasible()
    check(found)
    assert [m.name for m in found.members] == ["margin[0]", "margin[1]", "margin[2]", "margin[3]"]
    X = np.random.default_rng(0).normal(size=(60, 2)).round(2)
    many = cc.HardMarginSVM(X, (np.random.default_rng(1).random(60) > 0.5).astype(int)).why_infeasible()
    assert many.holds()
    assert len(many.members) <= 4


@pytest.mark.parametrize("seed", range(40))
def test_random_systems_have_fewest_members(seed):
    rng = random.Random(seed)
    size, n = rng.randint(1, 4), rng.randint(3, 9)
    rows = [[float(rng.randint(-3, 3)) for _ in range(size)] for _ in range(n)]
    sides = [float(rng.randint(-4, 3)) for _ in range(n)]
    relations = [rng.choice(["<=", "<=", "=="]) for _ in range(n)]
    blocks = [block(f"b{k}", [rows[k]], sides[k], relations[k]) for k in range(n)]
    stated = problem(blocks, size, quadratic={"x": np.ones(size)})
    if feasible(list(zip(rows, sides, relations, strict=True))):
        with pytest.raises(cc.NoAnswer, match="can be satisfied together"):
            stated.why_infeasible()
        return
    found = stated.why_infeasible()
    check(found)
    members = rows_of(found)
    assert not feasible(members)
    for k in range(len(members)):
        rest = members[:k] + members[k + 1 :]
        assert not rest or feasible(rest)


def test_a_wrong_conflict_does_not_hold():
    found = problem([block("a", [[1.0, 0]], 1), block("b", [[-1.0, 0]], -2)]).why_infeasible()
    assert found.holds()
    first, second = found.members
    for spoilt in (
        replace(first, multiplier=first.multiplier + 1),
        replace(first, multiplier=-first.multiplier),
        replace(first, point={"x": (Fraction(0), Fraction(0))}),
    ):
        assert not cc.Conflict(found.problem, (spoilt, second), found.total).holds()
    assert not cc.Conflict(found.problem, (first,), found.total).holds()


def test_what_has_no_contradiction_says_so():
    with pytest.raises(cc.NoAnswer, match="no linear constraints"):
        cc.LogisticMLE([[0], [1]], [0, 1]).why_infeasible()
    ball = cc.NormBound("ball", {"x": [[1.0, 0], [0, 1]]}, bound=1.0)
    with pytest.raises(cc.NoAnswer, match="without its norm bounds"):
        problem([block("far", [[-1.0, 0]], -2)], norm_bounds=[ball]).why_infeasible()
    with pytest.raises(cc.NoAnswer, match="can be satisfied together"):
        cc.load("two_points").why_infeasible()


def test_decimals_are_taken_as_given():
    found = cc.load("decimals_between").why_infeasible()
    assert found.holds()
    assert found.total < 0
