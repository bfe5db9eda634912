"""Samples and labels, checked once at the door.

Everything behind this module may rely on: finite doubles, matching lengths, exactly two labels (or
finite real targets), and that nothing of the caller's was changed. Doubles are used in place; other
number types are converted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
LARGEST_EXACT_INTEGER = 2**53


class DataError(ValueError):
    """Data that cannot be used; the message names the row and column and what to do."""


@dataclass(frozen=True, eq=False)
class Data:
    """Checked samples: ``matrix`` is n x d (dense or sparse), ``signs`` the labels as -1 and +1 (None
    for real targets), ``target`` the real targets or the signs, ``weights`` one a sample."""

    matrix: Any
    target: Array
    signs: Array | None
    labels: tuple[Any, Any] | None
    weights: Array
    features: tuple[str, ...]

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


def check_data(X: Any, y: Any, sample_weight: Any = None, real_target: bool = False) -> Data:
    """Samples, labels and weights as ``Data``; raises ``DataError`` for anything else."""
    matrix = check_matrix(X)
    n = matrix.shape[0]
    if n == 0:
        raise DataError("X has no rows: give at least one sample of each class")
    target = _as_vector(y, "y")
    if len(target) != n:
        raise DataError(f"X has {n} rows but y has {len(target)} entries: give one label for each row")
    features = _feature_names(X, matrix.shape[1])
    weights = _check_weights(sample_weight, n)
    if real_target:
        values = _real_numbers(target, "y")
        return Data(matrix, values, None, None, weights, features)
    signs, labels = _two_labels(target)
    return Data(matrix, signs, signs, labels, weights, features)


def check_matrix(X: Any, columns: int | None = None) -> Any:
    """X as a finite matrix of doubles, dense or compressed sparse; the same object where it is one."""
    if sparse.issparse(X):
        matrix = _check_sparse(X)
    else:
        if hasattr(X, "to_numpy") and hasattr(X, "columns"):
            X = _frame_to_array(X)
        array = _as_array(X)
        if array.ndim != 2:
            hint = "write X[:, None] for one feature" if array.ndim == 1 else "one row per sample, one column per feature"
            raise DataError(f"X has {array.ndim} dimension(s), it needs 2: {hint}")
        matrix = _real_numbers(array, "X")
    if matrix.shape[1] == 0:
        raise DataError("X has no columns: give at least one feature")
    if columns is not None and matrix.shape[1] != columns:
        raise DataError(f"X has {matrix.shape[1]} columns, but the classifier was declared with {columns}")
    return matrix


def _check_sparse(X: Any) -> Any:
    if X.dtype.kind == "c":
        raise DataError("X holds complex numbers: take real and imaginary parts as separate columns")
    if X.dtype.kind not in "fiub":
        raise DataError(f"X is a sparse matrix of type {X.dtype}: convert it to numbers")
    matrix = X if X.format in ("csr", "csc") else sparse.csr_array(X)
    if matrix.dtype != np.float64:
        matrix = matrix.astype(np.float64)
    if not np.all(np.isfinite(matrix.data)):
        entry = matrix.tocoo()
        k = int(np.flatnonzero(~np.isfinite(entry.data))[0])
        _raise_not_finite("X", entry.data[k], int(entry.row[k]), int(entry.col[k]))
    return matrix


def _frame_to_array(frame: Any) -> Any:
    """A table's numbers; a column that is not numeric is named by its name."""
    columns = []
    for name in frame.columns:
        values = np.asarray(frame[name].to_numpy())
        if values.dtype.kind not in "fiub":
            try:
                values = _real_numbers(values, f"X column {name!r}")
            except DataError:
                first = _describe(values[0]) if len(values) else "nothing"
                raise DataError(
                    f"X column {name!r} is not numeric (its first entry is {first}): "
                    "encode it as numbers or leave it out"
                ) from None
        columns.append(values.astype(float, copy=False))
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def _as_array(values: Any) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise DataError(f"X is not a rectangular table of numbers: {error}") from None


def _as_vector(values: Any, name: str) -> NDArray[Any]:
    if sparse.issparse(values):
        values = values.toarray()
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise DataError(f"{name} must be a sequence with one entry for each row, got {_describe(values)}")
    array = np.asarray(values) if isinstance(values, np.ndarray) else _list_as_array(values)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}, it needs one entry for each row")
    return array


