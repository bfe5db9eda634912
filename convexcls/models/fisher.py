"""Fisher's linear discriminant as a convex problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.data import Data, check_data
from convexcls.models.base import Model, score_variables
from convexcls.problem import Constraint, Label
from convexcls.rows import DenseRows, as_rows

Array = NDArray[np.float64]


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
        means, scatter = _means_and_scatter(data)
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
            unit=0.0,
            means=means,
            quadratic_symbol="S_W",
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


def _means_and_scatter(data: Data) -> tuple[tuple[Array, Array], Array]:
    rows = as_rows(data.matrix)
    means, scatter = [], np.zeros((data.d, data.d))
    for sign in (-1.0, 1.0):
        member = np.flatnonzero(data.target == sign)
        part = rows[member]
        mean = part.T @ np.full(member.size, 1.0 / member.size)
        means.append(mean)
        if data.sparse:
            scatter += part.gram(np.ones(member.size)) - member.size * np.outer(mean, mean)
        else:
            scatter += DenseRows(part.to_dense() - mean).gram(np.ones(member.size))
    return (means[0], means[1]), scatter
