"""Other linear classifiers of two classes as estimators: least squares and least absolute deviations on coded classes,
and the perceptron, by its learning rule and by its criterion as a linear program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from warnings import warn

import numpy as np
from sklearn.utils import check_random_state

from convexcls.data import Named
from convexcls.estimators import NotSeparableError, UncertifiedWarning
from convexcls.estimators.base import BinaryLinearClassifier, CoefficientScores, WeightedFit, outside
from convexcls.estimators.support_vectors import not_separable
from convexcls.estimators.training import TrainingSamples
from convexcls.models import LeastAbsolute, LeastSquares, Model, PerceptronCriterion
from convexcls.models.base import check_choice, check_nonnegative
from convexcls.solution import Solution
from convexcls.solvers import Callback


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquaresClassifier(WeightedFit, BinaryLinearClassifier):
    """Least squares on the coded classes t_i,

        minimise  sum_i w_i (f(x_i) - t_i)^2 + alpha ‖coef‖^2

    Its counterpart is ``RidgeClassifier``, whose alpha is 1 where none is given; here it is 0, as the name says.
    ``coding`` is "pm1" (-1 and +1, split at 0) or "01" (0 and 1, split at 1/2); ``intercept_`` is such that the scores
    are split at 0 either way.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.LeastSquaresClassifier().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist(), model.certificate_.status
    ([[0.8]], [-1.2], 'optimal')
    """

    alpha: float = 0.0
    coding: Literal["pm1", "01"] = "pm1"

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        check_choice("coding", self.coding, ("pm1", "01"))
        l2 = check_nonnegative("alpha", self.alpha)
        return LeastSquares(X, y, l2=l2, coding=self.coding, intercept=self.fit_intercept, sample_weight=weights)


@dataclass(eq=False, repr=False, kw_only=True)
class LeastAbsoluteClassifier(WeightedFit, BinaryLinearClassifier):
    """Least absolute deviations on the coded classes t_i,

        minimise  sum_i w_i |f(x_i) - t_i|

    scikit-learn's ``QuantileRegressor(quantile=0.5, alpha=0)`` on the coded classes solves the same linear program; the
    minimiser need not be unique. ``coding`` as in ``LeastSquaresClassifier``.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.LeastAbsoluteClassifier().fit([[0], [1], [2], [3], [4]], [0, 0, 0, 1, 1])
    >>> model.predict([[0.5], [3.5]]).tolist(), model.certificate_.status
    ([0, 1], 'optimal')
    """

    coding: Literal["pm1", "01"] = "pm1"

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        check_choice("coding", self.coding, ("pm1", "01"))
        return LeastAbsolute(X, y, coding=self.coding, intercept=self.fit_intercept, sample_weight=weights)


METHODS = ("rule", "lp")
#: The passes of the rule where no limit is given.
PASSES = 1000


@dataclass(eq=False, repr=False, kw_only=True)
class PerceptronClassifier(CoefficientScores, BinaryLinearClassifier):
    """The perceptron.

    ``method="rule"`` is Rosenblatt's learning rule, as in ``Perceptron``: visit the samples; where y_i f(x_i) <= 0, add
    eta0 y_i (x_i, 1) to the weights. It ends with the first pass without a mistake, which proves the answer, or after
    ``max_iter`` passes (1000 where it is None); where the classes are found not to be separable it ends with a proof of
    that and warns. ``solution_.rule_report`` has the updates and the bound R²/γ² on their number. ``shuffle=False``
    visits the samples as they stand. The rule has no other solver.

    ``method="lp"`` minimises the perceptron criterion,

        minimise  sum_i w_i max(0, -y_i f(x_i))   subject to   sum_i w_i y_i f(x_i) = sum_i w_i

    which has an answer for classes that overlap, too. ``eta0``, ``shuffle`` and ``random_state`` have no part in it.

    There is no ``sample_weight``: of the many hyperplanes without errors, it is chance or the solver, not weights, that
    says which one is found. ``class_weight`` multiplies the steps of the rule, and the w_i of the program.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.PerceptronClassifier(shuffle=False).fit([[0, 0], [1, 1], [3, 3]], [0, 0, 1])
    >>> report = model.solution_.rule_report
    >>> report.separated, 0 < report.updates < 100, model.predict([[4, 4]]).tolist()
    (True, True, [1])
    """

    method: Literal["rule", "lp"] = "rule"
    eta0: float = 1.0
    shuffle: bool = True
    random_state: Any = 0

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        check_choice("method", self.method, METHODS)
        return PerceptronCriterion(X, y, intercept=self.fit_intercept, sample_weight=weights)

    def _solver(self) -> tuple[str, dict[str, Any]]:
        if self.method == "lp":
            return super()._solver()
        if self.solver not in ("auto", "perceptron"):
            raise ValueError(f'solver is {self.solver!r}: the learning rule has none; use method="lp" to choose one')
        passes = PASSES if self.max_iter in (None, -1) else self.max_iter
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.shuffle else 0
        order = "random" if self.shuffle else "cyclic"
        return "perceptron", {"rate": self.eta0, "order": order, "seed": seed, "max_passes": passes}

    def _start(self, k: int) -> Solution | Mapping[str, Any] | None:
        """The weights of the last fit, as long as they were; none where that had other features or fewer classes."""
        coef = getattr(self, "coef_", None)
        if self.method == "lp" or coef is None:
            return super()._start(k)
        if k >= len(coef) or coef.shape[1] != self.n_features_in_:
            return None
        intercept = {"intercept": self.intercept_[[k]]} if self.fit_intercept else {}
        return {"coef": coef[k], **intercept}

    def _settled(self, samples: TrainingSamples, problem: Model, k: int, callback: Callback | None) -> Solution:
        if self.method == "lp":
            return super()._settled(samples, problem, k, callback)
        solution = self._solved(problem, k, callback)
        if not solution.rule_report.separated:
            message = f"the learning rule has not found a hyperplane without errors: {solution.message}"
            warn(f"{type(self).__name__}: {message}", UncertifiedWarning, stacklevel=outside())
        return solution

    def _refused(self, samples: TrainingSamples, solution: Solution) -> NotSeparableError:
        return not_separable(samples, solution, self.fit_intercept)

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        """The weights as the rule left them; the solution of the criterion has them scaled to mean margin one."""
        if self.method == "lp":
            super()._read(samples, solutions)
            return
        d = samples.X.shape[1]
        weights = np.vstack([solution.rule_report.weights for solution in solutions])
        self.coef_ = weights[:, :d].copy()
        self.intercept_ = weights[:, d].copy() if self.fit_intercept else np.zeros(len(solutions))
