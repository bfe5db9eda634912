"""Rows that are read a block at a time, here or by the workers of an engine: on disk, larger than memory, on a cluster.

What is asked of the rows is asked of each block, where it is held, and what comes back is put one below the other or
added up in a fixed tree over the numbers of the blocks. So a product with all rows is one reading of them, and the same
bits whichever engine made it. A block in memory is rows like any other: the verbs are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.caching import cached_property
from convexcls.data import DataError
from convexcls.engines import Engine, Piece, tree_sum
from convexcls.engines.base import tree_depth
from convexcls.rows.base import Counts, NearestPriced, Rows, Travelling, Visit, as_rows, row_numbers
from convexcls.rows.in_memory import DenseRows
from convexcls.rows.summation import additions, row_blocks
from convexcls.wording import bytes_in_words

#: More entries than this are not gathered into one array: rows that are chosen stay in their blocks.
MAX_GATHERED_ENTRIES = 40_000_000
#: Of the rows that a pass may bring along, a block brings its share times this.
SHARE_OF_PRICED = 3.0

#: What is made of the rows of a block when it has been read.
View = Callable[[Rows], Rows]


class Extent(NamedTuple):
    """What a check found of each column: its lowest and its highest value, its mean and its standard deviation."""

    low: Array
    high: Array
    mean: Array
    deviation: Array

    def of(self, chosen: Indices) -> Extent:
        """The same of some columns."""
        return Extent(*(values[chosen] for values in self))

    def moved(self, shift: Array) -> Extent:
        """The same of the columns less a shift."""
        return Extent(self.low - shift, self.high - shift, self.mean - shift, self.deviation)


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Some rows of a piece, taken from the block where that is held, or where it is not, if the file can be read so."""

    whole: Piece
    rows: Indices

    def read(self) -> Any:
        if hasattr(self.whole, "take"):
            return self.whole.take(self.rows)
        return self.chosen(self.whole.read())

    def chosen(self, block: Any) -> Any:
        """These rows of the block."""
        return block[self.rows]

    def __str__(self) -> str:
        return str(self.whole)


