"""Where to begin with many unknowns: the solution of a sample of them, which tells the bounds of the others.

Of m unknowns among n each stands for n/m: their bounds are raised by that. With the solution a of their program and
g = K a + p, the gradient of all unknowns, the others are put where g + shift tells them to be, at the upper bound where
it is negative and at the lower bound elsewhere; the shift is the one with which the equation holds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.rows.row_store import RowStore
from convexcls.solvers.kernel.box_program import BoxProgram
from convexcls.solvers.kernel.smo_iterate import SmoIterate, feasible, working_set_size

#: So many unknowns and fewer are begun with as they are; of more one in so many is in the sample.
MAX_UNKNOWNS_AT_ONCE, ONE_IN = 6000, 4
#: The gap to which a sample is solved, in units of the gradient, and the most working sets.
COARSE_GAP, MAX_SETS = 0.1, 100
#: The sample is the same every time.
SEED = 0


def from_a_sample(program: BoxProgram, working_set: int | None) -> Array:
    """A point near the solution, not quite feasible; 0 where there are few unknowns, or some without bounds."""
    n, bounded = program.p.size, np.all(np.isfinite(program.high - program.low))
    if n <= MAX_UNKNOWNS_AT_ONCE or not bounded or program.total or not isinstance(program.store, RowStore):
        return np.zeros(n)
    chosen = np.sort(np.random.default_rng(SEED).choice(n, n // ONE_IN, replace=False))
    part = _part(program, program.store, chosen)
    b = feasible(part, from_a_sample(part, working_set))
    if b is None:
        return np.zeros(n)
    iterate = SmoIterate(part, b, part.gradient_of(b), working_set_size(part, working_set))
    for _ in range(MAX_SETS):
        gap = iterate.gap()
        if gap <= COARSE_GAP * part.unit:
            break
        iterate.advance(max(0.1 * gap, 0.5 * COARSE_GAP * part.unit))
    if not np.any(iterate.b):  # such as of one class: it tells nothing
        return np.zeros(n)
    found = np.zeros(n)
    found[chosen] = iterate.b
    return _put_on_bounds(program, chosen, iterate.b / ONE_IN, program.gradient_of(found))


def _part(program: BoxProgram, store: RowStore, chosen: Indices) -> BoxProgram:
    """The program of some unknowns, each of which stands for others, too."""
    return replace(
        program,
        store=store.of_some(chosen),
        scale=program.scale[chosen],
        p=program.p[chosen],
        low=ONE_IN * program.low[chosen],
        high=ONE_IN * program.high[chosen],
    )


def _put_on_bounds(program: BoxProgram, chosen: Indices, a: Array, g: Array) -> Array:
    """a for the chosen unknowns, the others at the bounds that g tells them."""
    b = program.low.copy()
    b[chosen] = a
    others = np.setdiff1d(np.arange(b.size), chosen)
    rising = others[np.argsort(g[others], kind="stable")]
    if program.total is None:
        count = int(np.count_nonzero(g[others] < 0.0))
    else:
        sums = np.cumsum(program.high[rising] - program.low[rising])
        count = int(np.searchsorted(sums, program.total - float(b.sum())))
    b[rising[:count]] = program.high[rising[:count]]
    return b
