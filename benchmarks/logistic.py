"""Logistic regression by maximum likelihood: tall, wide and sparse."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import expit

from benchmarks import accuracy
from benchmarks.bars import Bar
from benchmarks.logistic_peers import (
    GLUM,
    LIBLINEAR,
    SKGLM,
    SKLEARN,
    STATSMODELS,
    cvxpy_contenders,
    sklearn_contenders,
)
from benchmarks.ours import ours
from benchmarks.race import Case, Contender, Data

FASTEST = ("sklearn:*", "glum")


def correlated(n: int, d: int) -> Data:
    """Normal samples, neighbouring features correlated by 1/2, labels drawn from the model; no penalty."""
    rng = np.random.default_rng(1)
    correlation = 0.5 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    X = rng.standard_normal((n, d)) @ np.linalg.cholesky(correlation).T
    truth = rng.standard_normal(d) / np.sqrt(d) * 2
    return labelled(X, rng.random(n) < expit(X @ truth + 0.3))


def scattered(n: int, d: int) -> Data:
    """Fifty normal entries a row in random columns; ridge penalty 1 and no intercept, so that liblinear, which would
    penalise it, solves the same problem."""
    rng = np.random.default_rng(2)
    a_row = min(50, d)
    columns = rng.integers(0, d, size=n * a_row)
    entries = (rng.standard_normal(n * a_row), columns, np.arange(0, n * a_row + 1, a_row))
    X = sparse.csr_matrix(entries, shape=(n, d))
    X.sum_duplicates()
    truth = rng.standard_normal(d) / np.sqrt(a_row) * 2
    return labelled(X, rng.random(n) < expit(X @ truth), l2=1.0, intercept=False)


def labelled(X: object, positive: np.ndarray, l2: float = 0.0, intercept: bool = True) -> Data:
    """Both codings of the labels, so that no contender has to convert them."""
    y = np.where(positive, 1.0, -1.0)
    return {"X": X, "y": y, "labels": positive.astype(float), "l2": l2, "intercept": intercept}


def tall_or_wide(
    name: str, n: int, d: int, quick: tuple[int, int] | None, bar: float, cap: float, *more: Contender
) -> Case:
    """One of the dense cases."""
    return Case(
        name,
        correlated,
        {"n": n, "d": d},
        {"n": quick[0], "d": quick[1]} if quick else None,
        1e-8,
        "largest gradient / n",
        accuracy.logistic,
        (*ours("LogisticMLE", "newton"), *sklearn_contenders(*SKLEARN), LIBLINEAR, GLUM, *more),
        (Bar("ratio", bar, FASTEST),),
        cap=cap,
    )


CASES = (
    tall_or_wide(
        "logistic",
        200_000,
        50,
        (10_000, 20),
        3.0,
        25.0,
        STATSMODELS,
        SKGLM,
        *cvxpy_contenders("CLARABEL", "SCS", "ECOS"),
    ),
    tall_or_wide("logistic", 200_000, 200, None, 3.0, 30.0),
    tall_or_wide("logistic, wide", 20_000, 1000, None, 1.5, 30.0),
    Case(
        "logistic, sparse, l2 = 1",
        scattered,
        {"n": 100_000, "d": 20_000},
        {"n": 4_000, "d": 1_000},
        1e-8,
        "largest gradient / n",
        accuracy.logistic,
        (
            *ours("LogisticMLE", "newton", l2=1.0, intercept=False),
            *sklearn_contenders("lbfgs", "newton-cg", "sag", "saga"),
            LIBLINEAR,
            GLUM,
            SKGLM,
        ),
        (Bar("ratio", 1.0, ("sklearn:*",)),),
        cap=30.0,
    ),
)
