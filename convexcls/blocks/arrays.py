"""Blocks of arrays: .npy files and memory maps, arrays in memory, collections of Dask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from convexcls.blocks.pieces import Contents, FilePiece, Stamp, as_block, digest_of, number_columns
from convexcls.data import DataError
from convexcls.engines import BlocksChanged, EngineError

#: A block of an array has about so many bytes.
BLOCK_BYTES = 32 * 2**20


@dataclass(frozen=True, kw_only=True)
class MappedPiece(FilePiece):
    """Some rows of an array in a file. ``chosen`` are its columns that are features (None: all)."""

    kind: str
    shape: tuple[int, int]
    offset: int
    by_column: bool
    start: int
    stop: int
    chosen: tuple[int, ...] | None = None
    target: int | None = None
    weights: int | None = None

    def _rows(self) -> Any:
        order: Literal["C", "F"] = "F" if self.by_column else "C"
        whole = np.memmap(self.path, np.dtype(self.kind), "r", self.offset, self.shape, order)
        return np.asarray(whole[self.start : self.stop])

    def features(self) -> Any:
        return self._features(self._rows())

    def _features(self, rows: Any) -> Any:
        rows = rows if self.chosen is None else rows[:, list(self.chosen)]
        return np.array(rows, dtype=np.float64, order="C")  # a copy: the file may change later

    def take(self, chosen: Any) -> Any:
        """Some of the rows, without reading the others; from a file that has been written to, after all are checked."""
        if not self._stands_still():
            return self.read()[chosen]
        return self._features(self._rows()[chosen])

    def contents(self) -> Contents:
        rows = self._rows()
        y, w = (None if column is None else np.array(rows[:, column]) for column in (self.target, self.weights))
        return self._features(rows), y, w


def mapped_pieces(path: str, array: Any, rows: int | None, columns: Any) -> Iterator[MappedPiece]:
    """The blocks of a memory map, of so many rows each."""
    n, d = array.shape
    length = rows or max(1, BLOCK_BYTES // max(8 * d, 1))
    by_column = not array.flags.c_contiguous
    if by_column and not array.flags.f_contiguous:
        raise DataError(f"{path}: a memory map is read as a whole: give the array itself, not some of its columns")
    for k, start in enumerate(range(0, n, length)):
        yield MappedPiece(
            path=path,
            stamp=Stamp.of(path),
            number=k,
            kind=array.dtype.str,
            shape=(n, d),
            offset=int(array.offset),
            by_column=by_column,
            start=start,
            stop=min(start + length, n),
            **columns,
        )


def opened_npy(path: str) -> Any:
    """The array of a .npy file as a memory map."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path}: not a readable NumPy file: {str(error)[:200]}") from None
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise DataError(
            f"{path}: holds {array.ndim} dimension(s) of {array.dtype}: an array of numbers with one row a sample is "
            "needed"
        )
    return array


@dataclass(frozen=True)
class MemoryPiece:
    """Some rows of an array that is in memory: told apart by where it is, not by what it holds."""

    rows: Any = field(hash=False, compare=False)
    name: str
    number: int
    identity: int

    def read(self) -> Any:
        return as_block(self.rows)

    def take(self, chosen: Any) -> Any:
        """Some of the rows."""
        return as_block(self.rows[chosen])

    def contents(self) -> Contents:
        return self.read(), None, None

    def __str__(self) -> str:
        return f"{self.name}, block {self.number}"


def memory_pieces(matrix: Any, rows: int | None) -> Iterator[MemoryPiece]:
    """The blocks of a matrix in memory."""
    n, d = matrix.shape
    length = rows or max(1, BLOCK_BYTES // max(8 * d, 1))
    for k, start in enumerate(range(0, n, length)):
        yield MemoryPiece(matrix[start : start + length], "X", k, id(matrix))


@dataclass(frozen=True)
class DaskPiece:
    """A partition of a collection of Dask, with what makes it: it is worked out where it is needed."""

    graph: bytes = field(repr=False)
    number: int
    features: tuple[str, ...] | None = None
    target: str | None = None
    weights: str | None = None
    digest: str = ""

    def _made(self) -> Any:
        import cloudpickle

        try:
            return cloudpickle.loads(self.graph).compute(scheduler="synchronous")
        except (OSError, ValueError, KeyError) as error:
            raise EngineError(f"{self}: could not be worked out: {type(error).__name__}: {error}") from None

    def _features(self, made: Any) -> Any:
        if self.features is None:
            return as_block(made)
        columns = [made[name].to_numpy() for name in self.features]
        return as_block(number_columns(columns, self.features, str(self)))

    def read(self) -> Any:
        matrix = self._features(self._made())
        if self.digest and digest_of(matrix) != self.digest:
            raise BlocksChanged(f"{self}: the data were changed since they were checked: read them anew")
        return matrix

    def contents(self) -> Contents:
        made = self._made()
        y, w = (None if name is None else made[name].to_numpy() for name in (self.target, self.weights))
        return self._features(made), y, w

    def __str__(self) -> str:
        return f"Dask partition {self.number}"


def is_dask(source: Any) -> bool:
    """Whether it is an array or a DataFrame of Dask."""
    return hasattr(source, "__dask_graph__") and hasattr(source, "to_delayed")


def dask_pieces(source: Any, **columns: Any) -> list[DaskPiece]:
    """The partitions of an array (all of its columns together) or a DataFrame."""
    import cloudpickle

    if hasattr(source, "rechunk"):
        source = source.rechunk({1: -1}) if source.numblocks[1] > 1 else source
        parts = source.to_delayed().ravel().tolist()
    else:
        parts = source.to_delayed()
    return [DaskPiece(cloudpickle.dumps(part), k, **columns) for k, part in enumerate(parts)]
