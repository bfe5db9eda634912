"""Levels of proof and separability on the command line."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner, Result

from convexcls.cli import main

TENTHS = "a,b,label\n0.1,0.2,no\n0.4,0.1,no\n0.7,0.9,yes\n0.8,0.6,yes\n"
SAME = "a,label\n0.1,no\n0.3,no\n0.3,yes\n0.6,yes\n"
SUM = "a,label\n0.1,no\n0.3,yes\n"


def run(*args: object, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(a) for a in args], env={"COLUMNS": None, "NO_COLOR": "1"})
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def table(tmp_path):
    def write(text: str):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return path

    return write


def test_at_the_exact_level_decimals_are_what_they_say(table):
    found = json.loads(run("solve", table(SUM), "-m", "hard-margin", "--level", "exact", "--json").stdout)
    assert found["level"] == "exact"
    assert Fraction(found["optimum"]) == 50  # the doubles nearest to 0.1 and 0.3 are not exactly 0.2 apart
    assert "50" in run("solve", table(SUM), "-m", "hard-margin", "--level", "exact").stdout


@pytest.mark.parametrize("level", ["rigorous", "exact"])
@pytest.mark.parametrize("model", ["hard-margin", "soft-margin", "least-squares", "least-absolute"])
def test_a_level_is_told_and_its_bounds_are_in_the_json(table, level, model):
    path = table(TENTHS)
    out = run("solve", path, "-m", model, "--level", level).stdout
    assert f"level {level}" in out
    assert "optimum" in out
    found = json.loads(run("solve", path, "-m", model, "--level", level, "--json").stdout)
    assert found["lower"] <= found["objective"] * (1 + 1e-12)
    assert found["upper"] >= found["objective"] * (1 - 1e-12)
    assert (found["optimum"] is not None) == (level == "exact")


def test_the_digits_of_a_likelihood_are_as_many_as_asked_for():
    out = run("solve", "spector", "--level", "exact", "--digits", "40").stdout
    assert "12.8896342221314151295562594343" in out  # the known digits, and more of them
    assert run("solve", "spector", "--level", "exact", "--digits", "0", code=2)


def test_a_level_that_does_not_exist_is_a_usage_error():
    assert "rigorous" in run("solve", "spector", "--level", "perfect", code=2).stderr


def test_what_a_level_cannot_prove_is_not_proved():
    result = run("solve", "gaussian_line", "--level", "rigorous", "--tol", "1e-300", code=1)  # doubles are not so fine
    assert "not proved" in result.stdout


def test_separability_of_a_file(table):
    out = run("separability", table(TENTHS)).stdout
    assert out.startswith("STRICTLY SEPARABLE")
    weak = json.loads(run("separability", table(SAME), "--json").stdout)
    assert weak["verdict"] == "weakly separable"
    assert weak["rows_on_it"] == [1, 2]
    assert weak["hull"]["point"] == ["3/10"]
    assert weak["hull"]["weights"] == {"no": {"1": "1"}, "yes": {"2": "1"}}


def test_separability_of_the_gallery_and_of_a_basis(table):
    assert run("separability", "xor_hard_margin").stdout.startswith("OVERLAPPING")
    xor = "a,b,label\n0,0,even\n1,1,even\n0,1,odd\n1,0,odd\n"
    assert run("separability", table(xor)).stdout.startswith("OVERLAPPING")
    assert run("separability", table(xor), "--basis", "quadratic").stdout.startswith("STRICTLY SEPARABLE")


def test_separability_needs_no_model(table):
    assert "no say" in run("separability", table(TENTHS), "-m", "logistic", code=2).stderr
    assert "no file" in run("separability", "nothing.csv", code=2).stderr
    one = table("a,label\n1,no\n2,no\n")
    assert "one label" in run("separability", one, code=2).stderr
