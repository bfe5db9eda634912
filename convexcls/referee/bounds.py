"""Bounds on the optimum from a point and multipliers, one function for the levels of proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate import check_kkt
from convexcls.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """lower <= optimum <= upper, of the minimised form; infinite where nothing is known."""

    lower: float
    upper: float
    #: The rigorous bounds themselves, where it was made from them.
    found: Any = None


def bounds(problem: Problem, x: Array, multipliers: Mapping[str, Array], level: str) -> Interval:
    """What a point and multipliers prove of the optimum. Above level ``float`` this holds despite rounding; at level
    ``float`` it is as the conditions were measured."""
    if level != "float":
        try:
            from convexcls.rigorous import bounds as rigorous_bounds
        except ImportError:
            return _measured(problem, x, multipliers)
        found = rigorous_bounds(problem, x, multipliers)
        return Interval(float(found.lower), float(found.upper), found)
    return _measured(problem, x, multipliers)


def _measured(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> Interval:
    """The two objectives as they were computed. The dual one is lowered by what the gradient of an unknown without
    curvature can hide near x, and counts only where the multipliers have the right signs."""
    kkt = check_kkt(problem, x, multipliers)
    hidden = sum(
        float(np.sum(kkt.stationarity.values[v] * np.abs(x[where])))
        for v, where in problem.layout.items()
        if v not in problem.quadratic
    )
    feasible = kkt.primal_feasibility.relative <= 1e-9
    signed = kkt.dual_feasibility.relative <= 1e-9
    lower = min(kkt.dual_objective, kkt.objective) - hidden if signed else -np.inf
    return Interval(lower, kkt.objective if feasible else np.inf)
