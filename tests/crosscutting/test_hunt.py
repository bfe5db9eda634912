"""The hunt itself: its oracles know known answers, its judge refuses planted lies, and a slice of it finds nothing."""

from __future__ import annotations

import ast
import math
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import convexcls as cc
from tests import exact
from tests.hunt.draw import Case, draw
from tests.hunt.families import FAMILIES
from tests.hunt.judge import QUESTIONS, Judge, falsehood
from tests.hunt.oracle import Samples, Truth, rational
from tests.hunt.pivoting import ONE, ZERO, lemke, matrix, minimise
from tests.hunt.run import LEVELS, hunt

XOR = [[1, 1], [-1, -1], [1, -1], [-1, 1]]


def ask(model: str, X: Any, y: Any, weights: Any = None, unit: float = 0.0, **parameters: Any) -> Truth:
    rows = [[rational(v) for v in row] for row in X]
    c = [rational(w) for w in weights or [1] * len(rows)]
    real = parameters.get("coding") == "real"
    samples = Samples(rows, [] if real else list(y), c, [rational(t) for t in y] if real else None)
    return QUESTIONS[model](samples, parameters, unit).truth()


def fraction(truth: Truth) -> Fraction:
    assert truth.lower == truth.upper
    return Fraction(int(truth.lower.p), int(truth.lower.q))


# ---- the oracles ------------------------------------------------------------------------------------------


def test_answers_worked_out_by_hand() -> None:
    line, split = [[0], [1], [2], [3]], [0, 0, 1, 1]
    assert fraction(ask("HardMarginSVM", [[0, 0], [1, 2]], [0, 1])) == Fraction(2, 5)
    assert ask("HardMarginSVM", XOR, [0, 0, 1, 1]).status == "infeasible"
    assert fraction(ask("SoftMarginSVM", line, [0, 1, 0, 1], C=1.0, loss="hinge")) == Fraction(26, 9)
    assert fraction(ask("KernelSVM", XOR, [0, 0, 1, 1], kernel="poly", degree=2, coef0=1.0, gamma=1.0, C=None)) == (
        Fraction(1, 4)
    )
    assert ask("KernelSVM", XOR, [0, 0, 1, 1], kernel="linear", C=None).status == "unattained"
    assert fraction(ask("LeastSquares", line, split, l2=0.0, coding="pm1")) == Fraction(2, 5)
    median = ask("LeastAbsolute", [[1]] * 3, [2, 3, 100], coding="real", intercept=False)
    assert fraction(median) == 98
    assert fraction(ask("PerceptronCriterion", line, [0, 1, 0, 1], normalization="mean-margin")) == 2
    assert fraction(ask("PerceptronCriterion", line, split, normalization="mean-margin")) == 0
    assert ask("PerceptronCriterion", XOR, [0, 0, 1, 1], normalization="mean-margin").status == "infeasible"
    grid = [[0, 0], [2, 0], [1, 1], [4, 0], [6, 0], [5, 1]]
    assert fraction(ask("FisherLDA", grid, [0, 0, 0, 1, 1, 1], chosen=(0,))) == Fraction(1, 8)
    assert ask("FisherLDA", [[0], [2], [1], [1]], [0, 0, 1, 1], chosen=(0,)).status == "infeasible"
    assert float(ask("MaxMargin", [[0, 0], [3, 4]], [0, 1]).lower) == 2.5
    # slack is worth more than slope: with |w| <= 1/2 both samples keep slack, and l1 = 3 > sum |x| leaves w = 0
    assert fraction(ask("EmpiricalRisk", [[-1], [1]], [0, 1], loss="hinge", l2=0.0, l1=3.0)) == 2


def test_likelihoods_with_a_formula() -> None:
    steps, labels = [[0]] * 6 + [[1]] * 6, [0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1]
    entropy = -(math.log(1 / 3) / 3 + 2 * math.log(2 / 3) / 3)
    assert float(ask("LogisticMLE", steps, labels, l2=0.0).lower) == pytest.approx(12 * entropy, rel=1e-15)
    shares, kinds = [[0]] * 4 + [[1]] * 4, [0, 0, 1, 2, 0, 1, 2, 2]
    assert float(ask("SoftmaxMLE", shares, kinds, l2=0.0).upper) == pytest.approx(12 * math.log(2), rel=1e-15)
    assert ask("LogisticMLE", [[0], [1]], [0, 1], l2=0.0).status == "unattained"
    assert ask("SoftmaxMLE", [[0], [1], [2]], [0, 1, 2], l2=0.0).status == "unattained"
    # scatter within classes ((4, 2), (2, 4)) of 6 samples: det(S/6) = 12/36
    X = [[1, 1], [3, 2], [2, 3], [7, 5], [9, 6], [8, 7]]
    value = ask("GaussianMLE", X, [0, 0, 0, 1, 1, 1], covariance="shared", unbiased=False)
    assert float(value.lower) == pytest.approx(3 * (2 + 2 * math.log(2 * math.pi) + math.log(12 / 36)), rel=1e-15)
    flat = [[1, 1], [2, 2], [3, 3], [4, 4], [6, 6], [8, 8]]
    assert ask("GaussianMLE", flat, [0, 0, 0, 1, 1, 1], covariance="shared", unbiased=False).status == "unattained"


