"""The referee's bench: claims are read rightly, known wrong ones are found, and nothing is said of who makes none."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import exact as oracle
import numpy as np
import pytest
from click.testing import CliRunner

import convexcls as cc
from convexcls.bench.cases import cases
from convexcls.bench.claims import claimed
from convexcls.bench.families import FAMILIES as FAMILY_NAMES
from convexcls.bench.judgement import SHIFT_SECONDS, Judgement
from convexcls.bench.trial import Trial
from convexcls.cli import main
from convexcls.solvers import Answer, Solver

FAMILIES = {case.name: case for case in cases("families")}
OWN = ("newton", "interior-point", "working-set", "coordinate-descent")


# ---- the answers of the families, by oracles that share no code with them ------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_the_answer_of_a_generated_problem_is_right(name):
    case = FAMILIES[name]
    X, y, kind = case.problem.data.matrix, case.problem.data, case.problem.kind
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    if kind == "hard-margin":
        found = oracle.hard_margin(rows, y.signs.astype(int).tolist())
        assert (None if found is None else found[0]) == case.optimum
        assert (case.verdict == "infeasible") == (found is None)
    elif kind == "soft-margin":
        assert oracle.soft_margin(rows, y.signs.astype(int).tolist(), 1)[0] == case.optimum
    elif kind == "least-squares":
        assert oracle.least_squares(independent(rows), [Fraction(t) for t in y.target])[0] == case.optimum
    elif kind == "least-absolute":
        assert oracle.least_absolute(rows, [Fraction(t) for t in y.target]) == case.optimum
    elif case.verdict == "unattained":
        assert case.problem.solve(level="exact").status == "unattained"
    else:
        value = oracle.logistic(rows, y.signs.astype(int).tolist())
        assert abs(Fraction(value) - case.optimum) < Fraction(1, 10**30)


def independent(rows):
    """Without columns that are constant."""
    kept = [j for j in range(len(rows[0])) if len({row[j] for row in rows}) > 1]
    return [[row[j] for j in kept] for row in rows]


def test_every_family_has_members_and_each_is_found_by_its_name():
    assert {case.family for case in FAMILIES.values()} == set(FAMILY_NAMES)
    for family in FAMILY_NAMES:
        assert cases([family])
        assert all(case.family == family for case in cases([family]))
    with pytest.raises(ValueError, match=r"there is no problem 'closed'.*did you mean 'close'"):
        cases(["closed"])


# ---- claims --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        (Answer([0.0]), "optimal"),
        (Answer([0.0], message="Solved"), "optimal"),
        (Answer([0.0], message="optimal_inaccurate"), ""),
        (Answer([0.0], message="AlmostSolved"), ""),
        (Answer([0.0], message="maximum iterations reached"), ""),
        (Answer([0.0], message="run time limit reached"), ""),
        (Answer(None, message="PrimalInfeasible"), "infeasible"),
        (Answer(None, message="infeasible_inaccurate"), ""),
        (Answer(None, message="The problem is infeasible. (HiGHS Status 8: Infeasible)"), "infeasible"),
        (Answer(None, message="ValueError: constraints are inconsistent, no solution"), "infeasible"),
        (Answer(None, message="dual infeasible"), "unattained"),
        (Answer(None, message="unbounded"), "unattained"),
        (Answer(None, farkas={"margin": [1.0]}), "infeasible"),
        (Answer(None, direction=[1.0]), "unattained"),
        (Answer(None, message="gave up"), ""),
        (Answer(None), ""),
    ],
)
def test_a_claim_is_read_off_an_answer(answer, claim):
    assert claimed(answer) == claim


# ---- solvers made up for it ------------------------------------------------------------------------------------------


class Liar(Solver):
    """It says what it is told to say."""

    name = "liar"

    def __init__(self, point=None, message="", share=1.0, multipliers=True, raises=False):
        self.point, self.message, self.share = point, message, share
        self.multipliers, self.raises = multipliers, raises

    def refuses(self, problem):
        return "it knows two points only" if problem.size != 3 else ""

    def solve(self, problem, tol, callback=None):
        if self.raises:
            raise ArithmeticError("inconsistent numbers")
        if self.point is None:
            return Answer(None, {}, self.message)
        right = problem.solve()
        multipliers = dict(right.multipliers) if self.multipliers else {}
        return Answer(right.x * self.share, multipliers, self.message)


def outcome(solver, problem="two_points"):
    (trial,) = cc.referee(solver, problems=[problem], time_limit=None).trials
    return trial


@pytest.mark.parametrize(
    ("solver", "expected"),
    [
        (Liar(point=1), ("solved", "optimal")),
        (Liar(point=1, multipliers=False), ("solved", "optimal")),
        (Liar(point=1, message="not converged"), ("solved", "")),
        (Liar(point=1, share=1.3), ("wrong", "optimal")),
        (Liar(point=1, share=1.3, message="did not converge"), ("silent", "")),
        (Liar(point=1, share=1 + 1e-5), ("short", "optimal")),
        (Liar(point=1, share=1 + 1e-5, multipliers=False), ("short", "optimal")),
        (Liar(message="infeasible"), ("wrong", "infeasible")),
        (Liar(message="unbounded"), ("wrong", "unattained")),
        (Liar(message="no idea"), ("silent", "")),
        (Liar(raises=True), ("wrong", "infeasible")),
    ],
)
def test_how_a_trial_ends(solver, expected):
    trial = outcome(solver)
    assert (trial.outcome, trial.claimed) == expected
    assert trial.known == "optimal"


def test_digits_are_those_of_the_optimum():
    assert outcome(Liar(point=1)).digits == 16.0
    assert outcome(Liar(point=1, share=1 + 1e-5)).digits == pytest.approx(-math.log10(2e-5), abs=0.05)
    assert outcome(Liar(point=1, share=0.9)).digits == pytest.approx(1, abs=0.8)  # it violates, with a lower objective
    assert math.isnan(outcome(Liar()).digits)


def test_what_is_infeasible_is_solved_by_saying_so_and_wrong_to_solve():
    xor = "infeasible/hard-margin/xor-1"
    assert outcome(Liar(message="infeasible"), xor).outcome == "solved"
    assert outcome(cc.solver(lambda P, q, A, b, G, h: 0 * q, name="zeros"), xor).outcome == "wrong"
    assert outcome(Liar(message="no idea"), xor).outcome == "silent"


def test_a_problem_that_is_refused_does_not_count():
    found = cc.referee(Liar(point=1), problems=["two_points", "logistic_table"], time_limit=None)
    assert [trial.outcome for trial in found.trials] == ["solved", "refused"]
    assert found.standings[0].taken == 1


def test_a_solver_of_somebody_elses_gets_the_problem_as_stated():
    seen = []

    @cc.solver(name="spy")
    def spy(P, q, A, b, G, h):
        seen.append(np.abs(G[:, 0]).max())

    cc.referee(spy, problems=["scaled/hard-margin/1e6"], time_limit=None)
    assert seen == [6e6]


# ---- what is known of today's backends, and of our own --------------------------------------------------------------


@pytest.mark.parametrize(
    ("backend", "problem"),
    [
        ("osqp", "scaled/hard-margin/2^40"),  # scales
        ("cvxpy:OSQP", "close/hard-margin/1e-06"),  # gaps
        ("cvxpy:SCS", "unattained/logistic/touching-1"),  # likelihoods without a maximum
        ("cvxpy:HIGHS", "close/hard-margin/1e-09"),
        ("clarabel", "scaled/hard-margin/2^40"),
    ],
)
def test_known_wrong_claims_of_backends_are_found(backend, problem):
    trial = outcome(backend, problem)
    assert trial.outcome == "wrong"
    assert trial.claimed


@pytest.mark.parametrize("solver", OWN)
def test_our_own_claim_nothing_wrong_where_others_do(solver):
    found = cc.referee(solver, problems=["close", "scaled/hard-margin/2^40", "scaled/logistic/2^-40"], time_limit=2.0)
    assert found.wrong == ()
    assert found.standings[0].taken > 0


def test_auto_solves_all_families():
    found = cc.referee("auto", problems="families")
    assert found.standings[0].solved == len(FAMILIES)
    assert found.wrong == ()


# ---- what they add up to ---------------------------------------------------------------------------------------------


def made_up(solver, case, outcome, seconds, digits=8.0):
    return Trial(solver, case, "f", "optimal", outcome, "optimal", "optimal", digits, seconds)


def test_profiles_and_means_are_those_of_the_formulas():
    """By hand: on a, b and c the fastest takes 1, 2 and 4 seconds; of d nobody has a solution."""
    trials = (
        *(made_up("quick", c, "solved", s) for c, s in {"a": 1.0, "b": 4.0, "c": 4.0}.items()),
        made_up("quick", "d", "silent", 3.0),
        *(made_up("slow", c, "solved", s) for c, s in {"a": 3.0, "b": 2.0}.items()),
        made_up("slow", "c", "late", 10.0),
        made_up("slow", "d", "wrong", 1.0, 0.0),
    )
    found = Judgement(trials, 1e-6, 10.0)
    steps, shares = found.profile("quick")
    assert steps.tolist() == [1.0, 1.0, 2.0]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1.0])
    steps, shares = found.profile("slow")
    assert steps.tolist() == [1.0, 3.0]
    assert shares == pytest.approx([1 / 3, 2 / 3])
    s = SHIFT_SECONDS
    mean = math.prod(t + s for t in (1.0, 4.0, 4.0, 10.0)) ** (1 / 4) - s
    assert found.standings[0].seconds == pytest.approx(mean, rel=1e-12)
    assert [t.case for t in found.worst("slow")] == ["d", "c"]
    digits, reached = found.accuracy("slow")
    assert (digits.tolist(), reached.tolist()) == ([0.0, 8.0, 8.0, 8.0], [1.0, 0.75, 0.5, 0.25])


def test_as_text_for_programs_and_as_a_page(tmp_path):
    found = cc.referee(["osqp", "auto"], problems=["two_points", "scaled/hard-margin/2^40"])
    assert "osqp claims optimal of scaled/hard-margin/2^40" in str(found)
    command = found.command(found.wrong[0])
    assert command == "convexcls referee osqp --problems 'scaled/hard-margin/2^40' --tol 1e-06 --time-limit 10"
    page = found.report(tmp_path / "page.html").html
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    for part in ("Standings", "Profiles", "<svg", "Worst cases", "To see it again".lower(), "1 wrong claim"):
        assert part in page
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["standings"][1]["solved"] == 2
    assert "Standings" not in found._repr_html_()
    assert repr(found) == "<Judgement of 2 solvers: 1 wrong claim>"


def test_the_command_that_is_told_shows_the_same_again(tmp_path):
    import shlex

    found = cc.referee("osqp", problems=["scaled/hard-margin/2^40"])
    run = CliRunner().invoke(main, [*shlex.split(found.command(found.wrong[0]))[1:], "--json"])
    assert run.exit_code == 1, run.output
    (again,) = json.loads(run.stdout)["trials"]
    assert (again["outcome"], again["claimed"]) == ("wrong", "optimal")
    right = CliRunner().invoke(main, ["referee", "auto", "-p", "two_points", "-o", str(tmp_path / "page.html")])
    assert right.exit_code == 0, right.output
    assert (tmp_path / "page.html").exists()
    for wrong in (["referee"], ["referee", "nosuch"], ["referee", "auto", "-p", "nosuch"]):
        assert CliRunner().invoke(main, wrong).exit_code != 0
    assert CliRunner().invoke(main, ["referee", "auto", "-p", "two_points", "-o", "page.txt"]).exit_code == 2
