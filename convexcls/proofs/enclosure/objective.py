"""The objective of a problem without constraints, its gradient and its Hessian, in ball arithmetic.

    F(x) = 1/2 x'Px + q'x + sum_k phi_k(M_k x + t_k) + constant + 1/2 ‖N x‖^2

with the data exactly as given. The last part is there where the problem has a gauge: along its directions, the rows of
N, nothing else changes (``prove_gauge``), so F has the same minimum as the problem, attained where Nx = 0. Dependent
columns, too, leave the minimum where it is but take away its uniqueness, without which nothing can be enclosed:
``independent_unknowns`` says which unknowns suffice. Both are decided in rationals.

Unknowns are measured in powers of two, z_j = 2^e_j x_j, such that no column is larger than one: features of size
1e100 and 1e-100 in one problem cost no digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.losses import SoftmaxMargins
from convexcls.problem import NoAnswer, Problem, ProblemError, Term
from convexcls.proofs.enclosure.intervals import all_exact, ball, column, read_rows
from convexcls.proofs.enclosure.losses import BY_TYPE, FALLING, Derivatives, LossSum, SoftmaxSum
from convexcls.rational.elimination import independent_columns
from convexcls.rows import ClassMarginRows, JoinedRows
from convexcls.rows.summation import BLOCK_ROWS

if TYPE_CHECKING:
    from flint import arb, arb_mat

#: Larger problems are refused: each entry is a ball of its own.
MAX_ENTRIES, MAX_UNKNOWNS = 5_000_000, 1000


def refuse_others(problem: Problem) -> None:
    """Raise where the problem is not one that can be enclosed."""
    if problem.is_constrained:
        raise NoAnswer(f"the {problem.name} has constraints: only problems without any are enclosed")
    for term in problem.terms:
        if type(term.loss) not in BY_TYPE:
            raise NoAnswer(f"the {problem.name} has a {term.loss.name} loss, which is not enclosed")
    entries = sum(t.size for t in problem.terms) * problem.size
    if entries > MAX_ENTRIES or problem.size > MAX_UNKNOWNS:
        raise NoAnswer(f"the {problem.name} has {entries} entries of {problem.size} unknowns: too many to enclose")


class Objective:
    """F of the unknowns ``kept``, the others being 0, read with the working bits."""

    def __init__(self, problem: Problem, kept: Sequence[int] | None = None) -> None:
        from flint import arb_mat

        self.problem = problem
        self.kept = list(range(problem.size)) if kept is None else list(kept)
        entries = np.max([np.zeros(problem.size), *(problem.rows(t).column_max() for t in problem.terms)], axis=0)
        sizes = np.maximum(entries, _root_costs(problem))
        #: x_j = 2^-e_j z_j.
        self.exponents = [int(np.frexp(sizes[j])[1]) for j in self.kept]
        #: The largest entry of each column of all rows, in these units.
        self.columns = self._in_units(entries)
        self.sums = [part for term in problem.terms for part in self._read(term)]
        self.quadratic = self._quadratic()
        q = problem.rational_q
        self.linear = column([ball(q[j], -e) for j, e in zip(self.kept, self.exponents, strict=True)])
        directions = [v for row in problem.null_directions for v in self._in_units(row, to_one=True)]
        self.gauge = arb_mat(len(problem.null_directions), self.size, directions)

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.kept)

    @cached_property
    def exact(self) -> bool:
        """Whether all data are exact with these bits, so that more bits would not read them better."""
        return all(s.exact for s in self.sums) and all_exact(self.quadratic) and all_exact(self.linear)

    def _read(self, term: Term) -> list[LossSum | SoftmaxSum]:
        """The samples with a weight, some at a time."""
        groups = np.flatnonzero(term.weights > 0)
        parts = [groups[start : start + BLOCK_ROWS] for start in range(0, groups.size, BLOCK_ROWS)]
        rows = class_rows(term)
        places = None if rows is None else self._places_by_class(rows)
        if rows is None or places is None:
            return [self._loss_sum(term, part) for part in parts]
        return [self._softmax_sum(term, part, rows, places) for part in parts]

    def _loss_sum(self, term: Term, groups: Indices) -> LossSum:
        width = term.loss.width
        index = (groups[:, None] * width + np.arange(width)).ravel()
        rows = read_rows(self.problem.rows(term), index, self.kept, self.exponents)
        offset = [ball(t) for t in term.rational_vector("offset", index)]
        return LossSum(term.loss, rows, offset, _weights(term, groups))

    def _softmax_sum(
        self, term: Term, groups: Indices, rows: Mapping[str, ClassMarginRows], places: list[list[int]]
    ) -> SoftmaxSum:
        exponents = [self.exponents[place] for place in places[0]]
        stops = np.cumsum([r.base.shape[1] for r in rows.values()]).tolist()
        parts = [(slice(stop - r.base.shape[1], stop), r.base) for stop, r in zip(stops, rows.values(), strict=True)]
        first = next(iter(rows.values()))
        samples = JoinedRows(first.base.shape[0], len(exponents), parts)
        entries = read_rows(samples, groups, range(len(exponents)), exponents)
        return SoftmaxSum(entries, first.classes[groups].tolist(), _weights(term, groups), places)

    def _places_by_class(self, rows: Mapping[str, ClassMarginRows]) -> list[list[int]] | None:
        """The unknowns of each class, where all are kept and each column has one unit for all classes; else None."""
        if self.size < self.problem.size:
            return None
        count = next(iter(rows.values())).count
        by_variable = [np.arange(self.size)[self.problem.layout[v]].reshape(count, -1) for v in rows]
        out: list[list[int]] = np.hstack(by_variable).tolist()
        exponents = [[self.exponents[place] for place in own] for own in out]
        return out if all(e == exponents[0] for e in exponents) else None

    def _quadratic(self) -> arb_mat:
        from flint import arb_mat

        out = arb_mat(self.size, self.size)
        for v, p in self.problem.P.items():
            first = self.problem.layout[v].start
            inside = [(k, j - first) for k, j in enumerate(self.kept) if first <= j < self.problem.layout[v].stop]
            own = self.problem.rational_costs("quadratic", v) if v in self.problem.diagonals else None
            if own is not None:
                for k, place in inside:
                    out[k, k] = ball(own[place], -2 * self.exponents[k])
                continue
            table = p.rational()
            for k, row in inside:
                for other, place in inside:
                    out[k, other] = ball(table[row][place], -self.exponents[k] - self.exponents[other])
        return out

    def _in_units(self, values: Array, to_one: bool = False) -> list[arb]:
        """A vector over z; ``to_one`` makes its largest entry about one."""
        pairs = list(zip(values[self.kept].tolist(), self.exponents, strict=True))
        top = max((int(np.frexp(v)[1]) - e for v, e in pairs if v), default=0) if to_one else 0
        return [ball(v, -e - top) for v, e in pairs]

    def scaled(self, x: Sequence[Fraction | float]) -> list[arb]:
        """z_j = 2^e_j x_j."""
        return [ball(v, e) for v, e in zip(x, self.exponents, strict=True)]

    def at(self, z: Sequence[arb]) -> Derivatives:
        """Value, gradient and Hessian over the box z."""
        from flint import arb

        point = column(z)
        curved, along = self.quadratic * point, self.gauge * point
        turned = self.gauge.transpose()
        across = point.transpose()
        value = (across * curved)[0, 0] / 2 + (across * self.linear)[0, 0] + (along.transpose() * along)[0, 0] / 2
        gradient = curved + self.linear + turned * along
        out = Derivatives(
            value + ball(Fraction(self.problem.constant)), gradient, self.quadratic + turned * self.gauge, arb(0)
        )
        for part in self.sums:
            out = part.add_to(out, point)
        return out

    def separates(self, z: Sequence[arb]) -> bool:
        """Whether all losses certainly fall for ever along z, while nothing else changes."""
        if any(not isinstance(t.loss, FALLING) for t in self.problem.terms) or not self.sums:
            return False
        if self.problem.quadratic or np.any(self.problem.q):
            return False
        return all(u > 0 for s in self.sums for u in s.margins(column(z)))


def _weights(term: Term, groups: Indices) -> list[arb]:
    return [ball(w) for w in term.rational_vector("weights", groups)]


def _root_costs(problem: Problem) -> Array:
    """The root of the quadratic cost of each unknown."""
    out = np.zeros(problem.size)
    for v, p in problem.P.items():
        out[problem.layout[v]] = np.sqrt(p.diagonal_entries())
    return out


def class_rows(term: Term) -> dict[str, ClassMarginRows] | None:
    """The entries of a softmax term where all of them are margins of the same classes, else None."""
    found = ((v, rows.as_class_margins) for v, rows in term.entries.items())
    rows = {v: margins for v, margins in found if margins is not None and margins.other == -1.0}
    if len(rows) < len(term.entries) or not isinstance(term.loss, SoftmaxMargins) or term.offset.any():
        return None
    first = next(iter(rows.values()))
    same = all(r.count == first.count and (r.classes == first.classes).all() for r in rows.values())
    return rows if same and first.count == term.loss.width + 1 else None


# ---- directions along which nothing changes --------------------------------------------------------------------


def _term_rows(problem: Problem, term: Term) -> Iterator[list[Fraction]]:
    rows, counted = problem.rows(term), term.counted
    for start in range(0, counted.size, BLOCK_ROWS):
        yield from rows.rational(counted[start : start + BLOCK_ROWS])


def _cost_rows(problem: Problem) -> Iterator[list[Fraction]]:
    """The rows of the quadratic and of the linear part."""
    for v, p in problem.P.items():
        where = problem.layout[v]
        before, after = [Fraction(0)] * where.start, [Fraction(0)] * (problem.size - where.stop)
        for row in p.rational():
            yield [*before, *row, *after]
    yield problem.rational_q


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
    return independent_columns(stacked)
