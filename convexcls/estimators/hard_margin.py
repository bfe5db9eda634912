"""The optimal separating hyperplane as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from convexcls.data import Named
from convexcls.estimators.errors import NotSeparableError
from convexcls.estimators.linear import LinearClassifier
from convexcls.estimators.separation import not_separable
from convexcls.estimators.supporting import SupportVectors
from convexcls.estimators.training import TrainingSamples
from convexcls.estimators.weighted import WeightedFit
from convexcls.models import HardMarginSVM, Model
from convexcls.solution import Solution


@dataclass(eq=False, repr=False, kw_only=True)
class HardMarginSVC(WeightedFit, SupportVectors, LinearClassifier):
    """The hyperplane with the widest margin,

        minimise  1/2 ‖coef‖^2   subject to   y_i f(x_i) >= 1

    Its counterpart is ``SVC(kernel="linear", C=...)`` with a very large C. Where no hyperplane separates the classes, a
    fit raises ``NotSeparableError`` with the proof. Every sample with a weight counts the same.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.HardMarginSVC().fit([[0, 0], [1, 0], [3, 0], [5, 1]], ["a", "a", "b", "b"])
    >>> model.support_.tolist(), model.coef_.round(6).tolist()[0][0], model.certificate_.holds()
    ([1, 2], 1.0, True)
    """

    multi_class: Literal["ovr"] | None = None

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        return HardMarginSVM(X, y, intercept=self.fit_intercept)

    def _refused(self, samples: TrainingSamples, solution: Solution) -> NotSeparableError:
        return not_separable(samples, solution, self.fit_intercept)
