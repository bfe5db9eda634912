"""Solve: the only place where problems and solvers meet."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate import certify
from convexcls.duality import Dual
from convexcls.problem import Problem, provides
from convexcls.scaling import Scaled, equilibrate, unscaled
from convexcls.solution import Solution
from convexcls.solvers import Answer, Callback, Iteration, Solver, SolverRefused, Start, solver_class, solver_names

Array = NDArray[np.float64]
#: Before a solver's name: give it the dual of the problem.
DUAL = "dual:"


@dataclass(frozen=True)
class SolverInfo:
    """What a solver takes and promises."""

    name: str
    accepts: str
    promise: float
    installed: bool = True
    #: A learning rule: it is shown for what it does, and its answer need not be proved.
    rule: bool = False


def solvers() -> list[SolverInfo]:
    """All solvers that can be named, what each accepts and what relative accuracy it promises."""
    out = []
    for name in solver_names():
        cls = solver_class(name)
        out.append(SolverInfo(name, cls.accepts, cls.promise, rule=cls.rule))
    return out


@provides("solve")
def solve(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-8,
    callback: Callback | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    **options: Any,
) -> Solution:
    """Solve the problem with the named solver and judge the answer on the problem as stated.

    ``tol`` is the relative tolerance of the verdict, and what the solver is asked to aim at. ``auto`` takes
    the solvers that suit the problem in turn, until an answer is proved. ``dual:NAME`` gives the dual to the
    solver and maps its answer back. ``start`` is where to begin, for solvers that can: a solution of a similar
    problem, or values by variable (0 for those left out).
    """
    if not (isinstance(tol, (int, float)) and 0 < tol < 1):
        raise ValueError(f"tol is {tol!r}: it must be a number between 0 and 1")
    if solver != "auto":
        job = _Job.of(problem, solver, **options)
        if reason := job.refuses():
            able = [info.name for info in accepting(problem, rules=True)]
            raise SolverRefused(
                f"solver {solver!r} does not take the {problem.name}: {reason}. These do: {', '.join(able)}"
            )
        if start is not None and not job.worker.warm:
            starters = ", ".join(name for name in solver_names() if solver_class(name).warm)
            raise TypeError(f"solver {solver!r} does not take a start; these do: {starters}")
        return job.run(tol, callback, start)
    if options:
        raise TypeError(f"solver 'auto' has no options ({', '.join(options)} given): name a solver to set them")
    best: Solution | None = None
    for name in candidates(problem):
        job = _Job.of(problem, name)
        if job.refuses():
            continue
        found = job.run(tol, callback, start if job.takes_start else None)
        if found.status != "undecided":
            return found
        if best is None or _worst(found) < _worst(best):
            best = found
    if best is None:
        raise SolverRefused(f"no installed solver takes the {problem.name}")
    return best


def candidates(problem: Problem) -> list[str]:
    """The solvers that ``auto`` tries, in order: a formula where there is one, Newton for smooth losses, the
    simplex method for linear programs, an interior point otherwise, on the problem or on its dual; cvxpy's
    Clarabel is the last resort."""
    order = ["closed-form", "moments", "newton", "newton-kkt"]
    if problem.is_linear_program:
        order.append("highs")
    return [*order, "clarabel", "dual:clarabel", "cvxpy:CLARABEL"]


def accepting(problem: Problem, rules: bool = False) -> list[SolverInfo]:
    """The installed solvers that take the problem; learning rules only where asked for."""
    scaled = equilibrate(problem).problem
    out = []
    for info in solvers():
        if info.rule and not rules:
            continue
        worker = solver_class(info.name).with_options()
        if not worker.refuses(problem if worker.as_stated else scaled):
            out.append(info)
    return out


def _worst(solution: Solution) -> float:
    kkt = solution.certificate.kkt
    return float("inf") if kkt is None else kkt.worst


@dataclass(frozen=True, eq=False)
class _Job:
    """A problem, the form of it that a solver gets (itself or its dual, in better units), and the solver."""

    problem: Problem
    form: Problem
    scaled: Scaled
    worker: Solver
    name: str

    @classmethod
    def of(cls, problem: Problem, name: str, **options: Any) -> _Job:
        through_dual = name.startswith(DUAL)
        worker = solver_class(name.removeprefix(DUAL)).with_options(**options)
        form = problem.dual() if through_dual else problem
        scaled = unscaled(form) if worker.as_stated else equilibrate(form)
        return cls(problem, form, scaled, worker, (DUAL if through_dual else "") + worker.name)

    @property
    def takes_start(self) -> bool:
        return self.worker.warm and self.form is self.problem

    def refuses(self) -> str:
        return self.worker.refuses(self.scaled.problem)

    def run(self, tol: float, callback: Callback | None, start: Solution | Mapping[str, Any] | None = None) -> Solution:
        begun = time.perf_counter()
        report = None if callback is None else lambda line: callback(self._in_original_units(line))
        if start is None:
            answer = self.worker.solve(self.scaled.problem, tol, report)
        else:
            answer = self.worker.solve_from(self._start(start), self.scaled.problem, tol, report)
        seconds = time.perf_counter() - begun
        answer = self._restored(answer)
        certificate, x, multipliers = certify(
            self.problem, answer.x, answer.multipliers, tol, farkas=answer.farkas, direction=answer.direction
        )
        return Solution(
            self.problem,
            self.name,
            certificate,
            None if x is None else np.array(x),
            {name: np.array(z) for name, z in (multipliers or {}).items()},
            answer.message,
            answer.iterations,
            seconds,
            tuple(self._in_original_units(line) for line in answer.trace),
            answer.report,
        )

    def _start(self, start: Solution | Mapping[str, Any]) -> Start:
        """The start in the units of the solver; what does not fit the problem is left out, or an error where the
        caller wrote it."""
        if self.form is not self.problem:
            raise TypeError(f"{self.name!r} works on the dual: it does not take a start")
        x = np.zeros(self.form.size)
        given: Mapping[str, Any] = start.values if isinstance(start, Solution) else start
        for name, values in given.items():
            where = self.form.layout.get(name)
            array = _as_doubles(values)
            fits = where is not None and array is not None and array.size == where.stop - where.start
            if where is not None and array is not None and fits and np.all(np.isfinite(array)):
                x[where] = array.ravel()
            elif not isinstance(start, Solution):
                sizes = ", ".join(f"{v.name} ({v.size})" for v in self.form.variables)
                raise ValueError(f"start gives {name!r} = {values!r}: give finite values for {sizes}")
        multipliers: Mapping[str, Array] = {}
        if isinstance(start, Solution):
            sizes_by_name = {c.name: c.size for c in self.form.constraints}
            multipliers = {k: z for k, z in start.multipliers.items() if z.size == sizes_by_name.get(k)}
        return Start(self.scaled.scale_point(x), self.scaled.scale_multipliers(multipliers))

    def _in_original_units(self, line: Iteration) -> Iteration:
        return replace(line, objective=self.form.reported(self.scaled.restore_objective(line.objective)))

    def _restored(self, answer: Answer) -> Answer:
        """The answer in the units of the problem; one to the dual, mapped back."""
        scaled = self.scaled
        answer = _well_shaped(self.form, answer)
        x = None if answer.x is None else scaled.restore_point(answer.x)
        multipliers = scaled.restore_multipliers(answer.multipliers)
        if isinstance(self.form, Dual) and self.form.primal is self.problem:
            if x is not None and _complete(self.form, multipliers):
                x, multipliers = self.form.recover(x, multipliers)
            return replace(answer, x=x, multipliers=multipliers, farkas=None, direction=None)
        return replace(
            answer,
            x=x,
            multipliers=multipliers,
            farkas=None if answer.farkas is None else scaled.restore_multipliers(answer.farkas),
            direction=None if answer.direction is None else scaled.restore_point(answer.direction),
        )


def _well_shaped(problem: Problem, answer: Answer) -> Answer:
    """The answer without what does not fit the problem: a solver is not even trusted to count."""
    sizes = {c.name: c.size for c in problem.constraints} | {b.name: b.size + 1 for b in problem.norm_bounds}

    def fitting(values: Mapping[str, Any] | None) -> dict[str, Array] | None:
        if values is None:
            return None
        arrays = {name: _as_doubles(z) for name, z in values.items() if name in sizes}
        return {name: z for name, z in arrays.items() if z is not None and z.shape == (sizes[name],)}

    def point(values: Any) -> Array | None:
        array = None if values is None else _as_doubles(values)
        return array if array is not None and array.shape == (problem.size,) else None

    return replace(
        answer,
        x=point(answer.x),
        multipliers=fitting(answer.multipliers) or {},
        farkas=fitting(answer.farkas),
        direction=point(answer.direction),
    )


def _as_doubles(values: Any) -> Array | None:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        return None


def _complete(problem: Problem, multipliers: Mapping[str, Array]) -> bool:
    """Whether every constraint has its multipliers."""
    return all(block.name in multipliers for block in (*problem.constraints, *problem.norm_bounds))
