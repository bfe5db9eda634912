"""What the central path shows where there is no solution: multipliers or unknowns that grow without end.

Divided by their size, they tend to a Farkas vector of the rows that have to hold, or to a direction along which the
objective falls for ever. They are candidates: the check of the answer decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from convexcls.solvers.rows.path_step import PathPoint
from convexcls.solvers.rows.row_program import RowProgram

Array = NDArray[np.float64]

#: Multipliers have to have grown so far, and to cancel so well, to be worth a look.
GROWN = 1e3
CANCELS = 1e-5
#: Rows with a smaller share of the multipliers are left out, at first.
SMALL_SHARE = 1e-3


def contradiction(program: RowProgram, p: PathPoint, reach: Array) -> tuple[Array, Array] | None:
    """Multipliers a >= 0 of rows that have to hold, and nu of equations, that add up to 0 <= a negative number, on few
    rows; None where there is no sign of them."""
    hard = np.flatnonzero((np.isinf(program.high) | np.isinf(program.low)) & (program.give == 0))
    if not hard.size and not program.b.size:
        return None
    a, nu = p.a[hard], p.nu
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(nu).max(initial=0.0)))
    if size <= GROWN * (float(np.abs(program.q).max(initial=0.0)) + program.unit + 1e-3):
        return None
    weights = np.zeros_like(p.a)
    weights[hard] = a
    pull = program.rows.T @ weights + program.A.T @ nu
    summed = reach * float(np.abs(a).sum()) + np.abs(program.A).T @ np.abs(nu)
    against = float(program.h[hard] @ a + program.b @ nu)
    sizes = float(np.abs(program.h[hard]) @ np.abs(a) + np.abs(program.b) @ np.abs(nu))
    if np.any(np.abs(pull) > CANCELS * summed) or not against < -1e-3 * sizes:
        return None
    for share in (SMALL_SHARE, 0.0):
        found = _on_few_rows(program, hard[np.abs(a) > share * np.abs(a).max(initial=0.0)])
        if found is not None:
            return found
    return None


def _on_few_rows(program: RowProgram, rows: NDArray[np.intp]) -> tuple[Array, Array] | None:
    """A vertex of the set of contradictions on these rows: it has no more rows than unknowns, and one."""
    matrix = np.vstack([program.rows[rows].to_dense(), program.A])
    sides = np.concatenate([program.h[rows], program.b])
    units = np.abs(matrix).max(axis=0, initial=0.0)
    system = np.vstack([matrix.T / np.where(units > 0, units, 1.0)[:, None], sides[None, :]])
    bounds = [
        *((None if np.isinf(program.low[i]) else 0.0, None if np.isinf(program.high[i]) else 0.0) for i in rows),
        *((None, None) for _ in program.b),
    ]
    target = np.append(np.zeros(matrix.shape[1]), -1.0)
    found = linprog(np.zeros(sides.size), A_eq=system, b_eq=target, bounds=bounds, method="highs-ds")
    if found.x is None:
        return None
    a = np.zeros(program.h.size)
    a[rows] = found.x[: rows.size]
    return a, np.asarray(found.x[rows.size :])


def runaway(program: RowProgram, p: PathPoint, objective: float) -> Array | None:
    """A direction in which x runs away and the objective falls; None where there is no sign of one."""
    size = float(np.abs(p.x).max(initial=0.0))
    if size <= GROWN**2 or not objective < -GROWN * max(program.unit, 1.0):
        return None
    return np.asarray(p.x / size)
