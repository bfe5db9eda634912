"""The relative measures of the KKT conditions, worked out by hand: what each residual is compared with.

Every problem is made so that one number decides: another unit, price or size gives another measure.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import convexcls as cc
from convexcls.losses import Exponential
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.pulls import pull_error
from convexcls.proofs.kkt.residuals import Sizes
from convexcls.proofs.verdict import certify
from convexcls.rows import DiagonalRows
from tests.small_problems import a, block, over

LIMITS = sys.modules[check_kkt.__module__]
CURVED = {"quadratic": {"x": [1.0, 1.0]}}
EYE = np.eye(2)


def variables(*names, size=2):
    return [cc.Variable(name, size, name) for name in names]


def rows_over(name, rhs, relation="<=", unit=0.0, **entries):
    """A block over several variables; a number stands for so many times the identity."""
    every = {v: DiagonalRows.identity(2, e) if isinstance(e, float) else np.array(e) for v, e in entries.items()}
    return cc.Constraint(name, every, rhs=rhs, relation=relation, unit=unit)


def zeros(problem, **given):
    """Multipliers 0 but for those given."""
    return {c.name: given.get(c.name, np.zeros(c.size)) for c in (*problem.constraints,)} | {
        b.name: given.get(b.name, np.zeros(b.size + 1)) for b in problem.norm_bounds
    }


def at(problem, x, condition, name, wanted, **multipliers):
    """One line of a table."""
    return problem, np.asarray(x, dtype=float), zeros(problem, **multipliers), condition, name, wanted


def costly(rhs=(-4.0, 0.5), **more):
    """Rows over coefficients x and slacks s, r, t; only s and r cost anything, and x, which is no slack, costs more."""
    row = rows_over("row", list(rhs), x=EYE, s=-1.0, r=1.0, t=-1.0)
    linear = {"x": [10.0, 10.0], "s": [0.25, 0.125], "r": [-0.5, 0.25]}
    return cc.Problem("costly", variables("x", "s", "r", "t"), constraints=[row], linear=linear, **more)


def squared():
    """Two squared slacks, s twice as curved as r, and coefficients x, which are no slack and more so."""
    row = rows_over("row", [-0.25, 0.125], x=EYE, s=-1.0, r=-1.0)
    curved = {"x": [3.0, 3.0], "s": [0.25, 0.5], "r": [0.125, 0.125]}
    return cc.Problem(
        "squared",
        variables("x", "s", "r"),
        constraints=[row],
        quadratic=curved,
        unit=1e-4,
        constant=0.001 - 1.5 * (0.23**2 + 0.135**2),
    )


def homogeneous(**entries):
    row = rows_over("row", 0.0, **entries)
    return cc.Problem("homogeneous", variables(*entries), constraints=[row], unit=1.0)


def assert_largest(kkt):
    """What is compared with the tolerance is the largest of all, with its rounding; the worst row has it."""
    for name in list(kkt.measures())[:4]:
        found = getattr(kkt, name.replace(" ", "_"))
        relative = {b: float(np.max(v, initial=0.0)) for b, v in found.relative_values.items()}
        most = max(relative.values(), default=0.0)
        assert found.relative == kkt.measures()[name] == pytest.approx(most, rel=1e-12)
        assert all(np.all(v >= 0) for v in found.values.values())
        assert most <= kkt.bounds()[name] * (1 + 1e-12)
        assert kkt.bounds()[name] <= most * (1 + 1e-12) + max(map(np.max, found.roundings.values()), default=0.0)
        assert found.max == max((float(np.max(v, initial=0.0)) for v in found.values.values()), default=0.0)
        block_name, row = found.worst
        assert found.relative_values[block_name][row] == most if relative else (block_name, row) == ("", 0)
    assert kkt.worst == max(kkt.measures().values())
    assert not kkt.all_but_columns_hold(1e9)


PRIMAL, DUAL, SLACKNESS = "primal_feasibility", "dual_feasibility", "complementary_slackness"
#: name: (problem, point, multipliers, condition, block, its relative residuals)
FEASIBILITY = {
    "of the right-hand side": at(
        over(2, block("row", EYE, [-4.0, 0.5]), unit=1e-3), [-3.98, 0.51], PRIMAL, "row", [0.005, 0.0025]
    ),
    "of a small right-hand side": at(
        over(2, block("row", EYE, [-0.25, 0.125]), unit=1e-3), [-0.245, 0.0], PRIMAL, "row", [0.02, 0]
    ),
    "of the block's unit": at(
        over(2, block("row", EYE, [-4.0, 0.5], unit=8.0), unit=1e-3), [-3.98, 0.51], PRIMAL, "row", [0.0025, 0.00125]
    ),
    "of the right-hand side above the unit": at(
        over(2, block("row", EYE, [-4.0, 0.5], unit=2.0), unit=1e-3), [-3.98, 0.51], PRIMAL, "row", [0.005, 0.0025]
    ),
    "an equation, from both sides": at(
        over(2, block("row", EYE, [-4.0, 0.5], "=="), unit=1e-3), [-3.98, 0.49], PRIMAL, "row", [0.005, 0.0025]
    ),
    "by what all of it costs": at(
        over(2, block("row", EYE, [-4.0, 0.5], "=="), unit=0.25),
        [-3.98, 0.51],
        PRIMAL,
        "row",
        [0.06, 0.03],
        row=a(-0.5, 0.25),
    ),
    "by the cost of slacks": at(
        costly(unit=40.0), [0.02, 0.01, 4, 0, 0, 0.5, 0, 0], PRIMAL, "row", [0.005, 0.0025], row=a(0.25, 0)
    ),
    "by a small scale": at(
        costly(unit=1e-3, constant=-0.95),
        [0.02, 0.01, 4, 0, 0, 0.5, 0, 0],
        PRIMAL,
        "row",
        [0.015 / 0.475, 0.0075 / 0.475],
        row=a(0.25, 0),
    ),
    "by a multiplier above that cost": at(
        costly(unit=1e-3, constant=-0.95),
        [0.02, 0.01, 4, 0, 0, 0.5, 0, 0],
        PRIMAL,
        "row",
        [0.045 / 0.475, 0.0225 / 0.475],
        row=a(0.5, 1.5),
    ),
    "by the curvature of slacks": at(squared(), [-0.23, 0.135, 0, 0, 0, 0], PRIMAL, "row", [0.3, 0.15]),
    "by a multiplier above that of curvature": at(
        squared(), [-0.23, 0.135, 0, 0, 0, 0], PRIMAL, "row", [15, 7.5], row=a(0.25, 0.5)
    ),
    "of what is added up": at(
        homogeneous(x=EYE, s=[[0.0, 2.0], [4.0, 0.0]]), [-0.1, 0.2, 0.3, 0.06], PRIMAL, "row", [0.02 / 0.22, 1.4 / 1.4]
    ),
    "of what is added up, slacks beside": at(
        homogeneous(x=[[0.0, 2.0], [4.0, 0.0]], s=-1.0), [0.3, 0.06, 0.1, 1.1], PRIMAL, "row", [0.02 / 0.22, 0.1 / 2.3]
    ),
    "of the largest bound": at(homogeneous(x=-1.0), [-0.1, 0.4], PRIMAL, "row", [0.25, 0]),
    "a sign, of the multipliers": at(
        over(2, block("row", EYE, [-4.0, 0.5]), unit=3.0), [-5, 0], DUAL, "row", [0, 0.01], row=a(1, -0.01)
    ),
    "a sign, of what the right-hand side may cost": at(  # twice the objective, 3, by 4
        over(2, block("row", EYE, [-4.0, 0.5]), unit=3.0), [-5, 0], DUAL, "row", [0, 0.01 / 1.5], row=a(4, -0.01)
    ),
    "a sign, of the size of multipliers": at(
        over(2, block("row", EYE, [-4.0, 0.5]), unit=3.0), [-5, 0], DUAL, "row", [0, 0.01 / 0.75], row=a(0.001, -0.01)
    ),
    "a sign, of a small right-hand side": at(
        over(2, block("row", EYE, [-0.25, 0.125]), unit=3.0), [-5, 0], DUAL, "row", [0, 0.01 / 12], row=a(0.001, -0.01)
    ),
    "a sign, of the cost of slacks": at(
        costly(unit=3.0), [-5, 0, 0, 0, 0, 0, 0, 0], DUAL, "row", [0, 0.02], row=a(0.001, -0.01)
    ),
    "a sign, where no slack is needed": at(  # one unit of the right-hand side, 4, costs at most twice the objective
        costly(unit=0.25), np.zeros(8), DUAL, "row", [0, 0.01 / 0.125], row=a(0.001, -0.01)
    ),
    "a sign, where no slack is needed, a small side": at(
        costly([-0.125, 0.25], unit=0.02), np.zeros(8), DUAL, "row", [0, 0.01 / 0.16], row=a(0.001, -0.01)
    ),
    "a sign, where nothing else is known": at(
        over(2, block("row", EYE, 0.0), unit=1.0), [0, 0], DUAL, "row", [0.5, 0], row=a(-0.25, 0.5)
    ),
    "a sign, of what is added up": at(
        over(2, block("row", [[0.25, 0.0], [0.0, 0.5]], 0.0), unit=2.0),
        [-1, -1],
        DUAL,
        "row",
        [0.5 / 4, 0],
        row=a(-0.5, 0.5),
    ),
    "a product": at(
        over(2, block("row", EYE, [-4.0, 0.5]), unit=8.0), [-5, 0], SLACKNESS, "row", [0.5, 0.03125], row=a(-4, 0.5)
    ),
    "no product of an equation": at(
        over(2, block("row", EYE, [-4.0, 0.5], "=="), unit=8.0), [-5, 0], SLACKNESS, "row", [0, 0], row=a(-4, 0.5)
    ),
}


@pytest.mark.parametrize("name", FEASIBILITY)
def test_feasibility_signs_and_products(name):
    problem, x, multipliers, condition, block_name, wanted = FEASIBILITY[name]
    kkt = check_kkt(problem, x, multipliers)
    np.testing.assert_allclose(getattr(kkt, condition).relative_values[block_name], wanted, rtol=1e-9, atol=1e-12)
    assert_largest(kkt)


def cone(x, f, g, size=1.0, unit=1.0, **more):
    """‖(-2 x_1 - 1, x_2 + 1)‖ <= f'x + g, everything times a size, at a point at which the norm is 5 times that."""
    rows = {"x": np.array([[-2.0, 0.0], [0.0, 1.0]])}
    bound = cc.NormBound("cone", rows, offset=size * a(-1, 1), bound_entries={"x": np.array([f])}, bound=size * g)
    return over(2, norm_bounds=[bound], unit=unit, **more), size * np.array(x)


