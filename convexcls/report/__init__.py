"""The report: a solution on one page, with its problem, its proof and its pictures, for people to look at; and what
notebooks show of every result.

>>> import convexcls as cc
>>> solution = cc.HardMarginSVM([[0.0, 0.0], [2.0, 0.0]], ["left", "right"]).solve()
>>> report = solution.report(compare=False, pictures=False)
>>> report.html.startswith("<!DOCTYPE html>")
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from html import escape
from pathlib import Path
from typing import Any

from convexcls.bench import Judgement
from convexcls.describe import Chapter, Cluster, Mark, Part, Prose, to_html
from convexcls.describe.bench import judgement_parts
from convexcls.describe.certificate import certificate_parts, measures_table, proof
from convexcls.describe.fit import fit, inference
from convexcls.describe.html import Html, for_notebook
from convexcls.describe.problem import data_in_brief, derivation, formulation, kkt_system, statement
from convexcls.describe.problem import title as described
from convexcls.describe.slackness import multipliers, slackness
from convexcls.describe.solution import classifier, numbers, verdict
from convexcls.describe.studies import comparison_table, leave_one_out_facts, path_table, summary_parts, verdict_parts
from convexcls.files import write_file
from convexcls.fits import Appraisal, Appraisals
from convexcls.problem import Problem
from convexcls.problem.duality import Dual
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.kkt.residuals import KKT
from convexcls.proofs.separability import Separability
from convexcls.report.page import document, pictures_sections, provenance_section
from convexcls.solution import Solution
from convexcls.solve import accepting
from convexcls.studies.compare import Comparison, Row, compare
from convexcls.studies.conflict import Conflict
from convexcls.studies.inference import Existence, Summary
from convexcls.studies.leave_one_out import LeaveOneOut
from convexcls.studies.paths import Path as SolutionPath
from convexcls.wording import capitalized

#: A problem of more coefficients than this is not given to all solvers unasked: some would take minutes.
MAX_COEFFICIENTS_FOR_ALL = 50_000
MAX_COEFFICIENTS, MAX_COEFFICIENTS_IN_NOTEBOOKS = 30, 10
JUDGED = "Each answer is judged by the toolkit's own check on the problem as stated, not by what its solver says."


@dataclass(frozen=True)
class Report:
    """A report as one HTML document that needs no network and no script.

    >>> import convexcls as cc
    >>> report = cc.load("xor_hard_margin").solve().report(compare=False, pictures=False)
    >>> report.title, "INFEASIBLE" in report.html, "http:" in report.html.replace("http://www.w3.org/", "")
    ('Hard-margin SVM', True, False)
    """

    title: str
    html: str = field(repr=False)

    def save(self, path: Any) -> Path:
        """Write it to a file, and say where that is."""
        target = Path(path)
        write_file(target, self.html)
        return target

    def _repr_html_(self) -> str:
        """The page in a frame of its own: its styles and ids stay apart from the notebook's. A notebook that is not
        trusted leaves the frame out."""
        return (
            f"<p>Report: {escape(self.title)}. Where no page follows, the notebook is not trusted: "
            "<code>report.save('report.html')</code> writes it to a file.</p>"
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="{escape(self.title)}" '
            'style="width:100%;height:42em;border:1px solid #8888;border-radius:4px"></iframe>'
        )


def report(
    solution: Solution,
    path: Any = None,
    title: str | None = None,
    compare: bool | Sequence[str] = True,
    pictures: bool = True,
    command: str | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Report:
    """The report of a solution, written to ``path`` where one is given. ``compare`` names the solvers to compare it
    with: True takes all that accept the problem, where that is not too large. ``command`` is what the page says to make
    it again, ``progress`` hears of every step."""
    problem = solution.problem
    table = compared(solution, compare, progress)
    heading = title or capitalized(problem.name)
    if progress is not None:
        progress("writing")
    from convexcls import __version__

    first, others = pictures_sections(solution) if pictures else (Html(""), Html(""))
    top = to_html(verdict(solution), numbers(solution))
    found = Chapter("classifier", "The classifier", tuple(classifier(solution, MAX_COEFFICIENTS)))
    judged = (fit(solution), inference(solution))
    why = (proof(solution), multipliers(solution), slackness(solution))
    chapters = to_html(data_in_brief(problem), formulation(problem), found, *judged, *why)
    foot = provenance_section(solution, command, __version__)
    html = document(heading, described(problem), top, [first, chapters, others, to_html(table)], foot)
    made = Report(heading, html)
    if path is not None:
        made.save(path)
    return made


def compared(
    solution: Solution, wanted: bool | Sequence[str], progress: Callable[[Any], None] | None
) -> Chapter | None:
    """The solution beside those of other solvers, and what there is to say of who is missing."""
    if wanted is False:
        return None
    if isinstance(wanted, str):
        raise TypeError(f"compare is {wanted!r}: give a list of solvers, True for all or False for none")
    problem, tol = solution.problem, solution.certificate.tol
    own, said = Row.of(solution), JUDGED
    if wanted is not True:
        names = list(wanted)
    elif size(problem) <= MAX_COEFFICIENTS_FOR_ALL:
        names = [info.name for info in accepting(problem)]
    else:
        names = []
        said += " The problem is large, so that other solvers are compared only where they are named."
    others = compare(problem, [name for name in names if name != solution.solver], tol, progress)
    side_by_side = comparison_table(Comparison(problem, tol, (own, *others.rows)))
    return Chapter("solvers", "Solvers compared", (Prose(said), side_by_side))


def size(problem: Problem) -> int:
    """About how many coefficients the rows of a problem have."""
    blocks = (*problem.terms, *problem.constraints)
    unknowns = sum(v.size for v in problem.variables if v.kind == "vector") or problem.size
    rows = sum(block.size for block in blocks if block.kind != "vector")
    return rows * min(unknowns, 1000)


# ---- what notebooks show --------------------------------------------------------------------------------


def in_notebook(result: Any) -> str:
    """One of our results for a notebook: no script, nothing from outside."""
    return for_notebook(*notebook_parts(result))


@singledispatch
def notebook_parts(result: Any) -> list[Part]:
    """What a result is shown by."""
    raise TypeError(f"nothing is known of how to show a {type(result).__name__}")


@notebook_parts.register
def _(solution: Solution) -> list[Part]:
    return [
        Prose(Mark(capitalized(solution.problem.name), "strong")),
        verdict(solution),
        numbers(solution),
        *classifier(solution, MAX_COEFFICIENTS_IN_NOTEBOOKS),
        Cluster(tuple(certificate_parts(solution.certificate)), "folded", "The proof"),
    ]


@notebook_parts.register
def _(certificate: Certificate) -> list[Part]:
    return [Prose(Mark(certificate.status.upper(), "badge")), *certificate_parts(certificate)]


@notebook_parts.register
def _(problem: Problem) -> list[Part]:
    way = [Cluster((derivation(problem),), "folded", "How it is derived")] if isinstance(problem, Dual) else []
    return [statement(problem), *way, Cluster((kkt_system(problem),), "folded", "The KKT conditions")]


notebook_parts.register(KKT, lambda kkt: [measures_table(kkt)])
notebook_parts.register(LeaveOneOut, lambda found: [leave_one_out_facts(found)])
notebook_parts.register(Comparison, lambda comparison: [comparison_table(comparison)])
notebook_parts.register(SolutionPath, lambda path: [path_table(path)])
notebook_parts.register(Summary, summary_parts)
notebook_parts.register(Judgement, judgement_parts)
for judged in (Separability, Existence, Appraisal, Appraisals, Conflict):
    notebook_parts.register(judged, verdict_parts)

__all__ = ["Report", "report"]
