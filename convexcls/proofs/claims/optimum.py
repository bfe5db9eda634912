"""The claim of an optimum in rationals: a point and multipliers that satisfy the KKT conditions without rounding.

Nothing of how a proof was found is used: the conditions are read off the problem, every row takes part, and no number
is taken on trust. What has to be zero is zero.

The widest margin is claimed by the quadratic program that it is equivalent to:

    maximise t  subject to  R x >= t,  ‖v‖ <= 1        and        minimise 1/2 ‖v‖^2  subject to  R x >= 1

with v some of the unknowns x, have the same solutions up to a factor. Let the second have the minimum p at x, with
multipliers alpha. Then the first has the maximum t = 1 / sqrt(2p) at t x, with multipliers 2p-th parts of alpha: the
square of the maximum, 1 / 2p, is rational, and so are the ratios of all unknowns. Where the second is infeasible, its
Farkas vector proves that the maximum is 0, attained at x = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np

from convexcls.arrays import Indices
from convexcls.problem import Problem
from convexcls.problem.slab import Slab, find_slab
from convexcls.proofs.claims import farkas
from convexcls.proofs.claims.affine_rows import AffineRows, compared
from convexcls.proofs.claims.direction import falls_exactly
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.statement import NoProof, Samples, Statement, state
from convexcls.rational.elimination import dot

Used = Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class ExactProof:
    """A verdict in rationals, on the data as they were given.

    ``optimal``     ``point`` and ``multipliers`` satisfy the KKT conditions without rounding: ``optimum`` is the
                    minimised objective there, and ``gap``, its distance from the dual objective, is 0.
    ``infeasible``  ``multipliers`` z (>= 0 on inequalities) add the constraints K x <= k up to 0 <= k'z < 0.
    ``unattained``  ``point`` satisfies the constraints, and from it the objective falls for ever along ``direction``.

    ``point`` and ``direction`` leave out the slacks that only bound lines from above: a slack is as small as its lines
    (and its own cost) allow, see ``slacks``. ``multipliers`` has by constraint and row those that are not zero.
    """

    verdict: Literal["optimal", "infeasible", "unattained"]
    problem: Problem
    optimum: Fraction | None = None
    point: Mapping[str, list[Fraction]] = field(default_factory=dict)
    multipliers: Multipliers = field(default_factory=dict)
    gap: Fraction | None = None
    direction: Mapping[str, list[Fraction]] = field(default_factory=dict)
    rows_checked_exactly: int = 0
    notes: tuple[str, ...] = ()

    def slacks(self) -> dict[str, list[Fraction]]:
        """The slacks that ``point`` leaves out, worked out when they are asked for: one number a sample."""
        return slack_values(self.problem, self.point)


def slack_values(problem: Problem, point: Mapping[str, Sequence[Fraction]]) -> dict[str, list[Fraction]]:
    """By slack variable the least slack above all lines of each sample; of a quadratic cost never below 0."""
    statement = state(problem)
    return _slacks(statement, statement.joined(point))


def _slacks(statement: Statement, z: list[Fraction], moving: bool = False) -> dict[str, list[Fraction]]:
    """The slacks at z or, ``moving``, how fast they grow along z in the end."""
    out, start = {}, [Fraction(0)] * len(z)
    for samples in statement.samples:
        index = np.arange(samples.size)
        heights = [line.exact_values(index, z) for line in samples.lines]
        if moving:
            shifts = [line.exact_values(index, start) for line in samples.lines]
            heights = [[a - b for a, b in zip(*both, strict=True)] for both in zip(heights, shifts, strict=True)]
        lowest = samples.lowest([np.array(values, dtype=object) for values in heights])
        out[samples.variable] = [Fraction(value) for value in lowest]
    return out


def check(problem: Problem, proof: ExactProof) -> str:
    """Why a proof does not hold, from the problem and the numbers of the proof alone, without rounding; empty where it
    does."""
    if (parts := widest(problem)) is not None:
        margin = None if proof.optimum is None or proof.gap != 0 else -proof.optimum
        square = proved_square(parts, proof.point, proof.multipliers) if proof.verdict == "optimal" else None
        shown = margin is not None and margin >= 0 and square == margin * margin
        return "" if shown else "point and multipliers do not prove the margin"
    try:
        statement = state(problem)
    except NoProof as error:
        return str(error)
    if not _well_formed(statement, proof):
        return "there is not one rational for every unknown, and multipliers of the right sign for rows that exist"
    if proof.verdict == "infeasible":
        return farkas.check(problem, proof.multipliers)
    if proof.verdict == "unattained":
        return _unattained(statement, proof)
    kkt = proof.verdict == "optimal" and _optimal(statement, proof)
    return "" if kkt else "point and multipliers do not satisfy the KKT conditions exactly with the claimed optimum"


def _unattained(statement: Statement, proof: ExactProof) -> str:
    """The point satisfies the constraints, and the direction, with the slacks as low as their lines allow, proves that
    the objective falls for ever."""
    z = statement.joined(proof.point)
    if not all(_keeps(block, z, {}) for block in (*statement.equalities, *statement.inequalities)):
        return "the point does not satisfy the constraints"
    rates = _slacks(statement, statement.joined(proof.direction), moving=True)
    return falls_exactly(statement.problem, {**proof.direction, **rates})


def _well_formed(statement: Statement, proof: ExactProof) -> bool:
    """Whether there is a rational for every unknown, and multipliers only for rows that exist, of the right sign."""
    for values in [proof.point] * (proof.verdict != "infeasible") + [proof.direction] * (proof.verdict == "unattained"):
        if set(values) != set(statement.kept):
            return False
        for name, block in values.items():
            if len(block) != statement.problem.variable(name).size or not all(isinstance(v, Fraction) for v in block):
                return False
    blocks = {c.name: c for c in statement.problem.constraints}
    for name, used in proof.multipliers.items():
        if name not in blocks:
            return False
        signed = blocks[name].relation == "<="
        for i, value in used.items():
            known = isinstance(i, int) and 0 <= i < blocks[name].size and isinstance(value, Fraction)
            if not known or (signed and value < 0):
                return False
    return True


# ---- the KKT conditions ------------------------------------------------------------------------------------------


def _optimal(statement: Statement, proof: ExactProof) -> bool:
    z, m = statement.joined(proof.point), statement.size
    curved = [dot(row, z) for row in statement.quadratic]
    pull = [h + g for h, g in zip(curved, statement.linear, strict=True)]
    primal = dot(curved, z) / 2 + dot(statement.linear, z) + statement.constant
    dual = statement.constant - dot(curved, z) / 2
    for block in (*statement.equalities, *statement.inequalities):
        used = proof.multipliers.get(block.block.name, {})
        if not _keeps(block, z, used):
            return False
        total = block.combined(used)
        pull = [a + b for a, b in zip(pull, total, strict=False)]
        dual += total[m]
    for samples in statement.samples:
        shares = [proof.multipliers.get(line.block.name, {}) for line in samples.lines]
        pulled = _resting(samples, z, shares)
        if pulled is None:
            return False
        total, squares = pulled
        pull = [a + b for a, b in zip(pull, total, strict=False)]
        primal += dot(total, [*z, Fraction(1)]) - squares / 2  # of a quadratic cost, multiplier times slack is twice it
        dual += total[m] - squares / 2
    return not any(pull) and proof.optimum == primal and proof.gap == primal - dual == 0


def _keeps(block: AffineRows, z: list[Fraction], used: Used) -> bool:
    """Whether z satisfies every row of a constraint, those with a multiplier without room."""
    signs = block.signs(z)
    if block.block.relation == "==":  # type: ignore[union-attr]
        return not np.any(signs)
    return not np.any(signs > 0) and not np.any(signs[_places(used)])


def _places(used: Used) -> Indices:
    return np.array(sorted(used), dtype=np.intp)


def _resting(samples: Samples, z: list[Fraction], shares: Sequence[Used]) -> tuple[list[Fraction], Fraction] | None:
    """The sum of multiplier times line over all samples, and sum_i p_i slack_i^2; None unless the slacks rest on the
    lines that have multipliers, and the multipliers of every sample add up to what its slack costs."""
    lines, curved = samples.lines, samples.curvature > 0
    for k, j in combinations(range(len(lines)), 2):
        sign = compared(lines[k], lines[j], z)
        if np.any(sign[_places(shares[k])] < 0) or np.any(sign[_places(shares[j])] > 0):
            return None
    sums: dict[int, Fraction] = {}
    for used in shares:
        for i, value in used.items():
            sums[i] = sums[i] + value if i in sums else value
    costs = samples.rational("cost")
    if any(sums.get(i, 0) != costs[i] for i in np.flatnonzero(~curved).tolist()):
        return None
    if not curved.any():
        return _added([line.combined(used) for line, used in zip(lines, shares, strict=True)]), Fraction(0)
    return _quadratic_costs(samples, z, shares, sums)


def _quadratic_costs(
    samples: Samples, z: list[Fraction], shares: Sequence[Used], sums: Used
) -> tuple[list[Fraction], Fraction] | None:
    """The same where costs are p/2 slack^2: the multipliers of a sample are p times its slack, and that is 0 or on the
    line. Then their pull is that of a half-square, sum_i p_i (R_i, s_i)'(R_i z + s_i)."""
    curved, point = samples.curvature > 0, [*z, Fraction(1)]
    free = curved.copy()
    free[[i for i, value in sums.items() if value]] = False
    totals, squares = [], Fraction(0)
    for line, used in zip(samples.lines, shares, strict=True):
        if np.any(line.signs(z)[free] > 0):
            return None
        totals.append(line.combined({i: value for i, value in used.items() if not curved[i]}))
        loaded = np.array([i for i in sorted(used) if curved[i] and used[i]], dtype=np.intp)
        slopes = line.exact_values(loaded, z, samples.rational("curvature", loaded))
        if any(sums[i] != slope for i, slope in zip(loaded.tolist(), slopes, strict=True)):
            return None
        alone = np.array([used[i] == sums[i] for i in loaded.tolist()], dtype=bool)
        gram = line.gram(loaded[alone], samples.weights_at("curvature", loaded[alone]))
        pull = [dot(row, point) for row in gram]
        shared = line.combined({i: used[i] for i in loaded[~alone].tolist()})  # slacks that rest on several lines
        totals += [pull, shared]
        squares += dot(pull, point) + dot(shared, point)
    return _added(totals), squares


