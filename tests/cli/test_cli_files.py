"""The command line's data files: CSV in its variants, svmlight, Parquet, and the pieces that read them."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from convexcls.cli import main
from convexcls.cli.screen import Working
from convexcls.cli.settings import convert, describe, guess, model_parameters, read_settings
from convexcls.models import by_kind
from convexcls.solvers import Iteration
from convexcls.wording import clean, number, small

ROWS = [(0.0, 0.0, "no"), (1.0, 1.0, "no"), (2.0, 2.0, "yes"), (3.0, 1.0, "yes")]


def solved(path: Path, *args: str, code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["solve", str(path), "-m", "hard-margin", "--json", *args])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout) if code == 0 else {"stderr": result.stderr}


# ---- CSV --------------------------------------------------------------------------------------------------

VARIANTS = {
    "plain": "x1,x2,label\n0,0,no\n1,1,no\n2,2,yes\n3,1,yes\n",
    "no last newline": "x1,x2,label\n0,0,no\n1,1,no\n2,2,yes\n3,1,yes",
    "CRLF": "x1,x2,label\r\n0,0,no\r\n1,1,no\r\n2,2,yes\r\n3,1,yes\r\n",
    "CR": "x1,x2,label\r0,0,no\r1,1,no\r2,2,yes\r3,1,yes\r",
    "BOM": "\ufeffx1,x2,label\n0,0,no\n1,1,no\n2,2,yes\n3,1,yes\n",
    "quotes": '"x1","x2","label"\n"0","0","no"\n1,1,no\n2,"2",yes\n3,1,"yes"\n',
    "blanks": "x1, x2 ,label\n 0, 0,no\n\n1 ,1, no\n2,2,yes \n3,1,yes\n\n\n",
    "notations": "x1,x2,label\n0.0,-0,no\n1e0,+1,no\n2.,.2e1,yes\n3,100e-2,yes\n",
    "no-break space": "x1,x2,label\n0,0\u00a0,no\n1,1,no\n2,2,yes\n3,1,yes\n",
}


@pytest.mark.parametrize("case", VARIANTS)
def test_variants_of_csv(case, tmp_path):
    (tmp_path / "a.csv").write_text(VARIANTS[case], encoding="utf-8", newline="")
    found = solved(tmp_path / "a.csv")
    assert found["coef"] == pytest.approx({"x1": 1.0, "x2": 1.0})
    assert found["labels"] == ["no", "yes"]
    assert found["support"] == [1, 2]


def test_names_with_commas_and_quotes(tmp_path):
    (tmp_path / "a.csv").write_text('"a,b","say ""x""",y\n0,0,0\n2,2,1\n')
    assert set(solved(tmp_path / "a.csv")["coef"]) == {"a,b", 'say "x"'}
    assert set(solved(tmp_path / "a.csv", "-f", '"a,b"')["coef"]) == {"a,b"}


@pytest.mark.parametrize(
    ("cells", "labels"), [("0 1", [0, 1]), ("-1.0 1.0", [-1, 1]), ("0.5 1.5", [0.5, 1.5]), ("1 b", ["1", "b"])]
)
def test_labels_are_numbers_where_all_of_them_are(cells, labels, tmp_path):
    low, high = cells.split()
    (tmp_path / "a.csv").write_text(f"x,y\n0,{low}\n1,{high}\n")
    assert solved(tmp_path / "a.csv")["labels"] == labels


def test_target_and_weights_may_stand_anywhere(tmp_path):
    (tmp_path / "a.csv").write_text("w,y,a,note,b\n1,0,0,u,0\n2,1,2,v,2\n")
    args = ["solve", str(tmp_path / "a.csv"), "-m", "soft-margin", "-t", "y", "-w", "w", "-f", "b,a", "--json"]
    assert list(json.loads(CliRunner().invoke(main, args).stdout)["coef"]) == ["b", "a"]


def test_a_csv_by_another_name(tmp_path):
    (tmp_path / "data.dat").write_text(VARIANTS["plain"])
    assert solved(tmp_path / "data.dat", "--format", "csv")["objective"] == pytest.approx(1.0)


