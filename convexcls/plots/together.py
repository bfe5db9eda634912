"""Several solutions on one picture: whether they go together, and one for each class against the rest as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import DataError
from convexcls.plots.from_solution import Shown, check_point, training_samples
from convexcls.solution import Solution


def check_together(solutions: Sequence[Solution], names: Sequence[str] | None, own: bool) -> None:
    """Refuse solutions that cannot be drawn together: they need the same features and, where their ``own`` samples are
    drawn, the same samples."""
    if not solutions:
        raise ValueError("there is no solution to draw: give at least one")
    if names is not None and len(names) != len(solutions):
        raise ValueError(f"there are {len(names)} names for {len(solutions)} solutions: give as many")
    for s in solutions:
        check_point(s, "boundary")
    first, *others = (training_samples(s) for s in solutions)
    for s, shown in zip(solutions[1:], others, strict=True):
        if shown.names != first.names:
            raise ValueError(
                f"the {s.problem.name} has the features {', '.join(shown.names[:6])}, the {solutions[0].problem.name} "
                f"{', '.join(first.names[:6])}: classifiers on one picture need the same"
            )
        if own and not shown.same_as(first):
            raise ValueError(
                f"the {s.problem.name} was declared on other samples or labels than the {solutions[0].problem.name}: "
                "say which samples to draw with X and y"
            )


def together(solutions: Sequence[Solution]) -> Callable[[Any], Array]:
    """The scores of all, one column each."""
    return lambda X: np.column_stack([s.decision_function(X) for s in solutions])


def one_vs_rest_samples(solutions: Sequence[Solution], labels: tuple[Any, ...]) -> Shown:
    """The training samples, each with the label whose problem has it on its positive side."""
    sides = [s.data.signs for s in solutions]
    if any(side is None or side.size != solutions[0].data.n for side in sides):
        raise DataError("one against the rest needs problems of two classes on the same samples")
    above = np.array(sides) > 0
    if not np.all(above.sum(axis=0) == 1):
        row = int(np.flatnonzero(above.sum(axis=0) != 1)[0])
        raise DataError(f"row {row} is on the positive side of {above[:, row].sum()} problems: it must be of one")
    return replace(training_samples(solutions[0]), classes=above.argmax(axis=0).astype(np.intp), labels=labels)
