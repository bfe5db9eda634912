"""Fisher's linear discriminant as a convex problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.data import Data, DataError, check_data
from convexcls.models.base import Model, score_variables
from convexcls.problem import ROUNDING_ROOM, Constraint, Label
from convexcls.rows import DenseRows, as_rows

Array = NDArray[np.float64]
BLOCK = 4096


class FisherLDA(Model):
    """Fisher's discriminant direction (ESL 4.16), as a convex problem:

        minimise    1/2 coef' S_W coef
        subject to  (mean_2 - mean_1)' coef = 1          multiplier nu   (``separation``)

    S_W = sum over both classes of (x - mean)(x - mean)' is the scatter within classes; the solution is
    parallel to S_W^-1 (mean_2 - mean_1) and to the least-squares direction (ESL exercise 4.2). The intercept
    is not part of the problem: it is the threshold that makes the fewest errors along the projection.
    """

    kind = "fisher"

    means: tuple[Array, Array]

    def __init__(self, X: Any, y: Any) -> None:
        data = check_data(X, y)
        with np.errstate(over="ignore", invalid="ignore"):
            means, scatter = _means_and_scatter(data)
        if not np.all(np.isfinite(scatter)):
            raise DataError("the squares of the features overflow: divide X by its largest value")
        difference = DenseRows((means[1] - means[0])[None, :])
        separation = Constraint(
            "separation", {"coef": difference}, r"\nu", "scalar",
            {"coef": Label("", r"(\mu_2 - \mu_1)")}, 1.0, relation="==",
        )  # fmt: skip
        super().__init__(
            data=data,
            parameters={},
            name="Fisher discriminant",
            variables=score_variables(data, intercept=False),
            quadratic={"coef": scatter},
            constraints=[separation],
            unit=_naive_objective(means[1] - means[0], scatter),
            quadratic_symbol="S_W",
            attributes={"means": means},
        )

    def intercept_for(self, coef: Array) -> float:
        """Minus the threshold with the fewest training errors along ``coef``, found by trying every
        place between two neighbouring projections; the widest gap wins among equals."""
        projected = as_rows(self.data.matrix) @ coef
        order = np.argsort(projected, kind="stable")
        values, positive = projected[order], self.data.target[order] > 0
        # errors with the threshold before sample k: positives below it, negatives from it on
        below = np.concatenate([[0], np.cumsum(positive)])
        above = (~positive).sum() - np.concatenate([[0], np.cumsum(~positive)])
        errors = below + above
        gaps = np.concatenate([[np.inf], np.diff(values), [np.inf]])
        inside = gaps > 0
        inside[[0, -1]] = False
        if not inside.any():
            return -float(values[0])
        fewest = errors[inside].min()
        k = max(np.flatnonzero(inside & (errors == fewest)), key=lambda place: gaps[place])
        return -float((values[k - 1] + values[k]) / 2.0)


def _naive_objective(difference: Array, scatter: Array) -> float:
    """What counts as one where the optimum may be 0: a fraction of the objective at the direction of the means."""
    square = float(difference @ difference)
    if square == 0 or not np.isfinite(square):
        return 0.0
    naive = difference / square
    return ROUNDING_ROOM * 0.5 * float(naive @ scatter @ naive)


def _means_and_scatter(data: Data) -> tuple[tuple[Array, Array], Array]:
    rows = as_rows(data.matrix)
    means, scatter = [], np.zeros((data.d, data.d))
    for sign in (-1.0, 1.0):
        member = np.flatnonzero(data.target == sign)
        part = rows[member]
        mean = part.T @ np.full(member.size, 1.0 / member.size)
        means.append(mean)
        for start in range(0, member.size, BLOCK):  # centred a block at a time: sparse data are never dense as a whole
            centred = part[slice(start, start + BLOCK)].to_dense() - mean
            scatter += DenseRows(centred).gram(np.ones(centred.shape[0]))
    return (means[0], means[1]), scatter
