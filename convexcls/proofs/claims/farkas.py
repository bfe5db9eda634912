"""The claim that no point satisfies the constraints, by a Farkas vector: multipliers z (>= 0 on inequalities) with

    sum_i z_i K_i = 0   and   sum_i z_i k_i < 0        for the constraints K_i x <= k_i, K_i x = k_i.

``check`` decides a claim in rationals, ``check_farkas`` one in doubles: to rounding and, of few rows, whether these
contradict each other exactly. ``find_farkas`` looks for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices, Mask
from convexcls.problem import Problem
from convexcls.proofs.claims.affine_rows import AffineRows
from convexcls.proofs.claims.linear_program import (
    MAX_REFINED_UNKNOWNS,
    POSITIVE,
    ROUNDED_ZERO,
    by_block,
    column_scale,
    constraint_matrix,
    largest_ratio,
    reached_exactly,
    refine,
    solve_linear_program,
    too_large,
)
from convexcls.rational.elimination import null_vector_near

#: Systems with more entries are not solved in rationals: the numbers are taken as they were found.
MAX_NEARBY_ENTRIES = 40_000
#: Multipliers by constraint and row, those that are not zero.
Multipliers = Mapping[str, Mapping[int, Fraction]]


@dataclass(frozen=True, eq=False)
class Farkas:
    """Multipliers z (>= 0 on inequalities) with K'z = 0 and k'z < 0: added up so, the constraints Kx <= k say
    0 <= a negative number. ``residual`` is how far K'z is from zero, relative to what was added up. ``exactly`` has the
    multipliers that are not 0 as rationals, by constraint and row, with K'z = 0 without rounding, where they are
    known."""

    multipliers: Mapping[str, Array]
    value: float
    residual: float
    exactly: Multipliers | None = None


# ---- in rationals ------------------------------------------------------------------------------------------------


def check(problem: Problem, multipliers: Multipliers) -> str:
    """Why the multipliers do not contradict the constraints exactly; empty where they do."""
    total, blocks = [Fraction(0)] * (problem.size + 1), {c.name: c for c in problem.constraints}
    for name, used in multipliers.items():
        if name not in blocks:
            return f"there is no constraint {name!r} of linear rows"
        c = blocks[name]
        if any(not 0 <= i < c.size for i in used):
            return f"there is a multiplier for a row that {name!r} does not have"
        if c.relation == "<=" and any(z < 0 for z in used.values()):
            return f"a multiplier of {name!r} is negative"
        rows = AffineRows(c, problem.rows(c), problem.size)
        total = [t + v for t, v in zip(total, rows.combined(used), strict=True)]
    if any(total[:-1]):
        return "multiplied and added up, the left sides of the constraints do not cancel"
    return "" if total[-1] > 0 else "multiplied and added up, the constraints do not contradict each other"


def nearby_exact(problem: Problem, multipliers: Mapping[str, Array]) -> dict[str, dict[int, Fraction]]:
    """Multipliers that cancel exactly, near those given; those given where none were found."""
    used = [(c, i) for c in problem.constraints for i in np.flatnonzero(multipliers.get(c.name, [])).tolist()]
    given = [Fraction(float(multipliers[c.name][i])) for c, i in used]
    z = None
    if len(used) * problem.size <= MAX_NEARBY_ENTRIES:
        rows = [problem.rows(c).rational(np.array([i]))[0] for c, i in used]
        z = null_vector_near(list(zip(*rows, strict=True)), given)
    out: dict[str, dict[int, Fraction]] = {}
    for (c, i), value, exact in zip(used, given, z or given, strict=True):
        fits = z is not None and (exact >= 0 or c.relation == "==")
        out.setdefault(c.name, {})[i] = exact if fits else value
    return out


# ---- in doubles --------------------------------------------------------------------------------------------------


def check_farkas(problem: Problem, multipliers: Mapping[str, Array]) -> Farkas | None:
    """The multipliers as a proof of infeasibility, or None where they are none."""
    pull, size = np.zeros(problem.size), np.zeros(problem.size)
    value = magnitude = 0.0
    for c in problem.constraints:
        z = np.asarray(multipliers.get(c.name, np.zeros(c.size)), dtype=float)
        if z.shape != (c.size,) or not np.all(np.isfinite(z)) or (c.relation == "<=" and np.any(z < 0)):
            return None
        used = np.flatnonzero(z)
        rows = problem.rows(c)[used]
        pull += rows.T @ z[used]
        size += abs(rows).T @ np.abs(z[used])
        value += float(c.rhs @ z)
        magnitude += float(np.abs(c.rhs) @ np.abs(z))
    residual = largest_ratio(pull, size)
    if (
        not residual <= ROUNDED_ZERO
        or not value < -POSITIVE * magnitude
        or not _contradicts_exactly(problem, multipliers)
    ):
        return None
    return Farkas(dict(multipliers), value, residual)


def _contradicts_exactly(problem: Problem, multipliers: Mapping[str, Array]) -> bool:
    """Whether the rows in use contradict each other in exact arithmetic (taken as true where they are many)."""
    return reached_exactly(problem, multipliers, [*[Fraction(0)] * problem.size, Fraction(-1)])


# ---- by a linear program --------------------------------------------------------------------------------------------


def find_farkas(problem: Problem, hint: Mapping[str, Array] | None = None) -> Farkas | None:
    """A proof that the linear constraints contradict each other, on few rows, or None where none was found. The rows
    of a solver's own vector are tried first: they may save the linear program over all rows."""
    if not problem.constraints:
        return None
    used = _rows_of(problem, hint)
    few = hint is not None and 0 < used.size <= problem.size + 1  # as few as a vertex has
    if few and (proof := check_farkas(problem, hint or {})) is not None:
        return proof
    every_row = np.arange(0 if too_large(problem) else sum(c.size for c in problem.constraints))
    for rows in (used, every_row):
        if rows.size and (proof := _farkas_on(problem, rows)) is not None:
            return proof
    return None


