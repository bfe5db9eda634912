"""From one value of a parameter to the next: the soft margin along C, a likelihood along its penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.models import Model
from convexcls.solution import Solution
from convexcls.solve import solve
from convexcls.solvers import REGISTRY, SolverRefused, solver_class
from convexcls.studies.paths.result import Path, has_solution

#: The parameters along which there is a path. Only the price C has to be above 0.
VARIED = ("C", "l2", "l1")


def path(
    model: type[Model],
    X: Any,
    y: Any,
    *,
    solver: str = "auto",
    tol: float = 1e-8,
    progress: Callable[[Solution], None] | None = None,
    **settings: Any,
) -> Path:
    """Solve the model for each value of one parameter, each point from the one before and each with its proof:

        cc.path(cc.SoftMarginSVM, X, y, C=np.geomspace(1e-3, 1e3, 25))
        cc.path(cc.LogisticMLE, X, y, l2=[10, 1, 0.1, 0], sample_weight=w)

    The parameter that varies (C, l2 or l1) is given as a sequence of values, in any order; all other settings are the
    model's own. ``progress`` is called with each solution, in the order in which they are found.

    ``solver`` and ``tol`` are those of ``solve``.

    >>> import convexcls as cc
    >>> path = cc.path(cc.LogisticMLE, [[0], [1], [2], [3]], [0, 0, 1, 1], l2=[1.0, 0.1, 0.0])
    >>> path.statuses
    ('optimal', 'optimal', 'unattained')
    >>> bool(path.coef[0] < path.coef[1])  # less penalty, larger coefficients
    True
    """
    if not (isinstance(model, type) and issubclass(model, Model)):
        raise TypeError(f"{model!r} is not a model: give the class, such as cc.SoftMarginSVM, then X and y")
    name, values = _varied(settings)
    fixed = {key: value for key, value in settings.items() if key != name}
    declare: Callable[..., Model] = model
    found: dict[int, Solution] = {}
    before: Solution | None = None
    order = np.argsort(values if name == "C" else -values)  # what is held most firmly first: it is the easiest
    for k in order:
        problem = declare(X, y, **{name: float(values[k]), **fixed})
        found[int(k)] = s = _next(problem, solver, tol, before)
        if has_solution(s):
            before = s
        if progress is not None:
            progress(s)
    return Path(model.kind, name, values, tuple(found[k] for k in range(values.size)))


def _varied(settings: dict[str, Any]) -> tuple[str, Array]:
    """The one setting that is a sequence of values, and the values."""
    names = [name for name in VARIED if name in settings and np.ndim(settings[name]) > 0]
    if len(names) != 1:
        given = "none was given" if not names else f"{' and '.join(names)} were given"
        raise ValueError(f"a path needs one of {', '.join(VARIED)} as a sequence of values; {given}")
    name = names[0]
    try:
        values = np.array(settings[name], dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds something that is not a number: give a sequence of numbers") from None
    if values.ndim != 1 or not values.size:
        raise ValueError(f"{name} has the shape {values.shape}: give a sequence of at least one number")
    lowest = "above 0" if name == "C" else "0 or more"
    for k, value in enumerate(values):
        if not np.isfinite(value) or value < 0 or (name == "C" and value == 0):
            raise ValueError(f"{name}[{k}] is {value:g}: every value must be finite and {lowest}")
        if value in values[:k]:
            raise ValueError(f"{name}[{k}] is {value:g}, which is there before: give every value once")
    return name, values


def _next(problem: Model, solver: str, tol: float, before: Solution | None) -> Solution:
    """The solution, from the one before where the solver can begin there; from nothing where that leads nowhere."""
    if before is not None:
        name = before.solver if solver == "auto" else solver
        if name in REGISTRY and solver_class(name).warm:
            try:
                if (s := solve(problem, name, tol, start=before).unless_interrupted()).status != "undecided":
                    return s
            except SolverRefused:  # without a penalty it may be another kind of problem
                pass
    return solve(problem, solver, tol).unless_interrupted()
