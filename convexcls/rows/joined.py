"""Rows beside each other, and one above the other: all lazy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.caching import cached_property
from convexcls.engines import tree_sum
from convexcls.rows.base import Counts, NearestPriced, Rows, Travelling, Visit, rows_selected
from convexcls.rows.doubled import Doubled
from convexcls.rows.fused import FusedRows
from convexcls.rows.in_memory import DenseRows
from convexcls.rows.plain import DistinctRows, PickedRows
from convexcls.rows.summation import row_blocks

if TYPE_CHECKING:
    from convexcls.rows.by_block import RowsByBlock

#: Joined rows with fewer entries are written out.
WRITTEN_OUT = 20_000


class JoinedRows(Rows):
    """Several rows objects side by side, each over its own range of columns, zero elsewhere: the rows of a
    constraint across all blocks of variables. Where they are few they are written out once, as one array: then the
    way through the layers costs more than the arithmetic. Rows that pick out unknowns one by one are written as that,
    however many they are."""

    def __init__(self, size: int, width: int, parts: Sequence[tuple[slice, Rows]]) -> None:
        self.shape = (size, width)
        flat: list[tuple[slice, Rows]] = []
        for where, rows in parts:
            if isinstance(rows, JoinedRows):
                flat += [(slice(where.start + w.start, where.start + w.stop), part) for w, part in rows.parts]
            else:
                flat.append((where, rows))
        self.parts: tuple[tuple[slice, Rows], ...] = tuple(flat)
        #: What a layer above worked out of the rows.
        self.memory: dict[Any, Any] = {}

    @cached_property
    def _written_out(self) -> DenseRows | DistinctRows | None:
        n, d = self.shape
        if self.parts and self.parts[0][1].is_transposed and (picks := _picks(n, d, self.parts)) is not None:
            return picks
        return DenseRows(self._filled()) if n * d <= WRITTEN_OUT else None

    @cached_property
    def one_entry_each(self) -> bool:
        """Whether every row has one entry, and every column at most one: then the rows pick out unknowns one by one."""
        if self.entries > self.shape[0]:
            return False
        return isinstance(self._written_out, DistinctRows) or one_entry_each(self)

    @property
    def written(self) -> Array | None:
        """The rows as one array, where they are few and have entries to add up."""
        return self._written_out.array if isinstance(self._written_out, DenseRows) else None

    @cached_property
    def _sizes(self) -> Rows:
        return DenseRows(np.abs(self.to_dense())) if self.written is not None else abs(self._written_out or self)

    def _filled(self) -> Array:
        if len(self.parts) == 1 and self.parts[0][1].shape == self.shape:
            return self.parts[0][1].to_dense()
        out = np.zeros(self.shape)
        for where, rows in self.parts:
            out[:, where] += rows.to_dense()
        return out

    @property
    def entries(self) -> int:
        return sum(rows.entries for _, rows in self.parts)

    @property
    def by_block(self) -> RowsByBlock | None:  # type: ignore[override]
        return next((rows.by_block for _, rows in self.parts if rows.by_block is not None), None)

    def read_by_block(self) -> list[RowsByBlock]:
        return [inside for _, rows in self.parts for inside in rows.read_by_block()]

    def of_block(self, block: slice, samples: Rows) -> JoinedRows | None:
        parts = [(where, rows.of_block(block, samples)) for where, rows in self.parts]
        made = [(where, rows) for where, rows in parts if rows is not None]
        return JoinedRows(block.stop - block.start, self.shape[1], made) if len(made) == len(parts) else None

    def priced(self, x: Array, side: Array | float, most: int) -> Array:
        if not most or self._fused is None or self._fused.matrix.by_block is None or self._written_out is not None:
            return super().priced(x, side, most)
        return self._fused.priced(x, side, most)

    def nearest_priced(self, x: Array, side: Array, most: int, limit: float) -> NearestPriced | None:
        if self._fused is None or self._fused.matrix.by_block is None or self._written_out is not None:
            return None
        return self._fused.nearest_priced(x, side, most, limit)

    def __matmul__(self, v: Array) -> Array:
        if self._written_out is not None:
            return self._written_out @ v
        out = np.zeros((self.shape[0], *v.shape[1:]))
        for where, rows in self.parts:
            out += rows @ v[where]
        return out

    def transposed_matmul(self, u: Array) -> Array:
        if self._written_out is not None:
            return self._written_out.transposed_matmul(u)
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for where, rows in self.parts:
            out[where] += rows.T @ u
        return out

    @cached_property
    def _fused(self) -> FusedRows | None:
        """The rows as one matrix with factors, beside it a column of ones, if they are that."""
        return FusedRows.margins(self.shape[1], self.parts)

    def class_scores(self) -> tuple[FusedRows, Indices] | None:
        """The scores of all classes behind rows of margins, and the own classes, or None where there are none."""
        return FusedRows.class_scores(self.shape[1], self.parts)

    def sweep(self, x: Array, visit: Visit) -> Array:
        if self._written_out is not None:
            return self._written_out.sweep(x, visit)
        if self._fused is not None and x.ndim == 1:
            return self._fused.sweep(x, visit)
        return self._sweep_largest(x, visit)

    def sweep_and_gram(self, x: Array, visit: Travelling) -> tuple[Array, Array | None]:
        if self._written_out is not None or self._fused is None:
            return super().sweep_and_gram(x, visit)
        return self._fused.sweep_and_gram(x, visit)

    def _sweep_largest(self, x: Array, visit: Visit) -> Array:
        """A sweep over the part with most entries; of the others each block is taken as it comes."""
        if not self.parts:
            return super().sweep(x, visit)
        largest = max(range(len(self.parts)), key=lambda k: self.parts[k][1].entries)
        others = [part for k, part in enumerate(self.parts) if k != largest]
        out = np.zeros(x.shape)

        def visit_joined(block: slice, u: Array) -> Array:
            parts = [(where, rows[block]) for where, rows in others]
            for where, rows in parts:
                u = u + rows @ x[where]
            z = visit(block, u)
            for where, rows in parts:
                out[where] += rows.T @ z
            return z

        where, rows = self.parts[largest]
        out[where] += rows.sweep(x[where], visit_joined)
        return out

    def added_up(self, u: Array) -> tuple[Array, Array | int]:
        if self._written_out is not None:
            return self._written_out.transposed_matmul(u), self._lengths
        out, lengths = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        for where, rows in self.parts:
            part, length = rows.added_up(u)
            out[where] += part
            lengths[where] += length if rows.diagonal() is not None else length + 1
        return out, lengths

    def added_up_with_sizes(self, u: Array, size: Array) -> tuple[Array, Array | int, Array]:
        if self.by_block is None or self._written_out is not None:
            return super().added_up_with_sizes(u, size)
        out, lengths, sizes = np.zeros((3, self.shape[1]))
        for where, rows in self.parts:
            part, length, added = rows.added_up_with_sizes(u, size)
            out[where] += part
            sizes[where] += added
            lengths[where] += length if rows.diagonal() is not None else length + 1
        return out, lengths, sizes

    @cached_property
    def _lengths(self) -> Array:
        """How many entries a column of the rows written out may have."""
        out = np.zeros(self.shape[1])
        for where, rows in self.parts:
            out[where] += 1 if rows.diagonal() is not None else rows.shape[0] + 1
        return out

    def gram(self, weights: Array) -> Array:
        if self._written_out is not None:
            return self._written_out.gram(weights)
        if self._fused is not None:
            return self._fused.gram(weights)
        if (parts := self.each_block(_gram_of_block, weights)) is not None:
            return np.asarray(tree_sum(parts))
        out = np.zeros((self.shape[1], self.shape[1]))
        for k, (where, rows) in enumerate(self.parts):
            out[where, where] += rows.gram(weights)
            for other_where, other in self.parts[:k]:
                cross = cross_gram(rows, weights, other)
                out[where, other_where] += cross
                out[other_where, where] += cross.T
        return out

    def coarse_gram(self, weights: Array) -> Array:
        fused = None if self._written_out is not None else self._fused
        return self.gram(weights) if fused is None else fused.gram(weights, single_precision=True)

    def gram_diagonal(self, weights: Array) -> Array:
        if self._written_out is not None:
            return self._written_out.gram_diagonal(weights)
        return super().gram_diagonal(weights) if self._fused is None else self._fused.gram_diagonal(weights)

    def _some_columns(self, chosen: Indices) -> Rows:
        parts: list[tuple[slice, Rows]] = []
        for where, part in self.parts:
            start, stop = np.searchsorted(chosen, [where.start, where.stop]).tolist()
            if start < stop:
                parts.append((slice(start, stop), part.select_columns(chosen[start:stop] - where.start)))
        return JoinedRows(self.shape[0], chosen.size, parts)

    def __getitem__(self, index: Any) -> JoinedRows:
        size = rows_selected(self.shape[0], index)
        return JoinedRows(size, self.shape[1], [(where, rows[index]) for where, rows in self.parts])

    def __abs__(self) -> Rows:
        if self._written_out is not None:
            return self._sizes
        return JoinedRows(*self.shape, [(where, abs(rows)) for where, rows in self.parts])

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        height = self.shape[0] if index is None else rows_selected(self.shape[0], index)
        out = [[Fraction(0)] * self.shape[1] for _ in range(height)]
        for where, rows in self.parts:
            for whole, part in zip(out, rows.rational(index), strict=True):
                whole[where] = part
        return out

    @property
    def rounding(self) -> float:
        return max((rows.rounding for _, rows in self.parts), default=0.0)

    def doubled(self, index: Any) -> Doubled:
        return self.doubled_at(index, np.arange(self.shape[1]))

    def doubled_at(self, index: Any, columns: Indices) -> Doubled:
        out = Doubled(*np.zeros((2, rows_selected(self.shape[0], index), columns.size)))
        for where, rows in self.parts:
            here = slice(*np.searchsorted(columns, [where.start, where.stop]).tolist())
            if here.start < here.stop:
                out.high[:, here], out.low[:, here] = rows.doubled_at(index, columns[here] - where.start)
        return out

    def exact_doubles(self, index: Any) -> Array | None:
        out = np.zeros((rows_selected(self.shape[0], index), self.shape[1]))
        for where, rows in self.parts:
            inner = rows.exact_doubles(index)
            if inner is None:
                return None
            out[:, where] += inner
        return out

    @property
    def row_length(self) -> int:
        return sum(rows.row_length for _, rows in self.parts)

    def largest_reach(self, x: Array) -> float:
        return sum(rows.largest_reach(x[where]) for where, rows in self.parts)

    def _largest_by_column(self) -> Array:
        out = np.zeros(self.shape[1])
        for where, rows in self.parts:
            out[where] = np.maximum(out[where], rows.column_max())
        return out

    def to_matrix(self) -> Any:
        return self._side_by_side([(where, rows.to_matrix()) for where, rows in self.parts], sparse.csc_array)

    def _side_by_side(self, matrices: list[tuple[slice, Any]], form: Any) -> Any:
        """The matrices of the parts in one sparse array."""
        blocks, done = [], 0
        for where, matrix in sorted(matrices, key=lambda part: part[0].start):
            blocks += [form((self.shape[0], where.start - done)), form(matrix)]
            done = where.stop
        blocks.append(form((self.shape[0], self.shape[1] - done)))
        return sparse.hstack([block for block in blocks if block.shape[1]] or blocks, format=blocks[0].format)

    @property
    def is_made_of_arrays(self) -> bool:
        return all(rows.is_made_of_arrays for _, rows in self.parts)

    def compact(self) -> Any:
        if any(rows.shape[1] > 1 and sparse.issparse(rows[:1].to_matrix()) for _, rows in self.parts):
            return self._side_by_side([(where, rows.to_matrix()) for where, rows in self.parts], sparse.csr_array)
        out = np.zeros(self.shape, order="C")
        for block in row_blocks(self.shape[0]):  # what is made on the way stays in the cache
            for where, rows in self.parts:
                matrix = rows[block].to_matrix()
                out[block, where] += matrix.toarray() if sparse.issparse(matrix) else matrix
        return out

    def to_dense(self) -> Array:
        return self._filled() if self.written is None else self.written

    def entry_counts(self) -> tuple[Counts, Counts]:
        by_row, by_column = (np.zeros(size, dtype=np.intp) for size in self.shape)
        for where, rows in self.parts:
            own, columns = rows.entry_counts()
            by_row += own
            by_column[where] += columns
        return by_row, by_column


def _gram_of_block(rows: Rows, weights: Array) -> Array:
    return rows.gram(weights)


def _picks(size: int, width: int, parts: Sequence[tuple[slice, Rows]]) -> DistinctRows | None:
    """Transposed picks side by side as picks of unknowns, where these are in one row each and every row has one; None
    where it is otherwise."""
    columns, values = np.full(size, -1), np.zeros(size)
    for where, rows in parts:
        picked = rows.T
        if not rows.is_transposed or not isinstance(picked, PickedRows):
            return None
        columns[picked.columns] = np.arange(where.start, where.stop)
        values[picked.columns] = picked.values
    if sum(rows.shape[1] for _, rows in parts) != size or not values.all():
        return None
    return DistinctRows(values, columns, width)


def one_entry_each(rows: Rows) -> bool:
    """Whether every row has one entry, and every column at most one: then the rows pick out unknowns one by one."""
    by_row, by_column = rows.entry_counts()
    return bool(np.all(by_row == 1) and np.all(by_column <= 1))


def cross_gram(left: Rows, weights: Array, right: Rows) -> Array:
    """``left' diag(weights) right``, by expanding whichever side has fewer columns; of rows with themselves, their
    Gram matrix."""
    if left is right and np.all(weights >= 0):
        return left.gram(weights)
    if left is right and np.all(weights <= 0):
        return -left.gram(-weights)
    if left.shape[1] < right.shape[1]:
        return cross_gram(right, weights, left).T
    columns = right @ np.eye(right.shape[1])
    return left.T @ (weights[:, None] * columns)


class StackedRows(Rows):
    """Several rows objects of the same width, one above the other: all constraints of a problem as one."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = tuple(parts)
        self.ends = np.cumsum([0, *(part.shape[0] for part in parts)])
        self.shape = (int(self.ends[-1]), parts[0].shape[1])

    def _cut(self, u: Array) -> list[Array]:
        return [u[start:stop] for start, stop in zip(self.ends[:-1], self.ends[1:], strict=True)]

    def __matmul__(self, v: Array) -> Array:
        return np.concatenate([part @ v for part in self.parts])

    def transposed_matmul(self, u: Array) -> Array:
        out = np.zeros((self.shape[1], *u.shape[1:]))
        for part, piece in zip(self.parts, self._cut(u), strict=True):
            out += part.T @ piece
        return out

    def sweep(self, x: Array, visit: Visit) -> Array:
        out = np.zeros(x.shape)
        for part, start in zip(self.parts, self.ends[:-1].tolist(), strict=True):
            out += part.sweep(x, partial(_visit_below, visit, start))
        return out

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for part, piece in zip(self.parts, self._cut(weights), strict=True):
            out += part.gram(piece)
        return out

    def __getitem__(self, index: Any) -> StackedRows:
        """The selected rows; an index has to keep their order."""
        chosen = np.arange(self.shape[0])[index]
        cuts = np.searchsorted(chosen, self.ends)
        if np.any(np.diff(chosen) < 0):
            raise ValueError("rows that stand one above the other are selected in their order")
        return StackedRows(
            [
                part[chosen[start:stop] - offset]
                for part, offset, start, stop in zip(self.parts, self.ends[:-1], cuts[:-1], cuts[1:], strict=True)
            ]
        )

    def __abs__(self) -> Rows:
        return StackedRows([abs(part) for part in self.parts])

    def rational(self, index: Any = None) -> list[list[Fraction]]:
        return [row for part in (self if index is None else self[index]).parts for row in part.rational()]

    def exact_doubles(self, index: Any) -> Array | None:
        parts = [doubles for part in self[index].parts if (doubles := part.exact_doubles(slice(None))) is not None]
        return np.vstack(parts) if len(parts) == len(self.parts) else None

    @property
    def rounding(self) -> float:
        return max(part.rounding for part in self.parts)

    def column_max(self) -> Array:
        return np.asarray(np.max([part.column_max() for part in self.parts], axis=0))

    def to_matrix(self) -> Any:
        return _one_above_the_other([part.to_matrix() for part in self.parts])

    @property
    def is_made_of_arrays(self) -> bool:
        return all(part.is_made_of_arrays for part in self.parts)

    def compact(self) -> Any:
        matrices = [part.compact() for part in self.parts if part.shape[0]] or [np.zeros((0, self.shape[1]))]
        thin = [matrix for matrix in matrices if sparse.issparse(matrix)]
        if 2 * sum(matrix.shape[0] for matrix in thin) > self.shape[0]:
            return _one_above_the_other(matrices)
        return np.vstack([m.toarray() if sparse.issparse(m) else m for m in matrices])


def _visit_below(visit: Visit, start: int, block: slice, u: Array) -> Array:
    return visit(slice(start + block.start, start + block.stop), u)


def _one_above_the_other(matrices: list[Any]) -> Any:
    if any(sparse.issparse(matrix) for matrix in matrices):
        return sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    return np.vstack(matrices)
