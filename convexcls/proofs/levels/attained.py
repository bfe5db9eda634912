"""Whether a point of doubles attains an optimum that is known without rounding, to the tolerance, worked out in
rationals: then nothing is asked of multipliers in doubles, which may have less room than the point.

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
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.claims.affine_rows import AffineRows
from convexcls.proofs.claims.optimum import ExactProof, RootProof, widest
from convexcls.proofs.claims.rational_bounds import bounds_reached
from convexcls.proofs.claims.statement import Samples, Statement, state
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.settling import settled
from convexcls.proofs.rigorous.structure import Structure
from convexcls.proofs.words import ATTAINED
from convexcls.rational.elimination import Vector, dot
from convexcls.rational.lattice import nearest_multiples

#: Norms are worked out to this fraction of what the tolerance allows.
GRAIN = Fraction(1, 2**40)
#: An unknown may move by this fraction of itself.
MAX_RELATIVE_MOVE = Fraction(1, 1000)
#: More numbers are not rounded together.
MAX_NUMBERS_ROUNDED_TOGETHER = 12

#: Margins that a rounding leaves below 1 may cost much: the solution is stretched by as much.
STRETCHED = tuple(1 + Fraction(k, 2**53) for k in (0, 2**7, 2**13, 2**19))


def at_attaining_point(c: Certificate, given: Array | None) -> Certificate | None:
    """The certificate of an exact optimum at a point of doubles that attains it: the one given, the doubles nearest to
    the solution, or others near it; None where none of them does."""
    for x in _tried(c, given):
        if x is not None and np.all(np.isfinite(x)) and _attains(c, x):
            kkt = check_kkt(c.problem, x, c.multipliers or {}, c.tol)
            return replace(c, x=x, kkt=kkt, notes=c.notes if kkt.holds(c.tol) else (*c.notes, ATTAINED))
    return None


def _tried(c: Certificate, given: Array | None) -> Iterator[Array | None]:
    yield given
    yield c.x if c.x is None else settled(c.problem, c.x, c.tol)
    if c.problem.is_quadratic_program:
        for factor in STRETCHED if c.problem.remembered(Structure).slacks else STRETCHED[:1]:
            x = doubles_near(c.exact, Fraction(c.tol), factor)
            yield None if x is None else settled(c.problem, x, c.tol)


def _attains(c: Certificate, x: Array) -> bool:
    point = {name: [Fraction(v) for v in part.tolist()] for name, part in c.problem.split(x).items()}
    root = c.exact if c.enclosure is None else c.enclosure.root
    if isinstance(root, RootProof):
        return _widest_attained(root, point, Fraction(c.tol))
    if not isinstance(root, ExactProof):
        return False
    if bounds_reached(c.problem, point, root.multipliers, Fraction(c.tol)) is None:
        return False
    return check_kkt(c.problem, x, c.multipliers or {}, c.tol).primal_feasibility.bound <= c.tol


def _widest_attained(proof: RootProof, point: Mapping[str, list[Fraction]], tol: Fraction) -> bool:
    """R x >= t and ‖v‖ <= 1 with t the widest margin, each to the relative tolerance."""
    parts = widest(proof.problem)
    assert parts is not None
    t, length = point[parts.distance][0], sum((v * v for v in point[parts.inside]), Fraction(0))
    if t < 0 or length > (1 + tol) ** 2 or not (1 - tol) ** 2 * proof.square <= t * t <= (1 + tol) ** 2 * proof.square:
        return False
    z = [value for v in proof.problem.variables for value in point[v.name]]
    rows = AffineRows(parts.block, proof.problem.rows(parts.block), proof.problem.size)
    return all(dot(row, [*z, Fraction(1)]) <= tol * t for row in rows.rational())  # t - R x


def doubles_near(proof: ExactProof, tolerance: Fraction, factor: Fraction = Fraction(1)) -> Array | None:
    """A point of doubles near a multiple of the solution, its slacks 0; None where it has too many entries, is beyond
    the range of doubles, or may not be off at all because the optimum is 0."""
    assert proof.optimum is not None
    allowed = tolerance * max(abs(proof.optimum), Fraction(proof.problem.unit))
    if not allowed:
        return None
    statement = state(proof.problem)
    exact = [factor * value for value in statement.joined(proof.point)]
    try:
        nearest = [float(value) for value in exact]
    except OverflowError:
        return None
    moved = [j for j, value in enumerate(nearest) if value]
    if not 0 < len(moved) <= MAX_NUMBERS_ROUNDED_TOGETHER:
        return None
    units = [Fraction(math.ulp(nearest[j])) for j in moved]
    missed = [v - Fraction(near) for v, near in zip(exact, nearest, strict=True)]
    norm = _norm(statement, proof, allowed, tolerance)
    gram = [[round(norm[i][j] * u * v) for j, v in zip(moved, units, strict=True)] for i, u in _pairs(moved, units)]
    along = [round(dot(norm[i], missed) * u) for i, u in _pairs(moved, units)]
    # entries rounded by 1/2 change the norm by at most half their number in a row: what is added is more than that
    for place, (j, unit) in enumerate(_pairs(moved, units)):
        gram[place][place] += len(moved) + math.ceil((unit / exact[j] / MAX_RELATIVE_MOVE / GRAIN) ** 2)
    try:
        for j, unit, k in zip(moved, units, nearest_multiples(gram, along), strict=True):
            nearest[j] = float(Fraction(nearest[j]) + k * unit)
    except OverflowError:
        return None
    out = np.zeros(proof.problem.size)
    out[proof.problem.places(statement.kept)] = nearest
    return out


def _norm(statement: Statement, proof: ExactProof, allowed: Fraction, tolerance: Fraction) -> list[Vector]:
    """The matrix of the norm, in units of the grain."""
    z = statement.joined(proof.point)
    size = range(statement.size)
    curved = [[value / allowed for value in row] for row in statement.quadratic]
    for row, weight in _weighed(statement, proof, z, allowed, tolerance):
        used = [j for j in size if row[j]]
        for j in used:
            for k in used:
                curved[j][k] += weight * row[j] * row[k]
    return [[value / GRAIN**2 for value in row] for row in curved]


def _weighed(
    statement: Statement, proof: ExactProof, z: Vector, allowed: Fraction, tolerance: Fraction
) -> Iterator[tuple[Vector, Fraction]]:
    """Rows with the weights of their squares."""
    for block in (*statement.equalities, *statement.inequalities):
        rows, used = block.rational(), proof.multipliers.get(block.block.name, {})
        unit = max((abs(row[-1]) for row in rows), default=Fraction(0))
        for i, row in enumerate(rows):
            if block in statement.equalities or not _value(row, z):
                own = unit or sum((abs(a * b) for a, b in zip(row, z, strict=False)), Fraction(0))
                least = 1 / (tolerance * own) if own else Fraction(0)
                yield row[:-1], max(abs(used.get(i, Fraction(0))) / allowed, least) ** 2
    for samples in statement.samples:
        yield from _sampled(samples, z, allowed)


def _sampled(samples: Samples, z: Vector, allowed: Fraction) -> Iterator[tuple[Vector, Fraction]]:
    lines = [line.rational() for line in samples.lines]
    every = zip(zip(*lines, strict=True), samples.rational("cost"), samples.rational("curvature"), strict=True)
    for rows, c, p in every:
        ranked = sorted(rows, key=lambda row: _value(row, z), reverse=True)
        if p and _value(ranked[0], z) >= 0:
            yield ranked[0][:-1], Fraction(p) / allowed
        elif c and len(ranked) > 1 and _value(ranked[0], z) == _value(ranked[1], z):
            yield [a - b for a, b in zip(ranked[0][:-1], ranked[1], strict=False)], (Fraction(c) / allowed) ** 2


def _value(row: Vector, z: Vector) -> Fraction:
    return dot(row[:-1], z) + row[-1]


def _pairs(moved: list[int], units: Vector) -> list[tuple[int, Fraction]]:
    return list(zip(moved, units, strict=True))
