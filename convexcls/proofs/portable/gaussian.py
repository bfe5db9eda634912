"""Certificates of Gaussian classes: what the moments of the data prove, without rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from convexcls.problem import Problem
from convexcls.proofs.enclosure import (
    Enclosure,
    Moments,
    check_moments,
    falling_direction,
    falls_for_ever,
    least_value,
    value_at,
)
from convexcls.proofs.portable.numbers import CertificateError

Values = Mapping[str, Sequence[Fraction]]

#: Data with more entries are judged by residuals in doubles.
MOST_ENTRIES = 5_000_000
#: The bits of bounds that are compared with doubles.
BITS = 128


def has_moments(problem: Any) -> bool:
    """Whether the optimum of a problem is a formula of moments, which are not too many to be added up here."""
    return hasattr(problem, "moments_as_given") and problem.data.n * problem.data.d <= MOST_ENTRIES


def moments(problem: Any) -> list[Moments]:
    """The moments of the data as they were given."""
    return list(problem.moments_as_given())


def bounds_by_moments(problem: Problem, point: Values) -> tuple[Fraction, Fraction, Fraction]:
    """The formula of the optimum from below, and the objective at the point, twice."""
    parts = problem.remembered(moments)
    if falling_direction(parts) is not None:
        raise CertificateError("there is no minimum: a combination of features does not vary within a class")
    here = value_at(parts, point, BITS)
    if here is None:
        raise CertificateError("the precision of the point is not positive definite")
    return least_value(parts, BITS)[0], here[1], here[1]


def enclosed_by_moments(problem: Problem, claimed: Enclosure) -> bool:
    """Whether the point matches the moments, and the optimum lies within."""
    return check_moments(problem.remembered(moments), claimed)


def falls_by_moments(problem: Problem, direction: Values) -> str:
    """Why the direction does not prove that there is no minimum; empty where it does."""
    if {name: len(v) for name, v in direction.items()} != {v.name: v.size for v in problem.variables}:
        return "the direction does not give one number for every unknown"
    if not falls_for_ever(problem.remembered(moments), direction):
        return "the objective does not fall along the direction"
    return ""
