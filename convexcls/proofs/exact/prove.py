"""The exact solution of a quadratic program, found from an answer in doubles, with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from convexcls.problem import Problem, carry_out
from convexcls.proofs.exact.assemble import assemble
from convexcls.proofs.exact.hints import read_hints
from convexcls.proofs.exact.proof import ExactProof
from convexcls.proofs.exact.search import Search, TooFar
from convexcls.proofs.exact.statement import Statement, state


def prove(problem: Problem, x: Any = None, multipliers: Mapping[str, Any] | None = None) -> ExactProof:
    """The exact verdict on a quadratic or linear program, of the data as they were given.

    ``x`` and ``multipliers`` are an answer in doubles (of an infeasible problem: a Farkas vector), taken as a guess
    only: the better it is, the sooner the proof is found. Without one, or where it is far off, the problem is solved
    first. Raises ``NoProof``, with the reason, where there is no exact proof of such a problem.
    """
    statement = state(problem)
    if x is not None or multipliers:
        search = Search.start(statement, read_hints(statement, x, multipliers))
        with suppress(TooFar):
            return assemble(statement, search.run(patient=False))
    return assemble(statement, _from_own_answer(statement).run())


def _from_own_answer(statement: Statement) -> Search:
    """The search from an answer of the toolkit's own solvers."""
    problem = statement.problem
    if not problem.constraints:  # then there is nothing to guess
        return Search.start(statement, read_hints(statement, None, None))
    answer = carry_out("answer", problem)
    farkas = answer.certificate.farkas
    multipliers = dict(answer.multipliers) if farkas is None else dict(farkas.multipliers)
    return Search.start(statement, read_hints(statement, answer.x, multipliers))
