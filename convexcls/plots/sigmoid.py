"""The sigmoid: the probability as a function of the log-odds, with the samples and a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, shown_samples
from convexcls.plots.points import thinned
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: The axis goes at least so far on both sides: there the probabilities are 0.02 and 0.98.
LEAST_REACH = 4.0
#: The lines of several samples at one place lie this far apart.
LIFTED = 0.025


@dataclass(eq=False, repr=False)
class SigmoidDisplay(Display):
    """p(f) = 1/(1 + exp(-f)) over the score f(x), the log-odds of the second class. Samples stand at their scores,
    those of the second class at 1 and those of the first at 0. ``threshold`` is T, ``cut`` the score log(T/(1 - T)) at
    which the probability is T: above it the second class is predicted. ``wrong`` are the rows on the wrong side of it.

    ``scores`` and ``classes`` are those of all samples, ``rows`` which of these are drawn.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0], [1], [2], [3]], ["no", "yes", "no", "yes"], l2=1.0).solve()
    >>> display = cc.plots.SigmoidDisplay.from_solution(s, threshold=0.75)
    >>> round(display.cut, 6), display.wrong.tolist()  # log 3
    (1.098612, [1, 3])
    """

    kind: ClassVar[str] = "sigmoid"

    scores: Array
    classes: Indices
    rows: Indices
    labels: tuple[Any, ...]
    threshold: float
    cut: float
    wrong: Indices
    model: str

    @classmethod
    def of(cls, solution: Solution, X: Any = None, y: Any = None, *, threshold: float = 0.5) -> Self:
        """The sigmoid with the training samples, or with other samples ``X`` and ``y``; above the probability
        ``threshold`` the second class is predicted."""
        check_point(solution, "probabilities")
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"threshold is {threshold!r}: give a probability between 0 and 1, such as 0.5")
        shown = shown_samples(solution, X, y)
        if len(shown.labels) != 2:
            raise NoAnswer(f"the sigmoid is of two classes; there are {len(shown.labels)}")
        chances = solution.predict_proba(shown.samples)[:, 1]  # refuses where there are none
        scores = solution.decision_function(shown.samples)
        wrong = np.flatnonzero((chances > threshold) != (shown.classes == 1))
        cut = float(np.log(threshold) - np.log1p(-threshold))
        rows, name = thinned(shown.classes, wrong), solution.problem.name
        return cls(scores, shown.classes, rows, shown.labels, threshold, cut, wrong, name)

    @property
    def title(self) -> str:
        return f"Sigmoid of {style.plain(self.model, 50)}, T = {self.threshold:.4g}"

    def draw(self, ax: Axes) -> None:
        reach = max(LEAST_REACH, float(np.abs(self.scores).max(initial=0.0)) * 1.08, abs(self.cut) + 1.0)
        f = np.linspace(-reach, reach, 401)
        second = style.plain(self.labels[1], 20)
        ax.axhline(0.0, **style.ZERO)
        ax.axhline(1.0, **style.ZERO)
        ax.axvspan(self.cut, reach, color=style.pale(1), zorder=0, linewidth=0, label=f"predicted {second}: p > T")
        ax.plot(f, np.exp(-np.logaddexp(0.0, -f)), color="black", linewidth=2.0, zorder=2, label="p = 1/(1 + exp(−f))")
        ax.plot([-reach, self.cut], [self.threshold] * 2, **style.HYPERPLANE, label=f"T = {self.threshold:.4g}")
        ax.axvline(self.cut, **style.THRESHOLD, label=f"f = log(T/(1 − T)) = {self.cut:.3g}")
        places = _beside(self.scores, self.classes, self.rows, 2 * reach)
        for k, label in enumerate(self.labels):
            chosen = self.classes[self.rows] == k
            many = chosen.sum() > style.MAX_VECTOR_MARKERS
            look: style.Look = {"s": 30, "edgecolors": style.EDGE, "linewidths": 0.5, "zorder": 3, "rasterized": many}
            name = f"{style.plain(label)}, drawn at {k} ({int((self.classes == k).sum()):,})"
            ax.scatter(self.scores[self.rows[chosen]], places[chosen], **style.class_style(k), **look, label=name)
        if self.wrong.size:
            seen = np.isin(self.rows, self.wrong)
            name = f"misclassified at T ({self.wrong.size:,})"
            look = {"s": 100, "linewidths": 1.5, **style.MISTAKE}
            ax.scatter(self.scores[self.rows[seen]], places[seen], **look, label=name)
        ax.set_xlim(-reach, reach)
        ax.set_ylim(min(-0.08, float(places.min(initial=0.0)) - 0.05), max(1.08, float(places.max(initial=0.0)) + 0.05))
        ax.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
        ax.set_xlabel("score f(x), the log-odds")
        ax.set_ylabel(f"p, the probability of {second}")

    def describe(self) -> str:
        first, second = self.labels
        errors = [int((self.classes[self.wrong] == k).sum()) for k in (0, 1)]
        return (
            f"The probability of {second} by the {self.model} as a function of the score f(x): an S from 0 to 1, 1/2 "
            f"at f = 0. The {style.counted(self.scores.size, 'sample')} stand at their scores, {first} at 0 and "
            f"{second} at 1. At the threshold T = {self.threshold:.4g}, that is f = {self.cut:.3g}, "
            f"{errors[0]:,} of {first} are taken for {second}, and {errors[1]:,} of {second} for {first}."
        )


def _beside(scores: Array, classes: Indices, rows: Indices, width: float) -> Array:
    """Heights near 0 and 1, by class, at which samples with nearly the same score stand above (or below) each other."""
    places = np.floor(scores[rows] / (width / 70)).astype(np.int64)
    heights = np.empty(rows.size)
    for k in (0, 1):
        chosen = np.flatnonzero(classes[rows] == k)
        _, cell, counts = np.unique(places[chosen], return_inverse=True, return_counts=True)
        order = np.argsort(cell, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        rank = np.empty(chosen.size)
        rank[order] = np.arange(chosen.size) - np.repeat(starts, counts)
        step = min(LIFTED, 0.4 / max(counts.max(initial=1), 1))
        heights[chosen] = k + (1 if k else -1) * step * rank
    return heights
