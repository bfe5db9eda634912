"""A last step towards machine precision: guess the active constraints, solve the equations they imply.

An interior-point or first-order method leaves every inequality a little slack. Where multiplier and slack say
clearly which constraints are tight, the solution is that of a linear system; it is taken only if it is better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from convexcls.arrays import Array, Mask
from convexcls.solvers.foreign.quadratic_program import QuadraticProgram
from convexcls.solvers.smooth.hessian import shortest_solution

REGULARIZATION = 1e-10
LARGEST_DENSE = 1500


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


def polish_on_cone(
    qp: QuadraticProgram, z: Array, nu: Array, lam: Array, pair: Array
) -> tuple[Array, Array, Array, Array]:
    """The same with one norm bound ‖Ez + e‖ <= fz + g that is tight: Newton's method on the equations, with
    (‖Ez + e‖^2 - (fz + g)^2)/2 = 0 in place of the bound. A gap of 1e-13 leaves a direction free by 1e-7; this does
    not. Rows that turn out slack or violated leave or join the active ones, a few times."""
    given = (z, nu, lam, pair)
    if z.size + qp.b.size + qp.h.size > LARGEST_DENSE:
        return given
    rows, offset = qp.cones[0]
    cone = _Cone(rows[1:].toarray(), offset[1:], rows[:1].toarray()[0], float(offset[0]))
    if not pair[-1] > max(cone.bound(z) - float(np.linalg.norm(cone.inside(z))), 0.0) or not cone.bound(z) > 0:
        return given  # not tight, or at the tip
    active = lam > qp.h - qp.G @ z
    for _ in range(5):
        x, y, kappa = _newton_on_cone(qp, cone, active, *given)
        if not np.all(np.isfinite(x)) or np.abs(x - z).max() > 1e-3 * np.abs(z).max():
            return given
        multipliers = np.zeros_like(lam)
        multipliers[active] = y[qp.b.size :]
        wrong = multipliers < -1e-13 * np.abs(multipliers).max(initial=0.0)
        violated = qp.G @ x - qp.h > 1e-12 * np.abs(x).max()
        if not np.any(wrong | violated):
            pair = np.append(-kappa * cone.inside(x), kappa * cone.bound(x))
            return x, y[: qp.b.size], np.maximum(multipliers, 0.0), pair
        active = (active & ~wrong) | violated
    return given


@dataclass(frozen=True, eq=False)
class _Cone:
    """‖Ez + e‖ <= fz + g."""

    E: Array
    e: Array
    f: Array
    g: float

    def inside(self, z: Array) -> Array:
        return np.asarray(self.E @ z + self.e)

    def bound(self, z: Array) -> float:
        return float(self.f @ z) + self.g


def _newton_on_cone(
    qp: QuadraticProgram, cone: _Cone, active: Mask, z: Array, nu: Array, lam: Array, pair: Array
) -> tuple[Array, Array, float]:
    """The point, the multipliers of equations and active rows, and kappa = mu / bound."""
    P, rows = qp.P.toarray(), np.vstack([qp.A.toarray(), qp.G.toarray()[active]])
    sides = np.concatenate([qp.b, qp.h[active]])
    x, y, kappa = z.copy(), np.concatenate([nu, lam[active]]), float(pair[-1]) / cone.bound(z)
    curvature = cone.E.T @ cone.E - np.outer(cone.f, cone.f)
    m = sides.size
    for _ in range(6):
        inside, bound = cone.inside(x), cone.bound(x)
        normal = cone.E.T @ inside - bound * cone.f
        stationarity = P @ x + qp.q + rows.T @ y + kappa * normal
        defect = -np.concatenate([stationarity, rows @ x - sides, [(inside @ inside - bound * bound) / 2]])
        jacobian = np.block([
            [P + kappa * curvature, rows.T, normal[:, None]],
            [rows, np.zeros((m, m + 1))],
            [normal[None, :], np.zeros((1, m + 1))],
        ])  # fmt: skip
        step = shortest_solution(jacobian, defect, 1e-14)
        x, y, kappa = x + step[: x.size], y + step[x.size : x.size + m], kappa + float(step[-1])
    return x, y, kappa
