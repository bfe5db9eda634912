"""How a table becomes a matrix: which columns, which levels against which reference, what is done about missing cells.

A coding is fixed once, by the table that a classifier is fitted on; it then codes every other table in the same way. It
prints itself, goes to plain values and back, and holds nothing that is executed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices, Mask
from convexcls.data import Given, GivenCells, GivenEntries, Labels, Named
from convexcls.rational.numbers import exactly, read_exactly
from convexcls.tables.columns import Column, is_number
from convexcls.tables.errors import TableError
from convexcls.wording import count, listed, paragraph, shorten

if TYPE_CHECKING:
    from convexcls.tables.table import Table

Missing = Literal["fail", "drop", "indicator"]
Product = tuple["Part", ...]
#: A column with more levels is not made into indicators.
MAX_LEVELS = 50_000
#: A matrix with more entries, of which at most one in so many is not zero, is a sparse one.
MAX_DENSE_ENTRIES, FEWEST_ZEROS = 2_000_000, 10
MAX_COLUMNS = 100_000
MAX_NAME_CHARACTERS = 2_000
MAX_SHOWN = 20


class CodingError(TableError):
    """A coding in a file that is none; the message names the field."""


@dataclass(frozen=True)
class ColumnCoding:
    """One column: numbers as they are (``levels`` None), or its levels, the first of which is the reference.
    ``gaps`` says that missing cells are taken: as a level of their own, or as the number ``fill`` with an indicator."""

    name: str
    levels: tuple[str, ...] | None = None
    gaps: bool = False
    fill: str = ""

    def __str__(self) -> str:
        gaps = "" if not self.gaps else f"; missing cells are {self.fill} and marked by an indicator"
        if self.levels is None:
            return f"{shorten(self.name)}: numbers{gaps}"
        others = listed((shorten(repr(level), 30) for level in self.levels[1:]), MAX_SHOWN, " and {} more")
        gaps = "; missing cells are a level" if self.gaps else ""
        return f"{shorten(self.name)}: {others or 'nothing'} against {shorten(repr(self.levels[0]), 30)}{gaps}"

    @property
    def plain(self) -> bool:
        """Whether the numbers are taken as they are."""
        return self.levels is None and not self.gaps

    def parts(self, reduced: bool = True) -> list[Part]:
        """The columns of the matrix that it makes, without the reference where that is ``reduced``."""
        if self.levels is None:
            return [Part(self, None), *([Part(self, MISSING_CELL)] if self.gaps else [])]
        made = [Part(self, k) for k in range(1 if reduced else 0, len(self.levels))]
        return [*made, *([Part(self, MISSING_CELL)] if self.gaps else [])]


#: The place of a missing cell among the levels.
MISSING_CELL = -1


@dataclass(frozen=True)
class Part:
    """A column's numbers (``level`` None), or the indicator of one of its levels, or of a missing cell."""

    column: ColumnCoding
    level: int | None

    def __str__(self) -> str:
        if self.level is None:
            return self.column.name
        if self.level == MISSING_CELL:
            return f"{self.column.name} missing"
        return f"{self.column.name}={(self.column.levels or ())[self.level]}"