@pytest.mark.parametrize("seed", range(3))
def test_oracles_agree_with_those_written_for_other_tests(seed: int) -> None:
    g = random.Random(seed)
    for _ in range(12):
        n, d = g.randint(2, 6), g.randint(1, 3)
        X = [[g.randint(-3, 3) for _ in range(d)] for _ in range(n)]
        classes = [0, 1, *(g.randint(0, 1) for _ in range(n - 2))]
        signs, intercept, C = [2 * k - 1 for k in classes], g.random() < 0.7, g.choice([0.25, 1.0, 32.0])
        w = [g.choice([0.5, 1.0, 2.0]) for _ in range(n)]
        hard, other = ask("HardMarginSVM", X, classes, intercept=intercept), exact.hard_margin(X, signs, intercept)
        assert hard.status == ("optimal" if other else "infeasible")
        assert other is None or fraction(hard) == other[0]
        for loss in ("hinge", "squared_hinge"):
            soft = ask("SoftMarginSVM", X, classes, w, C=C, loss=loss, intercept=intercept)
            assert fraction(soft) == exact.soft_margin(X, signs, C, loss, intercept, w)[0]
        absolute = ask("LeastAbsolute", X, classes, w, coding="pm1", intercept=intercept)
        assert fraction(absolute) == exact.least_absolute(X, signs, intercept, w)
        squares = ask("LeastSquares", X, classes, w, coding="pm1", l2=0.5, intercept=intercept)
        assert fraction(squares) == exact.least_squares(X, signs, Fraction(1, 2), intercept, w)[0]
        criterion = ask("PerceptronCriterion", X, classes, w, normalization="mean-margin", intercept=intercept)
        known = exact.perceptron(X, signs, intercept, w)
        assert criterion.status == "infeasible" if known is None else fraction(criterion) == known
        apart = exact.fisher(X, signs)
        fisher = ask("FisherLDA", X, classes, chosen=(0,))
        assert fisher.status == "infeasible" if apart is None else fraction(fisher) == apart[0]
        for l2 in (0.0, 0.5):
            likelihood = ask("LogisticMLE", X, classes, w, l2=l2, intercept=intercept)
            attained = bool(l2) or exact.separability(X, signs, intercept) == "overlap"
            assert likelihood.status == ("optimal" if attained else "unattained")
            if attained:
                value = exact.logistic(X, signs, Fraction(l2), intercept, w)
                low, high = (Decimal(v.mid().str(60, radius=False)) for v in (likelihood.lower, likelihood.upper))
                assert abs(low - value) < Decimal("1e-17") * value
                assert low <= high <= low + Decimal("1e-17") * value


def test_oracles_agree_with_each_other() -> None:
    """A linear kernel machine is the dual of the soft margin; two classes by softmax are logistic with half the
    penalty; what is separable has a margin, whichever way it is asked for."""
    g = random.Random(5)
    for _ in range(8):
        n, d = g.randint(3, 7), g.randint(1, 3)
        X = [[g.randint(-3, 3) for _ in range(d)] for _ in range(n)]
        classes, intercept = [0, 1, *(g.randint(0, 1) for _ in range(n - 2))], g.random() < 0.7
        soft = ask("SoftMarginSVM", X, classes, C=2.0, loss="hinge", intercept=intercept)
        assert fraction(ask("KernelSVM", X, classes, kernel="linear", C=2.0, intercept=intercept)) == fraction(soft)
        risk = ask("EmpiricalRisk", X, classes, loss="hinge", l2=0.5, l1=0.0, intercept=intercept)
        assert 2 * fraction(risk) == fraction(soft)
        hard = ask("HardMarginSVM", X, classes, intercept=intercept)
        kernel = ask("KernelSVM", X, classes, kernel="linear", C=None, intercept=intercept)
        widest = ask("MaxMargin", X, classes, intercept=intercept)
        if hard.status == "infeasible":
            assert kernel.status == "unattained"
            assert fraction(widest) == 0
        else:
            assert fraction(kernel) == fraction(hard)
            assert float(widest.lower) == pytest.approx(1 / math.sqrt(2 * fraction(hard)), rel=1e-15)
        one = ask("LogisticMLE", X, classes, l2=0.5, intercept=intercept)
        other = ask("SoftmaxMLE", X, classes, l2=1.0, intercept=intercept)
        assert one.lower <= other.upper
        assert other.lower <= one.upper


