"""No level says optimal, infeasible or unattained of what is not, judged in rationals on the data as given."""

import os
import threading
from dataclasses import fields, replace
from fractions import Fraction as F

import numpy as np
import pytest

import convexcls as cc
from convexcls.arrays import least_squares
from convexcls.proofs.levels import raise_level
from convexcls.proofs.verdict import certify
from convexcls.solvers.foreign import beyond_range, quiet
from convexcls.wording import rational_text

PRICES = [[57703.26, 30856.41, 10016.0], [368.91, 98234.72, 14.85], [414.14, 7.27, 1119.52]]
LEVELS = ("float", "rigorous", "exact")


def hinge_objective(X, signs, C, s):
    """The objective at the doubles that a solution shows, without rounding."""
    w, b = [F(v) for v in s.coef.tolist()], F(s.intercept)
    margins = [
        sign * (sum(F(x) * v for x, v in zip(row, w, strict=True)) + b) for row, sign in zip(X, signs, strict=True)
    ]
    return sum(v * v for v in w) / 2 + F(C) * sum(max(F(0), 1 - m) for m in margins)


@pytest.mark.parametrize("solver", ["auto", "clarabel", "interior-point", "dual:osqp"])
def test_the_level_rigorous_speaks_of_the_point_that_is_shown(solver):
    """A margin that rounding violates by 1e-16 costs 1e4 times that: far more than the tolerance of 2.7e-10."""
    model = cc.SoftMarginSVM(PRICES, [0, 1, 0], C=1e4)
    optimum = model.solve(level="exact").certificate.optimum
    s = model.solve(solver, level="rigorous")
    assert s.certificate.lower <= optimum <= s.certificate.upper
    if s.status == "optimal":
        assert hinge_objective(PRICES, [-1, 1, -1], 1e4, s) - optimum <= F(1e-8) * optimum
        assert abs(F(s.objective) - optimum) <= F(1e-8) * optimum


def test_the_level_exact_says_where_doubles_have_no_room():
    s = cc.SoftMarginSVM(PRICES, [0, 1, 0], C=1e4).solve(level="exact")
    assert s.objective == s.dual_objective == float(s.certificate.optimum)
    assert s.gap == 0
    off = hinge_objective(PRICES, [-1, 1, -1], 1e4, s) - s.certificate.optimum > F(1e-8) * s.certificate.optimum
    assert ("not of their nearest doubles" in " ".join(s.explain().split())) == off
    plain = cc.HardMarginSVM([[0, 0], [1, 2]], [0, 1]).solve(level="exact")
    assert "nearest doubles" not in plain.explain()


def test_bounds_of_a_point_within_the_box_do_not_speak_of_one_outside():
    model = cc.KernelSVM([[0.0], [1.0], [3.0]], [0, 1, 0], C=1e-12, gamma=0.5, intercept=False)
    s = model.solve()
    assert s.at_level("rigorous").status == "optimal"
    outside = certify(model, s.x * 1.002, s.multipliers)
    raised = raise_level(outside, "rigorous")
    assert raised.status == "undecided"
    assert "violates" in raised.reason


def test_a_multiplier_of_the_wrong_sign_is_not_small_beside_what_a_slack_would_cost():
    """All margins are 1, and one multiplier is -6e-8: nothing beside C = 1e8, a tenth of the others."""
    X = np.array(
        [[4200.0, -1600.0, 4100.0], [4100.0, 3000.0, 3000.0], [2300.0, -700.0, 3700.0], [400.0, -2900.0, -1500.0]]
    )
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    model = cc.SoftMarginSVM(X, signs, C=1e8)
    rows = signs[:, None] * np.column_stack([X, np.ones(4)])
    point = np.linalg.solve(rows, np.ones(4))
    alpha = np.linalg.solve(rows.T, np.append(point[:3], 0.0))
    assert alpha.min() < -1e-8
    x = np.concatenate([point, np.zeros(4)])
    certificate = certify(model, x, {"margin": alpha, "slack_sign": 1e8 - alpha}, stand_in=False)
    assert certificate.status == "undecided"
    assert "dual feasibility" in certificate.reason


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("X", "parameters"),
    [
        ([[4e-150], [-2e-150], [1e-150]], {"kernel": "poly", "degree": 3}),  # values of 1e-900
        ([[0.0], [1e-9], [2.0]], {"kernel": "rbf"}),  # two rows that doubles do not tell apart
        ([[F(2**60)], [F(2**60 + 1)], [F(2**60 + 9)]], {"kernel": "linear"}),
    ],
)
def test_a_kernel_that_is_singular_in_doubles_only(X, parameters, level):
    s = cc.KernelSVM(X, [0, 1, 1], **parameters).solve(level=level)
    assert s.status in ("optimal", "undecided")


