"""Slacks are recognised by structure, wherever they come from."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls import gallery
from convexcls.problem import with_lowest_slacks
from convexcls.problem.scaling import equilibrate
from convexcls.rows import DiagonalRows

#: What models call the variables that they state a loss or an absolute value with.
SLACKS = {"slack", "size"}
X, Y = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [4.0, 2.0], [3.0, -1.0]]), np.array([0, 1, 0, 1, 1])
TARGETS = np.array([1.0, -2.0, 0.5, 3.0, 4.0])
#: name: (a model, by slack its pieces, and whether the cost is quadratic)
MODELS = {
    "hinge": (cc.SoftMarginSVM(X, Y, C=2.0), {"slack": (["margin", "slack_sign"], False)}),
    "squared hinge": (cc.SoftMarginSVM(X, Y, C=2.0, loss="squared_hinge"), {"slack": (["margin"], True)}),
    "perceptron": (cc.PerceptronCriterion(X, Y), {"slack": (["margin", "slack_sign"], False)}),
    "absolute": (
        cc.LeastAbsolute(X, TARGETS, coding="real"),
        {"slack": (["residual_below", "residual_above"], False)},
    ),
    "l1": (
        cc.EmpiricalRisk(X, Y, l1=0.5),
        {"size": (["size_above", "size_below"], False)},
    ),
    "hinge and l1": (
        cc.EmpiricalRisk(X, Y, loss="hinge", l1=0.5),
        {"slack": (["margin", "slack_sign"], False), "size": (["size_above", "size_below"], False)},
    ),
    "hard margin": (cc.HardMarginSVM(X, Y), {}),
    "widest margin": (cc.MaxMargin(X, Y), {}),
    "least squares": (cc.LeastSquares(X, TARGETS, coding="real"), {}),
    "logistic": (cc.LogisticMLE(X, Y), {}),
    "kernel": (cc.KernelSVM(X, Y, kernel="rbf", C=1.0), {}),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_slacks_of_every_model(name):
    problem, wanted = MODELS[name]
    found = {e.variable: ([c.name for c in e.pieces], e.is_curved) for e in problem.epigraphs}
    assert found == wanted
    assert all(e.is_unit and e.size == problem.variable(e.variable).size for e in problem.epigraphs)


@pytest.mark.parametrize("name", gallery.entries())
def test_the_slacks_of_the_gallery_are_those_that_its_models_made(name):
    problem = gallery.load(name)
    assert {e.variable for e in problem.epigraphs} == {v.name for v in problem.variables} & SLACKS


@pytest.mark.parametrize("name", MODELS)
def test_other_units_and_pickles_have_the_same_slacks(name):
    problem, wanted = MODELS[name]
    assert [e.variable for e in equilibrate(problem).problem.epigraphs] == list(wanted)
    assert [e.variable for e in pickle.loads(pickle.dumps(problem)).epigraphs] == list(wanted)


def test_the_dual_of_a_dual_has_the_slacks_of_the_primal():
    kernel = MODELS["kernel"][0]
    assert [e.variable for e in kernel.dual().epigraphs] == ["slack"]


# ---- a user's own problems ----------------------------------------------------------------------------------------

EYE, MINUS = np.eye(2), DiagonalRows.identity(2, -1.0)
ABOVE = cc.Constraint("above", {"w": EYE, "t": MINUS}, rhs=[1.0, 2.0])
BELOW = cc.Constraint("below", {"w": -EYE, "t": MINUS}, rhs=[-1.0, -2.0])
SIGN = cc.Constraint("sign", {"t": MINUS}, rhs=0.0)


def own(*blocks, linear=(("t", 3.0),), names="wt", **parts):
    """A problem over w and t of two entries each."""
    variables = [cc.Variable(v, 2, v) for v in names]
    return cc.Problem("own", variables, linear=dict(linear), constraints=blocks, **parts)


def slacks(problem):
    return [e.variable for e in problem.epigraphs]


def test_a_slack_of_any_name():
    (e,) = own(ABOVE, BELOW, SIGN).epigraphs
    assert (e.variable, e.size, e.is_curved, e.is_unit) == ("t", 2, False, True)
    assert e.cost.tolist() == [3.0, 3.0]
    assert e.curvature.tolist() == [0.0, 0.0]
    assert e.flat_pieces == (SIGN,)
    assert e.reference is SIGN
    assert e.others == (ABOVE, BELOW)


def test_without_a_constant_piece_the_last_multiplier_follows():
    (e,) = own(ABOVE, BELOW).epigraphs
    assert e.flat_pieces == ()
    assert e.reference is BELOW
    assert e.others == (ABOVE,)
    third = cc.Constraint("third", {"w": 2.0 * EYE, "t": MINUS}, rhs=0.0)
    assert own(ABOVE, BELOW, third).epigraphs[0].reference is third


def test_a_slack_may_cost_nothing():
    assert slacks(own(ABOVE, linear=())) == slacks(own(ABOVE, linear=(("t", 0.0),))) == ["t"]
    assert with_lowest_slacks(own(ABOVE, linear=()), np.array([5.0, -4.0, 9.0, 9.0])).tolist() == [5.0, -4.0, 4.0, -6.0]


def test_pieces_need_not_be_lines_of_one_function():
    """Then it is no row of a row program, and still the largest of its pieces."""
    other = cc.Constraint("other", {"w": [[1.0, 1.0], [2.0, -1.0]], "t": MINUS}, rhs=0.0)
    assert slacks(own(ABOVE, other)) == ["t"]
    problem = own(ABOVE, other, quadratic={"w": 1.0}, linear=(("t", 3.0), ("w", [-1.0, 2.0])))
    assert problem.solve().status == "optimal"


def test_weights_other_than_one():
    heavy = cc.Constraint("heavy", {"w": EYE, "t": DiagonalRows(np.array([-1.0, -4.0]))}, rhs=[1.0, 2.0])
    (e,) = own(heavy, SIGN).epigraphs
    assert not e.is_unit
    assert e.weights(heavy).tolist() == [1.0, 4.0]
    assert with_lowest_slacks(own(heavy, SIGN), np.array([3.0, 4.0, 9.0, 9.0])).tolist() == [3.0, 4.0, 2.0, 0.5]


CAP = cc.Constraint("cap", {"t": DiagonalRows.identity(2)}, rhs=9.0)
#: name: a problem in which t does more than stand above pieces, or does not stand above any
NEAR_MISSES = {
    "no piece": own(linear=(("t", 1.0),)),
    "constants only": own(SIGN),
    "an upper bound": own(ABOVE, CAP),
    "an equation": own(cc.Constraint("above", {"w": EYE, "t": MINUS}, relation="==")),
    "a weight of the wrong sign": own(cc.Constraint("above", {"w": EYE, "t": DiagonalRows(np.array([-1.0, 1.0]))})),
    "a weight of zero": own(cc.Constraint("above", {"w": EYE, "t": DiagonalRows(np.array([-1.0, 0.0]))})),
    "a mixture": own(cc.Constraint("above", {"w": EYE, "t": np.array([[-1.0, 0.5], [0.0, -1.0]])})),
    "a negative cost": own(ABOVE, linear=(("t", [1.0, -1.0]),)),
    "both costs": own(ABOVE, quadratic={"t": 1.0}),
    "a matrix of curvatures": own(ABOVE, linear=(), quadratic={"t": [[2.0, 1.0], [1.0, 2.0]]}),
    "a loss": own(ABOVE, terms=[cc.Term("loss", {"t": EYE})]),
    "a norm bound": own(ABOVE, norm_bounds=[cc.NormBound("ball", {"t": EYE}, bound=1.0)]),
    "a bound of a norm": own(ABOVE, norm_bounds=[cc.NormBound("cone", {"w": EYE}, bound_entries={"t": [[1.0, 0.0]]})]),
    "a gauge": own(ABOVE, linear=(), gauge={"t": [[1.0, 1.0]]}),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_are_unknowns_like_others(name):
    assert slacks(NEAR_MISSES[name]) == []


def test_a_row_has_one_slack():
    """That with more pieces; of equals the first."""
    shared = cc.Constraint("shared", {"w": EYE, "t": MINUS, "u": MINUS}, rhs=0.0)
    costs = (("t", 1.0), ("u", 1.0))
    assert slacks(own(shared, names="wtu", linear=costs)) == ["t"]
    second = cc.Constraint("second", {"w": -EYE, "u": MINUS}, rhs=0.0)
    assert slacks(own(shared, second, names="wtu", linear=costs)) == ["u"]
    assert slacks(own(ABOVE, second, names="wtu", linear=costs)) == ["t", "u"]


# ---- the lowest slacks --------------------------------------------------------------------------------------------


def test_slacks_are_as_low_as_their_pieces_allow():
    x = np.array([5.0, -4.0, 100.0, -100.0])
    assert with_lowest_slacks(own(ABOVE), x).tolist() == [5.0, -4.0, 4.0, -6.0]
    assert with_lowest_slacks(own(ABOVE, BELOW), x).tolist() == [5.0, -4.0, 4.0, 6.0]
    assert with_lowest_slacks(own(ABOVE, SIGN), x).tolist() == [5.0, -4.0, 4.0, 0.0]
    assert x.tolist() == [5.0, -4.0, 100.0, -100.0]


def test_slacks_of_a_quadratic_cost_are_not_below_zero():
    """Nor are those without a cost beside them; one with a linear cost is."""
    x = np.array([5.0, -4.0, 7.0, 7.0])
    for curvature in (2.0, [1.0, 0.0]):
        problem = own(ABOVE, linear=(), quadratic={"t": curvature})
        assert with_lowest_slacks(problem, x).tolist() == [5.0, -4.0, 4.0, 0.0]
    mixed = own(ABOVE, linear=(("t", [0.0, 0.5]),), quadratic={"t": [1.0, 0.0]})
    assert with_lowest_slacks(mixed, x).tolist() == [5.0, -4.0, 4.0, -6.0]


@pytest.mark.parametrize("name", [name for name, (_, wanted) in MODELS.items() if wanted])
def test_solutions_have_the_lowest_slacks_and_multipliers_that_share_the_cost(name):
    problem, _ = MODELS[name]
    s = problem.solve()
    assert s.status == "optimal"
    assert with_lowest_slacks(problem, s.x) == pytest.approx(s.x, abs=1e-7)
    for e in problem.epigraphs:
        shares = sum(e.weights(c) * s.multipliers[c.name] for c in e.pieces)
        assert shares == pytest.approx(e.cost + e.curvature * s.x[problem.layout[e.variable]], abs=1e-7)


def test_own_slacks_are_proved_at_every_level():
    """Two slacks in a row, too: one of them is an unknown like others."""
    shared = cc.Constraint("shared", {"w": EYE, "t": MINUS, "u": MINUS}, rhs=[-1.0, -2.0])
    signs = [cc.Constraint(f"{v}_sign", {v: MINUS}, rhs=0.0) for v in "tu"]
    problem = own(shared, *signs, names="wtu", linear=(("t", 1.0), ("u", 3.0)), quadratic={"w": 1.0})
    for level in ("float", "rigorous", "exact"):
        s = problem.solve(level=level)
        assert s.status == "optimal"
        assert s.certificate.level == level
        assert s.objective == pytest.approx(0.5 + 1.5, rel=1e-8)


def pieces_over(first, second, *more, linear=1.0, **also):
    """The largest of two lines over x and perhaps y, with further pieces."""
    names = sorted({*first, *second})
    blocks = [
        cc.Constraint(name, {**{v: np.array(rows) for v, rows in entries.items()}, "s": DiagonalRows.identity(2, -1.0)})
        for name, entries in (("first", first), ("second", second), *more)
    ]
    variables = [*(cc.Variable(v, 2, v) for v in names), cc.Variable("s", 2, "s")]
    problem = cc.Problem("pieces", variables, constraints=blocks, linear={"s": np.full(2, linear)}, **also)
    (found,) = problem.epigraphs
    return found


EYE = np.eye(2)


def test_a_distance_has_two_sides_that_slope_and_a_linear_cost():
    two = {"x": EYE}, {"x": -EYE}
    assert pieces_over(*two).is_two_sided
    assert not pieces_over(*two, ("third", {"x": 2 * EYE})).is_two_sided
    assert not pieces_over({"x": EYE}, {}).is_two_sided  # the other is a constant
    assert not pieces_over(*two, linear=0.0, quadratic={"s": np.ones(2)}).is_two_sided


@pytest.mark.parametrize(
    ("first", "second", "tilt"),
    [
        ({"x": EYE}, {"x": -EYE}, 1.0),
        ({"x": 3 * EYE}, {"x": -EYE}, 3.0),
        ({"x": 0.25 * EYE}, {"x": -0.5 * EYE}, 2.0),
        ({"x": 0.25 * EYE}, {"x": -0.125 * EYE}, 2.0),
        ({"x": [[1.0, 0.0], [0.0, 2.0]]}, {"x": [[-1.0, 0.0], [0.0, -8.0]]}, 4.0),
        (
            {"x": [[1.0, 0.0], [2.0, 0.0]]},
            {"x": [[-1.0, 0.0], [0.0, -8.0]]},
            2.0,
        ),  # what one side has alone has no ratio
        ({"x": [[1.0, 0.0], [0.0, 8.0]]}, {"x": [[-1.0, 0.0], [-2.0, 0.0]]}, 2.0),
        ({"x": [[1.0, 0.0], [0.0, 2.0]]}, {"x": [[-8.0, 0.0], [0.0, -2.0]]}, 8.0),
        ({"x": EYE}, {"y": EYE}, 1.0),
        ({"x": EYE, "y": 5 * EYE}, {"x": -2 * EYE}, 2.0),
        ({"x": EYE}, {"x": -2 * EYE, "y": 5 * EYE}, 2.0),
    ],
)
def test_the_steeper_side_of_a_distance(first, second, tilt):
    assert pieces_over(first, second).tilt == tilt


def test_costs_are_told_as_they_were_given():
    """All of them or some, as thirds or as the doubles that they are."""
    for C, cost in ((Fraction(1, 3), Fraction(1, 3)), (0.1, Fraction(0.1))):
        (slack,) = cc.SoftMarginSVM([[0], [1], [3]], [0, 1, 1], C=C, sample_weight=[1, 2, 4]).epigraphs
        assert (slack.given_cost is None) is (C == 0.1)
        whole = [cost, 2 * cost, 4 * cost]
        assert slack.rational("cost") == whole
        assert slack.rational("cost", np.array([2, 0])) == [whole[2], whole[0]]
        assert slack.rational("curvature", np.array([1])) == [0]
