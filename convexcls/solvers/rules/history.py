"""The way of a perceptron: which sample made which update, the weights on the way, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.wording import columns, count

#: So many updates are kept, the first ones.
MAX_UPDATES_KEPT = 1_000_000
#: More lines of a table are not printed.
MAX_LINES_SHOWN = 30


@dataclass(eq=False)
class UpdateLog:
    """Collects the updates of a run, pass by pass: their samples, and when they were made."""

    samples: list[Indices] = field(default_factory=list)
    visits: list[Indices] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)
    kept: int = 0
    complete: bool = True

    def add(self, number: int, samples: Indices, visits: Indices) -> None:
        """The updates of one pass."""
        if not samples.size or not self.complete:
            return
        if self.kept + samples.size > MAX_UPDATES_KEPT:
            self.complete = False
            return
        self.kept += samples.size
        self.samples.append(samples.astype(np.int64))
        self.visits.append(visits.astype(np.int64))
        self.passes.append(number)

    def closed(self) -> Updates:
        """All of them."""
        nothing = np.zeros(0, dtype=np.int64)
        passes = np.repeat(np.array(self.passes, dtype=np.int64), [part.size for part in self.samples])
        samples, visits = (np.concatenate([nothing, *parts]) for parts in (self.samples, self.visits))
        return Updates(samples, visits, passes, self.complete)


@dataclass(frozen=True, eq=False)
class Updates:
    """The updates in order: the sample that made each, the number of its visit within the pass (of samples that have a
    weight, from 1), and the pass, from 1. The batch rule makes those of a pass at once. ``complete`` says whether all
    are here; very many are not kept."""

    samples: NDArray[np.int64]
    visits: NDArray[np.int64]
    passes: NDArray[np.int64]
    complete: bool = True


@dataclass(frozen=True)
class Errors:
    """Samples of the negative class that are taken for positive ones, and the other way round."""

    false_positives: int
    false_negatives: int

    @property
    def total(self) -> int:
        """All errors."""
        return self.false_positives + self.false_negatives

    def __str__(self) -> str:
        positives = count(self.false_positives, "false positive")
        return f"{positives}, {count(self.false_negatives, 'false negative')}"


@dataclass(frozen=True, eq=False)
class Pocket:
    """The weights with the fewest errors of all that the rule passed through, the first such: those after ``updates``
    updates."""

    weights: Array
    updates: int
    errors: Errors


@dataclass(frozen=True, eq=False)
class Convergence:
    """The two halves of the proof that the perceptron converges, after t = ``updates`` updates from start 0 with the
    rate rho: the weights get longer at most like the square root of t, and along a hyperplane w* with the margin gamma,
    ‖w*‖ = 1, at least like t,

        ‖w_t‖² <= rho² t R²,        w_t'w* >= rho t gamma,        so that  t <= R²/gamma²;

    for the batch rule, which makes up to n updates at once, with n R² in place of R².

    >>> import convexcls as cc
    >>> s = cc.PerceptronCriterion([[0.0], [1.0], [3.0]], [0, 0, 1]).solve("perceptron", max_passes=50)
    >>> proof = s.rule_report.convergence()
    >>> bool((proof.squared_norms <= proof.at_most).all()), bool((proof.along >= proof.at_least - 1e-9).all())
    (True, True)
    >>> print(str(proof).splitlines()[0])
    t  ‖w‖²  t R²  w·w*      t γ
    """

    updates: Indices
    squared_norms: Array
    at_most: Array
    along: Array
    at_least: Array
    separator: Array
    radius: float
    margin: float

    def table(self) -> list[tuple[float, ...]]:
        """t, ‖w_t‖², its bound, w_t'w*, its bound: a row for the start and for each update."""
        lines = (self.updates, self.squared_norms, self.at_most, self.along, self.at_least)
        return [tuple(float(v) for v in row) for row in zip(*lines, strict=True)]

    def __str__(self) -> str:
        rows = self.table()
        chosen = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MAX_LINES_SHOWN)).round().astype(int))
        shown = [[f"{rows[k][0]:.0f}", *(f"{v:.6g}" for v in rows[k][1:])] for k in chosen]
        return "\n".join(columns(["t", "‖w‖²", "t R²", "w·w*", "t γ"], shown))
