"""Each sample with the disc in which it may move without any effect on the classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.models import HardMarginSVM, SoftMarginSVM
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, training_samples
from convexcls.plots.hyperplane import draw_line
from convexcls.plots.plane import Frame, View, choose_view, frame_of
from convexcls.plots.points import Points, thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: More discs than this are a blot.
MAX_DISCS = 150


@dataclass(eq=False, repr=False)
class RadiusDisplay(Display):
    """The samples of a hard or soft margin, each with a disc: wherever within it the sample moves, nothing changes.
    ``radii`` are by row of ``points``; those of the support are 0.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [2, 0], [4, 0]], [0, 1, 1]).solve()
    >>> cc.plots.RadiusDisplay.from_solution(s).radii.round(6).tolist()
    [0.0, 0.0, 2.0]
    """

    kind: ClassVar[str] = "radius"
    on_request: ClassVar[bool] = True

    points: Points
    view: View
    frame: Frame
    coef: Array
    intercept: float
    radii: Array
    name: str

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """The picture of a hard or soft margin of two features or more."""
        check_point(solution, "radius")
        if not isinstance(solution.problem, (HardMarginSVM, SoftMarginSVM)):
            raise NoAnswer(f"every sample of the {solution.problem.name} has an effect wherever it moves")
        shown = training_samples(solution)
        if shown.d < 2:
            raise NoAnswer("discs are drawn of two features or more")
        drawn: Indices = thinned(shown.classes)
        coef = np.asarray(solution.coef)
        if not np.any(coef):
            raise NoAnswer("coef is zero: there is no hyperplane to move towards")
        view = choose_view(shown.samples, shown.names, coef, None, drawn)
        few = solution.support.size <= MAX_DISCS  # then they are ringed
        marks = {"support": solution.support, "alpha": _sizes(solution)} if few else {}
        points = Points.of(shown, np.union1d(drawn, solution.support) if few else drawn, view, **marks)
        frame = frame_of(points.places)
        return cls(points, view, frame, coef, solution.intercept, _radii(solution)[points.rows], solution.problem.name)

    @property
    def title(self) -> str:
        return style.plain(f"How far samples may move without any effect: {self.name}", 80)

    def draw(self, ax: Axes) -> None:
        from matplotlib.patches import Circle

        for i in self._discs:
            (x, y), k = self.points.places[i], int(self.points.classes[i])
            disc = Circle((float(x), float(y)), float(self.radii[i]), zorder=1, linewidth=0.6, alpha=0.45)
            disc.set(facecolor=style.pale(k), edgecolor=style.rgb(k))
            ax.add_patch(disc)
        length = float(np.linalg.norm(self.coef))
        normal = self.view.axes @ self.coef / length
        shift = float(self.coef @ self.view.centre + self.intercept) / length
        looks: tuple[tuple[int, style.Look], ...] = ((0, style.PLANE), (-1, style.LEVEL), (1, style.LEVEL))
        for level, look in looks:
            x, y = self.view.axes @ self.view.centre + (level / length - shift) * normal
            draw_line(ax, np.array([x, y]), normal, look)
        self.points.plot_in(ax, self.view, self.frame)

    @property
    def _discs(self) -> list[int]:
        """The samples that have a disc, of very many the smallest."""
        order = np.argsort(self.radii, kind="stable")
        return order[self.radii[order] > 0][:MAX_DISCS].tolist()

    def describe(self) -> str:
        free = self.radii[self.radii > 0]
        span = f", from {free.min():.4g} to {free.max():.4g}" if free.size else ""
        still = self.radii.size - free.size
        most = f" (the {MAX_DISCS} smallest are drawn)" if free.size > MAX_DISCS else ""
        return (
            f"The {self.name} with the disc of each sample in which it may move without any effect{span}{most}; "
            f"{style.counted(still, 'sample')} have none, for they hold the answer in place or are unclear. "
            f"{self.points.describe()}."
        )


def _radii(solution: Solution) -> Array:
    """What the margin of a sample has to spare beyond 1, as a distance; 0 of the support."""
    data, coef = solution.data, np.asarray(solution.coef)
    assert data.signs is not None
    spare = data.signs * (np.asarray(data.matrix @ coef) + solution.intercept) - 1.0
    spare[solution.support] = 0.0
    length = float(np.linalg.norm(coef))
    return np.maximum(spare, 0.0) / length if length > 0 else np.zeros(data.n)


def _sizes(solution: Solution) -> Array:
    return np.asarray(solution.multipliers["margin"])[solution.support]
