"""Doubles as the decimals that they were written as.

A double that came of 0.3 is not 3/10 but near it, and of doubles 0.1 + 0.2 is not 0.3: a column that is the sum of two
others on paper depends on them up to rounding only. Stated as decimals it does so exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scipy import sparse

from convexcls.data.matrix import Named, check_matrix, feature_names
from convexcls.data.numbers import LEAST_NORMAL, given_table


@dataclass(frozen=True, eq=False)
class ShortestDecimals:
    """A dense or sparse table of doubles, each the shortest decimal that rounds to it. A row is made when it is asked
    for."""

    matrix: Any

    def row(self, i: int) -> list[Fraction]:
        """Row i, one entry a column."""
        (row,) = self.matrix[[i]].toarray() if sparse.issparse(self.matrix) else self.matrix[[i]]
        return [shortest_decimal(entry) for entry in row.tolist()]

    def take(self, rows: Any) -> ShortestDecimals:
        """Some of the rows."""
        return ShortestDecimals(self.matrix[rows])

    def columns(self, chosen: Any) -> ShortestDecimals:
        """Some of the columns, by their numbers."""
        return ShortestDecimals(self.matrix[:, chosen])


def as_decimals(X: Any) -> Named:
    """Samples whose numbers are the decimals that somebody wrote, not the doubles that these were rounded to.

    Each entry is the shortest decimal that rounds to its double, which is what ``print`` shows. Any model takes the
    result in place of X, and what is proved then speaks of the decimals. Tables of ``read_table``, and entries that are
    Decimals, Fractions or large integers, are taken as they were given without this.

    Here the third column is the sum of the others; as doubles it is so up to rounding only.

    >>> import convexcls as cc
    >>> X = [[0.1, 0.2, 0.3], [0.7, 0.1, 0.8], [0.4, 0.5, 0.9], [0.6, 0.1, 0.7], [0.2, 0.2, 0.4]]
    >>> y = [0, 1, 1, 0, 1]
    >>> cc.LeastSquares(X, y).solve().status
    'undecided'
    >>> cc.LeastSquares(cc.as_decimals(X), y).solve().status
    'optimal'
    """
    matrix = check_matrix(X)
    known = given_table(X)
    shown = ShortestDecimals(matrix.tocsr() if sparse.issparse(matrix) else matrix) if known is None else known
    coding = X.coding if isinstance(X, Named) else None
    return Named(matrix, feature_names(X, int(matrix.shape[1])), given=shown, coding=coding)


def shortest_decimal(entry: float) -> Fraction:
    """The shortest decimal that rounds to a double; below the normal range, where that may be far from it, itself."""
    return Fraction(repr(entry)) if abs(entry) >= LEAST_NORMAL else Fraction(entry)
