"""SGDClassifier and Perceptron: learning rules, judged by the programs that they look for.

SGDClassifier goes after the mean of the losses, here times n,

    minimise  sum_i c_i loss(y_i (coef'x_i + intercept)) + alpha n ((1 - l1_ratio)/2 ‖coef‖^2 + l1_ratio ‖coef‖_1),

of the hinge with the l2 penalty divided by alpha n: the soft margin with C = 1/(alpha n). The rule has no stopping test
that knows of optimality; it goes on until the loss it sees stops falling by tol. Several classes: one against the rest.

Perceptron promises no optimum, but a hyperplane without errors where the classes have one. That promise is a program,
too: the perceptron criterion with the mean margin set to one,

    minimise  sum_i c_i max(0, -m_i)   subject to  sum_i c_i m_i = sum_i c_i,      m_i = y_i (coef'x_i + intercept)

has the optimum 0 iff a hyperplane has no sample on its wrong side (and some off it). The hyperplane of the rule is
multiplied by a positive number to satisfy the equation, which moves no sample to another side. Where its mean margin is
not positive it cannot be, and the criterion is taken without the equation: its optimum is 0, at coef = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.fits.claim import Claim, Fit, fitted_point
from convexcls.fits.judging import own_solution
from convexcls.models import EmpiricalRisk, LogisticMLE, PerceptronCriterion, SoftMarginSVM
from convexcls.problem import Problem
from convexcls.solution import Solution
from convexcls.wording import listed

LOSSES = {
    "hinge": "hinge",
    "log_loss": "logistic",
    "log": "logistic",
    "squared_hinge": "squared_hinge",
    "perceptron": "perceptron",
}
#: What such a rule usually leaves of the objective.
USUAL = 0.1


def sgd_classifier(fit: Fit) -> list[Claim]:
    """The program of an SGDClassifier; of several classes one for each class against the rest."""
    if (given := fit.options["loss"]) not in LOSSES:
        raise ValueError(f"SGDClassifier with loss={given!r} is not covered: {', '.join(LOSSES)} are")
    l2, l1, words = penalties(fit)
    free = bool(fit.options["fit_intercept"])
    out = []
    for subject, labels, weights, k in fit.against_rest():
        coef, intercept = fit.plane(k)
        problem, stated = _problem(fit.X, labels, LOSSES[given], l2, l1, free, weights)
        point = fitted_point(problem, coef, intercept)
        named = f"SGDClassifier looks for the {stated} {words}, by a learning rule; the intercept is not penalised"
        out.append(Claim(problem, named, point, subject=subject, usual=USUAL, rule=True, findings=rule_findings(fit)))
    return out


def penalties(fit: Fit) -> tuple[float, float, str]:
    """l2 and l1 for the sum of the losses, and how they are called."""
    penalty, strength = fit.options["penalty"], float(fit.options["alpha"]) * fit.n
    if penalty is None or strength == 0:
        return 0.0, 0.0, "without a penalty"
    ratio = {"l2": 0.0, "l1": 1.0}.get(penalty, float(fit.options["l1_ratio"]))
    kind = f"the {penalty} penalty" + ("" if penalty in ("l2", "l1") else f" (l1_ratio {ratio:g})")
    return (1.0 - ratio) * strength, ratio * strength, f"with {kind} alpha n = {strength:g}"


def _problem(X: Any, y: Any, loss: str, l2: float, l1: float, intercept: bool, weights: Array) -> tuple[Problem, str]:
    """The program and what it is called."""
    options: dict[str, Any] = {"intercept": intercept, "sample_weight": weights}
    if loss == "hinge" and l1 == 0 and l2 > 0:
        problem = SoftMarginSVM(X, y, C=1.0 / l2, **options)
        return problem, f"soft-margin support vector machine, C = 1/(alpha n) = {1.0 / l2:g},"
    if loss == "logistic" and l1 == 0:
        return LogisticMLE(X, y, l2=l2, **options), "logistic regression"
    return EmpiricalRisk(X, y, loss=loss, l2=l2, l1=l1, **options), f"least {loss.replace('_', ' ')} loss"


def rule_findings(fit: Fit) -> tuple[str, ...]:
    """What may keep a learning rule from the optimum."""
    out = [*fit.stopped(), *fit.precision()]
    if fit.options["early_stopping"]:
        held = float(fit.options["validation_fraction"])
        out.append(
            f"early_stopping: {held:.0%} of the samples were held out to decide when to stop, and the rule saw "
            "only the others; it is judged on all"
        )
    if fit.options.get("average"):
        out.append("average: coef_ is the mean of the points that the rule went through, not its last point")
    return tuple(out)


# ---- the perceptron -------------------------------------------------------------------------------------


def perceptron(fit: Fit) -> list[Claim]:
    """The promise of a Perceptron; of several classes one for each class against the rest."""
    return [_claim(fit, *part) for part in fit.against_rest()]


def _claim(fit: Fit, subject: str, labels: Any, weights: Array, k: int) -> Claim:
    coef, intercept = fit.plane(k)
    free = bool(fit.options["fit_intercept"])
    signs = np.where(labels == np.unique(labels)[1], 1.0, -1.0)
    margins = signs * (fit.X @ coef + intercept)
    errors = np.flatnonzero((margins <= 0) & (weights > 0))
    l2, l1, words = penalties(fit)
    mean = float(weights @ margins) / float(weights.sum())
    problem: Problem
    if l2 or l1:
        problem = EmpiricalRisk(fit.X, labels, loss="perceptron", l2=l2, l1=l1, intercept=free, sample_weight=weights)
        scale, stated = 1.0, f"the perceptron criterion {words}, whose optimum 0 is at coef = 0"
    elif mean > 0:
        problem = PerceptronCriterion(fit.X, labels, intercept=free, sample_weight=weights)
        scale, stated = 1.0 / mean, "the perceptron criterion, scaled to mean margin one"
    else:
        problem = PerceptronCriterion(fit.X, labels, intercept=free, sample_weight=weights, normalization=None)
        scale, stated = 1.0, "the perceptron criterion without a normalization, whose optimum 0 is at coef = 0"
    named = f"Perceptron is a learning rule, which promises a hyperplane without errors; judged by {stated}"

    def tell(own: Solution | None) -> list[str]:
        if not errors.size:
            return []
        if problem.name != "perceptron criterion":  # 0 is its optimum, whatever the classes are
            own = own_solution(PerceptronCriterion(fit.X, labels, intercept=free, sample_weight=weights))
        return _promise(own)

    point = fitted_point(problem, scale * coef, scale * intercept)
    findings, remarks = rule_findings(fit), (_count(errors, fit.n),)
    return Claim(problem, named, point, subject=subject, usual=np.inf, findings=findings, remarks=remarks, tell=tell)


def _count(errors: Any, n: int) -> str:
    if not errors.size:
        return f"it makes no error on its {n} samples"
    shown = listed(errors, 5)
    return f"{errors.size} of {n} samples are not on their side of the hyperplane (samples {shown})"


def _promise(whole: Solution | None) -> list[str]:
    """Where there are errors: whether a hyperplane without any exists."""
    if whole is None or whole.status == "undecided":
        return []
    if whole.status == "optimal" and whole.objective <= 1e-9 * whole.problem.unit:
        return [
            "a hyperplane without errors exists (at worst with samples on it): the rule ended before it found it; "
            "lower tol or raise max_iter"
        ]
    return ["no hyperplane separates the classes, so the rule cannot keep its promise: it never settles"]
