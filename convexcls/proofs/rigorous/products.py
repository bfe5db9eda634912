"""Products with the rows of a problem as balls, and how many passes over the data they take.

Rows are taken apart into factors diag(left) core diag(right), so that blocks over the same data share one product: the
two sides of an absolute residual, the directions of several classes. A core that is a column of ones or a diagonal
needs no pass. What a core's entries are off, because they were rounded when the data were read, centred or added up, is
part of every bound (``entry_error``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.proofs.rigorous.entries import EntryError, entry_error
from convexcls.proofs.rigorous.rounding import ETA, UNIT, Ball, gamma, raised, spread, upward_sum
from convexcls.rows import Factors, Rows

Array = NDArray[np.float64]

#: Roundings besides those of a sum: of the factors of rows and columns, and of the bound.
BESIDES = 12
#: Sums over more rows than this are made block by block, which keeps their error small.
BLOCK = 2048


class Part(NamedTuple):
    """Rows over one variable, the columns z that they are multiplied with, and as many rooms."""

    rows: Rows
    columns: Sequence[Ball]
    rooms: Sequence[Array]


class Products:
    """The products of one proof."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.passes = problem, 0
        blocks = (*problem.terms, *problem.constraints, *problem.norm_bounds)
        cores = [rows.factors().core for b in blocks for rows in b.entries.values()]
        cores += problem.matrices.values()
        self.largest = max((c.entries for c in cores if not c.is_ones and c.diagonal() is None), default=0)
        self.grams: list[tuple[Rows, Array, Array, Array]] = []  # Gram matrices that were worked out
        self._errors: dict[int, EntryError] = {}

    def error_of(self, core: Rows) -> EntryError:
        """How far the entries of a core may be off."""
        if id(core) not in self._errors:
            self._errors[id(core)] = entry_error(core)
            self.passes += self._errors[id(core)].passes
        return self._errors[id(core)]

    def count(self, core: Rows) -> None:
        """One more pass, where it is one over the data."""
        self.passes += core.entries == self.largest

    # ---- R x ------------------------------------------------------------------------------------------------------

    def forward(self, blocks: Sequence[Mapping[str, Rows]], x: Ball, skip: Sequence[str] = ()) -> list[Ball]:
        """R x for each block of rows by variable, without some of the variables."""
        wanted: dict[int, tuple[Rows, dict[tuple[str, int], Ball]]] = {}
        plans = []
        for entries in blocks:
            plan = []
            for v, rows in entries.items():
                if v in skip:
                    continue
                f = rows.factors()
                key = (v, id(f.right))
                columns = wanted.setdefault(id(f.core), (f.core, {}))[1]
                if key not in columns:
                    part = x.at(self.problem.layout[v])
                    columns[key] = part if f.right is None else part.times(f.right)
                plan.append((f, key))
            plans.append(plan)
        found = {core_id: self._times(core, columns) for core_id, (core, columns) in wanted.items()}
        heights = [next(iter(entries.values())).shape[0] for entries in blocks]
        return [
            _sum([_scaled(f.left, found[id(f.core)][key]) for f, key in plan], height)
            for plan, height in zip(plans, heights, strict=True)
        ]

    def _times(self, core: Rows, columns: dict[tuple[str, int], Ball]) -> dict[tuple[str, int], Ball]:
        if (diagonal := core.diagonal()) is not None:
            return {key: part.times(diagonal) for key, part in columns.items()}
        if core.is_ones:
            n = core.shape[0]
            return {key: Ball(np.repeat(b.mid, n), np.repeat(b.rad, n)) for key, b in columns.items()}
        if core.is_transposed and (turned := core.T.factors()).core.is_ones:
            return {
                key: _scaled(turned.right, _as_vector(_scaled(turned.left, b).total())) for key, b in columns.items()
            }
        parts = list(columns.values())
        k = core.shape[1] + BESIDES
        relative, absolute, _ = self.error_of(core)
        g = gamma(k) + relative
        mids = np.column_stack([b.mid for b in parts])
        spreads = np.column_stack([spread(b, g) for b in parts])
        mid, rad = _matmul(core, mids), _matmul(abs(core), spreads)
        self.count(core)
        self.count(core)
        rad = rad * (1.0 + 4.0 * k * UNIT) + 4 * k * ETA + absolute @ np.column_stack([b.size for b in parts]) * (1 + g)
        out = _safe(mid, rad)
        return {key: out.at((slice(None), c)) for c, key in enumerate(columns)}

    # ---- R' z -----------------------------------------------------------------------------------------------------

    def backward(self, parts: Mapping[str, Sequence[Part]], count: int = 1) -> tuple[list[Ball], list[Array]]:
        """Over all unknowns, for each of ``count`` columns: sums over blocks of R' z and of |R|' room, by variable."""
        size = self.problem.size
        mids, rads = np.zeros((count, size)), np.zeros((count, size))
        reaches = np.zeros((count, size))
        by_core: dict[int, list[tuple[str, Factors, Sequence[Part]]]] = {}
        for v, members in parts.items():
            for f, alike in _alike(members):
                by_core.setdefault(id(f.core), []).append((v, f, alike))
        for jobs in by_core.values():
            columns = [_column(alike, c) for _, _, alike in jobs for c in range(count)]
            rooms = [_room(alike, c) for _, _, alike in jobs for c in range(count)]
            products, added = self._transposed(jobs[0][1].core, columns, rooms)
            for k, (v, f, _) in enumerate(jobs):
                where = self.problem.layout[v]
                for c in range(count):
                    product, reach = products[k * count + c], added[k * count + c]
                    if f.right is not None:
                        product, reach = product.times(f.right), np.abs(f.right) * reach
                    total = Ball(mids[c, where], rads[c, where]) + product
                    mids[c, where], rads[c, where] = total.mid, total.rad
                    reaches[c, where] = raised(reaches[c, where] + reach)
        return [Ball(mid, rad) for mid, rad in zip(mids, rads, strict=True)], list(reaches)

    def _transposed(
        self, core: Rows, columns: Sequence[Ball], rooms: Sequence[Array]
    ) -> tuple[list[Ball], list[Array]]:
        if (diagonal := core.diagonal()) is not None:
            return [c.times(diagonal) for c in columns], [raised(np.abs(diagonal) * r) for r in rooms]
        if core.is_ones:
            return [_as_vector(c.total()) for c in columns], [np.full(1, upward_sum(r)) for r in rooms]
        error = self.error_of(core)
        nothing = (core.column_max() == 0) & (error.absolute == 0)
        used = np.flatnonzero(np.any([c.size > 0 for c in columns] + [r > 0 for r in rooms], axis=0))
        if 2 * used.size < core.shape[0]:
            core, columns, rooms = core[used], [c.at(used) for c in columns], [r[used] for r in rooms]
        else:
            self.count(core)
            self.count(core)
        n, m = core.shape[0], len(columns)
        k = min(n, BLOCK) + n // BLOCK + BESIDES
        g = gamma(k) + error.relative
        mid = _blocked(core, np.column_stack([c.mid for c in columns]))
        spreads = [spread(c, g) for c in columns]
        added = np.array([np.sum(c.size) for c in columns] + [np.sum(r) for r in rooms])
        rad = abs(core).T @ np.column_stack([*spreads, *rooms]) + np.outer(error.absolute, added)
        rad = rad * (1.0 + error.relative + 4.0 * (n + BESIDES) * UNIT) + 4 * (n + k) * ETA
        rad[nothing] = 0.0
        out = _safe(mid, rad[:, :m])
        return [out.at((slice(None), c)) for c in range(m)], [
            np.asarray(raised(rad[:, m + c])) for c in range(len(rooms))
        ]


