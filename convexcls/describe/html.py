"""Descriptions as HTML, for pages and notebooks: no script, nothing from outside.

Escaping cannot be forgotten: text that is not ``Html`` is escaped where it goes in.

A page brings a style sheet and shows MathML. A notebook that is not trusted loses both: what goes into notebooks
(``for_notebook``) carries its styles on every element, and its formulas as LaTeX between dollar signs, for MathJax.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache, singledispatch
from html import escape
from itertools import groupby
from math import isfinite
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

EMPTY = ("meta", "br", "col", "img")
#: A verdict is told by its sign and its word; the colour only repeats them.
SIGNS = {"optimal": "✓", "infeasible": "∅", "unattained": "∞", "undecided": "?"}


LEFT = "text-align:left;vertical-align:top;white-space:normal"
RIGHT = "text-align:right;vertical-align:top;white-space:nowrap"
#: How elements look in notebooks, by tag and by class; without colours of ink and paper, which are the notebook's.
IN_NOTEBOOKS = {
    "table": "margin:0.6em 0;border-collapse:collapse",
    "caption": "text-align:left;padding-bottom:0.3em;opacity:0.75",
    "th": LEFT,
    "td": LEFT,
    ".number": RIGHT,
    "figure": "margin:0",
    "figcaption": "opacity:0.75",
    "small": "display:block;font-weight:400;opacity:0.75",
    "summary": "cursor:pointer",
    ".badge": "border:2px solid;border-radius:4px;padding:0.1em 0.5em;white-space:nowrap",
    ".fails": "font-weight:700;white-space:nowrap",
    ".holds": "white-space:nowrap",
    ".word": "white-space:nowrap",
    ".scroll": "overflow-x:auto;overflow-y:hidden;max-width:100%",
    ".bar": "display:block;width:7em;height:0.8em",
    ".lines": "list-style-type:none;padding-left:1.2em",
    ".letters": "list-style-type:none;padding-left:0",
}
BAR = "display:block;height:100%;min-width:1px;background:#3b8ec2;"
_for_notebook: ContextVar[bool] = ContextVar("_for_notebook", default=False)


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Html | None


def safe(text: Content) -> Html:
    """Html as it is; other text escaped, its hidden characters made visible."""
    if text is None:
        return Html("")
    if isinstance(text, Html):
        return text
    written = escape(clean(text, keep="\n"))
    if _for_notebook.get():  # what is no formula stays text: MathJax joins nothing across elements
        written = re.sub(r"[$\\]", r"<span>\g<0></span>", written)
    return Html(written)


def tag(name: str, /, *children: Content, **attributes: str | bool | None) -> Html:
    """An element. ``class_`` and ``aria_label`` are written class and aria-label; what is None or False is left out."""
    written = ""
    if _for_notebook.get():
        attributes = _styled(name, attributes)
    for key, value in attributes.items():
        if value is not None and value is not False:
            bare = key.rstrip("_").replace("_", "-")
            written += f" {bare}" if value is True else f' {bare}="{escape(clean(value))}"'
    if name in EMPTY:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def _styled(name: str, attributes: dict[str, str | bool | None]) -> dict[str, str | bool | None]:
    """The attributes with a style instead of a class: the sheet of the notebook may know a class by the same name."""
    classes = str(attributes.get("class_") or "").split()
    keys = [name, *(f".{one}" for one in classes)]
    styles = [IN_NOTEBOOKS[key] for key in keys if key in IN_NOTEBOOKS] + [str(attributes.get("style") or "")]
    return {**attributes, "class_": None, "style": ";".join(filter(None, styles)) or None}


def for_notebook(*parts: Part | None) -> Html:
    """The parts as a notebook shows them, trusted or not."""
    token = _for_notebook.set(True)
    try:
        return Html(f'<div class="convexcls">{to_html(*parts)}</div>')
    finally:
        _for_notebook.reset(token)


def join(parts: Iterable[Content]) -> Html:
    """Pieces one after another."""
    return Html("".join(map(safe, parts)))


def prose(text: str) -> Html:
    """Words that were written for a screen: lines become paragraphs, each to its end or to a colon, indented lines a
    list."""
    out: list[Html] = []
    for kind, group in groupby(text.split("\n"), key=lambda line: line.startswith(" ") if line.strip() else None):
        lines = [line.strip() for line in group]
        if kind:
            out.append(tag("ul", *(tag("li", line) for line in lines), class_="lines"))
        elif kind is not None:
            out += [tag("p", part.replace("\n", " ")) for part in re.split(r"(?<=:)\n", "\n".join(lines))]
    return join(out)


# ---- formulas -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _converter() -> Any:
    try:
        from math_core import LatexToMathML
    except ImportError:
        return None
    return LatexToMathML(fancy_error=False)


def formula(latex: str, display: bool = False) -> Html:
    """A formula of ours as MathML, in a line or (``display``) standing alone; as plain text without math-core. In
    notebooks as LaTeX."""
    if _for_notebook.get() and "$" not in latex:
        return Html(escape(f"$${latex}$$" if display else f"${latex}$"))
    converter = None if _for_notebook.get() else _converter()
    if converter is not None:
        try:
            return Html(converter.convert_with_local_state(latex, displaystyle=display))
        except Exception:  # a symbol of the user's own need not be LaTeX
            pass
    text = "\n".join(plain_lines(latex))
    return tag("pre", text, class_="formula") if display else tag("span", text, class_="formula")


# ---- descriptions ---------------------------------------------------------------------------------------


def to_html(*parts: Part | None) -> Html:
    """The parts one after another; what is empty leaves nothing."""
    return join(_html(part) for part in parts if shows(part))


def inline(content: Any) -> Html:
    """What stands in a line; of a list, one below the other."""
    if isinstance(content, Formula):
        shown = formula(content.latex, display=is_display(content))
        return tag("div", shown, class_="scroll", tabindex="0") if is_display(content) else shown
    if isinstance(content, list):
        return join(tag("div", inline(one)) for one in content)
    if isinstance(content, tuple):
        return join(map(inline, content))
    return _marked(content) if isinstance(content, Mark) else join([content])


def _marked(mark: Mark) -> Html:
    words = inline(mark.content)
    status = str(mark.content).lower()
    signed = join([f"{SIGNS[status]} ", words]) if status in SIGNS else words
    kind = f" {status}" if status in SIGNS else ""
    if mark.role == "badge":
        return tag("strong", signed, class_=f"badge{kind}")
    if mark.role == "word":
        return tag("span", signed, class_=f"word{kind}")
    if mark.role in ("small", "strong"):
        return tag({"small": "small", "strong": "b"}[mark.role], words)
    return tag("span", words, class_=mark.role)


@singledispatch
def _html(part: Any) -> Html:
    raise TypeError(f"a {type(part).__name__} is no part of a description")


@_html.register
def _(facts: Facts) -> Html:
    if _for_notebook.get():  # where definition lists have styles that do not suit
        rows = (tag("tr", tag("th", fact.label, scope="row"), tag("td", inline(fact.value))) for fact in facts.shown)
        return tag("table", tag("tbody", *rows))
    pairs = (tag("div", tag("dt", fact.label), tag("dd", inline(fact.value))) for fact in facts.shown)
    return tag("dl", *pairs, class_="facts")


@_html.register
def _(table: Table) -> Html:
    """It scrolls by itself where the page is too narrow for it."""
    body = (tag("tr", *_cells(table.columns, row)) for row in table.rows)
    head = tag("tr", *(tag("th", inline(c.title), scope="col", class_=_kind(c)) for c in table.columns))
    caption = tag("caption", inline(table.title), f", {table.cut}" if table.cut else None)
    whole = tag(
        "table", caption, tag("thead", head), tag("tbody", *body), class_="sortable" if table.sortable else None
    )
    return join([tag("div", whole, class_="scroll", tabindex="0"), *map(prose, table.remarks)])


def _cells(columns: Iterable[Column], row: Iterable[Any]) -> Iterable[Html]:
    for k, (column, value) in enumerate(zip(columns, row, strict=True)):
        plain = isinstance(value, (int, float, type(None)))
        shown = _bar(value) if column.format == "bar" else inline(column.text(value) if plain else value)
        yield tag("td" if k else "th", shown, scope=None if k else "row", class_=_kind(column))


def _kind(column: Column) -> str | None:
    return "number" if column.right else "words" if column.format == "words" else None


def _bar(share: float) -> Html:
    """The size as a bar that grows from the middle; words for who cannot see it are in the number beside it."""
    if not isfinite(share):
        return Html("")
    width, left = 50 * abs(share), 50 - 50 * max(-share, 0.0)
    return tag(
        "span", tag("span", style=f"{BAR}margin-left:{left:.1f}%;width:{width:.1f}%"), class_="bar", aria_hidden="true"
    )


@_html.register
def _(words: Prose) -> Html:
    if isinstance(words.content, str) and not words.role:
        return prose(words.content)
    return tag("p", inline(words.content), class_=words.role or None)


@_html.register
def _(statement: Formulation) -> Html:
    name = f" · {statement.name}" if statement.name != statement.heading else ""
    shown = tag("div", formula(statement.latex, display=True), class_="scroll", tabindex="0")
    return tag("figure", tag("figcaption", tag("b", statement.heading), name), shown)


@_html.register
def _(listing: Listing) -> Html:
    if listing.numbered:
        steps = tag("ol", *(tag("li", inline(item)) for item in listing.items), class_="steps")
        return tag("div", steps, class_="scroll", tabindex="0")
    return tag("ul", *(tag("li", inline(item)) for item in listing.items), class_="letters")


@_html.register
def _(group: Cluster) -> Html:
    inside = to_html(*group.parts)
    if group.role == "folded":
        return tag("details", tag("summary", group.title), inside)
    return tag("div", inside, class_=group.role)


@_html.register
def _(section: Chapter) -> Html:
    return headed(section.name, section.title, to_html(*section.parts))


def headed(name: str, heading: str, *contents: Html) -> Html:
    """A landmark of the page with its heading; nothing where it has no contents."""
    if not any(contents):
        return Html("")
    return tag("section", tag("h2", heading, id=name), *contents, aria_labelledby=name)
