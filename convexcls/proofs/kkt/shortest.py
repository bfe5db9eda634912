"""The shortest of all coefficients with the same scores, where columns depend on each other exactly.

A one-hot table beside an intercept, a column that is the sum of others, a constant one: the rows K of the unknowns
without curvature have directions v with K v = 0, along which nothing of the problem changes. Of all points x + v the
one with the least ‖coef‖ is returned, in the units of the data; an intercept is a coefficient of nothing, and free.

Whether columns depend is decided modulo primes, for the data as doubles, so that columns which only nearly depend are
left alone: along these the objective does change.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array, least_squares
from convexcls.problem import Problem
from convexcls.problem.centring import centre, in_centred_form
from convexcls.proofs.kkt.correction import FreeRows, free_variables, summed_rows
from convexcls.rational.doubles import rank as rank_of_doubles
from convexcls.rows import DenseRows

#: Singular values below this fraction of the largest belong to columns that may depend on each other.
SMALLEST_SINGULAR_VALUE = 1e-11
#: So many rows for each unknown show for almost every problem that columns do not depend on each other.
ROWS_PER_UNKNOWN = 8
#: Larger systems are not looked into.
LARGEST, MOST_UNKNOWNS = 2_000_000, 500

NOTE = (
    "columns of {} depend on each other, so that other coefficients have the same scores: these are the shortest, in "
    "the units of the data"
)


def shortest(problem: Problem, x: Array) -> tuple[Array, str] | None:
    """The point with the shortest coefficients, and what is to be said of them; None where they are determined."""
    names = problem.remembered(free_variables)
    long = [v for v in names if problem.variable(v).kind != "scalar" and v != "intercept"]
    if not long or not np.all(np.isfinite(x)):
        return None
    form, point, _ = in_centred_form(problem, x, {})
    free = form.remembered(_flat_directions)
    if free is None:
        return None
    point, where = np.array(point), form.places(names)
    measured = np.isin(where, form.places(long))
    step = least_squares(free[measured], -point[where][measured])
    point[where] += free @ step
    centred = problem.remembered(centre)
    moved = point if centred is None else np.array(centred.restore(point, {})[0])
    return moved, NOTE.format(" and ".join(names))


def _flat_directions(problem: Problem) -> Array | None:
    """A basis, one a column, of the directions of the free unknowns that no row sees, those of the gauge left out; None
    where there is none."""
    rows = problem.remembered(FreeRows)
    if rows.independent or rows.where.size > MOST_UNKNOWNS:
        return None
    found = rows.exactly_flat()
    return _by_singular_vectors(problem) if found is None else found


def _by_singular_vectors(problem: Problem) -> Array | None:
    """The same where some columns nearly repeat each other."""
    names = problem.remembered(free_variables)
    # rows that were added up from others see no more than these; the point is judged again in any case
    maps = [rows for rows in summed_rows(problem, names) if np.isfinite(rows.rounding)]
    if not maps:
        return None
    width = maps[0].shape[1]
    few = [rows[:: max(rows.shape[0] // (ROWS_PER_UNKNOWN * width), 1)] for rows in maps]
    gauge = problem.null_directions[:, problem.places(names)]
    if _null_space(np.vstack([*(rows.to_dense() for rows in few), gauge])).shape[1] == 0:
        return None
    if sum(rows.shape[0] for rows in maps) * width > LARGEST:
        return None
    whole = np.vstack([*(rows.to_dense() for rows in maps), gauge])
    found = _null_space(whole)
    if not found.shape[1] or not np.all(np.isfinite(found)):  # a unit may leave a direction no room in doubles
        return None
    return found if rank_of_doubles(whole) == width - found.shape[1] else None


def _null_space(matrix: Array) -> Array:
    """Directions that the matrix takes to zero, or nearly; columns are measured in units of their largest entry."""
    size = DenseRows(matrix).column_max()
    size = np.where(size > 0, size, 1.0)
    values, right = np.linalg.svd(matrix / size, full_matrices=matrix.shape[0] < matrix.shape[1])[1:]
    rank = int(np.sum(values > SMALLEST_SINGULAR_VALUE * values.max(initial=0.0)))
    return np.asarray(right[rank:].T / size[:, None])
