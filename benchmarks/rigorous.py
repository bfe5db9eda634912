"""What rigorous bounds cost beside the solve that they judge: passes over the data, time, memory; how wide they are.

Run: python -m benchmarks.rigorous [rows] [model ...]

Samples are normal, 20 features; the default is a million rows and the hard margin. Time is processor time of one run of
each; machines are noisy: look at the ratio.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import convexcls as cc
from benchmarks.hard_margin import overlapping, separable
from convexcls.proofs.rigorous import bounds

FEATURES = 20


def models(n: int) -> dict[str, Callable[[], cc.Problem]]:
    """Each model, declared when it is asked for."""

    def of(declare: Callable[..., cc.Problem], data: dict[str, np.ndarray], **options: float) -> cc.Problem:
        return declare(data["X"], data["y"], **options)

    return {
        "hard-margin": lambda: of(cc.HardMarginSVM, separable(n, FEATURES)),
        "soft-margin": lambda: of(cc.SoftMarginSVM, overlapping(n, FEATURES), C=1.0),
        "logistic": lambda: of(cc.LogisticMLE, overlapping(n, FEATURES)),
        "least-squares": lambda: of(cc.LeastSquares, overlapping(n, FEATURES)),
        "least-absolute": lambda: of(cc.LeastAbsolute, overlapping(n, FEATURES)),
        "perceptron": lambda: of(cc.PerceptronCriterion, overlapping(n, FEATURES)),
        "fisher": lambda: of(cc.FisherLDA, overlapping(n, FEATURES)),
    }


def measure(name: str, problem: cc.Problem) -> None:
    """Solve, bound, print."""
    start = time.process_time()
    solution = problem.solve()
    solved = time.process_time() - start
    start = time.process_time()
    found = bounds(problem, solution.x, solution.multipliers)
    bounded = time.process_time() - start
    tracemalloc.start()
    bounds(problem, solution.x, solution.multipliers)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"{name:15s} {solution.status:10s} solve {solved:7.2f} s   bounds {bounded:6.2f} s   "
        f"ratio {bounded / solved:6.3f}   passes {found.passes}   width {found.width:.1e}   "
        f"memory {memory / 1e6:.0f} MB   {'; '.join(found.reasons)}"
    )


def main() -> None:
    """Measure what the command line names."""
    arguments = sys.argv[1:]
    n = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 1_000_000
    for name in arguments or ["hard-margin"]:
        measure(name, models(n)[name]())


if __name__ == "__main__":
    main()