class RowsByBlock(Rows):
    """The rows of pieces of these sizes, in their order; ``extent`` is what a check found of the columns."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        sizes: Sequence[int],
        width: int,
        engine: Engine,
        *,
        entries: int | None = None,
        extent: Extent | None = None,
        view: View | None = None,
    ) -> None:
        self.pieces, self.sizes, self.engine = tuple(pieces), tuple(sizes), engine
        self.ends = np.cumsum([0, *sizes])
        self.shape = (int(self.ends[-1]), width)
        self.extent, self.view = extent, view
        self._entries = entries
        #: How often the blocks were gone through, and how many were asked for, so far.
        self.passes, self.readings = 0, 0
        #: Told in words, while a pass is under way, how far it is.
        self.watch: Callable[[str], None] | None = None
        self._near: tuple[Indices, Any] | None = None
        self._last: tuple[Array, Array] | None = None

    @property
    def by_block(self) -> RowsByBlock:  # type: ignore[override]
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise DataError(
            "these samples are read by block, and an array of all of them is needed here: take one of the models, or "
            "read samples that fit in memory with read_table or numpy"
        )

    def own_blocks(self) -> Iterator[slice]:
        return (slice(int(a), int(b)) for a, b in zip(self.ends[:-1], self.ends[1:], strict=True))

    def seen(self, view: View, width: int, extent: Extent | None = None) -> RowsByBlock:
        """The same blocks, of which another view is taken."""
        entries = self._entries  # of sparse blocks
        both = view if self.view is None else partial(_one_after_the_other, self.view, view)
        out = RowsByBlock(self.pieces, self.sizes, width, self.engine, extent=extent, view=both, entries=entries)
        out.watch = self.watch
        return out

    # ---- what is asked of each block ------------------------------------------------------------------------

    def each(self, task: str | Callable[..., Any], *own: Array, common: tuple[Any, ...] = ()) -> Iterator[Any]:
        """A method of the rows of every block, or a function of them, with ``common`` and with its own part of arrays
        with one entry a row; in the order of the blocks."""
        self.passes += 1
        found = self._asked(task, range(len(self.pieces)), common, partial(self._cut, own))
        return found if self.watch is None else self._watched(found)

    def each_from(self, task: Callable[..., Any], *own: Array, common: tuple[Any, ...] = ()) -> Iterator[Any]:
        """The same, which is told between ``common`` and its own parts as the how-many-eth row its first one is."""
        self.passes += 1
        found = self._asked(task, range(len(self.pieces)), common, lambda k: (int(self.ends[k]), *self._cut(own, k)))
        return found if self.watch is None else self._watched(found)

    def each_of(self, whole: Rows, task: Callable[..., Any], own: tuple[Array, ...], common: tuple[Any, ...]) -> Any:
        """``task`` of the ``whole`` rows, which are made of these, over each block; see ``Rows.each_block``."""
        n = max(self.shape[0], 1)

        def cut(place: int, size: int) -> slice:
            width = size // n  # a sample may have several rows
            return slice(int(self.ends[place]) * width, int(self.ends[place + 1]) * width)

        def parts(place: int) -> tuple[Any, ...]:
            made = whole.of_block(cut(place, whole.shape[0]), _Elsewhere(self.sizes[place], self.shape[1]))
            return made, tuple(a[cut(place, len(a))] for a in own)

        if not self.sizes or whole.of_block(cut(0, whole.shape[0]), _Elsewhere(self.sizes[0], self.shape[1])) is None:
            return None
        self.passes += 1
        found = self._asked(partial(_over_block, task), range(len(self.pieces)), common, parts)
        return found if self.watch is None else self._watched(found)

    def of_block(self, block: slice, samples: Rows) -> Rows:
        return samples

    def _watched(self, found: Iterator[Any]) -> Iterator[Any]:
        for k, part in enumerate(found):
            if self.watch is not None:
                rows, n, size = int(self.ends[k + 1]), self.shape[0], 8.0 * self.entries
                read = f"{bytes_in_words(size * rows / n)} of {bytes_in_words(size)}"
                self.watch(f"pass {self.passes}, row {rows:,} of {n:,}, {read}")
            yield part

    def _cut(self, own: tuple[Array, ...], k: int) -> tuple[Array, ...]:
        return tuple(np.ascontiguousarray(a[self.ends[k] : self.ends[k + 1]]) for a in own)

    def _asked(
        self, task: str | Callable[..., Any], numbers: Sequence[int], common: tuple[Any, ...], own: Any
    ) -> Iterator[Any]:
        self.readings += len(numbers)
        pieces = [self.pieces[k] for k in numbers]
        return self.engine.map(
            partial(_carried_out, task, self.view), pieces, common, lambda place: own(numbers[place])
        )

    def _summed(self, task: str | Callable[..., Any], *own: Array, common: tuple[Any, ...] = (), shape: Any) -> Array:
        total = tree_sum(self.each(task, *own, common=common))
        return np.zeros(shape) if total is None else np.asarray(total)

    def _one_below_the_other(self, parts: Iterator[Array], columns: tuple[int, ...] = ()) -> Array:
        out = np.empty((self.shape[0], *columns))
        for rows, part in zip(self.own_blocks(), parts, strict=True):
            out[rows] = part
        return out

    # ---- verbs ----------------------------------------------------------------------------------------------

    def __matmul__(self, v: Array) -> Array:
        """The product; the last one with a vector is remembered, as a certificate begins where a solver ends."""
        if self._last is not None and v.ndim == 1 and np.array_equal(self._last[0], v):
            return self._last[1].copy()
        out = self._one_below_the_other(self.each("__matmul__", common=(v,)), v.shape[1:])
        if v.ndim == 1:
            self._last = v.copy(), out.copy()
        return out

    def transposed_matmul(self, u: Array) -> Array:
        return self._summed("transposed_matmul", u, shape=(self.shape[1], *u.shape[1:]))

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        found = [(part, np.max(length)) for part, length in self.each("added_up", u)]
        total = tree_sum(part for part, _ in found)
        if total is None:
            return np.zeros((self.shape[1], *u.shape[1:])), 0
        return total, int(max(length for _, length in found)) + tree_depth(len(found))

    @property
    def most_additions(self) -> int:
        """So many numbers at most are added up by ``added_up``, one after the other: those of a block, which are in
        parts where it is dense, and then the blocks in a tree."""
        longest = max(self.sizes, default=0)
        return (longest if self.is_sparse else additions(longest)) + tree_depth(len(self.sizes))

    def gram(self, weights: Array) -> Array:
        return self._summed("gram", weights, shape=(self.shape[1], self.shape[1]))

    def coarse_gram(self, weights: Array) -> Array:
        return self._summed("coarse_gram", weights, shape=(self.shape[1], self.shape[1]))

    def gram_diagonal(self, weights: Array) -> Array:
        return self._summed("gram_diagonal", weights, shape=self.shape[1])

    def sweep(self, x: Array, visit: Visit) -> Array:
        """One reading, where the visit may be made elsewhere; else one for each product."""
        return self.sweep_and_more(x, visit)[0] if isinstance(visit, Travelling) else super().sweep(x, visit)

    def sweep_and_more(self, x: Array, visit: Travelling, gram: Any = None) -> tuple[Array, Array]:
        """A sweep and, in the same reading, ``gram(rows, weights)`` by the weights that the visit gives."""
        parts: list[Array] = []
        found = self.each(_swept, *visit.own, common=(visit.function, visit.curved, visit.brief, gram, x))

        def grams() -> Iterator[Array]:
            for rows, (part, kept, gram) in zip(self.own_blocks(), found, strict=True):
                parts.append(part)
                for within, what in kept:
                    visit.take(slice(rows.start + within.start, rows.start + within.stop), what)
                yield gram

        inner, total = tree_sum(grams()), tree_sum(parts)
        assert total is not None
        return total, np.asarray(inner)

    def added_up_with_sizes(self, u: Array, size: Array) -> tuple[Array, Array | int, Array]:
        found = [(part, np.max(length), sizes) for part, length, sizes in self.each("added_up_with_sizes", u, size)]
        total, sizes = (tree_sum(parts[k] for parts in found) for k in (0, 2))
        assert total is not None
        assert sizes is not None
        return total, int(max(length for _, length, _ in found)) + tree_depth(len(found)), sizes

    def product_with_sizes(self, v: Array, size: Array) -> tuple[Array, Array]:
        out, sizes = np.empty((self.shape[0], *v.shape[1:])), np.empty((self.shape[0], *size.shape[1:]))
        for rows, parts in zip(self.own_blocks(), self.each("product_with_sizes", common=(v, size)), strict=True):
            out[rows], sizes[rows] = parts
        return out, sizes

    def priced(self, x: Array, side: Array | float, most: int, left: Array | None = None) -> Array:
        """``left (R x) - side``, with the rows brought along in which it is largest: to ask for these is no reading."""
        own = [np.broadcast_to(a, self.shape[0]) for a in (1.0 if left is None else left, side)]
        share = SHARE_OF_PRICED * most / max(self.shape[0], 1)
        out, places, entries = np.empty(self.shape[0]), [], []
        for rows, (excess, nearest, some) in zip(
            self.own_blocks(), self.each(_priced, *own, common=(x, share)), strict=True
        ):
            out[rows] = excess
            places.append(nearest + rows.start)
            entries.append(some)
        if places:
            self._near = np.concatenate(places), _one_above_the_other(entries)
        return out

    def nearest_among(self, x: Array, side: Array, most: int, limit: float, left: Array) -> NearestPriced:
        """The same of so many rows in which it is largest, chosen as the blocks come; the others are forgotten."""
        share = SHARE_OF_PRICED * most / max(self.shape[0], 1)
        places, excess = np.empty(0, dtype=np.intp), np.empty(0)
        near, entries, largest, above = [], [], -np.inf, 0
        asked = self.each(_nearest_priced, left, side, common=(x, share, most, limit))
        for rows, found in zip(self.own_blocks(), asked, strict=True):
            brought, some, some_places, some_excess, highest, count = found
            near.append(brought + rows.start)
            entries.append(some)
            places = np.concatenate([places, some_places + rows.start])
            excess = np.concatenate([excess, some_excess])
            kept = _highest(excess, most)
            places, excess = places[kept], excess[kept]
            largest, above = max(largest, highest), above + count
        if near:
            self._near = np.concatenate(near), _one_above_the_other(entries)
        return NearestPriced(places, excess, largest, above)

    # ---- some of the rows -----------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Rows:
        if isinstance(index, slice) and index.indices(self.shape[0]) == (0, self.shape[0], 1):
            return self
        chosen = row_numbers(index, self.shape[0])
        if chosen.size == self.shape[0] and np.array_equal(chosen, np.arange(self.shape[0])):
            return self
        if chosen.size * self.shape[1] > MAX_GATHERED_ENTRIES and not self._is_one_block(chosen):
            return self._thinned(chosen)
        return as_rows(self._gathered(chosen))

    def _is_one_block(self, chosen: Indices) -> bool:
        return int(np.searchsorted(self.ends, chosen[0], "right")) == int(
            np.searchsorted(self.ends, chosen[-1], "right")
        )

    def _thinned(self, chosen: Indices) -> RowsByBlock:
        """Too many rows to be gathered: they stay in their blocks."""
        if np.any(np.diff(chosen) <= 0):
            raise DataError(
                f"{chosen.size} rows by block are too many to be put in another order: choose them in rising order"
            )
        cuts = np.searchsorted(chosen, self.ends)
        pieces: list[Piece] = []
        sizes: list[int] = []
        for k, piece in enumerate(self.pieces):
            rows = chosen[cuts[k] : cuts[k + 1]] - self.ends[k]
            if rows.size:
                pieces.append(piece if rows.size == self.sizes[k] else SomeRows(piece, rows))
                sizes.append(rows.size)
        entries = None if self._entries is None else int(self._entries * chosen.size / max(self.shape[0], 1))
        return RowsByBlock(
            pieces, sizes, self.shape[1], self.engine, extent=self.extent, view=self.view, entries=entries
        )

    def _gathered(self, chosen: Indices) -> Any:
        """Some rows as one matrix: those that the last pricing brought along, the others from their blocks."""
        parts, places = [], []
        missing = np.arange(chosen.size)
        if self._near is not None and self._near[0].size:
            near, entries = self._near
            at = np.minimum(np.searchsorted(near, chosen), near.size - 1)
            there = near[at] == chosen
            if there.any():
                parts, places, missing = [entries[at[there]]], [np.flatnonzero(there)], np.flatnonzero(~there)
        block = np.searchsorted(self.ends, chosen[missing], "right") - 1
        numbers = np.unique(block).tolist()
        some = [SomeRows(self.pieces[k], chosen[missing[block == k]] - self.ends[k]) for k in numbers]
        self.readings += len(some)
        found = self.engine.map(partial(_carried_out, "to_matrix", self.view), some)
        for k, part in zip(numbers, found, strict=True):
            parts.append(part)
            places.append(missing[block == k])
        if not parts:
            return np.zeros((0, self.shape[1]))
        if len(parts) == 1 and np.array_equal(places[0], np.arange(chosen.size)):
            return parts[0]
        whole, order = _one_above_the_other(parts), np.empty(chosen.size, dtype=np.intp)
        order[np.concatenate(places)] = np.arange(chosen.size)
        return whole[order]

    def in_blocks(self) -> Iterator[tuple[slice, Any]]:
        for rows, matrix in zip(self.own_blocks(), self.each("to_matrix"), strict=True):
            if sparse.issparse(matrix):
                yield rows, matrix
                continue
            for part in row_blocks(matrix.shape[0]):
                yield slice(rows.start + part.start, rows.start + part.stop), matrix[part]

    def to_matrix(self) -> Any:
        if self.beyond_memory:
            raise DataError(self.beyond_memory)
        return self._gathered(np.arange(self.shape[0]))

    @property
    def beyond_memory(self) -> str:
        """Why the rows may not be written out as one array; empty where they may."""
        if self.entries <= MAX_GATHERED_ENTRIES:
            return ""
        return (
            f"the samples are in blocks, {self.entries:,} entries in all: more than {MAX_GATHERED_ENTRIES:,} are not "
            "gathered in one memory"
        )

    # ---- sizes ----------------------------------------------------------------------------------------------

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1] if self._entries is None else self._entries

    def __abs__(self) -> Rows:
        return self.seen(abs, self.shape[1])

    def _largest_by_column(self) -> Array:
        if self.extent is not None:
            return np.maximum(np.maximum(self.extent.high, -self.extent.low), 0.0)
        out = np.zeros(self.shape[1])
        for found in self.each("column_max"):
            np.maximum(out, found, out=out)
        return out

    def row_max(self) -> Array:
        return self._one_below_the_other(self.each("row_max"))

    def entry_counts(self) -> tuple[Counts, Counts]:
        by_row, by_column = (np.zeros(size, dtype=np.intp) for size in self.shape)
        for rows, (own, columns) in zip(self.own_blocks(), self.each("entry_counts"), strict=True):
            by_row[rows] = own
            by_column += columns
        return by_row, by_column

    def _some_columns(self, chosen: Indices) -> Rows:
        extent = None if self.extent is None else self.extent.of(chosen)
        return self.seen(partial(_columns, chosen), chosen.size, extent)

    def moved(self, shift: Array) -> Rows:
        """``R - 1 shift'``, where every difference is a double."""
        extent = None if self.extent is None else self.extent.moved(shift)
        return self.seen(partial(_moved, shift), self.shape[1], extent)

    @cached_property
    def is_sparse(self) -> bool:
        """Whether the blocks are sparse."""
        return self._entries is not None


