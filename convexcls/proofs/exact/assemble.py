"""A proof from the small program on which all rows agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from convexcls import rational
from convexcls.proofs.exact.hints import Hints
from convexcls.proofs.exact.pivoting import Contradiction, Falling
from convexcls.proofs.exact.program import Tight, dot
from convexcls.proofs.exact.proof import ExactProof
from convexcls.proofs.exact.search import Found, Search
from convexcls.proofs.exact.statement import Statement


def assemble(statement: Statement, found: Found) -> ExactProof:
    """The proof that a search has found."""
    if isinstance(found.outcome, Tight):
        return _optimal(statement, found, found.outcome)
    if isinstance(found.outcome, Contradiction):
        return _infeasible(statement, found, found.outcome)
    return _unattained(statement, found.outcome)


def _optimal(statement: Statement, found: Found, tight: Tight) -> ExactProof:
    program, constant = found.program, found.search.objective()[2]
    curved = [dot(row, tight.x) for row in program.quadratic]
    half = _dot(curved, tight.x) / 2
    primal = half + _dot(program.linear, tight.x) + constant
    dual = constant - half - _dot([rhs for _, rhs in program.equalities], tight.equality_multipliers)
    dual -= sum((program.inequalities[k][1] * value for k, value in tight.multipliers.items()), Fraction(0))
    return ExactProof(
        "optimal", statement.problem, primal, statement.point(tight.x[: statement.size]),
        _multipliers(statement, found, tight), primal - dual, rows_checked_exactly=_count(statement),
        notes=_uniqueness(found, tight),
    )  # fmt: skip


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True) if u and v), Fraction(0))


def _count(statement: Statement) -> int:
    return sum(c.size for c in statement.problem.constraints)


def _uniqueness(found: Found, tight: Tight) -> tuple[str, ...]:
    """Whether there are other solutions: these differ by directions without curvature that move no row with a
    multiplier. Rows that are tight without one may forbid them."""
    program = found.program
    holding = [row for row, _ in program.equalities]
    holding += [program.inequalities[k][0] for k, value in tight.multipliers.items() if value]
    if rational.rank(program.dense([*program.quadratic, *holding])) == program.size:
        return ()
    idle = [k for k in range(len(program.inequalities)) if not tight.multipliers.get(k)]
    touching = any(dot(program.inequalities[k][0], tight.x) == program.inequalities[k][1] for k in idle)
    if touching or found.search.touching:
        return ("the solution need not be the only one: rows without a multiplier are tight",)
    return ("the solution is not unique: this is one of many",)


def _multipliers(statement: Statement, found: Found, tight: Tight) -> dict[str, dict[int, Fraction]]:
    """By constraint and row, those that are not zero."""
    out = _of_rows(statement, found, tight.equality_multipliers, tight.multipliers)
    z = tight.x[: statement.size]
    for part in found.search.sides:
        samples = part.samples
        known: dict[float, Fraction] = {}
        for k, line in enumerate(samples.lines):
            block = out[line.block.name]
            resting = np.flatnonzero((part.side == k) & (samples.cost > 0))
            for i, c in zip(resting.tolist(), samples.cost[resting].tolist(), strict=True):
                if c not in known:
                    known[c] = Fraction(c)
                block[i] = known[c]
            curved = np.flatnonzero((part.side == k) & (samples.curvature > 0))
            pulls = line.exact_values(curved, z, samples.curvature[curved])
            block |= {i: pull for i, pull in zip(curved.tolist(), pulls, strict=True) if pull}
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
        if value:
            key = found.search.rows[k]
            out[found.search.measured(key).block.name][key[1]] = value
    return out


def _infeasible(statement: Statement, found: Found, contradiction: Contradiction) -> ExactProof:
    used = _of_rows(statement, found, contradiction.equality_multipliers, contradiction.multipliers)
    return ExactProof("infeasible", statement.problem, multipliers={name: rows for name, rows in used.items() if rows})


def _unattained(statement: Statement, falling: Falling) -> ExactProof:
    """The direction is a proof where there is a point to start from: the feasible point of least norm, or none."""
    n = statement.size
    identity = [[Fraction(j == k) for k in range(n)] for j in range(n)]
    nearest = replace(statement, quadratic=identity, linear=[Fraction(0)] * n, constant=Fraction(0), samples=())
    nothing = [np.empty(0, dtype=np.intp) for _ in nearest.inequalities]
    found = Search.start(nearest, Hints(np.zeros(n), nothing, [], [])).run()
    if isinstance(found.outcome, Contradiction):
        return _infeasible(nearest, found, found.outcome)
    assert isinstance(found.outcome, Tight)
    return ExactProof(
        "unattained", statement.problem, point=statement.point(found.outcome.x),
        direction=statement.point(falling.direction[:n]), rows_checked_exactly=_count(statement),
    )  # fmt: skip
