"""Descriptions as plain text and as JSON."""

from __future__ import annotations

import json
from functools import singledispatch
from typing import Any

from convexcls.describe.parts import (
    Chapter,
    Cluster,
    Facts,
    Formulation,
    Listing,
    Part,
    Prose,
    Table,
    data_of,
    in_letters,
    shows,
)
from convexcls.problem.latex import plain_lines
from convexcls.wording import clean, columns, indented, plain_values

#: Names of facts stand in a column of at least this width.
NARROWEST = 16


def to_text(*parts: Part | None) -> str:
    """The parts with blank lines between; a table by its titles, rows and remarks."""
    return "\n\n".join(clean(_text(part), keep="\n") for part in parts if shows(part))


@singledispatch
def _text(part: Any) -> str:
    raise TypeError(f"a {type(part).__name__} is no part of a description")


@_text.register
def _(facts: Facts) -> str:
    width = max(NARROWEST, *(len(fact.label) + 2 for fact in facts.told), 0)
    return "\n".join(f"  {fact.label:<{width}}{in_letters(fact.value)}" for fact in facts.told)


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
    return "\n".join(indented(map(in_letters, listing.items)))


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
