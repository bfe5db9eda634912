"""HTML taken apart by the standard library, for the tests of reports and notebooks."""

from __future__ import annotations

import re
from html.parser import HTMLParser

EMPTY = {"meta", "br", "col", "img", "link", "input", "hr"}
FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', r"$\frac{1}{0}$", "a & b\u202e")


class Page(HTMLParser):
    """Every tag with its attributes, the text by tag, the tables as rows of cells; complains of what is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.complaints: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.formulas: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = ""
        self.feed(html)
        self.close()
        self.complaints += [f"<{name}> is not closed" for name in self.open]

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))
        if name not in EMPTY:
            self.open.append(name)
        if name == "table":
            self._rows, self._caption = [], ""
        elif name == "tr":
            self._rows.append([])
        elif name in ("td", "th"):
            self._rows[-1].append("")

    def handle_startendtag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_endtag(self, name):
        if not self.open or self.open[-1] != name:
            self.complaints.append(f"</{name}> closes {self.open[-1] if self.open else 'nothing'}")
        else:
            self.open.pop()
        if name == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, text):
        self.texts.append((self.open[-1] if self.open else "", text))
        if "caption" in self.open:
            self._caption += text
        elif self._rows and self._rows[-1] and ({"td", "th"} & set(self.open)) and "table" in self.open:
            self._rows[-1][-1] += text

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.tags}

    @property
    def text(self) -> str:
        """What a reader sees: no style, no script."""
        return " ".join(text for name, text in self.texts if name not in ("style", "script"))

    def table(self, start: str) -> list[list[str]]:
        """The rows of the table whose caption begins so."""
        (found,) = [rows for caption, rows in self.tables.items() if caption.startswith(start)]
        return found


def assert_sound(html: str, written: str = "") -> Page:
    """Well-formed, no id twice, no raw LaTeX (but in names that were ``written`` so), nothing from outside."""
    return _assert_sound(Page(html), written)


def assert_sound_in_a_notebook(html: str, written: str = "") -> Page:
    """The same of what a notebook shows, whose formulas stand between dollar signs for MathJax; nothing else does, and
    nothing depends on what a notebook that is not trusted loses."""
    page = Page(html)
    assert not page.names & {"style", "math", "script", "svg"}
    for k, (name, text) in enumerate(page.texts):  # only what stands in one piece of text is taken for a formula
        page.formulas += [found[1] for found in re.finditer(FORMULA, text)]
        page.texts[k] = (name, re.sub(FORMULA, "", text))
    for formula in page.formulas:
        assert formula.count("{") == formula.count("}"), formula
        assert not written or written not in formula
    return _assert_sound(page, written)


def _assert_sound(page: Page, written: str) -> Page:
    assert page.complaints == []
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    text = page.text.replace(repr(written)[1:-1], "").replace(written, "") if written else page.text
    assert not re.search(r"\\(beta|alpha|sum|frac|tfrac|top|text|le|ge|xi|lambda)\b", text)
    for name, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on")], name
        for key, value in attributes.items():
            inside = key.startswith("xmlns") or (value or "").startswith("data:image/png;base64,")
            assert inside or not re.search(r"(https?:)?//", value or ""), (name, key)
            assert "javascript:" not in (value or "").lower()
    assert not page.names & {"link", "object", "embed", "form", "iframe"}
    return page
