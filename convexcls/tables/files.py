"""Files as tables: their format by name or first bytes, packed or not, several as one."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from convexcls.arrays import Indices
from convexcls.files import open_input
from convexcls.tables.columns import Column, array_column, arrow_column, joined
from convexcls.tables.delimited import Dialect, lines_of, read_delimited
from convexcls.tables.errors import TableError
from convexcls.tables.table import Table
from convexcls.wording import clean, listed

STDIN = "-"
ENDINGS = {
    "csv": (".csv", ".tsv", ".tab", ".dat", ".data"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
    "npy": (".npy",),
    "npz": (".npz",),
    "xlsx": (".xlsx",),
}
#: Text, as what it looks like.
TEXT = ".txt"
FORMATS = {ending: name for name, endings in ENDINGS.items() for ending in endings} | {TEXT: "text"}
PACKED = (".gz", ".bz2", ".xz", ".zst")
MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather", b"\x93NUMPY": "npy"}
_PACKED_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
#: A packed file that grows beyond this is refused: a few bytes can make many.
MAX_UNPACKED_BYTES = 16 * 2**30
MAX_COLUMNS = 1_000_000


@dataclass(frozen=True, eq=False)
class Opened:
    """A file in memory: its bytes, its name for messages, its format."""

    name: str
    data: bytes
    form: str


def format_of(path: Path) -> str | None:
    """The format that the name of a file tells, without the ending of a packed one; None where it tells none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
        return FORMATS.get(suffixes[-1], "text") if suffixes else "text"
    return FORMATS.get(suffixes[-1]) if suffixes else None


def check_there(source: str) -> None:
    """Refuse the name of a file that is not there, with one that is like it."""
    path = Path(source)
    if source != STDIN and not path.exists() and not glob.has_magic(source):
        raise TableError(f"there is no file {source!r}{_near(path)}")


def paths_of(source: str) -> list[Path]:
    """The files that a name stands for: itself, all data files of a folder, all that a pattern fits."""
    path = Path(source)
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith(".") and format_of(p))
        if not found:
            raise TableError(f"{source!r} is a directory without a data file: name a file")
        return found
    if not path.exists() and glob.has_magic(source):
        found = sorted(Path(p) for p in glob.glob(source, recursive=True) if Path(p).is_file())
        if not found:
            raise TableError(f"no file fits {source!r}")
        return found
    return [path]


def opened(path: Path, form: str | None = None) -> Opened:
    """A file, unpacked, with its format: the one given, that of its first bytes, or that of its name."""
    name = "standard input" if str(path) == STDIN else str(path)
    if str(path) == STDIN:
        raw = sys.stdin.buffer.read()
    else:
        check_there(str(path))
        with open_input(path) as file:
            raw = file.read()
    if not raw:
        raise TableError(f"{name}: the file is empty")
    packing = next((ending for magic, ending in _PACKED_MAGIC.items() if raw.startswith(magic)), None)
    data = raw if packing is None else _unpacked(raw, packing, name)
    told = next((found for magic, found in MAGIC.items() if data.startswith(magic)), None)
    named = None if str(path) == STDIN else format_of(path)
    if form is None:
        form = told or named or _of_zip(data) or ("text" if str(path) == STDIN or packing else None)
    if form is None:
        raise TableError(f"{name}: its name tells none of the formats {', '.join(ENDINGS)}; name one", format="csv")
    if form in ("csv", "text", "svmlight") and (told or data.startswith(b"PK\x03\x04")):
        kind = told or "zip archive or spreadsheet"
        raise TableError(f"{name}: this is a {kind}, not text", **({"format": told} if told else {}))
    if form == "text":
        form = "svmlight" if _is_svmlight(data) else "csv"
    return Opened(name, data, form)


def _near(path: Path) -> str:
    """A file beside it with a name like it."""
    from convexcls.wording import did_you_mean

    folder = path.parent
    return did_you_mean(path.name, [p.name for p in folder.iterdir()]) if folder.is_dir() else ""


def _of_zip(data: bytes) -> str | None:
    if not data.startswith(b"PK\x03\x04"):
        return None
    return "xlsx" if b"[Content_Types].xml" in data[:4096] or b"xl/" in data[-65536:] else "npz"


def _is_svmlight(data: bytes) -> bool:
    lines = data[:65536].splitlines()[:50]
    return any(re.match(rb"\s*[^\s,;]+(\s+\d+:[-+.\d])", line) for line in lines)


