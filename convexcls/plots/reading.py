"""What pictures read from a solution: its samples before any basis, its multipliers by sample, its slab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.data import DataError, check_data
from convexcls.plots.style import plain
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Shown:
    """Samples with their classes. ``own`` says whether they are the training samples."""

    samples: Any
    names: tuple[str, ...]
    classes: Index
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


def shown_samples(solution: Solution, X: Any = None, y: Any = None) -> Shown:
    """The training samples as they were before any basis; or samples X with labels y (by default those predicted)."""
    data = solution.data
    if data.labels is None or data.classes is None:
        raise NoAnswer(f"the {solution.problem.name} has real targets: there are no classes to draw")
    if getattr(getattr(solution.problem, "kernel", None), "kind", None) == "precomputed":
        raise NoAnswer("a precomputed kernel has no samples to draw, only their products")
    names = data.features if data.expanded is None else data.expanded.inputs
    if X is None:
        samples = data.matrix if data.expanded is None else data.expanded.origin
        return Shown(samples, names, data.classes, data.labels)
    given = check_data(X, solution.predict(X) if y is None else y, several=True)
    if given.d != len(names):
        raise DataError(f"X has {given.d} columns, but the classifier was declared with {len(names)}")
    classes, labels = given.grouping
    known = {label: k for k, label in enumerate(data.labels)}
    if strange := [label for label in labels if label not in known]:
        raise DataError(f"y has the label {strange[0]!r}, which the classifier does not know: {data.labels}")
    numbers = np.array([known[label] for label in labels], dtype=np.intp)[classes]
    return Shown(given.matrix, names, numbers, data.labels, own=False)


def check_point(solution: Solution, what: str) -> None:
    """Refuse a solution without a point: there is nothing to draw."""
    if solution.x is not None:
        return
    name = solution.problem.name
    if solution.status == "infeasible" and "margin" in (c.name for c in solution.problem.constraints):
        raise NoAnswer(
            f"the {name} is infeasible: it has no {what}; HullsDisplay shows why the classes cannot be separated"
        )
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


def misclassified(solution: Solution, shown: Shown) -> Index:
    """The samples that the classifier puts into another class."""
    scores = solution.data.expanded if shown.own and solution.data.expanded is not None else shown.samples
    values = solution.decision_function(scores)
    found = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
    return np.flatnonzero(found != shown.classes)


def verdict_words(solution: Solution) -> str:
    """What to add to the name of a classifier that is not proved optimal."""
    return {"optimal": "", "unattained": " (no minimum exists: where the solver stopped)"}.get(
        solution.status, f" ({solution.status})"
    )


def label_names(labels: tuple[Any, ...]) -> list[str]:
    """The labels as text."""
    return [plain(label) for label in labels]
