"""What notebooks show: the sections of the report, compact, for a problem, a solution, a certificate and the rest."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from convexcls.certificate import Certificate
from convexcls.compare import Comparison
from convexcls.inference import Existence, Summary
from convexcls.inference.writing import to_html
from convexcls.paths import Path
from convexcls.paths.result import COLUMNS
from convexcls.problem import Problem, provides
from convexcls.referee import Appraisal, Appraisals
from convexcls.report.markup import Column, Content, Html, prose, table, tag
from convexcls.report.page import resource
from convexcls.report.sections.classifier import classifier_table
from convexcls.report.sections.comparison import comparison_table
from convexcls.report.sections.formulation import statement
from convexcls.report.sections.proof import certificate_prose
from convexcls.report.sections.verdict import badge, numbers, verdict_line
from convexcls.separability import Separability
from convexcls.solution import Solution

MOST_COEFFICIENTS = 10


@provides("html")
def html(thing: Any) -> str:
    """One of our results for a notebook: no script, nothing from outside."""
    return tag("div", Html(f"<style>{resource('notebook.css')}</style>"), *sections(thing), class_="convexcls")


@singledispatch
def sections(thing: Any) -> list[Html]:
    """The parts that a result is shown by."""
    raise TypeError(f"nothing is known of how to show a {type(thing).__name__}")


@sections.register
def _(problem: Problem) -> list[Html]:
    return [statement(problem, problem.name[:1].upper() + problem.name[1:])]


@sections.register
def _(solution: Solution) -> list[Html]:
    return [
        tag("p", tag("b", solution.problem.name[:1].upper() + solution.problem.name[1:])),
        verdict_line(solution),
        numbers(solution),
        classifier_table(solution, MOST_COEFFICIENTS),
        tag("details", tag("summary", "The proof"), certificate_prose(solution.certificate)),
    ]


@sections.register
def _(certificate: Certificate) -> list[Html]:
    return [tag("p", badge(certificate.status)), certificate_prose(certificate)]


@sections.register
def _(comparison: Comparison) -> list[Html]:
    return [comparison_table(comparison)]


@sections.register
def _(path: Path) -> list[Html]:
    titles = (path.parameter, *COLUMNS)
    columns = [Column(name, number=name != "verdict", head=k == 0) for k, name in enumerate(titles)]
    rows: list[list[Content]] = [list(row) for row in path.table()]
    for row, status in zip(rows, path.statuses, strict=True):
        row[1] = tag("span", status, class_=f"word {status}")
    return [table(f"{path.model} along {path.parameter}", columns, rows), *(tag("p", r) for r in path.remarks())]


@sections.register
def _(summary: Summary) -> list[Html]:
    return [Html(to_html(summary))]


@sections.register(Separability)
@sections.register(Existence)
@sections.register(Appraisal)
@sections.register(Appraisals)
def _(told: Any) -> list[Html]:
    return [tag("p", tag("strong", told.verdict, class_="badge")), prose(told.explain())]
