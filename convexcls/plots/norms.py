"""The two halves of the proof that the perceptron converges, drawn over its updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from convexcls.plots import style
from convexcls.plots.display import Axes, Display
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.solvers.rules.history import Convergence
from convexcls.solvers.rules.perceptron_report import PerceptronReport


@dataclass(eq=False, repr=False)
class NormsDisplay(Display):
    """The length of the weights, squared, which grows at most like t R², and the square of their part along the widest
    hyperplane w*, which grows at least like (t γ)² and is never more than the former. Where t R² and (t γ)² meet, there
    can be no further update: t = R²/γ². ``proof`` has the numbers.

    >>> import convexcls as cc
    >>> problem = cc.PerceptronCriterion([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> display = cc.plots.NormsDisplay.from_solution(problem.solve("perceptron"))
    >>> len(display.proof.updates) == problem.solve("perceptron").rule_report.updates + 1
    True
    """

    kind: ClassVar[str] = "norms"

    proof: Convergence

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """Of a run of the perceptron from start 0, at a fixed rate, on separable classes."""
        report = solution.rule_report
        if not isinstance(report, PerceptronReport):
            raise NoAnswer(
                f"{solution.solver} is not a perceptron: solve PerceptronCriterion with solver='perceptron' for that"
            )
        return cls(report.convergence())

    @property
    def title(self) -> str:
        return f"Why the perceptron stops: {style.counted(int(self.proof.updates[-1]), 'update')}"

    def draw(self, ax: Axes) -> None:
        proof, t = self.proof, self.proof.updates
        lines = (
            (proof.at_most, "t R²: at most", style.STROKES[1]),
            (proof.squared_norms, "‖w‖²", "solid"),
            (proof.along**2, "(w·w*)²", "solid"),
            (proof.at_least**2, "(t γ)²: at least", style.STROKES[2]),
        )
        for k, (values, name, stroke) in enumerate(lines):
            color = style.class_style(k // 2)["color"]
            width = 1.8 if stroke == "solid" else 1.2
            ax.plot(t, values, color=color, linestyle=stroke, linewidth=width, label=name)
        ax.set_xlabel("update t")
        ax.set_ylabel("squared length")

    def describe(self) -> str:
        proof = self.proof
        return (
            f"After {style.counted(int(proof.updates[-1]), 'update')} the perceptron's weights have the squared length"
            f" {proof.squared_norms[-1]:.4g}, at most t R² = {proof.at_most[-1]:.4g}; the square of their part along"
            f" the widest hyperplane is {proof.along[-1] ** 2:.4g}, at least (t γ)² = {proof.at_least[-1] ** 2:.4g}. "
            f"R = {proof.radius:.4g}, γ = {proof.margin:.4g}: no more than {(proof.radius / proof.margin) ** 2:.4g} "
            "updates are possible one at a time."
        )
