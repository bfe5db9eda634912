"""A last step towards machine precision: guess the active constraints, solve the equations they imply.

An interior-point or first-order method leaves every inequality a little slack. Where multiplier and slack say
clearly which constraints are tight, the solution is that of a linear system; it is taken only if it is better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from convexcls.solvers.quadratic_program import QuadraticProgram

Array = NDArray[np.float64]
REGULARIZATION = 1e-10


def polish(qp: QuadraticProgram, z: Array, nu: Array, lam: Array) -> tuple[Array, Array, Array]:
    """A point and multipliers at least as good as those given."""
    best, best_error = (z, nu, lam), _error(qp, z, nu, lam)
    for _ in range(2):
        candidate = _solve_active(qp, *best)
        if candidate is None:
            break
        error = _error(qp, *candidate)
        if not error < best_error:
            break
        best, best_error = candidate, error
    return best


def _error(qp: QuadraticProgram, z: Array, nu: Array, lam: Array) -> float:
    slack = qp.h - qp.G @ z
    parts = [
        qp.P @ z + qp.q + qp.A.T @ nu + qp.G.T @ lam,
        qp.A @ z - qp.b,
        np.minimum(slack, 0.0),
        np.minimum(lam, 0.0),
        lam * slack,
    ]
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)


def _solve_active(qp: QuadraticProgram, z: Array, nu: Array, lam: Array) -> tuple[Array, Array, Array] | None:
    """The solution with the tight constraints as equations, by a regularized factorization and refinement."""
    active = np.flatnonzero(lam > qp.h - qp.G @ z)
    rows = sparse.vstack([qp.A, qp.G[active]], format="csc")
    n, m = qp.P.shape[0], rows.shape[0]
    zero = sparse.csc_array((m, m))
    exact = sparse.block_array([[qp.P, rows.T], [rows, zero]], format="csc")
    shift = sparse.diags_array(np.concatenate([np.full(n, REGULARIZATION), np.full(m, -REGULARIZATION)]))
    try:
        factor = splu(sparse.csc_matrix(exact + shift))
    except RuntimeError:
        return None
    target = np.concatenate([-qp.q, qp.b, qp.h[active]])
    solution = np.concatenate([z, nu, lam[active]])
    for _ in range(20):
        defect = target - exact @ solution
        step = factor.solve(defect)
        if not np.all(np.isfinite(step)):
            return None
        solution = solution + step
        if np.abs(step).max(initial=0.0) <= 1e-16 * np.abs(solution).max(initial=1.0):
            break
    multipliers = np.zeros_like(lam)
    multipliers[active] = solution[n + qp.b.size :]
    return solution[:n], solution[n : n + qp.b.size], multipliers
