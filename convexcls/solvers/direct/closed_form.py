"""Problems whose solution is a formula: least squares, ridge, and quadratics under linear equations.

Least squares by a QR factorization; where the condition costs digits, with iterative refinement of the augmented
system, the residuals in extended precision (Björck 1967): the digits that the data determine are kept. Large data of
good condition go through the normal equations, refined on the data; data that are sparse and too wide for any matrix
through conjugate gradients (Hestenes and Stiefel 1952), refined likewise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.sparse import issparse

from convexcls.arrays import Array, Indices, top
from convexcls.problem import Problem
from convexcls.rows import StackedRows
from convexcls.rows.column_basis import MAX_GRAM_CONDITION, ColumnBasis, shortest_along
from convexcls.solvers.base import Answer, Callback, Solver, Tracer, refuse_unless_quadratic, split_by_block, stacked
from convexcls.solvers.direct.under_equations import MAX_ENTRIES_ALWAYS_REFINED, solve_under_equations
from convexcls.solvers.smooth.hessian import (
    MAX_REFINEMENTS,
    refined_steps,
    shortest_solution,
)
from convexcls.solvers.smooth.objective import Iterate, SmoothObjective

#: Condition numbers above this are worth refining for.
MIN_CONDITION_TO_REFINE = 1e3
#: So many times what the first round shows may a round leave of an error.
ROOM_FOR_RATE = 1e3
#: More unknowns than this make no square matrix where the data are sparse.
MAX_DENSE_UNKNOWNS = 2000
#: A matrix of more samples is not made.
MAX_DENSE_SAMPLES = 5000
#: The residual that conjugate gradients aim at, relative to the tolerance: of all unknowns where some are penalised, of
#: these, and where none are; so many steps may they take for each unknown.
RESIDUAL_SHARE, PENALISED_SHARE, UNPENALISED_SHARE, MAX_STEPS_PER_UNKNOWN = 1e-3, 1e-2, 1e-5, 20


class Found(NamedTuple):
    """A minimiser, what there is to say of it, and the objective where that is known without another reading."""

    x: Array
    message: str
    objective: float | None = None


@dataclass(frozen=True)
class ClosedFormSolver(Solver):
    """Least squares and ridge by QR (SVD where columns depend on each other), for large data by refined normal
    equations or, where they are sparse and wide, conjugate gradients; equality-constrained quadratics by their linear
    KKT system. ``rank_tol`` is the relative size at which a column counts as dependent."""

    name: ClassVar[str] = "closed-form"
    accepts: ClassVar[str] = "least squares, ridge, quadratics under linear equations"
    promise: ClassVar[float] = 1e-10
    by_passes: ClassVar[bool] = True

    rank_tol: float = 1e-13
    refinements: int = 6

    def refuses(self, problem: Problem) -> str:
        if reason := refuse_unless_quadratic(problem):
            return reason
        for c in problem.constraints:
            if c.relation == "<=":
                return f"no formula solves inequalities, and the problem has {c.name!r}"
        if not problem.terms and not problem.quadratic:
            return "there is nothing quadratic to solve for"
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        objective = None
        if problem.matrices or (problem.linear and problem.q.any()):
            x, multipliers, message = _equations(problem)
        elif problem.constraints:
            x, multipliers, message = solve_under_equations(problem, self.rank_tol)
        else:
            found, multipliers = self._least_squares(problem, tol), {}
            x, message, objective = found
        tracer = Tracer(callback)
        tracer.record(problem.minimised(x) if objective is None else objective, 0.0)
        return Answer(x, multipliers, message, 1, tuple(tracer.lines))

    def _least_squares(self, problem: Problem, tol: float) -> Found:
        entries = problem.size * sum(t.size for t in problem.terms)
        if entries > MAX_ENTRIES_ALWAYS_REFINED:
            function = SmoothObjective(problem)
            if (found := by_samples(function)) is not None:
                return found
            if problem.size > MAX_DENSE_UNKNOWNS and _is_sparse(problem):
                return Found(by_conjugate_gradients(function, tol), "least squares by conjugate gradients")
            if (found := by_normal_equations(function)) is not None:
                return found
        matrix, target = _stack(problem)
        Q, R, order = qr(matrix, mode="economic", pivoting=True)
        sizes = np.abs(np.diag(R))
        rank = int(np.sum(sizes > self.rank_tol * sizes[0])) if sizes.size and sizes[0] > 0 else 0
        if rank < matrix.shape[1]:
            x = shortest_solution(matrix, target, self.rank_tol)
            return Found(x, _rank_in_words(rank, matrix.shape[1]))
        worth_it = sizes[0] > MIN_CONDITION_TO_REFINE * sizes[-1] or matrix.size <= MAX_ENTRIES_ALWAYS_REFINED
        rounds = self.refinements if worth_it else 0
        return Found(_refined(matrix[:, order], target, (Q, R), order, rounds), _rank_in_words(rank, rank))


def _rank_in_words(rank: int, unknowns: int) -> str:
    if rank == unknowns:
        return f"full rank {rank}"
    return f"rank {rank} of {unknowns}: one of many minimisers, the shortest"


def _is_sparse(problem: Problem) -> bool:
    return any(issparse(rows[:1].to_matrix()) for t in problem.terms for rows in t.entries.values())


def _stack(problem: Problem) -> tuple[Array, Array]:
    """The rows sqrt(weight) M and sqrt(p), and their targets: least squares in the plain sense."""
    blocks, targets = [], []
    for t in problem.terms:
        root = np.sqrt(t.weights)
        blocks.append(problem.rows(t).to_dense() * root[:, None])
        targets.append(-t.offset * root)
    for v, p in problem.quadratic.items():
        rows = np.zeros((problem.variable(v).size, problem.size))
        rows[:, problem.layout[v]] = np.diag(np.sqrt(np.asarray(p)))
        blocks.append(rows)
        targets.append(np.zeros(rows.shape[0]))
    return np.vstack(blocks), np.concatenate(targets)


def _refined(ordered: Array, target: Array, factors: tuple[Array, Array], order: Indices, rounds: int) -> Array:
    """Least squares with full column rank, refining residual and solution together for so many rounds; a
    ``LinAlgError`` where the solution is beyond the range of doubles. A round leaves as much of its step as the first
    solution had of its own error: where that is below the digits of doubles, it is the last."""
    Q, R = factors
    w = np.asarray(_triangular_solution(R, Q.T @ target), dtype=np.longdouble)
    r = np.asarray(target - ordered @ np.asarray(w, dtype=float), dtype=np.longdouble)
    rate = 0.0
    if rounds:
        long_matrix, long_target = ordered.astype(np.longdouble), target.astype(np.longdouble)
    for _ in range(rounds):
        f = np.asarray(long_target - r - long_matrix @ w, dtype=float)
        g = np.asarray(-(long_matrix.T @ r), dtype=float)
        h = _triangular_solution(R, g, trans="T")
        inside = Q.T @ f
        step = _triangular_solution(R, inside - h)
        w, r = w + step, r + (f - Q @ inside + Q @ h)
        size, moved = np.abs(w), np.abs(step)
        rate = max(rate, top(moved) / (top(size) or 1.0))
        if (np.minimum(moved, ROOM_FOR_RATE * rate * top(moved)) <= 1e-17 * size).all():
            break
    x = np.empty(ordered.shape[1])
    x[order] = np.asarray(w, dtype=float)
    return x


def _triangular_solution(R: Array, right: Array, trans: Literal["N", "T"] = "N") -> Array:
    found = np.asarray(solve_triangular(R, right, trans=trans, check_finite=False))
    if not np.all(np.isfinite(found)):
        raise np.linalg.LinAlgError("the system has no finite solution")
    return found


def _equations(problem: Problem) -> tuple[Array, dict[str, Array], str]:
    """Stationarity and the equality constraints as one linear system, solved to least norm and refined."""
    n, origin = problem.size, Iterate.at(problem, np.zeros(problem.size))
    A, b = stacked(problem, problem.constraints)
    system = np.block([[origin.hessian(), A.T], [A, np.zeros((b.size, b.size))]])
    target = np.concatenate([-origin.gradient, b])
    size = np.sqrt(np.abs(system).max(axis=1, initial=0.0))
    size = np.where(size > 0, size, 1.0)
    balanced, solution = system / np.outer(size, size), np.zeros(target.size, dtype=np.longdouble)
    for _ in range(4):
        defect = np.asarray(target - system.astype(np.longdouble) @ solution, dtype=float)
        solution = solution + shortest_solution(balanced, defect / size, 1e-13) / size
    x, nu = np.asarray(solution[:n], dtype=float), np.asarray(solution[n:], dtype=float)
    return x, split_by_block(problem.constraints, nu), "linear KKT system"


def by_normal_equations(function: SmoothObjective) -> Found | None:
    """The minimiser by the normal equations, and the rank in words; None where columns depend on each other too nearly.

    With R'R the Gram matrix of the columns scaled to length one, a solution is corrected by

        R'R s = A'(b - Ax),        x + s,

    the residual worked out on the data in doubles (the corrected semi-normal equations of Björck 1987). A round leaves
    of the error a factor of about the square of the condition number times 1e-16: below a condition of 1e4 or so, two
    rounds leave what a QR factorization would, and that is all that is taken here. Where columns are combinations of
    others, these are left out, and of all minimisers the shortest is taken.
    """
    problem = function.problem
    function.read_at_once()
    iterate = last = function.at(np.zeros(problem.size))
    hessian, by_block = iterate.hessian(), any(t.at_once for t in function.terms)
    columns = ColumnBasis.of_gram(hessian)
    function.read_at_once(False)
    if columns is None or columns.condition > MAX_GRAM_CONDITION:
        return None
    if columns.others.size:
        columns = columns.on_rows([t.rows for t in function.terms])
        if columns is None or np.any(columns.null_vectors[function.diagonal > 0]):
            return None
    size = np.zeros(problem.size)
    size[columns.columns] = columns.own_lengths

    def downhill(at: Array) -> Array:
        nonlocal last
        last = function.at(at) if np.any(at) else iterate
        return -columns.solve_spread(last.gradient)

    x = refined_steps(downhill, problem.size, size)
    if x is None:
        return None
    if columns.others.size:
        x = shortest_along(columns.null_vectors, x)
    way = x - last.x  # a quadratic is known wherever it is known at one point
    objective = last.objective + float(last.gradient @ way) + 0.5 * float(way @ (hessian @ way))
    return Found(x, _rank_in_words(columns.columns.size, problem.size), objective if by_block else None)


def by_samples(function: SmoothObjective) -> Found | None:
    """The minimiser of a problem with more unknowns than samples, in the span of these; None where it has not, or where
    their matrix is singular or large.

    With A the rows over the unknowns with curvature D, B those over the others, W the weights and g, h the two parts of
    the gradient, a Newton step (d, e) solves

        (W^-1 + A D^-1 A') z = B e - A D^-1 g,      B'z = -h,      d = -D^-1 (g + A'z),

    as many equations as samples. Without curvature D is one, W^-1 and B are left out, and the step is the shortest that
    fits the samples.
    """
    problem, D = function.problem, function.diagonal
    if not 2 * sum(t.samples for t in function.terms) <= problem.size:
        return None
    weights = np.concatenate([t.weights for t in function.terms])
    n, penalised = weights.size, bool(np.any(D > 0))
    few = np.flatnonzero(D == 0) if penalised else np.empty(0, dtype=np.intp)
    if n > MAX_DENSE_SAMPLES or few.size > n or not np.all(weights > 0):
        return None
    inverse = np.divide(1.0, D, out=np.zeros(D.size), where=D > 0) if penalised else np.ones(D.size)
    M = StackedRows([t.rows for t in function.terms]).compact()
    system = (M * inverse) @ M.T if isinstance(M, np.ndarray) else (M.multiply(inverse) @ M.T).toarray()
    if penalised:
        system[np.diag_indices(n)] += 1.0 / weights
    samples = ColumnBasis.of_gram(system)
    if samples is None or samples.others.size or samples.condition > MAX_GRAM_CONDITION:
        return None
    B = M[:, few] if isinstance(M, np.ndarray) else M[:, few].toarray()
    bordered = samples.solve_spread(B)

    def step(x: Array) -> Array:
        iterate = function.at(x)
        if not penalised:
            return np.asarray(-(M.T @ samples.solve_spread(np.concatenate([r.arguments for r in iterate.readings]))))
        g = iterate.gradient
        z = -samples.solve_spread(M @ (inverse * g))
        e = np.linalg.lstsq(B.T @ bordered, -g[few] - B.T @ z, rcond=None)[0]
        d = -inverse * (g + M.T @ (z + bordered @ e))
        d[few] = e
        return np.asarray(d)

    if (x := refined_steps(step, problem.size, 1.0)) is None:
        return None
    return Found(x, "in the span of the samples" + ("" if penalised else ": one of many minimisers, the shortest"))


def by_conjugate_gradients(function: SmoothObjective, tol: float) -> Array:
    """The minimiser by conjugate gradients with the Hessian's diagonal as preconditioner, until the gradient is small
    by the measures of the check; begun again where rounding has put it off."""
    iterate, best = function.at(np.zeros(function.problem.size)), np.inf
    diagonal = iterate.diagonal_curvature()
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    for _ in range(MAX_REFINEMENTS):
        off = _residual(iterate)
        if not off < 0.5 * best or off <= tol:
            break
        best = off
        iterate = function.at(_conjugate_gradients(iterate, diagonal, 0.5 * tol))
    return iterate.x


def _residual(iterate: Iterate) -> float:
    """The residual relative to what may be left of it. What curves by itself is known as well as its gradient is small;
    all else may be nearly singular, and is worked out to the last digit."""
    if not iterate.problem.quadratic:
        return iterate.relative_gradient() / UNPENALISED_SHARE
    return max(iterate.relative_gradient() / RESIDUAL_SHARE, iterate.penalised_gradient() / PENALISED_SHARE)


def _conjugate_gradients(iterate: Iterate, diagonal: Array, tol: float) -> Array:
    function, x, g = iterate.function, iterate.x, iterate.gradient
    z = g / diagonal
    p, rho = -z, float(g @ z)
    for _ in range(MAX_STEPS_PER_UNKNOWN * x.size):
        Hp = function.quadratic_times(p)
        if not (bend := float(p @ Hp)) > 0.0:
            break
        alpha = rho / bend
        x, g = x + alpha * p, g + alpha * Hp
        if _residual(replace(iterate, x=x, gradient=g, curved=function.curved(x))) <= tol:
            break
        z = g / diagonal
        rho, before = float(g @ z), rho
        p = rho / before * p - z
    return x
