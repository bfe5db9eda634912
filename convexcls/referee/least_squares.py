"""Ridge, RidgeClassifier and LinearRegression: half of the sum of squares that scikit-learn writes,

    minimise  1/2 sum_i c_i (coef'x_i + intercept - t_i)^2 + alpha/2 ‖coef‖^2,

which has the same minimiser. The intercept is not penalised. Several targets are as many programs.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.data import DataError, finite_doubles
from convexcls.models import LeastSquares
from convexcls.problem import Constraint, Problem
from convexcls.referee.claim import Claim, Fit, altered, fitted_point
from convexcls.rows import DiagonalRows

#: The solvers of Ridge that stop by a tolerance.
ITERATIVE = ("sag", "saga", "sparse_cg", "lsqr", "lbfgs")
#: What the others leave of the objective on data that are not nearly dependent.
EXACT_SOLVER = 1e-6


def ridge(fit: Fit) -> list[Claim]:
    """The program of a Ridge or a LinearRegression, which has no penalty; one for each target."""
    targets = _targets(fit)
    alphas = np.broadcast_to(np.asarray(fit.options.get("alpha", 0.0), dtype=float), (len(targets),))
    return [_claim(fit, t, float(alphas[k]), k, subject) for k, (subject, t) in enumerate(targets)]


def ridge_classifier(fit: Fit) -> list[Claim]:
    """The program of a RidgeClassifier: targets -1 and +1, of several classes one against the rest."""
    if np.ndim(fit.target) == 2 and np.shape(fit.target)[1] > 1:
        raise ValueError("a RidgeClassifier of several label columns is not covered: certify one column at a time")
    alpha, weights = float(fit.options["alpha"]), fit.all_weights()
    two = fit.classes.size == 2
    return [
        _claim(fit, np.where(fit.y == label, 1.0, -1.0), alpha, k, "" if two else f"{label} against the rest", weights)
        for k, label in enumerate(fit.classes[1:] if two else fit.classes)
    ]


def _targets(fit: Fit) -> list[tuple[str, Array]]:
    """The columns of real targets."""
    y = fit.target.toarray() if hasattr(fit.target, "toarray") else np.asarray(fit.target)
    if y.ndim == 0 or y.shape[0] != fit.n:
        raise DataError(f"X has {fit.n} rows but y has shape {y.shape}: give one target for each row")
    y = finite_doubles(y, "y")
    if y.ndim == 1:
        return [("", y)]
    return [(f"target {k}" if y.shape[1] > 1 else "", y[:, k]) for k in range(y.shape[1])]


def _claim(fit: Fit, target: Array, alpha: float, k: int, subject: str, weights: Array | None = None) -> Claim:
    """The program of one target, with the k-th row of coef_."""
    weights = fit.weights if weights is None else weights
    intercept = bool(fit.options["fit_intercept"])
    base = LeastSquares(fit.X, target, l2=alpha, coding="real", intercept=intercept, sample_weight=weights)
    problem = _nonnegative(base) if fit.options.get("positive") else base
    coef = np.atleast_2d(fit.array("coef_"))
    if coef.shape[1] != fit.X.shape[1] or k >= coef.shape[0]:
        raise ValueError(f"coef_ of this {fit.name} is {coef.shape}: it does not fit X, {fit.X.shape}, and y")
    offsets = np.broadcast_to(fit.array("intercept_"), (coef.shape[0],))
    point = fitted_point(problem, coef[k], offsets[k])
    findings = (*fit.precision(), *_solver_findings(fit))
    usual = fit.tolerance if fit.options.get("solver") in ITERATIVE else EXACT_SOLVER
    return Claim(problem, _named(fit, alpha), point, subject=subject, findings=findings, usual=usual)


def _nonnegative(problem: LeastSquares) -> Problem:
    """The same program with coef >= 0."""
    rows = {"coef": DiagonalRows.identity(problem.variable("coef").size, -1.0)}
    sign = Constraint("coef_sign", rows, r"\mu", "vector", unit=1.0)
    return altered(problem, f"{problem.name}, coef >= 0", constraints=[sign])


def _solver_findings(fit: Fit) -> list[str]:
    """What the solvers of these estimators are known for."""
    out = []
    if fit.name == "LinearRegression" and getattr(fit.estimator, "rank_", fit.X.shape[1]) < fit.X.shape[1]:
        out.append(
            f"the fit took X to have rank {fit.estimator.rank_} of {fit.X.shape[1]}: directions with small "
            "singular values (see tol) were left out"
        )
    if fit.options.get("solver") in ITERATIVE:
        out += fit.stopped()
    return out


def _named(fit: Fit, alpha: float) -> str:
    kind = "least squares" if alpha == 0 else f"least squares with the ridge penalty alpha = {alpha:g} (half of both)"
    coded = " on targets -1 and +1" if fit.name.startswith("RidgeClassifier") else ""
    intercept = "an intercept that is not penalised" if fit.options["fit_intercept"] else "no intercept"
    positive = ", coefficients not below 0" if fit.options.get("positive") else ""
    return f"{fit.name} solves {kind}{coded}, with {intercept}{positive}"
