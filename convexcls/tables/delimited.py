"""Text with one sample a line: its separator, decimal mark, quote and encoding, given or found out, and its columns.

pyarrow reads it where it is installed. The csv module reads it where it is not, where the text of the numbers is wanted
beside the doubles, and where something is wrong, to say on which line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice

import numpy as np

from convexcls.arrays import Indices
from convexcls.tables.columns import MISSING, Column, arrow_column, is_number, text_column
from convexcls.tables.errors import TableError
from convexcls.wording import shorten

MAX_LINE_CHARACTERS = 2**24
#: What is looked at to find out how a file is written: so many bytes, so many lines.
HEAD_BYTES, HEAD_LINES = 2**18, 100
SEPARATORS = (",", ";", "\t", "|")
BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
NAMELESS = "rownames"
#: A decimal of so many digits is the shortest one that rounds to its double.
MAX_SHOWN_DIGITS = 15


@dataclass(frozen=True)
class Dialect:
    """How a file is written; None where that is to be found out."""

    sep: str | None = None
    decimal: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool = True


@dataclass(frozen=True, eq=False)
class Delimited:
    """The columns of a text, the line on which each row starts (None: read again to know it), and what was found."""

    columns: list[Column]
    lines: Indices | None
    notes: tuple[str, ...]


def read_delimited(data: bytes, name: str, dialect: Dialect, exact: bool = False) -> Delimited:
    """The columns of a text; ``exact`` keeps the text of numbers."""
    check_text(data, name)
    dialect, notes = _decoded(data, name, dialect)
    dialect = found_out(data, name, dialect)
    found = None
    if not exact and find_spec("pyarrow") is not None and dialect.sep != " ":
        found = _quickly(data, name, dialect)
    found = found or _slowly(data, name, dialect, exact)
    columns = found.columns
    if not exact and _has_short_numbers(data, dialect):
        columns = [replace(column, written=column.kind == "number") for column in columns]
    return replace(found, columns=columns, notes=notes + found.notes)


def _has_short_numbers(data: bytes, dialect: Dialect) -> bool:
    """Whether no number has more than 15 digits: then doubles show every number as it is written."""
    if not (dialect.encoding or "").lower().startswith(("utf-8", "latin", "cp125", "ascii", "iso-8859")):
        return False  # a digit may be more than a byte
    mark = (dialect.decimal or ".").encode()
    digits = data.translate(bytes.maketrans(b"123456789" + mark, b"0" * 10))
    if b"0" * (MAX_SHOWN_DIGITS + 1) not in digits:  # far faster than the expression
        return True
    return re.search(rb"[1-9](?:%s?[0-9]){%d}" % (re.escape(mark), MAX_SHOWN_DIGITS), data) is None


def check_text(data: bytes, name: str) -> None:
    """Refuse what is empty or not text, by its first bytes."""
    if not data:
        raise TableError(f"{name}: the file is empty")
    if b"\0" in data[:8192] and data[:2] not in BOMS:
        raise TableError(f"{name}: this is a binary file, not text")
    first = data.find(b"\n", 0, MAX_LINE_CHARACTERS + 1)
    if first < 0 and len(data) > MAX_LINE_CHARACTERS and data.find(b"\r", 0, MAX_LINE_CHARACTERS) < 0:
        raise TableError(f"{name}, line 1: longer than {MAX_LINE_CHARACTERS:,} characters")


def _decoded(data: bytes, name: str, dialect: Dialect) -> tuple[Dialect, tuple[str, ...]]:
    """The dialect with the encoding: that of the mark at the beginning, UTF-8, else that of Windows."""
    given = dialect.encoding
    if given is None:
        marked = next((encoding for mark, encoding in BOMS.items() if data.startswith(mark)), None)
        given = marked or ("utf-8" if data.isascii() else None)
    try:
        if given is not None:
            if not (given == "utf-8" and data.isascii()):
                data.decode(given)
            return replace(dialect, encoding=given), ()
        data.decode("utf-8")
        return replace(dialect, encoding="utf-8"), ()
    except LookupError:
        raise TableError(f"there is no encoding {given!r}", encoding="latin-1") from None
    except UnicodeError as error:
        place = getattr(error, "start", 0)
        if dialect.encoding is not None or given is not None:
            raise TableError(f"{name}: not {given} text (byte {place}); name another", encoding="latin-1") from None
    wide = b"\x81 \x8d \x8f \x90 \x9d".split()  # not letters of Windows-1252
    found = "latin-1" if any(byte in data for byte in wide) else "cp1252"
    told = f"{name} is not UTF-8 (byte 0x{data[place]:02x}): read as {found} (another: --encoding)"
    return replace(dialect, encoding=found), (told,)


# ---- how it is written -------------------------------------------------------------------------------------


def found_out(data: bytes, name: str, dialect: Dialect) -> Dialect:
    """The dialect with everything that was not given, from the first lines."""
    text = data[:HEAD_BYTES].decode(dialect.encoding or "utf-8", errors="ignore")
    lines = [line for line in text.splitlines()[:HEAD_LINES] if line.strip()]
    if len(data) > HEAD_BYTES and len(lines) > 1:
        lines.pop()  # it may be cut off
    if not lines:
        raise TableError(f"{name}: the file holds blank lines only")
    quote = dialect.quote or (
        "'" if '"' not in text and re.search(r"(^|[,;\t|])'[^'\n]*'([,;\t|]|$)", text, re.M) else '"'
    )
    sep = dialect.sep or _separator(lines, quote)
    decimal = dialect.decimal or ("," if sep != "," and _has_decimal_commas(lines, sep, quote) else ".")
    if len(sep) != 1 or len(decimal) != 1 or sep == decimal:
        raise TableError(f"separator {sep!r} and decimal mark {decimal!r} must be two different letters")
    return replace(dialect, sep=sep, decimal=decimal, quote=quote)


def _cells(lines: Sequence[str], sep: str, quote: str) -> list[list[str]]:
    reader = csv.reader(lines, delimiter=sep, quotechar=quote, skipinitialspace=sep == " ")
    try:
        return [[cell.strip() for cell in record] for record in reader]
    except csv.Error:
        return []


def _separator(lines: Sequence[str], quote: str) -> str:
    """The mark that cuts most lines into equally many cells, two or more; blanks where no other does."""
    best, most = ",", 0.0
    for sep in (*SEPARATORS, " "):
        widths = [len(record) for record in _cells(lines, sep, quote)]
        if not widths or widths[0] < 2:
            continue
        usual = max(set(widths[1:] or widths), key=widths.count)
        fits = widths.count(usual) + (widths[0] == usual - 1)  # R names the rows, but not their column
        share = fits / len(widths) if usual > 1 else 0.0
        if share > most + 1e-9 and (sep != " " or share == 1.0):
            best, most = sep, share
    return best


def _has_decimal_commas(lines: Sequence[str], sep: str, quote: str) -> bool:
    cells = [cell for record in _cells(lines, sep, quote)[1:] for cell in record]
    commas = sum(bool(re.fullmatch(r"[+-]?\d*,\d+([eE][+-]?\d+)?", cell)) for cell in cells)
    points = sum(bool(re.fullmatch(r"[+-]?\d*\.\d+([eE][+-]?\d+)?", cell)) for cell in cells)
    return commas > points


# ---- the header ---------------------------------------------------------------------------------------------


def header(record: Sequence[str], first: Sequence[str], name: str, dialect: Dialect) -> list[str]:
    """The names of the columns, above the ``first`` row. A first column without one holds row names: pandas and R write
    such."""
    if not dialect.header:
        return [f"x{k + 1}" for k in range(len(record))]
    names = [cell.strip() for cell in record]
    if all(map(is_number, names)):
        raise TableError(
            f"{name}: the first line holds only numbers ({shorten(', '.join(names), 40)}); a header with the names of "
            "the columns is required, or the word that there is none",
            header=False,
        )
    if len(first) == len(names) + 1 and first[-1].strip():  # as R writes a table with row names
        names = [NAMELESS, *names]
    if names and not names[0] and NAMELESS not in names:
        names[0] = NAMELESS
    if "" in names:
        raise TableError(f"{name}: column {names.index('') + 1} has no name in the header; name it")
    if repeated := sorted({n for n in names if names.count(n) > 1}):
        raise TableError(f"{name}: the column name {repeated[0]!r} occurs more than once; rename one")
    return names


# ---- two readers --------------------------------------------------------------------------------------------


def _quickly(data: bytes, name: str, dialect: Dialect) -> Delimited | None:
    """The columns by pyarrow; None where anything is unusual, so that the other reader has to tell of it."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    text = data[:HEAD_BYTES].decode(dialect.encoding or "utf-8", errors="ignore")
    first = list(islice(_records(io.StringIO(text, newline=""), name, dialect, cut=len(data) > HEAD_BYTES), 2))
    if len(first) < 2:
        return None
    names = header(first[0][1], first[1][1], name, dialect)
    try:
        found = arrow.read_csv(
            pa.BufferReader(data),
            read_options=arrow.ReadOptions(
                column_names=names,
                skip_rows_after_names=0,
                skip_rows=first[0][2] if dialect.header else 0,
                encoding={"utf-8-sig": "utf-8"}.get(dialect.encoding or "", dialect.encoding or "utf-8"),
            ),
            parse_options=arrow.ParseOptions(
                delimiter=dialect.sep, quote_char=dialect.quote, newlines_in_values=True, ignore_empty_lines=True
            ),
            convert_options=arrow.ConvertOptions(
                null_values=list(MISSING),
                strings_can_be_null=True,
                true_values=[],
                false_values=[],
                decimal_point=dialect.decimal,
            ),
        )
    except (pa.ArrowException, ValueError):
        return None
    columns = [arrow_column(n, found.column(k), dialect.decimal or ".") for k, n in enumerate(names)]
    odd = any(c.kind == "number" and np.isinf(c.values).any() for c in columns)
    blank = bool(columns) and found.num_rows > 0 and bool(np.all([c.missing for c in columns], axis=0).any())
    return None if odd or blank or not found.num_rows else Delimited(columns, None, ())


