"""Rows that are formed a block at a time and forgotten again: absolute values, differences from the mean of a group."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array
from convexcls.caching import cached_property
from convexcls.rows.base import Rows, Visit
from convexcls.rows.doubled import Doubled
from convexcls.rows.in_memory import DenseRows
from convexcls.rows.summation import added_up_in_parts, added_up_in_turn, additions_in_turn, row_blocks

#: So many entries stay in the second-level cache.
IN_CACHE = 50_000


class BlockedRows(Rows):
    """Rows whose products are made block by block, so that they are never all there: a subclass says how ``in_blocks``
    are made."""

    def __matmul__(self, v: Array) -> Array:
        out = np.empty((self.shape[0], *v.shape[1:]))
        for rows, block in self.in_blocks():
            out[rows] = block @ v
        return out

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for rows, block in self.in_blocks():
            out += block.T @ u[rows]
        return out

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for rows, block in self.in_blocks():
            out += DenseRows(block).gram(weights[rows])
        return out

    def to_matrix(self) -> Any:
        out = np.empty(self.shape)
        for rows, block in self.in_blocks():
            out[rows] = block
        return out

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        out, most, count = np.zeros((self.shape[1], *u.shape[1:])), 0, 0
        for rows, block in self.in_blocks():
            part, length = added_up_in_parts(block, u[rows])
            out, most, count = out + part, max(most, length), count + 1
        return out, most + count

    def sweep(self, x: Array, visit: Visit) -> Array:
        out = np.zeros(x.shape)
        for rows, block in self.in_blocks():
            out += block.T @ visit(rows, block @ x)
        return out


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)


class AbsoluteRows(BlockedRows):
    """|R|, formed a block at a time so that no copy of the data is made."""

    def __init__(self, base: Rows) -> None:
        self.base = base
        self.shape = base.shape

    def in_blocks(self) -> Iterator[tuple[slice, Array]]:
        n, d = self.shape
        length = max(IN_CACHE // max(d, 1), 16)
        memory = np.empty((min(length, n), d))
        for rows in row_blocks(n, length):
            yield rows, np.abs(self.base[rows].to_dense(), out=memory[: rows.stop - rows.start])

    def __getitem__(self, index: Any) -> Rows:
        return abs(self.base[index])

    def __abs__(self) -> Rows:
        return self

    def _largest_by_column(self) -> Array:
        return self.base.column_max()


class CentredRows(BlockedRows):
    """x_i - origin - means[group_i].

    The means are relative to an origin among the data, so that features far from zero lose no digits. Rows of a dense
    array are centred once, all others a block at a time when it is needed: no dense form of sparse data is ever kept.
    """

    def __init__(
        self,
        base: Rows,
        origin: Array,
        means: Array,
        groups: NDArray[np.intp],
        whole: CentredRows | None = None,
    ) -> None:
        self.base, self.origin, self.means, self.groups = base, origin, means, groups
        self.by_block = base.by_block
        self.shape = base.shape
        self.whole = whole or self  # the rows whose means these are

    @classmethod
    def by_group(cls, base: Rows, groups: NDArray[np.intp], count: int) -> CentredRows:
        """The rows centred by the mean of their group, of which there are ``count``."""
        origin = base[slice(0, 1)].to_dense()[0]
        shares, means = 1.0 / np.bincount(groups, minlength=count), np.zeros((count, base.shape[1]))
        sums = []
        for rows, matrix in base.in_blocks():
            members = (groups[rows][:, None] == np.arange(count)) * shares
            sums.append(added_up_in_parts(_dense(matrix) - origin, members)[0].T)
        means = added_up_in_turn(np.array(sums)) if sums else means
        return cls(base, origin, means, groups)

    def mean_error(self) -> Array:
        """How far the means may be off, by column: a sum of x_i - origin, each times 1/n_k, with four roundings besides
        those of the sum."""
        return self._mean_error

    @cached_property
    def _mean_error(self) -> Array:
        k = additions_in_turn(self.shape[0], self.extra_parts) + 4
        return np.asarray(1.02 * k * UNIT_ROUNDOFF * self.span() + 2 * self.shape[0] * ETA)

    def span(self) -> Array:
        """At least |x_i - origin|, by column."""
        return self._span

    @cached_property
    def _span(self) -> Array:
        return np.asarray(1.01 * (self.whole.column_max() + np.abs(self.means).max(axis=0, initial=0.0)))

    def __abs__(self) -> Rows:
        if self._centred is None or self._centred.size > IN_CACHE:
            return super().__abs__()
        return DenseRows(np.abs(self._centred))

    @property
    def as_centred(self) -> CentredRows:  # type: ignore[override]
        return self

    @cached_property
    def _centred(self) -> Array | None:
        array = self.base.in_memory()
        if not isinstance(array, np.ndarray):
            return None
        out = np.empty(self.shape)
        for rows in row_blocks(self.shape[0]):
            np.subtract(array[rows], self.origin, out=out[rows])
            out[rows] -= self.means[self.groups[rows]]
        out.setflags(write=False)
        return out

    def in_blocks(self) -> Iterator[tuple[slice, Array]]:
        if self._centred is not None:
            for rows in row_blocks(self.shape[0]):
                yield rows, self._centred[rows]
            return
        for rows, matrix in self.base.in_blocks():
            yield rows, (_dense(matrix) - self.origin) - self.means[self.groups[rows]]

    def to_matrix(self) -> Any:
        return super().to_matrix() if self._centred is None else self._centred

    def __getitem__(self, index: Any) -> Rows:
        out = CentredRows(self.base[index], self.origin, self.means, self.groups[index], self.whole)
        out._centred = None if self._centred is None else self._centred[index]
        return out

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        """x_i minus the mean of its group, neither of them rounded."""
        chosen = np.arange(self.shape[0]) if index is None else np.arange(self.shape[0])[index]
        means, out = self.whole.exact_means, []
        for group, row in zip(self.groups[chosen].tolist(), self.base.rational(chosen), strict=True):
            out.append([value - mean for value, mean in zip(row, means[group], strict=True)])
        return out

    def doubled(self, index: Any) -> Doubled:
        means = self.whole.doubled_means
        groups = self.groups[index]
        return self.base.doubled(index).minus(Doubled(means.high[groups], means.low[groups]))

    @cached_property
    def doubled_means(self) -> Doubled:
        """The mean of each group, to twice the digits of a double."""
        return Doubled.of(self.exact_means, self.shape[1])

    @cached_property
    def exact_means(self) -> list[list[Fraction]]:
        """The mean of each group, without rounding."""
        from convexcls.rows.rounded import exact_sum

        sizes = np.bincount(self.groups, minlength=len(self.means)).tolist()
        sums = [exact_sum(self.base, (self.groups == k).astype(float)) for k in range(len(sizes))]
        return [[value / size for value in row] for row, size in zip(sums, sizes, strict=True)]

    @property
    def rounding(self) -> float:
        return float("inf")  # what cancels against the mean leaves its rounding behind
