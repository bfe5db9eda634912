"""How solvers got there: the objective's distance from the optimum and their residuals, by step or by time. And where
they ended, the ball of their answers: how far each one's coefficients are from the certified ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from convexcls.arrays import Array, Mask
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.studies.compare import Comparison

Against = Literal["iteration", "time"]
Measure = Literal["gap", "residual"]
TRACED: tuple[Measure, ...] = ("gap", "residual")
#: What is smaller is drawn here. Objectives that agree to so many digits differ by the order in which their terms were
#: added up: below it a picture would show noise, another one on every machine.
SMALLEST_GAP = 1e-14


@dataclass(frozen=True, eq=False)
class Trace:
    """One solver's way: by line of its trace the ``iteration``, the ``seconds`` since it began, the relative ``gap``
    |objective - optimum| and the solver's own ``residual``."""

    name: str
    iteration: Array
    seconds: Array
    gap: Array
    residual: Array


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Traces on a logarithmic scale. ``optimum`` is the best objective that is proved.

    ``traces`` has one entry a solver, ``against`` is "iteration" or "time", ``measures`` what is drawn of "gap" and
    "residual".

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0], [1], [2], [3]], [0, 1, 0, 1]).solve("newton")
    >>> display = cc.plots.ConvergenceDisplay.from_solution(s)
    >>> bool(display.traces[0].gap[0] > 1e-3), bool(display.traces[0].gap[-1] < 1e-8), display.ax_.get_yscale()
    (True, True, 'log')
    """

    kind: ClassVar[str] = "convergence"
    heading: ClassVar[str] = "Convergence on {0.model}"

    traces: tuple[Trace, ...]
    optimum: float
    against: Against
    measures: tuple[Measure, ...]
    model: str

    @classmethod
    def of(
        cls,
        source: Solution | Sequence[Solution] | Comparison,
        *,
        against: Against = "iteration",
        measures: Sequence[Measure] | None = None,
    ) -> Self:
        """Of a solution, of several solutions of one problem, or of a comparison. ``measures`` is any of "gap" and
        "residual"; by default both of one solver, and the gap of several."""
        solutions = _solutions(source)
        chosen = tuple(measures or (TRACED if len(solutions) == 1 else TRACED[:1]))
        if against not in ("iteration", "time"):
            raise ValueError(f"against is {against!r}: choose 'iteration' or 'time'")
        if strange := [m for m in chosen if m not in TRACED]:
            raise ValueError(f"measures has {strange[0]!r}: choose of 'gap' and 'residual'")
        proved = [s for s in solutions if s.status == "optimal"]
        if not proved:
            raise NoAnswer("no solver reached an optimum that is proved: there is nothing to measure a gap from")
        optimum = min(proved, key=lambda s: abs(s.kkt.relative_gap)).objective
        unit = max(abs(optimum), proved[0].problem.unit) or 1.0
        traces = tuple(t for s in solutions if (t := _trace(s, optimum, unit)) is not None)
        if not any(t.iteration.size > 1 for t in traces) and len(traces) < 2:
            raise NoAnswer(f"{solutions[0].solver} left a trace of one line: there is no way to see")
        return cls(traces, optimum, against, chosen, solutions[0].problem.name)

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, ax: Axes | None = None, **options: Any) -> Self:
        """The traces of all solvers of a comparison, drawn into ``ax``; the options are those of ``of``."""
        return cls.of(comparison, **options).plot(ax)

    from_solutions = from_comparison

    def draw(self, ax: Axes) -> None:
        for k, trace in enumerate(self.traces):
            where = trace.seconds if self.against == "time" else trace.iteration
            for measure in self.measures:
                residual = measure == "residual"
                name = style.plain(trace.name) + (" (end only)" if where.size == 1 else "")
                name += f", {measure}" if len(self.measures) > 1 else ""
                look = style.line_style(2 * k + residual if len(self.traces) == 1 else k)
                marks = style.marked(k + 4 * residual, 5.5) | {"markevery": max(1, where.size // 12)}
                inside = "white" if residual else look["color"]
                shown = np.maximum(getattr(trace, measure), SMALLEST_GAP)
                ax.plot(where, shown, **look, **marks, markerfacecolor=inside, label=name)
        ax.set_yscale("log")
        if self.against == "time":
            ax.set_xscale("log")
        elif max(float(t.iteration.max(initial=1.0)) for t in self.traces) > 150:
            ax.set_xscale("symlog", linthresh=10)
            ax.set_xlim(-0.5, 1.6 * max(float(t.iteration.max(initial=1.0)) for t in self.traces))
        low, high = ax.get_ylim()
        ax.set_ylim(max(low, SMALLEST_GAP / 3), high)
        ax.set_xlabel("seconds since the solver began" if self.against == "time" else "iteration")
        words = {"gap": "objective gap |f − f*| / |f*|", "residual": "residual by the solver's own measure"}
        what = words[self.measures[0]] if len(self.measures) == 1 else "relative size"
        ax.set_ylabel(f"{what}\n(what is below {SMALLEST_GAP:.0e} is rounding)")

    def describe(self) -> str:
        described = [
            f"{t.name} ends after {style.counted(int(t.iteration[-1]), 'iteration')} with a gap of {t.gap[-1]:.0e}"
            for t in self.traces
        ]
        return f"Relative distance of the objective from the optimum {self.optimum:.6g}: {'; '.join(described)}."


def _solutions(source: Solution | Sequence[Solution] | Comparison) -> list[Solution]:
    if isinstance(source, Comparison):
        return [row.solution for row in source.rows]
    found = [source] if isinstance(source, Solution) else list(source)
    if not found:
        raise ValueError("there is no solution to draw: give at least one")
    return found


def _trace(solution: Solution, optimum: float, unit: float) -> Trace | None:
    """The way of one solver; where it left no trace of its steps, only where it ended."""
    lines = solution.trace
    if len(lines) <= 1:
        if solution.x is None or not np.isfinite(solution.objective):
            return None
        last = abs(solution.objective - optimum) / unit
        own = lines[0].residual if lines else np.nan
        ends = (max(solution.iterations, 1), solution.seconds, last, own)
        return Trace(solution.solver, *(np.array([float(v)]) for v in ends))
    table = [(line.iteration, line.seconds, line.objective, line.residual) for line in lines]
    columns = np.array([*table, *_finish(solution, optimum, unit)], dtype=float).T
    return Trace(solution.solver, columns[0], columns[1], np.abs(columns[2] - optimum) / unit, np.abs(columns[3]))


def _finish(solution: Solution, optimum: float, unit: float) -> list[tuple[float, ...]]:
    """What an exact finish gains after the last line of a trace: one line more, where it is nearer to the optimum by
    more than rounding."""
    last = solution.trace[-1]
    missing = max(abs(last.objective - optimum), SMALLEST_GAP * unit)
    if solution.x is None or not max(abs(solution.objective - optimum), SMALLEST_GAP * unit) < 0.5 * missing:
        return []
    return [(last.iteration + 1, solution.seconds, solution.objective, np.nan)]


# ---- the ball of answers ------------------------------------------------------------------------------


#: Answers that agree in every digit are drawn here.
SMALLEST_DISTANCE = 1e-17


@dataclass(eq=False, repr=False)
class AnswersDisplay(Display):
    """``distances`` are ‖coef - certified coef‖ relative to the latter's length (with the intercept), one a solver;
    ``proved`` says whose answer was proved optimal. ``reference`` is the solver with the certified answer: the one
    with the smallest gap.

    >>> import convexcls as cc
    >>> table = cc.compare(cc.HardMarginSVM([[0, 0], [1, 2]], [0, 1]), ["clarabel", "osqp"])
    >>> display = cc.plots.AnswersDisplay.from_comparison(table)
    >>> sorted(display.solvers), display.proved.tolist(), bool(display.distances.max() < 1e-6)
    (['clarabel', 'osqp'], [True, True], True)
    """

    kind: ClassVar[str] = "answers"

    solvers: tuple[str, ...]
    distances: Array
    proved: Mask
    reference: str
    tol: float
    model: str

    @classmethod
    def of(cls, comparison: Comparison, *, certified: Solution | None = None) -> Self:
        """Of a comparison; ``certified`` is the answer to measure from, by default its best."""
        found = [row.solution for row in comparison.rows if row.solution.x is not None]
        proved = [s for s in found if s.status == "optimal"]
        if certified is None and not proved:
            raise NoAnswer("no answer of this comparison is proved optimal: there is none to measure the others from")
        best = certified or min(proved, key=lambda s: (abs(s.kkt.relative_gap), max(s.kkt.measures().values())))
        centre = _answer(best)
        size = float(np.linalg.norm(centre)) or 1.0
        distances = np.array([float(np.linalg.norm(_answer(s) - centre)) / size for s in found])
        order = np.argsort(distances, kind="stable")
        solvers = tuple(found[k].solver for k in order)
        optimal = np.array([found[k].status == "optimal" for k in order])
        return cls(solvers, distances[order], optimal, best.solver, comparison.tol, comparison.problem.name)

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, ax: Axes | None = None, certified: Solution | None = None
    ) -> Self:
        """The answers of a comparison, drawn into ``ax``."""
        return cls.of(comparison, certified=certified).plot(ax)

    @property
    def title(self) -> str:
        return style.plain(f"Answers of {len(self.solvers)} solvers to {self.model}", 80)

    def draw(self, ax: Axes) -> None:
        places, shown = np.arange(len(self.solvers)), np.maximum(self.distances, SMALLEST_DISTANCE)
        ax.axvspan(SMALLEST_DISTANCE / 5, self.tol, color="0.92", zorder=0, label=f"the ball of radius {self.tol:.0e}")
        ax.hlines(places, SMALLEST_DISTANCE / 5, shown, color=style.FAINT, linewidth=0.9, zorder=1)
        for verdict, marker, colour in ((True, "o", style.BLUE), (False, "X", style.VERMILION)):
            chosen = self.proved == verdict
            if chosen.any():
                name = "proved optimal" if verdict else "not proved"
                name = f"{name} ({int(chosen.sum())})"
                ax.scatter(shown[chosen], places[chosen], marker=marker, color=colour, **style.ANSWER, label=name)
        ax.set_xscale("log")
        ax.set_xlim(SMALLEST_DISTANCE / 5, max(1e-6, 5 * float(shown.max(initial=0.0))))
        ax.set_yticks(places, [style.plain(name, 24) for name in self.solvers])
        ax.set_ylim(len(self.solvers) - 0.5, -0.5)
        ax.set_xlabel(f"relative distance of coef and intercept from the certified ({style.plain(self.reference, 24)})")

    def describe(self) -> str:
        described = ", ".join(
            f"{name} {distance:.0e}{'' if proved else ' (not proved)'}"
            for name, distance, proved in zip(self.solvers, self.distances, self.proved, strict=True)
        )
        return f"Relative distances from the certified answer of {self.reference} to the {self.model}: {described}."


def _answer(solution: Solution) -> Array:
    """coef and intercept as one vector; of a kernel machine the coefficients of the samples."""
    try:
        coef = solution.coef
    except NoAnswer:
        coef = solution.dual_coef
    return np.concatenate([np.ravel(coef), np.ravel(solution.intercept)])