#: name: (f, g, size, unit, multipliers, condition, its relative residual); the point is (-2, 3) times the size, where
#: the norm is 5, of what is added up in its entries 5 is the most, and the bound is f'(-2, 3) + g.
CONES = {
    "of what is added up": ([0.5, -1.0], 0.25, 1, 1, (0, 0, 0), PRIMAL, 8.75 / 5),
    "of a little that is added up": ([0.5, -1.0], 0.25, 0.1, 1, (0, 0, 0), PRIMAL, 8.75 / 5),
    "of the bound": ([0.5, -1.0], -10.0, 1, 1, (0, 0, 0), PRIMAL, 19 / 14),
    "of its constant": ([-4.0, 0.0], -10.0, 1, 1, (0, 0, 0), PRIMAL, 7 / 10),
    "by its multipliers": ([0.5, -1.0], 0.25, 1, 1, (-0.5, 0.25, 0.125), PRIMAL, 8.75 * 0.5),
    "satisfied": ([0.0, 0.0], 6.0, 1, 1, (0, 0, 0), PRIMAL, 0),
    "satisfied, with multipliers": ([0.0, 0.0], 6.0, 1, 1, (0.1, 0.1, 0.2), PRIMAL, 0),
    "a sign, of the multipliers": ([0.5, -1.0], 0.25, 1, 1, (0.3, -0.4, 0.25), DUAL, 0.25 / 0.4),
    "a sign, of the size of multipliers": ([0.5, -1.0], 0.25, 1, 4, (0.3, -0.4, 0.25), DUAL, 0.25 / 0.8),
    "a sign that is right": ([0.5, -1.0], 0.25, 1, 1, (0.3, -0.4, 0.75), DUAL, 0),
    "a product": ([0.0, 0.0], 6.0, 1, 64, (-0.5, -0.25, 1.0), SLACKNESS, (6 - 1.5 - 1) / 64),
    "a product, turned": ([0.0, 0.0], 5.0, 1, 2, (-4, 3, 5), SLACKNESS, 25 * 50**0.5 / 5 / 2),
}


