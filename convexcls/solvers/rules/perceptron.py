"""The perceptron, one sample at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.solvers.rules.criterion import Criterion
from convexcls.solvers.rules.perceptron_report import Counts
from convexcls.solvers.rules.perceptron_rule import Pass, PerceptronRule
from convexcls.solvers.rules.samples import samples_of
from convexcls.solvers.rules.steps import ORDERS, Order, check_choice, orders


@dataclass(frozen=True)
class PerceptronSolver(PerceptronRule):
    """Rosenblatt's rule (ESL 4.44): visit the samples; where y_i (w'x_i) <= 0, with x_i ending in 1 for the intercept,

        w <- w + rate y_i x_i.

    From start 0 it separates separable classes with at most R²/γ² updates. ``step="decay"`` divides the rate by the
    number of the pass. Samples with weight c_i take the step rate c_i.
    """

    name: ClassVar[str] = "perceptron"
    accepts: ClassVar[str] = "the perceptron criterion; proves the answer on separable classes (a learning rule)"
    kind: ClassVar[str] = "on-line"

    order: Order = "cyclic"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "order", self.order, ORDERS)

    @property
    def visits(self) -> str:
        return self.order

    def refuses(self, problem: Problem) -> str:
        if reason := super().refuses(problem):
            return reason
        if samples_of(problem, Criterion(problem).margin) is None:
            return "it visits samples (x_i, 1) of a dense or sparse matrix, and these rows are made otherwise"
        return ""

    def passes(self, criterion: Criterion) -> Pass:
        from convexcls.solvers.rules import loops  # not at import: numba takes longer to load than all the rest

        samples = samples_of(criterion.problem, criterion.margin)
        assert samples is not None
        factor = -samples.factor * criterion.cost  # the margin rows are -y_i (x_i, 1)
        turns = orders(self.order, factor.size, self.seed)
        matrix, bias = samples.matrix, samples.bias
        padded = np.zeros(samples.width)

        def one_pass(w: Array, counts: Counts, rate: float) -> tuple[int, float]:
            padded[: w.size] = w
            if samples.sparse:
                found = loops.perceptron_pass_sparse(
                    matrix.data, matrix.indices, matrix.indptr, factor, bias, next(turns), rate, padded, counts
                )
            else:
                found = loops.perceptron_pass(matrix, factor, bias, next(turns), rate, padded, counts)
            w[:] = padded[: w.size]
            return found

        return one_pass
