"""Rows of data as balls.

Doubles that are the data are read as such; only where the data were given otherwise (fractions, decimals, text) or are
worked out from doubles are they read as rationals, entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.proofs.enclosure.balls import ball
from convexcls.rows import ConstantRows, DenseRows, DiagonalRows, JoinedRows, PickedRows, Rows, ScaledRows, SparseRows

if TYPE_CHECKING:
    from flint import arb_mat


def read_rows(rows: Rows, index: Any, columns: Sequence[int], exponents: Sequence[int]) -> arb_mat:
    """Some rows and columns, column j times 2^-exponents_j."""
    from flint import arb_mat

    shape = (len(index), len(columns))
    if _are_doubles(rows):
        dense = rows[index].to_dense()[:, columns]
        powers = np.array(exponents, dtype=np.int64)
        with np.errstate(all="ignore"):
            scaled = np.ldexp(dense, -powers)
            if np.array_equal(np.ldexp(scaled, powers), dense):  # nothing underflowed
                return arb_mat(*shape, scaled.ravel().tolist())
    units = list(zip(columns, exponents, strict=True))
    return arb_mat(*shape, [ball(row[j], -e) for row in rows.rational(index) for j, e in units])


def _are_doubles(rows: Rows) -> bool:
    """Whether the doubles of the rows are the data, without rounding."""
    if isinstance(rows, JoinedRows):
        return all(_are_doubles(part) for _, part in rows.parts)
    if isinstance(rows, ScaledRows):
        return bool(np.all(np.abs(rows.left) == 1) and np.all(np.abs(rows.right) == 1)) and _are_doubles(rows.base)
    return type(rows) in (DenseRows, SparseRows, ConstantRows, DiagonalRows, PickedRows) and rows.rounding == 0
