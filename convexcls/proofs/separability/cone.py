"""The directions along which no row shrinks: which numbers run to infinity along them, and which way.

The directions v with a_i'v >= 0 for all rows are a cone. Rows in F stay at 0 along all of them; the cone spans the
subspace L on which F vanishes. A linear function c'v of the unknowns is

    finite          iff c vanishes on L, that is, iff c is in the span of the rows of F;
    unidentified    iff c does not vanish where all rows do: then no data fix it;
    +inf or -inf    iff c'v has that sign, or is 0, along every direction of the cone;
    either          otherwise.

The last two are told apart by the same alternative: c joins the rows, and either moves with them or does not.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from convexcls import rational
from convexcls.proofs.separability.core import Separation, descend
from convexcls.proofs.separability.section import Matrix, Section, Vector, dot, exponent_of, power_of_two
from convexcls.rows import DenseRows, Rows, StackedRows
from convexcls.rows.signs import exact_signs

Behaviour = Literal["finite", "unidentified", "+inf", "-inf", "either"]


class Cone:
    """The cone of directions along which no row shrinks, of rows on which there is a verdict."""

    def __init__(self, rows: Rows, verdict: Separation) -> None:
        self.rows, self.verdict = rows, verdict

    def behaviour(self, functional: Vector) -> Behaviour:
        """What becomes of ``functional'v`` along the cone."""
        if any(dot(functional, vector) for vector in self.unmoved):
            return "unidentified"
        if not any(dot(functional, vector) for vector in self.subspace):
            return "finite"
        assert self.verdict.direction is not None
        sign = dot(functional, self.verdict.direction)
        if not sign:  # inside the cone, so that either side of it can be reached
            return "either"
        against = [-c for c in functional] if sign > 0 else functional
        if self._moves(against):
            return "either"
        return "+inf" if sign > 0 else "-inf"

    @cached_property
    def subspace(self) -> Matrix:
        """A basis of L: the vectors on which every row that cannot be moved vanishes."""
        return _vanishing(self.rows, sorted(self.verdict.weights))

    @cached_property
    def unmoved(self) -> Matrix:
        """A basis of the vectors on which all rows vanish."""
        basis, chosen = self.subspace, sorted(self.verdict.weights)
        moving = np.delete(np.arange(self.rows.shape[0]), self.verdict.still)
        some = moving[: 2 * self.rows.shape[1]].tolist()
        while basis and some:
            chosen = sorted({*chosen, *some})
            basis = _vanishing(self.rows, chosen)
            some = self._one_that_moves(basis, moving)
        return basis

    def _one_that_moves(self, basis: Matrix, moving: NDArray[np.intp]) -> list[int]:
        for vector in basis:
            found = np.flatnonzero(exact_signs(self.rows[moving], vector))
            if found.size:
                return [int(moving[found[0]])]
        return []

    @property
    def columns(self) -> list[int]:
        """Columns of the rows that cannot be moved that the others depend on: the other unknowns may be 0."""
        if not self.verdict.weights:
            return []
        rows = self.rows.rational(np.array(sorted(self.verdict.weights), dtype=np.intp))
        return rational.independent_rows([list(column) for column in zip(*rows, strict=True)])

    def _moves(self, functional: Vector) -> bool:
        """Whether some direction of the cone has ``functional'v`` above 0."""
        n = self.rows.shape[0]
        units = Section(self.rows).units.tolist()
        reach = max(exponent_of(c) + e for c, e in zip(functional, units, strict=True) if c)
        row = np.array([[float(c * power_of_two(-reach)) for c in functional]])  # about as long as the others
        stacked = StackedRows([self.rows, DenseRows(row)])
        alive = np.append(np.delete(np.arange(n), self.verdict.still), n)
        whole = Section(stacked)
        basis = _vanishing(self.rows, sorted(self.verdict.weights), whole.units.tolist())
        start = Section(stacked, alive, None).within(basis)
        section, _, direction, _ = descend(start, dict(self.verdict.weights))
        return direction is not None and bool(section.alive.size) and int(section.alive[-1]) == n


def _vanishing(rows: Rows, chosen: list[int], units: list[int] | None = None) -> Matrix:
    """A basis of the vectors (in units by column) on which some rows vanish."""
    width = rows.shape[1]
    if not chosen:
        return [[Fraction(int(i == j)) for j in range(width)] for i in range(width)]
    exactly = rows.rational(np.array(chosen, dtype=np.intp))
    if units is not None:
        scale = [power_of_two(e) for e in units]
        exactly = [[v * s for v, s in zip(row, scale, strict=True)] for row in exactly]
    return rational.null_space(exactly)
