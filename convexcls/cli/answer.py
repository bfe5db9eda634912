"""A solution as text: the verdict, the numbers, the classifier, the KKT table, the proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from rich.console import Console
from rich.text import Text

from convexcls.certificate import KKT, Residual
from convexcls.certificate.level_words import rational_text
from convexcls.cli.classes import show_grids
from convexcls.cli.screen import shorten, write
from convexcls.cli.tables import STYLES, Column, number, show_facts, show_table, small
from convexcls.conic import Conic
from convexcls.problem import NoAnswer
from convexcls.report.grids import grids
from convexcls.report.reading import (
    CONDITIONS,
    certified,
    coefficients,
    conic_of,
    has_support,
    in_samples,
    intercept_value,
    interval,
    title,
    where,
)
from convexcls.report.text import count
from convexcls.solution import Solution

MOST_COEFFICIENTS = 20
MOST_ROWS = 20
#: Above this many unknowns or rows, whether the solution is unique is not asked: it takes a dense factorization.
LARGEST_FOR_UNIQUENESS = 1000


def show_solution(console: Console, s: Solution, everything: bool = False) -> None:
    """The verdict, the numbers, the classifier, the KKT table, the certificate in words."""
    show_facts(console, _facts(s, everything))
    if s.x is not None and s.status in ("optimal", "undecided"):
        tables = grids(s)
        if tables:
            show_grids(console, tables, everything)
        else:
            _show_coefficients(console, s, everything)
    if s.certificate.kkt is not None and s.status in ("optimal", "undecided"):
        console.print()
        show_kkt(console, s.certificate.kkt, getattr(getattr(s.problem, "data", None), "features", ()))
    if s.rule_report is not None:
        console.print()
        write(console, str(s.rule_report))
    console.print()
    write(console, s.certificate.explain())
    if s.status == "unattained" and s.problem.kind in ("logistic", "softmax"):
        console.print()
        with suppress(NoAnswer):  # of too many coefficients it is not told
            write(console, s.existence().explain())


def _facts(s: Solution, everything: bool) -> list[tuple[str, str | Text]]:
    proof = f"proved to the tolerance {s.certificate.tol:.0e}" if s.status == "optimal" else "proved"
    if s.certificate.level != "float":
        proof = f"proved, level {s.certificate.level}"
    verdict = Text.assemble((s.status.upper(), STYLES[s.status]), f" ({proof})" if certified(s) else " (not proved)")
    steps = f", {count(s.iterations, 'iteration')}" if s.iterations else ""
    said = f"; it said: {shorten(s.message, 200)}" if s.message else ""
    facts: list[tuple[str, str | Text]] = [
        ("problem", title(s.problem)),
        ("solver", f"{s.solver}{steps}, {s.seconds:.2g} s{said}"),
        *([("chosen", s.chosen)] if s.chosen else []),
        ("verdict", verdict),
    ]
    if s.x is None or s.status not in ("optimal", "undecided"):
        return facts
    relative = s.kkt.relative_gap if s.certificate.kkt is not None else math.nan
    facts += _level_facts(s)
    facts += [
        ("objective", number(s.objective)),
        ("dual bound", number(s.dual_objective)),
        (
            "gap",
            f"{small(s.gap)} (relative {small(relative)})" if s.certificate.optimum is None else "0, without rounding",
        ),
    ]
    intercept = intercept_value(s)
    if intercept is not None:
        facts.append(("intercept", _intercept_text(s, intercept)))
    if has_support(s):
        facts.append(("support", _support(s, everything)))
    if (boundary := conic_of(s)) is not None:
        facts.append(("boundary", _boundary(s, boundary)))
    if not _is_free(s, intercept) and (freedom := _freedom(s)) is not None:
        facts.append(("note", freedom))
    return facts


def _level_facts(s: Solution) -> list[tuple[str, str | Text]]:
    """What the level proves of the optimum."""
    c = s.certificate
    if c.level == "float":
        return []
    if c.optimum is not None:
        return [("optimum", rational_text(c.optimum))]
    if c.enclosure is not None:
        return [("optimum", c.enclosure.optimum_text)]
    return [("optimum", f"between {float(c.lower):.17g} and {float(c.upper):.17g} (relative width {small(c.width)})")]


def _boundary(s: Solution, boundary: Conic) -> str:
    """What it is and, where it has an inside, which label is there."""
    labels = s.data.labels
    if boundary.kind not in ("ellipse", "circle") or labels is None or not boundary.inside:
        return str(boundary)
    return f"{boundary}; {shorten(repr(labels[int(boundary.inside > 0)]), 30)} inside"


def _intercept_text(s: Solution, value: float) -> str:
    if not _is_free(s, value):
        return number(value)
    low, high = interval(s)
    return f"{number(value)}, and every other in [{number(low)}, {number(high)}] is as good"


def _is_free(s: Solution, intercept: float | None) -> bool:
    """Whether the intercept is an interval."""
    if intercept is None or s.status != "optimal":
        return False
    low, high = interval(s)
    return high - low > 1e-6 * max(1.0, abs(intercept))


def _support(s: Solution, everything: bool) -> str:
    rows = s.support
    shown = rows if everything else rows[:MOST_ROWS]
    listed = ", ".join(str(row) for row in shown)
    more = f" and {rows.size - shown.size} more (--all lists them)" if shown.size < rows.size else ""
    total = getattr(getattr(s.problem, "data", None), "n", rows.size)
    return f"{rows.size} of {total} rows" + (f", counted from 0: {listed}{more}" if rows.size else "")


def _freedom(s: Solution) -> str | None:
    """That the solution is one of many, where that is known and cheap to find out."""
    rows = sum(block.size for block in (*s.problem.terms, *s.problem.constraints))
    if s.status != "optimal" or max(rows, s.problem.size) > LARGEST_FOR_UNIQUENESS or "coef" not in s.problem.layout:
        return None
    unique = s.uniqueness
    return f"this is not the only solution: {unique.reason}" if unique.unique is False else None


def _show_coefficients(console: Console, s: Solution, everything: bool) -> None:
    pairs = coefficients(s)
    shown = pairs
    if not everything and len(pairs) > MOST_COEFFICIENTS:
        largest = sorted(range(len(pairs)), key=lambda k: -abs(pairs[k][1]))[:MOST_COEFFICIENTS]
        shown = [pairs[k] for k in sorted(largest)]
    named = "coef" in s.problem.layout
    console.print()
    titles = ("feature", "coef") if named else ("variable", "value")
    titles = ("support point", "dual coef") if in_samples(s.problem) else titles
    columns = [Column(titles[0]), Column(titles[1], number=True)]
    show_table(console, columns, [[shorten(name), number(value)] for name, value in shown])
    if len(shown) < len(pairs):
        write(console, f"the {len(shown)} largest of {len(pairs)}; --all shows all")


def show_kkt(console: Console, kkt: KKT, features: Sequence[str] = ()) -> None:
    """The four conditions and the gap, absolute and relative, and where each is worst."""
    rows = []
    for name, attribute in CONDITIONS.items():
        residual: Residual = getattr(kkt, attribute)
        rows.append([name, small(residual.max), small(residual.relative), where(residual, features)])
    rows.append(["duality gap", small(abs(kkt.gap)), small(kkt.relative_gap), ""])
    columns = [Column("KKT condition"), Column("absolute", number=True), Column("relative", number=True)]
    show_table(console, [*columns, Column("worst at")], rows)
