"""How the scores of new samples are worked out, apart from the problem that a classifier was: a few arrays each.

A solution reads its scores through one of these, and a saved model holds one, so both give the same numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.rows import Rows
from convexcls.rows.scores import linear_scores, row_products, settled
from convexcls.rows.summation import rounding

if TYPE_CHECKING:
    from convexcls.models.kernels import Kernel

#: Scores of a kernel are computed for this many rows at a time, so that a long table needs no long kernel matrix.
ROWS_PER_BLOCK = 128


class Scorer(ABC):
    """Scores of a checked matrix, above 0 for the second label; of several classes one column a class. What it holds
    are its fields: arrays, and a kernel."""

    form: ClassVar[str]

    def scores(self, matrix: Any) -> Array:
        """The scores of every row; of rows that are read by block, where these are."""
        if getattr(matrix, "by_block", None) is None:
            return self.of_matrix(matrix)
        return np.concatenate(list(matrix.each(partial(_of_rows, self))))

    @abstractmethod
    def of_matrix(self, matrix: Any) -> Array:
        """The scores of every row of an array, or of a sparse matrix."""


@dataclass(frozen=True, eq=False)
class LinearScorer(Scorer):
    """coef'x + shift; of real targets (not ``classes``) a fitted value, without ties."""

    form: ClassVar[str] = "linear"
    coef: Array
    shift: Array
    classes: bool = True

    def of_matrix(self, matrix: Any) -> Array:
        if self.classes:
            return linear_scores(matrix, self.coef, self.shift)
        return row_products(matrix, self.coef) + self.shift


@dataclass(frozen=True, eq=False)
class QuadraticScorer(Scorer):
    """z_k = -1/2 (x - centre)'Lambda_k (x - centre) + eta_k'(x - centre) + constant_k, without the square where the
    precisions Lambda are none (0 of them); of two classes z_2 - z_1."""

    form: ClassVar[str] = "quadratic"
    centre: Array
    eta: Array
    constants: Array
    #: What each constant was added up from, in absolute values.
    sizes: Array
    precisions: Array

    def by_class(self, matrix: Any, absolute: bool = False) -> Array:
        """The scores of each class; or the sums of the absolute values of what is added up in them."""
        made: Any = np.abs if absolute else np.asarray
        moved = made((matrix.toarray() if sparse.issparse(matrix) else matrix) - self.centre)
        scores = row_products(moved, made(self.eta.T))
        if len(self.precisions):
            curved = [(row_products(moved, made(-0.5 * p)) * moved).sum(axis=1) for p in self.precisions]
            scores = scores + np.stack(curved, axis=1)
        return scores + (self.sizes if absolute else self.constants)

    def of_matrix(self, matrix: Any) -> Array:
        scores = self.by_class(matrix)
        bound = rounding(self.by_class(matrix, absolute=True), 2 * self.centre.size)
        if scores.shape[1] > 2:
            return settled(scores, bound)
        return settled(scores[:, 1] - scores[:, 0], bound.sum(axis=1))


@dataclass(frozen=True, eq=False)
class NearestScorer(Scorer):
    """-1/2 ‖D(x - origin) - means_k‖^2: the class whose mean is nearest along the directions D."""

    form: ClassVar[str] = "nearest"
    directions: Array
    origin: Array
    means: Array

    def of_matrix(self, matrix: Any) -> Array:
        directions, origin, means = self.directions, self.origin, self.means
        apart = row_products(matrix, directions.T)[:, None, :] - (origin @ directions.T + means)
        sizes = row_products(abs(matrix), abs(directions.T))[:, None, :] + (
            abs(origin) @ abs(directions.T) + abs(means)
        )
        bound = rounding((abs(apart) * sizes).sum(axis=2), origin.size)  # of apart, times its slope
        return settled(-0.5 * (apart**2).sum(axis=2), bound)


@dataclass(frozen=True, eq=False)
class KernelScorer(Scorer):
    """sum_i weights_i k(samples_i, x) + intercept, over the support points (ESL 12.24); of a ``precomputed`` kernel x
    is a row of k(x, every training sample), of which the ``columns`` are the support points'."""

    form: ClassVar[str] = "kernel"
    kernel: Kernel
    samples: Any
    weights: Array
    intercept: float
    columns: Any = None

    def of_matrix(self, matrix: Any) -> Array:
        weights, intercept, samples, n = self.weights, self.intercept, self.samples, matrix.shape[0]
        scores = np.full(n, intercept)
        total = np.abs(weights) @ self.kernel.norms(samples)
        terms = weights.size + int(np.ceil(self.kernel.degree)) * samples.shape[1]
        for start in range(0, n if weights.size else 0, ROWS_PER_BLOCK):
            # always as many rows, the last one again and again: BLAS adds up fewer in another order
            part = matrix[np.minimum(np.arange(start, start + ROWS_PER_BLOCK), n - 1)]
            entries = self.kernel.between(part if self.columns is None else part[:, self.columns], samples)
            sizes = np.abs(entries * weights).sum(axis=1) + self.kernel.norms(part) * total + abs(intercept)
            found = settled((entries * weights).sum(axis=1) + intercept, rounding(sizes, terms))
            scores[start : start + ROWS_PER_BLOCK] = found[: n - start]
        return scores


def _of_rows(scorer: Scorer, rows: Rows) -> Array:
    return scorer.of_matrix(rows.to_matrix())


FORMS = {cls.form: cls for cls in (LinearScorer, QuadraticScorer, NearestScorer, KernelScorer)}
