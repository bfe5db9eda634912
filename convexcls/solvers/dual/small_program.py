"""A small dense support vector machine read as the program of its multipliers, and its answer mapped back:

    minimise  1/2 b'Kb + p'b   subject to  low <= b <= high,   sum_i b_i = total   (if there is an equation)

K is given itself, or as M M' + diag(compliance). From rows of a primal (``dual_program.py``) b = c a, with the
intercept's column c in place of signs, and a = b without one; of a kernel machine (``kernel/box_program.py``) it is the
dual as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.base import Standing
from convexcls.solvers.dual.dual_program import DualProgram, why_no_dual_program
from convexcls.solvers.kernel.box_program import BoxProgram, why_not_a_box_program

#: More rows are left to solvers whose steps do not grow with them.
MAX_ROWS = 2000


class Box(NamedTuple):
    """The program, as compiled loops take it: either K or M has no rows. ``sigma`` is what makes up for the equation,
    ``unit`` the largest linear cost, ``largest`` the largest entry of K."""

    K: Array
    M: Array
    p: Array
    compliance: Array
    diagonal: Array
    low: Array
    high: Array
    total: float
    has_sum: bool
    sigma: float
    unit: float
    largest: float

    @classmethod
    def of(cls, K: Array, M: Array, p: Array, compliance: Array, low: Array, high: Array, total: float | None) -> Box:
        """The program with what follows from it; without an equation where no total is given."""
        diagonal = np.diag(K).copy() if K.size else np.einsum("ij,ij->i", M, M) + compliance
        unit, largest = float(np.abs(p).max(initial=0.0)), float(diagonal.max(initial=0.0))
        sum_of_b = (0.0, False, 0.0) if total is None else (float(total), True, largest)
        return cls(K, M, p, compliance, diagonal, low, high, *sum_of_b, unit, largest)


@dataclass(frozen=True, eq=False)
class SmallProgram:
    """The program, with what it was read from."""

    source: DualProgram | BoxProgram
    box: Box

    @classmethod
    def of(cls, problem: Problem) -> SmallProgram | str:
        """The problem so, or why it is another."""
        rows = max((c.size for c in problem.constraints), default=0)
        if rows > MAX_ROWS:
            return f"it takes at most {MAX_ROWS} rows, and the problem has {rows}"
        return cls.of_kernel(problem) if problem.matrices else cls.of_rows(problem)

    @classmethod
    def of_rows(cls, problem: Problem) -> SmallProgram | str:
        """By the rows of a primal."""
        if reason := why_no_dual_program(problem):
            return reason
        source = DualProgram.of(problem)
        has_sum = bool(np.any(source.c))
        c = source.c if has_sum else np.ones(source.size)
        if sparse.issparse(source.matrix) or not np.all(c):
            return "it takes dense rows that all have the intercept or none"
        M, compliance = np.ascontiguousarray((source.left / c)[:, None] * source.matrix), source.compliance / c**2
        ends, p = (source.low * c, source.high * c), source.h / c - M @ source.u0
        total = -source.total if has_sum else None
        return cls(source, Box.of(_NONE, M, p, compliance, np.fmin(*ends), np.fmax(*ends), total))

    @classmethod
    def of_kernel(cls, problem: Problem) -> SmallProgram | str:
        """As it is read for pairs of unknowns, with the whole of the kernel matrix."""
        if reason := why_not_a_box_program(problem):
            return reason
        source = BoxProgram.of(problem)
        if source.store.capacity < problem.size:
            return "it keeps the whole of the kernel matrix, which is more than the memory that was allowed"
        if np.any(source.low > source.high):
            return "the bounds exclude each other"
        everyone = np.arange(problem.size)
        array, slots = source.store.place(everyone)
        K = array if np.array_equal(slots, everyone) else array[slots]
        box = Box.of(K, _NONE, source.p, np.zeros(problem.size), source.low, source.high, source.total)
        return cls(source, box)

    def objective(self, b: Array, g: Array) -> float:
        """The objective of the dual at b, whose gradient is g."""
        value, source = 0.5 * float(b @ (g + self.box.p)), self.source
        if isinstance(source, BoxProgram):
            return source.problem.constant + source.weight * value
        return source.problem.constant + 0.5 * float(source.u0 @ source.u0) - value

    def residual(self, b: Array, g: Array, s: float) -> float:
        """The largest violation of a condition, in units of the linear cost."""
        slopes, box = g + s, self.box
        violation = np.maximum(np.where(b < box.high, -slopes, 0.0), np.where(b > box.low, slopes, 0.0))
        return float(violation.max(initial=0.0)) / (float(np.abs(box.p).max(initial=0.0)) or 1.0)

    def restored(self, b: Array, g: Array, s: float, settled: bool = False) -> Standing:
        """The point of the problem and its multipliers; where b is ``settled``, unknowns between their bounds have
        none."""
        if isinstance(self.source, BoxProgram):
            return self.source.point(b), self.source.multipliers(b, g, s, settled)
        return self.source.restored(self._multipliers(b), -s)

    def direction(self, way: Array) -> Array | None:
        """A direction of the problem along which its objective falls for ever, where the program's does; None where
        that speaks of its dual."""
        return self.source.point(way) if isinstance(self.source, BoxProgram) else None

    def farkas(self, way: Array) -> Mapping[str, Array] | None:
        """The contradiction of the rows, where the objective of their dual falls for ever."""
        if isinstance(self.source, BoxProgram):
            return None
        return self.source.farkas(np.maximum(self._multipliers(way), 0.0))

    def _multipliers(self, b: Array) -> Array:
        assert isinstance(self.source, DualProgram)
        return b / self.source.c if self.box.has_sum else b


_NONE = np.empty((0, 0))
