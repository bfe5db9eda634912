"""Guesses in doubles. None of them is trusted: what they name is proved in rationals, or not used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.rows import Rows

Places = NDArray[np.intp]

#: Fewer rows than this are all taken at once.
FEW = 400
#: So many rounds of adding rows at most.
ROUNDS = 30
#: A smaller margin is taken for none.
SMALL = 1e-9
#: Rows with smaller entries are not divided by their size.
SMALLEST = 1e-280


@dataclass(frozen=True, eq=False)
class Guess:
    """A direction that may have every row above 0, and rows of which a positive combination may be 0."""

    direction: Array | None
    support: Places


def guess(rows: Rows) -> Guess:
    """The widest margin in a box,

        maximise t   subject to   a_i'v >= t ‖a_i‖,   |v_j| <= 1,

    by HiGHS on some of the rows, those that are violated added until there are none. The multipliers of a margin that
    is 0 are a positive combination of rows that is 0, and as they are a vertex, on few of them."""
    n, p = rows.shape
    sizes = abs(rows) @ np.ones(p)
    if not np.all(sizes > SMALLEST):  # too small for doubles, or 0
        return Guess(None, np.flatnonzero(~(sizes > SMALLEST))[:1])
    inverse = 1.0 / sizes
    chosen = np.arange(n) if n <= FEW else _lowest(inverse * (rows @ (rows.T @ inverse)), FEW // 2)
    found = Guess(None, chosen[:0])
    for _ in range(ROUNDS):
        solved = _widest(rows[chosen].to_dense() * inverse[chosen, None])
        if solved is None:
            return found
        margin, direction, weights = solved
        found = Guess(direction if margin > 0 else None, chosen[weights > SMALL * weights.max(initial=0.0)])
        if margin <= SMALL or chosen.size == n:
            return found
        margins = inverse * (rows @ direction)
        if margins.min() > 0.01 * margin:
            return found
        chosen = np.union1d(chosen, _lowest(margins, max(50, 4 * p)))
    return found


def _lowest(values: Array, count: int) -> Places:
    """The places of the lowest values, in rising order."""
    return np.sort(np.argpartition(values, min(count, values.size) - 1)[:count])


def _widest(rows: Array) -> tuple[float, Array, Array] | None:
    """The margin t, the direction, and the multipliers of the rows; None where HiGHS gives no answer."""
    from scipy.optimize import linprog

    m, p = rows.shape
    options: dict[str, Any] = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    bounds = np.column_stack([np.append(np.full(p, -1.0), 0.0), np.ones(p + 1)])
    found = linprog(
        np.append(np.zeros(p), -1.0), A_ub=np.column_stack([-rows, np.ones(m)]), b_ub=np.zeros(m), bounds=bounds,
        method="highs-ds", options=options,
    )  # fmt: skip
    if found.x is None:
        return None
    return float(found.x[p]), np.asarray(found.x[:p]), np.abs(np.asarray(found.ineqlin.marginals))
