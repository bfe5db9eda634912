"""Rows of a large symmetric matrix, computed when they are asked for and kept as long as they fit.

The matrix K of a kernel has as many entries as there are pairs of samples. ``RowStore`` holds some of its rows, never
more bytes than its share of a stated limit, and forgets those that were used longest ago; ``MatrixStore`` is a matrix
that is there already, with the same verbs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from convexcls.arrays import Array, Indices
from convexcls.rows.summation import mirrored, row_blocks

#: Rows that are not kept are computed this many at a time.
BATCH = 256
#: The share of the memory limit that kept rows may take; the rest is for those who work with them.
KEPT_SHARE = 0.5


class MatrixTooLarge(ValueError):
    """A matrix would not fit the memory that was allowed for it.

    >>> import convexcls as cc
    >>> problem = cc.KernelSVM([[0.0], [1.0], [2.0]], [0, 1, 0], memory_limit=10)
    >>> try:
    ...     problem.to_cvxpy()
    ... except cc.MatrixTooLarge as error:
    ...     print(str(error).split(":")[0])
    ...
    this needs the 3 x 3 matrix of the kernel, which takes 72 bytes, and memory_limit allows 10
    """

    def __init__(self, n: int, limit: float, purpose: str = "") -> None:
        advice = "" if purpose else 'use solver="smo", which computes rows of it as it needs them, or '
        super().__init__(
            f"{purpose or 'this needs'} the {n} x {n} matrix of the kernel, which takes {8.0 * n * n:.3g} bytes, and "
            f"memory_limit allows {limit:.3g}: {advice}raise memory_limit"
        )


class SymmetricValues(Protocol):
    """A symmetric matrix known by what fills in its rows."""

    size: int
    #: Whether no entry is negative.
    nonnegative: bool

    def diagonal(self) -> Array:
        """The entries on the diagonal."""

    def samples(self) -> Array:
        """What the rows are computed from, one row each: equal ones give equal rows."""

    def fill(self, index: Indices, out: Array, columns: Indices | None = None) -> None:
        """Write the rows ``index``, or some columns of them, into ``out``, an array in row order."""

    def on(self, samples: Any) -> SymmetricValues:
        """The same matrix for other samples."""

    def of_some(self, index: Indices) -> SymmetricValues:
        """The same matrix for some of the samples."""


class RowStore:
    """Rows of ``values``, kept in the slots of one array within ``limit`` bytes."""

    def __init__(self, values: SymmetricValues, limit: float) -> None:
        self.values, self.limit = values, float(limit)
        n = self.size = values.size
        fitting = int(KEPT_SHARE * limit / (8 * max(n, 1)))
        self.capacity = max(min(n, fitting), min(n, 4))
        self._slot = np.full(n, -1, dtype=np.intp)  # where a row is kept
        self._owner = np.full(self.capacity, -1, dtype=np.intp)  # which row a slot holds
        self._used = np.zeros(self.capacity, dtype=np.int64)  # when it was last asked for
        self._clock = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without the rows that it keeps: they can be computed again."""
        return RowStore, (self.values, self.limit)

    def on_linear(self, samples: Any) -> RowStore:
        """The linear kernel of other samples."""
        return RowStore(self.values.on(samples), self.limit)

    def of_some(self, index: Indices) -> RowStore:
        """The matrix of some samples, beside this one."""
        return RowStore(self.values.of_some(index), 0.5 * self.limit)

    @property
    def fits(self) -> bool:
        """Whether the whole matrix fits the limit."""
        return 8.0 * self.size * self.size <= self.limit

    @property
    def whole(self) -> bool:
        """Whether all rows may be kept."""
        return self.capacity == self.size

    @property
    def nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return self.values.nonnegative

    def diagonal(self) -> Array:
        """The entries on the diagonal."""
        return self.values.diagonal()

    @cached_property
    def _slab(self) -> Array:
        """The rows that are kept."""
        return np.empty((self.capacity, self.size))

    def place(self, index: Indices) -> tuple[Array, Indices]:
        """An array and the places in it where the rows ``index`` stand, at most ``capacity`` of them; they stay there
        until other rows are asked for. Not to be written to."""
        self._clock += 1
        slots = self._slot[index]
        self._used[slots[slots >= 0]] = self._clock
        missing = index[slots < 0]
        if missing.size:
            free = self._make_room(missing.size)
            self._fill(missing, free)
            self._slot[missing], self._owner[free], self._used[free] = free, missing, self._clock
            slots = self._slot[index]
        return self._slab, slots

    def _make_room(self, count: int) -> Indices:
        """Slots for ``count`` rows: empty ones, then those that were used longest ago."""
        slots = np.sort(np.argsort(self._used, kind="stable")[:count])  # an empty slot was never used
        gone = self._owner[slots]
        self._slot[gone[gone >= 0]] = -1
        return slots

    def _fill(self, index: Indices, slots: Indices) -> None:
        """Compute rows into slots: in place where these stand side by side, else some at a time beside them."""
        if slots[-1] - slots[0] == slots.size - 1:
            self.values.fill(index, self._slab[slots[0] : slots[-1] + 1])
            return
        for some, block in self._computed(index):
            self._slab[slots[some]] = block

    def _computed(self, index: Indices) -> Iterator[tuple[slice, Array]]:
        """The rows ``index``, some at a time, in memory that the next ones take again."""
        block = np.empty((min(self.batch, index.size), self.size))
        for start in range(0, index.size, max(block.shape[0], 1)):
            rows = index[start : start + block.shape[0]]
            self.values.fill(rows, block[: rows.size])
            yield slice(start, start + rows.size), block[: rows.size]

    def batches(self, index: Indices, keep: bool = False) -> Iterator[tuple[Indices, Array, Indices]]:
        """The rows ``index``, some at a time: their places in it, an array and the places in that where they stand
        until the next ones are asked for. Those that are kept come first, all at once, then ``batch`` ones at a time
        that are computed; these are kept where there is room for all rows of the matrix, or where they are to be kept
        and there is room for them."""
        if self.whole or (keep and index.size <= self.capacity):
            self.place(index)
        there = self._slot[index] >= 0
        if np.any(there):
            yield np.flatnonzero(there), self._slab, self._slot[index[there]]
        missing = np.flatnonzero(~there)
        for some, block in self._computed(index[missing]):
            yield missing[some], block, np.arange(block.shape[0])

    def add_product(self, index: Indices, weights: Array, out: Array, keep: bool = False) -> None:
        """Add ``K[index]' weights`` to ``out``; weights may be a vector or a matrix, ``keep`` is as in ``batches``."""
        from convexcls.rows.kernel_loops import add_rows

        for places, array, slots in self.batches(index, keep):
            add_rows(array, slots, weights[places], out)

    @property
    def batch(self) -> int:
        """How many rows are worked on at a time beside those that are kept."""
        return min(BATCH, max(int((1.0 - KEPT_SHARE) * self.limit / (32 * max(self.size, 1))), 1))

    def fill_block(self, index: Indices, columns: Indices, out: Array) -> None:
        """Copy the entries in some rows and columns into ``out``. Where not all rows may be kept, those that are not
        kept are computed for these columns only."""
        from convexcls.rows.kernel_loops import gather

        if self.whole:
            slab, slots = self.place(index)
            gather(slab, slots, columns, out)
            return
        there = self._slot[index] >= 0
        for kept in (True, False):
            places = np.flatnonzero(there == kept)
            for start in range(0, places.size, BATCH):
                some = places[start : start + BATCH]
                part = np.empty((some.size, columns.size))
                if kept:
                    gather(self._slab, self._slot[index[some]], columns, part)
                else:
                    self.values.fill(index[some], part, columns)
                out[some] = part

    def block(self, index: Indices, columns: Indices) -> Array:
        """The entries in some rows and columns, as a copy."""
        out = np.empty((index.size, columns.size))
        self.fill_block(index, columns, out)
        return out

    def rows(self, index: Indices) -> Array:
        """Some rows, as a copy."""
        out = np.empty((index.size, self.size))
        self.values.fill(index, out)
        return out

    def matrix(self) -> Array:
        """The whole matrix, where it fits the limit."""
        if not self.fits:
            raise MatrixTooLarge(self.size, self.limit)
        out = np.empty((self.size, self.size))
        for rows in row_blocks(self.size, BATCH):
            self.values.fill(np.arange(rows.start, rows.stop), out[rows])
        return mirrored(out)  # rounding may differ between a block and its transpose: the lower one counts


