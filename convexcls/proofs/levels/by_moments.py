"""Gaussian classes at the levels above ``float``: their optimum is a formula of moments, which are rational."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from convexcls.problem import NoAnswer
from convexcls.proofs.certificate import Certificate, Level
from convexcls.proofs.claims.optimum import ExactProof
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
from convexcls.proofs.levels.exact_level import BEYOND_RANGE, at, proved
from convexcls.proofs.levels.rigorous_level import far_off, rounded_down
from convexcls.proofs.rigorous import Bounds

#: The bits of bounds that are rounded to doubles.
BITS = 128


def by_moments(c: Certificate, level: Level, digits: int, stand_in: bool) -> Certificate:
    """The optimum, or that there is none, whatever doubles say of it."""
    parts = c.problem.remembered(moments)
    try:
        if (direction := falling_direction(parts)) is not None:
            proof = ExactProof("unattained", c.problem, point=identity(parts), direction=direction)
            return replace(proved(c, proof), level=level)
        if level == "rigorous":
            return _bounded(c, parts, stand_in)
        found = enclose_moments(c.problem, parts, digits)
        return at(replace(c, status="optimal", level="exact", reason="", enclosure=found), found.middle)
    except NoAnswer as error:
        return replace(c, status="undecided", level=level, reason=str(error))
    except OverflowError:
        return replace(c, status="undecided", level=level, reason=BEYOND_RANGE)


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
