"""How far the multipliers are from satisfying stationarity exactly, measured in multipliers.

A gradient can be small only because its columns nearly repeat each other: with a feature of 1e8 plus a little, what the
little does is lost in a residual that is relative to 1e8. So beside the residual r of a variable without curvature we
measure the smallest change of the multipliers that removes it,

    delta = K (K'K)^-1 r,        K the rows over all such variables,

relative to the multipliers themselves. It does not depend on how the features are written. Columns that are exact
combinations of others are left out: their residual is the same combination, and goes with the others'.

Where every row is a side of a distance |K_i x - t_i| with the cost c_i, as of absolute residuals, the change that is
smallest relative to these costs says more: with x* an optimum,

    delta = C K (K'CK)^-1 r,     |r'(x - x*)| <= sum_i |delta_i| |K_i (x - x*)| <= max_i |delta_i| / c_i (f(x) + f(x*)),

so that samples of little weight, which may be far from their targets, do not hide behind heavy ones. Both sides of a
sample count, and a side that is ``tilt`` times as steep as the other that many times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, cast
from weakref import ref

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from convexcls.arrays import Array, Indices, top
from convexcls.caching import cached_property
from convexcls.data import Coded, is_coded
from convexcls.problem import BY_SAMPLE, Problem
from convexcls.problem.epigraph import Epigraph
from convexcls.proofs.rigorous.rounding import Ball
from convexcls.proofs.rigorous.structure import Structure
from convexcls.rational.doubles import rank
from convexcls.rational.elimination import dot, independent_columns, solve
from convexcls.rational.numbers import to_double
from convexcls.rows import JoinedRows, Rows, as_rows
from convexcls.rows.column_basis import ColumnBasis, rank_as_given
from convexcls.rows.summation import mirrored

#: More variables than this are not measured (duals of large problems, whose multipliers include one a variable).
MAX_GROUP_UNKNOWNS = 2000
#: A Cholesky factor of the scaled Gram matrix with smaller pivots is not relied on.
SMALLEST_PIVOT = 1e-3
#: What rounding may add to the inverse of such a matrix, at most, as a factor.
INVERTED = 1.1
#: Singular values below this fraction of the largest are zero or lost in rounding.
SMALLEST_SINGULAR_VALUE = 1e-12
#: Rows with fewer entries are looked at in rationals where singular values are below that.
MAX_RANKED_ENTRIES = 1_000
#: The rows that are looked at first: at least and at most so many for each unknown.
FEW_ROWS, MORE_ROWS = 2, 64
#: Fewer rows than this are taken all.
MAX_ROWS_TAKEN_ALL = 2000
#: Conjugate gradients take at most so many steps, each two passes over all rows, until so little of a change is left.
MAX_STEPS, LITTLE_LEFT = 10, 0.05


def free_variables(problem: Problem) -> list[str]:
    """The variables without curvature whose stationarity adds up over samples."""
    out = []
    balls = problem.remembered(Structure).balls
    for v in problem.variables:
        bounds = [b for b in problem.norm_bounds if v.name in b.bound_entries]
        in_ball = v.name in balls  # no step along a column is long
        if v.name in problem.quadratic or v.kind in BY_SAMPLE or bounds or in_ball:
            continue
        if any(v.name in entries for entries in problem.remembered(_summed_by_block)):
            out.append(v.name)
    if problem.size <= MAX_GROUP_UNKNOWNS:
        return out
    return [v for group in _joined(problem, out) if _width(problem, group) <= MAX_GROUP_UNKNOWNS for v in group]


def _width(problem: Problem, names: Sequence[str]) -> int:
    return sum(problem.variable(v).size for v in names)


def _joined(problem: Problem, names: Sequence[str]) -> list[list[str]]:
    """The variables in groups that no row and no gauge joins with each other."""
    groups = [[v] for v in names]
    if len(names) <= 1 or problem.gauge or _sides(problem, names):
        return [list(names)] if names else []
    for summed in problem.remembered(_summed_by_block):
        touched = [group for group in groups if any(v in summed for v in group)]
        if len(touched) > 1:
            groups = [group for group in groups if group not in touched]
            groups.append([v for v in names if any(v in group for group in touched)])
    return groups


def _summed_by_block(problem: Problem) -> list[dict[str, Rows]]:
    """The entries of each block without those that act one to one: a bound's multiplier is no help against a sum."""
    return [{v: rows for v, rows in b.entries.items() if rows.diagonal() is None} for b in problem.blocks]


