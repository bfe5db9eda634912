"""A point of the dual program, and how far it is from optimal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from convexcls.arrays import Array, Mask
from convexcls.solvers.base import Standing
from convexcls.solvers.dual.dual_program import DualProgram

#: The share of the tolerance that is aimed at: the check measures in other ways, some of them less kind.
SHARE = 0.02
#: What rounding leaves of excesses, in units of what is added up.
ROUNDED = 1e-14


@dataclass(frozen=True, eq=False)
class Point:
    """Multipliers a, the unknowns u and the intercept b that go with them, and the excess r of every row."""

    program: DualProgram
    a: Array
    u: Array
    b: float
    r: Array

    @classmethod
    def at(cls, program: DualProgram, a: Array, b: float) -> Point:
        u = program.weights(a)
        return cls(program, a, u, b, program.excess(a, u, b))

    @cached_property
    def held(self) -> Mask:
        """The multipliers at a bound that their slope does not lead away from."""
        low, high = self.a <= self.program.low, self.a >= self.program.high
        return low & (self.r <= 0.0) | high & (self.r >= 0.0)

    @cached_property
    def slope(self) -> float:
        """The largest slope of a multiplier that can follow it."""
        return float(np.abs(self.r[~self.held]).max(initial=0.0))

    @cached_property
    def lacking(self) -> float:
        """c'a + total."""
        return self.program.lacking(self.a)

    @cached_property
    def objective(self) -> float:
        """The dual objective."""
        p, a = self.program, self.a
        return p.problem.constant - float(0.5 * self.u @ self.u + 0.5 * (p.compliance * a) @ a + p.h @ a)

    @cached_property
    def gap(self) -> float:
        """What the rows cost more than the multipliers say, sum_i cost_i(r_i) - a_i r_i: of a row that has to hold, as
        much as the largest multiplier makes of it; and what c'a + total moves."""
        p, r, a = self.program, self.r, self.a
        largest = max(float(np.abs(a).max(initial=0.0)), p.natural_multiplier)
        way = np.where(r > 0, p.high - a, a - p.low)
        cost = np.abs(r) * np.where(np.isfinite(way), way, largest)
        soft = p.compliance > 0
        curved = np.divide(0.5 * r * r, p.compliance, out=np.full(r.shape, np.inf), where=soft)
        return float(np.minimum(cost, curved)[~self.held].sum()) + p.beta * self.lacking**2

    def is_optimal(self, tol: float) -> bool:
        """Whether nothing is off by more than a share of the tolerance: the gap relative to the objective, a lack of
        the equation and the multipliers of squared slacks relative to the largest multiplier."""
        p, aim = self.program, SHARE * tol
        largest = aim * float(np.abs(self.a).max(initial=0.0))
        soft = (p.compliance > 0) & ~self.held
        off = np.abs(self.r[soft] / p.compliance[soft]).max(initial=0.0)
        lack = abs(self.lacking) <= largest * float(np.abs(p.c).max(initial=0.0))
        return bool(self.gap <= aim * abs(self.objective) and off <= largest and lack)

    @cached_property
    def is_rounded(self) -> bool:
        """Whether rounding is all that is left."""
        reach = self.program.side + abs(self.b) * float(np.abs(self.program.c).max(initial=0.0))
        return self.slope <= ROUNDED * reach and self.program.beta * abs(self.lacking) <= ROUNDED * reach

    def with_equation_priced(self) -> Point:
        """The point with b moved by what the equation lacks (the update of the method of multipliers), where that is
        more than the slopes are."""
        shift = -self.program.beta * self.lacking
        if abs(shift) * float(np.abs(self.program.c).max(initial=0.0)) < self.slope:
            return self
        return replace(self, b=self.b + shift, r=self.r + shift * self.program.c)

    def facts(self) -> Mapping[str, int]:
        """How many multipliers are at bounds and between them."""
        low, high = self.a <= self.program.low, self.a >= self.program.high
        return {"low": int(low.sum()), "free": int((~low & ~high).sum()), "high": int((high & ~low).sum())}

    def standing(self) -> Standing:
        """Where the solver stands, in the unknowns of the problem."""
        return self.program.restored(self.a, self.b)
