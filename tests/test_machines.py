"""The most sensitive tests under two other BLAS kernels, in child processes: see ``machines.py``."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from machines import SENSITIVE, core, environment, run_tests

KERNELS = ("Prescott", "Nehalem")
SCORES = """
import numpy as np
from convexcls.rows.scores import linear_scores
rng = np.random.default_rng(0)
X, coef = rng.normal(size=(500, 37)), rng.normal(size=(3, 37))
print([value.hex() for value in linear_scores(X, coef, coef[:, 0]).ravel().tolist()])
"""


def there(kernel):
    if not core(kernel):
        pytest.skip(f"there is no kernel {kernel}: the BLAS is not OpenBLAS for many processors, or this is not x86-64")


@pytest.mark.parametrize("kernel", KERNELS)
def test_sensitive_tests_pass_under_another_kernel(kernel):
    there(kernel)
    done = run_tests(kernel, 1, ("-p", "no:xdist", *SENSITIVE))
    assert done.returncode == 0, done.stdout[-4000:]
    assert len("".join(re.findall(r"^([.x]+) *\[", done.stdout, re.MULTILINE))) >= 100


def test_scores_have_the_same_bits_under_every_kernel():
    there(KERNELS[0])
    told = {
        subprocess.run(
            [sys.executable, "-c", SCORES], env=environment(kernel, 1), capture_output=True, text=True, check=True
        ).stdout
        for kernel in ("", *KERNELS)
    }
    assert len(told) == 1


def test_a_kernel_that_does_not_exist_is_left_out(monkeypatch):
    monkeypatch.setattr("machines.PROBE", "import sys; sys.exit(1)")
    core.cache_clear()
    assert core("Prescott") == ""
    core.cache_clear()
