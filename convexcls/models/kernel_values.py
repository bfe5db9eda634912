"""The kernel matrix of the samples, a few rows at a time: what a ``RowStore`` fills its rows from.

The radial kernel is worked out in blocks that stay in the cache. With the centre c of the samples and a = x - c,
b = z - c,

    -gamma ‖x - z‖^2 = (2 gamma a, -gamma a'a, 1)' (b, 1, -gamma b'b)

is one matrix product, and its exponential is taken in place. Where gamma ‖a‖^2 is large, the sum would cancel; then the
differences are squared one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.models.kernels import Kernel

#: Blocks have about this many entries: a megabyte.
BLOCK_ENTRIES = 131072
#: Up to this size of gamma ‖x - c‖^2 the product keeps all but three digits of the exponent.
LARGEST_EXPONENT = 1e3


def kernel_values(kernel: Kernel, X: Any) -> KernelValues:
    """The kernel matrix of the rows of X."""
    if kernel.kind != "rbf" or sparse.issparse(X):
        return KernelValues(kernel, X)
    radial = RadialValues(kernel, X)
    return radial if radial.exponent <= LARGEST_EXPONENT else DistanceValues(kernel, X)


class KernelValues:
    """Any kernel, by blocks of rows."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel, self.X = kernel, X
        self.size = int(X.shape[0])
        self.nonnegative = kernel.kind in ("rbf", "laplacian", "chi2")

    def diagonal(self) -> Array:
        """k(x, x) of every sample."""
        return self.kernel.diagonal(self.X)

    def samples(self) -> Array:
        """The samples as a dense array."""
        return np.asarray(self.X.toarray() if sparse.issparse(self.X) else self.X)

    def on(self, samples: Any) -> KernelValues:
        """The same kernel of other samples."""
        return kernel_values(self.kernel, samples)

    def fill(self, index: Indices, out: Array, columns: Indices | None = None) -> None:
        """Write k(x_i, x_j) for the samples i of ``index`` and all samples j, or those of ``columns``, into ``out``."""
        step = max(BLOCK_ENTRIES // max(index.size, 1), 64)
        for part in _slices(out.shape[1], step):
            out[:, part] = self._block(index, part if columns is None else columns[part])

    def _block(self, index: Indices, columns: Any) -> Array:
        return self.kernel.between(self.X[index], self.X[columns])


class DistanceValues(KernelValues):
    """The radial kernel by differences: every entry by itself, whatever block it is computed in."""

    def _block(self, index: Indices, columns: Any) -> Array:
        from scipy.spatial.distance import cdist

        with np.errstate(over="ignore", under="ignore"):
            return np.exp(-self.kernel.gamma * cdist(self.X[index], self.X[columns], "sqeuclidean"))


class RadialValues(KernelValues):
    """The radial kernel by a matrix product of centred samples."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        super().__init__(kernel, X)
        self.nonnegative = True
        self.centre = X.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.zeros(self.size)
            for rows in _slices(self.size, 4096):
                centred = X[rows] - self.centre
                squares[rows] = np.einsum("ij,ij->i", centred, centred)
            self.heights = kernel.gamma * squares
        largest = float(self.heights.max(initial=0.0))
        #: The largest gamma ‖x - c‖^2.
        self.exponent = largest if np.isfinite(largest) else np.inf

    def fill(self, index: Indices, out: Array, columns: Indices | None = None) -> None:
        from convexcls.rows.exponential import exponentiate

        d = self.X.shape[1]
        left = np.empty((index.size, d + 2))
        np.subtract(self.X[index], self.centre, out=left[:, :d])
        left[:, :d] *= 2.0 * self.kernel.gamma
        left[:, d], left[:, d + 1] = -self.heights[index], 1.0
        for part in _slices(out.shape[1], 2048):
            samples: Any = part if columns is None else columns[part]
            right = np.empty((part.stop - part.start, d + 2))
            np.subtract(self.X[samples], self.centre, out=right[:, :d])
            right[:, d], right[:, d + 1] = 1.0, -self.heights[samples]
            for rows in _slices(index.size, max(BLOCK_ENTRIES // right.shape[0], 1)):
                np.matmul(left[rows], right.T, out=out[rows, part])
                exponentiate(out, rows, part)
        place = np.full(self.size, -1, dtype=np.intp)
        place[slice(None) if columns is None else columns] = np.arange(out.shape[1])
        here = np.flatnonzero(place[index] >= 0)
        out[here, place[index[here]]] = 1.0


def _slices(n: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
