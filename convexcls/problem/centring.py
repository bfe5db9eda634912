"""The same problem with features measured from near their middle: a shift of a feature is a change of the intercept.

    w'x + b  =  w'(x - s) + b~,        b~ = b + w's

A feature far from zero, such as a time in seconds since 1970, nearly repeats the intercept's column, and what is said
of it is lost in the digits that all samples share. Where the largest value is at most twice the smallest, every
difference x - s is exact for any double s between them (Sterbenz 1974), so the problem in w and b~ is the same problem,
not one near it: whatever holds at (w, b~) holds at (w, b), to the last digit that b has room for.

Here it is done for problems in w and b: only rows in which both stand side by side are changed, R_w - R_b s'; a problem
that has them in any other way is left as it is. ``CentredKernel`` does it for the linear kernel with an intercept:
sum_i alpha_i y_i = 0 makes the shift free, and the multiplier of that equation, the intercept, is b~ = b + w's with
w = sum_i alpha_i y_i x_i. ``shifts.py`` finds s, doubles for b, and multipliers whose sum is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import same_vector
from convexcls.problem import Block, Problem, ProblemError
from convexcls.problem.shifts import at_shift, balanced, far_columns, fitted, moved
from convexcls.rational.numbers import to_double
from convexcls.rows import ClassMarginRows, Rows
from convexcls.rows.kernel import Blur, KernelRows
from convexcls.rows.rounded import summed


@dataclass(frozen=True, eq=False)
class CentredScores:
    """``problem`` in w and b~; ``coef`` and ``intercept`` are where these stand in x. ``shift`` is s and ``reach`` the
    largest |x - s|, one a feature. Of several classes each has its own w and b."""

    problem: Problem
    coef: slice
    intercept: slice
    shift: Array
    reach: Array

    def fits(self, x: Array) -> bool:
        """Whether the shift changes nothing at a point: of w and b it never does."""
        return True

    def centre(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Mapping[str, Array]]:
        """A point of the original problem in the new unknowns, b~ = b + w's rounded once; multipliers are the same."""
        out = np.array(x, dtype=float)
        if np.all(np.isfinite(x)):
            out[self.intercept] = [to_double(at_shift(self.shift, w, b)) for w, b in self._by_class(x)]
        return out, multipliers

    def restore(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Mapping[str, Array]]:
        """A point of the original problem, b = b~ - w's, and its multipliers."""
        out = np.array(x, dtype=float)
        if np.all(np.isfinite(x)):
            pairs = [fitted(self.shift, self.reach, w, b) for w, b in self._by_class(x)]
            out[self.coef] = np.concatenate([w for w, _ in pairs])
            out[self.intercept] = [b for _, b in pairs]
        return out, self._balanced(multipliers)

    def _by_class(self, x: Array) -> list[tuple[Array, float]]:
        constants = x[self.intercept]
        return list(zip(x[self.coef].reshape(constants.size, -1), constants.tolist(), strict=True))

    def _balanced(self, multipliers: Mapping[str, Array]) -> Mapping[str, Array]:
        """Stationarity in one intercept, exactly, where no loss has a part in it."""
        problem, unit = self.problem, np.zeros(self.problem.size)
        unit[self.intercept] = 1.0
        touched = [
            b.name for b in (*problem.terms, *problem.constraints) if np.any(problem.rows(b).column_max() * unit)
        ]
        blocks = [c for c in problem.constraints if c.name in touched and c.name in multipliers]
        if np.count_nonzero(unit) != 1 or len(blocks) < len(touched):
            return multipliers
        return balanced({c.name: problem.rows(c) @ unit for c in blocks}, multipliers)


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


Centred = CentredScores | CentredKernel


def centre(problem: Problem) -> Centred | None:
    """The problem with its features measured from near their middle; None where none is far from zero, or where a shift
    would not be a change of the intercept alone."""
    return centred_scores(problem) or centred_kernel(problem)


def in_centred_form(
    problem: Problem, x: Array, multipliers: Mapping[str, Array]
) -> tuple[Problem, Array, Mapping[str, Array]]:
    """The problem, a point of it and its multipliers with centred features, where these are far from zero."""
    centred = problem.remembered(centre)
    if centred is None or not centred.fits(x):
        return problem, x, multipliers
    return centred.problem, *centred.centre(x, multipliers)


def centred_scores(problem: Problem) -> CentredScores | None:
    """The problem in w and b~; None where no feature is far from zero, or a shift is not a change of b alone."""
    pair = _pair(problem)
    if pair is None:
        return None
    coef, intercept, data = pair
    shift = far_columns(data)
    if shift is None:
        return None
    shifted = moved(data, shift)

    def changed(block: Block) -> Block:
        if intercept not in block.entries:
            return block
        rows = _without(block.entries[coef], block.entries[intercept], lambda _: shifted)
        return replace(block, entries={**block.entries, coef: rows})

    try:
        other = problem.restated(
            terms=[changed(t) for t in problem.terms],
            constraints=[changed(c) for c in problem.constraints],
            norm_bounds=[changed(b) for b in problem.norm_bounds],
        )
    except ProblemError:  # sums beyond the range of doubles
        return None
    where = problem.layout
    return CentredScores(other, where[coef], where[intercept], shift, shifted.column_max())


