"""Tables: which columns are features, target and weights; and CSV files, with a header and one sample a line.

Whatever is wrong is named by its place. Rows are counted from 0, as everywhere in the toolkit; lines of the file from
1, as editors do.
"""

from __future__ import annotations

import csv
import io
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import click
import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.cli.screen import quoted, say
from convexcls.cli.settings import did_you_mean, read_number
from convexcls.data import GivenCells, Named
from convexcls.files import open_input
from convexcls.wording import clean, listed, shorten

MAX_LINE_CHARACTERS = 2**24
BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
BINARY = {
    b"PAR1": "a Parquet file (use --format parquet)",
    b"PK\x03\x04": "a zip archive or spreadsheet",
    b"\x1f\x8b": "a gzip archive",
}


class SourceError(click.ClickException):
    """A data file that cannot be read; the message names the file and the place."""

    exit_code = 2


def missing(path: Path, what: str, extra: str) -> SourceError:
    """The error for a file that only an extra can read."""
    return SourceError(f"{path}: reading it needs {what}; install it with: pip install 'convexcls[{extra}]'")


@dataclass(frozen=True)
class ColumnNames:
    """The columns asked for; None where the command line does not say."""

    target: str | None = None
    features: str | None = None
    weight: str | None = None


@dataclass(frozen=True)
class Used:
    """The columns taken, by position."""

    features: list[int]
    target: int
    weight: int | None


@dataclass(frozen=True, eq=False)
class FileContents:
    """What a file holds: features (with names where they have any), target, weights; the target also as text, where
    numbers are to be taken as they are written."""

    X: Any
    y: Any
    weights: Any = None
    target_text: Sequence[str] | None = None


def whole_where_possible(numbers: Array) -> NDArray[Any]:
    """Numbers as integers where all of them are, so that a label 1 is not shown as 1.0."""
    whole = np.all(numbers == np.round(numbers)) and np.all(np.abs(numbers) <= 2**53)
    return numbers.astype(np.int64) if whole else numbers


def choose(names: Sequence[str], choice: ColumnNames, path: Path) -> Used:
    """The columns to use. Without a target the last column is it, which is said on stderr; without features
    all other columns are."""
    if repeated := _repeated(names):
        raise SourceError(f"{path}: the column name {quoted(repeated[0])} occurs more than once; rename one")
    weight = None if choice.weight is None else _find(names, choice.weight, "--weight", path)
    wanted = None if choice.features is None else _split(choice.features)
    features = None if wanted is None else [_find(names, name, "--features", path) for name in wanted]
    if choice.target is not None:
        target = _find(names, choice.target, "--target", path)
    else:
        taken = {*(features or []), weight}
        left = [k for k in range(len(names)) if k not in taken]
        if not left:
            raise click.UsageError("no column is left for the target: name it with --target")
        target = left[-1]
        say(f"target: column {quoted(names[target])}, the last one (another: --target COLUMN)")
    if features is None:
        features = [k for k in range(len(names)) if k not in (target, weight)]
        if not features:
            raise SourceError(f"{path}: no column is left for the features; the file has {_listed(names)}")
    for column, role in ((target, "the target"), (weight, "the weights")):
        if column in features:
            raise click.UsageError(f"column {quoted(names[column])} cannot be a feature and {role}")
    if target == weight:
        raise click.UsageError(f"column {quoted(names[target])} cannot be the target and the weights")
    return Used(features, target, weight)


def _split(text: str) -> list[str]:
    """``a,b,c`` or, for names with commas, ``a,"b,c"``."""
    wanted = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not wanted or "" in wanted:
        raise click.UsageError(f"--features {text!r}: write the names as a,b,c")
    if repeated := _repeated(wanted):
        raise click.UsageError(f"--features names {repeated[0]!r} twice")
    return wanted


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _find(names: Sequence[str], name: str, flag: str, path: Path) -> int:
    if name in names:
        return list(names).index(name)
    raise click.UsageError(
        f"{flag}: {path.name} has no column {name!r}{did_you_mean(name, names)}; it has {_listed(names)}"
    )


def _listed(names: Sequence[str]) -> str:
    return listed(map(clean, names), 20, " and {} more")


# ---- CSV ------------------------------------------------------------------------------------------------


def read_csv(path: Path, choice: ColumnNames, exact: bool = False) -> FileContents:
    """The chosen columns of a CSV file; ``exact`` keeps the text of the numbers beside the doubles."""
    with open_input(path) as raw:
        check_text(raw, path)
        with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            try:
                return _read(text, path, choice, exact)
            except UnicodeDecodeError as error:
                raise SourceError(
                    f"{path}: not UTF-8 text (byte 0x{error.object[error.start]:02x}); save it as UTF-8"
                ) from None


def check_text(raw: BinaryIO, path: Path) -> None:
    """Refuse a file that is empty or not text, by its first bytes."""
    head: bytes = raw.peek(8192)[:8192]  # type: ignore[attr-defined]
    if not head:
        raise SourceError(f"{path}: the file is empty")
    if encoding := BOMS.get(head[:2]):
        raise SourceError(f"{path}: the text is {encoding}; save it as UTF-8")
    for magic, kind in BINARY.items():
        if head.startswith(magic):
            raise SourceError(f"{path}: this is {kind}, not text")
    if b"\0" in head:
        raise SourceError(f"{path}: this is a binary file, not text")


def _lines(text: TextIO, path: Path) -> Iterator[str]:
    """The lines of a file; one without end is refused before it fills the memory."""
    number = 0
    while line := text.readline(MAX_LINE_CHARACTERS):
        number += 1
        if len(line) == MAX_LINE_CHARACTERS:
            raise SourceError(f"{path}, line {number}: longer than {MAX_LINE_CHARACTERS:,} characters")
        if "\0" in line:
            raise SourceError(f"{path}, line {number}: holds a NUL character; this is not a CSV file")
        yield line


