"""The referee's bench: other people's solvers (and ours), judged on problems whose answers are known.

A solver is asked for each problem of the gallery and of generated families; what it claims is held against what is
proved. It may import everything below the descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from convexcls.bench.cases import Case, cases
from convexcls.bench.judgement import Judgement, Standing
from convexcls.bench.trial import Trial, tried
from convexcls.solvers import SolverLike, made
from convexcls.solvers.time_limit import check_time_limit

__all__ = ["Case", "Judgement", "Standing", "Trial", "referee"]

TOLERANCE, TIME_LIMIT = 1e-6, 10.0


def referee(
    solvers: SolverLike | Sequence[SolverLike],
    problems: str | Iterable[Any] = "gallery",
    tol: float = TOLERANCE,
    time_limit: float | None = TIME_LIMIT,
    on_trial: Callable[[Trial, int, int], None] | None = None,
) -> Judgement:
    """Judge one solver or several on problems whose answers are known: what each claims against what is proved.

    ``problems`` is "gallery" for all of the gallery and the generated families (scaled, offset, nearly-dependent,
    close, degenerate, infeasible, unattained), or a list of names of both kinds. Every answer is judged at the level
    rigorous, to the relative tolerance ``tol``; where bounds at doubles leave it open, its point is held against the
    exact optimum, which is known. A solver is stopped after ``time_limit`` seconds. One of somebody else's gets each
    problem as stated and is judged as it comes; one of this package works as in ``solve``, and claims what that says of
    it in doubles. ``on_trial`` is called with each trial, how many are done and how many there are.

    >>> import convexcls as cc
    >>> found = cc.referee("cvxpy:OSQP", problems=["close/hard-margin/1e-06", "two_points"])
    >>> [(trial.case, trial.outcome, trial.claimed, trial.known) for trial in found.trials]
    [('close/hard-margin/1e-06', 'wrong', 'infeasible', 'optimal'), ('two_points', 'solved', 'optimal', 'optimal')]
    """
    check_time_limit(time_limit)
    if not 0 < tol < 1:
        raise ValueError(f"tol is {tol!r}: it must be a number between 0 and 1")
    several = isinstance(solvers, Sequence) and not isinstance(solvers, str)
    given: list[Any] = list(solvers) if several else [solvers]  # type: ignore[arg-type]
    workers = [None if isinstance(one, str) and one == "auto" else made(one) for one in given]
    chosen = cases(problems)
    trials: list[Trial] = []
    for one, worker in zip(given, workers, strict=True):
        for case in chosen:
            trials.append(tried(one, worker, case, tol, time_limit))
            if on_trial is not None:
                on_trial(trials[-1], len(trials), len(given) * len(chosen))
    named = ["auto" if worker is None else worker.name for worker in workers]
    addresses = tuple((name, one if isinstance(one, str) else "") for name, one in zip(named, given, strict=True))
    return Judgement(tuple(trials), tol, time_limit, addresses)
