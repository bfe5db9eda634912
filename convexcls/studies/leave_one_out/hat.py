"""Least squares and ridge without each sample, from one factorization.

With B the rows sqrt(w_i) (x_i, 1) above those of the penalty, B = Q R and leverages h_i = ‖Q_i‖^2 (the diagonal of the
hat matrix), the fit without sample i gives it (ESL 7.64)

    f_-i(x_i) = t_i - (t_i - f(x_i)) / (1 - h_i).

Where h_i is nearly 1, the difference 1 - h_i has lost its digits, and those few samples (the leverages add up to the
number of coefficients) are fitted again. Where it is 1, no other sample says anything of f(x_i).
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.models import LeastSquares
from convexcls.studies.leave_one_out.result import Outcome, Progress

#: A direction with a singular value below this fraction of the largest one counts as missing: see ``closed_form``.
RANK_TOL = 1e-13
#: Above this leverage a sample is fitted again.
HIGH = 0.999
#: How far a row may stick out of the space of the others, relative to its length, and still count as inside.
OUTSIDE = 1e-9
NOT_DETERMINED = "without it the fit is not determined there: no other sample has what is special about it"


def left_out_by_hat(problem: LeastSquares, progress: Progress) -> Outcome:
    """The scores of every sample without it."""
    rows, penalty = design(problem)
    data = problem.data
    target, root = data.coded(problem.parameters["coding"]), np.sqrt(data.weights)
    Q = span(np.vstack([rows * root[:, None], penalty]))[0][: data.n]
    leverage = np.square(Q).sum(axis=1)
    residual = root * target - Q @ (Q.T @ (root * target))
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted = target - residual / root / (1.0 - leverage)
    again = [int(i) for i in np.flatnonzero((leverage > HIGH) | (root == 0))]
    reasons = {}
    for k, i in enumerate(again):
        value = _fitted_without(i, rows, penalty, root, target)
        fitted[i] = np.nan if value is None else value
        if value is None:
            reasons[i] = NOT_DETERMINED
        progress(k + 1, data.n)
    progress(data.n, data.n)
    return Outcome("hat", fitted - problem.threshold, reasons, fits=len(again))


def design(problem: LeastSquares) -> tuple[Array, Array]:
    """The rows (x_i, 1) and those of the penalty, sqrt(l2) I without the intercept, in units of the largest entry of
    each column. (Dense: the factorization is, whatever the data are.)"""
    term = problem.terms[0]
    rows = problem.rows(term).to_dense()
    penalty = np.zeros((problem.data.d, problem.size))
    penalty[:, problem.layout["coef"]] = np.sqrt(problem.parameters["l2"]) * np.eye(problem.data.d)
    penalty = penalty[np.any(penalty, axis=1)]
    size = np.maximum(np.abs(rows).max(axis=0), np.abs(penalty).max(axis=0, initial=0.0))
    size = np.where(size > 0, size, 1.0)
    return rows / size, penalty / size


def span(matrix: Array) -> tuple[Array, Array, Array]:
    """U, S, V' of the matrix, without the directions that are missing from its rows."""
    U, S, Vt = np.linalg.svd(matrix, full_matrices=False)
    there = S / (S.max(initial=0.0) or 1.0) > RANK_TOL
    return U[:, there], S[there], Vt[there]


def inside(row: Array, Vt: Array) -> bool:
    """Whether a row lies in the space that the rows of Vt span."""
    left = row - Vt.T @ (Vt @ row)
    return float(np.linalg.norm(left)) <= OUTSIDE * float(np.linalg.norm(row))


def _fitted_without(i: int, rows: Array, penalty: Array, root: Array, target: Array) -> float | None:
    others = np.arange(len(rows)) != i
    B = np.vstack([rows[others] * root[others, None], penalty])
    U, S, Vt = span(B)
    if not inside(rows[i], Vt):
        return None
    t = np.concatenate([(root * target)[others], np.zeros(len(penalty))])
    x = Vt.T @ ((U.T @ t) / S)
    x = x + Vt.T @ ((U.T @ (t - B @ x)) / S)  # refined once
    return float(rows[i] @ x)
