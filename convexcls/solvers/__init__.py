"""The solvers, one file each in the folder of its family, and the registry that names them.

A registry line is ``name: "module:Class"``; the module is imported when the solver is asked for.
"""

from __future__ import annotations

import sys
from importlib import import_module

from convexcls.solvers.base import Answer, Callback, Iteration, Solver, SolverRefused, Standing, Start, Tracer, printing
from convexcls.wording import did_you_mean

REGISTRY: dict[str, str] = {
    "closed-form": "convexcls.solvers.direct.closed_form:ClosedFormSolver",
    "moments": "convexcls.solvers.direct.moments:MomentsSolver",
    "newton": "convexcls.solvers.smooth.newton:NewtonSolver",
    "irls": "convexcls.solvers.smooth.irls:IRLSSolver",
    "newton-kkt": "convexcls.solvers.smooth.newton_kkt:NewtonKKTSolver",
    "gradient": "convexcls.solvers.smooth.gradient:GradientSolver",
    "smo": "convexcls.solvers.kernel.smo:SMOSolver",
    "highs": "convexcls.solvers.foreign.highs:HighsSolver",
    "working-set": "convexcls.solvers.rows.working_set:WorkingSetSolver",
    "clarabel": "convexcls.solvers.foreign.clarabel:ClarabelSolver",
    "osqp": "convexcls.solvers.foreign.osqp:OSQPSolver",
    "interior-point": "convexcls.solvers.rows.interior_point:InteriorPointSolver",
    "coordinate-descent": "convexcls.solvers.dual.coordinate_descent:CoordinateDescentSolver",
    "rational": "convexcls.solvers.direct.rational:RationalSolver",
    "perceptron": "convexcls.solvers.rules.perceptron:PerceptronSolver",
    "perceptron-batch": "convexcls.solvers.rules.perceptron:PerceptronBatchSolver",
    "lms": "convexcls.solvers.rules.lms:LMSSolver",
    "subgradient": "convexcls.solvers.rules.subgradient:SubgradientSolver",
    "sgd": "convexcls.solvers.rules.sgd:SGDSolver",
}
CVXPY = "cvxpy:"


def solver_class(name: str) -> type[Solver]:
    """The solver of that name; ``cvxpy:<BACKEND>`` for every backend of cvxpy."""
    if name.lower().startswith(CVXPY):
        from convexcls.solvers.foreign.cvxpy import cvxpy_solver

        return cvxpy_solver(name[len(CVXPY) :].upper())
    if name not in REGISTRY:
        meant = did_you_mean(name, [*REGISTRY, "auto"])
        raise ValueError(
            f"there is no solver {name!r}{meant}; the solvers are {', '.join(REGISTRY)}, "
            "cvxpy:<BACKEND> (for every backend that cvxpy has installed) and auto"
        )
    module, cls = REGISTRY[name].split(":")
    found: type[Solver] = getattr(sys.modules.get(module) or import_module(module), cls)
    return found


def solver_names() -> list[str]:
    """The names of all solvers that are installed."""
    from convexcls.solvers.foreign.cvxpy import backends

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
    "printing",
    "solver_class",
    "solver_names",
]
