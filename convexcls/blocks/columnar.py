"""Blocks of tables in columns, by pyarrow: Parquet by row group, Arrow and Feather by batch, CSV by ranges of lines."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from convexcls.blocks.pieces import Columns, Contents, FilePiece, Stamp, as_block, number_columns
from convexcls.data import DataError
from convexcls.tables.errors import TableError
from convexcls.tables.files import missing

#: A block of a CSV file has about so many bytes of text.
CSV_BYTES = 16 * 2**20
#: A line is looked for in so many bytes at a time.
LINE_BYTES = 2**16
#: The header is at most so long.
MAX_HEADER_BYTES = 2**24


def arrow(name: str) -> Any:
    """The module pyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise missing(name, "pyarrow", "tables") from None
    return pyarrow


@dataclass(frozen=True, kw_only=True)
class TablePiece(FilePiece):
    """A block of a table with named columns."""

    columns: Columns

    def table(self, names: list[str]) -> Any:
        """These columns as a table of pyarrow."""
        raise NotImplementedError

    def features(self) -> Any:
        return self._features(self.table(list(self.columns.features)))

    def _features(self, table: Any) -> Any:
        names = self.columns.features
        return as_block(number_columns([_values(table.column(name), name, self) for name in names], names, str(self)))

    def contents(self) -> Contents:
        table = self.table(list(dict.fromkeys(self.columns.used)))
        others = (self.columns.target, self.columns.weights)
        y, w = (None if name is None else _labels(table.column(name)) for name in others)
        return self._features(table), y, w


def _values(column: Any, name: str, piece: FilePiece) -> Any:
    """A column of numbers, NaN where it is empty; truth values as 0 and 1."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_decimal(kind) or pa.types.is_null(kind):
        column = column.cast(pa.float64())
    elif not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise DataError(
            f"{piece}: column {name!r} is not of numbers ({kind}): encode it as numbers, or choose other columns by "
            "features=[...]"
        )
    if pa.types.is_integer(kind) and column.null_count:
        column = column.cast(pa.float64())
    return column.to_numpy()


def _labels(column: Any) -> Any:
    """Labels, or weights: numbers, or text as objects; an empty cell is None or NaN."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()


@dataclass(frozen=True, kw_only=True)
class ParquetPiece(TablePiece):
    """Some row groups of a Parquet file."""

    group: int

    def table(self, names: list[str]) -> Any:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            return file.read_row_group(self.group, columns=names, use_threads=False)

    @classmethod
    def all_of(cls, path: str) -> tuple[tuple[str, ...], Iterator[Any]]:
        """The names of the columns, and the pieces of a file as functions of what the columns are for."""
        arrow(path)
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            names, count = tuple(file.schema_arrow.names), file.num_row_groups
        stamp = Stamp.of(path)
        return names, (lambda c, k=k: cls(path=path, stamp=stamp, number=k, columns=c, group=k) for k in range(count))


@dataclass(frozen=True, kw_only=True)
class ArrowPiece(TablePiece):
    """A batch of an Arrow (Feather) file."""

    batch: int

    def table(self, names: list[str]) -> Any:
        pa = arrow(self.path)
        with pa.memory_map(self.path) as source, pa.ipc.open_file(source) as file:
            return pa.Table.from_batches([file.get_batch(self.batch).select(names)])

    @classmethod
    def all_of(cls, path: str) -> tuple[tuple[str, ...], Iterator[Any]]:
        """As of Parquet."""
        pa = arrow(path)
        with pa.memory_map(path) as source, pa.ipc.open_file(source) as file:
            names, count = tuple(file.schema.names), file.num_record_batches
        stamp = Stamp.of(path)
        return names, (lambda c, k=k: cls(path=path, stamp=stamp, number=k, columns=c, batch=k) for k in range(count))


@dataclass(frozen=True, kw_only=True)
class CsvPiece(TablePiece):
    """The lines of a CSV file between two places, which have the columns of its header."""

    start: int
    stop: int
    names: tuple[str, ...]
    sep: str

    def table(self, names: list[str]) -> Any:
        arrow(self.path)
        from pyarrow import csv

        with open(self.path, "rb") as file:
            file.seek(self.start)
            data = file.read(self.stop - self.start)
        return csv.read_csv(
            io.BytesIO(data),
            csv.ReadOptions(column_names=list(self.names), use_threads=False),
            csv.ParseOptions(delimiter=self.sep),
            csv.ConvertOptions(include_columns=names),
        )

    @classmethod
    def all_of(cls, path: str, sep: str | None = None) -> tuple[tuple[str, ...], Iterator[Any]]:
        """As of Parquet; the separator is that which the header has most of."""
        arrow(path)
        with open(path, "rb") as file:
            header = file.readline(MAX_HEADER_BYTES)
            if not header.strip():
                raise TableError(f"{path}: the file has no header in its first line")
            text = header.decode("utf-8-sig").rstrip("\r\n")
            sep = sep or max(",;\t|", key=text.count)
            names = _header(text, sep)
            ends = [len(header), *_ends_of_lines(file)]
        stamp = Stamp.of(path)
        places = [(a, b) for a, b in itertools.pairwise(ends) if b > a]
        return names, (
            lambda c, k=k, a=a, b=b: cls(
                path=path, stamp=stamp, number=k, columns=c, start=a, stop=b, names=names, sep=sep
            )
            for k, (a, b) in enumerate(places)
        )


def _header(text: str, sep: str) -> tuple[str, ...]:
    import csv

    return tuple(next(csv.reader([text], delimiter=sep)))


def _ends_of_lines(file: Any, length: int | None = None) -> Iterator[int]:
    """Places after the end of a line, each about so many bytes behind the one before; the last is the end."""
    length = CSV_BYTES if length is None else length
    size = file.seek(0, io.SEEK_END)
    place = length
    while place < size:
        file.seek(place)
        while chunk := file.read(LINE_BYTES):
            found = chunk.find(b"\n")
            if found >= 0:
                place += found + 1
                break
            place += len(chunk)
        if place < size:
            yield place
        place += length
    yield size


def ends_of_lines(path: str, length: int | None = None) -> list[int]:
    """The same of a file, with 0 first."""
    with open(path, "rb") as file:
        return [0, *_ends_of_lines(file, length)]