class _Elsewhere(Rows):
    """Stands in for the samples of a block, which are where the block is."""

    def __init__(self, size: int, width: int) -> None:
        self.shape = (size, width)

    def of_block(self, block: slice, samples: Rows) -> Rows:
        return samples

    def read_by_block(self) -> list[Any]:
        return [self]

    def __matmul__(self, v: Array) -> Array:
        raise NotImplementedError

    def transposed_matmul(self, u: Array) -> Array:
        raise NotImplementedError

    def gram(self, weights: Array) -> Array:
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Rows:
        raise NotImplementedError


# ---- what is carried out for a block -----------------------------------------------------------------------------


def _carried_out(task: str | Callable[..., Any], view: View | None, block: Any, *arguments: Any) -> Any:
    rows = as_rows(block)
    rows = rows if view is None else view(rows)
    return getattr(rows, task)(*arguments) if isinstance(task, str) else task(rows, *arguments)


def _over_block(task: Callable[..., Any], samples: Rows, *arguments: Any) -> Any:
    *common, whole, own = arguments
    return task(whole.of_block(slice(0, whole.shape[0]), samples), *own, *common)


def _one_after_the_other(first: View, second: View, rows: Rows) -> Rows:
    return second(first(rows))


def _swept(
    rows: Rows, function: Any, curved: Any, brief: Any, gram: Any, x: Array, *own: Array
) -> tuple[Array, list[tuple[slice, Any]], Array | float]:
    kept: list[tuple[slice, Any]] = []
    total = rows.sweep(x, Travelling(function, own, lambda block, what: kept.append((block, what))))
    inner = 0.0
    if gram is not None:
        weights = np.concatenate([curved(what, *[a[block] for a in own]) for block, what in kept])
        inner = gram(rows, weights=weights)
    return total, kept if brief is None else [(block, brief(what)) for block, what in kept], inner


