"""Gradient descent with Armijo backtracking, a fixed step, or a step that decays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.base import (
    Answer,
    Callback,
    Solver,
    Start,
    Tracer,
    check_choice,
    check_rate,
    refuse_unless_smooth,
)
from convexcls.solvers.smooth.objective import Iterate

Steps = Literal["armijo", "fixed", "decay"]
STEPS = ("armijo", "fixed", "decay")
MAX_CONDITION = 1e4
#: What rounding may do to an objective, relative to it.
OBJECTIVE_ROUNDING = 1e-14
MAX_STEPS_WITHOUT_GAIN = 2000


@dataclass(frozen=True)
class GradientSolver(Solver):
    """x <- x - eta gradient, with eta by ``step``:

    ``armijo``   from {eta0 beta^k}, eta0 = 1 by default: the first that gives the decrease
                     f(x - eta g) <= f(x) - armijo * eta ‖g‖^2.
                 Each iteration starts from the last step doubled. Steps grow with the condition of the problem, so
                 badly conditioned problems are refused.
    ``fixed``    eta0, by default 1/L with L the largest curvature at x = 0
    ``decay``    eta0/tau in iteration tau, eta0 by default as for ``fixed``

    Armijo's search runs on columns scaled by powers of two, as other solvers do. The other two are rules whose steps
    mean something in the units of the data, so they run on the data as given, well conditioned or not.
    """

    name: ClassVar[str] = "gradient"
    accepts: ClassVar[str] = "smooth losses without constraints, well conditioned"
    promise: ClassVar[float] = 1e-5
    warm: ClassVar[bool] = True

    max_iter: int = 20_000
    eta0: float | None = None
    beta: float = 0.5
    armijo: float = 1e-4
    step: Steps = "armijo"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.name, "eta0", self.eta0)
        check_choice(self.name, "step", self.step, STEPS)
        if not self.beta < 1:
            raise ValueError(f"option beta of solver {self.name!r} is {self.beta!r}: it must lie between 0 and 1")

    @property
    def as_stated(self) -> bool:  # type: ignore[override]
        return self.step != "armijo"

    def refuses(self, problem: Problem) -> str:
        if (reason := refuse_unless_smooth(problem)) or self.step != "armijo":
            return reason
        try:
            values = _curvatures(problem)
        except np.linalg.LinAlgError as error:
            return str(error)
        positive = values[values > 1e-13 * max(values[-1], 1e-300)]
        condition = float(positive[-1] / positive[0]) if positive.size else 1.0
        if condition > MAX_CONDITION:
            return f"the condition number is {condition:.1e}: gradient descent would take as many iterations"
        return ""

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer = Tracer(callback)
        iterate, message = Iterate.at(problem, start.x), f"stopped after {self.max_iter} iterations"
        eta0 = eta = self._first_step(problem)
        best, last_gain = np.inf, 0
        for iteration in range(self.max_iter):
            residual = iterate.relative_gradient()
            tracer.record(iterate.objective, residual, eta, point=iterate.x)
            if residual <= 1e-2 * tol:
                message = "the gradient is below the tolerance"
                break
            if residual < 0.9 * best:
                best, last_gain = residual, iteration
            elif self.step == "armijo" and iteration - last_gain > MAX_STEPS_WITHOUT_GAIN:
                message = "the gradient no longer falls"
                break
            with np.errstate(over="ignore"):
                square = float(iterate.gradient @ iterate.gradient)
            if not np.isfinite(square):
                message = "the gradient is no longer finite" + ("" if self.step == "armijo" else ": lower eta0")
                break
            if self.step != "armijo":
                eta = eta0 / (iteration + 1) if self.step == "decay" else eta0
                iterate = Iterate.at(problem, iterate.x - eta * iterate.gradient)
                continue
            found = self._backtrack(iterate, eta, square)
            if found is None:
                message = "no step lowers the objective further"
                break
            iterate, eta = found
        return Answer(iterate.x, {}, message, len(tracer.lines) - 1, tuple(tracer.lines))

    def _first_step(self, problem: Problem) -> float:
        if self.eta0 is not None:
            return self.eta0
        return 1.0 if self.step == "armijo" else 1.0 / max(float(_curvatures(problem)[-1]), 1e-300)

    def _backtrack(self, iterate: Iterate, eta: float, square: float) -> tuple[Iterate, float] | None:
        """The next iterate and the step to it, from the last step; None where no step gives the decrease."""
        eta = min(eta / self.beta, 1e100)
        noise = OBJECTIVE_ROUNDING * abs(iterate.objective)
        while eta > 1e-18:
            new = Iterate.at(iterate.problem, iterate.x - eta * iterate.gradient)
            wanted = self.armijo * eta * square
            # where the decrease is lost in rounding, the slope at the new point tells it (Hager and Zhang 2005)
            lost = eta * square <= noise and new.objective <= iterate.objective + noise
            falls = float(new.gradient @ iterate.gradient) >= (2 * self.armijo - 1) * square
            if falls if lost else new.objective <= iterate.objective - wanted:
                return new, eta
            eta *= self.beta
        return None


def _curvatures(problem: Problem) -> Array:
    """The eigenvalues of the Hessian at x = 0, in rising order."""
    hessian = Iterate.at(problem, np.zeros(problem.size)).hessian()
    if not np.all(np.isfinite(hessian)):
        raise np.linalg.LinAlgError("the Hessian is not finite")
    return np.asarray(np.linalg.eigvalsh(hessian))
