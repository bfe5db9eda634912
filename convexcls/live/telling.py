"""What there is to tell beside the picture: verdict, values, KKT residuals, samples, the proof, formulas. All of it is
what ``describe`` says of the solution, in the parts that a page lays out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import numpy as np

from convexcls.describe.certificate import contradiction, direction, kkt_table
from convexcls.describe.html import SIGNS, formula
from convexcls.describe.parts import TINY, Column, Formula, Mark, Table, in_letters
from convexcls.describe.slackness import slackness
from convexcls.describe.solution import VERDICT_MEANING, certified
from convexcls.problem import NoAnswer, Problem
from convexcls.problem.explain import conditions
from convexcls.solution import Solution
from convexcls.wording import number

#: Of many unknowns so many are written.
MAX_VALUES_WRITTEN = 6
#: Digits in tables.
DIGITS = 4


def verdict(solution: Solution) -> dict[str, Any]:
    """The verdict with its sign and its meaning, the two values and what is between them."""
    kkt = solution.certificate.kkt
    shown = solution.status not in ("infeasible", "unattained")
    meaning = VERDICT_MEANING[solution.status]
    if solution.problem.sense == "max":
        meaning = meaning.replace("minimiser", "maximiser").replace("falls", "grows")
    return {
        "status": solution.status,
        "certified": certified(solution),
        "sign": SIGNS[solution.status],
        "meaning": meaning,
        "sense": solution.problem.sense,
        "objective": _finite(solution.objective) if shown else None,
        "dual_objective": _finite(solution.dual_objective) if shown else None,
        "gap": _finite(solution.gap) if shown else None,
        "relative_gap": _finite(kkt.relative_gap) if shown and kkt is not None else None,
        "tolerance": solution.certificate.tol,
    }


def residuals(solution: Solution) -> list[dict[str, Any]]:
    """The KKT conditions with their residuals; none where the verdict speaks of no point."""
    table = None if solution.status in ("infeasible", "unattained") else kkt_table(solution.certificate)
    if table is None:
        return []
    out = []
    for (name, meaning), _, _, absolute, relative, where in table.rows:
        holds = relative <= solution.certificate.tol
        said = {"name": name, "meaning": meaning.content, "where": where, "holds": bool(holds)}
        out.append({**said, "absolute": _finite(absolute), "relative": _finite(relative)})
    return out


def words(solution: Solution) -> list[str]:
    """The certificate in words, line by line."""
    return solution.certificate.explain().split("\n")


def infinity(solution: Solution) -> dict[str, Any] | None:
    """Of a likelihood without a maximum: which coefficients run to infinity and to which side, and this in words."""
    if solution.status != "unattained":
        return None
    try:
        found = solution.existence()
    except NoAnswer:
        return None
    ways = {str(name): str(way) for name, way in found.infinite.items()}
    return {"ways": ways, "words": found.explain().split("\n")}


# ---- tables ---------------------------------------------------------------------------------------------


def samples(solution: Solution) -> dict[str, Any] | None:
    """The samples one by one, or the rows of the proof that there is no answer; their rows are linked to the points."""
    chapter = slackness(solution)
    if chapter is not None:
        return _table(next(part for part in chapter.parts if isinstance(part, Table)), chapter.title)
    found = contradiction(solution.certificate) or direction(solution.certificate)
    return None if found is None else _table(found, found.title)


def _table(table: Table, title: Any) -> dict[str, Any]:
    names = [in_letters(column.title) for column in table.columns]
    row = names.index("row") if "row" in names else None
    return {
        "title": in_letters(title),
        "cut": in_letters(table.title) if table.name == "samples" and " of " in in_letters(table.title) else table.cut,
        "columns": [{"title": _pieces(column), "right": column.right} for column in table.columns],
        "rows": [
            {"row": None if row is None else int(cells[row]), "cells": _texts(table.columns, cells)}
            for cells in table.rows
        ],
    }


def _texts(columns: Iterable[Column], cells: Iterable[Any]) -> list[str]:
    return [_text(column, value) for column, value in zip(columns, cells, strict=True)]


def _text(column: Column, value: Any) -> str:
    """A cell as the column writes it, with fewer digits: there is little room beside a picture."""
    large = isinstance(value, float) and column.format in ("slack", "digits", "number") and abs(value) >= TINY
    return number(value, DIGITS) if large else column.text(value)


def _pieces(column: Column) -> list[Any]:
    """A title as pieces: words, formulas, small formulas."""
    parts = column.title if isinstance(column.title, tuple) else (column.title,)
    out: list[Any] = []
    for part in parts:
        small = isinstance(part, Mark) and part.role == "small"
        content = part.content if isinstance(part, Mark) else part
        out.append({"small": small, **_written(content)})
    return out


# ---- formulas -------------------------------------------------------------------------------------------


def formulas(problem: Problem, solution: Solution | None) -> dict[str, Any]:
    """Primal, dual and KKT system as they are written, with the numbers of the solution."""
    dual = problem.dual()
    names = ("Primal", "Dual") if problem.sense == "min" else ("The problem as stated", "Its dual")
    point = solution is not None and solution.status in ("optimal", "undecided") and solution.x is not None
    objectives = (solution.objective, solution.dual_objective) if point and solution is not None else (None, None)
    return {
        "statements": [
            {"name": name, **_written(Formula(stated.latex()), display=True), "value": _value(value)}
            for name, stated, value in zip(names, (problem, dual), objectives, strict=True)
        ],
        "conditions": [
            {"name": name, "pieces": [_written(piece) for piece in line]} for name, line in conditions(problem)
        ],
        "numbers": _numbers(problem, solution) if point and solution is not None else [],
    }


def _value(value: float | None) -> str | None:
    return None if value is None or not np.isfinite(value) else number(value)


def _numbers(problem: Problem, solution: Solution) -> list[dict[str, Any]]:
    """Every unknown and every multiplier with its value; of many those that are not zero."""
    blocks = [(v.symbol, solution.values[v.name]) for v in problem.variables]
    blocks += [(c.symbol, solution.multipliers[c.name]) for c in problem.constraints if c.name in solution.multipliers]
    return [{**_written(Formula(symbol)), "value": _few(np.asarray(values))} for symbol, values in blocks]


def _few(values: Any) -> str:
    if values.size == 1:
        return number(float(values[0]), 6)
    if values.size <= MAX_VALUES_WRITTEN:
        return f"({', '.join(number(float(v), 4) for v in values)})"
    used = np.flatnonzero(np.abs(values) > 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0))))
    shown = ", ".join(f"{number(float(values[i]), 4)} in row {i}" for i in used[:MAX_VALUES_WRITTEN])
    more = f" and {used.size - MAX_VALUES_WRITTEN} more" if used.size > MAX_VALUES_WRITTEN else ""
    return f"{shown}{more}; all else 0" if used.size < values.size else f"{shown}{more}"


def _written(content: Any, display: bool = False) -> dict[str, Any]:
    """Words, or a formula as a tree of MathML with its text for where that is not shown."""
    if not isinstance(content, Formula):
        return {"text": in_letters(content), "math": None}
    return {"text": in_letters(content), "math": _tree(str(formula(content.latex, display=display)))}


def _tree(markup: str) -> list[Any] | None:
    """MathML as nested lists: a name, attributes, children. A page builds elements of it, and parses no markup."""
    if not markup.startswith("<math"):
        return None
    try:
        return _element(ElementTree.fromstring(re.sub(r'\sxmlns="[^"]*"', "", markup)))
    except ElementTree.ParseError:  # an entity that XML does not know
        return None


def _element(node: ElementTree.Element) -> list[Any]:
    children: list[Any] = [node.text] if node.text else []
    for child in node:
        children.append(_element(child))
        if child.tail:
            children.append(child.tail)
    return [node.tag, dict(node.attrib), *children]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
