"""Perceptron: a learning rule that promises no optimum, but a hyperplane without errors where the classes have one.

That promise is a program, too: the perceptron criterion with the mean margin set to one,

    minimise  sum_i c_i max(0, -m_i)   subject to  sum_i c_i m_i = sum_i c_i,      m_i = y_i (coef'x_i + intercept)

has the optimum 0 iff a hyperplane has no sample on its wrong side (and some off it). The hyperplane of the rule is
multiplied by a positive number to satisfy the equation, which moves no sample to another side. Where its mean margin is
not positive it cannot be, and the criterion is taken without the equation: its optimum is 0, at coef = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.models import EmpiricalRisk, PerceptronCriterion
from convexcls.problem import Problem
from convexcls.referee.claim import Claim, completed
from convexcls.referee.own import own_solution
from convexcls.referee.reading import Fit
from convexcls.referee.stochastic import penalties, rule_findings
from convexcls.solution import Solution
from convexcls.wording import listed


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
    values = {"coef": scale * coef, **({"intercept": np.array([scale * intercept])} if free else {})}
    named = f"Perceptron is a learning rule, which promises a hyperplane without errors; judged by {stated}"

    def tell(own: Solution | None) -> list[str]:
        if not errors.size:
            return []
        if problem.name != "perceptron criterion":  # 0 is its optimum, whatever the classes are
            own = own_solution(PerceptronCriterion(fit.X, labels, intercept=free, sample_weight=weights))
        return _promise(own)

    return Claim(
        problem,
        named,
        completed(problem, values),
        subject=subject,
        usual=np.inf,
        findings=rule_findings(fit),
        remarks=(_count(errors, fit.n),),
        tell=tell,
    )


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
