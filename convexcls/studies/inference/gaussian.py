"""Least squares as the Gaussian linear model t_i = coef'x_i + intercept + error: the errors of its estimate.

    covariance = sigma^2 (X'WX)^-1,    sigma^2 = RSS / (n - p)        (ESL 3.8)

Weights are those of weighted least squares: the variance of error i is sigma^2 / w_i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls.solution import Solution
from convexcls.studies.inference.design import Design, inverse_of_gram, triangle
from convexcls.studies.inference.distributions import coefficient, f_tail
from convexcls.studies.inference.summary import Summary, Test

Array = NDArray[np.float64]

#: Residuals of at most this many roundings of what they were added up from are zero.
ROUNDINGS = 16
NAN = float("nan")


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
        model=solution.problem.kind,
        solver=solution.solver,
        tolerance=solution.certificate.tol,
        statistic="t",
        coefficients=tuple(
            coefficient(name, float(b), float(e), confidence, float(left))
            for name, b, e in zip(design.names, estimates, errors, strict=True)
        ),
        covariance=scale * unscaled,
        n=float(n),
        df_model=float(df),
        df_residual=float(left),
        log_likelihood=reached,
        null_log_likelihood=null,
        deviance=rss,
        r_squared=1.0 - rss / total if total else NAN,
        adjusted_r_squared=1.0 - (n - design.has_constant) / left * rss / total if total and left else NAN,
        test=_f_test(rss, total, df, left),
        aic=-2.0 * reached + 2.0 * p,
        bic=-2.0 * reached + float(np.log(n)) * p,
        scale=scale,
        confidence=confidence,
        notes=_notes(solution, design, rss, left),
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


def _notes(solution: Solution, design: Design, rss: float, left: int) -> tuple[str, ...]:
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
