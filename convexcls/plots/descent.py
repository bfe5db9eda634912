"""The ways of solvers over the contours of the objective, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.plots.losses import held, scored
from convexcls.plots.plane import Frame, frame_of
from convexcls.plots.points import set_scale
from convexcls.problem import NoAnswer, Problem
from convexcls.solution import Solution

#: Contours: so many, their heights above the optimum spread over the picture evenly on a logarithmic scale.
CONTOURS = 14
#: Places a side of the grid; fewer where there are many samples.
FINEST, COARSEST, BUDGET = 81, 21, 4e7
#: So many arrows on one way, from its beginning on: later steps are too short to be seen.
MAX_ARROWS = 12
#: A step shorter than this fraction of the picture has no arrow.
SHORTEST_ARROW = 0.025
#: Only so many steps of a way are drawn.
MAX_STEPS = 3000


@dataclass(eq=False, repr=False)
class DescentDisplay(Display):
    """``paths[name]`` are the points where a solver stood, one a row, in the plane of two unknowns called ``names``;
    ``heights[i, j]`` is the objective at (u[j], v[i]), NaN where a constraint is violated. All other unknowns are held
    where the best way ended (``at``); what only bounds the rest from above, such as slacks, follows. ``whole`` says
    that there are no others, so that the contours are the objective itself. ``end`` is the place of the lowest point,
    ``optimum`` its objective.

    The points of a solver are told to a callback, ``solve(..., callback=lambda line: points.append(line.point))``;
    ``of_solvers`` does this.

    >>> import convexcls as cc
    >>> problem = cc.LogisticMLE([[0], [1], [2], [3]], [0, 1, 0, 1], l2=0.1)
    >>> display = cc.plots.DescentDisplay.from_solvers(problem, {"Newton": "newton"})
    >>> display.names, display.whole, display.paths["Newton"][0].tolist()
    (('coef of x1', 'intercept'), True, [0.0, 0.0])
    """

    kind: ClassVar[str] = "descent"
    on_request: ClassVar[bool] = True
    heading: ClassVar[str] = "Ways down the objective of {0.model}"

    paths: Mapping[str, Array]
    u: Array
    v: Array
    heights: Array
    names: tuple[str, str]
    whole: bool
    end: Array
    optimum: float
    model: str

    @classmethod
    def of(cls, solution: Solution, *, unknowns: tuple[int, int] = (0, 1)) -> Self:
        """The way of a solution whose trace has kept its points."""
        points = [line.point for line in solution.trace if line.point is not None]
        if not points:
            raise NoAnswer(
                f"the trace of {solution.solver} has no points: give the problem and the solvers to "
                "DescentDisplay.of_solvers, which watches them"
            )
        return cls.of_paths(solution.problem, {solution.solver: points}, unknowns=unknowns)

    @classmethod
    def of_solvers(
        cls,
        problem: Problem,
        solvers: Mapping[str, str | tuple[str, Mapping[str, Any]]] | Sequence[str],
        *,
        unknowns: tuple[int, int] = (0, 1),
        **options: Any,
    ) -> Self:
        """The ways of solvers by name, each a solver or a pair of a solver and its options, such as
        ``{"fixed steps": ("gradient", {"step": "fixed"})}``; ``options`` such as ``start`` are given to all of them."""
        runs = solvers if isinstance(solvers, Mapping) else {name: name for name in solvers}
        return cls.of_paths(
            problem, {name: _watched(problem, run, options) for name, run in runs.items()}, unknowns=unknowns
        )

    @classmethod
    def of_paths(
        cls,
        problem: Problem,
        paths: Mapping[str, Any],
        *,
        unknowns: tuple[int, int] = (0, 1),
        frame: Frame | None = None,
    ) -> Self:
        """Ways that are known, by name: points over all unknowns of the problem, or over coef and intercept alone.
        ``unknowns`` are the two that are drawn, among coef and intercept; ``frame`` is the part of the plane: left,
        right, bottom, top."""
        size = scored(problem)
        names = _names(problem, size)
        if len(unknowns) != 2 or len({*unknowns}) != 2 or not all(0 <= k < size for k in unknowns):
            raise ValueError(f"unknowns is {unknowns!r}: give two numbers from 0 to {size - 1}, such as (0, 1)")
        if not paths:
            raise ValueError("there is no way to draw: give at least one")
        ways = {name: _checked(name, points, size) for name, points in paths.items()}
        objective = held(problem)
        ends = [way[-1] for way in ways.values()]
        values = [objective(end) for end in ends]
        if not np.any(np.isfinite(values)):
            raise NoAnswer("no way ends at a point with a finite objective")
        at = ends[int(np.nanargmin(values))]
        pair = list(unknowns)
        seen = np.vstack([way[:MAX_STEPS, pair] for way in ways.values()])
        u, v = _grid(problem, frame or frame_of(seen))
        heights = np.empty((v.size, u.size))
        x = np.array(at)
        for i, second in enumerate(v):
            for j, first in enumerate(u):
                x[pair] = first, second
                heights[i, j] = objective(x)
        drawn = {name: way[:MAX_STEPS, pair] for name, way in ways.items()}
        chosen = (names[unknowns[0]], names[unknowns[1]])
        return cls(drawn, u, v, heights, chosen, size == 2, at[pair], float(np.nanmin(values)), problem.name)

    @classmethod
    def from_solvers(cls, problem: Problem, solvers: Any, *, ax: Axes | None = None, **options: Any) -> Self:
        """The ways of solvers, drawn into ``ax``; the options are those of ``of_solvers``."""
        return cls.of_solvers(problem, solvers, **options).plot(ax)

    @classmethod
    def from_paths(cls, problem: Problem, paths: Mapping[str, Any], *, ax: Axes | None = None, **options: Any) -> Self:
        """Ways that are known, drawn into ``ax``; the options are those of ``of_paths``."""
        return cls.of_paths(problem, paths, **options).plot(ax)

    def draw(self, ax: Axes) -> None:
        above = self.heights - min(self.optimum, float(np.nanmin(self.heights)))
        largest = float(np.nanmax(above))
        if largest > 0:
            levels = np.geomspace(1e-3, 0.95, CONTOURS) * largest
            ax.contour(self.u, self.v, above, levels, **style.CONTOUR)
            ax.plot([], [], color=style.CONTOUR["colors"], linewidth=1.0, label="equal objective")
        for k, (name, way) in enumerate(self.paths.items()):
            look = style.line_style(k + 1)
            points = style.counted(len(way), "point")
            marks = style.marked(k, 4.5) | {"markevery": max(1, len(way) // 60)}
            ax.plot(*way.T, **look, **marks, linewidth=1.4, zorder=3, label=f"{style.plain(name)} ({points})")
            self._draw_arrows(ax, way, look["color"])
        first = next(iter(self.paths.values()))[0]
        if all(np.array_equal(way[0], first) for way in self.paths.values()):
            ax.plot(*first, **style.START, label="start")
        ax.plot(*self.end, **style.LOWEST, label=f"lowest, {self.optimum:.5g}")
        ax.set_xlim(self.u[0], self.u[-1])
        ax.set_ylim(self.v[0], self.v[-1])
        set_scale(ax, (self.u[0], self.u[-1], self.v[0], self.v[-1]))
        held_still = "" if self.whole else "\n(contours: all else as at the lowest)"
        ax.set_xlabel(style.plain(self.names[0]) + held_still)
        ax.set_ylabel(style.plain(self.names[1]))

    def _draw_arrows(self, ax: Axes, way: Array, colour: str) -> None:
        size = np.array([self.u[-1] - self.u[0], self.v[-1] - self.v[0]])
        long = np.linalg.norm(np.diff(way, axis=0) / size, axis=1) >= SHORTEST_ARROW
        for k in np.flatnonzero(long)[:MAX_ARROWS]:
            look: style.Look = {"arrowstyle": "-|>", "color": colour, "linewidth": 0, "mutation_scale": 15}
            middle = 0.45 * way[k] + 0.55 * way[k + 1]
            ax.annotate("", middle, way[k], arrowprops=look, zorder=3.2, annotation_clip=True)

    def describe(self) -> str:
        told = []
        for name, way in self.paths.items():
            length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
            straight = float(np.linalg.norm(way[-1] - way[0]))
            told.append(
                f"{name} goes from ({way[0][0]:.4g}, {way[0][1]:.4g}) to ({way[-1][0]:.4g}, {way[-1][1]:.4g}) in "
                f"{style.counted(len(way), 'point')}, a way of {length:.4g} where a straight one is {straight:.4g} long"
            )
        return (
            f"Contours of the objective of the {self.model} over {self.names[0]} and {self.names[1]}, lowest at "
            f"({self.end[0]:.4g}, {self.end[1]:.4g}) with {self.optimum:.6g}. {'; '.join(told)}."
        )


def _watched(problem: Problem, run: str | tuple[str, Mapping[str, Any]], options: Mapping[str, Any]) -> list[Array]:
    """The points that a solver tells of."""
    solver, own = (run, {}) if isinstance(run, str) else run
    points: list[Array] = []

    def watch(line: Any) -> None:
        if line.point is not None:
            points.append(np.array(line.point))

    problem.solve(solver, callback=watch, **{**options, **own})
    if not points:
        raise NoAnswer(f"{solver} does not tell where it stands at each step: there is no way to draw")
    return points


def _checked(name: str, points: Any, size: int) -> Array:
    way = np.asarray(points, dtype=float)
    if way.ndim != 2 or not len(way) or way.shape[1] < size:
        raise ValueError(f"the way {name!r} has the shape {way.shape}: give points, one a row, of {size} unknowns")
    return way[:, :size]


def _names(problem: Problem, size: int) -> list[str]:
    features = [] if problem.data is None else [f"coef of {name}" for name in problem.data.features]
    names = [*features, "intercept"] if len(features) + ("intercept" in problem.layout) == size else []
    return names or [f"unknown {k}" for k in range(size)]


def _grid(problem: Problem, frame: Frame) -> tuple[Array, Array]:
    n, d = (problem.size, 1) if problem.data is None else (problem.data.n, problem.data.d)
    side = int(np.clip(np.sqrt(BUDGET / (n * (d + 40))), COARSEST, FINEST))
    return np.linspace(frame[0], frame[1], side), np.linspace(frame[2], frame[3], side)
