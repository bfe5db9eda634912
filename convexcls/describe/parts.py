"""What a description is made of: facts, tables, prose, formulas, in clusters and chapters; as plain text and as JSON.

Plain data: how it looks on a terminal or on a page is the renderers' affair. Words stand beside the values that
programs read (``data``, by key), so that text and JSON cannot tell two stories.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from itertools import count, repeat
from typing import Any, Literal, TypeAlias, TypeGuard

from convexcls.problem.latex import Formula, plain, plain_lines
from convexcls.wording import clean, columns, indented, number, plain_values, seconds, small

__all__ = ["Chapter", "Cluster", "Column", "Fact", "Facts", "Formula", "Formulation", "Inline", "Listing"]
__all__ += ["Mark", "Part", "Prose", "Table"]
__all__ += ["data_of", "in_letters", "is_display", "shows", "strict_json", "to_json", "to_text"]

#: Smaller slacks are what rounding leaves: two digits are enough.
TINY = 1e-6
#: How formulas of several lines begin.
ALIGNED = r"\begin{aligned}"
#: Names of facts stand in a column of at least this width.
NARROWEST = 16


@dataclass(frozen=True)
class Mark:
    """Words in a role: a verdict as a ``badge`` or a ``word``, a condition that ``holds`` or ``fails``, the ``state``
    of a sample, a number that stays ``whole``, a ``strong`` word, a ``small`` remark (only pages have room for it)."""

    content: Inline
    role: Literal["badge", "word", "holds", "fails", "state", "whole", "strong", "small"]


#: What stands in a line: words, formulas, marked words, and these one after another.
Inline: TypeAlias = "str | Formula | Mark | tuple[Inline, ...]"


@dataclass(frozen=True)
class Fact:
    """A name with its value in words; ``data`` is the same for programs. Without words it is for programs alone. It is
    ``cut`` where the words leave something out."""

    label: str
    value: Inline = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    cut: bool = False


@dataclass(frozen=True)
class Facts:
    """Names with their values, one pair a line."""

    items: tuple[Fact, ...]

    @property
    def data(self) -> dict[str, Any]:
        """All that programs read."""
        return {key: value for fact in self.items for key, value in fact.data.items()}

    @property
    def shown(self) -> list[Fact]:
        """Those that have words."""
        return [fact for fact in self.items if fact.value]

    def without(self, *labels: str) -> Facts:
        """All facts but these."""
        return Facts(tuple(fact for fact in self.items if fact.label not in labels))


@dataclass(frozen=True)
class Column:
    """A column's title and how its cells are written; the first column of a table names its rows.

    ``words`` may be broken into lines. Numbers stand to the right: a ``count``, a ``number`` with ten digits,
    ``digits`` with six, a ``slack`` likewise but for what rounding leaves, a residual as a ``small`` number,
    ``seconds``. A ``bar`` is a share of the largest, with its sign. ``key`` is the name for programs (by default the
    title). Columns ``pages_only`` are left out where lines are short; where not all columns fit, a new part of the
    table begins at one that ``begins``.
    """

    title: Inline
    format: Literal["text", "words", "count", "number", "digits", "slack", "small", "seconds", "bar"] = "text"
    key: str = ""
    pages_only: bool = False
    begins: bool = False

    @property
    def right(self) -> bool:
        """Whether its cells are aligned to the right."""
        return self.format not in ("text", "words", "bar")

    def text(self, value: Any) -> str:
        """A cell in letters; what is words already stays as it is."""
        if value is None:
            return "-"
        if not isinstance(value, float):
            return in_letters(value)
        if self.format == "digits" or (self.format == "slack" and not abs(value) < TINY):
            return number(value, 6)
        return {"small": small, "slack": small, "seconds": seconds}.get(self.format, number)(value)


@dataclass(frozen=True)
class Table:
    """Titled columns with rows of values. ``cut`` says which rows are shown where not all are, ``remarks`` what there
    is to say below. Programs read ``values``: by default the rows by key, under the table's ``name``."""

    name: str
    title: Inline
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: str = ""
    remarks: tuple[str, ...] = ()
    sortable: bool = False
    values: Mapping[str, Any] | None = None

    @property
    def data(self) -> Mapping[str, Any]:
        """All that programs read."""
        if self.values is not None:
            return self.values
        keys = [column.key or in_letters(column.title) for column in self.columns]
        return {self.name: [dict(zip(keys, map(_bare, row), strict=True)) for row in self.rows]}

    @property
    def narrow(self) -> Table:
        """Without the columns that only pages have room for."""
        kept = [k for k, column in enumerate(self.columns) if not column.pages_only]
        rows = tuple(tuple(row[k] for k in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[k] for k in kept), rows=rows)

    @property
    def cells(self) -> list[list[str]]:
        """All cells in letters."""
        return [[c.text(value) for c, value in zip(self.columns, row, strict=True)] for row in self.rows]


