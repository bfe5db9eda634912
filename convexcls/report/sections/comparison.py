"""Solvers side by side, all judged by the same check."""

from __future__ import annotations

from typing import Any

from convexcls.compare import COLUMNS, Comparison, cell
from convexcls.report.markup import Column, Content, Html, join, section, table, tag
from convexcls.report.sections.verdict import SIGNS
from convexcls.report.text import small

WORDS = ("solver", "status")
#: The numbers that are no residuals.
PLAIN = ("objective", "seconds")


def comparison_section(comparison: Comparison, remark: str = "") -> Html:
    """The table with a sentence on how to read it."""
    said = "Each answer is judged by the toolkit's own check on the problem as stated, not by what its solver says."
    return section(
        "solvers", "Solvers compared", tag("p", " ".join(filter(None, [said, remark]))), comparison_table(comparison)
    )


def comparison_table(comparison: Comparison) -> Html:
    """A row a solver: the four residuals are relative."""
    columns = [Column(title, number=name not in WORDS, head=name == "solver") for name, title in COLUMNS]
    rows: list[list[Content]] = []
    for row in comparison.rows:
        cells: list[Content] = [_cell(name, getattr(row, name)) for name, _ in COLUMNS]
        cells[1] = tag("span", f"{SIGNS[row.status]} {row.status}", class_=f"word {row.status}")
        rows.append(cells)
    caption = join([f"Tolerance {comparison.tol:.0e}; the gap is absolute, the four residuals are relative"])
    return table(caption, columns, rows, sortable=len(rows) > 1)


def _cell(name: str, value: Any) -> str:
    return small(value) if isinstance(value, float) and name not in PLAIN else cell(name, value)
