"""Gradient descent with Armijo backtracking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer, refuse_unless_smooth
from convexcls.solvers.newton import State

Array = NDArray[np.float64]
WORST_CONDITION = 1e4
STALLED_AFTER = 2000


@dataclass(frozen=True)
class GradientSolver(Solver):
    """x <- x - eta gradient, with eta from {eta0 beta^k}: the first that gives the decrease

        f(x - eta g) <= f(x) - armijo * eta ‖g‖^2.

    Each iteration starts from the last step doubled. Steps grow with the condition of the problem, so badly
    conditioned problems are refused.
    """

    name: ClassVar[str] = "gradient"
    accepts: ClassVar[str] = "smooth losses without constraints, well conditioned"
    promise: ClassVar[float] = 1e-5

    max_iter: int = 20_000
    eta0: float = 1.0
    beta: float = 0.5
    armijo: float = 1e-4

    def refuses(self, problem: Problem) -> str:
        if reason := refuse_unless_smooth(problem):
            return reason
        hessian = State.at(problem, np.zeros(problem.size)).hessian()
        values = np.linalg.eigvalsh(hessian)
        positive = values[values > 1e-13 * max(values[-1], 1e-300)]
        condition = float(positive[-1] / positive[0]) if positive.size else 1.0
        if condition > WORST_CONDITION:
            return f"the condition number is {condition:.1e}: gradient descent would take as many iterations"
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer = Tracer(callback)
        state = State.at(problem, np.zeros(problem.size))
        eta, message = self.eta0, f"stopped after {self.max_iter} iterations"
        best, last_gain = np.inf, 0
        for iteration in range(self.max_iter):
            residual = state.relative_gradient()
            tracer.record(state.objective, residual, eta)
            if residual <= 1e-2 * tol:
                message = "the gradient is below the tolerance"
                break
            if residual < 0.9 * best:
                best, last_gain = residual, iteration
            elif iteration - last_gain > STALLED_AFTER:
                message = "the gradient no longer falls"
                break
            square = float(state.gradient @ state.gradient)
            if not np.isfinite(square):
                message = "the gradient is no longer finite"
                break
            eta = min(eta / self.beta, 1e100)
            while eta > 1e-18:
                new = State.at(problem, state.x - eta * state.gradient)
                if new.objective <= state.objective - self.armijo * eta * square:
                    break
                eta *= self.beta
            else:
                message = "no step lowers the objective further"
                break
            state = new
        return Answer(state.x, {}, message, len(tracer.lines) - 1, tuple(tracer.lines))
