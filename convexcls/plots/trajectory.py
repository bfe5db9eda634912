"""The way of the perceptron: its lines over its updates, or its weights in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from convexcls.plots import style
from convexcls.plots.display import Display
from convexcls.plots.field import Frame, frame_of
from convexcls.plots.points import NOBODY, Points, set_frame
from convexcls.plots.reading import Shown, shown_samples
from convexcls.plots.replay import replay
from convexcls.plots.thinning import thinned
from convexcls.plots.view import View, choose_view
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.solvers.perceptron_report import PerceptronReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
#: So many of the lines are drawn, ever further apart.
MOST_LINES = 10


@dataclass(eq=False)
class TrajectoryDisplay(Display):
    """``weights`` has a row for the start and one after each update: coef, then the intercept where there is one.
    ``chosen`` are the updates whose lines are drawn, of ``updates`` in all.

    ``separated`` says whether it ended without mistakes. ``space`` is "samples" (lines among them) or "weights".

    >>> import convexcls as cc
    >>> problem = cc.PerceptronCriterion([[0, 0], [1, 1], [3, 3]], [0, 0, 1])
    >>> display = cc.plots.TrajectoryDisplay.from_solution(problem.solve("perceptron"))
    >>> display.separated, len(display.weights) == display.updates + 1
    (True, True)
    """

    kind: ClassVar[str] = "trajectory"

    weights: Array
    chosen: NDArray[np.intp]
    updates: int
    separated: bool
    space: Literal["samples", "weights"]
    points: Points
    view: View
    frame: Frame
    pair: tuple[int, int]

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
        shown = shown_samples(solution)
        weights, d = replay(report), solution.data.d
        space = space or ("samples" if d == 2 and solution.data.expanded is None else "weights")
        if space not in ("samples", "weights") or d < 2:
            raise NoAnswer(
                f"the way of a perceptron is drawn of two features or more, among 'samples' or 'weights': {space!r}"
            )
        if space == "samples" and (d != 2 or solution.data.expanded is not None):
            raise NoAnswer(f"lines among the samples need two features, these have {d}: take space='weights'")
        last = len(weights) - 1
        steps = np.unique(np.round(np.geomspace(1, max(last, 1), MOST_LINES)).astype(np.intp)) if last else NOBODY
        rows = thinned(shown.classes, NOBODY)
        view = choose_view(solution.data.matrix, solution.data.features, None, features, rows)
        pair = tuple(int(np.argmax(axis)) for axis in view.axes)
        places = view.places(shown.samples[rows], shown.classes[rows]) if space == "samples" else weights[:, list(pair)]
        points = _points(shown, rows, places if space == "samples" else np.zeros((rows.size, 2)))
        return cls(
            weights, steps, report.updates, report.separated, space, points, view, frame_of(places), (pair[0], pair[1])
        )

    @property
    def title(self) -> str:
        end = "separated" if self.separated else "not separated"
        return f"Perceptron: {style.counted(self.updates, 'update')}, {end}"

    def draw(self, ax: Axes) -> None:
        if self.space == "weights":
            self._draw_weights(ax)
            return
        for k, step in enumerate(self.chosen):
            final = k == len(self.chosen) - 1
            shade = 0.78 * (1.0 - k / max(len(self.chosen) - 1, 1))
            ends = self._line(self.weights[step])
            if ends is not None:
                ax.plot(*ends.T, color=str(shade), linewidth=2.4 if final else 1.3, zorder=2,
                        linestyle="solid" if final else style.STROKES[1 + k % 4],
                        label=f"after update {step:,}" + (" (last)" if final else ""))  # fmt: skip
        self.points.draw(ax)
        set_frame(ax, self.view, self.frame, self.points.labels, self.points.thinned)

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
        path = self.weights[:, list(self.pair)]
        ax.plot(*path.T, color="0.4", linewidth=1.0, marker=".", markersize=4, zorder=2, label="weights by update")
        ax.plot(*path[0], "s", color=style.ORANGE, markeredgecolor="black", markersize=8, zorder=3, label="start")
        end = "last" if len(self.weights) == self.updates + 1 else f"update {len(self.weights) - 1:,}"
        ax.plot(*path[-1], "o", color=style.BLUE, markeredgecolor="black", markersize=9, zorder=3, label=end)
        names = [name.replace(" (others at their mean)", "") for name in self.view.names]
        ax.set_xlabel(f"weight of {names[0]}")
        ax.set_ylabel(f"weight of {names[1]}")

    def describe(self) -> str:
        w = ", ".join(f"{v:.4g}" for v in self.weights[-1][:6])
        start = ", ".join(f"{v:.4g}" for v in self.weights[0][:6])
        end = "it separates the classes" if self.separated else "it does not separate the classes"
        return (
            f"The perceptron's way from the weights ({start}) to ({w}) in {style.counted(self.updates, 'update')}; "
            f"{end}. {self.points.describe()}."
        )


def _points(shown: Shown, rows: NDArray[np.intp], places: Array) -> Points:
    return Points(shown.n, rows, places, shown.classes[rows], shown.labels, np.bincount(shown.classes))
