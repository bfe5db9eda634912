"""What a certificate leaves out because it follows: slacks, and the multipliers of their signs.

A slack xi_i that only bounds lines from above, xi_i >= R_k x - h_k, is the largest of them (at least 0 where its cost
is quadratic). Where its cost is c_i xi_i, its multipliers add up to c_i: those of a flat line follow from the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Problem
from convexcls.rational import to_double

Blocks = Mapping[str, Mapping[int, Fraction]]


def slack_names(problem: Problem) -> tuple[str, ...]:
    """The variables that only bound lines from above."""
    return tuple(v.name for v in problem.variables if _is_slack(problem, v.name))


def _is_slack(problem: Problem, name: str) -> bool:
    if name in problem.matrices or name == "coef":
        return False
    if any(name in block.entries for block in (*problem.terms, *problem.norm_bounds)):
        return False
    lines = lines_of(problem, name)
    values = [c.entries[name].diagonal() for c in lines if c.relation == "<="]
    return 0 < len(values) == len(lines) and all(d is not None and bool(np.all(d == -1.0)) for d in values)


def lines_of(problem: Problem, name: str) -> list[Constraint]:
    """The constraints that speak of a slack."""
    return [c for c in problem.constraints if name in c.entries]


def kept_names(problem: Problem) -> tuple[str, ...]:
    """The variables that a certificate states."""
    left_out = slack_names(problem)
    return tuple(v.name for v in problem.variables if v.name not in left_out)


def flat_lines(problem: Problem) -> dict[str, list[Constraint]]:
    """The constraints whose multipliers follow, each with the other lines of its slack."""
    out = {}
    for name in slack_names(problem):
        lines = lines_of(problem, name)
        flat = [c for c in lines if set(c.entries) == {name}]
        if len(flat) == 1 and not _curved(problem, name):
            out[flat[0].name] = [c for c in lines if c is not flat[0]]
    return out


def _curved(problem: Problem, name: str) -> bool:
    p = problem.quadratic.get(name)
    return isinstance(p, np.ndarray) and bool(np.any(p))


def with_flat_lines(problem: Problem, multipliers: Blocks) -> dict[str, dict[int, Fraction]]:
    """The multipliers with those that follow: what is left of a slack's cost, where anything is."""
    out = {name: dict(rows) for name, rows in multipliers.items()}
    for name, others in flat_lines(problem).items():
        slack = next(iter(_constraint(problem, name).entries))
        cost = problem.linear.get(slack, np.zeros(problem.variable(slack).size))
        taken: dict[int, Fraction] = {}
        for other in others:
            for i, value in out.get(other.name, {}).items():
                taken[i] = taken.get(i, Fraction(0)) + value
        left = {i: Fraction(c) - taken.get(i, 0) for i, c in enumerate(cost.tolist())}
        out[name] = {i: value for i, value in left.items() if value > 0}
    return out


def _constraint(problem: Problem, name: str) -> Constraint:
    return next(c for c in problem.constraints if c.name == name)


def with_slacks(problem: Problem, point: Mapping[str, list[Fraction]]) -> Array:
    """All of x in doubles, from the variables that a certificate states."""
    x = np.zeros(problem.size)
    for name, values in point.items():
        x[problem.layout[name]] = [to_double(value) for value in values]
    for name in slack_names(problem):
        where = problem.layout[name]
        heights = [problem.rows(c) @ x - c.rhs for c in lines_of(problem, name)]
        floor = 0.0 if _curved(problem, name) else -np.inf
        x[where] = np.maximum(np.max(heights, axis=0), floor)
    return x


def multiplier_arrays(problem: Problem, multipliers: Blocks) -> dict[str, Array]:
    """One array of doubles for every constraint and norm bound."""
    sizes = {c.name: c.size for c in problem.constraints} | {b.name: b.size + 1 for b in problem.norm_bounds}
    out = {name: np.zeros(size) for name, size in sizes.items()}
    for name, rows in multipliers.items():
        for i, value in rows.items():
            out[name][i] = to_double(value)
    return out
