"""Descriptions as Markdown, for notes and slides: formulas between dollar signs, tables with bars."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import Any

from convexcls.describe.parts import (
    Chapter,
    Cluster,
    Facts,
    Formula,
    Formulation,
    Listing,
    Mark,
    Part,
    Prose,
    Table,
    is_display,
    shows,
)
from convexcls.wording import clean


def to_markdown(*parts: Part | None) -> str:
    """The parts with blank lines between."""
    return "\n\n".join(_markdown(part) for part in parts if shows(part))


def escaped(text: str) -> str:
    """Text in which nothing is markup, not even a dollar sign."""
    return re.sub(r"([\\`*_\[\]<>#|$~&])", r"\\\1", clean(text))


def formula(written: Formula) -> str:
    """A formula. Its bars are words, so that they cannot end a cell of a table."""
    worded = re.sub(r"\\?\|", lambda m: r"\Vert " if m[0] == r"\|" else r"\vert ", written.latex)
    return f"\n$$\n{worded}\n$$\n" if is_display(written) else f"${worded}$"


def inline(content: Any) -> str:
    """What stands in a line."""
    if isinstance(content, Formula):
        return formula(content)
    if isinstance(content, Mark):
        return f"**{inline(content.content)}**" if content.role in ("badge", "strong") else inline(content.content)
    if isinstance(content, (tuple, list)):
        return ("" if isinstance(content, tuple) else "; ").join(map(inline, content))
    return escaped(str(content))


@singledispatch
def _markdown(part: Any) -> str:
    raise TypeError(f"a {type(part).__name__} is no part of a description")


@_markdown.register
def _(facts: Facts) -> str:
    return "\n".join(f"- **{escaped(fact.label)}:** {inline(fact.value)}" for fact in facts.shown)


@_markdown.register
def _(table: Table) -> str:
    shown = table.narrow
    head = [inline(column.title) for column in shown.columns]
    rule = ["---:" if column.right else ":---" for column in shown.columns]
    rows = [
        [
            inline(column.text(value) if isinstance(value, (int, float, type(None))) else value)
            for column, value in pairs
        ]
        for pairs in (zip(shown.columns, row, strict=True) for row in shown.rows)
    ]
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))
    return "\n\n".join(filter(None, [lines, escaped(table.cut), *map(escaped, table.remarks)]))


@_markdown.register
def _(words: Prose) -> str:
    if isinstance(words.content, str):
        return "\n".join(escaped(line) if line.strip() else "" for line in words.content.split("\n"))
    return inline(words.content)


@_markdown.register
def _(statement: Formulation) -> str:
    return formula(Formula(statement.latex)).strip()


@_markdown.register
def _(listing: Listing) -> str:
    mark = "1. " if listing.numbered else "- "
    return "\n".join(mark + _item(item, " " * len(mark)) for item in listing.items)


def _item(item: Any, indent: str) -> str:
    """An item with what stands below it moved to the right; steps are a list of their own."""
    if not isinstance(item, list):
        return inline(item)
    written = [inline(item[0]), *(inline(one) if is_display(one) else f"- {inline(one)}" for one in item[1:])]
    return "\n".join(f"{indent}{line}" if line else "" for text in written for line in text.split("\n"))[len(indent) :]


@_markdown.register
def _(group: Cluster) -> str:
    inside = to_markdown(*group.parts)
    return f"**{escaped(group.title)}**\n\n{inside}" if group.title else inside


@_markdown.register
def _(section: Chapter) -> str:
    return f"## {escaped(section.title)}\n\n{to_markdown(*section.parts)}"
