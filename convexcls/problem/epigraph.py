"""Slacks: variables that stand for a convex function, which is the largest of some pieces.

A loss with kinks, an absolute value and whatever else is a maximum of linear functions enters the one form by its
epigraph: a variable s that costs c s or p/2 s^2 and has to be above every piece,

    minimise  sum_i c_i s_i + p_i/2 s_i^2   subject to   R_ki x - w_ki s_i <= h_ki   for every piece k,     w_ki > 0.

Nothing else holds s down or pulls it up, so at the optimum it is the largest of the pieces' heights,

    s_i = max_k (R_ki x - h_ki) / w_ki,     and not below 0 where its cost is quadratic,

and its multipliers alpha_ki >= 0 share its cost: sum_k w_ki alpha_ki = c_i + p_i s_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from convexcls.arrays import Array
from convexcls.caching import cached_property
from convexcls.problem.blocks import Constraint

if TYPE_CHECKING:
    from convexcls.problem.form import Problem


@dataclass(frozen=True, eq=False)
class Epigraph:
    """A slack ``variable`` with the costs c (``cost``) and p (``curvature``) of its entries, above its ``pieces``. An
    entry has one of these costs or none."""

    variable: str
    cost: Array
    curvature: Array
    pieces: tuple[Constraint, ...]

    @property
    def size(self) -> int:
        """The number of slacks."""
        return self.cost.size

    @cached_property
    def is_curved(self) -> bool:
        """Whether some slack has a quadratic cost."""
        return bool(np.any(self.curvature > 0))

    @cached_property
    def is_unit(self) -> bool:
        """Whether all weights w are 1, so that nothing is rounded where a row is solved for its slack."""
        return all(bool(np.all(self.weights(piece) == 1.0)) for piece in self.pieces)

    def weights(self, piece: Constraint) -> Array:
        """The weights w of the slacks in a piece."""
        entries = piece.entries[self.variable].diagonal()
        assert entries is not None
        return -entries

    @property
    def flat_pieces(self) -> tuple[Constraint, ...]:
        """The pieces that are constants: lower bounds of the slack."""
        return tuple(piece for piece in self.pieces if len(piece.entries) == 1)

    @cached_property
    def is_two_sided(self) -> bool:
        """Whether it stands for a distance: two pieces that slope, no flat one, and a linear cost."""
        return len(self.pieces) == 2 and not self.flat_pieces and not self.is_curved

    @cached_property
    def tilt(self) -> float:
        """How many times steeper the steeper of two sides is."""
        first, second = (dict(piece.entries) for piece in self.pieces)
        ratios = [1.0]
        for v in (first.keys() & second.keys()) - {self.variable}:
            sides = np.stack([first[v].column_max(), second[v].column_max()])
            sides = sides[:, sides.all(axis=0)]
            ratios += (sides.max(axis=0) / sides.min(axis=0)).tolist()
        return max(ratios)

    @property
    def reference(self) -> Constraint:
        """The piece whose multiplier is what the others leave of the cost: a constant where there is one."""
        return (*self.flat_pieces, self.pieces[-1])[0]

    @property
    def others(self) -> tuple[Constraint, ...]:
        """The pieces whose multipliers are free."""
        reference = self.reference
        return tuple(piece for piece in self.pieces if piece is not reference)

    def lowest(self, heights: Sequence[Array]) -> Array:
        """The lowest slacks above pieces of these heights."""
        highest: Array = np.max(heights, axis=0)
        if not self.is_curved:
            return highest
        return np.where(self.cost > 0, highest, np.maximum(highest, 0.0))

    def heights(self, problem: Problem, x: Array) -> list[Array]:
        """The heights of the pieces at x, whatever slacks it has."""
        return [self._height(problem, piece, x) for piece in self.pieces]

    def _height(self, problem: Problem, piece: Constraint, x: Array) -> Array:
        rest = {v: rows for v, rows in piece.entries.items() if v != self.variable}
        return np.asarray((problem.joined(rest, piece.size) @ x - piece.rhs) / self.weights(piece))


def find_epigraphs(problem: Problem) -> tuple[Epigraph, ...]:
    """The slacks of a problem, in the order of its variables. Where a row has two of them, that with more pieces, or
    the first, is the slack and the other one an unknown like others."""
    found = [e for v in problem.variables if (e := _epigraph(problem, v.name)) is not None]
    chosen: set[str] = set()
    for e in sorted(found, key=lambda e: -len(e.pieces)):
        if not any(chosen & piece.entries.keys() for piece in e.pieces):
            chosen.add(e.variable)
    return tuple(e for e in found if e.variable in chosen)


def _epigraph(problem: Problem, name: str) -> Epigraph | None:
    """The variable as a slack; None where it is none."""
    pieces = tuple(c for c in problem.constraints if name in c.entries)
    if all(len(c.entries) == 1 for c in pieces) or not all(_is_piece(c, name) for c in pieces):
        return None
    if name in problem.gauge or any(name in b.entries for b in (*problem.terms, *problem.norm_bounds)):
        return None
    if any(name in b.bound_entries for b in problem.norm_bounds):
        return None
    nothing = np.zeros(problem.variable(name).size)
    cost, curvature = problem.linear.get(name, nothing), problem.diagonals.get(name, nothing)
    if name in problem.matrices or not np.all(np.where(curvature > 0, cost == 0, cost >= 0)):
        return None
    return Epigraph(name, cost, curvature, pieces)


def _is_piece(c: Constraint, name: str) -> bool:
    """Whether each row of a constraint bounds one entry of the variable from below."""
    entries = c.entries[name].diagonal()
    return c.relation == "<=" and entries is not None and bool(np.all(entries < 0))


def with_lowest_slacks(problem: Problem, x: Array) -> Array:
    """x with every slack as low as its pieces allow."""
    out = np.array(x, dtype=float)
    for e in problem.epigraphs:
        out[problem.layout[e.variable]] = e.lowest(e.heights(problem, out))
    return out