@pytest.mark.parametrize("name", CONES)
def test_cones(name):
    f, g, size, unit, multipliers, condition, wanted = CONES[name]
    problem, x = cone([-2, 3], f, g, size, unit)
    kkt = check_kkt(problem, x, {"cone": a(*multipliers)})
    np.testing.assert_allclose(getattr(kkt, condition).relative_values["cone"], [wanted], rtol=1e-9, atol=1e-12)
    assert_largest(kkt)


def test_the_bound_of_a_cone_pulls():
    problem, x = cone([-2, 3], [0.5, -1.0], 0.25, linear={"x": [1.0, 2.0]})
    kkt = check_kkt(problem, x, {"cone": a(0.25, 0.5, 2)})
    assert kkt.stationarity.values["x"].tolist() == [abs(1 + 2 * 0.25 - 0.5 * 2), abs(2 - 0.5 + 1.0 * 2)]


def fit(rows, offset, weights, **more):
    return over(1, terms=[cc.Term("fit", {"x": np.array(rows)}, offset=offset, weights=weights)], **more)


def unlike(**more):
    """x is no free variable, because it has an entry for every sample, and no slack: one of its blocks adds up."""
    rows = rows_over("row", 0.0, x=[[1.0, 0.0], [1.0, 0.5]])
    bound = rows_over("bound", 0.0, x=-1.0)
    x = [cc.Variable("x", 2, "x", kind="samples")]
    return cc.Problem("unlike", x, constraints=[rows, bound], linear={"x": [-0.5, -0.3]}, unit=0.05, **more)


def slacks():
    rows = [rows_over("row", 0.0, x=[[1.0, 0.0], [0.0, 0.0]], s=-1.0), rows_over("bound", 0.0, s=-1.0)]
    linear = {"x": [1.0, 0.0], "s": [0.5, 0.25]}
    return cc.Problem("slacks", variables("x", "s"), constraints=rows, linear=linear, constant=-1.0, unit=0.4)


def disc(**more):
    ball = cc.NormBound("ball", {"x": DiagonalRows.identity(2)}, bound=5.0)
    return over(2, norm_bounds=[ball], linear={"x": [-3.0, -4.0]}, **more)


