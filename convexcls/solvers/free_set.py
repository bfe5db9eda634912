"""The end of the way: Newton's method on the unknowns between their bounds.

With F the free unknowns and all others at a bound, the optimum solves

    K_FF d + shift = -g_F,      sum(d) = what the equation lacks,

by one Cholesky factorization. Where the solution crosses a bound, the unknown is put there; where the sign of the
gradient at a bound is wrong, it is set free; and again, until nothing changes (a semismooth Newton method: Hintermüller,
Ito and Kunisch 2003). Near the optimum this takes a few rounds and ends at rounding. Where K_FF is singular, as a linear
kernel's is, steps go no further than the first bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from convexcls.solvers.smo_form import BoxProgram

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: The most rounds, and how many may pass without fewer changes than ever before.
MOST_ROUNDS, PATIENCE = 40, 4
#: Added to the diagonal, relative to it, where rows repeat each other.
RIDGE = 1e-13
#: A step larger than the point by this factor, and not stopped by a bound, has no end.
ENDLESS = 1e7


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

    def __init__(self, program: BoxProgram, index: Indices) -> None:
        self.program, self.index = program, index
        self.singular = False
        self.factor = self._factorize(0.0)
        if self.factor is None:
            self.singular = True
            self.factor = self._factorize(RIDGE)

    def _factorize(self, ridge: float) -> tuple[Array, bool] | None:
        K = self.program.store.block(self.index, self.index)
        where = np.arange(self.index.size)
        diagonal = K[where, where].copy()
        largest = float(diagonal.max(initial=0.0)) or 1.0
        if self.program.total is not None:
            K += largest  # the sum of a step is known, so this changes the shift only, and a constant is no null vector
        K[where, where] += ridge * largest * self.index.size
        try:
            factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        if not ridge and np.any(factor[0][where, where] ** 2 < 1e-13 * largest):
            return None
        return factor

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
    while rounds < MOST_ROUNDS and waited < PATIENCE:
        rounds += 1
        index = np.flatnonzero(free)
        if 8.0 * index.size**2 > 0.5 * program.store.limit:
            break
        changes = 0
        if index.size:
            equations = FreeSet(program, index)
            if equations.factor is None:
                break
            lacking = 0.0 if program.total is None else program.total - float(b.sum())
            d, shift = equations.step(g[index], lacking)
            if not np.all(np.isfinite(d)):
                break
            d, blocked, endless = _within(program, b, index, d, equations.singular)
            if endless:
                direction = np.zeros(b.size)
                direction[index] = np.where(np.abs(d) > 1e-9 * np.abs(d).max(), d / np.abs(d).max(), 0.0)
                return Settled(b, g, shift, rounds, False, direction)
            program.store.add_product(index, d, g)
            b[index] += d
            changes = _put_on_bounds(program, b, g, free, index, blocked)
        changes += _release(program, b, g, free, shift) if not (index.size and equations.singular and changes) else 0
        if not changes:
            return _refined(program, b, shift, rounds, equations if index.size else None)
        waited = 0 if changes < fewest or (index.size and equations.singular) else waited + 1
        fewest = min(fewest, changes)
    return Settled(b, g, shift, rounds, False)


def _within(
    program: BoxProgram, b: Array, index: Indices, d: Array, singular: bool
) -> tuple[Array, Mask, bool]:
    """The step, which of its unknowns reach or cross a bound, and whether it has no end. Of a singular system the step
    is shortened to the first bound."""
    goal = b[index] + d
    crossed = (goal < program.low[index]) | (goal > program.high[index])
    if not singular:
        return d, crossed, False
    room = np.where(d > 0, program.high[index] - b[index], program.low[index] - b[index])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = np.where(d != 0, room / d, np.inf)
    first = float(reach.min())
    if first > 1:
        size = max(float(np.abs(b).max()), program.unit / (float(program.store.diagonal().max()) or 1.0))
        return d, crossed, bool(np.abs(d).max() > ENDLESS * size)
    return first * d, reach <= first, False


def _put_on_bounds(program: BoxProgram, b: Array, g: Array, free: Mask, index: Indices, blocked: Mask) -> int:
    """Put unknowns that reached or crossed a bound on it, where they stay."""
    out = index[blocked]
    if not out.size:
        return 0
    middle = 0.5 * (np.maximum(program.low[out], -1e300) + np.minimum(program.high[out], 1e300))
    ends = np.where(b[out] < middle, program.low[out], program.high[out])
    program.store.add_product(out, ends - b[out], g)
    b[out] = ends
    free[out] = False
    return int(out.size)


def _release(program: BoxProgram, b: Array, g: Array, free: Mask, shift: float) -> int:
    """Set unknowns free that are at a bound with the gradient of the wrong sign, beyond rounding."""
    left, noise = g + shift, 1e-13 * (program.unit + abs(shift))
    wrong = ~free & (((b < program.high) & (left < -noise)) | ((b > program.low) & (left > noise)))
    free |= wrong
    return int(np.count_nonzero(wrong))


def _refined(program: BoxProgram, b: Array, shift: float, rounds: int, equations: FreeSet | None) -> Settled:
    """The point with its gradient worked out afresh, and what rounding left of it taken out once or twice."""
    g = program.gradient(b)
    for _ in range(3):
        if equations is None or not equations.index.size:
            break
        index = equations.index
        worst = float(np.abs(g[index] + shift).max())
        if worst <= 4e-15 * (program.unit + abs(shift)):
            break
        lacking = 0.0 if program.total is None else program.total - float(b.sum())
        d, new_shift = equations.step(g[index], lacking)
        moved = b.copy()
        moved[index] = np.clip(b[index] + d, program.low[index], program.high[index])
        fresh = program.gradient(moved)
        if not float(np.abs(fresh[index] + new_shift).max()) < 0.5 * worst:
            break
        b, g, shift = moved, fresh, new_shift
    return Settled(b, g, shift, rounds, True)
