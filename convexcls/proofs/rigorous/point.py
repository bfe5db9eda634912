"""The point that a proof speaks of: x within its bounds, and the true point near it that satisfies every equality.

Ax = b holds at x + delta, delta = D A'v with (A D A') v = b - Ax and D the room of each unknown: its distance from its
bounds, else its own size. A step in doubles removes most of b - Ax; what is left is bounded, and so is v, so that the
true point is known as a ball around x, though not as doubles. |A'v| <= 1 keeps it within the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import least_squares
from convexcls.problem import Constraint
from convexcls.proofs.rigorous.products import BESIDES, Products
from convexcls.proofs.rigorous.rounding import UNIT, Ball, gamma, raised
from convexcls.proofs.rigorous.structure import Structure, stated
from convexcls.proofs.rigorous.system import Gram
from convexcls.rows import Rows

Array = NDArray[np.float64]

#: Equalities with more coefficients are not repaired.
MOST = 20_000_000
#: How much less is taken of a point that has no room.
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


def prepared(structure: Structure, products: Products, x: Array) -> Point:
    """The point near x."""
    low, high = structure.limits
    x = np.clip(x, low, high)
    equalities = [c for c in structure.rows if c.relation == "=="]
    if not equalities:
        return Point(x, np.zeros(x.size))
    count = sum(c.size for c in equalities)
    if count * x.size > MOST:
        return Point(x, np.zeros(x.size), f"there are {count} equalities, more than are repaired")
    repair = _Repair(structure, products, equalities)
    return repair.run(x)


class _Repair:
    def __init__(self, structure: Structure, products: Products, equalities: list[Constraint]) -> None:
        self.structure, self.products, self.equalities = structure, products, equalities
        self.problem = structure.problem

    def run(self, x: Array) -> Point:
        with np.errstate(all="ignore"):
            for _ in range(2):
                room = self._room(x)
                step = self._step(x, room)
                if not np.all(np.isfinite(step)):
                    break
                low, high = self.structure.limits
                x = np.clip(x + step, low, high)
            found = self._bounded(x)
            if found.failed and self._is_cone():  # all at their bounds: a little less of everything has room
                return self._bounded(x * (1.0 - SHRINK))
            return found

    def _left(self, x: Array) -> Ball:
        """b - Ax."""
        values = self.products.forward([c.entries for c in self.equalities], Ball.exact(x))
        parts = [stated(c, "rhs") - value for c, value in zip(self.equalities, values, strict=True)]
        return Ball(np.concatenate([p.mid for p in parts]), np.concatenate([p.rad for p in parts]))

    def _room(self, x: Array) -> Array:
        """Powers of two, at most the distance from the bounds or, without bounds, about the size of x."""
        low, high = self.structure.limits
        reach = np.zeros(x.size)
        for c in self.equalities:
            for v, rows in c.entries.items():
                where = self.problem.layout[v]
                reach[where] = np.maximum(reach[where], rows.column_max())
        size = np.maximum(np.abs(x), 1e-3 * np.abs(x).max(initial=0.0))
        size = np.where(size > 0, size, 1.0)
        room = np.minimum(np.minimum(x - low, high - x), size)
        room = np.where((room > 0) & (reach > 0), room / np.where(reach > 0, reach, 1.0), 0.0)
        for v in self.structure.slacks:
            room[self.problem.layout[v]] = 0.0
        return np.where(room > 0, np.exp2(np.floor(np.log2(np.where(room > 0, room, 1.0)))), 0.0)

    def _matrix(self, room: Array) -> Gram:
        """A D A' with its error."""
        rows = [self._dense(c) for c in self.equalities]
        A, off = np.vstack([r for r, _ in rows]), np.vstack([e for _, e in rows])
        k = A.shape[1] + BESIDES
        matrix = (A * room) @ A.T
        size = (np.abs(A) * room) @ np.abs(A).T
        cross = (off * room) @ (np.abs(A) + off).T
        return Gram(matrix, raised(1.1 * (gamma(k) * size + cross + cross.T) + k * 1e-300))

    def _dense(self, c: Constraint) -> tuple[Array, Array]:
        out, off = np.zeros((c.size, self.problem.size)), np.zeros((c.size, self.problem.size))
        for v, rows in c.entries.items():
            where = self.problem.layout[v]
            out[:, where] = rows.to_dense()
            off[:, where] = self._error(rows) + 4 * UNIT * np.abs(out[:, where])
        return out, off

    def _error(self, rows: Rows) -> Array:
        f = rows.factors()
        error = self.products.error_of(f.core)
        side = (1.0 if f.right is None else np.abs(f.right)) * (1.0 if f.left is None else np.abs(f.left).max())
        return np.asarray(raised((error.absolute + error.relative * f.core.column_max()) * side))

    def _step(self, x: Array, room: Array) -> Array:
        matrix = self._matrix(room).matrix
        v = least_squares(matrix, self._left(x).mid)
        pulled = [self._dense(c)[0].T @ part for c, part in zip(self.equalities, self._cut(v), strict=True)]
        return np.asarray(room * np.sum(pulled, axis=0))

    def _cut(self, v: Array) -> list[Array]:
        ends = np.cumsum([0, *(c.size for c in self.equalities)])
        return [v[a:b] for a, b in pairwise(ends)]

    def _is_cone(self) -> bool:
        """Whether less of x is as good: the equalities are homogeneous, and 0 is within the bounds."""
        low, high = self.structure.limits
        return bool(np.all((low <= 0) & (high >= 0))) and not any(np.any(c.rhs != 0) for c in self.equalities)

    def _bounded(self, x: Array) -> Point:
        left = self._left(x)
        if not np.any(left.size):
            return Point(x, np.zeros(x.size))
        room = self._room(x)
        v = self._matrix(room).bound(left.size)
        if v is None:
            return Point(x, np.zeros(x.size), "the equalities are not shown to be independent")
        moved = np.zeros(x.size)
        for c, part in zip(self.equalities, self._cut(v), strict=True):
            dense, off = self._dense(c)
            moved += (np.abs(dense) + off).T @ part
        rad = np.asarray(raised(room * moved * (1.0 + 4 * (v.size + 4) * UNIT)))
        low, high = self.structure.limits
        if not np.all(rad <= 0.999 * np.minimum(x - low, high - x)):
            return Point(x, np.zeros(x.size), "no point near x satisfies the equalities within the bounds")
        return Point(x, rad)
