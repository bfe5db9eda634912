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
#: Sums are relative to at least this share of the largest: what is smaller may be rounding.
SMALLEST_SHARE = 1e-5
MAX_ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Exact:
    """A solution: x, a and nu, and which rows are tight."""

    x: Array
    a: Array
    nu: Array
    tight: Mask


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
    movable = program.high > program.low
    for _ in range(MAX_ROUNDS):
        try:
            x, a, nu = _solved(program, x, a, nu, low, high)
        except (LinAlgError, ValueError):  # too large, or numbers that are not finite
            return None
        tight = ~low & ~high
        beyond = (program.excess(x) - program.compliance * a) / units.side
        # the row pushes its multiplier away from the bound it is at, or the multiplier crosses a bound
        from_low, from_high = low & movable & (beyond > EXACT), high & movable & (beyond < -EXACT)
        to_low = tight & ((program.low - a) / units.multiplier > EXACT)
        to_high = tight & ((a - program.high) / units.multiplier > EXACT)
        if not np.any(from_low | from_high | to_low | to_high):
            return _checked(program, x, a, nu, tight, units)
        low, high = (low & ~from_low) | to_low, (high & ~from_high) | to_high
    return None


def _solved(program: RowProgram, x: Array, a: Array, nu: Array, low: Mask, high: Mask) -> tuple[Array, Array, Array]:
    """The solution of the linear system of a partition, by the smallest change of the given point."""
    between = ~low & ~high
    smooth = program.compliance > 0
    curved, tight = np.flatnonzero(between & smooth), np.flatnonzero(between & ~smooth)
    if tight.size + nu.size > MAX_TIGHT_ROWS:
        raise LinAlgError("the system is too large")
    a = np.where(low, program.low, np.where(high, program.high, a))
    H, stiffness = program.P, 1.0 / program.compliance[curved]
    if curved.size:
        H = H + program.rows[curved].gram(stiffness)
    factor = accurate_factor(H, _stacked(program.rows[tight], program.A))
    for _ in range(3):
        excess = program.excess(x)
        a[curved] = excess[curved] * stiffness
        short = np.concatenate([excess[tight], program.A @ x - program.b])
        dx, change = factor.solve(-program.gradient(x, a, nu), -short)
        x = x + dx
        a[tight] += change[: tight.size]
        nu = nu + change[tight.size :]
    a[curved] = program.excess(x)[curved] * stiffness
    return x, a, nu


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
    return Exact(x, a, nu, tight) if holds else None
