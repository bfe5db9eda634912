"""The exact solution next to a nearly exact one.

Near a solution every row is on one of three sides: a is at its lower bound, at its upper bound, or between them, and
then the row is tight. For a given partition the solution is that of a linear system,

    Px + R_E'a_E + A'nu = -q - R_L'low_L - R_H'high_H,     R_E x - compliance_E a_E = h_E,     Ax = b,

which is solved by the smallest change of the given point, and checked: rows that turn out on another side move there,
a few times. What is returned is exact to rounding, or nothing is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from convexcls.arrays import Array, Mask
from convexcls.rows import Rows
from convexcls.solvers.rows.kkt_system import accurate_factor
from convexcls.solvers.rows.row_program import RowProgram

#: More tight rows and equations are not solved for.
MAX_TIGHT_ROWS = 20000
#: What is exact to rounding: violations in units of right-hand sides, multipliers and of what was added up.
EXACT = 1e-11
#: What is far from it, likewise: then the partition is wrong, and not worth refining for.
FAR_FROM_EXACT = 1e-7
#: Sums are relative to at least this share of the largest: what is smaller may be rounding.
SMALLEST_SHARE = 1e-5
MAX_ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Exact:
    """A solution."""

    x: Array
    a: Array
    nu: Array


@dataclass(frozen=True, eq=False)
class Units:
    """What counts as one: a right-hand side, by row a multiplier, and by column the largest entry."""

    side: float
    multiplier: Array
    reach: Array

    @classmethod
    def of(cls, program: RowProgram, a: Array, excess: Array) -> Units:
        interval = program.high - program.low
        boxed = np.isfinite(interval)
        unbounded = float(np.abs(a[~boxed]).max(initial=0.0)) or 1.0
        side = float(np.abs(program.h).max(initial=0.0)) or float(np.abs(excess).max(initial=0.0)) or 1.0
        return cls(side, np.where(boxed & (interval > 0), interval, unbounded), program.rows.column_max())


def finish(program: RowProgram, x: Array, a: Array, nu: Array) -> Exact | None:
    """The exact solution near a point; None where it is not certain. A row is first taken to be at a bound where its a
    is nearer to it than the row to its kink."""
    excess = program.excess(x)
    units = Units.of(program, a, excess)
    beyond = (excess - program.compliance * a) / units.side
    low = np.isfinite(program.low) & ((a - program.low) / units.multiplier <= -beyond)
    high = np.isfinite(program.high) & ((program.high - a) / units.multiplier <= beyond) & ~low
    fewest = program.h.size + 1
    for _ in range(MAX_ROUNDS):
        try:
            point = _Partition(program, low, high).solved(x, a, nu, excess, units)
        except (LinAlgError, ValueError):  # too large, or numbers that are not finite
            return None
        x, a, nu, excess, (to_low, to_high, to_tight) = point
        moved = int(np.count_nonzero(to_low | to_high | to_tight))
        if not moved:
            return _checked(program, x, a, nu, ~low & ~high, units)
        if not moved < fewest:
            return None
        fewest = moved
        low, high = (low & ~to_tight) | to_low, (high & ~to_tight) | to_high
    return None


class _Partition:
    """The linear system of a partition, factored."""

    def __init__(self, program: RowProgram, low: Mask, high: Mask) -> None:
        self.program, self.low, self.high = program, low, high
        self.between = ~low & ~high
        curved = program.compliance > 0
        self.curved, self.tight = np.flatnonzero(self.between & curved), np.flatnonzero(self.between & ~curved)
        if self.tight.size + program.b.size > MAX_TIGHT_ROWS:
            raise LinAlgError("the system is too large")
        H, self.stiffness = program.P, 1.0 / program.compliance[self.curved]
        if self.curved.size:
            H = H + program.rows[self.curved].gram(self.stiffness)
        self.factor = accurate_factor(H, _stacked(program.rows[self.tight], program.A))

    def solved(
        self, x: Array, a: Array, nu: Array, excess: Array, units: Units
    ) -> tuple[Array, Array, Array, Array, tuple[Mask, Mask, Mask]]:
        """The solution, by the smallest change of the given point, its excess, and the rows that have to move to
        another side: refined where none has to move by far."""
        a = np.where(self.low, self.program.low, np.where(self.high, self.program.high, a))
        a[self.curved] = excess[self.curved] * self.stiffness
        for tolerance, steps in ((FAR_FROM_EXACT, 1), (EXACT, 2)):
            for _ in range(steps):
                x, a, nu, excess = self._step(x, a, nu, excess)
            moves = self._moves(a, excess, units, tolerance)
            if np.any(moves):
                break
        return x, a, nu, excess, moves

    def _step(self, x: Array, a: Array, nu: Array, excess: Array) -> tuple[Array, Array, Array, Array]:
        program, tight = self.program, self.tight
        short = np.concatenate([excess[tight], program.A @ x - program.b])
        dx, change = self.factor.solve(-program.gradient(x, a, nu), -short)
        x, nu, a = x + dx, nu + change[tight.size :], a.copy()
        excess = program.excess(x)
        a[tight] += change[: tight.size]
        a[self.curved] = excess[self.curved] * self.stiffness
        return x, a, nu, excess

    def _moves(self, a: Array, excess: Array, units: Units, tolerance: float) -> tuple[Mask, Mask, Mask]:
        """The rows whose multiplier crosses the lower or the upper bound, and those that push it away from theirs."""
        program, movable = self.program, self.program.high > self.program.low
        beyond = (excess - program.compliance * a) / units.side
        to_low = self.between & ((program.low - a) / units.multiplier > tolerance)
        to_high = self.between & ((a - program.high) / units.multiplier > tolerance)
        to_tight = movable & ((self.low & (beyond > tolerance)) | (self.high & (beyond < -tolerance)))
        return to_low, to_high, to_tight


def _stacked(rows: Rows, A: Any) -> Any:
    """Rows above equations, sparse where these are."""
    return sparse.vstack([rows.to_matrix(), A], format="csc") if sparse.issparse(A) else np.vstack([rows.to_dense(), A])


def _checked(program: RowProgram, x: Array, a: Array, nu: Array, tight: Mask, units: Units) -> Exact | None:
    """The point, if it satisfies every condition to rounding."""
    a = np.clip(a, program.low, program.high)
    if not np.any(program.gradient(x, a, np.zeros_like(nu))):
        nu = np.zeros_like(nu)
    beyond = np.abs(program.excess(x) - program.compliance * a)[tight & (program.high > program.low)]
    gradient = program.gradient(x, a, nu)
    size = abs(program.P) @ np.abs(x) + np.abs(program.q)
    natural = min(program.unit / units.side, float(units.multiplier.max(initial=0.0)))
    size += units.reach * (float(np.abs(a).sum()) + natural)
    size += abs(program.A).T @ np.abs(nu)
    sides = np.abs(program.b) + abs(program.A) @ np.abs(x)
    holds = (
        beyond.max(initial=0.0) <= EXACT * units.side
        and bool(np.all(np.abs(gradient) <= EXACT * (size + SMALLEST_SHARE * size.max(initial=0.0))))
        and bool(np.all(np.abs(program.A @ x - program.b) <= EXACT * sides))
    )
    return Exact(x, a, nu) if holds else None
