"""Kernels: inner products k(x, z) of a feature space, as matrices between two sets of samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array, Indices, negative_eigenvalue
from convexcls.data import DataError
from convexcls.models.base import check_choice, check_positive
from convexcls.rows.kernel import Blur
from convexcls.rows.summation import row_blocks, squared_norms

KernelFunction = Callable[[Any, Any], Any]

#: Each kernel by name: k(x, z), and the parameters that occur in it.
FORMULAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "linear": ("xᵀz", ()),
    "poly": ("({gamma:g} xᵀz + {coef0:g})^{degree:g}", ("gamma", "degree", "coef0")),
    "polynomial": ("({gamma:g} xᵀz + {coef0:g})^{degree:g}", ("gamma", "degree", "coef0")),
    "rbf": ("exp(-{gamma:g} ‖x - z‖²)", ("gamma",)),
    "laplacian": ("exp(-{gamma:g} Σⱼ |xⱼ - zⱼ|)", ("gamma",)),
    "sigmoid": ("tanh({gamma:g} xᵀz + {coef0:g})", ("gamma", "coef0")),
    "cosine": ("xᵀz / (‖x‖ ‖z‖)", ()),
    "chi2": ("exp(-{gamma:g} Σⱼ (xⱼ - zⱼ)² / (xⱼ + zⱼ))", ("gamma",)),
    "additive_chi2": ("-Σⱼ (xⱼ - zⱼ)² / (xⱼ + zⱼ)", ()),
    "precomputed": ("the matrix given", ()),
}
#: k(x, z) and k(z, x) may differ by this fraction of sqrt(k(x, x) k(z, z)), from rounding.
SYMMETRY_TOLERANCE = 1e-10
#: Distances between so many pairs are worked out one by one.
MAX_PAIRS_BY_DIFFERENCES = 250_000
#: Of an exponent, a change that changes the value by as much, relative to it, and hardly more.
SMALL_CHANGE = 1e-3


@dataclass(frozen=True)
class Kernel:
    """k(x, z) by name, with its parameters, or a function of two matrices A and B that gives k(a, b) for every row a
    of A and every row b of B. All but the linear kernel are scikit-learn's."""

    kind: str | KernelFunction
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.kind):
            check_choice("kernel", self.kind, tuple(FORMULAS))
        check_positive("gamma", self.gamma)
        check_positive("degree", self.degree)
        if not np.isfinite(self.coef0):
            raise ValueError(f"coef0 is {self.coef0!r}: it must be a finite number")

    @property
    def name(self) -> str:
        """The kernel's name; of a function its own."""
        return self.kind if isinstance(self.kind, str) else getattr(self.kind, "__name__", type(self.kind).__name__)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that occur in the kernel."""
        return {p: getattr(self, p) for p in FORMULAS[self.name][1]} if self.named else {}

    @property
    def named(self) -> bool:
        """Whether the kernel is known by name, not a function of the caller's."""
        return isinstance(self.kind, str)

    @property
    def formula(self) -> str:
        """k(x, z), written out."""
        return FORMULAS[self.name][0].format(**self.parameters) if self.named else f"{self.name}(x, z)"

    def between(self, A: Any, B: Any) -> Array:
        """k(a, b) for every row a of A and every row b of B; B is left out of a precomputed kernel."""
        if 0 in (A.shape[0], B.shape[0]):
            return np.zeros((A.shape[0], B.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(A, B)
        if not np.all(np.isfinite(values)):
            i, j = np.argwhere(~np.isfinite(values))[0]
            advice = "divide X by its largest value" if self.named else "it must give finite numbers"
            raise DataError(f"the {self.name} kernel of row {i} and sample {j} is {values[i, j]}: {advice}")
        return values

    def _values(self, A: Any, B: Any) -> Array:
        if self.kind == "precomputed":
            return _dense(A)
        if self.kind == "linear":
            return _dense(A @ B.T)
        if not isinstance(self.kind, str):
            return self._called(self.kind, A, B)
        if self.kind == "rbf" and not sparse.issparse(A) and not sparse.issparse(B):
            return np.exp(-self.gamma * _squared_distances(A, B))
        pairwise_kernels = _scikit_learn(self.kind)
        try:
            return _dense(pairwise_kernels(A, B, metric=self.kind, **self.parameters))
        except ValueError as error:  # such as negative features for chi2
            raise DataError(f"the {self.name} kernel does not take these samples: {error}") from None

    def _called(self, function: KernelFunction, A: Any, B: Any) -> Array:
        wanted = (A.shape[0], B.shape[0])
        found = function(A, B)
        values = np.asarray(found.toarray() if sparse.issparse(found) else found)
        if values.shape != wanted or values.dtype.kind not in "fiub":
            advice = "for k of two samples write lambda A, B: [[k(a, b) for b in B] for a in A]"
            raise DataError(
                f"the kernel {self.name} gave {values.dtype} of shape {values.shape} for {wanted[0]} and {wanted[1]} "
                f"rows, it must give numbers, one for each pair: {advice}"
            )
        return values.astype(float)

    @property
    def semidefinite(self) -> bool:
        """Whether the kernel is an inner product whatever the samples are."""
        if self.kind in ("poly", "polynomial"):
            return float(self.degree).is_integer() and self.coef0 >= 0
        return self.kind in ("linear", "rbf", "laplacian", "cosine", "chi2")

    def diagonal(self, X: Any) -> Array:
        """k(x, x) for every row x of X, of a kernel that is known to be semidefinite."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kind in ("rbf", "laplacian", "chi2"):
                return np.ones(X.shape[0])
            squares = squared_norms(X)
            if self.kind == "cosine":
                return np.asarray(squares > 0, dtype=float)
            return np.asarray(squares if self.kind == "linear" else (self.gamma * squares + self.coef0) ** self.degree)

    def norms(self, X: Any) -> Array:
        """sqrt(k(x, x)) for every row x of X: k(x, z) is worked out to the rounding of the product of two, however
        small it is itself. 0 for a kernel whose entries are taken as they are."""
        return np.sqrt(self.diagonal(X)) if self.semidefinite else np.zeros(X.shape[0])

    def blur(self, X: Any, rounded: bool) -> Blur:
        """How far a computed k(x_i, x_j) may be off, as s_i and e: at most s_i s_j sqrt(k(x_i, x_i) k(x_j, x_j)) + e^2;
        ``rounded`` where the samples themselves were. 0 for a kernel whose values are taken as they are.

        A sum of d products is off by d u |x|'|z|, u = 2^-53, and a power p of it by p times as much; all of that is at
        most the root by Cauchy and Schwarz. Of exp(-t) an error of t costs no more than itself, times exp(-t), and
        t exp(-t) < 0.4: relative errors of t, at most (d + 6) u, cost 0.4 of themselves; samples that are rounded
        4 u sqrt(gamma) r, r the largest of them, since sqrt(t) exp(-t) < 1/2.

        Where squared distances are sums of products, t = h_i + h_j - 2 gamma a_i'a_j, with a_i = x_i - c and
        h_i = gamma |a_i|^2. Since 2 gamma |a_i|'|a_j| <= h_i + h_j, the d + 2 products are off by 2 (d + 3) u times
        h_i + h_j, the heights by (d + 2) u and the differences a_i by 4 u times it: altogether by less than
        B (h_i + h_j) with B = (3 d + 16) u. And A + B (h_i + h_j) <= s_i s_j with s_i = sqrt(A) (1 + B h_i / A), for
        any A > 0. So a few samples far from the others do not make all values uncertain. Without rounded samples the
        value is moreover off by a factor of at most exp(B (h_i + h_j) + 4 u), exp being good to 3 u.
        """
        if not self.semidefinite or self.kind == "precomputed":
            return Blur()
        n, d = X.shape
        if self.kind in ("poly", "polynomial", "linear"):
            power, gamma = (1.0, 1.0) if self.kind == "linear" else (self.degree, self.gamma)
            beside = ETA * (power * (1.0 + gamma) * d + 64)
            return Blur(math.sqrt(UNIT_ROUNDOFF * power * (d + 6 + 2 * rounded)), math.sqrt(beside))
        beside = math.sqrt(64 * ETA)
        A = UNIT_ROUNDOFF * (2.0 * d + 16 if self.kind == "cosine" else 0.4 * (d + 6) + 2)
        if self.kind != "rbf":
            return Blur(math.inf if rounded else math.sqrt(A), beside)
        size = math.sqrt(self.gamma * float(squared_norms(X).max(initial=0.0))) if rounded else 0.0
        flat = UNIT_ROUNDOFF * 4.0 * size
        A += flat
        if not sparse.issparse(X) and n * n <= MAX_PAIRS_BY_DIFFERENCES:
            return Blur(math.sqrt(A), beside)
        with np.errstate(over="ignore"):
            heights = self.gamma * squared_norms(X if sparse.issparse(X) else X - X.mean(axis=0))
        B = _tilt(d)
        A = max(A, B * float(heights.mean()))
        if not math.isfinite(A):
            return Blur(math.inf, beside)
        relative = np.asarray(math.sqrt(A) * (1.0 + B / A * heights))
        if not B * float(heights.max()) <= SMALL_CHANGE:
            return Blur(relative, beside)
        # values that underflow are taken for 0; the sums that this is multiplied with are rounded themselves
        return Blur(relative, beside, heights, 1.01 * flat + 1e-300, 5.0 * UNIT_ROUNDOFF, 1.02 * B)

    def check(self, X: Any) -> None:
        """A ``DataError`` where a kernel that is known to be semidefinite does not take the samples: no entry of its
        matrix is larger than the largest on its diagonal."""
        self.between(X, X[:1])
        values = self.diagonal(X)
        if not np.all(np.isfinite(values)):
            i = int(np.argmax(~np.isfinite(values)))
            raise DataError(
                f"the {self.name} kernel of row {i} and sample {i} is {values[i]}: divide X by its largest value"
            )

    def gram(self, X: Any) -> Array:
        """k between all pairs of rows of X (of a precomputed kernel X itself), made exactly symmetric; a ``DataError``
        where it is no inner product: not symmetric, or with a negative eigenvalue."""
        K = self.between(X, X)
        if self.semidefinite:  # whatever the samples are: nothing to be checked but the formula
            return 0.5 * (K + K.T)
        diagonal = np.sqrt(np.abs(np.diag(K)))
        apart = np.abs(K - K.T)
        wrong = apart > SYMMETRY_TOLERANCE * np.maximum(np.outer(diagonal, diagonal), np.abs(K))
        if np.any(wrong):
            i, j = np.argwhere(wrong & (apart == apart[wrong].max()))[0]
            raise DataError(
                f"the {self.name} kernel is not symmetric: it is {K[i, j]:.6g} for rows {i} and {j}, and {K[j, i]:.6g} "
                f"for rows {j} and {i}; if that is rounding, average the two"
            )
        K = 0.5 * K + 0.5 * K.T
        if (found := negative_eigenvalue(K)) is not None:
            lowest, largest = found
            advice = f"; if that is rounding, add {-lowest:.2g} to its diagonal" if -lowest < 1e-6 * largest else ""
            raise DataError(
                f"the {self.name} kernel is not positive semidefinite on these samples: its Gram matrix has the "
                f"eigenvalue {lowest:.6g} (the largest is {largest:.6g}), so the problem would not be convex: choose "
                f"another kernel{advice}"
            )
        return K


def _tilt(d: int) -> float:
    """B of ``Kernel.blur``: an exponent that is made from products of d features is off by less than B (h_i + h_j)."""
    return UNIT_ROUNDOFF * (3 * d + 16)


def _squared_distances(A: Array, B: Array) -> Array:
    """‖a - b‖^2 for all pairs: by differences where they are few, else by products of centred rows. Only differences
    count: far from zero their squares would lose the digits."""
    if A.shape[0] * B.shape[0] <= MAX_PAIRS_BY_DIFFERENCES:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(A, B, "sqeuclidean"))
    origin = B.mean(axis=0)
    A, B = A - origin, B - origin
    out = (-2.0 * A) @ B.T
    out += squared_norms(A)[:, None]
    out += squared_norms(B)
    return np.maximum(out, 0.0, out=out)


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=float)


def _scikit_learn(kernel: str) -> Any:
    try:
        from sklearn.metrics.pairwise import pairwise_kernels
    except ImportError:
        raise ImportError(
            f"the {kernel} kernel is scikit-learn's, which is not installed: pip install 'convexcls[sklearn]', or give "
            "the kernel as a function or as a precomputed matrix"
        ) from None
    return pairwise_kernels


# ---- the kernel matrix of the samples, a few rows at a time: what a ``RowStore`` fills its rows from ----------------

#: Blocks have about this many entries: a megabyte.
ENTRIES_PER_BLOCK = 131072
#: The product may put exponents off by this much.
MAX_OFF_BY_PRODUCT = 2.5e-10


def kernel_values(kernel: Kernel, X: Any) -> KernelValues:
    """The kernel matrix of the rows of X."""
    if kernel.kind != "rbf" or sparse.issparse(X):
        return KernelValues(kernel, X)
    radial = RadialValues(kernel, X)
    return radial if radial.off <= MAX_OFF_BY_PRODUCT else DistanceValues(kernel, X)


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
        return _dense(self.X)

    def on(self, samples: Any) -> KernelValues:
        """The same kernel of other samples."""
        return kernel_values(self.kernel, samples)

    def of_some(self, index: Indices) -> KernelValues:
        """The same kernel of some of the samples."""
        return self.on(self.X[index])

    def fill(self, index: Indices, out: Array, columns: Indices | None = None) -> None:
        """Write k(x_i, x_j) for the samples i of ``index`` and all samples j, or those of ``columns``, into ``out``."""
        step = max(ENTRIES_PER_BLOCK // max(index.size, 1), 64)
        for part in row_blocks(out.shape[1], step):
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
    """The radial kernel by a matrix product of centred samples, in blocks that stay in the cache. With the centre c of
    the samples and a = x - c, b = z - c,

        -gamma ‖x - z‖^2 = (2 gamma a, -gamma a'a, 1)' (b, 1, -gamma b'b)

    is one matrix product, and its exponential is taken in place. Where gamma ‖a‖^2 is large, the sum would cancel; then
    the differences are squared one by one (``DistanceValues``)."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        super().__init__(kernel, X)
        self.nonnegative = True
        self.centre = X.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.zeros(self.size)
            for rows in row_blocks(self.size, 4096):
                squares[rows] = squared_norms(X[rows] - self.centre)
            self.heights = kernel.gamma * squares
        largest = float(self.heights.max(initial=0.0))
        #: How far an exponent may be off, for each of its two samples.
        self.off = _tilt(X.shape[1]) * largest if np.isfinite(largest) else np.inf

    def fill(self, index: Indices, out: Array, columns: Indices | None = None) -> None:
        from convexcls.rows.kernel_loops import exponentiate

        d = self.X.shape[1]
        left = np.empty((index.size, d + 2))
        np.subtract(self.X[index], self.centre, out=left[:, :d])
        left[:, :d] *= 2.0 * self.kernel.gamma
        left[:, d], left[:, d + 1] = -self.heights[index], 1.0
        for part in row_blocks(out.shape[1], 2048):
            samples: Any = part if columns is None else columns[part]
            right = np.empty((part.stop - part.start, d + 2))
            np.subtract(self.X[samples], self.centre, out=right[:, :d])
            right[:, d], right[:, d + 1] = 1.0, -self.heights[samples]
            for rows in row_blocks(index.size, max(ENTRIES_PER_BLOCK // right.shape[0], 1)):
                np.matmul(left[rows], right.T, out=out[rows, part])
                exponentiate(out, rows, part)
        place = np.full(self.size, -1, dtype=np.intp)
        place[slice(None) if columns is None else columns] = np.arange(out.shape[1])
        here = np.flatnonzero(place[index] >= 0)
        out[here, place[index[here]]] = 1.0
