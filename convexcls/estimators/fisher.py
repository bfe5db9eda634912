"""Fisher's discriminant as an estimator and a transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from convexcls.arrays import Array
from convexcls.data import Named
from convexcls.estimators.attributes import CoefficientScores
from convexcls.estimators.base import CertifiedClassifier
from convexcls.estimators.training import TrainingSamples, given
from convexcls.models import FisherLDA, Model
from convexcls.rows.scores import row_products
from convexcls.solution import Solution


@dataclass(eq=False, repr=False, kw_only=True)
class FisherClassifier(CoefficientScores, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedClassifier):
    """Fisher's discriminant directions, those v with the largest v'S_B v / v'S_W v, as convex programs,

        minimise  1/2 coef' S_W coef   subject to   (mean_2 - mean_1)' coef = 1

    Of two classes the threshold is the one with the fewest errors along the direction; of several, a sample belongs to
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

    _several = True

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        return FisherLDA(X, y)

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
        return np.asarray(np.sqrt(self.solution_.data.n) * self.solution_.estimates.directions)

    @property
    def scalings_(self) -> Array:
        """The directions, one a column."""
        check_is_fitted(self)
        return self._directions()[: self._n_features_out].T

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of each direction in the scatter between classes."""
        check_is_fitted(self)
        ratios = self.solution_.estimates.ratios
        return np.asarray((ratios / ratios.sum())[: self._n_features_out])

    def transform(self, X: Any) -> Array:
        """The samples along the discriminant directions, measured from the mean of all."""
        check_is_fitted(self)
        samples = given(self, X, self._sparse)
        return row_products(samples.matrix, self.scalings_) - self.xbar_ @ self.scalings_
