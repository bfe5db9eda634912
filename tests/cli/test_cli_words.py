"""One way of speaking: options that mean the same everywhere, errors that name what was typed, the same exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import convexcls as cc
from convexcls.cli import main
from convexcls.cli.pages import OF_A_COMPARISON, OF_A_SOLUTION
from convexcls.cli.typed import typed
from convexcls.models import by_kind


def run(*args: str):
    return CliRunner(env={"COLUMNS": "160"}).invoke(main, list(args))


def test_o_means_output_everywhere():
    short = {
        name: [p.opts for p in command.params if isinstance(p, click.Option) and "-o" in p.opts]
        for name, command in main.commands.items()
    }
    assert all(found in ([], [["-o", "--output"]]) for found in short.values()), short
    assert sum(map(len, short.values())) >= 4


TWO_CLASSES = [kind for kind, cls in by_kind().items() if kind not in ("softmax", "gaussian", "fisher")]


@pytest.fixture
def three(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("three.csv").write_text("x,z,kind\n" + "".join(f"{k % 5},{k * k % 7},{'abc'[k % 3]}\n" for k in range(12)))
    Path("apart.csv").write_text("x,z,kind\n0,1,a\n1,0,a\n5,6,b\n6,5,b\n")
    Path("meet.csv").write_text("x,z,kind\n1,1,a\n-1,-1,a\n1,-1,b\n-1,1,b\n")
    Path("same.csv").write_text("x,z,kind\n1,1,a\n2,3,a\n")


def python_names():
    public = {name for name in dir(cc) if isinstance(getattr(cc, name), type) and not name.islower()}
    return public | {display.__name__ for display in cc.plots.KINDS.values()}


@pytest.mark.parametrize("kind", TWO_CLASSES)
def test_errors_name_what_was_typed_and_no_class_of_python(three, kind):
    said = [run(command, name, "-m", kind, *more) for command, name, more in (
        ("solve", "three.csv", []),
        ("solve", "same.csv", []),
        ("summary", "apart.csv", []),
        ("fit", "apart.csv", ["-o", "model.json"]),
        ("fit", "meet.csv", ["-o", "model.json"]),
        ("validate", "meet.csv", []),
        *(("plot", "meet.csv", ["-k", picture, "-o", "x.svg"]) for picture in OF_A_SOLUTION),
    )]  # fmt: skip
    failed = [result.stderr for result in said if result.exit_code]
    assert failed
    assert all(result.exit_code in (0, 1, 2) for result in said)
    for text in failed:
        assert not [name for name in python_names() if re.search(rf"\b{name}\b", text)], text
        assert not re.search(r"cc\.|(?<!--param )\b(l2|C|coding|level|solver)='?[\w.]", text), text


def test_a_model_that_takes_several_classes_is_named_as_it_is_typed(three):
    said = run("solve", "three.csv", "-m", "logistic").stderr
    assert "(softmax, gaussian, fisher)" in said
    assert said.startswith("target:") or "the target has 3 distinct labels" in said
    assert "--param l2=" in run("fit", "apart.csv", "-m", "logistic", "-o", "m.json").stderr


def test_what_was_typed_is_left_as_it_is():
    assert typed("there is no column 'SoftmaxMLE'") == "there is no column 'SoftmaxMLE'"
    assert typed("see certify(level='exact')") == "see --level exact"
    assert typed("y has one label only ('X')") == "the target has one label only ('X')"


GALLERY = (
    "xor_hard_margin",
    "nist_norris",
    "kernel_xor",
    "softmax_table",
    "logistic_separated",
    "touching_classes_perceptron",
)


@pytest.mark.parametrize("kind", [*OF_A_SOLUTION, *OF_A_COMPARISON])
def test_a_picture_that_there_is_not_ends_with_1(kind, tmp_path):
    codes = {}
    for name in GALLERY:
        result = run("plot", name, "-k", kind, "-o", str(tmp_path / f"{name}.svg"))
        codes[name] = result.exit_code
        assert (result.exit_code == 1) == result.stderr.startswith("No picture: ")
        assert (tmp_path / f"{name}.svg").exists() == (result.exit_code == 0)
    assert set(codes.values()) <= {0, 1}, codes


# ---- the same in Python -------------------------------------------------------------------------------------------


def test_a_comparison_has_the_same_columns_everywhere():
    problem = cc.load("twenty_points")
    table = cc.compare(problem, ["clarabel", "osqp"])
    head = table.to_text().splitlines()[0].split()
    shown = run("compare", "twenty_points", "-s", "clarabel", "-s", "osqp").stdout.splitlines()
    assert head in [line.split() for line in shown]
    for row, plain, cells in zip(table.rows, table.to_dict()["rows"], table.table(), strict=True):
        assert set(head) <= plain.keys()
        kkt = row.solution.kkt
        assert row.gap == plain["gap"] == kkt.relative_gap
        assert float(cells[head.index("gap")]) == pytest.approx(row.gap, rel=0.1, abs=1e-30)
        assert (row.primal, row.slackness) == (kkt.primal_feasibility.relative, kkt.complementary_slackness.relative)


def test_verbose_prints_the_trace(capsys):
    problem = cc.load("spector")
    s = problem.solve("newton", verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"[{problem.name}] {line}" for line in s.trace]
    heard: list[object] = []
    problem.solve("newton", verbose=True, callback=heard.append)
    assert len(heard) == len(capsys.readouterr().out.splitlines()) == len(lines)
    cc.solve(problem, "newton", verbose=False)
    assert capsys.readouterr().out == ""


def test_the_tab_key_shows_what_users_call():
    model, own = cc.load("twenty_points"), cc.Problem("mine", [cc.Variable("x", 1, "x")], quadratic={"x": np.ones(1)})
    for problem in (model, own, model.dual()):
        names = [name for name in dir(problem) if not name.startswith("_")]
        assert {"solve", "dual", "explain", "latex", "check", "to_cvxpy", "variables"} <= set(names)
        assert all(hasattr(problem, name) for name in names)
        assert not {"apply_quadratic", "fill_null_directions", "candidate_directions", "remembered"} & set(names)
        assert len(names) < 35
    assert {"data", "parameters"} <= set(dir(model))
    assert "primal" in dir(model.dual())

    class Mine(cc.HardMarginSVM):
        def told(self) -> str:
            return "mine"

    assert "told" in dir(Mine([[0.0], [1.0]], [0, 1]))
