"""The solvers, one file each in the folder of its family, and the registry that names them; what a solver of your own
is made of.

A registry line is ``name: "module:Class"``; the module is imported when the solver is asked for. Installed packages
bring more (``outside.py``).

>>> from convexcls.solvers import Answer, Solver, solver_class
>>> issubclass(solver_class("newton"), Solver)
True
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from convexcls.outside import at_address, brought, is_address
from convexcls.solvers.base import Answer, Callback, Iteration, Solver, SolverRefused, Standing, Start, Tracer, printing
from convexcls.solvers.outside import GROUP, SolverLike, of_package, of_packages, solver_type
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
    "active-set": "convexcls.solvers.dual.active_set:ActiveSetSolver",
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
    """The solver of that name: of this package or of one that is installed, ``cvxpy:<BACKEND>`` for every backend of
    cvxpy, or ``package.module:Name``.

    >>> from convexcls.solvers import solver_class
    >>> solver_class("newton").accepts
    'smooth losses and quadratics without constraints'
    >>> solver_class("convexcls.solvers.foreign.osqp:OSQPSolver").name
    'osqp'
    """
    if name.lower().startswith(CVXPY):
        from convexcls.solvers.foreign.cvxpy import cvxpy_solver

        return cvxpy_solver(name[len(CVXPY) :].upper())
    if name in REGISTRY:
        module, cls = REGISTRY[name].split(":")
        found: type[Solver] = getattr(sys.modules.get(module) or import_module(module), cls)
        return found
    if is_address(name):
        return solver_type(at_address(name), repr(name))
    if name in brought(GROUP):
        return of_package(name)
    meant = did_you_mean(name, [*REGISTRY, *brought(GROUP), "auto"])
    raise ValueError(
        f"there is no solver {name!r}{meant}; the solvers are {', '.join([*REGISTRY, *brought(GROUP)])}, "
        "cvxpy:<BACKEND> (for every backend that cvxpy has installed), package.module:Name and auto"
    )


def solver_names() -> list[str]:
    """The names of all solvers that are installed.

    >>> from convexcls.solvers import solver_names
    >>> {"newton", "osqp", "cvxpy:CLARABEL"} <= set(solver_names())
    True
    """
    from convexcls.solvers.foreign.cvxpy import backends

    names = dict.fromkeys([*REGISTRY, *of_packages()])
    return [*names, *(CVXPY + backend for backend in backends())]


def made(given: SolverLike, **options: Any) -> Solver:
    """The solver that is meant, with these options besides those that it has."""
    if isinstance(given, str):
        cvxpy = given.lower().startswith(CVXPY)
        found: Any = at_address(given) if is_address(given) and not cvxpy else solver_class(given)
    else:
        found = given
    cls = solver_type(found, f"solver {given!r}")
    if isinstance(found, type):
        return cls.with_options(**options)
    if not options:
        return found
    kept = {f.name: getattr(found, f.name) for f in fields(found)} if is_dataclass(found) else {}
    return cls.with_options(**{**kept, **options})


class _CalledModule(ModuleType):
    """``convexcls.solvers()`` listed the solvers before this was a module to import from."""

    def __call__(self) -> Any:
        warnings.warn(
            "convexcls.solvers is a module: call convexcls.list_solvers() for the list",
            DeprecationWarning,
            stacklevel=2,
        )
        return import_module("convexcls.solve").list_solvers()


sys.modules[__name__].__class__ = _CalledModule

__all__ = [
    "CVXPY",
    "REGISTRY",
    "Answer",
    "Callback",
    "Iteration",
    "Solver",
    "SolverLike",
    "SolverRefused",
    "Standing",
    "Start",
    "Tracer",
    "printing",
    "solver_class",
    "solver_names",
]
