"""Softmax regression of ten classes with a ridge penalty."""

from __future__ import annotations

import numpy as np

from benchmarks import accuracy
from benchmarks.bars import Bar
from benchmarks.logistic_peers import SKLEARN, sklearn_contenders
from benchmarks.ours import ours
from benchmarks.race import Case, Data


def several_classes(n: int, d: int, K: int) -> Data:
    """Normal samples, the class drawn from the softmax of random scores."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, K)) * (2 / np.sqrt(d))
    classes = np.argmax(scores + rng.gumbel(size=(n, K)), axis=1).astype(float)
    return {"X": X, "y": classes, "labels": classes, "l2": 1.0, "intercept": True}


CASES = (
    Case(
        "softmax, l2 = 1",
        several_classes,
        {"n": 50_000, "d": 50, "K": 10},
        {"n": 2_000, "d": 10, "K": 4},
        1e-8,
        "largest gradient / n",
        accuracy.softmax_gradient,
        (*ours("SoftmaxMLE", "newton", l2=1.0), *sklearn_contenders(*SKLEARN)),
        (Bar("ratio", 2.0, ("sklearn:*",)),),
        cap=40.0,
        warm={"n": 300, "d": 4, "K": 3},
    ),
)
