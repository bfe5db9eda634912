"""How far to go along a step: the first length that lowers the objective enough (Armijo)."""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.solvers.smooth.objective import State

ARMIJO = 1e-4
SHORTEST_STEP = 1e-10


def backtrack(state: State, step: Array) -> tuple[State, float]:
    """The first of the steps 1, 1/2, 1/4, ... that lowers the objective enough, or no step (0.0). A quadratic needs no
    such care: there the full step is the solution, whatever rounding says of the objective."""
    function = state.function
    if function.problem.is_quadratic_program:
        return function.at(state.x + step), 1.0
    slope = float(state.gradient @ step)
    noise = 1e-14 * max(abs(state.objective), function.problem.unit)
    shrink = 1.0
    while shrink > SHORTEST_STEP:
        new = function.at(state.x + shrink * step)
        if np.isfinite(new.objective) and new.objective <= state.objective + ARMIJO * shrink * slope + noise:
            return new, shrink
        shrink *= 0.5
    return state, 0.0


def advance(state: State, step: Array) -> tuple[State, float]:
    """The first length, from 1 down, that lowers the objective enough: the next one is where a parabola through what
    is known has its minimum. Near the solution, where rounding hides the decrease, a smaller slope will do."""
    function = state.function
    slope = float(state.gradient @ step)
    unit = max(abs(state.objective), function.problem.unit)
    length = 1.0
    while length > SHORTEST_STEP:
        new = function.at(state.x + length * step)
        rise = new.objective - state.objective
        if rise <= ARMIJO * length * slope:
            return new, length
        if rise <= 1e-12 * unit and abs(float(new.gradient @ step)) <= 0.9 * abs(slope):
            return new, length
        bent = rise - length * slope
        best = -0.5 * slope * length * length / bent if np.isfinite(bent) and bent > 0 else 0.0
        length = min(max(best, 0.1 * length), 0.5 * length)
    return state, 0.0
