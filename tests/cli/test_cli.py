"""The command line on good input: what each command prints, where, and with which exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import convexcls as cc
from convexcls import gallery
from convexcls.cli import main
from convexcls.models import by_kind
from convexcls.solve import accepting

PLAIN = {"COLUMNS": None, "FORCE_COLOR": None, "NO_COLOR": None, "CONVEXCLS_DEBUG": None}
SEPARABLE = "x1,x2,label\n0,0,no\n1,1,no\n2,2,yes\n3,1,yes\n"
OVERLAPPING = "a,b,w,y\n0,1,1,0\n1,0,2,0\n2,2,1,1\n3,1,1,1\n1,2,1,0\n2,0,1,1\n1.5,1,1,1\n1.75,1,1,0\n"
COMMANDS = ("show", "solve", "separability", "compare", "validate", "summary", "path", "solvers", "problems", "demo")


def run(*args: str, columns: int | None = None, code: int = 0) -> Result:
    env = {**PLAIN, "COLUMNS": None if columns is None else str(columns)}
    result = CliRunner().invoke(main, [str(a) for a in args], env=env)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def strict(text: str) -> dict:
    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def csv(tmp_path: Path) -> str:
    (tmp_path / "a.csv").write_text(SEPARABLE)
    return str(tmp_path / "a.csv")


@pytest.fixture
def overlapping(tmp_path: Path) -> str:
    (tmp_path / "o.csv").write_text(OVERLAPPING)
    return str(tmp_path / "o.csv")


# ---- help -----------------------------------------------------------------------------------------------


def test_alone_it_shows_three_things_to_try():
    out = run().stdout
    assert sum(line.startswith("  convexcls ") for line in out.splitlines()) == 3


def test_version():
    assert run("--version").stdout == f"convexcls {cc.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command):
    out = run(command, "--help").stdout
    assert "Example" in out
    assert f"convexcls {command}" in out
    assert run(command, "-h").stdout == out


def test_the_group_lists_all_commands():
    out = run("--help").stdout
    assert all(re.search(rf"^  {command} ", out, re.MULTILINE) for command in COMMANDS)


def test_examples_of_the_help_name_problems_that_exist():
    for command in ("show", "solve", "compare", "problems"):
        for name in re.findall(r"^ +convexcls (?:show|solve|compare) (\w+)\b(?!\.)", run(command, "-h").stdout, re.M):
            assert name in gallery.entries()


# ---- show -----------------------------------------------------------------------------------------------


def test_show_prints_the_formulation(csv):
    result = run("show", csv, "--model", "hard-margin", "--target", "label")
    assert (
        result.stdout.strip()
        == cc.HardMarginSVM([[0, 0], [1, 1], [2, 2], [3, 1]], ["no"] * 2 + ["yes"] * 2).explain().strip()
    )
    assert result.stderr == ""


FORMS = {"latex": ["--latex"], "document": ["--latex", "--standalone"], "markdown": ["--markdown"]}


def test_show_dual_and_latex():
    problem = gallery.load("two_points")
    assert run("show", "two_points", "--dual").stdout.strip() == problem.dual().explain().strip()
    for form, options in FORMS.items():
        assert run("show", "two_points", *options).stdout == problem.explain(form)
        assert run("show", "two_points", "--dual", *options).stdout == problem.dual().explain(form)


def test_show_fits_a_narrow_screen():
    lines = run("show", "twenty_points", columns=60).stdout.splitlines()
    assert max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines).split()) == " ".join(run("show", "twenty_points").stdout.split())


# ---- solve ----------------------------------------------------------------------------------------------


def test_solve_says_all_that_is_asked(csv):
    out = run("solve", csv, "-m", "hard-margin", "-t", "label").stdout
    assert re.search(r"^verdict +OPTIMAL", out, re.M)
    assert re.search(r"^objective +1$", out, re.M)
    assert re.search(r"^dual bound +1$", out, re.M)
    assert re.search(r"^gap +\S+ \(relative \S+\)$", out, re.M)
    assert re.search(r"^intercept +-3$", out, re.M)
    assert re.search(r"^support +2 of 4 rows, counted from 0: 1, 2$", out, re.M)
    assert re.search(r"^x1 +1$", out, re.M)
    for condition in ("stationarity", "primal feasibility", "dual feasibility", "complementary slackness"):
        assert re.search(rf"^{condition} +\S+ +\S+ +\S+", out, re.M)
    assert "no feasible point lies below the dual bound" in " ".join(out.split())


def test_the_default_target_is_the_last_column_and_that_is_said_on_stderr(csv):
    result = run("solve", csv, "-m", "hard-margin")
    assert "label" in result.stderr
    assert "last" in result.stderr
    assert result.stdout.startswith("problem")


@pytest.mark.parametrize("name", ["xor_hard_margin", "logistic_separated", "two_points", "rank_deficient"])
def test_proved_verdicts_exit_with_0(name):
    out = run("solve", name).stdout
    assert gallery.entry(name).known.verdict.upper() in out
    assert ("not the only solution" in out) == (name == "rank_deficient")


def test_an_answer_that_is_not_proved_exits_with_1(csv):
    stopped = ("--option", "max_iter=1", "--option", "polish=no")
    out = run("solve", csv, "-m", "hard-margin", "-s", "clarabel", *stopped, code=1).stdout
    assert "UNDECIDED" in out
    assert "margin, row" in out


def test_an_intercept_that_is_an_interval_is_told_as_one():
    assert "every other in [-1, 0.5]" in run("solve", "soft_margin_all_at_bound").stdout


@pytest.mark.parametrize("kind", sorted(by_kind()))
def test_every_model_can_be_named(kind, overlapping):
    out = run("show", overlapping, "-m", kind, "-t", "y", "-f", "a,b").stdout
    assert "8 samples" in out


@pytest.mark.parametrize(
    ("kind", "setting", "shown"),
    [
        ("soft-margin", "C=10", "C=10.0"),
        ("soft-margin", "loss=squared_hinge", "loss=squared_hinge"),
        ("logistic", "l2=1e-1", "l2=0.1"),
        ("least-squares", "coding=real", "coding=real"),
        ("perceptron", "normalization=none", "normalization=None"),
        ("empirical-risk", "loss=exponential", "loss=exponential"),
    ],
)
def test_parameters_take_the_types_of_the_signature(kind, setting, shown, overlapping):
    assert shown in run("solve", overlapping, "-m", kind, "-t", "y", "-f", "a,b", "-p", setting).stdout


def test_weights_features_and_no_intercept(overlapping):
    args = ("-m", "logistic", "-t", "y", "-w", "w", "-p", "l2=1", "--no-intercept", "--json")
    found = strict(run("solve", overlapping, *args).stdout)
    rows = [[float(cell) for cell in line.split(",")] for line in OVERLAPPING.splitlines()[1:]]
    expected = cc.LogisticMLE(
        [r[:2] for r in rows], [r[3] for r in rows], l2=1, intercept=False, sample_weight=[r[2] for r in rows]
    ).solve()
    assert found["coef"] == pytest.approx(dict(zip("ab", expected.coef, strict=True)), rel=1e-9)
    assert found["intercept"] is None


def test_options_take_the_types_of_the_solver(csv):
    args = ("-m", "soft-margin", "-t", "label", "--solver")
    run("solve", csv, *args, "osqp", "--option", "rho=0.5", "--option", "max_iter=1e5", "--option", "polish=yes")
    run("solve", csv, *args, "cvxpy:scs", "--option", "raw.max_iters=20000", "--tol", "1e-4")


def test_a_solver_on_the_dual(csv):
    args = ("-m", "soft-margin", "-t", "label", "-s", "dual:clarabel", "--option", "max_iter=100")
    assert re.search(r"^solver +dual:clarabel", run("solve", csv, *args).stdout, re.M)


def test_many_coefficients_are_cut_to_the_largest(tmp_path):
    names = [f"v{j}" for j in range(40)]
    rows = [[(j + 1) * s for j in range(40)] for s in (-1, 1)]
    lines = [",".join([*names, "y"])] + [",".join(map(str, [*r, k])) for k, r in enumerate(rows)]
    (tmp_path / "wide.csv").write_text("\n".join(lines))
    args = ("solve", str(tmp_path / "wide.csv"), "-m", "hard-margin", "-t", "y")
    short, full = run(*args).stdout, run(*args, "--all").stdout
    assert "the 20 largest of 40" in short
    assert [n for n in names if re.search(rf"^{n} ", short, re.M)] == names[20:]
    assert [n for n in names if re.search(rf"^{n} ", full, re.M)] == names


def test_many_support_rows_are_cut():
    short, full = run("solve", "heart_scale").stdout, run("solve", "heart_scale", "--all").stdout
    assert re.search(r"and \d+ more \(--all", short)
    found = gallery.load("heart_scale").solve()
    assert f": {', '.join(map(str, found.support))}\n" in full


# ---- JSON -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two_points", "xor_hard_margin", "logistic_separated", "fisher", "xor_max_margin"])
def test_json_is_strict_and_complete(name):
    result = run("solve", name, "--json")
    found, known = strict(result.stdout), gallery.entry(name).known
    assert result.stderr == ""
    assert found["status"] == found["certificate"]["status"] == known.verdict
    assert found["certified"] is True
    if known.verdict == "optimal":
        assert found["objective"] == pytest.approx(float(known.optimum), abs=1e-9)
        assert set(found["kkt"]) == {
            "stationarity",
            "primal feasibility",
            "dual feasibility",
            "complementary slackness",
        }
    else:
        assert found["objective"] is None
        assert found["coef"] is None


def test_json_of_an_answer_that_is_not_proved(csv):
    args = ("-m", "hard-margin", "-t", "label", "-s", "clarabel", "--option", "max_iter=1", "--option", "polish=false")
    found = strict(run("solve", csv, *args, "--json", code=1).stdout)
    assert found["certified"] is False
    assert found["status"] == "undecided"
    assert found["certificate"]["reason"]


def test_the_certificate_is_written_to_a_file(tmp_path):
    target = tmp_path / "proof.json"
    result = run("solve", "xor_hard_margin", "--certificate", str(target))
    assert strict(target.read_text())["farkas"] == {"margin": {str(i): "0.25" for i in range(4)}}
    assert "proof.json" in result.stderr
    assert "proof.json" not in result.stdout


# ---- compare, solvers, problems, demo -------------------------------------------------------------------


def test_compare_has_a_line_for_every_solver_that_accepts():
    out = run("compare", "two_points").stdout
    expected = {info.name for info in accepting(gallery.load("two_points"))}
    assert expected == set(re.findall(r"^(\S+) +(?:optimal|undecided) ", out, re.M))
    assert "osqp" in expected


def test_compare_chosen_solvers_and_json():
    found = strict(run("compare", "xor_hard_margin", "-s", "osqp", "-s", "clarabel", "--json").stdout)
    assert [row["solver"] for row in found["rows"]] == ["osqp", "clarabel"]
    assert {row["status"] for row in found["rows"]} == {"infeasible"}
    assert all(row["objective"] is None for row in found["rows"])


def test_compare_says_what_fell_short(csv):
    args = ("-m", "hard-margin", "-t", "label", "-s", "cvxpy:SCS", "--tol", "1e-15")
    assert "cvxpy:SCS is not proved: " in run("compare", csv, *args, code=1).stdout


@pytest.mark.parametrize("columns", [None, 80, 120, 40, 20])
def test_no_width_loses_a_number(columns):
    numbers = re.compile(r"(?<=\s)-?\d[\d.e+-]*(?=\s|$)", re.M)
    out = run("compare", "twenty_points", "-s", "clarabel", "-s", "osqp", columns=columns).stdout
    assert out.count("0.4444444444") == 2
    assert "…" not in out
    if columns in (80, 120):
        assert max(map(len, out.splitlines())) <= columns
    solve = run("solve", "twenty_points", columns=columns).stdout
    assert "…" not in solve
    assert len(numbers.findall(solve)) >= 15


def test_solvers_are_listed_with_what_they_take_and_promise():
    out = run("solvers").stdout
    for info in cc.list_solvers():
        assert re.search(rf"^{info.name} .*{info.promise:.0e}$", out, re.M)
        assert info.accepts in out


def test_one_solver_is_shown_with_its_options():
    out = run("solvers", "osqp").stdout
    assert re.search(r"^rho +0\.1 +a number$", out, re.M)


@pytest.mark.parametrize("columns", [None, 80, 120])
def test_problems_lists_the_gallery(columns):
    out = run("problems", columns=columns).stdout
    assert all(re.search(rf"^{name} ", out, re.M) for name in gallery.entries())
    assert re.search(r"^twenty_points +hard-margin +20 +2 +optimal +4/9\b", out, re.M)
    assert max(map(len, out.splitlines())) <= (columns or 1000)


@pytest.mark.parametrize("columns", [None, 80, 120])
def test_the_demo_states_solves_compares_and_proves(columns):
    result = run("demo", columns=columns)
    out = result.stdout
    assert result.stderr == ""
    for words in ("minimise over", "OPTIMAL.", "INFEASIBLE.", "clarabel", "osqp", "4/9"):
        assert words in out
    assert len(out.splitlines()) < 90
    assert max(map(len, out.splitlines())) <= (columns or 1000)


# ---- hostile names --------------------------------------------------------------------------------------

HOSTILE = '[red]a[/red],\x1b[31mb\x1b[0m,"c\nd",\u202eevil,y\n1,2,3,4,[bold]no\n2,4,1,5,\x1b]0;title\x07\n'


@pytest.mark.parametrize("command", ["show", "solve", "compare"])
def test_names_and_labels_are_shown_as_text(command, tmp_path):
    (tmp_path / "h.csv").write_text(HOSTILE, encoding="utf-8", newline="")
    result = run(command, str(tmp_path / "h.csv"), "-m", "hard-margin")
    for character in ("\x1b", "\x07", "\u202e"):
        assert character not in result.output
    if command == "solve":
        assert "[red]a[/red]" in result.stdout
        assert r"\x1b[31mb\x1b[0m" in result.stdout
        assert r"c\nd" in result.stdout
        assert "[bold]no" in result.stdout


def test_names_in_json_come_back_as_they_are(tmp_path):
    (tmp_path / "h.csv").write_text(HOSTILE, encoding="utf-8", newline="")
    result = run("solve", str(tmp_path / "h.csv"), "-m", "hard-margin", "--json")
    assert set(strict(result.stdout)["coef"]) == {"[red]a[/red]", "\x1b[31mb\x1b[0m", "c\nd", "\u202eevil"}
    assert "\x1b" not in result.output


def test_hostile_names_in_errors(tmp_path):
    (tmp_path / "h.csv").write_text(HOSTILE.replace("2,4,1,5", "2,\x1b[2Jx,1,5"), encoding="utf-8", newline="")
    for args in ((), ("-t", "\x1b[1m"), ("-f", "nope")):
        assert "\x1b" not in run("solve", str(tmp_path / "h.csv"), "-m", "hard-margin", *args, code=2).output


# ---- several classes -----------------------------------------------------------------------------------------


def test_several_classes_are_columns():
    out = run("solve", "softmax_table").stdout
    assert re.search(r"^coef +a +b +c$", out, flags=re.MULTILINE)
    assert re.search(r"^x +1\.059351277 +-0\.3269430843 +-0\.7324081924$", out, flags=re.MULTILINE)
    assert "labels 'a', 'b' and 'c'" in out
    coef = strict(run("solve", "softmax_table", "--json").stdout)["coef"]
    assert [sum(coef[label][name] for label in "abc") for name in ("x", "intercept")] == pytest.approx(
        [0, 0], abs=1e-12
    )


def test_gaussian_classes_show_means_and_covariances():
    out = run("solve", "gaussian_by_class").stdout
    assert re.search(r"^x +1 +5$", out, flags=re.MULTILINE)
    assert "covariance of b" in out
    found = strict(run("solve", "gaussian_line", "--json").stdout)
    assert found["coef"] is None
    assert found["mean"]["b"]["x"] == pytest.approx(4)
    assert found["covariance"]["x"]["x"] == pytest.approx(1)


def test_directions_come_with_their_proof():
    out = run("solve", "fisher_three_classes").stdout
    assert re.search(r"^Rayleigh quotient +5\.26\d+ +2\.59\d+$", out, flags=re.MULTILINE)
    assert "That no direction separates the classes better is proved" in out


def test_three_labels_in_a_file(tmp_path):
    (tmp_path / "three.csv").write_text("u,v,kind\n0,0,a\n1,0,b\n0,1,c\n1,1,a\n2,1,b\n1,2,c\n0,2,a\n2,0,c\n2,2,b\n")
    for kind in ("softmax", "gaussian", "fisher"):
        assert "OPTIMAL" in run("solve", tmp_path / "three.csv", "--model", kind).stdout
    failed = run("solve", tmp_path / "three.csv", "--model", "logistic", code=2)
    assert "softmax" in failed.stderr
