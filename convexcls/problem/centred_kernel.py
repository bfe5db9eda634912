"""Centring of the linear kernel with an intercept: sum_i alpha_i y_i = 0 makes the shift free, and the multiplier of
that equation, the intercept, is b~ = b + w's with w = sum_i alpha_i y_i x_i."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.problem.exact_sums import at_shift, balanced, fitted
from convexcls.problem.moved import far_columns, moved
from convexcls.rational import to_double
from convexcls.rows import Rows
from convexcls.rows.kernel import KernelRows


@dataclass(frozen=True, eq=False)
class CentredKernel:
    """``problem`` with the kernel of the samples x - s; ``equation`` is the name of sum_i y_i alpha_i = 0, ``root`` the
    rows that give w from alpha."""

    problem: Problem
    equation: str
    signs: Array
    root: Rows
    shift: Array

    def fits(self, x: Array) -> bool:
        """Whether the sum over y_i alpha_i is exactly zero: only then the shift changes nothing."""
        return bool(np.all(np.isfinite(x))) and math.fsum((self.signs * x).tolist()) == 0.0

    def centre(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Mapping[str, Array]]:
        """The same alpha, with the multipliers of the centred problem."""
        return x, self._moved(x, multipliers, self.shift)

    def restore(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Mapping[str, Array]]:
        """alpha, its sum exactly zero, with the multipliers of the original problem."""
        if not np.all(np.isfinite(x)):
            return x, multipliers
        x = balanced({"": self.signs}, {"": x})[""]
        return x, self._moved(x, multipliers, -self.shift)

    def score(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, float]:
        """Coefficients and intercept of the score, from alpha and the multipliers of the original problem."""
        b = self.centre(x, multipliers)[1][self.equation]
        return fitted(self.shift, self.root.row_max(), self.root @ x, float(b[0]))

    def _moved(self, x: Array, multipliers: Mapping[str, Array], shift: Array) -> Mapping[str, Array]:
        b, w = multipliers.get(self.equation), self.root @ x
        if b is None or not (np.all(np.isfinite(b)) and np.all(np.isfinite(w))):
            return multipliers
        return {**multipliers, self.equation: np.array([to_double(at_shift(shift, w, float(b[0])))])}


def centred_kernel(problem: Problem) -> CentredKernel | None:
    """The problem with a linear kernel of centred samples; None where it is another one, or they need no centring."""
    equations = [c for c in problem.constraints if c.relation == "=="]
    if len(problem.variables) != 1 or problem.terms or problem.norm_bounds or len(equations) != 1:
        return None
    (name,), (equation,) = (v.name for v in problem.variables), equations
    Q = problem.P[name].as_kernel if name in problem.P else None
    if Q is None or Q.root is None or Q.weight != 1.0 or np.any(equation.rhs):
        return None
    seen = _samples(Q.root, equation.entries[name])
    shift = None if seen is None else far_columns(seen[0])
    if seen is None or shift is None:
        return None
    data, signs = moved(seen[0], shift), seen[1]
    root = data.scaled(signs).T
    blur = (0.0, np.inf) if root.rounding else Q.blur  # the rounding of samples is that of what they were
    Q = KernelRows(Q.store.on_linear(data.to_matrix()), Q.factor, root=root, blur=blur)
    return CentredKernel(problem.restated(quadratic={name: Q}), equation.name, signs, root, shift)


def _samples(root: Rows, row: Rows) -> tuple[Rows, Array] | None:
    """The samples and signs of a root diag(y) X beside an equation diag(y) 1, both transposed."""
    if not (root.is_transposed and row.is_transposed):
        return None
    rows, ones = root.T.factors(), row.T.factors()
    if rows.left is None or ones.left is None or not np.array_equal(rows.left, ones.left):
        return None
    plain = rows.right is None and ones.right is None and ones.core.is_ones and rows.core.in_memory() is not None
    return (rows.core, rows.left) if plain else None
