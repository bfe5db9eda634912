"""How far the multipliers are from satisfying stationarity exactly, measured in multipliers.

A gradient can be small only because its columns nearly repeat each other: with a feature of 1e8 plus a little, what the
little does is lost in a residual that is relative to 1e8. So beside the residual r of a variable without curvature we
measure the smallest change of the multipliers that removes it,

    delta = K (K'K)^-1 r,        K the rows over all such variables,

relative to the multipliers themselves. It does not depend on how the features are written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from convexcls.certificate import exact
from convexcls.problem import BY_SAMPLE, Block, Problem
from convexcls.rows import CentredRows, DiagonalRows, JoinedRows, Rows

Array = NDArray[np.float64]

#: More variables than this are not measured (duals of large problems, whose multipliers include one a variable).
LARGEST_GROUP = 2000
#: A Cholesky factor of the scaled Gram matrix with smaller pivots is replaced by an orthogonal factorization.
SMALLEST_PIVOT = 1e-3
#: Singular values below this fraction of the largest are zero or lost in rounding.
HARDLY = 1e-12


def free_variables(problem: Problem) -> list[str]:
    """The variables without curvature whose stationarity adds up over samples."""
    blocks: list[Block] = [*problem.terms, *problem.constraints, *problem.norm_bounds]
    out = []
    for v in problem.variables:
        bounds = [b for b in problem.norm_bounds if v.name in b.bound_entries]
        if v.name in problem.quadratic or v.kind in BY_SAMPLE or bounds:
            continue
        if any(v.name in _summed(b) for b in blocks):
            out.append(v.name)
    return out if sum(problem.variable(v).size for v in out) <= LARGEST_GROUP else []


def _summed(block: Block) -> dict[str, Rows]:
    """A block's entries without those that act one to one: a bound's multiplier is no help against a sum."""
    return {v: rows for v, rows in block.entries.items() if not isinstance(rows, DiagonalRows)}


def correction(problem: Problem, names: Sequence[str], residual: Array) -> float:
    """The largest entry of the smallest change of multipliers that removes the residual of these variables."""
    where = np.concatenate([np.arange(problem.size)[problem.layout[v]] for v in names])
    r = residual[where]
    if not np.any(r):
        return 0.0
    maps = [
        problem.joined({v: rows for v, rows in _summed(block).items() if v in names}, block.size)
        for block in (*problem.terms, *problem.constraints, *problem.norm_bounds)
        if any(v in names for v in _summed(block))
    ]
    size = np.max([rows.column_max()[where] for rows in maps], axis=0)
    size = np.where(size > 0, size, 1.0)
    direction = _by_gram(maps, where, size, r, problem.null_directions[:, where])
    if direction is None:
        return _by_orthogonal_factors(maps, where, size, r)
    full = np.zeros(problem.size)
    full[where] = direction
    return max(float(np.abs(rows @ full).max(initial=0.0)) for rows in maps)


def _by_gram(maps: Sequence[Rows], where: NDArray[np.intp], size: Array, r: Array, null: Array) -> Array | None:
    """(K'K)^-1 r by a Cholesky factor; ``null`` are directions known to have no effect, which get some curvature."""
    gram = sum((rows.gram(np.ones(rows.shape[0]))[np.ix_(where, where)] for rows in maps), np.zeros((r.size, r.size)))
    scaled = gram / np.outer(size, size)
    diagonal = np.sqrt(np.diag(scaled))
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    scaled = scaled / np.outer(diagonal, diagonal)
    if null.size:
        unit = null * size * diagonal
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        scaled += unit.T @ unit
    try:
        factor = cho_factor(scaled, lower=True)
    except LinAlgError:
        return None
    if np.abs(np.diag(factor[0])).min() < SMALLEST_PIVOT:
        return None
    return np.asarray(cho_solve(factor, r / size / diagonal) / diagonal / size)


def _by_orthogonal_factors(maps: Sequence[JoinedRows], where: NDArray[np.intp], size: Array, r: Array) -> float:
    stacked = np.vstack([rows.to_dense()[:, where] for rows in maps])
    left, values, right = np.linalg.svd(stacked / size, full_matrices=False)
    kept = values > HARDLY * values.max(initial=0.0)
    if not np.all(kept):  # columns that repeat each other, or hardly differ: only exact arithmetic can tell
        distinct = np.unique(stacked, axis=0)
        as_given = not any(isinstance(part, CentredRows) for rows in maps for _, part in rows.parts)
        if as_given and distinct.size <= 100 * exact.LARGEST and exact.rank(distinct) > int(kept.sum()):
            return float("inf")
    delta = left[:, kept] @ ((right[kept] @ (r / size)) / values[kept])
    return float(np.abs(delta).max(initial=0.0))
