"""Bounds of the optimum from a point and multipliers, where doubles leave them too far apart: in rationals or balls."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.enclosure import bounds_at, root_interval
from convexcls.proofs.exact import NoProof, Widest, affordable, true_bounds, widest
from convexcls.proofs.exact.kernel_matrix import has_exact_kernel

#: The bits of a root.
BITS = 128
#: A lower and an upper bound of the minimised objective, and the objective at the point as it is.
Finer = tuple[Fraction, Fraction, Fraction]


def finer_bounds(
    problem: Problem,
    point: Mapping[str, list[Fraction]],
    multipliers: Mapping[str, Mapping[int, Fraction]],
) -> Finer | None:
    """The bounds of a small problem; None where there are none, or where it is not small."""
    parts = widest(problem)
    if not affordable(problem) or not _rational(problem) or (problem.norm_bounds and parts is None):
        return None
    try:
        if parts is not None:
            return _widest_bounds(parts, point, multipliers)
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


def _widest_bounds(
    parts: Widest,
    point: Mapping[str, list[Fraction]],
    multipliers: Mapping[str, Mapping[int, Fraction]],
) -> Finer | None:
    """Of the widest margin t, by the quadratic program whose minimum is p = 1 / (2 t^2), at the t-th part of the point:
    t lies between the roots of 1 / 2p for its bounds. What is minimised is -t."""
    t = point[parts.margin][0]
    if t <= 0:
        return None
    near = {v.name: [value / t for value in point[v.name]] for v in parts.program.variables}
    shares = {parts.block.name: {i: z / t**2 for i, z in multipliers.get(parts.block.name, {}).items()}}
    low, high, value = true_bounds(parts.program, near, shares)
    if low is None or high is None or not 0 < low <= high:
        return None
    own = min(t, 1 / (2 * value * t))  # less where the margins of the point fall short of t
    return -root_interval(1 / (2 * low), BITS)[1], -root_interval(1 / (2 * high), BITS)[0], -own


def _rational(problem: Problem) -> bool:
    """Whether the matrices of the objective are known without rounding: those of a Gaussian kernel are not."""
    blurred = any(p.spread() is not None for p in problem.matrices.values())
    return not blurred or has_exact_kernel(problem)
