"""What a fitted estimator claims: that a point solves a convex program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem, with_lowest_slacks
from convexcls.solution import Solution

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Claim:
    """One convex program and the answer that an estimator gave to it.

    ``point`` is x in the layout of the problem. ``multipliers`` are the estimator's own, where it keeps any; else they
    are rebuilt from the point. ``source`` says where they come from. ``by_dual`` marks a problem that is stated by its
    dual (a kernel machine): there the multipliers carry the classifier, and its objective is the bound they give.
    ``usual`` is the relative distance from the optimum that the estimator's own stopping rule explains, and ``allowed``
    the absolute one; one that ends where no slope of the objective exceeds ``slope`` allows for that times the way to
    the minimiser. A learning ``rule`` has none that speaks of the optimum. ``remarks`` go into the verdict,
    ``findings`` beside it, with what ``tell`` makes of the toolkit's own solution.
    """

    problem: Problem
    named: str
    point: Array
    multipliers: Mapping[str, Array] | None = None
    source: str = ""
    subject: str = ""
    by_dual: bool = False
    usual: float = 1e-2
    allowed: float = 0.0
    slope: float = 0.0
    rule: bool = False
    remarks: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    tell: Callable[[Solution | None], list[str]] | None = None


def completed(problem: Problem, values: Mapping[str, Array]) -> Array:
    """The point with these values, its slacks as low as their pieces allow: at the loss, or at the absolute value."""
    x = np.zeros(problem.size)
    for name, where in problem.layout.items():
        if name in values:
            x[where] = np.asarray(values[name], dtype=float).ravel()
    return with_lowest_slacks(problem, x)