TWO = (block("wide", [[4.0, 0.25]], 100.0), block("narrow", [[1.0, 0.5]], 100.0))
TINY = 2.0**-12
#: name: (problem, point, multipliers, condition, variable, its relative residuals)
STATIONARITY = {
    "curved, by the largest pull": at(  # Px = (-6, 1/2), q = (1, -2), columns up to (4, 1/2): 2 is the most of a unit
        over(2, *TWO, quadratic={"x": [2.0, 0.5]}, linear={"x": [1.0, -2.0]}, constant=-4.0, unit=0.1),
        [-3, 1],
        "stationarity",
        "x",
        [5 / 16, 1.5 / 2],
    ),
    "curved, by P x": at(
        over(2, *TWO, quadratic={"x": [2.0, 0.5]}, linear={"x": [1.0, -0.2]}, constant=-5.95, unit=0.0),
        [-3, 1],
        "stationarity",
        "x",
        [5 / 6, 0.3 / 0.75],
    ),
    "curved, a column of zeros": at(
        over(
            2,
            block("row", [[4.0, 0.0]], 100.0),
            quadratic={"x": [2.0, 0.5]},
            linear={"x": [1.0, -2.0]},
            constant=-4.0,
            unit=0.1,
        ),
        [-3, 1],
        "stationarity",
        "x",
        [5 / 8, 1.5 / 2],
    ),
    "curved, at 0": at(  # sqrt(2 f p) = (2, 1); 1/100 of each column counts as a pull
        over(2, *TWO, quadratic={"x": [2.0, 0.5]}, unit=1.0),
        [0, 0],
        "stationarity",
        "x",
        [4 / 2, 0.25 / 0.2575],
        wide=a(1),
    ),
    "partly curved": at(
        over(2, *TWO, quadratic={"x": [2.0, 0.0]}, linear={"x": [1.0, -2.0]}, constant=-4.0, unit=0.1),
        [-3, 1],
        "stationarity",
        "x",
        [5 / 6, 2 / 0.1],
    ),
    "flat, sizes where multipliers may be 0": at(
        over(1, block("row", [[1.0]] * 3, [-2.0, 0.5, 1.0]), unit=3.0),
        [3],
        "stationarity",
        "x",
        [0.75 / 2.25],
        row=np.full(3, 0.25),
    ),
    "flat, of the block's unit": at(
        over(1, block("row", [[1.0]] * 3, [-2.0, 0.5, 1.0], unit=4.0), unit=3.0),
        [3],
        "stationarity",
        "x",
        [0.75 / 1.5],
        row=np.full(3, 0.25),
    ),
    "flat, of a small right-hand side": at(
        over(1, block("row", [[1.0]] * 3, [-0.25, 0.0625, 0.125]), unit=0.03),
        [3],
        "stationarity",
        "x",
        [0.06 / 0.18],
        row=np.full(3, 0.02),
    ),
    "flat, a change of multipliers": at(
        over(1, block("row", [[2.0]], 4.0), unit=3.0), [3], "stationarity", "x", [0.25 / 0.75], row=a(0.25)
    ),
    "flat, a change of large multipliers": at(
        over(1, block("row", [[2.0]], 4.0), unit=3.0), [3], "stationarity", "x", [1], row=a(3)
    ),
    "flat, of the largest multiplier of all": at(
        over(1, block("row", [[2.0]], 4.0), block("tie", [[0.5]], 4.0, "=="), unit=1e-3),
        [3],
        "stationarity",
        "x",
        [2 * 0.5 / 4.25 / 0.3],
        row=a(0.3),
        tie=a(-0.2),
    ),
    "flat, of the smaller right-hand side": at(  # its rows have the larger multipliers
        over(1, block("one", [[4.0]], 1.0), block("two", [[0.25]], 4.0), unit=3.0),
        [9],
        "stationarity",
        "x",
        [4 / 16.0625 / 3],
        one=a(0.25),
    ),
    "flat, one of two": at(
        over(2, block("row", EYE, 4.0), unit=3.0), [3, 0], "stationarity", "x", [0.25 / 0.75, 0], row=a(0.25, 0)
    ),
    "targets": at(
        fit([[1.0]] * 3, -4.0, [0.5, 2.0, 0.25]),
        [4 + TINY],
        "stationarity",
        "x",
        [2.75 * TINY / (2.75 * TINY + 4e-4 * 2.75)],
    ),
    "targets, a change of residuals": at(
        fit([[1.0], [2.0]], [-4.0, -8.0], [0.5, 0.125]), [4 + TINY], "stationarity", "x", [0.4 * TINY / 2e-4]
    ),
    "large residuals": at(fit([[1.0], [1.0]], [-4.0, -4.0], 0.5), [6], "stationarity", "x", [1.0]),
    "residuals of another term": at(
        over(
            1,
            terms=[
                cc.Term("one", {"x": [[1.0]]}, offset=-4.0, weights=4.0),
                cc.Term("two", {"x": [[0.25]]}, offset=-5.5),
            ],
        ),
        [6],
        "stationarity",
        "x",
        [7 / 1.0625 / 8],
    ),
    "targets, the larger ones first": at(
        over(1, terms=[cc.Term("one", {"x": [[1.0]]}, offset=-4.0), cc.Term("two", {"x": [[0.25]]}, offset=-1.0)]),
        [4 + TINY],
        "stationarity",
        "x",
        [TINY / 4e-4],
    ),
    "a sample without weight": at(
        fit([[1.0], [1.0]], [-4.0, 0.0], [1.0, 0.0]), [4 + TINY], "stationarity", "x", [TINY / (TINY + 4e-4)]
    ),
    "targets, some of them 0": at(
        fit([[1.0], [0.0], [1.0]], [-4.0, 0.0, -4.0], 0.5), [4 + TINY], "stationarity", "x", [0.5 * TINY / 2e-4]
    ),
    "no targets": at(
        fit([[1.0]] * 3, 0.0, [0.5, 2.0, 0.125], unit=8.0),
        [0.1],
        "stationarity",
        "x",
        [0.2625 / (0.2625 + (8**0.5 + 32**0.5 + 2**0.5) / 3)],
    ),
    "no target": at(fit([[1.0]], 0.0, 0.5, unit=8.0), [0.1], "stationarity", "x", [0.05 / 8**0.5]),
    "no targets, a change of residuals": at(
        fit([[1.0], [2.0]], 0.0, [0.5, 0.125], unit=8.0), [0.1], "stationarity", "x", [0.04 / 2**0.5]
    ),
    "entries of samples, by what is added up": at(
        unlike(), [0, 0], "stationarity", "x", [0.25 / 1.25, 0.05 / 0.55], row=a(0.25, 0.5)
    ),
    "entries of samples, by their effect": at(
        unlike(constant=-0.15), [0, -0.5], "stationarity", "x", [0.25 / 1.25, 0.05 / 0.1], row=a(0.25, 0.5)
    ),
    "slacks, the largest of them": at(
        slacks(), [0, 0, 2, 0], "stationarity", "s", [0.2 / 0.2, 0.15 / 0.8], row=a(0.3, 0.1)
    ),
    "in a ball": at(disc(), [3, 0], "stationarity", "x", [0.3 / 1.8, 0.2 / 1.8], ball=a(-3.3, -4.2, 5)),
    "beyond a ball": at(disc(), [6, 0], "stationarity", "x", [0.3 / 3, 0.2 / 3.6], ball=a(-3.3, -4.2, 5)),
    "in the middle of a ball": at(disc(), [0, 0], "stationarity", "x", [0.3 / 8.2, 0.2 / 8.2], ball=a(-3.3, -4.2, 5)),
    "a column that no row speaks of": at(
        over(1, block("row", [[0.0]], 1.0), linear={"x": [1e-3]}, constant=-2.0), [2000], "stationarity", "x", [2.0]
    ),
}


@pytest.mark.parametrize("name", STATIONARITY)
def test_stationarity(name):
    problem, x, multipliers, condition, variable, wanted = STATIONARITY[name]
    kkt = check_kkt(problem, x, multipliers)
    np.testing.assert_allclose(getattr(kkt, condition).relative_values[variable], wanted, rtol=1e-9, atol=1e-12)
    assert kkt.dependent == ()
    assert_largest(kkt)


