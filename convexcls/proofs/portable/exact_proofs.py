"""Proofs that there is no optimum, checked in rationals.

infeasible   multipliers z (>= 0 on inequalities) with sum_i z_i K_i = 0 and sum_i z_i k_i < 0 for the constraints
             K_i x <= k_i, K_i x = k_i
unattained   a direction d along which no constraint is ever violated, nothing curves, and the objective falls for
             ever: at a constant rate, or because no loss rises and one keeps falling
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.problem import Problem
from convexcls.proofs.certificate import check_direction
from convexcls.proofs.exact.falling import in_rationals, proves_unattained
from convexcls.proofs.portable.gaussian import falls_by_moments, has_moments
from convexcls.proofs.portable.slacks import Blocks
from convexcls.rational import to_double


def proves_infeasible(problem: Problem, multipliers: Blocks) -> str:
    """Why the multipliers do not contradict the constraints exactly; empty where they do."""
    total, value = [Fraction(0)] * problem.size, Fraction(0)
    blocks = {c.name: c for c in problem.constraints}
    for name, used in multipliers.items():
        if name not in blocks:
            return f"there is no constraint {name!r} of linear rows"
        c = blocks[name]
        if any(not 0 <= i < c.size for i in used):
            return f"there is a multiplier for a row that {name!r} does not have"
        if c.relation == "<=" and any(z < 0 for z in used.values()):
            return f"a multiplier of {name!r} is negative"
        index = np.array(sorted(used), dtype=np.intp)
        rows, rhs = problem.rows(c).rational(index), c.rational_vector("rhs", index)
        for i, row, k in zip(index.tolist(), rows, rhs, strict=True):
            total = [t + used[i] * v if v else t for t, v in zip(total, row, strict=True)]
            value += used[i] * k
    if any(total):
        return "multiplied and added up, the left sides of the constraints do not cancel"
    return "" if value < 0 else "multiplied and added up, the constraints do not contradict each other"


def falls(problem: Problem, direction: Mapping[str, list[Fraction]]) -> str:
    """Why the direction does not prove that there is no minimum, in rationals where possible; empty where it does."""
    if has_moments(problem):
        return falls_by_moments(problem, direction)
    if in_rationals(problem) and all(t.is_half_square or t.loss.slopes[1] == 0 for t in problem.terms):
        return proves_unattained(problem, direction)
    if {name: len(v) for name, v in direction.items()} != {v.name: v.size for v in problem.variables}:
        return "the direction does not give one number for every unknown"
    d = np.array([to_double(u) for v in problem.variables for u in direction[v.name]])
    return "" if check_direction(problem, d) is not None else "the objective does not fall along the direction"
