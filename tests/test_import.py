"""Importing convexcls is light: heavy packages are loaded when they are used."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import convexcls as cc

HEAVY = [
    "cvxpy",
    "sklearn",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "osqp",
    "clarabel",
    "highspy",
    "rich",
    "click",
]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The top-level packages that ``import convexcls`` loads."""
    names = run("import sys, convexcls; print(*{name.partition('.')[0] for name in sys.modules})")
    return set(names.split())


@pytest.mark.parametrize("package", HEAVY)
def test_import_loads_no_heavy_package(loaded, package):
    assert "convexcls" in loaded
    assert package not in loaded


def test_declaring_a_problem_loads_no_heavy_package():
    code = (
        "import sys, convexcls as cc\n"
        "p = cc.SoftMarginSVM([[0.0], [1.0], [2.0]], ['a', 'a', 'b'])\n"
        "p.dual(), p.latex(), p == p\n"
        f"print(*(set({HEAVY}) & {{name.partition('.')[0] for name in sys.modules}}))"
    )
    assert run(code).split() == []


def test_dir_has_what_is_public_and_nothing_else():
    assert sorted({"__version__", *cc.__all__}) == dir(cc)
    assert not {"Any", "TYPE_CHECKING", "annotations", "import_module"} & set(dir(cc))


def test_import_prints_nothing_and_warns_of_nothing():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import convexcls"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_import_time(capsys):
    """Printed, not judged: a busy machine is no defect. The aim is at most 1.5 times what SciPy itself takes."""
    best = {"import scipy.linalg, scipy.sparse": float("inf"), "import convexcls": float("inf")}
    for _ in range(3):
        for code in best:
            start = time.perf_counter()
            run(code)
            best[code] = min(best[code], time.perf_counter() - start)
    scipy, own = best.values()
    with capsys.disabled():
        print(f"\nimport convexcls {own:.3f} s, scipy alone {scipy:.3f} s, ratio {own / scipy:.2f}")
    assert own > 0
