"""The convex hulls of two classes: the shortest segment between them, or the point that they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.models import HardMarginSVM
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import Shown
from convexcls.plots.plane import Frame, View, choose_view, frame_of
from convexcls.plots.points import Points, set_frame, thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.solve import solve
from convexcls.wording import listed

#: More weights than this are not written beside their samples.
MAX_WEIGHTS_WRITTEN = 8


@dataclass(eq=False, repr=False)
class HullsDisplay(Display):
    """The convex hulls of the two classes in the plane of ``view``.

    ``hulls`` has the corners of each, one a row. ``weights`` are those of the convex combinations, by row; the
    combination of each class is a row of ``nearest``, in all features. Where the classes can be separated these are the
    nearest points of the hulls, ``distance`` apart, from the multipliers of the hard margin: alpha_i / sum alpha (the
    distance is 2/‖coef‖). Where they cannot, both are the point that the hulls share, from the Farkas vector.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [4, 0], [0, 4], [1, 1]], ["out", "out", "out", "in"]).solve()
    >>> display = cc.plots.HullsDisplay.from_solution(s)
    >>> display.separable, {row: str(weight) for row, weight in sorted(display.weights.items())}
    (False, {0: '1/2', 1: '1/4', 2: '1/4', 3: '1'})
    """

    kind: ClassVar[str] = "hulls"

    points: Points
    view: View
    frame: Frame
    hulls: tuple[Array, Array]
    weights: Mapping[int, float | Fraction]
    nearest: Array
    distance: float
    separable: bool

    @classmethod
    def of(cls, solution: Solution, *, features: tuple[Any, Any] | None = None) -> Self:
        """The hulls of a solution's training samples (of a basis: of its functions). The hard margin tells of them; of
        another model on the same samples it is solved."""
        hard = _hard_margin(solution)
        data, weights = hard.data, _weights(hard)
        classes, labels = data.grouping
        combined = np.array([_combination(data.matrix, classes, weights, k) for k in (0, 1)])
        support = np.array(sorted(weights), dtype=np.intp)
        rows = thinned(classes, support)
        coef = None if hard.x is None else hard.coef
        view = choose_view(data.matrix, data.features, coef, features, rows)
        everywhere = view.places(data.matrix, classes)
        shown = Shown(data.matrix, data.features, classes, labels)
        shares = np.array([float(weights[int(i)]) for i in support])
        words = "samples with weights, size by weight"
        points = Points.of(shown, rows, view, support=support, alpha=shares, rings=words)
        corners = (hull(everywhere[classes == 0]), hull(everywhere[classes == 1]))
        apart = float(np.linalg.norm(combined[1] - combined[0]))
        separable = hard.status == "optimal"
        return cls(points, view, frame_of(everywhere, view.is_line), corners, weights, combined, apart, separable)

    # ---- drawing and telling ----------------------------------------------------------------------

    @property
    def title(self) -> str:
        if self.separable:
            return f"Convex hulls of the classes, {self.distance:.4g} apart"
        return "Convex hulls of the classes, which meet"

    @property
    def ends(self) -> Array:
        """The two combinations in the plane of the picture, one a row."""
        return self.view.places(self.nearest, np.array([0, 1]))

    def draw(self, ax: Axes) -> None:
        for k, corners in enumerate(self.hulls):
            name, stroke = f"hull of {style.plain(self.points.labels[k])}", style.STROKES[k]
            ground: style.Look = {"facecolor": (*style.pale(k), 0.6), "edgecolor": style.class_style(k)["color"]}
            ax.fill(*corners.T, **ground, linestyle=stroke, linewidth=1.4, zorder=1, label=name)
        self.points.draw(ax)
        ends = self.ends
        if self.separable:
            apart = f"nearest points,\n{self.distance:.4g} apart"
            ax.plot(*ends.T, **style.NEAREST, label=apart)
            ax.plot(*self._bisector().T, **style.HYPERPLANE, label="optimal hyperplane")
        else:
            meeting = ends if self.view.is_line else ends[:1]
            ax.plot(*meeting.T, **style.MEETING, zorder=6, label="point of both hulls")
        if len(self.weights) <= MAX_WEIGHTS_WRITTEN:
            self._write_weights(ax)
        set_frame(ax, self.view, self.frame, self.points.labels, self.points.thinned)

    def _bisector(self) -> Array:
        """The line half-way between the nearest points, across the frame."""
        (a, b), (left, right, low, high) = self.ends, self.frame
        if self.view.is_line:
            return np.array([[(a[0] + b[0]) / 2, low], [(a[0] + b[0]) / 2, high]])
        along = np.array([-(b - a)[1], (b - a)[0]])
        along = along / (np.linalg.norm(along) or 1.0) * np.hypot(right - left, high - low)
        return np.array([(a + b) / 2 - along, (a + b) / 2 + along])

    def _write_weights(self, ax: Axes) -> None:
        """Beside the samples, outwards from their middle."""
        places = self.points.at(np.array(list(self.weights)))
        outwards = np.where(places >= places.mean(axis=0), 1, -1)
        for weight, place, (dx, dy) in zip(self.weights.values(), places, outwards, strict=True):
            where: style.Look = {"ha": "left" if dx > 0 else "right", "va": "bottom" if dy > 0 else "top"}
            shift = (10 * dx, 8 * dy)
            ax.annotate(_written(weight), place, xytext=shift, **where, **style.BESIDE, bbox=style.BOX)

    def describe(self) -> str:
        shares = (f"row {i}: {_written(w)}" for i, w in self.weights.items())
        samples = f"{self.points.n:,} samples in two classes, {' and '.join(map(str, self.points.labels))}"
        if self.separable:
            described = f"Their convex hulls are {self.distance:.4g} apart: nearest are the combinations"
        else:
            described = "Their convex hulls meet, so that no line separates them: the same point are the combinations"
        return f"{samples}. {described} with the weights {listed(shares, MAX_WEIGHTS_WRITTEN, ', and {} more')}."


def _hard_margin(solution: Solution) -> Solution:
    """The solution itself where it is a hard margin, else that of the hard margin on the same samples."""
    data = solution.data
    if data.labels is None or len(data.labels) != 2:
        raise NoAnswer(f"the {solution.problem.name} has not two classes: hulls are drawn of two")
    if not solution.problem.parameters.get("intercept", True):
        raise NoAnswer("without an intercept it is not the hulls of the classes that have to be apart")
    found = solution
    if solution.problem.kind != HardMarginSVM.kind:
        if solution.problem.kernel is not None and solution.problem.kernel.kind != "linear":
            raise NoAnswer("a kernel separates in its own space: the hulls of the samples tell nothing of it")
        found = solve(HardMarginSVM(data.samples, data.given))
    if found.status not in ("optimal", "infeasible"):
        raise NoAnswer(f"whether the hulls meet is {found.status}: {found.certificate.reason or found.message}")
    return found


def _weights(hard: Solution) -> dict[int, float | Fraction]:
    """Weights of a convex combination of each class, by row; as rationals where they are known."""
    classes, _ = hard.data.grouping
    proof = hard.certificate.farkas
    if hard.status == "optimal":
        found: dict[int, Any] = {int(i): float(hard.multipliers["margin"][i]) for i in hard.support}
    elif proof is not None and proof.exactly is not None and "margin" in proof.exactly:
        found = dict(proof.exactly["margin"])
    else:
        assert proof is not None
        found = {int(i): float(proof.multipliers["margin"][i]) for i in np.flatnonzero(proof.multipliers["margin"])}
    totals = [sum(value for i, value in found.items() if classes[i] == k) for k in (0, 1)]
    return {i: value / totals[classes[i]] for i, value in sorted(found.items())}


def _combination(samples: Any, classes: Indices, weights: Mapping[int, float | Fraction], k: int) -> Array:
    rows = [i for i in weights if classes[i] == k]
    return np.asarray(np.array([float(weights[i]) for i in rows]) @ samples[rows], dtype=float).ravel()


def hull(places: Array) -> Array:
    """The corners of the convex hull, against the clock (Andrew's monotone chain): also of one point, or on a line."""
    ordered = np.unique(places, axis=0)
    if len(ordered) <= 2:
        return ordered
    lower, upper = _chain(ordered.tolist()), _chain(ordered[::-1].tolist())
    return np.array(lower[:-1] + upper[:-1])


def _chain(places: list[list[float]]) -> list[list[float]]:
    out: list[list[float]] = []
    for x, y in places:
        while len(out) >= 2:
            (ax, ay), (bx, by) = out[-2], out[-1]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                break
            out.pop()
        out.append([x, y])
    return out


def _written(weight: float | Fraction) -> str:
    """A weight as a fraction where it is a short one."""
    if isinstance(weight, Fraction) and weight.denominator < 1000:
        return str(weight)
    return f"{float(weight):.3g}"
