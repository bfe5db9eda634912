"""The soft-margin support vector machine as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from convexcls.data import Named
from convexcls.estimators.attributes import BinaryLinearClassifier, SupportVectors
from convexcls.estimators.base import WeightedFit
from convexcls.models import Model, SoftMarginSVM


@dataclass(eq=False, repr=False, kw_only=True)
class SoftMarginSVC(WeightedFit, SupportVectors, BinaryLinearClassifier):
    """The soft-margin support vector machine,

        minimise  1/2 ‖coef‖^2 + C sum_i w_i max(0, 1 - y_i f(x_i))        (``loss="squared_hinge"``: the squares)

    Its counterpart is ``SVC(kernel="linear")``. ``LinearSVC`` solves another problem: it penalises the intercept.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.SoftMarginSVC(C=1.0).fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist(), model.certificate_.status
    ([[0.666667]], [-1.0], 'optimal')
    """

    C: float = 1.0
    loss: Literal["hinge", "squared_hinge"] = "hinge"

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        return SoftMarginSVM(X, y, C=self.C, loss=self.loss, intercept=self.fit_intercept, sample_weight=weights)
