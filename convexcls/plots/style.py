"""How pictures look: the one place for colours, markers and strokes, and for text that comes from the user.

The colours are those of Okabe and Ito, which people with any kind of colour vision tell apart. Nothing is told by
colour alone: classes differ in marker and lightness, lines in their dashes, so that shades of grey will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from convexcls.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # matplotlib is imported when something is drawn
    Axes = Figure = Any

BLACK, BLUE, ORANGE, GREEN = "#000000", "#0072B2", "#E69F00", "#009E73"
SKY, VERMILION, PURPLE, YELLOW = "#56B4E9", "#D55E00", "#CC79A7", "#F0E442"
#: By class: a dark and a light one first. Marker and colour change together, then the markers move on by one.
CLASS_COLOURS = (BLUE, ORANGE, BLACK, SKY, VERMILION, YELLOW, GREEN, PURPLE)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
#: By line: dark colours only, each with dashes of its own.
LINE_COLOURS = (BLACK, BLUE, VERMILION, GREEN, PURPLE)
STROKES: tuple[Any, ...] = (
    "solid",
    (0, (8, 2.5)),
    (0, (1.5, 1.5)),
    (0, (7, 2, 1.5, 2)),
    (0, (3, 1.5)),
    (0, (7, 2, 1.5, 2, 1.5, 2)),
    (0, (16, 2, 4, 2)),
    (0, (4, 2, 4, 2, 1, 2)),
    (0, (1, 3.5)),
)
LOOSE_DASH, DASH_DOT, SHORT_DASH = (0, (8, 2.5)), (0, (7, 2, 1.5, 2)), (0, (2, 2))
HATCHES = ("////", "\\\\\\\\", "....", "xxxx", "++++", "oooo", "||||", "----")
EDGE = "0.15"
FAINT = "0.55"

#: What is drawn besides samples and lines, each with its look.
Look = dict[str, Any]
ZERO: Look = {"color": FAINT, "linewidth": 0.8, "zorder": 1}
MISTAKE: Look = {"marker": "x", "color": VERMILION, "zorder": 2.9}
SUPPORT: Look = {"facecolors": "none", "edgecolors": "black", "zorder": 4}
SLACK: Look = {"colors": "0.35", "linewidths": 0.9, "zorder": 2}
MARGIN: Look = {"colors": "0.25", "linestyles": [SHORT_DASH], "linewidths": 1.3, "zorder": 2.4}
NEAREST: Look = {"color": "black", "linewidth": 2.2, "marker": "d", "markersize": 6, "zorder": 6}
HYPERPLANE: Look = {"color": "0.25", "linestyle": DASH_DOT, "linewidth": 1.3, "zorder": 2}
DISTANCE: Look = {"color": GREEN, "linewidth": 2.2, "zorder": 2.8}
FOOT: Look = {"color": GREEN, "marker": "d", "markersize": 6, "linewidth": 0, "zorder": 6}
PLANE: Look = {"color": "black", "linewidth": 2.0, "zorder": 2.5, "label": "hyperplane f(x) = 0"}
LEVEL: Look = {"color": "0.45", "linestyle": SHORT_DASH, "linewidth": 0.9, "zorder": 2}
ARROW: Look = {"arrowstyle": "-|>", "color": VERMILION, "linewidth": 2.2, "shrinkA": 0, "shrinkB": 0}
CONTOUR: Look = {"colors": "0.6", "linewidths": 0.9, "linestyles": "solid", "zorder": 1}
START: Look = {
    "color": "white",
    "marker": "s",
    "markeredgecolor": "black",
    "markersize": 8,
    "linestyle": "",
    "zorder": 4,
}
LOWEST: Look = {
    "color": YELLOW,
    "marker": "*",
    "markeredgecolor": "black",
    "markersize": 15,
    "linestyle": "",
    "zorder": 5,
}
CHORD: Look = {
    "color": VERMILION,
    "linewidth": 1.6,
    "linestyle": LOOSE_DASH,
    "marker": "d",
    "markersize": 7,
    "zorder": 4,
}
EXCESS: Look = {"color": VERMILION, "linewidth": 3.0, "zorder": 4}
MEAN: Look = {"markersize": 13, "markeredgecolor": "black", "markeredgewidth": 1.4, "linestyle": "", "zorder": 6}
MEETING: Look = {"color": VERMILION, "marker": "*", "markersize": 15, "markeredgecolor": "black", "linestyle": ":"}
SOLUTION: Look = {"color": VERMILION, "markeredgecolor": "black", "markersize": 7, "zorder": 4}
THRESHOLD: Look = {"color": "black", "linewidth": 2.0, "linestyle": LOOSE_DASH, "zorder": 4}
BOUND: Look = {"color": "black", "linewidth": 1.2, "zorder": 3}
TICK: Look = {"color": "black", "markersize": 7, "markeredgewidth": 0.8}
ANSWER: Look = {"s": 60, "edgecolors": "black", "linewidths": 0.7, "zorder": 3}
BESIDE: Look = {"textcoords": "offset points", "zorder": 7, "fontsize": 9}
BESIDE_AXES: Look = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0, "handlelength": 2.6}
BOX: Look = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
ALONG: Look = {
    **BESIDE,
    "fontsize": 8,
    "ha": "center",
    "va": "center",
    "rotation_mode": "anchor",
    "transform_rotates_text": True,
    "bbox": BOX,
}
STATUS: Look = {"rotation": 90, "ha": "right", "va": "top", "fontsize": 9, "color": "0.2"}
#: Names are cut to this many letters.
MAX_NAME_CHARACTERS = 36
#: A line of the legend has at most so many letters.
LEGEND_WIDTH = 24
NO_BREAK = "\N{NO-BREAK SPACE}"
#: More markers than this are drawn as one bitmap, also in a file of vectors.
MAX_VECTOR_MARKERS = 1500


#: ``1 sample``, ``2,000 samples``.
counted = partial(count, grouping=",")


def class_style(k: int) -> dict[str, Any]:
    """Colour and marker of the samples of class k."""
    return {"color": CLASS_COLOURS[k % 8], "marker": MARKERS[(k + k // 8) % 8]}


def line_style(k: int) -> dict[str, Any]:
    """Colour and dashes of line k."""
    return {"color": LINE_COLOURS[k % len(LINE_COLOURS)], "linestyle": STROKES[k % len(STROKES)]}


def marked(k: int, size: float) -> Look:
    """The marks of line k."""
    return {"marker": MARKERS[k % 8], "markersize": size}


def rgb(k: int) -> tuple[float, float, float]:
    """The colour of class k: its shares of red, green and blue."""
    return tuple(int(CLASS_COLOURS[k % 8][at : at + 2], 16) / 255 for at in (1, 3, 5))  # type: ignore[return-value]


def pale(k: int, amount: float = 0.85) -> tuple[float, float, float]:
    """The colour of class k, mixed with white: the ground on which its samples lie."""
    return tuple(amount + (1 - amount) * part for part in rgb(k))  # type: ignore[return-value]


def plain(text: object, longest: int = MAX_NAME_CHARACTERS) -> str:
    """A text of the user's as letters: never a formula, never a line break, and not too long."""
    letters = "".join(c if c.isprintable() else " " for c in str(text)).strip() or "(no name)"
    letters = letters if len(letters) <= longest else letters[: longest - 1] + "…"
    return letters.replace("$", r"\$")  # matplotlib takes what stands between two dollars for a formula


