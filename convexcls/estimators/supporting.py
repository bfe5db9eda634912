"""Support vectors, kept as SVC keeps them: those of the first class first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.estimators.samples import Samples
from convexcls.solution import Solution


class SupportVectors:
    """Keeps ``support_`` (rows of X), ``support_vectors_``, ``dual_coef_`` (y_i alpha_i, 1 x their number) and
    ``n_support_`` (how many of each class). With one program for each class they are tuples, one entry a program."""

    def _read(self, samples: Samples, solutions: tuple[Solution, ...]) -> None:
        super()._read(samples, solutions)  # type: ignore[misc]
        found = [_supported(samples, solution) for solution in solutions]
        support, vectors, coefficients, counts = zip(*found, strict=True)
        single = len(found) == 1
        self.support_: Any = support[0] if single else support
        self.support_vectors_: Any = vectors[0] if single else vectors
        self.dual_coef_: Any = coefficients[0] if single else coefficients
        self.n_support_: Any = counts[0] if single else counts


def _supported(samples: Samples, solution: Solution) -> tuple[NDArray[Any], Any, NDArray[Any], NDArray[Any]]:
    signs = solution.data.signs
    assert signs is not None
    chosen = solution.support[np.argsort(signs[solution.support], kind="stable")]
    alpha = solution.values["margin"] if "margin" in solution.values else solution.multipliers["margin"]
    counts = np.array([(signs[chosen] < 0).sum(), (signs[chosen] > 0).sum()], dtype=np.int32)
    return samples.original(chosen), samples.X.matrix[chosen], (signs * alpha)[chosen][None, :], counts
