"""Fits with a weight for each sample, for models that are sums of losses or of constraints."""

from __future__ import annotations

from typing import Any, Self

from convexcls.models import Model


class WeightedFit:
    """``fit`` and ``declare`` with ``sample_weight``. A weight of 0 is the same as leaving the sample out, one of 2 the
    same as a sample that stands there twice."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the program on these samples."""
        return self._fit(X, y, sample_weight)  # type: ignore[attr-defined]

    def declare(self, X: Any, y: Any, sample_weight: Any = None) -> Model | tuple[Model, ...]:
        """The program that ``fit`` solves on these samples, as a model to be read, dualized or solved otherwise; with
        one for each class, all of them."""
        return self._declared(X, y, sample_weight)  # type: ignore[attr-defined]
