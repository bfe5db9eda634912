"""The objective of a problem without constraints, its gradient and its Hessian, in ball arithmetic.

    F(x) = 1/2 x'Px + q'x + sum_k phi_k(M_k x + t_k) + constant + 1/2 ‖N x‖^2

with the data exactly as given. The last part is there where the problem has a gauge: along its directions, the rows of
N, nothing else changes (``gauge.py`` proves it), so F has the same minimum as the problem, attained where Nx = 0.

Unknowns are measured in powers of two, z_j = 2^e_j x_j, such that no column is larger than one: features of size
1e100 and 1e-100 in one problem cost no digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from convexcls.enclosure.balls import ball, column
from convexcls.enclosure.losses import BY_TYPE, FALLING
from convexcls.problem import NoAnswer, Problem, Term
from convexcls.rows import Rows

if TYPE_CHECKING:
    from flint import arb, arb_mat

#: Larger problems are refused: each entry is a ball of its own.
LARGEST = 5_000_000
MOST_UNKNOWNS = 1000
#: Rows are read and worked on this many at a time.
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


@dataclass(frozen=True)
class At:
    """The objective over a box: its value, its gradient (one column) and its Hessian. ``pull`` bounds the sum of
    the weighted slopes: the size of what cancels in the gradient."""

    value: arb
    gradient: arb_mat
    hessian: arb_mat
    pull: arb


@dataclass(frozen=True)
class _Samples:
    """Some samples of a term: the rows, offsets, and weights, one for each group of ``width`` rows."""

    term: Term
    rows: arb_mat
    offset: arb_mat
    weights: list[arb]

    def add_to(self, z: arb_mat, out: At) -> At:
        """What the samples add to the objective at z."""
        from flint import arb, arb_mat

        width, loss = self.term.loss.width, BY_TYPE[type(self.term.loss)]
        u = (self.rows * z + self.offset).entries()
        value, slopes, curvature, tilted = out.value, [], [], []
        for place, weight in enumerate(self.weights):
            local = loss(u[place * width : (place + 1) * width])
            value += weight * local.value
            slopes += [weight * s for s in local.slopes]
            curvature += [weight * c for c in local.curvature]
            tilted.append((weight, local.tilt))
        count, size = self.rows.nrows(), self.rows.ncols()
        entries = self.rows.entries()
        weighed = [curvature[k // size] * entry for k, entry in enumerate(entries)]
        across = self.rows.transpose()
        hessian = out.hessian + across * arb_mat(count, size, weighed)
        if width > 1 and tilted[0][1]:
            left, right = [], []
            for place, (weight, tilt) in enumerate(tilted):
                first = place * width * size
                mean = [
                    sum((p * entries[first + k * size + j] for k, p in enumerate(tilt)), arb(0)) for j in range(size)
                ]
                left += mean
                right += [weight * m for m in mean]
            groups = len(self.weights)
            hessian -= arb_mat(groups, size, left).transpose() * arb_mat(groups, size, right)
        pull = out.pull + sum((abs(s) for s in slopes), arb(0))
        return At(value, out.gradient + across * column(slopes), hessian, pull)


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
        parts = [m for s in self.samples for m in (s.rows, s.offset)]
        return all(entry.is_exact() for m in (*parts, self.quadratic, self.linear) for entry in m.entries())

    def _read(self, term: Term) -> list[_Samples]:
        from flint import arb_mat

        rows, width = self.problem.rows(term), term.loss.width
        counted, groups = term.counted, np.flatnonzero(term.weights > 0)
        out = []
        for start in range(0, groups.size, BLOCK):
            index = counted[start * width : (start + BLOCK) * width]
            entries = [
                ball(row[j], -e) for row in rows.rational(index) for j, e in zip(self.kept, self.exponents, strict=True)
            ]
            offset = [ball(t) for t in term.rational_vector("offset", index)]
            weights = [ball(float(w)) for w in term.weights[groups[start : start + BLOCK]]]
            out.append(_Samples(term, arb_mat(index.size, self.size, entries), column(offset), weights))
        return out

    def _quadratic(self) -> arb_mat:
        from flint import arb_mat

        out = arb_mat(self.size, self.size)
        for v, p in self.problem.quadratic.items():
            first = self.problem.layout[v].start
            inside = [(k, j - first) for k, j in enumerate(self.kept) if first <= j < self.problem.layout[v].stop]
            table = p.rational() if isinstance(p, Rows) else np.diag(p).tolist()
            for k, row in inside:
                for other, place in inside:
                    out[k, other] = ball(table[row][place], -self.exponents[k] - self.exponents[other])
        return out

    def _unit_row(self, direction: np.ndarray) -> list[arb]:
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
        return all(u > 0 for s in self.samples for u in (s.rows * column(z)).entries())


def _column_sizes(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """For each unknown the largest of its entries and of the root of its quadratic cost; and the entries alone."""
    entries = np.zeros(problem.size)
    for term in problem.terms:
        entries = np.maximum(entries, problem.rows(term).column_max())
    costs = np.zeros(problem.size)
    for v, p in problem.quadratic.items():
        costs[problem.layout[v]] = np.sqrt(p.diagonal() if isinstance(p, Rows) else p)
    return np.maximum(entries, costs), entries
