"""Newton's method on the KKT system: smooth losses, on open domains too, under linear equations.

Where the dual of a logistic regression maximises entropies subject to sum_i lam_i y_i x_i = 0, stationarity and the
equations are one system, and a Newton step solves its linearization

    [ H  A' ] [ dx      ]     [ gradient ]
    [ A  0  ] [ nu_next ]  = -[ Ax - b   ]

from a start inside the domain that need not satisfy the equations (Boyd and Vandenberghe, section 10.3). Steps are cut
back until the point stays inside the domain and the residual falls, or, once the equations hold, the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.rows import one_entry_each
from convexcls.solvers.base import Answer, Callback, Solver, Tracer, split_by_block, stacked
from convexcls.solvers.smooth.hessian import shortest_solution
from convexcls.solvers.smooth.objective import Iterate

MAX_DENSE_UNKNOWNS = 3000
SHORTEST_STEP = 1e-12


@dataclass(frozen=True)
class NewtonKKTSolver(Solver):
    """Newton's method for equality-constrained smooth problems, such as duals of likelihoods."""

    name: ClassVar[str] = "newton-kkt"
    accepts: ClassVar[str] = "smooth losses and entropies under linear equations, up to 3000 unknowns"
    promise: ClassVar[float] = 1e-8
    by_passes: ClassVar[bool] = True

    max_iter: int = 100

    def refuses(self, problem: Problem) -> str:
        if problem.norm_bounds or any(c.relation == "<=" for c in problem.constraints):
            return "it works with equations, and the problem has inequalities"
        if problem.size > MAX_DENSE_UNKNOWNS:
            return f"it factors a dense system, and {problem.size} unknowns are more than {MAX_DENSE_UNKNOWNS}"
        if all(t.is_half_square for t in problem.terms):
            return "the problem is quadratic: closed-form solves it at once"
        if _interior_start(problem) is None:
            return "it found no point inside the domain of every loss to start from"
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer, x = Tracer(callback), _interior_start(problem)
        assert x is not None
        A, b = stacked(problem, problem.constraints)
        iterate, nu, length = Iterate.at(problem, x), np.zeros(b.size), 1.0
        message = f"stopped after {self.max_iter} iterations"
        for _ in range(self.max_iter):
            tracer.record(iterate.objective, _residual(iterate, A, b, nu), length, point=iterate.x)
            step, target = _step(iterate, A, b)
            found = _backtrack(iterate, step, nu, target - nu, A, b)
            if found is None:
                message = "the residual is as small as rounding allows"
                break
            iterate, nu, length = found
        multipliers = split_by_block(problem.constraints, nu)
        return Answer(iterate.x, multipliers, message, len(tracer.lines) - 1, tuple(tracer.lines))


def _residual(iterate: Iterate, A: Array, b: Array, nu: Array) -> float:
    return float(np.linalg.norm(np.concatenate([iterate.gradient + A.T @ nu, A @ iterate.x - b])))


def _backtrack(
    iterate: Iterate, step: Array, nu: Array, change: Array, A: Array, b: Array
) -> tuple[Iterate, Array, float] | None:
    """The iterate and the multipliers after the first of the steps 1, 1/2, 1/4, ... inside the domain that lowers the
    residual or gains otherwise, and its length; None where there is none."""
    residual, length = _residual(iterate, A, b, nu), 1.0
    while length > SHORTEST_STEP:
        x, after = iterate.x + length * step, nu + length * change
        if _inside(iterate.problem, x):
            new = Iterate.at(iterate.problem, x)
            lower = _residual(new, A, b, after) <= (1.0 - 0.01 * length) * residual
            if lower or _gains(iterate, new, step, length, A, b):
                return new, after, length
        length *= 0.5
    return None


def _gains(iterate: Iterate, new: Iterate, step: Array, length: float, A: Array, b: Array) -> bool:
    """Whether the step solves the equations that did not hold before or, where they did, lowers the objective."""
    before, after = np.abs(A @ iterate.x - b), np.abs(A @ new.x - b)
    if np.any(before > 1e-12 * (np.abs(A) @ np.abs(iterate.x) + np.abs(b))):
        return bool(length == 1.0 and after.max() <= 0.1 * before.max())
    promised = -float(iterate.gradient @ step) * length
    return promised > 1e-13 * abs(iterate.objective) and new.objective <= iterate.objective - 1e-4 * promised


def _step(iterate: Iterate, A: Array, b: Array) -> tuple[Array, Array]:
    """The Newton step and the multipliers it leads to; columns that repeat each other get the shortest."""
    n = iterate.x.size
    system = np.block([[iterate.hessian(), A.T], [A, np.zeros((b.size, b.size))]])
    right = -np.concatenate([iterate.gradient, A @ iterate.x - b])
    size = np.sqrt(np.abs(system).max(axis=1, initial=0.0))
    size = np.where(size > 0, size, 1.0)
    balanced = system / np.outer(size, size)
    try:
        solution = np.linalg.solve(balanced, right / size)
    except np.linalg.LinAlgError:
        solution = shortest_solution(balanced, right / size, 1e-13)
    solution = solution / size
    return solution[:n], solution[n:]


def _interior_start(problem: Problem) -> Array | None:
    """A point at which every loss is smooth: 0, or the middle of the domain where a loss acts on single entries."""
    x = np.zeros(problem.size)
    for t in problem.terms:
        rows = problem.rows(t)
        if one_entry_each(rows):
            middle = np.tile(t.loss.middle(), t.weights.size)
            squares = rows @ (rows.T @ np.ones(t.size))
            x += rows.T @ ((middle - t.offset) / squares)
    return x if _inside(problem, x) else None


def _inside(problem: Problem, x: Array) -> bool:
    return bool(np.all(np.isfinite(x))) and all(
        t.loss.inside(problem.rows(t) @ x + t.offset) for t in problem.terms if np.isfinite(t.loss.domain).any()
    )
