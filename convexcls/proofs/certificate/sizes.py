"""What residuals are measured by, as far as the problem alone says it: worked out once for all points."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import ROUNDING_ROOM, Block, Problem, Term
from convexcls.proofs.rigorous.structure import Structure
from convexcls.rows import DiagonalRows

Array = NDArray[np.float64]
Places = NDArray[np.intp]


class Sizes:
    """The sizes of one problem, by unknown or by block."""

    #: The right-hand side of each constraint, or its unit; 0 where it has neither.
    units: dict[str, float]
    #: The largest cost of a slack of a block, or of an unknown that it bounds.
    slack_costs: dict[str, float]
    #: The largest curvature of a slack of a block.
    slack_curvatures: dict[str, float]
    #: The largest right-hand side of the rows of each slack.
    slack_sides: dict[str, float]
    #: The constraint that keeps a slack above a number, by slack, where there is one.
    signs: dict[str, str]

    def __init__(self, problem: Problem) -> None:
        structure = problem.remembered(Structure)
        blocks = (*problem.constraints, *problem.terms, *problem.norm_bounds)
        self.unit, self.structure, self.balls = problem.unit, structure, structure.balls  # no cycle with the problem
        self.diagonal = structure.diagonal  # P where it is diagonal, 0 elsewhere
        self.curved: Places = np.flatnonzero(self.diagonal > 0)
        self.column_units = np.ones(problem.size)  # the largest entry of each column, where there is curvature
        if self.curved.size:
            every = [*map(problem.rows, blocks), *map(problem.bound_rows, problem.norm_bounds)]
            largest = np.max([np.zeros(problem.size), *(rows.column_max() for rows in every)], axis=0)
            self.column_units = np.where(largest > 0, largest, 1.0)
        bent = {v: self.diagonal[problem.layout[v]] > 0 for v in problem.quadratic}
        self.curved_by = {v: flags for v, flags in bent.items() if flags.any()}
        self.slack_costs = {b.name: self._slack_cost(problem, b) for b in blocks}
        self.slack_curvatures = {b.name: self._slack_curvature(problem, b) for b in blocks}
        self.one_to_one = {v.name for v in problem.variables if _acts_one_to_one(blocks, v.name)}
        self.units = {c.name: max(c.unit, float(np.abs(c.rhs).max(initial=0.0))) for c in problem.constraints}
        self.slack_sides = {v: max(self.units[c.name] for c in e.pieces) for v, e in structure.slacks.items()}
        self.signs = {v: c.name for v, e in structure.slacks.items() for c in e.flat_pieces}
        self._natural(problem)

    @cached_property
    def boxed(self) -> NDArray[np.bool_]:
        """The unknowns without curvature that are bounded on both sides."""
        low, high = self.structure.limits
        return (self.diagonal == 0) & np.isfinite(low) & np.isfinite(high)

    def _natural(self, problem: Problem) -> None:
        """What counts as a pull on each unknown, and as a multiplier, where all multipliers or residuals may be 0: an
        objective of one unit gives the size of the multipliers, and the targets that of residuals."""
        self.pull, self.multiplier = np.zeros(problem.size), 0.0
        for term in problem.terms:
            if term.is_half_square:
                target = self._targets(term)
                self.pull += problem.rows(term).column_max() * float(target.sum())
                self.multiplier = max(self.multiplier, float(target.max(initial=0.0)))
        for c in problem.constraints:
            if unit := self.units[c.name]:
                self.pull += problem.rows(c).column_max() * (self.unit / unit)
                self.multiplier = max(self.multiplier, self.unit / unit)

    def _targets(self, term: Term) -> Array:
        target = ROUNDING_ROOM * term.weights * np.abs(term.offset)
        if np.any(target):
            return target
        # no targets either: a loss of one unit has this slope
        return np.asarray(np.sqrt(2.0 * self.unit * term.weights) / term.size)

    @staticmethod
    def _slack_cost(problem: Problem, block: Block) -> float:
        bounded = [v for v, rows in block.entries.items() if isinstance(rows, DiagonalRows)]
        costs = [np.abs(problem.linear[v]).max(initial=0.0) for v in bounded if v in problem.linear]
        return float(max(costs, default=0.0))

    def _slack_curvature(self, problem: Problem, block: Block) -> float:
        slacks = [v for v in block.entries if v in self.structure.slacks]
        return float(max((self.diagonal[problem.layout[v]].max(initial=0.0) for v in slacks), default=0.0))

    def side(self, block: Block) -> float:
        """The right-hand side of a block's slack, 0 where it has none: multipliers times these are at most twice the
        objective, at the optimum."""
        return max((side for v, side in self.slack_sides.items() if v in block.entries), default=0.0)

    def natural_multiplier(self, block: Block, unit: float) -> float:
        """The size of a block's multipliers where all of them may be 0: the cost of a slack or what an objective of one
        unit gives."""
        return self.slack_costs[block.name] or (self.unit / unit if unit > 0 else 0.0)


def _acts_one_to_one(blocks: tuple[Block, ...], variable: str) -> bool:
    """Whether every block takes the variable entry by entry, as slacks are taken."""
    return all(isinstance(b.entries[variable], DiagonalRows) for b in blocks if variable in b.entries)
