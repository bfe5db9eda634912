"""What a basis is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from convexcls.data import DataError, Expanded, Named, check_matrix, feature_names

#: More columns than this are refused: they are counted before they are made.
MAX_COLUMNS = 100_000


class Basis(ABC):
    """Functions phi_1, ..., phi_m of a sample. A basis of your own is a frozen subclass with ``columns``, or, for
    a few functions, ``Functions``. The constant is not among them: it is the intercept.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> from convexcls.data import Named
    >>> class Length(cc.Basis):
    ...     def columns(self, matrix, inputs):
    ...         return Named(np.linalg.norm(matrix, axis=1, keepdims=True), ("length",))
    ...
    >>> X, y = [[1, 0], [0, -1], [3, 0], [0, 3]], ["in", "in", "out", "out"]
    >>> s = cc.HardMarginSVM(Length()(X), y).solve()
    >>> s.coef.round(6).tolist(), s.predict([[1.3, 1.3], [1.5, 1.5]]).tolist()  # the boundary is at length 2
    ([1.0], ['in', 'out'])
    """

    def __call__(self, X: Any) -> Expanded:
        """The functions of every row of X, in place of X for any model."""
        if isinstance(X, Expanded):
            raise DataError(f"X was made by {X.basis!r} already: give a basis plain samples")
        matrix = check_matrix(X)
        if hasattr(matrix, "by_block"):
            raise DataError(
                "a basis makes columns of samples in memory, and these are read by block: write them out first"
            )
        inputs = feature_names(X, matrix.shape[1])
        basis = self.fixed(matrix)
        columns = basis.columns(matrix, inputs)
        return Expanded(
            _finite(columns, inputs), columns.features, basis, inputs, origin=matrix, coding=getattr(X, "coding", None)
        )

    def fixed(self, matrix: Any) -> Self:
        """The basis with everything settled that it takes from the training samples."""
        return self

    @abstractmethod
    def columns(self, matrix: Any, inputs: Sequence[str]) -> Named:
        """The functions' values, one column each, with their names; overflow may be left in."""


def refuse_sparse(matrix: Any, basis: Basis) -> None:
    """For functions of sparse samples that are not zero where the samples are."""
    if sparse.issparse(matrix):
        raise DataError(f"X is sparse, and {basis!r} of it is not: give X.toarray() if that fits into memory")


def check_count(count: int, basis: Basis) -> None:
    """Refuse to make more columns than anybody can use."""
    if count > MAX_COLUMNS:
        raise DataError(f"{basis!r} of these samples makes {count:,} columns: choose fewer features or functions")


def _finite(columns: Named, inputs: Sequence[str]) -> Any:
    """The values, or an error that names the function, and the row, that is not a finite number."""
    matrix = columns.matrix
    thin = sparse.issparse(matrix)
    entries = matrix.data if thin else matrix
    bad = ~np.isfinite(entries)
    if not bad.any():
        return matrix
    row, column = (int(axis[bad][0]) for axis in (matrix.tocoo().coords if thin else np.indices(matrix.shape)))
    value = "not a number" if np.isnan(entries[bad][0]) else "beyond the range of doubles"
    raise DataError(
        f"X row {row}: the basis function {columns.features[column]} is {value}; "
        f"rescale the features ({', '.join(inputs[:4])}{', ...' if len(inputs) > 4 else ''}) or drop the row"
    )
