"""A classifier of the user's own: any loss, a penalty, linear constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convexcls.data import check_data
from convexcls.losses import BY_NAME, Loss, ZeroOne
from convexcls.models.base import Model, check_nonnegative
from convexcls.models.risk import check_loss, risk_blocks
from convexcls.problem import Constraint, Variable
from convexcls.rows import DiagonalRows


class EmpiricalRisk(Model):
    """Regularized empirical risk:

        minimise    sum_i loss(y_i (coef'x_i + intercept)) + l2/2 ‖coef‖^2 + l1 ‖coef‖_1
        subject to  the constraints given, on ``coef`` and ``intercept``

    ``loss`` is a name (hinge, squared_hinge, logistic, squared, absolute, perceptron, exponential) or a
    ``Loss``; ``constraints`` is a list of ``Constraint`` blocks.

    ``X`` has one sample a row, ``y`` their two labels in any form. ``intercept=False`` leaves the intercept out.
    ``sample_weight`` multiplies the losses.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> risk = cc.EmpiricalRisk([[1], [1], [1], [1]], [1, 1, 1, 0], loss="exponential", intercept=False)
    >>> s = risk.solve()  # of 3 exp(-b) + exp(b) the minimum is at b = log(3)/2
    >>> s.status, round(float(np.exp(2 * s.coef[0])), 6), round(s.objective**2, 6)
    ('optimal', 3.0, 12.0)
    """

    kind = "empirical-risk"

    loss: Loss
    own_constraints: tuple[Constraint, ...]

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        loss: str | Loss = "logistic",
        l2: float = 0.0,
        l1: float = 0.0,
        constraints: Sequence[Constraint] = (),
        intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        if not isinstance(loss, Loss) or isinstance(loss, ZeroOne):
            loss = check_loss(loss, tuple(BY_NAME))
        if isinstance(constraints, Constraint):
            constraints = [constraints]
        l2, l1 = check_nonnegative("l2", l2), check_nonnegative("l1", l1)
        data = check_data(X, y, sample_weight)
        blocks = risk_blocks(loss, data, intercept, data.given_weights)
        blocks.setdefault("quadratic", {}).update({"coef": l2} if l2 else {})
        blocks["constraints"] = [*blocks.get("constraints", []), *constraints]
        if l1:
            _add_l1(blocks, data.d, l1)
        super().__init__(
            data=data,
            parameters={"loss": loss.name, "l2": l2, "l1": l1, "intercept": intercept},
            attributes={"loss": loss, "own_constraints": tuple(constraints)},
            name=f"empirical {loss.name} risk",
            **blocks,
        )

    def declared_with(self) -> dict[str, Any]:
        return {**self.parameters, "loss": self.loss, "constraints": self.own_constraints}


def _add_l1(blocks: dict[str, Any], d: int, l1: float) -> None:
    """l1 ‖coef‖_1 as l1 sum_j size_j with -size_j <= coef_j <= size_j."""
    blocks["variables"].append(Variable("size", d, r"\eta"))
    blocks.setdefault("linear", {})["size"] = l1
    for name, sign, symbol in (("size_above", 1.0, r"\tau^+"), ("size_below", -1.0, r"\tau^-")):
        entries = {"coef": DiagonalRows.identity(d, sign), "size": DiagonalRows.identity(d, -1.0)}
        blocks["constraints"].append(Constraint(name, entries, symbol, "vector", unit=1.0))
