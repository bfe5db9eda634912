"""Rows that are one matrix seen through factors, so that a pass over them reads the data once.

The margins y_i (x_i'w + b) of a classifier are diag(y) [X, 1] over (w, b); the scores of K classes are [X, 1] times a
matrix with one column a class. Both are multiplied, turned into slopes and multiplied back a block of rows at a time,
while the block is in the cache: a sweep is R' f(R x) at the cost of one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.caching import cached_property
from convexcls.data import Coded, is_coded, same_vector
from convexcls.engines import tree_sum
from convexcls.rows.base import Factors, NearestPriced, Rows, Travelling, Visit
from convexcls.rows.plain import ConstantRows
from convexcls.rows.summation import SWEPT_ENTRIES, outer_products, sweep_blocks

#: The share of the weight of all samples that those have which are looked at.
ALMOST_ALL = 0.98

Parts = Sequence[tuple[slice, Rows]]


@dataclass(frozen=True, eq=False)
class FusedRows:
    """diag(factor) [X, 1] diag(right) over all unknowns: those of ``where`` belong to the columns of X, the one at
    ``constant`` (if any) to the column of ones. With several ``columns`` the unknowns are one such set a column, and
    R x is a matrix with one row for each of them and a column for each sample."""

    size: int
    matrix: Rows
    where: slice
    right: Array
    factor: Array | None = None
    constant: slice | None = None
    constant_right: Array = field(default_factory=lambda: np.empty(0))
    columns: int = 1

    @classmethod
    def margins(cls, size: int, parts: Parts) -> FusedRows | None:
        """Rows side by side over ``size`` unknowns in this form, or None where they do not have it."""
        return cls._of(size, [(where, rows.factors()) for where, rows in parts])

    @classmethod
    def class_scores(cls, size: int, parts: Parts) -> tuple[FusedRows, Indices] | None:
        """The scores of all classes behind rows of margins, and the own classes, or None where there are none."""
        inner: list[tuple[slice, Factors]] = []
        margins = None
        for where, (left, core, right) in ((where, rows.factors()) for where, rows in parts):
            margins = core.as_class_margins
            if margins is None or margins.other != -1.0 or left is not None:
                return None
            inner.append((where, Factors(None, margins.base, right)))
        scores = cls._of(size, inner, 1 if margins is None else margins.count)
        return None if scores is None or margins is None else (scores, margins.classes)

    @classmethod
    def _of(cls, size: int, parts: Sequence[tuple[slice, Factors]], columns: int = 1) -> FusedRows | None:
        data = [part for part in parts if part[1].core.in_memory() is not None or part[1].core.by_block is part[1].core]
        ones = [part for part in parts if part[1].core.is_ones]
        if len(data) != 1 or len(ones) > 1 or len(data) + len(ones) != len(parts):
            return None
        where, (factor, matrix, right) = data[0]
        right = np.ones(matrix.shape[1] * columns) if right is None else right
        factor = factor if factor is None or is_coded(factor) else np.ascontiguousarray(factor)
        if not ones:
            return cls(size, matrix, where, right, factor, columns=columns)
        constant, (other, _, scale) = ones[0]
        same = other is factor or (factor is not None and other is not None and same_vector(factor, other))
        scale = np.ones(columns) if scale is None else scale
        return cls(size, matrix, where, right, factor, constant, scale, columns) if same else None

    @property
    def height(self) -> int:
        """The number of samples."""
        return self.matrix.shape[0]

    @property
    def width(self) -> int:
        """The unknowns of one column, that of the ones among them."""
        return self.matrix.shape[1] + (self.constant is not None)

    def __getitem__(self, index: Any) -> FusedRows:
        factor = None if self.factor is None else self.factor[index]
        return replace(self, matrix=self.matrix[index], factor=factor)

    @property
    def is_dense(self) -> bool:
        """Whether the samples are a dense array."""
        return self._array is not None

    @cached_property
    def _array(self) -> Array | None:
        """The samples as a dense array, where they are one."""
        array = self.matrix.in_memory()
        return array if isinstance(array, np.ndarray) else None

    def _blocks(self) -> Iterator[tuple[slice, Any, Any]]:
        """The samples, a block at a time (sparse ones all at once), and their transpose, in a form that is multiplied
        at once."""
        if self.matrix.by_block is not None:
            return ((block, X, X.T) for block, X in self.matrix.in_blocks())
        if (array := self._array) is None:
            return iter([(slice(0, self.height), self.matrix, self.matrix.T)])
        if array.size <= SWEPT_ENTRIES:
            return iter([(slice(0, self.height), array, array.T)])
        return ((block, array[block], array[block].T) for block in sweep_blocks(*array.shape))

    def _by_column(self, x: Array, where: slice, right: Array) -> Array:
        values = x[where] * right
        return values if self.columns == 1 else values.reshape(self.columns, -1)

    def of_columns(self, x: Array) -> Array:
        """R x of rows in memory without factors, one row for each column."""
        X = self.matrix.to_matrix()
        u = _row_by_row(self._by_column(x, self.where, self.right), X, X.T)
        if self.constant is not None:
            u += self._by_column(x, self.constant, self.constant_right)
        return u

    def sweep(self, x: Array, visit: Visit) -> Array:
        """R' visit(R x)."""
        v = self._by_column(x, self.where, self.right)
        shift = None if self.constant is None else self._by_column(x, self.constant, self.constant_right)
        pulled, ones = np.zeros(v.shape), np.zeros(0 if shift is None else self.columns)
        if self.matrix.by_block is not None and isinstance(visit, Travelling):
            pulled = self.matrix.sweep(v.T, self._by_block(shift, visit, ones)).T
            return self._over_all(pulled.ravel(), ones, self.right, self.constant_right)
        for block, X, transposed in self._blocks():
            u = _row_by_row(v, X, transposed)
            if shift is not None:
                u += shift
            if self.factor is not None:
                u *= self.factor[block]
            pull = visit(block, u)
            if self.factor is not None:
                pull = pull * self.factor[block]
            pulled += _row_by_row(pull, transposed, X)
            if shift is not None:
                ones += np.add.reduce(pull, axis=-1)
        return self._over_all(pulled.ravel(), ones, self.right, self.constant_right)

    def sweep_and_gram(self, x: Array, visit: Travelling) -> tuple[Array, Array | None]:
        """A sweep with the Gram matrix by the weights that the visit gives, in one reading of rows that are read by
        block; None in its place of others."""
        if self.matrix.by_block is None or self.columns > 1:
            return self.sweep(x, visit), None
        v = self._by_column(x, self.where, self.right)
        shift = None if self.constant is None else self._by_column(x, self.constant, self.constant_right)
        ones = np.zeros(0 if shift is None else 1)
        gram = partial(_inner_gram, whole=replace(self, matrix=ConstantRows(0), factor=None), single_precision=False)
        pulled, inner = self.matrix.by_block.sweep_and_more(v, self._by_block(shift, visit, ones), gram)
        return self._over_all(pulled, ones, self.right, self.constant_right), self._in_units(inner)

    def _by_block(self, shift: Array | None, visit: Travelling, ones: Array) -> Travelling:
        """The visit of R x as one of X v; what is added up of the ones is written to these."""

        def take(block: slice, found: Any) -> None:
            visit.take(block, found[0])
            ones[:] += 0.0 if shift is None else found[1]

        factored = self.factor is not None
        own = visit.own if self.factor is None else (self.factor, *visit.own)
        curved = None if visit.curved is None else partial(_curved_by_block, visit.curved, factored)
        brief = None if visit.brief is None else partial(_brief_by_block, visit.brief)
        return Travelling(partial(_visit_by_block, visit.function, shift, factored), own, take, curved, brief)

    def priced(self, x: Array, side: Array | float, most: int) -> Array:
        """R x - side of rows with one column that are read by block, with the rows in which it is largest."""
        assert self.matrix.by_block is not None
        v, side = self._of_samples(x, side)
        return self.matrix.by_block.priced(v, side, most, self.factor)

    def nearest_priced(self, x: Array, side: Array, most: int, limit: float) -> NearestPriced:
        """The same of so many rows, without a vector of all."""
        assert self.matrix.by_block is not None
        v, side = self._of_samples(x, side)
        left: Any = Coded.alike(1.0, self.height) if self.factor is None else self.factor
        return self.matrix.by_block.nearest_among(v, side, most, limit, left)

    def _of_samples(self, x: Array, side: Any) -> tuple[Array, Any]:
        """v and s with diag(factor) X v - s = R x - side."""
        if self.constant is not None:
            shift = float((x[self.constant] * self.constant_right)[0])
            side = side - (shift if self.factor is None else shift * self.factor)
        return self._by_column(x, self.where, self.right), side

    def _over_all(self, inner: Array, ones: Array, right: Array, constant_right: Array) -> Array:
        """Values by column, and that of the ones, as a vector over all unknowns, in their units."""
        out = np.zeros(self.size)
        out[self.where] = inner * right
        if self.constant is not None:
            out[self.constant] = ones * constant_right
        return out

    def gram(self, weights: Array, single_precision: bool = False) -> Array:
        """R' diag(weights) R of rows with one column, over all unknowns."""
        if self.factor is not None:
            weights = weights * np.square(self.factor)
        return self._in_units(self._inner_gram(weights, single_precision and self._near_one()))

    def _in_units(self, inner: Array) -> Array:
        """[X, 1]'W[X, 1] over all unknowns, in their units; overwrites it."""
        right = np.append(self.right, self.constant_right)
        inner *= right
        inner *= right[:, None]
        return self._spread(inner)

    def _near_one(self) -> bool:
        """Whether the scales of the columns leave squares of the entries within what single precision holds."""
        return bool(np.all((self.right > 1e-12) & (self.right < 1e12)))

    def _spread(self, inner: Array) -> Array:
        """A matrix over the unknowns of each column in turn, that of the ones last, as one over all of x."""
        if self._in_order:
            return inner
        out, places = np.zeros((self.size, self.size)), self._places.ravel()
        out[places[:, None], places] = inner
        return out

    @cached_property
    def _in_order(self) -> bool:
        """Whether the unknowns of each column in turn are all of x."""
        return np.array_equal(self._places.ravel(), np.arange(self.size))

    @cached_property
    def _places(self) -> Indices:
        """Where the unknowns of each column stand in x: one row a column, that of the ones last."""
        d, K = self.matrix.shape[1], self.columns
        where = np.empty((K, self.width), dtype=np.intp)
        where[:, :d] = np.arange(self.where.start, self.where.stop).reshape(K, d)
        if self.constant is not None:
            where[:, d] = np.arange(self.constant.start, self.constant.stop)
        return where

    def _inner_gram(self, weights: Array, single_precision: bool = False) -> Array:
        """[X, 1]' diag(weights) [X, 1], without the scales of the columns."""
        d = self.matrix.shape[1]
        if self._array is not None:
            return outer_products(self._array, np.sqrt(weights)[:, None], self.width > d, single_precision)
        if self.matrix.by_block is not None:
            return self._summed_by_block(_inner_gram, weights, common=(single_precision,))
        out = np.empty((self.width, self.width))
        out[:d, :d] = self.matrix.gram(weights)
        if self.constant is not None:
            out[:d, d] = out[d, :d] = self.matrix.T @ weights
            out[d, d] = weights.sum()
        return out

    def gram_diagonal(self, weights: Array) -> Array:
        """The diagonal of R' diag(weights) R over all unknowns; with several columns, weights have one row each."""
        if self.factor is not None:
            weights = weights * np.square(self.factor)
        total = np.zeros((self.matrix.shape[1], *weights.shape[:-1]))
        for block, X, _ in self._blocks():
            X = X.to_matrix() if isinstance(X, Rows) else X
            total += (X * X).T @ weights[..., block].T
        scales = np.square(self.right), np.square(self.constant_right)
        return self._over_all(total.T.ravel(), weights.sum(axis=-1), *scales)

    def pull_sizes(self, pulls: Array) -> Array:
        """|R|' |pulls| over all unknowns; with several columns, the pulls have one row each."""
        sizes = np.abs(pulls) if self.factor is None else np.abs(pulls * self.factor)
        total = abs(self.matrix).T @ sizes.T
        return self._over_all(total.T.ravel(), sizes.sum(axis=-1), np.abs(self.right), np.abs(self.constant_right))

    def class_gram(self, probabilities: Array, weights: Array, single_precision: bool = False) -> Array:
        """sum_i weights_i (diag(p_i) - p_i p_i') (x) [x_i, 1][x_i, 1]' over the unknowns of all columns. Off the
        diagonal these are sums of terms of one sign, and every row of blocks has sum zero: nothing cancels."""
        return self._over_classes(
            self._class_blocks(probabilities, np.sqrt(weights), single_precision and self._near_one())
        )

    def class_gram_at(self, x: Array, weights: Array) -> Array:
        """The same of samples that are read by block, with the probabilities at x, which are worked out there."""
        return self._over_classes(self._summed_by_block(_class_blocks_at, weights, common=(x,)))

    def _over_classes(self, blocks: Array) -> Array:
        """The Gram matrix from its blocks of two classes each; overwrites them."""
        K = self.columns
        k = np.arange(K)
        blocks[k, :, k] = 0.0
        blocks[k, :, k] = -blocks.sum(axis=2)
        if (right := self._scales) is not None:
            blocks *= right[:, :, None, None]
            blocks *= right
        return self._spread(blocks.reshape(K * self.width, K * self.width))

    @cached_property
    def _scales(self) -> Array | None:
        """The scales of the unknowns of each column; None where all are one."""
        right = np.hstack([self.right.reshape(self.columns, -1), self.constant_right.reshape(self.columns, -1)])
        return None if (right == 1.0).all() else right

    def column_gram(self, column: int, weights: Array, samples: int) -> tuple[Indices, Array]:
        """The Gram matrix of the unknowns of one column, to single precision, and where these stand in x: from so many
        samples at the most, evenly spaced among the heaviest that have almost all of the weight."""
        heaviest = np.argsort(-weights)
        total = np.cumsum(weights[heaviest])
        heaviest = heaviest[: int(np.searchsorted(total, ALMOST_ALL * total[-1])) + 1]
        kept = np.sort(heaviest[:: max(heaviest.size // samples, 1)])
        scale = float(total[heaviest.size - 1] / weights[kept].sum())
        inner = self[kept]._inner_gram(scale * weights[kept], self._near_one())
        right = np.hstack([part.reshape(self.columns, -1) for part in (self.right, self.constant_right)])[column]
        return self._places[column], inner * np.outer(right, right)

    def _summed_by_block(self, task: Any, *own: Array, common: tuple[Any, ...]) -> Array:
        """What a task makes of these rows over each block, added up."""
        assert self.matrix.by_block is not None
        whole = replace(self, matrix=ConstantRows(0), factor=None)  # what is sent
        return np.asarray(tree_sum(self.matrix.by_block.each(task, *own, common=(whole, *common))))

    def _class_blocks(self, p: Array, roots: Array, single_precision: bool) -> Array:
        """Minus the sum of p_ik p_il [x_i, 1][x_i, 1]', indexed by k, feature, l, feature."""
        K, width = self.columns, self.width
        if self.matrix.by_block is not None:
            return self._summed_by_block(_class_blocks, p.T, roots, common=(single_precision,))
        if self._array is None:
            out = np.zeros((K, width, K, width))
            for k in range(K):
                for other in range(k):
                    pair = -self._inner_gram(roots * roots * p[k] * p[other])
                    out[k, :, other] = out[other, :, k] = pair
            return out
        factors = np.ascontiguousarray((p * roots).T)
        ones = self.constant is not None
        return -outer_products(self._array, factors, ones, single_precision).reshape(K, width, K, width)


def _visit_by_block(function: Any, shift: Array | None, factored: bool, u: Array, *own: Array) -> tuple[Array, Any]:
    """A visit of R x where u = X v is: what makes R of X is done to it and undone; a row of u is a sample."""
    u = np.ascontiguousarray(u.T) + (0.0 if shift is None else shift)
    factor, own = (own[0], own[1:]) if factored else (None, own)
    pull, found = function(u if factor is None else u * factor, *own)
    pull = pull if factor is None else pull * factor
    return pull.T, (found, np.add.reduce(pull, axis=-1))


def _brief_by_block(brief: Any, found: Any) -> Any:
    return brief(found[0]), found[1]


def _curved_by_block(curved: Any, factored: bool, found: Any, *own: Array) -> Array:
    factor, own = (own[0], own[1:]) if factored else (1.0, own)
    return np.asarray(curved(found[0], *own) * np.square(factor))


def _inner_gram(rows: Rows, whole: FusedRows, single_precision: bool, weights: Array) -> Array:
    return replace(whole, matrix=rows)._inner_gram(weights, single_precision)


def _class_blocks(rows: Rows, whole: FusedRows, single_precision: bool, p: Array, roots: Array) -> Array:
    return replace(whole, matrix=rows)._class_blocks(np.ascontiguousarray(p.T), roots, single_precision)


def _class_blocks_at(rows: Rows, whole: FusedRows, x: Array, weights: Array) -> Array:
    scores = replace(whole, matrix=rows)
    p = scores.of_columns(x)
    p = np.exp(p - p.max(axis=0))
    return scores._class_blocks(p / p.sum(axis=0), np.sqrt(weights), False)


def _row_by_row(v: Array, matrix: Any, transposed: Any) -> Array:
    """``matrix @ v`` for a vector, and for each row of a matrix."""
    if v.ndim == 1:
        return np.asarray(matrix @ v)
    return np.asarray(v @ transposed if isinstance(transposed, np.ndarray) else (matrix @ v.T).T)
