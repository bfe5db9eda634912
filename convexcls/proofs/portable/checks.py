"""What the numbers of a certificate prove of a problem.

Bounds of the optimum are had by one way after another. Every way holds whatever the numbers are; so does the larger of
two lower and the smaller of two upper bounds. Rationals come first where they can be had, doubles rounded the right way
first where only balls are better.

A certificate leaves out what follows: slacks, and the multipliers of their signs. A slack xi_i that only bounds lines
from above, xi_i >= R_k x - h_k, is the largest of them (at least 0 where its cost is quadratic). Where its cost is
c_i xi_i, its multipliers add up to c_i: those of a flat line follow from the others.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.models import Model
from convexcls.problem import Constraint, Epigraph, NoAnswer, Problem
from convexcls.proofs.claims import direction, farkas, optimum
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.optimum import ExactProof, proved_square, widest
from convexcls.proofs.claims.rational_bounds import finer_bounds
from convexcls.proofs.enclosure.enclose import check_enclosure, proof_words
from convexcls.proofs.enclosure.intervals import Enclosure
from convexcls.proofs.enclosure.moments import (
    check_moments,
    falling_direction,
    has_few_moments,
    least_value,
    moments,
    value_at,
)
from convexcls.proofs.kkt.attainment import PROOF, attainment, needs_attainment_proof
from convexcls.proofs.portable.numbers import CertificateError
from convexcls.proofs.portable.parsing import Box, Parsed
from convexcls.proofs.verdict import certify
from convexcls.rational.numbers import to_double

#: An enclosure need not settle any number of digits to be true.
NO_DIGITS = -sys.maxsize
ZERO, LEAST_DOUBLE = Fraction(0), Fraction(math.ulp(0.0))
#: What is said of bounds that are true and do not tell enough.
TOO_FAR_APART = "which are further apart than the tolerance allows"
Interval = tuple[Fraction | None, Fraction | None]


def check_claim(parsed: Parsed, problem: Model) -> Interval:
    """What is proved of the optimum, as the model reports it; ``CertificateError`` where the claim is not proved."""
    if parsed.verdict == "undecided":
        raise CertificateError("the certificate claims nothing: its verdict is undecided")
    if parsed.verdict == "infeasible":
        _refuse(farkas.check(problem, parsed.farkas))
        return None, None
    if parsed.verdict == "unattained":
        _refuse(direction.check(problem, parsed.direction))
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
    """Bounds of the optimum that imply the claim, by as many ways as it takes. Where none are near enough to each other
    a certificate of the level ``float`` may still rest on what that level means."""
    for found in bounds_of(parsed, problem):
        reason, interval = _implied(parsed, problem, found)
        if not reason:
            return interval
    if found.attained and (None in interval or reason.endswith(TOO_FAR_APART)):
        return _by_residuals(parsed, problem, reason)
    raise CertificateError(reason)


def _implied(parsed: Parsed, problem: Problem, found: ClaimedBounds) -> tuple[str, Interval]:
    """What is missing for bounds to prove the claim: that there is a minimum, that they are near each other, that the
    point is near the one that reaches them, that they imply what is claimed; empty where nothing is. And the bounds, as
    the model reports its objective."""
    if not found.attained:
        return "that a minimum exists is not proved: bounds alone do not tell it from an infimum", (None, None)
    if found.lower is None or found.upper is None:
        side = "below" if found.lower is None else "above"
        return f"from point and multipliers no bound of the optimum from {side} can be shown", (None, None)
    lower, upper = (found.lower, found.upper) if problem.sense == "min" else (-found.upper, -found.lower)
    proved = f"the optimum is proved to lie between {_shown(lower)} and {_shown(upper)}"
    allowed = parsed.tolerance * max(upper, -lower, Fraction(problem.unit))
    low, high = parsed.claim["lower"], parsed.claim["upper"]
    written = allowed + LEAST_DOUBLE  # by doubles
    near = abs(low - lower) <= written and abs(high - upper) <= written
    reason = ""
    if upper - lower > allowed:
        reason = f"{proved}, {TOO_FAR_APART}"
    elif abs(found.value - found.upper) > allowed:
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
    heights = problem.multiplier_sizes
    for name, rows in parsed.multipliers.items():
        if name not in heights or any(not i < heights[name] for i in rows):
            raise CertificateError(f"there is a multiplier of {name!r} for a row that does not exist")


def _exactly(parsed: Parsed, problem: Model) -> Interval:
    if "square" in parsed.claim:
        return _root(parsed, problem)
    value = parsed.claim["optimum"]
    minimised = -value if problem.sense == "max" else value
    multipliers = with_flat_lines(problem, parsed.multipliers)
    proof = ExactProof("optimal", problem, minimised, parsed.point, multipliers, Fraction(0))
    if optimum.check(problem, proof) or not parsed.claim["lower"] == parsed.claim["upper"] == value:
        raise CertificateError(
            "point and multipliers do not satisfy the KKT conditions exactly with the claimed optimum"
        )
    return value, value


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
    if not (problem.fits(box.lower) and problem.fits(box.upper)):
        raise CertificateError("the enclosure does not give an interval for every unknown")
    intervals = {v.name: list(zip(box.lower[v.name], box.upper[v.name], strict=True)) for v in problem.variables}
    flat = [interval for part in intervals.values() for interval in part]
    pinned = tuple(j for j, interval in enumerate(flat) if not any(interval))
    claimed = Enclosure(low, high, intervals, box.digits, NO_DIGITS, box.precision, pinned)
    claimed = replace(claimed, proof=proof_words(problem, claimed))
    try:
        if has_few_moments(problem):
            holds = check_moments(problem.remembered(moments), claimed)
        else:
            holds = check_enclosure(problem, claimed)
    except NoAnswer as error:
        raise CertificateError(f"the enclosure is not proved: {error}") from None
    if not holds:
        raise CertificateError("the intervals of the enclosure are not proved to contain the optimum and the solution")
    return lower, upper


def _by_residuals(parsed: Parsed, problem: Model, short: str) -> Interval:
    """The verdict of the level ``float`` at the point: KKT conditions and gap, with bounds on the rounding of their
    evaluation. No bound of the optimum is told. ``short`` says what is missing otherwise."""
    if parsed.level != "float":
        raise CertificateError(short)
    x, multipliers = in_doubles(parsed, problem)
    tol = to_double(parsed.tolerance)
    judged = certify(problem, x, multipliers, tol, stand_in=False)
    if judged.status != "optimal" or judged.kkt is None:
        raise CertificateError(f"{short}, and the KKT conditions do not hold in doubles")
    ends = sorted(problem.reported(value) for value in (judged.kkt.dual_objective, judged.kkt.objective))
    claim = [to_double(parsed.claim[name]) for name in ("lower", "upper")]
    if any(abs(a - b) > tol * judged.kkt.scale for a, b in zip(ends, claim, strict=True)):
        raise CertificateError(f"the objectives are {ends[0]:.17g} and {ends[1]:.17g}, not the claimed ones")
    return None, None


def _shown(value: Fraction) -> str:
    return f"{to_double(value):.17g}"


@dataclass(frozen=True)
class ClaimedBounds:
    """A lower and an upper bound of the minimised objective, None where there is none; the objective at the point as it
    is; whether a minimum is known to exist; and whether the value was worked out in doubles."""

    lower: Fraction | None
    upper: Fraction | None
    value: Fraction
    attained: bool = True
    rounded: bool = False

    def with_others(self, other: ClaimedBounds) -> ClaimedBounds:
        """What both show."""
        lower = [end for end in (self.lower, other.lower) if end is not None]
        upper = [end for end in (self.upper, other.upper) if end is not None]
        best = other if self.rounded else self
        attained = self.attained or other.attained
        return replace(best, lower=max(lower, default=None), upper=min(upper, default=None), attained=attained)


def bounds_of(parsed: Parsed, problem: Model) -> Iterator[ClaimedBounds]:
    """What is proved of the optimum, each time with what one more way shows."""
    best: ClaimedBounds | None = None
    for found in _ways(parsed, problem):
        best = found if best is None else best.with_others(found)
        yield best


def _ways(parsed: Parsed, problem: Model) -> Iterator[ClaimedBounds]:
    if has_few_moments(problem):
        yield _by_moments(parsed, problem)
        return
    if (parts := widest(problem)) is not None:
        used = {name: rows for name, rows in parsed.multipliers.items() if name == parts.block.name}
        if proved_square(parts, parsed.point, used) == 0:
            yield ClaimedBounds(ZERO, ZERO, ZERO)
            return
    rational = problem.is_quadratic_program or parts is not None
    for way in (_finely, _in_doubles) if rational else (_in_doubles, _finely):
        if (found := way(parsed, problem)) is not None:
            yield found


def _by_moments(parsed: Parsed, problem: Model) -> ClaimedBounds:
    """The formula of the optimum from below, and the objective at the point from above."""
    parts = problem.remembered(moments)
    if falling_direction(parts) is not None:
        raise CertificateError("there is no minimum: a combination of features does not vary within a class")
    here = value_at(parts, parsed.point)
    if here is None:
        raise CertificateError("the precision of the point is not positive definite")
    return ClaimedBounds(least_value(parts)[0], here[1], here[1])


def _finely(parsed: Parsed, problem: Model) -> ClaimedBounds | None:
    """In rationals, or in balls around the minimum, which exists where it was enclosed."""
    found = finer_bounds(problem, parsed.point, parsed.multipliers)
    return None if found is None else ClaimedBounds(*found)


def _in_doubles(parsed: Parsed, problem: Model) -> ClaimedBounds:
    """In doubles rounded the right way."""
    from convexcls.proofs.rigorous import bounds

    x, multipliers = in_doubles(parsed, problem)
    found = bounds(problem, x, multipliers)
    with np.errstate(over="ignore", invalid="ignore"):
        value = problem.minimised(x)
    if not math.isfinite(value):
        raise CertificateError("the objective at the point is not finite")
    attained = not needs_attainment_proof(problem) or attainment(problem, x, multipliers) >= PROOF
    return ClaimedBounds(_rational(found.lower), _rational(found.upper), Fraction(value), attained, rounded=True)


def in_doubles(parsed: Parsed, problem: Model) -> tuple[Array, Mapping[str, Array]]:
    """The point with its slacks, and all multipliers."""
    with np.errstate(over="ignore", invalid="ignore"):  # told below
        x = with_slacks(problem, parsed.point)
    multipliers = all_multipliers(problem, parsed.multipliers)
    if not np.all(np.isfinite(x)) or not all(np.all(np.isfinite(z)) for z in multipliers.values()):
        raise CertificateError("the point or a multiplier is beyond the range of doubles")
    return x, multipliers


def _rational(value: float) -> Fraction | None:
    return Fraction(float(value)) if math.isfinite(value) else None


# ---- what a certificate leaves out because it follows ---------------------------------------------------------


def follows(problem: Problem) -> tuple[Epigraph, ...]:
    """The slacks that follow from the other unknowns. The coefficients are stated, whatever they are."""
    return tuple(e for e in problem.epigraphs if e.is_unit and e.variable != "coef")


def slack_names(problem: Problem) -> tuple[str, ...]:
    """The variables that only bound lines from above."""
    return tuple(e.variable for e in follows(problem))


def kept_names(problem: Problem) -> tuple[str, ...]:
    """The variables that a certificate states."""
    left_out = slack_names(problem)
    return tuple(v.name for v in problem.variables if v.name not in left_out)


def flat_lines(problem: Problem) -> dict[str, tuple[Constraint, ...]]:
    """The constraints whose multipliers follow, each with the other lines of its slack."""
    return {e.reference.name: e.others for e in _with_sign(problem)}


def _with_sign(problem: Problem) -> list[Epigraph]:
    """The slacks whose multipliers add up to their cost, that of one lower bound among them."""
    return [e for e in follows(problem) if len(e.flat_pieces) == 1 and not e.is_curved]


def with_flat_lines(problem: Problem, multipliers: Multipliers) -> dict[str, dict[int, Fraction]]:
    """The multipliers with those that follow: what is left of a slack's cost, where anything is."""
    out = {name: dict(rows) for name, rows in multipliers.items()}
    for e in _with_sign(problem):
        rest = e.rational("cost")
        for other in e.others:
            for i, value in out.get(other.name, {}).items():
                rest[i] -= value
        out[e.reference.name] = {i: value for i, value in enumerate(rest) if value > 0}
    return out


