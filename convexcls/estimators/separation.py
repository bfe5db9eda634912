"""The error where no hyperplane separates the classes: with the proof, and the samples that it is about."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.estimators.errors import NotSeparableError
from convexcls.estimators.samples import Samples
from convexcls.separability import separability
from convexcls.solution import Solution

#: So many samples of a class are named.
MOST = 10


def not_separable(samples: Samples, solution: Solution, intercept: bool) -> NotSeparableError:
    """The error, with a proof in rationals beside that of the solution: few samples, of which none can be left out."""
    data = solution.data
    proof = separability(data.samples, data.given, intercept=intercept)
    hull = proof.hull
    if hull is None:  # then it is the solution that says so
        return NotSeparableError(solution.certificate.explain(), solution.certificate, proof)
    named = " and ".join(
        f"samples {_listed(samples, list(weights))} of {_class(samples, solution, label)}"
        for label, weights in hull.weights.items()
        if weights
    )
    meet = "have convex hulls that meet" if intercept else "leave no half-space through the origin"
    return NotSeparableError(
        f"no hyperplane has every sample strictly on the side of its class: {named} {meet}, which is proved in "
        "rationals (see .separability of this error). Use SoftMarginSVC, or other features",
        solution.certificate,
        proof,
    )


def _listed(samples: Samples, rows: list[int]) -> str:
    originals = samples.original(np.array(rows, dtype=np.intp)).tolist()
    return ", ".join(map(str, originals[:MOST])) + (", ..." if len(originals) > MOST else "")


def _class(samples: Samples, solution: Solution, label: Any) -> str:
    """The class as the caller knows it; with one program for each class, the labels are whether it is that class."""
    if len(samples.classes) == 2:
        return f"class {label!r}"
    row = int(np.flatnonzero(np.asarray(solution.data.given, dtype=bool))[0])
    return f"class {samples.classes.tolist()[samples.numbers[row]]!r}" if label else "the rest"