def _added(vectors: Sequence[list[Fraction]]) -> list[Fraction]:
    return [sum(values, Fraction(0)) for values in zip(*vectors, strict=True)]


# ---- the widest margin -------------------------------------------------------------------------------------------


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


def widest(problem: Problem) -> Slab | None:
    """The parts of a problem that maximises a margin under a norm; None where it does something else."""
    slab = find_slab(problem)
    return slab if slab is not None and slab.is_plain else None


def proved_square(parts: Slab, point: Mapping[str, list[Fraction]], multipliers: Multipliers) -> Fraction | None:
    """The square of the maximum, where a multiple of the point and the multipliers prove it; None where they do not.

    R x >= t shows t^2 / ‖v‖^2 from below. Multipliers alpha >= 0 with the sum 1 whose pull R'alpha is u on v and 0 on
    all else show ‖u‖^2 from above, since t <= alpha'R x = u'v <= ‖u‖ for all x. At t = 0 = u nothing else is needed.
    """
    problem = parts.problem
    if not problem.fits(point):
        return None
    used = multipliers.get(parts.block.name, {})
    if set(multipliers) - {parts.block.name} or any(not 0 <= i < parts.block.size or z < 0 for i, z in used.items()):
        return None
    z = [value for v in problem.variables for value in point[v.name]]
    rows = AffineRows(parts.block, problem.rows(parts.block), problem.size)
    pull = rows.combined(used)
    along = {name: pull[where] for name, where in problem.layout.items()}
    t, v, u = point[parts.distance][0], point[parts.inside], along.pop(parts.inside)
    if along.pop(parts.distance) != [1] or any(any(part) for part in along.values()) or np.any(rows.signs(z) > 0):
        return None
    size, above = sum((a * a for a in v), Fraction(0)), sum((a * a for a in u), Fraction(0))
    if t == 0:
        return above if above == 0 else None
    return above if t > 0 and size * above == t * t else None
