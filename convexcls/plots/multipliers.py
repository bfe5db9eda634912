"""The multipliers by sample, as bars, with the box that holds them. And complementary slackness: of multiplier and
slack one is zero, so every point lies on an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import box, check_point, sample_multipliers
from convexcls.plots.points import evenly
from convexcls.plots.tooltips import tell
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: More bars than this cannot be told apart: then only the largest multipliers are shown.
MAX_BARS = 60
#: At a bound to this fraction of it, a multiplier counts as at it.
AT_BOUND = 1e-6


@dataclass(eq=False, repr=False)
class MultipliersDisplay(Display):
    """alpha_i for the samples ``rows``, out of ``n``, of which ``positive`` have one that is not 0. ``box`` has their
    upper bounds C times weight, None where there is none.

    ``at_bound`` is how many of all samples have reached their bound.

    >>> import convexcls as cc
    >>> s = cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1], C=1.0).solve()
    >>> display = cc.plots.MultipliersDisplay.from_solution(s)
    >>> display.positive, display.at_bound, display.alpha.round(6).tolist()
    (4, 2, [0.555556, 1.0, 1.0, 0.555556])
    """

    kind: ClassVar[str] = "multipliers"
    heading: ClassVar[str] = "Multipliers of {0.model}"

    rows: Indices
    alpha: Array
    box: Array | None
    classes: Indices | None
    labels: tuple[Any, ...]
    n: int
    positive: int
    at_bound: int
    model: str

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """The multipliers of the samples' margins (of absolute deviations: of their residuals)."""
        alpha, bound, data = sample_multipliers(solution), box(solution), solution.data
        if not np.all(np.isfinite(alpha)):
            raise NoAnswer(f"the multipliers of the {solution.problem.name} are not all finite numbers")
        nonzero = solution.support if solution.support.size else np.flatnonzero(alpha)
        rows = np.arange(data.n)
        if data.n > MAX_BARS:
            largest = np.argsort(-np.abs(alpha[nonzero]), kind="stable")[:MAX_BARS]
            rows = np.sort(nonzero[largest])
        full = 0 if bound is None else int(np.sum(np.abs(alpha) >= (1 - AT_BOUND) * bound) - np.sum(bound == 0))
        bounds = None if bound is None else bound[rows]
        classes = None if data.classes is None else data.classes[rows]
        how_many = (data.n, int(nonzero.size), full)
        return cls(rows, alpha[rows], bounds, classes, data.labels or (), *how_many, solution.problem.name)

    def draw(self, ax: Axes) -> None:
        places = np.arange(self.rows.size)
        classes = np.zeros(self.rows.size, dtype=np.intp) if self.classes is None else self.classes
        for k in range(max(len(self.labels), 1)):
            chosen = classes == k
            name = f"α of {style.plain(self.labels[k])}" if self.labels else "α"
            look: style.Look = {"color": style.class_style(k)["color"], "hatch": style.HATCHES[k % 8] if k else ""}
            edge: style.Look = {"edgecolor": style.EDGE, "linewidth": 0.6, "zorder": 2}
            bars = ax.bar(places[chosen], self.alpha[chosen], width=0.75, **look, **edge, label=name)
            for bar, row, alpha in zip(bars, self.rows[chosen], self.alpha[chosen], strict=True):
                tell(bar, [f"row {row}: α = {alpha:.4g}"])
        if self.box is not None:
            for sign in (1, -1) if np.any(self.alpha < 0) else (1,):
                name = f"upper bound ({self.at_bound:,} at it)" if sign > 0 else ""
                ax.hlines(sign * self.box, places - 0.45, places + 0.45, **style.BOUND, label=name)
        ax.axhline(0.0, **style.ZERO)
        every = max(1, -(-self.rows.size // 24))
        ax.set_xticks(places[::every], [str(row) for row in self.rows[::every]], rotation=0 if self.n <= 100 else 60)
        ax.set_xlim(-0.8, max(self.rows.size, 1) - 0.2)
        shown = f", the {self.rows.size} largest of {self.positive:,}" if self.positive > self.rows.size else ""
        ax.set_xlabel("sample (row)" if self.rows.size == self.n else f"sample (row) with α not 0{shown}")
        ax.set_ylabel("multiplier α")

    def describe(self) -> str:
        largest = sorted(range(self.rows.size), key=lambda k: -abs(self.alpha[k]))[:5]
        described = ", ".join(f"row {self.rows[k]}: {self.alpha[k]:.4g}" for k in largest if self.alpha[k])
        held = "" if self.box is None else f" {style.counted(self.at_bound, 'of them is', '')} at the upper bound."
        held = held.replace("is at", "are at") if self.at_bound != 1 else held
        most = f" The largest are {described}." if described else ""
        return f"{self.positive:,} of {style.counted(self.n, 'sample')} have a multiplier that is not 0.{held}{most}"


# ---- complementary slackness --------------------------------------------------------------------------


#: Of each constraint so many rows are shown: the largest multipliers, and others evenly spread.
MAX_ROWS_SHOWN = 1500


@dataclass(eq=False, repr=False)
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
            largest = self.products[name]
            label = f"{style.plain(name)}: products {f'up to {largest:.0e}' if largest else 'all 0'}"
            x, y = self.slack[name][rows], self.multiplier[name][rows]
            marks = ax.scatter(x, y, marker=marker, **look, zorder=3, clip_on=False, label=label)
            said = zip(rows.tolist(), x.tolist(), y.tolist(), strict=True)
            tell(marks, [f"{name} row {row}: multiplier {b:.4g}, slack {a:.4g}" for row, a, b in said])
        for line in (ax.axhline, ax.axvline):
            line(0.0, color="black", linewidth=1.0, zorder=1)
        ax.margins(0.06)
        thin = f"\n{shown:,} of {total:,} rows shown" if shown < total else ""
        ax.set_xlabel(f"slack: how far the constraint is from being tight{thin}")
        ax.set_ylabel("multiplier")

    def _rows(self, name: str) -> Indices:
        order = np.argsort(-np.abs(self.multiplier[name]), kind="stable")
        if order.size <= MAX_ROWS_SHOWN:
            return order
        half = MAX_ROWS_SHOWN // 2
        return np.concatenate([order[:half], evenly(order[half:], half)])

    def describe(self) -> str:
        described = []
        for name, slack in self.slack.items():
            held = np.abs(self.multiplier[name]) / (float(np.abs(self.multiplier[name]).max(initial=0.0)) or 1.0)
            away = np.abs(slack) / (float(np.abs(slack).max(initial=0.0)) or 1.0)
            tight = int(np.sum(held > away))
            described.append(
                f"{name}: {style.counted(slack.size, 'row')}, {tight:,} with a multiplier and no slack, the largest "
                f"product of both {self.products[name]:.1e}"
            )
        return f"Multiplier against slack, every point on an axis. {'; '.join(described)}."
