"""``convexcls report`` and ``convexcls completion``."""

import shutil
import subprocess

import numpy as np
import pytest
from click.shell_completion import get_completion_class
from click.testing import CliRunner
from html_checks import HOSTILE, assert_sound

from convexcls.cli import main

ROWS = "\n".join(f"{i % 5},{(3 * i) % 7},{'ab'[(i % 5) + (3 * i) % 7 > 4]}" for i in range(20))


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(f"u,v,kind\n{ROWS}\n", encoding="utf-8")
    return tmp_path / "data.csv"


def test_a_gallery_problem_becomes_a_page_with_its_title_and_command(tmp_path, monkeypatch):
    target = tmp_path / "a page.html"
    monkeypatch.setattr("sys.argv", ["convexcls", "report", "xor_hard_margin", "-o", str(target)])
    done = run("report", "xor_hard_margin", "-o", target, "--no-pictures", "--compare", "clarabel")
    assert done.exit_code == 0
    assert f"infeasible; report written to {target}" in done.output
    page = assert_sound(target.read_text(encoding="utf-8"), written=str(tmp_path))
    assert "XOR: no hyperplane separates it" in page.text
    assert f"convexcls report xor_hard_margin -o '{target}'" in page.text
    own, *others = [row[0] for row in page.table("Tolerance")[1:]]
    assert own in ("working-set", "active-set")  # where it is compiled
    assert others == ["clarabel"]


def test_a_data_file_has_a_name_of_its_own(table):
    done = run("report", table.name, "--model", "soft-margin", "-p", "C=2", "--no-pictures", "--no-compare")
    assert done.exit_code == 0
    html = (table.parent / "data-report.html").read_text(encoding="utf-8")
    assert "soft-margin SVM (C=2.0" in assert_sound(html).text


def test_options_are_carried_out(table):
    done = run(
        "report",
        table.name,
        "-m",
        "logistic",
        "-p",
        "l2=1",
        "-s",
        "newton",
        "--level",
        "rigorous",
        "--title",
        HOSTILE[0],
        "-o",
        "out.html",
        "--no-pictures",
        "--no-compare",
    )
    assert done.exit_code == 0
    page = assert_sound((table.parent / "out.html").read_text(encoding="utf-8"))
    assert HOSTILE[0] in page.text
    assert "despite rounding" in page.text
    assert "newton" in page.text
    assert [n for n, _ in page.tags].count("script") == 1


@pytest.mark.parametrize("name", HOSTILE[:2])
def test_hostile_columns_labels_and_file_names(table, name, monkeypatch):
    import csv

    path = table.parent / "it's <b> & $x$.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [[name, "v", "kind"], *([i, (3 * i) % 7, name if i > 9 else "b"] for i in range(20))]
        )
    monkeypatch.setattr("sys.argv", ["convexcls", "report", path.name])
    assert run("report", path.name, "-m", "soft-margin", "-o", "x.html", "--no-compare", "--no-pictures").exit_code == 0
    page = assert_sound((table.parent / "x.html").read_text(encoding="utf-8"))
    assert name in page.text
    assert path.name.replace("'", "'\"'\"'") in page.text
    assert "img" not in page.names


def test_a_hostile_title_in_toml(table):
    toml = table.parent / "evil.toml"
    toml.write_text(
        f"title = '{HOSTILE[0]}'\nderivation = 'none'\ndata = 'data.csv'\ntarget = 'kind'\n"
        "[model]\nkind = 'soft-margin'\n[known]\nverdict = 'optimal'\noptimum = '1'\n",
        encoding="utf-8",
    )
    done = run("report", toml, "-o", "y.html", "--no-compare", "--no-pictures")
    assert done.exit_code == 0, done.output
    page = assert_sound((table.parent / "y.html").read_text(encoding="utf-8"))
    assert HOSTILE[0] in page.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "data.csv"], "must end in .html"),
        (["-o", "nowhere/x.html"], "there is no directory 'nowhere'"),
        (["--compare", "osqpp"], "there is no solver 'osqpp'"),
        (["--compare", "osqp", "--no-compare"], "say one or the other"),
        (["--solver", "none"], "there is no solver 'none'"),
    ],
)
def test_bad_options_are_refused_before_any_work(table, arguments, message):
    before = table.read_bytes()
    done = run("report", table.name, "--model", "soft-margin", *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert table.read_bytes() == before
    assert not list(table.parent.glob("*.html"))


# ---- completion -----------------------------------------------------------------------------------------


def completed(*words):
    """What a shell would offer after these words."""
    cls = get_completion_class("bash")
    assert cls is not None
    items = cls(main, {}, "convexcls", "_CONVEXCLS_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [item.value for item in items if item.type == "plain"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rep"], ["report"]),
        (["report", "twenty"], ["twenty_points", "twenty_points_least_squares", "twenty_points_perceptron"]),
        (["solve", "data.csv", "--model", "hard"], ["hard-margin"]),
        (["solve", "data.csv", "--model", "soft-margin", "--param", "l"], ["loss="]),
        (["solve", "two_points", "--solver", "dual:working"], ["dual:working-set"]),
        (["report", "two_points", "--compare", "cla"], ["clarabel"]),
        (["compare", "two_points", "-s", "osq"], ["osqp"]),
        (["report", "two_points", "--no-p"], ["--no-pictures"]),
        (["completion", "f"], ["fish"]),
    ],
)
def test_names_are_completed(words, expected):
    assert completed(*words) == expected


