"""The exact solution next to a nearly exact one.

Near a solution every row is on one of three sides: a is at its lower bound, at its upper bound, or between them, and
then the row is tight. For a given partition the solution is that of a linear system,

    Px + R_E'a_E + A'nu = -q - R_L'low_L - R_H'high_H,     R_E x - give_E a_E = h_E,     Ax = b,

which is solved by the smallest change of the given point, and checked: rows that turn out on another side move there,
a few times. What is returned is exact to rounding, or nothing is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack, pinvh, svd

from convexcls.solvers.rows.path_step import PathPoint
from convexcls.solvers.rows.row_program import Mask, RowProgram

Array = NDArray[np.float64]

#: More tight rows are not solved for.
LARGEST = 20000
#: What is exact to rounding: violations in units of right-hand sides, multipliers and of what was added up.
EXACT = 1e-11
#: Systems that are worse conditioned are solved by orthogonal factors, in which smaller singular values are rounding.
WORST_CONDITION = 1e-13
DEPENDENT = 1e-12
#: Sums are relative to at least this share of the largest: what is smaller may be rounding.
FLOOR = 1e-5
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
    if tight.size + nu.size > LARGEST:
        raise LinAlgError("the system is too large")
    a = np.where(low, program.low, np.where(high, program.high, a))
    curvature, stiffness = program.P, 1.0 / program.give[giving]
    if giving.size:
        curvature = curvature + program.rows[giving].gram(stiffness)
    edges = np.vstack([program.rows[tight].to_dense(), program.A])
    solve = _system(curvature, edges)
    for _ in range(3):
        excess = program.excess(x)
        a[giving] = excess[giving] * stiffness
        off = np.concatenate([excess[tight], program.A @ x - program.b])
        dx, change = solve(-program.gradient(x, a, nu), -off)
        x = x + dx
        a[tight] += change[: tight.size]
        nu = nu + change[tight.size :]
    a[giving] = program.excess(x)[giving] * stiffness
    return x, a, nu


class _Triangular:
    """Solutions of [[H, C'], [C, 0]] by triangular factors, in units in which the rows are alike."""

    def __init__(self, H: Array, C: Array) -> None:
        matrix = np.block([[H, C.T], [C, np.zeros((C.shape[0], C.shape[0]))]])
        largest = np.abs(matrix).max(axis=1, initial=0.0)
        self.unit = 1.0 / np.sqrt(np.where(largest > 0, largest, 1.0))
        scaled = matrix * self.unit[:, None] * self.unit
        self.factor, self.pivots, info = lapack.dgetrf(scaled)
        norm = float(np.abs(scaled).sum(axis=0).max(initial=0.0))
        self.good = info == 0 and lapack.dgecon(self.factor, norm)[0] > WORST_CONDITION

    def __call__(self, f: Array, g: Array) -> tuple[Array, Array]:
        target = np.concatenate([f, g]) * self.unit
        change = lapack.dgetrs(self.factor, self.pivots, target)[0] * self.unit
        return change[: f.size], change[f.size :]


class _Shortest:
    """The shortest solutions of the same where rows repeat each other: within the span of the rows of C, then across
    it, then the multipliers."""

    def __init__(self, H: Array, C: Array) -> None:
        self.H, k = H, H.shape[0]
        left, values, right = svd(C, full_matrices=C.shape[0] < k, lapack_driver="gesdd", check_finite=False)
        rank = int(np.sum(values > DEPENDENT * values.max(initial=0.0)))
        self.left, self.values, self.span, self.across = left[:, :rank], values[:rank], right[:rank].T, right[rank:].T
        curvature = self.across.T @ H @ self.across
        self.inverse = pinvh(curvature, rtol=DEPENDENT) if curvature.size else curvature

    def __call__(self, f: Array, g: Array) -> tuple[Array, Array]:
        x = self.span @ (self.left.T @ g / self.values)
        x = x + self.across @ (self.inverse @ (self.across.T @ (f - self.H @ x)))
        return x, self.left @ (self.span.T @ (f - self.H @ x) / self.values)


def _system(H: Array, C: Array) -> _Triangular | _Shortest:
    if not np.all(np.isfinite(H)) or not np.all(np.isfinite(C)):
        raise LinAlgError("the system is not finite")
    if C.shape[0] <= C.shape[1]:
        by_factors = _Triangular(H, C)
        if by_factors.good:
            return by_factors
    return _Shortest(H, C)


def _checked(program: RowProgram, x: Array, a: Array, nu: Array, between: Mask, units: Units) -> Exact | None:
    """The point, if it satisfies every condition to rounding."""
    a = np.clip(a, program.low, program.high)
    if not np.any(program.gradient(x, a, np.zeros_like(nu))):
        nu = np.zeros_like(nu)
    excess = program.excess(x)
    off = np.abs(excess - program.give * a)[between & (program.high > program.low)]
    gradient = program.gradient(x, a, nu)
    size = np.abs(program.P) @ np.abs(x) + np.abs(program.q)
    natural = min(program.unit / units.side, float(units.multiplier.max(initial=0.0)))
    size += units.reach * (float(np.abs(a).sum()) + natural)
    size += np.abs(program.A).T @ np.abs(nu)
    sides = np.abs(program.b) + np.abs(program.A) @ np.abs(x)
    holds = (
        off.max(initial=0.0) <= EXACT * units.side
        and bool(np.all(np.abs(gradient) <= EXACT * (size + FLOOR * size.max(initial=0.0))))
        and bool(np.all(np.abs(program.A @ x - program.b) <= EXACT * sides))
    )
    return Exact(x, a, nu, between) if holds else None
