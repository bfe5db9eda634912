"""The plots that suit the solution, as inline SVG with their description."""

from __future__ import annotations

import base64
import io
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.describe.html import headed
from convexcls.describe.markup import Html, tag
from convexcls.solution import Solution

if TYPE_CHECKING:
    from convexcls.plots import Picture

#: So many pictures stand at the top of the page.
FIRST = 2
#: An SVG of more characters than this is put in as pixels.
LARGEST_SVG = 400_000


def pictures_sections(solution: Solution) -> tuple[Html, Html]:
    """The most telling pictures, to begin with, and all others; a sentence that says so where there is no matplotlib,
    or where the samples are beyond what can be drawn."""
    if find_spec("matplotlib") is None:
        missing = tag("p", "Pictures need matplotlib: pip install 'convexcls[report]'.")
        return headed("pictures", "Pictures", missing), Html("")
    from convexcls.plots import pictures
    from convexcls.plots.view import not_drawn

    shown = [figure(picture) for picture in pictures(solution)]
    data = getattr(solution.problem, "data", None)
    if data is not None and (reason := not_drawn(data.matrix)):
        shown.insert(0, tag("p", reason[0].upper() + reason[1:] + "."))
    return _gallery("pictures", "Pictures", shown[:FIRST]), _gallery("more-pictures", "More pictures", shown[FIRST:])


def _gallery(name: str, heading: str, shown: list[Html]) -> Html:
    return headed(name, heading, tag("div", *shown, class_="gallery")) if shown else Html("")


def figure(picture: Picture) -> Html:
    """A picture with its title and, for who cannot see it, its description."""
    return tag("figure", drawing(picture), tag("figcaption", tag("b", picture.title), " ", picture.alt))


def drawing(picture: Picture) -> Html:
    """As SVG, its text as outlines: it looks the same everywhere, and no name in it is markup."""
    from matplotlib import rc_context

    plain = {"svg.fonttype": "path", "svg.hashsalt": picture.name, "savefig.facecolor": "white"}
    with rc_context(plain), np.errstate(all="ignore"):  # where numbers end, so do the ticks of an axis
        sheet = picture.figure()
        sheet.axes[0].set_title("")  # it stands in the caption
        text = io.StringIO()
        sheet.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        if len(text.getvalue()) > LARGEST_SVG:
            return _pixels(sheet, picture)
    return inline(text.getvalue(), picture)


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
