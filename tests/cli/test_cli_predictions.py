"""fit, predict, evaluate, models: from a file to predictions without another argument than model and target."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import convexcls as cc
from convexcls.cli import main

sys.path.append(str(Path(__file__).parents[1] / "tables"))
from made_tables import as_csv, coded_by_hand, heart

HEART = heart(80)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("heart.csv").write_text(as_csv(HEART))


def run(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(args))
    assert result.exit_code == code, result.output
    return result


def predictions(text: str) -> dict[str, list[str]]:
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}


def test_the_command_line_python_and_scikit_learn_say_the_same():
    from sklearn.linear_model import LogisticRegression

    run("fit", "heart.csv", "-m", "logistic", "-t", "chd", "-p", "l2=1", "-o", "model.json")
    run("predict", "model.json", "heart.csv", "-o", "out.csv")
    found = predictions(Path("out.csv").read_text())
    s = cc.read_table("heart.csv").samples("chd").declare(cc.LogisticMLE, l2=1.0).solve()
    theirs = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(coded_by_hand(HEART), HEART["chd"])
    chances = np.array(found["probability 1"], dtype=float)
    assert np.array_equal(chances, s.predict_proba(cc.Table(HEART))[:, 1])
    assert chances == pytest.approx(theirs.predict_proba(coded_by_hand(HEART))[:, 1], abs=1e-6)
    assert np.array(found["signed distance"], dtype=float) == pytest.approx(s.signed_distances)
    assert found["class"] == [str(label) for label in s.predict(cc.Table(HEART))]


def test_a_certificate_of_fit_verifies_against_the_raw_file():
    run("fit", "heart.csv", "-m", "logistic", "-t", "chd", "-o", "model.json", "--certificate", "proof.json")
    assert "ACCEPTED" in run("verify", "proof.json", "heart.csv").stdout
    Path("other.csv").write_text(as_csv({**HEART, "famhist": HEART["famhist"][::-1]}))
    assert "REFUSED" in run("verify", "proof.json", "other.csv", code=1).stdout
    assert cc.verify(Path("proof.json"), "heart.csv")


def numbered(text: str) -> str:
    """The table as R writes it with row names."""
    first, *rows = text.splitlines()
    return "\n".join([f'"",{first}', *(f'"{k}",{row}' for k, row in enumerate(rows, 1))])


def as_r_writes(text: str) -> str:
    """The table with blanks, words in quotes, and row names that the header has no column for."""
    first, *rows = [[c if c[0].isdigit() else f'"{c}"' for c in line.split(",")] for line in text.splitlines()]
    return "\n".join([" ".join(first), *(" ".join([f'"{k}"', *row]) for k, row in enumerate(rows, 1))])


TABLES = {
    "text": (as_csv(HEART).encode(), []),
    "row names": (numbered(as_csv(HEART)).encode(), ["names the rows"]),
    "write.table of R": (as_r_writes(as_csv(HEART)).encode(), ["names the rows"]),
    "semicolons": (as_csv(HEART, ";", ",").encode(), []),
    "latin-1": (as_csv(HEART).replace("famhist", "größe").encode("latin-1"), ["cp1252"]),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_goes_from_file_to_report_model_and_predictions(case):
    data, words = TABLES[case]
    Path("a.csv").write_bytes(data)
    done = run("fit", "a.csv", "-m", "logistic", "-t", "chd", "-o", "model.json")
    assert all(word in done.stderr for word in words), done.stderr
    assert "against" in done.stderr  # the coding is told
    assert len(predictions(run("predict", "model.json", "a.csv").stdout)["class"]) == len(HEART["chd"])
    assert json.loads(run("evaluate", "model.json", "a.csv", "--json").stdout)["samples"] == len(HEART["chd"])
    run("report", "a.csv", "-m", "logistic", "-t", "chd", "-o", "a.html", "--no-compare", "--no-pictures")
    assert "against" in Path("a.html").read_text()


def test_missing_cells_name_their_remedy_and_it_helps():
    text = as_csv({**HEART, "age": ["NA" if k % 9 == 4 else age for k, age in enumerate(HEART["age"])]})
    Path("a.csv").write_text(text)
    said = run("fit", "a.csv", "-m", "logistic", "-t", "chd", "-o", "model.json", code=2).stderr
    assert "line 6 (row 4), column 'age'" in said
    assert "9 rows of 80" in said
    assert "--missing drop or --missing indicator" in said
    run("fit", "a.csv", "-m", "logistic", "-t", "chd", "-o", "model.json", "--missing", "indicator")
    assert len(predictions(run("predict", "model.json", "a.csv").stdout)["class"]) == 80
    run("fit", "a.csv", "-m", "logistic", "-t", "chd", "-o", "m.json", "--missing", "drop", "--certificate", "p.json")
    assert "ACCEPTED" in run("verify", "p.json", "a.csv").stdout


def test_imbalanced_classes_are_told_and_weighed():
    columns = {"x": [float(k % 7) for k in range(60)], "y": ["neg"] * 56 + ["pos"] * 4}
    Path("a.csv").write_text(as_csv(columns))
    done = run("fit", "a.csv", "-m", "soft-margin", "-t", "y", "-o", "model.json")
    assert "always predicts 'neg'" in done.stderr
    assert "always predicts 'neg'" in run("evaluate", "model.json", "a.csv").stderr
    balanced = ("-p", "class_weight=balanced", "--certificate", "p.json")
    assert "always" not in run("fit", "a.csv", "-m", "soft-margin", "-t", "y", "-o", "b.json", *balanced).stderr
    assert "ACCEPTED" in run("verify", "p.json", "a.csv").stdout


def test_three_classes_need_a_model_for_them_or_a_positive_label():
    rng = np.random.default_rng(2)
    columns = {"x": rng.normal(size=60).round(3).tolist(), "kind": rng.choice(["a", "b", "c"], 60).tolist()}
    Path("a.csv").write_text(as_csv(columns))
    refused = run("fit", "a.csv", "-m", "logistic", "-t", "kind", "-o", "m.json", code=2).stderr
    assert "3 distinct labels" in refused
    assert "name one (--positive LABEL), or use a model for several classes (softmax, gaussian, fisher)" in refused
    run("fit", "a.csv", "-m", "softmax", "-t", "kind", "-o", "m.json")
    assert "probability c" in predictions(run("predict", "m.json", "a.csv").stdout)
    run("fit", "a.csv", "-m", "logistic", "-t", "kind", "--positive", "b", "-o", "one.json", "--certificate", "p.json")
    assert "score" in predictions(run("predict", "one.json", "a.csv").stdout)
    assert json.loads(run("evaluate", "one.json", "a.csv", "--json").stdout)["labels"] == ["not b", "b"]
    assert "ACCEPTED" in run("verify", "p.json", "a.csv").stdout


def test_nothing_is_written_where_there_is_no_solution():
    Path("a.csv").write_text("x,y\n0,a\n1,b\n")
    said = run("fit", "a.csv", "-m", "logistic", "-o", "model.json", code=1).stderr
    assert "unattained" in said
    assert "l2=" in said
    assert not Path("model.json").exists()


def test_a_threshold_moves_the_classes():
    run("fit", "heart.csv", "-m", "logistic", "-t", "chd", "-o", "model.json")
    few = predictions(run("predict", "model.json", "heart.csv", "--threshold", "0.9").stdout)["class"].count("1")
    many = predictions(run("predict", "model.json", "heart.csv", "--threshold", "0.1").stdout)["class"].count("1")
    assert few < many
    assert "between 0 and 1" in run("predict", "model.json", "heart.csv", "--threshold", "3", code=2).stderr


def test_a_level_that_is_not_known_is_refused_by_its_place():
    run("fit", "heart.csv", "-m", "logistic", "-t", "chd", "-o", "model.json")
    Path("new.csv").write_text("tobacco,famhist,age\n1,Absent,40\n2,Unknown,30\n")
    said = run("predict", "model.json", "new.csv", code=2).stderr
    assert "line 3 (row 1), column 'famhist' is 'Unknown'" in said


def test_a_formula_and_references_on_the_command_line():
    pytest.importorskip("formulaic")
    how = ("--formula", "chd ~ age * famhist", "--reference", "famhist=Present")
    run("fit", "heart.csv", "-m", "logistic", *how, "-o", "model.json", "--certificate", "proof.json")
    assert cc.load_model("model.json").features == ("age", "famhist=Absent", "age:famhist=Absent")
    assert "ACCEPTED" in run("verify", "proof.json", "heart.csv").stdout


def test_a_file_of_the_name_of_a_gallery_problem_is_the_file_with_a_format():
    Path("two_points").write_text("x,y\n0,a\n1,b\n3,a\n2,b\n")
    assert "two_points" not in run("solve", "two_points", "--format", "csv", "-m", "soft-margin").stdout
    assert "--format" in run("solve", "two_points", "-m", "soft-margin", code=2).stderr


def test_the_models_are_listed_with_their_parameters():
    said = run("models").stdout
    assert all(kind in said for kind in ("soft-margin", "C=1.0", "class_weight=balanced", "LogisticMLE"))
    assert "did you mean 'softmax'" in run("models", "sofmax", code=2).stderr
    assert "hinge" in run("models", "soft-margin").stdout
    assert "linear, poly or rbf" in said
    assert max(map(len, run("models").stdout.splitlines())) <= 140


def test_a_file_that_is_no_model_is_refused():
    Path("model.json").write_text("{}")
    assert "not a model file" in run("predict", "model.json", "heart.csv", code=2).stderr
    assert "No such file" in run("predict", "nope.json", "heart.csv", code=2).stderr


def with_gaps(column, rows, text):
    """The table with empty cells in these rows of a column."""
    lines = text.splitlines()
    place = lines[0].split(",").index(column)
    for row in rows:
        cells = lines[row + 1].split(",")
        cells[place] = ""
        lines[row + 1] = ",".join(cells)
    return "\n".join(lines) + "\n"


def test_a_gap_in_new_rows_is_refused_by_its_place_or_its_prediction_left_blank():
    run("fit", "heart.csv", "-m", "logistic", "-t", "chd", "-o", "model.json")
    whole = predictions(run("predict", "model.json", "heart.csv").stdout)
    Path("new.csv").write_text(with_gaps("age", (2, 7), as_csv(HEART)))
    said = run("predict", "model.json", "new.csv", code=2).stderr
    assert "line 4 (row 2), column 'age'" in said
    assert "2 rows of 80" in said
    assert "--missing skip" in said
    assert "--missing drop" not in said
    done = run("predict", "model.json", "new.csv", "--missing", "skip")
    found = predictions(done.stdout)
    assert "2 rows with missing cells left blank" in done.stderr
    for name, values in found.items():
        assert values == ["" if row in (2, 7) else value for row, value in enumerate(whole[name])]
    assert "--missing skip" in run("evaluate", "model.json", "new.csv", code=2).stderr
    measured = json.loads(run("evaluate", "model.json", "new.csv", "--missing", "skip", "--json").stdout)
    assert measured["samples"] == 78


def test_a_model_fitted_with_indicators_takes_gaps_where_there_were_some():
    Path("a.csv").write_text(with_gaps("age", range(3, 80, 9), as_csv(HEART)))
    run("fit", "a.csv", "-m", "logistic", "-t", "chd", "-p", "l2=1", "--missing", "indicator", "-o", "model.json")
    Path("new.csv").write_text(with_gaps("age", (0,), as_csv(HEART)))
    chances = predictions(run("predict", "model.json", "new.csv").stdout)["probability 1"]
    model = cc.load_model("model.json")
    coding = {c.name: c for c in model.coding.columns}
    by_name = dict(zip(model.features, model.coef.tolist(), strict=True))
    score = float(model.intercept) + by_name["age"] * float(coding["age"].fill) + by_name["age missing"]
    score += by_name["tobacco"] * float(HEART["tobacco"][0])
    level = f"famhist={HEART['famhist'][0]}"
    score += by_name.get(level, 0.0)
    assert float(chances[0]) == pytest.approx(1 / (1 + np.exp(-score)))
    Path("new.csv").write_text(with_gaps("tobacco", (5,), as_csv(HEART)))  # which had none in the fit
    assert "line 7 (row 5), column 'tobacco'" in run("predict", "model.json", "new.csv", code=2).stderr


def test_a_model_without_a_coding_and_a_table_of_gaps():
    cc.LogisticMLE(np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1], l2=1.0).solve().save("model.json")
    Path("new.csv").write_text("x1,x2\n1,\n,2\n")
    assert "line 2 (row 0), column 'x2'" in run("predict", "model.json", "new.csv", code=2).stderr
    assert "line 2 (row 0)" in run("predict", "model.json", "new.csv", "--missing", "skip", code=2).stderr
    Path("new.csv").write_text("x1,x2\n1,\n3,2\n")
    assert predictions(run("predict", "model.json", "new.csv", "--missing", "skip").stdout)["class"][0] == ""
