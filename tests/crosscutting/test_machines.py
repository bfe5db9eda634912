"""The most sensitive tests under two other BLAS kernels, in child processes: see ``machines.py``."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from machines import SENSITIVE, core, environment, run_tests

NARROW, WIDER = "Prescott", ("SkylakeX", "Haswell", "Nehalem")
SCORES = """
import numpy as np
from convexcls.rows.scores import linear_scores
rng = np.random.default_rng(0)
X, coef = rng.normal(size=(500, 37)), rng.normal(size=(3, 37))
print([value.hex() for value in linear_scores(X, coef, coef[:, 0]).ravel().tolist()])
"""


def others():
    """The kernel without vectors, and the widest one that is not this machine's own."""
    if not core(NARROW):
        pytest.skip("there is no choice of kernels: the BLAS is not OpenBLAS for many processors, or not on x86-64")
    return NARROW, next((kernel for kernel in WIDER if core(kernel) not in ("", core(""))), NARROW)


@pytest.mark.parametrize("which", [0, 1], ids=["narrow", "wide"])
def test_sensitive_tests_pass_under_another_kernel(which):
    done = run_tests(others()[which], 1, ("-p", "no:xdist", *SENSITIVE))
    assert done.returncode == 0, done.stdout[-4000:]
    assert len("".join(re.findall(r"^([.x]+) *\[", done.stdout, re.MULTILINE))) >= 100


def test_scores_have_the_same_bits_under_every_kernel():
    told = {
        subprocess.run(
            [sys.executable, "-c", SCORES], env=environment(kernel, 1), capture_output=True, text=True, check=True
        ).stdout
        for kernel in ("", *others())
    }
    assert len(told) == 1


def test_a_kernel_that_does_not_exist_is_left_out(monkeypatch):
    monkeypatch.setattr("machines.PROBE", "import sys; sys.exit(1)")
    core.cache_clear()
    assert core("Prescott") == ""
    core.cache_clear()
