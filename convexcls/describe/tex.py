r"""Descriptions as LaTeX: a piece for a document that has ``amsmath`` and ``graphicx``, or a document of its own."""

from __future__ import annotations

import re
import unicodedata
from functools import singledispatch
from typing import Any

from convexcls.describe.parts import (
    Chapter,
    Cluster,
    Column,
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
from convexcls.problem.latex import plain_lines
from convexcls.wording import clean

PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper, margin=25mm]{geometry}
\usepackage{amsmath, graphicx}
\setlength{\parindent}{0pt}
\setlength{\parskip}{\medskipamount}
\raggedright
"""
#: So many letters of a formula fit a line.
MAX_LINE_CHARACTERS = 75
#: What is markup to TeX, and how it is written as text.
SPECIAL = {char: f"\\{char}" for char in "&%$#_{}"}
SPECIAL |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
SPECIAL |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''"}
SPECIAL |= {"…": r"\dots{}", "–": "--", "—": "---", "≤": r"$\le$", "≥": r"$\ge$", "−": "$-$", "ᵀ": r"$^\top$"}
#: Accents that every font of TeX puts on Latin letters, from grave to cedilla, and further letters that it has.
ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
LETTERS = "ßæÆøØłŁœŒ¡¿"


def to_tex(*parts: Part | None) -> str:
    """The parts, with blank lines between."""
    return "\n\n".join(_tex(part) for part in parts if shows(part))


def document(title: str, *parts: Part | None) -> str:
    """The parts as a document that compiles."""
    body = f"\\section*{{{escaped(title)}}}\n\n{to_tex(*parts)}"
    return f"{PREAMBLE}\n\\begin{{document}}\n\n{body}\n\n\\end{{document}}"


def escaped(text: str) -> str:
    """Text in which nothing is markup; a letter that TeX's fonts lack is told by its number."""
    return "".join(map(_letter, unicodedata.normalize("NFC", clean(text))))


def _letter(char: str) -> str:
    if char in SPECIAL:
        return SPECIAL[char]
    base, *marks = list(unicodedata.normalize("NFD", char))
    composed = base.isascii() and len(marks) <= 1 and all(mark in ACCENTS for mark in marks)
    if char in LETTERS or (composed and char < "\u0180"):
        return char
    return rf"\texttt{{U+{ord(char):04X}}}"


def inline(content: Any) -> str:
    """What stands in a line; an aligned formula stands alone."""
    if isinstance(content, Formula):
        return _display(content.latex) if is_display(content) else f"${content.latex}$"
    if isinstance(content, Mark):
        words = inline(content.content)
        return rf"\textbf{{{words}}}" if content.role in ("badge", "strong") else words
    if isinstance(content, (tuple, list)):
        return ("" if isinstance(content, tuple) else "; ").join(map(inline, content))
    return escaped(str(content))


def _display(latex: str) -> str:
    """A formula that stands alone, made smaller where it would not fit the line."""
    if max(map(len, plain_lines(latex))) <= MAX_LINE_CHARACTERS:
        return f"\\[\n{latex}\n\\]"
    return f"\\resizebox{{\\linewidth}}{{!}}{{$\n{latex}\n$}}"


@singledispatch
def _tex(part: Any) -> str:
    raise TypeError(f"a {type(part).__name__} is no part of a description")


def _list(kind: str, items: Any) -> str:
    return "\n".join([rf"\begin{{{kind}}}", *(rf"\item {item}" for item in items), rf"\end{{{kind}}}"])


@_tex.register
def _(facts: Facts) -> str:
    return _list("itemize", (rf"\textbf{{{escaped(fact.label)}:}} {inline(fact.value)}" for fact in facts.shown))


@_tex.register
def _(table: Table) -> str:
    """What may be broken into lines shares the width that names leave."""
    shown = table.narrow
    wide = sum(column.format == "words" for column in shown.columns)
    kinds = "".join(_kind(column, 0.6 / max(wide, 1)) for column in shown.columns)
    head = " & ".join(inline(column.title) for column in shown.columns)
    rows = [
        " & ".join(
            inline(column.text(value) if isinstance(value, (int, float, type(None))) else value)
            for column, value in zip(shown.columns, row, strict=True)
        )
        for row in shown.rows
    ]
    lines = " \\\\\n".join([head, *rows]).replace(head, head + r" \\ \hline", 1).replace(r"\hline \\", r"\hline")
    remarks = [escaped(text) for text in (table.cut, *table.remarks) if text]
    return "\n\n".join([f"\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}\n{lines}\n\\end{{tabular}}", *remarks])


def _kind(column: Column, share: float) -> str:
    return rf"p{{{share:.2f}\linewidth}}" if column.format == "words" else "r" if column.right else "l"


@_tex.register
def _(words: Prose) -> str:
    if isinstance(words.content, str):
        return re.sub(r"\n(?=  )", r"\\\\" + "\n", "\n".join(map(_lines, words.content.split("\n"))))
    return inline(words.content)


def _lines(line: str) -> str:
    return escaped(line) if line.strip() else ""


@_tex.register
def _(statement: Formulation) -> str:
    return inline(Formula(statement.latex))


@_tex.register
def _(listing: Listing) -> str:
    items = (inline(one[0]) + _below(one[1:]) if isinstance(one, list) else inline(one) for one in listing.items)
    return _list("enumerate" if listing.numbered else "itemize", items)


def _below(steps: list[Any]) -> str:
    """What is done in a step: an aligned formula as it is, others as a list."""
    if not steps:
        return ""
    if len(steps) == 1 and is_display(steps[0]):
        return f"\n{inline(steps[0])}"
    return "\n" + _list("itemize", map(inline, steps))


@_tex.register
def _(group: Cluster) -> str:
    inside = to_tex(*group.parts)
    return f"\\textbf{{{escaped(group.title)}}}\n\n{inside}" if group.title else inside


@_tex.register
def _(section: Chapter) -> str:
    return f"\\subsection*{{{escaped(section.title)}}}\n\n{to_tex(*section.parts)}"
