"""Some columns of rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

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

    @property
    def rounding(self) -> float:
        return self.base.rounding

    def to_matrix(self) -> Any:
        return self.base.to_matrix()[:, : self.shape[1]]

    def to_dense(self) -> Array:
        return self.base.to_dense()[:, : self.shape[1]]
