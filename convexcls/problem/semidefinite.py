"""Whether a symmetric matrix is positive semidefinite, to rounding."""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array

#: An eigenvalue below minus this fraction of the largest entry is negative; above it may be rounding.
RELATIVE_TOLERANCE = 1e-10


def negative_eigenvalue(matrix: Array) -> tuple[float, float] | None:
    """The lowest and the largest eigenvalue of a symmetric matrix that is not positive semidefinite, else None.

    A matrix of inner products has eigenvalues down to -n eps times its norm from rounding alone, so these pass. A
    Cholesky factorization of the matrix shifted by that much settles the usual case, at a tenth of the cost.
    """
    n = matrix.shape[0]
    size = np.abs(matrix)
    largest = float(size.max(initial=0.0))
    if largest == 0:
        return None
    unit = matrix / largest  # entries up to 1: their sums do not overflow
    tolerance = max(RELATIVE_TOLERANCE, n * float(np.finfo(float).eps) * float((size / largest).sum(axis=1).max()))
    try:
        np.linalg.cholesky(unit + tolerance * np.eye(n))
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(unit)
        if values[0] < -tolerance:
            return float(values[0]) * largest, float(values[-1]) * largest
    return None
