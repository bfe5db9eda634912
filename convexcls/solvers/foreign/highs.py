"""HiGHS through SciPy: the simplex and interior-point methods for linear programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.optimize import linprog

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Tracer
from convexcls.solvers.foreign.quadratic_program import quadratic_program


@dataclass(frozen=True)
class HighsSolver(Solver):
    """HiGHS; ``method`` is ``highs`` (its choice), ``highs-ds`` (dual simplex) or ``highs-ipm``."""

    name: ClassVar[str] = "highs"
    accepts: ClassVar[str] = "linear programs"
    promise: ClassVar[float] = 1e-8
    package: ClassVar[str] = "scipy"
    keeps_time: ClassVar[bool] = True

    method: Literal["highs", "highs-ds", "highs-ipm"] = "highs"
    presolve: bool = True
    time_limit: float | None = None

    def refuses(self, problem: Problem) -> str:
        if not problem.is_linear_program:
            return "it solves linear programs, and the objective or a constraint is not linear"
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        qp = quadratic_program(problem)
        aim = min(max(tol, 1e-10), 1e-7)
        found = linprog(
            qp.q,
            A_ub=qp.G,
            b_ub=qp.h,
            A_eq=qp.A,
            b_eq=qp.b,
            bounds=(None, None),
            method=self.method,
            options={
                "primal_feasibility_tolerance": aim,
                "dual_feasibility_tolerance": aim,
                "presolve": self.presolve,
                **({} if self.time_limit is None else {"time_limit": self.time_limit}),
            },
        )
        if found.x is None:
            return Answer(None, {}, str(found.message), int(getattr(found, "nit", 0) or 0))
        tracer = Tracer(callback)
        tracer.record(found.fun, float(np.maximum(qp.G @ found.x - qp.h, 0).max(initial=0.0)))
        # SciPy reports how the optimum changes with the right-hand side: minus our multipliers
        lam, nu = -np.asarray(found.ineqlin.marginals), -np.asarray(found.eqlin.marginals)
        return Answer(
            qp.point(found.x),
            qp.multipliers(nu, lam),
            str(found.message),
            int(found.nit),
            tuple(tracer.lines),
        )
