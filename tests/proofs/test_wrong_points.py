"""Points and multipliers that are wrong in exactly one respect: the check of the level float names it, and no other."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify, interrupted
from tests.hunt.draw import draw
from tests.small_problems import a, block, over

TOL = 1e-6
STATIONARITY, PRIMAL, DUAL, SLACKNESS, GAP = (
    "stationarity",
    "primal feasibility",
    "dual feasibility",
    "complementary slackness",
    "duality gap",
)


def failing(problem, x, multipliers):
    """The measures that are above the tolerance."""
    measures = check_kkt(problem, x, multipliers).measures()
    return {name for name, value in measures.items() if not value <= TOL}


ONES = {"quadratic": {"x": [1.0, 1.0]}}
FIRST, SECOND = block("first", [[-1.0, 0.0]], -1.0), block("second", [[0.0, -1.0], [1.0, 1.0]], [-2.0, 10.0])
#: min 1/2 ‖x‖^2 with x_1 >= 1, x_2 >= 2 and x_1 + x_2 <= 10: (1, 2) with multipliers 1 and (2, 0).
CORNER = over(2, FIRST, SECOND, **ONES)
RIGHT = {"first": a(1), "second": a(2, 0)}
#: min x_1 + 2 x_2 with x >= 0: 0 with multipliers (1, 2), in which no coordinate has curvature.
FLAT = over(2, block("sign", [[-1.0, 0.0], [0.0, -1.0]], 0.0), linear={"x": [1.0, 2.0]}, unit=1.0)
#: min 1/2 x'Px with the matrix P and x_1 + x_2 = 2.
MATRIX = over(2, block("sum", [[1.0, 1.0]], 2.0, "=="), quadratic={"x": np.array([[2.0, 1.0], [1.0, 2.0]])})
#: min -3 x_1 - 4 x_2 in the disc of radius 5: (3, 4), with u = (-3, -4) / 5 times 5 and mu = 5.
DISC = over(2, norm_bounds=[cc.NormBound("disc", {"x": np.eye(2)}, bound=5.0)], linear={"x": [-3.0, -4.0]})
#: min 1/2 (x_1 - 2)^2 + 3/2 (x_2 + 1)^2 by losses, with x_1 <= 1: (1, -1), multiplier 1.
LOSSES = over(
    2,
    block("cap", [[1.0, 0.0]], 1.0),
    terms=[cc.Term("near", {"x": np.eye(2)}, offset=[-2.0, 1.0], weights=[1.0, 3.0])],
)
#: min x^2/2 with x <= 1: at x = 1 with multiplier -1 only the sign is wrong.
TRAP = over(1, block("cap", [[1.0]], 1.0), quadratic={"x": [1.0]})
#: min 1/2 ‖x‖^2 with ten x_i >= 1.
TEN = over(10, block("least", -np.eye(10), -1.0), quadratic={"x": np.ones(10)})

#: name: (problem, point, multipliers)
RIGHT_ONES = {
    "corner": (CORNER, a(1, 2), RIGHT),
    "flat": (FLAT, a(0, 0), {"sign": a(1, 2)}),
    "matrix": (MATRIX, a(1, 1), {"sum": a(-3)}),
    "disc": (DISC, a(3, 4), {"disc": a(-3, -4, 5)}),
    "losses": (LOSSES, a(1, -1), {"cap": a(1)}),
    "trap": (TRAP, a(0), {"cap": a(0)}),
    "ten": (TEN, np.ones(10), {"least": np.ones(10)}),
}
near = 2e-6
#: name: (problem, point, multipliers, the measures that must fail)
WRONG = {
    "a sign": (TRAP, a(1), {"cap": a(-1)}, {DUAL}),
    "a row of another block": (
        over(2, FIRST, SECOND, block("third", [[1.0, 1.0]], 2.9), **ONES),
        a(1, 2),
        {**RIGHT, "third": a(0)},
        {PRIMAL},
    ),
    "the second row of another block": (
        over(2, FIRST, SECOND, block("third", [[1.0, 1.0], [1.0, 0.0]], [9.0, 0.9]), **ONES),
        a(1, 2),
        {**RIGHT, "third": a(0, 0)},
        {PRIMAL},
    ),
    "an equation, from above": (
        over(2, FIRST, SECOND, block("tie", [[1.0, -1.0]], -1.1, "=="), **ONES),
        a(1, 2),
        {**RIGHT, "tie": a(0)},
        {PRIMAL},
    ),
    "an equation, from below": (
        over(2, FIRST, SECOND, block("tie", [[1.0, -1.0]], -0.9, "=="), **ONES),
        a(1, 2),
        {**RIGHT, "tie": a(0)},
        {PRIMAL},
    ),
    "a homogeneous equation": (
        over(2, FIRST, SECOND, block("tie", [[2.0, -1.1]], 0.0, "=="), **ONES),
        a(1, 2),
        {**RIGHT, "tie": a(0)},
        {PRIMAL},
    ),
    "a homogeneous row": (
        over(2, FIRST, SECOND, block("tie", [[2.0, -0.9]], 0.0), **ONES),
        a(1, 2),
        {**RIGHT, "tie": a(0)},
        {PRIMAL},
    ),
    "a sign and a product": (
        CORNER,
        a(1, 2),
        {"first": a(1), "second": a(2, -1e-3)},
        {DUAL, SLACKNESS, STATIONARITY, GAP},
    ),
    "a product": (
        over(2, FIRST, SECOND, block("half", [[0.0, -1.0]], -1.0), **ONES),
        a(1, 2),
        {"first": a(1), "second": a(1, 0), "half": a(1)},
        {SLACKNESS, GAP},
    ),
    "a product of one row of two": (
        over(2, FIRST, SECOND, block("half", [[-1.0, 0.0], [0.0, -1.0]], -1.0), **ONES),
        a(1, 2),
        {"first": a(1), "second": a(1, 0), "half": a(0, 1)},
        {SLACKNESS, GAP},
    ),
    "the gap, of many small products": (TEN, np.full(10, 1 + near), {"least": np.full(10, 1 + near)}, {GAP}),
    "a coordinate with curvature": (
        over(2, block("first", [[-1.0, 0.0]], -1.0), **ONES),
        a(1, 1e-4),
        {"first": a(1)},
        {STATIONARITY},
    ),
    "the first coordinate with curvature": (
        over(2, block("first", [[0.0, -1.0]], -1.0), **ONES),
        a(-1e-4, 1),
        {"first": a(1)},
        {STATIONARITY},
    ),
    "a coordinate without curvature": (FLAT, a(0, 0), {"sign": a(1, 2.001)}, {STATIONARITY}),
    "the first coordinate without curvature": (FLAT, a(0, 0), {"sign": a(0.999, 2)}, {STATIONARITY}),
    "a coordinate of a matrix": (MATRIX, a(1 + 1e-4, 1 - 1e-4), {"sum": a(-3)}, {STATIONARITY}),
    "a coordinate of losses": (LOSSES, a(1, -1 + 1e-4), {"cap": a(1)}, {STATIONARITY, GAP}),
    "beyond the disc": (DISC, a(3.003, 4.004), {"disc": a(-3, -4, 5)}, {PRIMAL, SLACKNESS, GAP}),
    "within the disc": (DISC, a(2.997, 3.996), {"disc": a(-3, -4, 5)}, {SLACKNESS, GAP}),
    "turned on the disc": (
        DISC,
        5 * a(np.cos(0.9273 + 1e-4), np.sin(0.9273 + 1e-4)),
        {"disc": a(-3, -4, 5)},
        {SLACKNESS},
    ),
    "a cone that is left": (
        over(2, norm_bounds=DISC.norm_bounds, linear={"x": [0.0, 0.0]}, unit=1.0),
        a(0, 0),
        {"disc": a(0, 0, -1)},
        {DUAL, SLACKNESS, GAP},
    ),
    "a direction that is longer than mu": (
        over(
            2,
            norm_bounds=[cc.NormBound("cone", {"x": np.eye(2)}, bound_entries={"x": [[0.0, 0.0]]})],
            linear={"x": [-3.0, -4.0]},
            unit=1.0,
        ),
        a(0, 0),
        {"cone": a(-3, -4, 4.9)},
        {DUAL},
    ),
}


@pytest.mark.parametrize("name", RIGHT_ONES)
def test_right_points_hold(name):
    problem, x, multipliers = RIGHT_ONES[name]
    assert check_kkt(problem, x, multipliers).worst <= 1e-14
    certificate = certify(problem, x, multipliers, TOL)
    assert certificate.status == "optimal"
    assert certificate.reason == ""


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_one_respect_is_named(name):
    problem, x, multipliers, wanted = WRONG[name]
    assert failing(problem, x, multipliers) == wanted
    certificate = certify(problem, x, multipliers, TOL, stand_in=False)
    assert certificate.kkt is None or set(certificate.kkt.measures()) >= wanted
    if certificate.status == "undecided":
        assert {measure for measure in certificate.kkt.measures() if measure in certificate.reason} == wanted
    else:
        assert certificate.status != "optimal"


#: Soft margins, in which a slack is a variable of its own: min w^2/2 + sum s_i.
SOFT = cc.SoftMarginSVM([[-1.0], [1.0], [2.0], [-0.5]], [0, 1, 1, 1], C=0.5, intercept=False)


def test_soft_margins_in_each_respect():
    """w = 3/4: signed samples 1, 1, 2, -1/2 with multipliers 1/2, 1/2, 0, 1/2, slacks 1/4, 1/4, 0, 11/8."""
    w = 0.75
    x = a(w, 1 - w, 1 - w, 0, 1 + w / 2)
    alpha, rest = a(0.5, 0.5, 0, 0.5), a(0, 0, 0.5, 0)
    names = [c.name for c in SOFT.constraints]
    assert names == ["margin", "slack_sign"]

    def judged(x=x, alpha=alpha, rest=rest):
        return failing(SOFT, x, {"margin": alpha, "slack_sign": rest})

    assert judged() == set()
    assert PRIMAL in judged(x=x - a(0, 0, 0.1, 0, 0))  # a slack too small
    assert PRIMAL in judged(x=x - a(0, 0, 0, 0.1, 0))  # a slack below 0
    assert {SLACKNESS, GAP} <= judged(x=x + a(0, 0, 0.1, 0, 0))  # a slack too large
    assert {SLACKNESS, GAP} <= judged(x=x + a(0, 0, 0, 0.1, 0))
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-3
        assert STATIONARITY in judged(alpha=alpha + step)
        assert STATIONARITY in judged(rest=rest + step)
    assert {DUAL} <= judged(alpha=alpha + a(0, 0, -1e-3, 0), rest=rest + a(0, 0, 1e-3, 0))
    assert {DUAL} <= judged(alpha=alpha + a(0.1, 0, 0, 0), rest=rest - a(0.1, 0, 0, 0))
    assert STATIONARITY in judged(x=x + a(1e-3, 0, 0, 0, 0))


def test_measures_are_relative_to_the_problem():
    """The same points in other units are as right, and as wrong."""
    for unit in (1e-6, 1.0, 1e6):
        rows = block("rows", [[-1.0 / unit, 0.0], [0.0, 1.0 / unit]], [-1.0, 10.0])
        problem = over(2, rows, quadratic={"x": [1.0 / unit**2] * 2}, unit=0.0)
        assert failing(problem, a(unit, 0), {"rows": a(1, 0)}) == set()
        assert failing(problem, a(unit, 1e-4 * unit), {"rows": a(1, 0)}) == {STATIONARITY}
        assert PRIMAL in failing(problem, a(unit * (1 - 1e-4), 0), {"rows": a(1 - 1e-4, 0)})
        scaled = over(2, block("first", [[-1.0, 0.0]], -1.0), quadratic={"x": [unit, unit]}, unit=0.0)
        assert failing(scaled, a(1, 0), {"first": a(unit)}) == set()
        assert SLACKNESS in failing(scaled, a(1.001, 0), {"first": a(1.001 * unit)})


def test_absolute_residuals_are_what_they_say():
    kkt = check_kkt(CORNER, a(0.5, 3), {"first": a(-2), "second": a(2, 0.25)})
    assert kkt.stationarity.values["x"].tolist() == [0.5 + 2 + 0.25, 3 - 2 + 0.25]
    assert kkt.primal_feasibility.values["first"].tolist() == [0.5]
    assert kkt.primal_feasibility.values["second"].tolist() == [0.0, 0.0]
    assert kkt.dual_feasibility.values["first"].tolist() == [2.0]
    assert kkt.dual_feasibility.values["second"].tolist() == [0.0, 0.0]
    assert kkt.complementary_slackness.values["first"].tolist() == [1.0]
    assert kkt.complementary_slackness.values["second"].tolist() == [2.0, 6.5 * 0.25]
    assert kkt.objective == (0.25 + 9) / 2
    # -1/2 ‖pull‖^2 - multipliers'rhs with pull = (2, 0) + (0, -2) + (1/4, 1/4)
    assert kkt.dual_objective == -(2.25**2 + 1.75**2) / 2 + (-2) * 1 + 2 * 2 - 0.25 * 10
    assert kkt.gap == kkt.objective - kkt.dual_objective
    disc = check_kkt(DISC, a(6, 8), {"disc": a(-6, -8, 5)})
    assert disc.primal_feasibility.max == 5
    assert disc.dual_feasibility.max == 5
    assert disc.stationarity.values["x"].tolist() == [3.0, 4.0]
    assert (disc.objective, disc.dual_objective) == (-50, -25)
    losses = check_kkt(LOSSES, a(0, 1), {"cap": a(1)})
    assert losses.objective == 2 + 6
    assert losses.stationarity.values["x"].tolist() == [1.0, 6.0]


# ---- what has no measure ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "multipliers", "said"),
    [
        (None, RIGHT, "the solver gave no point"),
        (a(1), RIGHT, "the point has 1 entries, the problem 2"),
        (a(1, 2, 3), RIGHT, "the point has 3 entries, the problem 2"),
        (np.ones((2, 1)), RIGHT, "the point has 2 entries, the problem 2"),
        (a(1, np.nan), RIGHT, "entries that are not finite numbers"),
        (a(np.inf, 2), RIGHT, "entries that are not finite numbers"),
        (a(1, 2), None, "there are no multipliers for 'first'"),
        (a(1, 2), {"first": a(1)}, "there are no multipliers for 'second'"),
        (a(1, 2), {"first": a(1), "second": a(2)}, "the multipliers of 'second' are not 2 finite numbers"),
        (a(1, 2), {"first": a(1), "second": a(2, 0, 0)}, "the multipliers of 'second' are not 2 finite numbers"),
        (a(1, 2), {"first": a(1), "second": a(2, np.nan)}, "the multipliers of 'second' are not 2 finite numbers"),
        (a(1, 2), {"first": a(np.inf), "second": a(2, 0)}, "the multipliers of 'first' are not 1 finite numbers"),
    ],
)
def test_what_cannot_be_measured_is_undecided(x, multipliers, said):
    certificate = certify(CORNER, x, multipliers, TOL)
    point = certificate.x
    assert certificate.status == "undecided"
    assert said in certificate.reason
    assert certificate.kkt is None
    assert point is x
    stopped = interrupted(CORNER, x, multipliers or {}, TOL, 7)
    assert stopped.status == "undecided"
    assert "after 7 iteration" in stopped.reason
    assert stopped.kkt is None


def test_norm_bounds_have_one_multiplier_more():
    for wrong in (a(-3, -4), a(-3, -4, 5, 0), a(-3, np.nan, 5)):
        certificate = certify(DISC, a(3, 4), {"disc": wrong}, TOL)
        assert certificate.status == "undecided"
        assert "the multipliers of 'disc' are not 3 finite numbers" in certificate.reason


def test_an_interrupted_solver_has_measures_and_no_verdict():
    stopped = interrupted(CORNER, a(1, 2), RIGHT, TOL, 3)
    assert stopped.status == "undecided"
    assert stopped.kkt.worst <= 1e-14
    assert stopped.tol == TOL
    assert interrupted(CORNER, a(1, 2), RIGHT, TOL, 3, "no time is left").reason == "no time is left"


def test_the_tolerance_is_the_one_given():
    x, multipliers = np.full(10, 1 + near), {"least": np.full(10, 1 + near)}
    for tol, status in ((1e-5, "optimal"), (1e-6, "undecided")):
        assert certify(TEN, x, multipliers, tol).status == status
    gap = max(check_kkt(TEN, x, multipliers).bounds().values())
    assert certify(TEN, x, multipliers, gap).status == "optimal"


# ---- no optimum ---------------------------------------------------------------------------------------------------


def test_residuals_alone_prove_no_minimum():
    """Far out along a separating direction every measure holds; what is not proved is that there is a minimum."""
    X, y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
    problem = cc.LogisticMLE(X, y, intercept=False)
    assert failing(problem, a(40), {}) <= {STATIONARITY}
    certificate = certify(problem, a(40), {}, 1e-3)
    assert certificate.status == "unattained"
    assert certificate.direction is not None
    risk = cc.EmpiricalRisk(X, y, loss="exponential", intercept=False)
    assert certify(risk, a(40), {}, 1e-3).status == "unattained"
    overlap = cc.LogisticMLE([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], l2=0.0)
    s = overlap.solve()
    assert certify(overlap, s.x, {}, TOL).status == "optimal"
    off = certify(overlap, s.x + a(1e-3, 0), {}, TOL)
    assert off.status == "undecided"
    assert STATIONARITY in off.reason


def test_contradictions_and_directions_are_found_and_checked():
    never = over(1, block("below", [[1.0], [-1.0]], [0.0, -1.0]), quadratic={"x": [1.0]})
    certificate = certify(never, a(0), {"below": a(0, 0)}, TOL, farkas={"below": a(1, 1)})
    x, multipliers = certificate.x, certificate.multipliers
    assert (certificate.status, x, multipliers) == ("infeasible", None, None)
    assert certify(never, None, None, TOL).status == "infeasible"
    assert certify(never, None, None, TOL, farkas={"below": a(1, 2)}).status == "infeasible"  # it finds its own
    fair = over(1, block("below", [[1.0], [-1.0]], [1.0, 1.0]), quadratic={"x": [1.0]})
    assert certify(fair, None, None, TOL, farkas={"below": a(1, 1)}, stand_in=False).status == "undecided"
    fall = over(2, block("least", [[-1.0, 0.0]], 0.0), linear={"x": [-1.0, 0.0]}, unit=1.0)
    assert certify(fall, a(0, 0), {"least": a(0)}, TOL, direction=a(1, 0)).status == "unattained"
    assert certify(fall, a(0, 0), {"least": a(0)}, TOL, direction=a(-1, 0)).status == "unattained"  # it finds its own
    assert certify(fall, None, None, TOL).status == "unattained"
    rise = over(2, block("least", [[-1.0, 0.0]], 0.0), linear={"x": [1.0, 0.0]}, unit=1.0)
    assert certify(rise, a(0, 0), {"least": a(1)}, TOL).status == "optimal"
    assert certify(rise, a(1, 0), {"least": a(1)}, TOL, direction=a(1, 0), stand_in=False).status == "undecided"


def test_an_optimum_of_its_own_stands_in_only_where_it_may():
    rise = over(2, block("sign", [[-1.0, 0.0], [0.0, -1.0]], 0.0), linear={"x": [1.0, 2.0]}, unit=1.0)
    certificate = certify(rise, a(1, 1), {"sign": a(0, 0)}, TOL)
    x, multipliers = certificate.x, certificate.multipliers
    assert certificate.status == "optimal"
    assert x.tolist() == [0.0, 0.0]
    assert multipliers["sign"].tolist() == [1.0, 2.0]
    assert "the solver's point was not accepted" in certificate.notes[-1]
    certificate = certify(rise, a(1, 1), {"sign": a(0, 0)}, TOL, stand_in=False)
    x = certificate.x
    assert certificate.status == "undecided"
    assert x.tolist() == [1.0, 1.0]


def test_separability_has_the_last_word():
    """The classes of a hard margin meet, or do not; a perceptron without normalization has the optimum 0."""
    meet = cc.HardMarginSVM([[0.0], [1.0], [2.0]], [0, 1, 0])
    certificate = certify(meet, a(0, 0), {"margin": a(0, 0, 0)}, TOL)
    x, multipliers = certificate.x, certificate.multipliers
    assert (certificate.status, x, multipliers) == ("infeasible", None, None)
    apart = cc.HardMarginSVM([[0.0], [1.0], [3.0]], [0, 1, 1])
    assert certify(apart, a(2, -1), {"margin": a(2, 2, 0)}, TOL).status == "optimal"
    certificate = certify(apart, a(2.1, -1), {"margin": a(2, 2, 0)}, TOL)
    x = certificate.x
    assert certificate.status == "undecided"
    assert certificate.farkas is None
    loose = cc.PerceptronCriterion([[-1.0], [1.0], [2.0]], [0, 1, 1])
    wrong = {c.name: np.zeros(c.size) for c in loose.constraints}
    certificate = certify(loose, np.zeros(loose.size), wrong, TOL)
    x = certificate.x
    assert certificate.status == "optimal"
    assert "a plane with no sample on its wrong side" in certificate.notes[-1]
    assert loose.objective(x) == 0
    kept = certify(loose, np.zeros(loose.size), wrong, TOL, stand_in=False)
    same = kept.x
    assert kept.status == "undecided"
    assert not np.any(same)


def test_a_light_sample_pays_no_more_than_its_weight():
    """Weights from 1e-12 to 5e4, as the hunt drew them. A vertex that HiGHS takes for the optimum is 4.5 tolerances
    above it: the multiplier of a light sample is 1e5 times its weight, so that of its slack's sign is below 0, by 1e-8
    of the heaviest. So it is with the optimum where one multiplier is moved as far."""
    case = draw(60219481, 993)
    problem = getattr(cc, case.model)(case.X, case.y, **case.arguments)
    exact = float(problem.solve(level="exact").certificate.optimum)
    for solver in ("highs", "clarabel", "interior-point", "auto"):
        s = problem.solve(solver)
        assert s.status != "optimal" or abs(s.objective - exact) <= 1.01e-8 * problem.unit
    optimum = problem.solve()
    assert optimum.status == "optimal"
    z = {name: np.array(value) for name, value in optimum.multipliers.items()}
    light = int(np.argmin(case.weights))
    z["slack_sign"][light] -= 1e-9 * max(case.weights)
    z["margin"][light] += 1e-9 * max(case.weights)
    assert "dual feasibility" in failing(problem, optimum.x, z)
