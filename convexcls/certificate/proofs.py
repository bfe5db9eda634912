"""The toolkit's own linear programs: proofs that there is no answer, and that there is one.

A solver's word is never needed for these. HiGHS finds a candidate; what makes it a proof is the check that
follows, in this file, on the problem as stated and down to rounding error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from convexcls.problem import Constraint, Problem
from convexcls.rows import Rows

Array = NDArray[np.float64]

#: A sum counts as zero when it is this small relative to the sum of its absolute values. Rounding leaves
#: about 1e-15; classes that are 1e-9 apart leave 1e-9. A proof has to tell these two apart.
ZERO = 1e-12
#: A quantity counts as positive when it is at least this large, on the same scale.
POSITIVE = 1e-9


@dataclass(frozen=True, eq=False)
class Farkas:
    """Multipliers with sum K'z = 0 and k'z < 0: added up so, the constraints say 0 <= a negative number."""

    multipliers: Mapping[str, Array]
    value: float
    residual: float


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction along which the objective falls for ever; ``rows`` are the samples it moves."""

    x: Array
    slope: float
    rows: NDArray[np.intp]
    residual: float


def _linear_program(**kwargs: Any) -> Any:
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(method="highs", options=options, **kwargs)


def _column_scale(problem: Problem) -> Array:
    """Powers of two that bring the largest entry of every column near one."""
    reach = np.zeros(problem.size)
    for block in (*problem.constraints, *problem.terms):
        reach = np.maximum(reach, problem.rows(block).column_max())
    return np.where(reach > 0, np.exp2(-np.round(np.log2(np.where(reach > 0, reach, 1.0)))), 1.0)


# ---- infeasibility --------------------------------------------------------------------------------------


def find_farkas(problem: Problem) -> Farkas | None:
    """A proof that the linear constraints contradict each other, or None where none was found."""
    blocks = problem.constraints
    if not blocks:
        return None
    scale = _column_scale(problem)
    columns = sparse.vstack([sparse.csr_array(problem.rows(c).to_matrix()) for c in blocks], format="csr")
    columns = columns @ sparse.diags_array(scale)
    rhs = np.concatenate([c.rhs for c in blocks])
    bounds = [(-1.0 if c.relation == "==" else 0.0, 1.0) for c in blocks for _ in range(c.size)]
    found = _linear_program(c=rhs, A_eq=columns.T.tocsr(), b_eq=np.zeros(problem.size), bounds=bounds)
    if found.x is None or not found.fun < -POSITIVE:
        return None
    z = _refine(columns, rhs, np.asarray(found.x), np.array([low for low, _ in bounds]) == 0)
    return check_farkas(problem, _by_block(blocks, z))


def _refine(columns: Any, rhs: Array, z: Array, signed: NDArray[np.bool_]) -> Array:
    """The multipliers on the support of z that satisfy K'z = 0 to rounding, scaled to k'z = -1."""
    z = np.where(signed, np.maximum(z, 0.0), z)
    support = np.flatnonzero(np.abs(z) > 1e-11)
    if support.size == 0 or support.size > 4000:
        return z
    z = z / max(-float(rhs @ z), 1e-300)
    system = np.vstack([columns[support].toarray().T, rhs[support][None, :]])
    target = np.zeros(system.shape[0])
    target[-1] = -1.0
    better = z[support].copy()
    for _ in range(3):  # iterative refinement, residuals in extended precision
        defect = target - np.asarray(system.astype(np.longdouble) @ better.astype(np.longdouble), dtype=float)
        better = better + np.linalg.lstsq(system, defect, rcond=1e-12)[0]
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
    residual = float(np.max(np.divide(np.abs(pull), size, out=np.zeros_like(pull), where=size > 0), initial=0.0))
    if residual > ZERO or not value < -POSITIVE * magnitude or not value < 0:
        return None
    return Farkas(dict(multipliers), value, residual)


# ---- no minimum -----------------------------------------------------------------------------------------


def find_direction(problem: Problem) -> Direction | None:
    """A direction that stays feasible and along which the objective falls for ever, or None.

    First one along which it falls at a constant rate (unbounded below), then one along which it only
    approaches its infimum (a separated logistic likelihood).
    """
    for asymptotic in (False, True):
        program = _recession_program(problem, asymptotic)
        if program is None:
            continue
        found = _linear_program(**program)
        if found.x is None or not found.fun < -POSITIVE:
            continue
        scale = _column_scale(problem)
        direction = _flatten(problem, np.asarray(found.x)[: problem.size] * scale)
        if (proved := check_direction(problem, direction)) is not None:
            return proved
    return None


