"""Logistic and softmax regression: the errors of a maximum-likelihood estimate.

With probabilities p_i of the labels but the first, the observed information is

    sum_i w_i (diag(p_i) - p_i p_i') ⊗ (x_i, 1)(x_i, 1)',

for two labels X'WX with W = diag(w_i p_i (1 - p_i)) (ESL 4.25). Its inverse is the covariance of the estimate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls.solution import Solution
from convexcls.studies.inference.design import Design, inverse_of_gram, triangle
from convexcls.studies.inference.distributions import chi_squared_tail, coefficient
from convexcls.studies.inference.summary import Summary, Test

Array = NDArray[np.float64]


def likelihood_summary(solution: Solution, confidence: float) -> Summary:
    """The summary of a proved logistic or softmax fit, each label against the first one."""
    data, parameters = solution.data, solution.problem.parameters
    assert data.labels is not None
    assert data.classes is not None
    design = Design.of(data, parameters["intercept"])
    covariance = inverse_of_gram(information_root(design, solution.predict_proba(data.samples)[design.kept]))
    errors = np.sqrt(np.diag(covariance))
    estimates = _against_first(solution, parameters["intercept"])
    several = len(data.labels) > 2
    equations = [label for label in data.labels[1:] for _ in design.names]
    rows = [
        coefficient(name, float(b), float(e), confidence, None, label if several else None)
        for name, b, e, label in zip(
            design.names * (len(data.labels) - 1), estimates.ravel(), errors, equations, strict=True
        )
    ]
    counts = np.bincount(data.classes, weights=data.weights, minlength=len(data.labels)).astype(float)
    n, reached, null = float(counts.sum()), -solution.objective, _null(counts, design.has_constant)
    df = float((design.width - design.has_constant) * (len(data.labels) - 1))
    ratio = max(2.0 * (reached - null), 0.0)
    return Summary(
        title=f"{solution.problem.name.capitalize()} by maximum likelihood",
        model=solution.problem.kind,
        solver=solution.solver,
        tolerance=solution.certificate.tol,
        statistic="z",
        coefficients=tuple(rows),
        covariance=covariance,
        n=n,
        df_model=df,
        df_residual=n - len(rows),
        log_likelihood=reached,
        null_log_likelihood=null,
        deviance=-2.0 * reached,
        r_squared=1.0 - reached / null if null else float("nan"),
        adjusted_r_squared=None,
        test=Test("likelihood ratio", ratio, (df,), chi_squared_tail(ratio, df) if df else float("nan")),
        aic=-2.0 * reached + 2.0 * len(rows),
        bic=-2.0 * reached + np.log(n) * len(rows),
        scale=1.0,
        confidence=confidence,
        notes=_notes(solution, design),
    )


def information_root(design: Design, probabilities: Array) -> Array:
    """A triangular R with R'R the observed information, without ever multiplying it out."""
    others = probabilities.shape[1] - 1
    width = others * design.width
    whole = (
        np.einsum("nkl,nj->nklj", _root(probabilities[where], design.weights[where]), block).reshape(-1, width)
        for where, block in design.blocks()
    )
    return triangle(whole, width)


def _root(probabilities: Array, weights: Array) -> Array:
    """For each sample an upper triangular U with U'U = w (diag(p) - pp') over the labels but the first. The labels are
    told apart one after the other, p_k against the rest, so that nothing cancels."""
    p = probabilities[:, 1:]
    others = p.shape[1]
    # what is left after k, the first label included: sums of what is left, never a difference
    rest = np.cumsum(np.column_stack([probabilities[:, 0], p[:, :0:-1]]), axis=1)[:, ::-1]
    out = np.zeros((len(p), others, others))
    for k in range(others):
        with np.errstate(divide="ignore", invalid="ignore"):
            pivot = np.sqrt(weights * p[:, k] * rest[:, k] / (rest[:, k] + p[:, k]))
            share = np.where(rest[:, k, None] > 0, p[:, k + 1 :] / rest[:, k, None], 0.0)
        pivot = np.where(rest[:, k] + p[:, k] > 0, pivot, 0.0)
        out[:, k, k] = pivot
        out[:, k, k + 1 :] = -pivot[:, None] * share
    return out


def _against_first(solution: Solution, intercept: bool) -> Array:
    """One row (coef, intercept) for each label but the first: its log-odds against the first."""
    coef, constant = np.atleast_2d(solution.coef), np.atleast_1d(solution.intercept)
    if len(coef) > 1:
        coef, constant = coef[1:] - coef[0], constant[1:] - constant[0]
    return np.column_stack([coef, constant]) if intercept else coef


def _null(counts: Array, has_constant: bool) -> float:
    """The log-likelihood of the labels' own frequencies; without a constant, that of even odds."""
    from scipy.special import xlogy

    n = float(counts.sum())
    return float(np.sum(xlogy(counts, counts / n))) if has_constant else -n * float(np.log(counts.size))


def _notes(solution: Solution, design: Design) -> tuple[str, ...]:
    labels = solution.data.labels
    assert labels is not None
    notes = [f"The log-odds of {' and '.join(map(repr, labels[1:3]))} against {labels[0]!r}."]
    if len(labels) > 3:
        notes = [f"For each label the log-odds against {labels[0]!r}."]
    if solution.data.weighted:
        notes.append("Weights count samples: a weight of 2 is a sample seen twice.")
    if not design.has_constant:
        notes.append("There is no constant: the null model gives every label the same probability.")
    return tuple(notes)