def boxed(low, high, q, *others, x=((2.0, 1.0), (1.0, 2.0)), **more):
    """min 1/2 x'Px + q'x between bounds, with a matrix P."""
    size = len(q)
    bounds = [
        cc.Constraint("low", {"x": DiagonalRows.identity(size, -1.0)}, rhs=-np.array(low)),
        cc.Constraint("high", {"x": DiagonalRows.identity(size)}, rhs=high),
    ]
    matrix = {"quadratic": {"x": np.array(x)}} if x is not None else {}
    return over(size, *bounds, *others, linear={"x": list(q)}, **matrix, **more)


def several():
    """x and w between two bounds, w with curvature, y and z with one bound each."""
    names = variables("x", "y", "z", "w")
    bounds = [rows_over(f"{v} low", -1.0, **{v: -1.0}) for v in "xzw"]
    bounds += [rows_over(f"{v} high", 4.0, **{v: 1.0}) for v in "xyw"]
    linear = {"x": [0.5, -0.25], "y": [0.5, -0.25], "z": [0.5, -0.25], "w": [0.5, -0.25]}
    return cc.Problem("several", names, constraints=bounds, linear=linear, quadratic={"w": [0.5, 2.0]})


def half_bounded():
    """x between two bounds, y with one; the row that caps it bounds no unknown one by one."""
    bounds = [
        rows_over("low", 0.0, x=-1.0),
        rows_over("high", 100.0, x=1.0),
        rows_over("y low", 0.0, y=-1.0),
        rows_over("cap", 100.0, y=EYE),
    ]
    costs = {"x": [-1.0, -2.0], "y": [-1.0, -1.0]}
    return cc.Problem("half bounded", variables("x", "y"), constraints=bounds, linear=costs)


def one_box():
    """x between two bounds, y with one, all with costs above 0."""
    bounds = [rows_over("low", 0.0, x=-1.0), rows_over("high", 1.0, x=1.0), rows_over("y low", 0.0, y=-1.0)]
    costs = {"x": [1.0, 1.0], "y": [2.0, 2.0]}
    return cc.Problem("one box", variables("x", "y"), constraints=bounds, linear=costs)


SVM = ([0.0, 0.0], [100.0, 100.0], [-1.0, -2.0])
AT = [0.1, 0.5]  # Px + q = (-0.3, -0.9), f = -0.79; c'x = -0.48
BOX = 0.3 * 0.7 + 0.9 * 0.3  # what x up to 0.8 can gain
#: Of bounds that hold nothing.
FAR_OFF = {"low": a(1, 0), "high": a(5, 7)}
FIT, FIVE = cc.Term("fit", {"x": EYE}, offset=-3.0), cc.NormBound("ball", {"x": DiagonalRows.identity(2)}, bound=5.0)
#: name: (problem, point, multipliers, what the residuals cost)
GAPS = {
    "curved and flat": (
        over(3, quadratic={"x": [2.0, 0.5, 0.0]}, linear={"x": [1.0, -0.2, 0.25]}),
        [-3, 1, -4],
        {},
        5**2 / 4 + 0.3**2 / 1 - 1,
    ),
    "bounds": (several(), [2, 3] * 4, None, 0.5 + 0.25 + 2 * (0.5 * 2 - 0.25 * 3) + 1.5**2 / 1 + 5.75**2 / 4),
    "in a ball": (disc(), [3, 0], {"ball": a(-3.3, -4.4, 5.5)}, 0.9 + 2.5 - 9.9 + 27.5),
    "mass": (boxed(*SVM, unit=0.5), AT, None, 2 * 0.79 * 0.45 - 0.48),
    "mass, an equation": (
        boxed(*SVM, block("tie", [[1.0, -1.0]], 0.0, "=="), unit=0.5),
        AT,
        None,
        2 * 0.79 * 0.45 - 0.48,
    ),
    "mass, bounds below 1": (boxed([0.0, 0.0], [0.8, 0.8], [-1.0, -2.0], unit=0.5), AT, None, 2 * 0.79 * 0.45 - 0.48),
    "mass, of the unit": (boxed(*SVM, unit=1.0), AT, None, 2 * 1.0 * 0.45 - 0.48),
    "mass, one unknown": (boxed([0.0], [10.0], [-1.0], x=((2.0,),), unit=0.1), [0.2], None, 2 * 0.16 * 0.6 - 0.12),
    "narrow bounds": (boxed([0.0, 0.0], [0.55, 0.55], [-1.0, -2.0], unit=0.5), AT, None, 0.3 * 0.45 + 0.9 * 0.05),
    "bounds below 0": (boxed([0.0, -1.0], [0.8, 0.8], [-1.0, -2.0], unit=0.5), AT, None, BOX),
    "0 is not feasible": (
        boxed([0.0, 0.0], [0.8, 0.8], [-1.0, -2.0], block("row", [[1.0, 1.0], [-1.0, -1.0]], [9.0, -0.1]), unit=0.5),
        AT,
        None,
        BOX,
    ),
    "0 breaks an equation": (
        boxed([0.0, 0.0], [0.8, 0.8], [-1.0, -2.0], block("tie", EYE, [0.1, 0.0], "=="), unit=0.5),
        AT,
        None,
        BOX,
    ),
    "a cost that is 0": (
        boxed([0.0, 0.0], [0.8, 0.8], [-1.0, 0.0], x=((2.0, -1.0), (-1.0, 2.0)), unit=0.1),
        [0.5, 0.1],
        None,
        0.1 * 0.3 + 0.3 * 0.7,
    ),
    "one variable without an upper bound": (
        half_bounded(),
        [0.1, 0.5, 1, 1],
        {"low": a(0, 0), "high": a(0.9, 1.9), "y low": a(0, 0), "cap": a(1, 1)},
        0.1 * (99.9 + 99.5) + 0.9 * 99.9 + 1.9 * 99.5 + 2 * 99,
    ),
    "a cost above 0": (boxed([0.0, 0.0], [0.8, 0.8], [-1.0, 0.5], unit=0.1), [0.1, 0.1], None, 0.7 * 0.7 + 0.8 * 0.1),
    # where the multipliers of the bounds are far off, the bounds say all the same what x may gain
    "without bounds": (boxed([0.0, -1.0], [0.8, 0.8], [-1.0, -2.0]), AT, FAR_OFF, BOX),
    "without bounds, a row with room": (
        boxed([0.0, -1.0], [0.8, 0.8], [-1.0, -2.0], block("row", [[1.0, 1.0]], 1.0)),
        AT,
        {**FAR_OFF, "row": a(0.2)},
        0.1 * 0.7 + 0.7 * 0.3 + 0.2 * 0.4,
    ),
    "without bounds, an equation that is off": (
        boxed([0.0, -1.0], [0.8, 0.8], [-1.0, -2.0], block("tie", [[1.0, -1.0]], 0.0, "==")),
        AT,
        {**FAR_OFF, "tie": a(0.5)},
        0.2 * 0.1 + 1.4 * 0.3 + 0.5 * 0.4,
    ),
    "without bounds, at the right ones": (boxed([0.0, -1.0], [0.8, 0.8], [3.0, 5.0]), [0, -1], FAR_OFF, 0.0),
    "without bounds, at the wrong ones": (boxed([0.0, -1.0], [0.8, 0.8], [-1.0, -2.0]), [0.8, 0.8], FAR_OFF, 1.84),
    "without bounds, beyond one": (boxed([0.0, -1.0], [0.8, 0.8], [-5.0, -2.0]), [0.9, 0.5], FAR_OFF, 0.1 * 0.3),
    "bounds of some unknowns alone": (
        one_box(),
        [0.5] * 4,
        {"low": a(0, 0), "high": a(4, 4), "y low": a(0, 0)},
        2 * (5 * 0.5 + 4 * 0.5 + 2 * 0.5),
    ),
    "bounds and a loss": (
        over(2, *boxed([0.0, 0.0], [1.0, 1.0], [0.0, 0.0]).constraints, linear={"x": [1.0, 1.0]}, terms=[FIT]),
        [0.5, 0.5],
        {"low": a(0, 0), "high": a(4, 4)},
        2 * (2.5 * 0.5 + 4 * 0.5),
    ),
    "bounds and a ball": (
        over(2, *boxed([0.0, 0.0], [1.0, 1.0], [0.0, 0.0]).constraints, linear={"x": [-1.0, -1.0]}, norm_bounds=[FIVE]),
        [0.5, 0.5],
        {"low": a(0, 0), "high": a(4, 5), "ball": a(0, 0, 0)},
        3 * 0.5 + 4 * 0.5 + 5 * 5 + 4 * 0.5 + 5 * 0.5,
    ),
}


