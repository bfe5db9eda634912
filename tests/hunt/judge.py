"""Every claim of a solution against the truth: the one place where the hunt looks at what the package says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, ctx

from tests.hunt.densities import Gaussian, Logistic, Softmax
from tests.hunt.draw import Case
from tests.hunt.likelihood import PRECISION, ball
from tests.hunt.linear import Fisher, LeastAbsolute, LeastSquares, Perceptron
from tests.hunt.margins import HardMargin, Kernel, MaxMargin, SoftMargin
from tests.hunt.oracle import Misstated, Question, Truth, Unknown, rational

QUESTIONS: dict[str, type[Question]] = {
    "HardMarginSVM": HardMargin,
    "MaxMargin": MaxMargin,
    "SoftMarginSVM": SoftMargin,
    "EmpiricalRisk": SoftMargin,
    "KernelSVM": Kernel,
    "LogisticMLE": Logistic,
    "SoftmaxMLE": Softmax,
    "LeastSquares": LeastSquares,
    "LeastAbsolute": LeastAbsolute,
    "PerceptronCriterion": Perceptron,
    "FisherLDA": Fisher,
    "GaussianMLE": Gaussian,
}
#: A point may be off by so many tolerances: the measures of a certificate are relative to slightly other sizes.
FACTOR = 4.0
#: What a claim says that does not hold of the doubles which the solution shows.
NOT_OF_DOUBLES = "not of their nearest doubles"


@dataclass(frozen=True)
class Verdict:
    """right, undecided, wrong or unjudged, and why."""

    outcome: str
    why: str = ""


class Judge:
    """Judges all claims about one case."""

    def __init__(self, case: Case, problem: Any) -> None:
        self.case, self.problem = case, problem

    def question(self, rounded: bool) -> Question:
        """The case as a question; which directions Fisher's problem asks for is part of how it is stated."""
        parameters = dict(self.case.parameters)
        if self.case.model == "FisherLDA":
            parameters["chosen"] = self.problem.chosen
        if parameters.get("kernel") == "rbf" and rounded:
            parameters["matrix"] = [exactly(row) for row in self.problem.quadratic["margin"].to_dense()]
        return QUESTIONS[self.case.model](self.case.samples(rounded), parameters, self.problem.unit)

    @cached_property
    def given(self) -> tuple[Question, Truth]:
        question = self.question(rounded=False)
        return question, question.truth()

    @cached_property
    def rounded(self) -> tuple[Question, Truth]:
        question = self.question(rounded=True)
        return question, question.truth()

    def verdict(self, solution: Any) -> Verdict:
        """Whether what the solution claims is true of the data as given. Only of a kernel that is not rational a proof
        in rationals may speak of its values as doubles, where it says so."""
        certificate = solution.certificate
        if certificate.status == "undecided":
            return Verdict("undecided", certificate.reason)
        try:
            why = self.falsehood(solution)
            if why and self.case.rounds and not self.falsehood(solution, rounded=True):
                told = certificate.level == "exact" and "kernel's values rounded to doubles" in _words(solution)
                why = "" if told else f"{why} (true of the data rounded to doubles)"
        except Unknown as error:
            return Verdict("unjudged", str(error))
        return Verdict("wrong", why) if why else Verdict("right")

    def falsehood(self, solution: Any, rounded: bool = False) -> str:
        """What is false about a claim, of the data as given or as doubles; empty where nothing is."""
        try:
            return falsehood(solution, *(self.rounded if rounded else self.given))
        except Misstated as error:
            return str(error)


def falsehood(solution: Any, question: Question, truth: Truth) -> str:
    """What is false about a claim; empty where nothing is."""
    certificate = solution.certificate
    if certificate.status != truth.status:
        optimum = "" if truth.status != "optimal" else f", the optimum is {_short(truth.lower)}"
        return f"claims {certificate.status}, it is {truth.status}{optimum}"
    if truth.status != "optimal":
        return ""
    if told := _told_objective(solution, question, truth):
        return told
    if certificate.exact is not None:
        return _false_exactly(certificate, question, truth) or _false_in_doubles(solution, question, truth)
    if certificate.level != "float" and not question.contains(certificate.lower, certificate.upper, truth):
        return f"bounds {certificate.lower!r}, {certificate.upper!r} leave the optimum {_short(truth.lower)} out"
    if certificate.enclosure is not None:
        return _false_in_doubles(solution, question, truth)
    return _off_at_point(solution, question, truth)


