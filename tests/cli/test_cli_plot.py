"""The command ``convexcls plot``."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from matplotlib import pyplot

from convexcls.cli import main
from convexcls.cli.pages import OF_A_SOLUTION
from convexcls.plots import KINDS


def run(*args, code=0):
    result = CliRunner().invoke(main, [str(a) for a in args], env={"COLUMNS": None, "CONVEXCLS_DEBUG": None})
    assert result.exit_code == code, result.output
    return result


def test_the_kinds_are_those_of_the_displays():
    assert tuple(KINDS) == OF_A_SOLUTION


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_is_written_in_each_format(tmp_path: Path, ending, magic):
    picture = tmp_path / f"margin.{ending}"
    before = pyplot.get_fignums()
    result = run("plot", "twenty_points", "-o", picture)
    assert picture.read_bytes().startswith(magic)
    assert "picture written to" in result.stderr
    assert result.stdout == ""
    assert pyplot.get_fignums() == before


@pytest.mark.parametrize("kind", ["hulls", "trajectory", "answers", "slackness"])
def test_a_kind_can_be_asked_for(tmp_path: Path, kind):
    picture = tmp_path / "p.png"
    run("plot", "twenty_points_perceptron", "--kind", kind, "-o", picture)
    assert picture.stat().st_size > 5000


def test_an_infeasible_problem_is_drawn_by_its_hulls_unless_told_otherwise(tmp_path: Path):
    picture = tmp_path / "p.svg"
    run("plot", "xor_hard_margin", "-o", picture)
    assert "which meet" in picture.read_text()
    refused = run("plot", "xor_hard_margin", "--kind", "boundary", "-o", tmp_path / "q.svg", code=1)
    assert "No picture: the hard-margin SVM is infeasible" in refused.stderr
    assert not (tmp_path / "q.svg").exists()


def test_features_of_a_data_file_are_named(tmp_path: Path):
    table = tmp_path / "t.csv"
    table.write_text("age,dose,sex,sick\n1,2,0,no\n2,1,1,no\n3,3,0,yes\n4,1,1,yes\n2,4,0,no\n", encoding="utf-8")
    picture = tmp_path / "p.svg"
    run(
        "plot",
        table,
        "--model",
        "logistic",
        "--param",
        "l2=1",
        "-k",
        "probability",
        "--axes",
        "age, dose",
        "-o",
        picture,
    )
    assert "age" in picture.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "p.txt"], ".png, .pdf, .svg"),
        (["-o", "nowhere/p.png"], "no directory"),
        (["-o", "p.png", "--kind", "cake"], "cake"),
        (["-o", "p.png", "--solver", "magic"], "no solver 'magic'"),
        (["-o", "p.png", "--axes", "x1"], "name two features"),
        (["-o", "p.png", "--axes", "x1,zz"], "no feature 'zz'"),
        (["-o", "p.png", "--axes", "x1,x2", "--kind", "multipliers"], "--axes has no say"),
        (["-o", "p.png", "--axes", "x1,x2", "--kind", "answers"], "--axes has no say"),
        (["-o", "p.png", "--solver", "osqp", "--kind", "answers"], "--solver has no say"),
        ([], "--output"),
    ],
)
def test_bad_options_are_refused_in_words(arguments, words, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in run("plot", "heart_scale", *arguments, code=2).stderr
    assert not list(tmp_path.iterdir())


def test_help_has_examples():
    assert "convexcls plot twenty_points -o margin.png" in run("plot", "--help").stdout
