"""From a point near the solution of many rows to one nearer: Newton steps on smoothed rows.

Between its bounds, a row's a jumps where the row is at its kink. Smoothed to the width sigma it rises there,

    a_i = clip(middle_i + (room_i/2) r_i/sigma, low_i, high_i),     room = high - low,

and the program has a second derivative, the weighted Gram matrix of the rows within sigma of their kink: few of many.
Rows that give are smooth as they are. A step costs two passes over all rows and a Gram matrix of few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from convexcls.solvers.rows.flat_point import nearly_flat
from convexcls.solvers.rows.path_step import Factor
from convexcls.solvers.rows.row_program import RowProgram, working_copy

Array = NDArray[np.float64]

#: Steps for one width, and how much of the gradient has to go.
MOST_STEPS = 8
SMALL_ENOUGH = 0.05
#: Curvature for directions that none of the few rows bends, and the longest step, in units of typical excesses.
FLAT = 1e-9
FARTHEST = 3.0


def can_be_smoothed(program: RowProgram) -> bool:
    """Whether every row is between two bounds or gives."""
    boxed = np.isfinite(program.low) & np.isfinite(program.high)
    return bool(np.all(boxed | (program.give > 0)))


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A program whose rows are smoothed to a width."""

    program: RowProgram
    slope: Array
    offset: Array

    @classmethod
    def of(cls, program: RowProgram, sigma: float) -> Smoothed:
        gives = program.give > 0
        room, middle = program.high - program.low, 0.5 * (program.high + program.low)
        stiff = np.divide(1.0, program.give, out=np.zeros_like(room), where=gives)
        slope = np.where(gives, stiff, 0.5 * room / sigma)
        return cls(program, slope, np.where(gives, 0.0, middle))

    def multipliers(self, excess: Array) -> Array:
        return np.clip(self.offset + self.slope * excess, self.program.low, self.program.high)

    def step(self, x: Array, nu: Array, excess: Array) -> tuple[Array, Array, Array, float]:
        """Newton's step with the change of the excess, the new nu, and how far it goes."""
        program = self.program
        a = self.multipliers(excess)
        bending = np.flatnonzero((a > program.low) & (a < program.high))
        gram = working_copy(program.rows, bending).gram(self.slope[bending])
        H = program.P + gram
        H[np.diag_indices_from(H)] += FLAT * gram.diagonal()
        gradient = program.gradient(x, a, nu)
        dx, dnu = Factor(H, program.A).solve(-gradient, program.b - program.A @ x)
        along = program.rows @ dx
        typical, far = float(np.abs(excess).mean()), float(np.abs(along).mean())
        length = min(1.0, FARTHEST * typical / far) if far > 0 else 1.0
        return dx, along, nu + dnu, min(self._length(x, dx, excess, along, a), length)

    def _length(self, x: Array, dx: Array, excess: Array, along: Array, a: Array) -> float:
        """Where the derivative along the step, which only grows, is nearly zero."""
        program = self.program
        if np.any(np.abs(program.A @ x - program.b) > 1e-9 * (np.abs(program.A) @ np.abs(x) + np.abs(program.b))):
            return 1.0  # the step moves onto the equations
        level, growth = float(dx @ (program.P @ x + program.q)), float(dx @ (program.P @ dx))
        slope = level + float(along @ a)

        def derivative(t: float) -> float:
            return level + t * growth + float(along @ self.multipliers(excess + t * along))

        return nearly_flat(derivative, slope, growth=3.0, farthest=1e3, margin=0.1, most=12)


def smoothed_solution(
    program: RowProgram, x: Array, nu: Array, excess: Array, sigma: float
) -> tuple[Array, Array, Array]:
    """x, nu and the excess after Newton's method on the rows smoothed to a width; what was given where it fails."""
    smooth = Smoothed.of(program, sigma)
    begin = (x, nu, excess)
    for _ in range(MOST_STEPS):
        try:
            dx, along, next_nu, length = smooth.step(x, nu, excess)
        except LinAlgError:
            return begin
        if not np.all(np.isfinite(dx)) or not np.all(np.isfinite(along)):
            return begin
        x, nu, excess = x + length * dx, next_nu, excess + length * along
        change = length * np.abs(along)
        if float(np.sqrt(np.mean(np.square(change)))) <= SMALL_ENOUGH * sigma:
            break
    return x, nu, excess
