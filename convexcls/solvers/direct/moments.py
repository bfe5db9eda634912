"""Matching moments: the formula for problems of linear costs and log-determinants, such as Gaussian likelihoods.

Where every unknown is an entry of one loss, up to sign, stationarity says that the slope of each loss is given:

    q + weight M' slope(u) = 0,   u = Mx,   M a signed permutation

and the conjugate undoes the slope. For -log det Omega it says Omega^-1 = the moments of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer


@dataclass(frozen=True)
class MomentsSolver(Solver):
    """The formula above; where the moments are singular there is no answer, and the model's own proof says so."""

    name: ClassVar[str] = "moments"
    accepts: ClassVar[str] = "Gaussian likelihoods: linear costs and log-determinants, without constraints"
    promise: ClassVar[float] = 1e-8
    by_passes: ClassVar[bool] = True
    final: ClassVar[bool] = True

    def refuses(self, problem: Problem) -> str:
        if problem.is_constrained or problem.quadratic:
            return "it takes linear costs and log-determinants only, without constraints"
        if not problem.terms or any(t.loss.name != "log-det" for t in problem.terms):
            return "its losses are not log-determinants"
        if not all(problem.rows(t).one_entry_each for t in problem.terms):
            return "a log-determinant does not take its unknowns one by one"
        if sum(t.size for t in problem.terms) != problem.size:
            return "some unknown is in no log-determinant"
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer = Tracer(callback)
        x = np.zeros(problem.size)
        for t in problem.terms:
            rows = problem.rows(t)
            sizes = rows @ (rows.T @ np.ones(t.size))  # squares of the signed entries: not one after scaling
            multiplier = -t.loss.dual_sign * (rows @ problem.q) / (sizes * t.row_weights)
            conjugate = t.loss.conjugate
            if not conjugate.inside(multiplier):
                return Answer(
                    None,
                    {},
                    "the matrix of moments is singular, up to rounding: a combination of features hardly varies",
                )
            u = t.loss.dual_sign * conjugate.slope(multiplier) - t.offset
            x += rows.T @ (u / sizes)
        tracer.record(problem.minimised(x), 0.0)
        return Answer(x, {}, "moments matched", 1, tuple(tracer.lines))
