"""The shortest of all coefficients with the same scores, where columns depend on each other exactly.

A one-hot table beside an intercept, a column that is the sum of others, a constant one: the rows K of the unknowns
without curvature have directions v with K v = 0, along which nothing of the problem changes. Of all points x + v the
one with the least ‖coef‖ is returned, in the units of the data; an intercept is a coefficient of nothing, and free.

Whether columns depend is decided without rounding (``rows/column_basis.py``), so that columns which only nearly depend
are left alone: along these the objective does change.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array, least_squares
from convexcls.problem import Problem
from convexcls.problem.centring import centre, in_centred_form
from convexcls.proofs.kkt.correction import FreeRows, free_variables

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
    if rows.independent or rows.basis is None or not rows.basis.others.size or not rows.is_exact:
        return None
    return rows.basis.null_vectors if np.all(np.isfinite(rows.basis.null_vectors)) else None
