"""Gaussian classes as they are estimated: their means and the ellipses of equal density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.models import GaussianMLE
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, misclassified, training_samples
from convexcls.plots.plane import Frame, View, choose_view, field_of, frame_of
from convexcls.plots.points import Points, thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: The shares of a class that the ellipses hold.
SHARES = (0.5, 0.9)
#: Corners of the polygon that is drawn for an ellipse.
CORNERS = 181


@dataclass(eq=False, repr=False)
class EllipsesDisplay(Display):
    """Estimated Gaussian classes: ``means[k]`` is where the density of class k is largest, and ``ellipses[k][j]``, one
    place a row, the line of equal density within which lies the share ``shares[j]`` of the class. In the plane the
    density of two features has covariance V, and the ellipse is (u - mean)' V^-1 (u - mean) = -2 log(1 - share).

    ``boundaries`` are the lines between the classes, where there are two features; of more, the densities are those of
    the two that are drawn, whatever the others are.

    >>> import convexcls as cc
    >>> X = [[1, 1], [3, 2], [2, 3], [7, 5], [9, 6], [8, 7]]
    >>> s = cc.GaussianMLE(X, ["a", "a", "a", "b", "b", "b"]).solve()
    >>> display = cc.plots.EllipsesDisplay.from_solution(s)
    >>> display.means.round(6).tolist(), len(display.boundaries)
    ([[2.0, 2.0], [8.0, 6.0]], 1)
    """

    kind: ClassVar[str] = "ellipses"

    points: Points
    view: View
    frame: Frame
    means: Array
    ellipses: tuple[tuple[Array, ...], ...]
    shares: tuple[float, ...]
    boundaries: list[Array]
    shared: bool
    model: str

    @classmethod
    def of(
        cls, solution: Solution, *, features: tuple[Any, Any] | None = None, shares: Sequence[float] = SHARES
    ) -> Self:
        """``features`` names two features to draw, the first two by default; ``shares`` are those of a class that its
        ellipses hold."""
        problem = solution.problem
        if not isinstance(problem, GaussianMLE):
            raise NoAnswer(f"the {problem.name} is no model of the densities: there are none to draw; see GaussianMLE")
        check_point(solution, "densities")
        shown = training_samples(solution)
        if shown.d < 2:
            raise NoAnswer("ellipses are of two features or more, and there is one")
        if not all(0.0 < share < 1.0 for share in shares):
            raise ValueError(f"shares is {tuple(shares)!r}: give numbers between 0 and 1, such as 0.5")
        found, chosen = solution.estimates, features or (0, 1)
        wrong = misclassified(solution.decision_function(shown.samples), shown.classes)
        rows = thinned(shown.classes, wrong)
        view = choose_view(shown.samples, shown.names, None, chosen, rows)
        if shown.d > 2:  # a marginal density, not a section
            first = view.names[0].split("\n")[0]
            view = replace(view, names=(f"{first}\n(densities of these two alone)", view.names[1]))
        points = Points.of(shown, rows, view, mistakes=wrong)
        means = found.means @ view.axes.T
        covariances = np.broadcast_to(found.covariance, (len(means), *found.covariance.shape[-2:]))
        spreads = view.axes @ covariances @ view.axes.T
        ellipses = tuple(
            tuple(_ellipse(mean, spread, share) for share in shares)
            for mean, spread in zip(means, spreads, strict=True)
        )
        frame = frame_of(np.vstack([points.places, *(line for lines in ellipses for line in lines)]))
        boundaries: list[Array] = []
        if shown.d == 2:
            scores = field_of(solution, view, frame)
            boundaries = scores.lines(0.0) if scores.values.ndim == 2 else scores.borders()
        return cls(
            points, view, frame, means, ellipses, tuple(shares), boundaries, found.covariance.ndim == 2, problem.name
        )

    @property
    def title(self) -> str:
        own = "one covariance" if self.shared else "a covariance for each class"
        return f"Means and densities of the classes, {own}"

    def draw(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection

        for k, lines in enumerate(self.ellipses):
            colour = style.class_style(k)["color"]
            for j, line in enumerate(lines):
                stroke = style.STROKES[(j + 2 * k) % len(style.STROKES)]
                ax.fill(*line.T, facecolor=(*style.pale(k, 0.5), 0.25), edgecolor="none", zorder=1)
                ax.plot(*line.T, color=colour, linestyle=stroke, linewidth=1.6, zorder=2.2, label=self._held(k, j))
            name = f"mean of {style.plain(self.points.labels[k], 20)}"
            ax.plot(*self.means[k], **style.MEAN | style.class_style(k), label=name)
        if self.boundaries:
            look: style.Look = {"colors": "black", "linewidths": 2.0, "zorder": 2.5}
            ax.add_collection(LineCollection(self.boundaries, **look, label="equal posterior: the boundary"))
        self.points.plot_in(ax, self.view, self.frame)

    def _held(self, k: int, j: int) -> str:
        return f"holds {100 * self.shares[j]:.3g} % of {style.plain(self.points.labels[k], 20)}"

    def describe(self) -> str:
        told = "; ".join(
            f"{label} around ({mean[0]:.4g}, {mean[1]:.4g})"
            for label, mean in zip(self.points.labels, self.means, strict=True)
        )
        own = "all of the same shape" if self.shared else "each class with its own shape"
        shares = " and ".join(f"{100 * share:.3g} %" for share in self.shares)
        lines = " The line between the classes is where their posterior probabilities are equal." * bool(
            self.boundaries
        )
        held = f"Ellipses of equal density that hold {shares} of each class, {own}: {told}.{lines}"
        return f"{held} {self.points.describe()}."


def _ellipse(mean: Array, covariance: Array, share: float) -> Array:
    """The places with (u - mean)' V^-1 (u - mean) = -2 log(1 - share), which is chi-square with two degrees."""
    values, vectors = np.linalg.eigh(covariance)
    turn = np.linspace(0.0, 2.0 * np.pi, CORNERS)
    circle = np.column_stack([np.cos(turn), np.sin(turn)]) * np.sqrt(-2.0 * np.log1p(-share))
    return np.asarray(mean + (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
