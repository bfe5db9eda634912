"""Every sample left out exactly: least squares and ridge from one factorization, any model by solving it again.

Least squares: with B the rows sqrt(w_i) (x_i, 1) above those of the penalty, B = Q R and leverages h_i = ‖Q_i‖^2 (the
diagonal of the hat matrix), the fit without sample i gives it (ESL 7.64)

    f_-i(x_i) = t_i - (t_i - f(x_i)) / (1 - h_i).

Where h_i is nearly 1, the difference 1 - h_i has lost its digits, and those few samples (the leverages add up to the
number of coefficients) are fitted again. Where it is 1, no other sample says anything of f(x_i).

Any model: declared and solved again; every verdict is proved. Three shortcuts, each proved like any answer. Where the
answer does not depend on a sample (no support point of a support vector machine), the full solution stays optimal. A
Farkas vector that does not use the sample, and a direction that moves others too, still prove that there is no answer.
Everything else is solved, from the full solution where a solver can start there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.data import DataError
from convexcls.models import LeastSquares, Model
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.claims.direction import check_direction
from convexcls.proofs.claims.farkas import check_farkas
from convexcls.proofs.kkt.attainment import PROOF, attainment, needs_attainment_proof
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify
from convexcls.solution import Solution
from convexcls.studies.leave_one_out.result import Outcome, Progress

#: A direction with a singular value below this fraction of the largest one counts as missing: see ``closed_form``.
RANK_TOL = 1e-13
#: Above this leverage a sample is fitted again.
HIGH = 0.999
#: How far a row may stick out of the space of the others, relative to its length, and still count as inside.
OUTSIDE = 1e-9
NOT_DETERMINED = "without it the fit is not determined there: no other sample has what is special about it"


#: The full solution counts as that without a sample only where it meets the conditions to rounding: near is not enough.
SAME_SOLUTION = 1e-12


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
    return in_units(rows, penalty[np.any(penalty, axis=1)])[:2]


def in_units(rows: Array, penalty: Array) -> tuple[Array, Array, Array]:
    """Both in units of the largest entry of each column, and these units."""
    size = np.maximum(np.abs(rows).max(axis=0), np.abs(penalty).max(axis=0, initial=0.0))
    size = np.where(size > 0, size, 1.0)
    return rows / size, penalty / size, size


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


# ---- any model ------------------------------------------------------------------------------------------


def left_out_by_refit(problem: Model, full: Solution, tol: float, progress: Progress) -> Outcome:
    """The scores by the model declared without each sample."""
    data, fits = problem.data, 0
    found: list[Any] = []
    reasons = {}
    for i in range(data.n):
        score, solved = refit_one(problem, full, i, tol)
        if isinstance(score, str):
            reasons[i] = score
        found.append(score)
        fits += solved
        progress(i + 1, data.n)
    several = data.labels is not None and len(data.labels) > 2
    nothing = (len(data.labels or ()),) if several else ()
    shape = next((np.shape(score) for score in found if not isinstance(score, str)), nothing)
    scores = np.array([np.full(shape, np.nan) if isinstance(score, str) else score for score in found])
    return Outcome("refit", scores, reasons, fits=fits)


def refit_one(problem: Model, full: Solution, i: int, tol: float) -> tuple[Any, bool]:
    """The score of a sample by the fit without it, or, in words, why there is none; and whether it took a solver."""
    data = problem.data
    if data.n == 1:
        return "without it no sample is left", False
    if data.labels is not None and data.classes is not None and np.sum(data.classes == data.classes[i]) == 1:
        return f"without it no sample of the class {data.labels[data.classes[i]]!r} is left", False
    others = np.delete(np.arange(data.n), i)
    try:
        rest, sample = problem.holding_out([i])
    except DataError as error:
        return f"without it the model cannot be declared: {error}", False
    solution = _inherited(rest, full, others, data.n, tol)
    solved = solution is None
    if solution is None:
        solution = rest.solve(tol=tol, start=full if full.x is not None else None).unless_interrupted()
    if solution.status != "optimal":
        return f"the fit without it is {solution.status}", solved
    try:
        return solution.decision_function(sample)[0], solved
    except NoAnswer as error:
        return f"the fit without it has no scores: {error}", solved


def _inherited(rest: Model, full: Solution, others: Indices, n: int, tol: float) -> Solution | None:
    """What the answer to the full problem proves of the problem without a sample; None where it proves nothing."""
    proof: dict[str, Any] = {}
    x, multipliers = None, None
    if full.status == "optimal" and full.x is not None:
        x, multipliers = _restricted_point(rest, full.values, others, n), _restricted(rest, full.multipliers, others, n)
        if x is None or multipliers is None or not _holds(rest, x, multipliers, min(tol, SAME_SOLUTION)):
            return None
    elif full.certificate.farkas is not None:
        proof["farkas"] = _restricted(rest, full.certificate.farkas.multipliers, others, n)
        if proof["farkas"] is None or check_farkas(rest, proof["farkas"]) is None:
            return None
    elif full.certificate.direction is not None:
        proof["direction"] = _restricted_point(rest, full.problem.split(full.certificate.direction.x), others, n)
        if proof["direction"] is None or check_direction(rest, proof["direction"]) is None:
            return None
    else:
        return None
    certificate = certify(rest, x, multipliers, tol, **proof)
    return Solution(rest, "the solution with all samples", certificate, certificate.x, certificate.multipliers or {})


def _holds(rest: Problem, x: Array, multipliers: Mapping[str, Array], tol: float) -> bool:
    if not check_kkt(rest, x, multipliers).holds(tol):
        return False
    return not needs_attainment_proof(rest) or attainment(rest, x, multipliers) >= PROOF


def _restricted_point(rest: Problem, values: Mapping[str, Array], others: Indices, n: int) -> Array | None:
    """The point over the variables of the smaller problem, those with an entry a sample without one."""
    parts = [_fitting(values.get(v.name), v.size, others, n) for v in rest.variables]
    return None if any(part is None for part in parts) else np.concatenate([p for p in parts if p is not None])


def _restricted(rest: Problem, multipliers: Mapping[str, Array], others: Indices, n: int) -> dict[str, Array] | None:
    sizes = {c.name: c.size for c in rest.constraints} | {b.name: b.size + 1 for b in rest.norm_bounds}
    out = {name: _fitting(multipliers.get(name), size, others, n) for name, size in sizes.items()}
    kept = {name: z for name, z in out.items() if z is not None}
    return kept if len(kept) == len(out) else None


def _fitting(values: Array | None, size: int, others: Indices, n: int) -> Array | None:
    """The values themselves where they fit, without one sample's where they are by sample, None otherwise."""
    if values is None:
        return None
    if values.size == size:
        return np.array(values)
    width = size // others.size
    if values.size == width * n and size == width * others.size:
        return np.array(values.reshape(n, width)[others].ravel())
    return None