def _safe(mid: Array, rad: Array) -> Ball:
    """A product that overflowed is known by nothing."""
    return Ball(mid, raised(np.where(np.isfinite(mid), rad, np.inf)))


def _matmul(rows: Rows, columns: Array) -> Array:
    return rows @ columns if columns.shape[1] > 1 else (rows @ columns[:, 0])[:, None]


def _blocked(core: Rows, columns: Array) -> Array:
    """``core.T @ columns``, of long columns block by block."""
    n = core.shape[0]
    if n <= BLOCK:
        return core.T @ columns
    out = np.zeros((core.shape[1], columns.shape[1]))
    for start in range(0, n, BLOCK):
        rows = slice(start, min(start + BLOCK, n))
        out += core[rows].T @ columns[rows]
    return out


def _scaled(left: Array | None, ball: Ball) -> Ball:
    return ball if left is None else ball.times(left)


def _sum(balls: Sequence[Ball], height: int) -> Ball:
    total = Ball.exact(np.zeros(height))
    for ball in balls:
        total = total + ball
    return total


def _alike(parts: Sequence[Part]) -> list[tuple[Factors, list[Part]]]:
    """Parts over the same core and the same factors of columns, together."""
    out: dict[tuple[int, int], tuple[Factors, list[Part]]] = {}
    for part in parts:
        f = part.rows.factors()
        out.setdefault((id(f.core), id(f.right)), (f, []))[1].append(part)
    return list(out.values())


def _column(parts: Sequence[Part], c: int) -> Ball:
    """left z, added up."""
    return _sum([_scaled(p.rows.factors().left, p.columns[c]) for p in parts], parts[0].rows.shape[0])


def _room(parts: Sequence[Part], c: int) -> Array:
    """|left| room, added up."""
    total = np.zeros(parts[0].rows.shape[0])
    for p in parts:
        left = p.rows.factors().left
        total = total + (p.rooms[c] if left is None else np.abs(left) * p.rooms[c])
    return np.asarray(raised(total))


def _as_vector(ball: Ball) -> Ball:
    return Ball(np.reshape(ball.mid, 1), np.reshape(ball.rad, 1))
