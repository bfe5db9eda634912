"""Which pictures suit a solution, each with words for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from convexcls.plots import style
from convexcls.plots.boundary import BoundaryDisplay
from convexcls.plots.convergence import ConvergenceDisplay
from convexcls.plots.display import Display
from convexcls.plots.hulls import HullsDisplay
from convexcls.plots.losses import LossesDisplay
from convexcls.plots.multipliers import MultipliersDisplay
from convexcls.plots.probability import ProbabilityDisplay
from convexcls.plots.projection import ProjectionDisplay
from convexcls.plots.slackness import SlacknessDisplay
from convexcls.plots.slices import LossSliceDisplay
from convexcls.plots.trajectory import TrajectoryDisplay
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture that is worked out but not drawn: ``draw(ax)`` draws it, ``alt`` says what it shows.

    ``name`` is that of the display (see ``KINDS``), ``size`` in inches.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [3, 4]], [0, 1]).solve()
    >>> picture = cc.plots.Picture.of(cc.plots.HullsDisplay.of(s))
    >>> picture.name, picture.title
    ('hulls', 'Convex hulls of the classes, 5 apart')
    >>> len(picture.figure().axes)  # a figure that only the caller holds
    1
    """

    name: str
    title: str
    alt: str
    draw: Callable[[Axes], None]
    size: tuple[float, float]

    @classmethod
    def of(cls, display: Display) -> Picture:
        """The picture of a display."""

        def draw(ax: Axes) -> None:
            display.plot(ax)

        return cls(display.kind, display.title.replace(r"\$", "$"), display.describe(), draw, display.size)

    def figure(self) -> Figure:
        """The picture in a figure of its own that only the caller holds: for a file."""
        figure = style.bare_figure(self.size)
        self.draw(figure.subplots())
        return figure


#: The displays of a solution by name, in the order in which a report shows them.
KINDS: dict[str, type[Display]] = {
    display.kind: display
    for display in (
        BoundaryDisplay, HullsDisplay, ProbabilityDisplay, TrajectoryDisplay, ProjectionDisplay, MultipliersDisplay,
        SlacknessDisplay, LossesDisplay, LossSliceDisplay, ConvergenceDisplay,
    )
}  # fmt: skip


def pictures(solution: Solution) -> list[Picture]:
    """The pictures that suit the solution, by its model, its verdict and its dimension, the most telling first.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0, 0], [1, 3], [2, 0], [3, 1]], [0, 1, 0, 1], l2=1.0).solve()
    >>> [picture.name for picture in cc.plots.pictures(s)]
    ['boundary', 'probability', 'projection', 'losses', 'slice', 'convergence']
    """
    found = []
    for display in KINDS.values():
        if display is HullsDisplay and not _turns_on_separability(solution):
            continue
        try:
            with np.errstate(all="ignore"):  # what overflows is not drawn
                found.append(Picture.of(display.of(solution)))
        except NoAnswer:  # the picture makes no sense here: the display knows that best
            continue
    return found


def _turns_on_separability(solution: Solution) -> bool:
    """Whether the verdict depends on whether the classes can be separated."""
    rows = getattr(solution.problem, "separation_rows", None)
    return solution.problem.kind == "max-margin" or (rows is not None and rows() is not None)
