"""The losses as functions of the margin, and the objective of a problem along lines through its solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import BY_NAME, Loss, SoftmaxMargins, ZeroOne
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.from_solution import check_point
from convexcls.plots.points import evenly
from convexcls.problem import NoAnswer, Problem
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
MAX_TICKS = 400


@dataclass(eq=False, repr=False)
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
        own = loss_of(solution)
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
            ax.plot(m, v, **look, linewidth=width, zorder=height, label=f"{called(name)}{formula}")
        ax.axvline(0.0, **style.ZERO)
        ax.set_ylim(-0.25 if self.samples.size else -0.1, 4.2)
        ax.set_xlim(self.margins[0], self.margins[-1])
        if self.samples.size:
            ticks = evenly(np.argsort(self.samples, kind="stable"), MAX_TICKS)
            places = np.clip(self.samples[ticks], *ax.get_xlim())
            below, name = np.full(ticks.size, -0.13), f"margins of the {self.samples.size:,} samples"
            ax.plot(places, below, "|", **style.TICK, label=name)
        ax.set_xlabel("margin m = y f(x)")
        ax.set_ylabel("loss")

    def describe(self) -> str:
        at = int(np.searchsorted(self.margins, 0.0))
        words = {name: name.replace("_", " ") for name in self.values} | {"softmax": "softmax of 3 classes"}
        described = ", ".join(f"{words[name]} {values[at]:.4g}" for name, values in self.values.items())
        out = f"{len(self.values)} losses as functions of the margin m = y f(x); at m = 0 they are: {described}."
        if self.samples.size:
            wrong = int(np.sum(self.samples <= 0))
            out += (
                f" The model minimises the {self.own} loss; {wrong:,} of {self.samples.size:,} margins are not above 0."
            )
        return out


def loss_of(solution: Solution) -> str:
    """The loss that the model minimises, by name."""
    problem = solution.problem
    settings = problem.parameters
    by_kind = {"logistic": "logistic", "perceptron": "perceptron", "kernel": "hinge"}
    if settings.get("coding") == "pm1":
        by_kind |= {"least-squares": "squared", "least-absolute": "absolute"}
    name = str(settings["loss"]) if "loss" in settings else by_kind.get(problem.kind, "")
    if name not in FORMULAS or (problem.kind == "kernel" and settings["C"] is None):
        raise NoAnswer(f"the {problem.name} is not a sum of losses of the margins")
    return name


def called(name: str) -> str:
    """A loss by its name, in words."""
    return "softmax, 3 classes" if name == "softmax" else style.plain(name).replace("_", " ")


# ---- the objective along lines ------------------------------------------------------------------------


#: Places on a line: fewer on many samples, for each costs a pass over them.
FINEST, COARSEST, BUDGET = 161, 21, 2e8
#: More directions than this are not drawn unless they are named.
MAX_DIRECTIONS = 4
#: A constraint may be missed by this much of what its row adds up, which is rounding.
ROUNDED_SUM = 1e-9


@dataclass(eq=False, repr=False)
class LossSliceDisplay(Display):
    """``values[name]`` is the objective at solution + t direction, for t in ``t``; NaN where a constraint is violated.
    What only bounds the rest from above, such as slacks, is set to the least that is allowed.

    >>> import convexcls as cc
    >>> s = cc.LeastSquares([[0], [1], [2]], [0, 1, 1], coding="real").solve()
    >>> display = cc.plots.LossSliceDisplay.from_solution(s)
    >>> list(display.values)
    ['coef of x1', 'intercept']
    >>> all(values.min() > s.objective - 1e-9 for values in display.values.values())  # nothing is lower
    True
    """

    kind: ClassVar[str] = "slice"
    heading: ClassVar[str] = "Objective of {0.model} through its solution"

    t: Array
    values: Mapping[str, Array]
    optimum: float
    model: str

    @classmethod
    def of(cls, solution: Solution, *, directions: Mapping[str, Any] | None = None, reach: float = 1.0) -> Self:
        """``directions`` by name, each over coef and intercept; by default along each of these, as many as are few,
        and of more along coef itself. t goes from -reach to +reach times the length of the solution."""
        check_point(solution, "objective")
        assert solution.x is not None
        problem, size = solution.problem, scored(solution.problem)
        lines = _directions(solution, size, directions)
        cost = solution.data.n * (solution.data.d + 40) * len(lines)  # what comes besides the products counts, too
        side = int(np.clip(BUDGET / cost, COARSEST, FINEST)) // 2 * 2 + 1
        t = np.linspace(-1.0, 1.0, side) * reach * (float(np.linalg.norm(solution.x[:size])) or 1.0)
        held = _Held(problem)
        values = {name: np.array([held.value(solution.x, step * line) for step in t]) for name, line in lines.items()}
        return cls(t, values, solution.objective, problem.name)

    def draw(self, ax: Axes) -> None:
        for k, (name, values) in enumerate(self.values.items()):
            ax.plot(self.t, values, **style.line_style(k), label=f"along {style.plain(name)}", zorder=2)
            allowed = np.flatnonzero(np.isfinite(values))
            if 0 < allowed.size < values.size:  # where it ends at a constraint
                ends = allowed[[0, -1]]
                ends = ends[(ends > 0) & (ends < values.size - 1)]
                ax.plot(self.t[ends], values[ends], "|", color=style.line_style(k)["color"], markersize=14, zorder=3)
        ax.plot([0.0], [self.optimum], "o", **style.SOLUTION, label=f"the solution, {self.optimum:.5g}")
        if any(np.any(np.isnan(values)) for values in self.values.values()):
            ax.plot([], [], "|", color="black", markersize=10, label="beyond: infeasible")
        ax.set_xlabel("distance t from the solution, along a direction of length 1")
        ax.set_ylabel("objective")
        finite = np.concatenate([values[np.isfinite(values)] for values in self.values.values()])
        spread = float(np.quantile(finite, 0.9) - self.optimum) if finite.size else 0.0
        if spread > 0:
            ax.set_ylim(self.optimum - 0.08 * spread, self.optimum + 1.2 * spread)

    def describe(self) -> str:
        described = []
        for name, values in self.values.items():
            inside = np.isfinite(values)
            limits = "" if inside.all() else f" (feasible for {int(inside.sum())} of {values.size} steps)"
            described.append(f"{name}{limits}, up to {np.nanmax(values):.4g}")
        return (
            f"The objective of the {self.model} on lines through its solution, where it is {self.optimum:.6g}; it is "
            f"no lower anywhere. Along {'; along '.join(described)}."
        )


class _Held:
    """The objective as a function of coef and intercept: slacks, which only bound, follow."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.slacks = [e for e in problem.epigraphs if e.variable not in ("coef", "intercept")]
        self.pieces = {c.name for e in self.slacks for c in e.pieces}

    def value(self, x: Array, step: Array) -> float:
        problem, at = self.problem, x.copy()
        at[: step.size] += step
        for e in self.slacks:
            at[problem.layout[e.variable]] = e.lowest(e.heights(problem, at))
        for c in problem.constraints:
            if c.name in self.pieces:  # it holds: its slack was set by it
                continue
            row = problem.rows(c)
            violation = row @ at - c.rhs
            allowed = ROUNDED_SUM * (abs(row) @ np.abs(at) + np.abs(c.rhs) + 1e-300)
            if np.any((np.abs(violation) if c.relation == "==" else violation) > allowed):
                return float("nan")
        for b in problem.norm_bounds:
            length = np.linalg.norm(problem.rows(b) @ at + b.offset)
            if length > float(problem.bound_rows(b) @ at) + b.bound + ROUNDED_SUM:
                return float("nan")
        with np.errstate(over="ignore"):
            value = problem.objective(at)
        return value if np.isfinite(value) else float("nan")


