"""The rows whose signs say on which side samples lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.data import Data
from convexcls.rows import ClassMarginRows, ColumnRows, ConstantRows, JoinedRows, Rows, as_rows


def two_class_rows(data: Data, signs: Array, samples: NDArray[np.intp] | None, intercept: bool) -> Rows:
    """y_i (x_i, 1), or y_i x_i, for some of the samples (all where None); ``signs`` is one for each of these."""
    x = as_rows(data.matrix, data.exact_matrix)
    x = (x if samples is None else x[samples]).scaled(signs)
    n, d = x.shape
    if not intercept:
        return x
    return JoinedRows(n, d + 1, [(slice(0, d), x), (slice(d, d + 1), ConstantRows(n).scaled(signs))])


def several_class_rows(data: Data, samples: NDArray[np.intp] | None, intercept: bool) -> Rows:
    """The margins of each sample's own class over each other class, over (coef_0, ..., coef_{K-2}) and as many
    intercepts: as all scores may be shifted together, those of the last class are 0."""
    classes, labels = data.grouping
    x = as_rows(data.matrix, data.exact_matrix)
    if samples is not None:
        x, classes = x[samples], classes[samples]
    count, (n, d) = len(labels), x.shape
    coef = ColumnRows(ClassMarginRows(x, classes, count), (count - 1) * d)
    if not intercept:
        return coef
    ones = ColumnRows(ClassMarginRows(ConstantRows(n), classes, count), count - 1)
    width = (count - 1) * d
    parts: list[tuple[slice, Rows]] = [(slice(0, width), coef), (slice(width, width + count - 1), ones)]
    return JoinedRows(n * (count - 1), width + count - 1, parts)


def separation_rows(data: Data, intercept: bool, several: bool = False) -> Rows:
    """The rows of all samples that count (with a weight above 0)."""
    counted = np.flatnonzero(data.weights > 0)
    samples = None if counted.size == data.n else counted
    if several:
        return several_class_rows(data, samples, intercept)
    assert data.signs is not None
    return two_class_rows(data, data.signs if samples is None else data.signs[samples], samples, intercept)
