"""How well scores and probabilities tell two classes apart: the ROC curve, and calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point, shown_samples
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: Samples are put together in so many groups of equal size, fewer where there are few.
GROUPS, FEWEST_IN_A_GROUP = 10, 10


@dataclass(eq=False, repr=False)
class RocDisplay(Display):
    """The share of the second class that is found, over the share of the first that is mistaken for it, at every
    threshold of the score. ``auc`` is the area below.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0], [1], [2], [3]], [0, 1, 0, 1], l2=1.0).solve()
    >>> display = cc.plots.RocDisplay.from_solution(s)
    >>> display.auc, display.ax_.get_title()
    (0.75, 'ROC curve of logistic regression with ridge penalty, area 0.75')
    """

    kind: ClassVar[str] = "roc"
    heading: ClassVar[str] = "ROC curve of {0.model}, area {0.auc:.4g}"
    size: ClassVar[tuple[float, float]] = (5.4, 4.4)

    false_positives: Array
    true_positives: Array
    auc: float
    at_zero: tuple[float, float]
    label: str
    model: str

    @classmethod
    def of(cls, solution: Solution, X: Any = None, y: Any = None) -> Self:
        """The curve on the training samples, or on other samples ``X`` with labels ``y``."""
        scores, positive, label = _two_classes(solution, X, y, "ROC curve")
        order = np.argsort(-scores, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(scores[order])), scores.size - 1)  # ties are one step
        true = np.concatenate([[0.0], np.cumsum(positive[order])[ends] / positive.sum()])
        false = np.concatenate([[0.0], np.cumsum(~positive[order])[ends] / (~positive).sum()])
        auc = float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2.0))
        at_zero = (float(np.mean(scores[~positive] > 0)), float(np.mean(scores[positive] > 0)))
        return cls(false, true, auc, at_zero, label, solution.problem.name)

    def draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], **style.ZERO)
        ax.plot(self.false_positives, self.true_positives, color=style.class_style(0)["color"], linewidth=2.0)
        ax.plot(*self.at_zero, "o", color=style.EDGE, label="where f = 0")
        ax.set_xlabel("share of the others that are mistaken for it")
        ax.set_ylabel(f"share of {style.plain(self.label, 20)} that is found")
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal", adjustable="box")

    def describe(self) -> str:
        false, true = self.at_zero
        return (
            f"The ROC curve of the {self.model}: the area below is {self.auc:.4g}. At f = 0, {100 * true:.3g} % of "
            f"{self.label} are found, and {100 * false:.3g} % of the others are mistaken for it."
        )


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """Samples in groups of equal size by their probability: ``said`` is the mean probability of a group, ``found`` the
    share of the second class in it, ``counts`` its size.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0], [0], [1], [1]], [0, 1, 1, 1], l2=0.1).solve()
    >>> display = cc.plots.CalibrationDisplay.from_solution(s)
    >>> display.counts.tolist(), display.found.tolist()
    ([4], [0.75])
    """

    kind: ClassVar[str] = "calibration"
    heading: ClassVar[str] = "Calibration of {0.model}"
    size: ClassVar[tuple[float, float]] = (5.4, 4.4)

    said: Array
    found: Array
    counts: Indices
    label: str
    model: str

    @classmethod
    def of(cls, solution: Solution, X: Any = None, y: Any = None) -> Self:
        """The groups of the training samples, or of other samples ``X`` with labels ``y``."""
        scores, positive, label = _two_classes(solution, X, y, "calibration curve")
        chances = solution.problem.probabilities(scores)
        if chances is None:
            raise NoAnswer(f"the {solution.problem.name} has no probabilities to be compared with what is found")
        size = np.clip(scores.size // FEWEST_IN_A_GROUP, 1, GROUPS)
        groups = np.array_split(np.argsort(scores, kind="stable"), size)
        said, found = (np.array([values[rows].mean() for rows in groups]) for values in (chances[:, 1], positive))
        return cls(said, found, np.array([rows.size for rows in groups]), label, solution.problem.name)

    def draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], **style.ZERO)
        ax.plot(self.said, self.found, "o-", color=style.class_style(0)["color"], linewidth=1.5)
        ax.set_xlabel(f"probability of {style.plain(self.label, 20)}, mean of a group")
        ax.set_ylabel(f"share of {style.plain(self.label, 20)} in the group")
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal", adjustable="box")

    def describe(self) -> str:
        worst = int(np.argmax(np.abs(self.said - self.found)))
        groups = style.counted(self.counts.size, "group")
        return (
            f"Probabilities of {self.label} by the {self.model} beside the shares that are found, in {groups} of equal "
            f"size. They differ most where {self.said[worst]:.3g} is said and {self.found[worst]:.3g} is found."
        )


def _two_classes(solution: Solution, X: Any, y: Any, what: str) -> tuple[Array, Any, str]:
    """Scores, which samples are of the second class, and its label."""
    check_point(solution, what)
    shown = shown_samples(solution, X, y)
    if len(shown.labels) != 2:
        raise NoAnswer(f"a {what} is of two classes; there are {len(shown.labels)}")
    positive = shown.classes == 1
    if positive.all() or not positive.any():
        raise NoAnswer(f"a {what} needs samples of both classes")
    scores = solution.decision_function(shown.samples)
    return (scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0]), positive, str(shown.labels[1])
