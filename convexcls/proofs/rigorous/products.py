"""Products with the rows of a problem as balls, and how many passes over the data they take.

Rows are taken apart into factors diag(left) core diag(right), so that blocks over the same data share one product: the
two sides of an absolute residual, the directions of several classes. A core that is a column of ones or a diagonal
needs no pass.

What a core's entries are off from what the problem means is part of every bound (``entry_error``). Data that were given
as decimals are rounded when they are read: relatively, by half a unit in the last place. Rows that were centred by
their class's mean, and rows that are sums over samples, are rounded when they are worked out, and the sum may cancel:
there the bound is absolute, by column. It compares what was worked out with the same sum without rounding, in rationals
where the table is small, else added up in such a way that its error is small and known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

import numpy as np

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array
from convexcls.problem import Problem
from convexcls.proofs.rigorous.rounding import ROUNDINGS_BESIDE_SUM, Ball, gamma, raised, spread, upward_sum
from convexcls.rational.numbers import MAX_RATIONAL_ENTRIES, to_double
from convexcls.rows import CentredRows, Factors, Rows

#: So many entries are added up in doubles, then these sums without rounding.
PARTIAL_SUM_LENGTH = 32
#: Sums over more rows than this are made block by block, which keeps their error small.
SUMMED_ROWS = 2048


class Part(NamedTuple):
    """Rows R over one variable, the columns z for which R'z is wanted, and the columns D >= 0 for which |R|'D is."""

    rows: Rows
    z: Sequence[Ball]
    D: Sequence[Array]


#: A block of rows by variable, with its z and D.
Block = tuple[Mapping[str, Rows], Sequence[Ball], Sequence[Array]]


def by_variable(blocks: Iterable[Block]) -> dict[str, list[Part]]:
    """The parts of several blocks."""
    out: dict[str, list[Part]] = {}
    for entries, z, D in blocks:
        for v, rows in entries.items():
            out.setdefault(v, []).append(Part(rows, z, D))
    return out


class Products:
    """The products of one proof."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.passes = problem, 0
        cores = [rows.factors().core for b in problem.blocks for rows in b.entries.values()]
        cores += problem.matrices.values()
        self.largest = max((c.entries for c in cores if not c.is_ones and c.diagonal() is None), default=0)
        self._errors: dict[int, EntryError] = {}

    def error_of(self, core: Rows) -> EntryError:
        """How far the entries of a core may be off."""
        if id(core) not in self._errors:
            self._errors[id(core)] = entry_error(core)
            self.passes += self._errors[id(core)].passes
        return self._errors[id(core)]

    def count(self, core: Rows, passes: int = 1) -> None:
        """More passes, where they are over the data."""
        self.passes += passes * (core.entries == self.largest)

    # ---- R x ------------------------------------------------------------------------------------------------------

    def forward(self, blocks: Sequence[Mapping[str, Rows]], x: Ball, skip: Sequence[str] = ()) -> list[Ball]:
        """R x for each block of rows by variable, without some of the variables."""
        taken = [[(v, rows.factors()) for v, rows in entries.items() if v not in skip] for entries in blocks]
        columns: dict[int, tuple[Rows, dict[tuple[str, int], Ball]]] = {}
        for v, f in chain.from_iterable(taken):
            own = columns.setdefault(id(f.core), (f.core, {}))[1]
            if (v, id(f.right)) not in own:
                own[v, id(f.right)] = _scaled(f.right, x.at(self.problem.layout[v]))
        found = {key: self._times(core, own) for key, (core, own) in columns.items()}
        heights = [next(iter(entries.values())).shape[0] for entries in blocks]
        return [
            _sum([_scaled(f.left, found[id(f.core)][v, id(f.right)]) for v, f in parts], height)
            for parts, height in zip(taken, heights, strict=True)
        ]

    def _times(self, core: Rows, columns: dict[tuple[str, int], Ball]) -> dict[tuple[str, int], Ball]:
        if (diagonal := core.diagonal()) is not None:
            return {key: x.times(diagonal) for key, x in columns.items()}
        if core.is_ones:
            n = core.shape[0]
            return {key: Ball(np.repeat(x.mid, n), np.repeat(x.rad, n)) for key, x in columns.items()}
        if core.is_transposed and (f := core.T.factors()).core.is_ones:
            return {key: _scaled(f.right, Ball.joined([_scaled(f.left, x).total()])) for key, x in columns.items()}
        self.count(core, 2)
        return dict(zip(columns, product(core, list(columns.values()), self.error_of(core)), strict=True))

    # ---- R' z -----------------------------------------------------------------------------------------------------

    def backward(self, parts: Mapping[str, Sequence[Part]], count: int = 1) -> tuple[list[Ball], list[Array]]:
        """Over all unknowns, for each of ``count`` columns: sums over blocks of R' z and of |R|' D, by variable."""
        alike: dict[tuple[int, str, int], tuple[Factors, list[Part]]] = {}
        for v, part in ((v, part) for v, members in parts.items() for part in members):
            f = part.rows.factors()
            alike.setdefault((id(f.core), v, id(f.right)), (f, []))[1].append(part)
        by_core: dict[int, list[tuple[str, Factors, list[Part]]]] = {}
        for (core_id, v, _), (f, members) in alike.items():
            by_core.setdefault(core_id, []).append((v, f, members))
        sums = [Ball.exact(np.zeros(self.problem.size)) for _ in range(count)]
        reaches = np.zeros((count, self.problem.size))
        for jobs in by_core.values():
            z = [_z(members, c) for _, _, members in jobs for c in range(count)]
            D = [_D(members, c) for _, _, members in jobs for c in range(count)]
            products = zip(*self._transposed(jobs[0][1].core, z, D), strict=True)
            for v, f, _ in jobs:
                where = self.problem.layout[v]
                for c in range(count):
                    found, reach = next(products)
                    sums[c] = sums[c].with_part(where, sums[c].at(where) + _scaled(f.right, found))
                    reach = reach if f.right is None else np.abs(f.right) * reach
                    reaches[c, where] = raised(reaches[c, where] + reach)
        return sums, list(reaches)

    def _transposed(self, core: Rows, z: Sequence[Ball], D: Sequence[Array]) -> tuple[list[Ball], list[Array]]:
        if (diagonal := core.diagonal()) is not None:
            return [c.times(diagonal) for c in z], [raised(np.abs(diagonal) * d) for d in D]
        if core.is_ones:
            return [Ball.joined([c.total()]) for c in z], [np.full(1, upward_sum(d)) for d in D]
        error = self.error_of(core)
        nothing = (core.column_max() == 0) & (error.absolute == 0)
        used = np.flatnonzero(np.any([c.size > 0 for c in z] + [d > 0 for d in D], axis=0))
        if 2 * used.size < core.shape[0]:
            core, z, D = core[used], [c.at(used) for c in z], [d[used] for d in D]
        else:
            self.count(core, 2)
        n, m = core.shape[0], len(z)
        k = _additions(core) + ROUNDINGS_BESIDE_SUM
        g = gamma(k) + error.relative
        columns = np.column_stack([c.mid for c in z])
        spreads = np.column_stack([*(spread(c, g) for c in z), *D])
        mid, rad = _blocked(core, columns, spreads)
        sizes = np.array([np.sum(c.size) for c in z] + [np.sum(d) for d in D])
        rad += np.outer(error.absolute, sizes)
        rad = rad * (1.0 + error.relative + 4.0 * (n + ROUNDINGS_BESIDE_SUM) * UNIT_ROUNDOFF) + 4 * (n + k) * ETA
        rad[nothing] = 0.0
        return _columns(mid, rad[:, :m]), [np.asarray(raised(reach)) for reach in rad[:, m:].T]


