"""A proof that x = 0 is optimal, for problems of cones and lines such as the widest slab between classes that
meet: a solver can only come near such a point, and near is not a proof."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.arrays import Array, Mask
from convexcls.problem import Problem
from convexcls.proofs.claims.linear_program import (
    MAX_REFINED_UNKNOWNS,
    ZERO,
    by_block,
    column_scale,
    constraint_matrix,
    reached_exactly,
    refine,
    solve_linear_program,
    too_large,
)


def find_origin_multipliers(problem: Problem) -> dict[str, Array] | None:
    """Multipliers that satisfy stationarity at x = 0 down to rounding, or None where there are none."""
    if problem.terms or not problem.constraints or too_large(problem) or not _origin_is_feasible(problem):
        return None
    scale = column_scale(problem)
    columns = constraint_matrix(problem, scale)
    equal = np.concatenate([np.full(c.size, c.relation == "==") for c in problem.constraints])
    tight = equal | (np.concatenate([c.rhs for c in problem.constraints]) == 0)
    bounds = np.column_stack([np.where(equal, -np.inf, 0.0), np.where(tight, np.inf, 0.0)])
    target = -problem.q * scale
    found = solve_linear_program(c=np.zeros(equal.size), A_eq=columns.T.tocsr(), b_eq=target, bounds=bounds)
    if found.x is None:
        return None
    z = np.array(found.x)
    support = np.flatnonzero(np.abs(z) > 1e-11)
    z[np.abs(z) <= 1e-11] = 0.0
    if 0 < support.size <= MAX_REFINED_UNKNOWNS:
        z[support] = refine(columns[support].toarray().T, target, z[support])
    if not _stationary(problem, columns, z, target, equal):
        return None
    out = by_block(problem.constraints, z)
    out.update({b.name: np.zeros(b.size + 1) for b in problem.norm_bounds})
    return out


def doubtful_at_origin(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> bool:
    """Whether x = 0 is claimed optimal by multipliers that satisfy stationarity to a tolerance only. There the optimum
    itself is the size to compare with, and it may be a little above 0: classes that touch, or that are 1e-15 apart."""
    if np.any(x) or problem.terms or not problem.constraints or not _origin_is_feasible(problem):
        return False
    if any(np.any(multipliers[b.name]) for b in problem.norm_bounds) or too_large(problem):
        return False
    scale = column_scale(problem)
    z = np.concatenate([multipliers[c.name] for c in problem.constraints])
    equal = np.concatenate([np.full(c.size, c.relation == "==") for c in problem.constraints])
    return not _stationary(problem, constraint_matrix(problem, scale), z, -problem.q * scale, equal)


def _stationary(problem: Problem, columns: Any, z: Array, target: Array, equal: Mask) -> bool:
    """Whether columns'z is the target down to rounding and, where z uses few rows, whether these reach it exactly."""
    if not reached_exactly(problem, by_block(problem.constraints, z), [-Fraction(q) for q in problem.q]):
        return False
    left_over = np.abs(columns.T @ z - target)
    within = left_over <= ZERO * (abs(columns).T @ np.abs(z) + np.abs(target))
    return bool(np.all(within) and not np.any(z[~equal] < 0))


def _origin_is_feasible(problem: Problem) -> bool:
    linear = all(np.all(c.rhs >= 0) if c.relation == "<=" else not np.any(c.rhs) for c in problem.constraints)
    return linear and all(not np.any(b.offset) and b.bound >= 0 for b in problem.norm_bounds)
