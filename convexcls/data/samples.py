"""Samples, labels and weights together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.data.labels import as_vector, check_label_count, class_numbers
from convexcls.data.matrix import check_matrix, feature_names
from convexcls.data.numbers import Array, DataError, finite_doubles


@dataclass(frozen=True, eq=False)
class Data:
    """Checked samples: ``matrix`` is n x d (dense or sparse), ``classes`` each sample's class as a number, with the
    ``labels`` by that number (None for real targets), ``signs`` two classes as -1 and +1 (None for several), ``target``
    the real targets, the signs or the class numbers, ``weights`` one a sample."""

    matrix: Any
    target: Array
    signs: Array | None
    labels: tuple[Any, ...] | None
    weights: Array
    features: tuple[str, ...]
    classes: NDArray[np.intp] | None = None

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.matrix.shape[0])

    @property
    def d(self) -> int:
        """The number of features."""
        return int(self.matrix.shape[1])

    @property
    def weighted(self) -> bool:
        """Whether any weight differs from one."""
        return bool(np.any(self.weights != 1.0))

    @property
    def sparse(self) -> bool:
        """Whether the samples are a sparse matrix."""
        return bool(sparse.issparse(self.matrix))

    def coded(self, coding: str) -> Array:
        """The targets: ``pm1`` -1 and +1, ``01`` 0 and 1, ``real`` as given."""
        if self.signs is None or coding == "pm1":
            return self.target
        return (self.target + 1.0) / 2.0


def check_data(X: Any, y: Any, sample_weight: Any = None, real_target: bool = False, several: bool = False) -> Data:
    """Samples, labels and weights as ``Data``; raises ``DataError`` for anything else. ``real_target`` takes y as
    numbers, ``several`` allows more than two classes."""
    matrix = check_matrix(X)
    n, d = matrix.shape
    if n == 0:
        raise DataError("X has no rows: give at least one sample of each class")
    target = as_vector(y, "y", n)
    weights = _check_weights(sample_weight, n)
    if real_target:
        return Data(matrix, finite_doubles(target, "y"), None, None, weights, feature_names(X, d))
    classes, labels = class_numbers(target)
    check_label_count(labels, n, several)
    coded = classes.astype(np.float64)
    signs = None
    if len(labels) == 2:
        coded = signs = 2.0 * coded - 1.0
    return Data(matrix, coded, signs, labels, weights, feature_names(X, d), classes)


def _check_weights(sample_weight: Any, n: int) -> Array:
    if sample_weight is None:
        return np.ones(n)
    weights = finite_doubles(as_vector(sample_weight, "sample_weight", n), "sample_weight")
    if np.any(weights < 0):
        row = int(np.flatnonzero(weights < 0)[0])
        raise DataError(f"sample_weight row {row} is {weights[row]}: weights must be zero or more")
    if not np.any(weights > 0):
        raise DataError("every sample_weight is zero: at least one sample must count")
    return weights
