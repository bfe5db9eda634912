"""A problem as a cvxpy problem, block by block, with explicit constraints so that every multiplier exists.

>>> import convexcls as cc
>>> problem = cc.HardMarginSVM([[0], [2]], [0, 1])
>>> form = cc.cvxpy_form.cvxpy_form(problem)
>>> round(float(form.problem.solve("CLARABEL")), 4), form.multipliers(problem)["margin"].round(4).tolist()
(0.5, [0.5, 0.5])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.rows import Rows


@dataclass(frozen=True, eq=False)
class CvxpyForm:
    """The cvxpy problem with its variables and constraints by name."""

    problem: Any
    variables: Mapping[str, Any]
    constraints: Mapping[str, Any]

    def point(self, problem: Problem) -> Array | None:
        """The values of the variables as one vector, None where the backend left none."""
        values = [self.variables[v.name].value for v in problem.variables]
        if any(value is None for value in values):
            return None
        return np.concatenate([np.atleast_1d(np.asarray(value, dtype=float)) for value in values])

    def multipliers(self, problem: Problem) -> dict[str, Array]:
        """The dual values by constraint, in our sign convention (which is cvxpy's for minimisation)."""
        out: dict[str, Array] = {}
        for c in problem.constraints:
            value = self.constraints[c.name].dual_value
            if value is not None:
                out[c.name] = np.atleast_1d(np.asarray(value, dtype=float)).ravel()
        for b in problem.norm_bounds:
            mu, u = self.constraints[b.name].dual_value or (None, None)
            if mu is not None and u is not None:
                out[b.name] = np.concatenate([np.ravel(u), np.ravel(mu)]).astype(float)
        return out


def to_cvxpy(problem: Problem) -> Any:
    """The problem as a ``cvxpy.Problem``, in the sense in which it is written."""
    return cvxpy_form(problem, as_written=True).problem


def cvxpy_form(problem: Problem, as_written: bool = False) -> CvxpyForm:
    """The problem in cvxpy, minimised unless ``as_written`` asks for its own sense."""
    import cvxpy as cp

    variables = {v.name: cp.Variable(v.size, name=v.name) for v in problem.variables}

    def total(entries: Mapping[str, Rows]) -> Any:
        return sum(_product(rows, variables[v]) for v, rows in entries.items())

    objective: Any = problem.constant
    for v, P in problem.P.items():
        p = problem.diagonals.get(v)
        if p is None:
            objective = objective + 0.5 * cp.quad_form(variables[v], cp.psd_wrap(P.to_dense()))
        elif np.all(p == p[0]):
            objective = objective + 0.5 * float(p[0]) * cp.sum_squares(variables[v])
        else:
            objective = objective + 0.5 * cp.sum_squares(cp.multiply(np.sqrt(p), variables[v]))
    for v, q in problem.linear.items():
        objective = objective + q @ variables[v]
    for t in problem.terms:
        inside = total(t.entries) + t.offset
        if t.counted.size < t.size:
            inside = inside[t.counted]
        objective = objective + t.weights[t.weights > 0] @ t.loss.cvxpy(inside)
    constraints: dict[str, Any] = {}
    for c in problem.constraints:
        left = total(c.entries)
        constraints[c.name] = left == c.rhs if c.relation == "==" else left <= c.rhs
    for b in problem.norm_bounds:
        bound = b.bound + (total(b.bound_entries)[0] if b.bound_entries else 0.0)
        constraints[b.name] = cp.SOC(cp.Constant(bound) if np.isscalar(bound) else bound, total(b.entries) + b.offset)
    flip = as_written and problem.sense == "max"
    goal = cp.Maximize(-objective) if flip else cp.Minimize(objective)
    return CvxpyForm(cp.Problem(goal, list(constraints.values())), variables, constraints)


def _product(rows: Rows, variable: Any) -> Any:
    """rows @ variable as a cvxpy expression, without multiplying the data out."""
    import cvxpy as cp

    if (diagonal := rows.diagonal()) is not None:
        return cp.multiply(diagonal, variable)
    if rows.is_transposed:
        right, core, left = rows.T.factors()
        core = core.T
    else:
        left, core, right = rows.factors()
    inside = variable if right is None else cp.multiply(right, variable)
    product = core.to_matrix() @ inside
    return product if left is None else cp.multiply(left, product)