def test_files_are_completed_too():
    cls = get_completion_class("bash")
    items = cls(main, {}, "convexcls", "_CONVEXCLS_COMPLETE").get_completions(["solve"], "da")
    assert [item.type for item in items] == ["file"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_and_a_shell_can_read_it(shell, tmp_path):
    done = run("completion", shell)
    assert done.exit_code == 0
    assert f"_CONVEXCLS_COMPLETE={shell}_complete" in done.output
    if shutil.which(shell) and shell == "bash":
        script = tmp_path / "script"
        script.write_text(done.output, encoding="utf-8")
        checked = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


def test_an_unknown_shell_is_refused():
    assert run("completion", "cmd").exit_code == 2


# ---- what analysts look for, on ordinary tables ---------------------------------------------------------------------


def ordinary(n, labels, seed=3):
    """A table with text and numbers: its lines, and how many there are of each label."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(list(labels), n, p=list(labels.values()))
    moved = np.array([list(labels).index(label) for label in chosen])
    X = (rng.normal(size=(n, 2)) + 0.8 * moved[:, None]).round(2)
    sex = rng.choice(["f", "m"], n)
    lines = [f"{a},{b},{s},{label}" for (a, b), s, label in zip(X.tolist(), sex, chosen, strict=True)]
    return "\n".join(["age,dose,sex,kind", *lines, ""]), {k: int(np.sum(chosen == k)) for k in labels}


def made(folder, text, *arguments):
    (folder / "clinic.csv").write_text(text, encoding="utf-8")
    done = run("report", folder / "clinic.csv", "-t", "kind", "-o", folder / "r.html", "--no-compare", *arguments)
    assert done.exit_code == 0, done.output
    return assert_sound((folder / "r.html").read_text(encoding="utf-8"), written=str(folder))


def test_three_classes_have_everything_that_is_told_of_a_fit(tmp_path):
    text, counts = ordinary(90, {"low": 0.4, "mid": 0.3, "top": 0.3})
    page = made(tmp_path, text, "-m", "softmax")
    assert "clinic.csv" in page.text.partition("OPTIMAL")[0]  # the file's name in the title
    for caption in ("On the samples that it was fitted to", "Each sample by the fit"):
        rows = {row[0]: list(map(int, row[1:4])) for row in page.table(caption)[1:]}
        assert {label: sum(row) for label, row in rows.items()} == counts
    assert page.table("Coefficients by class")[0][0] == "coef"
    odds = page.table("Odds ratios")
    assert [row[1] for row in odds[1:]] == ["mid"] * 3 + ["top"] * 3
    assert "std err" in page.text
    assert "P>|z|" in page.text
    assert "never predicts" not in page.text


def test_imbalanced_classes_have_the_sentence_the_curves_and_the_odds(tmp_path):
    text, counts = ordinary(150, {"no": 0.93, "yes": 0.07})
    page = made(tmp_path, text, "-m", "logistic")
    assert sum(counts.values()) == 150
    assert "ROC curve of logistic regression" in page.text
    assert "Calibration of logistic regression" in page.text
    assert len(page.table("Each sample by the fit")) == 3
    assert len(page.table("Odds ratios")) == 4
    svm = made(tmp_path, text, "-m", "soft-margin", "-p", "C=0.01")
    assert "This classifier always predicts 'no'" in svm.text
    assert "class_weight=balanced" in svm.text
    assert "Leave-one-out: not unasked with 150 samples" in svm.text
    assert "ROC curve" in svm.text
    assert "row 0: " in svm.text  # marks say their row


def test_separated_classes_have_the_refusal_with_its_proof_in_place_of_standard_errors(tmp_path):
    text = "age,kind\n" + "".join(f"{k},{'no' if k < 6 else 'yes'}\n" for k in range(12))
    page = made(tmp_path, text, "-m", "logistic")
    assert "UNATTAINED" in page.text
    assert "There are none: " in page.text
    assert "separated" in page.text
