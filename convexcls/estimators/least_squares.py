"""Least squares on coded classes as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from convexcls.data import Named
from convexcls.estimators.attributes import BinaryLinearClassifier
from convexcls.estimators.base import WeightedFit
from convexcls.models import LeastSquares, Model
from convexcls.models.base import check_choice, check_nonnegative


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquaresClassifier(WeightedFit, BinaryLinearClassifier):
    """Least squares on the coded classes t_i,

        minimise  sum_i w_i (f(x_i) - t_i)^2 + alpha ‖coef‖^2

    Its counterpart is ``RidgeClassifier``, whose alpha is 1 where none is given; here it is 0, as the name says.
    ``coding`` is "pm1" (-1 and +1, split at 0) or "01" (0 and 1, split at 1/2); ``intercept_`` is such that the scores
    are split at 0 either way.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.LeastSquaresClassifier().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist(), model.certificate_.status
    ([[0.8]], [-1.2], 'optimal')
    """

    alpha: float = 0.0
    coding: Literal["pm1", "01"] = "pm1"

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        check_choice("coding", self.coding, ("pm1", "01"))
        l2 = check_nonnegative("alpha", self.alpha)
        return LeastSquares(X, y, l2=l2, coding=self.coding, intercept=self.fit_intercept, sample_weight=weights)
