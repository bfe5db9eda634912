"""LinearSVC: liblinear's support vector machines.

liblinear appends a constant feature B = intercept_scaling to every sample and penalises its coefficient like any other:

    minimise  1/2 ‖(w, w_B)‖^2 + C sum_i loss(y_i (w'x_i + B w_B)),      intercept = B w_B

so the intercept is drawn towards 0, which the support vector machine of the textbooks does not do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.models import EmpiricalRisk, SoftMarginSVM
from convexcls.problem import Problem
from convexcls.referee.claim import Claim, Fit, augmented, completed

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
    out = []
    for subject, labels, weights, k in fit.against_rest():
        coef, intercept = fit.plane(k)
        samples, values = with_constant(fit, coef, intercept)
        problem = _problem(samples, labels, options["loss"], options["penalty"], float(options["C"]), weights)
        point = completed(problem, {"coef": values})
        out.append(Claim(problem, _named(fit), point, subject=subject, findings=findings, usual=10 * fit.tolerance))
    return out


def with_constant(fit: Fit, coef: Array, intercept: float) -> tuple[Any, Array]:
    """The samples as liblinear sees them, and the coefficients with that of the constant feature."""
    if not fit.options["fit_intercept"]:
        return fit.X, coef
    scaling = float(fit.options["intercept_scaling"])
    return augmented(fit.X, scaling), np.append(coef, intercept / scaling)


def penalised_intercept(fit: Fit) -> list[str]:
    """The finding that liblinear's intercept is penalised."""
    if not fit.options["fit_intercept"]:
        return []
    scaling = float(fit.options["intercept_scaling"])
    return [
        f"the intercept is penalised: liblinear appends a constant feature intercept_scaling = {scaling:g} and "
        "treats its coefficient like the others; a larger intercept_scaling weakens that"
    ]


def _problem(X: Any, y: Any, loss: str, penalty: str, C: float, weights: Array) -> Problem:
    if penalty == "l2":
        return SoftMarginSVM(X, y, C=C, loss=loss, intercept=False, sample_weight=weights)  # type: ignore[arg-type]
    return EmpiricalRisk(X, y, loss=loss, l1=1.0, intercept=False, sample_weight=C * weights)


def _named(fit: Fit) -> str:
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
