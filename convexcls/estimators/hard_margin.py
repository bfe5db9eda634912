"""The optimal separating hyperplane as an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from convexcls.data import Named
from convexcls.estimators import NotSeparableError
from convexcls.estimators.attributes import LinearClassifier, SupportVectors
from convexcls.estimators.base import WeightedFit
from convexcls.estimators.training import TrainingSamples
from convexcls.models import HardMarginSVM, Model
from convexcls.proofs.separability import separability
from convexcls.solution import Solution
from convexcls.wording import listed

#: So many samples of a class are named.
MAX_NAMED_SAMPLES = 10


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


# ---- where no hyperplane separates the classes ----------------------------------------------------------


def not_separable(samples: TrainingSamples, solution: Solution, intercept: bool) -> NotSeparableError:
    """The error, with a proof in rationals beside that of the solution: few samples, of which none can be left out."""
    data = solution.data
    proof = separability(data.samples, data.given, intercept=intercept)
    hull = proof.hull
    if hull is None:  # then it is the solution that says so
        return NotSeparableError(solution.certificate.explain(), solution.certificate, proof)
    rows = {label: samples.original(np.array(list(weights), dtype=np.intp)) for label, weights in hull.weights.items()}
    named = " and ".join(
        f"samples {listed(own, MAX_NAMED_SAMPLES)} of {_class(samples, solution, label)}"
        for label, own in rows.items()
        if own.size
    )
    meet = "have convex hulls that meet" if intercept else "leave no half-space through the origin"
    return NotSeparableError(
        f"no hyperplane has every sample strictly on the side of its class: {named} {meet}, which is proved in "
        "rationals (see .separability of this error). Use SoftMarginSVC, or other features",
        solution.certificate,
        proof,
    )


def _class(samples: TrainingSamples, solution: Solution, label: Any) -> str:
    """The class as the caller knows it; with one program for each class, the labels are whether it is that class."""
    if len(samples.classes) == 2:
        return f"class {label!r}"
    row = int(np.flatnonzero(np.asarray(solution.data.given, dtype=bool))[0])
    return f"class {samples.classes.tolist()[samples.numbers[row]]!r}" if label else "the rest"
