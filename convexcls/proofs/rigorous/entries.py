"""How far the entries of rows are from what the problem means.

Data that were given as decimals are rounded when they are read: relatively, by half a unit in the last place. Rows that
were centred by their class's mean, and rows that are sums over samples, are rounded when they are worked out, and the
sum may cancel: there the bound is absolute, by column. It compares what was worked out with the same sum without
rounding, in rationals where the table is small, else added up in such a way that its error is small and known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from convexcls.arrays import Array
from convexcls.proofs.rigorous.rounding import ETA, UNIT, Ball, gamma, raised
from convexcls.rational.numbers import to_double
from convexcls.rows import CentredRows, Factors, Rows
from convexcls.rows.summation import row_blocks

#: Sums over tables with more entries are not added up in rationals.
MAX_RATIONAL_ENTRIES = 20_000
#: So many entries are added up in doubles, then these sums without rounding.
PARTIAL_SUM_LENGTH = 32


def largest_factors(f: Factors) -> Array | float:
    """The largest |left_i right_j| of each column."""
    largest = 1.0 if f.left is None else float(np.abs(f.left).max(initial=0.0))
    return largest if f.right is None else np.abs(f.right) * largest


class EntryError(NamedTuple):
    """|true - entry| <= relative |entry| + absolute, the last by column; found in so many passes over the data."""

    relative: float
    absolute: Array
    passes: int = 0


def entry_error(rows: Rows) -> EntryError:
    """The bound of some rows of a problem."""
    if (centred := rows.as_centred) is not None:
        return EntryError(0.0, _centring_error(centred), int(centred.whole.entries > MAX_RATIONAL_ENTRIES))
    if rows.source is not None and rows.source[0].entries > MAX_RATIONAL_ENTRIES:
        passes = int(not rows.source[0].factors().core.is_ones)
        return EntryError(0.0, _distance(rows.to_dense()[0], _sum(*rows.source)), passes)
    if not np.isfinite(rows.rounding):
        array = rows.in_memory()
        known = array is not None  # few rows, worked out from data
        return EntryError(0.0, _against(array, rows.rational()) if known else np.full(rows.shape[1], np.inf))
    return EntryError(rows.rounding * UNIT * 1.01, np.zeros(rows.shape[1]))


def error_from_afar(rows: Rows) -> EntryError | None:
    """A bound that takes no time, from how the rows were worked out; None where none is known."""
    if (centred := rows.as_centred) is not None:
        return EntryError(0.0, _centring_error(centred, centred.whole.mean_error()))
    bound = rows.column_error()
    return None if bound is None else EntryError(0.0, bound)


def _centring_error(rows: CentredRows, mean: Array | None = None) -> Array:
    """Of rows minus the mean of their group: two subtractions, the mean, and the rounding of the data themselves."""
    whole = rows.whole
    reach = whole.span()
    given = whole.base.rounding * UNIT * 2.0 * (np.abs(whole.origin) + reach) if whole.base.rounding else 0.0
    mean = _mean_error(whole) if mean is None else mean
    return np.asarray(raised(mean + 4 * UNIT * reach + 2.0 * given + 8 * ETA))


def _mean_error(rows: CentredRows) -> Array:
    """Of the means of all groups."""
    if rows.entries > MAX_RATIONAL_ENTRIES:
        return np.asarray(_distance(rows.means, _means(rows)).max(axis=0))
    origin = [Fraction(v) for v in rows.origin.tolist()]
    exact = [[m - o for m, o in zip(row, origin, strict=True)] for row in rows.exact_means]
    return _against(rows.means, exact)


def _means(rows: CentredRows) -> Ball:
    """The means of all groups, from the origin, one a row."""
    count, width = rows.means.shape
    members = (rows.groups[:, None] == np.arange(count)).astype(float)

    def blocks() -> Iterator[Array]:
        for b in row_blocks(rows.shape[0]):
            moved = rows.base[b].to_dense() - rows.origin
            yield (members[b, :, None] * moved[:, None, :]).reshape(len(moved), count * width)

    total, sizes = _added_up(blocks(), count * width), np.repeat(members.sum(axis=0), width)
    mid = total.mid / sizes
    rad = raised(total.rad / sizes + UNIT * np.abs(mid) + ETA)
    return Ball(mid.reshape(count, width), rad.reshape(count, width))


def _sum(rows: Rows, weights: Array) -> Ball:
    """R' weights."""
    return _added_up((rows[b].to_dense() * weights[b, None] for b in row_blocks(rows.shape[0])), rows.shape[1])


def _added_up(blocks: Iterator[Array], width: int) -> Ball:
    """The sums of columns whose entries are themselves rounded a few times."""
    parts, sizes = [], np.zeros(width)
    for block in blocks:
        padded = np.vstack([block, np.zeros((-len(block) % PARTIAL_SUM_LENGTH, width))])
        parts.append(padded.reshape(-1, PARTIAL_SUM_LENGTH, width).sum(axis=1))
        sizes += np.abs(padded).sum(axis=0)
    together = np.vstack(parts)
    mid = np.array([math.fsum(column) for column in together.T.tolist()])
    g = gamma(PARTIAL_SUM_LENGTH + 8)
    return Ball(mid, raised(1.01 * g * sizes + 2 * UNIT * np.abs(mid) + 64 * len(together) * ETA))


def _distance(values: Array, ball: Ball) -> Array:
    return (Ball.exact(values) - ball).size


def _against(doubles: Array, exact: list[list[Fraction]]) -> Array:
    """The largest distance in each column."""
    off = np.zeros(doubles.shape[1])
    for row, true_row in zip(doubles.tolist(), exact, strict=True):
        for j, (double, true) in enumerate(zip(row, true_row, strict=True)):
            if true != double:
                off[j] = max(off[j], np.nextafter(to_double(abs(true - Fraction(double))), np.inf))
    return off
