"""Tables that never lose a digit: where a screen is too narrow for all columns, the table continues below
with the rest of them, its first column repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from convexcls.cli.screen import ENDLESS
from convexcls.report.text import clean
from convexcls.report.text import number as number
from convexcls.report.text import seconds as seconds
from convexcls.report.text import small as small

STYLES = {"optimal": "bold green", "infeasible": "bold cyan", "unattained": "bold cyan", "undecided": "bold yellow"}
#: A column of words is broken into lines of about this width before the table is split.
NARROWEST_WORDS = 28


@dataclass(frozen=True)
class Column:
    """A column's title; numbers stand to the right, words may be broken, and where not all columns fit, a new
    part of the table begins at one that says so."""

    title: str
    number: bool = False
    words: bool = False
    begins: bool = False


def show_table(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print the table, in as many parts as the screen needs."""
    for k, part in enumerate(_parts(console, columns, rows)):
        if k:
            console.print()
        table = _table([columns[k] for k in part], [[row[k] for k in part] for row in rows])
        _emit(console, table, max(console.width, _width(console, columns, rows, part)))


def show_facts(console: Console, facts: Sequence[tuple[str, str | Text]]) -> None:
    """Print names and values, one pair a line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(Text(name, style="dim"), value if isinstance(value, Text) else Text(clean(value)))
    _emit(console, grid, console.width)


def _emit(console: Console, table: Table, width: int) -> None:
    """Print at this width, which may be more than the screen's: better a line that the terminal breaks than a
    number broken by us. In a pipe, drop the blanks that fill the last column."""
    own, console.width = console.width, width
    with console.capture() as held:
        console.print(table, crop=False)
    console.width = own
    lines = held.get().splitlines()
    for line in lines if console.is_terminal else map(str.rstrip, lines):
        console.print(Text.from_ansi(line), soft_wrap=True)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(
            Text(column.title),
            justify="right" if column.number else "left",
            no_wrap=not column.words,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(clean(cell), style=STYLES.get(cell, "")) for cell in row))
    return table


def _parts(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[list[int]]:
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


def _width(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]], part: Sequence[int]) -> int:
    """The least width at which only words are broken."""
    table = _table([columns[k] for k in part], [[row[k] for k in part] for row in rows])
    width = Measurement.get(console, console.options.update(width=ENDLESS), table).maximum
    for k in part:
        if columns[k].words:
            longest = max((len(clean(row[k])) for row in rows), default=0)
            width -= max(longest - NARROWEST_WORDS, 0)
    return width
