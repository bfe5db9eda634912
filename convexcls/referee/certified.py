"""The toolkit's own estimators, judged like anybody's: on the program declared anew from X and y, not the one kept."""

from __future__ import annotations

import numpy as np

from convexcls.problem import Problem
from convexcls.referee.claim import Claim
from convexcls.referee.reading import Fit
from convexcls.solution import Solution


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


def _claim(fit: Fit, problem: Problem, solution: Solution, subject: str) -> Claim:
    if solution.x is None or solution.x.size != problem.size:
        raise ValueError(f"X and y have other shapes than those that this {fit.name} was fitted on")
    parameters = ", ".join(f"{name} = {value}" for name, value in problem.parameters.items())
    return Claim(
        problem,
        f"{fit.name} solves the {problem.name}" + (f" ({parameters})" if parameters else ""),
        np.array(solution.x),
        multipliers=solution.multipliers,
        source="that it keeps",
        subject=subject,
        by_dual=problem.kind == "kernel",
        usual=solution.certificate.tol,
    )
