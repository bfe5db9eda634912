"""The point that a proof speaks of: x within its bounds, and the true point near it that satisfies every equality.

Ax = b holds at x + D A'v with (A D A') v = b - Ax, where D_j is how far x_j may move: its distance from its bounds,
else its own size. A step in doubles removes most of b - Ax; what remains is bounded, and so is v, so that the true
point is known as a ball around x, though not as doubles. |A'v| <= 1 keeps it within the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint
from convexcls.proofs.rigorous.entries import factors, largest_factors
from convexcls.proofs.rigorous.matrices import Gram
from convexcls.proofs.rigorous.products import BESIDES, Products
from convexcls.proofs.rigorous.rounding import UNIT, Ball, gamma, powers_of_two, raised
from convexcls.proofs.rigorous.structure import Structure, stated
from convexcls.rows.least_squares import least_squares

#: Equalities with more coefficients are not repaired.
MAX_COEFFICIENTS = 20_000_000
#: A point with all unknowns at their bounds is made smaller by so much.
SHRINK = 2.0**-42


@dataclass(frozen=True, eq=False)
class Point:
    """``x`` are doubles; within ``rad`` of them there is a point that satisfies all equalities, unless ``failed``
    says why none is known."""

    x: Array
    rad: Array
    failed: str = ""

    @property
    def ball(self) -> Ball:
        """Both."""
        return Ball(self.x, self.rad)


def feasible_point(structure: Structure, products: Products, x: Array) -> Point:
    """The point near x."""
    low, high = structure.limits
    x = np.clip(x, low, high)
    equalities = [c for c in structure.rows if c.relation == "=="]
    if not equalities:
        return Point(x, np.zeros(x.size))
    count = sum(c.size for c in equalities)
    if count * x.size > MAX_COEFFICIENTS:
        return Point(x, np.zeros(x.size), f"there are {count} equalities, more than are repaired")
    repair = _Repair(structure, products, equalities)
    with np.errstate(all="ignore"):
        for _ in range(2):
            step = repair.step(x)
            if not np.all(np.isfinite(step)):
                break
            x = np.clip(x + step, low, high)
        found = repair.bounded(x)
        # all at their bounds: where less of x is as good, a little less of everything may move
        cone = np.all((low <= 0) & (high >= 0)) and not any(np.any(c.rhs != 0) for c in equalities)
        return repair.bounded(x * (1.0 - SHRINK)) if found.failed and cone else found


class _Repair:
    def __init__(self, structure: Structure, products: Products, equalities: list[Constraint]) -> None:
        self.structure, self.products, self.equalities = structure, products, equalities
        self.A, self.off = self._coefficients()

    def step(self, x: Array) -> Array:
        """D A'v in doubles."""
        D = self._distances(x)
        v = least_squares(self._gram(D).matrix, self._residual(x).mid)
        return np.asarray(D * (self.A.T @ v))

    def bounded(self, x: Array) -> Point:
        """x with a bound of |D A'v|."""
        residual, nothing = self._residual(x), np.zeros(x.size)
        if not np.any(residual.size):
            return Point(x, nothing)
        D = self._distances(x)
        v = self._gram(D).bound(residual.size)
        if v is None:
            return Point(x, nothing, "the equalities are not shown to be independent")
        rad = raised(D * ((np.abs(self.A) + self.off).T @ v) * (1.0 + 4 * (v.size + 4) * UNIT))
        low, high = self.structure.limits
        if not np.all(rad <= 0.999 * np.minimum(x - low, high - x)):
            return Point(x, nothing, "no point near x satisfies the equalities within the bounds")
        return Point(x, np.asarray(rad))

    def _coefficients(self) -> tuple[Array, Array]:
        """A, and how far its entries may be off."""
        A = np.vstack([self.structure.problem.joined(c.entries, c.size).to_dense() for c in self.equalities])
        off, start = 4 * UNIT * np.abs(A), 0
        for c in self.equalities:
            for v, rows in c.entries.items():
                f = factors(rows)
                error = self.products.error_of(f.core)
                entry = raised((error.absolute + error.relative * f.core.column_max()) * largest_factors(f))
                off[start : start + c.size, self.structure.problem.layout[v]] += entry
            start += c.size
        return A, off

    def _residual(self, x: Array) -> Ball:
        """b - Ax."""
        values = self.products.forward([c.entries for c in self.equalities], Ball.exact(x))
        return Ball.joined([stated(c, "rhs") - value for c, value in zip(self.equalities, values, strict=True)])

    def _distances(self, x: Array) -> Array:
        """D: powers of two, at most the distance from the bounds or, without bounds, about the size of x."""
        low, high = self.structure.limits
        largest = np.abs(self.A).max(axis=0)
        size = np.maximum(np.abs(x), 1e-3 * np.abs(x).max(initial=0.0))
        size = np.where(size > 0, size, 1.0)
        D = np.minimum(np.minimum(x - low, high - x), size)
        D = np.where((D > 0) & (largest > 0), D / np.where(largest > 0, largest, 1.0), 0.0)
        for v in self.structure.slacks:
            D[self.structure.problem.layout[v]] = 0.0
        return powers_of_two(D, np.floor)

    def _gram(self, D: Array) -> Gram:
        """A D A' with its error."""
        A, off = self.A, self.off
        k = A.shape[1] + BESIDES
        size = (np.abs(A) * D) @ np.abs(A).T
        cross = (off * D) @ (np.abs(A) + off).T
        return Gram((A * D) @ A.T, raised(1.1 * (gamma(k) * size + cross + cross.T) + k * 1e-300))
