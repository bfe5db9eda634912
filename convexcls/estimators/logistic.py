"""Logistic regression as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from convexcls.data import Named
from convexcls.estimators.likelihood import LikelihoodClassifier
from convexcls.estimators.linear import BinaryLinearClassifier
from convexcls.models import LogisticMLE, Model


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticClassifier(LikelihoodClassifier, BinaryLinearClassifier):
    """Two-class logistic regression,

        minimise  sum_i w_i log(1 + exp(-y_i f(x_i))) + 1/(2C) ‖coef‖^2

    Its counterpart is ``LogisticRegression``.

    ``C=np.inf`` is maximum likelihood. Where that has no maximum, ``on_unattained="raise"`` raises ``NoMaximumError``,
    and ``"warn"`` adds a penalty and says so. The other settings are those of all estimators: see
    ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.LogisticClassifier(C=float("inf")).fit([[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1])
    >>> model.predict_proba([[0], [1]]).round(6).tolist(), model.certificate_.status
    ([[0.666667, 0.333333], [0.333333, 0.666667]], 'optimal')
    """

    def _declare_penalised(self, X: Named, y: Any, weights: Any, l2: float) -> Model:
        return LogisticMLE(X, y, l2=l2, intercept=self.fit_intercept, sample_weight=weights)