@dataclass(frozen=True)
class Coding:
    """Which ``columns`` are coded how; ``terms`` are products of columns (each by itself where None). ``target`` and
    ``weights`` are columns; ``positive`` is the label that counts as +1, ``class_weight`` what weights are multiplied
    by; ``missing`` is what becomes of rows with missing cells.

    >>> import convexcls as cc
    >>> table = cc.Table({"dose": [1, 2, 3, 4], "sex": ["f", "m", "f", "f"], "sick": [0, 0, 1, 1]})
    >>> coding = table.samples("sick").coding
    >>> print(coding)
    sick: the target
    dose: numbers
    sex: 'm' against 'f'
    >>> coding.code({"dose": [5], "sex": ["m"]}).matrix.tolist()
    [[5.0, 1.0]]
    """

    columns: tuple[ColumnCoding, ...]
    target: str | None = None
    weights: str | None = None
    positive: str | None = None
    class_weight: Literal["balanced"] | None = None
    missing: Missing = "fail"
    terms: tuple[tuple[str, ...], ...] | None = None
    intercept: bool = True
    #: Whether the columns are all of their table but the last, which is the target.
    usual: bool = False

    @property
    def plain(self) -> bool:
        """Whether the samples are the numbers of their columns, as they are."""
        changed = (self.positive, self.class_weight, self.terms) != (None, None, None)
        return not changed and self.missing != "drop" and all(c.plain for c in self.columns)

    def without(self, features: Collection[str]) -> Coding | None:
        """The same without these columns of numbers; None where they are not all of them columns as they are."""
        kept = tuple(c for c in self.columns if c.name not in features)
        plain = all(c.plain for c in self.columns if c.name in features)
        if self.terms is not None or not plain or len(self.columns) - len(kept) != len(features):
            return None
        return replace(self, columns=kept, usual=False)

    @property
    def needless(self) -> bool:
        """Whether whoever reads the table without it gets the same."""
        return self.plain and self.usual and self.weights is None

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns of the matrix."""
        return tuple(":".join(map(str, product)) for product in self._products())

    def _products(self) -> Iterator[Product]:
        """The columns of the matrix, each a product of parts."""
        if self.terms is None:
            for column in self.columns:
                yield from ((part,) for part in column.parts())
            return
        by_name = {column.name: column for column in self.columns}
        known: set[frozenset[str]] = {frozenset(term) for term in self.terms}
        known |= {frozenset()} if self.intercept else set()
        for term in self.terms:
            made: list[Product] = [()]
            for name in term:  # the reference is left out where the term without this column is there, too
                parts = by_name[name].parts(frozenset(term) - {name} in known)
                made = [(*product, part) for product in made for part in parts]
            yield from made

    # ---- tables through it --------------------------------------------------------------------------------------

    def whole(self, rows: Any) -> Mask:
        """Which rows have no missing cell but where one is taken.

        >>> import convexcls as cc
        >>> coding = cc.Table({"dose": [1, 2, 3], "sick": [0, 0, 1]}).samples("sick").coding
        >>> coding.whole({"dose": [5.0, None]}).tolist()
        [True, False]
        """
        from convexcls.tables.table import Table

        table = Table.of(rows)
        gaps = [table.column(c.name).missing for c in self.columns if not c.gaps]
        return ~np.any([np.zeros(len(table), bool), *gaps], axis=0)

    def code(self, rows: Any, fitting: bool = False) -> Named:
        """The matrix of a table's rows, new ones or those of the fit. A level that is not known, and a missing cell in
        a column that had none, is an error that names the row."""
        from convexcls.tables.table import Table

        table = Table.of(rows)
        places = {c.name: self._places(table, c) for c in self.columns}
        self.refuse_missing(table, [c.name for c in self.columns if not c.gaps], fitting)
        products = list(self._products())
        exact = any(table[c.name].given is not None for c in self.columns)
        if self._mostly_zero(len(table), len(products)) and not (exact and self.terms):  # products are dense
            sparse = sparse_matrix(table, places, products)
            given: Given | None = self._entries(table, places, products, sparse) if exact else None
            return Named(sparse, self.features, given=given, coding=self, written=self._shows_what_is_written(table))
        matrix = np.empty((len(table), len(products)))
        for k, product in enumerate(products):
            matrix[:, k] = product_values(product, table, places)
        given = GivenCells(self._cells(table, places, products)) if exact else None
        return Named(matrix, self.features, given=given, coding=self, written=self._shows_what_is_written(table))

    def _shows_what_is_written(self, table: Table) -> bool:
        """Whether all entries are indicators, or numbers as the text of the table has them."""
        numbers = [c for c in self.columns if c.levels is None]
        return self.terms is None and all(table[c.name].written and not c.gaps for c in numbers)

    def _mostly_zero(self, rows: int, width: int) -> bool:
        """Whether the matrix is large and made of indicators but for a few columns."""
        taken = len(self.columns) if self.terms is None else sum(map(len, self.terms))
        return rows * width > MAX_DENSE_ENTRIES and FEWEST_ZEROS * taken <= width

    def _entries(
        self, table: Table, places: Mapping[str, Indices | None], products: Sequence[Product], matrix: Any
    ) -> GivenEntries:
        """The entries that are not zero as they were given: indicators are, and a column of numbers has its cells."""
        cells = {k: _exact_values(part, table, places) for k, (part,) in enumerate(products) if part.level is None}
        out = np.empty(matrix.shape[0], dtype=object)
        for i, (start, stop) in enumerate(pairwise(matrix.indptr.tolist())):
            own = zip(matrix.indices[start:stop].tolist(), matrix.data[start:stop].tolist(), strict=True)
            out[i] = {k: cells[k][i] if k in cells else Fraction(v) for k, v in own}
        return GivenEntries(out, len(products))

    def _places(self, table: Table, coding: ColumnCoding) -> Indices | None:
        """Of each row the place of its level; of numbers None."""
        column = table.column(coding.name)
        if coding.levels is None:
            if column.kind != "number" and not (column.kind == "levels" and not column.levels):
                row = table.first_text(column)
                raise TableError(f"{table.place(row, coding.name)} is {table.cell(row, coding.name)}, not a number")
            return None
        texts = _texts(column)
        known = {level: k for k, level in enumerate(coding.levels)}
        moved = np.array([known.get(text, -2) for text in texts] + [MISSING_CELL], dtype=np.intp)
        places = moved[_codes(column)]
        if (places == -2).any():
            row = int(np.argmax(places == -2))
            shown = listed((shorten(repr(level), 30) for level in coding.levels), 6)
            raise TableError(
                f"{table.place(row, coding.name)} is {table.cell(row, coding.name)}, a level that the classifier was "
                f"not fitted with (it knows {shown}): leave the row out, or fit with rows that have it"
            )
        return places

    def refuse_missing(self, table: Table, names: Sequence[str], fitting: bool = True) -> None:
        """Refuse rows with missing cells in these columns, with counts."""
        gaps = {name: table.column(name).missing for name in names}
        total = {name: int(found.sum()) for name, found in gaps.items() if found.any()}
        if not total:
            return
        rows = np.any([gaps[name] for name in total], axis=0)
        row = int(np.argmax(rows))
        name = next(name for name in total if gaps[name][row])
        each = listed((f"{shorten(n)} {k}" for n, k in total.items()), 8)
        told = f"{table.place(row, name)} is {table.cell(row, name)}"
        if len(total) > 1 or rows.sum() > 1:
            told += f"; {count(int(rows.sum()), 'row')} of {len(table)} have missing cells ({each})"
        if not fitting:
            raise TableError(
                f"{told}: fill in or leave out these rows (a classifier fitted with missing cells in the same columns, "
                "each marked by an indicator, takes them)"
            )
        raise TableError(
            f"{told}: fill in, drop these rows, or mark them by an indicator", missing=("drop", "indicator")
        )

    def _cells(self, table: Table, places: Mapping[str, Indices | None], products: Sequence[Product]) -> NDArray[Any]:
        """The entries as they were given."""
        out = np.empty((len(table), len(products)), dtype=object)
        for k, product in enumerate(products):
            columns = [_exact_values(part, table, places) for part in product]
            if len(columns) == 1:
                out[:, k] = columns[0]
            else:
                out[:, k] = [prod(map(exactly, cells), start=Fraction(1)) for cells in zip(*columns, strict=True)]
        return out

    # ---- in words and as plain values ---------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """What is done with each column."""
        out = [] if self.target is None else [f"{shorten(self.target)}: the target"]
        if self.positive is not None and out:
            out[0] += f", positive where it is {shorten(repr(self.positive), 30)}"
        if self.weights is not None:
            out.append(f"{shorten(self.weights)}: the weights")
        if self.class_weight is not None:
            out.append("weights are multiplied so that all classes weigh the same (class_weight=balanced)")
        numbers = [shorten(c.name) for c in self.columns if c.plain]
        out += [f"{listed(numbers, MAX_SHOWN, ' and {} more')}: numbers"] if numbers else []
        out += [str(c) for c in self.columns if not c.plain]
        if self.terms is not None:
            out += [f"terms: {listed((':'.join(term) for term in self.terms), MAX_SHOWN, ' and {} more')}"]
        if self.missing == "drop":
            out.append("rows with missing cells are left out")
        return [line for text in out for line in paragraph(text)]

    def to_dict(self) -> dict[str, Any]:
        """The coding as plain values, numbers as text: what a certificate and a model file hold."""
        columns = {}
        for c in self.columns:
            if c.levels is None:
                columns[c.name] = ["number", *(["missing", c.fill] if c.gaps else [])]
            else:
                columns[c.name] = ["levels and missing" if c.gaps else "levels", *c.levels]
        return {
            "target": self.target,
            "weights": self.weights,
            "positive": self.positive,
            "class_weight": self.class_weight,
            "missing": self.missing,
            "intercept": self.intercept,
            "columns": columns,
            "terms": None if self.terms is None else [list(term) for term in self.terms],
        }

    @classmethod
    def from_dict(cls, found: Any) -> Coding:
        """The coding that plain values state; ``CodingError`` where they state none."""
        fields = ("target", "weights", "positive", "class_weight", "missing", "intercept", "columns", "terms")
        if not isinstance(found, dict) or set(found) != set(fields):
            raise CodingError(f"coding must be an object with the fields {', '.join(fields)}")
        for name in ("target", "weights", "positive"):
            if found[name] is not None:
                _name(found[name], f"coding.{name}")
        if found["class_weight"] not in (None, "balanced") or not isinstance(found["intercept"], bool):
            raise CodingError("coding.class_weight must be null or balanced, coding.intercept true or false")
        if found["missing"] not in get_args(Missing):
            raise CodingError(f"coding.missing must be one of {', '.join(get_args(Missing))}")
        columns = found["columns"]
        if not isinstance(columns, dict) or not 0 < len(columns) <= MAX_COLUMNS:
            raise CodingError(f"coding.columns must be an object with 1 to {MAX_COLUMNS:,} columns")
        coded = tuple(_column(name, spec) for name, spec in columns.items())
        terms = None if found["terms"] is None else _terms(found["terms"], set(columns))
        rest = {name: found[name] for name in ("target", "weights", "positive", "class_weight", "missing", "intercept")}
        return cls(coded, **rest, terms=terms)


def _name(text: Any, where: str) -> str:
    if not isinstance(text, str) or len(text) > MAX_NAME_CHARACTERS:
        raise CodingError(f"{where} must be text of at most {MAX_NAME_CHARACTERS:,} characters")
    return text


def _column(name: str, spec: Any) -> ColumnCoding:
    where = f"coding.columns.{shorten(name, 30)}"
    _name(name, "the name of a column")
    if not isinstance(spec, list) or not spec or len(spec) > MAX_LEVELS + 1:
        raise CodingError(f"{where} must be a list of a word and at most {MAX_LEVELS:,} levels")
    kind, *rest = (_name(text, where) for text in spec)
    if kind == "number" and not rest:
        return ColumnCoding(name)
    if kind == "number" and len(rest) == 2 and rest[0] == "missing" and is_number(rest[1]):
        return ColumnCoding(name, None, True, rest[1])
    if kind in ("levels", "levels and missing") and rest and len(set(rest)) == len(rest):
        return ColumnCoding(name, tuple(rest), kind != "levels")
    raise CodingError(f"{where} is neither numbers nor levels, each once")


def _terms(found: Any, names: set[str]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(found, list) or not 0 < len(found) <= MAX_COLUMNS:
        raise CodingError("coding.terms must be null or a list of terms")
    for term in found:
        known = isinstance(term, list) and all(isinstance(name, str) and name in names for name in term)
        if not known or not 0 < len(term) <= 10 or len(set(term)) < len(term):
            raise CodingError("a term of coding.terms must be a list of at most 10 columns, each once")
    return tuple(tuple(term) for term in found)


# ---- values ---------------------------------------------------------------------------------------------------


def _texts(column: Column) -> list[str]:
    """The levels of a column as text; of numbers as they are written shortest."""
    if column.kind == "number":
        return [number_text(value) for value in np.unique(column.values[~np.isnan(column.values)]).tolist()]
    return [str(level) for level in column.levels]


def number_text(value: float) -> str:
    """A number as a level is written: a whole one without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def _codes(column: Column) -> Indices:
    """Of each row the place in these texts, -1 where missing."""
    if column.kind != "number":
        return column.values
    distinct = np.unique(column.values[~np.isnan(column.values)])
    return np.where(column.missing, -1, np.searchsorted(distinct, np.nan_to_num(column.values)))


