"""LogisticRegression of scikit-learn, divided by C:

    minimise  sum_i c_i loss_i + (1 - l1_ratio)/(2C) ‖coef‖^2 + l1_ratio/C ‖coef‖_1

with the logistic loss of two classes or the softmax loss of several, whose penalty is over all classes. The intercept
is not penalised, except by solver="liblinear", which appends a constant feature (see ``linear_svc.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.models import EmpiricalRisk, LogisticMLE, SoftmaxMLE
from convexcls.problem import Constraint, Problem, Variable
from convexcls.referee.claim import Claim, Fit, altered, completed, fitted_point
from convexcls.referee.linear_svc import penalised_intercept, with_constant
from convexcls.rows import DiagonalRows

#: The solvers that end where no slope exceeds the tolerance.
SLOPES = ("lbfgs", "newton-cg", "newton-cholesky")


def logistic_regression(fit: Fit) -> list[Claim]:
    """The program of a LogisticRegression, one also for several classes."""
    findings = (*fit.stopped(), *fit.precision())
    l2, l1, words = _penalties(fit)
    if fit.classes.size > 2:
        return [_several(fit, l2, l1, words, findings)]
    coef, intercept = fit.plane(0)
    weights = fit.all_weights(weighted=True)
    if fit.options["solver"] == "liblinear":
        samples, values = with_constant(fit, coef, intercept)
        problem = _two_classes(samples, fit, l2, l1, False, weights)
        point = completed(problem, {"coef": values})
        if fit.options["fit_intercept"]:
            words += ", with a PENALISED intercept (liblinear appends a constant feature)"
        findings = (*findings, *penalised_intercept(fit))
        return [Claim(problem, _named(fit, words), point, findings=findings, usual=fit.tolerance)]
    free = bool(fit.options["fit_intercept"])
    problem = _two_classes(fit.X, fit, l2, l1, free, weights)
    point = fitted_point(problem, coef, intercept)
    slope = _slope(fit, weights)
    return [Claim(problem, _named(fit, words), point, findings=findings, usual=fit.tolerance, slope=slope)]


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


def _two_classes(X: Any, fit: Fit, l2: float, l1: float, intercept: bool, weights: Any) -> Problem:
    if l1 == 0:
        return LogisticMLE(X, fit.y, l2=l2, intercept=intercept, sample_weight=weights)
    return EmpiricalRisk(X, fit.y, loss="logistic", l2=l2, l1=l1, intercept=intercept, sample_weight=weights)


def _several(fit: Fit, l2: float, l1: float, words: str, findings: tuple[str, ...]) -> Claim:
    """Softmax regression: one program over the coefficients of all classes."""
    free = bool(fit.options["fit_intercept"])
    weights = fit.all_weights(weighted=True)
    base = SoftmaxMLE(fit.X, fit.y, l2=l2, intercept=free, sample_weight=weights)
    problem = with_l1(base, l1) if l1 else base
    planes = [fit.plane(k) for k in range(fit.classes.size)]
    values = {"coef": np.concatenate([coef for coef, _ in planes])}
    if free:
        values["intercept"] = np.array([intercept for _, intercept in planes])
    named = f"{fit.name} solves softmax regression of {fit.classes.size} classes {words}{_intercept_words(free)}"
    point, slope = completed(problem, values), _slope(fit, weights)
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


def _named(fit: Fit, words: str) -> str:
    free = bool(fit.options["fit_intercept"]) and fit.options["solver"] != "liblinear"
    none = "" if fit.options["fit_intercept"] else ", without an intercept"
    return f"{fit.name} solves logistic regression {words}{_intercept_words(free)}{none if not free else ''}"


def _intercept_words(free: bool) -> str:
    return "; the intercept is not penalised" if free else ""
