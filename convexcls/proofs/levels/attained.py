"""Whether a point of doubles attains an optimum that is known without rounding, to the tolerance, worked out in
rationals: then nothing is asked of multipliers in doubles, which may have less room than the point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from convexcls.proofs.certificate import Certificate, check_kkt
from convexcls.proofs.certificate.level_words import ATTAINED
from convexcls.proofs.certificate.slacks import settled
from convexcls.proofs.exact import ExactProof, RootProof, widest
from convexcls.proofs.exact.doubles import doubles_near
from convexcls.proofs.exact.measured import Measured
from convexcls.proofs.levels.finer import finer_bounds
from convexcls.proofs.rigorous.structure import Structure

Array = NDArray[np.float64]

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
    found = finer_bounds(c.problem, point, root.multipliers)
    if found is None:
        return False
    low, high, value = found
    room = Fraction(c.tol) * max(abs(low), abs(high), Fraction(c.problem.unit))
    return high - low <= room and abs(value - high) <= room and _feasible(c, x)


def _feasible(c: Certificate, x: Array) -> bool:
    """Whether all constraints hold to the tolerance, whatever rounding may hide."""
    return check_kkt(c.problem, x, c.multipliers or {}, c.tol).primal_feasibility.bound <= c.tol


def _widest_attained(proof: RootProof, point: Mapping[str, list[Fraction]], tol: Fraction) -> bool:
    """R x >= t and ‖v‖ <= 1 with t the widest margin, each to the relative tolerance."""
    parts = widest(proof.problem)
    assert parts is not None
    t, length = point[parts.margin][0], sum((v * v for v in point[parts.bounded]), Fraction(0))
    if t < 0 or length > (1 + tol) ** 2 or not (1 - tol) ** 2 * proof.square <= t * t <= (1 + tol) ** 2 * proof.square:
        return False
    z = [value for v in proof.problem.variables for value in point[v.name]]
    rows = Measured(parts.block, proof.problem.rows(parts.block), proof.problem.size)
    values = (
        sum((a * b for a, b in zip(row, [*z, Fraction(1)], strict=True)), Fraction(0))
        for row in rows.rational(np.arange(parts.block.size))
    )
    return all(value <= tol * t for value in values)  # t - R x