def test_pivoting_in_rationals_needs_no_guess() -> None:
    """Degenerate and singular programs, where doubles guess wrong or not at all."""
    M = matrix([[ZERO, ZERO, -ONE], [ZERO, ZERO, -ONE], [ONE, ONE, ZERO]], 3)  # min x1 + x2 with x1 + x2 >= 1
    z = lemke(M, [ONE, ONE, -ONE])
    assert z is not None
    assert z[0] + z[1] == 1
    assert lemke(matrix([[ZERO, -ONE], [ONE, ZERO]], 2), [-ONE, -ONE]) is None  # min -x with x >= 1: for ever
    none = [[ZERO] * 2] * 2
    assert minimise(none, [ZERO] * 2, [[ONE, ONE], [-ONE, -ONE]], [ONE, ZERO], 2) is None  # 1 <= x1 + x2 <= 0
    huge = rational(10.0**300)
    found = minimise([[ONE / huge]], [ZERO], [[ONE]], [huge], 1)  # beyond the range of doubles when squared
    assert found is not None
    assert found.value == huge / 2


def test_oracles_share_no_code_with_the_package() -> None:
    for name in ("oracle", "margins", "linear", "densities", "likelihood", "pivoting", "families", "draw"):
        tree = ast.parse((Path(__file__).parents[1] / "hunt" / f"{name}.py").read_text())
        imported = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
        imported += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        ours = [module for module in imported if module.startswith(("convexcls", "tests"))]
        assert all(module.startswith("tests.hunt.") for module in ours), name
        assert not {"tests.hunt.judge", "tests.hunt.run"} & set(ours), name


# ---- the judge --------------------------------------------------------------------------------------------

TABLE = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [3.0, 2.0], [2.5, 4.0], [0.5, 0.0], [4.0, 1.0], [1.5, 2.5]]
APART, MIXED, THREE = [0, 0, 0, 1, 1, 0, 1, 1], [0, 1, 0, 1, 0, 0, 1, 1], [0, 1, 2, 0, 1, 2, 1, 0]
STATED: dict[str, tuple[list[int], dict[str, Any]]] = {
    "HardMarginSVM": (APART, {"intercept": True}),
    "MaxMargin": (APART, {"intercept": True}),
    "SoftMarginSVM": (MIXED, {"C": 1.0, "loss": "hinge", "intercept": True}),
    "EmpiricalRisk": (MIXED, {"loss": "hinge", "l2": 0.1, "l1": 0.1, "intercept": True}),
    "KernelSVM": (MIXED, {"kernel": "rbf", "gamma": 0.5, "C": 1.0, "intercept": True}),
    "LogisticMLE": (MIXED, {"l2": 0.0, "intercept": True}),
    "SoftmaxMLE": (THREE, {"l2": 0.1, "intercept": True}),
    "LeastSquares": (MIXED, {"l2": 0.1, "coding": "pm1", "intercept": True}),
    "LeastAbsolute": (MIXED, {"coding": "01", "intercept": True}),
    "PerceptronCriterion": (MIXED, {"normalization": "mean-margin", "intercept": True}),
    "FisherLDA": (THREE, {}),
    "GaussianMLE": (THREE, {"covariance": "shared", "unbiased": False}),
}
#: A constraint or a kink shows a point that is off by 1e-6; a smooth objective is flat at its minimum.
SHARP = ("HardMarginSVM", "MaxMargin", "LeastAbsolute", "PerceptronCriterion", "FisherLDA", "KernelSVM")


def stated(model: str) -> tuple[Judge, Any]:
    y, parameters = STATED[model]
    case = Case(0, 0, "integers", model, TABLE, y, parameters, None)
    problem = getattr(cc, model)(case.X, case.y, **case.arguments)
    return Judge(case, problem), problem.solve()


