"""The multipliers of a quadratic form that is known by its root, P = R'R.

1/2 x'Px = 1/2 ‖u‖^2 with u = Rx, so its gradient is R'w for a multiplier w of u = Rx, and the dual value is -1/2 ‖w‖^2.
w = Rx is one choice, but x has no room for its digits where R is large: of a linear kernel alpha is rounded to 1e-16,
w = sum_i alpha_i y_i x_i to 1e-16 times the features, and x'w to that times the features once more. The proof may take
the w that satisfies stationarity best, and so may it the multiplier of an equation; how far it is from Rx shows in the
gap, by 1/2 ‖w - Rx‖^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.rigorous.rounding import gamma
from convexcls.rows import JoinedRows, Rows
from convexcls.rows.kernel import KernelRows

Array = NDArray[np.float64]
#: Larger systems are left alone.
LARGEST = 200_000
#: More than this is no rounding error.
LARGEST_STRETCH = 1e-10


class RootMultipliers(NamedTuple):
    """``rows`` are R, with ``w``; ``equation`` is a row a with the change nu of its multiplier, where there is one.
    ``misfit`` is 1/2 ‖w - Rx‖^2, with a bound on its ``rounding``."""

    rows: JoinedRows
    w: Array
    equation: list[tuple[JoinedRows, Array]]
    misfit: float
    rounding: float


def quadratic_value(problem: Problem, x: Array, curved: Array) -> float:
    """1/2 x'Px with ``curved`` = Px, or 1/2 ‖Rx‖^2, which cancels less."""
    root = _root(problem)
    if root is None:
        return 0.5 * float(x @ curved)
    u = root @ x
    return 0.5 * float(u @ u)


def root_multipliers(
    problem: Problem, x: Array, pull: Array, multipliers: Mapping[str, Array]
) -> RootMultipliers | None:
    """What stationarity R'w + a nu + pull = 0 asks of w and of the change nu of the multiplier of an equation a'x = 0,
    in the least-squares sense; None where the problem is no such form."""
    root = _root(problem)
    if root is None or root.shape[0] * root.shape[1] > LARGEST:
        return None
    rows = problem.joined({problem.variables[0].name: root}, root.shape[0])
    u = rows @ x
    equations = [c for c in problem.constraints if c.relation == "==" and c.size == 1 and not np.any(c.rhs)][:1]
    design = np.vstack([root.to_dense(), *(problem.rows(c).to_dense() for c in equations)]).T
    residual = design[:, : u.size] @ u + pull
    if not np.all(np.isfinite(residual)):
        return None
    size = np.abs(design).max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    change = np.linalg.lstsq(design / size, -residual, rcond=None)[0] / size
    whole = np.concatenate([u, *(multipliers[c.name] for c in equations)]) + change
    change = change + _stretch(design, whole, residual + design @ change, pull) * whole
    w = u + change[: u.size]
    off = gamma(rows.row_length + 12) * (abs(rows) @ np.abs(x)) + gamma(1) * np.abs(w)
    rounding = float((np.abs(w - u) + off) @ off)
    return RootMultipliers(
        rows,
        w,
        [(problem.rows(c), change[u.size :]) for c in equations],
        0.5 * float((w - u) @ (w - u)),
        rounding,
    )


def _stretch(design: Array, whole: Array, residual: Array, pull: Array) -> float:
    """By which part of themselves all multipliers have to grow for no residual to be below 0: with margins of at least
    one, no multiplier alpha wants to grow, whatever its upper bound is."""
    score = design @ whole
    off = gamma(whole.size + 12) * (np.abs(design) @ np.abs(whole) + np.abs(pull))
    held = score >= 0.5
    part = float(np.max((off - residual)[held] / score[held], initial=0.0))
    return 2.0 * part if part <= LARGEST_STRETCH else 0.0


def _root(problem: Problem) -> Rows | None:
    """The root of the only quadratic form, over all unknowns."""
    if len(problem.variables) != 1 or len(problem.quadratic) != 1:
        return None
    (P,) = problem.quadratic.values()
    return P.root if isinstance(P, KernelRows) and P.weight == 1.0 else None
