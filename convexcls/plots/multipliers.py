"""The multipliers by sample, as bars, with the box that holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import box, sample_multipliers
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: More bars than this cannot be told apart: then only the largest multipliers are shown.
MOST_BARS = 60
#: At a bound to this fraction of it, a multiplier counts as at it.
AT_BOUND = 1e-6


@dataclass(eq=False)
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
        if data.n > MOST_BARS:
            largest = np.argsort(-np.abs(alpha[nonzero]), kind="stable")[:MOST_BARS]
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
            ax.bar(places[chosen], self.alpha[chosen], width=0.75, **look, **edge, label=name)
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
        told = ", ".join(f"row {self.rows[k]}: {self.alpha[k]:.4g}" for k in largest if self.alpha[k])
        held = "" if self.box is None else f" {style.counted(self.at_bound, 'of them is', '')} at the upper bound."
        held = held.replace("is at", "are at") if self.at_bound != 1 else held
        most = f" The largest are {told}." if told else ""
        return f"{self.positive:,} of {style.counted(self.n, 'sample')} have a multiplier that is not 0.{held}{most}"
