"""What a fit takes and what it tells on the way: X, y and weights as scikit-learn gives them, made into what the models
take (checked once, copied never); ``verbose`` and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from convexcls.arrays import Array, Indices
from convexcls.data import DataError, Named, check_matrix, check_weights, class_numbers, feature_names, given_table
from convexcls.solvers import Callback, Iteration


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """Samples with their labels. ``numbers`` are the labels as places in ``classes``; ``weights`` is None where all are
    one, and ``own_weights`` are those without the weights of the classes; ``rows`` are the caller's rows that these
    are, None where all are."""

    X: Named
    y: NDArray[Any]
    classes: NDArray[Any]
    numbers: Indices
    weights: Array | None = None
    own_weights: Array | None = None
    rows: Indices | None = None

    def pair(self, first: int, second: int) -> TrainingSamples:
        """Those of two classes."""
        rows = np.flatnonzero((self.numbers == first) | (self.numbers == second))
        return TrainingSamples(
            self.X.take(rows),
            self.y[rows],
            self.classes[[first, second]],
            (self.numbers[rows] == second).astype(np.intp),
            None if self.weights is None else self.weights[rows],
            None if self.own_weights is None else self.own_weights[rows],
            self.original(rows),
        )

    def original(self, index: Indices) -> Indices:
        """The caller's rows that some of the samples are."""
        return index if self.rows is None else self.rows[index]


def taken(estimator: Any, X: Any, y: Any, sample_weight: Any, sparse: bool) -> TrainingSamples:
    """The samples that a fit counts: those with a weight. Leaving a sample out and giving it weight 0 are the same."""
    matrix, labels = validate_data(estimator, X, y, **_format(sparse))
    if labels.dtype.kind not in "iubSU":  # what are whole numbers or words are classes, without looking at all of them
        check_classification_targets(labels)
    weights = None if sample_weight is None else check_weights(sample_weight, matrix.shape[0])
    named = Named(matrix, _names(estimator, matrix.shape[1]), given=given_table(X))
    rows = None
    if weights is not None and not np.all(weights > 0):
        rows = np.flatnonzero(weights > 0)
        named = _chosen(named, rows, get_tags(estimator).input_tags.pairwise)
        labels, weights = labels[rows], weights[rows]
    numbers, distinct = class_numbers(labels)
    classes = np.array(distinct, dtype=labels.dtype)
    if classes.size < 2:
        raise DataError(f"y has one class only ({distinct[0]!r}): give samples of two classes or more")
    own_weights = weights
    if getattr(estimator, "class_weight", None) is not None:
        by_class = _class_weights(estimator.class_weight, classes, labels, weights)
        weights = by_class[numbers] * (1.0 if weights is None else weights)
    if weights is not None and np.all(weights == 1.0):
        weights = None
    return TrainingSamples(named, labels, classes, numbers, weights, own_weights, rows)


def _class_weights(spec: Any, classes: NDArray[Any], labels: NDArray[Any], weights: Array | None) -> Array:
    """The weight of each class; "balanced" counts samples by their weights."""
    by_class = np.asarray(compute_class_weight(spec, classes=classes, y=labels, sample_weight=weights), dtype=float)
    for label, weight in zip(classes.tolist(), by_class.tolist(), strict=True):
        if not 0 < weight < np.inf:
            raise ValueError(
                f"class_weight of class {label!r} is {weight}: it must be a number above 0; to do without a class, "
                "leave out its samples"
            )
    return by_class


def _chosen(samples: Named, rows: Indices, pairwise: bool) -> Named:
    """Some of the samples; of a kernel matrix, their columns too."""
    if not pairwise:
        return samples.take(rows)
    return Named(samples.matrix[rows][:, rows], tuple(samples.features[i] for i in rows))


def given(estimator: Any, X: Any, sparse: bool) -> Named:
    """Samples to be predicted."""
    matrix = check_matrix(validate_data(estimator, X, reset=False, **_format(sparse)))
    return Named(matrix, _names(estimator, matrix.shape[1]))


def _format(sparse: bool) -> dict[str, Any]:
    """What is asked of a matrix. That it is finite is checked by the models, whose error names the entry."""
    return {"accept_sparse": ("csr", "csc") if sparse else False, "dtype": np.float64, "ensure_all_finite": False}


def _names(estimator: Any, d: int) -> tuple[str, ...]:
    known = getattr(estimator, "feature_names_in_", None)
    return feature_names(None, d) if known is None else tuple(map(str, known))


# ---- progress -------------------------------------------------------------------------------------------


class FitTasks:
    """The tasks of a fit: one for each program where there are several, and in them one for each iteration.

    Callbacks get tasks only where some are set: a solver that nobody watches does not work out its points.
    """

    def __init__(self, estimator: Any, programs: int, X: Any, y: Any) -> None:
        self.estimator, self.programs, self.data = estimator, programs, {"X": X, "y": y}
        self.name = type(estimator).__name__
        self.task: Any = None
        if hasattr(estimator, "_skl_callbacks"):  # where set_callbacks keeps them; there is no public question
            self.task = estimator._init_callback_context(max_subtasks=programs if programs > 1 else None)

    def __enter__(self) -> Self:
        if self.task is not None:
            self.task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.estimator, **self.data)

    def solved(self, label: Any, run: Callable[[Callback | None], Any]) -> Any:
        """What ``run`` gives for the program that is told of as ``label``."""
        if self.task is None:
            return run(self._listener(None, label) if self.estimator.verbose else None)
        task = self.task
        if self.programs > 1:
            task = task.subcontext(task_name=f"class {label}", max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self.estimator)
        found = run(self._listener(task, label))
        if self.programs > 1:
            task.call_on_fit_task_end(estimator=self.estimator)
        return found

    def _listener(self, task: Any, label: Any) -> Callback:
        who = self.name if self.programs == 1 else f"{self.name}, class {label!r}"

        def listen(line: Iteration) -> None:
            if self.estimator.verbose:
                print(f"[{who}] {line}")
            if task is not None:
                step = task.subcontext(task_name="iteration")
                step.call_on_fit_task_begin(estimator=self.estimator)
                step.call_on_fit_task_end(estimator=self.estimator)

        return listen
