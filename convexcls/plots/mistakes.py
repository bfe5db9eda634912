"""Why the zero-one loss is not minimised: the count of mistakes along a line of classifiers is not convex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import BY_NAME
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, linear_coef
from convexcls.plots.losses import called, loss_of
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: Places on a line, an odd number, so that the solution is one of them.
PLACES = 401
#: So many products are spent on one picture.
BUDGET = 1e8
#: Directions that are tried where none is given, besides those of the unknowns.
TRIED = 16


@dataclass(eq=False, repr=False)
class MistakesDisplay(Display):
    """The zero-one loss along a line of classifiers: ``counts`` are the mistakes of the coefficients solution +
    t direction, for t in ``t``; ``losses`` the sum of a convex loss there, by the name ``surrogate``. ``chord`` are
    three places among ``t``: at the middle one there are more mistakes than on the straight line between the others
    (``excess`` more), which no convex function does. Between its steps the count is flat: its slope says nothing.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0], [1], [2], [3], [4]], [0, 1, 0, 1, 1], l2=0.1).solve()
    >>> display = cc.plots.MistakesDisplay.from_solution(s)
    >>> left, middle, right = display.counts[display.chord]
    >>> bool(middle > max(left, right)) or display.excess > 0
    True
    """

    kind: ClassVar[str] = "mistakes"
    on_request: ClassVar[bool] = True
    heading: ClassVar[str] = "The zero-one loss is not convex, the {0.words} loss is"

    t: Array
    counts: Array
    losses: Array
    surrogate: str
    chord: Array
    excess: float
    n: int
    model: str

    @classmethod
    def of(cls, solution: Solution, *, direction: Any = None) -> Self:
        """Along a line through the solution; ``direction`` is over coef and intercept, by default one along which the
        count rises most above a chord."""
        check_point(solution, "mistakes")
        coef = linear_coef(solution)
        if solution.data.signs is None or coef is None or coef.ndim != 1:
            raise NoAnswer(f"the {solution.problem.name} has no line of classifiers: these are linear, of two classes")
        try:
            surrogate = loss_of(solution)
        except NoAnswer:
            surrogate = "hinge"
        w = np.append(coef, float(solution.intercept) - solution.problem.threshold)
        lines = _directions(w) if direction is None else [_given(direction, w.size)]
        reach = 2.0 * (float(np.linalg.norm(w)) or 1.0)
        cost = solution.data.n * PLACES
        lines = lines[: int(np.clip(BUDGET / cost, 1, len(lines)))]
        t = np.linspace(-reach, reach, PLACES)
        scores = np.asarray(solution.data.matrix @ w[:-1], dtype=float) + w[-1]
        signs, weights = solution.data.signs, solution.data.weights
        best: tuple[float, Array, Array, Array] | None = None
        for line in lines:
            moved = np.asarray(solution.data.matrix @ line[:-1], dtype=float) + line[-1]
            counts = _counts(signs * scores, signs * moved, weights, t)
            excess, chord = _above_a_chord(t, counts)
            if best is None or excess > best[0] + 1e-9:
                best = excess, chord, counts, moved
        assert best is not None
        excess, chord, counts, moved = best
        loss = BY_NAME[surrogate]
        losses = np.array([float(weights @ loss.value(signs * (scores + step * moved))) for step in t])
        return cls(t, counts, losses, surrogate, chord, excess, solution.data.n, solution.problem.name)

    @property
    def words(self) -> str:
        """The convex loss, in words."""
        return called(self.surrogate)

    def draw(self, ax: Axes) -> None:
        top = float(self.counts.max())
        ax.plot(
            self.t, self.losses, **style.line_style(1), linewidth=1.6, label=f"sum of the {self.words} loss", zorder=2
        )
        ax.step(self.t, self.counts, where="mid", color="black", linewidth=2.0, label="mistakes: the zero-one loss")
        ends = self.chord[[0, 2]]
        if self.excess > 0:
            ax.plot(self.t[ends], self.counts[ends], **style.CHORD, label="chord: a convex function stays below it")
            middle = int(self.chord[1])
            foot = float(np.interp(self.t[middle], self.t[ends], self.counts[ends]))
            at = [self.t[middle]] * 2
            ax.plot(
                at, [foot, self.counts[middle]], **style.EXCESS, label=f"{self.excess:.3g} mistakes above the chord"
            )
        lowest = int(np.argmin(self.losses))
        ax.plot(self.t[lowest], self.losses[lowest], "o", **style.SOLUTION, label="the convex loss has one valley")
        ax.set_ylim(-0.04 * top, 1.25 * max(top, float(self.losses[lowest])))
        ax.set_xlim(self.t[0], self.t[-1])
        ax.set_xlabel("distance t from the solution, along a line of classifiers")
        ax.set_ylabel(f"mistakes among {self.n:,} samples, or loss")

    def describe(self) -> str:
        left, middle, right = (int(k) for k in self.chord)
        chord = (
            f"At t = {self.t[left]:.3g} there are {self.counts[left]:g} mistakes, at {self.t[right]:.3g} "
            f"{self.counts[right]:g}, and between them, at {self.t[middle]:.3g}, {self.counts[middle]:g}: "
            f"{self.excess:.3g} more than on the chord. A convex function has none above it."
            if self.excess > 0
            else "Along this line the count stays below every chord: another line shows that it is not convex."
        )
        return (
            f"The mistakes of the classifiers on a line through the {self.model}, beside the sum of the {self.words} "
            f"loss, which is convex. {chord} Between its steps the count is flat: no slope tells a solver where to go."
        )


def _counts(margins: Array, moved: Array, weights: Array, t: Array) -> Array:
    """The weight of the samples with margin + t moved <= 0, at each t."""
    return np.array([float(weights[margins + step * moved <= 0.0].sum()) for step in t])


def _above_a_chord(t: Array, counts: Array) -> tuple[float, Array]:
    """Three places, the middle one as far as possible above the chord between the others: it is farthest above the
    lower convex hull of the counts, and the others are the corners of the hull on its two sides."""
    hull: list[int] = []
    for k in range(t.size):
        while len(hull) > 1:
            i, j = hull[-2:]
            if (counts[j] - counts[i]) * (t[k] - t[i]) < (counts[k] - counts[i]) * (t[j] - t[i]):
                break
            hull.pop()
        hull.append(k)
    above = counts - np.interp(t, t[hull], counts[hull])
    middle = int(np.argmax(above))
    right = int(np.searchsorted(hull, middle, side="right"))
    ends = hull[max(right - 1, 0)], hull[min(right, len(hull) - 1)]
    return float(above[middle]), np.array([ends[0], middle, ends[1]], dtype=np.intp)


def _directions(w: Array) -> list[Array]:
    rng = np.random.default_rng(0)
    lines = [*np.eye(w.size)[-1::-1][: TRIED // 2], *rng.normal(size=(TRIED, w.size))]
    return [line / np.linalg.norm(line) for line in lines]


def _given(direction: Any, size: int) -> Array:
    line = np.asarray(direction, dtype=float)
    if line.shape != (size,) or not np.any(line) or not np.all(np.isfinite(line)):
        raise ValueError(f"direction has the shape {line.shape}: give {size} numbers, over coef and intercept")
    return np.asarray(line / np.linalg.norm(line))
