"""HTML put together so that escaping cannot be forgotten: text that is not ``Html`` is escaped where it goes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from convexcls.report.text import clean


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Html | None
EMPTY = ("meta", "br", "col", "img")


def safe(text: Content) -> Html:
    """Html as it is; other text escaped, its hidden characters made visible."""
    if text is None:
        return Html("")
    return text if isinstance(text, Html) else Html(escape(clean(text, keep="\n")))


def tag(name: str, /, *children: Content, **attributes: str | bool | None) -> Html:
    """An element. ``class_`` and ``aria_label`` are written class and aria-label; what is None or False is left out."""
    written = ""
    for key, value in attributes.items():
        if value is not None and value is not False:
            bare = key.rstrip("_").replace("_", "-")
            written += f" {bare}" if value is True else f' {bare}="{escape(clean(value))}"'
    if name in EMPTY:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: Iterable[Content], between: str = "") -> Html:
    """Pieces one after another."""
    return Html(safe(between).join(safe(part) for part in parts))


def section(name: str, heading: str, *children: Content) -> Html:
    """A landmark of the page with its heading; nothing where it has no contents."""
    if not any(children):
        return Html("")
    return tag("section", tag("h2", heading, id=name), *children, aria_labelledby=name)


def facts(pairs: Iterable[tuple[str, Content]]) -> Html:
    """Names with their values."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs), class_="facts")


@dataclass(frozen=True)
class Column:
    """A column's title; numbers stand to the right, the names of rows are headers, words may be broken into lines."""

    title: Content
    number: bool = False
    head: bool = False
    words: bool = False

    @property
    def kind(self) -> str | None:
        """The class of its cells."""
        return "number" if self.number else "words" if self.words else None


def table(
    caption: Content, columns: Sequence[Column], rows: Iterable[Sequence[Content]], sortable: bool = False
) -> Html:
    """A table that scrolls by itself where the page is too narrow for it; nothing without rows."""
    body = [tag("tr", *(_cell(column, value) for column, value in zip(columns, row, strict=True))) for row in rows]
    if not body:
        return Html("")
    head = tag("tr", *(tag("th", c.title, scope="col", class_=c.kind) for c in columns))
    whole = tag(
        "table", tag("caption", caption), tag("thead", head), tag("tbody", *body),
        class_="sortable" if sortable else None,
    )  # fmt: skip
    return tag("div", whole, class_="scroll", tabindex="0")


def _cell(column: Column, value: Content) -> Html:
    if column.head:
        return tag("th", value, scope="row", class_=column.kind)
    return tag("td", value, class_=column.kind)


def prose(text: str, *, instead: Sequence[str] = (), of: Content = None) -> Html:
    """Words that were written for a screen: lines become paragraphs, indented lines a list. The lines of ``instead``
    are left out, and what they say is put in their place as ``of``."""
    out: list[Html] = []
    paragraph: list[str] = []
    items: list[str] = []

    def end() -> None:
        if paragraph:
            out.append(tag("p", " ".join(paragraph)))
            paragraph.clear()
        if items:
            out.append(tag("ul", *(tag("li", item) for item in items), class_="lines"))
            items.clear()

    placed = False
    for line in text.split("\n"):
        if line in instead:
            if not placed:
                end()
                out.append(safe(of))
            placed = True
        elif not line.strip():
            end()
        elif line.startswith(" "):
            if paragraph:
                end()
            items.append(line.strip())
        else:
            if items or (paragraph and paragraph[-1].endswith(":")):
                end()
            paragraph.append(line.strip())
    end()
    return join(out)
