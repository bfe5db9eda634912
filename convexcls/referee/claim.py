"""What a fitted estimator claims: that a point solves a convex program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Problem
from convexcls.solution import Solution

#: The unknowns that stand for a loss or an absolute value: each is at least as large as its pieces, row by row.
RAISED = ("slack", "size")


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


def raised_variables(problem: Problem) -> list[str]:
    """The unknowns of the problem that only stand for a loss or an absolute value."""
    return [v.name for v in problem.variables if v.name in RAISED]


def pieces_of(problem: Problem, variable: str) -> list[Constraint]:
    """The blocks of rows that a raised variable has to be above."""
    return [c for c in problem.constraints if variable in c.entries]


def piece_values(problem: Problem, piece: Constraint, variable: str, x: Array) -> Array:
    """What the rows of a piece ask the raised variable to be at least: a piece reads R x - raised <= rhs."""
    rest = {v: rows for v, rows in piece.entries.items() if v != variable}
    return (problem.joined(rest, piece.size) @ x if rest else np.zeros(piece.size)) - piece.rhs


def completed(problem: Problem, values: Mapping[str, Array]) -> Array:
    """The point with these values, its raised variables as low as their pieces allow: slacks at the loss, sizes at the
    absolute value. A slack that is squared is not below 0."""
    x = np.zeros(problem.size)
    for name, where in problem.layout.items():
        if name in values:
            x[where] = np.asarray(values[name], dtype=float).ravel()
    for name in raised_variables(problem):
        lowest = [piece_values(problem, c, name, x) for c in pieces_of(problem, name)]
        if name in problem.quadratic:
            lowest.append(np.zeros(problem.variable(name).size))
        x[problem.layout[name]] = np.max(lowest, axis=0)
    return x
