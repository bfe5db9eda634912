"""Widrow and Hoff's rule: least squares, one sample at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from convexcls.problem import Problem
from convexcls.solvers.rules.sgd import SequentialRule


@dataclass(frozen=True)
class LMSSolver(SequentialRule):
    """The delta rule (LMS): for each sample in turn, with target t_i and x_i ending in 1 for the intercept,

        w <- w + eta (t_i - x_i'w) x_i,      eta = eta0/tau.

    tau counts passes, or single visits (``count="visit"``); ``step="fixed"`` keeps eta0, which comes to rest only where
    the samples can be fitted exactly. By default eta0 = 1/max ‖x_i‖²: a step then never overshoots its own sample.
    A ridge penalty takes its n-th part at every visit.
    """

    name: ClassVar[str] = "lms"
    accepts: ClassVar[str] = "least squares, with or without ridge penalty (a learning rule)"
    promise: ClassVar[float] = 2e-2

    def refuses(self, problem: Problem) -> str:
        if reason := super().refuses(problem):
            return reason
        loss = problem.terms[0].loss
        return "" if problem.terms[0].is_half_square else f"it minimises squares, and the loss is {loss.name}"