@dataclass(frozen=True)
class Prose:
    """Words. Text that was written in lines has blank lines between paragraphs, and indented lines for lists and
    formulas; words with formulas and marks among them are one paragraph."""

    content: Inline
    role: Literal["", "verdict", "note", "versions"] = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Formulation:
    """A problem as it is written: a heading, its name, its formula."""

    heading: str
    name: str
    latex: str


@dataclass(frozen=True)
class Listing:
    """Short items, such as what the letters of a formula stand for; or ``numbered`` steps, each with what is done in it
    below its name."""

    items: tuple[Inline | list[Inline], ...]
    numbered: bool = False


@dataclass(frozen=True)
class Cluster:
    """Parts that belong together: ``beside`` each other where there is room, ``formulas`` likewise, the table of the
    ``kkt`` conditions, or ``folded`` under a title until somebody asks."""

    parts: tuple[Part, ...]
    role: Literal["beside", "formulas", "kkt", "folded"]
    title: str = ""


@dataclass(frozen=True)
class Chapter:
    """Parts under a heading; ``name`` is the heading's address."""

    name: str
    title: str
    parts: tuple[Part, ...]


Part: TypeAlias = Facts | Table | Prose | Formulation | Listing | Cluster | Chapter


def data_of(parts: Iterable[Part]) -> dict[str, Any]:
    """What programs read of several parts."""
    out: dict[str, Any] = {}
    for part in parts:
        if isinstance(part, (Cluster, Chapter)):
            out |= data_of(part.parts)
        elif isinstance(part, (Facts, Table, Prose)):
            out |= part.data
    return out


def shows(part: Part | None) -> bool:
    """Whether there is something to see."""
    if isinstance(part, (Cluster, Chapter)):
        return any(map(shows, part.parts))
    if isinstance(part, Facts):
        return bool(part.shown)
    return bool(part.rows if isinstance(part, Table) else part.content if isinstance(part, Prose) else part)


def in_letters(content: Any) -> str:
    """Words and formulas in letters; small remarks are left out, lists are joined."""
    if isinstance(content, Formula):
        return plain(content.latex)
    if isinstance(content, Mark):
        return "" if content.role == "small" else in_letters(content.content)
    if isinstance(content, (tuple, list)):
        return ("" if isinstance(content, tuple) else "; ").join(map(in_letters, content))
    return str(content)


def is_display(content: Any) -> TypeGuard[Formula]:
    """Whether it is a formula of several lines, which stands alone."""
    return isinstance(content, Formula) and content.latex.startswith(ALIGNED)


def _bare(value: Any) -> Any:
    """A cell for programs."""
    return in_letters(value) if isinstance(value, (Formula, Mark, tuple, list)) else value


# ---- plain text -----------------------------------------------------------------------------------------


def to_text(*parts: Part | None) -> str:
    """The parts with blank lines between; a table by its titles, rows and remarks."""
    return "\n\n".join(clean(_text(part), keep="\n") for part in parts if shows(part))


@singledispatch
def _text(part: Any) -> str:
    raise TypeError(f"a {type(part).__name__} is no part of a description")


@_text.register
def _(facts: Facts) -> str:
    width = max(NARROWEST, *(len(fact.label) + 2 for fact in facts.shown), 0)
    return "\n".join(f"  {fact.label:<{width}}{in_letters(fact.value)}" for fact in facts.shown)


@_text.register
def _(table: Table) -> str:
    shown = table.narrow
    right = [k for k, column in enumerate(shown.columns) if column.right]
    lines = columns([in_letters(column.title) for column in shown.columns], shown.cells, right)
    return "\n".join([*lines, *filter(None, [table.cut, *table.remarks])])


@_text.register
def _(words: Prose) -> str:
    return in_letters(words.content)


@_text.register
def _(statement: Formulation) -> str:
    return "\n".join([statement.heading, *indented(plain_lines(statement.latex))])


@_text.register
def _(listing: Listing) -> str:
    return "\n".join(indented(map(_item, listing.items, count(1) if listing.numbered else repeat(0))))


def _item(item: Inline | list[Inline], number: int) -> str:
    lines = [line for one in (item if isinstance(item, list) else [item]) for line in _in_lines(one)]
    return "\n     ".join([f"{number}. {lines[0]}" if number else lines[0], *lines[1:]])


def _in_lines(content: Inline) -> list[str]:
    return plain_lines(content.latex) if is_display(content) else [in_letters(content)]


@_text.register(Cluster)
@_text.register(Chapter)
def _(several: Cluster | Chapter) -> str:
    inside = to_text(*several.parts)
    return f"{several.title}\n\n{inside}" if several.title else inside


# ---- for programs ---------------------------------------------------------------------------------------


def to_json(schema: str, *parts: Part | None) -> str:
    """What programs read of the parts, as one object that names its schema."""
    return strict_json({"schema": schema, **data_of(part for part in parts if part is not None)})


def strict_json(value: Any) -> str:
    """JSON as the standard has it: what is not a finite number is null."""
    return json.dumps(plain_values(value), indent=2, allow_nan=False)
