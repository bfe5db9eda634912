"""The README's Python runs as it is written, and its figures are true."""

import re
from pathlib import Path

import numpy as np
import pytest

import convexcls as cc

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_first_example_runs(capsys):
    names = {}
    exec(BLOCKS[0], names)
    assert "Wolfe" not in capsys.readouterr().err
    s = names["s"]
    assert s.status == "optimal"
    assert s.objective == pytest.approx(10 / 9)
    assert abs(s.gap) < 1e-14


def test_a_problem_without_a_model():
    lines = BLOCKS[1].strip().splitlines()
    call, told = lines[-1].split("#")
    names = {"cc": cc}
    exec("\n".join(lines[:-1]), names)
    assert told.strip() == "array([1., 0.])"
    np.testing.assert_allclose(eval(call, names), [1.0, 0.0], atol=1e-12)


def test_every_name_in_the_table_is_there():
    for name in ("HardMarginSVM", "MaxMargin", "SoftMarginSVM", "LogisticMLE", "LeastSquares", "LeastAbsolute",
                 "PerceptronCriterion", "FisherLDA", "EmpiricalRisk"):  # fmt: skip
        assert f"`{name}`" in README
        assert hasattr(cc, name)
    for info in cc.solvers():
        assert info.name.startswith("cvxpy:") or f"`{info.name}`" in README


def test_the_gallery_is_as_large_as_it_says():
    from convexcls import gallery

    count = len(gallery.entries())
    assert count >= int(re.search(r"the gallery, (\d+) instances", README).group(1))
