"""The level ``rigorous``: bounds of the optimum that hold despite rounding.

Gaussian classes, whose optimum is a formula of moments, which are rational, are dealt with here at all levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from convexcls.proofs.certificate import Certificate, Level
from convexcls.proofs.claims.optimum import ExactProof
from convexcls.proofs.claims.rational_bounds import bounds_reached
from convexcls.proofs.claims.statement import moments
from convexcls.proofs.enclosure.moments import (
    Moments,
    enclose_moments,
    falling_direction,
    identity,
    least_value,
    matched,
    value_at,
)
from convexcls.proofs.exact.prove import Solve
from convexcls.proofs.kkt.attainment import needs_attainment_proof
from convexcls.proofs.levels.exact_level import at, enclosed, exactly, or_undecided, proved
from convexcls.proofs.rigorous import Bounds, bounds
from convexcls.proofs.rigorous.structure import Structure

#: The bits of bounds that are rounded to doubles.
BITS = 128
#: Larger problems are not proved exactly where only bounds in doubles were asked for: rows times unknowns.
MOST_ENTRIES = 20_000
#: More digits than doubles have.
ENOUGH_DIGITS = 20


def bounded(c: Certificate) -> Certificate:
    """Bounds of the optimum, from the point and the multipliers of the certificate."""
    if c.x is None:
        return replace(c, level="rigorous")
    found = replace(c, level="rigorous", bounds=bounds(c.problem, c.x, c.multipliers or {}))
    if not found.width <= c.tol:
        reason = f"the bounds are {found.width:.1e} apart, above the tolerance {c.tol:.0e}"
        if not np.isfinite(found.width):
            reason = "; ".join(found.bounds.reasons) or reason
        return replace(found, status="undecided", reason=reason)
    if reason := far_off(found):
        return replace(found, status="undecided", reason=reason)
    if c.status == "undecided" and needs_attainment_proof(c.problem):
        return found  # an infimum may be known to all digits and not be attained
    return replace(found, status="optimal", reason="")


def far_off(c: Certificate) -> str:
    """Why the point is not the one that the bounds speak of: they may be narrow by a multiple of it, by the origin, or
    by a point near it that satisfies equations and bounds. What is within the tolerance of it is the point itself.
    Empty where all is well."""
    size = max(abs(c.bounds.lower), abs(c.bounds.upper), c.problem.unit)
    if c.bounds.at_point is None:  # a dual, whose bounds are those of the primal
        above = 0.0 if c.kkt is None else abs(c.kkt.objective - c.bounds.lower)
        return "" if above <= c.tol * size else f"the objective at the point is {above:.1e} away from the optimum"
    if not abs(c.bounds.stretch - 1.0) <= c.tol:
        return f"the point violates its constraints; {c.bounds.stretch:.6g} times it does not"
    if not (violation := _violation(c)) <= c.tol:
        return f"the point violates its equations or bounds by {violation:.1e}, above the tolerance {c.tol:.0e}"
    above = c.bounds.at_point - c.bounds.lower
    return "" if above <= c.tol * size else f"the objective at the point is up to {above:.1e} above the optimum"


def _violation(c: Certificate) -> float:
    """How far the point is from its equations and the bounds of its unknowns, at most: bounds of the optimum are those
    of a point next to it that satisfies them."""
    moved = [b.name for b in c.problem.constraints if b.relation == "=="]
    moved += [b.name for b in c.problem.remembered(Structure).bounds]
    return 0.0 if not moved else math.inf if c.kkt is None else c.kkt.primal_feasibility.bound_of(moved)


def bounded_finer(c: Certificate, solve: Solve | None) -> Certificate:
    """A certificate that bounds in doubles do not decide, by finer bounds: at its own point, or else at the doubles
    nearest to the exact solution. As it is where rounding the solution takes the proof away."""
    if sum(b.size for b in (*c.problem.terms, *c.problem.constraints)) * c.problem.size > MOST_ENTRIES:
        return c
    if (found := _finer(c)) is not None:
        return found
    exact = exactly(c, ENOUGH_DIGITS, solve)
    if exact.status in ("infeasible", "unattained"):
        return replace(exact, level="rigorous")
    if exact.status != "optimal" or exact.x is None:
        return c
    again = bounded(replace(exact, level="float", exact=None, enclosure=None, bounds=None))
    if again.status != "undecided":
        return again
    if c.problem.norm_bounds and exact.optimum == 0:  # rounded multipliers prove a little less than 0
        return replace(again, status="optimal", reason="", bounds=Bounds(0.0, 0.0))
    return _finer(again) or c


def bounded_here(c: Certificate) -> Certificate:
    """Bounds from the point and the multipliers at hand, finer ones where doubles do not do; no other point."""
    found = bounded(c)
    return (_finer(found) or found) if found.status == "undecided" else found


def _finer(c: Certificate) -> Certificate | None:
    """The certificate by bounds in rationals or balls; None where they do not prove its point either."""
    if c.x is None or not np.all(np.isfinite(c.x)):
        return None
    point = {name: [Fraction(v) for v in part.tolist()] for name, part in c.problem.split(c.x).items()}
    given = {
        name: {i: Fraction(v) for i, v in enumerate(z.tolist()) if v}
        for name, z in (c.multipliers or {}).items()
        if np.all(np.isfinite(z))
    }
    found = bounds_reached(c.problem, point, given, Fraction(c.tol))
    if found is None or not _violation(c) <= c.tol:
        return None
    ends = rounded_down(found[0]), -rounded_down(-found[1])
    return replace(c, status="optimal", reason="", bounds=Bounds(*ends, at_point=ends[1]))


def rounded_down(value: Fraction) -> float:
    """A double that is not above the value, and next to it."""
    nearest = float(value)
    return nearest if nearest <= value else float(np.nextafter(nearest, -np.inf))


# ---- Gaussian classes -----------------------------------------------------------------------------------------


def by_moments(c: Certificate, level: Level, digits: int, stand_in: bool) -> Certificate:
    """The optimum, or that there is none, whatever doubles say of it."""
    parts = c.problem.remembered(moments)

    def prove() -> Certificate:
        if (direction := falling_direction(parts)) is not None:
            proof = ExactProof("unattained", c.problem, point=identity(parts), direction=direction)
            return replace(proved(c, proof), level=level)
        if level == "rigorous":
            return _bounded(c, parts, stand_in)
        return enclosed(c, enclose_moments(c.problem, parts, digits))

    return or_undecided(c, level, prove)


def _bounded(c: Certificate, parts: Sequence[Moments], stand_in: bool) -> Certificate:
    """The objective at the point from above, the formula from below."""
    if c.x is None and not stand_in:
        return replace(c, level="rigorous")
    point = c if c.x is not None else at(c, matched(parts) or {})
    assert point.x is not None
    values = {v: [Fraction(u) for u in point.x[where].tolist()] for v, where in c.problem.layout.items()}
    here, below = value_at(parts, values, BITS), least_value(parts, BITS)[0]
    low, high = rounded_down(below), np.inf if here is None else -rounded_down(-here[1])
    found = replace(point, level="rigorous", bounds=Bounds(low, high, at_point=high))
    if not found.width <= c.tol or far_off(found):
        if stand_in and c.x is not None:
            return _bounded(replace(c, x=None), parts, stand_in)
        return replace(found, status="undecided", reason=far_off(found) or "the point is not positive definite")
    return replace(found, status="optimal", reason="")
