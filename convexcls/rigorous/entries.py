"""How far the entries of rows are from what the problem means.

Data that were given as decimals are rounded when they are read: relatively, by half a unit in the last place. Rows that
were centred by their class's mean, and rows that are sums over samples, are rounded when they are worked out, and the
sum may cancel: there the bound is absolute, by column. With S samples in blocks of B, a mean of x - origin is off by

    gamma_k max |x - origin|,        k = B + S / B + 4
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.rigorous.rounding import ETA, UNIT, gamma, raised
from convexcls.rows import CentredRows, Rows
from convexcls.rows.base import BLOCK
from convexcls.rows.sums import RoundedRows

Array = NDArray[np.float64]

#: Sums over tables with more entries are not added up again without rounding.
LARGE = 2_000_000


class EntryError(NamedTuple):
    """|true - entry| <= relative |entry| + absolute, the last by column."""

    relative: float
    absolute: Array


def entry_error(problem: Problem, rows: Rows) -> EntryError:
    """The bound of some rows of a problem."""
    width = rows.shape[1]
    if isinstance(rows, CentredRows):
        return EntryError(0.0, centring_error(rows))
    if isinstance(rows, RoundedRows):
        return EntryError(0.0, _sum_error(problem, rows))
    if not np.isfinite(rows.rounding):
        return EntryError(0.0, np.full(width, np.inf))
    return EntryError(rows.rounding * UNIT * 1.01, np.zeros(width))


def centring_error(rows: CentredRows) -> Array:
    """Of rows minus the mean of their group: two subtractions, the mean, and the rounding of the data themselves."""
    n = rows.whole.shape[0]
    k = min(n, BLOCK) + n // BLOCK + 8
    given = rows.base.rounding * UNIT * (2.0 * np.abs(rows.origin) + 2.0 * _reach(rows)) if rows.base.rounding else 0.0
    return np.asarray(raised(2.0 * gamma(k) * _reach(rows) + 2.0 * given + 8 * k * ETA))


def _reach(rows: CentredRows) -> Array:
    """At least max |x - origin| by column: an entry is x - origin - mean, and a mean is no larger than the largest."""
    centred, means = rows.whole.column_max(), np.abs(rows.means).max(axis=0, initial=0.0)
    return np.asarray(1.01 * (centred + means))


def _sum_error(problem: Problem, rows: RoundedRows) -> Array:
    """Of sums over samples: against the sums without rounding or, where there are many samples, beforehand."""
    blocks = (*problem.terms, *problem.constraints)
    tables = [r for b in blocks for r in b.entries.values() if r.shape[1] == rows.shape[1] and r is not rows]
    largest = max(tables, key=lambda r: r.entries, default=rows)
    if largest.entries > LARGE:
        return _beforehand(problem, rows, largest)
    off = np.zeros(rows.shape[1])
    for row, doubles in zip(rows.rational(), rows.array.tolist(), strict=True):
        for j, (true, double) in enumerate(zip(row, doubles, strict=True)):
            if true != double:
                off[j] = max(off[j], _rounded_up(abs(true - Fraction(double))))
    return off


def _beforehand(problem: Problem, rows: RoundedRows, table: Rows) -> Array:
    """Of a difference of class means twice what centring is off; of a sum with weights, whose total is the right-hand
    side, the error of a dot product as long as the table."""
    if isinstance(table, CentredRows):
        return 2.0 * centring_error(table)
    weight = next((float(np.abs(c.rhs).max()) for c in problem.constraints if rows in c.entries.values()), np.inf)
    n = table.shape[0]
    return np.asarray(raised(1.01 * gamma(n + 8) * table.column_max() * weight + 8 * n * ETA))


def _rounded_up(value: Fraction) -> float:
    try:
        return float(np.nextafter(float(value), np.inf))
    except OverflowError:
        return float("inf")
