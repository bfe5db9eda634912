"""Samples projected on the direction of a classifier, with its threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.models import FisherLDA
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

MIN_BINS, MAX_BINS = 5, 40


@dataclass(eq=False, repr=False)
class ProjectionDisplay(Display):
    """``projected[k]`` are coef'x_i of the samples of class k, ``counts[k]`` how many fall between the ``edges``;
    ``threshold`` is where the classifier changes its answer, None of several classes.

    ``errors`` is how many samples lie on the wrong side of the threshold, ``direction`` which row of coef is shown; of
    a direction that was given, its name. ``ratio`` is Fisher's J of two classes, (w'(m_2 - m_1))^2 / w'S_W w (ESL
    4.15): the larger, the farther apart are the means beside the spread within.

    >>> import convexcls as cc
    >>> s = cc.FisherLDA([[0, 0], [2, 0], [1, 1], [4, 0], [6, 0], [5, 1]], [0, 0, 0, 1, 1, 1]).solve()
    >>> display = cc.plots.ProjectionDisplay.from_solution(s)
    >>> round(display.threshold, 6), display.errors, [part.size for part in display.projected]
    (0.75, 0, [3, 3])
    """

    kind: ClassVar[str] = "projection"

    projected: tuple[Array, ...]
    edges: Array
    counts: tuple[Array, ...]
    threshold: float | None
    errors: int
    labels: tuple[Any, ...]
    direction: int | str
    ratio: float
    model: str

    @classmethod
    def of(cls, solution: Solution, *, direction: Any = 0, bins: int | None = None) -> Self:
        """``direction`` says which row of coef, of several classes; or it is a direction of its own: a number for each
        feature, or "means", from the first class mean to the second. Its threshold is the one with the fewest errors.
        """
        check_point(solution, "direction")
        data = solution.data
        if data.labels is None:
            raise NoAnswer(f"the {solution.problem.name} has real targets: there are no classes to tell apart")
        w, threshold, shown = _direction(solution, direction)
        if not np.any(w):
            raise NoAnswer(
                f"{'coef' if isinstance(shown, int) else shown} is zero: there is no direction to project on"
            )
        classes, labels = data.grouping
        along = np.asarray(data.matrix @ w, dtype=float)
        errors = int(np.sum((along > threshold) != (classes == 1))) if threshold is not None else 0
        if bins is None:
            bins = int(np.clip(np.sqrt(data.n), MIN_BINS, MAX_BINS))
        low, high = float(along.min()), float(along.max())
        if not high > low:
            low, high = low - 0.5, high + 0.5
        edges = _edges(low, high, bins, threshold)
        projected = tuple(along[classes == k] for k in range(len(labels)))
        counts = tuple(np.histogram(part, edges)[0] for part in projected)
        ratio = _ratio(projected)
        return cls(projected, edges, counts, threshold, errors, labels, shown, ratio, solution.problem.name)

    @property
    def title(self) -> str:
        if isinstance(self.direction, str):
            return f"Samples along {style.plain(self.direction, 60)}"
        which = "" if self.threshold is not None else f", direction {self.direction}"
        return style.plain(f"Samples along the coef of {self.model}{which}", 80)

    def draw(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        for k, (label, counts) in enumerate(zip(self.labels, self.counts, strict=True)):
            colour = style.class_style(k)["color"]
            ground: style.Look = {"facecolor": (*style.pale(k, 0.35), 0.45), "hatch": style.HATCHES[k % 8]}
            ax.stairs(counts, self.edges, fill=True, edgecolor=colour, linewidth=0.0, **ground, zorder=2)
            line: style.Look = {"color": colour, "linestyle": style.STROKES[k % 9], "linewidth": 1.8, "zorder": 3}
            ax.stairs(counts, self.edges, **line, label=f"{style.plain(label)} ({len(self.projected[k]):,})")
        if self.threshold is not None:
            name = f"threshold {self.threshold:.4g} ({style.counted(self.errors, 'error')})"
            ax.axvline(self.threshold, **style.THRESHOLD, label=name)
        along = "x·w" if isinstance(self.direction, str) else "x·coef"
        ratio = f"\nFisher's ratio J = {self.ratio:.4g}" if np.isfinite(self.ratio) else ""
        ax.set_xlabel(f"projection {along}{ratio}")
        ax.set_ylabel("samples")
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))

    def describe(self) -> str:
        described = [
            f"{label}: {style.counted(len(part), 'sample')} with mean {part.mean():.4g}"
            for label, part in zip(self.labels, self.projected, strict=True)
        ]
        cut = ""
        if self.threshold is not None:
            cut = f" The threshold {self.threshold:.4g} leaves {style.counted(self.errors, 'error')}."
        if np.isfinite(self.ratio):
            cut += f" Fisher's ratio J is {self.ratio:.4g}."
        on = self.direction if isinstance(self.direction, str) else f"the coef of the {self.model}"
        return f"Histograms of the samples' projections on {on}. {'; '.join(described)}.{cut}"


def _direction(solution: Solution, given: Any) -> tuple[Array, float | None, int | str]:
    """The direction, its threshold, and which row of coef it is or what it is called."""
    data = solution.data
    if isinstance(given, (int, np.integer)):
        coef = np.atleast_2d(solution.coef)
        if not 0 <= given < len(coef):
            raise ValueError(f"direction is {given}: coef has rows 0 to {len(coef) - 1}")
        threshold = solution.problem.threshold - float(solution.intercept) if np.ndim(solution.coef) == 1 else None
        return coef[given], threshold, int(given)
    classes, labels = data.grouping
    if isinstance(given, str):
        if given != "means":
            raise ValueError(f"direction is {given!r}: give a row of coef, a number for each feature, or 'means'")
        first, second = (data.matrix[np.flatnonzero(classes == k)].mean(axis=0) for k in (0, 1))
        w, name = np.asarray(second - first, dtype=float).ravel(), "the line between the class means"
    else:
        w = np.asarray(given, dtype=float)
        if w.shape != (data.d,) or not np.all(np.isfinite(w)):
            raise ValueError(f"direction has the shape {w.shape}: give {data.d} finite numbers, one a feature")
        name = f"w = ({', '.join(f'{v:.3g}' for v in w[:4])}{', ...' if w.size > 4 else ''})"
    if len(labels) != 2 or not np.any(w):
        return w, None, name
    along = np.asarray(data.matrix @ w, dtype=float)
    if along[classes == 1].mean() < along[classes == 0].mean():
        w = -w  # the second class above the threshold
    return w, -FisherLDA(data.samples, data.given).intercept_from({"coef": w}, {}), name


def _ratio(projected: tuple[Array, ...]) -> float:
    """J of two classes; NaN of several, and where nothing varies within the classes."""
    if len(projected) != 2:
        return float("nan")
    within = sum(float(((part - part.mean()) ** 2).sum()) for part in projected)
    between = float(projected[1].mean() - projected[0].mean()) ** 2
    return between / within if within > 0 else float("nan")


def _edges(low: float, high: float, bins: int, threshold: float | None) -> Array:
    """Edges of bins over the range; where the threshold is within it, it is one of them, so that no bin is on both
    sides."""
    if threshold is None or not low < threshold < high:
        return np.linspace(low, high, bins + 1)
    width = (high - low) / bins
    below, above = np.ceil((threshold - low) / width), np.ceil((high - threshold) / width)
    return np.asarray(threshold + width * np.arange(-below, above + 1))
