"""The levels of proof, joined: from a certificate in floating point to one that rounding cannot touch.

float      what ``verdict.certify`` measured
rigorous   bounds on the optimum that hold despite rounding (``rigorous``); where there is none, an exact proof of that
exact      the rational solution of a linear or quadratic program (``exact``), or an enclosure of the optimum of a
           likelihood or of a widest margin to as many digits as are asked for (``enclosure``)

What a level cannot show, a higher one may: then the certificate is of that level. What none can show is undecided, and
the certificate says why. It may import everything in ``proofs/`` but ``portable/``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from convexcls.problem import Problem
from convexcls.proofs.certificate import LEVELS, Certificate, Level

if TYPE_CHECKING:
    from convexcls.proofs.exact.prove import Solve

__all__ = ["DIGITS", "NOT_IN_DOUBLES", "check_level", "raise_level", "small"]

#: The digits of an enclosure where nobody asks for others.
DIGITS = 30
#: So many entries are not too many for an exact proof, and so many not for bounds in rationals at a known point.
MAX_ENTRIES_TO_PROVE, MAX_ENTRIES_TO_BOUND = 1_000, 10_000
BEYOND_DOUBLES = "bounds at a point of doubles do not prove it: this is the proof of the level exact"
NOT_IN_DOUBLES = (
    "there is an optimum (level='exact' proves it), but the doubles nearest to it are not within the tolerance: "
    "measure features from near their middle, leave out one that nearly depends on others, or add a penalty"
)


def check_level(level: str) -> None:
    """Refuse a level that there is not."""
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}: choose one of {', '.join(map(repr, LEVELS))}")


def raise_level(
    certificate: Certificate,
    level: Level,
    digits: int = DIGITS,
    stand_in: bool = False,
    solve: Solve | None = None,
) -> Certificate:
    """A certificate of the level ``float``, raised to another one. With ``stand_in`` the exact solution, rounded, may
    stand in for a point that is not proved, and what a level leaves open is proved at a higher one where that is
    possible: the certificate then is of that level. ``solve`` solves anew what an exact proof cannot begin with."""
    check_level(level)
    if level == "float":
        return _beyond_doubles(certificate, solve) if stand_in and certificate.status == "undecided" else certificate
    found = _raised(certificate, level, digits, stand_in, solve)
    if not stand_in or not small(certificate.problem):
        return found
    if level == "exact":
        return _shown(found, certificate)
    if found.status != "undecided":
        return found
    exact = _shown(_raised(certificate, "exact", digits, stand_in, solve), certificate)
    return replace(exact, notes=(*exact.notes, BEYOND_DOUBLES)) if exact.holds() else found


def _shown(exact: Certificate, given: Certificate) -> Certificate:
    """An exact optimum at doubles that attain it where its nearest doubles do not, and where there are any."""
    if exact.status != "optimal" or exact.kkt is None or exact.kkt.holds(exact.tol):
        return exact
    from convexcls.proofs.levels.attained import at_attaining_point

    return at_attaining_point(exact, given.x) or exact


def _beyond_doubles(certificate: Certificate, solve: Solve | None) -> Certificate:
    """A verdict that residuals in doubles leave open, by bounds of the optimum. Where there is an optimum that no
    doubles near it attain, the reason says so."""
    from convexcls.proofs.levels.attained import at_attaining_point
    from convexcls.proofs.levels.raising import bounded, bounded_here

    if NOT_IN_DOUBLES in certificate.reason:
        return certificate
    if small(certificate.problem):
        found = raise_level(certificate, "rigorous", stand_in=True, solve=solve)
    else:
        found = bounded_here(certificate) if moderate(certificate.problem) else bounded(certificate)
    if found.status == "undecided":
        return certificate
    if found.level != "exact" or found.status != "optimal":
        return found
    attained = at_attaining_point(found, certificate.x)
    return attained or replace(certificate, reason=f"{NOT_IN_DOUBLES}; {certificate.reason}")


def _raised(certificate: Certificate, level: Level, digits: int, stand_in: bool, solve: Solve | None) -> Certificate:
    # loaded where they are asked for: most answers are judged in doubles
    from convexcls.proofs.enclosure.moments import has_moments
    from convexcls.proofs.levels.raising import bounded, bounded_finer, by_moments, exactly, refuted

    if has_moments(certificate.problem):
        return by_moments(certificate, level, digits, stand_in)
    if certificate.status in ("infeasible", "unattained"):
        return refuted(certificate, level, solve)
    if level == "exact":
        return exactly(certificate, digits, solve)
    found = bounded(certificate)
    return bounded_finer(found, solve) if stand_in and found.status == "undecided" else found


def small(problem: Problem) -> bool:
    """Whether nobody waits long for an exact proof."""
    return _entries(problem) <= MAX_ENTRIES_TO_PROVE


def moderate(problem: Problem) -> bool:
    """Whether nobody waits long for bounds in rationals at a known point."""
    return _entries(problem) <= MAX_ENTRIES_TO_BOUND


def _entries(problem: Problem) -> int:
    """The entries of all rows, and of the matrices of the objective."""
    blocks = (*problem.terms, *problem.constraints)
    entries = sum(rows.entries for b in blocks for rows in b.entries.values())
    return entries + sum(p.entries for p in problem.matrices.values())
