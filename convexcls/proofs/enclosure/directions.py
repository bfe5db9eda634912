"""Directions along which nothing changes, in exact arithmetic: the gauge of a problem, and dependent columns.

Both leave the minimum where it is but take away its uniqueness, without which nothing can be enclosed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain

import numpy as np

from convexcls.problem import Problem, ProblemError, Term
from convexcls.proofs.enclosure.class_samples import class_rows
from convexcls.proofs.enclosure.objective import BLOCK
from convexcls.rational import independent_rows


def _term_rows(problem: Problem, term: Term) -> Iterator[list[Fraction]]:
    rows, counted = problem.rows(term), term.counted
    for start in range(0, counted.size, BLOCK):
        yield from rows.rational(counted[start : start + BLOCK])


def _cost_rows(problem: Problem) -> Iterator[list[Fraction]]:
    """The rows of the quadratic and of the linear part."""
    for v, p in problem.P.items():
        where = problem.layout[v]
        before, after = [Fraction(0)] * where.start, [Fraction(0)] * (problem.size - where.stop)
        for row in p.rational():
            yield [*before, *row, *after]
    yield [Fraction(v) for v in problem.q.tolist()]


def _gauge(problem: Problem) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in problem.null_directions.tolist()]


def prove_gauge(problem: Problem) -> None:
    """Raise unless every direction of the gauge is orthogonal to every row that the objective depends on."""
    if problem.gauge and not problem.remembered(_gauge_holds):
        raise ProblemError(f"the gauge of the {problem.name} names a direction along which the objective changes")


def _gauge_holds(problem: Problem) -> bool:
    directions = [[(j, v) for j, v in enumerate(row) if v] for row in _gauge(problem)]
    rows = chain(_cost_rows(problem), *(_term_rows(problem, t) for t in problem.terms if not _shifts(problem, t)))
    return not any(sum(v * row[j] for j, v in direction if row[j]) for row in rows for direction in directions)


def _shifts(problem: Problem, term: Term) -> bool:
    """Whether the gauge moves all classes alike and the term depends on differences of classes alone: then no row
    needs to be looked at."""
    rows = class_rows(term)
    if rows is None:
        return False
    places = [(problem.layout[v], r.count) for v, r in rows.items()]
    parts = [d[where].reshape(count, -1) for d in problem.null_directions for where, count in places]
    return all(np.array_equal(part, np.broadcast_to(part[0], part.shape)) for part in parts)


def independent_unknowns(problem: Problem) -> list[int]:
    """Unknowns that suffice: with the others at 0 the objective takes every value that it takes, gauge included. All
    of them iff the columns are independent."""
    stacked = [*chain(*(_term_rows(problem, t) for t in problem.terms)), *_cost_rows(problem), *_gauge(problem)]
    return independent_rows([list(column) for column in zip(*stacked, strict=True)])
