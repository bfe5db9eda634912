"""What a certificate leaves out because it follows: slacks, and the multipliers of their signs.

A slack xi_i that only bounds lines from above, xi_i >= R_k x - h_k, is the largest of them (at least 0 where its cost
is quadratic). Where its cost is c_i xi_i, its multipliers add up to c_i: those of a flat line follow from the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Epigraph, Problem
from convexcls.rational.numbers import to_double

Blocks = Mapping[str, Mapping[int, Fraction]]


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


def with_flat_lines(problem: Problem, multipliers: Blocks) -> dict[str, dict[int, Fraction]]:
    """The multipliers with those that follow: what is left of a slack's cost, where anything is."""
    out = {name: dict(rows) for name, rows in multipliers.items()}
    for e in _with_sign(problem):
        rest = [Fraction(c) for c in e.cost.tolist()]
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


def multiplier_arrays(problem: Problem, multipliers: Blocks) -> dict[str, Array]:
    """One array of doubles for every constraint and norm bound."""
    out = {name: np.zeros(size) for name, size in problem.multiplier_sizes.items()}
    for name, rows in multipliers.items():
        for i, value in rows.items():
            out[name][i] = to_double(value)
    return out
