"""The widest margin, in rationals: by the quadratic program that it is equivalent to.

    maximise t  subject to  R x >= t,  ‖v‖ <= 1        and        minimise 1/2 ‖v‖^2  subject to  R x >= 1

with v some of the unknowns x, have the same solutions up to a factor. Let the second have the minimum p at x, with
multipliers alpha. Then the first has the maximum t = 1 / sqrt(2p) at t x, with multipliers 2p-th parts of alpha: the
square of the maximum, 1 / 2p, is rational, and so are the ratios of all unknowns. Where the second is infeasible, its
Farkas vector proves that the maximum is 0, attained at x = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Constraint, NormBound, Problem
from convexcls.proofs.exact.measured import Measured
from convexcls.proofs.exact.proof import ExactProof, NoProof
from convexcls.proofs.exact.prove import Solve, prove

Array = NDArray[np.float64]
Multipliers = Mapping[str, Mapping[int, Fraction]]


@dataclass(frozen=True, eq=False)
class RootProof:
    """The maximum is sqrt(``square``), the solution is a multiple of the rational ``ray``, whose entry t is 1."""

    problem: Problem
    square: Fraction
    ray: Mapping[str, list[Fraction]]
    multipliers: Multipliers
    notes: tuple[str, ...] = field(default=())

    def point(self, t: float) -> dict[str, list[float]]:
        """The solution in doubles, for the double nearest to the maximum."""
        return {name: [t * float(value) for value in values] for name, values in self.ray.items()}


@dataclass(frozen=True, eq=False)
class Widest:
    """A problem of the widest margin: the names of t and v, and the quadratic program."""

    problem: Problem
    margin: str
    bounded: str
    program: Problem

    @property
    def block(self) -> Constraint:
        """R x >= t."""
        return self.problem.constraints[0]


def widest(problem: Problem) -> Widest | None:
    """The parts of a problem that maximises a margin under a norm; None where it does something else."""
    if problem.terms or problem.quadratic or problem.constant or len(problem.norm_bounds) != 1:
        return None
    costs = [v.name for v in problem.variables if np.any(problem.q[problem.layout[v.name]])]
    if len(problem.constraints) != 1 or len(costs) != 1 or not _unit_ball(ball := problem.norm_bounds[0]):
        return None
    block, margin, bounded = problem.constraints[0], costs[0], next(iter(ball.entries))
    plain = block.relation == "<=" and not np.any(block.rhs)
    if not plain or margin not in block.entries or not block.entries[margin].is_ones:
        return None
    if margin == bounded or not np.all(problem.q[problem.layout[margin]] == -1.0):
        return None
    rows = {name: r for name, r in block.entries.items() if name != margin}
    program = Problem(
        f"quadratic program of the {problem.name}",
        [v for v in problem.variables if v.name != margin],
        quadratic={bounded: 1.0},
        constraints=[Constraint(block.name, rows, block.symbol, block.kind, rhs=-1.0)],
    )
    return Widest(problem, margin, bounded, program)


def _unit_ball(b: NormBound) -> bool:
    values = next(iter(b.entries.values())).diagonal()
    alone = len(b.entries) == 1 and not b.bound_entries and not np.any(b.offset) and b.bound == 1.0
    return alone and values is not None and bool(np.all(values == 1.0))


def prove_widest(
    parts: Widest, x: Array | None, multipliers: Mapping[str, Any] | None, solve: Solve | None = None
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
    ray = {v.name: [Fraction(1)] if v.name == parts.margin else proof.point[v.name] for v in parts.problem.variables}
    shares = _divided(proof.multipliers, 2 * proof.optimum)
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root * root != square:
        return RootProof(parts.problem, square, ray, shares, proof.notes)
    point = {name: [root * value for value in values] for name, values in ray.items()}
    return ExactProof("optimal", parts.problem, -root, point, shares, Fraction(0), notes=proof.notes)


def _guess(
    parts: Widest, x: Array | None, multipliers: Mapping[str, Any] | None
) -> tuple[Array | None, dict[str, Array]]:
    """The answer as one of the quadratic program."""
    alpha = np.asarray((multipliers or {}).get(parts.block.name, np.zeros(parts.block.size)), dtype=float)
    if x is None:
        return None, {parts.block.name: alpha}
    t = float(x[parts.problem.layout[parts.margin]][0])
    point = x[parts.problem.places([v.name for v in parts.program.variables])]
    with np.errstate(all="ignore"):
        scaled = point / t, alpha / t / t
    if t > 0 and all(np.all(np.isfinite(part)) for part in scaled):
        return scaled[0], {parts.block.name: scaled[1]}
    return None, {parts.block.name: alpha}


def _divided(multipliers: Multipliers, by: Fraction) -> dict[str, dict[int, Fraction]]:
    return {name: {i: z / by for i, z in rows.items()} for name, rows in multipliers.items()}


def proved_square(parts: Widest, point: Mapping[str, list[Fraction]], multipliers: Multipliers) -> Fraction | None:
    """The square of the maximum, where a multiple of the point and the multipliers prove it; None where they do not.

    R x >= t shows t^2 / ‖v‖^2 from below. Multipliers alpha >= 0 with the sum 1 whose pull R'alpha is u on v and 0 on
    all else show ‖u‖^2 from above, since t <= alpha'R x = u'v <= ‖u‖ for all x. At t = 0 = u nothing else is needed.
    """
    problem = parts.problem
    if {name: len(values) for name, values in point.items()} != {v.name: v.size for v in problem.variables}:
        return None
    used = multipliers.get(parts.block.name, {})
    if set(multipliers) - {parts.block.name} or any(not 0 <= i < parts.block.size or z < 0 for i, z in used.items()):
        return None
    z = [value for v in problem.variables for value in point[v.name]]
    rows = Measured(parts.block, problem.rows(parts.block), problem.size)
    index = np.array(sorted(used), dtype=np.intp)
    pull = [Fraction(0)] * problem.size
    for i, row in zip(index.tolist(), rows.rational(index), strict=True):
        pull = [total + used[i] * entry if entry else total for total, entry in zip(pull, row, strict=False)]
    along = {name: pull[where] for name, where in problem.layout.items()}
    t, v, u = point[parts.margin][0], point[parts.bounded], along.pop(parts.bounded)
    if along.pop(parts.margin) != [1] or any(any(part) for part in along.values()) or np.any(rows.signs(z) > 0):
        return None
    size, above = sum((a * a for a in v), Fraction(0)), sum((a * a for a in u), Fraction(0))
    if t == 0:
        return above if above == 0 else None
    return above if t > 0 and size * above == t * t else None
