"""LinearDiscriminantAnalysis: coef_ is a multiple of S^-1 (mean_2 - mean_1), S the covariance within classes.

As a convex program (Fisher's): minimise 1/2 w'S w subject to (mean_2 - mean_1)'w = 1. The direction of coef_, scaled to
satisfy the equation, is a feasible point of it; what its own scale says is the divisor of the covariance, n or n - K.
Of K classes the differences of the rows of coef_ span the K - 1 directions (see ``FisherLDA``). With shrinkage, or with
priors of the user's own, S is the matrix covariance_ that the estimator keeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.fits.claim import Claim, Fit, altered, completed
from convexcls.models import FisherLDA
from convexcls.problem import UNIT_SHARE, Constraint, Label, Problem, Variable
from convexcls.problem.values import gradient
from convexcls.rows import DenseRows


def linear_discriminant_analysis(fit: Fit) -> list[Claim]:
    """The program of a LinearDiscriminantAnalysis."""
    if getattr(fit.X, "format", None):
        raise ValueError("LinearDiscriminantAnalysis takes dense samples: give X as an array")
    classes, coef = fit.classes, fit.coef
    base = FisherLDA(fit.X, fit.y)
    differences = coef if classes.size == 2 else coef[1:] - coef[0]
    own = _given_covariance(fit)
    problem = base if own is None else _with_covariance(base, *own)
    point, multipliers, scale = _direction(problem, base, differences)
    findings = [*fit.precision(), *_means(fit), *_intercept(fit)]
    if own is None:
        named, more = _divisor(fit, scale, classes.size)
        findings += more
    else:
        named = "the covariance that it keeps as covariance_ (shrunk, or weighted by its priors)"
    words = f"{fit.name} solves Fisher's discriminant for {classes.size} classes, with {named}"
    return [Claim(problem, words, point, multipliers, "of the direction", findings=tuple(findings), usual=1e-6)]


def _given_covariance(fit: Fit) -> tuple[Array, str] | None:
    """covariance_, where it is not the plain one of the samples."""
    options = fit.options
    if options["solver"] == "svd":
        return None
    counts = np.array([np.sum(fit.y == label) for label in fit.classes])
    plain = np.allclose(fit.array("priors_"), counts / fit.n, rtol=1e-12, atol=0)
    if options["shrinkage"] in (None, 0, 0.0) and options.get("covariance_estimator") is None and plain:
        return None
    matrix = fit.array("covariance_")
    return (matrix + matrix.T) / 2.0, "covariance_"


def _with_covariance(base: FisherLDA, matrix: Array, symbol: str) -> Problem:
    """Fisher's program with a given covariance: the constraints are those of the samples."""
    variables = [Variable(v.name, v.size, v.symbol) for v in base.variables]
    separations = [
        Constraint(c.name, c.entries, c.symbol, c.kind, dict(c.labels), c.rhs, relation="==") for c in base.constraints
    ]
    top = max(float(np.trace(matrix)), 1e-300)
    difference = separations[0].entries[variables[0].name].to_dense()
    unit = UNIT_SHARE * 0.5 * top / max(float((difference**2).sum()), 1e-300) / matrix.shape[0]
    return altered(
        base,
        "Fisher discriminant with a given covariance",
        variables=variables,
        quadratic={v.name: DenseRows(matrix) for v in variables},
        terms=(),
        constraints=separations,
        unit=unit,
        quadratic_symbol=r"\Sigma",
        linear_labels={v.name: Label("", symbol) for v in variables},
    )


def _direction(problem: Problem, base: FisherLDA, differences: Array) -> tuple[Array, dict[str, Array], float]:
    """The feasible point with the span of the differences, its multipliers, and the scale of coef_: by how much the
    matrix of the program is larger than the one that coef_ was solved with."""
    means = base.constraints[0].entries[base.variables[0].name].to_dense()  # one row a direction
    spanned = differences[list(base.chosen)].T
    values = np.linalg.solve((means @ spanned).T, spanned.T)  # row j: (mean_k - mean_1)'w = 1 for k = j + 1, else 0
    x = np.concatenate(list(values))
    slope = gradient(problem, x)
    multipliers: dict[str, Array] = {}
    for c, v in zip(problem.constraints, problem.variables, strict=True):
        solved = np.linalg.lstsq(means.T, slope[problem.layout[v.name]], rcond=None)[0]
        multipliers[c.name] = np.asarray(-solved, dtype=float)
    first = spanned[:, 0] / (np.linalg.norm(spanned[:, 0]) or 1.0)
    where = problem.layout[problem.variables[0].name]
    pulled = gradient(problem, completed(problem, {problem.variables[0].name: spanned[:, 0]}))[where]
    scale = float(first @ pulled) / float(first @ means[0]) if float(first @ means[0]) else np.nan
    return x, multipliers, scale


def _divisor(fit: Fit, scale: float, count: int) -> tuple[str, list[str]]:
    """Whether coef_ belongs to the scatter divided by n or by n - K."""
    for divisor, words in ((fit.n, "n (maximum likelihood)"), (fit.n - count, "n - K (unbiased)")):
        if abs(scale - divisor) <= 1e-6 * divisor:
            return f"the covariance within classes divided by {words}, {divisor}", []
    return "the covariance within classes", [
        f"the length of coef_ belongs to a covariance divided by {scale:.6g}, which is neither n = {fit.n} nor "
        f"n - K = {fit.n - count}: the direction may be right, the probabilities are not"
    ]


def _class_means(fit: Fit) -> Array:
    return np.vstack([fit.X[fit.y == label].mean(axis=0) for label in fit.classes])


def _means(fit: Fit) -> list[str]:
    """Whether means_ are those of the samples."""
    kept = getattr(fit.estimator, "means_", None)
    if kept is None:
        return []
    found = _class_means(fit)
    size = np.abs(fit.X).max(axis=0, initial=0.0)
    if np.shape(kept) == found.shape and np.all(np.abs(kept - found) <= 1e-9 * np.maximum(size, 1e-300)):
        return []
    return ["means_ are not the class means of X: X is not the data of the fit, or they were changed"]


def _intercept(fit: Fit) -> list[str]:
    """Whether the intercept is the one of Gaussian classes with these coefficients: halfway between the means, moved by
    the log-odds of the priors. Of several classes up to a number that all share."""
    means, coef = _class_means(fit), fit.coef
    log_priors, found = np.log(fit.array("priors_")), fit.array("intercept_")
    if fit.classes.size == 2:
        expected: Any = np.array([-0.5 * float((means[0] + means[1]) @ coef[0]) + log_priors[1] - log_priors[0]])
    else:  # coef_k = S^-1 (mean_k - c): scores differ from -1/2 mean_k' S^-1 mean_k by the same amount for all classes
        middle = (means[:, None, :] + means[None, :, :]) / 2.0
        gap = coef[:, None, :] - coef[None, :, :]
        expected = (-(middle * gap).sum(axis=2) + log_priors[:, None] - log_priors[None, :]).mean(axis=1)
        found = found - found.mean()
    size = 1.0 + float(np.abs(means @ coef.T).max(initial=0.0))
    k = int(np.argmax(np.abs(found - expected)))
    if abs(found[k] - expected[k]) <= 1e-6 * size:
        return []
    return [
        f"intercept_ is {found[k]:.6g}, but halfway between the means with the log-odds of the priors it is "
        f"{expected[k]:.6g}"
    ]
