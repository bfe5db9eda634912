"""Systems with a Hessian: Cholesky where it is clearly positive definite.

Where it is not, columns of the rows may repeat others: then these are left out. What is left may nearly repeat itself,
and the Gram matrix has lost the digits: then the rows are multiplied out in a basis in which their columns are
orthogonal, whatever the weights (``rows/column_basis.py``). Where that is too much, the shortest solution has to do.
What normal equations leave of a least-squares problem is taken out by steps from its residual (``refined_steps``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from convexcls.arrays import Array, least_squares
from convexcls.problem import Problem
from convexcls.solvers.smooth.objective import Iterate

#: Pivots of a Hessian with diagonal one below this leave too few digits: columns repeat each other.
SMALLEST_PIVOT = 1e-7
WELL_CONDITIONED = 1e-3
#: A round that changes the solution by less than this leaves it as good as doubles allow.
SMALLEST_RELATIVE_STEP = 1e-13
MAX_REFINEMENTS = 6


@dataclass(frozen=True, eq=False)
class CholeskyFactor:
    """The Cholesky factor of a Hessian with its rows and columns scaled to diagonal one."""

    lower: Array
    size: Array
    smallest: float

    @classmethod
    def of(cls, scaled: Array, size: Array) -> CholeskyFactor | None:
        """The factor of a scaled Hessian, which is overwritten; None where it is not positive definite."""
        if not size.size:
            return cls(scaled, size, 1.0)
        # the transpose of a symmetric array in rows is the same array in columns, as LAPACK wants it
        lower, info = dpotrf(scaled.T, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            return None
        smallest = float(lower.diagonal().min())
        return cls(lower, size, smallest) if np.isfinite(smallest) else None

    def solve(self, right: Array) -> Array:
        """The Hessian's inverse times a vector."""
        if not self.size.size:
            return right
        return np.asarray(dpotrs(self.lower, right / self.size, lower=1)[0] / self.size)


def shortest_solution(matrix: Array, target: Array, cutoff: float) -> Array:
    """The shortest z with ‖matrix z - target‖ least."""
    found = least_squares(matrix, target, cutoff)
    if not np.all(np.isfinite(found)):
        raise np.linalg.LinAlgError("the system has no finite solution")
    return found


def scaled_hessian(problem: Problem | None, hessian: Array) -> tuple[Array, Array]:
    """The Hessian with diagonal one, curvature one along the directions of a problem's gauge, and the scales."""
    size = np.sqrt(hessian.diagonal())
    if not (size > 0).all():
        size[~(size > 0)] = 1.0
    scaled = hessian / size
    scaled /= size[:, None]
    return scaled if problem is None or not problem.gauge else problem.fill_null_directions(scaled, size), size


def newton_step(iterate: Iterate) -> tuple[Array, CholeskyFactor | None, bool]:
    """The step, the factor of the Hessian where that is not nearly singular, and whether it was well conditioned."""
    problem, gradient = iterate.problem, iterate.gradient
    scaled, size = scaled_hessian(problem, iterate.hessian())
    factor = CholeskyFactor.of(scaled.copy(), size)
    if factor is not None and factor.smallest > SMALLEST_PIVOT:
        return -factor.solve(gradient), factor, factor.smallest > WELL_CONDITIONED
    if not np.all(np.isfinite(scaled)):
        raise np.linalg.LinAlgError("the Hessian is not finite")
    columns, step = iterate.function.columns, np.zeros(size.size)
    scaled, size = np.ascontiguousarray(scaled[np.ix_(columns, columns)]), size[columns]
    factor = CholeskyFactor.of(scaled.copy(), size) if columns.size < step.size else None
    if factor is not None and factor.smallest > SMALLEST_PIVOT:
        step[columns] = -factor.solve(gradient[columns])
        return step, None, factor.smallest > WELL_CONDITIONED
    if (inner := _orthogonal_step(iterate)) is not None:
        return inner, None, False
    values, vectors = np.linalg.eigh(scaled)
    inverse = np.where(values > 1e-15 * values[-1], 1.0 / np.where(values > 0, values, 1.0), 0.0)
    step[columns] = -(vectors @ (inverse * (vectors.T @ (gradient[columns] / size)))) / size
    return step, None, False


def _orthogonal_step(iterate: Iterate) -> Array | None:
    """The step by rows in orthogonal columns; None where there are none, or their Hessian is singular, too."""
    if (hessian := iterate.orthogonal_hessian()) is None:
        return None
    basis = iterate.function.basis
    assert basis is not None
    scaled, size = scaled_hessian(None, hessian)
    factor = CholeskyFactor.of(scaled, size)
    if factor is None or not factor.smallest > SMALLEST_PIVOT:
        return None
    step = np.zeros(iterate.x.size)
    step[basis.columns] = -basis.orthogonal @ factor.solve(basis.orthogonal.T @ iterate.gradient[basis.columns])
    return step


def refined_steps(step: Callable[[Array], Array], unknowns: int, size: Array | float) -> Array | None:
    """The point that steps lead to, each from the residual of the last, as far as rounding lets them; None where they
    do not get near it. ``size`` gives the units in which a step is measured."""
    x, before = step(np.zeros(unknowns)), np.inf
    for _ in range(MAX_REFINEMENTS):
        more = step(x)
        change = float(np.abs(size * more).max(initial=0.0)) / max(float(np.abs(size * x).max(initial=0.0)), 1e-300)
        if not change < 0.5 * before:
            break  # rounding has the last word
        x, before = x + more, change
        if change <= SMALLEST_RELATIVE_STEP:
            break
    return x if before <= 1e-10 else None
