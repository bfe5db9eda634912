"""How well predictions fit labels: the confusion matrix and what follows from it, and scores of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.data import DataError
from convexcls.wording import count, listed, shorten


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions beside the truth. ``confusion[i, j]`` is how many samples of label i are predicted as j. ``log_loss``
    and ``brier`` are means over the samples, of models with probabilities; ``auc`` is the area under the ROC curve, of
    two classes. None stands for what a model does not have.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0], [1], [2], [3]], ["no", "yes", "no", "yes"], l2=0.1).solve()
    >>> found = cc.evaluate(s, [[0], [1], [2], [3]], ["no", "yes", "no", "yes"])
    >>> found.confusion.tolist(), found.accuracy, found.auc
    ([[1, 1], [1, 1]], 0.5, 0.75)
    """

    labels: tuple[Any, ...]
    confusion: NDArray[Any]
    log_loss: float | None = None
    brier: float | None = None
    auc: float | None = None

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """The share of the samples that are predicted rightly."""
        return float(np.trace(self.confusion) / self.n)

    @property
    def recall(self) -> Array:
        """Of each label the share of its samples that are found; NaN where it has none."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=1))

    @property
    def precision(self) -> Array:
        """Of each label the share of its predictions that are right; NaN where it is never predicted."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=0))

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the recalls of the labels that occur."""
        return float(np.nanmean(self.recall))

    @property
    def warning(self) -> str:
        """That some labels are never predicted, or one always, where that is so."""
        times = self.confusion.sum(axis=0)
        names = [shorten(repr(label), 40) for label in self.labels]
        predicted, never = ([name for name, k in zip(names, times, strict=True) if bool(k) is w] for w in (True, False))
        if len(predicted) == 1:
            return f"always predicts {predicted[0]}"
        return f"never predicts {listed(never)}" if never else ""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        by_label = {
            str(label): {"samples": int(row.sum()), "recall": _none(r), "precision": _none(p)}
            for label, row, r, p in zip(self.labels, self.confusion, self.recall, self.precision, strict=True)
        }
        return {
            "samples": self.n,
            "labels": list(self.labels),
            "confusion": self.confusion.tolist(),
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "log_loss": self.log_loss,
            "brier": self.brier,
            "auc": self.auc,
            "by_label": by_label,
            "warning": self.warning,
        }

    def __repr__(self) -> str:
        return f"<Evaluation on {count(self.n, 'sample')}: accuracy {self.accuracy:.4g}>"


def evaluate(model: Any, X: Any, y: Any) -> Evaluation:
    """How well a solution or a saved model predicts the labels ``y`` of new samples ``X``: see ``Evaluation``.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0], [2]], ["a", "b"]).solve()
    >>> cc.evaluate(s, [[-1], [0.5], [3]], ["a", "b", "b"]).accuracy.__round__(6)
    0.666667
    """
    labels = model.data.labels if hasattr(model, "data") else model.labels
    if labels is None:
        raise DataError("a real target has no labels to count: compare the fitted values yourself")
    scores = model.decision_function(X)
    probabilities = None
    if getattr(model, "has_probabilities", True):
        problem = getattr(model, "problem", model)
        probabilities = problem.probabilities(scores)
    return judged(labels, y, scores, probabilities)


def judged(labels: tuple[Any, ...], y: Any, scores: Array, probabilities: Array | None) -> Evaluation:
    """The same from scores and probabilities."""
    truth = places(labels, y)
    log_loss = brier = auc = None
    if probabilities is not None:
        own = probabilities[np.arange(truth.size), truth]
        log_loss = float(-np.mean(np.log(np.maximum(own, np.finfo(float).eps))))
        hits = np.eye(len(labels))[truth]
        squares = ((probabilities - hits) ** 2).sum(axis=1)
        brier = float(np.mean(squares)) / (2.0 if len(labels) == 2 else 1.0)
    if len(labels) == 2 and len(np.unique(truth)) == 2:
        auc = area(truth == 1, scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0])
    return Evaluation(labels, confusion(truth, scores, len(labels)), log_loss, brier, auc)


def confusion(truth: Indices, scores: Array, k: int) -> NDArray[Any]:
    """How many samples of each of k classes are given each class by their scores."""
    predicted = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.bincount(truth * k + predicted, minlength=k * k).reshape(k, k)


def places(labels: tuple[Any, ...], y: Any) -> Indices:
    """Each label's place among those that a model knows; numbers and text that say the same are one."""
    known: dict[str, int] = {}
    for k, label in enumerate(labels):
        known[_text(label)] = k
    texts = [_text(entry) for entry in np.asarray(y, dtype=object).ravel().tolist()]
    odd = next((i for i, text in enumerate(texts) if text not in known), None)
    if odd is not None:
        raise DataError(
            f"y row {odd} is {texts[odd][:60]!r}, a label that the model does not know: it knows "
            f"{listed((shorten(repr(label), 30) for label in labels), 8)}"
        )
    return np.array([known[text] for text in texts], dtype=np.intp)


def _text(label: Any) -> str:
    if isinstance(label, (int, float)) and not isinstance(label, bool) and float(label).is_integer():
        return str(int(label))
    return str(label)


def area(positive: NDArray[Any], scores: Array) -> float:
    """The area under the ROC curve: how often a positive sample has the larger score than a negative one, ties half."""
    from scipy.stats import rankdata

    ranks, ones = rankdata(scores), int(positive.sum())
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * (positive.size - ones)))


def _ratio(part: Any, whole: Any) -> Array:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def _none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
