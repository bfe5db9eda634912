"""A fitted Pipeline of scikit-learn as pictures see it: the samples that it takes, and the scores of its last step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data.matrix import check_matrix, feature_names
from convexcls.plots.display import one_solution
from convexcls.plots.from_solution import Shown, training_samples
from convexcls.solution import Solution


@dataclass(frozen=True, eq=False)
class Steps:
    """``solution`` is that of the last step; ``before`` names the steps before it."""

    pipeline: Any
    given: Any
    solution: Solution
    before: str

    @classmethod
    def of(cls, pipeline: Any, X: Any, display: str) -> Steps:
        """The steps of a fitted Pipeline, and samples as they were before the first of them."""
        if X is None:
            raise TypeError(
                "a Pipeline keeps no samples as they were before its first step: give X, and y for the labels"
            )
        *before, (_, last) = pipeline.steps
        names = ", ".join(type(step).__name__ for _, step in before if step not in (None, "passthrough"))
        return cls(pipeline, X, one_solution(last, display), names or "no other step")

    def shown(self, y: Any) -> Shown:
        """The samples as they were given, with their labels."""
        matrix = check_matrix(self.given)
        labels = np.asarray(self.pipeline.predict(self.given) if y is None else y)
        known = self.solution.data.labels or ()
        classes = self._inside(y).classes if y is not None else np.array([known.index(v) for v in labels.tolist()])
        return Shown(matrix, feature_names(self.given, matrix.shape[1]), classes, known, own=False)

    def are_training_samples(self, y: Any) -> bool:
        """Whether the last step was fitted on these samples, in their order."""
        return self._inside(y).own

    def _inside(self, y: Any) -> Shown:
        """The samples as the last step gets them."""
        return training_samples(self.solution).replaced_by(
            self._transformed(self.given), y, lambda: self.pipeline.predict(self.given)
        )

    def _transformed(self, samples: Any) -> Any:
        return self.pipeline[:-1].transform(samples) if len(self.pipeline.steps) > 1 else samples

    def score(self, samples: Array) -> Array:
        """The scores of samples as they are before the first step."""
        table = self.given
        if hasattr(table, "columns"):  # a table's columns have names, which its steps look for
            samples = type(table)(samples, columns=table.columns)
        return self.solution.decision_function(self._transformed(samples))
