"""How far the multipliers are from satisfying stationarity exactly, measured in multipliers.

A gradient can be small only because its columns nearly repeat each other: with a feature of 1e8 plus a little, what the
little does is lost in a residual that is relative to 1e8. So beside the residual r of a variable without curvature we
measure the smallest change of the multipliers that removes it,

    delta = K (K'K)^-1 r,        K the rows over all such variables,

relative to the multipliers themselves. It does not depend on how the features are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple
from weakref import ref

import numpy as np

from convexcls import rational
from convexcls.arrays import Array, Indices
from convexcls.problem import BY_SAMPLE, Block, Problem
from convexcls.proofs.rigorous.rounding import Ball
from convexcls.proofs.rigorous.structure import Structure
from convexcls.rational.doubles import rank
from convexcls.rows import JoinedRows, Rows
from convexcls.rows.dependence import Dependence, exact_products
from convexcls.rows.summation import BLOCK

#: Of larger matrices the rank is left to floating point.
MAX_RANK_ENTRIES = 4_000_000
#: More variables than this are not measured (duals of large problems, whose multipliers include one a variable).
LARGEST_GROUP = 2000
#: A Cholesky factor of the scaled Gram matrix with smaller pivots is replaced by an orthogonal factorization.
SMALLEST_PIVOT = 1e-3
#: Singular values below this fraction of the largest are zero or lost in rounding.
SMALLEST_SINGULAR_VALUE = 1e-12
#: Rows with fewer entries are looked at in rationals where singular values are below that.
FEW_ENTRIES = 1_000
#: The rows that are looked at first: at least and at most so many for each unknown.
FEW_ROWS, MORE_ROWS = 2, 64
#: Fewer rows than this are taken all.
MAX_ROWS_TAKEN_ALL = 2000
#: Conjugate gradients take at most so many steps, each two passes over all rows.
MOST_STEPS = 10


def free_variables(problem: Problem) -> list[str]:
    """The variables without curvature whose stationarity adds up over samples."""
    blocks: list[Block] = [*problem.terms, *problem.constraints, *problem.norm_bounds]
    out = []
    for v in problem.variables:
        bounds = [b for b in problem.norm_bounds if v.name in b.bound_entries]
        in_ball = v.name in problem.remembered(Structure).balls  # no step along a column is long
        if v.name in problem.quadratic or v.kind in BY_SAMPLE or bounds or in_ball:
            continue
        if any(v.name in _summed(b) for b in blocks):
            out.append(v.name)
    return [v for group in _joined(problem, out) if _width(problem, group) <= LARGEST_GROUP for v in group]


def _width(problem: Problem, names: Sequence[str]) -> int:
    return sum(problem.variable(v).size for v in names)


def _joined(problem: Problem, names: Sequence[str]) -> list[list[str]]:
    """The variables in groups that no row and no gauge joins with each other."""
    groups = [[v] for v in names]
    if problem.gauge:
        return [list(names)] if names else []
    for block in (*problem.terms, *problem.constraints, *problem.norm_bounds):
        touched = [group for group in groups if any(v in _summed(block) for v in group)]
        if len(touched) > 1:
            groups = [group for group in groups if group not in touched]
            groups.append([v for v in names if any(v in group for group in touched)])
    return groups


def _summed(block: Block) -> dict[str, Rows]:
    """A block's entries without those that act one to one: a bound's multiplier is no help against a sum."""
    return {v: rows for v, rows in block.entries.items() if rows.diagonal() is None}


def summed_rows(problem: Problem, names: Sequence[str]) -> list[JoinedRows]:
    """The rows over some variables in which these add up."""
    blocks = (*problem.terms, *problem.constraints, *problem.norm_bounds)
    if len(names) == len(problem.variables) and all(len(_summed(b)) == len(b.entries) for b in blocks):
        return [problem.rows(b) for b in blocks]  # which are known
    return [rows for b in blocks if (rows := problem.narrow_rows(_summed(b), names)) is not None]


class Correction(NamedTuple):
    """``size`` is the largest entry of the smallest change of multipliers that removes a residual; it is ``whole``
    where no direction had to be left out because columns repeat each other to rounding."""

    size: float = 0.0
    whole: bool = True
    #: How far the rounding of the residual may have put it off.
    rounding: float = 0.0


class FreeRows:
    """The variables whose residual is measured in multipliers, in groups that no row joins; those with the same rows,
    such as the directions of several classes, share what depends on these."""

    def __init__(self, problem: Problem) -> None:
        self.names = problem.remembered(free_variables)
        self.where = problem.places(self.names) if self.names else np.empty(0, dtype=np.intp)
        found: dict[tuple[tuple[int, int], ...], _RowsOfGroups] = {}
        for names in _joined(problem, self.names):
            maps = summed_rows(problem, names)
            key = tuple((where.start, id(part)) for rows in maps for where, part in rows.parts)
            if key in found:
                found[key].places.append(problem.places(names))
            else:
                found[key] = _RowsOfGroups(problem, maps, problem.places(names))
        self.kinds = tuple(found.values())

    def correction(self, residual: Ball, enough: float = 0.0) -> Correction:
        """What removes the residual of all of these variables: see ``_RowsOfGroups``."""
        parts = [(kind, Ball(residual.mid[w], residual.rad[w])) for kind in self.kinds for w in kind.places]
        found = [kind.correction(part, enough) for kind, part in parts]
        sizes, whole, roundings = zip(*found, strict=True)
        return Correction(max(sizes), all(whole), max(roundings))

    @property
    def independent(self) -> bool:
        """Whether no column is near a combination of others, but for the directions of the gauge."""
        return all(kind.independent for kind in self.kinds)

    def exactly_flat(self) -> Array | None:
        """Directions, one a column, along which no row changes at all; None where they are not known exactly."""
        parts: list[Array] = []
        for kind in self.kinds:
            if not kind.independent and (kind.flat is None or not kind.exactly_flat):
                return None
            flat = np.zeros((kind.width, 0)) if kind.independent or kind.flat is None else kind.flat
            for where in kind.places:
                parts.append(np.zeros((self.where.size, flat.shape[1])))
                parts[-1][np.searchsorted(self.where, where)] = flat
        return np.hstack(parts)


class _RowsOfGroups:
    """The rows K over the variables of a group, with what only depends on them; ``places`` are the unknowns of each
    group that has these rows."""

    def __init__(self, problem: Problem, maps: list[JoinedRows], where: Indices) -> None:
        self._problem = ref(problem)  # which remembers this
        self.maps, self.places, self.width = maps, [where], where.size
        self.gauge = problem.null_directions[:, where] if problem.gauge else np.zeros((0, where.size))

    @cached_property
    def squares(self) -> Array | None:
        """The diagonal of K'K where that is all of it: no row has more than one entry. None where some have."""
        if self.gauge.size or not all(map(_orthogonal_columns, self.maps)):
            return None
        out = np.zeros(self.width)
        for where, rows in (part for joined in self.maps for part in joined.parts):
            out[where] += rows.T @ (rows @ np.ones(rows.shape[1]))
        return out

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each column."""
        return np.asarray(np.max([rows.column_max() for rows in self.maps], axis=0))

    @cached_property
    def size(self) -> Array:
        """The same, one for a column of zeros."""
        return np.where(self.largest > 0, self.largest, 1.0)

    @cached_property
    def few(self) -> _Factored | None:
        """Some of the rows with their factor; None where all are taken, or where their columns nearly repeat each
        other."""
        few = [_thinned(rows, self.width) for rows in self.maps]
        if all(rows is all_rows for rows, all_rows in zip(few, self.maps, strict=True)):
            return None
        return self._factored(few)

    @cached_property
    def whole(self) -> _Factored | None:
        """All rows with their factor; None where columns nearly repeat each other."""
        return self._factored(self.maps)

    @property
    def independent(self) -> bool:
        """Whether no column is near a combination of others, but for the directions of the gauge."""
        if self.squares is not None:
            return bool(np.all(self.squares > 0))
        factored = self.few or self.whole
        return factored is not None and factored.whole

    @cached_property
    def flat(self) -> Array | None:
        """Directions, one a column, along which no row changes up to rounding; None where some columns nearly repeat
        each other, so that there may be more."""
        factored = self.few or self.whole
        return None if factored is None else factored.columns.flat_directions()

    def _factored(self, maps: Sequence[JoinedRows]) -> _Factored | None:
        """The factor of these rows; whether columns are combinations of others is asked of all rows, and of few entries
        in rationals."""
        problem = self._problem()
        assert problem is not None
        found = _Factored.of(problem, maps, self.places[0], self.size)
        if found is None or found.whole:
            return found
        return None if self.entries <= FEW_ENTRIES else found.on_rows(self.maps)

    @property
    def entries(self) -> int:
        """How many entries the rows have, written out."""
        return sum(rows.shape[0] for rows in self.maps) * self.width

    @cached_property
    def rank(self) -> int:
        """The rank of the rows as they were given, with the directions of the gauge, at most; 0 where it would take too
        long to tell."""
        return 0 if self.entries > MAX_RANK_ENTRIES else _rank(self.maps, self.gauge)

    @cached_property
    def exactly_flat(self) -> bool:
        """Whether the rows are known not to change at all along these directions: by products without rounding, or
        because there are as many directions as the rank leaves."""
        if self.flat is None:
            return False
        moved = (exact_products(rows, self.flat) for rows in self.maps)
        if all(products is not None and not np.any(products) for products in moved):
            return True
        return self.rank == self.flat.shape[0] - self.flat.shape[1]

    def correction(self, residual: Ball, enough: float = 0.0) -> Correction:
        """What removes the residual of one group. Where a change of the multipliers of a few rows is below
        ``enough``, that one: it is a larger one, and cheap. A residual of 0 is no exception: where columns differ by
        less than rounding shows, it is 0 anywhere along their difference, and the correction is infinite."""
        r, off = residual.mid, residual.rad
        if self.squares is not None:
            return _column_by_column(self.squares, self.largest, r, off)
        factored = self.few or self.whole
        if factored is None:
            return self._by_orthogonal_factors(r, off)
        if not factored.whole and not self.exactly_flat and self.rank > factored.columns.kept.size:
            return Correction(float("inf"), False)
        if self.few is not None and (found := _on_few_rows(self.maps, self.few, r, enough)) is not None:
            rounding = self.few.largest_change(off)
            if found + rounding <= enough or self.whole is None:
                return Correction(found, self.few.whole, rounding)
        if self.whole is None:
            return self._by_orthogonal_factors(r, off)
        return Correction(self.whole.change(r), self.whole.whole, self.whole.largest_change(off))

    def _by_orthogonal_factors(self, r: Array, off: Array) -> Correction:
        """The change by singular values. Columns that repeat each other, or hardly differ, are told apart in rationals
        where there are few entries; where there are many, only whether they differ at all."""
        values, right = self.singular
        kept = values > SMALLEST_SINGULAR_VALUE * values.max(initial=0.0)
        if not np.all(kept) and self.entries <= FEW_ENTRIES:
            return _by_rationals(self.maps, r, off)
        if not np.all(kept) and self.rank > int(kept.sum()) + self.gauge.shape[0]:
            return Correction(float("inf"), False)
        inverse = right[kept].T / values[kept] / self.size[:, None]  # K times these are the left singular vectors
        pulls = inverse.T @ r
        change = most = 0.0
        for left in (part @ inverse for rows in self.maps for part in _parts(rows)):
            change = max(change, float(np.abs(left @ pulls).max(initial=0.0)))
            most = max(most, float(np.abs(left).max(initial=0.0)))
        unsure = most * float((np.linalg.norm(off / self.size) / values[kept]).sum())
        return Correction(change, bool(np.all(kept)), unsure)

    @cached_property
    def singular(self) -> tuple[Array, Array]:
        """The singular values of K, columns in units of their largest entry, and the right singular vectors (rows), by
        a triangular factor that takes in the rows a part at a time."""
        width = self.width
        triangle = np.zeros((0, width))
        for rows in self.maps:
            for part in _parts(rows):
                stacked = np.vstack([triangle, part.to_dense() / self.size])
                triangle = np.linalg.qr(stacked, mode="r") if stacked.shape[0] > width else stacked
        _, values, right = np.linalg.svd(triangle, full_matrices=False)
        return values, right


def _orthogonal_columns(rows: JoinedRows) -> bool:
    """Whether no row has more than one entry: a single column, as of an intercept, or unknowns picked out one by one.
    Rows that may have more entries than there are rows are not looked into."""
    if rows.shape[1] == 1:
        return True
    return rows.entries <= rows.shape[0] and bool(np.all(rows.entry_counts()[0] <= 1))


def _column_by_column(squares: Array, largest: Array, r: Array, off: Array) -> Correction:
    """The change where K'K is diagonal and needs no factor; a column of zeros is left out. A row has one entry, so the
    largest change of a column is at its largest."""
    there = squares > 0
    step, unsure = (np.divide(v, squares, out=np.zeros(r.size), where=there) for v in (np.abs(r), off))
    change, most = (float((largest * v).max(initial=0.0)) for v in (step, unsure))
    return Correction(change, bool(there.all()), most)


def _thinned(rows: JoinedRows, unknowns: int) -> JoinedRows:
    """Evenly spaced rows, several for each unknown; all where there are not many more."""
    n = rows.shape[0]
    count = min(MORE_ROWS * unknowns, max(FEW_ROWS * unknowns, n // 8))
    every = n // count if n > MAX_ROWS_TAKEN_ALL else 1
    return rows[::every] if every > 1 else rows


@dataclass(frozen=True, eq=False)
class _Factored:
    """Rows K with a Cholesky factor of K'K over the columns that are no combinations of others."""

    maps: Sequence[JoinedRows]
    columns: Dependence

    @classmethod
    def of(cls, problem: Problem, maps: Sequence[JoinedRows], where: Indices, size: Array) -> _Factored | None:
        """None where columns nearly repeat each other, but are no combinations of others to rounding."""
        gram = sum((rows.gram(np.ones(rows.shape[0])) for rows in maps), np.zeros((where.size, where.size)))
        scaled = gram / size / size[:, None]
        diagonal = np.sqrt(np.diag(scaled))
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        unit = size * diagonal
        scaled = problem.fill_null_directions(scaled / diagonal / diagonal[:, None], unit, where)
        columns = Dependence.of(scaled, unit)
        if columns is None or not columns.upper.diagonal().min() >= SMALLEST_PIVOT:
            return None
        return cls(maps, columns)

    def on_rows(self, maps: Sequence[JoinedRows]) -> _Factored | None:
        """The same, where the columns are combinations of others on all rows; None where they are not."""
        columns = self.columns.on_rows(maps)
        return None if columns is None else _Factored(self.maps, columns)

    @property
    def whole(self) -> bool:
        """Whether no column is a combination of others."""
        return not self.columns.others.size

    def solve(self, r: Array) -> Array:
        """(K'K)^-1 r."""
        return self.columns.solve(r)

    def change(self, r: Array) -> float:
        """The largest entry of K (K'K)^-1 r."""
        step = self.solve(r)
        return _largest([rows @ step for rows in self.maps])

    def largest_change(self, off: Array) -> float:
        """At least the same for every r with |r| <= off, as ‖K (K'K)^-1 r‖^2 = r'(K'K)^-1 r: the root of the norm of
        the inverse times the norm of ``off``, both in units in which K'K has a diagonal of ones."""
        return self._root_of_inverse * float(np.linalg.norm(off[self.columns.kept] / self.columns.unit))

    @cached_property
    def _root_of_inverse(self) -> float:
        return float(np.sqrt(self.columns.inverse_norm * np.sqrt(self.columns.unit.size)))


