"""Entries as they were given, where doubles round them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from convexcls.data.numbers import DataError, describe
from convexcls.rational.numbers import exactly


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
