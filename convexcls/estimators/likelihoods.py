"""Logistic and softmax regression as estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from warnings import warn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from convexcls.arrays import Array
from convexcls.data import Named, class_numbers
from convexcls.estimators import NoMaximumError, NoMaximumWarning
from convexcls.estimators.base import (
    BinaryLinearClassifier,
    CertifiedClassifier,
    LinearClassifier,
    WeightedFit,
    outside,
)
from convexcls.estimators.training import TrainingSamples, given
from convexcls.models import LogisticMLE, Model, SoftmaxMLE
from convexcls.models.base import check_choice, check_positive, class_probabilities, is_infinite
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.solvers import Callback
from convexcls.studies.inference import Existence, existence
from convexcls.wording import listed


class Probabilities:
    """``predict_proba`` and ``predict_log_proba`` from the scores, as the model makes them."""

    def _probabilities(self, scores: Array) -> Array:
        """One column a class. With one program for each class the probabilities of "this class" are made to add up to
        one, as scikit-learn does."""
        if not isinstance(self.solution_, tuple):  # type: ignore[attr-defined]
            return class_probabilities(scores)
        own = np.column_stack([class_probabilities(column)[:, 1] for column in scores.T])
        total = own.sum(axis=1, keepdims=True)
        return np.divide(own, total, out=np.full_like(own, 1.0 / own.shape[1]), where=total > 0)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, one column each in the order of ``classes_``."""
        check_is_fitted(self)
        if getattr(self, "_rows_by_pair", None) is not None:
            raise NoAnswer('one program for each two classes gives votes, no probabilities: give multi_class="ovr"')
        return self._probabilities(self._scores(given(self, X, self._sparse)))  # type: ignore[attr-defined]

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


@dataclass(eq=False, repr=False, kw_only=True)
class LikelihoodClassifier(WeightedFit, Probabilities, CertifiedClassifier):
    """``C`` is scikit-learn's: 1/(2C) ‖coef‖^2 is added to minus the log-likelihood, and ``C=np.inf`` is maximum
    likelihood. Where that has no maximum, ``on_unattained="raise"`` raises ``NoMaximumError``; ``"warn"`` adds the
    penalty that ``convexcls.existence`` suggests, and says so."""

    C: float = 1.0
    on_unattained: Literal["raise", "warn"] = "raise"

    def _declare_penalised(self, X: Named, y: Any, weights: Array | None, l2: float) -> Model:
        """The model with this penalty on coef."""
        raise NotImplementedError

    def _declare(self, X: Named, y: Any, weights: Array | None) -> Model:
        check_choice("on_unattained", self.on_unattained, ("raise", "warn"))
        l2 = 0.0 if is_infinite(self.C) else 1.0 / check_positive("C", self.C)
        return self._declare_penalised(X, y, weights, l2)

    def _settled(self, samples: TrainingSamples, problem: Model, k: int, callback: Callback | None) -> Solution:
        try:
            return super()._settled(samples, problem, k, callback)
        except NoMaximumError as refusal:
            if self.on_unattained != "warn" or refusal.existence is None:
                raise
            l2 = refusal.existence.ridge
            message = f"{refusal}. Here it is fitted with C={1.0 / l2:g}, as was asked for"
            warn(message, NoMaximumWarning, stacklevel=outside())
        data = problem.data
        weights = data.weights if data.weighted else None
        penalised = self._declare_penalised(data.samples, data.given, weights, l2)
        return super()._settled(samples, penalised, k, callback)

    def _refused(self, samples: TrainingSamples, solution: Solution) -> NoAnswer:
        try:
            found = existence(solution.problem)
        except NoAnswer:  # of too many coefficients it is not told what becomes of each
            why = "the likelihood has no maximum (proved): the classes are separated. Give C: a penalty makes it exist"
            return NoMaximumError(why, solution.certificate, None)
        return NoMaximumError(_message(found), solution.certificate, found)


def _message(found: Existence) -> str:
    runs = list(found.infinite.items())
    shown = listed((f"{name} ({way})" for name, way in runs), 6)
    return (
        f"the likelihood has no maximum ({found.verdict}, proved): these coefficients run to infinity: {shown}. With a "
        f'penalty it has one: try C={1.0 / found.ridge:g}, or on_unattained="warn"'
    )


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
