"""The geometry of a hyperplane (ESL figure 4.15): its normal, and the distances of samples with their signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import Shown, check_point, linear_coef, training_samples
from convexcls.plots.plane import Frame, View, choose_view, frame_of
from convexcls.plots.points import Points, thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: The normal is drawn as this fraction of the picture's shorter side: its length is 1, which may be far too long.
NORMAL_SHARE = 0.22
#: So many level lines of f on either side, at whole numbers, besides f = -1 and f = 1.
MAX_LEVELS = 4


@dataclass(eq=False, repr=False)
class HyperplaneDisplay(Display):
    """The hyperplane {x: f(x) = 0} with f(x) = coef'x + intercept: its unit normal coef/‖coef‖, and for each sample in
    ``rows`` the way from the hyperplane (``feet``) to the sample, in length f(x)/‖coef‖ with a sign (``distances``).
    ``functional`` are their functional margins y f(x), ``geometric`` the same by ‖coef‖. Lines f = -1 and f = 1 lie
    1/‖coef‖ away from it: the larger the coefficients, the nearer.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [3, 4]], [0, 1]).solve()
    >>> display = cc.plots.HyperplaneDisplay.from_solution(s, rows=[0, 1])
    >>> display.distances.round(6).tolist(), display.geometric.round(6).tolist()
    ([-2.5, 2.5], [2.5, 2.5])
    >>> doubled = cc.plots.HyperplaneDisplay.of_plane(2 * s.coef, 2 * s.intercept, s.data.matrix, [0, 1], rows=[1])
    >>> doubled.functional.round(6).tolist(), doubled.geometric.round(6).tolist()
    ([2.0], [2.5])
    """

    kind: ClassVar[str] = "hyperplane"
    on_request: ClassVar[bool] = True

    points: Points
    view: View
    frame: Frame
    coef: Array
    intercept: float
    rows: Indices
    feet: Array
    distances: Array
    functional: Array
    geometric: Array
    name: str

    @classmethod
    def of(cls, solution: Solution, *, rows: Sequence[int] | None = None) -> Self:
        """The hyperplane of a linear classifier of two classes, with the distances of the samples in ``rows``: by
        default of those with the smallest margin on either side."""
        check_point(solution, "hyperplane")
        coef = linear_coef(solution)
        if coef is None or coef.ndim != 1:
            raise NoAnswer(
                f"the {solution.problem.name} has no hyperplane: its boundary is curved, or there are several"
            )
        constant = float(solution.intercept) - solution.problem.threshold
        return cls._of(coef, constant, training_samples(solution), rows, solution.problem.name)

    @classmethod
    def of_plane(
        cls, coef: Any, intercept: float, X: Any, y: Any, *, rows: Sequence[int] | None = None, name: str = "hyperplane"
    ) -> Self:
        """A hyperplane that is given, with samples of two classes."""
        from convexcls.data import check_data

        data, coef = check_data(X, y), np.asarray(coef, dtype=float)
        if coef.shape != (data.d,) or not np.all(np.isfinite(coef)):
            raise ValueError(f"coef has the shape {coef.shape}: give {data.d} finite numbers, one a feature")
        classes, labels = data.grouping
        shown = Shown(data.matrix, data.features, classes, labels)
        return cls._of(coef, float(intercept), shown, rows, name)

    @classmethod
    def from_plane(cls, coef: Any, intercept: float, X: Any, y: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """The picture of a hyperplane that is given, drawn into ``ax``; the options are those of ``of_plane``."""
        return cls.of_plane(coef, intercept, X, y, **options).plot(ax)

    @classmethod
    def _of(cls, coef: Array, constant: float, shown: Shown, rows: Sequence[int] | None, name: str) -> Self:
        if len(shown.labels) != 2:
            raise NoAnswer(f"functional margins y f(x) are of two classes; there are {len(shown.labels)}")
        if shown.d < 2:
            raise NoAnswer("the geometry of a hyperplane is drawn of two features or more; of one it is a point")
        length = float(np.linalg.norm(coef))
        if not length > 0:
            raise NoAnswer("coef is zero: there is no hyperplane")
        scores = np.asarray(shown.samples @ coef, dtype=float) + constant
        chosen = _nearest(scores, shown.classes) if rows is None else np.asarray(rows, dtype=np.intp)
        if chosen.ndim != 1 or np.any((chosen < 0) | (chosen >= shown.n)):
            raise ValueError(f"rows is {rows!r}: give row numbers from 0 to {shown.n - 1}")
        drawn = thinned(shown.classes, chosen)
        view = choose_view(shown.samples, shown.names, coef, None, drawn)
        points = Points.of(shown, drawn, view)
        normal = view.axes @ coef / length
        functional = scores[chosen] * np.where(shown.classes[chosen] == 1, 1.0, -1.0)
        distances = scores[chosen] / length
        feet = points.at(chosen) - distances[:, None] * normal
        frame = frame_of(np.vstack([points.places, feet]))
        return cls(points, view, frame, coef, constant, chosen, feet, distances, functional, functional / length, name)

    @property
    def title(self) -> str:
        return style.plain(f"Geometry of the {self.name}, ‖β‖ = {np.linalg.norm(self.coef):.4g}", 80)

    # ---- drawing ----------------------------------------------------------------------------------

    def draw(self, ax: Axes) -> None:
        length = float(np.linalg.norm(self.coef))
        normal = self.view.axes @ self.coef / length
        shift = float(self.coef @ self.view.centre + self.intercept) / length
        centre = self.view.axes @ self.view.centre - shift * normal  # on the hyperplane
        corners = np.array([[x, y] for x in self.frame[:2] for y in self.frame[2:]])
        reach = float(np.abs((corners - centre) @ normal).max()) * length
        step = max(1, int(np.ceil(reach / MAX_LEVELS)))
        for level in sorted({-1, 1, *range(-MAX_LEVELS * step, 0, step), *range(step, MAX_LEVELS * step + 1, step)}):
            foot = centre + level / length * normal
            draw_line(ax, foot, normal, style.LEVEL)
            self._write_level(ax, foot, normal, f"f = {level}")
        draw_line(ax, centre, normal, style.PLANE)
        self._draw_distances(ax, normal)
        self._draw_normal(ax, normal, centre)
        self.points.plot_in(ax, self.view, self.frame)

    def _draw_distances(self, ax: Axes, normal: Array) -> None:
        way = normal if normal[0] >= 0 else -normal  # texts run to the right
        angle, up = float(np.degrees(np.arctan2(way[1], way[0]))), _turned(way)
        for k, (row, foot) in enumerate(zip(self.rows, self.feet, strict=True)):
            place = self.points.at(np.array([row]))[0]
            name = "signed distance f(x)/‖β‖" if k == 0 else None
            ax.plot(*np.array([foot, place]).T, **style.DISTANCE, label=name)
            ax.plot(*foot, **style.FOOT, label="foot x₀ on the hyperplane" if k == 0 else None)
            words = f"row {row}: y f = {self.functional[k]:.3g}\ny f/‖β‖ = {self.geometric[k]:.3g}"
            ax.annotate(words, (foot + place) / 2, xytext=tuple(16.0 * up), rotation=angle, **style.ALONG)

    def _draw_normal(self, ax: Axes, normal: Array, centre: Array) -> None:
        left, right, low, high = self.frame
        size = NORMAL_SHARE * min(right - left, high - low)
        along = _turned(normal)
        ends = centre + along * np.array([[-1.0], [1.0]]) * np.hypot(right - left, high - low)
        inside = np.linspace(ends[0], ends[1], 401)
        within = inside[(inside[:, 0] > left) & (inside[:, 0] < right) & (inside[:, 1] > low) & (inside[:, 1] < high)]
        if not len(within):
            return
        middle = within[len(within) // 6 : len(within) - len(within) // 6]
        start = middle[np.argmax([self._room(at, size) for at in middle])]
        ax.annotate("", start + size * normal, start, arrowprops=style.ARROW, zorder=6)
        ax.plot([], [], color=style.VERMILION, marker=">", label="unit normal β* = β/‖β‖ (direction)")
        look: style.Look = {"color": style.VERMILION, "fontsize": 12, "ha": "center", "va": "center", "bbox": style.BOX}
        ax.annotate("β*", start + 1.15 * size * normal, **look, zorder=7)

    def _room(self, at: Array, size: float) -> float:
        """How far a place is from everything that is written or drawn."""
        normal = self.view.axes @ self.coef / np.linalg.norm(self.coef)
        busy = np.vstack([self.feet, self.points.at(self.rows)]) if self.rows.size else np.zeros((0, 2))
        tips = np.vstack([at, at + size * normal])
        return float(min(np.linalg.norm(busy - tip, axis=1).min(initial=size) for tip in tips))

    def _write_level(self, ax: Axes, foot: Array, normal: Array, words: str) -> None:
        left, right, low, high = self.frame
        steps = np.linspace(-1.0, 1.0, 401)[:, None] * np.hypot(right - left, high - low)
        line = foot + steps * _turned(normal)
        lowest, highest = np.array([left, low]), np.array([right, high])
        room = np.array([0.07, 0.04]) * (highest - lowest)
        inside = line[np.all((line > lowest + room) & (line < highest - room), axis=1)]
        if len(inside):  # at the end that is farther from the samples
            ends = inside[[0, -1]]
            free = [float(np.linalg.norm(self.points.places - end, axis=1).min(initial=np.inf)) for end in ends]
            at = ends[0] if free[0] > 2.0 * free[1] else ends[1]
            ax.annotate(words, at, fontsize=8, ha="center", va="center", bbox=style.BOX, zorder=2.6)

    def describe(self) -> str:
        normal = ", ".join(f"{v:.4g}" for v in (self.coef / np.linalg.norm(self.coef))[:6])
        told = "; ".join(
            f"row {row} is {abs(d):.4g} from it, on the side of {self.points.labels[int(d > 0)]}, with functional "
            f"margin {f:.4g} and geometric margin {g:.4g}"
            for row, d, f, g in zip(self.rows, self.distances, self.functional, self.geometric, strict=True)
        )
        return (
            f"The {self.name} f(x) = 0 with unit normal ({normal}) and ‖coef‖ = {np.linalg.norm(self.coef):.4g}; lines "
            f"of equal f are parallel to it, and f grows by one every {1 / np.linalg.norm(self.coef):.4g}. {told}. "
            f"{self.points.describe()}."
        )


def draw_line(ax: Axes, at: Array, normal: Array, look: style.Look) -> None:
    """The line through a point with this normal."""
    (x, y), (across, up) = at, _turned(normal)
    ax.axline((float(x), float(y)), (float(x + across), float(y + up)), **look)


def _turned(v: Array) -> Array:
    return np.array([-v[1], v[0]])


def _nearest(scores: Array, classes: Indices) -> Indices:
    """Of each class the sample with the smallest margin."""
    margins = scores * np.where(classes == 1, 1.0, -1.0)
    rows = [np.flatnonzero(classes == k) for k in (0, 1)]
    return np.array([group[np.argmin(margins[group])] for group in rows if group.size], dtype=np.intp)