@pytest.mark.parametrize("name", GAPS)
def test_the_gap_is_what_the_residuals_cost(name):
    problem, x, multipliers, wanted = GAPS[name]
    kkt = check_kkt(problem, np.array(x, dtype=float), zeros(problem) if multipliers is None else multipliers)
    assert kkt.gap == pytest.approx(wanted, rel=1e-9)
    assert kkt.relative_gap == pytest.approx(abs(wanted) / kkt.scale, rel=1e-9)


def test_no_point_of_a_box_is_better_than_the_gap_says():
    """Whatever the multipliers are, those of rows not below 0: the least objective, of all points of a grid."""
    rng = np.random.default_rng(5)
    low, high = np.array([0.0, -1.0]), np.array([2.0, 1.0])
    grid = np.array([[u, v] for u in np.linspace(0, 2, 9) for v in np.linspace(-1, 1, 9)])
    for _ in range(40):
        R, q = rng.integers(-3, 4, (2, 2)), rng.integers(-6, 7, 2)
        rows = block("row", rng.integers(-2, 3, (2, 2)).astype(float), rng.integers(0, 4, 2).astype(float))
        problem = boxed(low, high, q.astype(float), rows, x=(R.T @ R).astype(float).tolist())
        every = grid[np.all(grid @ rows.entries["x"].to_dense().T <= rows.rhs, axis=1)]
        least = min((problem.objective(x) for x in every), default=np.inf)
        for x in every[rng.integers(0, len(every), 3)] if len(every) else []:
            given = {name: rng.integers(0, 5, 2).astype(float) for name in ("low", "high", "row")}
            assert problem.objective(x) - least <= check_kkt(problem, x, given).gap + 1e-9


@pytest.mark.parametrize(
    ("unit", "x", "objective", "scale"),
    [
        (0.5, [3, 4], -25 + 7, 18),
        (20.0, [3, 4], -25 + 7, 20),
        (0.25, [-3, -4], 25 + 7, 32),
        (0.25, [1e308, 1e308], -np.inf, 0.25),
    ],
)
def test_the_scale_is_the_size_of_the_objective_or_its_unit(unit, x, objective, scale):
    kkt = check_kkt(disc(unit=unit, constant=7.0), np.array(x, dtype=float), {"ball": a(-3, -4, 5)})
    assert (kkt.objective, kkt.scale) == (objective, scale)


