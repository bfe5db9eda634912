"""The exact solution of a quadratic program, found from an answer in doubles, with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.exact.hints import Hints, read_hints
from convexcls.exact.pivoting import Contradiction, Falling
from convexcls.exact.program import Program, Tight, dot
from convexcls.exact.proof import ExactProof
from convexcls.exact.search import Found, Search
from convexcls.exact.sides import OPEN
from convexcls.exact.statement import Statement, state
from convexcls.problem import Problem


def prove(problem: Problem, x: Any = None, multipliers: Mapping[str, Any] | None = None) -> ExactProof:
    """The exact verdict on a quadratic or linear program, of the data as they were given.

    ``x`` and ``multipliers`` are an answer in doubles, taken as a guess only: the better it is, the sooner the proof is
    found. Raises ``NoProof``, with the reason, where there is no exact proof of such a problem.
    """
    statement = state(problem)
    found = Search.start(statement, read_hints(statement, x, multipliers)).run()
    if isinstance(found.outcome, Tight):
        return _optimal(statement, found, found.outcome)
    if isinstance(found.outcome, Contradiction):
        return _infeasible(statement, found, found.outcome)
    return _unattained(statement, found.outcome)


def _optimal(statement: Statement, found: Found, tight: Tight) -> ExactProof:
    z = tight.x[: statement.size]
    constant = found.search.objective()[2]
    primal = _value(found.program, tight.x) + constant
    half = _half_square(found.program, tight.x)
    dual = constant - half
    for (_, rhs), value in zip(found.program.equalities, tight.equality_multipliers, strict=True):
        dual -= rhs * value
    for k, value in tight.multipliers.items():
        dual -= found.program.inequalities[k][1] * value
    notes = ("the solution is not unique: this is one of many",) if found.many else ()
    return ExactProof(
        "optimal", statement.problem, primal, statement.point(z), _multipliers(statement, found, tight), primal - dual,
        rows_checked_exactly=sum(c.size for c in statement.problem.constraints), notes=notes,
    )  # fmt: skip


def _half_square(program: Program, x: list[Fraction]) -> Fraction:
    return sum((dot(row, x) * value for row, value in zip(program.quadratic, x, strict=True) if value), Fraction(0)) / 2


def _value(program: Program, x: list[Fraction]) -> Fraction:
    return _half_square(program, x) + sum((a * b for a, b in zip(program.linear, x, strict=True) if b), Fraction(0))


def _multipliers(statement: Statement, found: Found, tight: Tight) -> dict[str, dict[int, Fraction]]:
    """By constraint and row, those that are not zero."""
    out = _of_rows(statement, found, tight.equality_multipliers, tight.multipliers)
    z = tight.x[: statement.size]
    for part in found.search.sides:
        samples = part.samples
        known: dict[float, Fraction] = {}
        for k, line in enumerate(samples.lines):
            block = out.setdefault(line.block.name, {})
            resting = np.flatnonzero((part.side == k) & (samples.cost > 0))
            for i, c in zip(resting.tolist(), samples.cost[resting].tolist(), strict=True):
                if c not in known:
                    known[c] = Fraction(c)
                block[i] = known[c]
            curved = np.flatnonzero((part.side == k) & (samples.curvature > 0))
            for i, slack in zip(curved.tolist(), line.exact_values(curved, z), strict=True):
                if slack:
                    block[i] = Fraction(float(samples.curvature[i])) * slack
    return out


def _of_rows(
    statement: Statement, found: Found, equal: list[Fraction], tight: Mapping[int, Fraction]
) -> dict[str, dict[int, Fraction]]:
    """The multipliers of the small program by constraint and row."""
    out: dict[str, dict[int, Fraction]] = {c.name: {} for c in statement.problem.constraints}
    values = iter(equal)
    for block in statement.equalities:
        out[block.block.name] = {i: v for i in range(block.size) if (v := next(values))}
    for k, value in tight.items():
        key = found.search.rows[k]
        measured = statement.samples[key[0]].lines[key[2]] if len(key) == 3 else statement.inequalities[key[0]]
        if value:
            out[measured.block.name][key[1]] = value
    return out


def _infeasible(statement: Statement, found: Found, contradiction: Contradiction) -> ExactProof:
    used = _of_rows(statement, found, contradiction.equality_multipliers, contradiction.multipliers)
    return ExactProof("infeasible", statement.problem, multipliers={name: rows for name, rows in used.items() if rows})


def _unattained(statement: Statement, falling: Falling) -> ExactProof:
    """The direction is a proof where there is a point to start from: the feasible point of least norm, or none."""
    n = statement.size
    identity = [[Fraction(j == k) for k in range(n)] for j in range(n)]
    nearest = replace(
        statement, quadratic=identity, linear=[Fraction(0)] * n, constant=Fraction(0), samples=()
    )  # fmt: skip
    nothing = [np.empty(0, dtype=np.intp) for _ in nearest.inequalities]
    found = Search.start(nearest, Hints(np.zeros(n), nothing, [], [])).run()
    if isinstance(found.outcome, Contradiction):
        return _infeasible(nearest, found, found.outcome)
    assert isinstance(found.outcome, Tight)
    direction = falling.direction[:n]
    return ExactProof(
        "unattained", statement.problem, point=statement.point(found.outcome.x), direction=statement.point(direction),
        rows_checked_exactly=sum(c.size for c in statement.problem.constraints),
    )  # fmt: skip


__all__ = ["OPEN", "prove"]
