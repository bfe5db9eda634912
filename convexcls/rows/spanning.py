"""Wide rows: few columns that span all the others.

Whether rows can be moved to one side hangs on the values A v that they can take and on the relations lambda'A = 0 among
them. Both stay what they are on columns S that span all columns, of which as many as there are rows suffice. Doubles
guess them, by orthogonal factors with pivoting. That they span the others is proved: modulo a prime they have as high a
rank as there are rows, or every lambda with lambda'A_S = 0 has lambda'A = 0, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from convexcls.arrays import Indices
from convexcls.rational.elimination import Matrix, Vector, null_space, rank_modulo_prime
from convexcls.rows import Rows

#: Up to so many columns nothing is gained.
NARROW = 100
#: So many columns are looked at together.
BLOCK_COLUMNS = 1024
#: A column nearer to the span of others, relative to its size, is taken to be in it, until rationals tell.
NEARLY_IN_SPAN_DISTANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Spanning:
    """Columns that span all columns of rows, and the rows on these alone."""

    rows: Rows
    columns: Indices
    width: int

    def widened(self, v: Sequence[Fraction]) -> Vector:
        """A vector over the columns as one over all of them, 0 elsewhere."""
        out = [Fraction(0)] * self.width
        for column, value in zip(self.columns.tolist(), v, strict=True):
            out[column] = value
        return out


def dimension(rows: Rows) -> int:
    """How many columns the arithmetic in rationals has to do with, at the most."""
    n, width = rows.shape
    return n if width > max(2 * n, NARROW) else width


def spanning_columns(rows: Rows) -> Spanning | None:
    """Such columns of wide rows; None where there are not many more columns than rows."""
    width = rows.shape[1]
    if dimension(rows) == width:
        return None
    columns = _guessed(rows)
    while True:
        few = rows.select_columns(columns)
        outside = _outside(rows, few.rational())
        if not outside.size:
            return Spanning(few, columns, width)
        columns = np.union1d(columns, outside)


def _guessed(rows: Rows) -> Indices:
    """Columns that seem to span all of them, and are not near to each other's span."""
    from scipy.linalg import qr

    n = rows.shape[0]
    kept: Indices = np.empty(0, dtype=np.intp)
    candidates = np.flatnonzero(rows.column_max() > 0)
    for start in range(0, candidates.size, BLOCK_COLUMNS):
        columns = np.concatenate([kept, candidates[start : start + BLOCK_COLUMNS]])
        array = rows.select_columns(np.sort(columns)).to_dense()
        with np.errstate(all="ignore"):
            array = array / np.abs(array).max(axis=0)
            array = array / np.abs(array).max(axis=1, keepdims=True)
        factor, order = qr(np.nan_to_num(array), mode="r", pivoting=True)
        sizes = np.abs(np.diag(factor))
        kept = np.sort(columns)[order[: np.count_nonzero(sizes > NEARLY_IN_SPAN_DISTANCE * sizes.max(initial=0.0))]]
        if kept.size == n:
            break
    return np.sort(kept) if kept.size else np.arange(1)


def _outside(rows: Rows, few: Matrix) -> Indices:
    """Columns outside the span of a few, found one for each relation among the rows that holds on these alone; empty
    where there are none."""
    n, width = rows.shape
    if rank_modulo_prime(few) == n:
        return np.empty(0, dtype=np.intp)
    relations = null_space([list(column) for column in zip(*few, strict=True)])
    used = np.flatnonzero([any(column) for column in zip(*relations, strict=True)])
    whole = _whole([list(column) for column in zip(*relations, strict=True)]).T[:, used]
    some = rows[used]
    for start in range(0, width, BLOCK_COLUMNS):
        columns = np.arange(start, min(start + BLOCK_COLUMNS, width))
        left = whole @ _whole(some.select_columns(columns).rational()) != 0
        if left.any():
            return np.unique(columns[left.argmax(axis=1)[left.any(axis=1)]])
    return np.empty(0, dtype=np.intp)


def _whole(matrix: Matrix) -> np.ndarray[tuple[int, int], np.dtype[np.object_]]:
    """Each column times the number that makes it whole."""
    scales = [lcm(*(v.denominator for v in column)) for column in zip(*matrix, strict=True)]
    whole = [[v.numerator * (s // v.denominator) for v, s in zip(row, scales, strict=True)] for row in matrix]
    return np.array(whole, dtype=object)
