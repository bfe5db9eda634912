"""The linear models of scikit-learn: LinearSVC, LogisticRegression, Ridge, RidgeClassifier and LinearRegression.

liblinear appends a constant feature B = intercept_scaling to every sample and penalises its coefficient like any other:

    minimise  1/2 ‖(w, w_B)‖^2 + C sum_i loss(y_i (w'x_i + B w_B)),      intercept = B w_B

so the intercept is drawn towards 0, which the support vector machine of the textbooks does not do.

LogisticRegression, divided by C:

    minimise  sum_i c_i loss_i + (1 - l1_ratio)/(2C) ‖coef‖^2 + l1_ratio/C ‖coef‖_1

with the logistic loss of two classes or the softmax loss of several, whose penalty is over all classes. The intercept
is not penalised, except by solver="liblinear", which appends a constant feature as above.

Ridge, RidgeClassifier and LinearRegression, half of the sum of squares that scikit-learn writes:

    minimise  1/2 sum_i c_i (coef'x_i + intercept - t_i)^2 + alpha/2 ‖coef‖^2,

which has the same minimiser. The intercept is not penalised. Several targets are as many programs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.data import DataError, finite_doubles
from convexcls.fits.claim import Claim, Fit, altered, completed, fitted_point
from convexcls.models import EmpiricalRisk, LeastSquares, LogisticMLE, SoftMarginSVM, SoftmaxMLE
from convexcls.problem import Constraint, Problem, Variable
from convexcls.rows import DiagonalRows

LOSSES = {"hinge": "hinge", "squared_hinge": "squared-hinge"}


def linear_svc(fit: Fit) -> list[Claim]:
    """The program of a LinearSVC; of several classes one for each class against the rest."""
    options = fit.options
    if options["multi_class"] != "ovr":
        raise ValueError(
            "LinearSVC with multi_class='crammer_singer' solves one joint program that is not covered: "
            "use multi_class='ovr'"
        )
    findings = (*fit.stopped(), *fit.precision(), *penalised_intercept(fit))
    C, out = float(options["C"]), []
    for subject, labels, weights, k in fit.against_rest():
        samples, coef = with_constant(fit, *fit.plane(k))
        problem: Problem
        if options["penalty"] == "l2":
            problem = SoftMarginSVM(samples, labels, C=C, loss=options["loss"], intercept=False, sample_weight=weights)
        else:
            problem = EmpiricalRisk(
                samples, labels, loss=options["loss"], l1=1.0, intercept=False, sample_weight=C * weights
            )
        point = completed(problem, {"coef": coef})
        out.append(Claim(problem, _svc_named(fit), point, subject=subject, findings=findings, usual=10 * fit.tolerance))
    return out


def _svc_named(fit: Fit) -> str:
    options = fit.options
    penalty = "with an l1 penalty " if options["penalty"] == "l1" else ""
    intercept = "without an intercept"
    if options["fit_intercept"]:
        scaling = options["intercept_scaling"]
        intercept = f"with a PENALISED intercept (liblinear appends a constant feature {scaling:g})"
    return (
        f"LinearSVC solves the {LOSSES[options['loss']]} support vector machine {penalty}{intercept}, "
        f"C = {options['C']:g}"
    )


def with_constant(fit: Fit, coef: Array, intercept: float) -> tuple[Any, Array]:
    """The samples as liblinear sees them, and the coefficients with that of the constant feature."""
    if not fit.options["fit_intercept"]:
        return fit.X, coef
    scaling = float(fit.options["intercept_scaling"])
    column = np.full((fit.n, 1), scaling)
    joined = sparse.hstack([fit.X, sparse.csr_array(column)], format="csr") if sparse.issparse(fit.X) else None
    return np.hstack([fit.X, column]) if joined is None else joined, np.append(coef, intercept / scaling)


def penalised_intercept(fit: Fit) -> list[str]:
    """The finding that liblinear's intercept is penalised."""
    if not fit.options["fit_intercept"]:
        return []
    scaling = float(fit.options["intercept_scaling"])
    return [
        f"the intercept is penalised: liblinear appends a constant feature intercept_scaling = {scaling:g} and "
        "treats its coefficient like the others; a larger intercept_scaling weakens that"
    ]


