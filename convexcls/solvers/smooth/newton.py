"""Newton-Raphson, which for a loss of linear scores is iteratively reweighted least squares.

At x, with u = Mx + t, slopes g_i and curvatures w_i of the losses, the step solves

    (P + M' W M) s = -(Px + q + M'g),        W = diag(w)

which is the weighted least-squares fit of the adjusted response z = u - g/w (ESL 4.26, 4.27). Each step costs one Gram
matrix and one factorization of its size, the number of coefficients. Where that is dear, the Hessian of a share of the
samples stands in for it, and where even that is too large, its diagonal; L-BFGS corrects what they get wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, refuse_unless_smooth
from convexcls.solvers.smooth.descent import Descent, Outcome
from convexcls.solvers.smooth.objective import SmoothObjective, State
from convexcls.solvers.smooth.preconditioner import (
    RIDGE_ON_FEW_SAMPLES,
    SAMPLES_PER_UNKNOWN_TO_RENEW,
    SAMPLES_PER_UNKNOWN_TO_START,
    StandIn,
    diagonal_at,
    factor_of_share,
    share_size,
    start_on_share,
)
from convexcls.solvers.smooth.terms import GeneralTerm, SweptTerm

Hessian = Literal["auto", "exact", "subsampled", "free"]
MAX_ROWS_SHOWN = 10_000
#: More unknowns than this make no dense matrix, unless asked for.
MAX_DENSE_UNKNOWNS = 2000
#: Gram matrices of so few products are no burden: then every step has its own.
MAX_EASY_PRODUCTS = 20_000_000


@dataclass(frozen=True)
class NewtonSolver(Solver):
    """Newton's method, guarded by backtracking. ``hessian`` is ``exact`` (at every point, until rounding ends it),
    ``subsampled`` (from a share of the samples, once, corrected by L-BFGS), ``free`` (nothing larger than the data) or
    ``auto``, by size. Where a stand-in makes no progress, the exact Hessian takes over. ``max_iter`` counts exact
    steps; of the others, which are as much cheaper, there may be thirty times as many. ``adjusted_response`` keeps the
    adjusted response and the weights of every iteration in the trace (by default up to 10000 samples)."""

    name: ClassVar[str] = "newton"
    accepts: ClassVar[str] = "smooth losses and quadratics without constraints"
    promise: ClassVar[float] = 1e-8
    warm: ClassVar[bool] = True

    max_iter: int = 100
    adjusted_response: bool | None = None
    hessian: Hessian = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hessian not in ("auto", "exact", "subsampled", "free"):
            raise ValueError(
                f"option hessian of solver 'newton' is {self.hessian!r}: it must be auto, exact, subsampled or free"
            )

    def refuses(self, problem: Problem) -> str:
        return refuse_unless_smooth(problem)

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return self.solve_from(Start(np.zeros(problem.size)), problem, tol, callback)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        function = SmoothObjective(problem)
        descent = Descent(tol, Tracer(callback), self._detail)
        way = self._way(function)
        if way == "exact":
            outcome = descent.exact(function.at(start.x), self.max_iter)
        else:
            state, stand_in = _prepared(function, start.x, way)
            outcome = descent.with_stand_in(state, stand_in, 30 * self.max_iter)
            if not outcome.finished and problem.size <= MAX_DENSE_UNKNOWNS:
                outcome = descent.exact(outcome.state, self.max_iter)
        return _answer(outcome, descent.tracer)

    def _way(self, function: SmoothObjective) -> Hessian:
        """How to come by a Hessian: the cheapest way that serves."""
        if self.hessian != "auto":
            return self.hessian
        size, samples = function.problem.size, sum(t.samples for t in function.terms)
        if size > MAX_DENSE_UNKNOWNS:
            return "free"
        if function.problem.is_quadratic_program or samples * size * size <= MAX_EASY_PRODUCTS or function.has_matrix:
            return "exact"
        return "subsampled"

    def _detail(self, state: State) -> dict[str, Any]:
        terms = state.function.terms
        wanted = self.adjusted_response
        if wanted is None:
            wanted = sum(t.samples * t.loss.width for t in terms) <= MAX_ROWS_SHOWN
        if not wanted:
            return {}
        out = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for t, reading in zip(terms, state.readings, strict=True):
                if isinstance(t, SweptTerm | GeneralTerm) and (w := t.curvature(reading)).ndim == 1:
                    response = reading.arguments - reading.slopes / w
                    out[t.name] = {"adjusted_response": response, "weights": t.weights * w}
        return out


def _prepared(function: SmoothObjective, x: Array, way: Hessian) -> tuple[State, StandIn]:
    """Where to begin, and the stand-in for the Hessian. A start of the caller's is kept; from zero, the minimum over a
    share of the samples is taken where it is the better one."""
    size, samples = function.problem.size, max((t.samples for t in function.terms), default=0)
    if way == "free":
        begun = function.at(x)
        return begun, StandIn(diagonal_at(begun), rough=True)
    count = share_size(samples, size)
    if np.any(x) or not SAMPLES_PER_UNKNOWN_TO_START * size <= count < samples:
        share = function.share(count)
        if count < SAMPLES_PER_UNKNOWN_TO_RENEW * size:
            return function.at(x), StandIn(factor_of_share(share.at(x), RIDGE_ON_FEW_SAMPLES), rough=True)
        return function.at(x), StandIn(factor_of_share(share.at(x)), again=lambda y: factor_of_share(share.at(y)))
    near = start_on_share(function, count)
    begun = function.at(near.x)
    if begun.objective < function.value_at_zero():
        return begun, StandIn(factor_of_share(near))
    return function.at(x), StandIn(factor_of_share(near.function.at(x)))


def _answer(outcome: Outcome, tracer: Tracer) -> Answer:
    lines = tuple(tracer.lines)
    return Answer(outcome.state.x, {}, outcome.message, len(lines) - 1, lines, direction=outcome.direction)
