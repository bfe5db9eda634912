"""The toolkit's own solution of the program that an estimator solved: its multipliers give the bound."""

from __future__ import annotations

import numpy as np

from convexcls.problem import Problem
from convexcls.solution import Solution
from convexcls.solve import solve
from convexcls.solvers import SolverRefused

#: A program is solved where its data have at most so many entries.
MODERATE = 4_000_000
#: Samples of a kernel machine that is solved.
MODERATE_KERNEL = 4000
#: What is asked of the solution.
TOLERANCE = 1e-9


def own_solution(problem: Problem) -> Solution | None:
    """The solution, where the program is of moderate size; its verdict may be anything."""
    kernel = any(not isinstance(p, np.ndarray) for p in problem.quadratic.values())
    entries = sum(problem.rows(b).entries for b in (*problem.terms, *problem.constraints))
    if (kernel and problem.size > MODERATE_KERNEL) or entries > MODERATE:
        return None
    try:
        return solve(problem, tol=TOLERANCE).unless_interrupted()
    except SolverRefused:
        return None