# ---- logistic regression ------------------------------------------------------------------------------


#: The solvers that end where no slope exceeds the tolerance.
SLOPES = ("lbfgs", "newton-cg", "newton-cholesky")


def logistic_regression(fit: Fit) -> list[Claim]:
    """The program of a LogisticRegression, one also for several classes."""
    findings = (*fit.stopped(), *fit.precision())
    l2, l1, words = _penalties(fit)
    free, weights = bool(fit.options["fit_intercept"]), fit.all_weights(weighted=True)
    if fit.classes.size > 2:
        return [_several(fit, l2, l1, words, findings)]
    X, (coef, intercept) = fit.X, fit.plane(0)
    if fit.options["solver"] == "liblinear":
        if free:
            words += ", with a PENALISED intercept (liblinear appends a constant feature)"
        X, coef = with_constant(fit, coef, intercept)
        findings, free = (*findings, *penalised_intercept(fit)), False
    problem: Problem
    if l1 == 0:
        problem = LogisticMLE(X, fit.y, l2=l2, intercept=free, sample_weight=weights)
    else:
        problem = EmpiricalRisk(X, fit.y, loss="logistic", l2=l2, l1=l1, intercept=free, sample_weight=weights)
    none = "" if fit.options["fit_intercept"] else ", without an intercept"
    named = f"{fit.name} solves logistic regression {words}{_intercept_words(free)}{none}"
    point, slope = fitted_point(problem, coef, intercept), _slope(fit, weights)
    return [Claim(problem, named, point, findings=findings, usual=fit.tolerance, slope=slope)]


def _slope(fit: Fit, weights: Array) -> float:
    """The slope of the objective at which Newton's and quasi-Newton methods end: they look at the mean loss."""
    return fit.tolerance * float(np.sum(weights)) if fit.options["solver"] in SLOPES else 0.0


def _penalties(fit: Fit) -> tuple[float, float, str]:
    """l2, l1 and how they are called. ``penalty`` is deprecated since scikit-learn 1.8 for l1_ratio and C=inf."""
    penalty, C = fit.options.get("penalty", "deprecated"), fit.options.get("C")
    ratio = fit.options.get("l1_ratio")
    if hasattr(fit.estimator, "C_"):  # chosen by cross-validation
        C, ratio = _chosen(fit)
    if penalty is None or C is None or np.isinf(C):
        return 0.0, 0.0, "without a penalty"
    ratio = {"l2": 0.0, "l1": 1.0}.get(str(penalty), 0.0 if ratio is None else float(ratio))
    if ratio == 0:
        return 1.0 / C, 0.0, f"with the ridge penalty 1/C = {1.0 / C:g}"
    if ratio == 1:
        return 0.0, 1.0 / C, f"with the l1 penalty 1/C = {1.0 / C:g}"
    return (1.0 - ratio) / C, ratio / C, f"with the elastic-net penalty 1/C = {1.0 / C:g}, l1_ratio = {ratio:g}"


def _chosen(fit: Fit) -> tuple[float, float | None]:
    """C and l1_ratio that cross-validation chose, of a fit to all samples."""
    if not fit.options.get("refit", True):
        raise ValueError("LogisticRegressionCV with refit=False averages several fits: no program is solved by that")
    ratio = np.atleast_1d(np.asarray(getattr(fit.estimator, "l1_ratio_", [0.0])))
    first = ratio[0]
    return float(np.atleast_1d(fit.estimator.C_)[0]), None if first is None else float(first)


