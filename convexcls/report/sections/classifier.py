"""What was solved for: coefficients by feature, by class, or by support point."""

from __future__ import annotations

import numpy as np

from convexcls.report.grids import Grid, grids
from convexcls.report.markup import Column, Content, Html, join, section, table, tag
from convexcls.report.reading import coefficients, in_samples, solved
from convexcls.report.text import number, shorten
from convexcls.solution import Solution

MOST = 30


def classifier_section(solution: Solution) -> Html:
    """The answer itself; nothing where there is none."""
    return section("classifier", "The classifier", classifier_table(solution))


def classifier_table(solution: Solution, most: int = MOST) -> Html:
    """The coefficients, the largest of many."""
    if not solved(solution):
        return Html("")
    if tables := grids(solution):
        return join(_grid(grid, most) for grid in tables)
    pairs = coefficients(solution)
    by = "feature" if "coef" in solution.problem.layout else "variable"
    titles = ("support point", "dual coefficient") if in_samples(solution.problem) else (by, "coefficient")
    kept = sorted(np.argsort([-abs(value) for _, value in pairs], kind="stable")[:most])
    caption = "Coefficients" if len(kept) == len(pairs) else f"The {len(kept)} largest of {len(pairs)} coefficients"
    largest = max((abs(value) for _, value in pairs), default=0.0) or 1.0
    columns = [Column(titles[0], head=True), Column(titles[1], number=True), Column("size")]
    rows = [[shorten(pairs[k][0]), number(pairs[k][1]), _bar(pairs[k][1] / largest)] for k in kept]
    return table(caption, columns, rows, sortable=len(rows) > 8)


def _bar(share: float) -> Html:
    """The size as a bar that grows from the middle; words for who cannot see it are in the number beside it."""
    if not np.isfinite(share):
        return Html("")
    width, left = 50 * abs(share), 50 - 50 * max(-share, 0.0)
    return tag(
        "span", tag("span", style=f"margin-left:{left:.1f}%;width:{width:.1f}%"), class_="bar", aria_hidden="true"
    )


def _grid(grid: Grid, most: int) -> Html:
    rows = list(next(iter(grid.columns.values())))
    shown = rows if len(rows) <= most else [*rows[: most - 1], rows[-1]]
    columns = [Column("", head=True), *(Column(shorten(title, 30), number=True) for title in grid.columns)]
    cells: list[list[Content]] = [
        [shorten(row), *(number(column[row]) for column in grid.columns.values())] for row in shown
    ]
    name = {"coef": "Coefficients by class"}.get(grid.name, grid.name[:1].upper() + grid.name[1:])
    caption = name if len(shown) == len(rows) else f"{name}, {len(shown)} of {len(rows)} rows"
    remark = tag("p", grid.remark) if grid.remark else None
    return join([table(caption, columns, cells), remark])
