"""The widest slab between two classes, and the quadratic program that it is:

    maximise  r C  subject to  Rx + s C <= 0, e|v| <= g     is     minimise  1/2 |v|^2  subject to  Rx <= -s

at the length at which the distance C is one, stretched until e|v| = g; v is one of the variables x. Rows of the second
that contradict each other prove that the first has the optimum 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from convexcls.arrays import Array
from convexcls.problem.blocks import Constraint, NormBound
from convexcls.problem.form import Problem


@dataclass(frozen=True, eq=False)
class Slab:
    """The names of the ``distance`` C and of v, which is ``inside`` the norm bound, and the numbers: the ``reward`` r,
    the ``column`` s, the ``scale`` e and the ``radius`` g."""

    problem: Problem
    distance: str
    inside: str
    reward: float
    column: float
    scale: float
    radius: float

    @property
    def block(self) -> Constraint:
        """Rx + s C <= 0."""
        return self.problem.constraints[0]

    @property
    def bound(self) -> NormBound:
        """e|v| <= g."""
        return self.problem.norm_bounds[0]

    @property
    def is_plain(self) -> bool:
        """Whether r, s, e and g are one, and nothing is added to the objective."""
        plain = self.block.entries[self.distance].is_ones and self.bound.is_ball and not self.problem.constant
        return plain and self.reward == self.radius == 1.0

    @cached_property
    def program(self) -> Problem:
        """The quadratic program."""
        entries = {v: rows for v, rows in self.block.entries.items() if v != self.distance}
        return Problem(
            f"quadratic program of the {self.problem.name}",
            [v for v in self.problem.variables if v.name != self.distance],
            quadratic={self.inside: 1.0},
            constraints=[Constraint(self.block.name, entries, self.block.symbol, self.block.kind, rhs=-self.column)],
        )

    def shrunk(self, x: Array) -> Array:
        """A point at the distance one, where it has a distance above 0."""
        distance, place = float(x[self.problem.layout[self.distance]][0]), self.problem.layout[self.distance]
        others = np.delete(x, np.arange(place.start, place.stop))
        return others / distance if distance > 0.0 else np.zeros_like(others)

    def stretched(self, x: Array, a: Array, pull: Array) -> tuple[Array, dict[str, Array]]:
        """The point and its multipliers, from those of the quadratic program: ``pull`` is R'a over v. Without a, or
        where rows contradict each other, the slab has the width 0."""
        place = self.problem.layout[self.distance]
        point = np.insert(x, place.start, 0.0)
        length, total = float(np.linalg.norm(point[self.problem.layout[self.inside]])), float(a.sum())
        share = self.reward / (self.column * total) if total > 0.0 else 0.0
        multipliers = {self.block.name: share * a}
        if not (length > 0.0 and share > 0.0):
            return np.zeros(self.problem.size), multipliers | {self.bound.name: np.zeros(self.bound.size + 1)}
        stretch = self.radius / (self.scale * length)
        point *= stretch
        point[place] = stretch
        pull = pull * (share / self.scale)
        return point, multipliers | {self.bound.name: np.append(pull, np.linalg.norm(pull))}


def find_slab(problem: Problem) -> Slab | None:
    """The slab that a problem is about; None where it is another problem."""
    if problem.terms or problem.quadratic or len(problem.constraints) != 1 or len(problem.norm_bounds) != 1:
        return None
    (block,), (bound,) = problem.constraints, problem.norm_bounds
    rewarded = [v for v in problem.variables if np.any(problem.q[problem.layout[v.name]])]
    if len(rewarded) != 1 or rewarded[0].size != 1 or block.relation != "<=" or np.any(block.rhs):
        return None
    distance = rewarded[0].name
    if distance not in block.entries or distance in bound.entries or len(bound.entries) != 1:
        return None
    if bound.bound_entries or np.any(bound.offset) or not bound.bound > 0.0:
        return None
    ((inside, rows),) = bound.entries.items()
    reward = -float(problem.q[problem.layout[distance]][0])
    column, scale = _constant(block.entries[distance] @ np.ones(1)), _constant(rows.diagonal())
    if not (reward > 0.0 and column > 0.0 and scale > 0.0):
        return None
    return Slab(problem, distance, inside, reward, column, scale, bound.bound)


def _constant(values: Array | None) -> float:
    """The one value of all entries; NaN where there is none."""
    alike = values is not None and values.size > 0 and np.all(values == values[0])
    return float(values[0]) if alike and values is not None else float("nan")
