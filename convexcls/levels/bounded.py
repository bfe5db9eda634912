"""The level ``rigorous``: bounds of the optimum that hold despite rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from convexcls.certificate import Certificate, needs_attainment_proof
from convexcls.levels.exactly import DIGITS, exactly

#: Larger problems are not proved exactly where only bounds in doubles were asked for: rows times unknowns.
MOST_ENTRIES = 20_000


def bounded(c: Certificate) -> Certificate:
    """Bounds of the optimum, from the point and the multipliers of the certificate."""
    if c.x is None:
        return replace(c, level="rigorous")
    from convexcls.rigorous import bounds

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
    """Why the point is not the one that the bounds speak of: they may be narrow by a multiple of it, or by the origin.
    A multiple within the tolerance is the point itself, to rounding. Empty where all is well."""
    size = max(abs(c.bounds.lower), abs(c.bounds.upper), c.problem.unit)
    if c.bounds.at_point is None:  # a dual, whose bounds are those of the primal
        above = 0.0 if c.kkt is None else abs(c.kkt.objective - c.bounds.lower)
        return "" if above <= c.tol * size else f"the objective at the point is {above:.1e} away from the optimum"
    if not abs(c.bounds.stretch - 1.0) <= c.tol:
        return f"the point violates its constraints; {c.bounds.stretch:.6g} times it does not"
    above = c.bounds.at_point - c.bounds.lower
    return "" if above <= c.tol * size else f"the objective at the point is up to {above:.1e} above the optimum"


def bounded_by_exact(c: Certificate) -> Certificate:
    """Bounds at the doubles nearest to the exact solution; the certificate as it is where there is none, or where
    rounding takes the proof away."""
    if sum(b.size for b in (*c.problem.terms, *c.problem.constraints)) * c.problem.size > MOST_ENTRIES:
        return c
    found = exactly(c, DIGITS)
    if found.status in ("infeasible", "unattained"):
        return replace(found, level="rigorous")
    if found.status != "optimal" or found.x is None:
        return c
    again = bounded(replace(found, level="float", exact=None, enclosure=None, bounds=None))
    if again.status == "undecided" and c.problem.norm_bounds and found.optimum == 0:
        from convexcls.rigorous import Bounds

        # the rounded multipliers prove a little less than 0, those of the proof prove 0
        return replace(again, status="optimal", reason="", bounds=Bounds(0.0, 0.0))
    return c if again.status == "undecided" else again