def with_slacks(problem: Problem, point: Mapping[str, list[Fraction]]) -> Array:
    """All of x in doubles, from the variables that a certificate states."""
    x = np.zeros(problem.size)
    for name, values in point.items():
        x[problem.layout[name]] = [to_double(value) for value in values]
    for e in follows(problem):
        x[problem.layout[e.variable]] = e.lowest(e.heights(problem, x))
    return x


def multiplier_arrays(problem: Problem, multipliers: Multipliers) -> dict[str, Array]:
    """One array of doubles for every constraint and norm bound."""
    out = {name: np.zeros(size) for name, size in problem.multiplier_sizes.items()}
    for name, rows in multipliers.items():
        for i, value in rows.items():
            out[name][i] = to_double(value)
    return out


def all_multipliers(problem: Problem, multipliers: Multipliers) -> dict[str, Array]:
    """The same with those that follow (``with_flat_lines``), in rationals only where a line has another one."""
    out = multiplier_arrays(problem, multipliers)
    for e in _with_sign(problem):
        cost = e.cost if e.given_cost is None else np.array([to_double(c) for c in e.given_cost])
        rest = np.maximum(cost, 0.0)
        own = [multipliers.get(other.name, {}) for other in e.others]
        rows = sorted(set().union(*own))
        for i, c in zip(rows, e.rational("cost", np.array(rows, dtype=np.intp)), strict=True):
            rest[i] = max(to_double(c - sum(given.get(i, ZERO) for given in own)), 0.0)
        out[e.reference.name] = rest
    return out
