"""The widest slab between two classes, in its geometric form."""

from __future__ import annotations

from typing import Any

from convexcls.data import check_data
from convexcls.models.base import Model, margin_rows, negated, score_variables
from convexcls.problem import Constraint, NormBound, Variable
from convexcls.rows import ConstantRows, DiagonalRows


class MaxMargin(Model):
    """The geometric form of the optimal separating hyperplane (ESL 4.45), made convex:

        maximise    distance
        subject to  y_i (coef'x_i + intercept) >= distance      multiplier alpha_i >= 0   (``margin``)
                    ‖coef‖ <= 1                                 multiplier (u, mu)        (``unit``)

    ``distance`` is the geometric margin C of ESL. Where the classes are not strictly separable the optimum
    is 0, attained at coef = 0.

    ``X`` has one sample a row, ``y`` their two labels in any form. ``intercept=False`` leaves the intercept out.

    >>> import convexcls as cc
    >>> s = cc.MaxMargin([[0, 0], [3, 4]], ["near", "far"]).solve()  # two points 5 apart
    >>> s.status, round(s.objective, 6), s.coef.round(6).tolist()
    ('optimal', 2.5, [-0.6, -0.8])
    """

    kind = "max-margin"

    def __init__(self, X: Any, y: Any, *, intercept: bool = True) -> None:
        data = check_data(X, y)
        rows, labels = margin_rows(data, intercept)
        entries = {**{v: -r for v, r in rows.items()}, "distance": ConstantRows(data.n)}
        margin = Constraint("margin", entries, r"\alpha", "samples", negated(labels))
        unit = NormBound("unit", {"coef": DiagonalRows.identity(data.d)}, "u", "vector", bound=1.0)
        super().__init__(
            data=data,
            parameters={"intercept": intercept},
            name="maximum margin",
            variables=[*score_variables(data, intercept), Variable("distance", 1, "C", "scalar")],
            linear={"distance": -1.0},
            constraints=[margin],
            norm_bounds=[unit],
            sense="max",
            unit=0.0,
        )
