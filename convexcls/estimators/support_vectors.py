"""Support vector machines as estimators: the hard margin, the soft margin, and those of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.data import Named
from convexcls.estimators import NotSeparableError
from convexcls.estimators.base import BinaryLinearClassifier, CertifiedClassifier, LinearClassifier, WeightedFit
from convexcls.estimators.training import TrainingSamples
from convexcls.models import HardMarginSVM, KernelSVM, Model, SoftMarginSVM
from convexcls.models.base import check_positive, is_infinite
from convexcls.proofs.separability import separability
from convexcls.solution import Solution
from convexcls.wording import listed

#: So many samples of a class are named.
MAX_NAMED_SAMPLES = 10


# ---- support vectors, as SVC keeps them: those of the first class first ---------------------------------


class SupportVectors:
    """``support_`` (rows of X), ``support_vectors_``, ``dual_coef_`` (y_i alpha_i, 1 x their number) and ``n_support_``
    (how many of each class). With one program for each class they are tuples, one entry a program.

    They are read from the solution when they are asked for: to say who supports it takes a pass over the samples.
    """

    _rows: Indices | None
    _rows_by_pair: Any
    _each: Callable[[Callable[[Solution], Any], str], Any]

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        super()._read(samples, solutions)  # type: ignore[misc]
        self._rows = samples.rows

    @property
    def support_(self) -> Any:
        """The rows of X that hold the answer in place."""
        found = self._each(_supporting, "support_")
        if self._rows_by_pair is not None:
            return tuple(rows[own] for rows, own in zip(self._rows_by_pair, found, strict=True))
        if self._rows is None:
            return found
        return tuple(self._rows[own] for own in found) if isinstance(found, tuple) else self._rows[found]

    @property
    def support_vectors_(self) -> Any:
        """The samples in these rows; none where X was a kernel matrix."""
        if getattr(self, "kernel", None) == "precomputed":
            return self._each(lambda _: np.empty((0, 0)), "support_vectors_")
        return self._each(lambda solution: solution.data.matrix[_supporting(solution)], "support_vectors_")

    @property
    def dual_coef_(self) -> Any:
        """y_i alpha_i of these rows."""
        return self._each(lambda solution: _coefficients(solution)[_supporting(solution)][None, :], "dual_coef_")

    @property
    def n_support_(self) -> Any:
        """How many of these rows are of the first class, and how many of the second."""
        return self._each(lambda solution: np.bincount(_classes(solution), minlength=2).astype(np.int32), "n_support_")

    def _kept(self) -> dict[str, Any]:
        return {"_rows": None}


def _supporting(solution: Solution) -> Indices:
    """The samples of the model that support it, those of the first class first."""
    return solution.support[np.argsort(_classes(solution), kind="stable")]


def _classes(solution: Solution) -> Indices:
    return solution.data.grouping[0][solution.support]


def _coefficients(solution: Solution) -> Array:
    alpha = solution.values["margin"] if "margin" in solution.values else solution.multipliers["margin"]
    return np.where(solution.data.grouping[0] > 0, alpha, -alpha)


# ---- one estimator after the other ----------------------------------------------------------------------


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

    multi_class: Literal["ovr", "ovo"] | None = None

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


@dataclass(eq=False, repr=False, kw_only=True)
class SoftMarginSVC(WeightedFit, SupportVectors, BinaryLinearClassifier):
    """The soft-margin support vector machine,

        minimise  1/2 ‖coef‖^2 + C sum_i w_i max(0, 1 - y_i f(x_i))        (``loss="squared_hinge"``: the squares)

    Its counterpart is ``SVC(kernel="linear")``. ``LinearSVC`` solves another problem: it penalises the intercept.

    The other settings are those of all estimators: see ``convexcls.estimators``.

    >>> import convexcls as cc
    >>> model = cc.SoftMarginSVC(C=1.0).fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist(), model.certificate_.status
    ([[0.666667]], [-1.0], 'optimal')
    """

    C: float = 1.0
    loss: Literal["hinge", "squared_hinge"] = "hinge"

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        return SoftMarginSVM(X, y, C=self.C, loss=self.loss, intercept=self.fit_intercept, sample_weight=weights)


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
    multi_class: Literal["ovr", "ovo"] | None = None
    memory_limit: float = 1e9

    def _problems(self, samples: TrainingSamples, parts: tuple[TrainingSamples, ...]) -> tuple[Model, ...]:
        self._gamma = self._scaled_gamma(samples)
        return super()._problems(samples, parts)

    def _declare(self, X: Named, y: Any, weights: Any) -> Model:
        hard = is_infinite(self.C)
        same = {name: getattr(self, name) for name in ("kernel", "degree", "coef0", "memory_limit")}
        C, weights = (None, None) if hard else (self.C, weights)
        return KernelSVM(X, y, C=C, gamma=self._gamma, intercept=self.fit_intercept, sample_weight=weights, **same)

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
