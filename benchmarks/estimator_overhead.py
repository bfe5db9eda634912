"""What an estimator costs beside its model: ``fit`` against declaring and solving the same, in the same run.

Run: python benchmarks/estimator_overhead.py [rounds] [n] [d]

The two take turns, so that a busy machine slows both. A fit declares and solves, so what it costs besides is measured
alone, with the solve left out: the least of many rounds, as a share of the least time of the solve. That is steadier
than the difference of the two times beside it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

import convexcls as cc

#: Each estimator with the model that it declares. The hard margin and the learning rule get classes that lie apart.
CASES: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "HardMarginSVC": (lambda: cc.HardMarginSVC(), cc.HardMarginSVM),
    "SoftMarginSVC": (lambda: cc.SoftMarginSVC(), cc.SoftMarginSVM),
    "LogisticClassifier": (lambda: cc.LogisticClassifier(), lambda X, y: cc.LogisticMLE(X, y, l2=1.0)),
    "SoftmaxClassifier": (lambda: cc.SoftmaxClassifier(), lambda X, y: cc.SoftmaxMLE(X, y, l2=2.0)),
    "LeastSquaresClassifier": (lambda: cc.LeastSquaresClassifier(), cc.LeastSquares),
    "LeastAbsoluteClassifier": (lambda: cc.LeastAbsoluteClassifier(), cc.LeastAbsolute),
    "PerceptronClassifier": (lambda: cc.PerceptronClassifier(method="lp"), cc.PerceptronCriterion),
    "FisherClassifier": (lambda: cc.FisherClassifier(), cc.FisherLDA),
    "GaussianClassifier": (lambda: cc.GaussianClassifier(), cc.GaussianMLE),
    "KernelSVC": (lambda: cc.KernelSVC(kernel="linear"), lambda X, y: cc.KernelSVM(X, y, kernel="linear", C=1.0)),
}
APART = ("HardMarginSVC",)
#: Kernel machines are run on fewer samples: their overhead is smaller still on more.
FEWER = {"KernelSVC": 1000}


def samples(name: str, n: int, d: int) -> tuple[Any, Any]:
    """Two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) / np.sqrt(d)
    if name not in APART:
        return X, (score + 0.5 * rng.normal(size=n) > 0).astype(int)
    keep = np.abs(score) > 0.2
    return X[keep], (score[keep] > 0).astype(int)


def least(action: Callable[[], Any], rounds: int) -> float:
    """The least time of some rounds, in seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Measure and print."""
    given = [int(text) for text in sys.argv[1:]]
    rounds, n, d = given + [5, 10_000, 50][len(given) :]
    print(f"n = {n}, d = {d}, best of {rounds} rounds   model ms     fit ms  besides ms  share")
    for name, (estimator, model) in CASES.items():
        X, y = samples(name, min(n, FEWER.get(name, n)), d)
        known = model(X, y).solve()
        bare = fit = declare = alone = float("inf")
        for _ in range(rounds):
            bare = min(bare, least(lambda X=X, y=y, model=model: model(X, y).solve(), 1))
            fit = min(fit, least(lambda X=X, y=y, estimator=estimator: estimator().fit(X, y), 1))
        with patch("convexcls.estimators.base.solve", lambda *_, known=known, **__: replace(known)):
            for _ in range(4 * rounds):
                declare = min(declare, least(lambda X=X, y=y, model=model: model(X, y), 1))
                alone = min(alone, least(lambda X=X, y=y, estimator=estimator: estimator().fit(X, y), 1))
        besides = alone - declare
        print(f"{name:<44}{1e3 * bare:10.2f}{1e3 * fit:11.2f}{1e3 * besides:12.2f}{besides / bare:7.1%}")


if __name__ == "__main__":
    main()
