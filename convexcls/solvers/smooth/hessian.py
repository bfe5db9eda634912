"""Systems with a Hessian: Cholesky where it is clearly positive definite, the shortest solution where it is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from convexcls.arrays import Array, least_squares
from convexcls.problem import Problem

#: Pivots of a Hessian with diagonal one below this leave too few digits: columns repeat each other.
SMALLEST_PIVOT = 1e-7
WELL_CONDITIONED = 1e-3


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


def scaled_hessian(problem: Problem, hessian: Array) -> tuple[Array, Array]:
    """The Hessian with diagonal one, curvature one along the directions of the gauge, and the scales."""
    size = np.sqrt(hessian.diagonal())
    size[~(size > 0)] = 1.0
    scaled = hessian / size
    scaled /= size[:, None]
    return problem.fill_null_directions(scaled, size), size


def newton_step(problem: Problem, hessian: Array, gradient: Array) -> tuple[Array, bool]:
    """The step, and whether the Hessian was well conditioned."""
    scaled, size = scaled_hessian(problem, hessian)
    factor = CholeskyFactor.of(scaled.copy(), size)
    if factor is not None and factor.smallest > SMALLEST_PIVOT:
        return -factor.solve(gradient), factor.smallest > WELL_CONDITIONED
    if not np.all(np.isfinite(scaled)):
        raise np.linalg.LinAlgError("the Hessian is not finite")
    # columns that repeat each other: the shortest step
    values, vectors = np.linalg.eigh(scaled)
    inverse = np.where(values > 1e-15 * values[-1], 1.0 / np.where(values > 0, values, 1.0), 0.0)
    return np.asarray(-(vectors @ (inverse * (vectors.T @ (gradient / size)))) / size), False
