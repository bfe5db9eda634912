"""The contract of a rows object."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from convexcls.data import Given
from convexcls.rows.doubled import Doubled

if TYPE_CHECKING:
    from convexcls.rows.centred import CentredRows
    from convexcls.rows.class_margins import ClassMarginRows
    from convexcls.rows.kernel import KernelRows

Array = NDArray[np.float64]
Counts = NDArray[np.intp]

#: Rows are worked on in blocks of this many, small enough for the second-level cache.
BLOCK = 2048
#: Sums over rows that are to be known closely are made of so many rows at a time.
PART = 256
#: As many rows side by side make one long row.
FOLD = 32


class Factors(NamedTuple):
    """diag(left) core diag(right); None stands for ones."""

    left: Array | None
    core: Rows
    right: Array | None


class Rows(ABC):
    """An n x d matrix R that is only ever multiplied, never looked into. Right-hand sides may be
    vectors or matrices."""

    shape: tuple[int, int]
    __array_ufunc__ = None  # array @ rows is an error, not an array of objects

    @abstractmethod
    def __matmul__(self, v: Array) -> Array:
        """``R @ v``."""

    @abstractmethod
    def transposed_matmul(self, u: Array) -> Array:
        """``R.T @ u``; written as such by callers."""

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        """``R.T @ u``, with how many numbers at most are added up, one after the other, by column: what
        its rounding is bounded by. Dense rows are added up in parts, which keeps that number small."""
        return self.transposed_matmul(u), self.shape[0]

    @abstractmethod
    def gram(self, weights: Array) -> Array:
        """``R' diag(weights) R`` for weights >= 0, as a dense d x d array."""

    @abstractmethod
    def __getitem__(self, index: Any) -> Rows:
        """The rows that ``index`` (a slice, an integer or boolean array) selects."""

    @abstractmethod
    def __abs__(self) -> Rows:
        """The rows of absolute values."""

    def column_max(self) -> Array:
        """The largest absolute value of each column, 0 for an empty one; worked out once."""
        return self._column_max

    @cached_property
    def _column_max(self) -> Array:
        out = self._largest_by_column()
        out.setflags(write=False)
        return out

    def _largest_by_column(self) -> Array:
        out = np.zeros(self.shape[1])
        for rows in row_blocks(self.shape[0]):
            out = np.maximum(out, largest_size(self[rows].to_matrix(), axis=0))
        return out

    def row_max(self) -> Array:
        """The largest absolute value of each row, 0 for an empty one."""
        out = np.empty(self.shape[0])
        for rows in row_blocks(self.shape[0]):
            out[rows] = largest_size(self[rows].to_matrix(), axis=1)
        return out

    # ---- questions ------------------------------------------------------------------------------------------------

    def factors(self) -> Factors:
        """The rows taken apart into diag(left) core diag(right). Rows over the same data have the same core."""
        return Factors(None, self, None)

    def diagonal(self) -> Array | None:
        """The diagonal of a diagonal matrix; None where the rows are not known to be one."""
        return None

    def diagonal_entries(self) -> Array:
        """The entries on the diagonal of a small square matrix."""
        return np.diag(self.to_dense())

    def exact_doubles(self, index: Any) -> Array | None:
        """Some rows as an array of doubles, None where an entry would be rounded."""
        return self[index].to_dense() if self.rounding == 0.0 else None

    #: The entries as they were given, of data that doubles round.
    given: Given | None = None
    #: Whether the rows are one column of ones.
    is_ones: bool = False
    #: Whether the rows are the transpose of rows of data: ``R.T`` is these.
    is_transposed: bool = False
    #: Whether the matrix is known to be symmetric and positive semidefinite.
    semidefinite: bool = False
    #: R with P = R'R, of a matrix P that was multiplied out from it.
    root: Rows | None = None
    #: The rows and weights of a single row that is their sum.
    source: tuple[Rows, Array] | None = None
    #: The rows as those of a kernel matrix, as margins of several classes, or as rows minus means, if they are that.
    as_kernel: KernelRows | None = None
    as_class_margins: ClassMarginRows | None = None
    as_centred: CentredRows | None = None

    def in_memory(self) -> Any:
        """The NumPy array or SciPy sparse array that holds the rows, used in place; None where they are composed of
        others or held elsewhere."""
        return None

    def spread(self) -> Array | None:
        """e with |true P_ij - P_ij| <= e_i e_j, of a matrix P whose entries are rounded; None where they are exact."""
        return None

    def column_error(self) -> Array | None:
        """How far entries may be off, by column, from how they were worked out; None where no bound is known."""
        return None

    def entry_counts(self) -> tuple[Counts, Counts]:
        """How many entries are not 0, by row and by column."""
        matrix = self.to_matrix()
        if not issparse(matrix):
            return np.count_nonzero(matrix, axis=1), np.count_nonzero(matrix, axis=0)
        coo = matrix.tocoo()
        rows, columns = (place[coo.data != 0] for place in coo.coords)
        return np.bincount(rows, minlength=self.shape[0]), np.bincount(columns, minlength=self.shape[1])

    @abstractmethod
    def to_matrix(self) -> Any:
        """A NumPy array or a SciPy sparse array with these entries, for foreign solvers."""

    def compact(self) -> Any:
        """The same in the form that many short steps take: one array where the data are dense, whatever bounds and
        slacks beside them are."""
        return self.to_matrix()

    @property
    def beyond_memory(self) -> str:
        """Why the rows may not be written out as one array; empty where they may."""
        return ""

    @property
    def entries(self) -> int:
        """How many entries there are, those that are known to be 0 left out."""
        return self.shape[0] * self.shape[1]

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        """Some rows (all where none are named) without rounding: every entry as the data were given."""
        chosen = self.to_dense() if index is None else self[index].to_dense()
        return [[Fraction(value) for value in row] for row in chosen.tolist()]

    @property
    def rounding(self) -> float:
        """How far an entry may be from what ``rational`` says, relative to its size and in units of 2^-53; infinite
        where that is not known."""
        return 0.0

    def doubled(self, index: Any) -> Doubled:
        """Some rows with twice the digits of a double: every entry as the data were given, to 2^-105."""
        if self.rounding:
            return Doubled.of(self.rational(index), self.shape[1])
        high = self[index].to_dense()
        return Doubled(high, np.zeros(high.shape))

    @property
    def row_length(self) -> int:
        """At least the number of entries that a row adds up."""
        return self.shape[1]

    def largest_reach(self, x: Array) -> float:
        """At least |R_i| |x| for every row, from the largest entries of the columns: at no pass over the data."""
        return float(self.column_max() @ np.abs(x))

    @property
    def T(self) -> Rows:
        """The transpose, lazily."""
        from convexcls.rows.composed import TransposedRows

        return TransposedRows(self)

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        """``diag(left) R diag(right)``, lazily."""
        from convexcls.rows.composed import ScaledRows

        return ScaledRows(self, left, right)

    def __neg__(self) -> Rows:
        return self.scaled(-1.0)

    def to_dense(self) -> Array:
        """A dense array, for small matrices and for tests."""
        matrix = self.to_matrix()
        return np.asarray(matrix.toarray() if issparse(matrix) else matrix)

    def equals(self, other: Rows) -> bool:
        """Whether both hold the same entries."""
        if self.shape != other.shape:
            return False
        mine, theirs = self.to_matrix(), other.to_matrix()
        if issparse(mine) and issparse(theirs):
            return bool((mine != theirs).nnz == 0)
        return bool(np.array_equal(self.to_dense(), other.to_dense()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape[0]} x {self.shape[1]})"


