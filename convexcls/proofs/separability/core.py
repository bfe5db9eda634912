"""Whether homogeneous rows can be moved to one side, with a proof in rationals.

For rows a_i, here the margins y_i (x_i, 1) of samples, exactly one holds:

    strict        some v has a_i'v > 0 for all i;
    weak          not that, but some v has a_i'v >= 0 for all i, and > 0 for some;
    overlapping   every v with a_i'v >= 0 for all i has a_i'v = 0 for all i.

The proof goes down by dimension. Gordan's alternative on all rows gives v, and all is said, or weights lambda > 0 of
few rows that add up to 0: a *circuit*, which shows that there is no strict v (on at most p + 1 rows, Caratheodory;
for samples with an intercept a common point of both hulls, Kirchberger). Along any v of the weak kind, its rows must
stay at 0. So the question is asked again on the subspace on which they vanish, for the rows that do not vanish on it,
until these can all be moved, or there are none. The weights of all circuits together, made positive, prove that the
rows in their span cannot be moved (Stiemke): sum_i lambda_i a_i'v = 0 with all a_i'v >= 0 leaves 0 only.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np

from convexcls.arrays import Indices
from convexcls.proofs.claims.separation import Kind, Separation, Weights
from convexcls.proofs.separability.alternative import Guess, Section, alternative, exponent_of
from convexcls.rational.elimination import Matrix, Vector, dot, independent_columns, null_space, solve, transposed
from convexcls.rows import DenseRows, Rows, StackedRows
from convexcls.rows.signs import exact_signs
from convexcls.rows.spanning import spanning_columns

Behaviour = Literal["finite", "unidentified", "+inf", "-inf", "either"]


def separate(rows: Rows, tip: Guess | None = None) -> Separation:
    """The verdict on the rows. ``tip`` is a guess of the caller, which is tried first."""
    wide = spanning_columns(rows)
    if wide is not None:
        if (direction := _tipped(rows, tip)) is not None:
            return _separation("strict", tuple(direction), np.arange(0), {}, {})
        found = separate(wide.rows, _without_direction(tip))
        return found if found.direction is None else replace(found, direction=tuple(wide.widened(found.direction)))
    section = Section(rows)
    section, weights, direction, circuit = descend(section, {}, _in_units(section, tip))
    if direction is None:
        return _separation("overlapping", None, np.arange(rows.shape[0]), weights, circuit)
    moves = np.zeros(rows.shape[0], dtype=bool)
    moves[section.alive] = True
    still = np.flatnonzero(~moves)
    return _separation("weak" if circuit else "strict", tuple(direction), still, weights, circuit)


def descend(
    section: Section, weights: dict[int, Fraction], tip: Guess | None = None
) -> tuple[Section, dict[int, Fraction], Vector | None, dict[int, Fraction]]:
    """Down to the subspace on which all rows that do not vanish can be moved to one side, if any are left. Returns that
    section, the weights of rows that vanish on it, such a direction, and the first circuit met. ``weights`` are those
    that led to the section, by which it may start below the whole space."""
    circuit: dict[int, Fraction] = {}
    while section.size:
        found = alternative(section, tip)
        tip = None
        if found.direction is not None:
            return section, weights, section.lift(found.direction), circuit
        named = {int(section.alive[place]): weight for place, weight in found.circuit.items()}
        circuit = circuit or dict(sorted(named.items()))
        weights = _joined(section.rows, weights, named)
        section = section.within(_vanishing(section.rows, sorted(weights), section.units.tolist()))
    return section, weights, None, circuit


def strictly(rows: Rows, tip: Guess | None = None) -> tuple[Vector | None, dict[int, Fraction]]:
    """Only whether some v has every row above 0: such a v, or the weights of a circuit."""
    wide = spanning_columns(rows)
    if wide is not None:
        if (direction := _tipped(rows, tip)) is not None:
            return direction, {}
        strict, circuit = strictly(wide.rows, _without_direction(tip))
        return (None if strict is None else wide.widened(strict)), circuit
    section = Section(rows)
    found = alternative(section, _in_units(section, tip))
    return (section.lift(found.direction) if found.direction is not None else None), found.circuit


def _tipped(rows: Rows, tip: Guess | None) -> Vector | None:
    """The caller's direction in rationals, where it has every row above 0."""
    if tip is None or tip.direction is None or not np.all(np.isfinite(tip.direction)):
        return None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if not np.all(rows @ tip.direction > 0):
            return None
    exactly = [Fraction(v) for v in tip.direction.tolist()]
    return exactly if np.all(exact_signs(rows, exactly) > 0) else None


