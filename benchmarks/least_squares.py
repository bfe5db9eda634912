"""Least squares on a tall matrix."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import accuracy
from benchmarks.bars import Bar
from benchmarks.logistic_peers import with_ones
from benchmarks.ours import ours
from benchmarks.race import Answer, Case, Contender, Data


def targets(n: int, d: int) -> Data:
    """Normal samples and a linear target with noise."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((n, d))
    return {"X": X, "y": X @ rng.standard_normal(d) + 1.0 + rng.standard_normal(n)}


def by_lapack(data: Data, _tol: float, *, driver: str) -> Answer:
    """scipy.linalg.lstsq with this driver on (X, 1), without the check for finite numbers; the column of ones is added
    outside of the clock."""
    from scipy.linalg import lstsq

    x: Any = lstsq(data["design"], data["y"], lapack_driver=driver, check_finite=False)[0]
    return Answer(x[:-1], x[-1])


def by_numpy(data: Data, _tol: float) -> Answer:
    """numpy.linalg.lstsq on (X, 1), the column of ones added outside of the clock."""
    x = np.linalg.lstsq(data["design"], data["y"], rcond=None)[0]
    return Answer(x[:-1], x[-1])


def by_sklearn(data: Data, _tol: float) -> Answer:
    """LinearRegression, as it is."""
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(data["X"], data["y"])
    return Answer(model.coef_, model.intercept_)


def by_ridge(data: Data, _tol: float) -> Answer:
    """Ridge with alpha = 0 and the Cholesky solver: the normal equations."""
    from sklearn.linear_model import Ridge

    model = Ridge(alpha=0.0, solver="cholesky").fit(data["X"], data["y"])
    return Answer(model.coef_, model.intercept_)


CASES = (
    Case(
        "least squares",
        targets,
        {"n": 200_000, "d": 200},
        {"n": 20_000, "d": 40},
        1e-10,
        "largest cosine of column and residual",
        accuracy.least_squares,
        (
            *ours("LeastSquares", "closed-form", coding="real"),
            *(Contender(f"scipy:{d}", partial(by_lapack, driver=d), prepare=with_ones) for d in ("gelsd", "gelsy")),
            Contender("numpy", by_numpy, prepare=with_ones),
            Contender("sklearn:LinearRegression", by_sklearn),
            Contender("sklearn:Ridge (normal equations)", by_ridge),
        ),
        (Bar("ratio", 2.0, ("scipy:gelsd",)),),
        cap=40.0,
    ),
)
