"""Iteratively reweighted least squares: logistic regression as a sequence of weighted least-squares fits.

With y in {0, 1}, theta = (coef, intercept), X ending in ones and p_i = 1/(1 + exp(-x_i'theta)), Newton's step

    theta <- theta + (X'WX)^-1 X'(y - p),      W = diag(p (1 - p)),

is the weighted least-squares fit of the adjusted response z to X (ESL 4.26 to 4.28):

    theta <- argmin over theta of (z - X theta)' W (z - X theta),      z = X theta + W^-1 (y - p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import Logistic
from convexcls.problem import Problem, Term
from convexcls.rows import Rows
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, refuse_unless_smooth
from convexcls.solvers.smooth.hessian import CholeskyFactor, scaled_hessian, shortest_solution
from convexcls.solvers.smooth.objective import SmoothObjective

#: Relative gradients from which another step only rounds.
CONVERGED, ROUNDED = 1e-3, 1e-15


@dataclass(frozen=True)
class IRLSSolver(Solver):
    """theta <- (X'WX + l2 I)^-1 X'Wz, a whole step each time: on classes that overlap little it may diverge, and where
    they are separated it runs away, as in the books; ``newton`` is the same step, guarded. Sample weights multiply W;
    the intercept takes no part in the penalty. ``detail`` in the trace has ``theta``, ``p``, the diagonal ``W`` and
    ``z``, in the coding 0, 1: the next theta is the fit of z."""

    name: ClassVar[str] = "irls"
    accepts: ClassVar[str] = "logistic regression, with or without ridge penalty (shown as in the books)"
    promise: ClassVar[float] = 1e-8
    by_passes: ClassVar[bool] = True
    warm: ClassVar[bool] = True
    as_stated: ClassVar[bool] = True
    rule: ClassVar[bool] = True

    max_iter: int = 100

    def refuses(self, problem: Problem) -> str:
        if reason := refuse_unless_smooth(problem):
            return reason
        if problem.matrices or np.any(problem.q) or len(problem.terms) != 1 or problem.terms[0].loss != Logistic():
            return "it maximises one logistic likelihood, with or without a ridge penalty"
        if np.any(problem.terms[0].offset) or _signs(problem.terms[0]) is None:
            return "its rows are not y_i (x_i, 1) with y_i = -1 or +1"
        return ""

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer, function, (term,) = Tracer(callback), SmoothObjective(problem), problem.terms
        rows, signs = problem.rows(term), _signs(term)
        assert signs is not None
        theta, message, before = np.array(start.x), f"stopped after {self.max_iter} iterations", np.inf
        for _ in range(self.max_iter):
            iterate = function.at(theta)
            score = signs * (rows @ theta)  # X theta: the rows are y_i (x_i, 1)
            p = 1.0 / (1.0 + np.exp(-score))
            rest = np.where(signs > 0, 1.0 / (1.0 + np.exp(score)), -p)  # y - p, none of it by cancellation
            W = term.weights / (2.0 + np.exp(score) + np.exp(-score))
            z = score + term.weights * rest / W
            residual = iterate.relative_gradient()
            tracer.record(iterate.objective, residual, 1.0, {"theta": theta, "p": p, "W": W, "z": z}, point=theta)
            if residual <= ROUNDED or (residual <= CONVERGED * tol and residual >= 0.5 * before):
                message = "the gradient is as small as rounding allows"
                break
            if not (np.all(np.isfinite(z)) and np.any(W)):
                message = f"diverged after {len(tracer.lines) - 1} steps: some weight p (1 - p) is 0 in doubles"
                break
            theta, before = weighted_least_squares(problem, rows, W, signs * z), residual
        return Answer(theta, {}, message, len(tracer.lines) - 1, tuple(tracer.lines))


def weighted_least_squares(problem: Problem, rows: Rows, W: Array, z: Array) -> Array:
    """(R'WR + P)^-1 R'Wz: the shortest where columns repeat each other."""
    hessian, right = rows.gram(W), rows.T @ (W * z)
    hessian.flat[:: problem.size + 1] += problem.apply_quadratic(np.ones(problem.size))
    scaled, size = scaled_hessian(None, hessian)
    factor = CholeskyFactor.of(scaled.copy(), size)
    if factor is not None and factor.smallest > 1e-7:
        return factor.solve(right)
    return shortest_solution(scaled, right / size, 1e-13) / size


def _signs(term: Term) -> Array | None:
    """The y_i in rows y_i (x_i, 1); None where they are made otherwise."""
    found = [left for r in term.entries.values() if (left := r.factors().left) is not None]
    same = len(found) == len(term.entries) and all(np.array_equal(left, found[0]) for left in found)
    return found[0] if same and np.all(np.abs(found[0]) == 1.0) else None
