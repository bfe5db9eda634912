"""Bounds of the optimum from a point and multipliers, where doubles leave them too far apart: in rationals or balls."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.enclosure import bounds_at
from convexcls.exact import NoProof, affordable, true_bounds
from convexcls.problem import NoAnswer, Problem

#: A lower and an upper bound of the minimised objective, and the objective at the point as it is.
Finer = tuple[Fraction, Fraction, Fraction]


def finer_bounds(
    problem: Problem,
    point: Mapping[str, list[Fraction]],
    multipliers: Mapping[str, Mapping[int, Fraction]],
) -> Finer | None:
    """The bounds of a small problem; None where there are none, or where it is not small."""
    if problem.norm_bounds or not affordable(problem):
        return None
    try:
        if problem.is_quadratic_program:
            low, high, value = true_bounds(problem, point, multipliers)
            return None if low is None or high is None else (low, high, value)
        if problem.is_constrained:
            return None
        x = np.array([value.numerator / value.denominator for v in problem.variables for value in point[v.name]])
        found = bounds_at(problem, x)
    except (NoProof, NoAnswer, OverflowError):
        return None
    return None if found is None else (*found, found[1])
