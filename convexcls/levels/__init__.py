"""The levels of proof, joined: from a certificate in floating point to one that rounding cannot touch.

float      what ``certificate.certify`` measured
rigorous   bounds on the optimum that hold despite rounding (``rigorous``); where there is none, an exact proof of that
exact      the rational solution of a linear or quadratic program (``exact``), or an enclosure of the optimum of a
           likelihood or of a widest margin to as many digits as are asked for (``enclosure``)

What a level cannot show is undecided at that level, and the certificate says why.
"""

from __future__ import annotations

from convexcls.certificate import LEVELS, Certificate, Level

__all__ = ["DIGITS", "check_level", "raise_level"]

#: The digits of an enclosure where nobody asks for others.
DIGITS = 30


def check_level(level: str) -> None:
    """Refuse a level that there is not."""
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}: choose one of {', '.join(map(repr, LEVELS))}")


def raise_level(certificate: Certificate, level: Level, digits: int = DIGITS, stand_in: bool = False) -> Certificate:
    """A certificate of the level ``float``, raised to another one. With ``stand_in`` the exact solution, rounded, may
    stand in for a point that the level ``rigorous`` cannot prove."""
    check_level(level)
    if level == "float":
        return certificate
    # loaded where they are asked for: most answers are judged in doubles
    from convexcls.levels.bounded import bounded, bounded_finer
    from convexcls.levels.by_moments import by_moments, has_moments
    from convexcls.levels.exactly import exactly, refuted

    if has_moments(certificate.problem):
        return by_moments(certificate, level, digits, stand_in)
    if certificate.status in ("infeasible", "unattained"):
        return refuted(certificate, level)
    if level == "exact":
        return exactly(certificate, digits)
    found = bounded(certificate)
    return bounded_finer(found) if stand_in and found.status == "undecided" else found
