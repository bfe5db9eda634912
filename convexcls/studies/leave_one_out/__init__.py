"""Leave-one-out cross-validation: what the classifier says of each sample when it has not seen it (ESL 7.10).

========  ========================================================================================================
hat       least squares and ridge, all samples from one factorization
newton    likelihoods, each fit to the end by Newton's method from the full fit, many at once
one-step  likelihoods, one Newton step from the full fit by a formula, with a proved bound on the error
refit     any model, declared and solved again without the sample, every verdict proved
========  ========================================================================================================
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, get_args

from convexcls.models import LeastSquares, Model
from convexcls.problem import NoAnswer, Problem
from convexcls.solution import Solution
from convexcls.studies.leave_one_out.newton import left_out_by_newton, takes_newton
from convexcls.studies.leave_one_out.refit import left_out_by_hat, left_out_by_refit
from convexcls.studies.leave_one_out.result import LeaveOneOut, Outcome, Progress

Method = Literal["auto", "hat", "newton", "one-step", "refit"]

__all__ = ["LeaveOneOut", "Method", "Progress", "leave_one_out"]


def leave_one_out(
    problem: Problem,
    *,
    method: Method = "auto",
    tol: float = 1e-8,
    progress: Callable[[int, int], None] | None = None,
) -> LeaveOneOut:
    """Leave out each sample in turn and predict it from the others.

    ``auto`` takes ``hat`` for least squares, ``newton`` for the logistic and the exponential loss without constraints,
    and ``refit`` otherwise: all three are exact. A basis is kept as it was made of all samples. ``tol`` is the relative
    tolerance of the proofs; ``progress`` is called with how many samples are done, and how many there are.

    >>> import convexcls as cc
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> cc.leave_one_out(cc.LeastSquares(X, y)).error_count
    0
    """
    if not isinstance(problem, Model):
        raise NoAnswer(f"the {problem.name} was not declared on data: there are no samples to leave out")
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}: choose one of {', '.join(map(repr, get_args(Method)))}")
    begun = time.perf_counter()
    full = problem.solve(tol=tol).unless_interrupted()
    outcome = _run(problem, method, tol, full, progress or (lambda _done, _total: None))
    return LeaveOneOut(**vars(outcome), problem=problem, full=full, seconds=time.perf_counter() - begun)


def _run(problem: Model, method: Method, tol: float, full: Solution, progress: Progress) -> Outcome:
    if method == "auto":
        by_newton = takes_newton(problem) and full.status == "optimal"
        method = "hat" if isinstance(problem, LeastSquares) else "newton" if by_newton else "refit"
    if method == "refit":
        return left_out_by_refit(problem, full, tol, progress)
    if method == "hat":
        if not isinstance(problem, LeastSquares):
            raise ValueError(f"method 'hat' is for least squares, not for the {problem.name}: use 'auto' or 'refit'")
        return left_out_by_hat(problem, progress)
    if not takes_newton(problem):
        raise ValueError(
            f"method {method!r} is for the logistic and the exponential loss without constraints, "
            f"not for the {problem.name}: use 'auto' or 'refit'"
        )
    if full.status != "optimal":
        raise NoAnswer(f"method {method!r} begins at the fit to all samples, which is {full.status}: use 'refit'")
    return left_out_by_newton(problem, full, tol, progress, one_step=method == "one-step")
