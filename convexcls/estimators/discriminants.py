"""Discriminant analysis as estimators: Fisher's directions, and Gaussian classes (linear and quadratic)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from convexcls.arrays import Array
from convexcls.data import Named
from convexcls.estimators import NoMaximumError
from convexcls.estimators.base import CertifiedClassifier, CoefficientScores
from convexcls.estimators.likelihoods import Probabilities
from convexcls.estimators.training import TrainingSamples, given
from convexcls.models import FisherLDA, GaussianMLE, Model
from convexcls.models.base import check_choice
from convexcls.models.fisher import Cut
from convexcls.rows.scores import row_products
from convexcls.solution import Solution


@dataclass(eq=False, repr=False, kw_only=True)
class FisherClassifier(CoefficientScores, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedClassifier):
    """Fisher's discriminant directions, those v with the largest v'S_B v / v'S_W v, as convex programs,

        minimise  1/2 coef' S_W coef   subject to   (mean_2 - mean_1)' coef = 1

    Of two classes the threshold is the one with the fewest errors along the direction, or by another ``cut``: the
    "midpoint" of the means, or "equal-densities"; of several, a sample belongs to
    the class with the nearest mean in the metric of S_W. Its counterpart is ``LinearDiscriminantAnalysis``, which puts
    the threshold of two classes in the middle, moved by the priors; of several it is the same with equal priors.

    ``transform`` projects on the directions (``scalings_``, the columns; at most ``n_components`` of them), scaled to
    variance one within classes (sums of squares divided by n).

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> X, y = [[0, 0], [2, 0], [1, 1], [4, 0], [6, 0], [5, 1]], [0, 0, 0, 1, 1, 1]
    >>> model = cc.FisherClassifier().fit(X, y)
    >>> model.predict([[2, 0], [4, 1]]).tolist(), model.transform(X).shape, model.certificate_.status
    ([0, 1], (6, 1), 'optimal')
    """

    n_components: int | None = None
    cut: Cut = "fewest-errors"

    _several = True
    _pickled: ClassVar[Any]  # the directions, in what comes out of a pickle

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        return FisherLDA(X, y, cut=self.cut)

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        (solution,) = solutions
        model: Any = solution.problem
        counts = np.bincount(samples.numbers).astype(float)
        self.means_ = model.centred.origin + model.centred.means
        self.xbar_ = model.centred.origin + counts @ model.centred.means / counts.sum()
        self._n_features_out = self._components(len(model.variables))
        if len(counts) == 2:
            self.coef_, self.intercept_ = solution.coef[None, :], np.array([solution.intercept])
            return
        directions = self._directions()
        means = (self.means_ - self.xbar_) @ directions.T
        self.coef_ = means @ directions
        self.intercept_ = -0.5 * (means**2).sum(axis=1) - self.coef_ @ self.xbar_

    def _components(self, most: int) -> int:
        if self.n_components is None:
            return most
        if not isinstance(self.n_components, (int, np.integer)) or not 0 < self.n_components <= most:
            raise ValueError(f"n_components is {self.n_components!r}: there are {most} discriminant directions")
        return int(self.n_components)

    def _directions(self) -> Array:
        """All directions, one a row, scaled to variance one within classes. Of two classes nobody may ask for them, and
        that they are the best is a proof of its own: it is made when they are asked for."""
        return self._discriminants()[0]

    def _discriminants(self) -> tuple[Array, Array]:
        """The directions in this scale, and their Rayleigh quotients; out of a pickle as they went into it."""
        if "_pickled" in vars(self):
            return self._pickled
        found = self.solution_.estimates
        return np.asarray(np.sqrt(self.solution_.data.n) * found.directions), np.asarray(found.ratios)

    def _kept(self) -> dict[str, Any]:
        return {"_pickled": self._discriminants()}

    @property
    def scalings_(self) -> Array:
        """The directions, one a column."""
        check_is_fitted(self)
        return self._directions()[: self._n_features_out].T

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of each direction in the scatter between classes."""
        check_is_fitted(self)
        ratios = self._discriminants()[1]
        return np.asarray((ratios / ratios.sum())[: self._n_features_out])

    def transform(self, X: Any) -> Array:
        """The samples along the discriminant directions, measured from the mean of all."""
        check_is_fitted(self)
        samples = given(self, X, self._sparse)
        return row_products(samples.matrix, self.scalings_) - self.xbar_ @ self.scalings_


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