def _rows_of(problem: Problem, hint: Mapping[str, Array] | None) -> Indices:
    """The rows to which a solver's vector gives weight; none where it is not one."""
    if hint is None or any(c.name not in hint or hint[c.name].shape != (c.size,) for c in problem.constraints):
        return np.empty(0, dtype=np.intp)
    size = np.abs(np.concatenate([hint[c.name] for c in problem.constraints]))
    return np.flatnonzero(size > 1e-6 * size.max(initial=0.0)) if np.all(np.isfinite(size)) else np.empty(0, np.intp)


def _farkas_on(problem: Problem, rows: Indices) -> Farkas | None:
    """A proof that uses only the given rows: a vertex of the set of all such proofs, hence on few of them."""
    rhs = np.concatenate([c.rhs for c in problem.constraints])[rows]
    signed = np.concatenate([np.full(c.size, c.relation == "<=") for c in problem.constraints])[rows]
    bounds = np.column_stack([np.where(signed, 0.0, -np.inf), np.full(rows.size, np.inf)])
    chosen = constraint_matrix(problem, column_scale(problem), rows)
    system = sparse.vstack([chosen.T, sparse.csr_array(rhs[None, :])], format="csr")
    target = np.append(np.zeros(problem.size), -1.0)
    found = solve_linear_program(c=np.zeros(rows.size), A_eq=system, b_eq=target, bounds=bounds)
    if found.x is None:
        return None
    z = np.zeros(sum(c.size for c in problem.constraints))
    z[rows] = _refined(chosen, rhs, np.asarray(found.x), signed)
    return check_farkas(problem, by_block(problem.constraints, z))


def _refined(columns: Any, rhs: Array, z: Array, signed: Mask) -> Array:
    """The multipliers on the support of z that satisfy K'z = 0 to rounding, scaled to k'z = -1."""
    z = np.where(signed, np.maximum(z, 0.0), z)
    support = np.flatnonzero(np.abs(z) > 1e-11 * np.abs(z).max(initial=0.0))
    z = z / max(-float(rhs @ z), 1e-300)
    if not 0 < support.size <= MAX_REFINED_UNKNOWNS:
        return z
    system = np.vstack([columns[support].toarray().T, rhs[support][None, :]])
    target = np.append(np.zeros(system.shape[0] - 1), -1.0)
    better = refine(system, target, z[support])
    if np.any(better[signed[support]] < 0):
        return z
    out = np.zeros_like(z)
    out[support] = better
    return out