def test_a_gallery_problem_by_its_path(tmp_path):
    (tmp_path / "mine.csv").write_text("x,y\n0,a\n2,b\n")
    (tmp_path / "mine.toml").write_text(
        'title = "Mine"\nderivation = "By hand."\ntarget = "y"\n[model]\nkind = "hard-margin"\n'
        '[known]\nverdict = "optimal"\noptimum = "1/2"\n'
    )
    result = CliRunner().invoke(main, ["solve", str(tmp_path / "mine.toml"), "--json"])
    assert json.loads(result.stdout)["objective"] == pytest.approx(0.5)


def test_reading_does_not_take_long(tmp_path):
    line = ",".join(["0.125"] * 20)
    with (tmp_path / "long.csv").open("w") as file:
        file.write(",".join([*(f"v{j}" for j in range(20)), "y"]) + "\n")
        file.writelines(f"{line},{k % 2}\n" for k in range(30_000))
    start = time.process_time()
    result = CliRunner().invoke(main, ["show", str(tmp_path / "long.csv"), "-m", "logistic"])
    assert "30000 samples" in result.stdout
    assert time.process_time() - start < 10


# ---- svmlight and Parquet ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.svm", "a.svmlight", "a.libsvm", "a.txt", "a.data"])
def test_svmlight(name, tmp_path):
    (tmp_path / name).write_text("-1 \n-1 1:1 2:1 # here\n1 1:2 2:2\n1 1:3 2:1\n")
    found = solved(tmp_path / name, *(("--format", "svmlight") if name == "a.data" else ()))
    assert found["coef"] == pytest.approx({"x1": 1.0, "x2": 1.0})
    assert found["labels"] == [-1, 1]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "empty"),
        ("\n\n", "no sample"),
        ("-1 1:x\n", "svmlight"),
        ("-1 2:1 1:1\n1 1:1\n", "sorted"),
        ("-1 1:1 99999999:1\n1 1:2\n", "99,999,999"),
        ("-1 1:1 9999999999999:1\n1 1:2\n", "svmlight"),
        ("-1 1:nan\n1 1:2\n", "row 0"),
        ("1 1:1\n1 1:2\n", "one label"),
        ("\x00\x01", "binary"),
    ],
)
def test_svmlight_that_cannot_be_used(content, word, tmp_path):
    (tmp_path / "a.svm").write_text(content)
    assert word in solved(tmp_path / "a.svm", code=2)["stderr"]


@pytest.mark.parametrize("flag", ["--target", "--features", "--weight"])
def test_svmlight_has_no_column_names(flag, tmp_path):
    (tmp_path / "a.svm").write_text("-1 1:1\n1 1:2\n")
    args = ["solve", str(tmp_path / "a.svm"), "-m", "soft-margin", flag, "x1"]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 2
    assert "no column names" in result.stderr


def frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(ROWS, columns=["x1", "x2", "label"])


def test_parquet(tmp_path):
    frame().set_index(np.array([5, 6, 7, 8])).to_parquet(tmp_path / "a.parquet")
    found = solved(tmp_path / "a.parquet")
    assert found["coef"] == pytest.approx({"x1": 1.0, "x2": 1.0})
    assert found["labels"] == ["no", "yes"]
    assert list(solved(tmp_path / "a.parquet", "-f", "x1", "-t", "label")["coef"]) == ["x1"]


def test_parquet_that_cannot_be_used(tmp_path):
    path = tmp_path / "a.parquet"
    table = frame()
    cases = [
        (table.assign(x1=[0, None, 2, 3]), ["row 1", "'x1'", "empty"]),
        (table.assign(label=["a", "b", None, "a"]), ["row 2", "'label'", "empty"]),
        (table.assign(x1=[[1], [2], [3], [4]]), ["'x1'", "--drop x1"]),
        (table.iloc[:0], ["empty"]),
    ]
    for bad, words in cases:
        bad.to_parquet(path)
        said = solved(path, code=2)["stderr"]
        assert all(word in said for word in words), said
    for content in (b"", b"PAR1 but not really", b"a,b\n1,2\n"):
        path.write_bytes(content)
        assert "a.parquet" in solved(path, code=2)["stderr"]
    table.to_parquet(path)
    assert "x1, x2, label" in solved(path, "-t", "nope", code=2)["stderr"]


