"""Solve: the only place where problems and solvers meet. What ``auto`` tries, and why, is in ``choices``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.job import DUAL, Forms, beyond_memory
from convexcls.problem import BY_SAMPLE, Problem
from convexcls.proofs.certificate import Level
from convexcls.proofs.levels import DIGITS, check_level
from convexcls.solution import Solution
from convexcls.solvers import Callback, SolverRefused, solver_class, solver_names

#: The option that ``auto`` takes and hands on.
LIMIT = "max_iter"
#: Up to so many unknowns a working set is tried.
MAX_WORKING_SET_UNKNOWNS = 1000
#: Linear programs with fewer entries go to the simplex method, which ends at a vertex.
MAX_SIMPLEX_ENTRIES = 20_000
#: The same where there are slacks, which an interior point leaves out, and fewer unknowns besides than rows: otherwise
#: there are many solutions, and a vertex is one that can be told.
MAX_SIMPLEX_ENTRIES_WITH_SLACKS = 1_500


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
    """All solvers that can be named, what each accepts and what relative accuracy it promises.

    >>> import convexcls as cc
    >>> {info.name: info.accepts for info in cc.solvers()}["highs"]
    'linear programs'
    """
    out = []
    for name in solver_names():
        cls = solver_class(name)
        out.append(SolverInfo(name, cls.accepts, cls.promise, rule=cls.rule))
    return out


@np.errstate(all="ignore")  # what overflows is not a number in the end, and then there is no proof
def solve(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-8,
    callback: Callback | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    level: Level = "float",
    digits: int = DIGITS,
    **options: Any,
) -> Solution:
    """Solve the problem with the named solver and judge the answer on the problem as stated, at the given ``level`` of
    proof: ``float``, ``rigorous`` or ``exact`` (of a likelihood to ``digits`` decimal digits).

    ``tol`` is the relative tolerance of the verdict, and what the solver is asked to aim at. ``auto`` takes
    the solvers that suit the problem in turn, until an answer is proved; what residuals in doubles leave open is proved
    at a higher level where that is possible. With ``max_iter`` it takes the first of them, with that limit, and no
    other. ``dual:NAME`` gives the dual to the solver and maps its answer back. ``start`` is where to
    begin, for solvers that can: a solution of a similar problem, or values by variable (0 for those left out).

    ``callback`` is called with every line of the solver's trace; ``options`` are the solver's own.

    >>> import convexcls as cc
    >>> s = cc.solve(cc.LeastSquares([[0], [1], [2]], [0, 0, 3], coding="real", l2=2.0), level="exact")
    >>> s.solver, [str(value) for value in s.certificate.coef]
    ('closed-form', ['3/4'])
    """
    if not (isinstance(tol, (int, float)) and 0 < tol < 1):
        raise ValueError(f"tol is {tol!r}: it must be a number between 0 and 1")
    check_level(level)
    found = _solve(problem, solver, tol, callback, start, options)
    shown = level == "float" and (solver != "auto" or LIMIT in options)  # for what it is, proved or not
    return found if shown or found.interrupted else found.at_level(level, digits)


@np.errstate(all="ignore")
def guess(problem: Problem) -> tuple[Array | None, Mapping[str, Array]]:
    """The answer of ``auto`` in doubles, for an exact proof to begin with: a point, and multipliers or a Farkas
    vector."""
    found = _solve(problem, "auto", 1e-8, None, None, {})
    farkas = found.certificate.farkas
    return found.x, found.multipliers if farkas is None else farkas.multipliers


def _solve(
    problem: Problem,
    solver: str,
    tol: float,
    callback: Callback | None,
    start: Solution | Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Solution:
    if solver == "auto":
        if other := options.keys() - {LIMIT}:
            raise TypeError(
                f"solver 'auto' has no options but {LIMIT} ({', '.join(sorted(other))} given): name a solver for them"
            )
        return _first_proved(problem, tol, callback, start, options.get(LIMIT))
    job = Forms(problem).job(solver, **options)
    if reason := job.refuses():
        able = [info.name for info in accepting(problem, rules=True)]
        raise SolverRefused(
            f"solver {solver!r} does not take the {problem.name}: {reason}. These do: {', '.join(able)}"
        )
    if start is not None and not job.worker.warm:
        starters = ", ".join(name for name in solver_names() if solver_class(name).warm)
        raise TypeError(f"solver {solver!r} does not take a start; these do: {starters}")
    return job.run(tol, callback, start)


def _first_proved(
    problem: Problem,
    tol: float,
    callback: Callback | None,
    start: Solution | Mapping[str, Any] | None,
    limit: int | None,
) -> Solution:
    """The answer of the first solver that suits the problem and whose answer is proved; the nearest to a proof where
    none is. With a limit of iterations the first one has the last word, for each of the others would run anew."""
    forms = Forms(problem)
    best: Solution | None = None
    for choice in choices(problem):
        if choice.solver.startswith(DUAL) and beyond_memory(problem):  # a matrix has to be factored for it
            continue
        job = forms.job(choice.solver, **_limited(choice.solver, limit))
        if job.refuses():
            continue
        begin = best or start if job.worker.finishes else start
        why = choice.why if best is None else f"{choice.why}; {best.solver} gave no proof"
        found = job.run(tol, callback, begin if job.takes_start else None, why)
        if found.status != "undecided" or found.interrupted or limit is not None:
            return found
        if best is None or _worst(found) < _worst(best):
            best = found
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
    return [info for info in solvers() if (rules or not info.rule) and not forms.job(info.name).refuses()]


def _hopeless(solution: Solution) -> bool:
    """Whether a proof fails for a reason that is the problem's own."""
    kkt = solution.certificate.kkt
    return kkt is not None and kkt.all_but_columns_hold(solution.certificate.tol)


