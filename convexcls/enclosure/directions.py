"""Directions along which nothing changes, in exact arithmetic: the gauge of a problem, and dependent columns.

Both leave the minimum where it is but take away its uniqueness, without which nothing can be enclosed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from convexcls.enclosure.objective import BLOCK
from convexcls.problem import Problem, ProblemError
from convexcls.rational import independent_rows
from convexcls.rows import Rows


def _all_rows(problem: Problem) -> Iterator[list[Fraction]]:
    """Every row that the objective depends on: of the terms, of the quadratic and of the linear part."""
    for term in problem.terms:
        rows, counted = problem.rows(term), term.counted
        for start in range(0, counted.size, BLOCK):
            yield from rows.rational(counted[start : start + BLOCK])
    for v, p in problem.quadratic.items():
        where = problem.layout[v]
        before, after = [Fraction(0)] * where.start, [Fraction(0)] * (problem.size - where.stop)
        for row in p.rational() if isinstance(p, Rows) else _diagonal(p.tolist()):
            yield [*before, *row, *after]
    yield [Fraction(v) for v in problem.q.tolist()]


def _diagonal(values: list[float]) -> list[list[Fraction]]:
    return [[Fraction(value if j == k else 0) for j in range(len(values))] for k, value in enumerate(values)]


def _gauge(problem: Problem) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in problem.null_directions.tolist()]


def prove_gauge(problem: Problem) -> None:
    """Raise unless every direction of the gauge is orthogonal to every row that the objective depends on."""
    directions = [[(j, v) for j, v in enumerate(row) if v] for row in _gauge(problem)]
    if not directions:
        return
    for row in _all_rows(problem):
        for direction in directions:
            if sum(v * row[j] for j, v in direction if row[j]):
                raise ProblemError(
                    f"the gauge of the {problem.name} names a direction along which the objective changes"
                )


def independent_unknowns(problem: Problem) -> list[int]:
    """Unknowns that suffice: with the others at 0 the objective takes every value that it takes, gauge included. All
    of them iff the columns are independent."""
    stacked = [*_all_rows(problem), *_gauge(problem)]
    return independent_rows([list(column) for column in zip(*stacked, strict=True)])
