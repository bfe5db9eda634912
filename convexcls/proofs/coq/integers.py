"""A quadratic program as integers over common denominators, as ``library.v`` takes it.

    minimise   (sum of w (m'x + t)^2 + q'x + c) / scale      subject to   a'x = b,   g'x <= h

Rows are multiplied by what makes them whole, so their multipliers are divided by it; all of them are multiplied by
the scale of the objective.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from convexcls.problem import Constraint, NoAnswer, Problem
from convexcls.proofs.claims.curvature import exact_kernel
from convexcls.rational.elimination import Matrix

#: The number of a row's entries, of all rows together, beyond which nobody would wait for Coq.
MAX_ENTRIES = 2_000_000
Square = tuple[Fraction, list[Fraction], Fraction]


@dataclass(frozen=True)
class IntegerRows:
    """Rows with their right-hand sides, and the number by which each was multiplied."""

    left: list[list[int]]
    right: list[int]
    factors: list[int]


@dataclass(frozen=True)
class IntegerProgram:
    """The program; ``blocks`` are the names of the constraints whose rows are the equalities, and the inequalities."""

    scale: int
    squares: list[tuple[int, list[int], int]]
    linear: list[int]
    constant: int
    equal: IntegerRows
    below: IntegerRows
    blocks: tuple[tuple[str, ...], tuple[str, ...]]


def denominator(numbers: Iterable[Fraction]) -> int:
    """The least common denominator."""
    return lcm(*(value.denominator for value in numbers))


def whole(numbers: Iterable[Fraction], unit: int) -> list[int]:
    """Numbers times one that makes them whole."""
    return [int(value * unit) for value in numbers]


def integer_program(problem: Problem) -> IntegerProgram:
    """Any quadratic program; ``NoAnswer`` where it is none."""
    if not problem.is_quadratic_program:
        raise NoAnswer(f"the {problem.name} is no quadratic program: there is no theorem on it for Coq")
    if sum(c.size for c in (*problem.constraints, *problem.terms)) * problem.size > MAX_ENTRIES:
        raise NoAnswer(f"the {problem.name} has too many entries for Coq (at most {MAX_ENTRIES:,})")
    squares = [integer_square(square) for square in _squares(problem)]
    q, c = [2 * value for value in problem.rational_q], 2 * Fraction(problem.constant)
    unit = denominator([c, *q, *(w for w, _, _ in squares)])
    kinds = [[b for b in problem.constraints if b.relation == relation] for relation in ("==", "<=")]
    names = (tuple(b.name for b in kinds[0]), tuple(b.name for b in kinds[1]))
    return IntegerProgram(
        2 * unit,
        [(int(w * unit), m, t) for w, m, t in squares],
        whole(q, unit),
        int(c * unit),
        _rows(problem, kinds[0]),
        _rows(problem, kinds[1]),
        names,
    )


def integer_square(square: Square) -> tuple[Fraction, list[int], int]:
    """w (m'x + t)^2 with m and t whole."""
    w, m, t = square
    unit = denominator([*m, t])
    return w / unit**2, whole(m, unit), int(t * unit)


def _squares(problem: Problem) -> Iterable[Square]:
    """Twice the quadratic part and the half-square terms."""
    for term in problem.terms:
        rows, weights = problem.rows(term).rational(), term.rational_vector("weights")
        yield from zip(weights, rows, term.rational_vector("offset"), strict=True)
    for v in problem.quadratic:
        start, size = problem.layout[v].start, problem.variable(v).size
        if v in problem.diagonals:
            factors = [(p, [Fraction(int(j == k)) for k in range(size)]) for j, p in _diagonal(problem, v)]
        else:
            factors = sum_of_squares(exact_kernel(problem) or problem.P[v].rational())
        before, after = [Fraction(0)] * start, [Fraction(0)] * (problem.size - start - size)
        yield from ((p, [*before, *row, *after], Fraction(0)) for p, row in factors)


def _diagonal(problem: Problem, variable: str) -> Iterable[tuple[int, Fraction]]:
    return ((j, p) for j, p in enumerate(problem.rational_costs("quadratic", variable)) if p)


def sum_of_squares(matrix: Matrix) -> list[tuple[Fraction, list[Fraction]]]:
    """A positive semidefinite matrix as sum_k d_k l_k l_k', by elimination without rounding."""
    rest, out = [row[:] for row in matrix], []
    for j in range(len(rest)):
        pivot = rest[j][j]
        if pivot < 0 or (not pivot and any(rest[j])):
            raise NoAnswer("the quadratic part is not positive semidefinite once nothing is rounded any more")
        if not pivot:
            continue
        row = [value / pivot for value in rest[j]]
        out.append((pivot, row))
        for i in range(j, len(rest)):
            if row[i]:
                rest[i] = [a - pivot * row[i] * b for a, b in zip(rest[i], row, strict=True)]
    return out


def _rows(problem: Problem, blocks: Sequence[Constraint]) -> IntegerRows:
    out = IntegerRows([], [], [])
    for block in blocks:
        for row, side in zip(problem.rows(block).rational(), block.rational_vector("rhs"), strict=True):
            unit = denominator([*row, side])
            out.left.append(whole(row, unit))
            out.right.append(int(side * unit))
            out.factors.append(unit)
    return out