def _sides(problem: Problem, names: Sequence[str]) -> list[Epigraph]:
    """The distance behind each block in which these variables add up; none where some block is no side of one."""
    if not (distances := problem.remembered(Structure).distances):
        return []
    by_block = zip(problem.blocks, problem.remembered(_summed_by_block), strict=True)
    summed = [b.name for b, entries in by_block if not entries.keys().isdisjoint(names)]
    return [distances[name] for name in summed] if distances.keys() >= set(summed) else []


def summed_rows(problem: Problem, names: Sequence[str]) -> list[JoinedRows]:
    """The rows over some variables in which these add up."""
    blocks, summed = problem.blocks, problem.remembered(_summed_by_block)
    if len(names) == len(problem.variables) and [*map(len, summed)] == [len(b.entries) for b in blocks]:
        return [problem.rows(b) for b in blocks]  # which are known
    return [rows for entries in summed if (rows := problem.narrow_rows(entries, names)) is not None]


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
        found: dict[tuple[tuple[int, int], ...], GroupRows] = {}
        for names in _joined(problem, self.names):
            rows = GroupRows(problem, names)
            key = tuple((where.start, id(part)) for joined in rows.maps for where, part in joined.parts)
            found.setdefault(key, rows).places.append(rows.where)
        self.kinds = tuple(found.values())
        self.unit = next((kind.unit for kind in self.kinds), None)

    def correction(self, residual: Ball, enough: float = 0.0) -> Correction:
        """What removes the residual of all of these variables: see ``GroupRows``."""
        found = [
            kind.correction(Ball(residual.mid[w], residual.rad[w]), enough) for kind in self.kinds for w in kind.places
        ]
        if len(found) == 1:
            return found[0]
        sizes, whole, roundings = zip(*found, strict=True)
        return Correction(max(sizes), all(whole), max(roundings))

    @property
    def maps(self) -> list[JoinedRows]:
        """The rows of all groups, those that several have in common once."""
        return [rows for kind in self.kinds for rows in kind.maps]

    @property
    def known_factor(self) -> tuple[_Factored, list[int]] | None:
        """Rows with their factor, by which a residual was measured, and how far apart they are among those of each
        block; None where not all are in one group."""
        if len(self.kinds) != 1 or len(self.kinds[0].places) != 1 or (kind := self.kinds[0]).squares is not None:
            return None
        if kind.few is not None:
            return kind.few, kind.spacings
        return None if kind.whole is None else (kind.whole, [1] * len(kind.maps))

    @property
    def basis(self) -> ColumnBasis | None:
        """Columns that span the others, where all are in one group."""
        return self.kinds[0].basis if len(self.kinds) == 1 and len(self.kinds[0].places) == 1 else None

    @property
    def is_exact(self) -> bool:
        """Whether the others are combinations of these without rounding."""
        return self.basis is not None and self.kinds[0].is_exact

    @property
    def independent(self) -> bool:
        """Whether no column is near a combination of others, but for the directions of the gauge."""
        return all(kind.independent for kind in self.kinds)

    def flat_directions(self) -> Array | None:
        """Directions, one a column, along which no row changes at all; None where there are none, or not all are
        known exactly."""
        parts: list[Array] = []
        for kind in self.kinds:
            if kind.independent:
                continue
            if kind.basis is None or not kind.basis.others.size or not kind.is_exact:
                return None
            for where in kind.places:
                parts.append(np.zeros((self.where.size, kind.basis.others.size)))
                parts[-1][np.searchsorted(self.where, where)] = kind.basis.null_vectors
        return np.hstack(parts) if parts and np.all(np.isfinite(np.hstack(parts))) else None


