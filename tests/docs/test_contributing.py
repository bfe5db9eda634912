"""CONTRIBUTING.md is followed to the letter, on a copy of the package, as a stranger would."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import json, sys
import convexcls as cc
from convexcls.models import by_kind
assert cc.__file__.startswith(sys.argv[1]), cc.__file__
X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.0], [3.0, 2.0], [0.5, 0.2], [2.5, 1.0]]
y = [0, 1, 0, 1, 0, 1]
quantile = cc.QuantileClassifier(X, y, tau=0.3)
solved, dual = quantile.solve(), quantile.dual().solve()
ridge = cc.LogisticMLE(X, y, l2=1.0)
rows = cc.compare(ridge, ["newton", "heavy-ball"], tol=1e-5).rows
try:
    cc.HardMarginSVM(X, y).solve("heavy-ball")
    refused = ""
except cc.SolverRefused as error:
    refused = str(error)
print(json.dumps({
    "kind": "quantile" in by_kind(),
    "status": solved.status, "objective": solved.objective, "dual": dual.objective,
    "explained": "slack" in quantile.explain(),
    "listed": "heavy-ball" in [s.name for s in cc.list_solvers()],
    "verdicts": [r.status for r in rows], "objectives": [r.objective for r in rows],
    "refused": refused,
}))
"""


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """What the new classifier and the new solver do, in a copy where the page has been followed."""
    copy = tmp_path_factory.mktemp("stranger")
    shutil.copytree(ROOT / "convexcls", copy / "convexcls", ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    written = 0
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        title, body = block.split("\n", 1)
        name = title.removeprefix("# ").strip()
        if name.endswith(".py"):
            assert not (copy / name).exists(), f"{name} is there already: the page is out of date"
            (copy / name).write_text(body, encoding="utf-8")
        else:
            registry = copy / "convexcls/solvers/__init__.py"
            lines = registry.read_text(encoding="utf-8")
            opening = "REGISTRY: dict[str, str] = {\n"
            assert opening in lines
            registry.write_text(lines.replace(opening, opening + body), encoding="utf-8")
        written += 1
    assert written == 3
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(copy)], capture_output=True, text=True, cwd=copy, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_a_new_classifier_is_one_file(followed):
    assert followed["kind"]
    assert followed["status"] == "optimal"
    assert followed["objective"] == pytest.approx(followed["dual"], abs=1e-9)
    assert followed["explained"]


def test_a_new_solver_is_one_file_and_one_line(followed):
    assert followed["listed"]
    assert followed["verdicts"] == ["optimal", "optimal"]
    assert followed["objectives"][0] == pytest.approx(followed["objectives"][1], rel=1e-6)
    assert "does not take the hard-margin SVM" in followed["refused"]
