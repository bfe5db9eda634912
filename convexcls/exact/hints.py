"""What an answer in doubles suggests: which rows are tight, and on which side every sample stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.exact.products import Array
from convexcls.exact.sides import OFF, OPEN
from convexcls.exact.statement import Samples, Statement

#: A multiplier within this fraction of its largest value counts as 0, or as the largest value.
SMALL = 1e-7


@dataclass(frozen=True, eq=False)
class Hints:
    """A guess: z, the tight rows of each block of inequalities, the side of every sample, and the lines
    (samples, sample, line) on which opened samples rest."""

    z: Array
    rows: list[NDArray[np.intp]]
    sides: list[NDArray[np.intp]]
    tight: list[tuple[int, int, int]]


def read_hints(statement: Statement, x: Any, multipliers: Mapping[str, Any] | None) -> Hints:
    """The guess that an answer makes; what is missing or not finite in it is taken as 0."""
    z = _kept(statement, x)
    given = multipliers or {}
    rows = []
    for block in statement.inequalities:
        lam = _vector(given.get(block.block.name), block.size)
        rows.append(np.flatnonzero(lam > SMALL * lam.max(initial=0.0)) if lam is not None else np.empty(0, np.intp))
    sides, tight = [], []
    for g, samples in enumerate(statement.samples):
        shares = [_vector(given.get(line.block.name), samples.size) for line in samples.lines]
        side, resting = _sides(samples, z, None if any(s is None for s in shares) else np.array(shares))
        sides.append(side)
        tight += [(g, i, k) for i, k in resting]
    return Hints(z, rows, sides, tight)


def _kept(statement: Statement, x: Any) -> Array:
    problem = statement.problem
    values = _vector(x, problem.size)
    if values is None:
        return np.zeros(statement.size)
    return values[problem.places(statement.kept)] if statement.kept else np.zeros(0)


def _vector(values: Any, size: int) -> Array | None:
    """Doubles of that number, None where they are not."""
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    return array if array.shape == (size,) and np.all(np.isfinite(array)) else None


def _sides(samples: Samples, z: Array, shares: Array | None) -> tuple[NDArray[np.intp], list[tuple[int, int]]]:
    """The side of every sample, and the lines on which those rest that stand on several."""
    values = np.array([line.values(z) for line in samples.lines])
    side = values.argmax(axis=0)
    curved = samples.curvature > 0
    side[curved & (values.max(axis=0) <= 0)] = OFF
    if shares is None or shares.shape[0] == 1:
        return side, []
    whole = np.where(curved, np.maximum(shares.sum(axis=0), 0.0), samples.cost)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(whole > 0, shares / whole, 0.0)
    counts = (whole > 0) & ~curved
    side = np.where(counts, part.argmax(axis=0), side)
    split = np.flatnonzero(counts & (part.max(axis=0) < 1.0 - SMALL))
    side[split] = OPEN
    return side, [(int(i), int(k)) for i in split for k in np.flatnonzero(part[:, i] > SMALL)]