def _slowly(data: bytes, name: str, dialect: Dialect, exact: bool) -> Delimited:
    """The columns by the csv module, or the place of what is wrong."""
    names: list[str] = []
    lines: list[int] = []
    cells: list[list[str]] = []
    kept: list[str] | None = None
    with io.TextIOWrapper(io.BytesIO(data), encoding=dialect.encoding, newline="") as text:
        for line, record, _ in _records(text, name, dialect):
            if kept is None:
                kept = record
                if dialect.header:
                    continue
            if not names:
                names = header(kept, record, name, dialect)
                cells = [[] for _ in names]
            if len(record) != len(names):
                raise TableError(f"{name}, line {line}: {len(record)} cells, but the header names {len(names)} columns")
            lines.append(line)
            for column, cell in zip(cells, record, strict=True):
                column.append(cell)
    if not names:
        header(kept or [], [], name, dialect)
        raise TableError(f"{name}: there is a header but no sample below it")
    decimal = dialect.decimal or "."
    columns = [text_column(n, column, decimal, exact) for n, column in zip(names, cells, strict=True)]
    return Delimited(columns, np.array(lines), ())


def lines_of(data: bytes, name: str, dialect: Dialect) -> Indices:
    """The line on which each row starts."""
    dialect = found_out(data, name, _decoded(data, name, dialect)[0])
    with io.TextIOWrapper(io.BytesIO(data), encoding=dialect.encoding, newline="") as text:
        lines = [line for line, _, _ in _records(text, name, dialect)]
    return np.array(lines[1:] if dialect.header else lines)