def _largest(changes: Sequence[Array]) -> float:
    return max(float(np.abs(change).max(initial=0.0)) for change in changes)


def _on_few_rows(maps: Sequence[JoinedRows], few: _Factored, r: Array, enough: float) -> float | None:
    """A bound of the smallest change, near it unless below ``enough``: conjugate gradients with the factor of few rows
    as preconditioner remove most of the residual by a change of all multipliers; what is left, one on the few rows
    removes. None where that takes too long."""
    rest = few.change(r)
    if rest <= enough:
        return rest
    left, step, fall = r, np.zeros_like(r), 1.0
    changes = [np.zeros(rows.shape[0]) for rows in maps]
    for _ in range(MOST_STEPS):
        z = few.solve(left)
        before, fall = fall, float(left @ z)
        step = z + (fall / before) * step
        moved = [rows @ step for rows in maps]
        length = fall / sum(float(m @ m) for m in moved)
        changes = [change + length * m for change, m in zip(changes, moved, strict=True)]
        left = left - length * sum((rows.T @ m for rows, m in zip(maps, moved, strict=True)), np.zeros_like(r))
        change, rest = _largest(changes), few.change(left)
        if rest <= 0.5 * change or change + rest <= enough:
            return change + rest
    return None


def _parts(rows: JoinedRows) -> Iterator[JoinedRows]:
    """The rows, so many at a time that a factorization of these costs little more than one of all."""
    length = max(4 * rows.shape[1], BLOCK)
    return (rows[start : start + length] for start in range(0, rows.shape[0], length))


