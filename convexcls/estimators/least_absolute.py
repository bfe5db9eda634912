"""Least absolute deviations on coded classes as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from convexcls.data import Named
from convexcls.estimators.attributes import BinaryLinearClassifier
from convexcls.estimators.base import WeightedFit
from convexcls.models import LeastAbsolute, Model
from convexcls.models.base import check_choice


@dataclass(eq=False, repr=False, kw_only=True)
class LeastAbsoluteClassifier(WeightedFit, BinaryLinearClassifier):
    """Least absolute deviations on the coded classes t_i,

        minimise  sum_i w_i |f(x_i) - t_i|

    scikit-learn's ``QuantileRegressor(quantile=0.5, alpha=0)`` on the coded classes solves the same linear program; the
    minimiser need not be unique. ``coding`` as in ``LeastSquaresClassifier``.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.LeastAbsoluteClassifier().fit([[0], [1], [2], [3], [4]], [0, 0, 0, 1, 1])
    >>> model.predict([[0.5], [3.5]]).tolist(), model.certificate_.status
    ([0, 1], 'optimal')
    """

    coding: Literal["pm1", "01"] = "pm1"

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        check_choice("coding", self.coding, ("pm1", "01"))
        return LeastAbsolute(X, y, coding=self.coding, intercept=self.fit_intercept, sample_weight=weights)
