"""Clarabel, called directly: an interior-point method for quadratic programs and second-order cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Mask
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, refuse_unless_quadratic
from convexcls.solvers.foreign.quadratic_program import QuadraticProgram, quadratic_program
from convexcls.solvers.rows.continuation import continued
from convexcls.solvers.smooth.hessian import shortest_solution

#: Larger systems are not polished on a cone.
MAX_DENSE_UNKNOWNS = 1500


@dataclass(frozen=True)
class ClarabelSolver(Solver):
    """Clarabel's interior-point method; ``polish`` finishes quadratic programs on their active set. An interior point
    cannot begin anywhere; from the solution of a similar soft or hard margin the active set is followed instead, and
    only where that fails does Clarabel begin anew."""

    name: ClassVar[str] = "clarabel"
    accepts: ClassVar[str] = "linear and quadratic programs, norm bounds"
    promise: ClassVar[float] = 1e-8
    package: ClassVar[str] = "clarabel"
    warm: ClassVar[bool] = True
    keeps_time: ClassVar[bool] = True

    max_iter: int = 200
    polish: bool = True
    time_limit: float | None = None

    def refuses(self, problem: Problem) -> str:
        return refuse_unless_quadratic(problem, cones=True)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return continued(start, problem, callback) or self.solve(problem, tol, callback)

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        import clarabel

        qp = quadratic_program(problem)
        cones = [clarabel.ZeroConeT(qp.b.size), clarabel.NonnegativeConeT(qp.h.size)]
        cones += [clarabel.SecondOrderConeT(offset.size) for _, offset in qp.cones]
        rows = sparse.vstack([qp.A, qp.G, *(-inside for inside, _ in qp.cones)], format="csc")
        rhs = np.concatenate([qp.b, qp.h, *(offset for _, offset in qp.cones)])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = self.max_iter
        if self.time_limit is not None:
            settings.time_limit = self.time_limit
        aim = max(tol * 1e-4, 1e-13)
        settings.tol_gap_rel = settings.tol_feas = aim
        settings.tol_gap_abs = 1e-30  # an optimum may be tiny; only the relative gap says anything
        settings.tol_infeas_abs = settings.tol_infeas_rel = 1e-14  # classes a hair apart are not infeasible
        upper = sparse.csc_matrix(sparse.triu(qp.P, format="csc"))
        solver = clarabel.DefaultSolver(upper, qp.q, sparse.csc_matrix(rows), rhs, cones, settings)
        found = solver.solve()
        z, dual = np.asarray(found.x), np.asarray(found.z)
        nu, lam, rest = np.split(dual, [qp.b.size, qp.b.size + qp.h.size])
        exact = None
        polish = self.polish and str(found.status) != "MaxTime"  # then there is no time for more
        if polish and not qp.cones and np.all(np.isfinite(z)) and np.all(np.isfinite(dual)):
            exact = qp.finished(z, nu, lam)
            if exact is None and str(found.status) != "Solved":  # a way off that Clarabel does not find
                near = continued(Start(qp.point(z), qp.multipliers(nu, lam)), problem)
                exact = None if near is None or near.x is None else (near.x, dict(near.multipliers))
        pairs = []
        for _, offset in qp.cones:
            pairs.append(np.concatenate([rest[1 : offset.size], rest[:1]]))  # (u, mu), mu last
            rest = rest[offset.size :]
        if polish and len(pairs) == 1 and np.all(np.isfinite(z)) and np.all(np.isfinite(dual)):
            z, nu, lam, pairs[0] = polish_on_cone(qp, z, nu, lam, pairs[0])
        tracer = Tracer(callback)
        tracer.record(found.obj_val, max(found.r_prim, found.r_dual))
        multipliers = qp.multipliers(nu, lam, tuple(pairs))
        hints = (str(found.status), int(found.iterations), tuple(tracer.lines))
        if "PrimalInfeasible" in hints[0]:  # then the multipliers are its Farkas vector
            return Answer(None, {}, *hints, farkas=multipliers)
        if "DualInfeasible" in hints[0]:  # then the point is a direction without end
            return Answer(None, {}, *hints, direction=qp.point(z))
        point, multipliers = exact or (qp.point(z), multipliers)
        return Answer(point, multipliers, *hints)


def polish_on_cone(
    qp: QuadraticProgram, z: Array, nu: Array, lam: Array, pair: Array
) -> tuple[Array, Array, Array, Array]:
    """The same with one norm bound ‖Ez + e‖ <= fz + g that is tight: Newton's method on the equations, with
    (‖Ez + e‖^2 - (fz + g)^2)/2 = 0 in place of the bound. A gap of 1e-13 leaves a direction free by 1e-7; this does
    not. Rows that turn out slack or violated leave or join the active ones, a few times."""
    given = (z, nu, lam, pair)
    if z.size + qp.b.size + qp.h.size > MAX_DENSE_UNKNOWNS:
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
        jacobian = np.block(
            [
                [P + kappa * curvature, rows.T, normal[:, None]],
                [rows, np.zeros((m, m + 1))],
                [normal[None, :], np.zeros((1, m + 1))],
            ]
        )
        step = shortest_solution(jacobian, defect, 1e-14)
        x, y, kappa = x + step[: x.size], y + step[x.size : x.size + m], kappa + float(step[-1])
    return x, y, kappa
