"""The exact solution of a quadratic program, found from an answer in doubles, with its proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from convexcls.problem import Problem
from convexcls.proofs.exact.assemble import assemble
from convexcls.proofs.exact.hints import read_hints
from convexcls.proofs.exact.proof import ExactProof
from convexcls.proofs.exact.search import Search, TooFar
from convexcls.proofs.exact.statement import state

#: Solves a problem in doubles: a point, None where there is none, and multipliers (of an infeasible problem a Farkas
#: vector). Solvers stand above proofs, so whoever asks for a proof may bring one along.
Solve: TypeAlias = Callable[[Problem], tuple[Any, Mapping[str, Any]]]


def prove(
    problem: Problem, x: Any = None, multipliers: Mapping[str, Any] | None = None, solve: Solve | None = None
) -> ExactProof:
    """The exact verdict on a quadratic or linear program, of the data as they were given.

    ``x`` and ``multipliers`` are an answer in doubles (of an infeasible problem: a Farkas vector), taken as a guess
    only: the better it is, the sooner the proof is found. Without one, or where it is far off, ``solve`` makes another;
    without that, the search goes on from where it is. Raises ``NoProof``, with the reason, where there is no exact
    proof of such a problem.
    """
    statement = state(problem)
    search = Search.start(statement, read_hints(statement, x, multipliers))
    if solve is None or not problem.constraints:  # without constraints there is nothing to guess
        return assemble(statement, search.run())
    if x is not None or multipliers:
        with suppress(TooFar):
            return assemble(statement, search.run(patient=False))
    return assemble(statement, Search.start(statement, read_hints(statement, *solve(problem))).run())
