"""The score f, the margin y f and a loss of it over the plane of the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import BY_NAME, Loss, ZeroOne
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, linear_coef, misclassified, shown_samples
from convexcls.plots.losses import FORMULAS, called, loss_of
from convexcls.plots.plane import Field, Frame, View, choose_view, field_of, frame_of
from convexcls.plots.points import Points, thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

Quantity = Literal["score", "margin", "loss"]
QUANTITIES: tuple[Quantity, ...] = ("score", "margin", "loss")
#: So many contours of scores and margins on either side of 0.
MAX_LEVELS = 4
#: Those of a loss: its steep end would hide the rest.
LOSS_LEVELS = (0.1, 0.5, 1.0, 2.0, 4.0)


@dataclass(eq=False, repr=False)
class SurfaceDisplay(Display):
    """``field.values`` is over the plane of ``view`` the score f(x), the margin y f(x) or a loss of it, as ``show``
    says: "score", "margin" or "loss". The last two are those of a sample of the class ``label`` that would lie there;
    only samples of this class are drawn. ``loss`` is the name of the loss, and ``paid`` what these samples pay of it
    together.

    >>> import convexcls as cc
    >>> s = cc.SoftMarginSVM([[0, 0], [1, 2], [3, 0], [4, 1]], ["a", "a", "b", "b"]).solve()
    >>> display = cc.plots.SurfaceDisplay.from_solution(s, show="loss", loss="zero-one", label="a")
    >>> display.ax_.get_title(), display.paid
    ('Zero-one loss of class a: 1[m ≤ 0]', 0.0)
    """

    kind: ClassVar[str] = "surface"
    on_request: ClassVar[bool] = True

    points: Points
    view: View
    frame: Frame
    field: Field
    boundary: list[Array]
    sign: float
    show: Quantity
    label: Any
    loss: str
    paid: float
    model: str

    @classmethod
    def of(
        cls,
        solution: Solution,
        *,
        show: Quantity = "loss",
        loss: str | Loss | None = None,
        label: Any = None,
        features: tuple[Any, Any] | None = None,
    ) -> Self:
        """``loss`` is a name or a ``Loss``, by default that of the model; ``label`` is the class, by default the
        second; ``features`` names two features to draw."""
        if show not in QUANTITIES:
            raise ValueError(f"show is {show!r}: choose one of {', '.join(map(repr, QUANTITIES))}")
        check_point(solution, "scores")
        shown = shown_samples(solution)
        if len(shown.labels) != 2:
            raise NoAnswer(f"margins y f(x) are of two classes; there are {len(shown.labels)}")
        label = shown.labels[1] if label is None else label
        if label not in shown.labels:
            raise ValueError(f"label is {label!r}: choose one of {shown.labels[0]!r} and {shown.labels[1]!r}")
        sign = 1.0 if shown.labels.index(label) else -1.0
        of_margin = _loss(solution, loss) if show == "loss" else None
        scores = solution.decision_function(shown.samples)
        rows = thinned(shown.classes)
        if show != "score":
            rows = rows[shown.classes[rows] == shown.labels.index(label)]
        view = choose_view(shown.samples, shown.names, linear_coef(solution), features, thinned(shown.classes))
        frame = frame_of(view.places(shown.samples, shown.classes), view.is_line)
        wrong = np.intersect1d(misclassified(scores, shown.classes), rows)
        points = Points.of(shown, rows, view, mistakes=wrong)
        values = field_of(solution, view, frame)
        over = values.values * (1.0 if show == "score" else sign)
        mine = (sign * scores)[shown.classes == shown.labels.index(label)]
        paid = 0.0 if of_margin is None else float(of_margin.value(mine).sum())
        if of_margin is not None:
            over = of_margin.value(over)
        name = "" if of_margin is None else of_margin.name
        over_plane = Field(values.u, values.v, over)
        sign = 1.0 if show == "score" else sign
        model = solution.problem.name
        return cls(points, view, frame, over_plane, values.lines(0.0), sign, show, label, name, paid, model)

    @property
    def title(self) -> str:
        if self.show == "score":
            return f"Score f(x) of {style.plain(self.model, 50)}"
        who = f"of class {style.plain(self.label, 20)}"
        if self.show == "margin":
            return f"Margin y f(x) {who}"
        formula = f": {FORMULAS[self.loss]}" if self.loss in FORMULAS else ""
        return f"{called(self.loss).capitalize()} loss {who}{formula}"

    def draw(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.colors import LinearSegmentedColormap

        u, v, values = self.field.u, self.field.v, self.field.values
        loss = self.show == "loss"
        levels = np.array(LOSS_LEVELS) if loss else _levels(values)
        if loss:  # from white to a grey that leaves the samples legible
            ground = LinearSegmentedColormap.from_list("loss", ["#ffffff", "#9a9a9a"])
            shade = ground(np.clip(values / levels[-1], 0.0, 1.0))
        else:  # the ground of the class on whose side it is
            shade = np.array([style.pale(0), style.pale(1)])[(values * self.sign > 0).astype(int)]
        ax.imshow(shade, origin="lower", extent=self.frame, aspect="auto", interpolation="nearest", zorder=0)
        drawn = levels[(levels > values.min()) & (levels < values.max())]
        if drawn.size and self.loss != "zero-one":  # that one has no slope: its one step is the line f = 0
            lines = ax.contour(u, v, values, drawn, colors="0.25", linewidths=0.9, linestyles="solid", zorder=2)
            for text in ax.clabel(lines, fmt="%g", fontsize=8, inline=False):
                text.set_bbox(style.BOX)
        look: style.Look = {"colors": "black", "linewidths": 2.0, "linestyles": [style.LOOSE_DASH], "zorder": 2.5}
        ax.add_collection(LineCollection(self.boundary, **look, label="boundary f = 0"))
        self.points.plot_in(ax, self.view, self.frame)

    def describe(self) -> str:
        values = self.field.values
        what = {"score": "score f(x)", "margin": f"margin y f(x) of a sample of {self.label}"}.get(
            self.show, f"{self.loss.replace('_', ' ')} loss of a sample of {self.label}"
        )
        paid = f" The samples of {self.label} pay {self.paid:.4g} together." if self.show == "loss" else ""
        return (
            f"The {what} by the {self.model} over the plane, from {values.min():.3g} to {values.max():.3g}."
            f"{paid} {self.points.describe()}."
        )


def _loss(solution: Solution, loss: str | Loss | None) -> Loss:
    if isinstance(loss, Loss):
        return loss
    known: dict[str, Loss] = {"zero-one": ZeroOne(), **BY_NAME}
    name = loss_of(solution) if loss is None else loss
    if name not in known:
        raise ValueError(f"loss is {name!r}: choose one of {', '.join(map(repr, known))}, or give a Loss")
    return known[name]


def _levels(values: Array) -> Array:
    """Whole numbers on both sides of 0, as far as the values go; where these are large, every second, third and so on;
    where they are small, parts."""
    largest = float(np.abs(values).max())
    step = float(np.ceil(largest / MAX_LEVELS)) if largest > 1.0 else largest / MAX_LEVELS
    return np.linspace(-MAX_LEVELS, MAX_LEVELS, 2 * MAX_LEVELS + 1) * float(step or 1.0)
