"""The errors of estimates, from the design and the fit.

Least squares as the Gaussian linear model t_i = coef'x_i + intercept + error:

    covariance = sigma^2 (X'WX)^-1,    sigma^2 = RSS / (n - p)        (ESL 3.8)

Weights are those of weighted least squares: the variance of error i is sigma^2 / w_i.

Logistic and softmax regression: with probabilities p_i of the labels but the first, the observed information is

    sum_i w_i (diag(p_i) - p_i p_i') ⊗ (x_i, 1)(x_i, 1)',

for two labels X'WX with W = diag(w_i p_i (1 - p_i)) (ESL 4.25). Its inverse is the covariance of the estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.rows.column_basis import triangle
from convexcls.solution import Solution
from convexcls.studies.inference.design import Design, inverse_of_gram
from convexcls.studies.inference.summary import Summary, Test, chi_squared_tail, coefficient, f_tail

#: Residuals of at most this many roundings of what they were added up from are zero.
ROUNDINGS = 16
NAN = float("nan")


def _shared(
    solution: Solution, confidence: float, reached: float, null: float, coefficients: int, n: float
) -> dict[str, Any]:
    """What every summary has: who solved it, and how likely the fit is for its number of coefficients."""
    return {
        "model": solution.problem.kind,
        "solver": solution.solver,
        "tolerance": solution.certificate.tol,
        "confidence": confidence,
        "log_likelihood": reached,
        "null_log_likelihood": null,
        "aic": -2.0 * reached + 2.0 * coefficients,
        "bic": -2.0 * reached + float(np.log(n)) * coefficients,
    }


def least_squares_summary(solution: Solution, confidence: float) -> Summary:
    """The summary of a proved least-squares fit."""
    data, parameters = solution.data, solution.problem.parameters
    design = Design.of(data, parameters["intercept"])
    target = data.coded(parameters["coding"])[design.kept]
    estimates = np.append(solution.coef, solution.intercept) if parameters["intercept"] else solution.coef
    n, p, weights = design.kept.size, design.width, design.weights
    rss = float(weights @ _residuals(design, target, estimates) ** 2)
    mean = float(weights @ target / weights.sum()) if design.has_constant else 0.0
    total = float(weights @ (target - mean) ** 2)
    left, df = n - p, p - int(design.has_constant)
    scale = rss / left if left else NAN
    root = triangle((np.sqrt(weights[where])[:, None] * block for where, block in design.blocks()), p)
    unscaled = inverse_of_gram(root)
    errors = np.sqrt(scale) * np.sqrt(np.diag(unscaled))
    reached, null = (_log_likelihood(value, weights) for value in (rss, total))
    return Summary(
        title="Least squares, the Gaussian linear model",
        statistic="t",
        coefficients=tuple(
            coefficient(name, float(b), float(e), confidence, float(left))
            for name, b, e in zip(design.names, estimates, errors, strict=True)
        ),
        covariance=scale * unscaled,
        n=float(n),
        df_model=float(df),
        df_residual=float(left),
        deviance=rss,
        r_squared=1.0 - rss / total if total else NAN,
        adjusted_r_squared=1.0 - (n - design.has_constant) / left * rss / total if total and left else NAN,
        test=_f_test(rss, total, df, left),
        scale=scale,
        **_shared(solution, confidence, reached, null, p, n),
        notes=_least_squares_notes(solution, design, rss, left),
    )


def _residuals(design: Design, target: Array, estimates: Array) -> Array:
    """target - fit, all zero where all are lost in the rounding of what they were added up from.

    Estimates are as accurate as the largest rows allow. Before a small row says that the fit is not perfect, they are
    corrected by least squares in which every row counts in units of its own rounding.
    """
    rows = design.rows[design.kept]
    residuals = np.asarray(target - rows @ estimates)
    rounding = ROUNDINGS * np.finfo(float).eps * (np.abs(target) + abs(rows) @ np.abs(estimates))
    left = residuals
    if np.any(np.abs(left) > rounding) and np.all(np.abs(left) <= rounding.max()):
        unit = np.where(rounding > 0, rounding, 1.0)
        scaled = rows.to_dense() / unit[:, None]
        sizes = np.linalg.norm(scaled, axis=0)
        sizes[sizes == 0] = 1.0
        correction = np.linalg.lstsq(scaled / sizes, residuals / unit, rcond=None)[0] / sizes
        left = residuals - rows @ correction
    return np.zeros_like(residuals) if np.all(np.abs(left) <= rounding) else residuals


def _log_likelihood(rss: float, weights: Array) -> float:
    """That of the Gaussian model with variance RSS/n, the one that maximises it."""
    if rss == 0:
        return float("inf")
    n = weights.size
    return float(-n / 2 * (np.log(2 * np.pi * rss / n) + 1.0) + np.log(weights).sum() / 2)


def _f_test(rss: float, total: float, df: int, left: int) -> Test:
    """That all coefficients but the constant are 0."""
    if not df or not left or not total:
        return Test("F", NAN, (float(df), float(left)), NAN)
    with np.errstate(divide="ignore"):
        statistic = float((total - rss) / df / np.float64(rss / left))
    return Test("F", statistic, (float(df), float(left)), f_tail(statistic, df, left))


def _least_squares_notes(solution: Solution, design: Design, rss: float, left: int) -> tuple[str, ...]:
    coding = solution.problem.parameters["coding"]
    labels, notes = solution.data.labels, []
    if labels is not None:
        coded = "-1 and +1" if coding == "pm1" else "0 and 1"
        notes.append(
            f"The labels {labels[0]!r} and {labels[1]!r} are coded {coded}: their errors are not Gaussian and not of "
            "one variance, so the standard errors and tests are approximate (the linear probability model)."
        )
    if solution.data.weighted:
        notes.append("Weights are inverse variances: the error of a sample has variance scale / weight.")
        if design.kept.size < solution.data.n:
            notes.append(f"{solution.data.n - design.kept.size} samples of weight 0 are not counted.")
    if not design.has_constant:
        notes.append("There is no constant: R-squared and F compare with the model that is 0 throughout.")
    if not left:
        notes.append("There are as many coefficients as samples: nothing is left to estimate the errors from.")
    elif rss == 0:
        notes.append("The fit is perfect to rounding: the errors are 0 and the likelihood has no bound.")
    return tuple(notes)


# ---- labels ---------------------------------------------------------------------------------------------


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
        statistic="z",
        coefficients=tuple(rows),
        covariance=covariance,
        n=n,
        df_model=df,
        df_residual=n - len(rows),
        deviance=-2.0 * reached,
        r_squared=1.0 - reached / null if null else float("nan"),
        adjusted_r_squared=None,
        test=Test("likelihood ratio", ratio, (df,), chi_squared_tail(ratio, df) if df else float("nan")),
        scale=1.0,
        **_shared(solution, confidence, reached, null, len(rows), n),
        notes=_likelihood_notes(solution, design),
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


def _likelihood_notes(solution: Solution, design: Design) -> tuple[str, ...]:
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
