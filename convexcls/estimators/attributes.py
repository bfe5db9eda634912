"""What several estimators keep of a fit, in the shapes of scikit-learn: coef_, support vectors, probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from convexcls.arrays import Array, Indices
from convexcls.data import Named
from convexcls.estimators.base import CertifiedClassifier
from convexcls.estimators.training import TrainingSamples, given
from convexcls.rows.scores import linear_scores
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


class CoefficientScores:
    """Scores by the coefficients that are kept, where they are not those of the solution."""

    coef_: Array
    intercept_: Array

    def _scores(self, X: Named) -> Array:
        if len(self.coef_) == 1:
            return linear_scores(X.matrix, self.coef_[0], self.intercept_[0])
        return linear_scores(X.matrix, self.coef_, self.intercept_)


# ---- support vectors, as SVC keeps them: those of the first class first ---------------------------------


class SupportVectors:
    """``support_`` (rows of X), ``support_vectors_``, ``dual_coef_`` (y_i alpha_i, 1 x their number) and ``n_support_``
    (how many of each class). With one program for each class they are tuples, one entry a program.

    They are read from the solution when they are asked for: to say who supports it takes a pass over the samples.
    """

    solution_: Any
    _rows: Indices | None

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        super()._read(samples, solutions)  # type: ignore[misc]
        self._rows = samples.rows

    @property
    def support_(self) -> Any:
        """The rows of X that hold the answer in place."""

        def rows(solution: Solution) -> Indices:
            return _supporting(solution) if self._rows is None else self._rows[_supporting(solution)]

        return self._each(rows)

    @property
    def support_vectors_(self) -> Any:
        """The samples in these rows; none where X was a kernel matrix."""
        if getattr(self, "kernel", None) == "precomputed":
            return self._each(lambda _: np.empty((0, 0)))
        return self._each(lambda solution: solution.data.matrix[_supporting(solution)])

    @property
    def dual_coef_(self) -> Any:
        """y_i alpha_i of these rows."""
        return self._each(lambda solution: _coefficients(solution)[_supporting(solution)][None, :])

    @property
    def n_support_(self) -> Any:
        """How many of these rows are of the first class, and how many of the second."""
        return self._each(lambda solution: np.bincount(_classes(solution), minlength=2).astype(np.int32))

    def _each(self, read: Callable[[Solution], Any]) -> Any:
        check_is_fitted(self)
        found = self.solution_
        return tuple(map(read, found)) if isinstance(found, tuple) else read(found)


def _supporting(solution: Solution) -> Indices:
    """The samples of the model that support it, those of the first class first."""
    return solution.support[np.argsort(_classes(solution), kind="stable")]


def _classes(solution: Solution) -> Indices:
    return solution.data.grouping[0][solution.support]


def _coefficients(solution: Solution) -> Array:
    alpha = solution.values["margin"] if "margin" in solution.values else solution.multipliers["margin"]
    return np.where(solution.data.grouping[0] > 0, alpha, -alpha)


# ---- probabilities --------------------------------------------------------------------------------------


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
