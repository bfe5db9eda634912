"""Samples as they are drawn: thinned, by class, with support points and mistakes marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from convexcls.plots import style
from convexcls.plots.field import Frame
from convexcls.plots.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Index = NDArray[np.intp]
NOBODY: Index = np.empty(0, dtype=np.intp)
#: Areas of the rings around support points, from alpha = 0 to the largest, in points squared; of many only half.
SMALLEST_RING, LARGEST_RING = 70.0, 330.0
MANY_RINGS = 12
#: Where one axis spans this many times the other, a picture to scale would be a strip.
LARGEST_RATIO = 4.0


@dataclass(frozen=True, eq=False)
class Points:
    """The samples shown: their ``rows`` among all ``n``, ``places`` and ``classes``. ``support`` and ``mistakes`` are
    rows, too; ``alpha`` belongs to ``support``."""

    n: int
    rows: Index
    places: Array
    classes: Index
    labels: tuple[Any, ...]
    counts: Index
    support: Index = field(default_factory=lambda: NOBODY)
    alpha: Array = field(default_factory=lambda: np.empty(0))
    mistakes: Index = field(default_factory=lambda: NOBODY)
    mistakes_of: str = ""
    rings: str = "support points"

    def at(self, rows: Index) -> Array:
        """The places of some of the rows shown."""
        return self.places[np.searchsorted(self.rows, rows)]

    @property
    def thinned(self) -> str:
        """How many samples are shown, where not all are."""
        return "" if self.rows.size == self.n else f"{self.rows.size:,} of {self.n:,} samples shown"

    # ---- drawing ----------------------------------------------------------------------------------

    def draw(self, ax: Axes) -> None:
        """Classes, rings around support points, crosses on mistakes."""
        area = float(np.clip(3600.0 / max(self.rows.size, 1), 7.0, 34.0))
        many = self.rows.size > style.MOST_VECTORS
        for k, label in enumerate(self.labels):
            chosen = self.classes == k
            x, y = self.places[chosen].T
            ax.scatter(
                x, y, s=area, **style.class_style(k), edgecolors=style.EDGE, linewidths=0.5, zorder=3,
                label=f"{style.plain(label)} ({self.counts[k]:,})", rasterized=many,
            )  # fmt: skip
        if self.support.size:
            x, y = self.at(self.support).T
            largest = float(np.abs(self.alpha).max()) or 1.0
            sizes = SMALLEST_RING + (LARGEST_RING - SMALLEST_RING) * np.abs(self.alpha) / largest
            ax.scatter(
                x, y, s=sizes * float(np.clip(MANY_RINGS / self.support.size, 0.25, 1.0)),
                facecolors="none", edgecolors="black", linewidths=1.1, zorder=4, rasterized=many,
                label=f"{self.rings} ({self.support.size:,})",
            )  # fmt: skip
        if self.mistakes.size:  # below the samples: their arms show, and the class of the sample, too
            x, y = self.at(self.mistakes).T
            ax.scatter(
                x, y, s=float(np.clip(6.0 * area, 60.0, 160.0)), marker="x", color=style.VERMILION, linewidths=1.6,
                zorder=2.9, rasterized=many, label=f"misclassified{self.mistakes_of} ({self.mistakes.size:,})",
            )  # fmt: skip

    def describe(self) -> str:
        """The samples in words."""
        parts = [f"{self.counts[k]:,} {label}" for k, label in enumerate(self.labels)]
        out = f"{style.counted(self.n, 'sample')} ({', '.join(parts)})"
        if self.thinned:
            out += f", {self.rows.size:,} of them shown"
        if self.support.size:
            out += f", {self.support.size:,} of them {self.rings.split(',')[0]} ({style.listed(self.support)})"
        if self.mistakes.size:
            out += f", {self.mistakes.size:,} misclassified{self.mistakes_of} ({style.listed(self.mistakes)})"
        return out


def set_frame(ax: Axes, view: View, frame: Frame, labels: tuple[Any, ...], thinned: str = "") -> None:
    """Limits, axis labels, and the same scale on both axes where the picture allows it."""
    ax.set_xlim(frame[0], frame[1])
    ax.set_ylim(frame[2], frame[3])
    ax.set_xlabel(view.names[0] + (f"\n{thinned}" if thinned else ""))
    ax.set_ylabel(view.names[1])
    if view.is_line:
        ax.set_yticks(range(len(labels)), [style.plain(label, 16) for label in labels])
        return
    ratio = (frame[1] - frame[0]) / (frame[3] - frame[2])
    if 1 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        ax.set_aspect("equal", adjustable="box")
