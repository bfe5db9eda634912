"""A matrix of inner products, together with what it was multiplied out from."""

from __future__ import annotations

from convexcls.rows.base import Array, Rows
from convexcls.rows.dense import DenseRows


class GramRows(DenseRows):
    """The matrix R'R of a root R, multiplied out. Multiplying out halves the digits, so where R'R d = 0 has to be told
    from a small number, R d = 0 is asked instead."""

    def __init__(self, array: Array, root: Rows) -> None:
        super().__init__(array)
        self.root = root
