"""HTML put together so that escaping cannot be forgotten: text that is not ``Html`` is escaped where it goes in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import Any

from convexcls.problem.latex import plain_lines
from convexcls.wording import clean


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


def prose(text: str) -> Html:
    """Words that were written for a screen: lines become paragraphs, indented lines a list."""
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

    for line in text.split("\n"):
        if not line.strip():
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


# ---- formulas -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _converter() -> Any:
    try:
        from math_core import LatexToMathML
    except ImportError:
        return None
    return LatexToMathML(fancy_error=False)


def formula(latex: str, display: bool = False) -> Html:
    """A formula of ours as MathML, in a line or (``display``) standing alone; as plain text without math-core."""
    converter = _converter()
    if converter is not None:
        try:
            return Html(converter.convert_with_local_state(latex, displaystyle=display))
        except Exception:  # a symbol of the user's own need not be LaTeX
            pass
    text = "\n".join(plain_lines(latex))
    return tag("pre", text, class_="formula") if display else tag("span", text, class_="formula")