@pytest.mark.parametrize("model", STATED)
def test_a_moved_point_is_a_lie(model: str) -> None:
    judge, solution = stated(model)
    assert judge.verdict(solution).outcome == "right"
    step = 1e-6 if model in SHARP else 2e-3
    moved = replace(solution, x=solution.x * (1 - step))
    assert judge.verdict(moved).outcome == "wrong"
    assert judge.verdict(replace(solution, x=solution.x * np.nan)).outcome == "wrong"


@pytest.mark.parametrize("model", STATED)
@pytest.mark.parametrize("status", ["infeasible", "unattained"])
def test_a_wrong_verdict_is_a_lie(model: str, status: str) -> None:
    judge, solution = stated(model)
    lie = replace(solution, certificate=replace(solution.certificate, status=status))
    assert judge.verdict(lie).outcome == "wrong"


def test_an_optimum_where_there_is_none_is_a_lie() -> None:
    for model, y, parameters in (
        ("LogisticMLE", APART, {"l2": 0.0, "intercept": True}),
        ("HardMarginSVM", MIXED, {"intercept": True}),
    ):
        case = Case(0, 0, "integers", model, TABLE, y, parameters, None)
        solution = getattr(cc, model)(TABLE, y, **parameters).solve()
        judge = Judge(case, solution.problem)
        assert judge.verdict(solution).outcome == "right"
        lie = replace(solution, certificate=replace(solution.certificate, status="optimal"))
        assert judge.verdict(lie).outcome == "wrong"


@pytest.mark.parametrize("model", ["HardMarginSVM", "SoftMarginSVM", "LeastSquares", "LogisticMLE", "FisherLDA"])
def test_bounds_that_leave_the_optimum_out_are_a_lie(model: str) -> None:
    judge, solution = stated(model)
    question, truth = judge.given
    proved = solution.at_level("rigorous")
    assert falsehood(proved, question, truth) == ""
    assert question.contains(proved.certificate.lower, proved.certificate.upper, truth)
    above = math.nextafter(float(truth.upper if not truth.rational else fraction(truth)), math.inf)
    assert not question.contains(math.nextafter(above, math.inf), math.inf, truth)
    assert not question.contains(-math.inf, math.nextafter(above, -math.inf) * (1 - 1e-15), truth)


@pytest.mark.parametrize("model", ["HardMarginSVM", "SoftMarginSVM", "LeastSquares", "LeastAbsolute", "FisherLDA"])
def test_a_rational_beside_the_optimum_is_a_lie(model: str) -> None:
    judge, solution = stated(model)
    proved = solution.at_level("exact")
    assert judge.verdict(proved).outcome == "right"
    beside = replace(proved.certificate.exact, optimum=proved.certificate.exact.optimum + Fraction(1, 10**30))
    lie = replace(proved, certificate=replace(proved.certificate, exact=beside))
    assert judge.verdict(lie).outcome == "wrong"


def test_entries_that_doubles_round_count_as_they_are_given() -> None:
    X = [[Decimal(2**60)], [Decimal(2**60 + 2)]]  # equal as doubles
    case = Case(0, 0, "as_given", "HardMarginSVM", X, [0, 1], {"intercept": True}, None)
    problem = cc.HardMarginSVM(X, [0, 1])
    judge = Judge(case, problem)
    assert case.rounds
    assert fraction(judge.given[1]) == Fraction(1, 2)
    assert judge.rounded[1].status == "infeasible"
    claim = problem.solve(level="exact")
    assert judge.verdict(claim).outcome in ("right", "undecided")
    certificate = replace(claim.certificate, status="infeasible", level="float")
    assert judge.verdict(replace(claim, certificate=certificate)).outcome == "wrong"


# ---- the draw ---------------------------------------------------------------------------------------------


def test_a_number_always_draws_the_same_problem() -> None:
    assert draw(3, 14) == draw(3, 14)
    assert {draw(5, index).family for index in range(400)} == set(FAMILIES)


# ---- a slice ----------------------------------------------------------------------------------------------

#: Problems of a fixed seed, so many a test: together they take about a hundred seconds on one core.
SEED, SLICES, LENGTH = 2026, 12, 25


@pytest.mark.parametrize("part", range(SLICES))
def test_nothing_is_found_in_a_slice(part: int) -> None:
    found = [r for index in range(part * LENGTH, (part + 1) * LENGTH) for r in hunt(SEED, index, "some", LEVELS)]
    assert not [record.line() for record in found if record.bad]
    assert sum(record.kind == "right" for record in found) > LENGTH
