"""The error where no hyperplane separates the classes: with the proof, and the samples that it is about."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.estimators.errors import NotSeparableError
from convexcls.estimators.training import TrainingSamples
from convexcls.proofs.separability import separability
from convexcls.solution import Solution
from convexcls.wording import listed

#: So many samples of a class are named.
MOST = 10


def not_separable(samples: TrainingSamples, solution: Solution, intercept: bool) -> NotSeparableError:
    """The error, with a proof in rationals beside that of the solution: few samples, of which none can be left out."""
    data = solution.data
    proof = separability(data.samples, data.given, intercept=intercept)
    hull = proof.hull
    if hull is None:  # then it is the solution that says so
        return NotSeparableError(solution.certificate.explain(), solution.certificate, proof)
    rows = {label: samples.original(np.array(list(weights), dtype=np.intp)) for label, weights in hull.weights.items()}
    named = " and ".join(
        f"samples {listed(own, MOST)} of {_class(samples, solution, label)}" for label, own in rows.items() if own.size
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