def test_a_sample_without_weight_has_no_say():
    """Its loss is beyond doubles, and 0 times that is no number."""
    rows = {"x": np.array([[1.0], [-1.0], [-1000.0]])}
    problem = over(1, terms=[cc.Term("rows", rows, loss=Exponential(), weights=[0.25, 0.75, 0.0])])
    kkt = check_kkt(problem, a(1), {})
    pulls = a(0.25 * np.exp(-1), 0.75 * np.exp(1))
    assert kkt.objective == pytest.approx(pulls.sum())
    assert kkt.stationarity.values["x"] == pytest.approx(pulls[1] - pulls[0])
    curved = over(1, quadratic={"x": [1e-9]}, terms=problem.terms, unit=1e9)
    found = check_kkt(curved, a(1), {}).stationarity
    assert found.relative_values["x"] == pytest.approx((pulls[1] - pulls[0]) / 2**0.5, rel=1e-6)


def test_a_sample_without_weight_is_not_rounded():
    """What its argument, 10^6, may be off, and its curvature, which is infinite, count nothing in the gap."""
    rows = {"x": np.array([[1.0], [-1.0], [-1e6]])}
    problem = over(1, terms=[cc.Term("rows", rows, loss=Exponential(), weights=[0.25, 0.75, 0.0])])
    assert 1e-16 < check_kkt(problem, a(1), {}, 1e9).gap_rounding < 1e-13


def test_a_gradient_beyond_doubles_is_no_answer():
    rows = [[2.0, 2.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 1.0]]
    problem = over(3, block("tie", rows, 0.0, "=="))
    kkt = check_kkt(problem, a(0, 0, 0), {"tie": a(1.7e308, 1.7e308, 0)})
    assert not kkt.holds(1e6)
    assert np.isinf(kkt.stationarity.relative)
    assert kkt.dependent == ()  # that is another reason


def test_a_change_of_all_multipliers_is_found_where_one_of_few_is_too_large():
    """Of 4000 rows each eases its part; 129 of them would have to change thirty times as much."""
    rows = np.column_stack([np.ones(4000), np.tile([0.0, 1.0], 2000)])
    problem = over(2, block("tie", rows, 0.0, "=="), linear={"x": [2e-6, 0.0]}, unit=1.0)
    kkt = check_kkt(problem, a(0, 0), {"tie": np.tile([1.0, 1.0, -1.0, -1.0], 1000)}, 1e-8)
    assert 1e-10 < kkt.stationarity.relative < 4e-9


COLUMN = np.tile([1.0, 2.0, 3.0], 200)
#: Columns that differ by 1e-15 in one of 600 rows.
TWINS = np.column_stack([COLUMN, COLUMN + np.where(np.arange(600) == 0, 2e-15, 0.0)])


def test_where_nothing_pulls_columns_may_be_alike():
    kkt = check_kkt(over(2, block("tie", TWINS, 0.0, "==")), a(0, 0), {"tie": np.zeros(600)})
    assert kkt.dependent == ()
    assert kkt.holds(0.0)


def test_columns_that_doubles_cannot_tell_apart_are_named():
    """The residual is 0 anywhere along their difference."""
    noise = np.repeat(np.tile([1.0, -1.0], 100), 3)  # which no column explains
    fitted = cc.Term("fit", {"x": TWINS}, offset=noise - COLUMN)
    problem = over(2, terms=[fitted])
    for x in ([1.0, 0.0], [0.5, 0.5]):
        kkt = check_kkt(problem, np.array(x), {})
        assert kkt.dependent == ("x",)
        assert np.all(np.isinf(kkt.stationarity.relative_values["x"]))
        assert kkt.all_but_columns_hold(1e-6)
        assert not kkt.all_but_columns_hold(0.0)  # the gap is rounded
        most = max(value for condition, value in kkt.bounds().items() if condition != "stationarity")
        assert kkt.all_but_columns_hold(most)
        certificate = certify(problem, np.array(x), {}, 1e-6)
        assert certificate.status == "undecided"
        assert "columns of x depend on each other up to rounding" in certificate.reason


def test_a_bound_is_measured_by_its_own_box_where_that_is_less_than_the_side():
    """Boxes [0, 1/4], [-1, 3] and [1, 3], and no choice at 2: 1/8 beyond the upper bound is half of the first box. The
    others are measured by the largest side, 3."""
    upper = cc.Constraint("upper", {"x": DiagonalRows.identity(4)}, rhs=a(0.25, 3, 3, 2))
    lower = cc.Constraint("lower", {"x": -DiagonalRows.identity(4)}, rhs=a(0, 1, -1, -2))
    problem = over(4, upper, lower, quadratic={"x": np.ones(4)})
    widths = {name: width.tolist() for name, width in Sizes(problem).widths.items()}
    assert widths == {"upper": [0.25, 4.0, 2.0, np.inf], "lower": [0.25, 4.0, 2.0, np.inf]}
    one_sided = over(4, lower, quadratic={"x": np.ones(4)})  # which its sizes do not keep alive
    assert Sizes(one_sided).widths == {}
    for place, unit in ((0, 0.25), (1, 3.0), (2, 2.0), (3, 3.0)):
        x = a(0.125, 1, 2, 2)
        x[place] = upper.rhs[place] + 0.125
        kkt = check_kkt(problem, x, {"upper": np.zeros(4), "lower": np.zeros(4)})
        assert kkt.primal_feasibility.relative == pytest.approx(0.125 / unit)


HEAVY, MIDDLE, LIGHT = 1e5, 2e-4, 1e-9


def of_three_weights(tilt=1.0):
    """A heavy sample for the first coefficient, and two for the second, whose targets are -100 and 0: the heavier of
    these, with target -100, is fitted. (Where it is not, the objective is MIDDLE times 100: twenty times what a
    tolerance of 1e-8 allows.) The tilted one is the same with one side that much steeper."""
    X, t, weights = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], np.array([1.0, -100.0, 0.0]), [HEAVY, MIDDLE, LIGHT]
    below = {"coef": -np.array(X), "slack": DiagonalRows.identity(3, -1.0)}
    above = {"coef": tilt * np.array(X), "slack": DiagonalRows.identity(3, -1.0)}
    return cc.Problem(
        "distances",
        [cc.Variable("coef", 2, "w"), cc.Variable("slack", 3, "s")],
        constraints=[cc.Constraint("below", below, rhs=-t), cc.Constraint("above", above, rhs=tilt * t)],
        linear={"slack": weights},
        unit=HEAVY,
    )


