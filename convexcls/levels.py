"""The levels of proof, joined: from a certificate in floating point to one that rounding cannot touch.

float      what ``certificate.certify`` measured
rigorous   bounds on the optimum that hold despite rounding (``rigorous``); where there is none, an exact proof of that
exact      the rational solution of a linear or quadratic program (``exact``), or an enclosure of the optimum of a
           likelihood to as many digits as are asked for (``enclosure``)

What a level cannot show is undecided at that level, and the certificate says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate import LEVELS, Certificate, Level, check_kkt, needs_attainment_proof
from convexcls.certificate.separation import separation_of
from convexcls.problem import NoAnswer, Problem

if TYPE_CHECKING:  # each level is imported where it is asked for: most answers are judged in doubles
    from convexcls.exact import ExactProof

Array = NDArray[np.float64]
#: Why a problem with a norm bound is not proved exactly.
NORM = (
    "a bound on a norm has irrational solutions; the widest margin is that of HardMarginSVM, whose optimum is rational"
)
#: The digits of an enclosure where nobody asks for others.
DIGITS = 30


def check_level(level: str) -> None:
    """Refuse a level that there is not."""
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}: choose one of {', '.join(map(repr, LEVELS))}")


def raise_level(certificate: Certificate, level: Level, digits: int = DIGITS) -> Certificate:
    """A certificate of the level ``float``, raised to another one."""
    check_level(level)
    if level == "float":
        return certificate
    if certificate.status in ("infeasible", "unattained"):
        return _refuted(certificate, level)
    return _bounded(certificate) if level == "rigorous" else _exact(certificate, digits)


def _bounded(c: Certificate) -> Certificate:
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
    if reason := _far_off(found):
        return replace(found, status="undecided", reason=reason)
    if c.status == "undecided" and needs_attainment_proof(c.problem):
        return found  # an infimum may be known to all digits and not be attained
    return replace(found, status="optimal", reason="")


def _far_off(c: Certificate) -> str:
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


def _exact(c: Certificate, digits: int) -> Certificate:
    """The optimum without rounding."""
    from convexcls.enclosure import enclose
    from convexcls.exact import NoProof, prove

    problem = c.problem
    try:
        if problem.is_quadratic_program:
            return _proved(c, prove(problem, c.x, c.multipliers))
        if problem.norm_bounds:
            return replace(c, status="undecided", level="exact", reason=NORM)
        if c.x is None or c.status != "optimal":
            return replace(c, level="exact")
        return replace(c, level="exact", enclosure=enclose(problem, c.x, digits))
    except (NoProof, NoAnswer) as error:
        return replace(c, status="undecided", level="exact", reason=str(error))


def _refuted(c: Certificate, level: Level) -> Certificate:
    """That there is no optimum, without rounding."""
    from convexcls.exact import NoProof, prove

    try:
        return replace(_proved(c, _separated(c.problem) or prove(c.problem, c.x, c.multipliers)), level=level)
    except (NoProof, NoAnswer) as error:
        return replace(c, status="undecided", level=level, reason=str(error))


def _separated(problem: Problem) -> ExactProof | None:
    """That a likelihood has no maximum, by the separability of the classes: checked in rationals, by other code than
    that which found it."""
    view = separation_of(problem)
    direction = None if view is None else view.rational_direction()
    if direction is None:
        return None
    start = {name: [Fraction(0)] * len(values) for name, values in direction.items()}
    from convexcls.exact import ExactProof

    return ExactProof("unattained", problem, point=start, direction=direction)


def _proved(c: Certificate, proof: ExactProof) -> Certificate:
    """The certificate of an exact proof, with the doubles nearest to its rationals."""
    notes = (*c.notes, *(note for note in proof.notes if note not in c.notes))
    raised = replace(c, status=proof.verdict, level="exact", exact=proof, reason="", notes=notes)
    if proof.verdict != "optimal":
        return raised
    x, multipliers = nearest_doubles(c.problem, proof, c.x)
    return replace(raised, x=x, multipliers=multipliers, kkt=check_kkt(c.problem, x, multipliers), attained=None)


def nearest_doubles(problem: Problem, proof: ExactProof, near: Array | None) -> tuple[Array, dict[str, Array]]:
    """The point and multipliers of a proof as doubles; slacks, which follow from the point, are those of ``near`` where
    there is such a point."""
    point: Mapping[str, object] = proof.point if near is not None else {**proof.point, **proof.slacks()}
    x = np.zeros(problem.size) if near is None else near.copy()
    multipliers = {c.name: np.zeros(c.size) for c in problem.constraints}
    try:
        for name, values in point.items():
            x[problem.layout[name]] = [float(value) for value in values]  # type: ignore[attr-defined]
        for name, rows in proof.multipliers.items():
            multipliers[name][list(rows)] = [float(value) for value in rows.values()]
    except OverflowError:
        raise NoAnswer(
            "the optimum is known in rationals, but some of its numbers are beyond the range of doubles"
        ) from None
    return x, multipliers
