"""The same problem with features measured from near their middle: a shift of a feature is a change of the intercept.

    w'x + b  =  w'(x - s) + b~,        b~ = b + w's

A feature far from zero, such as a time in seconds since 1970, nearly repeats the intercept's column, and what is said
of it is lost in the digits that all samples share. Where the largest value is at most twice the smallest, every
difference x - s is exact for any double s between them (Sterbenz 1974), so the problem in w and b~ is the same problem,
not one near it: whatever holds at (w, b~) holds at (w, b), to the last digit that b has room for.

Only rows in which both variables stand side by side are changed, R_w - R_b s'; a problem that has them in any other way
is left as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Block, Problem, ProblemError
from convexcls.rows import ClassMarginRows, ConstantRows, DenseRows, Rows, ScaledRows, SparseRows
from convexcls.rows.moved import far_columns, moved
from convexcls.rows.sums import RoundedRows, summed

Array = NDArray[np.float64]

#: An intercept is rounded to this fraction of the scores, where some doubles nearby allow it.
CLOSE = 2.0**-46
#: So many last digits of a coefficient are tried for that.
TRIED = 4096


@dataclass(frozen=True, eq=False)
class Centred:
    """``problem`` in w and b~; ``coef`` and ``intercept`` are where these stand in x. ``shift`` is s and ``reach`` the
    largest |x - s|, one a feature. Of several classes each has its own w and b."""

    problem: Problem
    coef: slice
    intercept: slice
    shift: Array
    reach: Array

    def centre_point(self, x: Array) -> Array:
        """A point of the original problem in the new unknowns: b~ = b + w's, rounded once."""
        if not np.all(np.isfinite(x)):
            return x
        out = np.array(x, dtype=float)
        for k, (w, b) in enumerate(self._by_class(x)):
            out[self.intercept.start + k] = _rounded(_at(self.shift, w, b))
        return out

    def restore_point(self, x: Array) -> Array:
        """A point of the original problem, b = b~ - w's. Where b has no room for the digits of b~, the last digits of a
        coefficient are chosen so that the sum has them."""
        if not np.all(np.isfinite(x)):
            return x
        out = np.array(x, dtype=float)
        width = self.shift.size
        for k, (w, b) in enumerate(self._by_class(x)):
            first = self.coef.start + k * width
            out[first : first + width], out[self.intercept.start + k] = self._fitted(w, b)
        return out

    def restore_multipliers(self, multipliers: Mapping[str, Array]) -> dict[str, Array]:
        """The same multipliers, their sum over the rows of the intercept exactly zero where it is zero to rounding: in
        the original unknowns it counts as much as the features are far from zero."""
        return balanced(self.problem, self.intercept, multipliers)

    def _by_class(self, x: Array) -> list[tuple[Array, float]]:
        constants = x[self.intercept]
        return list(zip(x[self.coef].reshape(constants.size, -1), constants.tolist(), strict=True))

    def _fitted(self, w: Array, b: float) -> tuple[Array, float]:
        exact = _at(-self.shift, w, b)
        rounded = _rounded(exact)
        if not math.isfinite(rounded):
            return w, rounded
        unit, missing = Fraction(math.ulp(rounded)), exact - Fraction(rounded)
        wanted = CLOSE * (abs(b) + float(np.abs(w) @ self.reach))
        if abs(missing) <= wanted:
            return w, rounded
        best, chosen = abs(float(missing)), (0, 0.0)
        steps = np.arange(-TRIED, TRIED + 1)
        for j in np.flatnonzero(self.shift * w):
            # k units in the last place of w_j move the sum by k turns of its own unit, of which only the part counts
            last = math.ulp(w[j])
            turn = float(Fraction(last) * Fraction(self.shift[j]) / unit % 1)
            left = float(missing / unit) - steps * turn
            cost = float(unit) * np.abs(left - np.rint(left)) + np.abs(steps) * (last * self.reach[j])
            if cost[k := int(np.argmin(cost))] < best:
                best, chosen = float(cost[k]), (int(j), last * float(steps[k]))
        w = w.copy()
        w[chosen[0]] += chosen[1]
        return w, _rounded(_at(-self.shift, w, b))


def _at(shift: Array, w: Array, b: float) -> Fraction:
    """b + w's without rounding."""
    used = np.flatnonzero(shift * w != 0)
    products = (Fraction(u) * Fraction(v) for u, v in zip(shift[used].tolist(), w[used].tolist(), strict=True))
    return sum(products, Fraction(b))


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def centre(problem: Problem) -> Centred | None:
    """The problem with its features measured from near their middle; None where none is far from zero, or where a shift
    would not be a change of the intercept alone."""
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
        other = _rebuilt(problem, changed)
    except ProblemError:  # sums beyond the range of doubles
        return None
    where = problem.layout
    return Centred(other, where[coef], where[intercept], shift, shifted.column_max())