def product(rows: Rows, x: Sequence[Ball], error: EntryError) -> list[Ball]:
    """R x for several columns x."""
    k = rows.shape[1] + ROUNDINGS_BESIDE_SUM
    g = gamma(k) + error.relative
    columns, spreads = np.column_stack([c.mid for c in x]), np.column_stack([spread(c, g) for c in x])
    if rows.by_block is not None:
        mid, rad = rows.product_with_sizes(columns, spreads)
    else:
        mid, rad = _matmul(rows, columns), _matmul(abs(rows), spreads)
    rad = rad * (1.0 + 4.0 * k * UNIT_ROUNDOFF) + 4 * k * ETA
    return _columns(mid, rad + error.absolute @ np.column_stack([c.size for c in x]) * (1 + g))


def _columns(mid: Array, rad: Array) -> list[Ball]:
    """Balls by column; a product that overflowed is known by nothing."""
    whole = Ball(mid, raised(np.where(np.isfinite(mid), rad, np.inf)))
    return [whole.at((slice(None), c)) for c in range(mid.shape[1])]


def _matmul(rows: Rows, columns: Array) -> Array:
    return rows @ columns if columns.shape[1] > 1 else (rows @ columns[:, 0])[:, None]


def _additions(core: Rows) -> int:
    """So many numbers at most are added up in a row by ``_blocked``."""
    n = core.shape[0]
    by_block = core.by_block
    if by_block is not None:
        return by_block.most_additions
    return min(n, SUMMED_ROWS) + n // SUMMED_ROWS


