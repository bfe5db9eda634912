"""Each sample with the disc in which it may move without any effect on the classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, training_samples
from convexcls.plots.hyperplane import draw_line
from convexcls.plots.plane import Frame, View, choose_view, frame_of
from convexcls.plots.points import Points, thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution


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
        """The picture of a solution that has sensitivities, of two features or more."""
        check_point(solution, "radius")
        found, shown = solution.sensitivity(), training_samples(solution)
        if shown.d < 2:
            raise NoAnswer("discs are drawn of two features or more")
        drawn: Indices = thinned(shown.classes, solution.support)
        coef = np.asarray(solution.coef)
        view = choose_view(shown.samples, shown.names, coef, None, drawn)
        points = Points.of(shown, drawn, view, support=solution.support, alpha=_sizes(solution))
        frame = frame_of(points.places)
        return cls(points, view, frame, coef, solution.intercept, found.radius[drawn], solution.problem.name)

    @property
    def title(self) -> str:
        return style.plain(f"How far samples may move without any effect: {self.name}", 80)

    def draw(self, ax: Axes) -> None:
        from matplotlib.patches import Circle

        for place, radius, k in zip(self.points.places, self.radii, self.points.classes, strict=True):
            if radius > 0:
                look = {
                    "facecolor": style.pale(int(k)),
                    "edgecolor": style.rgb(int(k)),
                    "alpha": 0.45,
                    "linewidth": 0.6,
                }
                ax.add_patch(Circle((float(place[0]), float(place[1])), float(radius), zorder=1, **look))
        length = float(np.linalg.norm(self.coef))
        normal = self.view.axes @ self.coef / length
        shift = float(self.coef @ self.view.centre + self.intercept) / length
        looks: tuple[tuple[int, style.Look], ...] = ((0, style.PLANE), (-1, style.LEVEL), (1, style.LEVEL))
        for level, look in looks:
            x, y = self.view.axes @ self.view.centre + (level / length - shift) * normal
            draw_line(ax, np.array([x, y]), normal, look)
        self.points.plot_in(ax, self.view, self.frame)

    def describe(self) -> str:
        free = self.radii[self.radii > 0]
        span = f", from {free.min():.4g} to {free.max():.4g}" if free.size else ""
        still = self.radii.size - free.size
        return (
            f"The {self.name} with the disc of each sample in which it may move without any effect{span}; "
            f"{style.counted(still, 'sample')} have none, for they hold the answer in place or are unclear. "
            f"{self.points.describe()}."
        )


def _sizes(solution: Solution) -> Array:
    return np.asarray(solution.multipliers["margin"])[solution.support]
