"""Gradient descent with Armijo's rule, an exact line search, a fixed step, or a step that decays."""

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

Steps = Literal["armijo", "exact", "fixed", "decay"]
STEPS = ("armijo", "exact", "fixed", "decay")
#: Those that look for their length, and see to it that the objective falls.
SEARCHES = ("armijo", "exact")
MAX_CONDITION = 1e4
#: What rounding may do to an objective, relative to it.
OBJECTIVE_ROUNDING = 1e-14
MAX_STEPS_WITHOUT_GAIN = 2000
#: Along a line that falls for so long there is no minimum; a step as short as the other moves nothing.
LONGEST_STEP, SHORTEST_STEP = 1e100, 1e-18


@dataclass(frozen=True)
class GradientSolver(Solver):
    """x <- x - eta g, g the gradient at x, with eta by ``step``:

    ``armijo``   the largest of eta0, eta0 beta, eta0 beta^2, ... with the decrease
                     f(x - eta g) <= f(x) - armijo * eta ‖g‖^2;
                 eta0 is 1 by default, and no step is longer
    ``exact``    the one that minimises f(x - eta g): where the gradient is at right angles to the last one
    ``fixed``    eta0, by default 1/L with L the largest curvature at x = 0
    ``decay``    eta0/tau in iteration tau, eta0 by default as for ``fixed``

    Steps are in the units of the data as given. The first two take about as many iterations as the condition number is
    large, so they refuse badly conditioned problems: standardise the features of these.
    """

    name: ClassVar[str] = "gradient"
    accepts: ClassVar[str] = "smooth losses without constraints, well conditioned"
    promise: ClassVar[float] = 1e-5
    by_passes: ClassVar[bool] = True
    warm: ClassVar[bool] = True
    as_stated: ClassVar[bool] = True

    max_iter: int = 20_000
    eta0: float | None = None
    beta: float = 0.5
    armijo: float = 0.5
    step: Steps = "armijo"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.name, "eta0", self.eta0)
        check_choice(self.name, "step", self.step, STEPS)
        for option in ("beta", "armijo"):
            if not (value := getattr(self, option)) < 1:
                raise ValueError(f"option {option} of solver {self.name!r} is {value!r}: it must lie between 0 and 1")

    def refuses(self, problem: Problem) -> str:
        if (reason := refuse_unless_smooth(problem)) or self.step not in SEARCHES:
            return reason
        try:
            values = _curvatures(problem)
        except np.linalg.LinAlgError as error:
            return str(error)
        positive = values[values > 1e-13 * max(values[-1], 1e-300)]
        if not positive.size:
            return ""
        if (condition := float(positive[-1] / positive[0])) > MAX_CONDITION:
            many = "gradient descent would take as many iterations; standardise X"
            return f"the condition number is {condition:.1e}: {many}"
        shortest = 1.0 / (MAX_CONDITION * float(positive[0]))
        if self.step == "armijo" and (eta0 := self._first_step(problem)) < shortest:
            return f"steps of at most eta0 = {eta0:g} would take more than {MAX_CONDITION:g} iterations: raise eta0"
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
            elif self.step in SEARCHES and iteration - last_gain > MAX_STEPS_WITHOUT_GAIN:
                message = "the gradient no longer falls"
                break
            with np.errstate(over="ignore"):
                square = float(iterate.gradient @ iterate.gradient)
            if not np.isfinite(square):
                message = "the gradient is no longer finite" + ("" if self.step in SEARCHES else ": lower eta0")
                break
            if self.step == "armijo":
                eta = self._armijo(iterate, eta0, square)
            elif self.step == "exact":
                eta = exact_step(iterate, -iterate.gradient)
            else:
                eta = eta0 / (iteration + 1) if self.step == "decay" else eta0
            if not 0.0 < eta < LONGEST_STEP:
                message = "no step lowers the objective further" if eta == 0.0 else "the objective falls for ever"
                break
            iterate = Iterate.at(problem, iterate.x - eta * iterate.gradient)
        return Answer(iterate.x, {}, message, len(tracer.lines) - 1, tuple(tracer.lines))

    def _first_step(self, problem: Problem) -> float:
        if self.eta0 is not None:
            return self.eta0
        return 1.0 if self.step in SEARCHES else 1.0 / max(float(_curvatures(problem)[-1]), 1e-300)

    def _armijo(self, iterate: Iterate, eta0: float, square: float) -> float:
        """The first of eta0 beta^k that gives the decrease; 0 where none does."""
        eta, noise = eta0, OBJECTIVE_ROUNDING * abs(iterate.objective)
        while eta > SHORTEST_STEP:
            new = Iterate.at(iterate.problem, iterate.x - eta * iterate.gradient)
            wanted = self.armijo * eta * square
            # where the decrease is lost in rounding, the slope at the new point tells it (Hager and Zhang 2005)
            lost = eta * square <= noise and new.objective <= iterate.objective + noise
            falls = float(new.gradient @ iterate.gradient) >= (2 * self.armijo - 1) * square
            if falls if lost else new.objective <= iterate.objective - wanted:
                return eta
            eta *= self.beta
        return 0.0


def exact_step(iterate: Iterate, direction: Array) -> float:
    """The eta > 0 that minimises f(x + eta direction), where the slope along the line turns: gradient'direction = 0.
    Infinite where it never does."""
    from scipy.optimize import brentq

    def slope(eta: float) -> float:
        found = float(iterate.function.at(iterate.x + eta * direction).gradient @ direction)
        return found if np.isfinite(found) else np.finfo(float).max  # overflow: far beyond the minimum

    if not slope(0.0) < 0.0:
        return 0.0
    eta = 1.0
    while slope(eta) < 0.0:
        eta *= 2.0
        if eta > LONGEST_STEP:
            return np.inf
    while slope(eta / 2.0) >= 0.0 and eta > SHORTEST_STEP:
        eta /= 2.0
    return float(brentq(slope, 0.0, eta, xtol=SHORTEST_STEP, rtol=1e-13, disp=False))


def _curvatures(problem: Problem) -> Array:
    """The eigenvalues of the Hessian at x = 0, in rising order."""
    hessian = Iterate.at(problem, np.zeros(problem.size)).hessian()
    if not np.all(np.isfinite(hessian)):
        raise np.linalg.LinAlgError("the Hessian is not finite")
    return np.asarray(np.linalg.eigvalsh(hessian))