def _priced(rows: Rows, x: Array, share: float, left: Array, side: Array) -> tuple[Array, Indices, Any]:
    excess = left * (rows @ x) - side
    nearest = _highest(excess, int(np.ceil(share * excess.size)))
    return excess, nearest, _taken(rows, nearest)


def _nearest_priced(
    rows: Rows, x: Array, share: float, most: int, limit: float, left: Array, side: Array
) -> tuple[Indices, Any, Indices, Array, float, int]:
    excess = left * (rows @ x) - side
    brought = _highest(excess, int(np.ceil(share * excess.size)))
    places = _highest(excess, most)
    highest, above = float(excess.max(initial=-np.inf)), int(np.count_nonzero(excess > limit))
    return brought, _taken(rows, brought), places, excess[places], highest, above


def _highest(values: Array, most: int) -> Indices:
    """Where the so many largest of some values stand, in rising order."""
    if most >= values.size:
        return np.arange(values.size)
    return np.sort(np.argpartition(values, values.size - most)[values.size - most :]) if most else np.arange(0)


def _taken(rows: Rows, chosen: Indices) -> Any:
    """Some rows as a matrix; the block itself, not a copy, where they are all of it."""
    some = rows if chosen.size == rows.shape[0] and np.all(np.diff(chosen) == 1) else rows[chosen]
    return some.to_matrix()


def _columns(chosen: Indices, rows: Rows) -> Rows:
    return rows.select_columns(chosen)


def _moved(shift: Array, rows: Rows) -> Rows:
    return DenseRows(rows.to_dense() - shift)


def _one_above_the_other(parts: list[Any]) -> Any:
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return np.vstack(parts)