def product_values(product: Product, table: Table, places: Mapping[str, Indices | None]) -> Array:
    """The numbers of a product of parts."""
    first, *others = (_values(part, table, places) for part in product)
    return np.asarray(prod(others, start=first))


def sparse_matrix(table: Table, places: Mapping[str, Indices | None], products: Sequence[Product]) -> Any:
    """The same as rows of their entries that are not zero; the indicators of one column in one pass."""
    from scipy import sparse

    column_of: dict[str, Indices] = {}  # by level, the missing cell last
    parts: list[tuple[Indices, Indices, Array]] = []
    for k, product in enumerate(products):
        part, levels = product[0], product[0].column.levels
        if len(product) == 1 and part.level is not None and levels is not None:
            column_of.setdefault(part.column.name, np.full(len(levels) + 1, -1, dtype=np.intp))[part.level] = k
            continue
        values = product_values(product, table, places)
        there = np.flatnonzero(values)
        parts.append((there, np.full(there.size, k), values[there]))
    for name, columns in column_of.items():
        own = places[name]
        assert own is not None
        there = np.flatnonzero(columns[own] >= 0)
        parts.append((there, columns[own][there], np.ones(there.size)))
    rows, columns, values = map(np.concatenate, zip(*parts, strict=True))
    return sparse.csr_array((values, (rows, columns)), shape=(len(table), len(products)))


