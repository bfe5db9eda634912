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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

import numpy as np

from convexcls import rational
from convexcls.proofs.separability.alternative import alternative
from convexcls.proofs.separability.guess import Guess
from convexcls.proofs.separability.section import Matrix, Places, Section, Vector, dot
from convexcls.proofs.separability.spanning import spanning_columns
from convexcls.rows import Rows
from convexcls.rows.signs import exact_signs

Kind = Literal["strict", "weak", "overlapping"]
Weights = Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class Separation:
    """The verdict on rows and its proof, all by number of the row.

    ``direction``: v with every row >= 0, and as many above 0 as any v has; None where the rows overlap.
    ``still``: the rows at 0 along it, and along every such v.
    ``weights``: > 0, with sum_i weights_i a_i = 0, on rows that span all of ``still``.
    ``circuit``: > 0, with sum_i circuit_i a_i = 0, on as many rows as their rank and one; empty where v is strict.
    """

    kind: Kind
    direction: tuple[Fraction, ...] | None
    still: Places
    weights: Weights
    circuit: Weights


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
        section = section.within(_subspace(section, weights))
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
    kind: Kind, direction: tuple[Fraction, ...] | None, still: Places, weights: Weights, circuit: Weights
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
    columns = [list(column) for column in zip(*rows.rational(np.array(known)), strict=True)]
    share = rational.solve(columns, total)
    assert share is not None, "a circuit of a section adds up to something that vanishes on it"
    times = 1 + max(Fraction(0), *(-c / weights[i] for i, c in zip(known, share, strict=True)))
    return {i: c + times * weights[i] for i, c in zip(known, share, strict=True)} | added


def _subspace(section: Section, weights: Weights) -> Matrix:
    """A basis of the vectors, in units by column, on which all rows with weights vanish."""
    whole = Section(section.rows)
    if not weights:
        width = section.rows.shape[1]
        return [[Fraction(int(i == j)) for j in range(width)] for i in range(width)]
    return rational.null_space(whole.exact(sorted(weights)))
