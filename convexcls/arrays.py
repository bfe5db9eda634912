"""The types of arrays, one name each, and least squares of finite ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


def least_squares(matrix: Array, target: Array, cutoff: float | None = None) -> Array:
    """The shortest z with ‖matrix z - target‖ least, singular values below ``cutoff`` of the largest counted as 0; not
    a number where matrix or target are not finite, which must not reach LAPACK (it prints, or does not come back), or
    nothing is found."""
    nothing = np.full(matrix.shape[1:] + target.shape[1:], np.nan)
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(target))):
        return nothing
    try:
        return np.asarray(np.linalg.lstsq(matrix, target, rcond=cutoff)[0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return nothing
