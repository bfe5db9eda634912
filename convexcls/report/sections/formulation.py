"""The problem and its dual side by side, in real mathematics."""

from __future__ import annotations

from convexcls.problem import Problem
from convexcls.report.formulas import formula
from convexcls.report.markup import Html, safe, section, tag


def formulation_section(problem: Problem) -> Html:
    """The primal beside the dual, with what the letters stand for."""
    primal, dual = problem, problem.dual()
    names = ("Primal", "Dual") if problem.sense == "min" else ("The problem as stated", "Its dual")
    shown = tag("div", statement(primal, names[0]), statement(dual, names[1]), class_="formulas")
    return section("formulation", "The problem and its dual", shown, _letters(problem), _notes(problem))


def statement(problem: Problem, heading: str) -> Html:
    """A problem as it is written."""
    name = problem.name[:1].upper() + problem.name[1:]
    caption = tag("figcaption", tag("b", heading), f" · {name}" if name != heading else "")
    return tag("figure", caption, tag("div", formula(problem.latex(), display=True), class_="scroll", tabindex="0"))


def _letters(problem: Problem) -> Html:
    """What is given and what is sought."""
    sought = [
        tag("li", formula(v.symbol), f" {v.name}, {v.size} unknown{'s' * (v.size != 1)}") for v in problem.variables
    ]
    return tag("ul", *sought, class_="letters")


def _notes(problem: Problem) -> Html:
    return (
        tag("p", " ".join(f"{note[:1].upper()}{note[1:]}." for note in notes), class_="note")
        if (notes := [str(note).rstrip(".") for note in getattr(problem, "notes", ())])
        else safe(None)
    )
