"""Classifiers with coefficients, one a feature, in the shapes of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from convexcls.estimators.base import CertifiedClassifier
from convexcls.estimators.training import TrainingSamples
from convexcls.solution import Solution


@dataclass(eq=False, repr=False, kw_only=True)
class LinearClassifier(CertifiedClassifier):
    """Keeps ``coef_`` (1 x d for two classes, else one row a class) and ``intercept_``, so that the scores are
    X coef_' + intercept_."""

    fit_intercept: bool = True

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        super()._read(samples, solutions)
        self.coef_ = np.vstack([solution.coef for solution in solutions])
        thresholds = [solution.problem.threshold for solution in solutions]
        self.intercept_ = np.hstack([s.intercept - t for s, t in zip(solutions, thresholds, strict=True)])


@dataclass(eq=False, repr=False, kw_only=True)
class BinaryLinearClassifier(LinearClassifier):
    """A classifier of two classes; of several on request, by one program for each class against the rest
    (``multi_class="ovr"``). ``class_weight`` multiplies the weights of the samples, as in scikit-learn."""

    class_weight: dict[object, float] | Literal["balanced"] | None = None
    multi_class: Literal["ovr"] | None = None
