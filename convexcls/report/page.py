"""The page: sections one after another in one file that needs nothing from outside; its pictures, and where it comes
from."""

from __future__ import annotations

import base64
import hashlib
import io
import platform
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.describe import Fact, Facts, Prose, to_html
from convexcls.describe.html import Html, headed, join, tag
from convexcls.models import Model
from convexcls.problem import Problem
from convexcls.proofs.portable.digest import data_digest
from convexcls.solution import Solution

if TYPE_CHECKING:
    from convexcls.plots import Picture

PACKAGE = "convexcls.report"
#: The family under which the page knows its math font.
MATH_FONT = "Convexcls Math"


#: So many pictures stand at the top of the page.
PICTURES_ON_TOP = 2
#: An SVG of more characters than this is put in as pixels.
MAX_SVG_CHARACTERS = 400_000
PACKAGES = ("numpy", "scipy", "clarabel", "osqp", "highspy", "cvxpy", "matplotlib", "math-core")
#: The digest of more entries takes longer than the rest of the report.
MAX_DIGESTED_ENTRIES = 300_000


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
    caption = tag("p", subtitle, class_="subtitle")
    body = [
        tag("header", tag("p", "convexcls report", class_="kind"), tag("h1", title), caption, top),
        tag("main", *sections),
        tag("footer", foot),
        Html(f"<script>{script}</script>"),
    ]
    whole = tag("html", tag("head", *head), "\n", tag("body", *(join([part, "\n"]) for part in body)), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


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


# ---- pictures: the plots that suit the solution, as inline SVG with their description -------------------


def pictures_sections(solution: Solution) -> tuple[Html, Html]:
    """The most telling pictures, to begin with, and all others; a sentence that says so where there is no matplotlib,
    or where the samples are beyond what can be drawn."""
    if find_spec("matplotlib") is None:
        missing = tag("p", "Pictures need matplotlib: pip install 'convexcls[report]'.")
        return headed("pictures", "Pictures", missing), Html("")
    from convexcls.plots import pictures
    from convexcls.plots.plane import not_drawn

    data = solution.problem.data
    if data is not None and (reason := not_drawn(data.matrix)):
        return headed("pictures", "Pictures", tag("p", reason[0].upper() + reason[1:] + ".")), Html("")
    shown = [figure(picture) for picture in pictures(solution)]
    return _gallery("pictures", "Pictures", shown[:PICTURES_ON_TOP]), _gallery(
        "more-pictures", "More pictures", shown[PICTURES_ON_TOP:]
    )


def _gallery(name: str, heading: str, shown: list[Html]) -> Html:
    return headed(name, heading, tag("div", *shown, class_="gallery")) if shown else Html("")


def figure(picture: Picture) -> Html:
    """A picture with its title and, for who cannot see it, its description."""
    drawn = tag("div", drawing(picture), class_="drawn")  # on a small screen it is moved, not shrunk
    return tag("figure", drawn, tag("figcaption", tag("b", picture.title), " ", picture.alt))


def drawing(picture: Picture) -> Html:
    """As SVG, its text as outlines: it looks the same everywhere, and no name in it is markup."""
    from matplotlib import rc_context

    from convexcls.plots.tooltips import svg

    plain = {"svg.fonttype": "path", "svg.hashsalt": picture.name, "savefig.facecolor": "white"}
    with rc_context(plain), np.errstate(all="ignore"):  # where numbers end, so do the ticks of an axis
        sheet = picture.figure()
        sheet.axes[0].set_title("")  # it stands in the caption
        text = svg(sheet)
        if len(text) > MAX_SVG_CHARACTERS:
            return _pixels(sheet, picture)
    return inline(text, picture)


def inline(svg: str, picture: Picture) -> Html:
    """An SVG file as an element of a page, its ids made its own."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    own = re.sub(r"\W", "-", picture.name)
    body = re.sub(r'\bid="([^"]*)"', rf'id="{own}-\1"', body)
    body = re.sub(r'href="#([^"]*)"', rf'href="#{own}-\1"', body)
    body = re.sub(r"url\(#([^)]*)\)", rf"url(#{own}-\1)", body)
    opening, _, rest = body.partition(">")
    box = re.search(r'viewBox="[-0-9. ]+"', opening)
    label = tag("title", picture.title)
    named = tag("svg", role="img", aria_label=picture.alt, xmlns="http://www.w3.org/2000/svg")[: -len("></svg>")]
    return Html(f'{named} xmlns:xlink="http://www.w3.org/1999/xlink" {box[0] if box else ""}>{label}{rest}')


def _pixels(sheet: Any, picture: Picture) -> Html:
    data = io.BytesIO()
    sheet.savefig(data, format="png", dpi=160)
    return tag("img", src=f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}", alt=picture.alt)


# ---- provenance: the command that makes it again, the digest of the data, versions ----------------------


def provenance_section(solution: Solution, command: str | None, own_version: str) -> Html:
    """How to make this page again, and with what it was made."""
    made = command or python_command(solution)
    versions = [("convexcls", own_version), ("Python", platform.python_version())]
    versions += [(name, found) for name in PACKAGES if (found := version_of(name))]
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    when = Facts((Fact("made on", now), Fact("SHA-256 of the data", _digest(solution.problem))))
    using = Prose("Made with " + ", ".join(f"{name} {found}" for name, found in versions) + ".", "versions")
    return headed("provenance", "How to make this again", tag("pre", tag("code", made)), to_html(when, using))


def python_command(solution: Solution) -> str:
    """The lines of Python that declare and solve the problem again."""
    problem = solution.problem
    solve = f".solve({solution.solver!r}, tol={solution.certificate.tol:g})"
    if not isinstance(problem, Model):
        return f"# problem: {problem.name}\nsolution = problem{solve}\nsolution.report('report.html')"
    given = "".join(f", {name}={_written(value)}" for name, value in problem.declared_with().items())
    weights = ", sample_weight=weights" if problem.data.weighted else ""
    declared = f"cc.{type(problem).__name__}(X, y{given}{weights})"
    return f"import convexcls as cc\n\nsolution = {declared}{solve}\nsolution.report('report.html')"


def _written(value: object) -> str:
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else "..."


def _digest(problem: Problem) -> str:
    data = problem.data
    if data is None or (data.matrix.nnz if data.sparse else data.n * data.d) > MAX_DIGESTED_ENTRIES:
        return ""
    return data_digest(data)


def version_of(package: str) -> str:
    """The version of a package that is installed; empty where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
