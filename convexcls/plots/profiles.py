"""How solvers stand on many problems: performance profiles, and how many digits they reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.bench.judgement import Judgement
from convexcls.bench.trial import MAX_DIGITS
from convexcls.plots import style
from convexcls.plots.display import Axes, Display

Measure = Literal["seconds", "digits"]
MEASURES: tuple[Measure, ...] = ("seconds", "digits")


@dataclass(eq=False, repr=False)
class ProfilesDisplay(Display):
    """A curve a solver. Of ``seconds``, the performance profile of Dolan and Moré: the share of the problems that it
    solved in at most so many times the seconds of the fastest; of ``digits``, the share of the problems of whose
    optimum it has at least so many digits.

    >>> import convexcls as cc
    >>> found = cc.referee(["auto", "osqp"], problems=["two_points", "three_four_five_hard_margin"])
    >>> display = cc.plots.ProfilesDisplay.from_judgement(found, measure="digits")
    >>> display.solvers, display.ax_.get_xlabel()
    (('auto', 'osqp'), 'digits of the optimum')
    """

    kind: ClassVar[str] = "profiles"
    heading: ClassVar[str] = "Solvers on {0.problems} problems, by {0.measure}"

    solvers: tuple[str, ...]
    curves: tuple[tuple[Array, Array], ...]
    measure: Measure
    problems: int

    @classmethod
    def of(cls, found: Judgement, *, measure: Measure = "seconds") -> Self:
        """The curves of what the referee found."""
        if measure not in MEASURES:
            raise ValueError(f"measure is {measure!r}: choose one of {', '.join(map(repr, MEASURES))}")
        curve = found.profile if measure == "seconds" else found.accuracy
        problems = len({trial.case for trial in found.trials})
        return cls(found.solvers, tuple(map(curve, found.solvers)), measure, problems)

    @classmethod
    def from_judgement(cls, found: Judgement, *, ax: Axes | None = None, measure: Measure = "seconds") -> Self:
        """The curves of what the referee found, drawn into ``ax`` (a new one by default)."""
        return cls.of(found, measure=measure).plot(ax)

    def draw(self, ax: Axes) -> None:
        farthest = max((float(steps[-1]) for steps, _ in self.curves if steps.size), default=1.0)
        for k, (solver, (steps, shares)) in enumerate(zip(self.solvers, self.curves, strict=True)):
            look = style.line_style(k) | {"linewidth": 1.6, "label": style.plain(solver)}
            if self.measure == "seconds":
                across = np.concatenate([[1.0], steps, [1.2 * max(farthest, 2.0)]])
                up = np.concatenate([[0.0], shares, shares[-1:] if shares.size else [0.0]])
                ax.step(across, up, where="post", **look)
            else:
                ax.step(np.concatenate([[0.0], steps]), np.concatenate([[1.0], shares]), where="pre", **look)
        ax.set_ylim(-0.02, 1.03)
        ax.set_ylabel("share of the problems")
        if self.measure == "seconds":
            ax.set_xscale("log")
            ax.set_xlabel("at most so many times the seconds of the fastest")
        else:
            ax.set_xlim(0.0, MAX_DIGITS + 0.3)
            ax.set_xlabel("digits of the optimum")
        ax.legend(**style.BESIDE_AXES)

    def describe(self) -> str:
        said = []
        for solver, (steps, shares) in zip(self.solvers, self.curves, strict=True):
            if not steps.size:
                said.append(f"{solver} none")
            elif self.measure == "seconds":
                first = float(np.mean(steps <= 1.0) * shares[-1])
                said.append(f"{solver} {shares[-1]:.0%}, of these {first:.0%} as the fastest")
            else:
                said.append(f"{solver} half of them to {np.median(steps):.1f} digits")
        what = "Shares that are solved" if self.measure == "seconds" else "Digits of the optimum"
        return f"{what}, of {style.counted(self.problems, 'problem')}: {'; '.join(said)}."