def in_centred_form(problem: Problem, x: Array) -> tuple[Problem, Array]:
    """The problem and a point of it with centred features, where these are far from zero."""
    centred = problem.remembered(centre)
    return (problem, x) if centred is None else (centred.problem, centred.centre_point(x))


def _pair(problem: Problem) -> tuple[str, str, DenseRows | SparseRows] | None:
    """The variable of the features, that of the intercept, and the samples, where the intercept costs nothing itself
    and stands beside the features wherever it stands."""
    for variable in problem.variables:
        c = variable.name
        blocks = [b for b in (*problem.terms, *problem.constraints, *problem.norm_bounds) if c in b.entries]
        beside = {v for b in blocks for v in b.entries if v != c and _samples(b, v, c) is not None}
        bounds = any(c in b.bound_entries for b in problem.norm_bounds)
        if c in problem.quadratic or np.any(problem.linear.get(c, 0.0)) or bounds or len(beside) != 1:
            continue
        (v,) = beside
        found = [_samples(b, v, c) if v in b.entries else None for b in blocks]
        if found[0] is not None and all(data is found[0] for data in found):
            return v, c, found[0]
    return None


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
    if isinstance(rows, ScaledRows) and isinstance(ones, ScaledRows):
        if not (np.array_equal(rows.left, ones.left) and np.all(rows.right == 1.0) and np.all(ones.right == 1.0)):
            return None
        inner = _without(rows.base, ones.base, change, look)
        return None if inner is None else inner.scaled(rows.left)
    if isinstance(rows, ClassMarginRows) and isinstance(ones, ClassMarginRows):
        if rows.classes is not ones.classes or (rows.count, rows.other) != (ones.count, -1.0):
            return None
        inner = _without(rows.base, ones.base, change, look)
        return None if inner is None else ClassMarginRows(inner, rows.classes, rows.count)
    if isinstance(rows, RoundedRows) and isinstance(ones, RoundedRows):
        if rows.source is None or ones.source is None or not np.array_equal(rows.source[1], ones.source[1]):
            return None
        inner = _without(rows.source[0], ones.source[0], change, look)
        return inner if inner is None or look else summed(inner, rows.source[1])
    if isinstance(ones, ConstantRows) and isinstance(rows, (DenseRows, SparseRows)):
        return change(rows)
    return None


def _rebuilt(problem: Problem, changed: Callable[[Any], Any]) -> Problem:
    """The problem with its blocks changed."""
    return Problem(
        problem.name,
        problem.variables,
        quadratic=problem.quadratic,
        linear=problem.linear,
        terms=[changed(t) for t in problem.terms],
        constraints=[changed(c) for c in problem.constraints],
        norm_bounds=[changed(b) for b in problem.norm_bounds],
        constant=problem.constant,
        sense=problem.sense,
        unit=problem.unit,
        linear_labels=problem.linear_labels,
        quadratic_symbol=problem.quadratic_symbol,
        gauge=problem.gauge,
    )


def balanced(problem: Problem, where: slice, multipliers: Mapping[str, Array]) -> dict[str, Array]:
    """Multipliers on a common grid, moved by a few of its steps so that sum_i R_i z_i over the rows R of one unknown is
    exactly zero. Nothing is changed where a loss has a part in the sum, or where factors are not -1 or +1."""
    out = dict(multipliers)
    blocks = [c for c in problem.constraints if np.any(problem.rows(c).column_max()[where])]
    if where.stop - where.start != 1 or any(np.any(problem.rows(t).column_max()[where]) for t in problem.terms):
        return out
    unit = np.zeros(problem.size)
    unit[where] = 1.0
    factors = {c.name: problem.rows(c) @ unit for c in blocks if c.name in out}
    signs = {name: f for name, f in factors.items() if np.all(np.abs(f) == 1.0)}
    largest = max((float(np.abs(out[name]).max(initial=0.0)) for name in signs), default=0.0)
    if len(factors) < len(blocks) or not 0.0 < largest < math.inf:
        return out
    step = math.ulp(largest)
    for name in factors:
        out[name] = step * np.rint(out[name] / step)
    total = sum(
        (
            Fraction(f) * Fraction(z)
            for name in factors.keys() - signs
            for f, z in zip(factors[name].tolist(), out[name].tolist(), strict=True)
        ),
        Fraction(0),
    )
    total += Fraction(math.fsum(np.concatenate([signs[name] * out[name] for name in signs]).tolist()))
    steps = round(total / Fraction(step))
    name = max(signs, key=lambda name: float(np.abs(out[name]).max(initial=0.0)))
    taken = np.argsort(-np.abs(out[name]), kind="stable")[: max(1, int(np.sum(np.abs(out[name]) > 0.5 * largest)))]
    each, rest = divmod(abs(steps), taken.size)
    share = np.full(taken.size, each) + (np.arange(taken.size) < rest)
    z = out[name].copy()
    z[taken] -= math.copysign(step, steps) * signs[name][taken] * share
    out[name] = z
    return out