class GroupRows:
    """The rows K over the variables of a group, with what only depends on them; ``places`` are the unknowns of each
    group that has these rows."""

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        self._problem = ref(problem)  # which remembers this
        self.gauge = bool(problem.gauge)
        self.names, self.where = names, problem.places(names)
        self.places: list[Indices] = []
        self.maps = summed_rows(problem, self.names)
        by_block = any(b.is_by_block for b in problem.blocks)
        self.costs = [_ones(rows.shape[0], by_block) for rows in self.maps]
        #: What a change is measured against, where that is not the largest multiplier.
        self.unit: float | None = None
        if sides := _sides(problem, self.names):
            self.maps = [rows[e.cost > 0] for rows, e in zip(self.maps, sides, strict=True)]
            self.costs = [e.cost[e.cost > 0] for e in sides]
            self.unit = 1.0 / (4.0 * max(e.tilt for e in sides))

    @cached_property
    def squares(self) -> Array | None:
        """The diagonal of K'K where that is all of it: no row has more than one entry. None where some have."""
        if self.gauge or not all(_orthogonal_columns(rows) for rows in self.maps):
            return None
        out = np.zeros(self.where.size)
        for joined, costs in zip(self.maps, self.costs, strict=True):
            for where, rows in joined.parts:
                if is_coded(costs):
                    out[where] += rows.gram(costs).diagonal()
                    continue
                out[where] += rows.transposed_matmul(costs * (rows @ np.ones(rows.shape[1])))
        return out

    @cached_property
    def largest(self) -> Array:
        """The largest entry of each column."""
        first, *others = (rows.column_max() for rows in self.maps)
        for other in others:
            first = np.maximum(first, other)
        return first

    @cached_property
    def size(self) -> Array:
        """The same, one for a column of zeros."""
        return self.largest if (self.largest > 0).all() else np.where(self.largest > 0, self.largest, 1.0)

    @cached_property
    def spacings(self) -> list[int]:
        """How far apart the rows are that are looked at first."""
        return [_spacing(rows.shape[0], self.where.size) for rows in self.maps]

    @cached_property
    def few(self) -> _Factored | None:
        """Some of the rows with their factor; None where all are taken, or where their columns nearly repeat each
        other."""
        every = self.spacings
        if max(every, default=1) == 1:
            return None
        places = [_spread_out(rows, step) for rows, step in zip(self.maps, every, strict=True)]
        few = [rows[some] if step > 1 else rows for rows, some, step in zip(self.maps, places, every, strict=True)]
        costs = [costs[some] for costs, some in zip(self.costs, places, strict=True)]
        return self._factored(few, costs, _gram(few, costs, self.where.size))

    @cached_property
    def whole(self) -> _Factored | None:
        """All rows with their factor; None where columns nearly repeat each other."""
        return self._factored(self.maps, self.costs, self.gram.copy())

    @cached_property
    def gram(self) -> Array:
        """K'CK."""
        return _gram(self.maps, self.costs, self.where.size)

    @property
    def independent(self) -> bool:
        """Whether no column is near a combination of others, but for the directions of the gauge."""
        if self.squares is not None:
            return bool(np.all(self.squares > 0))
        return self.few is not None or self.whole is not None

    @cached_property
    def basis(self) -> ColumnBasis | None:
        """Columns that span the others, directions of the gauge left out; None where numbers are out of range."""
        if not self.maps or not self.where.size:
            return None
        problem = self._problem()
        assert problem is not None
        gauge = problem.null_directions[:, self.where]
        if gauge.size:
            return ColumnBasis.of([*self.maps, as_rows(gauge)])
        return ColumnBasis.of(self.maps, None if self.unit is not None else self.gram)

    @cached_property
    def is_exact(self) -> bool:
        """Whether the other columns, if there are any, are combinations of those of the basis, without rounding."""
        assert self.basis is not None
        if not self.basis.others.size:
            return True
        if all(np.isfinite(rows.rounding) for rows in self.maps):
            return self.basis.is_exact
        return _rank(self.maps) <= self.basis.columns.size

    def _factored(self, maps: Sequence[JoinedRows], costs: Sequence[Array], gram: Array) -> _Factored | None:
        problem = self._problem()
        assert problem is not None
        return _Factored.of(problem, maps, costs, gram, self.where, self.size)

    def correction(self, residual: Ball, enough: float = 0.0) -> Correction:
        """What removes the residual of one group. Where a change of the multipliers of a few rows is below
        ``enough``, that one: it is a larger one, and cheap. A residual of 0 is no exception: where columns differ by
        less than rounding shows, it is 0 anywhere along their difference, and the correction is infinite."""
        r, off = residual.mid, residual.rad
        if self.squares is not None:
            return _column_by_column(self.squares, self.largest, r, off)
        if self.few is not None:
            rounding = self.few.largest_change(off)
            found = _on_few_rows(self.maps, self.costs, self.few, r, enough - rounding)
            if found is not None and (found + rounding <= enough or self.whole is None):
                return Correction(found, True, rounding)
        if self.whole is not None:
            rounding = self.whole.largest_change(off)
            return Correction(self.whole.change(r, enough - rounding), True, rounding)
        if sum(rows.shape[0] for rows in self.maps) * self.where.size <= MAX_RANKED_ENTRIES and self._near_dependence:
            return _by_rationals(self.maps, self.costs, r, off)
        if self.basis is None or not self.is_exact:
            return Correction(float("inf"), False)
        return self._on_basis(self.basis, Ball(r, off), enough)

    @property
    def _near_dependence(self) -> bool:
        """Whether rationals have to tell columns, or costs that differ by many powers of ten, apart."""
        if self.unit is not None:
            return True
        return self.basis is None or bool(self.basis.others.size) or self.basis.smallest < SMALLEST_SINGULAR_VALUE

    def _on_basis(self, basis: ColumnBasis, residual: Ball, enough: float) -> Correction:
        """The change by columns of a basis, where some repeat others or hardly differ from them. With KT orthonormal it
        is K T T'r, and a row of KT times T'r is at most the product of their lengths: that of the row is at most one,
        and worked out where that leaves rounding too much."""
        r, off = residual.mid[basis.columns], residual.rad[basis.columns]
        step = basis.spread(basis.solve(r)[:, None])
        size = _largest([(rows @ step) / c[:, None] for rows, c in zip(self.maps, self.costs, strict=True)])
        most = 1.01 * float(np.linalg.norm(np.abs(basis.orthogonal).T @ off))
        cheapest = min(float(c.min(initial=1.0)) for c in self.costs)
        if not size + most / cheapest <= enough:
            most *= min(self._longest_on_basis * cheapest, 1.0)
        return Correction(size, not basis.others.size, most / cheapest)

    @cached_property
    def _longest_on_basis(self) -> float:
        """The longest row of KT, each divided by its cost."""
        assert self.basis is not None
        along, longest = self.basis.spread(self.basis.orthogonal), 0.0
        for rows, costs in zip(self.maps, self.costs, strict=True):
            for block in rows.own_blocks():
                parts = (rows[block] @ along) / costs[block, None]
                longest = max(longest, float(np.sqrt(np.square(parts).sum(axis=1)).max(initial=0.0)))
        return longest


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
    whole = bool(there.all())
    if not whole:
        r, off, squares = np.where(there, r, 0.0), np.where(there, off, 0.0), np.where(there, squares, 1.0)
    return Correction(top(largest * (np.abs(r) / squares)), whole, top(largest * (off / squares)))