def needed(module: str) -> Any:
    """A module of matplotlib; where it is missing, the error says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install 'convexcls[plot]'") from error


@contextmanager
def context() -> Iterator[None]:
    """Settings that hold while a picture is drawn, and only then."""
    settings: dict[str, Any] = {
        "font.family": ["DejaVu Sans"],
        "font.size": 10.0,
        "text.usetex": False,
        "axes.titlesize": 11.0,
        "axes.labelsize": 10.0,
        "legend.fontsize": 9.0,
        "xtick.labelsize": 9.0,
        "ytick.labelsize": 9.0,
        "axes.unicode_minus": True,
        "lines.linewidth": 1.5,
        "hatch.linewidth": 0.6,
    }
    with needed("matplotlib").rc_context(settings):
        yield


def add_legend(ax: Axes) -> None:
    """The legend to the right of the axes, where it covers nothing."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        whole = [re.sub(r"\([^()]*\)", lambda found: found[0].replace(" ", NO_BREAK), label) for label in labels]
        wrapped = ["\n".join(wrap(label, LEGEND_WIDTH)) for label in whole]
        ax.legend(handles, wrapped, **BESIDE_AXES, frameon=False)


def new_axes(size: tuple[float, float]) -> Axes:
    """Axes in a figure of their own, which notebooks show; its layout fits legends beside axes that are to scale."""
    axes: Axes = needed("matplotlib.pyplot").subplots(figsize=size, layout="compressed")[1]
    return axes


def bare_figure(size: tuple[float, float]) -> Figure:
    """A figure for a file: without pyplot, which would look for a screen and keep it."""
    figure: Figure = needed("matplotlib.figure").Figure(figsize=size, layout="compressed")
    return figure


def listed(rows: Any, most: int = 8) -> str:
    """Rows in a sentence: ``row 4``, ``rows 4, 9 and 17``, ``rows 0, 1, 2, ...``."""
    shown = [str(int(row)) for row in rows[:most]]
    if len(rows) > most:
        return f"rows {', '.join(shown)}, ..."
    return f"row {shown[0]}" if len(shown) == 1 else f"rows {', '.join(shown[:-1])} and {shown[-1]}"
