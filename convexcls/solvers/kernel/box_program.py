"""A problem read as a quadratic program in a box, with at most one equation:

    minimise    1/2 b'Kb + p'b
    subject to  low <= b <= high,      sum_i b_i = total    (if there is an equation)

The Wolfe dual of a kernel machine is one in b_i = y_i alpha_i, and there K is the kernel matrix itself, without signs.
In general b = scale x with the coefficients of the equation as scale, and K = Q / (scale scale').
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.problem import Constraint, Problem
from convexcls.rows import Rows
from convexcls.rows.row_store import MatrixStore, Store
from convexcls.solvers.base import Standing

#: Products of some entries are added up in parts of so many: that keeps their rounding small.
COLUMNS_AT_A_TIME = 256


def why_not_a_box_program(problem: Problem) -> str:
    """Why a problem is not of this form; empty if it is."""
    if problem.terms or problem.norm_bounds:
        names = ", ".join(block.name for block in (*problem.terms, *problem.norm_bounds))
        return f"it takes a quadratic form with bounds and one equation, as kernel machines have, and there is {names}"
    if len(problem.variables) != 1:
        return f"it takes one block of unknowns, and there are {len(problem.variables)}"
    name = problem.variables[0].name
    if name not in problem.matrices:
        return f"it takes a quadratic form given by a matrix, and {name!r} has none"
    equations = [c for c in problem.constraints if c.relation == "=="]
    if len(equations) > 1 or any(c.size != 1 for c in equations):
        return f"it takes one equation, and there are {sum(c.size for c in equations)}"
    if equations and np.any(_coefficients(problem, equations[0]) == 0):
        return f"not all unknowns take part in the equation {equations[0].name!r}"
    for c in problem.constraints:
        if c.relation != "==" and _bound_entries(problem, c) is None:
            return f"the inequalities {c.name!r} are not bounds of single unknowns"
    return ""


def _coefficients(problem: Problem, equation: Constraint) -> Array:
    return np.asarray(problem.rows(equation).T @ np.ones(1))


def _bound_entries(problem: Problem, c: Constraint) -> Array | None:
    """The entry of each unknown in a block of bounds, one row each; None where it is something else."""
    values = c.entries[problem.variables[0].name].diagonal()
    return None if values is None or np.any(values == 0) else values


@dataclass(frozen=True, eq=False)
class BoxProgram:
    """The program, with the store of K's rows and ``weight``, the factor by which K is the store's matrix."""

    problem: Problem
    store: Store
    scale: Array
    weight: float
    p: Array
    low: Array
    high: Array
    total: float | None

    @classmethod
    def of(cls, problem: Problem) -> BoxProgram:
        Q = problem.matrices[problem.variables[0].name]
        n = problem.size
        equation = next((c for c in problem.constraints if c.relation == "=="), None)
        scale = np.ones(n) if equation is None else _coefficients(problem, equation)
        store, weight = _store_of(Q, scale, equation is None)
        if equation is None and Q.as_kernel is not None:
            scale = Q.as_kernel.factor
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        for c in problem.constraints:
            if c.relation == "<=":
                entry = _bound_entries(problem, c)
                assert entry is not None
                bound, upper = c.rhs / entry, entry > 0
                high = np.where(upper, np.minimum(high, bound), high)
                low = np.where(upper, low, np.maximum(low, bound))
        ends = np.stack([low * scale, high * scale])
        total = None if equation is None else float(equation.rhs[0])
        return cls(problem, store, scale, weight, problem.q / scale / weight, ends.min(axis=0), ends.max(axis=0), total)

    @property
    def unit(self) -> float:
        """The size of a gradient that counts as one."""
        return float(np.abs(self.p).max(initial=0.0)) or 1.0

    def gradient(self, b: Array) -> Array:
        """Kb + p, worked out afresh from the problem's own rows."""
        product = self.problem.apply_quadratic(b / self.scale)
        return np.asarray(product / self.scale / self.weight + self.p)

    def gradient_of(self, b: Array) -> Array:
        """The same from the rows of the store, of which those of b are read once."""
        g, used = self.p.copy(), np.flatnonzero(b)
        self.store.add_product(used, b[used], g)
        return g

    def gradient_at(self, b: Array, index: Indices) -> Array:
        """Some entries of it, from the rows and columns that they take."""
        g, used = self.p[index], np.flatnonzero(b)
        for start in range(0, used.size, COLUMNS_AT_A_TIME):
            some = used[start : start + COLUMNS_AT_A_TIME]
            g = g + self.store.block(index, some) @ b[some]
        return g

    def objective(self, b: Array, gradient: Array) -> float:
        """The objective of the problem at b, whose gradient is given."""
        return 0.5 * self.weight * float(b @ (gradient + self.p)) + self.problem.constant

    def point(self, b: Array) -> Array:
        """x = b / scale."""
        return np.asarray(b / self.scale + 0.0)  # no negative zero

    def standing(self, b: Array, gradient: Array, shift: float) -> Standing:
        """The point with its multipliers, on the way."""
        return self.point(b), self.multipliers(b, gradient, shift, False)

    def multipliers(self, b: Array, gradient: Array, shift: float, settled: bool) -> dict[str, Array]:
        """The multipliers by block: those of bounds take what is left of the gradient. Where the answer is ``settled``,
        an unknown between its bounds has none: what is left is rounding."""
        residual = (gradient + shift) * self.weight * self.scale  # Qx + q + the equation's multiplier times its row
        x = self.point(b)
        ends = np.stack([self.low, self.high]) / self.scale
        bottom, top = ends.min(axis=0), ends.max(axis=0)
        out = {}
        for c in self.problem.constraints:
            if c.relation == "==":
                out[c.name] = np.array([shift * self.weight])
                continue
            entry = _bound_entries(self.problem, c)
            assert entry is not None
            end = np.where(entry > 0, top, bottom)
            pulls = (-residual / entry > 0) & (c.rhs / entry == end) & ((x == end) | (not settled))
            out[c.name] = np.where(pulls, -residual / entry, 0.0)
            residual = np.where(pulls, 0.0, residual)  # of two equal bounds one pulls
        return out


def _store_of(Q: Rows, scale: Array, free: bool) -> tuple[Store, float]:
    """The rows of Q / (scale scale') and a factor: of a kernel its own where only a factor lies between them."""
    if (kernel := Q.as_kernel) is not None:
        if free:
            return kernel.store, kernel.weight
        ratio = kernel.factor / scale
        if ratio.size and np.all(ratio == ratio[0]):
            return kernel.store, kernel.weight * float(ratio[0]) ** 2
    return MatrixStore(Q.to_dense() / scale / scale[:, None]), 1.0


def partition(program: BoxProgram, b: Array) -> Mapping[str, int]:
    """How many unknowns are at the lower bound, between bounds and at the upper bound."""
    low, high = b <= program.low, b >= program.high
    return {"low": int(low.sum()), "free": int((~low & ~high).sum()), "high": int(high.sum())}
