"""Labels as class numbers: 0, 1, ... in sorted order; of two classes also as -1 and +1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Indices
from convexcls.data.numbers import DataError, as_array, describe, is_missing, plain
from convexcls.wording import listed


def as_vector(values: Any, name: str, n: int) -> NDArray[Any]:
    """n values as an array of dimension one; a column (or a row) of a matrix will do."""
    if sparse.issparse(values) and 1 in values.shape:
        values = values.toarray()
    if isinstance(values, (str, bytes)) or not (hasattr(values, "__len__") or hasattr(values, "__array__")):
        raise DataError(f"{name} must be a sequence with one entry for each row, got {describe(values)}")
    array = as_array(values, name)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}, it needs one entry for each row")
    if array.size != n:
        raise DataError(f"X has {n} rows but {name} has {array.size} entries: give one for each row")
    return array


def class_numbers(target: NDArray[Any]) -> tuple[Indices, tuple[Any, ...]]:
    """Each sample's class as a number, and the labels by that number, in sorted order."""
    kind = target.dtype.kind
    if kind in "cMmV":
        raise DataError(f"y holds entries of type {target.dtype}: labels must be text, numbers or truth values")
    if kind == "O":
        labels = _distinct_objects(target)
        number = {label: k for k, label in enumerate(labels)}
        return np.array([number[plain(entry)] for entry in target], dtype=np.intp), tuple(labels)
    if kind == "f" and not np.isfinite(target).all():
        _refuse_missing(target, int(np.flatnonzero(~np.isfinite(target))[0]))
    if kind in "fiub" and target.size:  # two labels are told apart without sorting
        low, high = target.min(), target.max()
        second = target == high
        if low != high and np.all(second | (target == low)):
            return second.astype(np.intp), (plain(low), plain(high))
    found, inverse = np.unique(target, return_inverse=True)
    return inverse.ravel().astype(np.intp), tuple(plain(label) for label in found)


def check_label_count(labels: tuple[Any, ...], n: int, several: bool) -> None:
    """Refuse one label only; more than two unless ``several`` are meant; and as many labels as samples."""
    shown = listed(map(describe, labels), 6)
    if len(labels) < 2:
        raise DataError(f"y has one label only ({shown}), two are needed: give samples of both classes")
    if len(labels) > 2 and not several:
        advice = "choose two of them, or use a model for several classes (SoftmaxMLE, GaussianMLE, FisherLDA)"
        raise DataError(f"y has {len(labels)} distinct labels ({shown}), two are needed: {advice}")
    if len(labels) > 20 and len(labels) == n:
        raise DataError(
            f"y has {n} distinct labels ({shown}) for {n} samples: these look like real targets, not classes"
        )


def _distinct_objects(target: NDArray[Any]) -> list[Any]:
    for row, entry in enumerate(target):
        if is_missing(entry) or (isinstance(entry, float) and not np.isfinite(entry)):
            _refuse_missing(target, row)
    try:
        return sorted({plain(entry) for entry in target})
    except TypeError:
        kinds = sorted({type(plain(entry)).__name__ for entry in target})
        raise DataError(f"y has labels of type {' and '.join(kinds)}: use one type, text or numbers") from None


def _refuse_missing(target: NDArray[Any], row: int) -> None:
    raise DataError(f"y row {row} is {describe(target[row])}: every sample needs a label; drop the row")
