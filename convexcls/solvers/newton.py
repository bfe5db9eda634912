"""Newton-Raphson, which for a loss of linear scores is iteratively reweighted least squares.

At x, with u = Mx + t, slopes g_i and curvatures w_i of the losses, the step solves

    (P + M' W M) s = -(Px + q + M'g),        W = diag(w)

which is the weighted least-squares fit of the adjusted response z = u - g/w (ESL 4.26, 4.27). Each step costs
one Gram matrix and one factorization of its size, the number of coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from convexcls.problem import ROUNDING_ROOM, Problem, Term
from convexcls.rows import Rows
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, refuse_unless_smooth

Array = NDArray[np.float64]
SHOW_RESPONSE_UP_TO = 10_000


@dataclass(frozen=True)
class NewtonSolver(Solver):
    """Newton's method, guarded by backtracking. ``adjusted_response`` keeps the adjusted response and the
    weights of every iteration in the trace (by default up to 10000 samples)."""

    name: ClassVar[str] = "newton"
    accepts: ClassVar[str] = "smooth losses and quadratics without constraints"
    promise: ClassVar[float] = 1e-8
    warm: ClassVar[bool] = True

    max_iter: int = 100
    adjusted_response: bool | None = None

    def refuses(self, problem: Problem) -> str:
        return refuse_unless_smooth(problem)

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return self.solve_from(Start(np.zeros(problem.size)), problem, tol, callback)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer = Tracer(callback)
        state = State.at(problem, start.x)
        shrink, message = 1.0, f"stopped after {self.max_iter} iterations"
        best, stalled, well_conditioned = np.inf, 0, True
        for _ in range(self.max_iter):
            residual = state.relative_gradient()
            tracer.record(state.objective, residual, shrink, self._detail(state), point=state.x)
            stalled = stalled + 1 if residual > 0.5 * best else 0
            best = min(best, residual)
            # where the Hessian is nearly singular, each step gains few digits, and the residual does not show them
            patience = 1 if well_conditioned else 4
            if residual == 0 or (residual <= 1e-3 * tol and stalled >= patience) or stalled >= 30:
                message = "the gradient is as small as rounding allows" if residual <= tol else "no further progress"
                break
            step, well_conditioned = _newton_step(state)
            state, shrink = _backtrack(problem, state, step)
            if shrink == 0.0:
                message = "no step along the Newton direction lowers the objective further"
                break
            if len(tracer.lines) > 40 and state.moved_most(step) > 0.5:
                message = "margins keep growing: the classes look separated"
                break
        return Answer(state.x, {}, message, len(tracer.lines) - 1, tuple(tracer.lines))

    def _detail(self, state: State) -> dict[str, Any]:
        wanted = self.adjusted_response
        if wanted is None:
            wanted = sum(t.size for t, *_ in state.terms) <= SHOW_RESPONSE_UP_TO
        if not wanted:
            return {}
        out = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for t, _, u, slope in state.terms:
                curvature = t.loss.curvature(u)
                if curvature.ndim == 1:
                    out[t.name] = {"adjusted_response": u - slope / curvature, "weights": t.weights * curvature}
        return out


@dataclass(frozen=True, eq=False)
class State:
    """A point with the scores, slopes and curvatures of every loss there."""

    problem: Problem
    x: Array
    objective: float
    gradient: Array
    terms: tuple[tuple[Term, Rows, Array, Array], ...]

    @classmethod
    def at(cls, problem: Problem, x: Array) -> State:
        with np.errstate(over="ignore", invalid="ignore"):
            return cls._at(problem, x)

    @classmethod
    def _at(cls, problem: Problem, x: Array) -> State:
        terms = []
        curved = problem.apply_quadratic(x)
        objective = 0.5 * float(x @ curved) + float(problem.q @ x) + problem.constant
        gradient = curved + problem.q
        for t in problem.terms:
            rows = problem.rows(t)
            u = rows @ x + t.offset
            slope = t.loss.slope(u)
            objective += t.value(u)
            gradient = gradient + rows.T @ (t.row_weights * slope)
            terms.append((t, rows, u, slope))
        return cls(problem, x, objective, gradient, tuple(terms))

    def hessian(self) -> Array:
        out = np.zeros((self.problem.size, self.problem.size))
        for v, p in self.problem.quadratic.items():
            where = self.problem.layout[v]
            out[where, where] += p.to_dense() if isinstance(p, Rows) else np.diag(p)
        for t, rows, u, _ in self.terms:
            out += t.gram(rows, u)
        return out

    def relative_gradient(self) -> float:
        """The largest entry of the gradient, relative to the sum of absolute values that it came from."""
        size = np.abs(self.problem.q) + np.abs(self.problem.apply_quadratic(self.x))
        for t, rows, _, slope in self.terms:
            at_zero = ROUNDING_ROOM * np.abs(t.offset) if t.is_half_square else 0.0
            size = size + rows.column_max() * float(t.row_weights @ (np.abs(slope) + at_zero))
        ratio = np.divide(np.abs(self.gradient), size, out=np.zeros_like(size), where=size > 0)
        return float(ratio.max(initial=0.0))

    def moved_most(self, step: Array) -> float:
        return max((float(np.abs(rows @ step).max(initial=0.0)) for _, rows, *_ in self.terms), default=0.0)


def _newton_step(state: State) -> tuple[Array, bool]:
    """The step, and whether the Hessian was well conditioned."""
    hessian, gradient = state.hessian(), state.gradient
    size = np.sqrt(np.diag(hessian))
    size = np.where(size > 0, size, 1.0)
    scaled = state.problem.fill_null_directions(hessian / np.outer(size, size), size)
    try:
        factor = cho_factor(scaled, lower=True)
        smallest = np.abs(np.diag(factor[0])).min()
        if smallest > 1e-7:
            return -cho_solve(factor, gradient / size) / size, bool(smallest > 1e-3)
    except LinAlgError:
        pass
    # columns that repeat each other: the shortest step
    values, vectors = np.linalg.eigh(scaled)
    inverse = np.where(values > 1e-15 * values[-1], 1.0 / np.where(values > 0, values, 1.0), 0.0)
    return np.asarray(-(vectors @ (inverse * (vectors.T @ (gradient / size)))) / size), False


def _backtrack(problem: Problem, state: State, step: Array) -> tuple[State, float]:
    """The first of the steps 1, 1/2, 1/4, ... that lowers the objective enough (Armijo), or no step (0.0). A quadratic
    needs no such care: there the full step is the solution, whatever rounding says of the objective."""
    if problem.is_quadratic_program:
        return State.at(problem, state.x + step), 1.0
    slope = float(state.gradient @ step)
    shrink = 1.0
    noise = 1e-14 * max(abs(state.objective), problem.unit)
    while shrink > 1e-10:
        new = State.at(problem, state.x + shrink * step)
        if np.isfinite(new.objective) and new.objective <= state.objective + 1e-4 * shrink * slope + noise:
            return new, shrink
        shrink *= 0.5
    return state, 0.0
