"""Small linear and quadratic programs without rounding, for those that doubles do not decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.proofs.claims.optimum import ExactProof
from convexcls.proofs.claims.statement import NoProof, state
from convexcls.proofs.exact.hints import read_hints
from convexcls.proofs.exact.prove import assemble
from convexcls.proofs.exact.search import ActiveSetSearch
from convexcls.rational.numbers import to_double
from convexcls.solvers.base import Answer, Callback, Solver, Start


@dataclass(frozen=True)
class RationalSolver(Solver):
    """The active-set method of ``exact/``, in rationals from the first step to the last; its answer is rounded once.
    An answer of another solver, however rough, tells it where to begin."""

    name: ClassVar[str] = "rational"
    accepts: ClassVar[str] = "small linear and quadratic programs"
    promise: ClassVar[float] = 1e-12
    warm: ClassVar[bool] = True
    finishes: ClassVar[bool] = True
    final: ClassVar[bool] = True

    max_entries: int = 1_000

    def refuses(self, problem: Problem) -> str:
        if not problem.is_quadratic_program:
            return "it is not a linear or quadratic program"
        if problem.matrices:
            return "its quadratic form is a matrix"
        blocks = (*problem.terms, *problem.constraints)
        entries = sum(rows.entries for b in blocks for rows in b.entries.values())
        if entries > self.max_entries:
            return f"its rows have {entries} entries, more than {self.max_entries} take too long in rationals"
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return self._solve(None, problem)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return self._solve(start, problem)

    def _solve(self, start: Start | None, problem: Problem) -> Answer:
        try:
            statement = state(problem)
            x, multipliers = (None, None) if start is None else (start.x, start.multipliers)
            hints = read_hints(statement, x, multipliers)
            found = ActiveSetSearch.start(statement, hints).run()
            return _rounded(problem, assemble(statement, found))
        except NoProof as error:
            return Answer(None, {}, str(error), 0)


def _rounded(problem: Problem, proof: ExactProof) -> Answer:
    """The answer of a proof in doubles."""
    if proof.verdict == "infeasible":
        return Answer(None, {}, "infeasible", 0, farkas=_by_row(problem, proof.multipliers))
    if proof.verdict == "unattained":
        return Answer(None, {}, "unattained", 0, direction=_over_all(problem, proof.direction))
    x = _over_all(problem, {**proof.point, **proof.slacks()})
    return Answer(x, _by_row(problem, proof.multipliers), "solved without rounding", 0)


def _over_all(problem: Problem, values: Mapping[str, Sequence[Fraction]]) -> Array:
    out = np.zeros(problem.size)
    for name, own in values.items():
        out[problem.layout[name]] = [to_double(v) for v in own]
    return out


def _by_row(problem: Problem, multipliers: Mapping[str, Mapping[int, Fraction]]) -> dict[str, Array]:
    out = {c.name: np.zeros(c.size) for c in problem.constraints}
    for name, rows in multipliers.items():
        out[name][list(rows)] = [to_double(v) for v in rows.values()]
    return out
