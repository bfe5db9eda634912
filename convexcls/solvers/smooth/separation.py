"""Whether a descent runs away: the point that it reached is itself a direction along which every loss falls for ever.

On separated classes the likelihood has no maximiser. A few Newton steps lead to a point with every margin positive;
going on along it, every loss falls towards its infimum. That is a proof, and it needs no further iteration.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.smooth.objective import State

#: A margin counts as positive above this fraction of what it may be at most: rounding has no say in it.
CLEARLY = 1e-7

SEPARATED = "every margin is positive: the classes are separated, and there is no minimum"


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
        if not smallest > 0 or not smallest > CLEARLY * float(t.reach @ np.abs(state.x)):
            return None
        least = min(least, smallest)
    if np.any(state.curved) or not np.isfinite(least):
        return None
    return np.asarray(state.x / least)
