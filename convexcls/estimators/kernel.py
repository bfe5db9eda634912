"""Kernel machines as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.data import Named
from convexcls.estimators import NotSeparableError
from convexcls.estimators.attributes import SupportVectors
from convexcls.estimators.base import CertifiedClassifier, WeightedFit
from convexcls.estimators.training import TrainingSamples
from convexcls.models import KernelSVM, Model
from convexcls.models.base import check_positive, is_infinite
from convexcls.solution import Solution
from convexcls.wording import listed


@dataclass(eq=False, repr=False, kw_only=True)
class KernelSVC(WeightedFit, SupportVectors, CertifiedClassifier):
    """The support vector machine in the feature space of a kernel, by its Wolfe dual,

        maximise  sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j k(x_i, x_j)   subject to   0 <= alpha_i <= C w_i,
                  sum_i alpha_i y_i = 0

    Its counterpart is ``SVC``; kernels, ``gamma``, ``degree`` and ``coef0`` are the same. ``C=np.inf`` is the hard
    margin. ``gamma="scale"`` counts samples by their ``sample_weight``: a weight of 2 is a sample that stands there
    twice. A kernel matrix that is not positive semidefinite is refused. ``memory_limit`` is in bytes.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.KernelSVC(kernel="rbf", gamma=1.0, C=10.0).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> model.predict([[0.1, 0.1], [0.1, 0.9]]).tolist(), model.n_support_.tolist(), model.certificate_.status
    ([0, 1], [2, 2], 'optimal')
    """

    C: float = 1.0
    kernel: str | Callable[[Any, Any], Any] = "rbf"
    degree: float = 3
    gamma: float | Literal["scale", "auto"] = "scale"
    coef0: float = 0.0
    fit_intercept: bool = True
    class_weight: dict[object, float] | Literal["balanced"] | None = None
    multi_class: Literal["ovr"] | None = None
    memory_limit: float = 1e9

    def _problems(self, samples: TrainingSamples) -> tuple[Model, ...]:
        self._gamma = self._scaled_gamma(samples)
        return super()._problems(samples)

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        hard = is_infinite(self.C)
        return KernelSVM(
            X,
            y,
            kernel=self.kernel,
            C=None if hard else self.C,
            gamma=self._gamma,
            degree=self.degree,
            coef0=self.coef0,
            intercept=self.fit_intercept,
            sample_weight=None if hard else weights,
            memory_limit=self.memory_limit,
        )

    def _scaled_gamma(self, samples: TrainingSamples) -> float:
        """gamma as a number: 1 / (d var(X)) for "scale", 1/d for "auto"."""
        d = samples.X.shape[1]
        if not isinstance(self.gamma, str):
            return check_positive("gamma", self.gamma)
        if self.gamma not in ("scale", "auto"):
            raise ValueError(f"gamma is {self.gamma!r}: it must be a number above 0, 'scale' or 'auto'")
        if self.kernel == "precomputed":
            return 1.0
        variance = 1.0 if self.gamma == "auto" else _variance(samples.X.matrix, samples.own_weights)
        return 1.0 / (d * variance) if np.isfinite(variance) and variance > 0 else 1.0

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        super()._read(samples, solutions)
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        if self.kernel == "linear":
            self.coef_ = np.vstack([solution.coef for solution in solutions])

    def _scores(self, X: Named) -> Array:
        if self.kernel == "precomputed" and self._rows is not None:  # the columns of samples that had a weight
            X = Named(X.matrix[:, self._rows], tuple(X.features[j] for j in self._rows))
        return super()._scores(X)

    def _refused(self, samples: TrainingSamples, solution: Solution) -> NotSeparableError:
        direction = solution.certificate.direction
        rows = np.empty(0, dtype=np.intp) if direction is None else np.flatnonzero(direction.x > 0)
        shown = listed(samples.original(rows), 10)
        called = f"{self.kernel} kernel" if isinstance(self.kernel, str) else "kernel"
        return NotSeparableError(
            f"no hyperplane in the feature space of the {called} has every sample strictly on the side of "
            f"its class: the multipliers of samples {shown} may grow for ever, which is proved (see .certificate of "
            "this error). Give a finite C, or another kernel",
            solution.certificate,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _variance(matrix: Any, weights: Array | None) -> float:
    """The variance of all entries, a sample counted by its weight."""
    with np.errstate(over="ignore", invalid="ignore"):
        if weights is None:
            if not sparse.issparse(matrix):
                return float(matrix.var())
            return float(matrix.multiply(matrix).mean() - matrix.mean() ** 2)
        count = float(weights.sum()) * matrix.shape[1]
        squares = matrix.multiply(matrix) if sparse.issparse(matrix) else matrix**2
        return float((weights @ squares).sum() / count - ((weights @ matrix).sum() / count) ** 2)
