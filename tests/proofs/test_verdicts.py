"""What each verdict hangs on: answers that differ in one respect get another verdict, or another reason."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls.losses import Exponential
from convexcls.proofs.verdict import certify
from tests.small_problems import a, block, over

VERDICT = sys.modules[certify.__module__]
#: min 1/2 ‖x‖^2 with ten x_i >= 1; at 1 + e each, with multipliers 1 + e, only the gap is not 0: 2 e of the objective.
TEN = over(10, block("least", -np.eye(10), -1.0), quadratic={"x": np.ones(10)})
#: min x_1 + 2 x_2 with x >= 0.
FLAT = over(2, block("sign", [[-1.0, 0.0], [0.0, -1.0]], 0.0), linear={"x": [1.0, 2.0]}, unit=1.0)
#: e^-(x_1 + x_2) + e^(x_1 + x_2) + e^-x_1 falls along (1, -1) for ever.
FALLING = over(2, terms=[cc.Term("rows", {"x": [[1.0, 1.0], [-1.0, -1.0], [1.0, 0.0]]}, loss=Exponential())])
#: 3 e^-x + e^x: from 0, the Newton step leaves exactly half of the slope of the last loss.
HALF = over(1, terms=[cc.Term("rows", {"x": [[1.0], [1.0], [1.0], [-1.0]]}, loss=Exponential())])
UNPROVED = "that a minimum exists is not proved"


def test_the_tolerance_is_1e_8_where_none_is_named():
    for e, status in ((1.5e-9, "optimal"), (1.5e-8, "undecided")):
        certificate = certify(TEN, np.full(10, 1 + e), {"least": np.full(10, 1 + e)})
        assert certificate.status == status
        assert certificate.tol == 1e-8


def test_a_point_that_satisfies_the_conditions_is_no_minimum_where_there_is_none():
    """At (30, -30) every measure is below 1e-10; only the Newton step tells that the third loss runs to its infimum."""
    certificate = certify(FALLING, a(30, -30), {})
    x = certificate.x
    assert certificate.kkt.holds(1e-10)
    assert certificate.attained < 0.1
    assert certificate.status == "unattained"
    assert certificate.reason == ""
    assert x.tolist() == [30, -30]


def test_a_direction_that_a_model_names_outweighs_what_doubles_show(monkeypatch):
    """Whatever the conditions and the Newton step say: along (1, -1) the objective falls for ever."""

    class Named(cc.Problem):
        def candidate_directions(self):
            return [a(1, -1)]

    monkeypatch.setattr(VERDICT, "attainment", lambda *given: 1.0)
    assert certify(FALLING, a(30, -30), {}).status == "optimal"
    certificate = certify(Named("named", FALLING.variables, terms=FALLING.terms), a(30, -30), {})
    assert certificate.status == "undecided"
    assert "along a direction the objective falls for ever" in certificate.reason


def test_half_of_the_slopes_is_enough_to_prove_a_minimum():
    certificate = certify(HALF, a(0), {}, 2.0)
    assert certificate.attained == 0.5
    assert certificate.status == "optimal"
    certificate = certify(HALF, a(0), {}, 1e-8)
    assert certificate.status == "undecided"
    assert UNPROVED not in certificate.reason
    certificate = certify(HALF, a(-0.2), {}, 2.0)
    assert 0.3 < certificate.attained < 0.4
    assert certificate.status == "undecided"
    assert certificate.reason == UNPROVED


def test_whether_a_minimum_exists_is_said_where_that_is_open():
    far = certify(HALF, a(8), {})
    assert far.attained < 0.1
    assert far.status == "undecided"
    assert far.reason.endswith(UNPROVED)
    near = certify(HALF, a(np.log(3) / 2 + 1e-4), {})
    assert near.attained > 0.9
    assert near.status == "undecided"
    assert UNPROVED not in near.reason


def test_reasons_tell_a_residual_from_its_rounding():
    """On the rim of a disc nothing is violated, but a norm is rounded; a multiplier's sign is not."""
    bound = cc.NormBound("disc", {"x": np.eye(2)}, bound=5.0)
    disc = over(2, norm_bounds=[bound], linear={"x": [-3.0, -4.0]})
    rim = certify(disc, a(3, 4), {"disc": a(-3, -4, 5)}, 0.0)
    assert "primal feasibility is known to" in rim.reason
    assert "only, because of rounding: above the tolerance 0e+00" in rim.reason
    assert "primal feasibility is 0" not in rim.reason
    beyond = certify(disc, a(3.003, 4.004), {"disc": a(-3, -4, 5)}, 1e-6)
    assert "primal feasibility is 1.0e-03, above the tolerance 1e-06" in beyond.reason
    assert "because of rounding" not in beyond.reason
    corner = over(1, block("least", [[-1.0]], -1.0), quadratic={"x": [1.0]})
    off = certify(corner, a(1.25), {"least": a(1.25)}, 0.0)
    assert "complementary slackness is" in off.reason
    assert "dual feasibility" not in off.reason


def test_at_zero_the_conditions_have_to_hold_exactly():
    """There the optimum itself is the size to compare with: a little away from 0 it may be a little below 0."""
    nearly = {"sign": a(1 + 1e-12, 2)}
    certificate = certify(FLAT, a(0, 0), nearly, stand_in=False)
    assert certificate.kkt.holds(1e-8)
    assert certificate.status == "undecided"
    assert certificate.reason.startswith("x = 0 satisfies the conditions to rounding, not exactly")
    assert certify(FLAT, a(0, 0), {"sign": a(1, 2)}, stand_in=False).status == "optimal"
    assert certify(FLAT, a(0, 0), nearly).status == "optimal"  # by multipliers of its own


