"""One solver on one problem whose answer is known: what it claims, and what is proved."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.bench.cases import Case
from convexcls.bench.claims import Claim, claimed
from convexcls.problem import Problem
from convexcls.proofs.certificate import Status
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.levels import raise_level
from convexcls.proofs.verdict import certify
from convexcls.solve import solve
from convexcls.solvers import Answer, Callback, Solver, SolverLike, SolverRefused
from convexcls.solvers.time_limit import TimeUp, within

#: solved: the right verdict, an optimum to the tolerance; wrong: another verdict, or a point far from the optimum that
#: is said to be optimal; short: the right verdict, a point that is not proved; silent: no claim; failed: an exception;
#: late: the time was up; refused: the solver does not take the problem.
Outcome = Literal["solved", "wrong", "short", "silent", "failed", "late", "refused"]
OUTCOMES: tuple[Outcome, ...] = ("solved", "wrong", "short", "silent", "failed", "late", "refused")
#: A point that is said to be optimal is wrong where fewer digits of it are right.
MIN_CLAIMED_DIGITS = 3.0
#: More digits than doubles have are not told.
MAX_DIGITS = 16.0


@dataclass(frozen=True)
class Trial:
    """What one solver did on one problem: what it ``claimed`` and what is known; the verdict ``proved`` of its own
    answer at the level rigorous; how many ``digits`` of the optimum are right (NaN where there is none or no point).

    >>> import convexcls as cc
    >>> (trial,) = cc.referee("osqp", problems=["two_points"]).trials
    >>> trial.outcome, trial.claimed, trial.proved, trial.message
    ('solved', 'optimal', 'optimal', 'solved')
    """

    solver: str
    case: str
    family: str
    known: Status
    outcome: Outcome
    claimed: Claim = ""
    proved: Status = "undecided"
    digits: float = math.nan
    seconds: float = math.nan
    message: str = ""
    reason: str = field(default="", repr=False)

    @property
    def taken(self) -> bool:
        """Whether the solver took the problem."""
        return self.outcome != "refused"


def tried(given: SolverLike, worker: Solver | None, case: Case, tol: float, time_limit: float | None) -> Trial:
    """The solver on the problem. One of this package (and ``auto``, which has no ``worker``) works as it always does,
    in units of its choice, and claims what this package says of it in doubles. Any other gets the problem as stated,
    without what this package does afterwards: it is judged as it comes."""
    name = worker.name if worker is not None else "auto"
    about = Trial(name, case.name, case.family, case.verdict, "refused")
    if worker is None or not worker.is_foreign():
        return _ours(about, given, case, tol, time_limit)
    return _theirs(about, _as_it_comes(worker), case, tol, time_limit)


def _ours(about: Trial, given: SolverLike, case: Case, tol: float, time_limit: float | None) -> Trial:
    try:
        s = solve(case.problem, given, tol, time_limit=time_limit)
    except SolverRefused as refusal:
        return replace(about, message=str(refusal))
    done = replace(about, seconds=s.seconds, message=s.message)
    if s.cut_off:
        return replace(done, outcome="late")
    says: Claim = "" if s.status == "undecided" else s.status
    return _judged(done, case, says, s.x, s.multipliers, tol)


def _as_it_comes(worker: Solver) -> Solver:
    """Without our own finish, where it has one."""
    bare: Any = worker
    return replace(bare, polish=False) if getattr(worker, "polish", False) is True else worker


def _theirs(about: Trial, worker: Solver, case: Case, tol: float, time_limit: float | None) -> Trial:
    problem = case.problem
    if reason := worker.refuses(problem):
        return replace(about, message=reason)

    def work(worker: Solver, tell: Callback) -> Answer:
        begun = time.perf_counter()
        answer = worker.solve(problem, tol, tell)
        return replace(answer, trace=(), report=time.perf_counter() - begun)

    try:
        answer = work(worker, _deaf) if time_limit is None else within(time_limit, worker, work, _deaf)
    except TimeUp:
        return replace(about, outcome="late", seconds=time_limit or math.nan, message=f"more than {time_limit:g} s")
    except Exception as error:
        said = Answer(None, message=f"{type(error).__name__}: {error}")
        return _judged(replace(about, outcome="failed", message=said.message), case, claimed(said), None, {}, tol)
    seconds = answer.report if isinstance(answer.report, float) else math.nan
    done = replace(about, seconds=seconds, message=answer.message)
    x = _fitting(answer.x, problem.size)
    sizes = problem.multiplier_sizes
    given = {k: z for k, v in answer.multipliers.items() if (z := _fitting(v, sizes.get(k, -1))) is not None}
    return _judged(done, case, claimed(answer), x, given, tol)


def _deaf(_line: Any) -> None:
    """Nobody listens to the trace."""


def _fitting(values: Any, size: int) -> Array | None:
    """The numbers, where there are as many as there should be."""
    try:
        array = None if values is None else np.array(values, dtype=float)
    except (TypeError, ValueError):
        return None
    return array if array is not None and array.shape == (size,) else None


@np.errstate(all="ignore")
def _judged(about: Trial, case: Case, says: Claim, x: Array | None, multipliers: Any, tol: float) -> Trial:
    """The trial with its outcome."""
    digits = _digits(case, x)
    found = replace(about, claimed=says, digits=digits)
    if case.verdict != "optimal":
        right = says == case.verdict
        outcome = "solved" if right else "wrong" if says else "failed" if about.outcome == "failed" else "silent"
        return replace(found, outcome=outcome, proved=case.verdict if right else "undecided")  # type: ignore[arg-type]
    if says in ("infeasible", "unattained"):
        return replace(found, outcome="wrong", reason=f"{says} is claimed, and there is an optimum")
    if x is None:
        return replace(found, outcome="failed" if about.outcome == "failed" else "silent")
    proved, reason = _proved(case.problem, x, multipliers, tol, near=digits >= -math.log10(tol))
    found = replace(found, proved=proved, reason=reason)
    if proved == "optimal":
        return replace(found, outcome="solved")
    if says == "optimal" and not digits >= MIN_CLAIMED_DIGITS:
        return replace(found, outcome="wrong", reason=f"a point of {max(digits, 0.0):.1f} digits is said to be optimal")
    return replace(found, outcome="short" if says else "silent")


def _proved(problem: Problem, x: Array, multipliers: Any, tol: float, near: bool) -> tuple[Status, str]:
    """The verdict on the solver's own answer at the level rigorous; none of ours stands in for it. A point ``near`` the
    known optimum needs no bounds of it; and where there are no multipliers, nothing else can be asked for."""
    if not multipliers and problem.is_constrained:
        return ("optimal", "") if near else ("undecided", "the solver gives no multipliers, and its point is off")
    certificate = certify(problem, x, dict(multipliers), tol, stand_in=False)
    if certificate.status != "optimal":
        return "undecided", certificate.reason
    raised = raise_level(certificate, "rigorous")
    return ("optimal", "") if raised.holds(tol) or near else ("undecided", raised.reason)


def _digits(case: Case, x: Array | None) -> float:
    """How many digits of the optimum are right at the point: those of the objective or, where fewer, of what should be
    0 or less in the constraints, relative to their size."""
    if case.verdict != "optimal" or case.optimum is None or x is None:
        return math.nan
    if not np.all(np.isfinite(x)):
        return 0.0
    problem = case.problem
    zeros = {name: np.zeros(size) for name, size in problem.multiplier_sizes.items()}
    kkt = check_kkt(problem, x, zeros)
    found = problem.reported(kkt.objective)
    if not math.isfinite(found):
        return 0.0
    size = abs(case.optimum) or Fraction(problem.unit or 1.0)
    off = float(abs(Fraction(found) - case.optimum) / size)
    worst = max(off, kkt.primal_feasibility.relative)
    return MAX_DIGITS if worst == 0 else float(np.clip(-math.log10(worst), 0.0, MAX_DIGITS))
