"""The perceptron criterion as a linear program."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np

from convexcls.data import DataError, check_data
from convexcls.losses import Perceptron
from convexcls.models.base import Model, check_choice
from convexcls.models.risk import risk_blocks
from convexcls.problem import Constraint, Label
from convexcls.proofs.separability import SeparatingPerceptron, separation_rows
from convexcls.rows.rounded import summed


class PerceptronCriterion(Model):
    """The perceptron criterion D = -sum over misclassified i of y_i f(x_i) (ESL 4.41):

        minimise    sum_i slack_i
        subject to  slack_i >= -y_i (coef'x_i + intercept),  slack_i >= 0
                    sum_i y_i (coef'x_i + intercept) = n        multiplier nu   (``normalization``)

    The last line sets the mean margin to one; without it (``normalization=None``) the minimum 0 is always
    attained at coef = 0, intercept = 0. The value is 0 iff some hyperplane has no sample on its wrong side
    and at least one off it. Infeasible where sum_i y_i x_i = 0 and sum_i y_i = 0, as in XOR.

    ``X`` has one sample a row, ``y`` their two labels in any form. ``intercept=False`` leaves the intercept out.
    ``sample_weight`` multiplies slacks and margins in both sums.

    >>> import convexcls as cc
    >>> separable = cc.PerceptronCriterion([[0], [1], [2], [3]], [0, 0, 1, 1]).solve(level="exact")
    >>> str(separable.certificate.optimum)  # some hyperplane has no sample on its wrong side
    '0'
    >>> mixed = cc.PerceptronCriterion([[0], [1], [2], [3]], [0, 1, 0, 1]).solve(level="exact")
    >>> str(mixed.certificate.optimum)
    '2'
    >>> xor = [[0, 0], [1, 1], [0, 1], [1, 0]]
    >>> cc.PerceptronCriterion(xor, [0, 0, 1, 1]).solve().status
    'infeasible'
    """

    kind = "perceptron"

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        normalization: Literal["mean-margin"] | None = "mean-margin",
        intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        check_choice("normalization", normalization, ("mean-margin", None))
        data = check_data(X, y, sample_weight)
        blocks = risk_blocks(Perceptron(), data, intercept, data.given_weights, unit=1.0)
        notes: tuple[str, ...] = ()
        if normalization is None:
            notes = ("without a normalization the minimum 0 is always attained at coef = 0, intercept = 0",)
        else:
            margin = blocks["constraints"][0]  # slack_i >= -y_i f(x_i)
            labels = margin.labels
            with np.errstate(over="ignore", invalid="ignore"):
                sums = {v: summed(-margin.entries[v], data.weights, data.exact_weights) for v in labels}
            if not all(np.all(np.isfinite(total.array)) for total in sums.values()):
                raise DataError("the sums of the features overflow: divide X by its largest value")
            weights = data.given_weights if data.weighted else [data.n]
            total_weight = sum(map(Fraction, weights), Fraction(0))
            total = {
                v: Label("", rf"\sum_i {'c_i ' if data.weighted else ''}y_i {labels[v].vector}".strip()) for v in sums
            }
            blocks["constraints"].append(
                Constraint("normalization", sums, r"\nu", "scalar", total, total_weight, relation="==")
            )
        super().__init__(
            data=data,
            parameters={"normalization": normalization, "intercept": intercept},
            name="perceptron criterion" + (" (not normalized)" if normalization is None else ""),
            unit=float(np.sum(data.weights)),
            notes=notes,
            **blocks,
        )

    def separating(self) -> SeparatingPerceptron | None:
        """The optimum is 0 iff the classes are separable, or weakly so: some direction moves all rows to one side, if
        not all of them off it. No matter where nothing is normalized."""
        if self.parameters["normalization"] is None:
            return None
        rows = separation_rows(self.data, self.parameters["intercept"])
        return SeparatingPerceptron(self, rows, "margin", "slack", "slack_sign", "normalization")
