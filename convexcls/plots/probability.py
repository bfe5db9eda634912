"""The probabilities that a model gives, over the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, linear_coef, misclassified, shown_samples
from convexcls.plots.plane import Field, Frame, View, choose_view, field_of, frame_of
from convexcls.plots.points import Points, thinned
from convexcls.solution import Solution

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(eq=False, repr=False)
class ProbabilityDisplay(Display):
    """``field.values`` are the probabilities of the second class over the plane of ``view``; of several classes the
    largest one, with the class that has it in ``winner``.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0, 0], [1, 3], [2, 0], [3, 1]], ["no", "yes", "no", "yes"], l2=1.0).solve()
    >>> display = cc.plots.ProbabilityDisplay.from_solution(s)
    >>> display.ax_.get_title(), bool(0 < display.field.values.min() < display.field.values.max() < 1)
    ('P(yes | x) by logistic regression with ridge penalty', True)
    """

    kind: ClassVar[str] = "probability"

    points: Points
    view: View
    frame: Frame
    field: Field
    winner: Indices | None
    model: str

    @classmethod
    def of(cls, solution: Solution, X: Any = None, y: Any = None, *, features: tuple[Any, Any] | None = None) -> Self:
        """``features`` names two features to draw; ``X`` and ``y`` are samples to show in place of the training
        samples."""
        check_point(solution, "probabilities")
        shown = shown_samples(solution, X, y)
        solution.predict_proba(shown.samples[:1])  # refuses where there are none
        convert = solution.problem.probabilities
        wrong = misclassified(solution.decision_function(shown.samples), shown.classes)
        rows = thinned(shown.classes, wrong)
        view = choose_view(shown.samples, shown.names, linear_coef(solution), features, rows)
        points = Points.of(shown, rows, view, mistakes=wrong)
        frame = frame_of(points.places, view.is_line)
        scores = field_of(solution, view, frame)
        chances = np.asarray(convert(scores.values.reshape(-1, *scores.values.shape[2:])))
        chances = chances.reshape(*scores.values.shape[:2], -1)
        if chances.shape[2] == 2:
            return cls(points, view, frame, Field(scores.u, scores.v, chances[:, :, 1]), None, solution.problem.name)
        best = Field(scores.u, scores.v, chances.max(axis=2))
        return cls(points, view, frame, best, chances.argmax(axis=2), solution.problem.name)

    @property
    def levels(self) -> tuple[float, ...]:
        """The probabilities that have contours."""
        return LEVELS if self.winner is None else LEVELS[2:]

    @property
    def title(self) -> str:
        what = "Largest class probability"
        if self.winner is None:
            what = f"P({style.plain(self.points.labels[1], 20)} | x)"
        return f"{what} by {style.plain(self.model, 50)}"

    def draw(self, ax: Axes) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        values = self.field.values
        if self.winner is None:  # from white to a grey that leaves the samples legible
            ground = LinearSegmentedColormap.from_list("chance", ["#ffffff", "#b4b4b4"])(values)
        else:
            colours = np.array([style.pale(k, 0.62) for k in range(len(self.points.labels))])[self.winner]
            strength = np.clip((values - 0.3) / 0.7, 0.0, 1.0)[:, :, None]
            ground = 1.0 - strength * (1.0 - colours)
        ax.imshow(ground, origin="lower", extent=self.frame, aspect="auto", interpolation="bilinear", zorder=0)
        if np.ptp(values) > 0 and np.all(np.isfinite(values)):
            widths = [2.0 if level == 0.5 else 1.0 for level in self.levels]
            strokes = [{0.5: "solid", 0.25: "dashed", 0.75: "dashed"}.get(level, "dotted") for level in self.levels]
            look: style.Look = {"colors": "black", "linewidths": widths, "linestyles": strokes, "zorder": 2}
            lines = ax.contour(self.field.u, self.field.v, values, self.levels, **look)
            ax.clabel(lines, fmt="%.2f", fontsize=8)
        self.points.plot_in(ax, self.view, self.frame)

    def describe(self) -> str:
        values = self.field.values
        what = f"of {self.points.labels[1]}" if self.winner is None else "of the likeliest class"
        return (
            f"The probability {what} by the {self.model}, from {values.min():.2g} to {values.max():.2g} over the "
            f"picture, with contours at {', '.join(map(str, self.levels))}. {self.points.describe()}."
        )
