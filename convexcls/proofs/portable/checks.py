"""What the numbers of a certificate prove of a problem."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

from convexcls.models import Model
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.certificate import check_kkt
from convexcls.proofs.certificate.origin import doubtful_at_origin
from convexcls.proofs.enclosure import Enclosure, check_enclosure, proof_words
from convexcls.proofs.exact import ExactProof, check, proved_square, widest
from convexcls.proofs.portable.bounds import Bounds, bounds_of, in_doubles
from convexcls.proofs.portable.exact_proofs import falls, proves_infeasible
from convexcls.proofs.portable.gaussian import enclosed_by_moments, has_moments
from convexcls.proofs.portable.numbers import CertificateError
from convexcls.proofs.portable.parsed import Box, Parsed
from convexcls.proofs.portable.slacks import kept_names, with_flat_lines
from convexcls.rational import to_double

#: An enclosure need not settle any number of digits to be true.
NO_DIGITS = -sys.maxsize
Interval = tuple[Fraction | None, Fraction | None]


def check_claim(parsed: Parsed, problem: Model) -> Interval:
    """What is proved of the optimum, as the model reports it; ``CertificateError`` where the claim is not proved."""
    if parsed.verdict == "undecided":
        raise CertificateError("the certificate claims nothing: its verdict is undecided")
    if parsed.verdict == "infeasible":
        _refuse(proves_infeasible(problem, parsed.farkas))
        return None, None
    if parsed.verdict == "unattained":
        _refuse(falls(problem, parsed.direction))
        return None, None
    if parsed.enclosure is not None:
        return _enclosed(parsed, parsed.enclosure, problem)
    _well_formed(parsed, problem)
    if parsed.level == "exact":
        return _exactly(parsed, problem)
    return _bounded(parsed, problem)


def _refuse(reason: str) -> None:
    if reason:
        raise CertificateError(reason)


def _bounded(parsed: Parsed, problem: Model) -> Interval:
    """Bounds of the optimum that imply the claim, by as many ways as it takes."""
    for found in bounds_of(parsed, problem):
        reason, interval = _implied(parsed, problem, found)
        if not reason:
            return interval
    if found.attained and None in (found.lower, found.upper):
        return _by_residuals(parsed, problem, "below" if found.lower is None else "above")
    raise CertificateError(reason)


def _implied(parsed: Parsed, problem: Problem, found: Bounds) -> tuple[str, Interval]:
    """What is missing for bounds to prove the claim: that there is a minimum, that they are near each other, that the
    point is near the one that reaches them, that they imply what is claimed; empty where nothing is. And the bounds, as
    the model reports its objective."""
    if not found.attained:
        return "that a minimum exists is not proved: bounds alone do not tell it from an infimum", (None, None)
    if found.lower is None or found.upper is None:
        return "one of the bounds is missing", (None, None)
    lower, upper = (found.lower, found.upper) if problem.sense == "min" else (-found.upper, -found.lower)
    proved = f"the optimum is proved to lie between {_shown(lower)} and {_shown(upper)}"
    room = parsed.tolerance * max(upper, -lower, Fraction(problem.unit))
    low, high = parsed.claim["lower"], parsed.claim["upper"]
    near = abs(low - lower) <= room and abs(high - upper) <= room
    reason = ""
    if upper - lower > room:
        reason = f"{proved}, which are further apart than the tolerance allows"
    elif abs(found.value - found.upper) > room:
        reason = "the point is too far from being feasible"
    elif not near or (parsed.level == "rigorous" and not low <= lower <= upper <= high):
        reason = f"{proved}, which does not imply the claim"
    return reason, (lower, upper)


def _well_formed(parsed: Parsed, problem: Problem) -> None:
    """Refuse variables, constraints or rows that the problem does not have."""
    sizes = {name: problem.variable(name).size for name in kept_names(problem)}
    if {name: len(values) for name, values in parsed.point.items()} != sizes:
        wanted = ", ".join(f"{name} ({size})" for name, size in sizes.items())
        raise CertificateError(f"the point must give one number for every entry of {wanted}")
    heights = {c.name: c.size for c in problem.constraints} | {b.name: b.size + 1 for b in problem.norm_bounds}
    for name, rows in parsed.multipliers.items():
        if name not in heights or any(not i < heights[name] for i in rows):
            raise CertificateError(f"there is a multiplier of {name!r} for a row that does not exist")


def _exactly(parsed: Parsed, problem: Model) -> Interval:
    if "square" in parsed.claim:
        return _root(parsed, problem)
    optimum = parsed.claim["optimum"]
    minimised = -optimum if problem.sense == "max" else optimum
    multipliers = with_flat_lines(problem, parsed.multipliers)
    proof = ExactProof("optimal", problem, minimised, parsed.point, multipliers, Fraction(0))
    if not check(problem, proof) or not parsed.claim["lower"] == parsed.claim["upper"] == optimum:
        raise CertificateError(
            "point and multipliers do not satisfy the KKT conditions exactly with the claimed optimum"
        )
    return optimum, optimum


def _root(parsed: Parsed, problem: Model) -> Interval:
    """An optimum whose square is rational: point and multipliers prove the square, and the claim lies around it."""
    low, high, square = (parsed.claim[name] for name in ("lower", "upper", "square"))
    parts = widest(problem)
    if parts is None or proved_square(parts, parsed.point, parsed.multipliers) != square:
        raise CertificateError("point and multipliers do not prove the claimed square of the optimum exactly")
    if not (0 <= low <= high and low * low <= square <= high * high and high - low <= parsed.tolerance * high):
        raise CertificateError("the claimed bounds are not next to the root of the claimed square")
    return low, high


def _enclosed(parsed: Parsed, box: Box, problem: Model) -> Interval:
    """Krawczyk's test on the box of the file, in ball arithmetic: no step of a search for it."""
    lower, upper = parsed.claim["lower"], parsed.claim["upper"]
    low, high = (-upper, -lower) if problem.sense == "max" else (lower, upper)
    sizes = {v.name: v.size for v in problem.variables}
    if any({name: len(values) for name, values in end.items()} != sizes for end in (box.lower, box.upper)):
        raise CertificateError("the enclosure does not give an interval for every unknown")
    intervals = {name: list(zip(box.lower[name], box.upper[name], strict=True)) for name in sizes}
    flat = [interval for v in problem.variables for interval in intervals[v.name]]
    pinned = tuple(j for j, interval in enumerate(flat) if not any(interval))
    claimed = Enclosure(low, high, intervals, box.digits, NO_DIGITS, box.precision, pinned)
    claimed = replace(claimed, proof=proof_words(problem, claimed))
    try:
        holds = (enclosed_by_moments if has_moments(problem) else check_enclosure)(problem, claimed)
    except NoAnswer as error:
        raise CertificateError(f"the enclosure is not proved: {error}") from None
    if not holds:
        raise CertificateError("the intervals of the enclosure are not proved to contain the optimum and the solution")
    return lower, upper


def _by_residuals(parsed: Parsed, problem: Model, side: str) -> Interval:
    """Where no true bound is known, as for Gaussian classes, a certificate of the level ``float`` may still rest on
    what that level means: KKT conditions and gap, measured in doubles. Nothing is then proved despite rounding."""
    short = f"from point and multipliers no bound of the optimum from {side} can be shown"
    if parsed.level != "float":
        raise CertificateError(short)
    x, multipliers = in_doubles(parsed, problem)
    kkt, tol = check_kkt(problem, x, multipliers), to_double(parsed.tolerance)
    if not kkt.holds(tol) or doubtful_at_origin(problem, x, multipliers):
        raise CertificateError(f"{short}, and the KKT conditions do not hold in doubles")
    ends = sorted(problem.reported(value) for value in (kkt.dual_objective, kkt.objective))
    claim = [to_double(parsed.claim[name]) for name in ("lower", "upper")]
    if any(abs(a - b) > tol * kkt.scale for a, b in zip(ends, claim, strict=True)):
        raise CertificateError(f"the objectives are {ends[0]:.17g} and {ends[1]:.17g}, not the claimed ones")
    return None, None


def _shown(value: Fraction) -> str:
    return f"{to_double(value):.17g}"