SIGNS = "dual_feasibility"
FITTED, MISSED = [1.0, -100.0, 0.0, 0.0, 100.0], [1.0, 0.0, 0.0, 100.0, 0.0]  # coef, then the distances


@pytest.mark.parametrize(
    ("point", "below", "above", "condition", "wanted"),
    [
        (FITTED, [HEAVY / 2, (MIDDLE - LIGHT) / 2, LIGHT], [HEAVY / 2, (MIDDLE + LIGHT) / 2, 0.0], "", 0.0),
        (MISSED, [HEAVY / 2, 0.0, (LIGHT + MIDDLE) / 2], [HEAVY / 2, MIDDLE, (LIGHT - MIDDLE) / 2], SIGNS, 2 * 1e5),
        (MISSED, [HEAVY / 2, 0.0, MIDDLE], [HEAVY / 2, MIDDLE, 0.0], "stationarity", 2e5),
        (MISSED, [HEAVY / 2, 0.0, LIGHT], [HEAVY / 2, MIDDLE, 0.0], "stationarity", 4 * 0.5),
    ],
)
def test_light_samples_do_not_hide_behind_heavy_ones(point, below, above, condition, wanted):
    """What a multiplier of the wrong sign, one that does not share the cost, and a sum that is not 0 are measured by:
    the costs of the own samples."""
    multipliers = {"below": np.array(below), "above": np.array(above)}
    kkt = check_kkt(of_three_weights(), np.array(point), multipliers)
    others = {"stationarity", "primal_feasibility", "dual_feasibility", "complementary_slackness"} - {condition}
    assert all(getattr(kkt, name).relative <= 1e-8 for name in others)
    if condition:
        assert getattr(kkt, condition).relative == pytest.approx(wanted, rel=2e-5)
    assert kkt.relative_gap <= 1e-8  # which looks at the point alone


def test_the_steeper_side_of_a_distance_counts_more():
    problem = of_three_weights(tilt=8.0)
    assert problem.epigraphs[0].tilt == 8.0
    multipliers = {"below": np.array([HEAVY, 0.0, 2 * LIGHT]), "above": np.array([0.0, MIDDLE, -LIGHT])}
    kkt = check_kkt(problem, np.array([1.0, 0.0, 0.0, 800.0, 0.0]), multipliers)
    assert kkt.dual_feasibility.relative == pytest.approx(2 * 8.0)


def test_samples_without_weight_have_no_say_in_how_others_are_measured():
    X, y, weights = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 4.0]], [1.0, 2.0, 4.0, 9.0], [2.0, 2.0, 1.0, 0.0]
    solution = cc.LeastAbsolute(X, y, coding="real", intercept=False, sample_weight=weights).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(1.0)


# ---- residuals of large problems ------------------------------------------------------------------------------------

ALTERNATING, CROSSED, LEVEL = a(1, -1, 1, -1), a(1, 1, -1, -1), a(1, 1, 1, 1)
#: Two columns that differ by 1e-6; what is left, 1000 everywhere, is at right angles to both.
NEAR = over(
    2,
    terms=[
        cc.Term("fit", {"x": np.column_stack([ALTERNATING, ALTERNATING + 2.0**-20 * CROSSED])}, offset=1000 * LEVEL)
    ],
)
#: Two columns at right angles, each with targets of 1000 that cancel.
APART = over(2, terms=[cc.Term("fit", {"x": [[1.0, 0], [1, 0], [0, 1], [0, 1]]}, offset=1000 * ALTERNATING)])


@pytest.mark.parametrize("limit", [20_000, 7, 0])
def test_what_is_near_is_measured_by_columns_however_large_the_problem_is(limit, monkeypatch):
    """A point far away along the difference: the residual is 1e-11 of what was added up, a change of 1e-5 in the
    multipliers."""
    monkeypatch.setattr(LIMITS, "MAX_EASY_ENTRIES", limit)
    kkt = check_kkt(NEAR, a(1e4, -1e4), {}, 1e-8)
    assert kkt.stationarity.relative == pytest.approx(1e4 * 2.0**-20 / 1000, rel=0.01)
    assert check_kkt(NEAR, a(0, 0), {}, 1e-8).holds(1e-8)


@pytest.mark.parametrize(("limit", "asked"), [(8, True), (7, False)])
@pytest.mark.parametrize("x", [a(1, 0), a(-1, 0), a(0, 1)])
def test_what_is_far_off_is_not_measured_by_columns_in_large_problems(limit, asked, x, monkeypatch):
    """One residual of 2 beside 2000 is far above 1e-8 as it stands."""
    monkeypatch.setattr(LIMITS, "MAX_EASY_ENTRIES", limit)
    seen = []
    own = LIMITS.FreeRows.correction
    monkeypatch.setattr(LIMITS.FreeRows, "correction", lambda *given: seen.append(1) or own(*given))
    kkt = check_kkt(APART, x, {}, 1e-8)
    assert kkt.stationarity.relative >= 0.99e-3
    assert bool(seen) is asked


def test_the_rounding_of_light_samples_counts_beside_those_without_weight():
    term = cc.Term("fit", {"x": [[1.0], [1.0], [1.0]]}, weights=a(0, 0.5, 2), loss=Exponential())
    u, rad = a(np.inf, 0, 0), a(np.inf, 1e-3, 1e-3)
    with np.errstate(all="ignore"):  # as in the check
        error = pull_error(term.loss, u, rad, term.weights, term.all_count)
    assert error[0] == 0
    assert error[2] == pytest.approx(4 * error[1])
    assert error[1] >= 0.5e-3
