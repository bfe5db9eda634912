"""L-BFGS (Nocedal 1980) around a preconditioner: the inverse Hessian as a product of secant updates of a first guess.

Each iteration is one evaluation, value and gradient together. With a first guess B0 whose error against the Hessian is
a factor r, the residual shrinks by about r an iteration, and faster as the pairs (step, change of gradient) fill in
the directions in which B0 was wrong; on a quadratic, with exact steps, it is the preconditioned conjugate gradient.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from convexcls.arrays import Array
from convexcls.solvers.smooth.line_search import ENOUGH, SHORTEST
from convexcls.solvers.smooth.objective import State
from convexcls.solvers.smooth.preconditioner import Preconditioner


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


def advance(state: State, step: Array) -> tuple[State, float]:
    """The first length, from 1 down, that lowers the objective enough: the next one is where a parabola through what
    is known has its minimum. Near the solution, where rounding hides the decrease, a smaller slope will do."""
    function = state.function
    slope = float(state.gradient @ step)
    unit = max(abs(state.objective), function.problem.unit)
    length = 1.0
    while length > SHORTEST:
        new = function.at(state.x + length * step)
        rise = new.objective - state.objective
        if rise <= ENOUGH * length * slope:
            return new, length
        if rise <= 1e-12 * unit and abs(float(new.gradient @ step)) <= 0.9 * abs(slope):
            return new, length
        bent = rise - length * slope
        best = -0.5 * slope * length * length / bent if np.isfinite(bent) and bent > 0 else 0.0
        length = min(max(best, 0.1 * length), 0.5 * length)
    return state, 0.0
