"""Whether a minimum exists at all.

A gradient of 1e-11 proves nothing for a loss that keeps falling towards infinity: on separated classes the
logistic likelihood has no maximiser, and every optimizer stops somewhere along the way. What proves existence
is one Newton step: if the slopes of the losses, corrected to first order by that step,

    slope_i + curvature_i (M s)_i,        (P + M' diag(curvature) M) s = -gradient,

stay strictly inside the range of the slopes, then they satisfy the stationarity condition exactly and are
strictly feasible multipliers of the dual. Then no direction of recession moves any loss (Stiemke's theorem of
the alternative; for the logistic likelihood: Albert and Anderson's overlap), and the minimum is attained.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.rows import Rows

Array = NDArray[np.float64]

#: What ``attainment`` has to reach: at a minimiser it is 1, along a separated likelihood it is 0 or less.
PROOF = 0.5


def needs_attainment_proof(problem: Problem) -> bool:
    """Whether some loss of the problem has no minimiser of its own."""
    return any(np.isfinite(t.loss.slopes).any() for t in problem.terms)


def attainment(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> float:
    """How far the corrected slopes stay inside their range, relative to the distance of the slopes
    themselves from its ends. In exact arithmetic anything above 0 proves that the minimum is attained; 1 is
    reached at the minimiser. Ask for ``PROOF``, which leaves rounding no say."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _attainment(problem, x, multipliers)


def _attainment(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> float:
    gradient = problem.apply_quadratic(x) + problem.q
    hessian = np.zeros((problem.size, problem.size))
    for v, p in problem.quadratic.items():
        where = problem.layout[v]
        hessian[where, where] += p.to_dense() if isinstance(p, Rows) else np.diag(p)
    for c in problem.constraints:
        gradient += problem.rows(c).T @ multipliers[c.name]
    points = []
    for t in problem.terms:
        rows = problem.rows(t)
        u = rows @ x + t.offset
        gradient += rows.T @ (t.row_weights * t.loss.slope(u))
        hessian += t.gram(rows, u)
        points.append((t, rows, u))
    if not (np.all(np.isfinite(hessian)) and np.all(np.isfinite(gradient))):
        return -np.inf
    counted = [rows if t.counted.size == t.size else rows[t.counted] for t, rows, _ in points]
    step = _newton_step(problem, hessian, gradient, counted)
    if step is None:
        return -np.inf
    worst = 1.0
    for t, rows, u in points:
        left = t.loss.remaining(u[t.counted], (rows @ step)[t.counted])
        worst = min(worst, float(left.min(initial=1.0))) if not np.any(np.isnan(left)) else np.nan
    return -np.inf if np.isnan(worst) else worst


def _newton_step(problem: Problem, hessian: Array, gradient: Array, maps: list[Rows]) -> Array | None:
    """The solution of hessian @ step = -gradient, also where columns repeat each other; None where the
    Hessian is too flat to tell a repeated column from a loss that has run off to infinity."""
    size = np.sqrt(np.diag(hessian))
    size = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(problem.fill_null_directions(hessian / np.outer(size, size), size))
    flat = values <= 1e-13 * max(values[-1], 1e-300)
    for direction in (vectors[:, flat] / size[:, None]).T:
        for rows in maps:
            if np.any(np.abs(rows @ direction) > 1e-12 * (abs(rows) @ (1.0 / size)).max(initial=0.0)):
                return None
    inverse = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, values))
    return np.asarray(-(vectors @ (inverse * (vectors.T @ (gradient / size)))) / size)
