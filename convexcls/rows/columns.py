"""Some columns of rows."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.rows.base import Array, Rows


class ColumnRows(Rows):
    """The first ``count`` columns of rows: the others are multiplied by 0."""

    def __init__(self, base: Rows, count: int) -> None:
        self.base = base
        self.shape = (base.shape[0], count)

    def _filled(self, v: Array) -> Array:
        out = np.zeros((self.base.shape[1], *v.shape[1:]))
        out[: self.shape[1]] = v
        return out

    def __matmul__(self, v: Array) -> Array:
        return self.base @ self._filled(v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.base.T @ u)[: self.shape[1]]

    def gram(self, weights: Array) -> Array:
        return self.base.gram(weights)[: self.shape[1], : self.shape[1]]

    def __getitem__(self, index: Any) -> Rows:
        return ColumnRows(self.base[index], self.shape[1])

    def __abs__(self) -> Rows:
        return ColumnRows(abs(self.base), self.shape[1])

    def _largest_by_column(self) -> Array:
        return self.base.column_max()[: self.shape[1]].copy()

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        return [row[: self.shape[1]] for row in self.base.rational(index)]

    def exact_doubles(self, index: Any) -> Array | None:
        inner = self.base.exact_doubles(index)
        return None if inner is None else inner[:, : self.shape[1]]

    @property
    def rounding(self) -> float:
        return self.base.rounding

    def to_matrix(self) -> Any:
        return self.base.to_matrix()[:, : self.shape[1]]

    def to_dense(self) -> Array:
        return self.base.to_dense()[:, : self.shape[1]]


def chosen_columns(rows: Rows, chosen: NDArray[np.intp]) -> Rows:
    """The columns of these numbers, each once and in rising order, with their entries as they were given; the others
    are not touched where rows are of data."""
    from convexcls.rows.class_margins import ClassMarginRows
    from convexcls.rows.composed import JoinedRows, ScaledRows
    from convexcls.rows.dense import DenseRows
    from convexcls.rows.sparse import SparseRows
    from convexcls.rows.sums import RoundedRows

    if chosen.size == rows.shape[1]:
        return rows
    if type(rows) is DenseRows:
        return DenseRows(rows.array[:, chosen], None if rows.given is None else rows.given.columns(chosen))
    if type(rows) is SparseRows:
        given = None if rows.given is None else rows.given.columns(chosen)
        return SparseRows(rows.matrix[:, chosen], given)
    if isinstance(rows, ScaledRows):
        return ScaledRows(chosen_columns(rows.base, chosen), rows.left, rows.right[chosen])
    if isinstance(rows, JoinedRows):
        parts: list[tuple[slice, Rows]] = []
        for where, part in rows.parts:
            start, stop = np.searchsorted(chosen, [where.start, where.stop]).tolist()
            if start < stop:
                parts.append((slice(start, stop), chosen_columns(part, chosen[start:stop] - where.start)))
        return JoinedRows(rows.shape[0], chosen.size, parts)
    if isinstance(rows, ColumnRows) and isinstance(rows.base, ClassMarginRows):
        every, d = rows.base, rows.base.base.shape[1]
        features = np.unique(chosen % d)
        if features.size < d:  # of each class the same few
            few = ClassMarginRows(chosen_columns(every.base, features), every.classes, every.count, every.other)
            place = chosen // d * features.size + np.searchsorted(features, chosen % d)
            return chosen_columns(ColumnRows(few, few.shape[1]), place)
    return RoundedRows(rows.to_dense()[:, chosen], partial(_picked, rows, chosen))


def _picked(rows: Rows, chosen: NDArray[np.intp]) -> list[list[Fraction]]:
    places = chosen.tolist()
    return [[row[j] for j in places] for row in rows.rational()]
