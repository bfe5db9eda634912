"""Samples as they are drawn: which of many are shown, by class, with support points and mistakes marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices, Mask
from convexcls.plots import style
from convexcls.plots.density import RARE, Density
from convexcls.plots.from_solution import Shown
from convexcls.plots.plane import Frame, View
from convexcls.plots.style import Axes
from convexcls.plots.tooltips import tell

#: So many samples are shown besides those that matter.
MAX_SAMPLES_SHOWN = 2000
#: Of each class at least so many, that a rare one is seen.
MIN_SHOWN_OF_A_CLASS = 50


NOBODY: Indices = np.empty(0, dtype=np.intp)
#: Areas of the rings around support points, from alpha = 0 to the largest, in points squared; of many only half.
SMALLEST_RING, LARGEST_RING = 70.0, 330.0
MAX_LARGE_RINGS = 12
#: More marks than this are drawn small.
MAX_LARGE_MARKS = 300
#: Where one axis spans this many times the other, a picture to scale would be a strip.
MAX_ASPECT_RATIO = 4.0


def thinned(classes: Indices, *always: Indices) -> Indices:
    """The rows to show, in order: those in each of ``always`` (``MAX_SAMPLES_SHOWN`` of them, if it has more), and of
    the others as many of each class as its share of ``MAX_SAMPLES_SHOWN`` allows; the same ones every time."""
    n, most = classes.size, MAX_SAMPLES_SHOWN
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(0)
    chosen, others = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    for rows in always:
        others[rows] = False
        chosen[rows if rows.size <= most else rng.choice(rows, most, replace=False)] = True
    for k in np.unique(classes):
        rest = np.flatnonzero((classes == k) & others)
        quota = max(MIN_SHOWN_OF_A_CLASS, round(most * float(np.mean(classes == k))))
        chosen[rest if rest.size <= quota else rng.choice(rest, quota, replace=False)] = True
    return np.flatnonzero(chosen)


def evenly(rows: Indices, most: int) -> Indices:
    """At most so many of the rows, evenly spread."""
    if rows.size <= most:
        return rows
    return rows[np.linspace(0, rows.size - 1, most).astype(np.intp)]


# ---- marks ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Points:
    """The samples shown: their ``rows`` among all ``n``, ``places`` and ``classes``. ``support`` and ``mistakes`` are
    rows, too; ``alpha`` belongs to ``support``. Of many samples there is the ``density``, with few of them on it."""

    n: int
    rows: Indices
    places: Array
    classes: Indices
    labels: tuple[Any, ...]
    counts: Indices
    support: Indices = field(default_factory=lambda: NOBODY)
    alpha: Array = field(default_factory=lambda: np.empty(0))
    mistakes: Indices = field(default_factory=lambda: NOBODY)
    mistakes_of: str = ""
    rings: str = "support points"
    density: Density | None = None

    @classmethod
    def of(cls, shown: Shown, rows: Indices, view: View, **marks: Any) -> Points:
        """These rows of the samples, where the view has them; ``marks`` are the other fields."""
        places = view.places(shown.samples[rows], shown.classes[rows])
        counts = np.bincount(shown.classes, minlength=len(shown.labels))
        return cls(shown.n, rows, places, shown.classes[rows], shown.labels, counts, **marks)

    def plot_in(self, ax: Axes, view: View, frame: Frame) -> None:
        """Draw the samples in the plane of a view, with its limits and labels."""
        self.draw(ax)
        set_frame(ax, view, frame, self.labels, self.thinned)

    def at(self, rows: Indices) -> Array:
        """The places of some of the rows shown."""
        return self.places[np.searchsorted(self.rows, rows)]

    @classmethod
    def dense(cls, shown: Shown, view: View, frame: Frame, support: Indices, mistakes: Indices, **marks: Any) -> Points:
        """The density of all samples; besides one by one rare classes, and those that matter where these are few."""
        places, labels = view.places(shown.samples, shown.classes), len(shown.labels)
        rare = np.flatnonzero(np.bincount(shown.classes, minlength=labels) <= RARE)
        few = [rows for rows in (support, mistakes) if rows.size <= MAX_LARGE_MARKS]
        rows = np.unique(np.concatenate([np.flatnonzero(np.isin(shown.classes, rare)), *few]))
        density = Density.of(places, shown.classes, labels, frame, view.is_line)
        return cls.of(shown, rows, view, support=support, mistakes=mistakes, density=density, **marks)

    @property
    def thinned(self) -> str:
        """How many samples are shown, where not all are."""
        whole = self.rows.size == self.n or self.density is not None
        return "" if whole else f"{self.rows.size:,} of {self.n:,} samples shown"

    # ---- drawing ----------------------------------------------------------------------------------

    def draw(self, ax: Axes) -> None:
        """Classes, rings around support points, crosses on mistakes."""
        area = float(np.clip(3600.0 / max(self.rows.size, 1), 7.0, 34.0))
        many = self.rows.size > style.MAX_VECTOR_MARKERS
        names = {k: f"{style.plain(label)} ({self.counts[k]:,})" for k, label in enumerate(self.labels)}
        if self.density is not None:
            self.density.draw(ax, names)
        for k, label in enumerate(self.labels):
            chosen = self.classes == k
            if not chosen.any():
                continue
            x, y = self.places[chosen].T
            edge: style.Look = {"edgecolors": style.EDGE, "linewidths": 0.5, "zorder": 3, "rasterized": many}
            marks = ax.scatter(x, y, s=area, **style.class_style(k), **edge, label=None if self.density else names[k])
            tell(marks, self._words(self.rows[chosen], str(label)))
        if self.support.size:
            self._draw_rings(ax, many)
        if self._too_many(ax, self.mistakes, f"misclassified{self.mistakes_of}"):
            return
        if self.mistakes.size:  # below the samples: their arms show, and the class of the sample, too
            seen = np.isin(self.mistakes, self.rows)
            x, y = self.at(self.mistakes[seen]).T
            few = seen.sum() < MAX_LARGE_MARKS
            size, width = float(np.clip(6.0 * area, 60.0 if few else 16.0, 160.0)), 1.6 if few else 0.8
            name = f"misclassified{self.mistakes_of} ({_of(seen)})"
            marks = ax.scatter(x, y, s=size, linewidths=width, **style.MISTAKE, rasterized=many, label=name)
            tell(marks, self._words(self.mistakes[seen], name.partition(" (")[0]))

    def _draw_rings(self, ax: Axes, many: bool) -> None:
        if self._too_many(ax, self.support, self.rings.split(",")[0]):
            return
        seen = np.isin(self.support, self.rows)
        x, y = self.at(self.support[seen]).T
        sizes = SMALLEST_RING + (LARGEST_RING - SMALLEST_RING) * np.abs(self.alpha) / (np.abs(self.alpha).max() or 1.0)
        crowded = float(np.clip(MAX_LARGE_RINGS / seen.sum(), 0.08, 1.0))
        few = seen.sum() < MAX_LARGE_MARKS
        areas, width = sizes[seen] * max(crowded, 0.25 if few else 0.0), 1.1 if few else 0.6
        name = f"{self.rings} ({_of(seen)})"
        marks = ax.scatter(x, y, s=areas, linewidths=width, **style.SUPPORT, rasterized=many, label=name)
        tell(marks, self._words(self.support[seen], self.rings.split(",")[0].removesuffix("s")))

    def _words(self, rows: Indices, what: str) -> list[str]:
        """What a mark on each of these rows says."""
        alpha = dict(zip(self.support.tolist(), self.alpha.tolist(), strict=False))
        measure = "α =" if self.rings.startswith("support") else "weight"
        return [f"row {i}: {what}" + (f", {measure} {alpha[i]:.4g}" if i in alpha else "") for i in rows.tolist()]

    def _too_many(self, ax: Axes, rows: Indices, name: str) -> bool:
        """Whether these are not marked on the density: then the legend has their number."""
        if self.density is None or rows.size <= MAX_LARGE_MARKS:
            return False
        ax.plot([], [], " ", label=f"{name}: {rows.size:,}")
        return True

    def describe(self) -> str:
        """The samples in words."""
        parts = [f"{self.counts[k]:,} {label}" for k, label in enumerate(self.labels)]
        out = f"{style.counted(self.n, 'sample')} ({', '.join(parts)})"
        if self.density is not None:
            out += ", drawn by their density"
        if self.thinned:
            out += f", {self.rows.size:,} of them shown"
        if self.support.size:
            out += f", {self.support.size:,} of them {self.rings.split(',')[0]} ({style.listed(self.support)})"
        if self.mistakes.size:
            out += f", {self.mistakes.size:,} misclassified{self.mistakes_of} ({style.listed(self.mistakes)})"
        return out


def _of(seen: Mask) -> str:
    return f"{seen.size:,}" if seen.all() else f"{int(seen.sum()):,} of {seen.size:,} shown"


def set_frame(ax: Axes, view: View, frame: Frame, labels: tuple[Any, ...], thinned: str = "") -> None:
    """Limits, axis labels, and the same scale on both axes where the picture allows it."""
    ax.set_xlim(frame[0], frame[1])
    ax.set_ylim(frame[2], frame[3])
    ax.set_xlabel(view.names[0] + (f"\n{thinned}" if thinned else ""))
    ax.set_ylabel(view.names[1])
    if view.is_line:
        ax.set_yticks(range(len(labels)), [style.plain(label, 16) for label in labels])
        return
    set_scale(ax, frame)


def set_scale(ax: Axes, frame: Frame) -> None:
    """The same scale on both axes, so that right angles are right, unless the picture would be a strip."""
    ratio = (frame[1] - frame[0]) / (frame[3] - frame[2])
    if 1 / MAX_ASPECT_RATIO <= ratio <= MAX_ASPECT_RATIO:
        ax.set_aspect("equal", adjustable="box")
