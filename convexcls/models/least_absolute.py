"""Classification and regression by least absolute deviations."""

from __future__ import annotations

from typing import Any

from convexcls.data import check_data
from convexcls.losses import Modulus
from convexcls.models.base import Model, check_choice
from convexcls.models.least_squares import CODINGS, Coding
from convexcls.models.risk import risk_blocks


class LeastAbsolute(Model):
    """Least absolute deviations on coded targets t_i, a linear program:

        minimise    sum_i slack_i
        subject to  -slack_i <= coef'x_i + intercept - t_i <= slack_i

    with multipliers alpha^+ and alpha^- (``residual_above``, ``residual_below``). ``coding`` as in
    ``LeastSquares``. The minimiser need not be unique.

    ``X`` has one sample a row, ``y`` their two labels, or their targets. ``intercept=False`` leaves the intercept out.
    ``sample_weight`` multiplies the losses.

    >>> import convexcls as cc
    >>> s = cc.LeastAbsolute([[1], [1], [1]], [2, 3, 100], coding="real", intercept=False).solve()
    >>> s.status, s.coef.round(6).tolist(), round(s.objective, 6)  # the median: the outlier does not move it
    ('optimal', [3.0], 98.0)
    """

    kind = "least-absolute"

    def __init__(
        self, X: Any, y: Any, *, coding: Coding = "pm1", intercept: bool = True, sample_weight: Any = None
    ) -> None:
        check_choice("coding", coding, CODINGS)
        data = check_data(X, y, sample_weight, real_target=coding == "real")
        target = data.coded_as_given(coding)
        super().__init__(
            data=data,
            parameters={"coding": coding, "intercept": intercept},
            name="least absolute deviations",
            unit=float(data.weights @ abs(data.coded(coding))),
            **risk_blocks(Modulus(), data, intercept, data.given_weights, target=target, name="residual"),
        )

    @property
    def threshold(self) -> float:
        return 0.5 if self.parameters["coding"] == "01" else 0.0
