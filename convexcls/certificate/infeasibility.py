"""Proofs that no point satisfies the constraints: Farkas vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate.linear_program import (
    LARGEST_SYSTEM,
    POSITIVE,
    ZERO,
    by_block,
    column_scale,
    constraint_matrix,
    largest_ratio,
    refine,
    solve_linear_program,
)
from convexcls.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Farkas:
    """Multipliers z (>= 0 on inequalities) with K'z = 0 and k'z < 0: added up so, the constraints Kx <= k say
    0 <= a negative number. ``residual`` is how far K'z is from zero, relative to what was added up."""

    multipliers: Mapping[str, Array]
    value: float
    residual: float


def find_farkas(problem: Problem) -> Farkas | None:
    """A proof that the linear constraints contradict each other, or None where none was found."""
    if not problem.constraints:
        return None
    columns = constraint_matrix(problem, column_scale(problem))
    rhs = np.concatenate([c.rhs for c in problem.constraints])
    signed = np.concatenate([np.full(c.size, c.relation == "<=") for c in problem.constraints])
    bounds = np.column_stack([np.where(signed, 0.0, -1.0), np.ones(signed.size)])
    found = solve_linear_program(c=rhs, A_eq=columns.T.tocsr(), b_eq=np.zeros(problem.size), bounds=bounds)
    if found.x is None or not found.fun < -POSITIVE:
        return None
    z = _refined(columns, rhs, np.asarray(found.x), signed)
    return check_farkas(problem, by_block(problem.constraints, z))


def _refined(columns: Any, rhs: Array, z: Array, signed: NDArray[np.bool_]) -> Array:
    """The multipliers on the support of z that satisfy K'z = 0 to rounding, scaled to k'z = -1."""
    z = np.where(signed, np.maximum(z, 0.0), z)
    support = np.flatnonzero(np.abs(z) > 1e-11)
    z = z / max(-float(rhs @ z), 1e-300)
    if not 0 < support.size <= LARGEST_SYSTEM:
        return z
    system = np.vstack([columns[support].toarray().T, rhs[support][None, :]])
    target = np.append(np.zeros(system.shape[0] - 1), -1.0)
    better = refine(system, target, z[support])
    if np.any(better[signed[support]] < 0):
        return z
    out = np.zeros_like(z)
    out[support] = better
    return out


def check_farkas(problem: Problem, multipliers: Mapping[str, Array]) -> Farkas | None:
    """The multipliers as a proof of infeasibility, or None where they are none."""
    pull, size = np.zeros(problem.size), np.zeros(problem.size)
    value = magnitude = 0.0
    for c in problem.constraints:
        z = np.asarray(multipliers.get(c.name, np.zeros(c.size)), dtype=float)
        if z.shape != (c.size,) or not np.all(np.isfinite(z)) or (c.relation == "<=" and np.any(z < 0)):
            return None
        rows = problem.rows(c)
        pull += rows.T @ z
        size += abs(rows).T @ np.abs(z)
        value += float(c.rhs @ z)
        magnitude += float(np.abs(c.rhs) @ np.abs(z))
    residual = largest_ratio(pull, size)
    if not residual <= ZERO or not value < -POSITIVE * magnitude:
        return None
    return Farkas(dict(multipliers), value, residual)
