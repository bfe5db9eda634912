"""What notebooks show: the parts of the report, compact, for a problem, a solution, a certificate and the rest."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from convexcls.describe import Cluster, Mark, Part, Prose, to_html
from convexcls.describe.certificate import certificate_parts
from convexcls.describe.html import Html, tag
from convexcls.describe.problem import statement
from convexcls.describe.solution import classifier, numbers, verdict
from convexcls.describe.studies import comparison_table, path_table, summary_parts, verdict_parts
from convexcls.problem import Problem
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.separability import Separability
from convexcls.referee import Appraisal, Appraisals
from convexcls.report.page import resource
from convexcls.solution import Solution
from convexcls.studies.compare import Comparison
from convexcls.studies.inference import Existence, Summary
from convexcls.studies.paths import Path
from convexcls.wording import capitalized

MOST_COEFFICIENTS = 10


def html(thing: Any) -> str:
    """One of our results for a notebook: no script, nothing from outside."""
    style = Html(f"<style>{resource('notebook.css')}</style>")
    return tag("div", style, to_html(*parts(thing)), class_="convexcls")


@singledispatch
def parts(thing: Any) -> list[Part]:
    """What a result is shown by."""
    raise TypeError(f"nothing is known of how to show a {type(thing).__name__}")


@parts.register
def _(problem: Problem) -> list[Part]:
    return [statement(problem)]


@parts.register
def _(solution: Solution) -> list[Part]:
    return [
        Prose(Mark(capitalized(solution.problem.name), "strong")),
        verdict(solution),
        numbers(solution),
        *classifier(solution, MOST_COEFFICIENTS),
        Cluster(tuple(certificate_parts(solution.certificate)), "folded", "The proof"),
    ]


@parts.register
def _(certificate: Certificate) -> list[Part]:
    return [Prose(Mark(certificate.status.upper(), "badge")), *certificate_parts(certificate)]


@parts.register
def _(comparison: Comparison) -> list[Part]:
    return [comparison_table(comparison)]


@parts.register
def _(path: Path) -> list[Part]:
    return [path_table(path)]


@parts.register
def _(summary: Summary) -> list[Part]:
    return summary_parts(summary)


@parts.register(Separability)
@parts.register(Existence)
@parts.register(Appraisal)
@parts.register(Appraisals)
def _(found: Any) -> list[Part]:
    return verdict_parts(found)