def _blocked(core: Rows, columns: Array, sizes: Array) -> tuple[Array, Array]:
    """``core.T @ columns``, of long columns block by block, and ``|core|' sizes``."""
    n = core.shape[0]
    if core.by_block is not None:
        total, _, added = core.added_up_with_sizes(columns, sizes)
        return total, added
    if n <= SUMMED_ROWS:
        return core.T @ columns, abs(core).T @ sizes
    out = np.zeros((core.shape[1], columns.shape[1]))
    for start in range(0, n, SUMMED_ROWS):
        rows = slice(start, min(start + SUMMED_ROWS, n))
        out += core[rows].T @ columns[rows]
    return out, abs(core).T @ sizes


def _scaled(factor: Array | None, ball: Ball) -> Ball:
    return ball if factor is None else ball.times(factor)


def _sum(balls: Sequence[Ball], height: int) -> Ball:
    total = Ball.exact(np.zeros(height))
    for ball in balls:
        total = total + ball
    return total


def _z(parts: Sequence[Part], c: int) -> Ball:
    """left z, added up."""
    return _sum([_scaled(p.rows.factors().left, p.z[c]) for p in parts if p.z], parts[0].rows.shape[0])


def _D(parts: Sequence[Part], c: int) -> Array:
    """|left| D, added up."""
    total = np.zeros(parts[0].rows.shape[0])
    for p in parts:
        if p.D:
            left = p.rows.factors().left
            total = total + (p.D[c] if left is None else np.abs(left) * p.D[c])
    return np.asarray(raised(total))


# ---- how far entries are off ----------------------------------------------------------------------------------


def largest_factors(f: Factors) -> Array | float:
    """The largest |left_i right_j| of each column."""
    largest = 1.0 if f.left is None else float(np.abs(f.left).max(initial=0.0))
    return largest if f.right is None else np.abs(f.right) * largest


class EntryError(NamedTuple):
    """|true - entry| <= relative |entry| + absolute, the last by column; found in so many passes over the data."""

    relative: float
    absolute: Array
    passes: int = 0


def entry_error(rows: Rows) -> EntryError:
    """The bound of some rows of a problem."""
    if (centred := rows.as_centred) is not None:
        return EntryError(0.0, _centring_error(centred), int(centred.whole.entries > MAX_RATIONAL_ENTRIES))
    if rows.source is not None and rows.source[0].entries > MAX_RATIONAL_ENTRIES:
        passes = int(not rows.source[0].factors().core.is_ones)
        return EntryError(0.0, _distance(rows.to_dense()[0], _weighted_sum(*rows.source)), passes)
    if not np.isfinite(rows.rounding):
        array = rows.in_memory()
        known = array is not None  # few rows, worked out from data
        return EntryError(0.0, _against(array, rows.rational()) if known else np.full(rows.shape[1], np.inf))
    return EntryError(rows.rounding * UNIT_ROUNDOFF * 1.01, np.zeros(rows.shape[1]))