def _rank(maps: Sequence[JoinedRows], gauge: Array) -> int:
    """The rank of the rows as they were given and the gauge; as large as it can be where it is not known."""
    if all(np.isfinite(rows.rounding) for rows in maps):
        return rank(np.vstack([*(rows.to_dense() for rows in maps), *gauge]))
    # rows minus the means of their groups, and differences of means, are the samples less a constant
    parts = [part for rows in maps for _, part in rows.parts]
    centred = [part.as_centred for part in parts if part.as_centred is not None]
    if not centred:  # sums of rows, which add nothing to their rank
        return rank(np.vstack([*(rows.to_dense() for rows in maps if np.isfinite(rows.rounding)), *gauge]))
    if len(centred) != 1 or len(maps) != 2:
        return maps[0].shape[1]
    samples = centred[0].base.to_dense()
    return rank(np.hstack([samples, np.ones((samples.shape[0], 1))])) - 1


def _by_rationals(maps: Sequence[JoinedRows], r: Array, off: Array) -> Correction:
    """The change without rounding, by columns that are no combinations of those before them: the others have residuals
    that are combinations, too."""
    rows = [row for m in maps for row in m.rational()]
    kept = rational.independent_rows([list(column) for column in zip(*rows, strict=True)])
    rows = [[row[j] for j in kept] for row in rows]
    gram = [[_dot(a, b) for b in zip(*rows, strict=True)] for a in zip(*rows, strict=True)]

    def change(residual: Sequence[Fraction]) -> Fraction:
        step = rational.solve(gram, residual) or [Fraction(0)] * len(kept)
        return max((abs(_dot(row, step)) for row in rows), default=Fraction(0))

    units = ([Fraction(float(off[j])) if j == k else Fraction(0) for j in kept] for k in kept if off[k])
    if not np.all(np.isfinite(off)):
        return Correction(float("inf"), False)
    return Correction(
        rational.to_double(change([Fraction(r[j]) for j in kept])),
        True,
        rational.to_double(sum(map(change, units), Fraction(0))),
    )


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))
