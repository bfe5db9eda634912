"""The exact solution of a quadratic program or of a widest margin, found from an answer in doubles, with its proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Any, TypeAlias

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.problem.slab import Slab
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.optimum import ExactProof, RootProof
from convexcls.proofs.claims.statement import NoProof, Statement, state
from convexcls.proofs.exact.criss_cross import Contradiction, Falling, Tight
from convexcls.proofs.exact.criss_cross import dot as sparse_dot
from convexcls.proofs.exact.hints import Hints, read_hints
from convexcls.proofs.exact.search import ActiveSetSearch, SolvedProgram, TooFar
from convexcls.rational.elimination import dot, rank

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
    search = ActiveSetSearch.start(statement, read_hints(statement, x, multipliers))
    if solve is None or not problem.constraints:  # without constraints there is nothing to guess
        return assemble(statement, search.run())
    if x is not None or multipliers:
        with suppress(TooFar):
            return assemble(statement, search.run(patient=False))
    return assemble(statement, ActiveSetSearch.start(statement, read_hints(statement, *solve(problem))).run())


def assemble(statement: Statement, found: SolvedProgram) -> ExactProof:
    """The proof that a search has found."""
    if isinstance(found.outcome, Tight):
        return _optimal(statement, found, found.outcome)
    if isinstance(found.outcome, Contradiction):
        return _infeasible(statement, found, found.outcome)
    return _unattained(statement, found.outcome)


def _optimal(statement: Statement, found: SolvedProgram, tight: Tight) -> ExactProof:
    program, constant = found.program, found.search.objective()[2]
    curved = [sparse_dot(row, tight.x) for row in program.quadratic]
    half = dot(curved, tight.x) / 2
    primal = half + dot(program.linear, tight.x) + constant
    dual = constant - half - dot([rhs for _, rhs in program.equalities], tight.equality_multipliers)
    dual -= sum((program.inequalities[k][1] * value for k, value in tight.multipliers.items()), Fraction(0))
    return ExactProof(
        "optimal",
        statement.problem,
        primal,
        statement.point(tight.x[: statement.size]),
        _multipliers(statement, found, tight),
        primal - dual,
        rows_checked_exactly=_count(statement),
        notes=_uniqueness(found, tight),
    )


def _count(statement: Statement) -> int:
    return sum(c.size for c in statement.problem.constraints)


def _uniqueness(found: SolvedProgram, tight: Tight) -> tuple[str, ...]:
    """Whether there are other solutions: these differ by directions without curvature that move no row with a
    multiplier. Rows that are tight without one may forbid them."""
    program = found.program
    holding = [row for row, _ in program.equalities]
    holding += [program.inequalities[k][0] for k, value in tight.multipliers.items() if value]
    if rank(program.dense([*program.quadratic, *holding])) == program.size:
        return ()
    idle = [k for k in range(len(program.inequalities)) if not tight.multipliers.get(k)]
    touching = any(sparse_dot(program.inequalities[k][0], tight.x) == program.inequalities[k][1] for k in idle)
    if touching or found.search.touching:
        return ("the solution need not be the only one: rows without a multiplier are tight",)
    return ("the solution is not unique: this is one of many",)


def _multipliers(statement: Statement, found: SolvedProgram, tight: Tight) -> dict[str, dict[int, Fraction]]:
    """By constraint and row, those that are not zero."""
    out = _of_rows(statement, found, tight.equality_multipliers, tight.multipliers)
    z = tight.x[: statement.size]
    for part in found.search.sides:
        samples = part.samples
        for k, line in enumerate(samples.lines):
            block = out[line.block.name]
            resting = np.flatnonzero((part.side == k) & (samples.cost > 0))
            block |= dict(zip(resting.tolist(), samples.rational("cost", resting), strict=True))
            curved = np.flatnonzero((part.side == k) & (samples.curvature > 0))
            pulls = line.exact_values(curved, z, samples.rational("curvature", curved))
            block |= {i: pull for i, pull in zip(curved.tolist(), pulls, strict=True) if pull}
    return out


def _of_rows(
    statement: Statement, found: SolvedProgram, equal: list[Fraction], tight: Mapping[int, Fraction]
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


def _infeasible(statement: Statement, found: SolvedProgram, contradiction: Contradiction) -> ExactProof:
    used = _of_rows(statement, found, contradiction.equality_multipliers, contradiction.multipliers)
    return ExactProof("infeasible", statement.problem, multipliers={name: rows for name, rows in used.items() if rows})


def _unattained(statement: Statement, falling: Falling) -> ExactProof:
    """The direction is a proof where there is a point to start from: the feasible point of least norm, or none."""
    n = statement.size
    identity = [[Fraction(j == k) for k in range(n)] for j in range(n)]
    nearest = replace(statement, quadratic=identity, linear=[Fraction(0)] * n, constant=Fraction(0), samples=())
    nothing = [np.empty(0, dtype=np.intp) for _ in nearest.inequalities]
    found = ActiveSetSearch.start(nearest, Hints(np.zeros(n), nothing, [], [])).run()
    if isinstance(found.outcome, Contradiction):
        return _infeasible(nearest, found, found.outcome)
    assert isinstance(found.outcome, Tight)
    return ExactProof(
        "unattained",
        statement.problem,
        point=statement.point(found.outcome.x),
        direction=statement.point(falling.direction[:n]),
        rows_checked_exactly=_count(statement),
    )


# ---- the widest margin -------------------------------------------------------------------------------------------


def prove_widest(
    parts: Slab, x: Array | None, multipliers: Mapping[str, Any] | None, solve: Solve | None = None
) -> ExactProof | RootProof:
    """The maximum, as a rational or as the root of one. ``x``, ``multipliers`` and ``solve`` are as for ``prove``."""
    proof = prove(parts.program, *_guess(parts, x, multipliers), solve)
    if proof.verdict == "infeasible":
        total = sum((z for rows in proof.multipliers.values() for z in rows.values()), Fraction(0))
        still = {v.name: [Fraction(0)] * v.size for v in parts.problem.variables}
        return ExactProof("optimal", parts.problem, Fraction(0), still, _divided(proof.multipliers, total), Fraction(0))
    if proof.verdict != "optimal" or not proof.optimum:
        raise NoProof("the margin has no bound")
    square = 1 / (2 * proof.optimum)
    ray = {v.name: [Fraction(1)] if v.name == parts.distance else proof.point[v.name] for v in parts.problem.variables}
    shares = _divided(proof.multipliers, 2 * proof.optimum)
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root * root != square:
        return RootProof(parts.problem, square, ray, shares, proof.notes)
    point = {name: [root * value for value in values] for name, values in ray.items()}
    return ExactProof("optimal", parts.problem, -root, point, shares, Fraction(0), notes=proof.notes)


def _guess(
    parts: Slab, x: Array | None, multipliers: Mapping[str, Any] | None
) -> tuple[Array | None, dict[str, Array]]:
    """The answer as one of the quadratic program."""
    alpha = np.asarray((multipliers or {}).get(parts.block.name, np.zeros(parts.block.size)), dtype=float)
    if x is None:
        return None, {parts.block.name: alpha}
    t = float(x[parts.problem.layout[parts.distance]][0])
    point = x[parts.problem.places([v.name for v in parts.program.variables])]
    with np.errstate(all="ignore"):
        scaled = point / t, alpha / t / t
    if t > 0 and all(np.all(np.isfinite(part)) for part in scaled):
        return scaled[0], {parts.block.name: scaled[1]}
    return None, {parts.block.name: alpha}


def _divided(multipliers: Multipliers, by: Fraction) -> dict[str, dict[int, Fraction]]:
    return {name: {i: z / by for i, z in rows.items()} for name, rows in multipliers.items()}