def _worst(solution: Solution) -> float:
    kkt = solution.certificate.kkt
    return float("inf") if kkt is None else kkt.worst


# ---- which solvers ``auto`` tries, in which order, and why ----------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A solver and the reason to try it."""

    solver: str
    why: str


def choices(problem: Problem) -> list[Choice]:
    """The solvers in the order in which ``auto`` tries them, until an answer is proved; those that do not take the
    problem are passed over. A formula first, then what works on the structure, then what takes any problem."""
    return [*_formulas(problem), *_structured(problem), *_general()]


def _formulas(problem: Problem) -> list[Choice]:
    unknowns = f"{problem.size} unknowns"
    quadratic = "the objective is quadratic without constraints"
    out = [Choice("closed-form", f"{quadratic}: one linear system of {unknowns}")] if not problem.norm_bounds else []
    if problem.terms or not problem.is_constrained:
        out += [
            Choice("moments", "the estimates are the moments of the classes: a formula"),
            Choice("newton", f"smooth losses without constraints, {unknowns}: Newton's method converges quadratically"),
            Choice("newton-kkt", "smooth losses with constraints: Newton's method on the KKT system"),
        ]
    return out


def _structured(problem: Problem) -> list[Choice]:
    out = []
    if problem.matrices:
        out.append(Choice("smo", "a kernel matrix, bounds and at most one equation: two multipliers at a time"))
    if any(p.root is not None for p in problem.matrices.values()):
        out.append(Choice("dual:interior-point", "a linear kernel: its dual has one unknown a feature"))
    rows = max((c.size for c in problem.constraints), default=0)
    slacks = any(v.kind in BY_SAMPLE for v in problem.variables)
    if problem.size <= MAX_WORKING_SET_UNKNOWNS and not slacks:
        out.append(Choice("working-set", f"{problem.size} unknowns and {rows} rows: few of the rows can be active"))
    kept = sum(v.size for v in problem.variables if v.kind not in BY_SAMPLE)
    why = f"a slack for each of the {rows} rows: without them {kept} unknowns are left"
    inner = Choice("interior-point", why if slacks else f"a program of {problem.size} unknowns with structured rows")
    if not problem.is_linear_program:
        return [*out, inner]
    simplex = Choice("highs", "a linear program: the simplex method ends at a vertex")
    largest = MAX_SIMPLEX_ENTRIES_WITH_SLACKS if slacks and kept < rows else MAX_SIMPLEX_ENTRIES
    small = sum(problem.rows(c).entries for c in problem.constraints) <= largest
    return [*out, *((simplex, inner) if small else (inner, simplex))]


def _general() -> list[Choice]:
    return [
        Choice("rational", "a small quadratic program that doubles do not decide: pivots in rationals"),
        Choice("clarabel", "a conic program: an interior point takes any of them"),
        Choice("dual:clarabel", "its dual may be better conditioned than the problem"),
        Choice("cvxpy:CLARABEL", "the last resort: cvxpy states every loss as cones"),
    ]
