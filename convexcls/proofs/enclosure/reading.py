"""Rows of data as balls.

Doubles that are the data are read as such; only where the data were given otherwise (fractions, decimals, text) or are
worked out from doubles are they read as rationals, entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.proofs.enclosure.balls import ball
from convexcls.rows import Rows

if TYPE_CHECKING:
    from flint import arb_mat


def read_rows(rows: Rows, index: Any, columns: Sequence[int], exponents: Sequence[int]) -> arb_mat:
    """Some rows and columns, column j times 2^-exponents_j."""
    from flint import arb_mat

    shape = (len(index), len(columns))
    doubles = rows.exact_doubles(index)
    if doubles is not None:
        dense = doubles[:, columns]
        powers = np.array(exponents, dtype=np.int64)
        with np.errstate(all="ignore"):
            scaled = np.ldexp(dense, -powers)
            if np.array_equal(np.ldexp(scaled, powers), dense):  # nothing underflowed
                return arb_mat(*shape, scaled.ravel().tolist())
    units = list(zip(columns, exponents, strict=True))
    return arb_mat(*shape, [ball(row[j], -e) for row in rows.rational(index) for j, e in units])
