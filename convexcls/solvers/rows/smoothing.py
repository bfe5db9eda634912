"""A smooth neighbour of a ``RowProgram``, minimised by Newton's method.

The multiplier of a row jumps from low to high where the row is at its kink, r = Rx - h = 0. In the neighbour it rises:

    a_i = clip(offset_i + slope_i r_i, low_i, high_i),

so that the objective is piecewise quadratic with the Hessian P + R_B' diag(slope_B) R_B, B the rows between their
bounds: few of many. A step costs two passes over all rows and the Gram matrix of those that come between their bounds
or leave. There are two neighbours:

    kinks smoothed to a width     slope = (high - low)/(2 width),       offset = (high + low)/2
    proximal in a, to sigma       slope = 1/sigma,                      offset = a_0

The second is the step of the method of multipliers from a_0 (Rockafellar 1976), which ends at the solution itself; with
a_0 = 0 it is a squared hinge. Rows with a compliance are smooth as they are: slope = 1/compliance, offset = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from convexcls.arrays import Array, Mask
from convexcls.solvers.rows.changing_gram import ChangingGram
from convexcls.solvers.rows.kkt_system import KKTFactor
from convexcls.solvers.rows.row_program import RowProgram

#: Curvature for unknowns that P does not bend, as a share of what all rows would give: too few of them may bend.
FLAT_CURVATURE = 1e-10
#: The least curvature of an unknown, as a share of that by rows like the others.
USUAL_SHARE = 0.25
#: Up to this share of the decrement, that curvature has not shortened the step.
SMALL_RIDGE_SHARE = 1e-6
#: A step is taken where it leaves at most this share of the slope.
MAX_SLOPE_LEFT = 0.3
#: Lengths grow by this factor, to at most so much, until the slope changes its sign.
LENGTH_GROWTH, MAX_LENGTH = 4.0, 1e6
#: A secant is kept so far from both ends, as a share of the distance between them; and so many are tried.
SECANT_MARGIN, MAX_SECANTS = 0.1, 20
#: A step that breaks the equations by less than this has a slope: rounding aside, it moves along them.
EQUATIONS_TOLERANCE = 1e-9
#: A step that is smaller than this share of x, both measured by the Hessian, is rounding.
ROUNDED_STEP = 1e-14

#: Told x, the excess and the length of every step.
Record = Callable[[Array, Array, float], None]


@dataclass(frozen=True, eq=False)
class Smoothed:
    """The neighbour of a program; ``width`` is the excess over which a multiplier rises, ``gram`` the Gram matrix of
    the rows between their bounds, weighted by their slopes but for a factor ``steepness``."""

    program: RowProgram
    slope: Array
    offset: Array
    width: float
    gram: ChangingGram
    steepness: float = 1.0

    @classmethod
    def to_width(cls, program: RowProgram, width: float) -> Smoothed:
        """The kinks smoothed to a width."""
        slope, offset = 0.5 * (program.high - program.low) / width, 0.5 * (program.high + program.low)
        return cls._where_not_smooth(program, slope, offset, width)

    @classmethod
    def proximal(cls, program: RowProgram, a: Array, sigma: Array | float, width: float) -> Smoothed:
        """The neighbour that is proximal in a."""
        return cls._where_not_smooth(program, 1.0 / sigma + np.zeros_like(a), a, width)

    @classmethod
    def _where_not_smooth(cls, program: RowProgram, slope: Array, offset: Array, width: float) -> Smoothed:
        curved = program.compliance > 0
        if np.any(curved):
            slope, offset = np.where(curved, 0.0, slope), np.where(curved, 0.0, offset)
            np.divide(1.0, program.compliance, out=slope, where=curved)
        return cls(program, slope, offset, width, ChangingGram(program.rows, slope))

    def narrower(self, factor: float) -> Smoothed:
        """The kinks smoothed to a smaller width. Where all slopes grow alike, their Gram matrix only gets a factor."""
        if np.any(self.program.compliance > 0):
            return self.to_width(self.program, self.width / factor)
        slope, steepness = factor * self.slope, factor * self.steepness
        return replace(self, slope=slope, width=self.width / factor, steepness=steepness)

    def multipliers(self, excess: Array) -> Array:
        """The a of an excess."""
        a = self.slope * excess
        a += self.offset
        np.maximum(a, self.program.low, out=a)
        return np.minimum(a, self.program.high, out=a)

    def minimise(
        self, x: Array, nu: Array, excess: Array, accuracy: float, max_steps: int, record: Record | None = None
    ) -> tuple[Array, Array, Array]:
        """x, nu and the excess at the minimum: where Newton's decrement dx'H dx is what moving the rows between their
        bounds by a small share of the width would make it, or rounding, or where a full step has crossed no bound."""
        program, partition, full = self.program, np.zeros(0, dtype=np.int8), False
        unbent = ~(program.P.diagonal() > 0)
        flat = FLAT_CURVATURE * unbent * program.rows.column_max() ** 2 * float(self.slope.sum())
        for _ in range(max_steps):
            a = self.multipliers(excess)
            before, partition = partition, (a > program.low).astype(np.int8) - 2 * (a >= program.high)
            if full and np.array_equal(partition, before):
                break
            between = partition > 0
            H = program.P + self.steepness * self.gram.of(between)
            ridge = np.maximum(flat, self._usual_curvature(between) - H.diagonal())
            H.flat[:: x.size + 1] += ridge
            own = program.P @ x + program.q
            gradient = own + program.rows.transposed_matmul(a)
            lacking = program.b
            if nu.size:
                gradient, lacking = gradient + program.A.T @ nu, program.b - program.A @ x
            dx, dnu = KKTFactor(H, program.A).solve(-gradient, lacking)
            along = program.rows @ dx
            decrement = float(dx @ (H @ dx))
            if not np.isfinite(decrement + along.sum()):
                raise LinAlgError("the step is not finite")
            enough = (accuracy * self.width) ** 2 * float(self.slope[between].sum())
            near = accuracy > 0 and decrement <= max(enough, ROUNDED_STEP**2 * float(x @ (H @ x)))
            onto = nu.size and self._breaks_equations(x, lacking)
            length = 1.0 if onto else self._length(own, dx, excess, along, a)
            full = length == 1.0 and float(ridge @ (dx * dx)) <= SMALL_RIDGE_SHARE * decrement
            x, nu, excess = x + length * dx, nu + dnu, excess + length * along
            if near:
                break
            if record is not None:
                record(x, excess, length)
        return x, nu, excess

    def _usual_curvature(self, between: Mask) -> Array:
        """Of each unknown, a share of what as many rows would bend it as are between their bounds, if they were like
        the others. A category of few rows may have none of them there: it would step far beyond their kinks."""
        return np.asarray(USUAL_SHARE * float(between.mean()) * self.steepness * self.gram.diagonal_of_all)

    def _breaks_equations(self, x: Array, lacking: Array) -> bool:
        """Whether the equations do not hold: then the step moves onto them, and its slope says nothing."""
        size = np.abs(self.program.A) @ np.abs(x) + np.abs(self.program.b)
        return bool(np.any(np.abs(lacking) > EQUATIONS_TOLERANCE * size))

    def _length(self, own: Array, dx: Array, excess: Array, along: Array, a: Array) -> float:
        """Where the derivative along the step, which only grows, is nearly 0; ``own`` is Px + q."""
        level, growth = float(dx @ own), float(dx @ (self.program.P @ dx))

        def derivative(t: float) -> float:
            return level + t * growth + float(along @ self.multipliers(excess + t * along))

        return _nearly_flat(derivative, level + float(along @ a))


def _nearly_flat(derivative: Callable[[float], float], slope: float) -> float:
    """A length at which little of the slope at 0 is left, and before which the objective has fallen: 1 where that will
    do, else between two lengths with slopes of opposite sign, by secants. Where the slope stays below 0 all the way,
    only rounding is left of it: then 1."""
    little = MAX_SLOPE_LEFT * abs(slope)

    def will_do(t: float, value: float) -> bool:
        return abs(value) <= little and (value <= 0 or derivative(0.5 * t) <= -value)

    low, at_low, high, at_high = 0.0, slope, 1.0, derivative(1.0)
    if not slope < 0 or will_do(high, at_high):
        return 1.0
    while at_high < 0 and high < MAX_LENGTH:
        low, at_low, high = high, at_high, LENGTH_GROWTH * high
        at_high = derivative(high)
    if not at_high > 0:
        return 1.0
    for _ in range(MAX_SECANTS):
        secant, away = (low * at_high - high * at_low) / (at_high - at_low), SECANT_MARGIN * (high - low)
        t = min(max(secant, low + away), high - away)
        value = derivative(t)
        if will_do(t, value):
            return t
        # the end that stays counts half as much, so that it does not stay for ever (the Illinois rule)
        low, at_low, high, at_high = (t, value, high, 0.5 * at_high) if value < 0 else (low, 0.5 * at_low, t, value)
    return low or high
