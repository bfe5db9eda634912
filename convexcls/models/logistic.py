"""Logistic regression by maximum likelihood."""

from __future__ import annotations

from typing import Any

from convexcls.data import check_data
from convexcls.losses import Logistic
from convexcls.models.base import Model, check_nonnegative
from convexcls.models.risk import risk_blocks
from convexcls.proofs.separability import SeparatingLikelihood, separation_rows


class LogisticMLE(Model):
    """Two-class logistic regression (ESL 4.20), as minus the log-likelihood:

        minimise    sum_i log(1 + exp(-m_i)) + l2/2 ‖coef‖^2,      m_i = y_i (coef'x_i + intercept)

    The intercept is never penalised. The dual maximises the entropies of lambda_i subject to
    sum_i lambda_i y_i x_i = 0 and sum_i lambda_i y_i = 0; at the optimum lambda_i = 1/(1 + exp(m_i)).
    Without a penalty the minimum is attained iff the classes overlap (Albert and Anderson 1984).

    ``X`` has one sample a row, ``y`` their two labels in any form. ``intercept=False`` leaves the intercept out.
    ``sample_weight`` multiplies the losses.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1]  # the odds rise from 1:2 to 2:1
    >>> s = cc.LogisticMLE(X, y).solve()
    >>> s.status, round(float(np.exp(s.coef[0])), 6)  # so the odds ratio is 4
    ('optimal', 4.0)
    >>> cc.LogisticMLE([[0], [1]], [0, 1]).solve().status  # separated: no maximum
    'unattained'
    """

    kind = "logistic"

    def __init__(self, X: Any, y: Any, *, l2: float = 0.0, intercept: bool = True, sample_weight: Any = None) -> None:
        l2 = check_nonnegative("l2", l2)
        data = check_data(X, y, sample_weight)
        super().__init__(
            data=data,
            parameters={"l2": l2, "intercept": intercept},
            name="logistic regression" + (" with ridge penalty" if l2 else ""),
            quadratic={"coef": l2} if l2 else {},
            **risk_blocks(Logistic(), data, intercept, data.given_weights, name="likelihood", symbol=r"\lambda"),
        )

    def separating(self) -> SeparatingLikelihood | None:
        """Without a penalty attained iff the classes overlap: no direction moves all rows to one side."""
        if self.parameters["l2"]:
            return None
        return SeparatingLikelihood(self, separation_rows(self.data, self.parameters["intercept"]))
