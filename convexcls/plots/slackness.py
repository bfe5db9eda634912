"""Complementary slackness: of multiplier and slack one is zero, so every point lies on an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point
from convexcls.plots.points import evenly
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: Of each constraint so many rows are shown: the largest multipliers, and others evenly spread.
MOST_SHOWN = 1500


@dataclass(eq=False)
class SlacknessDisplay(Display):
    """For each row of the inequalities its ``slack`` (how far it is from being tight) and its ``multiplier``, by the
    name of the constraint. ``products`` has the largest |multiplier_i slack_i| of each.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0], [2], [5]], [0, 1, 1]).solve()
    >>> display = cc.plots.SlacknessDisplay.from_solution(s)
    >>> bool(display.products["margin"] < 1e-12), float(display.slack["margin"][2].round(6))
    (True, 3.0)
    """

    kind: ClassVar[str] = "slackness"
    heading: ClassVar[str] = "Complementary slackness of {0.model}"

    slack: Mapping[str, Array]
    multiplier: Mapping[str, Array]
    products: Mapping[str, float]
    model: str

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """All inequalities of the problem, whatever model or problem of your own it is."""
        check_point(solution, "multipliers")
        assert solution.x is not None
        problem, slack, multiplier = solution.problem, {}, {}
        for c in problem.constraints:
            if c.relation == "<=" and c.name in solution.multipliers:
                slack[c.name] = c.rhs - problem.rows(c) @ solution.x
                multiplier[c.name] = solution.multipliers[c.name]
        if not slack:
            raise NoAnswer(f"the {problem.name} has no inequalities: there is no complementary slackness to see")
        products = {name: float(np.abs(slack[name] * multiplier[name]).max(initial=0.0)) for name in slack}
        return cls(slack, multiplier, products, problem.name)

    def draw(self, ax: Axes) -> None:
        shown = total = 0
        for k, name in enumerate(self.slack):
            rows = self._rows(name)
            shown, total = shown + rows.size, total + self.slack[name].size
            colour, marker = style.class_style(k).values()
            look: style.Look = {"s": 34, "facecolors": colour, "edgecolors": style.EDGE, "linewidths": 0.6}
            if k:
                look = {"s": 46, "facecolors": "none", "edgecolors": colour, "linewidths": 1.4}
            label = f"{style.plain(name)}: products {_below(self.products[name])}"
            x, y = self.slack[name][rows], self.multiplier[name][rows]
            ax.scatter(x, y, marker=marker, **look, zorder=3, clip_on=False, label=label)
        for line in (ax.axhline, ax.axvline):
            line(0.0, color="black", linewidth=1.0, zorder=1)
        ax.margins(0.06)
        thin = f"\n{shown:,} of {total:,} rows shown" if shown < total else ""
        ax.set_xlabel(f"slack: how far the constraint is from being tight{thin}")
        ax.set_ylabel("multiplier")

    def _rows(self, name: str) -> Indices:
        order = np.argsort(-np.abs(self.multiplier[name]), kind="stable")
        if order.size <= MOST_SHOWN:
            return order
        half = MOST_SHOWN // 2
        return np.concatenate([order[:half], evenly(order[half:], half)])

    def describe(self) -> str:
        told = []
        for name, slack in self.slack.items():
            held = np.abs(self.multiplier[name]) / (float(np.abs(self.multiplier[name]).max(initial=0.0)) or 1.0)
            away = np.abs(slack) / (float(np.abs(slack).max(initial=0.0)) or 1.0)
            tight = int(np.sum(held > away))
            told.append(
                f"{name}: {style.counted(slack.size, 'row')}, {tight:,} with a multiplier and no slack, the largest "
                f"product of both {self.products[name]:.1e}"
            )
        return f"Multiplier against slack, every point on an axis. {'; '.join(told)}."


def _below(largest: float) -> str:
    return f"up to {largest:.0e}" if largest else "all 0"
