"""The objective of a problem without constraints, its gradient and its Hessian, in ball arithmetic.

    F(x) = 1/2 x'Px + q'x + sum_k phi_k(M_k x + t_k) + constant + 1/2 ‖N x‖^2

with the data exactly as given. The last part is there where the problem has a gauge: along its directions, the rows of
N, nothing else changes (``gauge.py`` proves it), so F has the same minimum as the problem, attained where Nx = 0.

Unknowns are measured in powers of two, z_j = 2^e_j x_j, such that no column is larger than one: features of size
1e100 and 1e-100 in one problem cost no digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import NoAnswer, Problem, Term
from convexcls.proofs.enclosure.balls import all_exact, ball, column
from convexcls.proofs.enclosure.class_samples import ClassSamples, class_rows
from convexcls.proofs.enclosure.losses import BY_TYPE, FALLING
from convexcls.proofs.enclosure.reading import read_rows
from convexcls.proofs.enclosure.samples import At, PlainSamples, Samples
from convexcls.rows import ClassMarginRows, JoinedRows

if TYPE_CHECKING:
    from flint import arb, arb_mat

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: Larger problems are refused: each entry is a ball of its own.
LARGEST = 5_000_000
MOST_UNKNOWNS = 1000
#: Samples are read and worked on this many at a time.
BLOCK = 2048


def refuse_others(problem: Problem) -> None:
    """Raise where the problem is not one that can be enclosed."""
    if problem.is_constrained:
        raise NoAnswer(f"the {problem.name} has constraints: only problems without any are enclosed")
    for term in problem.terms:
        if type(term.loss) not in BY_TYPE:
            raise NoAnswer(f"the {problem.name} has a {term.loss.name} loss, which is not enclosed")
    entries = sum(t.size for t in problem.terms) * problem.size
    if entries > LARGEST or problem.size > MOST_UNKNOWNS:
        raise NoAnswer(f"the {problem.name} has {entries} entries of {problem.size} unknowns: too many to enclose")


class Objective:
    """F of the unknowns ``kept``, the others being 0, read with the working bits."""

    def __init__(self, problem: Problem, kept: Sequence[int] | None = None) -> None:
        from flint import arb_mat

        self.problem = problem
        self.kept = list(range(problem.size)) if kept is None else list(kept)
        sizes = _column_sizes(problem)
        #: x_j = 2^-e_j z_j.
        self.exponents = [int(np.frexp(sizes[0][j])[1]) if sizes[0][j] > 0 else 0 for j in self.kept]
        #: The largest entry of each column of all rows, in these units.
        self.columns = [ball(float(sizes[1][j]), -e) for j, e in zip(self.kept, self.exponents, strict=True)]
        self.samples = [part for term in problem.terms for part in self._read(term)]
        self.quadratic = self._quadratic()
        self.linear = column([ball(float(problem.q[j]), -e) for j, e in zip(self.kept, self.exponents, strict=True)])
        directions = [self._unit_row(row) for row in problem.null_directions]
        self.gauge = arb_mat(len(directions), self.size, [v for row in directions for v in row])

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.kept)

    @cached_property
    def exact(self) -> bool:
        """Whether all data are exact with these bits, so that more bits would not read them better."""
        return all(s.exact for s in self.samples) and all_exact(self.quadratic) and all_exact(self.linear)

    def _read(self, term: Term) -> list[Samples]:
        """The samples with a weight, some at a time."""
        groups = np.flatnonzero(term.weights > 0)
        rows, places = class_rows(term), self._places_by_class(term)
        parts = [groups[start : start + BLOCK] for start in range(0, groups.size, BLOCK)]
        if rows is None or places is None:
            return [self._plain(term, part) for part in parts]
        return [self._by_class(term, part, rows, places) for part in parts]

    def _plain(self, term: Term, groups: Places) -> Samples:
        width = term.loss.width
        index = (groups[:, None] * width + np.arange(width)).ravel()
        rows = read_rows(self.problem.rows(term), index, self.kept, self.exponents)
        offset = [ball(t) for t in term.rational_vector("offset", index)]
        return PlainSamples(term.loss, rows, offset, _weights(term, groups))

    def _by_class(
        self, term: Term, groups: Places, rows: Mapping[str, ClassMarginRows], places: list[list[int]]
    ) -> Samples:
        units = [self.exponents[place] for place in places[0]]
        stops = np.cumsum([r.base.shape[1] for r in rows.values()]).tolist()
        parts = [(slice(stop - r.base.shape[1], stop), r.base) for stop, r in zip(stops, rows.values(), strict=True)]
        first = next(iter(rows.values()))
        samples = JoinedRows(first.base.shape[0], len(units), parts)
        entries = read_rows(samples, groups, range(len(units)), units)
        return ClassSamples(entries, first.classes[groups].tolist(), _weights(term, groups), places)

    def _places_by_class(self, term: Term) -> list[list[int]] | None:
        """The unknowns of each class, where all are kept and each column has one unit for all classes; else None."""
        rows = class_rows(term)
        if rows is None or self.size < self.problem.size:
            return None
        count = next(iter(rows.values())).count
        out: list[list[int]] = [[] for _ in range(count)]
        for v in rows:
            for own, places in zip(out, np.split(np.arange(self.size)[self.problem.layout[v]], count), strict=True):
                own += places.tolist()
        units = [[self.exponents[place] for place in own] for own in out]
        return out if all(u == units[0] for u in units) else None

    def _quadratic(self) -> arb_mat:
        from flint import arb_mat

        out = arb_mat(self.size, self.size)
        for v, p in self.problem.P.items():
            first = self.problem.layout[v].start
            inside = [(k, j - first) for k, j in enumerate(self.kept) if first <= j < self.problem.layout[v].stop]
            table = p.rational()
            for k, row in inside:
                for other, place in inside:
                    out[k, other] = ball(table[row][place], -self.exponents[k] - self.exponents[other])
        return out

    def _unit_row(self, direction: Array) -> list[arb]:
        """A direction of the gauge over z, its largest entry about one."""
        units = [int(np.frexp(v)[1]) - e for v, e in zip(direction[self.kept], self.exponents, strict=True) if v]
        top = max(units, default=0)
        return [ball(float(v), -e - top) for v, e in zip(direction[self.kept], self.exponents, strict=True)]

    def at(self, z: Sequence[arb]) -> At:
        """Value, gradient and Hessian over the box z."""
        from flint import arb

        point = column(z)
        curved, along = self.quadratic * point, self.gauge * point
        turned = self.gauge.transpose()
        across = point.transpose()
        value = (across * curved)[0, 0] / 2 + (across * self.linear)[0, 0] + (along.transpose() * along)[0, 0] / 2
        gradient = curved + self.linear + turned * along
        out = At(value + ball(self.problem.constant), gradient, self.quadratic + turned * self.gauge, arb(0))
        for samples in self.samples:
            out = samples.add_to(point, out)
        return out

    def separates(self, z: Sequence[arb]) -> bool:
        """Whether all losses certainly fall for ever along z, while nothing else changes."""
        if any(not isinstance(t.loss, FALLING) for t in self.problem.terms) or not self.samples:
            return False
        if self.problem.quadratic or np.any(self.problem.q):
            return False
        return all(u > 0 for s in self.samples for u in s.moved(column(z)))


def _weights(term: Term, groups: Places) -> list[arb]:
    return [ball(float(w)) for w in term.weights[groups]]


def _column_sizes(problem: Problem) -> tuple[Array, Array]:
    """For each unknown the largest of its entries and of the root of its quadratic cost; and the entries alone."""
    entries = np.zeros(problem.size)
    for term in problem.terms:
        entries = np.maximum(entries, problem.rows(term).column_max())
    costs = np.zeros(problem.size)
    for v, p in problem.P.items():
        costs[problem.layout[v]] = np.sqrt(p.diagonal_entries())
    return np.maximum(entries, costs), entries
