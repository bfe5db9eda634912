"""A path as a picture: every coefficient against the parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.problem import NoAnswer
from convexcls.studies.paths import Path

Against = Literal["log", "linear", "norm"]
AGAINST: tuple[Against, ...] = ("log", "linear", "norm")
#: More lines than this have no names beside them.
MAX_NAMED = 20


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """``coef`` has a row a value of the parameter, in rising order of the ``values``, and a column a coefficient;
    ``places`` is where they are drawn, ``statuses`` the verdicts.

    >>> import convexcls as cc
    >>> path = cc.path(cc.LeastSquares, [[0], [1], [2]], [0, 0, 3], l2=[1.0, 4.0], coding="real")
    >>> display = cc.plots.PathDisplay.from_path(path)
    >>> display.coef.round(6).tolist(), display.ax_.get_xscale()
    ([[1.0], [0.5]], 'log')
    """

    kind: ClassVar[str] = "path"
    heading: ClassVar[str] = "{0.model} along {0.parameter}"

    values: Array
    places: Array
    coef: Array
    names: tuple[str, ...]
    statuses: tuple[str, ...]
    parameter: str
    against: Against
    model: str

    @classmethod
    def of(cls, path: Path, *, against: Against = "log") -> Self:
        """Against the logarithm of the parameter, the parameter, or the norm of coef."""
        if against not in AGAINST:
            raise ValueError(f"against is {against!r}: choose one of {', '.join(map(repr, AGAINST))}")
        order = np.argsort(path.values)
        coef = path.coef.reshape(len(path), -1)[order]
        if not coef.shape[1]:
            raise NoAnswer(f"no point of this path has a solution: they are {', '.join(sorted(set(path.statuses)))}")
        places = np.linalg.norm(coef, axis=1) if against == "norm" else path.values[order]
        statuses = tuple(path.statuses[k] for k in order)
        name = path.solutions[0].problem.name
        return cls(
            path.values[order], places, coef, _names(path, coef.shape[1]), statuses, path.parameter, against, name
        )

    @classmethod
    def from_path(cls, path: Path, *, ax: Axes | None = None, against: Against = "log") -> Self:
        """The coefficients along a path, drawn into ``ax`` (a new one by default)."""
        return cls.of(path, against=against).plot(ax)

    def draw(self, ax: Axes) -> None:
        named = len(self.names) <= MAX_NAMED
        for k, name in enumerate(self.names):
            label = style.plain(name) if named else "_"
            look = style.line_style(k) | style.marked(k, 4)
            ax.plot(self.places, self.coef[:, k], **look, linewidth=1.3, label=label)
        ax.axhline(0.0, color=style.FAINT, linewidth=0.7, zorder=0)
        self._mark_what_is_not_proved(ax)
        ax.set_ylabel("coefficient")
        ax.set_xlabel("norm of the coefficients" if self.against == "norm" else self.parameter)
        positive = self.places[self.places > 0]
        if self.against == "log" and positive.size:
            if np.any(self.places == 0):  # no penalty at all has a place, too
                ax.set_xscale("symlog", linthresh=float(positive.min()), linscale=0.5)
                ax.set_xlim(-0.3 * float(positive.min()), 1.3 * float(positive.max()))
            else:
                ax.set_xscale("log")

    def _mark_what_is_not_proved(self, ax: Axes) -> None:
        for place, row, status in zip(self.places, self.coef, self.statuses, strict=True):
            if status == "undecided":
                ax.plot(np.full(row.size, place), row, "x", color="black", markersize=8)
            elif status != "optimal" and np.isfinite(place):
                ax.axvline(place, color="0.3", linewidth=0.9, linestyle=":")
                ax.annotate(status, (place, 0.98), xycoords=("data", "axes fraction"), **style.STATUS)

    def describe(self) -> str:
        first, last = self.values[0], self.values[-1]
        norms = np.linalg.norm(self.coef, axis=1)
        lost = [f"{v:g} ({s})" for v, s in zip(self.values, self.statuses, strict=True) if s != "optimal"]
        unproved = f" Without a proved solution: {', '.join(lost)}." if lost else ""
        return (
            f"{style.counted(len(self.names), 'coefficient')} of the {self.model} for {self.values.size} values of "
            f"{self.parameter} from {first:g} to {last:g}; their norm is between {np.nanmin(norms):.4g} and "
            f"{np.nanmax(norms):.4g}.{unproved}"
        )


def _names(path: Path, count: int) -> tuple[str, ...]:
    data = path.solutions[0].data
    if count == data.d:
        return data.features
    return tuple(f"{feature} ({label})" for label in data.labels or () for feature in data.features)
