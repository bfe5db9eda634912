"""What an exact proof costs beside the solve that it starts from, and the check of the proof.

Run: python benchmarks/exact.py [rows] [features] [model ...]

Times are processor time of one run each; machines are noisy: look at the ratios. The bar is ten times the solve.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import convexcls as cc
from convexcls.proofs.claims.optimum import check
from convexcls.proofs.exact.prove import prove

#: A proof may take so many times as long as the solve.
BAR = 10.0


def problems(n: int, d: int) -> dict[str, Callable[[], cc.Problem]]:
    """Each model on normal samples: classes apart for the hard margin, overlapping for the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + 0.3
    apart = np.abs(score) > 0.3
    y = np.sign(score + rng.normal(size=n))
    target = score + rng.normal(size=n)
    return {
        "hard margin": lambda: cc.HardMarginSVM(X[apart], np.sign(score[apart])),
        "soft margin": lambda: cc.SoftMarginSVM(X, y),
        "squared hinge": lambda: cc.SoftMarginSVM(X, y, loss="squared_hinge"),
        "least squares": lambda: cc.LeastSquares(X, y),
        "ridge": lambda: cc.LeastSquares(X, y, l2=0.1),
        "least absolute": lambda: cc.LeastAbsolute(X, target, coding="real"),
        "perceptron": lambda: cc.PerceptronCriterion(X, y),
        "fisher": lambda: cc.FisherLDA(X, y),
    }


def measure(problem: cc.Problem) -> tuple[float, float, float, str]:
    """Seconds to solve, to prove and to check, and the outcome."""
    begun = time.process_time()
    answer = problem.solve()
    solved = time.process_time()
    proof = prove(problem, answer.x, answer.multipliers)
    proved = time.process_time()
    holds = not check(problem, proof)
    checked = time.process_time()
    return solved - begun, proved - solved, checked - proved, f"{proof.verdict}, gap {proof.gap}, checked: {holds}"


def main() -> None:
    """Measure and print."""
    n, d = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((1, 100_000), (2, 20)))
    chosen = sys.argv[3:]
    print(f"{n} x {d}, seconds of processor time")
    print(f"{'model':<16}{'solve':>9}{'prove':>9}{'ratio':>8}{'check':>9}   outcome")
    for name, declare in problems(n, d).items():
        if chosen and name not in chosen:
            continue
        solve, proof, checked, outcome = measure(declare())
        ratio = proof / solve
        mark = "" if ratio <= BAR else f"  above {BAR:g}"
        print(f"{name:<16}{solve:9.3f}{proof:9.3f}{ratio:8.1f}{checked:9.3f}   {outcome}{mark}", flush=True)


if __name__ == "__main__":
    main()
