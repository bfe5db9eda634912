"""The exact solution next to a nearly exact one.

Near a solution every row is on one of three sides: a is at its lower bound, at its upper bound, or between them, and
then the row is tight. For a given partition the solution is that of a linear system,

    Px + R_E'a_E + A'nu = -q - R_L'low_L - R_H'high_H,     R_E x - give_E a_E = h_E,     Ax = b,

which is solved by the smallest change of the given point, and checked: rows that turn out on another side move there,
a few times. What is returned is exact to rounding, or nothing is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack, lstsq

from convexcls.solvers.path_step import PathPoint
from convexcls.solvers.row_program import Mask, RowProgram

Array = NDArray[np.float64]

#: Larger systems are not solved.
LARGEST = 3000
#: What is exact to rounding: violations in units of right-hand sides, multipliers and of what was added up.
EXACT = 1e-11
#: Systems that are worse conditioned are solved by orthogonal factors.
SMALLEST_CONDITION = 1e-13
ROUNDS = 6


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
        room = program.high - program.low
        boxed = np.isfinite(room)
        free = float(np.abs(a[~boxed]).max(initial=0.0)) or 1.0
        side = float(np.abs(program.h).max(initial=0.0)) or float(np.abs(excess).max(initial=0.0)) or 1.0
        return cls(side, np.where(boxed & (room > 0), room, free), program.rows.column_max())


def settle(program: RowProgram, p: PathPoint) -> Exact | None:
    """The exact solution near a point of the path; None where it is not certain."""
    excess = program.excess(p.x)
    units = Units.of(program, p.a, excess)
    low = np.isfinite(program.low) & (p.down / units.multiplier <= p.under / units.side)
    high = np.isfinite(program.high) & (p.up / units.multiplier <= p.over / units.side) & ~low
    x, a, nu = p.x, p.a, p.nu
    for _ in range(ROUNDS):
        try:
            x, a, nu = _solved(program, x, a, nu, low, high)
        except (LinAlgError, ValueError):  # too large, or numbers that are not finite
            return None
        excess = program.excess(x)
        between = ~low & ~high
        short, beyond = (program.low - a) / units.multiplier, (a - program.high) / units.multiplier
        # the row pushes its multiplier away from the bound it is at
        rising = low & ((excess - program.give * a) / units.side > EXACT) & (program.high > program.low)
        falling = high & ((excess - program.give * a) / units.side < -EXACT) & (program.high > program.low)
        to_low, to_high = between & (short > EXACT), between & (beyond > EXACT)
        if not np.any(rising | falling | to_low | to_high):
            return _checked(program, x, a, nu, between, units)
        low, high = (low & ~rising) | to_low, (high & ~falling) | to_high
    return None


def _solved(program: RowProgram, x: Array, a: Array, nu: Array, low: Mask, high: Mask) -> tuple[Array, Array, Array]:
    """The solution of the linear system of a partition, by the smallest change of the given point."""
    between = ~low & ~high
    giving, tight = np.flatnonzero(between & (program.give > 0)), np.flatnonzero(between & (program.give == 0))
    k, m = x.size, tight.size + nu.size
    if k + m > LARGEST:
        raise LinAlgError("the system is too large")
    a = np.where(low, program.low, np.where(high, program.high, a))
    curvature, stiffness = program.P, 1.0 / program.give[giving]
    if giving.size:
        curvature = curvature + program.rows[giving].gram(stiffness)
    edges = np.vstack([program.rows[tight].to_dense(), program.A])
    matrix = np.block([[curvature, edges.T], [edges, np.zeros((m, m))]])
    solve = _Solve(matrix)
    for _ in range(3):
        excess = program.excess(x)
        a[giving] = excess[giving] * stiffness
        defect = -np.concatenate([program.gradient(x, a, nu), excess[tight], program.A @ x - program.b])
        change = solve(defect)
        x = x + change[:k]
        a[tight] += change[k : k + tight.size]
        nu = nu + change[k + tight.size :]
    a[giving] = program.excess(x)[giving] * stiffness
    return x, a, nu


class _Solve:
    """Solutions of a symmetric system: by triangular factors where it is well conditioned, else the shortest ones."""

    def __init__(self, matrix: Array) -> None:
        if not np.all(np.isfinite(matrix)):
            raise LinAlgError("the system is not finite")
        self.matrix = matrix
        largest = np.abs(matrix).max(axis=1, initial=0.0)
        self.unit = 1.0 / np.sqrt(np.where(largest > 0, largest, 1.0))
        self.scaled = matrix * self.unit[:, None] * self.unit
        self.factor: Array = matrix
        self.pivots: Any = None
        info = 0
        if matrix.size:
            self.factor, self.pivots, info = lapack.dgetrf(self.scaled)
        norm = float(np.abs(self.scaled).sum(axis=0).max(initial=0.0))
        condition = lapack.dgecon(self.factor, norm)[0] if matrix.size and info == 0 else 1.0 - info
        self.good = info == 0 and condition > SMALLEST_CONDITION

    def __call__(self, target: Array) -> Array:
        if not target.size:
            return target
        if self.good:
            return np.asarray(lapack.dgetrs(self.factor, self.pivots, target * self.unit)[0] * self.unit)
        return np.asarray(lstsq(self.matrix, target, cond=SMALLEST_CONDITION, lapack_driver="gelsy")[0])


def _checked(program: RowProgram, x: Array, a: Array, nu: Array, between: Mask, units: Units) -> Exact | None:
    """The point, if it satisfies every condition to rounding."""
    a = np.clip(a, program.low, program.high)
    excess = program.excess(x)
    off = np.abs(excess - program.give * a)[between & (program.high > program.low)]
    gradient = program.gradient(x, a, nu)
    size = np.abs(program.P) @ np.abs(x) + np.abs(program.q)
    size += units.reach * (float(np.abs(a).sum()) + program.unit / units.side)
    size += np.abs(program.A).T @ np.abs(nu)
    sides = np.abs(program.b) + np.abs(program.A) @ np.abs(x)
    holds = (
        off.max(initial=0.0) <= EXACT * units.side
        and bool(np.all(np.abs(gradient) <= EXACT * size + 1e-16 * size.max(initial=0.0)))
        and bool(np.all(np.abs(program.A @ x - program.b) <= EXACT * sides))
    )
    return Exact(x, a, nu, between) if holds else None