def _told_objective(solution: Any, question: Question, truth: Truth) -> str:
    """At every level the objective as it is told is the optimum, to the tolerance or to the least double."""
    try:
        with ctx.workprec(PRECISION):
            if abs(ball(rational(solution.objective)) - ball(truth.lower)) <= arb(2) ** -1074:
                return ""
        off = question.off(rational(solution.objective), truth)
    except (OverflowError, ValueError):
        return f"the objective is told as {solution.objective}"
    return _beyond("told objective", off, solution, truth)


def _off_at_point(solution: Any, question: Question, truth: Truth) -> str:
    """What is off at the point of doubles."""
    try:
        errors = question.errors(read_point(solution), truth)
    except (OverflowError, ValueError):
        return "the point is not finite"
    worst = max(errors, key=lambda name: errors[name])
    return _beyond(worst, errors[worst], solution, truth)


def _beyond(name: str, off: float, solution: Any, truth: Truth) -> str:
    tol = solution.certificate.tol
    return (
        "" if off <= FACTOR * tol else f"{name} off by {off / tol:.3g} tolerances, the optimum is {_short(truth.lower)}"
    )


def _false_in_doubles(solution: Any, question: Question, truth: Truth) -> str:
    """The claim is of rationals or of an enclosure: where their nearest doubles are off, it has to say so."""
    off = _off_at_point(solution, question, truth)
    return f"{off}, which it does not tell" if off and NOT_OF_DOUBLES not in _words(solution) else ""


def _words(solution: Any) -> str:
    return " ".join(solution.certificate.explain().split())


def _false_exactly(certificate: Any, question: Question, truth: Truth) -> str:
    if not truth.rational:
        return "claims a rational optimum, there is none"
    if rational(certificate.optimum) != truth.lower:
        return f"claims the optimum {_short(rational(certificate.optimum))}, it is {_short(truth.lower)}"
    point = {name: [rational(v) for v in values] for name, values in certificate.exact_point.items()}
    errors = question.errors(point, truth)
    off = [name for name, error in errors.items() if error]
    return f"the exact point is off in {', '.join(off)}" if off else ""


def read_point(solution: Any) -> Mapping[str, list[Any]]:
    """The point that a solution stands for, in rationals."""
    problem, kind, values = solution.problem, solution.problem.kind, solution.values
    if kind == "gaussian":
        return {"centre": exactly(problem.centre), **_omegas(problem, values)}
    if kind == "fisher":
        return {v.name: exactly(values[v.name]) for v in problem.variables}
    if kind == "kernel":
        return {"margin": exactly(values["margin"])}
    point = {"intercept": exactly(np.atleast_1d(solution.intercept))}
    if "distance" in values:
        point["distance"] = exactly(values["distance"])
    return {**point, "coef": exactly(np.ravel(solution.coef))}


def _omegas(problem: Any, values: Any) -> dict[str, list[Any]]:
    """The matrices (Lambda, -eta; -eta', T) of natural parameters, row by row."""
    out = {}
    for number, part in enumerate(problem.parts, 1):
        size, omega = part.d + part.K, {}
        blocks = {name: iter(exactly(values[name + part.suffix])) for name in ("precision", "natural_mean", "corner")}
        for i in range(size):
            for j in range(i + 1):
                block = "precision" if i < part.d else "natural_mean" if j < part.d else "corner"
                value = next(blocks[block])
                omega[i, j] = omega[j, i] = -value if block == "natural_mean" else value
        out[f"omega_{number}"] = [omega[i, j] for i in range(size) for j in range(size)]
    return out


def exactly(values: Any) -> list[Any]:
    return [rational(v) for v in np.asarray(values, dtype=float).tolist()]


def _short(value: Any) -> str:
    return str(ball(value).str(12, radius=False))
