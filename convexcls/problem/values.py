"""The functions of a problem at a point: gradient, Hessian and Lagrangian.

    L(x, nu, lambda) = objective + nu'(Ax - b) + lambda'(Gx - h),     lambda >= 0

and for a norm bound ‖Ex + e‖ <= f'x + g with the multiplier (u, mu), ‖u‖ <= mu, the part -u'(Ex + e) - mu (f'x + g).
All of it is of the minimised form; ``Problem`` states it in the sense in which the problem is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.arrays import Array
from convexcls.problem.blocks import ProblemError

if TYPE_CHECKING:
    from convexcls.problem.form import Problem


def joined_point(problem: Problem, x: Any) -> Array:
    """x as one array, from an array or from all unknowns by name."""
    if not isinstance(x, Mapping):
        point = np.asarray(x, dtype=float)
        if point.shape != (problem.size,):
            raise ProblemError(f"the point has the shape {point.shape}, the {problem.name} has {problem.size} unknowns")
        return point
    parts = {name: np.ravel(np.asarray(values, dtype=float)) for name, values in x.items()}
    if {name: values.size for name, values in parts.items()} != {v.name: v.size for v in problem.variables}:
        wanted = ", ".join(f"{v.name}[{v.size}]" for v in problem.variables)
        raise ProblemError(f"the point has to name {wanted}")
    return np.concatenate([parts[v.name] for v in problem.variables])


def gradient(problem: Problem, x: Array, multipliers: Mapping[str, Array] | None = None) -> Array:
    """The gradient of the objective at x; with multipliers that of the Lagrangian."""
    out = problem.apply_quadratic(x) + problem.q
    for t in problem.terms:
        rows = problem.rows(t)
        out = out + rows.T @ (t.row_weights * t.loss.slope(rows @ x + t.offset))
    known = multipliers or {}
    for c in problem.constraints:
        if c.name in known:
            out = out + problem.rows(c).T @ known[c.name]
    for b in problem.norm_bounds:
        if b.name in known:
            out = out - problem.rows(b).T @ known[b.name][:-1] - problem.bound_rows(b).T @ known[b.name][-1:]
    return np.asarray(out)


def hessian(problem: Problem, x: Array) -> Array:
    """The Hessian of the objective at x: P + sum_k M_k' W_k M_k."""
    out = np.zeros((problem.size, problem.size))
    for name, P in problem.P.items():
        where = problem.layout[name]
        out[where, where] += P.to_dense()
    for t in problem.terms:
        rows = problem.rows(t)
        out += t.gram(rows, rows @ x + t.offset)
    return out


def lagrangian(problem: Problem, x: Array, multipliers: Mapping[str, Any]) -> float:
    """The Lagrangian at x and all multipliers."""
    given = {name: np.ravel(np.asarray(values, dtype=float)) for name, values in multipliers.items()}
    if {name: z.size for name, z in given.items()} != dict(problem.multiplier_sizes):
        wanted = ", ".join(f"{name}[{size}]" for name, size in problem.multiplier_sizes.items())
        raise ProblemError(f"the multipliers have to name {wanted or 'nothing: there are no constraints'}")
    total = problem.minimised(x)
    for c in problem.constraints:
        total += float(given[c.name] @ (problem.rows(c) @ x - c.rhs))
    for b in problem.norm_bounds:
        u, mu = given[b.name][:-1], given[b.name][-1]
        total -= float(u @ (problem.rows(b) @ x + b.offset) + mu * ((problem.bound_rows(b) @ x)[0] + b.bound))
    return total
