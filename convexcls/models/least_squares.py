"""Classification and regression by least squares."""

from __future__ import annotations

from typing import Any, Literal

from convexcls.data import check_data
from convexcls.losses import HalfSquare
from convexcls.models.base import Model, check_choice, check_nonnegative
from convexcls.models.risk import risk_blocks

Coding = Literal["pm1", "01", "counts", "real"]
CODINGS = ("pm1", "01", "counts", "real")


class LeastSquares(Model):
    """Least squares on coded targets t_i (ESL 4.2, ridge ESL 3.41):

        minimise    1/2 sum_i (coef'x_i + intercept - t_i)^2 + l2/2 ‖coef‖^2

    ``coding`` is ``pm1`` (-1, +1: classified at 0), ``01`` (0, 1: classified at 1/2), ``counts`` (-n/n_1 and n/n_2, n_k
    what class k weighs, as in ESL exercise 4.2: at 0) or ``real`` (y as given: regression). The intercept is
    never penalised.

    ``X`` has one sample a row, ``y`` their two labels, or their targets. ``intercept=False`` leaves the intercept out.
    ``sample_weight`` multiplies the losses.

    >>> import convexcls as cc
    >>> s = cc.LeastSquares([[0], [1], [2], [3]], [0, 0, 1, 1]).solve(level="exact")
    >>> [str(value) for value in s.certificate.coef], str(s.certificate.intercept), str(s.certificate.optimum)
    (['4/5'], '-6/5', '2/5')
    >>> cc.LeastSquares([[0], [1], [2]], [1, 3, 5], coding="real").solve().coef.round(6).tolist()
    [2.0]
    """

    kind = "least-squares"

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        l2: float = 0.0,
        coding: Coding = "pm1",
        intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        l2 = check_nonnegative("l2", l2)
        check_choice("coding", coding, CODINGS)
        data = check_data(X, y, sample_weight, real_target=coding == "real")
        target = data.coded_as_given(coding)
        blocks = risk_blocks(HalfSquare(), data, intercept, data.weights, target=target, name="residual", symbol="r")
        super().__init__(
            data=data,
            parameters={"l2": l2, "coding": coding, "intercept": intercept},
            name="least squares" + (" with ridge penalty" if l2 else ""),
            quadratic={"coef": l2} if l2 else {},
            **blocks,
        )

    @property
    def threshold(self) -> float:
        return 0.5 if self.parameters["coding"] == "01" else 0.0
