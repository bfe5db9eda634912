"""Every backend that cvxpy has installed, as a solver named ``cvxpy:<BACKEND>``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.problem.cvxpy_form import cvxpy_form
from convexcls.solvers.base import Answer, Callback, Solver, Tracer
from convexcls.solvers.foreign import beyond_range, quiet

PREFIX = "cvxpy:"
#: What the usual backends take: linear, quadratic, second-order cone, exponential cone, semidefinite matrices.
TAKEN = {
    1: ("SCIPY", "GLOP", "PDLP", "GLPK"),
    2: ("OSQP", "HIGHS", "PIQP", "PROXQP", "DAQP", "XPRESS"),
    3: ("QOCO", "GUROBI", "CPLEX"),
    4: ("ECOS",),
    5: ("CLARABEL", "SCS", "MOSEK", "COPT"),
}
CONES = {backend: kind for kind, backends in TAKEN.items() for backend in backends}
WORDS = {
    1: "linear programs",
    2: "linear and quadratic programs",
    3: "linear and quadratic programs, norm bounds",
    4: "everything but determinants",
    5: "everything",
}
NEEDED = {
    2: "a quadratic objective",
    3: "a norm bound",
    4: "a loss that needs the exponential cone",
    5: "a determinant",
}


#: What a limit of seconds is called.
TIME_LIMITS = {"CLARABEL": "time_limit", "OSQP": "time_limit", "HIGHS": "time_limit", "SCS": "time_limit_secs"}


@dataclass(frozen=True)
class CvxpySolver(Solver):
    """A backend behind cvxpy. ``raw`` is passed on to the backend as it is, in its own words."""

    name: ClassVar[str] = "cvxpy"
    accepts: ClassVar[str] = "what the backend takes"
    promise: ClassVar[float] = 1e-5
    package: ClassVar[str] = "cvxpy"
    backend: ClassVar[str] = ""

    max_iter: int | None = None
    time_limit: float | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)

    def refuses(self, problem: Problem) -> str:
        import cvxpy

        if self.backend not in cvxpy.installed_solvers():
            return f"cvxpy has no backend {self.backend!r} installed; it has {', '.join(backends())}"
        needed = _needs(problem)
        able = CONES.get(self.backend)
        if able is None:  # a backend this file does not know: let cvxpy say
            try:
                cvxpy_form(problem).problem.get_problem_data(self.backend)
            except cvxpy.error.SolverError as error:
                return f"cvxpy says: {error}"
            return ""
        # HiGHS 1.15 writes out of bounds there, and the process dies
        if self.backend == "HIGHS" and not problem.is_linear_program and beyond_range(*_sizes(problem)):
            return "HiGHS does not survive quadratic programs whose weights and penalties differ by more than 1e100"
        if needed > able:
            return f"it takes {WORDS[able]}, and the problem has {NEEDED[needed]}"
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        import cvxpy

        form = cvxpy_form(problem)
        extreme = beyond_range(*_sizes(problem), *_largest_entries(problem))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate" is for our own check to say
            try:
                with quiet() if extreme and not self.raw.get("verbose") else nullcontext():
                    form.problem.solve(solver=self.backend, **{**self._settings(problem, tol), **self.raw})
            except (cvxpy.error.SolverError, ValueError, ArithmeticError) as error:
                return Answer(None, {}, f"{type(error).__name__}: {error}")
        tracer = Tracer(callback)
        stats = form.problem.solver_stats
        iterations = int(getattr(stats, "num_iters", None) or 0)
        x = form.point(problem)
        if x is None or not np.all(np.isfinite(x)) or "infeasible" in form.problem.status:
            return Answer(None, {}, str(form.problem.status), iterations)
        tracer.record(float(form.problem.value), float("nan"))
        return Answer(x, form.multipliers(problem), str(form.problem.status), iterations, tuple(tracer.lines))

    def _settings(self, problem: Problem, tol: float) -> dict[str, Any]:
        """The accuracy and the iteration limit in the backend's own words."""
        aim = max(tol * 1e-2, 1e-12)
        settings: dict[str, dict[str, Any]] = {
            # near the optimum of a smooth loss, a gap of 1e-8 still leaves a gradient of 1e-4
            "CLARABEL": {
                **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12),
                **dict.fromkeys(("tol_infeas_abs", "tol_infeas_rel"), 1e-14),
            },
            "OSQP": {
                "eps_abs": max(aim, 1e-9),
                "eps_rel": max(aim, 1e-9),
                "max_iter": 200_000,
                "polishing": False,  # it prints
            },
            "SCS": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 100_000},
            "HIGHS": {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
            "ECOS": {"abstol": aim, "reltol": aim, "feastol": aim},
            "PIQP": {"eps_abs": aim, "eps_rel": aim},
        }
        if self.backend == "HIGHS" and not problem.is_linear_program:
            # HiGHS adds this to the quadratic form; at its default of 1e-7 least squares lose their digits, and
            # without inequalities the form needs next to none
            bounded = any(c.relation == "<=" for c in problem.constraints)
            settings["HIGHS"]["qp_regularization_value"] = 1e-8 if bounded else 1e-12
        limits = {"CLARABEL": "max_iter", "OSQP": "max_iter", "SCS": "max_iters", "ECOS": "max_iters"}
        out = dict(settings.get(self.backend, {}))
        if self.max_iter is not None and self.backend in limits:
            out[limits[self.backend]] = self.max_iter
        if self.time_limit is not None and self.backend in TIME_LIMITS:
            out[TIME_LIMITS[self.backend]] = self.time_limit
        return out


def _sizes(problem: Problem) -> list[Array]:
    """The coefficients of the objective."""
    diagonals = (p for p in problem.quadratic.values() if isinstance(p, np.ndarray))
    return [*(t.weights for t in problem.terms), *diagonals]


def _largest_entries(problem: Problem) -> list[Array]:
    """The largest entries of all rows, and what they are compared with."""
    blocks = (*problem.terms, *problem.constraints, *problem.norm_bounds)
    sides = [*(t.offset for t in problem.terms), *(c.rhs for c in problem.constraints), problem.q]
    return [*(problem.rows(b).column_max() for b in blocks), *sides]


#: Measured on the gallery; a first-order method stops early, an interior point does not.
PROMISES = {"CLARABEL": 1e-5, "SCS": 1e-4, "OSQP": 1e-3, "HIGHS": 1e-4, "SCIPY": 1e-7}


@cache
def cvxpy_solver(backend: str) -> type[CvxpySolver]:
    """The solver class for one backend."""
    backend = backend.upper()
    words = WORDS.get(CONES.get(backend, 0), "what the backend takes")
    return type(
        f"Cvxpy{backend.title()}Solver",
        (CvxpySolver,),
        {
            "name": PREFIX + backend,
            "backend": backend,
            "keeps_time": backend in TIME_LIMITS,
            "accepts": words,
            "promise": PROMISES.get(backend, CvxpySolver.promise),
        },
    )


@cache
def backends() -> tuple[str, ...]:
    """The backends that cvxpy has installed."""
    import cvxpy

    return tuple(sorted(cvxpy.installed_solvers()))


def _needs(problem: Problem) -> int:
    if any(t.loss.name == "log-det" for t in problem.terms):
        return 5
    if any(not t.is_half_square for t in problem.terms):
        return 4
    if problem.norm_bounds:
        return 3
    return 2 if problem.terms or problem.quadratic else 1