def held(problem: Problem) -> Callable[[Array], float]:
    """The objective as a function of coef and intercept alone, NaN where a constraint is violated: slacks follow."""
    at, rest = _Held(problem), np.zeros(problem.size)
    return lambda step: at.value(rest, step)


def scored(problem: Problem) -> int:
    """How many of the first unknowns are coef and intercept."""
    names = [v.name for v in problem.variables]
    if not names or names[0] != "coef" or "distance" in names:
        raise NoAnswer(f"the {problem.name} is not stated in coef and intercept: there is no line to follow")
    return sum(v.size for v in problem.variables if v.name in ("coef", "intercept"))


def _directions(solution: Solution, size: int, given: Mapping[str, Any] | None) -> dict[str, Array]:
    """Directions of length 1 over coef and intercept that keep the equations."""
    assert solution.x is not None
    if given is not None:
        chosen = {name: np.asarray(line, dtype=float) for name, line in given.items()}
        for name, line in chosen.items():
            if line.shape != (size,):
                raise ValueError(f"direction {name!r} has the shape {line.shape}: give {size} numbers, one an unknown")
    elif size <= MAX_DIRECTIONS and solution.coef.ndim == 1 and not _hard(solution.problem):
        names = [f"coef of {f}" for f in solution.data.features] + ["intercept"]
        chosen = dict(zip(names, np.eye(size), strict=False))
    else:
        chosen = {"the solution itself": np.array(solution.x[:size])}
    equations = [
        solution.problem.rows(c).to_dense()[:, :size] for c in solution.problem.constraints if c.relation == "=="
    ]
    out: dict[str, Array] = {}
    for name, line in chosen.items():
        kept = line
        if equations:
            rows = np.vstack(equations)
            kept = line - np.linalg.pinv(rows) @ (rows @ line)
        length = float(np.linalg.norm(kept))
        if length > 1e-9 * np.linalg.norm(line) and not any(
            abs(kept @ other) > 0.999999 * length for other in out.values()
        ):
            out[name] = kept / length
    if not out:
        raise NoAnswer(f"the {solution.problem.name} has no line along which it may move: its equations hold it")
    return out


def _hard(problem: Problem) -> bool:
    """Whether samples hold coef by constraints that nothing softens: then hardly any line is feasible on both sides."""
    return "slack" not in problem.layout and any(
        c.relation == "<=" and c.kind == "samples" for c in problem.constraints
    )
