"""Softmax regression as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.data import Named, class_numbers
from convexcls.estimators.attributes import LinearClassifier
from convexcls.estimators.logistic import LikelihoodClassifier
from convexcls.estimators.training import TrainingSamples
from convexcls.models import Model, SoftmaxMLE
from convexcls.solution import Solution


@dataclass(eq=False, repr=False, kw_only=True)
class SoftmaxClassifier(LikelihoodClassifier, LinearClassifier):
    """Softmax regression for any number of classes, with scores z_k(x) = coef_k'x + intercept_k,

        minimise  -sum_i w_i log softmax(z(x_i))_{y_i} + 1/(2C) sum_k ‖coef_k‖^2

    Its counterpart is ``LogisticRegression``. Of two classes only coef = coef_2 - coef_1 matters and is penalised, as
    there: that is ``LogisticClassifier``.

    ``C`` and ``on_unattained`` are those of ``LogisticClassifier``. The other settings are those of all estimators: see
    ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["a", "a", "b", "b", "c", "c"]
    >>> model = cc.SoftmaxClassifier(C=10.0).fit(X, y)
    >>> model.predict([[0.2], [2.5], [4.8]]).tolist(), model.coef_.shape, model.certificate_.holds()
    (['a', 'b', 'c'], (3, 1), True)
    """

    class_weight: dict[object, float] | Literal["balanced"] | None = None

    _several = True

    def _declare_penalised(self, X: Named, y: Any, weights: Any, l2: float) -> Model:
        # of two classes each has half of coef, with a quarter of its square: twice that is what is wanted
        two = len(class_numbers(y)[1]) == 2
        return SoftmaxMLE(X, y, l2=2.0 * l2 if two else l2, intercept=self.fit_intercept, sample_weight=weights)

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        super()._read(samples, solutions)
        if len(self.classes_) == 2:
            self.coef_ = self.coef_[[1]] - self.coef_[[0]]
            self.intercept_ = self.intercept_[[1]] - self.intercept_[[0]]

    def _scores(self, X: Named) -> Array:
        scores = super()._scores(X)
        return scores if len(self.classes_) > 2 else np.asarray(scores[:, 1] - scores[:, 0])

    def _probabilities(self, scores: Array) -> Array:
        return super()._probabilities(scores if scores.ndim == 2 else np.column_stack([-scores / 2.0, scores / 2.0]))
