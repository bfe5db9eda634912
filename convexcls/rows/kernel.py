"""The quadratic form of a kernel machine, known by the rows of its kernel matrix."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.rows.base import Rows, column_by_column
from convexcls.rows.in_memory import DenseRows
from convexcls.rows.row_store import MatrixStore, MatrixTooLarge, RowStore, Store

#: So many rows are added up at a time, and so many of these sums: that keeps the rounding of a product small.
SUMMED_ROWS = 64


class Blur(NamedTuple):
    """How far the values of a kernel may be off: k(x_i, x_j) by at most s_i s_j sqrt(k(x_i, x_i) k(x_j, x_j)) + e^2,
    with s = ``relative`` and e = ``absolute``; and, where ``heights`` are given, by at most

        flat + (least + tilt (height_i + height_j)) k(x_i, x_j)

    which is less where most samples are far from each other, or some from all others.
    """

    relative: Array | float = 0.0
    absolute: float = 0.0
    heights: Array | None = None
    flat: float = 0.0
    least: float = 0.0
    tilt: float = 0.0


NO_BLUR = Blur()


class KernelRows(Rows):
    """Q = weight diag(factor) K diag(factor), K the kernel matrix in ``store``, positive semidefinite by construction
    or by an earlier check.

    Of the linear kernel ``root`` is R with Q = R'R. Multiplying out halves the digits, so where Q d = 0 has to be told
    from a small number, R d = 0 is asked instead.

    ``blur`` says how far the values in the store may be from those of the kernel of the samples as they were given.

    A product with Q is made from the rows of K where the vector is not 0, and the last one is remembered.
    """

    semidefinite = True

    def __init__(
        self,
        store: Store,
        factor: Array,
        *,
        weight: float = 1.0,
        root: Rows | None = None,
        absolute: bool = False,
        memory: _KernelProducts | None = None,
        blur: Blur = NO_BLUR,
    ) -> None:
        self.store, self.factor, self.weight, self.root, self.absolute = store, factor, weight, root, absolute
        self.blur = blur
        self.shape = (store.size, store.size)
        self.memory = _KernelProducts(store, blur.heights) if memory is None else memory

    def __matmul__(self, v: Array) -> Array:
        factor = column_by_column(self.factor, v)
        product = self.memory.product(factor * v, self.absolute)
        return np.asarray(self.weight * (factor * product))

    def additions(self, v: Array) -> int:
        if isinstance(self.store, MatrixStore):
            return self.shape[0]
        group = SUMMED_ROWS * SUMMED_ROWS
        sums = SUMMED_ROWS + 2 + group // self.store.batch  # of a group: some at the end of a batch are of fewer rows
        return SUMMED_ROWS + sums + int(np.count_nonzero(v)) // group + 1

    def transposed_matmul(self, u: Array) -> Array:
        return self @ u

    def gram(self, weights: Array) -> Array:
        return DenseRows(self.to_matrix()).gram(weights)

    def __getitem__(self, index: Any) -> Rows:
        chosen = np.arange(self.shape[0])[index]
        rows = self.store.rows(chosen)
        return DenseRows(self._signed(np.array(rows), chosen))

    def _signed(self, rows: Array, chosen: Any) -> Array:
        """Rows of K, as a copy of one's own, made into rows of Q."""
        rows *= (self.weight * self.factor[chosen])[:, None]
        rows *= self.factor
        return np.abs(rows, out=rows) if self.absolute else rows

    def __abs__(self) -> Rows:
        if self.absolute:
            return self
        return self._changed(factor=np.abs(self.factor), weight=abs(self.weight), absolute=True, root=None)

    def _changed(self, **changes: Any) -> KernelRows:
        """Rows with another factor or weight, over the same store."""
        kept = {"weight": self.weight, "root": self.root, "absolute": self.absolute, "factor": self.factor, **changes}
        return KernelRows(self.store, memory=self.memory, blur=self.blur, **kept)

    def scaled(self, left: Array | float = 1.0, right: Array | float = 1.0) -> Rows:
        """``diag(left) Q diag(right)``: of this kind again where left is a multiple of right."""
        n = self.shape[0]
        one, other = (np.broadcast_to(np.asarray(side, dtype=float), (n,)) for side in (left, right))
        ratio = one[0] / other[0] if n and other[0] else 0.0
        if n == 0 or not ratio > 0 or not np.array_equal(one, ratio * other):
            return super().scaled(left, right)
        root = None if self.root is None else self.root.scaled(1.0, math.sqrt(ratio) * other)
        return self._changed(factor=self.factor * other, weight=self.weight * ratio, root=root)

    @property
    def as_kernel(self) -> KernelRows:  # type: ignore[override]
        return self

    def spread(self) -> Array | None:
        """s with which Q_ij is known to s_i s_j. None where the values are what was given."""
        relative, absolute = self.blur[:2]
        if not absolute and not np.any(relative):
            return None
        sizes = relative * np.sqrt(np.abs(self.store.diagonal())) + absolute
        return np.asarray(math.sqrt(abs(self.weight)) * np.abs(self.factor) * sizes)

    def spread_of_product(self, x: Array) -> Array:
        """The same as of any rows or, where that is less, what the heights of the samples say."""
        error, blur = super().spread_of_product(x), self.blur
        if blur.heights is None or not np.all(np.isfinite(x)):
            return error
        v = np.abs(self.factor * x)
        sums, tilted = self.memory.product(v, True), self.memory.tilted(v)
        own = blur.flat * float(v.sum()) + (blur.least + blur.tilt * blur.heights) * sums + blur.tilt * tilted
        return np.fmin(error, abs(self.weight) * np.abs(self.factor) * own)

    @property
    def beyond_memory(self) -> str:
        return "" if self.store.fits else str(MatrixTooLarge(self.store.size, self.store.limit))

    def diagonal_entries(self) -> Array:
        return np.asarray(self.weight * self.factor**2 * self.store.diagonal())

    def alike(self) -> NDArray[np.intp]:
        """A number for each row of K, the same for rows that are equal to the last bit; samples that are equal have
        equal rows, and where the matrix is there, so may others."""
        if isinstance(self.store, MatrixStore):
            rows: Any = self.store.array
        else:
            rows = self.store.values.samples()
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()

    def _largest_by_column(self) -> Array:
        """A bound of the largest absolute value of each column, within its row of the diagonal: of a positive
        semidefinite matrix no entry exceeds sqrt(Q_ii Q_jj)."""
        root = np.sqrt(np.abs(self.diagonal_entries()))
        return np.asarray(root * root.max(initial=0.0))

    def to_matrix(self) -> Array:
        return self._signed(np.array(self.store.matrix()), slice(None))


