"""Clarabel, called directly: an interior-point method for quadratic programs and second-order cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, refuse_unless_quadratic
from convexcls.solvers.foreign.polish import polish, polish_on_cone
from convexcls.solvers.foreign.quadratic_program import quadratic_program
from convexcls.solvers.rows.continuation import continued, settled


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

    max_iter: int = 200
    polish: bool = True

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
        if self.polish and not qp.cones and np.all(np.isfinite(z)) and np.all(np.isfinite(dual)):
            exact = settled(problem, qp.point(z), qp.multipliers(nu, lam))
            if exact is None and str(found.status) != "Solved":  # a way off that Clarabel does not find
                near = continued(Start(qp.point(z), qp.multipliers(nu, lam)), problem)
                exact = None if near is None or near.x is None else (near.x, dict(near.multipliers))
            if exact is None:
                z, nu, lam = polish(qp, z, nu, lam)
        pairs = []
        for _, offset in qp.cones:
            pairs.append(np.concatenate([rest[1 : offset.size], rest[:1]]))  # (u, mu), mu last
            rest = rest[offset.size :]
        if self.polish and len(pairs) == 1 and np.all(np.isfinite(z)) and np.all(np.isfinite(dual)):
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
