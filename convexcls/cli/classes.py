"""Tables of several classes on the screen."""

from __future__ import annotations

from rich.console import Console

from convexcls.cli.screen import shorten, write
from convexcls.cli.tables import Column, number, show_table
from convexcls.report.grids import Grid

MOST_ROWS = 20


def show_grids(console: Console, tables: list[Grid], everything: bool) -> None:
    """Print the tables, the first rows of long ones."""
    for grid in tables:
        rows = list(next(iter(grid.columns.values())))
        shown = rows if everything or len(rows) <= MOST_ROWS else [*rows[: MOST_ROWS - 1], rows[-1]]
        columns = [Column(grid.name), *(Column(shorten(title, 20), number=True) for title in grid.columns)]
        console.print()
        cells = [[shorten(row), *(number(column[row]) for column in grid.columns.values())] for row in shown]
        show_table(console, columns, cells)
        if len(shown) < len(rows):
            write(console, f"{len(shown)} of {len(rows)} rows; --all shows all")
        if grid.remark:
            write(console, grid.remark)