def _records(text: TextIO, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the line on which it starts."""
    reader = csv.reader(_lines(text, path), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise SourceError(f"{path}, line {line}: {_csv_error(error)}") from None
        if any(cell.strip() for cell in record):
            yield line, record


def _csv_error(error: csv.Error) -> str:
    words = {
        "unexpected end of data": "a quoted field that starts here is never closed",
        "field larger": f"a field is longer than {csv.field_size_limit():,} characters; is a quote not closed?",
        "expected after": "text follows a closing quote; double the quotes inside a quoted field",
    }
    return next((said for key, said in words.items() if key in str(error)), str(error))


def _read(text: TextIO, path: Path, choice: ColumnNames, exact: bool) -> FileContents:
    records = _records(text, path)
    first = next(records, None)
    if first is None:
        raise SourceError(f"{path}: the file holds blank lines only")
    names = _header(first[1], path)
    body = _Body(path, names, **vars(choose(names, choice, path)), text=[] if exact else None)
    for line, record in records:
        body.add(line, record)
    return body.samples()


def _header(record: list[str], path: Path) -> list[str]:
    names = [name.strip() for name in record]
    if all(_is_number(name) for name in names):
        raise SourceError(
            f"{path}: the first line holds only numbers ({shorten(', '.join(names), 40)}); "
            "a header with the names of the columns is required"
        )
    if len(names) == 1 and (mark := next((m for m in ";\t|" if m in names[0]), None)):
        raise SourceError(f"{path}: the header has no comma but {mark!r}; the columns must be separated by commas")
    if "" in names:
        raise SourceError(
            f"{path}: column {names.index('') + 1} has no name in the header; name it "
            "(an index that pandas wrote is left out by to_csv(index=False))"
        )
    return names


def _is_number(text: str) -> bool:
    try:
        read_number(text)
    except ValueError:
        return False
    return True


@dataclass
class _Body:
    """The samples read so far: numbers of the features, text of target and weight, lines."""

    path: Path
    names: Sequence[str]
    features: Sequence[int]
    target: int
    weight: int | None
    text: list[tuple[str, ...]] | None = None
    numbers: array[float] = field(default_factory=lambda: array("d"))
    targets: list[str] = field(default_factory=list)
    weights: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def __post_init__(self) -> None:
        several = len(self.features) > 1
        self.pick = itemgetter(*self.features) if several else lambda record: (record[self.features[0]],)

    def add(self, line: int, record: list[str]) -> None:
        """Take the next record."""
        if len(record) != len(self.names):
            raise SourceError(
                f"{self.path}, line {line}: {len(record)} cells, but the header names {len(self.names)} columns"
            )
        cells = self.pick(record)
        joined = "".join(cells)
        try:
            if "_" in joined or not joined.isascii():  # Python reads 1_000 and digits of other scripts
                raise ValueError
            numbers = list(map(float, cells))
        except ValueError:
            numbers = [self._number(line, column, record[column]) for column in self.features]
        self.numbers.extend(numbers)
        if self.text is not None:
            self.text.append(tuple(cells))
        label = record[self.target].strip()
        if not label:
            raise SourceError(f"{self._place(line, self.target)} is empty: every sample needs a target")
        self.targets.append(sys.intern(label))
        if self.weight is not None:
            self.weights.append(self._number(line, self.weight, record[self.weight]))
        self.lines.append(line)

    def _place(self, line: int, column: int) -> str:
        return f"{self.path}, line {line} (row {len(self.targets)}), column {quoted(self.names[column])}"

    def _number(self, line: int, column: int, cell: str) -> float:
        cell = cell.strip()
        if not cell:
            raise SourceError(f"{self._place(line, column)} is empty: fill it in or drop the row")
        try:
            return read_number(cell)
        except ValueError:
            pass
        if cell.lower().lstrip("+-") in ("nan", "inf", "infinity", "na", "null"):
            raise SourceError(f"{self._place(line, column)} is {cell}: fill it in or drop the row")
        raise SourceError(
            f"{self._place(line, column)} is {quoted(cell)}, not a finite number: encode the column as "
            "numbers or leave it out with --features"
        )

    def samples(self) -> FileContents:
        """Everything read, checked."""
        if not self.targets:
            raise SourceError(f"{self.path}: there is a header but no sample below it")
        matrix = np.frombuffer(self.numbers).reshape(len(self.targets), len(self.features))
        if not np.all(np.isfinite(matrix)):
            row, place = (int(k) for k in np.argwhere(~np.isfinite(matrix))[0])
            name = quoted(self.names[self.features[place]])
            what = "missing (NaN)" if np.isnan(matrix[row, place]) else "infinite or too large"
            raise SourceError(
                f"{self.path}, line {self.lines[row]} (row {row}), column {name} is {what}: fill it in or drop the row"
            )
        given = None if self.text is None else GivenCells(np.array(self.text, dtype=object))
        table = Named(matrix, tuple(self.names[k] for k in self.features), given=given)
        weights = None if self.weight is None else np.array(self.weights)
        return FileContents(table, labels(self.targets), weights, None if self.text is None else self.targets)


def labels(cells: Sequence[str]) -> NDArray[Any]:
    """A target as whole numbers or numbers where all cells are, otherwise as text."""
    try:
        known = {cell: read_number(cell) for cell in set(cells)}
    except ValueError:
        return np.array(cells, dtype=object)
    return whole_where_possible(np.array([known[cell] for cell in cells]))
