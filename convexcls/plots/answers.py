"""The ball of solver answers: how far each solver's coefficients are from the certified ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Mask
from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.studies.compare import Comparison

#: Answers that agree in every digit are drawn here.
FLOOR = 1e-17


@dataclass(eq=False)
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
        places, shown = np.arange(len(self.solvers)), np.maximum(self.distances, FLOOR)
        ax.axvspan(FLOOR / 5, self.tol, color="0.92", zorder=0, label=f"the ball of radius {self.tol:.0e}")
        ax.hlines(places, FLOOR / 5, shown, color=style.FAINT, linewidth=0.9, zorder=1)
        for verdict, marker, colour in ((True, "o", style.BLUE), (False, "X", style.VERMILION)):
            chosen = self.proved == verdict
            if chosen.any():
                name = "proved optimal" if verdict else "not proved"
                name = f"{name} ({int(chosen.sum())})"
                ax.scatter(shown[chosen], places[chosen], marker=marker, color=colour, **style.ANSWER, label=name)
        ax.set_xscale("log")
        ax.set_xlim(FLOOR / 5, max(1e-6, 5 * float(shown.max(initial=0.0))))
        ax.set_yticks(places, [style.plain(name, 24) for name in self.solvers])
        ax.set_ylim(len(self.solvers) - 0.5, -0.5)
        ax.set_xlabel(f"relative distance of coef and intercept from the certified ({style.plain(self.reference, 24)})")

    def describe(self) -> str:
        told = ", ".join(
            f"{name} {distance:.0e}{'' if proved else ' (not proved)'}"
            for name, distance, proved in zip(self.solvers, self.distances, self.proved, strict=True)
        )
        return f"Relative distances from the certified answer of {self.reference} to the {self.model}: {told}."


def _answer(solution: Solution) -> Array:
    """coef and intercept as one vector; of a kernel machine the coefficients of the samples."""
    try:
        coef = solution.coef
    except NoAnswer:
        coef = solution.dual_coef
    return np.concatenate([np.ravel(coef), np.ravel(solution.intercept)])
