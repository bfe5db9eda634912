"""Logistic regression as an estimator, and what it shares with softmax regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from warnings import warn

from convexcls.arrays import Array
from convexcls.data import Named
from convexcls.estimators import NoMaximumError, NoMaximumWarning
from convexcls.estimators.attributes import BinaryLinearClassifier, Probabilities
from convexcls.estimators.base import CertifiedClassifier, WeightedFit, outside
from convexcls.estimators.training import TrainingSamples
from convexcls.models import LogisticMLE, Model
from convexcls.models.base import check_choice, check_positive, is_infinite
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.solvers import Callback
from convexcls.studies.inference import Existence, existence
from convexcls.wording import listed


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
            told = f"{refusal}. Here it is fitted with C={1.0 / l2:g}, as was asked for"
            warn(told, NoMaximumWarning, stacklevel=outside())
        data = problem.data
        weights = data.weights if data.weighted else None
        penalised = self._declare_penalised(data.samples, data.given, weights, l2)
        return super()._settled(samples, penalised, k, callback)

    def _refused(self, samples: TrainingSamples, solution: Solution) -> NoAnswer:
        try:
            found = existence(solution.problem)
        except NoAnswer:  # of too many coefficients it is not told what becomes of each
            told = "the likelihood has no maximum (proved): the classes are separated. Give C: a penalty makes it exist"
            return NoMaximumError(told, solution.certificate, None)
        return NoMaximumError(_told(found), solution.certificate, found)


def _told(found: Existence) -> str:
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
