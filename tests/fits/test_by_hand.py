"""Points that somebody worked out: the KKT conditions by hand, beside a few lines written from the formulas."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import convexcls as cc
from convexcls.cli import main

X, Y = [[0, 0], [3, 4]], [0, 1]
COEF, SHARES = [Fraction(6, 25), Fraction(8, 25)], [Fraction(2, 25)] * 2  # 2 x / ‖x‖^2, and ‖coef‖^2 = sum of alpha


def hard():
    return cc.HardMarginSVM(X, Y)


def test_the_conditions_are_those_of_the_formula():
    coef, intercept, alpha = np.array([0.5, 0.25]), -1.25, np.array([0.125, 0.5])
    found = hard().check(coef=coef, intercept=intercept, margin=alpha)
    y, x = np.array([-1.0, 1.0]), np.array(X, dtype=float)
    excess = 1.0 - y * (x @ coef + intercept)  # G x <= h
    kkt = found.kkt
    assert kkt.stationarity.values["coef"] == pytest.approx(np.abs(coef - x.T @ (alpha * y)))
    assert kkt.stationarity.values["intercept"] == pytest.approx([abs(alpha @ y)])
    assert kkt.complementary_slackness.values["margin"] == pytest.approx(np.abs(alpha * excess))
    assert found.source == "given"
    assert found.objective == pytest.approx(coef @ coef / 2)


@pytest.mark.parametrize("level", ["float", "rigorous", "exact"])
def test_the_right_point_is_proved_at_every_level(level):
    found = hard().check(coef=COEF, intercept=-1, margin=SHARES, level=level)
    assert found.certificate.status == "optimal"
    assert found.verdict.startswith("optimal")
    assert found.lower <= 0.08 + 1e-15
    assert found.suboptimality < 1e-14


def test_rationals_are_judged_as_they_are():
    found = hard().check(coef=COEF, intercept=-1, margin=SHARES, level="exact")
    assert found.certificate.optimum == Fraction(2, 25)
    assert found.certificate.exact.point["coef"] == COEF
    assert found.suboptimality == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"coef": [COEF[0] + Fraction(1, 10**30), COEF[1]]},
        {"intercept": Fraction(-1) + Fraction(1, 10**30)},
        {"margin": [SHARES[0], SHARES[1] + Fraction(1, 10**30)]},
        {"margin": [-SHARES[0], -SHARES[1]]},
        {"coef": [0.24, 0.32]},  # as doubles: not 6/25
    ],
)
def test_what_is_off_by_less_than_doubles_tell_is_not_exactly_optimal(wrong):
    found = hard().check(**{"coef": COEF, "intercept": -1, "margin": SHARES, **wrong}, level="exact")
    assert "exactly" not in found.verdict
    assert any(finding.startswith("in rationals: ") for finding in found.findings)


@pytest.mark.parametrize("text", [["0.24", "0.32"], [Decimal("0.24"), Decimal("0.32")], ["6/25", "8/25"]])
def test_text_and_decimals_are_what_they_say(text):
    assert hard().check(coef=text, intercept="-1", level="exact").verdict == "optimal, exactly"


def test_missing_slacks_and_multipliers_are_worked_out():
    problem = cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1], C=1)
    found = problem.check(coef=Fraction(2, 3), intercept=-1, level="exact")
    assert (found.verdict, found.source) == ("optimal, exactly", "worked out from the point")
    # by hand: 1/2 (2/3)^2 + slacks 0, 1 + 1/3, 1 + 1/3, 0 of margins 1, -1/3, -1/3, 1
    assert found.certificate.optimum == Fraction(2, 9) + Fraction(8, 3)
    some = problem.check(coef=Fraction(2, 3), intercept=-1, margin=["5/9", 1, 1, "5/9"], level="exact")
    assert some.source == "given, those of slack_sign worked out from the point"
    assert some.verdict == "optimal, exactly"


def test_slacks_that_are_not_the_lowest_are_named():
    problem = cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1], C=1)
    given = {"coef": Fraction(2, 3), "intercept": -1, "slack": [0, "4/3", "4/3", "1/100"]}
    found = problem.check(**given, level="exact")
    assert "exactly" not in found.verdict
    assert "in rationals: slack[3] is 1/100, the other unknowns ask for 0" in found.findings


def test_a_feasible_point_that_is_not_optimal_is_measured():
    found = hard().check(coef=[0.3, 0.4], intercept=-1)
    assert found.certificate.status == "undecided"
    assert found.suboptimality == pytest.approx(0.125 - 0.08)
    assert found.suboptimality_at_least == pytest.approx(0.125 - 0.08)


def test_a_point_that_violates_its_constraints_is_told_so():
    found = hard().check(coef=[0.1, 0.1], intercept=0)
    assert "violates its constraints by up to 1 (margin[0])" in found.verdict
    assert found.certificate.status == "undecided"


def test_a_problem_without_solution_says_that():
    found = cc.load("xor_hard_margin").check(coef=[1, 1], intercept=0)
    assert found.verdict == "the program that it solves has no feasible point"


@pytest.mark.parametrize("level", ["float", "rigorous", "exact"])
def test_a_likelihood_needs_no_multipliers(level):
    problem = cc.LogisticMLE([[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1])
    half, whole = np.log(2.0), 2 * np.log(2.0)  # log-odds 1/2 at 0 and 2 at 1
    right = problem.check(coef=whole, intercept=-half, level=level)
    assert right.certificate.status == "optimal"
    assert "with the multipliers" not in right.explain()
    assert problem.check(coef=whole, intercept=half, level=level).certificate.status == "undecided"


def test_a_dual_is_checked_like_any_problem():
    found = hard().dual().check(margin=SHARES, level="exact")
    assert found.verdict == "optimal, exactly"
    assert hard().dual().check(margin=["1/25", "1/25"]).certificate.status == "undecided"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"coef": [1, 2]}, "give intercept, too"),
        ({"coef": [1, 2, 3], "intercept": 0}, "coef has 3 entries, it needs 2"),
        ({"coef": [1, float("nan")], "intercept": 0}, "coef holds something that is not a finite number"),
        ({"coef": ["1/0", 1], "intercept": 0}, "coef holds something that is not a finite number"),
        ({"coef": [None, 1], "intercept": 0}, "coef holds something that is not a finite number"),
        ({"coeff": [1, 2], "intercept": 0}, "has no 'coeff'; its unknowns are coef, intercept, its multipliers margin"),
    ],
)
def test_what_cannot_be_judged_is_named(given, told):
    with pytest.raises(cc.ProblemError) as error:
        hard().check(**given)
    assert told in str(error.value)


# ---- the command line -----------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    (tmp_path / "two.csv").write_text("a,b,y\n0,0,n\n3,4,p\n")

    def run(point: str, *more: str):
        (tmp_path / "point.json").write_text(point)
        source = [str(tmp_path / "two.csv"), "-m", "hard-margin", "--point", str(tmp_path / "point.json")]
        return CliRunner().invoke(main, ["check", *source, *more], env={"COLUMNS": None, "NO_COLOR": "1"})

    return run


def test_the_command_reads_numbers_as_they_are_written(files):
    found = files('{"coef": ["6/25", 0.32], "intercept": -1}', "--level", "exact")
    assert found.exit_code == 0
    assert found.stdout.startswith("the point given: optimal, exactly.")


def test_the_command_fails_on_a_point_that_is_not_optimal(files):
    found = files('{"coef": [0.3, 0.4], "intercept": -1}', "--json")
    assert found.exit_code == 1
    data = json.loads(found.stdout)
    assert (data["schema"], data["status"]) == ("convexcls-appraisal/1", "undecided")
    assert data["objective"] == pytest.approx(0.125)
    assert data["multipliers_are"] == "worked out from the point"


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "has to name the values"),
        ('{"coef": [1, 2], "coef": [3, 4]}', "a name stands there twice"),
        ('{"coef": [1, NaN], "intercept": 0}', "coef holds something that is not a finite number"),
        ('{"coef": {"a": 1}, "intercept": 0}', "coef has 1 entries, it needs 2"),
    ],
)
def test_the_command_refuses_files_that_are_no_point(files, point, told):
    found = files(point)
    assert found.exit_code == 2
    assert told in found.stderr
