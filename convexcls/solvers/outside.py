"""Solvers from outside this package: an object or its class, and what installed packages bring by the group
``convexcls.solvers`` of their entry points:

    [project.entry-points."convexcls.solvers"]
    heavy-ball = "their_package.heavy_ball:HeavyBallSolver"
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from convexcls.outside import brought, loaded, owner
from convexcls.solvers.base import Solver

GROUP = "convexcls.solvers"
#: What may stand where a solver is asked for: a name, a solver with its options, or its class.
SolverLike = str | Solver | type[Solver]
HOW = (
    "give a name, a class derived from convexcls.solvers.Solver or an object of one; cc.solver(f) makes one of a "
    "function"
)


def of_packages() -> list[str]:
    """The names of the solvers that installed packages bring; a warning of each that cannot be loaded."""
    return [name for name in brought(GROUP) if _loads(name)]


@cache
def _loads(name: str) -> bool:
    try:
        of_package(name)
    except (ValueError, TypeError) as error:
        warnings.warn(f"left out: {error}", stacklevel=5)
        return False
    return True


def of_package(name: str) -> type[Solver]:
    """The class behind an entry point."""
    point = brought(GROUP)[name]
    return solver_type(loaded(point, "solver"), f"the solver {name!r}{owner(point)}")


def solver_type(given: Any, what: str) -> type[Solver]:
    """The class of a solver, or of an object that is one; what is neither is an error that says how to make it one."""
    found = given if isinstance(given, type) else type(given)
    if not issubclass(found, Solver):
        raise TypeError(f"{what} is no solver, but {_shown(given)}: {HOW}")
    if not isinstance(getattr(found, "name", None), str) or not found.name.strip():
        raise TypeError(f'{what} has no name: write name = "..." in the class {found.__name__}')
    missing = sorted(found.__abstractmethods__)
    if found.solve is Solver.solve and found.solve_from is Solver.solve_from:
        missing.append("solve")
    if missing:
        raise TypeError(f"{what} is not complete: the class {found.__name__} has no {' and no '.join(missing)}")
    return found


def _shown(given: Any) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
