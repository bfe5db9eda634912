"""Entries as finite doubles and, where these round, as they were given; errors that say which entry is wrong, and what
to do about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import LARGEST_EXACT_INTEGER, Array, all_finite
from convexcls.rational.numbers import exactly, nearest_double

#: How the place of an entry is told.
Where = Callable[[Sequence[int]], str]

#: Below it doubles have fewer digits.
LEAST_NORMAL = 2.0**-1022

_MISSING = "fill in or drop missing entries"
#: What float() would take wrongly, or refuse in its own words.
_NO_NUMBERS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str, bytes), "it is text; convert text to numbers first"),
    (
        (date, timedelta, np.datetime64, np.timedelta64),
        "it is a time; turn times into numbers, such as days since a start",
    ),
    ((complex, np.complexfloating), "it is complex; take real and imaginary parts as separate columns"),
    ((np.ndarray,), "it is an array; give numbers only"),
)


class DataError(ValueError):
    """Data that cannot be used; the message names the row and column and what to do.

    >>> import convexcls as cc
    >>> cc.LeastSquares([[1.0, 2.0], [3.0, float("nan")]], [0, 1])
    Traceback (most recent call last):
        ...
    convexcls.data.numbers.DataError: X row 1, column 1 is missing (NaN): fill in or drop missing entries
    """


def row_and_column(place: Sequence[int]) -> str:
    """The place of an entry of a table, or of a vector."""
    return ", ".join(f"{axis} {k}" for axis, k in zip(("row", "column"), place, strict=False))


def as_array(values: Any, name: str) -> NDArray[Any]:
    """The values as an array that holds what the caller gave: no number turned into text, no large
    integer rounded, no masked entry uncovered."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(values))[0]
        raise DataError(f"{name} {row_and_column(place)} is missing (masked): {_MISSING}")
    try:
        array = np.asarray(values)
        listed = not hasattr(values, "dtype")
        return np.asarray(values, dtype=object) if listed and _may_differ(array) else array
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} is not a rectangular table: {_uneven_row(values) or error}") from None


def _may_differ(array: NDArray[Any]) -> bool:
    """Whether a list's common type may have cost something: 1 became '1', or 2^53 + 1 became 2^53."""
    kind = array.dtype.kind
    return kind in "SU" or (kind == "f" and bool(np.any(np.abs(array) >= LARGEST_EXACT_INTEGER)))


def _uneven_row(values: Any) -> str:
    sizes = [f"{len(row)} entries" if hasattr(row, "__len__") else "no length" for row in values]
    odd = next((row for row, size in enumerate(sizes) if size != sizes[0]), 0)
    return f"row {odd} has {sizes[odd]}, row 0 has {sizes[0]}" if odd else ""


def finite_doubles(array: NDArray[Any], name: str, where: Where = row_and_column) -> Array:
    """The array as finite doubles, the array itself where it is that; otherwise an error with the place.
    Fractions, decimals and other objects are taken one by one."""
    kind = array.dtype.kind
    if kind not in "fiub":
        out = np.empty(array.shape)
        for place in np.ndindex(array.shape):
            out[place] = _entry(array, place, name, where)
        return out
    with np.errstate(over="ignore", invalid="ignore"):  # a sum may overflow, a long double too
        values = array.astype(np.float64, copy=False)
        finite = all_finite(values)
    if not finite:
        _entry(array, tuple(np.argwhere(~np.isfinite(values))[0]), name, where)
    if kind in "iu" and np.any(large := (array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER)):
        _entry(array, tuple(np.argwhere(large)[0]), name, where)
    return values


def _entry(array: NDArray[Any], place: tuple[int, ...], name: str, where: Where) -> float:
    try:
        return _double(array[place])
    except DataError as error:
        raise DataError(f"{name} {where(place)} is {error}") from None


def _double(entry: Any) -> float:
    """One entry as a finite double; the error says what it is and what to do, the caller adds the place."""
    if is_missing(entry):
        shown = "NaN" if isinstance(entry, (float, np.floating)) else describe(entry)
        raise DataError(f"missing ({shown}): {_MISSING}")
    for kinds, advice in _NO_NUMBERS:
        if isinstance(entry, kinds):
            raise DataError(f"{describe(entry)}: {advice}")
    if isinstance(entry, (int, np.integer)) and abs(int(entry)) > LARGEST_EXACT_INTEGER:
        raise DataError(f"{describe(entry)}: it is beyond 2^53, where doubles skip integers; rescale the column")
    try:
        with np.errstate(over="ignore"):
            number = float(entry)
    except OverflowError:
        number = np.inf
    except (TypeError, ValueError):
        raise DataError(f"{describe(entry)}: it is not a number; encode it as numbers or leave it out") from None
    if np.isinf(number) and abs(entry) != np.inf:
        raise DataError(f"{describe(entry)}: it is beyond the range of doubles; rescale the column")
    if np.isinf(number):
        raise DataError("infinite: put a finite number there or drop the row")
    if abs(number) < LEAST_NORMAL and entry != number:  # its relative rounding may be anything up to 1
        raise DataError(f"{describe(entry)}: it is below the range of doubles; rescale the column")
    return number


