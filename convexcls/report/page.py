"""The page: sections one after another in one file that needs nothing from outside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

from convexcls.describe.markup import Html, join, tag

PACKAGE = "convexcls.report"
#: The family under which the page knows its math font.
MATH_FONT = "Convexcls Math"


@lru_cache(maxsize=8)
def resource(name: str) -> str:
    """A text file of this package."""
    return files(PACKAGE).joinpath(name).read_text(encoding="utf-8")


def document(title: str, subtitle: str, top: Html, sections: Iterable[Html], foot: Html) -> str:
    """A whole HTML document."""
    script = resource("sortable.js")
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        Html(f"<style>{font_face()}{resource('report.css')}</style>"),
    ]
    body = [
        tag(
            "header",
            tag("p", "convexcls report", class_="kind"),
            tag("h1", title),
            tag("p", subtitle, class_="subtitle"),
            top,
        ),
        tag("main", *sections),
        tag("footer", foot),
        Html(f"<script>{script}</script>"),
    ]
    whole = tag("html", tag("head", *head), "\n", tag("body", *join_lines(body)), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def join_lines(parts: Iterable[Html]) -> list[Html]:
    """The parts, each on a line of its own."""
    return [join([part, "\n"]) for part in parts]


def policy(script: str) -> str:
    """What the page may load: nothing from outside, and no script but the one that sorts tables, by its digest."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def font_face() -> str:
    """The math font, written into the page."""
    data = base64.b64encode(files(PACKAGE).joinpath("mathematics.woff2").read_bytes()).decode()
    return f'@font-face{{font-family:"{MATH_FONT}";src:url(data:font/woff2;base64,{data}) format("woff2")}}\n'
