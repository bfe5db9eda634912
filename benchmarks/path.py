"""The soft margin along C: each point from the one before, each from nothing, and by scikit-learn.

    python benchmarks/path.py [samples features] ...

All are measured alike: the objective at the classifier found, relative to the best known. At each C scikit-learn's SVC
is given tolerances from 1e-3 to 1e-8 until it comes within 1e-8 of the optimum; only that last fit is counted. Its
steps are limited, since for large C it may take hours.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import SVC

import convexcls as cc

POINTS = np.geomspace(1e-3, 1e3, 25)
AIM = 1e-8
MOST_STEPS = 5_000_000


def samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two noisy classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) + 2 * rng.normal(size=n) > 0, 1, 0)


def objective(X: np.ndarray, y: np.ndarray, C: float, coef: np.ndarray, intercept: float) -> float:
    """1/2 ‖coef‖^2 + C sum of the hinge losses."""
    margins = (2.0 * y - 1.0) * (X @ coef + intercept)
    return float(0.5 * coef @ coef + C * np.maximum(0.0, 1.0 - margins).sum())


def timed(work: Callable[[], Any], repeat: int = 3) -> tuple[Any, float]:
    """What the work gives, and the least processor time that it took: other work on the machine is not counted."""
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return found, best


def by_sklearn(X: np.ndarray, y: np.ndarray, C: float, best: float) -> tuple[float, float]:
    """Seconds of the first fit that reaches the aim, and its excess over the best objective."""
    for tol in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        svc = SVC(kernel="linear", C=C, tol=tol, cache_size=1000, max_iter=MOST_STEPS)
        model, seconds = timed(lambda svc=svc: svc.fit(X, y), repeat=1)
        excess = objective(X, y, C, model.coef_[0], model.intercept_[0]) / best - 1
        if excess <= AIM:
            break
    return seconds, excess


def run(n: int, d: int) -> None:
    """Print the times of the whole path."""
    X, y = samples(n, d)
    warm, warm_seconds = timed(lambda: cc.path(cc.SoftMarginSVM, X, y, C=POINTS))
    cold, cold_seconds = timed(lambda: [cc.SoftMarginSVM(X, y, C=C).solve() for C in POINTS], repeat=1)
    best = [objective(X, y, C, s.coef, s.intercept) for C, s in zip(POINTS, warm.solutions, strict=True)]
    other = [objective(X, y, C, s.coef, s.intercept) for C, s in zip(POINTS, cold, strict=True)]
    theirs = [by_sklearn(X, y, C, b) for C, b in zip(POINTS, best, strict=True)]
    seconds, worst = sum(s for s, _ in theirs), max(excess for _, excess in theirs)
    print(f"{n} samples, {d} features, {POINTS.size} values of C from {POINTS[0]:g} to {POINTS[-1]:g}")
    print(f"  from the one before   {warm_seconds:8.3f} s  {warm.statuses.count('optimal')} of {len(warm)} proved")
    agree = np.abs(np.array(other) / best - 1).max()
    print(
        f"  from nothing          {cold_seconds:8.3f} s  ratio {cold_seconds / warm_seconds:.1f}, same to {agree:.0e}"
    )
    reached = sum(excess <= AIM for _, excess in theirs)
    print(
        f"  scikit-learn's SVC    {seconds:8.3f} s  ratio {seconds / warm_seconds:.1f}, {reached} of {len(theirs)} "
        f"within {AIM:.0e} of the optimum, the worst {worst:.0e} above it"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # scikit-learn tells that it stopped early; so do we
    cc.SoftMarginSVM([[0.0], [1.0]], [0, 1]).solve()  # imports are not part of the times
    sizes = list(map(int, sys.argv[1:])) or [300, 10, 1000, 20, 4000, 20]
    for n, d in zip(sizes[::2], sizes[1::2], strict=True):
        run(n, d)
