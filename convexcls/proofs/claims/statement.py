"""A quadratic program as exact arithmetic sees it: few unknowns, and many samples that each cost a convex function.

A slack that only bounds lines from above,

    minimise over xi:   c xi (or p/2 xi^2)   subject to   xi >= R_k z - h_k   for every line k,

is worked out by hand for each sample, so that systems have the size of the unknowns z and not of the data. What is left
is

    minimise  1/2 z'Hz + g'z + constant + sum_i cost_i(z)   subject to   A z = b,  G z <= h

with H, g and the constant as rationals: half-square terms are multiplied out without rounding. The rows of constraints
and lines with their shifts are ``AffineRows``, which are added up over many samples without rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.data import GivenCells
from convexcls.problem import Constraint, Epigraph, Problem, Term
from convexcls.proofs.claims.curvature import exact_kernel
from convexcls.rational.doubles import product, rational_product
from convexcls.rational.elimination import Matrix, is_semidefinite
from convexcls.rational.numbers import nearest_double
from convexcls.rows import JoinedRows, Rows, as_rows
from convexcls.rows.signs import exact_signs

#: Blocks of so few rows are kept as rationals.
MAX_RATIONAL_ROWS = 64
#: Samples with so many different weights are multiplied as rationals; fewer are added up weight by weight.
MAX_DISTINCT_WEIGHTS = 32
#: Doubles or, where these would round them, rationals.
Weights = Array | list[Fraction]
#: More unknowns besides slacks are beyond exact arithmetic.
MAX_EXACT_UNKNOWNS = 1500


class NoProof(ValueError):
    """There is no exact proof; the message says why."""


@dataclass(frozen=True, eq=False)
class Samples(Epigraph):
    """A slack variable, one entry a sample, with the ``lines`` that it stays above: its pieces without the slack."""

    lines: tuple[AffineRows, ...] = ()

    def weights_at(self, costs: Literal["cost", "curvature"], index: Indices) -> Weights:
        """Some of the costs: doubles where these are exact."""
        if getattr(self, f"given_{costs}") is not None:
            return self.rational(costs, index)
        return np.asarray(getattr(self, costs)[index])


@dataclass(frozen=True, eq=False)
class Statement:
    """The program over the unknowns z of the variables ``kept``."""

    problem: Problem
    kept: tuple[str, ...]
    size: int
    quadratic: Matrix
    linear: list[Fraction]
    constant: Fraction
    equalities: tuple[AffineRows, ...]
    inequalities: tuple[AffineRows, ...]
    samples: tuple[Samples, ...]

    def joined(self, values: Mapping[str, Sequence[Fraction]]) -> list[Fraction]:
        """z, from its values by variable."""
        return [value for name in self.kept for value in values[name]]

    def point(self, z: list[Fraction]) -> dict[str, list[Fraction]]:
        """z by variable."""
        out, start = {}, 0
        for name in self.kept:
            stop = start + self.problem.variable(name).size
            out[name] = z[start:stop]
            start = stop
        return out


def state(problem: Problem) -> Statement:
    """The statement of a problem; ``NoProof`` where it is not a quadratic program of moderate size."""
    _refuse(problem)
    epigraphs = [e for e in problem.epigraphs if e.is_unit]
    slacks = {e.variable for e in epigraphs}
    kept = tuple(v.name for v in problem.variables if v.name not in slacks)
    size = sum(problem.variable(v).size for v in kept)
    if size > MAX_EXACT_UNKNOWNS:
        raise NoProof(
            f"{size} unknowns besides slacks are too many for exact arithmetic (at most {MAX_EXACT_UNKNOWNS})"
        )
    blocks = {c.name: AffineRows(c, problem.narrow_rows(c.entries, kept), size) for c in problem.constraints}
    quadratic, linear, constant = _objective(problem, kept, size)
    plain = [c for c in problem.constraints if not slacks & c.entries.keys()]
    return Statement(
        problem,
        kept,
        size,
        quadratic,
        linear,
        constant,
        tuple(blocks[c.name] for c in plain if c.relation == "=="),
        tuple(blocks[c.name] for c in plain if c.relation == "<="),
        tuple(
            Samples(**{f.name: getattr(e, f.name) for f in fields(e)}, lines=tuple(blocks[p.name] for p in e.pieces))
            for e in epigraphs
        ),
    )


def _refuse(problem: Problem) -> None:
    if problem.norm_bounds:
        raise NoProof(
            "the optimum of a problem with a norm bound is in general not rational: prove the quadratic program that "
            "it is equivalent to (of MaxMargin: HardMarginSVM, whose optimum is 1 / (2 distance^2))"
        )
    for term in problem.terms:
        if not term.is_half_square:
            raise NoProof(f"the {term.loss.name} loss has no rational values: it can be enclosed, not proved exactly")


def _objective(problem: Problem, kept: tuple[str, ...], size: int) -> tuple[Matrix, list[Fraction], Fraction]:
    """H, g and the constant over the unknowns that are kept."""
    augmented = [[Fraction(0)] * (size + 1) for _ in range(size + 1)]
    for term in problem.terms:
        measured = AffineRows(term, problem.narrow_rows(term.entries, kept), size)
        augmented = added(augmented, measured.gram(term.counted, weights_of(term)))
    linear = [augmented[j][size] for j in range(size)]
    quadratic = [row[:size] for row in augmented[:size]]
    start = 0
    for name in kept:
        n = problem.variable(name).size
        P = problem.P.get(name)
        if P is not None and P.as_kernel is not None and (matrix := exact_kernel(problem)) is not None:
            _add_matrix(quadratic, matrix, start)
        elif P is not None:
            _add_quadratic(quadratic, problem, start, name)
        for j, q in enumerate(problem.rational_costs("linear", name)):
            linear[start + j] += q
        start += n
    return quadratic, linear, augmented[size][size] / 2 + Fraction(problem.constant)


def weights_of(term: Term) -> Weights:
    """The weights of the rows that have one: doubles where these are exact."""
    if term.given_rationals("weights") is None:
        return np.asarray(term.row_weights[term.counted])
    width = term.loss.width
    return term.rational_vector("weights", term.counted // width)


def _add_quadratic(quadratic: Matrix, problem: Problem, start: int, name: str) -> None:
    if name in problem.diagonals:
        for j, value in enumerate(problem.rational_costs("quadratic", name)):
            quadratic[start + j][start + j] += value
        return
    matrix = problem.P[name].rational()
    if not is_semidefinite(matrix):
        raise NoProof(f"the quadratic part of {name!r} is not positive semidefinite once nothing is rounded any more")
    _add_matrix(quadratic, matrix, start)


def _add_matrix(quadratic: Matrix, matrix: Matrix, start: int) -> None:
    for j, row in enumerate(matrix, start):
        for k, value in enumerate(row, start):
            quadratic[j][k] += value


# ---- rows with their shifts -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AffineRows:
    """The rows (R, s) of a block: of a term R x + s, of a constraint R x - rhs, over the unknowns that are kept. Rows
    that speak of none of these are None."""

    block: Term | Constraint
    rows: JoinedRows | None
    width: int

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.block.size

    @property
    def _field(self) -> str:
        return "offset" if isinstance(self.block, Term) else "rhs"

    @property
    def _sign(self) -> int:
        return 1 if isinstance(self.block, Term) else -1

    @property
    def _shift(self) -> Array:
        """The shifts, rounded to doubles."""
        return self._sign * np.asarray(getattr(self.block, self._field))

    @cached_property
    def _few(self) -> Matrix:
        """All rows of a small block: they may be sums over samples, which are not added up twice."""
        return self._rational(np.arange(self.size))

    def rational(self, index: Indices | None = None) -> Matrix:
        """Some of the rows, or all, each with its shift as last entry."""
        index = np.arange(self.size) if index is None else index
        return [self._few[i] for i in index.tolist()] if self.size <= MAX_RATIONAL_ROWS else self._rational(index)

    def _rational(self, index: Indices) -> Matrix:
        shifts = self.block.rational_vector(self._field, index)
        rows: Matrix = [[Fraction(0)] * self.width for _ in shifts] if self.rows is None else self.rows.rational(index)
        return [[*row, self._sign * shift] for row, shift in zip(rows, shifts, strict=True)]

    def doubles(self, index: Indices) -> Array | None:
        """The same as doubles, None where these would round."""
        if self.block.given_rationals(self._field) is not None:
            return None
        shifts = self._shift[index]
        rows = np.zeros((index.size, self.width)) if self.rows is None else self.rows.exact_doubles(index)
        return None if rows is None else np.column_stack([rows, shifts])

    @cached_property
    def whole(self) -> JoinedRows:
        """The rows (R, s) as one object."""
        exact = self.block.given_rationals(self._field)
        given = None if exact is None else GivenCells(np.array([[self._sign * v] for v in exact], dtype=object))
        parts: list[tuple[slice, Rows]] = [(slice(self.width, self.width + 1), as_rows(self._shift, given))]
        if self.rows is not None:
            parts.append((slice(0, self.width), self.rows))
        return JoinedRows(self.size, self.width + 1, parts)

    def signs(self, z: Sequence[Fraction]) -> NDArray[np.int8]:
        """The sign of R z + s for every row."""
        return self._signs([*z, Fraction(1)])

    def moves(self, direction: Sequence[Fraction]) -> NDArray[np.int8]:
        """The sign of R d for every row."""
        return self._signs([*direction, Fraction(0)])

    def _signs(self, point: Sequence[Fraction]) -> NDArray[np.int8]:
        return exact_signs(self.whole, point) if self.size > MAX_RATIONAL_ROWS else _sign_array(self.few_values(point))

    def few_values(self, point: Sequence[Fraction]) -> list[Fraction]:
        """(R, s) times a point for every row of a small block."""
        used = [(j, value) for j, value in enumerate(point) if value]
        return [sum((row[j] * value for j, value in used if row[j]), Fraction(0)) for row in self._few]

    def values(self, z: Array) -> Array:
        """R z + s in doubles."""
        return self._shift if self.rows is None else np.asarray(self.rows @ z + self._shift)

    def exact_values(
        self, index: Indices, z: Sequence[Fraction], factors: Sequence[Fraction] | None = None
    ) -> list[Fraction]:
        """R z + s of some rows, times factors, over common denominators: the sums are of whole numbers."""
        scale = lcm(*(value.denominator for value in z))
        whole = [value.numerator * (scale // value.denominator) for value in (*z, Fraction(1))]
        times = [(1, 1)] * index.size if factors is None else [f.as_integer_ratio() for f in factors]
        out = []
        for (top, bottom), (unit, row) in zip(times, self._whole_rows(index), strict=True):
            total = sum(v * w for v, w in zip(row, whole, strict=True) if v)
            out.append(Fraction(top * total, bottom * unit * scale))
        return out

    def _whole_rows(self, index: Indices) -> Iterator[tuple[int, list[int]]]:
        """Some rows (R, s) as whole numbers, each with the number by which they are to be divided."""
        doubles = self.doubles(index) if index.size else np.zeros((0, 1))
        pairs: Iterable[Iterable[tuple[int, int]]]
        if doubles is None:
            pairs = ([(v.numerator, v.denominator) for v in row] for row in self.rational(index))
        else:
            pairs = ([v.as_integer_ratio() for v in row] for row in doubles.tolist())
        for row in pairs:
            unit = lcm(*(bottom for _, bottom in row))
            yield unit, [top * (unit // bottom) for top, bottom in row]

    def total(self, index: Indices, weights: Weights) -> list[Fraction]:
        """sum_i weights_i (R_i, s_i) over some rows."""
        doubles = None if isinstance(weights, list) else self.doubles(index)
        if doubles is not None and not isinstance(weights, list):
            return [row[0] for row in product(doubles, weights[:, None])]
        sums = rational_product(self.rational(index), [[Fraction(w)] for w in _listed(weights)])
        return [row[0] for row in sums] or [Fraction(0)] * (self.width + 1)

    def combined(self, used: Mapping[int, Fraction]) -> list[Fraction]:
        """sum_i used_i (R_i, s_i): factors that are doubles over many rows at once, the others one by one."""
        index = np.array(sorted(used), dtype=np.intp)
        values = [used[i] for i in index.tolist()]
        known = {id(value): nearest_double(value) for value in {id(value): value for value in values}.values()}
        doubles = np.array([known[id(value)] for value in values], dtype=float)  # NaN for None
        plain = np.isfinite(doubles)
        total = [Fraction(0)] * (self.width + 1)
        if plain.any():
            total = self.total(index[plain], doubles[plain])
        rest = [[value] for value, simple in zip(values, plain.tolist(), strict=True) if not simple]
        if rest:
            others = rational_product(self.rational(index[~plain]), rest)
            total = [t + other for t, (other,) in zip(total, others, strict=True)]
        return total

    def gram(self, index: Indices, weights: Weights) -> Matrix:
        """sum_i weights_i (R_i, s_i)'(R_i, s_i) over some rows."""
        if isinstance(weights, list):
            return self._weighted_gram(index, weights)
        if (centred := self._centred(index, weights)) is not None:
            return centred
        total = [[Fraction(0)] * (self.width + 1) for _ in range(self.width + 1)]
        different = np.unique(weights)
        doubles = self.doubles(index) if different.size <= MAX_DISTINCT_WEIGHTS else None
        if doubles is None:
            return self._weighted_gram(index, weights)
        for weight in different.tolist():
            chosen = doubles if different.size == 1 else doubles[weights == weight]
            total = added(total, product(chosen, chosen), Fraction(weight))
        return total

    def _weighted_gram(self, index: Indices, weights: Weights) -> Matrix:
        rows = self.rational(index)
        weighed = [[Fraction(w) * v for v in row] for w, row in zip(_listed(weights), rows, strict=True)]
        return rational_product(rows, weighed) or [[Fraction(0)] * (self.width + 1) for _ in range(self.width + 1)]

    def _centred(self, index: Indices, weights: Array) -> Matrix | None:
        """The same for rows minus the means of their groups: sum_i x_i x_i' less what the means add up to. None where
        that is not what the rows are."""
        parts = () if self.rows is None else self.rows.parts
        alike = len(parts) == 1 and index.size == self.size and np.all(weights == weights[0])
        if not alike or (rows := parts[0][1].as_centred) is None or np.any(self._shift):
            return None
        where, base = parts[0][0], rows.base.exact_doubles(index)
        if base is None or rows.whole is not rows:
            return None
        members = (rows.groups[:, None] == np.unique(rows.groups)).astype(float)
        sums, d = product(whole := np.hstack([base, members]), whole), base.shape[1]
        total = [[Fraction(0)] * (self.width + 1) for _ in range(self.width + 1)]
        for j in range(d):
            for k in range(d):
                means = sum((sums[j][g] * sums[g][k] / sums[g][g] for g in range(d, len(sums))), Fraction(0))
                total[where.start + j][where.start + k] = Fraction(float(weights[0])) * (sums[j][k] - means)
        return total


def compared(first: AffineRows, second: AffineRows, z: Sequence[Fraction], moving: bool = False) -> NDArray[np.int8]:
    """The sign of (R z + s) of the first rows minus that of the second, for each pair of rows; of R z alone where only
    a direction is asked for."""
    one = Fraction(0 if moving else 1)
    if first.size <= MAX_RATIONAL_ROWS:
        values = [a - b for a, b in zip(first.few_values([*z, one]), second.few_values([*z, one]), strict=True)]
        return _sign_array(values)
    point = [*z, one, *(-value for value in z), -one]
    m = first.width + 1
    both = JoinedRows(first.size, 2 * m, [(slice(0, m), first.whole), (slice(m, 2 * m), second.whole)])
    return exact_signs(both, point)


def _listed(weights: Weights) -> list[Any]:
    return weights if isinstance(weights, list) else weights.tolist()


def _sign_array(values: Iterable[Fraction]) -> NDArray[np.int8]:
    return np.array([(value > 0) - (value < 0) for value in values], dtype=np.int8)


def added(total: Matrix, other: Matrix, factor: Fraction | int = 1) -> Matrix:
    """total + factor other."""
    return [[a + factor * b for a, b in zip(u, v, strict=True)] for u, v in zip(total, other, strict=True)]
