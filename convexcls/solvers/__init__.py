"""The solvers, one file each, and the registry that names them.

A registry line is ``name: "module:Class"``; the module is imported when the solver is asked for.
"""

from __future__ import annotations

from importlib import import_module

from convexcls.solvers.base import Answer, Callback, Iteration, Solver, SolverRefused, Standing, Start, Tracer

REGISTRY: dict[str, str] = {
    "closed-form": "convexcls.solvers.closed_form:ClosedFormSolver",
    "moments": "convexcls.solvers.moments:MomentsSolver",
    "newton": "convexcls.solvers.newton:NewtonSolver",
    "newton-kkt": "convexcls.solvers.newton_kkt:NewtonKKTSolver",
    "gradient": "convexcls.solvers.gradient:GradientSolver",
    "smo": "convexcls.solvers.smo:SMOSolver",
    "highs": "convexcls.solvers.highs:HighsSolver",
    "working-set": "convexcls.solvers.working_set:WorkingSetSolver",
    "clarabel": "convexcls.solvers.clarabel:ClarabelSolver",
    "osqp": "convexcls.solvers.osqp:OSQPSolver",
    "interior-point": "convexcls.solvers.interior_point:InteriorPointSolver",
    "rational": "convexcls.solvers.rational:RationalSolver",
    "perceptron": "convexcls.solvers.perceptron:PerceptronSolver",
    "perceptron-batch": "convexcls.solvers.perceptron_batch:PerceptronBatchSolver",
    "lms": "convexcls.solvers.lms:LMSSolver",
    "sgd": "convexcls.solvers.sgd:SGDSolver",
}
CVXPY = "cvxpy:"


def solver_class(name: str) -> type[Solver]:
    """The solver of that name; ``cvxpy:<BACKEND>`` for every backend of cvxpy."""
    if name.lower().startswith(CVXPY):
        from convexcls.solvers.cvxpy_backend import cvxpy_solver

        return cvxpy_solver(name[len(CVXPY) :].upper())
    if name not in REGISTRY:
        raise ValueError(
            f"there is no solver {name!r}; the solvers are {', '.join(REGISTRY)}, "
            "cvxpy:<BACKEND> (for every backend that cvxpy has installed) and auto"
        )
    module, cls = REGISTRY[name].split(":")
    found: type[Solver] = getattr(import_module(module), cls)
    return found


def solver_names() -> list[str]:
    """The names of all solvers that are installed."""
    from convexcls.solvers.cvxpy_backend import backends

    return [*REGISTRY, *(CVXPY + backend for backend in backends())]


__all__ = [
    "CVXPY",
    "REGISTRY",
    "Answer",
    "Callback",
    "Iteration",
    "Solver",
    "SolverRefused",
    "Standing",
    "Start",
    "Tracer",
    "solver_class",
    "solver_names",
]
