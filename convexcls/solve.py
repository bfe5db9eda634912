"""Solve: the only place where problems and solvers meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.choice import choices
from convexcls.job import DUAL, Forms, Keep, beyond_memory
from convexcls.models import Model
from convexcls.models.dependent import Dependence, dependence, is_exact_as_decimals, lifted, reach, shortened, without
from convexcls.problem import Problem
from convexcls.proofs.certificate import Level
from convexcls.proofs.levels import DIGITS, NOT_IN_DOUBLES, check_level
from convexcls.proofs.verdict import certify
from convexcls.solution import Solution
from convexcls.solvers import Callback, SolverLike, SolverRefused, made, printing, solver_class, solver_names
from convexcls.solvers.time_limit import check_time_limit
from convexcls.wording import listed

#: The option that ``auto`` takes and hands on.
LIMIT = "max_iter"
#: What is left of a limit of time at least, for a solver that begins.
LEAST_SECONDS = 1e-3
AS_WRITTEN = "the numbers are taken as they are written in the table, not as the doubles nearest to them"


@dataclass(frozen=True)
class SolverInfo:
    """What a solver takes and promises."""

    name: str
    accepts: str
    promise: float
    installed: bool = True
    #: A learning rule: it is shown for what it does, and its answer need not be proved.
    rule: bool = False
    #: Whether the work is done by somebody else's code.
    foreign: bool = False


def list_solvers() -> list[SolverInfo]:
    """All solvers that can be named, what each accepts and what relative accuracy it promises.

    >>> import convexcls as cc
    >>> {info.name: info.accepts for info in cc.list_solvers()}["highs"]
    'linear programs'
    """
    out = []
    for name in solver_names():
        cls = solver_class(name)
        out.append(SolverInfo(name, cls.accepts, cls.promise, rule=cls.rule, foreign=cls.is_foreign()))
    return out


@np.errstate(all="ignore")  # what overflows is not a number in the end, and then there is no proof
def solve(
    problem: Problem,
    solver: SolverLike = "auto",
    tol: float = 1e-8,
    callback: Callback | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    level: Level = "float",
    digits: int = DIGITS,
    keep: Keep | None = None,
    verbose: bool = False,
    time_limit: float | None = None,
    **options: Any,
) -> Solution:
    """Solve the problem with the named solver and judge the answer on the problem as stated, at the given ``level`` of
    proof: ``float``, ``rigorous`` or ``exact`` (of a likelihood to ``digits`` decimal digits).

    ``tol`` is the relative tolerance of the verdict, and what the solver is asked to aim at. ``auto`` takes
    the solvers that suit the problem in turn, until an answer is proved; what residuals in doubles leave open is proved
    at a higher level where that is possible. With ``max_iter`` it takes the first of them, with that limit, and no
    other. ``dual:NAME`` gives the dual to the solver and maps its answer back. A solver of your own is given as an
    object, as its class or as ``"package.module:Name"`` (see ``convexcls.solvers.Solver`` and ``solver``). ``start`` is
    where to begin, for solvers that can: a solution of a similar problem, or values by variable (0 for those left out).

    ``callback`` is called with every line of the solver's trace, and ``verbose`` prints them; with ``keep="points"``
    the lines of ``trace`` have the ``point`` where the solver stood (that of the dual for ``dual:NAME``; None where it
    worked on a part of the problem). When the solver has worked for ``time_limit`` seconds it is stopped, whoever wrote
    it: then the answer is the point that it had reached, if it has told any. ``options`` are the solver's own.

    >>> import convexcls as cc
    >>> s = cc.solve(cc.LeastSquares([[0], [1], [2]], [0, 0, 3], coding="real", l2=2.0), level="exact")
    >>> s.solver, [str(value) for value in s.certificate.coef]
    ('closed-form', ['3/4'])
    """
    if not (isinstance(tol, (int, float)) and 0 < tol < 1):
        raise ValueError(f"tol is {tol!r}: it must be a number between 0 and 1")
    check_level(level)
    check_time_limit(time_limit)
    if keep not in (None, "points"):
        raise ValueError(f"keep is {keep!r}: it must be 'points' or None")
    if verbose:
        callback = printing(problem.name, callback)
    found = _solve(problem, solver, tol, callback, start, options, keep, time_limit)
    shown = level == "float" and (solver != "auto" or LIMIT in options)  # for what it is, proved or not
    if found.interrupted or found.cut_off:
        return found
    if not (shown or (level == "float" and found.status != "undecided")):
        found = found.at_level(level, digits)
    if found.status != "undecided" or _is_rule(solver):
        return found
    again = partial(
        solve, solver=solver, tol=tol, level=level, digits=digits, keep=keep, time_limit=time_limit, **options
    )
    columns = problem.remembered(dependence)
    if (written := _as_written(problem, columns, again)) is not None:
        return written
    return found if columns is None else _without_dependent(found, columns, again) or found


def _is_rule(solver: SolverLike) -> bool:
    """Whether it is a learning rule, which is shown for what it does."""
    if isinstance(solver, str):
        return solver != "auto" and made(solver.removeprefix(DUAL)).rule
    return made(solver).rule


def _as_written(problem: Problem, columns: Dependence | None, again: Callable[..., Solution]) -> Solution | None:
    """The solution for the decimals that a file has, where the doubles nearest to these leave the problem undecided: a
    sum of two columns is that of their decimals. None where it is not decided either, or there is no file."""
    stated = problem.as_written() if isinstance(problem, Model) else None
    if stated is None or (found := again(stated)).status == "undecided":
        return None
    certificate = found.certificate
    if columns is not None and found.x is not None and certificate.exact is certificate.enclosure is None:
        x = shortened(stated, found.x, columns)
        short = certify(stated, x, found.multipliers, certificate.tol)
        if short.status == "optimal":
            found, certificate = replace(found, x=x), short
    return replace(found, certificate=replace(certificate, notes=(*certificate.notes, AS_WRITTEN)))


def _without_dependent(found: Solution, columns: Dependence, again: Callable[..., Solution]) -> Solution | None:
    """The solution without columns that depend on others up to rounding, as an answer for all columns: undecided, since
    coefficients that are large enough fit what rounding left, and do better. None where it is not proved."""
    model, tol = found.problem, found.certificate.tol
    assert isinstance(model, Model)
    fewer = again(without(model, columns))
    if fewer.status != "optimal" or fewer.x is None:
        return None
    x = lifted(model, fewer.problem, fewer.x, columns)
    if not (far := reach(model, x, fewer.multipliers, columns, tol)):
        return None
    left_out = listed(columns.left_out, 8)
    larger = "do (level='exact' proves it)" if NOT_IN_DOUBLES in found.certificate.reason else "may"
    as_written = (
        ". As decimals they depend exactly: give as_decimals(X)" if is_exact_as_decimals(model, columns) else ""
    )
    reason = (
        f"columns depend on each other up to rounding ({columns.told}), so that the coefficients are not unique: those "
        f"of the solution are the shortest. Without {left_out} the optimum {fewer.objective:.10g} is proved "
        f"(Solution.fewer). With all columns no coefficients lower it by more than the tolerance while those of "
        f"{left_out} add up to less than {far:.1e} in size; larger ones {larger}, by fitting what rounding left of "
        f"the columns. Leave {left_out} out, or add a penalty{as_written}"
    )
    judged = certify(model, x, fewer.multipliers, tol, stand_in=False)
    if judged.status not in ("optimal", "undecided"):
        return None
    if judged.status == "undecided":
        judged = replace(judged, reason=reason)
    return replace(fewer, problem=model, x=x, certificate=judged, fewer=fewer, chosen=found.chosen)


@np.errstate(all="ignore")
def guess(problem: Problem) -> tuple[Array | None, Mapping[str, Array]]:
    """The answer of ``auto`` in doubles, for an exact proof to begin with: a point, and multipliers or a Farkas
    vector."""
    found = _solve(problem, "auto", 1e-8, None, None, {})
    farkas = found.certificate.farkas
    return found.x, found.multipliers if farkas is None else farkas.multipliers


def _solve(
    problem: Problem,
    solver: SolverLike,
    tol: float,
    callback: Callback | None,
    start: Solution | Mapping[str, Any] | None,
    options: Mapping[str, Any],
    keep: Keep | None = None,
    seconds: float | None = None,
) -> Solution:
    if solver == "auto":
        if other := options.keys() - {LIMIT}:
            raise TypeError(
                f"solver 'auto' has no options but {LIMIT} ({', '.join(sorted(other))} given): name a solver for them"
            )
        return _first_proved(problem, tol, callback, start, options.get(LIMIT), keep, seconds)
    job = Forms(problem).job(solver, **options)
    if reason := job.refuses():
        able = [info.name for info in accepting(problem, rules=True)]
        raise SolverRefused(
            f"solver {job.name!r} does not take the {problem.name}: {reason}. These do: {', '.join(able)}"
        )
    if start is not None and not job.worker.warm:
        starters = ", ".join(name for name in solver_names() if solver_class(name).warm)
        raise TypeError(f"solver {job.name!r} does not take a start; these do: {starters}")
    return job.run(tol, callback, start, keep=keep, seconds=seconds)


def _first_proved(
    problem: Problem,
    tol: float,
    callback: Callback | None,
    start: Solution | Mapping[str, Any] | None,
    limit: int | None,
    keep: Keep | None,
    seconds: float | None,
) -> Solution:
    """The answer of the first solver that suits the problem and whose answer is proved; the nearest to a proof where
    none is. With a limit of iterations the first one has the last word, for each of the others would run anew."""
    forms, begun = Forms(problem), time.perf_counter()
    best: Solution | None = None
    for choice in choices(problem, started=start is not None):
        if choice.solver.startswith(DUAL) and beyond_memory(problem):  # a matrix has to be factored for it
            continue
        job = forms.job(choice.solver, **_limited(choice.solver, limit))
        if job.refuses():
            continue
        begin = best or start if job.worker.finishes else start
        why = choice.why if best is None else f"{choice.why}; {best.solver} gave no proof"
        left = None if seconds is None else max(begun + seconds - time.perf_counter(), LEAST_SECONDS)
        found = job.run(tol, callback, begin if job.takes_start else None, why, keep, left)
        if found.status != "undecided" or found.interrupted or limit is not None:
            return found
        if best is None or _worst(found) < _worst(best):
            best = found
        if found.cut_off:
            return replace(best, cut_off=True)
        if job.worker.final or _hopeless(found):
            break
    if best is None:
        raise SolverRefused(f"no installed solver takes the {problem.name}")
    return best


def _limited(name: str, limit: int | None) -> dict[str, Any]:
    """The limit as an option of the solver; nothing where there is none, or where the solver is a formula."""
    if limit is None:
        return {}
    known = {f.name for f in fields(solver_class(name.removeprefix(DUAL)))}
    return {LIMIT: limit} if LIMIT in known else {}


@np.errstate(all="ignore")
def accepting(problem: Problem, rules: bool = False) -> list[SolverInfo]:
    """The installed solvers that take the problem; learning rules only where asked for."""
    forms = Forms(problem)
    return [info for info in list_solvers() if (rules or not info.rule) and not forms.job(info.name).refuses()]


def _hopeless(solution: Solution) -> bool:
    """Whether a proof fails for a reason that is the problem's own."""
    kkt = solution.certificate.kkt
    return kkt is not None and kkt.all_but_columns_hold(solution.certificate.tol)


def _worst(solution: Solution) -> float:
    kkt = solution.certificate.kkt
    return float("inf") if kkt is None else kkt.worst
