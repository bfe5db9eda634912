"""Recorded walks on a page: a dozen drags, worked out when the site is built, replayed by the module of the live page.

``{walk} NAME`` puts one on a page. Everything is written into the page, so that it works from a file without a server.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from convexcls.live import answer
from convexcls.live.state import new_state

FRAME = (-6.0, 6.0, -4.0, 4.0)
Point = tuple[float, float, int]
Make = Callable[[float], dict[str, Any]]
TWO: tuple[Point, ...] = (
    *((-3.2, -1.1, 0), (-2.5, 0.8, 0), (-1.9, -2.2, 0), (-1.2, -0.4, 0), (-3.6, 1.9, 0), (-0.6, -2.6, 0)),
    *((1.1, 0.9, 1), (2.4, -0.6, 1), (0.6, 2.3, 1), (3.1, 1.7, 1), (1.9, 2.9, 1), (3.5, -1.3, 1)),
)
MIXED: tuple[Point, ...] = (*TWO, (0.9, -0.8, 0), (-0.9, 0.9, 1), (-0.2, 0.3, 0))
CROSS: tuple[Point, ...] = (
    *((2, 1.8, 0), (2.8, 2.4, 0), (1.6, 2.7, 0), (-2.2, -2, 0), (-2.9, -1.5, 0), (-1.7, -2.6, 0)),
    *((2.1, -1.9, 1), (2.8, -2.5, 1), (1.5, -2.4, 1), (-2, 2.1, 1), (-2.7, 1.6, 1), (-1.5, 2.7, 1)),
)
THREE: tuple[Point, ...] = (
    *((-3, -1, 0), (-2.2, -2.1, 0), (-3.5, -2.4, 0), (-1.8, -1, 0), (0.2, -1.2, 0)),
    *((0.4, 2.6, 1), (-0.6, 1.7, 1), (1.2, 1.8, 1), (-1.2, 2.8, 1), (-0.9, -0.4, 1)),
    *((3, -1.2, 2), (2.2, -2.2, 2), (3.6, -2, 2), (2, -0.6, 2), (0.9, 0.6, 2)),
)


@dataclass(frozen=True)
class Walk:
    """A walk: what it shows, in words, the state at each place from 0 to 1, and the point to look at."""

    words: str
    state: Make
    row: int | None = None
    frames: int = 16

    def states(self) -> Iterator[dict[str, Any]]:
        """The states one after another."""
        for share in np.linspace(0.0, 1.0, self.frames):
            yield {**self.state(float(share)), "moving": True}

    def record(self) -> dict[str, Any]:
        """The states with their answers."""
        return {"row": self.row, "frames": [{"state": s, "answer": _brief(answer(s))} for s in self.states()]}


def _brief(found: dict[str, Any]) -> dict[str, Any]:
    """An answer that is the same whenever the site is built."""
    return {**found, "panels": [{**panel, "seconds": 0.0} for panel in found["panels"]]}


def _stated(points: Sequence[Point], model: str, **parameters: Any) -> dict[str, Any]:
    classes = ("A", "B", "C")[: 1 + max(point[2] for point in points)]
    return new_state(points, classes, ("x1", "x2"), FRAME, model, parameters)


def dragged(points: Sequence[Point], row: int, to: tuple[float, float], model: str, **parameters: Any) -> Make:
    """A point that goes straight to a place."""

    def at(share: float) -> dict[str, Any]:
        (x, y, k), moved = points[row], list(points)
        moved[row] = (round(x + share * (to[0] - x), 2), round(y + share * (to[1] - y), 2), k)
        return _stated(moved, model, **parameters)

    return at


def slid(points: Sequence[Point], model: str, name: str, ends: tuple[float, float], **parameters: Any) -> Make:
    """A parameter that slides, evenly on a logarithmic scale."""

    def at(share: float) -> dict[str, Any]:
        value = float(f"{ends[0] * (ends[1] / ends[0]) ** share:.3g}")
        return _stated(points, model, **{name: value}, **parameters)

    return at


WALKS = {
    "across-the-margin": Walk(
        "A point comes from behind and crosses the margin. Its multiplier α is 0 until it touches the margin, then "
        "grows; slack times α stays 0 in every row.",
        dragged(TWO, 9, (0.9, 0.0), "hard-margin"),
        9,
    ),
    "into-the-other-class": Walk(
        "A point goes into the other class. Where the hulls meet there is no slab any more: the star is a point of "
        "both hulls, and its weights prove it.",
        dragged(TWO, 6, (-2.6, -0.8), "hard-margin"),
        6,
    ),
    "an-outlier-and-the-soft-margin": Walk(
        "With a soft margin the same drag costs slack. The point's α grows to C and no further.",
        dragged(TWO, 6, (-2.6, -0.8), "soft-margin"),
        6,
    ),
    "less-and-less-c": Walk(
        "C falls from 100 to 0.01: the slab widens, more points hold it, and each pulls with at most C.",
        slid(MIXED, "soft-margin", "C", (100.0, 0.01)),
    ),
    "the-likelihood-runs-away": Walk(
        "The last point that overlaps goes back to its class. Then the likelihood has no maximum: the coefficients run "
        "to infinity, along the arrow.",
        dragged((*TWO, (2.0, 0.9, 0)), 12, (-2.4, -0.6), "logistic"),
        12,
    ),
    "a-penalty-holds-it": Walk(
        "A penalty l2 gives separated classes a maximum again. As it falls, the coefficients grow without end.",
        slid(TWO, "logistic", "l2", (10.0, 0.001)),
    ),
    "a-kernel-follows": Walk(
        "With a radial kernel γ says how far a point is heard. From broad to narrow the boundary follows ever smaller "
        "groups.",
        slid(CROSS, "rbf", "gamma", (0.02, 4.0), C=10.0),
        frames=10,
    ),
    "a-parabola-bends": Walk(
        "A polynomial kernel of degree 2 separates what no line can: its boundary is a conic, which bends as a point "
        "moves.",
        dragged(CROSS, 6, (0.2, -0.2), "poly", C=10.0),
        6,
        frames=10,
    ),
    "least-squares-minds-the-easy": Walk(
        "Least squares wants every score to be ±1: a point far on its right side drags the boundary.",
        dragged(TWO, 11, (5.8, -3.8), "least-squares"),
        11,
    ),
    "absolute-deviations-mind-less": Walk(
        "Least absolute deviations pay for the distance, not for its square: the same drag moves the boundary less, "
        "and in jumps.",
        dragged(TWO, 11, (5.8, -3.8), "least-absolute"),
        11,
    ),
    "three-classes": Walk(
        "Softmax regression divides the plane among three classes; the lines always meet in one point.",
        dragged(THREE, 14, (-2.0, 1.0), "softmax", l2=0.1),
        14,
        frames=10,
    ),
    "gaussian-classes": Walk(
        "Gaussian classes with one covariance: a point that goes far turns all boundaries, for it stretches the "
        "covariance of all classes.",
        dragged(THREE, 4, (5.6, -3.6), "gaussian"),
        4,
        frames=10,
    ),
}


def _in_page(value: Any) -> str:
    """JSON that no page takes for the end of a script."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def script() -> str:
    """The module, and what replays every walk of a page with it; the looks."""
    drawing = files("convexcls.live").joinpath("live.js").read_text(encoding="utf-8")
    looks = files("convexcls.live").joinpath("live.css").read_text(encoding="utf-8")
    begin = (
        'for (const place of document.querySelectorAll("[data-walk]")) '
        "replay(place, JSON.parse(place.nextElementSibling.textContent));"
    )
    return f'<style>{looks}</style>\n<script type="module">\n{drawing}\n{begin}\n</script>\n'


def walk(name: str) -> str:
    """A walk as HTML: its words, its place, and its data."""
    record = WALKS[name]
    data = f'<script type="application/json">{_in_page(record.record())}</script>'
    return f'<p>{html.escape(record.words)}</p>\n<div data-walk="{name}"></div>{data}\n'


class WalkDirective(SphinxDirective):
    """Puts a recorded walk on a page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in WALKS:
            raise self.error(f"there is no walk {name!r}; there are {', '.join(WALKS)}")
        first = not self.env.temp_data.get("walks", False)
        self.env.temp_data["walks"] = True
        return [nodes.raw("", (script() if first else "") + walk(name), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("walk", WalkDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
