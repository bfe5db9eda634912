"""Fewer multipliers that pull alike.

Where many rows are tight at once, as on a grid of points or with repeated samples, an answer in doubles may spread its
multipliers over all of them. A vertex of the set of all multipliers with the same pull has as many between their bounds
as there are unknowns; it is found by a linear program in doubles, and is a guess like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from convexcls.proofs.exact.products import Array

#: More multipliers than this are left as they are.
MOST = 20_000


def thinned(rows: Array, multipliers: Array, owners: Sequence[int]) -> Array:
    """Multipliers >= 0 with the same sum of multiplier times row, the same sum for each owner (-1: none), and as few as
    a vertex has; those given where none is found."""
    from scipy.optimize import linprog

    count = rows.shape[0]
    if count > MOST or not np.all(np.isfinite(rows)):
        return multipliers
    owner = np.asarray(owners)
    held = np.flatnonzero(owner >= 0)
    groups = np.unique(owner[held], return_inverse=True)[1]
    sums = sparse.csr_array((np.ones(held.size), (groups, held)), shape=(int(groups.max(initial=-1)) + 1, count))
    reach = np.abs(rows).max(axis=0, initial=0.0)
    scaled = rows / np.where(reach > 0, reach, 1.0)
    size = float(np.abs(multipliers).max(initial=0.0)) or 1.0
    system = sparse.vstack([sparse.csr_array(scaled.T), sums], format="csr")
    target = system @ (multipliers / size)
    try:
        found = linprog(np.zeros(count), A_eq=system, b_eq=target, bounds=(0, None), method="highs-ds")
    except ValueError:
        return multipliers
    return multipliers if found.x is None else np.maximum(found.x, 0.0) * size
