"""A claimed proof, checked from the problem alone, in rationals.

Nothing of how the proof was found is used: the KKT conditions are read off the problem, every row takes part, and no
number is taken on trust. What has to be zero is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.proofs.exact.measured import Measured, compared
from convexcls.proofs.exact.products import rational_product
from convexcls.proofs.exact.proof import ExactProof, NoProof
from convexcls.proofs.exact.statement import Samples, Statement, state
from convexcls.proofs.exact.widest import proved_square, widest

Used = Mapping[int, Fraction]


def check(problem: Problem, proof: ExactProof) -> bool:
    """Whether a proof holds: from the problem and the numbers of the proof alone, without rounding."""
    if (parts := widest(problem)) is not None:
        margin = None if proof.optimum is None or proof.gap != 0 else -proof.optimum
        square = proved_square(parts, proof.point, proof.multipliers) if proof.verdict == "optimal" else None
        return margin is not None and margin >= 0 and square == margin * margin
    try:
        statement = state(problem)
    except NoProof:
        return False
    if not _well_formed(statement, proof):
        return False
    if proof.verdict == "optimal":
        return _optimal(statement, proof)
    if proof.verdict == "infeasible":
        return _infeasible(statement, proof)
    return proof.verdict == "unattained" and _unattained(statement, proof)


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


def _joined(statement: Statement, values: Mapping[str, Sequence[Fraction]]) -> list[Fraction]:
    return [value for name in statement.kept for value in values[name]]


def _total(measured: Measured, used: Used) -> list[Fraction]:
    """sum_i used_i (R_i, s_i): multipliers that are doubles over many rows at once, the others one by one."""
    index = np.array(sorted(used), dtype=np.intp)
    values = [used[i] for i in index.tolist()]
    known = {id(value): _as_double(value) for value in {id(value): value for value in values}.values()}
    doubles = np.array([known[id(value)] for value in values])
    plain = np.isfinite(doubles)
    total = [Fraction(0)] * (measured.width + 1)
    if plain.any():
        total = measured.total(index[plain], doubles[plain])
    rest = [[value] for value, simple in zip(values, plain.tolist(), strict=True) if not simple]
    if rest:
        others = rational_product(measured.rational(index[~plain]), rest)
        total = [t + other for t, (other,) in zip(total, others, strict=True)]
    return total


def _as_double(value: Fraction) -> float:
    """The double that a rational is, NaN where it is none."""
    if value.denominator & (value.denominator - 1) or value.numerator.bit_length() > 1000:
        return float("nan")
    double = float(value) if value.denominator.bit_length() < 1000 else 0.0
    return double if Fraction(double) == value else float("nan")


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True) if u and v), Fraction(0))


# ---- optimal ------------------------------------------------------------------------------------------


def _optimal(statement: Statement, proof: ExactProof) -> bool:
    z, m = _joined(statement, proof.point), statement.size
    curved = [_dot(row, z) for row in statement.quadratic]
    pull = [h + g for h, g in zip(curved, statement.linear, strict=True)]
    primal = _dot(curved, z) / 2 + _dot(statement.linear, z) + statement.constant
    dual = statement.constant - _dot(curved, z) / 2
    for block in (*statement.equalities, *statement.inequalities):
        used = proof.multipliers.get(block.block.name, {})
        if not _keeps(block, z, used):
            return False
        total = _total(block, used)
        pull = [a + b for a, b in zip(pull, total, strict=False)]
        dual += total[m]
    for samples in statement.samples:
        shares = [proof.multipliers.get(line.block.name, {}) for line in samples.lines]
        pulled = _resting(samples, z, shares)
        if pulled is None:
            return False
        total, squares = pulled
        pull = [a + b for a, b in zip(pull, total, strict=False)]
        primal += (
            _dot(total, [*z, Fraction(1)]) - squares / 2
        )  # of a quadratic cost, multiplier times slack is twice it
        dual += total[m] - squares / 2
    return not any(pull) and proof.optimum == primal and proof.gap == primal - dual == 0


def _keeps(block: Measured, z: list[Fraction], used: Used) -> bool:
    """Whether z satisfies every row of a constraint, those with a multiplier without room."""
    signs = block.signs(z)
    if block.block.relation == "==":  # type: ignore[union-attr]
        return not np.any(signs)
    return not np.any(signs > 0) and not np.any(signs[_places(used)])


def _places(used: Used) -> NDArray[np.intp]:
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
    costs = samples.cost.tolist()
    known = {c: Fraction(c) for c in set(costs)}
    if any(sums.get(i, 0) != known[costs[i]] for i in np.flatnonzero(~curved).tolist()):
        return None
    if not curved.any():
        return _added([_total(line, used) for line, used in zip(lines, shares, strict=True)]), Fraction(0)
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
        totals.append(_total(line, {i: value for i, value in used.items() if not curved[i]}))
        loaded = np.array([i for i in sorted(used) if curved[i] and used[i]], dtype=np.intp)
        slopes = line.exact_values(loaded, z, samples.curvature[loaded])
        if any(sums[i] != slope for i, slope in zip(loaded.tolist(), slopes, strict=True)):
            return None
        alone = np.array([used[i] == sums[i] for i in loaded.tolist()], dtype=bool)
        gram = line.gram(loaded[alone], samples.curvature[loaded[alone]])
        pull = [_dot(row, point) for row in gram]
        shared = _total(line, {i: used[i] for i in loaded[~alone].tolist()})  # slacks that rest on several lines
        totals += [pull, shared]
        squares += _dot(pull, point) + _dot(shared, point)
    return _added(totals), squares


def _added(vectors: Sequence[list[Fraction]]) -> list[Fraction]:
    return [sum(values, Fraction(0)) for values in zip(*vectors, strict=True)]


# ---- infeasible and unattained ------------------------------------------------------------------------


def _infeasible(statement: Statement, proof: ExactProof) -> bool:
    total = [Fraction(0)] * (statement.size + 1)
    for block in (*statement.equalities, *statement.inequalities):
        used = proof.multipliers.get(block.block.name, {})
        total = [a + b for a, b in zip(total, _total(block, used), strict=True)]
    lines = [line for samples in statement.samples for line in samples.lines]
    if any(value for line in lines for value in proof.multipliers.get(line.block.name, {}).values()):
        return False  # a slack gives way: its rows contradict nothing
    return not any(total[:-1]) and total[-1] > 0


def _unattained(statement: Statement, proof: ExactProof) -> bool:
    z, d = _joined(statement, proof.point), _joined(statement, proof.direction)
    if any(_dot(row, d) for row in statement.quadratic):
        return False
    for block in (*statement.equalities, *statement.inequalities):
        signs, moves = block.signs(z), block.moves(d)
        if block.block.relation == "==":  # type: ignore[union-attr]
            signs, moves = np.abs(signs), np.abs(moves)
        if np.any(signs > 0) or np.any(moves > 0):
            return False
    slope = _dot(statement.linear, d)
    for samples in statement.samples:
        rate = _rate(samples, d)
        if rate is None:
            return False
        slope += rate
    return slope < 0


def _rate(samples: Samples, d: list[Fraction]) -> Fraction | None:
    """How fast the cost of the samples grows along d, each with the line that rises fastest; None where a quadratic
    cost grows without end."""
    fastest = np.zeros(samples.size, dtype=np.intp)
    for k in range(1, len(samples.lines)):
        for j in range(k):
            faster = compared(samples.lines[k], samples.lines[j], d, moving=True) > 0
            fastest[(fastest == j) & faster] = k
    total = Fraction(0)
    for k, line in enumerate(samples.lines):
        if np.any(line.moves(d)[samples.curvature > 0] > 0):
            return None
        index = np.flatnonzero((fastest == k) & (samples.cost > 0))
        if index.size:
            total += _dot(line.total(index, samples.cost[index])[:-1], d)
    return total
