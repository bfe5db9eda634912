"""The optimal separating hyperplane: on separable data, on a million samples, and the proof that there is none."""

from __future__ import annotations

import numpy as np

from benchmarks import accuracy
from benchmarks.bars import Bar
from benchmarks.ours import ours
from benchmarks.quadratic_peers import cvxpy_contenders, raw_contenders
from benchmarks.race import Answer, Case, Contender, Data

BACKENDS = ("CLARABEL", "PIQP", "QOCO", "ECOS", "DAQP", "PROXQP", "HIGHS", "OSQP", "SCS")
RAW = ("quadprog", "daqp", "piqp", "clarabel", "proxqp", "osqp")


def separable(n: int, d: int) -> Data:
    """Normal samples, pushed apart by 0.1 to each side of a hyperplane."""
    rng = np.random.default_rng(0)
    normal = rng.standard_normal(d)
    normal /= np.linalg.norm(normal)
    X = rng.standard_normal((n, d))
    y = np.where(X @ normal >= 0, 1.0, -1.0)
    X += (0.1 * y)[:, None] * normal
    return {"X": X, "y": y}


def overlapping(n: int, d: int) -> Data:
    """The same with one label in a hundred turned round: no hyperplane separates."""
    data = separable(n, d)
    turned = np.random.default_rng(1).random(n) < 0.01
    turned[:2] = True
    data["y"] = np.where(turned, -data["y"], data["y"])
    return data


def libsvm(data: Data, tol: float) -> Answer:
    """SVC with C = 1e8, which no multiplier reaches, and 1 GB of cache; tol is the loosest of 1e-3 to 1e-9 that reaches
    the accuracy."""
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=1e8, tol=tol, cache_size=1000).fit(data["X"], data["y"])
    alpha = np.zeros(data["y"].size)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return Answer(model.coef_[0], model.intercept_[0], alpha)


def common_point(data: Data, _tol: float) -> Answer:
    """scipy's linprog (HiGHS) on: weights >= 0 with sum 1 and sum_i weight_i y_i (x_i, 1) = 0, at its defaults."""
    from scipy.optimize import linprog

    X, y = data["X"], data["y"]
    rows = np.vstack([(y[:, None] * X).T, y, np.ones(y.size)])
    found = linprog(np.zeros(y.size), A_eq=rows, b_eq=np.append(np.zeros(rows.shape[0] - 1), 1.0), method="highs")
    if found.x is None:
        raise RuntimeError(found.message)
    return Answer(None, multipliers=np.maximum(found.x, 0.0))


CASES = (
    Case(
        "hard margin",
        separable,
        {"n": 20_000, "d": 50},
        {"n": 2_000, "d": 10},
        1e-8,
        "relative KKT",
        accuracy.hard_margin,
        (
            *ours("HardMarginSVM", "working-set"),
            *raw_contenders(*RAW),
            Contender("libsvm", libsvm, (1e-3, 1e-5, 1e-7, 1e-9)),
            *cvxpy_contenders(*BACKENDS),
        ),
        (Bar("ratio", 4.0, ("quadprog", "daqp", "piqp", "clarabel", "libsvm")), Bar("ratio", 40.0, ("cvxpy:*",))),
        cap=30.0,
    ),
    Case(
        "hard margin, large",
        separable,
        {"n": 1_000_000, "d": 100},
        {"n": 50_000, "d": 20},
        1e-8,
        "relative KKT",
        accuracy.hard_margin,
        ours("HardMarginSVM", "working-set"),
        (
            Bar("passes", 40.0, words="<= 40 passes X @ w"),
            Bar("memory", 0.5, words="adds less than half of X in memory"),
        ),
        cap=60.0,
    ),
    Case(
        "hard margin, not separable",
        overlapping,
        {"n": 100_000, "d": 50},
        {"n": 5_000, "d": 10},
        1e-12,
        "what is left of the Farkas sum",
        accuracy.not_separable,
        (*ours("HardMarginSVM", "working-set"), Contender("HiGHS (linprog)", common_point)),
        (Bar("rows", 52.0, words="Farkas proof on <= 52 rows"), Bar("passes", 60.0, words="<= 60 passes X @ w")),
        cap=40.0,
    ),
)
