"""True bounds of the optimum from the point and the multipliers of a certificate, by one way after another.

Every way holds whatever the numbers are; so does the larger of two lower and the smaller of two upper bounds. Rationals
come first where they can be had, doubles rounded the right way first where only balls are better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from convexcls.models import Model
from convexcls.proofs.certificate import attainment, needs_attainment_proof
from convexcls.proofs.certificate.attainment import PROOF
from convexcls.proofs.exact import proved_square, widest
from convexcls.proofs.levels.finer import finer_bounds
from convexcls.proofs.portable.gaussian import bounds_by_moments, has_moments
from convexcls.proofs.portable.numbers import CertificateError
from convexcls.proofs.portable.parsed import Parsed
from convexcls.proofs.portable.slacks import multiplier_arrays, with_flat_lines, with_slacks

Array = NDArray[np.float64]
ZERO = Fraction(0)


@dataclass(frozen=True)
class Bounds:
    """A lower and an upper bound of the minimised objective, None where there is none; the objective at the point as it
    is; whether a minimum is known to exist; and whether the value was worked out in doubles."""

    lower: Fraction | None
    upper: Fraction | None
    value: Fraction
    attained: bool = True
    rounded: bool = False

    def with_others(self, other: Bounds) -> Bounds:
        """What both show."""
        lower = [end for end in (self.lower, other.lower) if end is not None]
        upper = [end for end in (self.upper, other.upper) if end is not None]
        best = other if self.rounded else self
        attained = self.attained or other.attained
        return replace(best, lower=max(lower, default=None), upper=min(upper, default=None), attained=attained)


def bounds_of(parsed: Parsed, problem: Model) -> Iterator[Bounds]:
    """What is proved of the optimum, each time with what one more way shows."""
    best: Bounds | None = None
    for found in _ways(parsed, problem):
        best = found if best is None else best.with_others(found)
        yield best


def _ways(parsed: Parsed, problem: Model) -> Iterator[Bounds]:
    if has_moments(problem):
        yield Bounds(*bounds_by_moments(problem, parsed.point))
        return
    if (parts := widest(problem)) is not None:
        used = {name: rows for name, rows in parsed.multipliers.items() if name == parts.block.name}
        if proved_square(parts, parsed.point, used) == 0:
            yield Bounds(ZERO, ZERO, ZERO)
            return
    rational = problem.is_quadratic_program or parts is not None
    for way in (_finely, _in_doubles) if rational else (_in_doubles, _finely):
        if (found := way(parsed, problem)) is not None:
            yield found


def _finely(parsed: Parsed, problem: Model) -> Bounds | None:
    """In rationals, or in balls around the minimum, which exists where it was enclosed."""
    found = finer_bounds(problem, parsed.point, parsed.multipliers)
    return None if found is None else Bounds(*found)


def _in_doubles(parsed: Parsed, problem: Model) -> Bounds:
    """In doubles rounded the right way."""
    from convexcls.proofs.rigorous import bounds

    x, multipliers = in_doubles(parsed, problem)
    found = bounds(problem, x, multipliers)
    with np.errstate(over="ignore", invalid="ignore"):
        value = problem.objective(x)
    if not math.isfinite(value):
        raise CertificateError("the objective at the point is not finite")
    attained = not needs_attainment_proof(problem) or attainment(problem, x, multipliers) >= PROOF
    return Bounds(_rational(found.lower), _rational(found.upper), Fraction(value), attained, rounded=True)


def in_doubles(parsed: Parsed, problem: Model) -> tuple[Array, Mapping[str, Array]]:
    """The point with its slacks, and all multipliers."""
    with np.errstate(over="ignore", invalid="ignore"):  # told below
        x = with_slacks(problem, parsed.point)
    multipliers = multiplier_arrays(problem, with_flat_lines(problem, parsed.multipliers))
    if not np.all(np.isfinite(x)) or not all(np.all(np.isfinite(z)) for z in multipliers.values()):
        raise CertificateError("the point or a multiplier is beyond the range of doubles")
    return x, multipliers


def _rational(value: float) -> Fraction | None:
    return Fraction(float(value)) if math.isfinite(value) else None
