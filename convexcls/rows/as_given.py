"""Rows that know their entries as they were given, where doubles round them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.data import Given, GivenCells
from convexcls.rows.base import Rows


def given_cells(rows: Rows, index: Any) -> GivenCells | None:
    """Some rows as they were given, for other rows that hold the same entries; None where the doubles are exact."""
    if not rows.rounding:
        return None
    exact = rows.rational(index)
    cells = np.empty((len(exact), rows.shape[1]), dtype=object)
    for i, row in enumerate(exact):
        cells[i] = row
    return GivenCells(cells)


class AsGiven(Rows):
    """Rows of data: doubles for all work but exact proofs, which read ``given`` instead."""

    def given_at(self, index: Any) -> Given | None:
        """What some of the rows were given as."""
        return None if self.given is None else self.given.take(index)

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        if self.given is None:
            return super().rational(index)
        chosen = np.arange(self.shape[0])
        return [self.given.row(i) for i in (chosen if index is None else chosen[index]).tolist()]

    @property
    def rounding(self) -> float:
        return 0.0 if self.given is None else 1.0
