"""How far the multipliers are from satisfying stationarity exactly, measured in multipliers.

A gradient can be small only because its columns nearly repeat each other: with a feature of 1e8 plus a little, what the
little does is lost in a residual that is relative to 1e8. So beside the residual r of a variable without curvature we
measure the smallest change of the multipliers that removes it,

    delta = K (K'K)^-1 r,        K the rows over all such variables,

relative to the multipliers themselves. It does not depend on how the features are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
#: How many rows are tried before all of them, for each unknown.
ROWS_PER_UNKNOWN = 2
#: Then this share of them, at a small part of the cost of all.
SHARE = 1 / 16
#: Fewer rows than this are taken all.
MANY = 2000
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


class Correction(NamedTuple):
    """``size`` is the largest entry of the smallest change of multipliers that removes a residual; it is ``whole``
    where no direction had to be left out because columns repeat each other to rounding."""

    size: float
    whole: bool


def correction(problem: Problem, names: Sequence[str], residual: Array, enough: float = 0.0) -> Correction:
    """What removes the residual of these variables. Where a change of the multipliers of a few rows is below
    ``enough``, that one: it is a larger one, and cheap. A residual of 0 is no exception: where columns differ by less
    than rounding shows, it is 0 anywhere along their difference, and the correction is infinite."""
    where = problem.places(names)
    r = residual[where]
    blocks = (*problem.terms, *problem.constraints, *problem.norm_bounds)
    maps = [rows for b in blocks if (rows := problem.narrow_rows(_summed(b), names)) is not None]
    size = np.max([rows.column_max() for rows in maps], axis=0)
    size = np.where(size > 0, size, 1.0)
    fewest = ROWS_PER_UNKNOWN * r.size
    for count in sorted({fewest, max(fewest, int(SHARE * max(rows.shape[0] for rows in maps)))}):
        few = [_thinned(rows, count) for rows in maps]
        if all(rows is all_rows for rows, all_rows in zip(few, maps, strict=True)):
            break
        found = _by_gram(problem, few, where, size, r)
        if found is not None and found <= enough:
            return Correction(found, True)
    found = _by_gram(problem, maps, where, size, r)
    return _by_orthogonal_factors(maps, size, r) if found is None else Correction(found, True)


def _thinned(rows: JoinedRows, count: int) -> JoinedRows:
    """Evenly spaced rows, ``count`` of them; all where there are not many more."""
    every = rows.shape[0] // count if rows.shape[0] > MANY else 1
    return rows[::every] if every > 1 else rows


def _by_gram(
    problem: Problem, maps: Sequence[JoinedRows], where: NDArray[np.intp], size: Array, r: Array
) -> float | None:
    """K (K'K)^-1 r by a Cholesky factor; None where columns nearly repeat each other."""
    gram = sum((rows.gram(np.ones(rows.shape[0])) for rows in maps), np.zeros((r.size, r.size)))
    scaled = gram / np.outer(size, size)
    diagonal = np.sqrt(np.diag(scaled))
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    scaled = problem.fill_null_directions(scaled / np.outer(diagonal, diagonal), size * diagonal, where)
    try:
        factor = cho_factor(scaled, lower=True, check_finite=False)
    except LinAlgError:
        return None
    if not np.abs(np.diag(factor[0])).min() >= SMALLEST_PIVOT:
        return None
    direction = cho_solve(factor, r / size / diagonal, check_finite=False) / diagonal / size
    return max(float(np.abs(rows @ direction).max(initial=0.0)) for rows in maps)


def _by_orthogonal_factors(maps: Sequence[JoinedRows], size: Array, r: Array) -> Correction:
    stacked = np.vstack([rows.to_dense() for rows in maps])
    left, values, right = np.linalg.svd(stacked / size, full_matrices=False)
    kept = values > HARDLY * values.max(initial=0.0)
    if not np.all(kept):  # columns that repeat each other, or hardly differ: only exact arithmetic can tell
        as_given = not any(isinstance(part, CentredRows) for rows in maps for _, part in rows.parts)
        if as_given and stacked.size <= exact.LARGEST_RANK and exact.rank(stacked) > int(kept.sum()):
            return Correction(float("inf"), False)
    delta = left[:, kept] @ ((right[kept] @ (r / size)) / values[kept])
    return Correction(float(np.abs(delta).max(initial=0.0)), bool(np.all(kept)))
