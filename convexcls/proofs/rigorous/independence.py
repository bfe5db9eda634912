"""Flat unknowns whose columns depend on others, found without rounding.

The cost of an unknown is the sum of its column, q and all rows, times the multipliers. Where a column is a combination
of others, so is its cost, exactly: where theirs vanish, it does. Only small tables are looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.rational import exactly, independent_rows

Places = NDArray[np.intp]

#: Tables with more entries are taken as they are.
LARGEST = 4000


def independent(e: Evaluation, places: Places) -> Places:
    """The places whose columns span those of all; all of them where that is not looked at."""
    blocks = [*e.problem.terms, *e.structure.rows]
    height = 1 + sum(b.size for b in blocks)
    if height * places.size > LARGEST:
        return places
    columns = [[exactly(v)] for v in e.problem.q[places].tolist()]
    for b in blocks:
        names = [v for v in b.entries if np.any(np.isin(e.problem.places([v]), places))]
        if not names:
            continue
        for row in e.problem.joined({v: b.entries[v] for v in names}, b.size).rational():
            for column, place in zip(columns, places.tolist(), strict=True):
                column.append(row[place])
    return places[independent_rows(columns)]
