"""The contract of a rows object: five verbs, three questions, and what follows from them.

=====================  =============================================================================
``R @ v``              one value a row: the margins
``R.T @ u``            one value a column: the gradient
``R.gram(weights)``    ``R' diag(weights) R``: the Hessian
``R[index]``           some of the rows: a working set
``R.sweep(x, visit)``  ``R' visit(R x)`` in one reading: margins, slopes and gradient a block at a time
=====================  =============================================================================

=========================  =========================================================================
``R.factors()``            diag(left) core diag(right), so that blocks over the same data are known as such
``R.exact_doubles(index)`` some rows without rounding, as doubles; ``R.rational(index)`` as fractions
``R.diagonal()``           the diagonal, where the rows are a diagonal matrix
=========================  =========================================================================

Solvers and checks use these and what a method of ``Rows`` makes of them, nothing else. A subclass has to define
``__matmul__``, ``transposed_matmul``, ``gram`` and ``__getitem__``; ``R[index]`` is small enough to be written out
where few rows are asked for, and may be as lazy as R where many are. All else has a plain default, which a subclass
replaces where it knows better: ``sweep`` where one reading serves both products, ``abs`` and the largest entries where
these need not be formed a block at a time. ``tests/rows/test_contract.py`` runs such a subclass through solvers and
checks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from convexcls.arrays import Array, Indices
from convexcls.caching import cached_property
from convexcls.data import Given
from convexcls.rows.doubled import Doubled
from convexcls.rows.summation import largest_size, row_blocks

if TYPE_CHECKING:
    from convexcls.rows.blocked import CentredRows
    from convexcls.rows.by_block import Extent, RowsByBlock
    from convexcls.rows.class_margins import ClassMarginRows
    from convexcls.rows.kernel import KernelRows

Counts = NDArray[np.intp]
#: Takes a block of rows and u = R[block] x, an array that it may overwrite; returns what R[block]' is multiplied with.
Visit = Callable[[slice, Array], Array]


class Travelling:
    """A visit that may be made where the rows are: ``function(u, *own[block])``, pure and picklable, returns z and what
    else it found, of which ``take(block, found)`` is told here. ``own`` are arrays with one entry a row.
    ``curved(found, *own[block])``, if there is one, gives the weights of the Gram matrix that is wanted there; ``take``
    is told ``brief(found)`` where there is that: then nothing else of it travels."""

    def __init__(
        self,
        function: Any,
        own: tuple[NDArray[Any], ...],
        take: Callable[[slice, Any], None],
        curved: Any = None,
        brief: Any = None,
    ) -> None:
        self.function, self.own, self.take, self.curved, self.brief = function, own, take, curved, brief

    def __call__(self, block: slice, u: Array) -> Array:
        z, found = self.function(u, *[a[block] for a in self.own])
        self.take(block, found if self.brief is None else self.brief(found))
        return np.asarray(z)


class Factors(NamedTuple):
    """diag(left) core diag(right); None stands for ones."""

    left: Array | None
    core: Rows
    right: Array | None


class NearestPriced(NamedTuple):
    """Some rows with the largest R x - side: which, in rising order, what it is of each, the largest of all, and how
    many are above a limit."""

    places: Indices
    excess: Array
    largest: float
    above: int


class Rows(ABC):
    """An n x d matrix R that is only ever multiplied, never looked into. Right-hand sides may be
    vectors or matrices."""

    shape: tuple[int, int]
    __array_ufunc__ = None  # array @ rows is an error, not an array of objects

    # ---- verbs ----------------------------------------------------------------------------------------------

    @abstractmethod
    def __matmul__(self, v: Array) -> Array:
        """``R @ v``."""

    @abstractmethod
    def transposed_matmul(self, u: Array) -> Array:
        """``R.T @ u``; written as such by callers."""

    @abstractmethod
    def gram(self, weights: Array) -> Array:
        """``R' diag(weights) R`` for weights >= 0, as a dense d x d array."""

    @abstractmethod
    def __getitem__(self, index: Any) -> Rows:
        """The rows that ``index`` (a slice, an integer or boolean array) selects."""

    def sweep(self, x: Array, visit: Visit) -> Array:
        """``R' visit(R x)`` in one reading of the data.

        The rows are visited a block at a time, each once and in their order: ``visit(block, u)`` is called with the
        slice of the rows and u = R[block] x, and returns z of the shape of u. The result is the sum of R[block]' z
        over the blocks, added up in doubles in the order of the blocks, so that it is the same every time. How long a
        block is, the rows decide; x may have several columns, then so have u and z.
        """
        return self.transposed_matmul(visit(slice(0, self.shape[0]), self @ x))

    def sweep_and_gram(self, x: Array, visit: Travelling) -> tuple[Array, Array | None]:
        """The same, with the Gram matrix by the weights that the visit gives, where both are had in one reading of rows
        that take long to read; else None in its place."""
        return self.sweep(x, visit), None

    # ---- questions ------------------------------------------------------------------------------------------

    def factors(self) -> Factors:
        """The rows taken apart into diag(left) core diag(right). Rows over the same data have the same core."""
        return Factors(None, self, None)

    def diagonal(self) -> Array | None:
        """The diagonal of a diagonal matrix; None where the rows are not known to be one."""
        return None

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        """Some rows (all where none are named) without rounding: every entry as the data were given."""
        chosen = self.to_dense() if index is None else self[index].to_dense()
        return [[Fraction(value) for value in row] for row in chosen.tolist()]

    def exact_doubles(self, index: Any) -> Array | None:
        """Some rows as an array of doubles, None where an entry would be rounded."""
        return self[index].to_dense() if self.rounding == 0.0 else None

    def doubled(self, index: Any) -> Doubled:
        """Some rows with twice the digits of a double: every entry as the data were given, to 2^-105."""
        if self.rounding:
            return Doubled.of(self.rational(index), self.shape[1])
        high = self[index].to_dense()
        return Doubled(high, np.zeros(high.shape))

    def doubled_at(self, index: Any, columns: Indices) -> Doubled:
        """The same of some columns, in rising order."""
        return self.doubled(index).at(columns)

    @property
    def rounding(self) -> float:
        """How far an entry may be from what ``rational`` says, relative to its size and in units of 2^-53; infinite
        where that is not known."""
        return 0.0

    def column_error(self) -> Array | None:
        """How far entries may be off, by column, from how they were worked out; None where no bound is known."""
        return None

    # ---- what a core may know of itself; nothing follows from the defaults ----------------------------------

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
    #: The rows inside these that are read by blocks of their own, if there are any.
    by_block: RowsByBlock | None = None
    #: The lowest and the highest value of each column, where that is known without a reading.
    extent: Extent | None = None

    def in_memory(self) -> Any:
        """The NumPy array or SciPy sparse array that holds the rows, used in place; None where they are composed of
        others or held elsewhere."""
        return None

    @property
    def is_made_of_arrays(self) -> bool:
        """Whether all that the rows are made of is in memory."""
        core = self.factors().core
        return core.in_memory() is not None or core.is_ones or core.diagonal() is not None

    def spread(self) -> Array | None:
        """e with |true P_ij - P_ij| <= e_i e_j, of a matrix P whose entries are rounded; None where they are exact."""
        return None

    def spread_of_product(self, x: Array) -> Array:
        """How far P x may be off because the entries of the matrix P are rounded."""
        e = self.spread()
        return np.zeros(self.shape[0]) if e is None else np.asarray(e * float(e @ np.abs(x)))

    @property
    def beyond_memory(self) -> str:
        """Why the rows may not be written out as one array; empty where they may."""
        return ""

    # ---- what follows: products -----------------------------------------------------------------------------

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        """``R.T @ u``, with how many numbers at most are added up, one after the other, by column: what
        its rounding is bounded by. Dense rows are added up in parts, which keeps that number small."""
        return self.transposed_matmul(u), self.shape[0]

    def added_up_with_sizes(self, u: Array, size: Array) -> tuple[Array, Array | int, Array]:
        """``added_up(u)`` and ``|R|' size``, in one reading of rows that take long to read."""
        return *self.added_up(u), abs(self).T @ size

    def product_with_sizes(self, v: Array, size: Array) -> tuple[Array, Array]:
        """``R @ v`` and ``|R| @ size``, in the same way."""
        return self @ v, abs(self) @ size

    def additions(self, v: Array) -> int:
        """So many numbers at most are added up, one after the other, in ``R @ v``."""
        return self.shape[1]

    def coarse_gram(self, weights: Array) -> Array:
        """``gram(weights)``, to single precision where that is faster: for a preconditioner."""
        return self.gram(weights)

    def gram_diagonal(self, weights: Array) -> Array:
        """The diagonal of ``gram(weights)``, in one reading."""
        out = np.zeros(self.shape[1])
        for rows, matrix in self.in_blocks():
            out += (matrix * matrix).T @ weights[rows]
        return out

    # ---- what follows: sizes --------------------------------------------------------------------------------

    def own_blocks(self) -> Iterator[slice]:
        """The rows a block at a time, as they are read best: those that name no blocks of their own, by few."""
        return row_blocks(self.shape[0]) if self.by_block is None else self.by_block.own_blocks()

    def priced(self, x: Array, side: Array | float, most: int) -> Array:
        """``R x - side``. Rows that are read by block bring along, in the same reading, about so many in which it is
        largest: to ask for these afterwards is no other reading."""
        return self @ x - side

    def of_block(self, block: slice, samples: Rows) -> Rows | None:
        """The rows of a block, with ``samples`` in place of those that are read by block; None where these rows cannot
        be made of them."""
        return None if self.read_by_block() else self[block]

    def read_by_block(self) -> list[RowsByBlock]:
        """The rows inside these that are read by block, as often as they stand there."""
        return [] if self.by_block is None else [self.by_block]

    def each_block(self, task: Callable[..., Any], *own: Array, common: tuple[Any, ...] = ()) -> Iterator[Any] | None:
        """``task(rows, *own, *common)`` of these rows over each of the blocks that they are read by, worked out where
        that is, in one reading; ``own`` have as many entries for each sample as they have in all. None where these rows
        are not made of blocks, or not in a way in which they can be put together again elsewhere."""
        inside = self.read_by_block()
        if not inside or any(rows is not inside[0] for rows in inside):
            return None
        return inside[0].each_of(self, task, own, common)

    def nearest_priced(self, x: Array, side: Array, most: int, limit: float) -> NearestPriced | None:
        """What ``priced`` gives of so many rows in which it is largest, in one reading of rows that are read by block,
        so that no vector is made; None of others."""
        return None

    def in_blocks(self) -> Iterator[tuple[slice, Any]]:
        """The rows of each block and their entries, dense or sparse, in memory that the next block may take again."""
        for block in self.own_blocks():
            matrix = self[block].to_matrix()
            for rows in row_blocks(block.stop - block.start):
                yield slice(block.start + rows.start, block.start + rows.stop), matrix[rows]

    @property
    def extra_parts(self) -> int:
        """So many more parts than of rows in one piece ``in_blocks`` has at most."""
        return 0 if self.by_block is None else len(self.by_block.sizes)

    def __abs__(self) -> Rows:
        """The rows of absolute values: how large the sum was whose cancellation is being judged."""
        from convexcls.rows.blocked import AbsoluteRows

        return AbsoluteRows(self)

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
        for _, matrix in self.in_blocks():
            np.maximum(out, largest_size(matrix, axis=0), out=out)
        return out

    def row_max(self) -> Array:
        """The largest absolute value of each row, 0 for an empty one."""
        out = np.empty(self.shape[0])
        for rows, matrix in self.in_blocks():
            out[rows] = largest_size(matrix, axis=1)
        return out

    def diagonal_entries(self) -> Array:
        """The entries on the diagonal of a small square matrix."""
        return np.diag(self.to_dense())

    def entry_counts(self) -> tuple[Counts, Counts]:
        """How many entries are not 0, by row and by column."""
        by_row, by_column = (np.zeros(size, dtype=np.intp) for size in self.shape)
        for rows, matrix in self.in_blocks():
            there = matrix != 0
            by_row[rows] = there.sum(axis=1)
            by_column += there.sum(axis=0)
        return by_row, by_column

    @property
    def entries(self) -> int:
        """How many entries there are, those that are known to be 0 left out."""
        return self.shape[0] * self.shape[1]

    @property
    def row_length(self) -> int:
        """At least the number of entries that a row adds up."""
        return self.shape[1]

    def largest_reach(self, x: Array) -> float:
        """At least |R_i| |x| for every row, from the largest entries of the columns: at no pass over the data."""
        return float(self.column_max() @ np.abs(x))

    # ---- what follows: other rows ---------------------------------------------------------------------------

    @property
    def T(self) -> Rows:
        """The transpose, lazily."""
        from convexcls.rows.scaled import TransposedRows

        return TransposedRows(self)

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        """``diag(left) R diag(right)``, lazily."""
        from convexcls.rows.scaled import ScaledRows

        return ScaledRows(self, left, right)

    def __neg__(self) -> Rows:
        return self.scaled(-1.0)

    def select_columns(self, chosen: Indices) -> Rows:
        """The columns of these numbers, each once and in rising order, with their entries as they were given; of data
        in memory the other columns are not touched."""
        return self if chosen.size == self.shape[1] else self._some_columns(chosen)

    def _some_columns(self, chosen: Indices) -> Rows:
        from convexcls.rows.scaled import ColumnRows

        return ColumnRows(self, chosen)

    # ---- what follows: the rows written out -----------------------------------------------------------------

    def to_matrix(self) -> Any:
        """A NumPy array or a SciPy sparse array with these entries, for foreign solvers."""
        return self @ np.eye(self.shape[1])

    def to_dense(self) -> Array:
        """A dense array, for small matrices and for tests."""
        matrix = self.to_matrix()
        return np.asarray(matrix.toarray() if issparse(matrix) else matrix)

    def compact(self) -> Any:
        """The same in the form that many short steps take: one array where the data are dense, whatever bounds and
        slacks beside them are."""
        return self.to_matrix()

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
    from convexcls.rows.in_memory import DenseRows, SparseRows

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


def rows_selected(n: int, index: Any) -> int:
    """How many of n rows an index selects."""
    return int(np.empty(n, dtype=bool)[index].size)


def row_numbers(index: Any, n: int) -> Indices:
    """The numbers of the rows that an index selects of n."""
    if isinstance(index, slice):
        return np.arange(*index.indices(n))
    numbers = np.atleast_1d(index)
    if numbers.dtype.kind == "b" or numbers.size > n:
        return np.arange(n)[index]
    if numbers.size and not -n <= numbers.min() <= numbers.max() < n:
        raise IndexError(f"a row is out of range: there are {n}")
    return np.where(numbers < 0, numbers + n, numbers).astype(np.intp)
