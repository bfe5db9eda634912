"""The way of the perceptron: its lines over its updates, or its weights in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import Shown
from convexcls.plots.plane import Frame, View, choose_view, frame_of
from convexcls.plots.points import NOBODY, Points, thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.solvers.rules.perceptron_report import PerceptronReport

#: So many of the lines are drawn, ever further apart.
MAX_LINES = 10


#: So many updates are shown.
MAX_UPDATES = 5000


@dataclass(eq=False, repr=False)
class TrajectoryDisplay(Display):
    """``weights`` has a row for the start and one after each update: coef of the two features ``names``, then the
    intercept where there is one. ``chosen`` are the updates whose lines are drawn, of ``updates`` in all; ``complete``
    says whether these are all shown.

    ``separated`` says whether it ended without mistakes. ``space`` is "samples" (lines among them) or "weights".

    >>> import convexcls as cc
    >>> problem = cc.PerceptronCriterion([[0, 0], [1, 1], [3, 3]], [0, 0, 1])
    >>> display = cc.plots.TrajectoryDisplay.from_solution(problem.solve("perceptron"))
    >>> display.separated, len(display.weights) == display.updates + 1
    (True, True)
    """

    kind: ClassVar[str] = "trajectory"

    weights: Array
    chosen: Indices
    updates: int
    separated: bool
    complete: bool
    space: Literal["samples", "weights"]
    points: Points
    view: View
    frame: Frame
    names: tuple[str, str]

    @classmethod
    def of(
        cls,
        solution: Solution,
        *,
        space: Literal["samples", "weights"] | None = None,
        features: tuple[Any, Any] = (0, 1),
    ) -> Self:
        """``space="samples"`` draws lines among the samples, for two features; ``"weights"`` the weights of two
        ``features``, of any number."""
        report = solution.rule_report
        if not isinstance(report, PerceptronReport):
            raise NoAnswer(
                f"{solution.solver} is not a perceptron: solve PerceptronCriterion with solver='perceptron' for that"
            )
        data = solution.data
        plane = data.d == 2 and data.expanded is None
        space = space or ("samples" if plane else "weights")
        if space not in ("samples", "weights"):
            raise ValueError(f"space is {space!r}: choose 'samples' or 'weights'")
        if data.d < 2:
            raise NoAnswer("the way of a perceptron is drawn of two features or more, and there is one")
        if space == "samples" and not plane:
            raise NoAnswer(f"lines among the samples need two features, these have {data.d}: take space='weights'")
        (weights, _), (classes, labels) = report.way(MAX_UPDATES), data.grouping
        last = len(weights) - 1
        steps = np.unique(np.round(np.geomspace(1, max(last, 1), MAX_LINES)).astype(np.intp)) if last else NOBODY
        rows = thinned(classes)
        view = choose_view(data.matrix, data.features, None, features, rows)
        pair = [int(np.argmax(axis)) for axis in view.axes]
        points = Points.of(Shown(data.matrix, data.features, classes, labels), rows, view)
        kept = weights[:, [*pair, *range(data.d, weights.shape[1])]]
        complete = bool(np.allclose(weights[-1], report.weights))
        names = (data.features[pair[0]], data.features[pair[1]])
        plane_of = (space, points, view, frame_of(points.places), names)
        return cls(kept, steps, report.updates, report.separated, complete, *plane_of)

    @property
    def title(self) -> str:
        end = "separated" if self.separated else "not separated"
        shown = "" if self.complete else f"; the first {len(self.weights) - 1:,} shown"
        return f"Perceptron: {style.counted(self.updates, 'update')}, {end}{shown}"

    def draw(self, ax: Axes) -> None:
        if self.space == "weights":
            self._draw_weights(ax)
            return
        for k, step in enumerate(self.chosen):
            final = k == len(self.chosen) - 1
            shade = 0.78 * (1.0 - k / max(len(self.chosen) - 1, 1))
            ends = self._line(self.weights[step])
            if ends is not None:
                name = f"after update {step:,}" + (" (last)" if final and self.complete else "")
                width, stroke = (2.4, "solid") if final else (1.3, style.STROKES[1 + k % 4])
                ax.plot(*ends.T, color=str(shade), linewidth=width, linestyle=stroke, zorder=2, label=name)
        self.points.plot_in(ax, self.view, self.frame)

    def _line(self, w: Array) -> Array | None:
        """Where w'x + intercept = 0, beyond the frame on both sides; None of weights 0, which give no line."""
        normal, constant = w[:2], float(w[2]) if w.size > 2 else 0.0
        square = float(normal @ normal)
        if not square > 0:
            return None
        left, right, low, high = self.frame
        middle = np.array([(left + right) / 2, (low + high) / 2])
        foot = middle - (normal @ middle + constant) / square * normal
        reach = 2 * np.hypot(right - left, high - low) + float(np.linalg.norm(foot - middle))
        along = np.array([-normal[1], normal[0]]) / np.sqrt(square) * reach
        return np.array([foot - along, foot + along])

    def _draw_weights(self, ax: Axes) -> None:
        path = self.weights[:, :2]
        ax.plot(*path.T, color="0.4", linewidth=1.0, marker=".", markersize=4, zorder=2, label="weights by update")
        ax.plot(*path[0], "s", color=style.ORANGE, markeredgecolor="black", markersize=8, zorder=3, label="start")
        end = "last" if self.complete else f"update {len(self.weights) - 1:,}"
        ax.plot(*path[-1], "o", color=style.BLUE, markeredgecolor="black", markersize=9, zorder=3, label=end)
        ax.set_xlabel(f"weight of {style.plain(self.names[0])}")
        ax.set_ylabel(f"weight of {style.plain(self.names[1])}")

    def describe(self) -> str:
        w = ", ".join(f"{v:.4g}" for v in self.weights[-1][:6])
        start = ", ".join(f"{v:.4g}" for v in self.weights[0][:6])
        end = "it separates the classes" if self.separated else "it does not separate the classes"
        return (
            f"The perceptron's way from the weights ({start}) to ({w}) in {style.counted(self.updates, 'update')}; "
            f"{end}. {self.points.describe()}."
        )
