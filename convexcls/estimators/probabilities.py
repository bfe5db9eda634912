"""Probabilities of the classes, for models that have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from convexcls.arrays import Array
from convexcls.estimators.training import given


class Probabilities:
    """``predict_proba`` and ``predict_log_proba`` from the scores, as the model makes them."""

    def _probabilities(self, scores: Array) -> Array:
        """One column a class. With one program for each class the probabilities of "this class" are made to add up to
        one, as scikit-learn does."""
        problems: Any = self.problem_  # type: ignore[attr-defined]
        if not isinstance(problems, tuple):
            return np.asarray(problems.probabilities(scores))
        own = np.column_stack([p.probabilities(column)[:, 1] for p, column in zip(problems, scores.T, strict=True)])
        total = own.sum(axis=1, keepdims=True)
        return np.divide(own, total, out=np.full_like(own, 1.0 / own.shape[1]), where=total > 0)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, one column each in the order of ``classes_``."""
        check_is_fitted(self)
        return self._probabilities(self._scores(given(self, X, self._sparse)))  # type: ignore[attr-defined]

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
