"""Solve: the only place where problems and solvers meet."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from convexcls.certificate import certify
from convexcls.problem import Problem, provides
from convexcls.scaling import Scaled, equilibrate
from convexcls.solution import Solution
from convexcls.solvers import Answer, Callback, Iteration, Solver, SolverRefused, solver_class, solver_names


@dataclass(frozen=True)
class SolverInfo:
    """What a solver takes and promises."""

    name: str
    accepts: str
    promise: float
    installed: bool = True


def solvers() -> list[SolverInfo]:
    """All solvers that can be named, what each accepts and what relative accuracy it promises."""
    out = []
    for name in solver_names():
        cls = solver_class(name)
        out.append(SolverInfo(name, cls.accepts, cls.promise))
    return out


@provides("solve")
def solve(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-8,
    callback: Callback | None = None,
    **options: Any,
) -> Solution:
    """Solve the problem with the named solver and judge the answer on the problem as stated.

    ``tol`` is the relative tolerance of the verdict, and what the solver is asked to aim at. ``auto`` takes
    the solvers that suit the problem in turn, until an answer is proved.
    """
    if not (isinstance(tol, (int, float)) and 0 < tol < 1):
        raise ValueError(f"tol is {tol!r}: it must be a number between 0 and 1")
    scaled = equilibrate(problem)
    if solver != "auto":
        worker = solver_class(solver).with_options(**options)
        if reason := worker.refuses(scaled.problem):
            able = [info.name for info in accepting(problem)]
            raise SolverRefused(
                f"solver {solver!r} does not take the {problem.name}: {reason}. These do: {', '.join(able)}"
            )
        return _work(problem, scaled, worker, tol, callback)
    if options:
        raise TypeError(f"solver 'auto' has no options ({', '.join(options)} given): name a solver to set them")
    best: Solution | None = None
    for name in candidates(problem):
        worker = solver_class(name).with_options()
        if worker.refuses(scaled.problem):
            continue
        found = _work(problem, scaled, worker, tol, callback)
        if found.status != "undecided":
            return found
        if best is None or _worst(found) < _worst(best):
            best = found
    if best is None:
        raise SolverRefused(f"no installed solver takes the {problem.name}")
    return best


def candidates(problem: Problem) -> list[str]:
    """The solvers that ``auto`` tries, in order: a formula where there is one, Newton for smooth losses, the
    simplex method for linear programs, an interior point otherwise; cvxpy's Clarabel is the last resort."""
    order = ["closed-form", "newton"]
    if problem.is_linear_program:
        order.append("highs")
    return [*order, "clarabel", "osqp", "cvxpy:CLARABEL"]


def accepting(problem: Problem) -> list[SolverInfo]:
    """The installed solvers that take the problem."""
    scaled = equilibrate(problem).problem
    return [info for info in solvers() if not solver_class(info.name).with_options().refuses(scaled)]


def _worst(solution: Solution) -> float:
    kkt = solution.certificate.kkt
    return float("inf") if kkt is None else kkt.worst


def _work(problem: Problem, scaled: Scaled, worker: Solver, tol: float, callback: Callback | None) -> Solution:
    start = time.perf_counter()

    def in_original_units(line: Iteration) -> Iteration:
        value = problem.reported(scaled.restore_objective(line.objective))
        return replace(line, objective=value)

    def report(line: Iteration) -> None:
        if callback is not None:
            callback(in_original_units(line))

    answer = worker.solve(scaled.problem, tol, report if callback is not None else None)
    seconds = time.perf_counter() - start
    answer = _restored(answer, scaled)
    certificate, x, multipliers = certify(
        problem, answer.x, answer.multipliers, tol, farkas=answer.farkas, direction=answer.direction
    )
    return Solution(
        problem,
        worker.name,
        certificate,
        None if x is None else np.array(x),
        {name: np.array(z) for name, z in (multipliers or {}).items()},
        answer.message,
        answer.iterations,
        seconds,
        tuple(in_original_units(line) for line in answer.trace),
    )


def _restored(answer: Answer, scaled: Scaled) -> Answer:
    return replace(
        answer,
        x=None if answer.x is None else scaled.restore_point(answer.x),
        multipliers=scaled.restore_multipliers(answer.multipliers),
        farkas=None if answer.farkas is None else scaled.restore_multipliers(answer.farkas),
        direction=None if answer.direction is None else scaled.restore_point(answer.direction),
    )
