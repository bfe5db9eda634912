"""The losses as functions of the margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import BY_NAME, Loss, SoftmaxMargins, ZeroOne
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point
from convexcls.plots.points import evenly
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: How the losses are written in the legend, in the order of the source.
FORMULAS = {
    "zero-one": "1[m ≤ 0]",
    "perceptron": "max(0, −m)",
    "hinge": "max(0, 1 − m)",
    "squared_hinge": "max(0, 1 − m)²",
    "squared": "(1 − m)²",
    "absolute": "|1 − m|",
    "logistic": "log(1 + exp(−m))",
    "exponential": "exp(−m)",
    "softmax": "log(1 + 2 exp(−m))",
}
MOST_TICKS = 400


@dataclass(eq=False)
class LossesDisplay(Display):
    """``values[name]`` is the loss of that name at the ``margins``; ``own`` the one that a model minimises, with the
    margins y_i f(x_i) of its ``samples``.

    >>> import convexcls as cc
    >>> display = cc.plots.LossesDisplay.from_losses([cc.losses.Hinge(), cc.losses.Logistic()])
    >>> at_one = display.margins == 1.0
    >>> {name: values[at_one].round(4).tolist() for name, values in display.values.items()}
    {'hinge': [0.0], 'logistic': [0.3133]}
    """

    kind: ClassVar[str] = "losses"

    margins: Array
    values: Mapping[str, Array]
    own: str = ""
    samples: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """All losses, with that of the solution's model drawn boldly and the margins of its samples below."""
        own = _loss_of(solution)
        if solution.data.signs is None:
            raise NoAnswer(f"the {solution.problem.name} has no margins y_i f(x_i): these need two classes")
        check_point(solution, "margins")
        low, high = np.quantile(solution.margins, [0.0, 1.0])
        reach = float(np.clip(low, -6.0, -2.0)), float(np.clip(high, 3.0, 8.0))
        out = cls.of_losses(reach=reach)
        return cls(out.margins, out.values, own, solution.margins)

    @classmethod
    def of_losses(cls, losses: Sequence[Loss] | None = None, reach: tuple[float, float] = (-2.0, 3.0)) -> Self:
        """Losses over a range of margins: by default all of the source."""
        margins = np.union1d(np.linspace(*reach, 501), [0.0, 1.0])
        if losses is not None:
            return cls(margins, {loss.name: loss.value(margins) for loss in losses})
        known: dict[str, Loss] = {"zero-one": ZeroOne(), **BY_NAME}
        values = {name: known[name].value(margins) for name in FORMULAS if name in known}
        values["softmax"] = SoftmaxMargins(2).value(np.repeat(margins, 2))  # both other classes as far behind
        return cls(margins, values)

    @classmethod
    def from_losses(
        cls, losses: Sequence[Loss] | None = None, *, reach: tuple[float, float] = (-2.0, 3.0), ax: Axes | None = None
    ) -> Self:
        """The losses alone, drawn into ``ax``."""
        return cls.of_losses(losses, reach).plot(ax)

    @property
    def title(self) -> str:
        own = f", the {style.plain(self.own)} loss in bold" if self.own else ""
        return f"Losses as functions of the margin{own}"

    def draw(self, ax: Axes) -> None:
        for k, (name, values) in enumerate(self.values.items()):
            formula = f": {FORMULAS[name].replace(' ', style.NO_BREAK)}" if name in FORMULAS else ""
            m, v = self.margins, values
            if name == "zero-one":  # it jumps, rather than climbs
                at = int(np.searchsorted(m, 0.0, side="right"))
                m, v = np.insert(m, at, np.nan), np.insert(v, at, np.nan)
            look = style.line_style(k) | style.marked(k, 5) | {"markevery": (15 + 8 * k, 90)}
            width, height = (3.2, 3) if name == self.own else (1.6, 2)
            ax.plot(m, v, **look, linewidth=width, zorder=height, label=f"{_called(name)}{formula}")
        ax.axvline(0.0, **style.ZERO)
        ax.set_ylim(-0.25 if self.samples.size else -0.1, 4.2)
        ax.set_xlim(self.margins[0], self.margins[-1])
        if self.samples.size:
            ticks = evenly(np.argsort(self.samples, kind="stable"), MOST_TICKS)
            places = np.clip(self.samples[ticks], *ax.get_xlim())
            below, name = np.full(ticks.size, -0.13), f"margins of the {self.samples.size:,} samples"
            ax.plot(places, below, "|", **style.TICK, label=name)
        ax.set_xlabel("margin m = y f(x)")
        ax.set_ylabel("loss")

    def describe(self) -> str:
        at = int(np.searchsorted(self.margins, 0.0))
        words = {name: name.replace("_", " ") for name in self.values} | {"softmax": "softmax of 3 classes"}
        told = ", ".join(f"{words[name]} {values[at]:.4g}" for name, values in self.values.items())
        out = f"{len(self.values)} losses as functions of the margin m = y f(x); at m = 0 they are: {told}."
        if self.samples.size:
            wrong = int(np.sum(self.samples <= 0))
            out += (
                f" The model minimises the {self.own} loss; {wrong:,} of {self.samples.size:,} margins are not above 0."
            )
        return out


def _loss_of(solution: Solution) -> str:
    """The loss that the model minimises, by name."""
    problem = solution.problem
    settings = problem.parameters
    by_kind = {"hard-margin": "", "logistic": "logistic", "perceptron": "perceptron", "kernel": "hinge"}
    if problem.kind in ("soft-margin", "empirical-risk"):
        name = str(settings["loss"])
    elif problem.kind in ("least-squares", "least-absolute") and settings.get("coding") == "pm1":
        name = {"least-squares": "squared", "least-absolute": "absolute"}[problem.kind]
    else:
        name = by_kind.get(problem.kind, "")
    if name not in FORMULAS or (problem.kind == "kernel" and settings["C"] is None):
        raise NoAnswer(f"the {problem.name} is not a sum of losses of the margins")
    return name


def _called(name: str) -> str:
    return "softmax, 3 classes" if name == "softmax" else style.plain(name).replace("_", " ")
