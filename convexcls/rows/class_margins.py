"""The margins of several classes as rows over the coefficients of all classes, and Gram matrices with a small matrix
of weights for each sample."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.caching import cached_property
from convexcls.rows.base import Rows, row_numbers
from convexcls.rows.in_memory import DenseRows, SparseRows, given_cells
from convexcls.rows.joined import JoinedRows, cross_gram
from convexcls.rows.scaled import ScaledRows

if TYPE_CHECKING:
    from convexcls.rows.by_block import RowsByBlock

#: Blocks with fewer entries are multiplied out.
MAX_MULTIPLIED_ENTRIES = 4_000_000


class ClassMarginRows(Rows):
    """Sample i of class c has one row for each other class k: the margin of its own class over that one,

        (w_c - w_k)' x_i,      k = 0, ..., K-1 without c,

    over the coefficients of all classes, (w_0, ..., w_{K-1}). Rows are ordered by sample, then by class.
    """

    def __init__(self, base: Rows, classes: NDArray[np.intp], count: int, other: float = -1.0) -> None:
        self.base, self.classes, self.count, self.other = base, classes, count, other
        self.shape = (base.shape[0] * (count - 1), base.shape[1] * count)

    @cached_property
    def others(self) -> NDArray[np.intp]:
        """The other classes of each sample: n x (K-1)."""
        ks = np.arange(self.count - 1)
        return np.asarray(ks + (ks >= self.classes[:, None]))

    def __matmul__(self, v: Array) -> Array:
        if v.ndim > 1:
            return np.stack([self @ column for column in v.T], axis=1)
        scores = self.base @ v.reshape(self.count, -1).T
        samples = np.arange(scores.shape[0])[:, None]
        own, others = scores[samples, self.classes[:, None]], scores[samples, self.others]
        return np.asarray(own + self.other * others).ravel()

    def transposed_matmul(self, u: Array) -> Array:
        if u.ndim > 1:
            return np.stack([self.transposed_matmul(column) for column in u.T], axis=1)
        return np.asarray((self.base.T @ self._by_class(u)).T).ravel()

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        total, length = self.base.added_up(self._by_class(u))
        return np.asarray(total.T).ravel(), int(np.max(length)) + self.count

    def _by_class(self, u: Array) -> Array:
        """What each sample adds to the coefficients of each class, in units of itself."""
        out, pulls = np.zeros((self.base.shape[0], self.count)), u.reshape(-1, self.count - 1)
        samples = np.arange(pulls.shape[0])
        out[samples, self.classes] = pulls.sum(axis=1)
        out[samples[:, None], self.others] = self.other * pulls
        return out

    def gram(self, weights: Array) -> Array:
        blocks = np.zeros((self.base.shape[0], self.count - 1, self.count - 1))
        diagonal = np.arange(self.count - 1)
        blocks[:, diagonal, diagonal] = weights.reshape(-1, self.count - 1)
        return block_gram(self, blocks, self)

    def __getitem__(self, index: Any) -> Rows:
        chosen = row_numbers(index, self.shape[0])
        samples, place = np.divmod(chosen, self.count - 1)
        if np.array_equal(place, np.tile(np.arange(self.count - 1), chosen.size // (self.count - 1))):  # whole samples
            whole = samples[:: self.count - 1]
            if np.array_equal(samples, np.repeat(whole, self.count - 1)):
                return ClassMarginRows(self.base[whole], self.classes[whole], self.count, self.other)
        return SparseRows(self._picked(chosen), given_cells(self, chosen))

    def read_by_block(self) -> list[RowsByBlock]:
        return self.base.read_by_block()

    def of_block(self, block: slice, samples: Rows) -> Rows | None:
        whole = slice(block.start // (self.count - 1), block.stop // (self.count - 1))
        inner = self.base.of_block(whole, samples)
        return None if inner is None else ClassMarginRows(inner, self.classes[whole], self.count, self.other)

    def _picked(self, chosen: NDArray[np.intp]) -> Any:
        """Some rows as a sparse matrix."""
        samples, place = np.divmod(chosen, self.count - 1)
        d, m = self.base.shape[1], chosen.size
        matrix = sparse.csr_array(self.base[samples].to_matrix())

        def at(classes: NDArray[np.intp], scale: float) -> Any:
            columns = matrix.indices + np.repeat(classes, np.diff(matrix.indptr)) * d
            return sparse.csr_array((scale * matrix.data, columns, matrix.indptr), shape=(m, self.shape[1]))

        return at(self.classes[samples], 1.0) + at(self.others[samples, place], self.other)

    def _some_columns(self, chosen: Indices) -> Rows:
        d = self.base.shape[1]
        features = np.unique(chosen % d)
        if features.size == d:
            return super()._some_columns(chosen)
        few = ClassMarginRows(self.base.select_columns(features), self.classes, self.count, self.other)
        place = chosen // d * features.size + np.searchsorted(features, chosen % d)  # of each class the same few
        return few.select_columns(place)

    def __abs__(self) -> Rows:
        return ClassMarginRows(abs(self.base), self.classes, self.count, abs(self.other))

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        chosen = np.arange(self.shape[0]) if index is None else np.arange(self.shape[0])[index]
        samples, place = np.divmod(chosen, self.count - 1)
        needed, at = np.unique(samples, return_inverse=True)
        known, d, other = self.base.rational(needed), self.base.shape[1], Fraction(self.other)
        out = []
        for k, sample, p in zip(at.tolist(), samples.tolist(), place.tolist(), strict=True):
            row = [Fraction(0)] * self.shape[1]
            for label, factor in ((self.classes[sample], Fraction(1)), (self.others[sample, p], other)):
                row[label * d : (label + 1) * d] = [factor * value for value in known[k]]
            out.append(row)
        return out

    def exact_doubles(self, index: Any) -> Array | None:
        samples = np.unique(np.arange(self.shape[0])[index] // (self.count - 1))
        plain = self.other == -1.0 and self.base.exact_doubles(samples) is not None
        return self[index].to_dense() if plain else None

    @property
    def as_class_margins(self) -> ClassMarginRows:  # type: ignore[override]
        return self

    @property
    def rounding(self) -> float:
        return self.base.rounding

    def _largest_by_column(self) -> Array:
        return np.tile(self.base.column_max(), self.count)  # every sample has a row that touches each class

    @property
    def row_length(self) -> int:
        """A row has entries for two classes, however many there are."""
        return 2 * self.base.row_length

    def largest_reach(self, x: Array) -> float:
        """|x_i|'|w_c| + |other| |x_i|'|w_k| is at most that of the two classes that reach furthest."""
        reaches = sorted(self.base.largest_reach(w) for w in x.reshape(self.count, -1))
        return max(1.0, abs(self.other)) * sum(reaches[-2:])

    def to_matrix(self) -> Any:
        return self._picked(np.arange(self.shape[0]))

    def to_dense(self) -> Array:
        (n, d), K = self.base.shape, self.count
        out, samples, places = np.zeros((n, K - 1, K, d)), self.base.to_dense(), np.arange(n)
        out[places, :, self.classes] = samples[:, None]
        out[places[:, None], np.arange(K - 1), self.others] = self.other * samples[:, None]
        return out.reshape(self.shape)

    def contrasts(self, blocks: Array) -> Array:
        """E_i' B_i E_i for each sample, with E_i the K-1 rows e_c + other e_k: its weights by pairs of classes."""
        n, K = self.base.shape[0], self.count
        E, samples = np.zeros((n, K - 1, K)), np.arange(n)
        E[samples, :, self.classes] = 1.0
        E[samples[:, None], np.arange(K - 1), self.others] = self.other
        return np.asarray(np.swapaxes(E, 1, 2) @ blocks @ E)