def _unpacked(raw: bytes, packing: str, name: str) -> bytes:
    opener: dict[str, Callable[[Any], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    try:
        if packing == ".zst":
            try:
                import pyarrow as pa
            except ImportError:
                raise missing(name, "pyarrow", "tables") from None
            with pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
                data = stream.read(MAX_UNPACKED_BYTES + 1)
        else:
            with opener[packing](io.BytesIO(raw)) as stream:
                data = stream.read(MAX_UNPACKED_BYTES + 1)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise TableError(f"{name}: not a readable {packing} file: {clean(str(error))[:200]}") from None
    if len(data) > MAX_UNPACKED_BYTES:
        raise TableError(f"{name}: unpacks to more than {MAX_UNPACKED_BYTES:,} bytes; unpack it and read a part")
    return bytes(data)


def missing(name: str, what: str, extra: str) -> TableError:
    """The error for a file that only an extra can read."""
    return TableError(f"{name}: reading it needs {what}; install it with: pip install 'convexcls[{extra}]'")


def read_table(
    source: Any,
    *,
    format: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    exact: bool = False,
) -> Table:
    """The table of a file: CSV and the like, Parquet, Feather or Arrow, .npy and .npz, .xlsx; packed by gzip, bzip2, xz
    or Zstandard; of a folder or a pattern with ``*`` the rows of all files; ``"-"`` is the standard input.

    The ``format`` is that of the name or of the first bytes. Of text the separator ``sep``, the ``decimal`` mark, the
    ``quote`` and the ``encoding`` are found out where they are not given; ``header=False`` says that the first line is
    data. ``exact`` keeps numbers as they are written, for exact proofs.

    >>> import convexcls as cc
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = path.write_text("größe;art;y\\n1,5;a;0\\n2,5;b;1\\n", encoding="latin-1")
    >>> table = cc.read_table(path)
    >>> table, table["größe"].values.tolist()
    (<Table of 2 rows: größe (numbers), art (2 levels), y (numbers)>, [1.5, 2.5])
    """
    dialect = Dialect(sep, decimal, quote, encoding, header)
    files = [opened(path, format) for path in paths_of(str(source))]
    return table_of(files, dialect, exact)


def table_of(files: Sequence[Opened], dialect: Dialect, exact: bool = False) -> Table:
    """The rows of one file, or of several with the same columns."""
    parts = [_table(file, dialect, exact) for file in files]
    first = parts[0]
    if len(parts) == 1:
        return first
    for file, part in zip(files[1:], parts[1:], strict=True):
        if part.names != first.names:
            raise TableError(
                f"{file.name} has the columns {listed(part.names, 8)}, and {files[0].name} has "
                f"{listed(first.names, 8)}: files that are read together have the same"
            )
    columns = [joined([part.columns[name] for part in parts]) for name in first.names]
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return Table.of_columns(columns, f"{len(files)} files from {files[0].name}", notes)


def _table(file: Opened, dialect: Dialect, exact: bool) -> Table:
    if file.form == "csv":
        found = read_delimited(file.data, file.name, dialect, exact)

        def lines() -> Indices:
            return found.lines if found.lines is not None else lines_of(file.data, file.name, dialect)

        return Table.of_columns(found.columns, file.name, (*found.notes, *header_notes(found.columns, dialect)), lines)
    readers = {"parquet": _parquet, "feather": _feather, "npy": _npy, "npz": _npz, "xlsx": _xlsx}
    if file.form not in readers:
        raise TableError(f"{file.name}: an svmlight file has no columns with names: give it to a model as it is")
    columns = readers[file.form](file)
    if not columns or not len(columns[0]):
        raise TableError(f"{file.name}: the table is empty")
    if len({c.name for c in columns}) < len(columns):
        names = [c.name for c in columns]
        repeated = next(n for n in names if names.count(n) > 1)
        raise TableError(f"{file.name}: the column name {repeated!r} occurs more than once; rename one")
    return Table.of_columns(columns, file.name)


def header_notes(columns: Sequence[Column], dialect: Dialect) -> list[str]:
    """A warning of a header that looks like data: numbers over columns of numbers, or the text of a cell."""
    from convexcls.tables.columns import is_number

    odd = [c for c in columns if (c.kind == "number" and is_number(c.name)) or c.name in c.levels]
    if not dialect.header or len(odd) * 2 < len(columns):
        return []
    names = listed((repr(c.name) for c in columns), 6)
    return [f"the header looks like data ({names}): if the first line is a sample, say --no-header"]


# ---- formats ------------------------------------------------------------------------------------------------------


def _arrow(read: Callable[[Any], Any], file: Opened, kind: str) -> list[Column]:
    try:
        import pyarrow as pa
    except ImportError:
        raise missing(file.name, "pyarrow", "tables") from None
    try:
        table = read(pa)
    except (pa.ArrowException, ValueError, OSError, TypeError) as error:
        raise TableError(f"{file.name}: not a readable {kind} file: {clean(str(error))[:200]}") from None
    names = [name for name in table.column_names if not re.fullmatch(r"__index_level_\d+__", name)]
    return [arrow_column(name, table.column(name)) for name in names]


def _parquet(file: Opened) -> list[Column]:
    def read(pa: Any) -> Any:
        from pyarrow import parquet

        return parquet.read_table(pa.BufferReader(file.data))

    return _arrow(read, file, "Parquet")


def _feather(file: Opened) -> list[Column]:
    def read(pa: Any) -> Any:
        from pyarrow import feather

        if file.data.startswith((b"ARROW1", b"FEA1")):
            return feather.read_table(pa.BufferReader(file.data))
        with pa.ipc.open_stream(pa.BufferReader(file.data)) as stream:
            return stream.read_all()

    return _arrow(read, file, "Feather")


def _loaded(file: Opened) -> Any:
    try:
        return np.load(io.BytesIO(file.data), allow_pickle=False)
    except (ValueError, OSError, EOFError, SyntaxError, zipfile.BadZipFile) as error:
        raise TableError(f"{file.name}: not a readable NumPy file: {clean(str(error))[:200]}") from None


def _npy(file: Opened) -> list[Column]:
    array = _loaded(file)
    if getattr(array, "dtype", None) is not None and array.dtype.names:
        return [array_column(name, array[name]) for name in array.dtype.names]
    return _matrix_columns(file, array)


def _matrix_columns(file: Opened, array: Any) -> list[Column]:
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.shape[1] > MAX_COLUMNS:
        raise TableError(f"{file.name}: holds {getattr(array, 'ndim', 'no')} dimension(s), a table has 2")
    return [array_column(f"x{k + 1}", array[:, k]) for k in range(array.shape[1])]


def _npz(file: Opened) -> list[Column]:
    """X with y, and weights where there are some; or arrays of one dimension as columns."""
    arrays = _loaded(file)
    try:
        found = {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, EOFError, zlib.error, zipfile.BadZipFile, AttributeError) as error:
        raise TableError(f"{file.name}: not a readable NumPy file: {clean(str(error))[:200]}") from None
    if "X" not in found:
        if found and all(array.ndim == 1 for array in found.values()):
            return [array_column(name, array) for name, array in found.items()]
        raise TableError(
            f"{file.name}: holds the arrays {listed(found, 8)}; a table is X with y, or one array a column"
        )
    others = [
        array_column(name, array.ravel())
        for name, array in found.items()
        if name != "X" and array.size == len(found["X"])
    ]
    others.sort(key=lambda column: column.name == "y")  # the target is the last
    return [*_matrix_columns(file, found["X"]), *others]


def _xlsx(file: Opened) -> list[Column]:
    """The first sheet of a workbook, with a header."""
    try:
        import openpyxl
    except ImportError:
        raise missing(file.name, "openpyxl", "xlsx") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
        rows = [row for row in book.worksheets[0].iter_rows(values_only=True) if any(cell is not None for cell in row)]
    except Exception as error:  # of a broken workbook it raises whatever comes up
        raise TableError(f"{file.name}: not a readable workbook: {clean(str(error))[:200]}") from None
    if len(rows) < 2:
        raise TableError(f"{file.name}: the first sheet holds no header with rows below it")
    names = ["" if name is None else str(name).strip() for name in rows[0]]
    if "" in names[1:]:
        raise TableError(f"{file.name}: column {names.index('', 1) + 1} has no name in the header; name it")
    names[0] = names[0] or "rownames"
    return [array_column(name, [row[k] for row in rows[1:]]) for k, name in enumerate(names)]