def _spacing(n: int, unknowns: int) -> int:
    """How far apart some of n rows are, several for each unknown; 1 where there are not many more."""
    count = min(MORE_ROWS * unknowns, max(FEW_ROWS * unknowns, n // 8))
    return max(n // count, 1) if n > MAX_ROWS_TAKEN_ALL else 1


def _spread_out(rows: JoinedRows, step: int) -> slice | Indices:
    """Every so many rows; of samples with several margins, all of those of every so many."""
    margins = [part.factors().core.as_class_margins for _, part in rows.parts]
    width = max((m.count - 1 for m in margins if m is not None), default=1)
    if width == 1 or step == 1:
        return slice(None, None, step)
    samples = np.arange(0, rows.shape[0] // width, step)
    return np.asarray((samples[:, None] * width + np.arange(width)).ravel())


@dataclass(frozen=True, eq=False)
class _Factored:
    """Rows K with a Cholesky factor of K'CK, in units in which its diagonal is one."""

    maps: Sequence[JoinedRows]
    factor: Array
    unit: Array
    #: Whether all costs are one.
    even: bool

    @classmethod
    def of(
        cls,
        problem: Problem,
        maps: Sequence[JoinedRows],
        costs: Sequence[Array],
        scaled: Array,
        where: Indices,
        size: Array,
    ) -> _Factored | None:
        """From K'CK, which is overwritten; None where columns nearly repeat each other."""
        scaled /= size[:, None] * size
        diagonal = np.sqrt(scaled.diagonal())
        diagonal[~(diagonal > 0)] = 1.0
        scaled /= diagonal[:, None] * diagonal
        unit = size * diagonal
        factor, info = dpotrf(problem.fill_null_directions(scaled, unit, where), lower=1, clean=0)
        if info != 0 or not factor.diagonal().min() >= SMALLEST_PIVOT:
            return None
        return cls(maps, factor, unit, all((c == 1.0).all() for c in costs))

    def solve(self, r: Array) -> Array:
        """(K'CK)^-1 r."""
        return np.asarray(dpotrs(self.factor, r / self.unit, lower=1)[0] / self.unit)

    def change(self, r: Array, enough: float = 0.0) -> float:
        """The largest entry of K (K'CK)^-1 r; of rows that are read by block a bound of it, if that is ``enough``."""
        step = self.solve(r)
        if any(rows.read_by_block() for rows in self.maps):
            at_most = max(rows.largest_reach(step) for rows in self.maps)
            if at_most <= enough:
                return at_most
        return max(_largest_product(rows, step) for rows in self.maps)

    def largest_change(self, off: Array) -> float:
        """At least the same for every r with |r| <= off. Where all costs are one, ‖K (K'K)^-1 r‖^2 = r'(K'K)^-1 r is at
        most off'|(K'K)^-1| off. Otherwise the longest row of K times the length of |(K'CK)^-1| off."""
        off = off / self.unit
        step = self._inverse @ off
        if self.even:
            return float(np.sqrt(INVERTED * (off @ step)))
        return INVERTED * self._longest * float(np.linalg.norm(step))

    @cached_property
    def _inverse(self) -> Array:
        """The sizes of the entries of (K'CK)^-1, in units in which K'CK has a diagonal of ones."""
        lower, _ = dpotri(self.factor, lower=1)
        return np.abs(mirrored(np.ascontiguousarray(lower)))

    @cached_property
    def _longest(self) -> float:
        return max(float(np.linalg.norm(rows.column_max() / self.unit)) for rows in self.maps)


def _gram(maps: Sequence[JoinedRows], costs: Sequence[Array], width: int) -> Array:
    """K'CK."""
    out = np.zeros((width, width))
    for rows, c in zip(maps, costs, strict=True):
        out += rows.gram(c)
    return out


def _largest(changes: Sequence[Array]) -> float:
    return max([top(np.abs(change)) for change in changes])


def _ones(n: int, by_block: bool) -> Array:
    """A cost of one for every row."""
    return cast("Array", Coded.alike(1.0, n)) if by_block else np.ones(n)


def _largest_product(rows: JoinedRows, step: Array) -> float:
    """The largest entry of K step."""
    parts = rows.each_block(_largest_of_block, common=(step,))
    return top(np.abs(rows @ step)) if parts is None else max(parts, default=0.0)


def _largest_of_block(rows: Rows, step: Array) -> float:
    return top(np.abs(rows @ step))


def _on_few_rows(
    maps: Sequence[JoinedRows], costs: Sequence[Array], few: _Factored, r: Array, enough: float
) -> float | None:
    """A bound of the smallest change, near it unless below ``enough``: conjugate gradients with the factor of few rows
    as preconditioner remove most of the residual by a change of all multipliers; what is left, one on the few rows
    removes. None where that takes too long."""
    rest = few.change(r)
    if rest <= enough:
        return rest
    if any(rows.read_by_block() for rows in maps):  # all of them are multiplied out in one reading: that is no more
        return None
    left, step, fall = r, np.zeros_like(r), 1.0
    changes = [np.zeros(rows.shape[0]) for rows in maps]
    for _ in range(MAX_STEPS):
        z = few.solve(left)
        before, fall = fall, float(left @ z)
        step = z + (fall / before) * step
        moved = [rows @ step for rows in maps]
        priced = [c * m for c, m in zip(costs, moved, strict=True)]
        length = fall / sum(float(m @ p) for m, p in zip(moved, priced, strict=True))
        changes = [change + length * m for change, m in zip(changes, moved, strict=True)]
        left = left - length * sum((rows.T @ p for rows, p in zip(maps, priced, strict=True)), np.zeros_like(r))
        change, rest = _largest(changes), few.change(left)
        if change + rest <= enough or rest <= LITTLE_LEFT * change:
            return change + rest
    return None


def _rank(maps: Sequence[JoinedRows]) -> int:
    """The rank, at most, of rows of which some were added up from others; as large as it can be where that is not
    known."""
    # rows minus the means of their groups, and differences of means, are the samples less a constant
    parts = [part for rows in maps for _, part in rows.parts]
    centred = [part.as_centred for part in parts if part.as_centred is not None]
    if not centred:  # sums of rows, which add nothing to their rank
        return _known_rank([rows for rows in maps if np.isfinite(rows.rounding)])
    if len(centred) != 1 or len(maps) != 2:
        return maps[0].shape[1]
    samples = centred[0].base
    n, d = samples.shape
    ones = as_rows(np.ones((n, 1)))
    joined = JoinedRows(n, d + 1, [(slice(0, d), samples), (slice(d, d + 1), ones)])
    basis = ColumnBasis.of([joined])  # whole numbers that add up, such as categories, tell sooner than a rank
    return (basis.columns.size if basis is not None and basis.is_exact else _known_rank([joined])) - 1


def _known_rank(rows: Sequence[Rows]) -> int:
    """The rank of the entries as doubles and, where these round what was given, no less than that of the latter."""
    in_doubles = rank(np.vstack([part.to_dense() for part in rows]))
    if not any(part.rounding for part in rows):
        return in_doubles
    given = rank_as_given(rows)
    return rows[0].shape[1] if given is None else max(in_doubles, given)


def _by_rationals(maps: Sequence[JoinedRows], costs: Sequence[Array], r: Array, off: Array) -> Correction:
    """The change without rounding, by columns that are no combinations of those before them: the others have residuals
    that are combinations, too."""
    rows = [row for m in maps for row in m.rational()]
    kept = independent_columns(rows)
    rows = [[row[j] for j in kept] for row in rows]
    prices = [Fraction(c) for c in np.concatenate(costs).tolist()]
    priced = [[c * entry for entry in row] for c, row in zip(prices, rows, strict=True)]
    gram = [[dot(a, b) for b in zip(*priced, strict=True)] for a in zip(*rows, strict=True)]

    def change(residual: Sequence[Fraction]) -> Fraction:
        step = solve(gram, residual) or [Fraction(0)] * len(kept)
        return max((abs(dot(row, step)) for row in rows), default=Fraction(0))

    units = ([Fraction(float(off[j])) if j == k else Fraction(0) for j in kept] for k in kept if off[k])
    if not np.all(np.isfinite(off)):
        return Correction(float("inf"), False)
    return Correction(
        to_double(change([Fraction(r[j]) for j in kept])),
        True,
        to_double(sum(map(change, units), Fraction(0))),
    )
