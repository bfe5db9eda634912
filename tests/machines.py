"""The tests on other machines: another BLAS kernel, another number of threads, another order of tests.

``make test-machines`` runs the whole suite in every cell of the matrix and prints a table; OPTIONS are pytest's, as in
``make test-machines OPTIONS=tests/problem``. What this processor cannot run is left out, with a word.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: The kernels of OpenBLAS, from one without vector instructions for sums of products to the widest.
KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
#: Products, sums and factors of sizes that take all ways through a kernel: exit status 0 where the processor can.
PROBE = """
import numpy as np, scipy.linalg
A = np.arange(300.0 * 70).reshape(300, 70) % 7 + np.eye(300, 70)
A @ A[0]; A[:, 0] @ A; A @ A.T; np.linalg.lstsq(A, A[:, 0], rcond=None)
scipy.linalg.cholesky(A.T @ A + np.eye(70)); scipy.linalg.svd(A); scipy.linalg.qr(A, pivoting=True)
"""
#: The tests that hang on rounding most: ties, traces, perfect fits, lost digits, ends of iterations.
SENSITIVE = (
    "tests/rows/test_scores.py",
    "tests/studies/test_inference.py",
    "tests/problem/test_geometry.py",
    "tests/solvers/rows/test_working_set.py",
    "tests/solvers/direct/test_least_squares.py::test_nearly_dependent_columns_keep_the_digits_of_qr",
    "tests/solvers/direct/test_least_squares.py::test_ill_conditioned_columns_are_left_to_qr",
    "tests/solvers/direct/test_least_squares.py::test_a_perfect_fit",
    "tests/solvers/smooth/test_newton.py::test_degenerate_data",
    "tests/solvers/smooth/test_newton.py::test_very_far_from_zero_is_no_falsehood",
    "tests/solvers/rows/test_interior_point.py::test_a_point_far_from_the_solution_is_not_settled",
    "tests/solvers/rows/test_interior_point.py::test_units_of_the_features",
    "tests/solvers/rows/test_interior_point.py::test_hard_margins_wide_and_narrow",
    "tests/plots/test_plots_images.py::test_a_picture_looks_as_it_did_and_a_spoilt_one_does_not[boundary_kernel]",
    "tests/plots/test_plots_images.py::test_a_picture_looks_as_it_did_and_a_spoilt_one_does_not[convergence]",
)


def environment(kernel: str, threads: int) -> dict[str, str]:
    """The environment of a child process on another machine."""
    own = {"OPENBLAS_CORETYPE": kernel} if kernel else {}
    return {**os.environ, "OMP_NUM_THREADS": str(threads), **own}


@cache
def core(kernel: str) -> str:
    """The kernel that OpenBLAS takes when asked for this one; several names may stand for the same. Empty where there
    is no choice, which is another BLAS or another kind of processor, or where the processor cannot run it."""
    verbose = {**environment(kernel, 1), "OPENBLAS_VERBOSE": "2"}
    done = subprocess.run([sys.executable, "-c", PROBE], env=verbose, capture_output=True, text=True)
    found = re.search(r"^Core: (\S+)", done.stderr + done.stdout, re.MULTILINE)
    return found[1] if found and done.returncode == 0 else ""


def run_tests(kernel: str, threads: int, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """pytest in a child process, one test after another unless the arguments say otherwise."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(kernel, threads), capture_output=True, text=True)


def cells() -> dict[str, tuple[str, int, tuple[str, ...]]]:
    """The matrix: every kernel with one and with two threads, then this machine's own with tests in another order and
    with one worker."""
    out = {}
    for kernel in KERNELS:
        for threads in (1, 2):
            out[f"{kernel}, {threads} thread(s)"] = (kernel, threads, ("-n", "auto"))
    for seed in ("1", "2"):
        out[f"own kernel, shuffled by {seed}"] = ("", 1, ("-n", "auto", "--shuffle", seed))
    out["own kernel, one worker"] = ("", 1, ("-n", "1"))
    out["own kernel, no workers"] = ("", 1, ("-p", "no:xdist"))
    return out


def main(options: tuple[str, ...]) -> int:
    """Run every cell, print a line for each and what failed in it; 1 where anything did."""
    seen: dict[tuple[str, int], str] = {}
    bad = 0
    for name, (kernel, threads, arguments) in cells().items():
        found = core(kernel) if kernel else "own"
        if not found:
            print(f"{name:<32} left out: this processor or this BLAS has no such kernel", flush=True)
            continue
        if kernel and (same := seen.setdefault((found, threads), name)) != name:
            print(f"{name:<32} left out: the same as {same}", flush=True)
            continue
        start = time.perf_counter()
        done = run_tests(kernel, threads, (*arguments, "-rfE", *options))
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
        bad += done.returncode != 0
        told = "passed" if done.returncode == 0 else f"{len(failed)} failed, exit status {done.returncode}"
        print(f"{name:<32} {told} ({time.perf_counter() - start:.0f} s)", flush=True)
        for test in failed:
            print(f"    {test}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
