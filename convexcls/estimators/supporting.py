"""Support vectors, as SVC keeps them: those of the first class first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from convexcls.arrays import Array, Indices
from convexcls.estimators.training import TrainingSamples
from convexcls.solution import Solution


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
