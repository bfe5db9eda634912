"""Problems whose solution is a formula: least squares, ridge, and quadratics under linear equations.

Least squares by a QR factorization; where the condition costs digits, with iterative refinement of the augmented
system, the residuals in extended precision (Björck 1967): the digits that the data determine are kept. Large data of
good condition go through the normal equations, refined on the data (``normal_equations.py``); data that are sparse and
too wide for any matrix through LSMR (Fong and Saunders 2011), refined likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.sparse import issparse

from convexcls.arrays import Array, Indices
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer, refuse_unless_quadratic
from convexcls.solvers.direct.normal_equations import by_lsmr, by_normal_equations
from convexcls.solvers.smooth.hessian import shortest_solution
from convexcls.solvers.smooth.objective import SmoothObjective

#: Condition numbers above this are worth refining for.
MIN_CONDITION_TO_REFINE = 1e3
#: Matrices with so few entries are refined in any case.
MAX_ENTRIES_ALWAYS_REFINED = 100_000
#: More unknowns than this make no square matrix where the data are sparse.
MAX_DENSE_UNKNOWNS = 2000


@dataclass(frozen=True)
class ClosedFormSolver(Solver):
    """Least squares and ridge by QR (SVD where columns depend on each other), for large data by refined normal
    equations or, where they are sparse and wide, LSMR; equality-constrained quadratics by their linear KKT system.
    ``rank_tol`` is the relative size at which a column counts as dependent."""

    name: ClassVar[str] = "closed-form"
    accepts: ClassVar[str] = "least squares, ridge, quadratics under linear equations"
    promise: ClassVar[float] = 1e-10

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
        if np.any(problem.q) or problem.matrices:
            x, multipliers, message = _equations(problem)
        elif problem.constraints:
            x, multipliers, message = _constrained_least_squares(problem, self.rank_tol)
        else:
            (x, message), multipliers = self._least_squares(problem), {}
        tracer = Tracer(callback)
        tracer.record(problem.objective(x), 0.0)
        return Answer(x, multipliers, message, 1, tuple(tracer.lines))

    def _least_squares(self, problem: Problem) -> tuple[Array, str]:
        entries = problem.size * sum(t.size for t in problem.terms)
        if entries > MAX_ENTRIES_ALWAYS_REFINED:
            function = SmoothObjective(problem)
            if problem.size > MAX_DENSE_UNKNOWNS and _is_sparse(problem):
                return by_lsmr(function), "least squares by LSMR, refined"
            if (found := by_normal_equations(function)) is not None:
                return found, f"full rank {problem.size}"
        matrix, target = _stack(problem)
        _, R, order = qr(matrix, mode="economic", pivoting=True)
        sizes = np.abs(np.diag(R))
        rank = int(np.sum(sizes > self.rank_tol * sizes[0])) if sizes.size and sizes[0] > 0 else 0
        if rank < matrix.shape[1]:
            x = shortest_solution(matrix, target, self.rank_tol)
            return x, f"rank {rank} of {matrix.shape[1]}: one of many minimisers, the shortest"
        worth_it = sizes[0] > MIN_CONDITION_TO_REFINE * sizes[-1] or matrix.size <= MAX_ENTRIES_ALWAYS_REFINED
        rounds = self.refinements if worth_it else 0
        return _refined(matrix, target, order, rounds), f"full rank {rank}"


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


def _refined(matrix: Array, target: Array, order: Indices, rounds: int) -> Array:
    """Least squares with full column rank, refining residual and solution together for so many rounds; a
    ``LinAlgError`` where the solution is beyond the range of doubles."""
    ordered = np.ascontiguousarray(matrix[:, order])
    Q, R = np.linalg.qr(ordered)
    w = np.asarray(_triangular_solution(R, Q.T @ target), dtype=np.longdouble)
    r = np.asarray(target - ordered @ np.asarray(w, dtype=float), dtype=np.longdouble)
    if rounds:
        long_matrix, long_target = ordered.astype(np.longdouble), target.astype(np.longdouble)
    for _ in range(rounds):
        f = np.asarray(long_target - r - long_matrix @ w, dtype=float)
        g = np.asarray(-(long_matrix.T @ r), dtype=float)
        h = _triangular_solution(R, g, trans="T")
        inside = Q.T @ f
        step = _triangular_solution(R, inside - h)
        w, r = w + step, r + (f - Q @ inside + Q @ h)
        if np.all(np.abs(step) <= 1e-17 * np.abs(w)):
            break
    x = np.empty(ordered.shape[1])
    x[order] = np.asarray(w, dtype=float)
    return x


def _triangular_solution(R: Array, right: Array, trans: Literal["N", "T"] = "N") -> Array:
    found = np.asarray(solve_triangular(R, right, trans=trans, check_finite=False))
    if not np.all(np.isfinite(found)):
        raise np.linalg.LinAlgError("the system has no finite solution")
    return found


def _constrained_least_squares(problem: Problem, rank_tol: float) -> tuple[Array, dict[str, Array], str]:
    """Least squares under linear equations by the null space of the equations, without normal equations."""
    matrix, target = _stack(problem)
    A = np.vstack([problem.rows(c).to_dense() for c in problem.constraints])
    b = np.concatenate([c.rhs for c in problem.constraints])
    left, values, right = np.linalg.svd(A, full_matrices=True)
    rank = int(np.sum(values > rank_tol * values.max(initial=0.0)))
    x = right[:rank].T @ ((left[:, :rank].T @ b) / values[:rank])
    free = right[rank:].T
    for _ in range(2):  # the second round refines the first
        x = x + free @ shortest_solution(matrix @ free, target - matrix @ x, rank_tol)
        x = x + right[:rank].T @ ((left[:, :rank].T @ (b - A @ x)) / values[:rank])
    pull = matrix.T @ (target - matrix @ x)
    nu = left[:, :rank] @ ((right[:rank] @ pull) / values[:rank])
    parts = np.split(nu, np.cumsum([c.size for c in problem.constraints])[:-1])
    multipliers = {c.name: part for c, part in zip(problem.constraints, parts, strict=True)}
    return np.asarray(x), multipliers, f"least squares under {b.size} equation(s)"


def _equations(problem: Problem) -> tuple[Array, dict[str, Array], str]:
    """Stationarity and the equality constraints as one linear system, solved to least norm and refined."""
    n = problem.size
    hessian, gradient = np.zeros((n, n)), problem.q.copy()
    for v, p in problem.P.items():
        where = problem.layout[v]
        hessian[where, where] = p.to_dense()
    for t in problem.terms:
        rows = problem.rows(t)
        hessian += rows.gram(t.weights)
        gradient += rows.T @ (t.weights * t.offset)
    rows_list = [problem.rows(c).to_dense() for c in problem.constraints]
    A = np.vstack(rows_list) if rows_list else np.zeros((0, n))
    b = np.concatenate([c.rhs for c in problem.constraints]) if rows_list else np.zeros(0)
    system = np.block([[hessian, A.T], [A, np.zeros((b.size, b.size))]])
    target = np.concatenate([-gradient, b])
    size = np.sqrt(np.abs(system).max(axis=1, initial=0.0))
    size = np.where(size > 0, size, 1.0)
    balanced, solution = system / np.outer(size, size), np.zeros(target.size, dtype=np.longdouble)
    for _ in range(4):
        defect = np.asarray(target - system.astype(np.longdouble) @ solution, dtype=float)
        solution = solution + shortest_solution(balanced, defect / size, 1e-13) / size
    x, nu = np.asarray(solution[:n], dtype=float), np.asarray(solution[n:], dtype=float)
    ends = np.cumsum([c.size for c in problem.constraints])[:-1]
    parts = np.split(nu, ends) if rows_list else []
    return x, {c.name: part for c, part in zip(problem.constraints, parts, strict=True)}, "linear KKT system"
