"""What has one entry a sample is not in the process that solves, or in a byte."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import convexcls as cc

N, D, ROWS = 300_000, 3, 4000
COEF = np.array([1.0, -2.0, 0.5])
#: At most so many bytes a sample, labels among them: a vector of doubles would be 8.
MODELS = {
    "least squares": (lambda *read: cc.LeastSquares(*read), 6.0),
    "ridge": (lambda *read: cc.LeastSquares(*read, l2=1.0), 6.0),
    "logistic": (lambda *read: cc.LogisticMLE(*read), 6.0),
    "softmax": (lambda *read: cc.SoftmaxMLE(*read, l2=1.0), 8.0),
    "hard margin": (lambda *read: cc.HardMarginSVM(*read), 12.0),
    "regression": (lambda *read: cc.LeastSquares(*read, coding="real"), 20.0),
}


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D))
    return X, X @ COEF + rng.logistic(size=N)


@pytest.mark.parametrize("name", MODELS)
def test_bytes_a_sample(name, samples):
    X, score = samples
    declare, most = MODELS[name]
    if name == "hard margin":
        X = X + np.where(X @ COEF > 0, 0.3, -0.3)[:, None] * COEF
        score = X @ COEF
    target = score if name == "regression" else (score > 0).astype(np.int8)
    read = cc.read_blocks(X, target=target, rows=ROWS, hold=0)
    small = 2_500_000  # some arrays of one block, and the rows that are worked on
    tracemalloc.start()
    try:
        solution = declare(*read).solve()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert solution.status == "optimal"
    assert peak <= small + most * N