def block_gram(left: Rows, blocks: Array, right: Rows) -> Array:
    """``sum_i L_i' B_i R_i``, with L_i and R_i the rows of sample i and B_i = ``blocks[i]`` symmetric. Every sample has
    as many rows, and they stand together."""
    n, width = blocks.shape[:2]
    if isinstance(left, DenseRows) and left is right:
        grouped = left.array.reshape(n, width, left.shape[1])
        return np.asarray(left.array.T @ (blocks @ grouped).reshape(left.shape))
    if isinstance(left, ScaledRows):
        inner = block_gram(left.base, blocks * left.left.reshape(n, width)[:, :, None], right)
        return inner * left.right[:, None]
    out = np.zeros((left.shape[1], right.shape[1]))
    if isinstance(left, JoinedRows):
        for where, rows in left.parts:
            out[where] += block_gram(rows, blocks, right)
        return out
    if isinstance(right, (ScaledRows, JoinedRows)):
        return block_gram(right, np.swapaxes(blocks, 1, 2), left).T
    if isinstance(left, ClassMarginRows) and isinstance(right, ClassMarginRows):
        return _by_classes(left, blocks, right)
    if left.shape[0] * (left.shape[1] + right.shape[1]) <= MAX_MULTIPLIED_ENTRIES:
        dense, other_dense = (rows.to_dense().reshape(n, width, -1) for rows in (left, right))
        return np.asarray(np.tensordot(np.swapaxes(dense, 1, 2) @ blocks, other_dense, axes=([0, 2], [0, 1])))
    for k in range(width):
        mine = left[k::width]
        for other in range(width):
            out += cross_gram(mine, blocks[:, k, other], right[other::width])
    return out


def _by_classes(left: ClassMarginRows, blocks: Array, right: ClassMarginRows) -> Array:
    """One cross Gram matrix for each pair of classes; the differences of margins make the diagonal the sum of the rest,
    so that only pairs of different classes are worked out."""
    K, d, e = left.count, left.base.shape[1], right.base.shape[1]
    weights = left.contrasts(blocks)
    out = np.zeros((K, d, K, e))
    for k in range(K):
        for other in range(k):
            block = cross_gram(left.base, weights[:, k, other], right.base)
            out[k, :, other] = out[other, :, k] = block
        if left.other != -1.0:
            out[k, :, k] = cross_gram(left.base, weights[:, k, k], right.base)
    if left.other == -1.0:
        for k in range(K):
            out[k, :, k] = -out[k].sum(axis=1)
    return out.reshape(K * d, K * e)
