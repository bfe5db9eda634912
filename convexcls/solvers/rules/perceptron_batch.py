"""The perceptron, all samples at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from convexcls.arrays import Array
from convexcls.solvers.rules.criterion import Criterion
from convexcls.solvers.rules.perceptron import Pass, PerceptronRule
from convexcls.solvers.rules.perceptron_report import Counts


@dataclass(frozen=True)
class PerceptronBatchSolver(PerceptronRule):
    """Steepest descent on the criterion (ESL 4.42, 4.43): in every pass add all misclassified samples at once,

        w <- w + rate sum over y_i (w'x_i) <= 0 of y_i x_i.

    Every sample added counts as an update: from start 0 there are at most n R²/γ² of them on separable classes.
    ``step="decay"`` divides the rate by the number of the pass.
    """

    name: ClassVar[str] = "perceptron-batch"
    accepts: ClassVar[str] = "the perceptron criterion; proves the answer on separable classes (a learning rule)"
    kind: ClassVar[str] = "batch"

    def passes(self, criterion: Criterion) -> Pass:
        rows, used = criterion.rows, criterion.used

        def one_pass(w: Array, counts: Counts, rate: float) -> tuple[int, float]:
            opposite = rows @ w
            wrong = ~(opposite < 0)  # what is not a number is no success
            w -= rate * (rows.T @ wrong.astype(float))
            counts[used] += wrong
            return int(wrong.sum()), float(opposite[wrong].sum())

        return one_pass