def _pair(problem: Problem) -> tuple[str, str, Rows] | None:
    """The variable of the features, that of the intercept, and the samples, where the intercept costs nothing itself
    and stands beside the features wherever it stands."""
    for variable in problem.variables:
        c = variable.name
        if not any(_may_be_ones(b.entries[c]) for b in problem.blocks if c in b.entries):
            continue
        bounds = any(c in b.bound_entries for b in problem.norm_bounds)
        if c in problem.quadratic or bounds or (c in problem.linear and np.any(problem.linear[c])):
            continue
        blocks = [b for b in problem.blocks if c in b.entries]
        found = [(v, data) for b in blocks for v in b.entries if v != c and (data := _samples(b, v, c)) is not None]
        if len(found) == len(blocks) > 0 and all(v == found[0][0] and data is found[0][1] for v, data in found):
            return found[0][0], c, found[0][1]
    return None


def _may_be_ones(rows: Rows) -> bool:
    """Whether rows may be a column of ones behind factors, margins of classes or sums."""
    core = rows.factors().core
    return core.is_ones or core.as_class_margins is not None or core.source is not None


def _samples(block: Block, coef: str, intercept: str) -> Any:
    """The samples X of a block whose rows are [X, 1], with factors; None where they are not."""
    seen: list[Rows] = []

    def noted(rows: Rows) -> Rows:
        seen.append(rows)
        return rows

    return seen[0] if _without(block.entries[coef], block.entries[intercept], noted, look=True) is not None else None


def _without(rows: Rows, ones: Rows, change: Callable[[Rows], Rows], look: bool = False) -> Any:
    """``rows`` with the samples X inside them changed, where ``ones`` are the same rows with a column of ones in their
    place; None where they are not. With ``look`` nothing is worked out."""
    (left, core, right), (other_left, other, other_right) = rows.factors(), ones.factors()
    same = left is other_left or (left is not None and other_left is not None and same_vector(left, other_left))
    if not same or right is not None or other_right is not None:
        return None
    inner = _without_factors(core, other, change, look)
    return inner if inner is None or look or left is None else inner.scaled(left)


def _without_factors(rows: Rows, ones: Rows, change: Callable[[Rows], Rows], look: bool) -> Any:
    margins, others = rows.as_class_margins, ones.as_class_margins
    if margins is not None and others is not None:
        if margins.classes is not others.classes or (margins.count, margins.other) != (others.count, -1.0):
            return None
        inner = _without(margins.base, others.base, change, look)
        return None if inner is None else ClassMarginRows(inner, margins.classes, margins.count)
    if rows.source is not None and ones.source is not None:
        if not np.array_equal(rows.source[1], ones.source[1]):
            return None
        inner = _without(rows.source[0], ones.source[0], change, look)
        return inner if inner is None or look else summed(inner, rows.source[1])
    held = rows.in_memory() is not None or rows.by_block is rows
    in_place = ones.is_ones and held and np.isfinite(rows.rounding)
    return change(rows) if in_place else None


def centred_kernel(problem: Problem) -> CentredKernel | None:
    """The problem with a linear kernel of centred samples; None where it is another one, or they need no centring."""
    equations = [c for c in problem.constraints if c.relation == "=="]
    if len(problem.variables) != 1 or problem.terms or problem.norm_bounds or len(equations) != 1:
        return None
    (name,), (equation,) = (v.name for v in problem.variables), equations
    Q = problem.P[name].as_kernel if name in problem.P else None
    if Q is None or Q.root is None or Q.weight != 1.0 or np.any(equation.rhs):
        return None
    seen = _kernel_samples(Q.root, equation.entries[name])
    shift = None if seen is None else far_columns(seen[0])
    if seen is None or shift is None:
        return None
    data, signs = moved(seen[0], shift), seen[1]
    root = data.scaled(signs).T
    blur = Blur(0.0, np.inf) if root.rounding else Q.blur  # the rounding of samples is that of what they were
    Q = KernelRows(Q.store.on_linear(data.to_matrix()), Q.factor, root=root, blur=blur)
    return CentredKernel(problem.restated(quadratic={name: Q}), equation.name, signs, root, shift)


def _kernel_samples(root: Rows, row: Rows) -> tuple[Rows, Array] | None:
    """The samples and signs of a root diag(y) X beside an equation diag(y) 1, both transposed."""
    if not (root.is_transposed and row.is_transposed):
        return None
    rows, ones = root.T.factors(), row.T.factors()
    if rows.left is None or ones.left is None or not np.array_equal(rows.left, ones.left):
        return None
    plain = rows.right is None and ones.right is None and ones.core.is_ones and rows.core.in_memory() is not None
    return (rows.core, rows.left) if plain else None
