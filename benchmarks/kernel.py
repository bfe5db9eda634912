"""The support vector machine with the RBF kernel, at libsvm's usual accuracy and at a finer one."""

from __future__ import annotations

import numpy as np

from benchmarks import accuracy
from benchmarks.bars import Bar
from benchmarks.ours import ours
from benchmarks.race import Answer, Case, Contender, Data

#: libsvm keeps its kernel in single precision: below this it counts at what it reaches.
SINGLE = 1e-5


def shells(n: int, d: int) -> Data:
    """Normal samples; the label says with noise whether a sample is far from the centre. gamma is 1/d."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, d))
    far = (X**2).sum(axis=1) - d + 2.0 * X[:, 0] + np.sqrt(d) * rng.standard_normal(n)
    return {"X": X, "y": np.where(far > 0, 1.0, -1.0), "C": 1.0, "gamma": 1.0 / d}


def libsvm(data: Data, tol: float) -> Answer:
    """SVC with the RBF kernel and 1 GB of cache; tol is the loosest of 10, 1, 1/10 and 1/100 times the accuracy that
    reaches it."""
    from sklearn.svm import SVC

    model = SVC(kernel="rbf", gamma=data["gamma"], C=data["C"], tol=tol, cache_size=1000).fit(data["X"], data["y"])
    alpha = np.zeros(data["y"].size)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return Answer(None, model.intercept_[0], alpha)


def case(target: float, bar: float) -> Case:
    """The race at one accuracy."""
    ladder = tuple(10.0**-k for k in range(2, 11) if 10.0**-k >= target * 1e-3)
    return Case(
        f"RBF SVM, C = 1, KKT {target:g}",
        shells,
        {"n": 5_000, "d": 20},
        {"n": 600, "d": 20},
        target,
        "worst pair's violation",
        accuracy.kernel,
        (
            *ours("KernelSVM", "smo", ladder=ladder, kernel="rbf", C=1.0, gamma=1 / 20),
            Contender("libsvm", libsvm, tuple(target * 10.0**-k for k in range(-1, 3))),
        ),
        (Bar("ratio", bar, ("libsvm",), at_own_accuracy=target < SINGLE),),
        cap=60.0,
        warm={"n": 200},
    )


CASES = (case(1e-3, 1.0), case(1e-6, 3.0))
