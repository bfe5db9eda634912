"""Answers whose program is declared: coefficients from anywhere with the model that they are said to solve, and the
toolkit's own estimators, judged like anybody's: on the program declared anew from X and y, not the one kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import DataError, finite_doubles
from convexcls.fits.claim import Claim, Fit, completed, stated
from convexcls.models import by_kind
from convexcls.problem import NoAnswer, Problem
from convexcls.solution import Solution

#: The models that can be named: those whose unknowns are coefficients and an intercept.
LINEAR = ("empirical-risk", "hard-margin", "least-absolute", "least-squares", "logistic", "soft-margin", "softmax")
MODELS = tuple(sorted((*LINEAR, "fisher", "perceptron")))


def bare_pair(given: Any, X: Any, y: Any, sample_weight: Any, declared: Mapping[str, Any]) -> list[Claim]:
    """The claim that (coef, intercept) solves the named model with the declared parameters."""
    parameters = dict(declared)
    kind = parameters.pop("model", None)
    if kind not in MODELS:
        raise TypeError(f"a bare (coef, intercept) needs model=, one of {', '.join(MODELS)}; got {kind!r}")
    coef, intercept = _pair(given)
    free = intercept is not None
    if kind != "fisher":
        parameters.setdefault("intercept", free)
    if sample_weight is not None:
        parameters["sample_weight"] = sample_weight
    try:
        declare: Any = by_kind()[kind]
        problem: Problem = declare(X, y, **parameters)
    except TypeError as error:
        raise TypeError(f"the model {kind!r} was not declared properly: {error}") from None
    values, remarks = _values(problem, coef, intercept)
    named = f"the coefficients given are said to solve the {stated(problem)}"
    return [Claim(problem, named, completed(problem, values), usual=1e-6, remarks=remarks)]


def _pair(given: Any) -> tuple[Array, Array | None]:
    """coef and intercept as vectors; the intercept is None where there is none."""
    if isinstance(given, (tuple, list)) and len(given) == 2 and np.ndim(given[0]) >= 1:
        coef, intercept = given
    elif isinstance(given, np.ndarray):
        coef, intercept = given, None
    else:
        raise TypeError("give a pair (coef, intercept), intercept None where there is none")
    coef = finite_doubles(np.asarray(coef), "coef")
    if intercept is None:
        return coef, None
    return coef, np.atleast_1d(finite_doubles(np.atleast_1d(np.asarray(intercept)), "intercept"))


def _values(problem: Problem, coef: Array, intercept: Array | None) -> tuple[dict[str, Array], tuple[str, ...]]:
    """The unknowns of the problem from coef and intercept, sizes checked. A direction of Fisher's program and the
    hyperplane of the perceptron criterion are given up to a positive number: they are scaled to satisfy its
    equation."""
    names = [v.name for v in problem.variables if v.name.startswith("coef")]
    width = sum(problem.variable(name).size for name in names)
    if coef.size != width:
        raise DataError(f"coef has {coef.size} entries, the {problem.name} has {width}")
    values: dict[str, Array] = dict(zip(names, np.split(coef.ravel(), len(names)), strict=True))
    if "intercept" in problem.layout:
        size = problem.variable("intercept").size
        given = np.zeros(size) if intercept is None else intercept
        if given.size != size:
            raise DataError(f"intercept has {given.size} entries, the {problem.name} has {size}")
        values["intercept"] = given
    elif problem.kind != "fisher" and intercept is not None and np.any(intercept):
        raise DataError(f"an intercept was given, but the {problem.name} was declared without one")
    return _normalized(problem, values)


def _normalized(problem: Problem, values: dict[str, Array]) -> tuple[dict[str, Array], tuple[str, ...]]:
    equation = next((c for c in problem.constraints if c.name in ("normalization", "separation")), None)
    if equation is None:
        return values, ()
    x = completed(problem, values)
    reached = float((problem.rows(equation) @ x)[0])
    if reached <= 0:
        return values, (f"it does not satisfy the {equation.name}, nor does any multiple of it",)
    scale = float(equation.rhs[0]) / reached
    return {name: scale * v for name, v in values.items()}, ()


# ---- estimators of this package -------------------------------------------------------------------------


def certified(fit: Fit) -> list[Claim]:
    """The programs of an estimator, each with the point and the multipliers that it keeps."""
    kept = fit.value("solution_")
    solutions: tuple[Solution, ...] = kept if isinstance(kept, tuple) else (kept,)
    weights = {} if fit.sample_weight is None else {"sample_weight": fit.sample_weight}
    declared = fit.estimator.declare(fit.given, fit.target, **weights)
    problems: tuple[Problem, ...] = declared if isinstance(declared, tuple) else (declared,)
    if len(problems) != len(solutions):
        raise ValueError(f"y has other classes than those that this {fit.name} was fitted on")
    several = len(problems) > 1
    subjects = [f"class {label!r} against the rest" for label in fit.value("classes_").tolist()] if several else [""]
    return [_claim(fit, *part) for part in zip(problems, solutions, subjects, strict=True)]


def _claim(fit: Fit, problem: Problem, solution: Any, subject: str) -> Claim:
    if not isinstance(solution, Solution):  # out of a pickle that left the data and the multipliers behind
        return _claim_of_scores(fit, problem, solution, subject)
    if solution.x is None or solution.x.size != problem.size:
        raise ValueError(f"X and y have other shapes than those that this {fit.name} was fitted on")
    named, by_dual = f"{fit.name} solves the {stated(problem)}", problem.kind == "kernel"
    kept = np.array(solution.x), solution.multipliers, "that it keeps"
    return Claim(problem, named, *kept, subject=subject, by_dual=by_dual, usual=solution.certificate.tol)


def _claim_of_scores(fit: Fit, problem: Problem, kept: Any, subject: str) -> Claim:
    """The claim of what is left of a solution: its coefficients."""
    try:
        coef, intercept = kept.coef, np.atleast_1d(kept.intercept + problem.threshold)
    except NoAnswer as error:
        lost = f"this {fit.name} comes from a pickle that left its solution behind, and {error}"
        raise ValueError(f"{lost}: fit it with keep_data=True, or certify it before it is pickled") from None
    values, remarks = _values(problem, coef, intercept)
    named = f"{fit.name} solves the {stated(problem)}"
    tol = kept.proof["tolerance"]
    return Claim(problem, named, completed(problem, values), subject=subject, usual=tol, remarks=remarks)