def _records(
    text: io.TextIOBase, name: str, dialect: Dialect, cut: bool = False
) -> Iterator[tuple[int, list[str], int]]:
    """The records that are not blank, each with the line on which it starts and the one on which it ends."""
    reader = csv.reader(
        _lines(text, name),
        delimiter=dialect.sep or ",",
        quotechar=dialect.quote or '"',
        skipinitialspace=dialect.sep == " ",
        strict=True,
    )
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if cut:
                return
            raise TableError(f"{name}, line {line}: {_csv_error(error)}") from None
        if dialect.sep == " " and record and not record[-1]:
            record.pop()
        if any(cell.strip() for cell in record):
            yield line, record, reader.line_num


def _lines(text: io.TextIOBase, name: str) -> Iterator[str]:
    """The lines of a file; one without end is refused before it fills the memory."""
    number = 0
    while line := text.readline(MAX_LINE_CHARACTERS):
        number += 1
        if len(line) == MAX_LINE_CHARACTERS:
            raise TableError(f"{name}, line {number}: longer than {MAX_LINE_CHARACTERS:,} characters")
        if "\0" in line:
            raise TableError(f"{name}, line {number}: holds a NUL character; this is not a CSV file")
        yield line.removeprefix("\ufeff") if number == 1 else line


def _csv_error(error: csv.Error) -> str:
    words = {
        "unexpected end of data": "a quoted field that starts here is never closed",
        "field larger": f"a field is longer than {csv.field_size_limit():,} characters; is a quote not closed?",
        "expected after": "text follows a closing quote; double the quotes inside a quoted field",
    }
    return next((said for key, said in words.items() if key in str(error)), str(error))
