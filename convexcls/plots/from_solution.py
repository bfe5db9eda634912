"""What pictures read from a solution: its samples before any basis, its multipliers by sample, its slab."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.data import DataError, as_vector, check_matrix, class_numbers
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

#: The boundary in words, where it has no equation.
SEVERAL_BORDERS = "drawn as lines between the classes"


@dataclass(frozen=True, eq=False)
class Shown:
    """Samples with their classes. ``own`` says whether they are the training samples."""

    samples: Any
    names: tuple[str, ...]
    classes: Indices
    labels: tuple[Any, ...]
    own: bool = True

    @property
    def n(self) -> int:
        """How many samples there are."""
        return int(self.samples.shape[0])

    @property
    def d(self) -> int:
        """How many features they have."""
        return len(self.names)

    def same_as(self, other: Shown) -> bool:
        """Whether both are the same samples with the same labels."""
        alike = self.labels == other.labels and np.array_equal(self.classes, other.classes)
        return alike and _same(self.samples, other.samples)

    def replaced_by(self, X: Any, y: Any, predicted: Callable[[], Any]) -> Shown:
        """Other samples with labels y, or the predicted ones; the same where X are these and y says nothing else."""
        matrix = check_matrix(X, columns=self.d)
        if y is None and _same(matrix, self.samples):
            return self
        given, labels = class_numbers(as_vector(predicted() if y is None else y, "y", matrix.shape[0]))
        known = {label: k for k, label in enumerate(self.labels)}
        if strange := [label for label in labels if label not in known]:
            raise DataError(f"y has the label {strange[0]!r}, which the classifier does not know: {self.labels}")
        classes = np.array([known[label] for label in labels], dtype=np.intp)[given]
        other = Shown(matrix, self.names, classes, self.labels, own=False)
        return self if self.same_as(other) else other


def shown_samples(solution: Solution, X: Any = None, y: Any = None) -> Shown:
    """The training samples as they were before any basis; or samples X with labels y (by default those predicted)."""
    own = training_samples(solution)
    if X is None:
        return own
    return own.replaced_by(X, y, lambda: solution.predict(X))


def training_samples(solution: Solution) -> Shown:
    """The training samples as they were before any basis."""
    data = solution.data
    if data.labels is None or data.classes is None:
        raise NoAnswer(f"the {solution.problem.name} has real targets: there are no classes to draw")
    if solution.problem.kernel is not None and solution.problem.kernel.kind == "precomputed":
        raise NoAnswer("a precomputed kernel has no samples to draw, only their products")
    if data.expanded is None:
        return Shown(data.matrix, data.features, data.classes, data.labels)
    return Shown(data.expanded.origin, data.expanded.inputs, data.classes, data.labels)


def _same(first: Any, second: Any) -> bool:
    """Whether two matrices, dense or sparse, have the same entries."""
    if first.shape != second.shape or hasattr(first, "toarray") != hasattr(second, "toarray"):
        return False
    return (first != second).nnz == 0 if hasattr(first, "toarray") else bool(np.array_equal(first, second))


def check_point(solution: Solution, what: str) -> None:
    """Refuse a solution without a point: there is nothing to draw."""
    if solution.x is not None:
        return
    name = solution.problem.name
    if solution.status == "infeasible" and "margin" in (c.name for c in solution.problem.constraints):
        raise NoAnswer(f"the {name} is infeasible: it has no {what}; HullsDisplay shows why")
    raise NoAnswer(f"the {name} is {solution.status}: it has no {what} to draw")


def linear_coef(solution: Solution) -> Array | None:
    """coef where the score is linear in the samples as given, else None."""
    if solution.data.expanded is not None:
        return None
    try:
        return np.asarray(solution.coef)
    except NoAnswer:
        return None


def slab(solution: Solution) -> float | None:
    """The score on the margins: 1 of a support vector machine, the distance of the widest slab; None elsewhere."""
    problem = solution.problem
    if "margin" in problem.layout:  # a kernel machine, stated by its multipliers
        return 1.0
    if "distance" in problem.layout:
        distance = float(solution.values["distance"][0])
        return distance if distance > 0 else None
    margin = next((c for c in problem.constraints if c.name == "margin"), None)
    return 1.0 if margin is not None and np.all(margin.rhs == -1.0) else None


def sample_multipliers(solution: Solution) -> Array:
    """alpha_i, the multiplier of sample i's margin; of absolute deviations that of the residual, with its sign."""
    check_point(solution, "multipliers")
    if "margin" in solution.problem.layout:
        return solution.values["margin"]
    found = solution.multipliers
    if "margin" in found:
        return found["margin"]
    if {"residual_above", "residual_below"} <= found.keys():
        return np.asarray(found["residual_above"] - found["residual_below"])
    raise NoAnswer(
        f"the {solution.problem.name} has no multipliers by sample: its samples enter by a loss, not by constraints"
    )


def box(solution: Solution) -> Array | None:
    """The upper bounds of the multipliers by sample, C times the weights; None where there are none."""
    problem = solution.problem
    held = next((c.rhs for c in problem.constraints if c.name == "slack" and "margin" in problem.layout), None)
    if held is not None:
        return np.asarray(held)
    return problem.linear.get("slack")


def misclassified(scores: Array, classes: Indices) -> Indices:
    """The samples that scores put into another class than theirs."""
    found = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.flatnonzero(found != classes)


def verdict_words(solution: Solution) -> str:
    """What to add to the name of a classifier that is not proved optimal."""
    return {"optimal": "", "unattained": " (no minimum exists: where the solver stopped)"}.get(
        solution.status, f" ({solution.status})"
    )


def equation(solution: Solution) -> str:
    """The boundary in words: an equation where there are few features, the kind of curve where it is a conic; no words
    where coef is 0, so that there is none."""
    from convexcls.studies.conic import conic

    coef = linear_coef(solution)
    if coef is not None and not np.any(coef):
        return ""
    if coef is not None and coef.ndim == 1 and coef.size <= 3:
        constant = float(solution.intercept) - solution.problem.threshold
        terms = [*zip(coef, (f" {name}" for name in solution.data.features), strict=True), (constant, "")]
        written = " ".join(f"{'-' if value < 0 else '+'} {abs(value):.4g}{name}" for value, name in terms if value)
        return f"{written.removeprefix('+ ')} = 0"
    try:
        return str(conic(solution))
    except NoAnswer:
        return "a hyperplane" if coef is not None and coef.ndim == 1 else SEVERAL_BORDERS