def as_rows(matrix: Any, given: Given | None = None) -> Rows:
    """Rows from a Rows object, a NumPy array (a vector is one column) or a SciPy sparse matrix; ``given`` are its
    entries as they were given, where doubles round them."""
    from convexcls.rows.dense import DenseRows
    from convexcls.rows.sparse import SparseRows

    if isinstance(matrix, Rows):
        return matrix
    if np.iscomplexobj(matrix):
        raise ValueError("rows are real: take real and imaginary parts as separate columns")
    if issparse(matrix):
        return SparseRows(matrix, given)
    array = np.asarray(matrix, dtype=float)
    return DenseRows(array[:, None] if array.ndim == 1 else array, given)


def column_by_column(right: Array, values: Array) -> Array:
    """``right`` shaped so that it scales the rows of ``values``, a vector or a matrix."""
    return right if values.ndim == 1 else right[:, None]


def row_blocks(n: int) -> Iterator[slice]:
    """The rows 0 to n, a block at a time."""
    return (slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK))


def added_up_in_parts(matrix: Array, u: Array) -> tuple[Array, int]:
    """``matrix.T @ u`` of a dense array, ``PART`` rows at a time, with the number of additions in a row."""
    n, d = matrix.shape
    count = n // PART
    if count < 2 or not d:
        return matrix.T @ u, n
    if not matrix.flags.c_contiguous:
        out = np.zeros((d, *u.shape[1:]))
        for rows in row_blocks(n):
            out += matrix[rows].T @ u[rows]
        return out, additions(n)
    whole = count * PART
    left = np.ascontiguousarray(u[:whole].reshape(count, PART, -1).transpose(0, 2, 1))
    sums = np.matmul(left, matrix[:whole].reshape(count, PART, d)).reshape(count, -1)
    total = _folded(sums).reshape(-1, d).T.reshape(d, *u.shape[1:])
    return total + matrix[whole:].T @ u[whole:], PART + _folds(count)