@pytest.mark.parametrize(
    ("module", "name", "extra"), [("sklearn.datasets", "a.svm", "sklearn"), ("pyarrow", "a.parquet", "tables")]
)
def test_a_missing_extra_says_what_to_install(module, name, extra, tmp_path, monkeypatch):
    (tmp_path / name).write_text("-1 1:1\n1 1:2\n")
    monkeypatch.setitem(sys.modules, module, None)
    assert f"pip install 'convexcls[{extra}]'" in solved(tmp_path / name, code=2)["stderr"]


# ---- the pieces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "hint", "value"),
    [
        ("3", int, 3),
        ("1e3", int, 1000),
        ("3", float, 3.0),
        ("yes", bool, True),
        ("False", bool, False),
        ("none", int | None, None),
        ("7", int | None, 7),
        ("0.5", float | Literal["scale"], 0.5),
        ("scale", float | Literal["scale"], "scale"),
        ("None", Literal["a"] | None, None),
        ("x", Any, "x"),
        ("x", str | dict[str, int], "x"),
        ("a", Literal["a", "b"], "a"),
    ],
)
def test_conversion_by_type(text, hint, value):
    found = convert(text, hint)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "hint"), [("x", int), ("1.5", int), ("1_0", float), ("nan", float), ("maybe", bool), ("c", Literal["a"])]
)
def test_conversion_refuses(text, hint):
    assert describe(hint)
    with pytest.raises(ValueError):
        convert(text, hint)


def test_values_without_a_declared_type():
    assert [guess(text) for text in ("1", "1.5", "true", "none", "word")] == [1, 1.5, True, None, "word"]


def test_every_model_says_what_can_be_set():
    for kind, cls in by_kind().items():
        for parameter in model_parameters(cls).values():
            assert parameter.name not in ("self", "X", "y", "intercept", "sample_weight"), kind
            assert describe(parameter.hint), kind


def test_settings_are_refused_with_the_flag_that_gave_them():
    with pytest.raises(click.UsageError, match="--option"):
        read_settings(["a"], {}, "--option", "it")


def test_clean_makes_hidden_characters_visible():
    assert clean("é ß 日本 [b]") == "é ß 日本 [b]"
    assert clean("a\x1b[0m\r\n\u202e\ud800\x9b") == r"a\x1b[0m\r\n\u202e\ud800\x9b"
    assert clean("a\nb", keep="\n") == "a\nb"


def test_numbers():
    assert [number(v) for v in (float("nan"), -0.0, 1 / 3, float("inf"))] == ["-", "0", "0.3333333333", "inf"]
    assert [small(v) for v in (float("nan"), 0.0, 1.26e-9)] == ["-", "0", "1.3e-09"]


def test_progress_shows_on_a_terminal_and_only_after_a_while():
    def shown(patience: float, terminal: bool) -> tuple[bool, str]:
        file = io.StringIO()
        console = Console(file=file, force_terminal=terminal, width=120)
        with Working("solving [b]", patience=patience, console=console) as report:
            if report is not None:
                report(Iteration(7, 1.5, 1e-3))
                report("pass 3, row 5 of 9")
            limit = time.monotonic() + 5
            while patience == 0 and terminal and "solving" not in file.getvalue() and time.monotonic() < limit:
                time.sleep(0.01)
        return report is not None, file.getvalue()

    there, text = shown(0.0, terminal=True)
    assert there
    assert "solving [b]: iteration 7, objective 1.5, residual 1.0e-03; pass 3, row 5 of 9" in text
    assert shown(60.0, terminal=True) == (True, "")
    assert shown(0.0, terminal=False) == (False, "")
