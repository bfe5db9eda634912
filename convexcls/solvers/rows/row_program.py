"""A quadratic program whose unknowns are few and whose rows are many, with the slacks substituted out:

    minimise  1/2 x'Px + q'x + sum_i cost_i(R_i x - h_i)    subject to  Ax = b,
    cost_i(r) = max over low_i <= a <= high_i of  a r - compliance_i/2 a^2

A soft margin has 0 <= a <= C, a hard row 0 <= a, the absolute loss -1 <= a <= 1; the squared hinge has 0 <= a and a
compliance: one over its curvature. At the solution the maximising a are the multipliers of the rows:

    Px + q + R'a + A'nu = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices, Mask
from convexcls.rows import Rows, as_rows

#: On which side of its kinks every row is.
Partition = NDArray[np.int8]
#: a is at its lower or upper bound, a = r/compliance, or none of them is possible: the row breaks a constraint.
LOW, HIGH, CURVED, BROKEN = 0, 1, 2, 3

#: More entries are not copied.
MAX_COPIED_ENTRIES = 20_000_000


@dataclass(frozen=True, eq=False)
class Prices:
    """R x - h at some ``places`` (None: of all rows), where it is largest; the largest of all; and how many are above a
    limit."""

    excess: Array
    places: Indices | None
    largest: float
    above: int

    def nearest(self, most: int, kept: Indices) -> Indices:
        """So many rows with the largest excess, and those kept."""
        if self.places is not None:
            return np.union1d(self.places, kept)
        if most >= self.excess.size:
            return np.arange(self.excess.size)
        chosen = np.zeros(self.excess.size, dtype=bool)
        chosen[np.argpartition(self.excess, self.excess.size - most)[self.excess.size - most :]] = True
        chosen[kept] = True
        return np.flatnonzero(chosen)

    def above_outside(self, limit: float, names: Indices) -> int:
        """How many rows above the limit are not among these; of those that are not at hand all."""
        above = np.flatnonzero(self.excess > limit)
        rows = above if self.places is None else self.places[above]
        return self.above - rows.size + int(np.count_nonzero(~np.isin(rows, names)))


@dataclass(frozen=True, eq=False)
class RowProgram:
    """The program; P and A are small, or sparse where it is only to be finished. ``unit`` is an objective that counts
    as one, where the optimum may be 0; ``sampled`` says which rows are one of many like them, so that some can stand
    for all; ``origin`` where they stood in the first program."""

    P: Any
    q: Array
    rows: Rows
    h: Array
    low: Array
    high: Array
    compliance: Array
    A: Any
    b: Array
    sampled: Mask
    origin: Indices
    constant: float = 0.0
    unit: float = 0.0

    @classmethod
    def hard(cls, P: Any, q: Array, rows: Rows, h: Array, A: Any, b: Array, unit: float = 0.0) -> RowProgram:
        """The program in which all rows have to hold."""
        n = h.size
        zero, unbounded, sampled = np.zeros(n), np.full(n, np.inf), np.zeros(n, dtype=bool)
        return cls(P, q, rows, h, zero, unbounded, zero, A, b, sampled, np.arange(n), unit=unit)

    def excess(self, x: Array, nearest: int = 0) -> Array:
        """r = R x - h; so many of the ``nearest`` rows are wanted next."""
        return self.rows.priced(x, self.h, nearest)

    def prices(self, x: Array, nearest: int, limit: float) -> Prices:
        """The excess of so many of the nearest rows, or of all where that is at hand, and of how many it is above a
        limit."""
        if (found := self.rows.nearest_priced(x, self.h, nearest, limit)) is not None:
            return Prices(found.excess, found.places, found.largest, found.above)
        excess = self.excess(x, nearest)
        return Prices(excess, None, float(excess.max(initial=0.0)), int(np.count_nonzero(excess > limit)))

    def gradient(self, x: Array, a: Array, nu: Array) -> Array:
        """Px + q + R'a + A'nu."""
        out = self.P @ x + self.q + self.rows.transposed_matmul(a)
        return np.asarray(out + self.A.T @ nu if nu.size else out)

    def quadratic(self, x: Array) -> float:
        """The objective without the rows."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x) + self.constant

    def cost(self, excess: Array) -> float:
        """What the rows cost in all; rows that may not be violated cost nothing."""
        a = self.best_multipliers(excess, unbounded=0.0)
        return float(a @ excess - 0.5 * (self.compliance * a) @ a)

    def best_multipliers(self, excess: Array, unbounded: float = np.inf) -> Array:
        """The a that maximise a r - compliance/2 a^2; ``unbounded`` where nothing limits them."""
        curved = self.compliance > 0
        wanted = np.divide(excess, self.compliance, out=np.where(excess > 0, np.inf, -np.inf), where=curved)
        out = np.clip(wanted, self.low, self.high)
        return np.where(np.isfinite(out), out, np.where(excess > 0, unbounded, -unbounded))

    @property
    def open_rows(self) -> Indices:
        """The rows whose a is not given."""
        return np.flatnonzero(self.low < self.high)

    @property
    def can_be_smoothed(self) -> bool:
        """Whether every row is between two bounds or has a compliance."""
        boxed = np.isfinite(self.low) & np.isfinite(self.high)
        return bool(np.all(boxed | (self.compliance > 0)))

    def partition(self, excess: Array) -> Partition:
        """The side of every row at a point."""
        if not np.any(self.compliance):
            out = (excess > 0).astype(np.int8)
            unbounded = np.where(out == HIGH, np.isinf(self.high), np.isinf(self.low))
        else:
            low, high = excess <= self.compliance * self.low, excess >= self.compliance * self.high
            low, high = low & np.isfinite(self.low), high & np.isfinite(self.high) & ~low
            out = np.where(low, LOW, np.where(high, HIGH, CURVED)).astype(np.int8)
            unbounded = (out == CURVED) & (self.compliance == 0)
        out[unbounded] = BROKEN
        out[self.low == self.high] = LOW
        return out

    def distances(self, excess: Array) -> Array:
        """How far every row is from its nearest kink; infinite where its a is given."""
        if not np.any(self.compliance):
            out = np.abs(excess)
        else:
            with np.errstate(invalid="ignore"):
                curved = self.compliance > 0
                ends = [
                    np.where(curved, np.abs(excess - np.where(curved, self.compliance * end, 0.0)), np.abs(excess))
                    for end in (self.low, self.high)
                ]
            out = np.minimum(*ends)
        return np.where(self.low == self.high, np.inf, out)

    def restricted(
        self, index: Indices, pull: Array | float = 0.0, curvature: Array | None = None, constant: float = 0.0
    ) -> RowProgram:
        """The program on some of its rows, what the others add to q, P and the objective being known."""
        return replace(
            self,
            P=self.P if curvature is None else self.P + curvature,
            q=self.q + pull,
            rows=working_copy(self.rows, index),
            h=self.h[index],
            low=self.low[index],
            high=self.high[index],
            compliance=self.compliance[index],
            sampled=self.sampled[index],
            origin=self.origin[index],
            constant=self.constant + constant,
        )

    def in_memory(self) -> RowProgram:
        """The program with its rows as one array."""
        return replace(self, rows=working_copy(self.rows, self.origin))

    @property
    def may_be_copied(self) -> bool:
        """Whether the rows are made of arrays in memory, and few enough to be copied into one: it is read in fewer
        steps than its layers."""
        return self.rows.entries <= MAX_COPIED_ENTRIES and self.rows.is_made_of_arrays

    def sample(self, index: Indices, stands_for: Array) -> RowProgram:
        """The program in which each of some rows stands for so many."""
        order = np.argsort(index)
        part, weight = self.restricted(index[order]), stands_for[order]
        return replace(part, low=part.low * weight, high=part.high * weight, compliance=part.compliance / weight)


def working_copy(rows: Rows, index: Indices) -> Rows:
    """Some rows as one array: many short steps cost more by their layers than by their arithmetic. Sparse ones stay
    sparse."""
    if index.size == rows.shape[0]:
        return as_rows(rows.compact())
    return as_rows(rows[index].compact())
