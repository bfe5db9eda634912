"""Rows one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.rows.base import Array, Rows


class StackedRows(Rows):
    """Several rows objects of the same width, one above the other: all constraints of a problem as one."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = tuple(parts)
        self.ends = np.cumsum([0, *(part.shape[0] for part in parts)])
        self.shape = (int(self.ends[-1]), parts[0].shape[1])

    def _cut(self, u: Array) -> list[Array]:
        return [u[start:stop] for start, stop in zip(self.ends[:-1], self.ends[1:], strict=True)]

    def __matmul__(self, v: Array) -> Array:
        return np.concatenate([part @ v for part in self.parts])

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for part, piece in zip(self.parts, self._cut(u), strict=True):
            out += part.T @ piece
        return out

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for part, piece in zip(self.parts, self._cut(weights), strict=True):
            out += part.gram(piece)
        return out

    def __getitem__(self, index: Any) -> Rows:
        """The selected rows; an index has to keep their order."""
        chosen = np.arange(self.shape[0])[index]
        cuts = np.searchsorted(chosen, self.ends)
        if np.any(np.diff(chosen) < 0):
            raise ValueError("rows that stand one above the other are selected in their order")
        return StackedRows(
            [
                part[chosen[start:stop] - offset]
                for part, offset, start, stop in zip(self.parts, self.ends[:-1], cuts[:-1], cuts[1:], strict=True)
            ]
        )

    def __abs__(self) -> Rows:
        return StackedRows([abs(part) for part in self.parts])

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        if index is not None:
            return [row for part in self[index].parts for row in part.rational()]  # type: ignore[attr-defined]
        return [row for part in self.parts for row in part.rational()]

    def exact_doubles(self, index: Any) -> Array | None:
        parts = [part.exact_doubles(slice(None)) for part in self[index].parts]  # type: ignore[attr-defined]
        return None if any(part is None for part in parts) else np.vstack(parts)

    @property
    def rounding(self) -> float:
        return max(part.rounding for part in self.parts)

    def column_max(self) -> Array:
        return np.asarray(np.max([part.column_max() for part in self.parts], axis=0))

    def to_matrix(self) -> Any:
        return _one_above_the_other([part.to_matrix() for part in self.parts])

    def compact(self) -> Any:
        matrices = [part.compact() for part in self.parts if part.shape[0]] or [np.zeros((0, self.shape[1]))]
        thin = [matrix for matrix in matrices if sparse.issparse(matrix)]
        if 2 * sum(matrix.shape[0] for matrix in thin) > self.shape[0]:
            return _one_above_the_other(matrices)
        return np.vstack([m.toarray() if sparse.issparse(m) else m for m in matrices])

    def to_dense(self) -> Array:
        return np.vstack([part.to_dense() for part in self.parts])


def _one_above_the_other(matrices: list[Any]) -> Any:
    if any(sparse.issparse(matrix) for matrix in matrices):
        return sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    return np.vstack(matrices)
