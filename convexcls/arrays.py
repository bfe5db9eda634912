"""The types of arrays, one name each, and the limits of doubles; least squares of finite ones; the inverse of a small
Gram matrix; whether a matrix is semidefinite to rounding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ddot
from scipy.linalg.lapack import dpotrf, dtrtri

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: u: an operation on doubles is off by at most this fraction of its result, where nothing underflows.
UNIT_ROUNDOFF = 2.0**-53
#: eta: the least double above 0, by which underflow may be off.
ETA = 2.0**-1074
#: Whole numbers up to this are doubles, and so are their sums.
LARGEST_EXACT_INTEGER = 2**53

#: BLAS counts entries in 32 bits.
MAX_BLAS_SIZE = 2**31 - 1

#: An eigenvalue below minus this fraction of the largest entry is negative; above it may be rounding.
SEMIDEFINITE_TOLERANCE = 1e-10


def top(values: Array) -> float:
    """The largest of some numbers that are not below 0; 0 of none."""
    return float(np.maximum.reduce(values, initial=0.0, axis=None))


def all_finite(values: Array) -> bool:
    """Whether every entry is a finite number. The sum of squares tells it in one short call, unless it overflows
    itself."""
    if values.flags.forc and 0 < values.size <= MAX_BLAS_SIZE:  # in one piece: nothing is copied
        flat = values.ravel("K")
        if math.isfinite(ddot(flat, flat)):  # unlike NumPy's products it does not warn
            return True
    return bool(np.isfinite(values).all())


def least_squares(matrix: Array, target: Array, cutoff: float | None = None) -> Array:
    """The shortest z with ‖matrix z - target‖ least, singular values below ``cutoff`` of the largest counted as 0; not
    a number where matrix or target are not finite, which must not reach LAPACK (it prints, or does not come back), or
    nothing is found."""
    nothing = np.full(matrix.shape[1:] + target.shape[1:], np.nan)
    if not (all_finite(matrix) and all_finite(target)):
        return nothing
    try:
        return np.asarray(np.linalg.lstsq(matrix, target, rcond=cutoff)[0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return nothing


def inverse_root(gram: Array) -> tuple[Array, float]:
    """W with W'W = G^-1 of a Gram matrix G, and a bound on the condition of G with its diagonal brought to one: with
    G = D LL' D of such a diagonal it is at most order ‖L^-1‖^2, and W = L^-1 D^-1. Infinite where G is not positive
    definite."""
    size = np.sqrt(gram.diagonal())
    lower, info = dpotrf(gram / size / size[:, None], lower=1)
    if info != 0:
        return lower, math.inf
    inverse = dtrtri(lower, lower=1)[0]
    flat = inverse.ravel("K")
    return inverse / size, len(gram) * float(flat @ flat)


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
    tolerance = max(SEMIDEFINITE_TOLERANCE, n * float(np.finfo(float).eps) * float((size / largest).sum(axis=1).max()))
    try:
        np.linalg.cholesky(unit + tolerance * np.eye(n))
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(unit)
        if values[0] < -tolerance:
            return float(values[0]) * largest, float(values[-1]) * largest
    return None