def error_from_afar(rows: Rows) -> EntryError | None:
    """A bound that takes no time, from how the rows were worked out; None where none is known."""
    if (centred := rows.as_centred) is not None:
        return EntryError(0.0, _centring_error(centred, centred.whole.mean_error()))
    bound = rows.column_error()
    return None if bound is None else EntryError(0.0, bound)


def _centring_error(rows: CentredRows, mean: Array | None = None) -> Array:
    """Of rows minus the mean of their group: two subtractions, the mean, and the rounding of the data themselves."""
    whole = rows.whole
    reach = whole.span()
    given = whole.base.rounding * UNIT_ROUNDOFF * 2.0 * (np.abs(whole.origin) + reach) if whole.base.rounding else 0.0
    mean = _mean_error(whole) if mean is None else mean
    return np.asarray(raised(mean + 4 * UNIT_ROUNDOFF * reach + 2.0 * given + 8 * ETA))


def _mean_error(rows: CentredRows) -> Array:
    """Of the means of all groups."""
    if rows.entries > MAX_RATIONAL_ENTRIES:
        return np.asarray(_distance(rows.means, _means(rows)).max(axis=0))
    origin = [Fraction(v) for v in rows.origin.tolist()]
    exact = [[m - o for m, o in zip(row, origin, strict=True)] for row in rows.exact_means]
    return _against(rows.means, exact)


def _means(rows: CentredRows) -> Ball:
    """The means of all groups, from the origin, one a row."""
    count, width = rows.means.shape
    members = (rows.groups[:, None] == np.arange(count)).astype(float)

    def blocks() -> Iterator[Array]:
        for b in rows.own_blocks():
            moved = rows.base[b].to_dense() - rows.origin
            yield (members[b, :, None] * moved[:, None, :]).reshape(len(moved), count * width)

    total, sizes = _added_up(blocks(), count * width), np.repeat(members.sum(axis=0), width)
    mid = total.mid / sizes
    rad = raised(total.rad / sizes + UNIT_ROUNDOFF * np.abs(mid) + ETA)
    return Ball(mid.reshape(count, width), rad.reshape(count, width))


def _weighted_sum(rows: Rows, weights: Array) -> Ball:
    """R' weights."""
    return _added_up((rows[b].to_dense() * weights[b, None] for b in rows.own_blocks()), rows.shape[1])


def _added_up(blocks: Iterator[Array], width: int) -> Ball:
    """The sums of columns whose entries are themselves rounded a few times."""
    parts, sizes = [], np.zeros(width)
    for block in blocks:
        padded = np.vstack([block, np.zeros((-len(block) % PARTIAL_SUM_LENGTH, width))])
        parts.append(padded.reshape(-1, PARTIAL_SUM_LENGTH, width).sum(axis=1))
        sizes += np.abs(padded).sum(axis=0)
    together = np.vstack(parts)
    mid = np.array([math.fsum(column) for column in together.T.tolist()])
    g = gamma(PARTIAL_SUM_LENGTH + 8)
    return Ball(mid, raised(1.01 * g * sizes + 2 * UNIT_ROUNDOFF * np.abs(mid) + 64 * len(together) * ETA))


def _distance(values: Array, ball: Ball) -> Array:
    return (Ball.exact(values) - ball).size


def _against(doubles: Array, exact: list[list[Fraction]]) -> Array:
    """The largest distance in each column."""
    off = np.zeros(doubles.shape[1])
    for row, true_row in zip(doubles.tolist(), exact, strict=True):
        for j, (double, true) in enumerate(zip(row, true_row, strict=True)):
            if true != double:
                off[j] = max(off[j], np.nextafter(to_double(abs(true - Fraction(double))), np.inf))
    return off