def _several(fit: Fit, l2: float, l1: float, words: str, findings: tuple[str, ...]) -> Claim:
    """Softmax regression: one program over the coefficients of all classes."""
    free = bool(fit.options["fit_intercept"])
    weights = fit.all_weights(weighted=True)
    base = SoftmaxMLE(fit.X, fit.y, l2=l2, intercept=free, sample_weight=weights)
    problem = with_l1(base, l1) if l1 else base
    named = f"{fit.name} solves softmax regression of {fit.classes.size} classes {words}{_intercept_words(free)}"
    intercepts = np.broadcast_to(fit.array("intercept_"), fit.classes.shape)
    point, slope = fitted_point(problem, fit.coef, intercepts), _slope(fit, weights)
    return Claim(problem, named, point, findings=findings, usual=fit.tolerance, slope=slope)


def with_l1(base: SoftmaxMLE, l1: float) -> Problem:
    """Softmax regression with + l1 ‖coef‖_1, as l1 sum_j size_j with -size_j <= coef_j <= size_j. The penalty holds the
    coefficients in place; only the intercepts may be shifted together."""
    size = base.variable("coef").size
    bounds = []
    for name, sign, symbol in (("size_above", 1.0, r"\tau^+"), ("size_below", -1.0, r"\tau^-")):
        entries = {"coef": DiagonalRows.identity(size, sign), "size": DiagonalRows.identity(size, -1.0)}
        bounds.append(Constraint(name, entries, symbol, "vector", unit=1.0))
    return altered(
        base,
        "softmax regression with l1 penalty",
        variables=[*base.variables, Variable("size", size, r"\eta")],
        linear={"size": l1},
        constraints=bounds,
        gauge={v: rows for v, rows in base.gauge.items() if v == "intercept"},
    )


def _intercept_words(free: bool) -> str:
    return "; the intercept is not penalised" if free else ""


# ---- least squares ------------------------------------------------------------------------------------


#: The solvers of Ridge that stop by a tolerance.
ITERATIVE = ("sag", "saga", "sparse_cg", "lsqr", "lbfgs")
#: What the others leave of the objective on data that are not nearly dependent.
EXACT_SOLVER = 1e-6


def ridge(fit: Fit) -> list[Claim]:
    """The program of a Ridge or a LinearRegression, which has no penalty; one for each target."""
    targets = _targets(fit)
    alphas = np.broadcast_to(np.asarray(fit.options.get("alpha", 0.0), dtype=float), (len(targets),))
    return [_squares(fit, t, float(alphas[k]), k, subject) for k, (subject, t) in enumerate(targets)]


def ridge_classifier(fit: Fit) -> list[Claim]:
    """The program of a RidgeClassifier: targets -1 and +1, of several classes one against the rest."""
    if np.ndim(fit.target) == 2 and np.shape(fit.target)[1] > 1:
        raise ValueError("a RidgeClassifier of several label columns is not covered: certify one column at a time")
    alpha, weights = float(fit.options["alpha"]), fit.all_weights()
    positive = fit.classes if fit.classes.size > 2 else fit.classes[1:]
    subjects = [f"{label} against the rest" if positive.size > 1 else "" for label in positive]
    return [
        _squares(fit, np.where(fit.y == label, 1.0, -1.0), alpha, k, subjects[k], weights)
        for k, label in enumerate(positive)
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


def _squares(fit: Fit, target: Array, alpha: float, k: int, subject: str, weights: Array | None = None) -> Claim:
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
    return Claim(problem, _squares_named(fit, alpha), point, subject=subject, findings=findings, usual=usual)


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


def _squares_named(fit: Fit, alpha: float) -> str:
    kind = "least squares" if alpha == 0 else f"least squares with the ridge penalty alpha = {alpha:g} (half of both)"
    coded = " on targets -1 and +1" if fit.name.startswith("RidgeClassifier") else ""
    intercept = "an intercept that is not penalised" if fit.options["fit_intercept"] else "no intercept"
    positive = ", coefficients not below 0" if fit.options.get("positive") else ""
    return f"{fit.name} solves {kind}{coded}, with {intercept}{positive}"
