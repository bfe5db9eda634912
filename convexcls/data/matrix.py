"""The samples as a matrix of finite doubles: arrays, tables with named columns, sparse matrices.

``Named`` are checked samples that carry the names of their features, ``Expanded`` those that basis functions made of
others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.data.numbers import DataError, Given, as_array, describe, finite_doubles
from convexcls.wording import listed


class Coding(Protocol):
    """How a table with text, categories or gaps becomes a matrix."""

    @property
    def plain(self) -> bool:
        """Whether it takes the numbers as they are."""

    @property
    def needless(self) -> bool:
        """Whether whoever reads the table without it gets the same."""

    def without(self, features: Collection[str]) -> Coding | None:
        """The same without some columns; None where these are not taken as they are."""

    def code(self, rows: Any) -> Named:
        """The matrix of other rows of such a table."""

    def lines(self) -> list[str]:
        """What is done with each column."""

    def to_dict(self) -> dict[str, Any]:
        """The coding as plain values."""


@dataclass(frozen=True, eq=False)
class Named:
    """A matrix (dense or sparse) with the names of its columns, its entries as they were given where doubles round
    them, and the ``coding`` that made it of a table, where one did. ``written`` says that the entries were text, which
    is what the doubles show."""

    matrix: Any
    features: tuple[str, ...]
    given: Given | None = field(default=None, kw_only=True)
    coding: Coding | None = field(default=None, kw_only=True)
    written: bool = field(default=False, kw_only=True)

    @property
    def shape(self) -> tuple[int, int]:
        """How many samples and features there are."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: Any) -> Self:
        """Some of the samples."""
        return replace(self, matrix=self.matrix[rows], given=None if self.given is None else self.given.take(rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if sparse.issparse(self.matrix):
            raise TypeError("these samples are sparse: use .matrix, or .matrix.toarray() for all the zeros")
        return np.array(self.matrix, dtype=dtype) if copy else np.asarray(self.matrix, dtype=dtype)

    def __repr__(self) -> str:
        shown = listed(self.features, 8)
        return f"<{len(self)} samples of {shown}>"


@dataclass(frozen=True, eq=False, repr=False)
class Expanded(Named):
    """The basis functions phi_j(x_i), one row a sample, with what made them: the ``basis``, fixed so that it makes the
    same functions of other samples, the names of its ``inputs`` and these themselves, ``origin``. Any model takes it in
    place of X."""

    basis: Callable[[Any], Expanded]
    inputs: tuple[str, ...]
    origin: Any = field(default=None, kw_only=True)

    def take(self, rows: Any) -> Self:
        return replace(super().take(rows), origin=None if self.origin is None else self.origin[rows])


def check_matrix(X: Any, columns: int | None = None) -> Any:
    """X as a finite matrix of doubles, dense or compressed sparse, in X's own memory where X is one.
    ``columns`` is how many it must have."""
    if isinstance(X, Named):
        X = X.matrix
    matrix: Any
    if X is not None and getattr(X, "by_block", None) is X:  # rows that are read by block: checked when first read
        matrix = X
    elif sparse.issparse(X):
        matrix = _check_sparse(X)
    elif is_frame(X):
        matrix = _check_frame(X)
    else:
        array = as_array(X, "X")
        if array.ndim != 2:
            raise DataError(f"X {_shape_advice(X, array)}")
        matrix = finite_doubles(array, "X")
    if matrix.shape[1] == 0:
        raise DataError("X has no columns: give at least one feature")
    if columns is not None and matrix.shape[1] != columns:
        raise DataError(f"X has {matrix.shape[1]} columns, but the classifier was declared with {columns}")
    return matrix


def feature_names(X: Any, d: int) -> tuple[str, ...]:
    """The names of a table's columns; x1, x2, ... where there are none."""
    if isinstance(X, Named):
        return X.features
    return tuple(map(str, X.columns)) if is_frame(X) else _numbered(d)


@lru_cache(maxsize=16)
def _numbered(d: int) -> tuple[str, ...]:
    return tuple(f"x{j + 1}" for j in range(d))


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns, of pandas, polars or the like."""
    return hasattr(X, "to_numpy") and hasattr(X, "columns")


def holds_columns(X: Any) -> bool:
    """Whether these are columns with names: a table, a frame, or a mapping."""
    return isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "column_names")


def compressed(matrix: Any) -> Any:
    """A sparse matrix as a CSR (or CSC, where it is one) array of doubles, each entry stored once and in
    order. In the matrix's own memory where it is that already; the matrix is never written to."""
    return _canonical(matrix).astype(np.float64, copy=False)


def _canonical(matrix: Any) -> Any:
    """SciPy sorts indices and adds up repeated entries in place when it needs to: do it in a copy."""
    kind = sparse.csc_array if matrix.format == "csc" else sparse.csr_array
    out = kind(matrix)
    if not out.has_canonical_format:
        out = out.copy()
        out.sum_duplicates()
    return out


def _check_sparse(X: Any, names: Sequence[Any] | None = None) -> Any:
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimension(s), it needs 2: one row per sample, one column per feature")
    if X.dtype.kind not in "fiub":
        advice = "take real and imaginary parts as separate columns" if X.dtype.kind == "c" else "convert it"
        raise DataError(f"X is a sparse matrix of type {X.dtype}, not of real numbers: {advice}")
    matrix = _canonical(X)

    def where(place: Sequence[int]) -> str:
        row, column = (int(axis[place[0]]) for axis in matrix.tocoo().coords)
        return f"row {row}, column {column if names is None else repr(names[column])}"

    finite_doubles(matrix.data, "X", where)
    return matrix.astype(np.float64, copy=False)


def _check_frame(frame: Any) -> Any:
    """A table's numbers, in its own memory where all of them are doubles in one block."""
    names = list(frame.columns)
    if names and hasattr(frame, "sparse"):  # pandas, and every column is sparse
        return _check_sparse(_sparse_frame(frame), names)
    raw = [_column(frame, j, name) for j, name in enumerate(names)]
    checked = [finite_doubles(column, f"X column {name!r},") for name, column in zip(names, raw, strict=True)]
    if all(column.dtype == np.float64 for column in raw):
        whole = np.asarray(frame.to_numpy())
        if whole.dtype == np.float64:
            return whole
    return np.column_stack(checked)


def _column(frame: Any, j: int, name: Any) -> NDArray[Any]:
    column = frame.iloc[:, j] if hasattr(frame, "iloc") else frame[:, j]
    if str(column.dtype).startswith(("category", "Categorical", "Enum")):
        raise DataError(f"X column {name!r} is categorical: encode it as numbers or leave it out")
    return as_array(column, f"X column {name!r},")


def _sparse_frame(frame: Any) -> Any:
    try:
        return frame.sparse.to_coo()
    except ValueError as error:
        raise DataError(f"X has sparse columns that stand for something else than zeros: {error}") from None


def _shape_advice(X: Any, array: NDArray[Any]) -> str:
    if array.ndim == 0:
        return f"is {describe(X)}, not a table: give one row per sample, one column per feature"
    if array.size == 0:
        return "is empty: give one row per sample, one column per feature"
    if array.ndim == 1:
        return "has 1 dimension, it needs 2: write X[:, None] for one feature, X[None, :] for one sample"
    return f"has {array.ndim} dimensions, it needs 2: one row per sample, one column per feature"