def _recession_program(problem: Problem, asymptotic: bool) -> dict[str, Any] | None:
    """The linear program for a direction d, with a variable a term row for its recession cost or, in the
    asymptotic case, for its progress towards the infimum (capped at one)."""
    scale = _column_scale(problem)
    N = problem.size
    terms = [t for t in problem.terms if np.any(t.weights > 0)]
    heights = [t.size for t in terms]
    width = N + sum(heights)
    cost = np.concatenate([problem.q * scale, np.zeros(sum(heights))])
    upper: list[Any] = []
    equal: list[Any] = []
    bounds: list[tuple[float | None, float | None]] = [(-1.0, 1.0)] * N if not asymptotic else [(None, None)] * N
    start = N
    progress = np.zeros(width)
    for t in terms:
        rows = sparse.csr_array(problem.rows(t).to_matrix()) @ sparse.diags_array(scale)
        low, high = t.loss.slopes
        own = sparse.csr_array(
            (np.ones(t.size), (np.arange(t.size), np.arange(start, start + t.size))), shape=(t.size, width)
        )
        wide = _padded(rows, width)
        if np.isinf(low) and np.isinf(high):
            equal.append(wide)
            bounds += [(0.0, 0.0)] * t.size
        elif asymptotic:
            falling = high == 0  # the loss falls towards +infinity, otherwise towards -infinity
            upper.append(own - wide if falling else own + wide)
            progress[start : start + t.size] = -(t.weights > 0).astype(float)
            bounds += [(0.0, 1.0)] * t.size
        else:
            for slope in (low, high):
                if np.isinf(slope):
                    upper.append(wide * np.sign(slope))
                else:
                    upper.append(wide * slope - own)
            cost[start : start + t.size] = t.weights
            bounds += [(None, None)] * t.size
        start += t.size
    if asymptotic:
        if not np.any(progress):
            return None
        if np.any(problem.q):
            equal.append(_padded(sparse.csr_array((problem.q * scale)[None, :]), width))
        cost = progress
    for v, p in problem.quadratic.items():
        where = problem.layout[v]
        matrix = p.to_matrix() if isinstance(p, Rows) else sparse.diags_array(np.asarray(p))
        equal.append(_shifted(sparse.coo_array(matrix), where.start, width))
    for c in problem.constraints:
        wide = _padded(sparse.csr_array(problem.rows(c).to_matrix()) @ sparse.diags_array(scale), width)
        (equal if c.relation == "==" else upper).append(wide)
    for b in problem.norm_bounds:
        equal.append(_padded(sparse.csr_array(problem.rows(b).to_matrix()), width))
    out: dict[str, Any] = {"c": cost, "bounds": bounds}
    if upper:
        out["A_ub"] = sparse.vstack(upper, format="csr")
        out["b_ub"] = np.zeros(out["A_ub"].shape[0])
    if equal:
        out["A_eq"] = sparse.vstack(equal, format="csr")
        out["b_eq"] = np.zeros(out["A_eq"].shape[0])
    return out


def _padded(rows: Any, width: int) -> Any:
    return _shifted(sparse.coo_array(rows), 0, width)


def _shifted(rows: Any, start: int, width: int) -> Any:
    return sparse.csr_array((rows.data, (rows.coords[0], rows.coords[1] + start)), shape=(rows.shape[0], width))


def _flatten(problem: Problem, direction: Array) -> Array:
    """The direction with what should be exactly zero along it brought down to rounding."""
    if problem.size > 2000:
        return direction
    flat = [np.zeros((0, problem.size))]
    for block in (*problem.terms, *problem.constraints):
        rows = problem.rows(block)
        moved, size = rows @ direction, abs(rows) @ np.abs(direction)
        still = np.flatnonzero(np.abs(moved) <= 1e-7 * size)
        if still.size:
            flat.append(rows[still].to_dense() if still.size <= 20000 else np.zeros((0, problem.size)))
    system = np.vstack(flat)
    for _ in range(2):
        direction = direction - np.linalg.lstsq(system, system @ direction, rcond=1e-12)[0]
    return direction


