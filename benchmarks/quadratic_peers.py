"""Solvers of quadratic programs on support vector machines: raw through qpsolvers, and behind cvxpy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.race import Answer, Contender, Data

#: quadprog and DAQP need a positive definite matrix: the intercept gets this curvature.
INTERCEPT_CURVATURE = {"quadprog": 1e-10, "daqp": 1e-8}
#: Each raw solver's tolerances in its own words.
RAW: dict[str, tuple[str, ...]] = {
    "quadprog": (),
    "daqp": ("primal_tol", "dual_tol"),
    "piqp": ("eps_abs", "eps_rel"),
    "clarabel": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    "osqp": ("eps_abs", "eps_rel"),
    "proxqp": ("eps_abs", "eps_rel"),
    "highs": ("primal_feasibility_tolerance", "dual_feasibility_tolerance"),
}
#: Backends of cvxpy are many: those that take longer are stopped.
CVXPY_CAP = 15.0
DENSE = ("quadprog", "daqp", "piqp")
#: Steps that a first-order method is allowed.
LIMITS: dict[str, dict[str, Any]] = {"osqp": {"max_iter": 1_000_000}, "piqp": {"backend": "dense"}}


def hard_margin_program(data: Data, solver: str) -> Any:
    """The hard margin in w and b as a quadratic program, dense or sparse as the solver takes it."""
    from qpsolvers import Problem

    X, y = data["X"], data["y"]
    n, d = X.shape
    P, G = np.eye(d + 1), -y[:, None] * np.column_stack([X, np.ones(n)])
    P[d, d] = INTERCEPT_CURVATURE.get(solver, 0.0)
    if solver in DENSE:
        return Problem(P, np.zeros(d + 1), G, -np.ones(n))
    return Problem(sparse.csc_matrix(P), np.zeros(d + 1), sparse.csc_matrix(G), -np.ones(n))


def by_qpsolvers(program: Any, tol: float, *, solver: str) -> Answer:
    """The raw solver through qpsolvers, on dense matrices where it takes them (PIQP with its dense backend); building
    the matrices is not in the time. All its tolerances are set to the same number, the loosest of 1e-6, 1e-8, 1e-10,
    1e-12 that reaches the accuracy; quadprog has none. OSQP may take a million steps. For quadprog and DAQP, which need
    a positive definite matrix, the intercept has the curvature 1e-10 (quadprog) or 1e-8 (DAQP, which fails below)."""
    from qpsolvers import available_solvers, solve_problem

    if solver not in available_solvers:
        raise ImportError(f"{solver} is not installed")
    options = {name: max(tol, 1e-10) if solver == "highs" else tol for name in RAW[solver]}
    found = solve_problem(program, solver=solver, initvals=None, verbose=False, **options, **LIMITS.get(solver, {}))
    if found.x is None or found.z is None:
        raise RuntimeError("no answer")
    return Answer(found.x[:-1], found.x[-1], found.z)


def by_cvxpy(data: Data, tol: float, *, backend: str) -> Answer:
    """The problem written in cvxpy as a user would (hinge losses with C, constraints without), compiled and solved by
    the backend, all in the time; at the backend's default tolerances first, then with all of them at 1e-8, 1e-10 and
    1e-12. First-order methods may take a million steps."""
    import cvxpy

    if backend not in cvxpy.installed_solvers():
        raise ImportError(f"cvxpy has no {backend}")
    X, y = data["X"], data["y"]
    w, b = cvxpy.Variable(X.shape[1]), cvxpy.Variable()
    margins = cvxpy.multiply(y, X @ w + b)
    if "C" in data:
        slack = cvxpy.Variable(X.shape[0])
        rows = [margins >= 1 - slack, slack >= 0]
        problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + data["C"] * cvxpy.sum(slack)), rows)
    else:
        rows = [margins >= 1]
        problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w)), rows)
    problem.solve(solver=backend, **cvxpy_settings(backend, tol))
    if w.value is None or rows[0].dual_value is None:
        raise RuntimeError(f"no answer: {problem.status}")
    return Answer(w.value, float(b.value), np.asarray(rows[0].dual_value))


def cvxpy_settings(backend: str, tol: float) -> dict[str, Any]:
    """The backend's tolerances in its own words; a tolerance of 1 stands for its defaults."""
    steps: dict[str, dict[str, Any]] = {"OSQP": {"max_iter": 1_000_000}, "SCS": {"max_iters": 1_000_000}}
    words = {
        "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
        "OSQP": ("eps_abs", "eps_rel"),
        "SCS": ("eps_abs", "eps_rel"),
        "ECOS": ("abstol", "reltol", "feastol"),
        "PIQP": ("eps_abs", "eps_rel"),
        "PROXQP": ("eps_abs", "eps_rel"),
        "QOCO": ("abstol", "reltol"),
        "HIGHS": ("primal_feasibility_tolerance", "dual_feasibility_tolerance"),
        "DAQP": ("primal_tol", "dual_tol"),
    }
    floor = 1e-10 if backend == "HIGHS" else 0.0  # HiGHS takes none below
    tolerances = {} if tol >= 1 else {word: max(tol, floor) for word in words.get(backend, ())}
    return {**steps.get(backend, {}), **tolerances}


def raw_contenders(*solvers: str) -> tuple[Contender, ...]:
    """The raw solvers on the hard margin."""
    return tuple(
        Contender(
            solver,
            partial(by_qpsolvers, solver=solver),
            (1e-6, 1e-8, 1e-10, 1e-12) if RAW[solver] else (0.0,),
            partial(hard_margin_program, solver=solver),
            quick=solver not in ("osqp", "proxqp", "highs"),
        )
        for solver in solvers
    )


def cvxpy_contenders(*backends: str) -> tuple[Contender, ...]:
    """cvxpy with each backend; those that are not installed are shown as such."""
    return tuple(
        Contender(
            f"cvxpy:{backend}",
            partial(by_cvxpy, backend=backend),
            (1.0, 1e-8, 1e-10, 1e-12),
            quick=False,
            cap=CVXPY_CAP,
        )
        for backend in backends
    )