class MatrixStore:
    """A symmetric matrix that is there already."""

    def __init__(self, array: Array, limit: float = np.inf) -> None:
        self.array, self.limit = array, float(limit)
        self.size = self.capacity = array.shape[0]
        self.nonnegative = bool(np.all(array >= 0))

    fits = True

    def on_linear(self, samples: Any) -> MatrixStore:
        """The linear kernel of other samples."""
        K = samples @ samples.T
        K = np.asarray(K.toarray() if issparse(K) else K)
        return MatrixStore(0.5 * (K + K.T), self.limit)

    def diagonal(self) -> Array:
        return np.diag(self.array)

    def place(self, index: Indices) -> tuple[Array, Indices]:
        return self.array, index

    def add_product(self, index: Indices, weights: Array, out: Array, keep: bool = False) -> None:
        spread = np.zeros((self.size, *weights.shape[1:]))
        spread[index] = weights
        out += self.array @ spread

    def fill_block(self, index: Indices, columns: Indices, out: Array) -> None:
        out[:] = self.array[np.ix_(index, columns)]

    def block(self, index: Indices, columns: Indices) -> Array:
        return self.array[np.ix_(index, columns)]

    def rows(self, index: Indices) -> Array:
        return self.array[index]

    def matrix(self) -> Array:
        return self.array


Store = RowStore | MatrixStore
