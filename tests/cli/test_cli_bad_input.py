"""The command line on bad input: exit code 2, one clear message on stderr, nothing on stdout, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from convexcls import cli
from convexcls.cli import main, solving

GOOD = b"x1,x2,label\n0,0,no\n1,1,no\n2,2,yes\n3,1,yes\n"
PLAIN = {"COLUMNS": None, "FORCE_COLOR": None, "CONVEXCLS_DEBUG": None}


def refused(*args: object, code: int = 2) -> str:
    result = CliRunner().invoke(main, [str(a) for a in args], env=PLAIN)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.fixture
def good(tmp_path: Path) -> Path:
    (tmp_path / "good.csv").write_bytes(GOOD)
    return tmp_path / "good.csv"


# ---- CSV files --------------------------------------------------------------------------------------------

FILES = {
    "empty": (b"", ["empty"]),
    "blank": (b"\n \n\n", ["blank"]),
    "only a header": (b"a,b,y\n", ["no sample"]),
    "no header": (b"1,2,0\n3,4,1\n", ["header"]),
    "repeated name": (b"a,a,y\n1,2,0\n", ["'a'", "more than once"]),
    "nameless column": (b"a,,y\n0,1,0\n", ["column 2", "no name"]),
    "text": (b"a,b,y\n1,2,0\n1,foo,1\n", ["line 3", "row 1", "'b'", "'foo'"]),
    "text after blank lines": (b"a,b,y\n\n1,2,0\n\n\n1,foo,1\n", ["line 6", "row 1"]),
    "empty cell": (b"a,b,y\n1,,0\n1,2,1\n", ["line 2", "'b'", "empty"]),
    "nan": (b"a,b,y\n1,2,0\n1,nan,1\n", ["line 3", "'b'", "missing"]),
    "NA": (b"a,b,y\n1,2,0\n1,NA,1\n", ["line 3", "'b'", "missing", "--missing drop"]),
    "infinity": (b"a,b,y\n1,2,0\n-inf,2,1\n", ["line 3", "'a'", "infinite"]),
    "too large": (b"a,b,y\n1,2,0\n1e999,2,1\n", ["line 3", "'a'", "too large"]),
    "digit separators": (b"a,b,y\n1,2,0\n1_000,2,1\n", ["line 3", "1_000"]),
    "digits of another script": ("a,b,y\n1,2,0\n١,2,1\n".encode(), ["line 3", "'a'"]),
    "missing cell": (b"a,b,y\n1,2,0\n1,1\n", ["line 3", "2 cells", "3 columns"]),
    "extra cell": (b"a,b,y\n1,2,0,\n", ["line 2", "4 cells", "3 columns"]),
    "open quote": (b'a,b,y\n1,"2,0\n1,2,1\n', ["line 2", "never closed"]),
    "text after a quote": (b'a,b,y\n1,"2"3,0\n', ["line 2", "quote"]),
    "dates": (b"a,b,y\n1,2020-01-31,0\n2,2020-02-01,1\n", ["'b'", "dates", "2020-01-31", "--drop b"]),
    "a text for every row": (
        b"a,b,y\n" + b"".join(b"1,name%d,%d\n" % (k, k % 2) for k in range(30)),
        ["'b'", "30 different", "--drop b"],
    ),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", ["binary"]),
    "zip": (b"PK\x03\x04rest", ["zip"]),
    "parquet in disguise": (b"PAR1rest", ["Parquet"]),
    "late NUL": (b"a,b,y\n" + b"1,2,0\n" * 3000 + b"1,\x002,1\n", ["line 3002", "NUL"]),
    "huge field": (b'a,b,y\n1,2,"' + b"x" * 140_000 + b'"\n', ["line 2", "131,072"]),
    "huge line": (b"a,b,y\n" + b"1" * (2**24 + 1), ["line 2", "longer"]),
    "one class": (b"a,b,y\n1,2,0\n2,3,0\n", ["one label"]),
    "three classes": (b"a,b,y\n1,2,0\n2,3,1\n4,5,2\n", ["3 distinct"]),
    "no target": (b"a,b,y\n1,2,0\n2,3,\n", ["line 3", "'y'", "target"]),
    "one column": (b"a\n0\n1\n", ["features"]),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_used(case, tmp_path):
    content, words = FILES[case]
    (tmp_path / "bad.csv").write_bytes(content)
    said = refused("solve", tmp_path / "bad.csv", "-m", "soft-margin")
    assert "Error: " in said
    assert all(word in said for word in words), said
    assert len(said) < 1500


def test_a_weight_that_is_no_weight(tmp_path):
    for cell, word in (("-1", "zero or more"), ("", "empty"), ("x", "'x'")):
        (tmp_path / "w.csv").write_text(f"a,w,y\n1,1,0\n2,{cell},1\n")
        assert word in refused("solve", tmp_path / "w.csv", "-m", "logistic", "-w", "w", "-t", "y")


def test_text_where_real_targets_are_meant(good):
    said = refused("solve", good, "-m", "least-squares", "-p", "coding=real", "-t", "label")
    assert "the target, row 0 is 'no'" in said


# ---- arguments --------------------------------------------------------------------------------------------

ARGUMENTS = {
    "no model": ((), ["--model", "hard-margin", "logistic"]),
    "unknown model": (("-m", "hardmargin"), ["did you mean 'hard-margin'?", "soft-margin"]),
    "unknown parameter": (("-m", "soft-margin", "-p", "c=1"), ["did you mean 'C'?", "C=1.0 (a number)", "loss=hinge"]),
    "parameter that only code can give": (("-m", "empirical-risk", "-p", "constraints=1"), ["l2=0.0", "--param"]),
    "parameter of a model without": (("-m", "hard-margin", "-p", "C=1"), ["nothing to set"]),
    "text for a number": (("-m", "soft-margin", "-p", "C=ten"), ["'ten'", "a number"]),
    "nan for a number": (("-m", "soft-margin", "-p", "C=nan"), ["'nan'", "a number"]),
    "infinity by overflow": (("-m", "soft-margin", "-p", "C=1e999"), ["a number"]),
    "negative C": (("-m", "soft-margin", "-p", "C=-1"), ["above 0"]),
    "wrong word": (("-m", "soft-margin", "-p", "loss=foo"), ["hinge or squared_hinge"]),
    "no equals sign": (("-m", "soft-margin", "-p", "C"), ["NAME=VALUE", "C=1.0"]),
    "no value": (("-m", "soft-margin", "-p", "C="), ["NAME=VALUE"]),
    "twice": (("-m", "soft-margin", "-p", "C=1", "-p", "C=2"), ["twice"]),
    "unknown target": (("-m", "logistic", "-t", "lable"), ["did you mean 'label'?", "x1, x2, label"]),
    "unknown feature": (("-m", "logistic", "-f", "x1,x9"), ["'x9'", "x1, x2, label"]),
    "feature twice": (("-m", "logistic", "-f", "x1,x1"), ["twice"]),
    "no feature": (("-m", "logistic", "-f", ","), ["a,b,c"]),
    "target as feature": (("-m", "logistic", "-t", "label", "-f", "x1,label"), ["feature and the target"]),
    "weight as feature": (("-m", "logistic", "-w", "x1", "-f", "x1"), ["feature and the weights"]),
    "target as weight": (("-m", "logistic", "-t", "label", "-w", "label"), ["target and the weights"]),
    "all columns as features": (("-m", "logistic", "-f", "x1,x2,label"), ["--target"]),
    "unknown weight": (("-m", "logistic", "-w", "w"), ["--weight", "x1, x2, label"]),
    "weights where there are none": (("-m", "hard-margin", "-w", "x1"), ["takes no weights"]),
    "no intercept where there is none": (("-m", "fisher", "--no-intercept"), ["no intercept"]),
    "unknown solver": (("-m", "hard-margin", "-s", "clarbel"), ["did you mean 'clarabel'?", "osqp"]),
    "unknown backend": (("-m", "hard-margin", "-s", "cvxpy:NOPE"), ["cvxpy:CLARABEL"]),
    "solver that refuses": (("-m", "hard-margin", "-s", "newton"), ["does not take", "clarabel"]),
    "unknown option": (
        ("-m", "hard-margin", "-s", "osqp", "--option", "maxiter=3"),
        ["you mean 'max_iter'?", "rho=0.1"],
    ),
    "option without solver": (("-m", "hard-margin", "--option", "rho=1"), ["--solver"]),
    "option of a wrong type": (("-m", "hard-margin", "-s", "osqp", "--option", "max_iter=1.5"), ["a whole number"]),
    "option that the solver refuses": (("-m", "hard-margin", "-s", "clarabel", "--option", "max_iter=-1"), ["iter=-1"]),
    "a whole mapping": (("-m", "hard-margin", "-s", "cvxpy:SCS", "--option", "raw=1"), ["raw.KEY=VALUE"]),
    "backend's own option": (("-m", "hard-margin", "-s", "cvxpy:SCS", "--option", "raw.nope=1"), ["nope"]),
    "tolerance 0": (("-m", "hard-margin", "--tol", "0"), ["between 0 and 1"]),
    "tolerance nan": (("-m", "hard-margin", "--tol", "nan"), ["between 0 and 1"]),
    "tolerance as a word": (("-m", "hard-margin", "--tol", "small"), ["small"]),
    "unknown format": (("-m", "hard-margin", "--format", "xml"), ["csv", "svmlight", "parquet"]),
    "another format": (("-m", "hard-margin", "--format", "svmlight"), ["svmlight"]),
    "no folder for the certificate": (("-m", "hard-margin", "--certificate", "no/where.json"), ["no directory"]),
    "a folder as certificate": (("-m", "hard-margin", "--certificate", "."), ["directory"]),
    "unknown flag": (("-m", "hard-margin", "--modle", "x"), ["--modle"]),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments_that_cannot_be_meant(case, good):
    args, words = ARGUMENTS[case]
    said = refused("solve", good, *args)
    assert all(word in said for word in words), said


@pytest.mark.parametrize("command", ["show", "solve", "compare"])
def test_sources_that_are_not_there(command, tmp_path):
    assert "no file" in refused(command, tmp_path / "nope.csv", "-m", "logistic")
    assert "no file" in refused(command, tmp_path / "nope.toml")
    assert "no file" in refused(command, tmp_path / "nope")
    (tmp_path / "folder").mkdir()
    assert "directory" in refused(command, tmp_path / "folder", "-m", "logistic")
    (tmp_path / "data.csv").write_bytes(GOOD)
    assert "did you mean 'data.csv'?" in refused(command, tmp_path / "dta.csv", "-m", "logistic")
    (tmp_path / "d.toml").mkdir()
    assert "directory" in refused(command, tmp_path / "d.toml")
    assert "did you mean 'two_points'?" in refused(command, "two_point")
    assert "Missing argument" in refused(command)


def test_a_gallery_problem_takes_no_data_arguments():
    said = refused("solve", "two_points", "--model", "logistic", "--param", "l2=1", "--no-intercept")
    assert "--model, --param, --no-intercept" in said


def test_a_gallery_file_that_cannot_be_used(tmp_path):
    (tmp_path / "p.toml").write_text("title = ")
    assert "p.toml" in refused("solve", tmp_path / "p.toml")
    (tmp_path / "p.toml").write_text('title = "t"\nnonsense = 1\n')
    assert "nonsense" in refused("solve", tmp_path / "p.toml")


def test_a_file_whose_format_cannot_be_told(tmp_path):
    (tmp_path / "data.xyz").write_bytes(GOOD)
    assert "--format csv" in refused("solve", tmp_path / "data.xyz", "-m", "logistic")


def test_other_commands_refuse_as_well(good):
    assert "No such command" in refused("slove")
    assert "osqp" in refused("solvers", "nope")
    assert "does not take" in refused("compare", good, "-m", "logistic", "-s", "osqp")
    assert "no solver" in refused("compare", good, "-m", "logistic", "-s", "nope")
    assert "unexpected extra argument" in refused("problems", "x")
    assert "unexpected extra argument" in refused("demo", "x")


def test_a_file_that_may_not_be_read(good, monkeypatch):
    def denied(self: Path, *args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", denied)
    assert "good.csv: Permission denied" in refused("solve", good, "-m", "logistic")


# ---- what is not the user's fault -------------------------------------------------------------------------


def broken(error: BaseException) -> object:
    def fail(request: object) -> None:
        raise error

    return fail


def test_a_bug_is_one_line_and_exit_code_3(monkeypatch):
    monkeypatch.setattr(solving, "read_problem", broken(RuntimeError("the cat\nsat")))
    said = refused("show", "two_points", code=3)
    assert said == "Internal error (RuntimeError: the cat); please report it, with CONVEXCLS_DEBUG=1 set\n"


def test_a_value_error_that_nobody_meant_is_a_bug(monkeypatch):
    monkeypatch.setattr(solving, "read_problem", lambda request: [1, 2].index(3))
    assert "Internal error" in refused("show", "two_points", code=3)


def test_the_traceback_comes_on_demand(monkeypatch):
    monkeypatch.setattr(solving, "read_problem", broken(RuntimeError("cat")))
    result = CliRunner().invoke(main, ["show", "two_points"], env={**PLAIN, "CONVEXCLS_DEBUG": "1"})
    assert result.exit_code == 3
    assert "Traceback" in result.stderr


def test_interruption_and_lack_of_memory(monkeypatch):
    monkeypatch.setattr(solving, "read_problem", broken(KeyboardInterrupt()))
    assert "Interrupted." in refused("show", "two_points", code=130)
    monkeypatch.setattr(solving, "read_problem", broken(MemoryError()))
    assert "not enough memory" in refused("show", "two_points")


def test_without_standalone_mode_errors_come_through():
    with pytest.raises(cli.click.UsageError):
        main.main(["solve"], standalone_mode=False)
    assert main.main(["solve", "--help"], standalone_mode=False) == 0