def check_direction(problem: Problem, direction: Array) -> Direction | None:
    """The direction as a proof that the minimum is not attained, or None where it is none."""
    d = np.asarray(direction, dtype=float)
    if d.shape != (problem.size,) or not np.all(np.isfinite(d)) or not np.any(d):
        return None
    residual = 0.0

    def still(moved: Array, size: Array) -> bool:
        nonlocal residual
        ratio = np.divide(np.abs(moved), size, out=np.zeros_like(size), where=size > 0)
        residual = max(residual, float(ratio.max(initial=0.0)))
        return bool(np.all(ratio <= ZERO))

    curved = problem.apply_quadratic(d)
    if np.any(curved):
        sizes = np.concatenate([_quadratic_size(problem, v.name, d) for v in problem.variables])
        if not still(curved, sizes):
            return None
    for c in problem.constraints:
        rows = problem.rows(c)
        moved, size = rows @ d, abs(rows) @ np.abs(d)
        if not still(np.maximum(moved, 0.0) if c.relation == "<=" else moved, size):
            return None
    for b in problem.norm_bounds:
        if np.any(problem.rows(b) @ d) or np.any(problem.bound_rows(b) @ d < 0):
            return None
    slope, size, moves = float(problem.q @ d), float(np.abs(problem.q) @ np.abs(d)), []
    for t in problem.terms:
        rows = problem.rows(t)
        moved, reach = rows @ d, abs(rows) @ np.abs(d)
        moved = np.where(np.abs(moved) <= ZERO * reach, 0.0, moved)
        moved[t.weights == 0] = 0.0
        low, high = t.loss.slopes
        up, down = moved > 0, moved < 0
        if (np.isinf(high) and np.any(up)) or (np.isinf(low) and np.any(down)):
            return None
        rates = np.where(up, high, 0.0) * np.where(up, moved, 0.0) + np.where(down, low, 0.0) * np.where(
            down, moved, 0.0
        )
        slope += float(t.weights @ rates)
        size += float(t.weights @ np.abs(rates))
        clear = np.abs(moved) > POSITIVE * reach
        moves.append(np.flatnonzero(clear & ((up & (high == 0)) | (down & (low == 0)))))
    rows_moved = np.concatenate(moves) if moves else np.empty(0, dtype=np.intp)
    falls = slope < -POSITIVE * size and slope < 0
    approaches = abs(slope) <= ZERO * size and rows_moved.size > 0
    if not (falls or approaches):
        return None
    return Direction(d, slope if falls else 0.0, rows_moved, residual)


def _quadratic_size(problem: Problem, variable: str, d: Array) -> Array:
    p, where = problem.quadratic.get(variable), problem.layout[variable]
    if p is None:
        return np.zeros(problem.variable(variable).size)
    # a direction of zero curvature is judged against the curvature along the coordinates it uses
    return abs(p) @ np.abs(d[where]) if isinstance(p, Rows) else np.abs(p * d[where])


# ---- the origin -----------------------------------------------------------------------------------------


def find_origin_multipliers(problem: Problem) -> dict[str, Array] | None:
    """Multipliers that prove x = 0 optimal, for problems of cones and lines such as the widest slab between
    classes that meet; None where there are none. Verified down to rounding."""
    feasible = all(
        np.all(c.rhs >= 0) if c.relation == "<=" else not np.any(c.rhs) for c in problem.constraints
    ) and all(not np.any(b.offset) and b.bound >= 0 for b in problem.norm_bounds)
    if not feasible or problem.terms or not problem.constraints:
        return None
    scale = _column_scale(problem)
    columns = sparse.vstack([sparse.csr_array(problem.rows(c).to_matrix()) for c in problem.constraints])
    columns = sparse.csr_array(columns @ sparse.diags_array(scale))
    bounds = [
        (None if c.relation == "==" else 0.0, None if c.relation == "==" or c.rhs[i] == 0 else 0.0)
        for c in problem.constraints
        for i in range(c.size)
    ]
    target = -problem.q * scale
    found = _linear_program(c=np.zeros(len(bounds)), A_eq=columns.T.tocsr(), b_eq=target, bounds=bounds)
    if found.x is None:
        return None
    z = np.asarray(found.x)
    support = np.flatnonzero(np.abs(z) > 1e-11)
    if 0 < support.size <= 4000:
        system = columns[support].toarray().T
        for _ in range(3):
            defect = target - np.asarray(system.astype(np.longdouble) @ z[support].astype(np.longdouble), dtype=float)
            z[support] += np.linalg.lstsq(system, defect, rcond=1e-12)[0]
    pull = columns.T @ z - target
    size = abs(columns).T @ np.abs(z) + np.abs(target)
    if np.any(np.abs(pull) > ZERO * size):
        return None
    out = _by_block(problem.constraints, z)
    if any(c.relation == "<=" and np.any(out[c.name] < 0) for c in problem.constraints):
        return None
    out.update({b.name: np.zeros(b.size + 1) for b in problem.norm_bounds})
    return out


def _by_block(blocks: tuple[Constraint, ...], z: Array) -> dict[str, Array]:
    ends = np.cumsum([c.size for c in blocks])[:-1]
    return {c.name: part for c, part in zip(blocks, np.split(z, ends), strict=True)}
