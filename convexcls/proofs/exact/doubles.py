"""Doubles near an exact solution that do as well.

Each unknown rounded to the nearest double, a row R_i z is off by a rounding of its largest product: too much where
large numbers cancel in it, as with features far from zero. But doubles a little farther away may do: z_j moves by k_j
units in its last place. What a step d away from the solution z costs is

    1/2 d'Hd + sum over p_i/2 (R_i d)^2       of what is curved,
    price_i |R_i d|                           of rows that hold with equality, and of samples at a kink of their cost:

to first order all else adds up to nothing, for z is a solution. Together, in units of what the tolerance allows, this
is a norm of d, and a step of least norm that leads to doubles is a point of a lattice near a given one
(``rational/lattice.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.exact.measured import Measured
from convexcls.proofs.exact.proof import ExactProof
from convexcls.proofs.exact.statement import Samples, Statement, state
from convexcls.rational.lattice import nearest_multiples

Array = NDArray[np.float64]
Vector = list[Fraction]

#: Norms are worked out to this fraction of what the tolerance allows.
GRAIN = Fraction(1, 2**40)
#: An unknown may move by this fraction of itself.
FAR = Fraction(1, 1000)
#: More numbers are not rounded together.
MOST_STEPS = 12


def doubles_near(proof: ExactProof, tolerance: Fraction, factor: Fraction = Fraction(1)) -> Array | None:
    """A point of doubles near a multiple of the solution, its slacks 0; None where it has too many entries, is beyond
    the range of doubles, or may not be off at all because the optimum is 0."""
    assert proof.optimum is not None
    room = tolerance * max(abs(proof.optimum), Fraction(proof.problem.unit))
    if not room:
        return None
    statement = state(proof.problem)
    exact = [factor * value for name in statement.kept for value in proof.point[name]]
    try:
        nearest = [float(value) for value in exact]
    except OverflowError:
        return None
    moved = [j for j, value in enumerate(nearest) if value]
    if not 0 < len(moved) <= MOST_STEPS:
        return None
    units = [Fraction(math.ulp(nearest[j])) for j in moved]
    missed = [v - Fraction(near) for v, near in zip(exact, nearest, strict=True)]
    norm = _norm(statement, proof, room, tolerance)
    gram = [[round(norm[i][j] * u * v) for j, v in zip(moved, units, strict=True)] for i, u in _pairs(moved, units)]
    along = [round(_dot(norm[i], missed) * u) for i, u in _pairs(moved, units)]
    # entries rounded by 1/2 change the norm by at most half their number in a row: what is added is more than that
    for place, (j, unit) in enumerate(_pairs(moved, units)):
        gram[place][place] += len(moved) + math.ceil((unit / exact[j] / FAR / GRAIN) ** 2)
    try:
        for j, unit, k in zip(moved, units, nearest_multiples(gram, along), strict=True):
            nearest[j] = float(Fraction(nearest[j]) + k * unit)
    except OverflowError:
        return None
    out = np.zeros(proof.problem.size)
    out[proof.problem.places(statement.kept)] = nearest
    return out


def _norm(statement: Statement, proof: ExactProof, room: Fraction, tolerance: Fraction) -> list[Vector]:
    """The matrix of the norm, in units of the grain."""
    z = [value for name in statement.kept for value in proof.point[name]]
    size = range(statement.size)
    curved = [[value / room for value in row] for row in statement.quadratic]
    for row, weight in _weighed(statement, proof, z, room, tolerance):
        used = [j for j in size if row[j]]
        for j in used:
            for k in used:
                curved[j][k] += weight * row[j] * row[k]
    return [[value / GRAIN**2 for value in row] for row in curved]


def _weighed(
    statement: Statement, proof: ExactProof, z: Vector, room: Fraction, tolerance: Fraction
) -> Iterator[tuple[Vector, Fraction]]:
    """Rows with the weights of their squares."""
    for block in (*statement.equalities, *statement.inequalities):
        rows, used = block.rational(np.arange(block.size)), proof.multipliers.get(block.block.name, {})
        unit = max((abs(row[-1]) for row in rows), default=Fraction(0))
        for i, row in enumerate(rows):
            if block in statement.equalities or not _value(row, z):
                own = unit or sum((abs(a * b) for a, b in zip(row, z, strict=False)), Fraction(0))
                least = 1 / (tolerance * own) if own else Fraction(0)
                yield row[:-1], max(abs(used.get(i, Fraction(0))) / room, least) ** 2
    for samples in statement.samples:
        yield from _sampled(samples, z, room)


def _sampled(samples: Samples, z: Vector, room: Fraction) -> Iterator[tuple[Vector, Fraction]]:
    lines = [line.rational(np.arange(samples.size)) for line in samples.lines if isinstance(line, Measured)]
    every = zip(zip(*lines, strict=True), samples.cost.tolist(), samples.curvature.tolist(), strict=True)
    for rows, c, p in every:
        ranked = sorted(rows, key=lambda row: _value(row, z), reverse=True)
        if p and _value(ranked[0], z) >= 0:
            yield ranked[0][:-1], Fraction(p) / room
        elif c and len(ranked) > 1 and _value(ranked[0], z) == _value(ranked[1], z):
            yield [a - b for a, b in zip(ranked[0][:-1], ranked[1], strict=False)], (Fraction(c) / room) ** 2


def _value(row: Vector, z: Vector) -> Fraction:
    return _dot(row[:-1], z) + row[-1]


def _dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), Fraction(0))


def _pairs(moved: list[int], units: Vector) -> list[tuple[int, Fraction]]:
    return list(zip(moved, units, strict=True))