def total_in_parts(u: Array) -> tuple[Array, int]:
    """The sums of the columns of u, or of a vector, in the same way."""
    count = u.shape[0] // PART
    if count < 2:
        return np.asarray(u.sum(axis=0)), u.shape[0]
    whole = count * PART
    sums = u[:whole].reshape(count, PART, -1).sum(axis=1)
    return _folded(sums).reshape(u.shape[1:]) + u[whole:].sum(axis=0), PART + _folds(count)


def _folded(sums: Array) -> Array:
    """The sums of the parts, added up in parts once more."""
    fold = math.isqrt(sums.shape[0])
    inner = sums[: fold * fold].reshape(fold, fold, -1).sum(axis=0).sum(axis=0)
    return np.asarray(inner + sums[fold * fold :].sum(axis=0))


def _folds(count: int) -> int:
    return 4 * math.isqrt(count) + 3


def additions(n: int) -> int:
    """So many numbers at most are added up, one after the other, in a sum over n rows by blocks."""
    return min(n, BLOCK) + n // BLOCK + 1


def rows_selected(n: int, index: Any) -> int:
    """How many of n rows an index selects."""
    return int(np.empty(n, dtype=bool)[index].size)


def largest_size(matrix: Any, axis: int) -> Array:
    """The largest absolute value along an axis of a dense or sparse matrix, 0 where there is none."""
    if not min(matrix.shape):
        return np.zeros(matrix.shape[1 - axis])
    if issparse(matrix):
        return np.asarray(abs(matrix).max(axis=axis).toarray(), dtype=float).ravel()
    if axis == 0 and matrix.flags.c_contiguous and matrix.shape[0] >= 8 * FOLD:  # short rows are slow to run over
        whole = matrix.shape[0] // FOLD * FOLD
        folded = matrix[:whole].reshape(-1, FOLD * matrix.shape[1])
        wide = np.maximum(folded.max(axis=0), -folded.min(axis=0)).reshape(FOLD, -1).max(axis=0)
        return np.maximum(wide, largest_size(matrix[whole:], axis=0))
    return np.maximum(matrix.max(axis=axis), -matrix.min(axis=axis))
