"""Where the rows of a ``RowProgram`` come from: constraints, and slacks with the constraints that hold them up.

A slack s_i with the price c_i that has to be at least sigma_k u_i + beta_k for every line k is a convex function of
u_i = R_i x, with a row for each of its kinks t_j,

    c max_k (sigma_k u + beta_k) = c (sigma_0 u + beta_0) + sum_j  max over 0 <= a_j <= c (sigma_{j+1} - sigma_j) of
                                   a_j (u - t_j),

and the multipliers of its constraints are differences of the a_j. With two lines the first summand joins the row, whose
a is then between c sigma_0 and c sigma_1.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Epigraph, Problem
from convexcls.rows import Rows


@dataclass(frozen=True, eq=False)
class HardSource:
    """A constraint whose rows have to hold: 0 <= a."""

    constraint: Constraint

    @property
    def entries(self) -> Mapping[str, Rows]:
        return self.constraint.entries

    def rows(self) -> list[tuple[Array, Array, Array, Array]]:
        """h, low, high and compliance of each set of rows."""
        zero, unbounded = self.constraint.alike(0.0), self.constraint.alike(np.inf)
        return [(self.constraint.rhs, zero, unbounded, zero)]

    def multipliers(self, a: list[Array]) -> dict[str, Array]:
        return {self.constraint.name: np.maximum(a[0], 0.0)}

    def reduced(self, multipliers: Mapping[str, Array]) -> list[Array]:
        return [np.maximum(multipliers.get(self.constraint.name, np.zeros(self.constraint.size)), 0.0)]


@dataclass(frozen=True, eq=False)
class Line:
    """slope u + height, held against a slack by a constraint with -``per_slack`` s on its left."""

    constraint: Constraint
    slope: Array
    height: Array
    per_slack: Array


@dataclass(frozen=True, eq=False)
class SlackSource:
    """A slack with the price c s, or c s^2/2 where it is ``squared``, above lines of growing slope."""

    epigraph: Epigraph
    entries: Mapping[str, Rows]
    lines: tuple[Line, ...]
    kinks: tuple[Array, ...] = ()

    @property
    def slack(self) -> str:
        return self.epigraph.variable

    @property
    def squared(self) -> bool:
        return self.epigraph.is_curved

    @property
    def price(self) -> Array:
        return self.epigraph.curvature if self.squared else self.epigraph.cost

    def rows(self) -> list[tuple[Array, Array, Array, Array]]:
        n, price = self.price.size, self.price
        if self.squared:
            (line,) = self.lines
            counts = price > 0  # a slack without a price: the row does not count
            compliance = np.divide(1.0, price * line.slope**2, out=np.zeros(n), where=counts)
            side = -line.height / line.slope
            return [(side * np.sign(line.slope), np.zeros(n), np.where(counts, np.inf, 0.0), compliance)]
        if len(self.lines) == 2:
            lower, upper = self.lines
            return [(self.kinks[0], price * lower.slope, price * upper.slope, np.zeros(n))]
        return [
            (kink, np.zeros(n), price * (upper.slope - lower.slope), np.zeros(n))
            for kink, lower, upper in zip(self.kinks, self.lines[:-1], self.lines[1:], strict=True)
        ]

    @property
    def shared_slope(self) -> Array | None:
        """The slope of the first line where it is not part of a row."""
        return self.price * self.lines[0].slope if len(self.lines) > 2 else None

    @property
    def shared_height(self) -> float:
        """What the lines cost at their kinks: a constant."""
        if self.squared:
            return 0.0
        first = self.lines[0]
        at = self.kinks[0] if len(self.lines) == 2 else 0.0
        return float(self.price @ (first.slope * at + first.height))

    def slack_values(self, u: Array) -> Array:
        """The least slack."""
        return self.epigraph.lowest([line.slope * u + line.height for line in self.lines])

    def slack_growth(self, u: Array) -> Array:
        """How fast the least slack grows in the end where u grows at this rate."""
        return self.epigraph.lowest([line.slope * u for line in self.lines])

    def multipliers(self, a: list[Array]) -> dict[str, Array]:
        if self.squared:
            (line,) = self.lines
            return {line.constraint.name: a[0] / (np.abs(line.slope) * line.per_slack)}
        shares = self._shares(a)
        weights = [1.0 - shares[0], *(s - t for s, t in itertools.pairwise(shares)), shares[-1]]
        return {
            line.constraint.name: np.maximum(self.price * weight, 0.0) / line.per_slack
            for line, weight in zip(self.lines, weights, strict=True)
        }

    def _shares(self, a: list[Array]) -> list[Array]:
        """Each a as a number between 0 and 1."""
        out = []
        for values, (_, low, high, _) in zip(a, self.rows(), strict=True):
            interval = high - low
            share = np.divide(values - low, interval, out=np.zeros_like(interval), where=interval > 0)
            out.append(np.where(values >= high, 1.0, np.clip(share, 0.0, 1.0)))
        return out

    def reduced(self, multipliers: Mapping[str, Array]) -> list[Array]:
        """The a of given multipliers, also of a problem with other prices: shares are kept."""
        values = [
            np.maximum(multipliers.get(line.constraint.name, np.zeros(self.price.size)), 0.0) * line.per_slack
            for line in self.lines
        ]
        if self.squared:
            return [values[0] * np.abs(self.lines[0].slope)]
        total = np.sum(values, axis=0)
        out, above = [], total
        for (_, low, high, _), value in zip(self.rows(), values[:-1], strict=True):
            above = above - value
            share = np.divide(above, total, out=np.full(total.shape, 0.5), where=total > 0)
            out.append(low + (high - low) * np.clip(share, 0.0, 1.0))
        return out


Source = HardSource | SlackSource


def read_sources(problem: Problem) -> tuple[list[Source], list[Constraint], list[str]]:
    """The sources of rows, the equations, and the variables that are left as unknowns."""
    slacks = {e.variable: s for e in problem.epigraphs if (s := _slack_source(e)) is not None}
    held = {line.constraint.name for s in slacks.values() for line in s.lines}
    rest = [c for c in problem.constraints if c.name not in held]
    sources: list[Source] = [*slacks.values(), *(HardSource(c) for c in rest if c.relation == "<=")]
    equations = [c for c in rest if c.relation == "=="]
    return sources, equations, [v.name for v in problem.variables if v.name not in slacks]


def _slack_source(e: Epigraph) -> SlackSource | None:
    """A slack as rows; None where its pieces are not lines of one function of each sample."""
    base = _without(e.variable, next(piece for piece in e.pieces if len(piece.entries) > 1))
    lines = []
    for piece in e.pieces:
        ratio = _ratio(_without(e.variable, piece), base, e.size)
        if ratio is None:
            return None
        per_slack = e.weights(piece)
        lines.append(Line(piece, ratio / per_slack, -piece.rhs / per_slack, per_slack))
    if e.is_curved:
        return None if len(lines) > 1 or np.any(e.cost > 0) else SlackSource(e, base, tuple(lines))
    lines.sort(key=lambda line: float(line.slope.sum()))
    kinks = _kinks(lines)
    return None if kinks is None else SlackSource(e, base, tuple(lines), kinks)


def _without(slack: str, piece: Constraint) -> dict[str, Rows]:
    return {v: rows for v, rows in piece.entries.items() if v != slack}


def _kinks(lines: list[Line]) -> tuple[Array, ...] | None:
    """Where one line takes over from the one before; None where they have no order, or a line that never counts."""
    kinks: list[Array] = []
    for lower, upper in itertools.pairwise(lines):
        if not np.all(upper.slope > lower.slope):
            return None
        kinks.append((lower.height - upper.height) / (upper.slope - lower.slope))
    if not kinks or any(not np.all(s <= t) for s, t in itertools.pairwise(kinks)):
        return None
    return tuple(kinks)


def _ratio(entries: Mapping[str, Rows], base: Mapping[str, Rows], n: int) -> Array | None:
    """The factors by which each row is a multiple of that of the base; None where it is none or cannot be told."""
    if not entries:
        return np.zeros(n)
    if entries.keys() != base.keys():
        return None
    ratio: Array | None = None
    for v, rows in entries.items():
        one = _ratio_of_rows(rows, base[v], n)
        if one is None or (ratio is not None and not np.array_equal(one, ratio)):
            return None
        ratio = one
    return ratio


def _ratio_of_rows(rows: Rows, base: Rows, n: int) -> Array | None:
    if rows is base:
        return np.ones(n)
    values, others = rows.diagonal(), base.diagonal()
    if values is not None and others is not None and np.all(others != 0):
        return np.asarray(values / others)
    mine, theirs = rows.factors(), base.factors()
    if mine.core is not theirs.core:
        return None
    left, right = (_quotient(*sides) for sides in ((mine.left, theirs.left), (mine.right, theirs.right)))
    if left is None or right is None or (np.size(right) and np.any(right != np.ravel(right)[0])):
        return None
    return np.broadcast_to(left * (np.ravel(right)[0] if np.size(right) else 1.0), n)


def _quotient(numerator: Array | None, denominator: Array | None) -> Array | None:
    """The quotient of two factors, of which None stands for ones; None where the second has a 0."""
    if denominator is not None and np.any(denominator == 0):
        return None
    return np.asarray((1.0 if numerator is None else numerator) / (1.0 if denominator is None else denominator))
