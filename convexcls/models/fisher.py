"""Fisher's linear discriminant as a convex problem."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.data import DataError, check_data
from convexcls.models.base import Model, Values, score_variables
from convexcls.problem import ROUNDING_ROOM, Constraint, Label, Term
from convexcls.rows import CentredRows, DenseRows, as_rows

Array = NDArray[np.float64]


class FisherLDA(Model):
    """Fisher's discriminant direction (ESL 4.16), as a convex problem:

        minimise    1/2 coef' S_W coef  =  1/2 sum_i ((x_i - m_i)' coef)^2
        subject to  (mean_2 - mean_1)' coef = 1          multiplier nu   (``separation``)

    m_i is the mean of sample i's class, S_W = sum_i (x_i - m_i)(x_i - m_i)' the scatter within classes; it is never
    multiplied out, which would halve the digits. The solution is parallel to S_W^-1 (mean_2 - mean_1) and to the
    least-squares direction (ESL exercise 4.2). The intercept is not part of the problem: it is the threshold that makes
    the fewest errors along the projection.
    """

    kind = "fisher"

    def __init__(self, X: Any, y: Any) -> None:
        data = check_data(X, y)
        groups = (data.target > 0).astype(np.intp)
        with np.errstate(over="ignore", invalid="ignore"):
            centred = CentredRows.by_group(as_rows(data.matrix), groups, 2)
            difference = _difference(centred)
            unit = ROUNDING_ROOM * _single_feature_objective(centred, difference)
            square = float(difference @ difference)
        if not np.isfinite(unit) or not np.isfinite(square):
            raise DataError("the squares of the features overflow: divide X by its largest value")
        scatter = Term("scatter", {"coef": centred}, "z", "samples", {"coef": Label("", "(x_i - m_i)")})
        separation = Constraint(
            "separation", {"coef": DenseRows(difference[None, :])}, r"\nu", "scalar",
            {"coef": Label("", r"(\mu_2 - \mu_1)")}, 1.0, relation="==",
        )  # fmt: skip
        super().__init__(
            data=data,
            parameters={},
            name="Fisher discriminant",
            variables=score_variables(data, intercept=False),
            terms=[scatter],
            constraints=[separation],
            unit=unit,
        )

    def intercept_from(self, values: Values, multipliers: Values) -> float:
        """Minus the threshold with the fewest training errors along the direction, found by trying every
        place between two neighbouring projections; the widest gap wins among equals."""
        projected = as_rows(self.data.matrix) @ values["coef"]
        order = np.argsort(projected, kind="stable")
        places, positive = projected[order], self.data.target[order] > 0
        # errors with the threshold before sample k: positives below it, negatives from it on
        below = np.concatenate([[0], np.cumsum(positive)])
        above = (~positive).sum() - np.concatenate([[0], np.cumsum(~positive)])
        errors = below + above
        gaps = np.concatenate([[np.inf], np.diff(places), [np.inf]])
        inside = gaps > 0
        inside[[0, -1]] = False
        if not inside.any():
            return -float(places[0])
        fewest = errors[inside].min()
        k = max(np.flatnonzero(inside & (errors == fewest)), key=lambda place: gaps[place])
        return -float((places[k - 1] + places[k]) / 2.0)


def _difference(centred: CentredRows) -> Array:
    """The second mean minus the first; where rounding is as large as the result, from exact sums."""
    difference = centred.means[1] - centred.means[0]
    size = np.abs(centred.means).max(axis=0, initial=0.0)
    for j in np.flatnonzero(np.abs(difference) <= 1e-9 * size):
        column = (centred.base @ np.eye(centred.shape[1])[j]).tolist()
        sums = [
            sum((Fraction(v) for v, k in zip(column, centred.groups, strict=True) if k == g), Fraction(0))
            for g in (0, 1)
        ]
        counts = [int((centred.groups == g).sum()) for g in (0, 1)]
        difference[j] = float(sums[1] / counts[1] - sums[0] / counts[0])
    return difference


def _single_feature_objective(centred: CentredRows, difference: Array) -> float:
    """The least objective that one feature alone reaches, of those that vary within the classes: what gives the problem
    its size where several together reach 0."""
    scatter = abs(centred).T @ np.ones(centred.shape[0])  # sums of absolute deviations; the squares are close enough
    reach = centred.column_max()
    varies = (reach > 0) & (difference != 0) & (scatter * reach > 1e-20 * difference**2)
    return (
        float(np.min(0.5 * (scatter * reach)[varies] / difference[varies] ** 2, initial=np.inf))
        if varies.any()
        else 0.0
    )