def _values(part: Part, table: Table, places: Mapping[str, Indices | None]) -> Array:
    """The numbers of a part."""
    column, own = table.column(part.column.name), places[part.column.name]
    if own is not None:
        return (own == part.level).astype(float)
    if column.kind != "number":  # nothing but missing cells
        column = Column(column.name, "number", np.full(len(column), np.nan))
    if part.level == MISSING_CELL:
        return np.isnan(column.values).astype(float)
    return np.where(column.missing, float(part.column.fill), column.values) if part.column.gaps else column.values


def _exact_values(part: Part, table: Table, places: Mapping[str, Indices | None]) -> Sequence[Any]:
    """The same as they were given."""
    column = table.column(part.column.name)
    if part.level is not None or column.given is None:
        return [int(v) if v == int(v) else v for v in _values(part, table, places).tolist()]
    if not part.column.gaps:
        return list(column.given)
    gaps = column.missing.tolist()
    return [read_exactly(part.column.fill) if gap else cell for gap, cell in zip(gaps, column.given, strict=True)]


def labels_of(column: Column, positive: str | None) -> Any:
    """The target as labels: whole numbers where all are, with the positive one last where one is named."""
    if column.kind == "number":
        whole = np.all(column.values == np.round(column.values)) and np.all(np.abs(column.values) <= 2**53)
        values = column.values.astype(np.int64) if whole else column.values
        names, numbers = np.unique(values, return_inverse=True) if positive is not None else ((), ())
        known = [*names.tolist()] if positive is not None else []
    else:
        known, numbers = list(column.levels), column.values
        values = np.array([*known, None], dtype=object)[:-1][numbers]
    if positive is None:
        return values
    chosen = next((k for k, label in enumerate(known) if positive in (str(label), number_text_of(label))), None)
    if chosen is None:
        shown = listed((shorten(repr(label), 30) for label in known), 8)
        raise TableError(
            f"column {column.name!r} has no label {positive!r}; it has {shown}",
            positive=str(known[-1:][0] if known else ""),
        )
    if len(known) > 2:  # one against the rest
        return Labels((np.asarray(numbers) == chosen).astype(np.intp), (f"not {known[chosen]}", str(known[chosen])))
    order = [*(k for k in range(len(known)) if k != chosen), chosen]
    return Labels(np.argsort(order)[np.asarray(numbers)].astype(np.intp), tuple(known[k] for k in order))


def number_text_of(label: Any) -> str:
    """A label as a level is written."""
    return number_text(float(label)) if isinstance(label, (int, float)) else str(label)
