"""The soft-margin support vector machine."""

from __future__ import annotations

from typing import Any, Literal

from convexcls.data import check_data
from convexcls.data.numbers import times
from convexcls.models.base import Model, check_positive
from convexcls.models.risk import check_loss, risk_blocks


class SoftMarginSVM(Model):
    """The soft-margin support vector machine (ESL 12.8):

        minimise    1/2 ‖coef‖^2 + C sum_i slack_i
        subject to  y_i (coef'x_i + intercept) >= 1 - slack_i     multiplier alpha_i >= 0   (``margin``)
                    slack_i >= 0                                  multiplier mu_i >= 0      (``slack_sign``)

    Its dual is the Wolfe dual with the box 0 <= alpha_i <= C (ESL 12.13). With ``loss="squared_hinge"`` the
    cost is C sum_i slack_i^2 and the slack needs no sign. A sample weight multiplies its C.

    ``X`` has one sample a row, ``y`` their two labels in any form. ``C`` is the price of slack. ``intercept=False``
    leaves the intercept out.

    >>> import convexcls as cc
    >>> s = cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1], C=1.0).solve()
    >>> s.status, round(s.objective, 6), s.coef.round(6).tolist()
    ('optimal', 2.888889, [0.666667])
    >>> s.multipliers["margin"].round(6).tolist()  # in the box from 0 to C
    [0.555556, 1.0, 1.0, 0.555556]
    >>> s.values["slack"][[1, 2]].round(6).tolist()  # 4/3 each
    [1.333333, 1.333333]
    """

    kind = "soft-margin"

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        C: float = 1.0,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        C = check_positive("C", C)
        surrogate = check_loss(loss, ("hinge", "squared_hinge"))
        data = check_data(X, y, sample_weight)
        blocks = risk_blocks(surrogate, data, intercept, times(C, data.given_weights))
        quadratic = {"coef": 1.0, **blocks.pop("quadratic", {})}
        super().__init__(
            data=data,
            parameters={"C": C, "loss": loss, "intercept": intercept},
            name="soft-margin SVM" + (" (squared hinge)" if loss == "squared_hinge" else ""),
            quadratic=quadratic,
            unit=0.0,
            **blocks,
        )
