"""The three levels of proof, from solve() to words."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc

X = np.array([[0.0, 0.0], [1.0, 0.25], [0.5, 1.0], [3.0, 3.0], [4.0, 2.5], [2.5, 4.0]])
Y = ["no", "no", "no", "yes", "yes", "yes"]
MIXED = ["no", "yes", "no", "yes", "no", "yes"]
XOR = [[0, 0], [1, 1], [0, 1], [1, 0]]
PARITY = ["even", "even", "odd", "odd"]

OPTIMAL = {
    "hard": lambda: cc.HardMarginSVM(X, Y),
    "soft": lambda: cc.SoftMarginSVM(X, MIXED, C=0.7),
    "squared hinge": lambda: cc.SoftMarginSVM(X, MIXED, loss="squared_hinge"),
    "absolute": lambda: cc.LeastAbsolute(X, MIXED),
    "perceptron": lambda: cc.PerceptronCriterion(X, MIXED),
    "squares": lambda: cc.LeastSquares(X, MIXED),
    "ridge": lambda: cc.LeastSquares(X, MIXED, l2=0.3),
    "fisher": lambda: cc.FisherLDA(X, MIXED),
    "kernel": lambda: cc.KernelSVM(X, MIXED, kernel="linear", C=2.0),
    "dual": lambda: cc.SoftMarginSVM(X, MIXED).dual(),
}
LIKELIHOODS = {
    "logistic": lambda: cc.LogisticMLE(X, MIXED, l2=0.5),
    "softmax": lambda: cc.SoftmaxMLE(X, ["a", "b", "c"] * 2, l2=0.5),
}


@pytest.mark.parametrize("name", [*OPTIMAL, *LIKELIHOODS])
def test_each_level_contains_the_next(name):
    problem = {**OPTIMAL, **LIKELIHOODS}[name]()
    solution = problem.solve()
    floats, rigorous, exact = (solution.certify(level=level) for level in ("float", "rigorous", "exact"))
    assert [c.level for c in (floats, rigorous, exact)] == ["float", "rigorous", "exact"]
    assert floats.verdict == rigorous.verdict == exact.verdict == "optimal", (rigorous.reason, exact.reason)
    assert rigorous.lower <= exact.lower <= exact.upper <= rigorous.upper
    assert rigorous.width <= 1e-10
    assert rigorous.holds()
    assert exact.holds(0.0) == (name in OPTIMAL)
    assert exact.holds(1e-25)
    assert float(exact.lower) == pytest.approx(solution.objective, rel=1e-9)


@pytest.mark.parametrize("name", OPTIMAL)
def test_an_exact_optimum_is_a_fraction_with_a_gap_of_zero(name):
    certificate = OPTIMAL[name]().solve(level="exact").certificate
    assert isinstance(certificate.optimum, Fraction)
    assert certificate.exact.gap == Fraction(0)
    assert certificate.lower == certificate.upper == certificate.optimum
    for values in certificate.exact_point.values():
        assert all(isinstance(value, Fraction) for value in values)
    told = certificate.explain()
    assert "proved in exact arithmetic" in told
    assert "gap is 0" in told


def test_the_solution_of_an_exact_solve_is_the_rational_one_rounded():
    solution = cc.HardMarginSVM(X, Y).solve(level="exact")
    certificate = solution.certificate
    assert solution.coef.tolist() == [float(value) for value in certificate.coef]
    assert solution.intercept == float(certificate.intercept)
    assert solution.kkt.holds(1e-12)
    margin = certificate.exact_multipliers["margin"]
    assert sum(margin.values()) == 2 * certificate.optimum  # strong duality of the hard margin
    w = [sum(a * (1 if Y[i] == "yes" else -1) * Fraction(X[i, j]) for i, a in margin.items()) for j in range(2)]
    assert w == certificate.coef


def test_decimals_are_taken_as_they_are_written():
    rounded = cc.HardMarginSVM([[0.1], [0.3]], [0, 1]).solve(level="exact").certificate.optimum
    exact = cc.HardMarginSVM([[Decimal("0.1")], [Decimal("0.3")]], [0, 1]).solve(level="exact").certificate.optimum
    assert exact == 50
    assert rounded != 50
    assert float(rounded) == pytest.approx(50)


def test_what_is_not_proved_at_a_level_has_no_numbers_of_it():
    solution = cc.HardMarginSVM(X, Y).solve()
    with pytest.raises(cc.NoAnswer, match="level='exact'"):
        _ = solution.certificate.coef
    assert solution.certificate.optimum is None
    likelihood = cc.LogisticMLE(X, MIXED, l2=1.0).solve(level="exact", digits=40).certificate
    assert likelihood.optimum is None
    assert likelihood.upper - likelihood.lower < Fraction(1, 10**40)
    with pytest.raises(cc.NoAnswer):
        _ = likelihood.coef


@pytest.mark.parametrize("level", ["rigorous", "exact"])
def test_there_is_no_answer_and_that_is_proved_without_rounding(level):
    hard = cc.HardMarginSVM(XOR, PARITY).solve(level=level).certificate
    assert (hard.verdict, hard.level) == ("infeasible", level)
    weights = hard.exact.multipliers["margin"]
    signs = [-1, -1, 1, 1]
    for column in (0, 1):
        assert sum(weights[i] * signs[i] * XOR[i][column] for i in weights) == 0
    assert sum(weights[i] * signs[i] for i in weights) == 0
    assert "proved in exact arithmetic" in hard.explain()
    separated = cc.LogisticMLE(X, Y).solve(level=level).certificate
    assert (separated.verdict, separated.level) == ("unattained", level)
    direction = separated.exact.direction
    for row, label in zip(X.tolist(), Y, strict=True):
        f = sum(Fraction(a) * b for a, b in zip(row, direction["coef"], strict=True)) + direction["intercept"][0]
        assert f > 0 if label == "yes" else f < 0
    assert separated.lower == -np.inf


def test_a_level_that_cannot_prove_it_says_so():
    dual = cc.GaussianMLE(X, Y).dual()
    for level in ("rigorous", "exact"):
        certificate = dual.solve(level=level).certificate
        assert certificate.verdict == "undecided"
        assert certificate.reason
        assert "UNDECIDED" in certificate.explain()


def test_a_wrong_point_is_not_proved_at_any_level():
    problem = cc.SoftMarginSVM(X, MIXED)
    rough = problem.solve("osqp", tol=1e-8)
    worse = type(rough)(problem, "nobody", rough.certificate, rough.x * 1.01, dict(rough.multipliers))
    assert worse.certify(level="float", tol=1e-9).status == "undecided"
    bounds = worse.certify(level="rigorous", tol=1e-9)
    assert bounds.status == "undecided"
    truth = rough.certify(level="exact").optimum
    assert bounds.lower <= truth <= bounds.upper
    assert worse.certify(level="exact", tol=1e-9).optimum == truth  # the point is a guess only


@pytest.mark.parametrize("factor", [10.0, 0.1])
def test_narrow_bounds_from_a_multiple_of_the_point_do_not_prove_the_point(factor):
    """The bounds of a hard margin are those of the best multiple of the point; the point has to be that, too."""
    right = cc.HardMarginSVM(X, Y).solve()
    wrong = type(right)(right.problem, "nobody", right.certificate, factor * right.x, dict(right.multipliers))
    found = wrong.certify(level="rigorous", tol=1e-9)
    assert found.width < 1e-9
    assert found.status == "undecided"
    assert "the point" in found.reason


def test_narrow_bounds_from_the_origin_do_not_prove_another_point():
    right = cc.SoftMarginSVM([[1.0], [1.0], [2.0], [2.0]], [0, 1, 0, 1]).solve()
    x = right.x.copy()
    x[0] = 3.0
    wrong = type(right)(right.problem, "nobody", right.certificate, x, dict(right.multipliers))
    assert wrong.certify(level="rigorous", tol=1e-9).status == "undecided"


def test_a_maximised_dual_reports_its_maximum():
    primal = cc.SoftMarginSVM(X, MIXED, C=0.7)
    up, down = (p.solve(level="exact").certificate for p in (primal, primal.dual()))
    assert up.optimum == down.optimum
    bounds = primal.dual().solve(level="rigorous").certificate
    assert bounds.lower <= up.optimum <= bounds.upper


def test_bad_levels_are_refused():
    problem = cc.HardMarginSVM(X, Y)
    with pytest.raises(ValueError, match="'float', 'rigorous', 'exact'"):
        problem.solve(level="sure")
    with pytest.raises(ValueError, match="level is 'sure'"):
        problem.solve().certify(level="sure")


def test_the_summary_of_a_certificate_is_json():
    summary = cc.HardMarginSVM(X, Y).solve(level="exact").certificate.summary()
    assert json.loads(json.dumps(summary, allow_nan=False))["level"] == "exact"
    assert Fraction(summary["optimum"]) == cc.HardMarginSVM(X, Y).solve(level="exact").certificate.optimum