def _list_as_array(values: Any) -> NDArray[Any]:
    """A list as an array without NumPy's silent conversion of numbers to text."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray(values, dtype=object)
    if array.dtype.kind in "US" and not all(isinstance(v, (str, bytes)) for v in values):
        array = np.asarray(values, dtype=object)
    return array


def _real_numbers(array: NDArray[Any], name: str) -> Array:
    """The array as finite doubles, in place where it is; otherwise an error with the place."""
    kind = array.dtype.kind
    if kind == "c":
        raise DataError(f"{name} holds complex numbers: take real and imaginary parts as separate columns")
    if kind in "iu" and array.size and (int(array.max()) > LARGEST_EXACT_INTEGER or int(array.min()) < -LARGEST_EXACT_INTEGER):
        place = np.argwhere((array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER))[0]
        _raise_too_large(name, array[tuple(place)], place)
    if kind in "OSU" or kind not in "fiub":
        return _object_numbers(array, name)
    values = array.astype(np.float64, copy=False)
    if not np.isfinite(values.sum()) and not np.all(np.isfinite(values)):
        place = np.argwhere(~np.isfinite(values))[0]
        _raise_not_finite(name, values[tuple(place)], *(int(k) for k in place))
    return values


def _object_numbers(array: NDArray[Any], name: str) -> Array:
    out = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        entry = array[place]
        if isinstance(entry, (complex, np.complexfloating)):
            raise DataError(f"{name} holds complex numbers: take real and imaginary parts as separate columns")
        number = isinstance(entry, (Number, np.number, np.bool_)) or hasattr(entry, "as_integer_ratio")
        if entry is None or not number:
            raise DataError(
                f"{name} {_where(place)} is {_describe(entry)}, not a number: "
                f"{'fill in or drop missing entries' if entry is None else 'convert text to numbers first'}"
            )
        if isinstance(entry, (int, np.integer)) and abs(int(entry)) > LARGEST_EXACT_INTEGER:
            _raise_too_large(name, entry, place)
        out[place] = float(entry)
        if not np.isfinite(out[place]):
            _raise_not_finite(name, out[place], *place)
    return out


def _two_labels(target: NDArray[Any]) -> tuple[Array, tuple[Any, Any]]:
    """Labels as -1 and +1; the second label in sorted order is +1."""
    if target.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(target))
        if bad.size:
            raise DataError(f"y row {bad[0]} is {target[bad[0]]}: every sample needs a label; drop the row")
    if target.dtype.kind == "c":
        raise DataError("y holds complex numbers: labels must be plain values")
    if target.dtype.kind == "O":
        for row, entry in enumerate(target):
            if entry is None or entry != entry:
                raise DataError(f"y row {row} is {_describe(entry)}: every sample needs a label; drop the row")
    try:
        labels, codes = np.unique(target, return_inverse=True)
    except TypeError:
        kinds = sorted({type(entry).__name__ for entry in target})
        raise DataError(f"y mixes labels of types {', '.join(kinds)}: use one type") from None
    if len(labels) != 2:
        shown = ", ".join(repr(_plain(label)) for label in labels[:6]) + (", ..." if len(labels) > 6 else "")
        advice = (
            "a classifier needs samples of both classes"
            if len(labels) == 1
            else "choose two of them, or use a model for several classes"
        )
        raise DataError(f"y has {len(labels)} distinct label(s) ({shown}), two are needed: {advice}")
    return codes.ravel() * 2.0 - 1.0, (_plain(labels[0]), _plain(labels[1]))


def _check_weights(sample_weight: Any, n: int) -> Array:
    if sample_weight is None:
        return np.ones(n)
    weights = _real_numbers(_as_vector(sample_weight, "sample_weight"), "sample_weight")
    if len(weights) != n:
        raise DataError(f"X has {n} rows but sample_weight has {len(weights)} entries: give one for each row")
    if np.any(weights < 0):
        row = int(np.flatnonzero(weights < 0)[0])
        raise DataError(f"sample_weight row {row} is {weights[row]}: weights must be zero or more")
    if not np.any(weights > 0):
        raise DataError("every sample_weight is zero: at least one sample must count")
    return weights


def _feature_names(X: Any, d: int) -> tuple[str, ...]:
    columns = getattr(X, "columns", None)
    if columns is not None and hasattr(X, "to_numpy"):
        return tuple(str(name) for name in columns)
    return tuple(f"x{j + 1}" for j in range(d))


def _raise_not_finite(name: str, value: float, *place: int) -> None:
    kind = "missing (NaN)" if np.isnan(value) else "infinite"
    raise DataError(f"{name} {_where(place)} is {kind}: fill it in or drop the row")


def _raise_too_large(name: str, value: Any, place: Any) -> None:
    raise DataError(
        f"{name} {_where(place)} is {value}, beyond 2^53, where doubles skip integers: rescale the column"
    )


def _where(place: Any) -> str:
    return ", ".join(f"{axis} {int(k)}" for axis, k in zip(("row", "column"), place, strict=False))


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _describe(value: Any) -> str:
    text = repr(_plain(value))
    return text if len(text) <= 60 else text[:57] + "..."
