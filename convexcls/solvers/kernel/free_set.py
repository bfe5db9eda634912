"""The end of the way: the unknowns between their bounds solve their equations.

With F the free unknowns and all others at a bound, the optimum solves

    K_FF d + shift = -g_F,      sum(d) = what the equation lacks,

by one Cholesky factorization. ``settle`` puts an unknown that crosses a bound there, sets free one whose gradient at a
bound has the wrong sign, and again, until nothing changes (a semismooth Newton method: Hintermüller, Ito and Kunisch
2003). Near the optimum this takes a few rounds and ends at rounding.

Where K_FF is singular, as a linear kernel's is, or bounds are far away, ``walk`` goes on more carefully: from a
feasible point the free unknowns move towards the solution of their equations, but no further than the first bound,
where one or more stay. When the solution is reached, the unknowns whose gradients have the wrong sign most are set
free. The objective falls at every step, so what was gained is kept. A step of a singular system that no bound stops is
a direction along which the objective falls for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from convexcls.arrays import Array, Indices, Mask
from convexcls.solvers.kernel.box_program import BoxProgram

#: The most rounds, and how many may pass without fewer changes than ever before.
MAX_ROUNDS, MAX_ROUNDS_WITHOUT_GAIN = 40, 4
#: Added to the diagonal, relative to it, where rows repeat each other.
RIDGE = 1e-13
#: The share of the memory limit for the factorized matrix.
FACTOR_MEMORY_SHARE = 0.25
#: Pivots below this, relative to the diagonal, are rounding.
SMALLEST_PIVOT = 1e-13
#: A step larger than the point by this factor, and not stopped by a bound, has no end.
ENDLESS_STEP_FACTOR = 1e7


def _factorized(program: BoxProgram, index: Indices, ridge: float) -> Any:
    """The Cholesky factor of K_FF, or None where it has none."""
    K = program.store.block(index, index)
    where = np.arange(index.size)
    largest = float(K[where, where].max()) or 1.0
    if program.total is not None:
        K += largest  # the sum of a step is known, so this changes the shift only, and a constant is no null vector
    K[where, where] += ridge * largest * index.size
    try:
        factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    return factor if ridge or np.all(factor[0][where, where] ** 2 >= SMALLEST_PIVOT * largest) else None


@dataclass(frozen=True, eq=False)
class Settled:
    """A point, its gradient and the equation's multiplier, and whether it is optimal to rounding; where the objective
    falls for ever, a ``direction`` of that kind."""

    b: Array
    g: Array
    shift: float
    rounds: int
    optimal: bool
    direction: Array | None = None


class FreeSet:
    """The factorized equations of some free unknowns."""

    def __init__(self, program: BoxProgram, index: Indices, factor: Any, singular: bool) -> None:
        self.program, self.index, self.factor, self.singular = program, index, factor, singular

    @classmethod
    def of(cls, program: BoxProgram, index: Indices) -> FreeSet | None:
        """The factorized equations, of a singular matrix with a little added; None where they do not fit the memory or
        cannot be factorized."""
        if 8.0 * index.size**2 > FACTOR_MEMORY_SHARE * program.store.limit:
            return None
        for ridge in (0.0, RIDGE, 1e3 * RIDGE):
            factor = _factorized(program, index, ridge)
            if factor is not None:
                return cls(program, index, factor, ridge > 0)
        return None

    def step(self, g: Array, lacking: float) -> tuple[Array, float]:
        """d and the shift for the gradient g of the free unknowns."""
        if self.program.total is None:
            return np.asarray(cho_solve(self.factor, -g, check_finite=False)), 0.0
        middle = float(g.mean())
        both = cho_solve(self.factor, np.column_stack([middle - g, np.ones(g.size)]), check_finite=False)
        raised = (both[:, 0].sum() - lacking) / both[:, 1].sum()
        d = both[:, 0] - raised * both[:, 1]
        return d, float(raised) - middle + float(self.program.store.diagonal()[self.index].max()) * lacking


def settle(program: BoxProgram, b: Array, g: Array, shift: float) -> Settled:
    """Bring a point that is near the optimum there; b and g are left as they are."""
    b, g = b.copy(), g.copy()
    free = (b > program.low) & (b < program.high)
    fewest, waited, rounds = np.inf, 0, 0
    while rounds < MAX_ROUNDS and waited < MAX_ROUNDS_WITHOUT_GAIN:
        rounds += 1
        index = np.flatnonzero(free)
        equations = None
        if index.size:
            equations = FreeSet.of(program, index)
            if equations is None or equations.singular:
                break
            d, shift = equations.step(g[index], lacking(program, b))
            program.store.add_product(index, d, g)
            b[index] += d
        changes = _release(program, b, g, free, shift) + _put_on_bounds(program, b, g, free, index)
        if not changes:
            return refined(program, b, shift, rounds, equations)
        waited = 0 if changes < fewest else waited + 1
        fewest = min(fewest, changes)
    return Settled(b, g, shift, rounds, False)


def lacking(program: BoxProgram, b: Array) -> float:
    """What the unknowns have to gain in sum to satisfy the equation."""
    return 0.0 if program.total is None else program.total - float(b.sum())


def _put_on_bounds(program: BoxProgram, b: Array, g: Array, free: Mask, index: Indices) -> int:
    """Put unknowns that crossed a bound on it, where they stay."""
    out = index[(b[index] < program.low[index]) | (b[index] > program.high[index])]
    if out.size:
        ends = np.clip(b[out], program.low[out], program.high[out])
        program.store.add_product(out, ends - b[out], g)
        b[out] = ends
        free[out] = False
    return int(out.size)


def wrong_side(program: BoxProgram, b: Array, g: Array, free: Mask, shift: float) -> Array:
    """By how much, beyond rounding, the gradient of each unknown at a bound has the wrong sign; 0 where it has not."""
    residual, noise = g + shift, 1e-13 * (program.unit + abs(shift))
    inwards = np.maximum(np.where(b < program.high, -residual, 0.0), np.where(b > program.low, residual, 0.0))
    return np.where(~free & (inwards > noise), inwards, 0.0)


def _release(program: BoxProgram, b: Array, g: Array, free: Mask, shift: float) -> int:
    """Set unknowns free that are at a bound with the gradient of the wrong sign."""
    wrong = wrong_side(program, b, g, free, shift) > 0
    free |= wrong
    return int(np.count_nonzero(wrong))


def refined(program: BoxProgram, b: Array, shift: float, rounds: int, equations: FreeSet | None) -> Settled:
    """The point with what rounding left of the equations taken out, as far as it goes, and its gradient worked out
    afresh: first of the free unknowns alone, then once of all."""
    if equations is not None:
        index = equations.index
        g = program.gradient_at(b, index)
        for _ in range(20 if equations.singular else 3):
            worst = float(np.abs(g + shift).max())
            if worst <= 3e-14 * (program.unit + abs(shift)):
                break
            d, new_shift = equations.step(g, lacking(program, b))
            moved = b.copy()
            moved[index] = np.clip(b[index] + d, program.low[index], program.high[index])
            fresh = program.gradient_at(moved, index)
            if not float(np.abs(fresh + new_shift).max()) < 0.5 * worst:
                break
            b, g, shift = moved, fresh, new_shift
    return Settled(b, program.gradient(b), shift, rounds, True)


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
    distance = np.where(d > 0, program.high[index] - b[index], program.low[index] - b[index])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = np.where(d != 0, distance / d, np.inf)
    first = float(reach.min())
    if first >= 1:
        return d, np.empty(0, dtype=np.intp)
    return max(first, 0.0) * d, index[reach <= first]


def _has_no_end(program: BoxProgram, b: Array, d: Array) -> bool:
    size = max(float(np.abs(b).max()), program.unit / (float(program.store.diagonal().max()) or 1.0))
    return bool(np.abs(d).max() > ENDLESS_STEP_FACTOR * size)


def _cleaned(index: Indices, d: Array, size: int) -> Array:
    """The step as a direction over all unknowns, without dust."""
    direction = np.zeros(size)
    unit = d / np.abs(d).max()
    direction[index] = np.where(np.abs(unit) > 1e-9, unit, 0.0)
    return direction
