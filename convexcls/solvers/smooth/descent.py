"""The two descents of the Newton solver: with the Hessian at every point, and with a preconditioner in its place.

The second is L-BFGS (Nocedal 1980) around the preconditioner. Each iteration is one evaluation, value and gradient
together. With a first guess B0 whose error against the Hessian is a factor r, the residual shrinks by about r an
iteration, and faster as the pairs (step, change of gradient) fill in the directions in which B0 was wrong; on a
quadratic, with exact steps, it is the preconditioned conjugate gradient.

On separated classes the likelihood has no maximiser. A few Newton steps lead to a point with every margin positive;
going on along it, every loss falls towards its infimum. That is a proof, and it needs no further iteration.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.base import Tracer
from convexcls.solvers.smooth.hessian import newton_step
from convexcls.solvers.smooth.line_search import advance, backtrack
from convexcls.solvers.smooth.objective import State
from convexcls.solvers.smooth.preconditioner import Preconditioner, StandIn

#: A margin counts as positive above this fraction of what it may be at most: rounding has no say in it.
POSITIVE_MARGIN_SHARE = 1e-7

SEPARATED = "every margin is positive: the classes are separated, and there is no minimum"
Detail = Callable[[State], dict[str, Any]]
#: The residual aimed at, relative to the tolerance: the check measures it in other ways, some of them less kind, the
#: less so the nearer the columns are to repeating each other.
RESIDUAL_SHARE = 1e-3
#: A residual that rounding alone leaves.
ROUNDED_RESIDUAL = 1e-15
MIN_RESIDUAL_SHARE, MAX_RESIDUAL_SHARE = 1e-4, 1e-2
PENALISED_SHARE = 0.1
#: Iterations without half the residual, after which a descent with a stand-in gives up.
MAX_STEPS_WITHOUT_GAIN = 15
#: The residual at which a stand-in that was made far away is made again.
RESIDUAL_TO_RENEW = 1e-2
CONVERGED = "the gradient is as small as rounding allows"


def may_run_away(problem: Problem) -> bool:
    """Whether there may be such a direction: all losses fall towards one side, and nothing else pulls back."""
    return (
        bool(problem.terms)
        and not np.any(problem.q)
        and all(t.loss.slopes[1] == 0.0 for t in problem.terms)
        and not all(v.name in problem.quadratic for v in problem.variables)
    )


def separating_direction(state: State) -> Array | None:
    """The point itself, where it is such a direction, as long as it takes to move every margin by one."""
    least = np.inf
    for t, reading in zip(state.function.terms, state.readings, strict=True):
        smallest = t.smallest_margin(reading)
        if not smallest > 0 or not smallest > POSITIVE_MARGIN_SHARE * float(t.reach @ np.abs(state.x)):
            return None
        least = min(least, smallest)
    if np.any(state.curved) or not np.isfinite(least):
        return None
    return np.asarray(state.x / least)


@dataclass(eq=False)
class SecantPairs:
    """The last steps with the changes of the gradient along them."""

    preconditioner: Preconditioner
    #: Whether the preconditioner is rough: then the last pair says how much too large or small it is.
    rough: bool = False
    memory: int = 30
    scale: float = 1.0
    pairs: deque[tuple[Array, Array, float]] = field(default_factory=deque)

    def learn(self, step: Array, change: Array) -> None:
        """Remember a pair, unless rounding made it useless."""
        product = float(step @ change)
        if product > 1e-15 * float(np.linalg.norm(step)) * float(np.linalg.norm(change)):
            self.pairs.append((step, change, product))
            if len(self.pairs) > self.memory:
                self.pairs.popleft()
            if self.rough:
                self.scale = product / float(change @ self.preconditioner.solve(change))

    def direction(self, gradient: Array) -> Array:
        """Minus the approximate inverse Hessian times the gradient, by the two-loop recursion."""
        q = gradient.copy()
        shares = []
        for step, change, product in reversed(self.pairs):
            share = float(step @ q) / product
            shares.append(share)
            q -= share * change
        r = self.preconditioner.solve(q)
        r *= self.scale
        for (step, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            r += (share - float(change @ r) / product) * step
        return -r


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where a descent ended and why; a direction where it found that there is no minimum."""

    state: State
    message: str
    finished: bool
    direction: Array | None = None


@dataclass(eq=False)
class Descent:
    """A descent from a state, with its trace and its limits."""

    tol: float
    tracer: Tracer
    detail: Detail

    def exact(self, state: State, most: int) -> Outcome:
        """Newton's method with the Hessian of every point, until rounding ends it."""
        runaway, begun = may_run_away(state.problem), len(self.tracer.lines)
        shrink, best, stalled, well_conditioned = 1.0, np.inf, 0, True
        for _ in range(most):
            residual = self._record(state, shrink)
            if runaway and (direction := separating_direction(state)) is not None:
                return Outcome(state, SEPARATED, True, direction)
            stalled = stalled + 1 if residual > 0.5 * best else 0
            best = min(best, residual)
            # where the Hessian is nearly singular, each step gains few digits, and the residual does not show them
            patience = 1 if well_conditioned else 4
            done = residual <= (ROUNDED_RESIDUAL if well_conditioned else 0.0)
            if done or (residual <= RESIDUAL_SHARE * self.tol and stalled >= patience) or stalled >= 30:
                return Outcome(state, CONVERGED if residual <= self.tol else "no further progress", True)
            step, well_conditioned = newton_step(state.problem, state.hessian(), state.gradient)
            state, shrink = backtrack(state, step)
            if shrink == 0.0:
                return Outcome(state, "no step along the Newton direction lowers the objective further", True)
            if len(self.tracer.lines) - begun > 40 and state.moved_most(step) > 0.5:
                return Outcome(state, "margins keep growing: the classes look separated", True)
        return Outcome(state, f"stopped after {most} iterations", False)

    def with_stand_in(self, state: State, stand_in: StandIn, most: int) -> Outcome:
        """L-BFGS around a stand-in for the Hessian, until the residual is well below the tolerance. A stand-in from
        far away is replaced once, where the end is in sight; what the pairs have learned stays true."""
        runaway = may_run_away(state.problem)
        pairs, length, best, stalled = SecantPairs(stand_in.first, stand_in.rough), 1.0, np.inf, 0
        again = stand_in.again
        target = self.tol * max(MIN_RESIDUAL_SHARE, MAX_RESIDUAL_SHARE * min(1.0, stand_in.first.smallest))
        for _ in range(most):
            residual = self._record(state, length)
            if runaway and (direction := separating_direction(state)) is not None:
                return Outcome(state, SEPARATED, True, direction)
            stalled = stalled + 1 if residual > 0.5 * best else 0
            best = min(best, residual)
            if residual <= target and state.penalised_gradient() <= PENALISED_SHARE * self.tol:
                return Outcome(state, "the gradient is well below the tolerance", True)
            if stalled >= MAX_STEPS_WITHOUT_GAIN:
                return Outcome(state, "no further progress", False)
            if again is not None and residual <= RESIDUAL_TO_RENEW:
                pairs.preconditioner, again = again(state.x), None
            step = pairs.direction(state.gradient)
            new, length = advance(state, step)
            if length == 0.0:
                return Outcome(state, "no step lowers the objective further", False)
            pairs.learn(new.x - state.x, new.gradient - state.gradient)
            state = new
        return Outcome(state, f"stopped after {most} iterations", False)

    def _record(self, state: State, length: float) -> float:
        residual = state.relative_gradient()
        self.tracer.record(state.objective, residual, length, self.detail(state), point=state.x)
        return residual