def is_missing(entry: Any) -> bool:
    """Whether an entry stands for nothing: None, a masked entry, a NaN of any type, NA and NaT of pandas."""
    if entry is None or entry is np.ma.masked or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(entry != entry)
    except ArithmeticError:  # a signalling NaN
        return True
    except (TypeError, ValueError):
        return False


def plain(label: Any) -> Any:
    """A NumPy scalar as the Python value it holds."""
    return label.item() if isinstance(label, np.generic) else label


def describe(value: Any) -> str:
    """A value as a short text."""
    text = repr(plain(value))
    return text if len(text) <= 60 else text[:57] + "..."


# ---- entries as they were given, where doubles round them ------------------------------------------------------------


class Given(Protocol):
    """A table of exact entries, read row by row when they are needed."""

    def row(self, i: int) -> list[Fraction]:
        """Row i, one entry a column."""

    def take(self, rows: Any) -> Given:
        """Some of the rows."""

    def columns(self, chosen: Any) -> Given:
        """Some of the columns, by their numbers."""


@dataclass(frozen=True, eq=False)
class GivenCells:
    """A table of numbers or decimal text, one cell an entry."""

    cells: NDArray[Any]

    def row(self, i: int) -> list[Fraction]:
        return [exactly(cell) for cell in self.cells[i]]

    def take(self, rows: Any) -> GivenCells:
        return GivenCells(self.cells[rows])

    def columns(self, chosen: Any) -> GivenCells:
        return GivenCells(self.cells[:, chosen])


@dataclass(frozen=True, eq=False)
class GivenEntries:
    """A sparse table: for each row the columns and numbers or text of its entries."""

    entries: NDArray[Any]
    width: int

    def row(self, i: int) -> list[Fraction]:
        out = [Fraction(0)] * self.width
        for column, cell in self.entries[i].items():
            out[column] = exactly(cell)
        return out

    def take(self, rows: Any) -> GivenEntries:
        return GivenEntries(self.entries[rows], self.width)

    def columns(self, chosen: Any) -> GivenEntries:
        place = {column: k for k, column in enumerate(np.asarray(chosen).tolist())}
        out = np.empty(len(self.entries), dtype=object)
        for i, row in enumerate(self.entries):
            out[i] = {place[column]: cell for column, cell in row.items() if column in place}
        return GivenEntries(out, len(place))


def given_table(X: Any) -> Given | None:
    """The exact entries of a table that brings them along (``.given``), or of an array or list of fractions, decimals
    and the like; None where the doubles are exact."""
    known = getattr(X, "given", None)
    if known is not None:
        return known
    cells = _objects(X)
    return None if cells is None or cells.ndim != 2 or _all_doubles(cells, "X") else GivenCells(cells)


def given_vector(values: Any, name: str) -> tuple[Fraction, ...] | None:
    """The same for a vector of numbers."""
    cells = _objects(values)
    if cells is None or _all_doubles(cells := cells.ravel(), name):
        return None
    return tuple(exactly(cell) for cell in cells)


def times(number: float, values: NDArray[Any]) -> NDArray[Any]:
    """A number times each of several: doubles where these are exact, else rationals, one for all where all are alike.
    Rationals among the values are what was given."""
    if values.dtype != object and _is_power_of_two(number):
        return number * values
    factor, known = Fraction(number), np.atleast_1d(values).tolist()
    products = {value: factor * Fraction(value) for value in set(known)}
    if all(nearest_double(product) is not None for product in products.values()):
        return np.array([float(products[value]) for value in known])
    if len(products) == 1:
        return np.array(products[known[0]], dtype=object)
    return np.array([products[value] for value in known], dtype=object)


def _is_power_of_two(number: float) -> bool:
    return type(number) is float and abs(math.frexp(number)[0]) == 0.5


def _objects(values: Any) -> NDArray[Any] | None:
    """The values as an array of objects, None where they are numbers of the machine."""
    if getattr(values, "dtype", None) is not None and values.dtype.kind in "fiub":
        return None
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    elif not isinstance(values, (list, tuple, np.ndarray)):
        return None
    array = np.asarray(values)
    return array if array.dtype.kind == "O" else None


def _all_doubles(cells: NDArray[Any], name: str) -> bool:
    """Whether every entry is exactly a double. The entries are finite numbers: the caller has checked them."""
    for place, cell in np.ndenumerate(cells):
        try:
            if exactly(cell) != Fraction(float(cell)):
                return False
        except (ValueError, TypeError, AttributeError):
            raise DataError(
                f"{name} at {place} is {describe(cell)}: it is not a number that can be taken exactly"
            ) from None
    return True