class _KernelProducts:
    """Products with K and with |K|, the last one remembered: a solver's last gradient is what the check asks for. With
    ``heights`` of the samples, K (heights |v|) is worked out beside them.

    Vectors that differ by a power of two have products that do, so one that was scaled is known again.
    """

    def __init__(self, store: Store, heights: Array | None = None) -> None:
        self.store, self.heights = store, heights
        self._vector: Array | None = None
        self._plain = self._absolute = self._tilted = np.zeros(0)

    def product(self, v: Array, absolute: bool) -> Array:
        """K v, or |K| v."""
        if v.ndim != 1 or not np.all(np.isfinite(v)):
            return self._compute(v, absolute and not self.store.nonnegative)
        largest = float(np.abs(v).max(initial=0.0))
        shift = math.frexp(largest)[1] if largest > 0 else 0
        unit = np.ldexp(v, -shift)
        if absolute and not self.store.nonnegative:
            return np.ldexp(self._compute(unit, True), shift)
        sizes = absolute and bool(np.all(v >= 0))
        known = self._vector is not None and np.array_equal(np.abs(self._vector) if sizes else self._vector, unit)
        if not known:
            self._remember(unit)
        return np.ldexp(self._absolute if sizes else self._plain, shift)

    def tilted(self, v: Array) -> Array:
        """K (heights v), of v >= 0 whose product was asked for just now."""
        shift = math.frexp(float(v.max(initial=0.0)))[1]
        return np.ldexp(self._tilted, shift)

    def _remember(self, unit: Array) -> None:
        """Work out K u and, where no entry of K is negative, the others beside it, at hardly more cost."""
        if self.store.nonnegative:
            size = np.abs(unit)
            columns = [unit, size] if self.heights is None else [unit, size, self.heights * size]
            products = self._compute(np.column_stack(columns), False).T.copy()
            self._plain, self._absolute, self._tilted = products[0], products[1], products[-1]
        else:
            self._plain = self._compute(unit, False)
        self._vector = unit

    def _compute(self, v: Array, absolute: bool) -> Array:
        used: NDArray[np.intp] = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
        out, store = np.zeros(v.shape), self.store
        if absolute:
            for start in range(0, used.size, SUMMED_ROWS):
                some = used[start : start + SUMMED_ROWS]
                out += np.abs(store.rows(some)).T @ v[some]
        elif isinstance(store, MatrixStore):
            store.add_product(used, v[used], out)
        else:
            for start in range(0, used.size, SUMMED_ROWS * SUMMED_ROWS):
                out += _sum(store, used[start : start + SUMMED_ROWS * SUMMED_ROWS], v)
        return out


def _sum(store: RowStore, index: Indices, v: Array) -> Array:
    """K[index]' v[index], the sums of ``SUMMED_ROWS`` rows added up."""
    from convexcls.rows.kernel_loops import add_rows

    out = np.zeros(v.shape)
    for places, array, slots in store.batches(index):
        for start in range(0, slots.size, SUMMED_ROWS):
            some, part = slice(start, start + SUMMED_ROWS), np.zeros(v.shape)
            add_rows(array, slots[some], v[index[places[some]]], part)
            out += part
    return out
