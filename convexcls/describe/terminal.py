"""Descriptions on a terminal, by rich. Tables never lose a digit: where a screen is too narrow for all columns, the
table continues below with the rest of them, its first column repeated.

Whatever comes from a file (feature names, labels) may hold markup or terminal escapes: it passes ``clean`` and is
printed as text, never as markup.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from convexcls.describe.parts import Column, Facts, Mark, Part, Table, in_letters, shows, to_text
from convexcls.wording import clean

STYLES = {"optimal": "bold green", "infeasible": "bold cyan", "unattained": "bold cyan", "undecided": "bold yellow"}
#: A column of words is broken into lines of about this width before the table is split.
NARROWEST_WORDS = 28
#: The width of a pipe: wide enough that nothing is ever cut.
PIPE_WIDTH = 100_000


def to_rich(console: Console, *parts: Part | None, hint: str = "") -> None:
    """Print the parts with blank lines between. The ``hint`` says how to see what is left out."""
    for k, part in enumerate(filter(shows, parts)):
        if k:
            console.print()
        _print(part, console, hint)


@singledispatch
def _print(part: Any, console: Console, _hint: str) -> None:
    write(console, to_text(part))


@_print.register
def _(facts: Facts, console: Console, hint: str) -> None:
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for fact in facts.shown:
        grid.add_row(Text(clean(fact.label), style="dim"), _styled((fact.value, hint) if fact.cut else fact.value))
    _emit(console, grid, console.width)


@_print.register
def _(table: Table, console: Console, hint: str) -> None:
    shown = table.narrow
    rows = [
        [_styled(value if isinstance(value, Mark) else text) for value, text in zip(values, texts, strict=True)]
        for values, texts in zip(shown.rows, shown.cells, strict=True)
    ]
    for k, part in enumerate(_parts(console, shown.columns, rows)):
        if k:
            console.print()
        _emit(console, _grid(shown.columns, rows, part), max(console.width, _width(console, shown.columns, rows, part)))
    for said in filter(None, (table.cut and table.cut + hint, *table.remarks)):
        write(console, said)


def _styled(content: Any) -> Text:
    """Words, the verdicts among them in their colours."""
    if isinstance(content, tuple):
        return Text.assemble(*map(_styled, content))
    words = clean(in_letters(content))
    return Text(words, style=STYLES.get(words.lower(), "") if isinstance(content, Mark) else "")


# ---- tables ---------------------------------------------------------------------------------------------


def _emit(console: Console, grid: Grid, width: int) -> None:
    """Print at this width, which may be more than the screen's: better a line that the terminal breaks than a
    number broken by us. In a pipe, drop the blanks that fill the last column."""
    own, console.width = console.width, width
    with console.capture() as held:
        console.print(grid, crop=False)
    console.width = own
    lines = held.get().splitlines()
    for line in lines if console.is_terminal else map(str.rstrip, lines):
        console.print(Text.from_ansi(line), soft_wrap=True)


def _grid(columns: Sequence[Column], rows: Sequence[Sequence[Text]], part: Sequence[int]) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in (columns[k] for k in part):
        grid.add_column(
            Text(clean(in_letters(column.title))),
            justify="right" if column.right else "left",
            no_wrap=column.format != "words",
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*(row[k] for k in part))
    return grid


def _parts(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> list[list[int]]:
    """The columns by part: the first with as many others as fit, in order."""
    if _width(console, columns, rows, range(len(columns))) <= console.width:
        return [list(range(len(columns)))]
    parts: list[list[int]] = [[0]]
    for k in range(1, len(columns)):
        wider = [*parts[-1], k]
        full = columns[k].begins or _width(console, columns, rows, wider) > console.width
        if len(parts[-1]) > 1 and full:
            parts.append([0, k])
        else:
            parts[-1] = wider
    return parts


def _width(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Text]], part: Sequence[int]) -> int:
    """The least width at which only words are broken."""
    whole = _grid(columns, rows, part)
    width = Measurement.get(console, console.options.update(width=PIPE_WIDTH), whole).maximum
    for k in part:
        if columns[k].format == "words":
            longest = max((len(row[k]) for row in rows), default=0)
            width -= max(longest - NARROWEST_WORDS, 0)
    return width


# ---- words ----------------------------------------------------------------------------------------------


def write(console: Console, text: str, style: str = "") -> None:
    """Paragraphs and formulas. Where a line is too long for the screen, its paragraph is filled anew; an indented
    line continues at its own indent, or below its last column."""
    for line in _fitted(clean(text, keep="\n").split("\n"), max(console.width, 20)):
        console.print(Text(line, style=style), soft_wrap=True)


def _fitted(lines: list[str], width: int) -> Iterator[str]:
    for is_paragraph, group in groupby(lines, key=lambda line: line[:1].strip() != ""):
        block = list(group)
        if all(len(line) <= width for line in block):
            yield from block
        elif is_paragraph:
            yield from _wrap(" ".join(block), width, 0)
        else:
            for line in block:
                yield from _wrap(line, width, _indent(line, width)) if len(line) > width else [line]


def _indent(line: str, width: int) -> int:
    columns = [found.end() for found in re.finditer(r"\S\s{3,}", line) if found.end() <= 2 * width // 3]
    return columns[-1] if columns else len(line) - len(line.lstrip()) + 2


def _wrap(line: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
