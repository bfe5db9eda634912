"""The subgradient method, for sums of losses with kinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, check_choice, check_rate
from convexcls.solvers.rules.kinks import KinkedSum, refuse_unless_kinks

Steps = Literal["root", "decay", "fixed"]
STEPS = ("root", "decay", "fixed")


@dataclass(frozen=True)
class SubgradientSolver(Solver):
    """x <- x - eta g, g a subgradient of hinge, squared hinge, absolute or perceptron losses at x, plus the gradient of
    a ridge penalty: for the hinge, with the costs c_i,

        g = l2 w - sum over y_i (x_i'w) <= 1 of c_i y_i x_i.

    ``step`` is ``root`` (eta0/sqrt(tau) in iteration tau), ``decay`` (eta0/tau) or ``fixed``. No step need lower the
    objective, so the answer is the best point of all, whose objective is ``best`` in the trace. By default eta0 is one
    over the sum of c_i ‖(x_i, 1)‖² and the largest penalty.
    """

    name: ClassVar[str] = "subgradient"
    accepts: ClassVar[str] = "one sum of losses with kinks, with or without ridge penalty (a learning rule)"
    promise: ClassVar[float] = 2e-2
    rule: ClassVar[bool] = True
    as_stated: ClassVar[bool] = True
    warm: ClassVar[bool] = True

    max_iter: int = 2000
    eta0: float | None = None
    step: Steps = "root"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.name, "eta0", self.eta0)
        check_choice(self.name, "step", self.step, STEPS)

    def refuses(self, problem: Problem) -> str:
        return refuse_unless_kinks(problem)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer, losses = Tracer(callback), KinkedSum(problem)
        eta0 = self.eta0 or 1.0 / max(float(losses.steepness.sum() + losses.ridge.max(initial=0.0)), 1e-300)
        power = {"root": 0.5, "decay": 1.0, "fixed": 0.0}[self.step]
        x, eta, message = np.array(start.x), eta0, f"stopped after {self.max_iter} iterations"
        best, lowest = x, np.inf
        for tau in range(1, self.max_iter + 1):
            objective, g = losses.objective(x), losses.subgradient(x)
            if objective < lowest:
                best, lowest = x, objective
            size = float(np.linalg.norm(g))
            tracer.record(objective, size, eta, {"best": lowest}, point=losses.point(x))
            if not np.isfinite(size):
                message = "the subgradient is no longer finite: lower eta0"
                break
            if size == 0.0:
                message = "a subgradient is 0"
                break
            eta = eta0 / tau**power
            x = x - eta * g
        return Answer(losses.point(best), losses.multipliers(best), message, len(tracer.lines) - 1, tuple(tracer.lines))
