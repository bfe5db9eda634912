"""An active-set method that never leaves the feasible set: for matrices of low rank and bounds that are far away, where
pairs of unknowns come forward too slowly.

From a feasible point the free unknowns move towards the solution of their equations, but no further than the first
bound, where one or more stay. When the solution is reached, the unknowns whose gradients at their bounds have the wrong
sign most are set free. The objective falls at every step, so what was gained is kept. A step of a singular system that
no bound stops is a direction along which the objective falls for ever.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.solvers.kernel.box_program import BoxProgram
from convexcls.solvers.kernel.free_set import FreeSet, Settled, lacking, refined, wrong_side

#: A step larger than the point by this factor, and not stopped by a bound, has no end.
ENDLESS = 1e7


def walk(program: BoxProgram, b: Array, g: Array, shift: float, rounds: int) -> Settled:
    """Go from a feasible point towards the optimum, for at most so many rounds; b and g are left as they are."""
    b, g = b.copy(), g.copy()
    free = (b > program.low) & (b < program.high)
    for taken in range(1, rounds + 1):
        index = np.flatnonzero(free)
        equations = FreeSet.of(program, index) if index.size else None
        if index.size:
            if equations is None:
                break
            d, new_shift = equations.step(g[index], lacking(program, b))
            if not np.all(np.isfinite(d)):
                break
            step, stopped = _to_first_bound(program, b, index, d)
            if equations.singular and not stopped.size and _has_no_end(program, b, d):
                return Settled(b, g, shift, taken, False, _cleaned(index, d, b.size))
            b[index] += step
            program.store.add_product(index, step, g)
            if stopped.size:
                b[stopped] = np.where(d[np.isin(index, stopped)] > 0, program.high[stopped], program.low[stopped])
                free[stopped] = False
                continue
            shift = new_shift
        wrong = wrong_side(program, b, g, free, shift)
        if not np.any(wrong):
            return refined(program, b, shift, taken, equations)
        count = min(1 + index.size // 20, int(np.count_nonzero(wrong)))
        free[np.argpartition(wrong, -count)[-count:]] = True
    return Settled(b, g, shift, rounds, False)


def _to_first_bound(program: BoxProgram, b: Array, index: Indices, d: Array) -> tuple[Array, Indices]:
    """The step, shortened to the first bound, and the unknowns that stop there."""
    room = np.where(d > 0, program.high[index] - b[index], program.low[index] - b[index])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = np.where(d != 0, room / d, np.inf)
    first = float(reach.min())
    if first >= 1:
        return d, np.empty(0, dtype=np.intp)
    return max(first, 0.0) * d, index[reach <= first]


def _has_no_end(program: BoxProgram, b: Array, d: Array) -> bool:
    size = max(float(np.abs(b).max()), program.unit / (float(program.store.diagonal().max()) or 1.0))
    return bool(np.abs(d).max() > ENDLESS * size)


def _cleaned(index: Indices, d: Array, size: int) -> Array:
    """The step as a direction over all unknowns, without dust."""
    direction = np.zeros(size)
    unit = d / np.abs(d).max()
    direction[index] = np.where(np.abs(unit) > 1e-9, unit, 0.0)
    return direction
