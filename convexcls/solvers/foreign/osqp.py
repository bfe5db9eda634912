"""OSQP, called directly: an operator-splitting method for quadratic programs."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, refuse_unless_quadratic
from convexcls.solvers.foreign import beyond_range, quiet
from convexcls.solvers.foreign.quadratic_program import QuadraticProgram, quadratic_program
from convexcls.solvers.rows.continuation import continued


@dataclass(frozen=True)
class OSQPSolver(Solver):
    """OSQP with tight tolerances, finished by our own polishing (OSQP's prints, and does not refine as far).
    ``rho`` is its first step size. From a start, the active set of a soft or hard margin is followed first; else OSQP
    itself begins there."""

    name: ClassVar[str] = "osqp"
    accepts: ClassVar[str] = "linear and quadratic programs"
    promise: ClassVar[float] = 1e-6
    package: ClassVar[str] = "osqp"
    warm: ClassVar[bool] = True
    keeps_time: ClassVar[bool] = True

    max_iter: int = 200_000
    rho: float = 0.1
    polish: bool = True
    time_limit: float | None = None

    def refuses(self, problem: Problem) -> str:
        return refuse_unless_quadratic(problem)

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return self._solve(quadratic_program(problem), tol, callback)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return continued(start, problem, callback) or self._solve(quadratic_program(problem), tol, callback, start)

    def _solve(self, qp: QuadraticProgram, tol: float, callback: Callback | None, start: Start | None = None) -> Answer:
        import osqp

        rows = sparse.csc_matrix(sparse.vstack([qp.A, qp.G], format="csc"))
        lower = np.concatenate([qp.b, np.full(qp.h.size, -np.inf)])
        upper = np.concatenate([qp.b, qp.h])
        aim = max(tol * 0.1, 1e-10)
        solver = osqp.OSQP()
        extreme = beyond_range(qp.P.data, qp.q, rows.data, qp.b, qp.h)
        with quiet() if extreme else nullcontext():
            solver.setup(
                sparse.csc_matrix(sparse.triu(qp.P, format="csc")),
                qp.q,
                rows,
                lower,
                upper,
                verbose=False,
                eps_abs=aim,
                eps_rel=aim,
                eps_prim_inf=1e-12,
                eps_dual_inf=1e-12,
                max_iter=self.max_iter,
                rho=self.rho,
                time_limit=1e10 if self.time_limit is None else self.time_limit,
            )
            if start is not None:
                z, nu, lam = qp.start(start.x, start.multipliers)
                solver.warm_start(x=z, y=np.concatenate([nu, lam]))
            found = solver.solve(raise_error=False)
        info = found.info
        tracer = Tracer(callback)
        tracer.record(info.obj_val, max(info.prim_res, info.dual_res))
        hints = (str(info.status), int(info.iter), tuple(tracer.lines))
        if found.x is None or not np.all(np.isfinite(found.x)) or "infeasible" in info.status:
            return Answer(None, {}, *hints)  # OSQP fills x with a large number there
        z, dual = np.asarray(found.x), np.asarray(found.y)
        nu, lam = np.split(dual, [qp.b.size])
        exact = qp.finished(z, nu, lam) if self.polish and "time limit" not in info.status else None
        point, multipliers = exact or (qp.point(z), qp.multipliers(nu, lam))
        return Answer(point, multipliers, *hints)
