"""The README's Python runs as it is written, and its figures are true."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import convexcls as cc
from convexcls.cli import main

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def without_rounding(text):
    """The text with residuals, which differ from machine to machine, left out, and where they are largest."""
    return re.sub(r"\d\.\de[+-]\d\d| \(worst at [^)]*\)", "", " ".join(text.split()))


def test_the_ten_lines_print_what_they_say(capsys):
    names = {}
    exec(BLOCKS[0], names)
    shown = README.split(BLOCKS[0])[1].split("```")[2]
    assert without_rounding(capsys.readouterr().out) == without_rounding(shown)
    assert names["s"].status == "optimal"
    assert names["s"].objective == pytest.approx(10 / 9)
    assert abs(names["s"].gap) < 1e-14


def test_the_three_commands_print_what_they_say(tmp_path, monkeypatch):
    (block,) = re.findall(r"```\n(\$ convexcls fit .*?)```", README, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problems").symlink_to(Path(__file__).resolve().parents[2] / "problems")
    for part in block.split("$ convexcls ")[1:]:
        command, shown = part.split("\n", 1)
        found = CliRunner().invoke(main, command.split(), env={"COLUMNS": None, "NO_COLOR": "1"})
        assert found.exit_code == 0
        words = (" ".join(re.sub(r"\d[\d./]*\d", "#", text).split()) for text in (found.output, shown))
        assert next(words) == next(words)


def test_a_problem_without_a_model():
    lines = BLOCKS[2].strip().splitlines()
    call, told = lines[-1].split("#")
    names = {"cc": cc}
    exec("\n".join(lines[:-1]), names)
    assert told.strip() == "array([1., 0.])"
    np.testing.assert_allclose(eval(call, names), [1.0, 0.0], atol=1e-12)


def test_several_classes_kernels_statistics_and_rules(capsys):
    names = {}
    for block in BLOCKS:
        exec(block, names)
    printed = capsys.readouterr().out
    flowers, kinds = names["flowers"], names["kinds"]
    assert names["s"].status == "optimal"
    assert names["s"].coef.shape == (3, 2)
    assert cc.SoftmaxMLE(flowers, kinds).solve().status == "unattained"
    assert cc.GaussianMLE(flowers, kinds).solve().status == "optimal"
    assert cc.FisherLDA(flowers, kinds).solve().estimates.holds()
    assert names["k"].objective == pytest.approx(0.25)
    assert names["k"].support.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(names["k"].dual_coef, [-1 / 8, -1 / 8, 1 / 8, 1 / 8])
    assert "two lines that cross at (0, 0)" in printed
    assert "P>|z|" in printed
    assert "errors          8 of 32" in printed
    assert names["run"].status == "optimal"
    assert names["never"].rule_report.cycle is not None
    assert names["never"].rule_report.proof_verifies()


def test_every_name_in_the_table_is_there():
    for name in (
        "HardMarginSVM",
        "MaxMargin",
        "SoftMarginSVM",
        "LogisticMLE",
        "LeastSquares",
        "LeastAbsolute",
        "PerceptronCriterion",
        "FisherLDA",
        "EmpiricalRisk",
        "KernelSVM",
        "SoftmaxMLE",
        "GaussianMLE",
    ):
        assert f"`{name}`" in README
        assert hasattr(cc, name)
    for info in cc.list_solvers():
        assert info.name.startswith("cvxpy:") or f"`{info.name}`" in README


def test_the_gallery_is_as_large_as_it_says():
    from convexcls import gallery

    count = len(gallery.entries())
    assert count >= int(re.search(r"the gallery, (\d+) instances", README).group(1))
