"""Columns: numbers with gaps, or levels.

What a column is does not depend on how its file is read: a column of text is one of numbers where every cell that is
not missing is one, of dates where every such cell is one, and of levels otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import LARGEST_EXACT_INTEGER, Array, Indices
from convexcls.data.numbers import is_missing, plain
from convexcls.rational.numbers import exactly
from convexcls.tables.errors import TableError

Kind = Literal["number", "levels", "date", "other"]
#: What stands for nothing in a cell.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "#N/A", "<NA>", "?", ".")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MAX_NUMBER_CHARACTERS = 400
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)


@dataclass(frozen=True, eq=False)
class Column:
    """A named column. ``values`` are doubles (NaN where missing) of numbers, else places in ``levels`` (-1 where
    missing). ``given`` are the cells as they were given, where doubles may round them; ``written`` says that the cells
    were text, which is what the doubles show. ``example`` is one of a column that is neither numbers nor levels."""

    name: str
    kind: Kind
    values: NDArray[Any]
    levels: tuple[Any, ...] = ()
    given: NDArray[Any] | None = None
    example: str = ""
    written: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        return np.isnan(self.values) if self.kind == "number" else self.values < 0

    def take(self, rows: Any) -> Column:
        """Some of the rows."""
        return replace(self, values=self.values[rows], given=None if self.given is None else self.given[rows])

    @property
    def counts(self) -> Indices:
        """How often each level occurs."""
        return np.bincount(self.values[self.values >= 0], minlength=len(self.levels))


def is_number(text: str) -> bool:
    """Whether a cell is a finite number in plain decimal notation."""
    return len(text) <= MAX_NUMBER_CHARACTERS and bool(NUMBER.fullmatch(text)) and abs(float(text)) < float("inf")


def is_infinite(text: str) -> bool:
    """Whether a cell is a word for infinity, or a number beyond the range of doubles."""
    word = text.lstrip("+-").lower()
    return word in ("inf", "infinity") or bool(NUMBER.fullmatch(text))


def is_date(text: str) -> bool:
    """Whether a cell is written as a date."""
    return bool(_DATE.fullmatch(text))


def number_column(name: str, values: Array, given: NDArray[Any] | None = None) -> Column:
    """A column of doubles, NaN where missing."""
    return Column(name, "number", values, given=given)


def text_column(name: str, cells: Sequence[str], decimal: str = ".", keep: bool = False) -> Column:
    """A column of text cells, as what they say; ``keep`` keeps the text of numbers beside the doubles."""
    quick = _quick_numbers(cells) if decimal == "." else None
    if quick is not None:
        return number_column(name, quick, np.array(cells, dtype=object) if keep else None)
    distinct = {cell: cell.strip() for cell in set(cells)}
    meant = {text for text in distinct.values() if text not in MISSING}
    turned = {t: t.replace(decimal, ".") for t in meant if decimal == "." or "." not in t}
    if len(turned) == len(meant) and all(map(is_number, turned.values())):
        doubles = {cell: float(turned[t]) if t in turned else np.nan for cell, t in distinct.items()}
        values = np.array([doubles[cell] for cell in cells], dtype=float)
        texts = {cell: turned.get(t, "") for cell, t in distinct.items()}
        return number_column(name, values, np.array([texts[c] for c in cells], dtype=object) if keep else None)
    return levels_column(name, [distinct[cell] for cell in cells], meant)


def _quick_numbers(cells: Sequence[str]) -> Array | None:
    """The cells as finite doubles, None where any is something else. Python reads 1_000 and digits of other scripts."""
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():
        return None
    try:
        values = np.array(list(map(float, cells)))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def levels_column(name: str, cells: Sequence[Any], meant: Any) -> Column:
    """A column of labels; those that are not ``meant`` are missing."""
    levels = sorted(meant, key=lambda level: (str(level), str(type(level))))
    place = {level: k for k, level in enumerate(levels)}
    codes = np.array([place.get(cell, -1) for cell in cells], dtype=np.intp)
    if levels and all(isinstance(level, str) and is_date(level) for level in levels):
        return Column(name, "date", codes, tuple(levels), example=levels[0])
    return Column(name, "levels", codes, tuple(levels))


def coded_column(name: str, codes: Indices, levels: Sequence[Any], decimal: str = "") -> Column:
    """The same from codes, -1 where missing; text is stripped, levels that no row has are left out. With a ``decimal``
    mark text that says nothing but numbers becomes these, as in ``text_column``."""
    if decimal:
        short = text_column(name, [str(level) for level in levels], decimal)
        if short.kind == "number":
            return number_column(name, np.append(short.values, np.nan)[codes])
    tidy = [level.strip() if isinstance(level, str) else plain(level) for level in levels]
    used = np.bincount(codes[codes >= 0], minlength=len(tidy)) > 0
    meant = [t for t, some in zip(tidy, used, strict=True) if some and not (isinstance(t, str) and t in MISSING)]
    short = levels_column(name, tidy, set(meant))
    values = np.append(short.values, -1)[codes]  # of a missing one the last
    return replace(short, values=values)


def array_column(name: str, values: Any) -> Column:
    """A column of an array, a list, or a series of pandas or polars."""
    categorical = str(getattr(values, "dtype", "")).startswith(("category", "Categorical", "Enum"))
    if isinstance(values, (list, tuple)) and any(isinstance(cell, (list, tuple, dict)) for cell in values):
        return _other(name, "other", np.array([str(cell) for cell in values]))
    array = np.asarray(values)
    if array.ndim != 1:
        raise TableError(f"column {name!r} has {array.ndim} dimensions: a column has one entry for each row")
    if array.dtype.kind in "mM":
        return _other(name, "date", array)
    if array.dtype.kind in "fiu" and not categorical:
        large = array.dtype.kind in "iu" and bool(np.any(np.abs(array.astype(float)) > LARGEST_EXACT_INTEGER))
        return number_column(name, array.astype(np.float64), array.astype(object) if large else None)
    if array.dtype.kind == "c":
        return _other(name, "other", array)
    cells = [None if is_missing(cell) else plain(cell) for cell in array.tolist()]
    kept = [cell for cell in cells if cell is not None]
    numeric = not categorical and all(hasattr(c, "as_integer_ratio") and not isinstance(c, bool) for c in kept)
    if kept and numeric:
        doubles = np.array([np.nan if cell is None else float(cell) for cell in cells])
        rounded = any(exactly(cell) != exactly(float(cell)) for cell in kept)
        return number_column(name, doubles, np.array(cells, dtype=object) if rounded else None)
    if any(hasattr(cell, "isoformat") for cell in kept):
        return _other(name, "date", array)
    if not all(isinstance(cell, (str, bool, int, float)) for cell in kept):
        return _other(name, "other", array)
    if not kept:
        return number_column(name, np.full(len(cells), np.nan))
    place: dict[Any, int] = {}
    codes = [-1 if cell is None else place.setdefault((type(cell), cell), len(place)) for cell in cells]
    return coded_column(name, np.array(codes, dtype=np.intp), [level for _, level in place])


def arrow_column(name: str, chunks: Any, decimal: str = "") -> Column:
    """A column of pyarrow; ``decimal`` as in ``coded_column``."""
    import pyarrow as pa

    kind = chunks.type
    if pa.types.is_dictionary(kind) and not _is_text(pa, kind.value_type):
        chunks, kind = chunks.cast(kind.value_type), kind.value_type
        return array_column(name, np.array(chunks.to_pylist(), dtype=object))
    if _is_text(pa, kind) or pa.types.is_dictionary(kind):
        whole = chunks.combine_chunks() if hasattr(chunks, "combine_chunks") else chunks
        whole = whole if pa.types.is_dictionary(kind) else whole.dictionary_encode()
        parts = whole.chunks if hasattr(whole, "chunks") else [whole]
        whole = parts[0] if len(parts) == 1 else pa.chunked_array(parts).unify_dictionaries().combine_chunks()
        codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
        return coded_column(name, codes, whole.dictionary.to_pylist(), decimal)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
        doubles = chunks.cast(pa.float64(), safe=False).to_numpy()
        large = pa.types.is_integer(kind) and bool(np.any(np.abs(doubles) > LARGEST_EXACT_INTEGER))
        return number_column(name, np.array(doubles), np.array(chunks.to_pylist(), dtype=object) if large else None)
    if pa.types.is_temporal(kind):
        return _other(name, "date", np.array([str(cell) for cell in chunks.slice(0, 1).to_pylist()]), len(chunks))
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        cells = np.empty(len(chunks), dtype=object)
        cells[:] = chunks.to_pylist()
        return array_column(name, cells)
    return _other(name, "other", np.array([str(cell) for cell in chunks.slice(0, 1).to_pylist()]), len(chunks))


def _is_text(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _other(name: str, kind: Kind, array: Any, n: int | None = None) -> Column:
    first = next((cell for cell in array.ravel() if not is_missing(cell)), "") if array.size else ""
    codes = np.zeros(len(array) if n is None else n, dtype=np.intp)
    return Column(name, kind, codes, example=str(first)[:40])


def joined(parts: Sequence[Column]) -> Column:
    """The rows of several columns of one name, one below the other."""
    first = parts[0]
    if first.kind == "number" and all(p.kind == "number" for p in parts):
        given = None
        if any(p.given is not None for p in parts):
            given = np.concatenate([p.values.astype(object) if p.given is None else p.given for p in parts])
        values, written = np.concatenate([p.values for p in parts]), all(p.written for p in parts)
        return replace(number_column(first.name, values, given), written=written)
    if first.kind in ("levels", "date") and all(p.kind == first.kind and p.levels for p in parts):
        levels = sorted({level for p in parts for level in p.levels}, key=str)
        place = {level: k for k, level in enumerate(levels)}
        moved = [np.append([place[level] for level in p.levels], -1).astype(np.intp)[p.values] for p in parts]
        return replace(first, values=np.concatenate(moved), levels=tuple(levels))
    text = next((level for p in parts for level in p.levels if not is_number(str(level))), None)
    mixed = text is not None and any(p.kind == "number" for p in parts)
    told = f"numbers in one file, {text!r} in another" if mixed else next((p.example for p in parts if p.example), "")
    values = np.zeros(sum(map(len, parts)), dtype=np.intp)
    return Column(first.name, "other", values, example=told)
