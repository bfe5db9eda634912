"""Gaussian classes as an estimator: linear and quadratic discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.data import Named
from convexcls.estimators import NoMaximumError
from convexcls.estimators.attributes import Probabilities
from convexcls.estimators.base import CertifiedClassifier
from convexcls.estimators.training import TrainingSamples
from convexcls.models import GaussianMLE, Model
from convexcls.models.base import check_choice
from convexcls.solution import Solution

COVARIANCES = ("shared", "by_class")


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianClassifier(Probabilities, CertifiedClassifier):
    """Gaussian classes by maximum likelihood: one covariance that all share (``LinearDiscriminantAnalysis``) or one by
    class (``QuadraticDiscriminantAnalysis``). The likelihood is a convex program in the inverse covariances.

    Covariances are divided by n (one by class: by n_k), which is maximum likelihood and what scikit-learn 1.9 does;
    ``unbiased=True`` divides by n - K (by n_k - 1), as earlier versions of it did. ``priors`` are the shares of the
    classes where none are given. Where a combination of features does not vary within a class there is no maximum, and
    a fit raises ``NoMaximumError``. As its counterparts it takes no weights; the model ``GaussianMLE`` does.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> X, y = [[1, 1], [3, 2], [2, 3], [7, 5], [9, 6], [8, 7]], ["a", "a", "a", "b", "b", "b"]
    >>> model = cc.GaussianClassifier(priors=[0.5, 0.5]).fit(X, y)
    >>> model.means_.round(6).tolist(), model.predict([[4, 4]]).tolist(), model.certificate_.status
    ([[2.0, 2.0], [8.0, 6.0]], ['a'], 'optimal')
    """

    covariance: Literal["shared", "by_class"] = "shared"
    priors: Any = None
    unbiased: bool = False

    _several = True
    _sparse = False  # a covariance is dense

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        check_choice("covariance", self.covariance, COVARIANCES)
        kind: Any = self.covariance.replace("_", "-")
        return GaussianMLE(X, y, covariance=kind, unbiased=self.unbiased)

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        (solution,) = solutions
        found = solution.estimates
        self.means_, self.covariance_ = found.means, found.covariance
        self.priors_ = found.priors if self.priors is None else _checked(self.priors, len(found.priors))
        moved = np.log(self.priors_) - np.log(found.priors)
        self._moved = float(moved[1] - moved[0]) if moved.size == 2 else moved
        if self.covariance == "shared":
            self.coef_ = np.atleast_2d(solution.coef)
            self.intercept_ = np.atleast_1d(solution.intercept + self._moved)

    def _scores(self, X: Named) -> Array:
        return super()._scores(X) + self._moved

    def _refused(self, samples: TrainingSamples, solution: Solution) -> NoMaximumError:
        return NoMaximumError(
            "the likelihood has no maximum, which is proved (see .certificate of this error): some combination of the "
            "features does not vary within a class, so that its variance is estimated as 0. Leave features out, or "
            "give more samples",
            solution.certificate,
        )


def _checked(priors: Any, count: int) -> Array:
    array = np.asarray(priors, dtype=float)
    if array.shape != (count,) or not np.all(array > 0) or not np.isclose(array.sum(), 1.0):
        raise ValueError(f"priors are {priors!r}: give {count} numbers above 0 that add up to 1, one a class")
    return array
