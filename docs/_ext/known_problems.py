"""``{known-problems} hard-margin max-margin``: the gallery's problems of these models, read from problems/*.toml."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from convexcls import gallery
from convexcls.gallery import GalleryEntry, Number

#: A number with more characters is folded.
MAX_NUMBER = 24


@cache
def by_kind() -> dict[str, list[GalleryEntry]]:
    """All entries of the gallery by the kind of their model."""
    out: dict[str, list[GalleryEntry]] = {}
    for name in gallery.entries():
        entry = gallery.entry(name)
        out.setdefault(entry.problem.kind, []).append(entry)
    return out


class KnownProblems(Directive):
    """A definition list: title, name and known answer, derivation."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        found = [entry for kind in self.arguments[0].split() for entry in by_kind().get(kind, [])]
        if not found:
            raise self.error(f"the gallery has no problem of {self.arguments[0]!r}")
        return [nodes.definition_list("", *(described(entry) for entry in found), classes=["known-problems"])]


def described(entry: GalleryEntry) -> nodes.definition_list_item:
    """One problem: what it shows, the command that states it, its answer, and why that is the answer."""
    answer = nodes.paragraph("", "", nodes.literal("", entry.name), nodes.Text(f": {answer_in_words(entry)}"))
    full = answer_in_words(entry, folded=False)
    folded = [] if full == answer_in_words(entry) else [in_full(full)]
    reason = [nodes.paragraph("", part) for part in entry.derivation.split("\n\n")]
    source = [nodes.paragraph("", f"Source: {entry.source}")] if entry.source else []
    return nodes.definition_list_item(
        "", nodes.term("", entry.title), nodes.definition("", answer, *folded, *reason, *source)
    )


def in_full(words: str) -> nodes.raw:
    """What is shown to those who ask for every digit."""
    text = f"<details class='digits'><summary>Every digit</summary><p>{escape(words)}</p></details>"
    return nodes.raw("", text, format="html")


def answer_in_words(entry: GalleryEntry, folded: bool = True) -> str:
    """The known answer in a line; long fractions by their first digits where they are ``folded``."""

    def text(number: Number) -> str:
        return number.text if not folded or len(number.text) <= MAX_NUMBER else f"{float(number):.10g}…"

    def vector(numbers: tuple[Number, ...]) -> str:
        return f"({', '.join(map(text, numbers))})"

    data, known = entry.problem.data, entry.known
    parts = [f"{data.n} samples, {data.d} feature{'s' * (data.d != 1)}", known.verdict]
    if known.optimum is not None:
        parts.append(f"{'optimum' if known.verdict == 'optimal' else 'infimum'} {text(known.optimum)}")
    if known.coef is not None:
        parts.append(f"coef {vector(known.coef)}")
    if known.intercept is not None:
        parts.append(f"intercept {text(known.intercept)}")
    if known.intercept_interval is not None:
        parts.append("any intercept from {} to {}".format(*map(text, known.intercept_interval)))
    if known.support is not None:
        parts.append(f"support rows {', '.join(map(str, known.support))}")
    if known.direction is not None:
        parts.append(f"direction {vector(known.direction)}")
    return "; ".join(parts) + "."


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("known-problems", KnownProblems)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
