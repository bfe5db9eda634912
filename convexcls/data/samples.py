"""Samples, labels and weights together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.data.matrix import Coding, Expanded, Named, check_matrix, feature_names, holds_columns, is_frame
from convexcls.data.numbers import (
    DataError,
    Given,
    as_array,
    describe,
    finite_doubles,
    given_table,
    given_vector,
    is_missing,
    plain,
)
from convexcls.data.vectors import Coded
from convexcls.wording import listed


@dataclass(frozen=True, eq=False)
class Data:
    """Checked samples: ``matrix`` is n x d (dense, sparse, or rows that are read by block), ``classes`` each sample's
    class as a number, with the ``labels`` by that number (None for real targets), ``signs`` two classes as -1 and +1
    (None for several), ``target`` the real targets, the signs or the class numbers, ``weights`` one a sample.
    ``expanded`` is the matrix as basis functions made it, None where the features are the caller's own.
    ``exact_matrix`` and, of real targets, ``exact_reals`` are the entries as they were given, None where the doubles
    are exact."""

    matrix: Any
    target: Array
    signs: Array | None
    labels: tuple[Any, ...] | None
    weights: Array
    features: tuple[str, ...]
    classes: Indices | None = None
    expanded: Expanded | None = None
    exact_matrix: Given | None = None
    exact_reals: tuple[Fraction, ...] | None = None
    #: The weights as they were given; None where the doubles are exact.
    exact_weights: tuple[Fraction, ...] | None = None
    #: How the samples were made of a table, where they were.
    coding: Coding | None = None
    #: Whether the entries were text, which is what the doubles show.
    written: bool = False

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
        return self.exact_weights is not None or bool(np.any(self.weights != 1.0))

    @property
    def by_block(self) -> Any:
        """The samples as rows that are read by block; None where they are in memory."""
        return getattr(self.matrix, "by_block", None)

    @property
    def sparse(self) -> bool:
        """Whether the samples are a sparse matrix."""
        return bool(sparse.issparse(self.matrix))

    @property
    def samples(self) -> Named:
        """The samples in the form in which a model or a prediction takes them: with names and basis."""
        if self.expanded is not None:
            return self.expanded
        return Named(self.matrix, self.features, given=self.exact_matrix, coding=self.coding, written=self.written)

    @property
    def rounded(self) -> Data:
        """The same data with every entry the double nearest to it."""
        expanded = None if self.expanded is None else replace(self.expanded, given=None)
        return replace(self, exact_matrix=None, exact_reals=None, exact_weights=None, expanded=expanded)

    def alike(self, value: float) -> Array:
        """One number for every sample."""
        return np.full(self.n, value) if self.by_block is None else cast("Array", Coded.alike(value, self.n))

    @property
    def given_weights(self) -> NDArray[Any]:
        """The weights; rationals where doubles would round what was given."""
        return self.weights if self.exact_weights is None else np.array(self.exact_weights, dtype=object)

    @property
    def basis(self) -> Any:
        """The basis that made the features; None where they are the caller's own."""
        return None if self.expanded is None else self.expanded.basis

    @property
    def given(self) -> Any:
        """The labels, or the real targets, as they were given."""
        if self.labels is not None:
            if len(self.labels) == 2 and not _in_order(self.labels):
                assert self.classes is not None
                return Labels(self.classes, self.labels)
            return np.array(self.labels)[self.classes]
        return self.target if self.exact_reals is None else np.array(self.exact_reals, dtype=object)

    def expand(self, X: Any) -> Any:
        """X through the coding and the basis that the classifier was declared on; X itself where there is none, or
        where X has been through them."""
        if self.coding is not None and not isinstance(X, Named) and holds_columns(X):
            X = self.coding.code(X)
        if isinstance(X, Expanded) and X.basis != self.basis:
            own = "features without a basis" if self.basis is None else repr(self.basis)
            raise DataError(f"X was made by {X.basis!r}, but the classifier was declared on {own}")
        self._check_names(X)
        if self.expanded is None or isinstance(X, Expanded):
            return X
        return self.basis(check_matrix(X, columns=len(self.expanded.inputs)))

    def _check_names(self, X: Any) -> None:
        """Refuse a table that has the columns of the training data in another order: they would be mixed up."""
        own = self.features if self.expanded is None else self.expanded.inputs
        if is_frame(X) and (names := feature_names(X, len(own))) != own and sorted(names) == sorted(own):
            raise DataError(
                f"X has the columns {', '.join(names)}, but the classifier was declared with them in the order "
                f"{', '.join(own)}: give them in that order"
            )

    def lift(self, X: Any) -> Any:
        """X as a checked matrix of the features that the classifier was declared on."""
        return check_matrix(self.expand(X), columns=self.d)

    def coded_as_given(self, coding: str) -> NDArray[Any]:
        """The same; targets that doubles would round are rationals."""
        if coding == "counts":
            return np.array(self._by_counts(), dtype=object)
        return self.coded(coding) if self.exact_reals is None else np.array(self.exact_reals, dtype=object)

    def _by_counts(self) -> list[Fraction]:
        """-n/n_1 for the first class and n/n_2 for the second, n what all weigh and n_k what class k does."""
        classes, _ = self.grouping
        of_class = [sum(map(Fraction, self.weights[classes == k].tolist()), Fraction(0)) for k in (0, 1)]
        if not all(of_class):
            raise DataError("coding='counts' divides by what each class weighs: give both a weight above 0")
        targets = (-sum(of_class) / of_class[0], sum(of_class) / of_class[1])
        return [targets[k] for k in classes.tolist()]

    def exact_rows(self, index: Any = None) -> list[list[Fraction]]:
        """Some of the samples (all where none are named), every entry as it was given."""
        rows = range(self.n) if index is None else np.arange(self.n)[index].tolist()
        if self.exact_matrix is not None:
            return [self.exact_matrix.row(i) for i in rows]
        if self.by_block is not None:
            found: list[list[Fraction]] = self.matrix.rational(index)
            return found
        chosen = self.matrix if index is None else self.matrix[rows]
        dense = chosen.toarray() if self.sparse else np.asarray(chosen)
        return [[Fraction(value) for value in row] for row in dense.tolist()]

    @property
    def grouping(self) -> tuple[Indices, tuple[Any, ...]]:
        """Each sample's class as a number, and the labels by that number."""
        if self.classes is None or self.labels is None:
            raise DataError("real targets have no classes")
        return self.classes, self.labels

    def coded(self, coding: str) -> Array:
        """The targets: ``pm1`` -1 and +1, ``01`` 0 and 1, ``counts`` -n/n_1 and n/n_2, ``real`` as given."""
        if coding == "counts":
            return np.array(self._by_counts(), dtype=float)
        if self.signs is None or coding == "pm1":
            return self.target
        return (self.target + 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels in an order that is given, not sorted: each sample's as a place in ``names``. The second of two counts as
    +1. Any model takes them in place of y."""

    numbers: Indices
    names: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> Labels:
        return Labels(self.numbers[rows], self.names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.names, dtype=dtype)[self.numbers]


def _in_order(labels: tuple[Any, ...]) -> bool:
    try:
        return tuple(sorted(labels)) == labels
    except TypeError:
        return True


def check_data(X: Any, y: Any, sample_weight: Any = None, real_target: bool = False, several: bool = False) -> Data:
    """Samples, labels and weights as ``Data``; raises ``DataError`` for anything else. ``real_target`` takes y as
    numbers, ``several`` allows more than two classes."""
    matrix = check_matrix(X)
    exact = given_table(X)
    expanded = replace(X, matrix=matrix) if isinstance(X, Expanded) else None
    n, d = matrix.shape
    if n == 0:
        raise DataError("X has no rows: give at least one sample of each class")
    target = as_vector(y, "y", n)
    by_block = getattr(matrix, "by_block", None) is not None
    weights: Any = Coded.alike(1.0, n) if by_block and sample_weight is None else check_weights(sample_weight, n)
    own = None if sample_weight is None else given_vector(as_vector(sample_weight, "sample_weight", n), "sample_weight")
    coding, written = getattr(X, "coding", None), getattr(X, "written", False)
    names = feature_names(X, d)
    weights = _few(weights) if by_block else weights
    if real_target:
        numbers, reals = finite_doubles(target, "y"), given_vector(target, "y")
        numbers = _few(numbers) if by_block else numbers
        return Data(matrix, numbers, None, None, weights, names, None, expanded, exact, reals, own, coding, written)
    classes, labels = _coded_classes(target) if by_block else class_numbers(target)
    check_label_count(labels, n, several)
    if isinstance(y, Labels) and set(y.names) == set(labels):
        classes, labels = _few(y.numbers) if by_block else y.numbers, y.names
    coded = classes.astype(np.float64)
    signs = None
    if len(labels) == 2:
        coded = signs = 2.0 * coded - 1.0
    return Data(matrix, coded, signs, labels, weights, names, classes, expanded, exact, None, own, coding, written)


def _few(values: Any) -> Any:
    """The vector as codes where few different numbers are in it: beside samples by block, what has one entry a sample
    is what takes memory."""
    coded = values if isinstance(values, Coded) else Coded.of(values)
    return values if coded is None else coded


def _coded_classes(target: NDArray[Any]) -> tuple[Any, tuple[Any, ...]]:
    """The same as ``class_numbers``, as codes where there are few classes."""
    coded = Coded.of(target) if target.dtype.kind in "fiub" else None
    if coded is None:
        classes, labels = class_numbers(target)
        return _few(classes), labels
    return Coded(coded.codes, np.arange(coded.values.size)), tuple(map(plain, coded.values))


def check_weights(sample_weight: Any, n: int) -> Array:
    """n weights, zero or more, not all of them zero; ones where none are given."""
    if sample_weight is None:
        return np.ones(n)
    weights = finite_doubles(as_vector(sample_weight, "sample_weight", n), "sample_weight")
    if np.any(weights < 0):
        row = int(np.flatnonzero(weights < 0)[0])
        raise DataError(f"sample_weight row {row} is {weights[row]}: weights must be zero or more")
    if not np.any(weights > 0):
        raise DataError("every sample_weight is zero: at least one sample must count")
    return weights


# ---- labels as class numbers: 0, 1, ... in sorted order; of two classes also as -1 and +1 -------------------------


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
        if low != high and np.count_nonzero(second) + np.count_nonzero(target == low) == target.size:
            return second.astype(np.intp), (plain(low), plain(high))
        if kind in "iu" and int(high) - int(low) < target.size:  # nor are a few numbers
            wide = target if target.dtype.itemsize == 8 else target.astype(np.int64)  # differences may not fit in less
            places = (wide - wide.dtype.type(low)).astype(np.intp, copy=False)
            counts = np.bincount(places)
            named = tuple([int(low) + k for k in counts.nonzero()[0].tolist()])
            if len(named) == counts.size:  # no number between is left out
                return places, named
            return ((counts > 0).cumsum() - 1)[places], named
    found, inverse = np.unique(target, return_inverse=True)
    return inverse.ravel().astype(np.intp), tuple(plain(label) for label in found)


def check_label_count(labels: tuple[Any, ...], n: int, several: bool) -> None:
    """Refuse one label only; more than two unless ``several`` are meant; and as many labels as samples."""
    if len(labels) == 2 or (several and 2 < len(labels) <= 20):
        return
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
