"""Newton-Raphson, which for a loss of linear scores is iteratively reweighted least squares.

At x, with u = Mx + t, slopes g_i and curvatures w_i of the losses, the step solves

    (P + M' W M) s = -(Px + q + M'g),        W = diag(w)

which is the weighted least-squares fit of the adjusted response z = u - g/w (ESL 4.26, 4.27). Each step costs one Gram
matrix and one factorization of its size, the number of coefficients. Where that is dear, the Hessian of a share of the
samples stands in for it, and where even that is too large, its diagonal; L-BFGS corrects what they get wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, WhenLookedAt, refuse_unless_smooth
from convexcls.solvers.smooth.descent import FAR_OUT, DescentOutcome, Progress, backtrack, may_run_away, stretched
from convexcls.solvers.smooth.hessian import newton_step
from convexcls.solvers.smooth.objective import Iterate, SmoothObjective
from convexcls.solvers.smooth.quasi_newton import (
    MIN_SAMPLES_PER_UNKNOWN,
    PENALISED_SHARE,
    StandIn,
    begun,
    prepared,
    quasi_newton,
)
from convexcls.solvers.smooth.terms import GeneralTerm, Reading, ScoredTerm, SmoothTerm, SweptTerm

Hessian = Literal["auto", "exact", "subsampled", "free"]
MAX_ROWS_SHOWN = 10_000
#: More unknowns than this make no dense matrix, unless asked for.
MAX_DENSE_UNKNOWNS = 2000
#: Gram matrices of so few products are no burden: then every step has its own.
MAX_EASY_PRODUCTS = 20_000_000
#: With so few unknowns a Gram matrix costs no more than some passes; it is better than a stand-in with such a pivot.
MAX_EASY_UNKNOWNS, NEARLY_SINGULAR = 300, 1e-2
#: Steps with a stand-in for the Hessian, for each exact one that is allowed: they are as much cheaper.
CHEAP_STEPS_PER_STEP = 30
#: The residual aimed at, relative to the tolerance: the check measures it in other ways, some of them less kind, the
#: less so the nearer the columns are to repeating each other.
RESIDUAL_SHARE = 1e-3
#: A residual that rounding alone leaves.
ROUNDED_RESIDUAL = 1e-15
#: A step that divides the residual by as much converges quadratically.
MANY_DIGITS = 1e3
#: From such a residual one more step leaves what rounding does, though its Hessian is that of the iterate before.
LAST_STEP = 1e-8
#: Iterations without half the residual, after which rounding has the last word.
MAX_STEPS_WITHOUT_GAIN = 30
#: Margins that still grow after so many steps will not stop.
MAX_STEPS_BEFORE_RUNAWAY = 40
CONVERGED = "the gradient is as small as rounding allows"


@dataclass(frozen=True)
class NewtonSolver(Solver):
    """Newton's method, guarded by backtracking. ``hessian`` is ``exact`` (at every point, until rounding ends it),
    ``subsampled`` (from a share of the samples, once, corrected by L-BFGS), ``free`` (nothing larger than the data) or
    ``auto``, by size. Where a stand-in makes no progress, the exact Hessian takes over. ``max_iter`` counts exact
    steps; of the others, which are as much cheaper, there may be thirty times as many. ``adjusted_response`` keeps the
    adjusted response and the weights of every iteration in the trace (by default up to 10000 samples).

    ``guard=False`` is the plain method: every step is taken whole, with the exact Hessian, wherever it leads. It may
    diverge, and says so."""

    name: ClassVar[str] = "newton"
    accepts: ClassVar[str] = "smooth losses and quadratics without constraints"
    promise: ClassVar[float] = 1e-8
    by_passes: ClassVar[bool] = True
    warm: ClassVar[bool] = True

    max_iter: int = 100
    adjusted_response: bool | None = None
    hessian: Hessian = "auto"
    guard: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hessian not in ("auto", "exact", "subsampled", "free"):
            raise ValueError(
                f"option hessian of solver 'newton' is {self.hessian!r}: it must be auto, exact, subsampled or free"
            )
        if not self.guard and self.hessian not in ("auto", "exact"):
            raise ValueError("solver 'newton' without guard takes the exact Hessian: leave out hessian, or guard=False")

    def refuses(self, problem: Problem) -> str:
        return refuse_unless_smooth(problem)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        function, tracer = SmoothObjective(problem), Tracer(callback)
        approximation = self._approximation(function)
        if not self.guard:
            outcome = plain_newton(function.at(start.x), tol, self.max_iter, Progress(problem, tracer, self._detail))
        elif approximation == "exact":
            function.read_at_once()
            outcome = newton(begun(function, start.x), tol, self.max_iter, Progress(problem, tracer, self._detail))
        else:
            iterate, stand_in = prepared(function, start.x, approximation == "subsampled")
            outcome = DescentOutcome(iterate, "", False)
            if not self._nearly_singular(stand_in, problem.size):
                progress = Progress(problem, tracer, self._detail)
                outcome = quasi_newton(iterate, stand_in, tol, CHEAP_STEPS_PER_STEP * self.max_iter, progress)
            if outcome.direction is None and problem.remembered(may_run_away) and outcome.iterate.is_far_out(FAR_OUT):
                outcome = replace(outcome, finished=False)  # exact steps tell whether margins grow for ever
            if not outcome.finished and problem.size <= MAX_DENSE_UNKNOWNS:
                outcome = newton(outcome.iterate, tol, self.max_iter, Progress(problem, tracer, self._detail))
        lines = tuple(tracer.lines)
        return Answer(outcome.iterate.x, {}, outcome.message, len(lines) - 1, lines, direction=outcome.direction)

    def _approximation(self, function: SmoothObjective) -> Hessian:
        """How to come by a Hessian: the cheapest way that serves."""
        if self.hessian != "auto":
            return self.hessian
        size, samples = function.problem.size, sum(t.samples for t in function.terms)
        if size > MAX_DENSE_UNKNOWNS:
            return "free"
        if size <= MAX_EASY_UNKNOWNS and all(t.rows.read_by_block() for t in function.terms):
            return "exact"
        if function.problem.is_quadratic_program or samples * size * size <= MAX_EASY_PRODUCTS or function.has_matrix:
            return "exact"
        if size > MAX_EASY_UNKNOWNS and any(_is_better_by_class(t, size) for t in function.terms):
            return "free"
        return "subsampled"

    def _nearly_singular(self, stand_in: StandIn, size: int) -> bool:
        """Whether a stand-in is too far off to be corrected, where the Hessian itself is no burden."""
        return self.hessian == "auto" and size <= MAX_EASY_UNKNOWNS and stand_in.first.smallest < NEARLY_SINGULAR

    def _detail(self, iterate: Iterate) -> Mapping[str, Any]:
        function, wanted = iterate.function, self.adjusted_response
        if wanted is None:
            wanted = function.height <= MAX_ROWS_SHOWN
        return WhenLookedAt(partial(_adjusted_responses, function.terms, iterate.readings)) if wanted else {}


def _is_better_by_class(term: SmoothTerm, unknowns: int) -> bool:
    """Whether a Hessian with a block for every pair of classes would be dear: of sparse data, or of most samples."""
    if not isinstance(term, ScoredTerm):
        return False
    return not term.scores.is_dense or 2 * MIN_SAMPLES_PER_UNKNOWN * unknowns >= term.samples


def _adjusted_responses(terms: tuple[SmoothTerm, ...], readings: tuple[Reading, ...]) -> dict[str, Any]:
    """z = u - g/w and the weights, of each loss of one argument."""
    out = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for t, reading in zip(terms, readings, strict=True):
            if isinstance(t, SweptTerm | GeneralTerm) and (w := t.curvature(reading)).ndim == 1:
                response = reading.arguments - reading.slopes / w
                out[t.name] = {"adjusted_response": response, "weights": t.weights * w}
    return out


def newton(iterate: Iterate, tol: float, max_iter: int, progress: Progress) -> DescentOutcome:
    """Newton's method with the Hessian of every iterate, until rounding ends it; the last step, which few digits are
    left for, takes that of the iterate before."""
    length, well_conditioned, factor, last = 1.0, True, None, False
    for _ in range(max_iter):
        residual = progress.residual(iterate, length)
        if (separated := progress.separated(iterate)) is not None:
            return separated
        last = last and iterate.penalised_gradient() <= PENALISED_SHARE * tol
        if _is_converged(residual, progress, tol, well_conditioned, last):
            return DescentOutcome(iterate, CONVERGED if residual <= tol else "no further progress", True)
        last = factor is not None and well_conditioned and residual <= LAST_STEP and progress.gained >= MANY_DIGITS
        if factor is not None and last:
            step = -factor.solve(iterate.gradient)
        else:
            step, factor, well_conditioned = newton_step(iterate)
        if (growing := progress.growing(iterate, step)) is not None:
            return growing
        iterate, length = stretched(iterate, step, *backtrack(iterate, step))
        if length == 0.0:
            return DescentOutcome(iterate, "no step along the Newton direction lowers the objective further", True)
        if progress.iterations > MAX_STEPS_BEFORE_RUNAWAY and iterate.moved_most(step) > 0.5:
            return DescentOutcome(iterate, "margins keep growing: the classes look separated", True)
    return DescentOutcome(iterate, f"stopped after {max_iter} iterations", False)


def plain_newton(iterate: Iterate, tol: float, max_iter: int, progress: Progress) -> DescentOutcome:
    """x <- x - H^-1 g, whatever that does to the objective."""
    for _ in range(max_iter):
        residual = progress.residual(iterate, 1.0)
        if residual <= ROUNDED_RESIDUAL or (residual <= RESIDUAL_SHARE * tol and progress.stalled >= 1):
            return DescentOutcome(iterate, CONVERGED, True)
        if not (np.all(np.isfinite(iterate.gradient)) and np.any(iterate.hessian())):
            break
        step = newton_step(iterate)[0]
        if not np.all(np.isfinite(step)):
            break
        iterate = iterate.function.at(iterate.x + step)
    else:
        return DescentOutcome(iterate, f"stopped after {max_iter} iterations", True)
    return DescentOutcome(iterate, f"diverged: after {progress.iterations - 1} steps the Hessian vanishes", True)


def _is_converged(residual: float, progress: Progress, tol: float, well_conditioned: bool, last: bool) -> bool:
    """Whether rounding ends the descent, or the ``last`` step was made, which takes up the digits that were left. Where
    the Hessian is nearly singular, each step gains few digits, and the residual does not show them."""
    stalled = progress.stalled
    if stalled >= MAX_STEPS_WITHOUT_GAIN or (well_conditioned and residual <= ROUNDED_RESIDUAL) or residual <= 0.0:
        return True
    if residual > RESIDUAL_SHARE * tol:
        return False
    if not well_conditioned:
        return stalled >= 4
    return stalled >= 1 or last
