"""The optimal separating hyperplane."""

from __future__ import annotations

from typing import Any

from convexcls.data import check_data
from convexcls.models.base import Model, margin_rows, negated, score_variables
from convexcls.problem import Constraint
from convexcls.proofs.separability import SeparatingMargin, separation_rows


class HardMarginSVM(Model):
    """The hard-margin support vector machine (ESL 4.48):

        minimise    1/2 ‖coef‖^2
        subject to  y_i (coef'x_i + intercept) >= 1        multiplier alpha_i >= 0   (``margin``)

    Its dual is the Wolfe dual (ESL 4.52). The margin is 1/‖coef‖. Infeasible where the classes are not
    linearly separable; the proof is a point common to both convex hulls.

    ``X`` has one sample a row, ``y`` their two labels in any form. ``intercept=False`` leaves the intercept out.

    >>> import convexcls as cc
    >>> X = [[1, 2], [2, 0], [3, 1], [0, 1], [-1, -1], [-2, 0.5]]
    >>> s = cc.HardMarginSVM(X, ["yes", "yes", "yes", "no", "no", "no"]).solve(level="exact")
    >>> s.status, s.support.tolist(), str(s.certificate.optimum)
    ('optimal', [0, 1, 3], '10/9')
    >>> [str(alpha) for alpha in s.certificate.exact_multipliers["margin"].values()]
    ['8/9', '2/9', '10/9']
    """

    kind = "hard-margin"

    def __init__(self, X: Any, y: Any, *, intercept: bool = True) -> None:
        data = check_data(X, y)
        rows, labels = margin_rows(data, intercept)
        margin = Constraint("margin", {v: -r for v, r in rows.items()}, r"\alpha", "samples", negated(labels), rhs=-1.0)
        super().__init__(
            data=data,
            parameters={"intercept": intercept},
            name="hard-margin SVM",
            variables=score_variables(data, intercept),
            quadratic={"coef": 1.0},
            constraints=[margin],
            unit=0.0,
        )

    def remedy(self, status: str) -> str:
        return "A soft margin has one: SoftMarginSVM" if status == "infeasible" else ""

    def separating(self) -> SeparatingMargin:
        """Feasible iff the classes are strictly separable: some direction moves all rows to one side."""
        return SeparatingMargin(self, separation_rows(self.data, self.parameters["intercept"]))