def test_classes_that_meet_in_doubles_only():
    """(2^60 + 1, 2^60) and (2^60, 2^60 + 1) round to the same doubles; their margin is 1 / sqrt(2)."""
    X = [[F(2**60 + 1), F(2**60)], [F(2**60), F(2**60 + 1)]]
    for level in LEVELS:
        s = cc.MaxMargin(X, [0, 1], intercept=False).solve(level=level)
        assert s.status == "undecided" or s.objective == pytest.approx(0.5**0.5, rel=1e-8)


def test_gaussian_classes_that_do_not_vary_in_doubles_only():
    X = [[F(2**60 + k)] for k in (0, 1, 3, 40, 42, 43)]
    for covariance in ("shared", "by-class"):
        model = cc.GaussianMLE(X, [0, 0, 0, 1, 1, 1], covariance=covariance)
        found = [model.solve(level=level) for level in LEVELS]
        assert found[0].certificate.level != "float"  # doubles alone cannot tell
        assert [s.status for s in found] == ["optimal"] * 3
        assert len({round(s.objective, 8) for s in found}) == 1


def test_rounded_samples_of_a_kernel():
    """The value of a kernel is judged as one of the samples as given, whatever doubles make of them."""
    X = [[F(2**60 + k)] for k in (0, 7, 300, 310)]
    exact = cc.KernelSVM(X, [0, 0, 1, 1], kernel="linear", C=1.0).solve(level="exact").certificate.optimum
    s = cc.KernelSVM(X, [0, 0, 1, 1], kernel="linear", C=1.0).solve()
    assert s.status == "undecided" or s.objective == pytest.approx(float(exact), rel=1e-7)


def test_a_solver_that_does_not_take_huge_numbers_refuses():
    model = cc.LogisticMLE([[1e300], [-1e300], [3e300], [0.0]], [0, 1, 1, 0], l2=10.0)
    with pytest.raises(cc.SolverRefused, match="highs"):
        model.solve("highs")


def test_rationals_beyond_doubles_are_told():
    assert rational_text(F(10**700 + 1, 3)).startswith("3.33333333333333e+699... (701 digits over 1")
    assert rational_text(F(1, 3)) == "1/3"


def test_numbers_that_are_not_finite_do_not_reach_lapack(capfd):
    for bad in (np.nan, np.inf):
        assert np.all(np.isnan(least_squares(np.array([[bad, 1.0]]), np.ones(1))))
        assert np.all(np.isnan(least_squares(np.ones((1, 2)), np.array([bad]))))
    np.testing.assert_allclose(least_squares(np.eye(2), np.array([3.0, 4.0])), [3.0, 4.0])
    assert capfd.readouterr() == ("", "")


def test_foreign_libraries_are_quiet(capfd):
    with quiet():
        os.write(1, b"from C")
        os.write(2, b"an error")
        print("from Python")
    os.write(1, b"after")
    assert capfd.readouterr() == ("after", "")


def test_threads_that_are_quiet_give_the_streams_back(capfd):
    """They overlap: the first to go must not restore what the second still needs, nor the second what it found."""
    both, first_is_gone = threading.Barrier(2), threading.Event()

    def first():
        with quiet():
            both.wait(10)
        first_is_gone.set()

    def second():
        with quiet():
            both.wait(10)
            first_is_gone.wait(10)
            os.write(1, b"still quiet")

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(1, b"after")
    print(" and Python", end="", flush=True)
    assert capfd.readouterr() == ("after and Python", "")


def test_ordinary_numbers_leave_the_streams_alone():
    assert not beyond_range(np.array([0.0, 1e-20, 3.0, np.inf]), np.array([[1e20]]))
    assert beyond_range(np.array([1e-60, 1.0]))
    assert beyond_range(np.array([1e60]), np.zeros(2))


def test_the_objective_is_told_within_what_is_proved_of_it():
    s = cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1]).solve(level="rigorous")
    measures = {f.name: getattr(s.kkt, f.name) for f in fields(cc.KKT)}
    proof = replace(s.certificate, kkt=cc.KKT(**measures | {"objective": 99.0}))
    assert proof.objective == s.certificate.bounds.at_point
    assert proof.lower <= proof.objective <= 1.0001 * proof.upper


def test_an_optimum_of_0_leaves_no_room_for_other_doubles():
    """A direction projects samples near 2^61 to one point a class: 0 is attained, and nothing else counts as 0."""
    near = [[-14, -48, 17, -50], [42, -32, -49, 13], [21, -32, 11, 45], [44, -10, 29, -14], [41, 46, 19, -31]]
    for level in LEVELS:
        s = cc.FisherLDA([[F(2**61 + v) for v in row] for row in near], [0, 0, 0, 0, 1]).solve(level=level)
        assert s.status == "undecided" or s.objective == 0


def test_the_norm_of_huge_multipliers_is_finite():
    X = [[4e-290, 3e300], [4e-290, -4e300], [2e-290, -3e300], [-1e-290, 2e300]]
    s = cc.MaxMargin(X, [0, 0, 1, 1]).solve(level="exact")
    assert all(np.all(np.isfinite(z)) for z in s.multipliers.values())
    assert s.status == "undecided" or s.objective == pytest.approx(float(s.certificate.upper))