def test_no_tolerance_makes_classes_separable_that_are_not():
    """All margins are 0, one below what they have to be: within a tolerance of 2."""
    meet = cc.HardMarginSVM([[0.0], [1.0], [2.0]], [0, 1, 0])
    certificate = certify(meet, a(0, 0), {"margin": a(0, 0, 0)}, 2.0)
    x = certificate.x
    assert certificate.kkt.holds(2.0)
    assert certificate.status == "infeasible"
    assert x is None
    apart = cc.HardMarginSVM([[0.0], [1.0], [3.0]], [0, 1, 1])
    assert certify(apart, a(0, 0), {"margin": a(0, 0, 0)}, 2.0).status == "optimal"


def test_a_direction_that_is_given_is_the_one_shown():
    fall = over(2, block("least", [[-1.0, 0.0]], 0.0), linear={"x": [-1.0, 0.0]}, unit=1.0)
    certificate = certify(fall, a(0, 0), {"least": a(0)}, direction=a(3, 0.25))
    assert certificate.status == "unattained"
    assert certificate.direction.x.tolist() == [3.0, 0.25]
    certificate = certify(fall, a(0, 0), {"least": a(0)}, direction=a(-3, 0.25))  # none: another is found
    assert certificate.status == "unattained"
    assert certificate.direction.x[0] > 0


def test_what_stands_in_comes_with_its_multipliers():
    loose = cc.PerceptronCriterion([[-1.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[1.0, 2.0, 3.0])
    wrong = {c.name: np.zeros(c.size) for c in loose.constraints}
    certificate = certify(loose, np.zeros(loose.size), wrong)
    x, multipliers = certificate.x, certificate.multipliers
    assert certificate.status == "optimal"
    assert multipliers["slack_sign"].tolist() == [1.0, 2.0, 3.0]
    assert not multipliers["margin"].any()
    assert not multipliers["normalization"].any()
    assert certify(loose, x, multipliers, stand_in=False).status == "optimal"


def test_arguments_that_doubles_round_away_do_not_make_an_optimum():
    """Both residuals are h = 2^-9 in size and cancel, in doubles; in truth both are 2^-12 less, which costs 1/64 of the
    objective. No double is nearer to the minimiser, 3 + 2^-52."""
    b, h = 2.0**40 + 2.0**-12, 2.0**-9
    fit = cc.Term("fit", {"x": [[b], [b]]}, offset=[h - 3 * b, -h - 3 * b])
    problem = over(1, terms=[fit], unit=0.0)
    certificate = certify(problem, a(3), {})
    assert certificate.status == "undecided"


def test_perceptron_with_a_total_that_rounding_takes_away():
    """Shares and their complements: the direction that separates has margins of 1e-15 of its entries."""
    X, y, w = [[57.5, 42.5], [55.2, 44.8], [85.2, 14.8], [85.9, 14.1]], [1, 0, 0, 0], [2.0, 0.5, 1.0, 1.0]
    problem = cc.PerceptronCriterion(X, y, sample_weight=w)
    for level in ("float", "rigorous", "exact"):
        s = problem.solve(level=level)
        assert (s.status, s.objective) == ("optimal", 0.0)
    point = [Fraction(v) for v in (*s.coef, s.intercept)]
    margins = [
        (2 * t - 1) * sum(a * Fraction(b) for a, b in zip(point, (*row, 1.0), strict=True))
        for row, t in zip(X, y, strict=True)
    ]
    assert min(margins) >= 0
    total = sum(Fraction(a) * m for a, m in zip(w, margins, strict=True))
    assert abs(total / Fraction(sum(w)) - 1) <= Fraction(1, 10**8)


def test_a_penalty_holds_no_intercept_of_one_class():
    """Only one class has weight: with a penalty, too, the intercept runs away. All levels say so, and verify it."""
    X, y, w = [[0.8, 2.0], [-0.4, 0.0], [0.7, 2.0], [0.6, -2.0]], [1, 0, 1, 1], [2.5, 0.0, 1.0, 1.0]
    for model in (cc.LogisticMLE, cc.SoftmaxMLE):
        for level in ("float", "rigorous", "exact"):
            certificate = model(X, y, l2=1.0, sample_weight=w).solve(level=level).certificate
            assert (certificate.status, certificate.level) == ("unattained", level)
            assert cc.verify(certificate.to_json(), X, y, w).accepted
        held = model(X, y, l2=1.0, sample_weight=[2.5, 0.5, 1.0, 1.0]).solve(level="exact")
        assert held.status == "optimal"


def test_multipliers_that_stand_in_are_checked_like_others(monkeypatch):
    monkeypatch.setattr(VERDICT, "find_origin_multipliers", lambda problem: {"sign": a(1, 1)})
    assert certify(FLAT, a(1, 1), {"sign": a(0, 0)}).status == "undecided"
    monkeypatch.setattr(VERDICT, "find_origin_multipliers", lambda problem: {"sign": a(1, 2)})
    assert certify(FLAT, a(1, 1), {"sign": a(0, 0)}).status == "optimal"


@pytest.mark.parametrize(("limit", "asked"), [(4, True), (3, False)])
def test_whether_a_minimum_exists_is_not_asked_far_from_it_in_large_problems(limit, asked, monkeypatch):
    """But where there is none, that is proved, and a minimum is accepted."""
    seen = []
    own = VERDICT.attainment
    monkeypatch.setattr(VERDICT, "MAX_EASY_ENTRIES", limit)
    monkeypatch.setattr(VERDICT, "attainment", lambda *given: seen.append(1) or own(*given))
    assert certify(HALF, a(1), {}).status == "undecided"
    assert bool(seen) is asked
    assert certify(HALF, a(0.5 * np.log(3)), {}).status == "optimal"
    assert certify(FALLING, a(1, 1), {}).status == "unattained"
