"""convexcls as a contender: as a user sees it, and each own solver alone."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.bars import OURS
from benchmarks.race import Answer, Contender, Data, NotThere

#: Tolerances for us, too: the loosest that reaches the accuracy counts.
LADDER = (1e-8, 1e-9, 1e-10)


def whole(data: Data, tol: float, *, model: str, solver: str = "auto", **parameters: Any) -> Answer:
    """Declare the problem, solve it (solver "auto") and certify the answer: all three are in the time."""
    import convexcls as cc
    from convexcls.solvers import REGISTRY

    if solver != "auto" and solver not in REGISTRY:
        raise NotThere(f"no solver {solver!r} yet")
    solution = getattr(cc, model)(data["X"], data["y"], **parameters).solve(solver=solver, tol=tol)
    note = f"{solution.status} by {solution.solver}"
    seconds = None if solver == "auto" else solution.seconds
    if solution.status == "infeasible":
        return Answer(None, multipliers=solution.certificate.farkas.multipliers["margin"], seconds=seconds, note=note)
    if solution.x is None:
        raise RuntimeError(f"{note}: {solution.certificate.reason}")
    if model == "KernelSVM":
        multipliers = data["y"] * solution.dual_coef
        return Answer(None, solution.intercept, multipliers, seconds, note)
    return Answer(solution.coef, solution.intercept, solution.multipliers.get("margin"), seconds, note)


def alone(data: Data, tol: float, *, model: str, solver: str, **parameters: Any) -> Answer:
    """The named own solver: only the seconds inside of it, without declaring and certifying."""
    return whole(data, tol, model=model, solver=solver, **parameters)


def ours(model: str, *solvers: str, ladder: tuple[float, ...] = LADDER, **parameters: Any) -> tuple[Contender, ...]:
    """Our line, and one for each own solver by name."""
    first = Contender(OURS, partial(whole, model=model, **parameters), ladder, ours=True)
    named = (
        Contender(f"{OURS}:{solver} alone", partial(alone, model=model, solver=solver, **parameters), ladder, ours=True)
        for solver in solvers
    )
    return (first, *named)