def _without_direction(tip: Guess | None) -> Guess | None:
    return None if tip is None or not tip.support.size else Guess(None, tip.support)


def _in_units(section: Section, tip: Guess | None) -> Guess | None:
    """The caller's guess in the units of the section."""
    if tip is None or tip.direction is None:
        return tip
    with np.errstate(over="ignore", under="ignore"):
        return Guess(tip.direction * np.exp2(-section.units), tip.support)


def _separation(
    kind: Kind, direction: tuple[Fraction, ...] | None, still: Indices, weights: Weights, circuit: Weights
) -> Separation:
    still.setflags(write=False)
    by_row = {i: weights[i] for i in sorted(weights)}
    return Separation(kind, direction, still, MappingProxyType(by_row), MappingProxyType(dict(circuit)))


def _joined(rows: Rows, weights: dict[int, Fraction], circuit: dict[int, Fraction]) -> dict[int, Fraction]:
    """The weights of rows that add up to 0 together with those of a circuit, which adds up to something in their span:
    that is taken away from the former, of which there is as much as it takes to stay above 0."""
    places = np.array(sorted(circuit), dtype=np.intp)
    exactly = {int(i): row for i, row in zip(places, rows.rational(places), strict=True)}
    added = {i: weight for i, weight in circuit.items() if any(exactly[i])}  # a row of zeros says nothing
    if not weights or not added:
        return weights | added
    total = [-dot(column, list(added.values())) for column in zip(*(exactly[i] for i in added), strict=True)]
    known = sorted(weights)
    share = solve(transposed(rows.rational(np.array(known))), total)
    assert share is not None, "a circuit of a section adds up to something that vanishes on it"
    times = 1 + max(Fraction(0), *(-c / weights[i] for i, c in zip(known, share, strict=True)))
    return {i: c + times * weights[i] for i, c in zip(known, share, strict=True)} | added


class Cone:
    """The directions along which no row shrinks: which numbers run to infinity along them, and which way.

    The directions v with a_i'v >= 0 for all rows are a cone. Rows in F stay at 0 along all of them; the cone spans the
    subspace L on which F vanishes. A linear function c'v of the unknowns is

        finite          iff c vanishes on L, that is, iff c is in the span of the rows of F;
        unidentified    iff c does not vanish where all rows do: then no data fix it;
        +inf or -inf    iff c'v has that sign, or is 0, along every direction of the cone;
        either          otherwise.

    The last two are told apart by the same alternative: c joins the rows, and either moves with them or does not.
    """

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

    def _one_that_moves(self, basis: Matrix, moving: Indices) -> list[int]:
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
        return independent_columns(rows)

    def _moves(self, functional: Vector) -> bool:
        """Whether some direction of the cone has ``functional'v`` above 0."""
        n = self.rows.shape[0]
        units = Section(self.rows).units.tolist()
        reach = max(exponent_of(c) + e for c, e in zip(functional, units, strict=True) if c)
        row = np.array([[float(c * Fraction(2) ** -reach) for c in functional]])  # about as long as the others
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
        scale = [Fraction(2) ** e for e in units]
        exactly = [[v * s for v, s in zip(row, scale, strict=True)] for row in exactly]
    return null_space(exactly)
