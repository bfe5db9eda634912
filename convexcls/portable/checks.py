"""What the numbers of a certificate prove of a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate import attainment, check_direction, check_kkt, needs_attainment_proof
from convexcls.certificate.attainment import PROOF
from convexcls.certificate.origin import doubtful_at_origin
from convexcls.enclosure import Enclosure, check_enclosure, proof_words
from convexcls.exact import ExactProof, check, proved_square, widest
from convexcls.levels.finer import finer_bounds
from convexcls.models import Model
from convexcls.portable.exact_proofs import proves_infeasible, proves_unattained
from convexcls.portable.gaussian import bounds_by_moments, enclosed_by_moments, falls_by_moments, has_moments
from convexcls.portable.numbers import CertificateError
from convexcls.portable.parsed import Box, Parsed, Rows
from convexcls.portable.slacks import kept_names, multiplier_arrays, with_flat_lines, with_slacks
from convexcls.problem import NoAnswer, Problem
from convexcls.rational import to_double
from convexcls.rows import Rows as Matrix

Array = NDArray[np.float64]
#: An enclosure need not settle any number of digits to be true.
NO_DIGITS = -(10**6)
Interval = tuple[Fraction | None, Fraction | None]
#: A lower and an upper bound, None where there is none, and the objective at the point as it is.
Bounds = tuple[Fraction | None, Fraction | None, Fraction]


def check_claim(parsed: Parsed, problem: Model) -> Interval:
    """What is proved of the optimum, as the model reports it; ``CertificateError`` where the claim is not proved."""
    if parsed.verdict == "undecided":
        raise CertificateError("the certificate claims nothing: its verdict is undecided")
    if parsed.verdict == "infeasible":
        _refuse(proves_infeasible(problem, parsed.farkas))
        return None, None
    if parsed.verdict == "unattained":
        _refuse(_falls(parsed, problem))
        return None, None
    if parsed.enclosure is not None:
        return _enclosed(parsed, parsed.enclosure, problem)
    _well_formed(parsed, problem)
    if parsed.level == "exact":
        return _exactly(parsed, problem)
    if needs_attainment_proof(problem) and attainment(problem, *_in_doubles(parsed, problem)) < PROOF:
        raise CertificateError("that a minimum exists is not proved: bounds alone do not tell it from an infimum")
    lower, upper, value = _minimised_bounds(parsed, problem)
    if lower is None or upper is None:
        return _by_residuals(parsed, problem, "below" if lower is None else "above")
    room = parsed.tolerance * max(abs(upper), abs(lower), Fraction(problem.unit))
    if problem.sense == "max":
        lower, upper, value = -upper, -lower, -value
    _compare(parsed, lower, upper, value, room, upper if problem.sense == "min" else lower)
    return lower, upper


def _refuse(reason: str) -> None:
    if reason:
        raise CertificateError(reason)


def _compare(
    parsed: Parsed, lower: Fraction, upper: Fraction, value: Fraction, room: Fraction, reached: Fraction
) -> None:
    """Refuse bounds that are too far apart, a point that is not near the one that reaches them, and a claim that they
    do not imply."""
    proved = f"the optimum is proved to lie between {_shown(lower)} and {_shown(upper)}"
    if upper - lower > room:
        raise CertificateError(f"{proved}, which are further apart than the tolerance allows")
    if abs(value - reached) > room:
        raise CertificateError("the point is too far from being feasible")
    low, high = parsed.claim["lower"], parsed.claim["upper"]
    near = abs(low - lower) <= room and abs(high - upper) <= room
    if not near or (parsed.level == "rigorous" and not low <= lower <= upper <= high):
        raise CertificateError(f"{proved}, which does not imply the claim")


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


def _falls(parsed: Parsed, problem: Model) -> str:
    """Why the direction does not prove that there is no minimum; empty where it does."""
    if has_moments(problem):
        return falls_by_moments(problem, parsed.direction)
    if problem.is_quadratic_program and not any(isinstance(p, Matrix) for p in problem.quadratic.values()):
        return proves_unattained(problem, parsed.direction)
    if all(t.loss.slopes[1] == 0 for t in problem.terms) and problem.terms and not problem.norm_bounds:
        return proves_unattained(problem, parsed.direction)
    if {name: len(v) for name, v in parsed.direction.items()} != {v.name: v.size for v in problem.variables}:
        return "the direction does not give one number for every unknown"
    d = np.concatenate([np.array([to_double(u) for u in parsed.direction[v.name]]) for v in problem.variables])
    return "" if check_direction(problem, d) is not None else "the objective does not fall along the direction"


def _minimised_bounds(parsed: Parsed, problem: Model) -> Bounds:
    """True bounds of the minimised objective, in rationals where the problem is small, else in doubles rounded the
    right way; and the objective at the point."""
    if has_moments(problem):
        return bounds_by_moments(problem, parsed.point)
    if (parts := widest(problem)) is not None:
        used = {name: rows for name, rows in parsed.multipliers.items() if name == parts.block.name}
        if proved_square(parts, parsed.point, used) == 0:
            return Fraction(0), Fraction(0), Fraction(0)
    found = finer_bounds(problem, *_numbers(parsed)) if problem.is_quadratic_program else None
    if found is not None and _width(found) <= parsed.tolerance * _size(problem, found):
        return found
    rough = _bounds_in_doubles(parsed, problem)
    if not problem.is_quadratic_program and not _width(rough) <= parsed.tolerance * _size(problem, rough):
        found = finer_bounds(problem, *_numbers(parsed))
    return rough if found is None or _width(rough) <= _width(found) else found


def _width(bounds: Bounds) -> Fraction | float:
    return math.inf if bounds[0] is None or bounds[1] is None else bounds[1] - bounds[0]


def _size(problem: Problem, bounds: Bounds) -> Fraction:
    return max(Fraction(problem.unit), *(abs(end) for end in bounds[:2] if end is not None), Fraction(0))


def _numbers(parsed: Parsed) -> tuple[Mapping[str, list[Fraction]], Mapping[str, Rows], Fraction]:
    return parsed.point, parsed.multipliers, parsed.tolerance


def _bounds_in_doubles(parsed: Parsed, problem: Model) -> Bounds:
    from convexcls.rigorous import bounds

    x, multipliers = _in_doubles(parsed, problem)
    found = bounds(problem, x, multipliers)
    with np.errstate(over="ignore", invalid="ignore"):
        value = problem.objective(x)
    if not math.isfinite(value):
        raise CertificateError("the objective at the point is not finite")
    return _rational(found.lower), _rational(found.upper), Fraction(value)


def _in_doubles(parsed: Parsed, problem: Model) -> tuple[Array, dict[str, Array]]:
    """The point with its slacks, and all multipliers."""
    with np.errstate(over="ignore", invalid="ignore"):  # told below
        x = with_slacks(problem, parsed.point)
    multipliers = multiplier_arrays(problem, with_flat_lines(problem, parsed.multipliers))
    if not np.all(np.isfinite(x)) or not all(np.all(np.isfinite(z)) for z in multipliers.values()):
        raise CertificateError("the point or a multiplier is beyond the range of doubles")
    return x, multipliers


def _by_residuals(parsed: Parsed, problem: Model, side: str) -> Interval:
    """Where no true bound is known, as for Gaussian classes, a certificate of the level ``float`` may still rest on
    what that level means: KKT conditions and gap, measured in doubles. Nothing is then proved despite rounding."""
    short = f"from point and multipliers no bound of the optimum from {side} can be shown"
    if parsed.level != "float":
        raise CertificateError(short)
    x, multipliers = _in_doubles(parsed, problem)
    kkt, tol = check_kkt(problem, x, multipliers), to_double(parsed.tolerance)
    if not kkt.holds(tol) or doubtful_at_origin(problem, x, multipliers):
        raise CertificateError(f"{short}, and the KKT conditions do not hold in doubles")
    ends = sorted(problem.reported(value) for value in (kkt.dual_objective, kkt.objective))
    claim = [to_double(parsed.claim[name]) for name in ("lower", "upper")]
    if any(abs(a - b) > tol * kkt.scale for a, b in zip(ends, claim, strict=True)):
        raise CertificateError(f"the objectives are {ends[0]:.17g} and {ends[1]:.17g}, not the claimed ones")
    return None, None


def _rational(value: float) -> Fraction | None:
    return Fraction(float(value)) if math.isfinite(value) else None


def _shown(value: Fraction) -> str:
    return f"{to_double(value):.17g}"
