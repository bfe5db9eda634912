"""What an answer in doubles suggests: which rows are tight, and on which side every sample stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.proofs.claims.affine_rows import AffineRows
from convexcls.proofs.claims.statement import Samples, Statement

#: A multiplier within this fraction of its largest value counts as 0, or as the largest value.
NEGLIGIBLE_SHARE = 1e-7
#: A sample of quadratic cost whose lines are all below 0: it costs nothing.
OFF = -1
#: A sample whose slack is an unknown of the small program.
OPEN = -2
#: More multipliers than this are left as they are.
MAX_THINNED_MULTIPLIERS = 20_000


@dataclass(frozen=True, eq=False)
class Hints:
    """A guess: z, the tight rows of each block of inequalities, the side of every sample, and the lines
    (samples, sample, line) on which opened samples rest."""

    z: Array
    rows: list[Indices]
    sides: list[Indices]
    tight: list[tuple[int, int, int]]


def read_hints(statement: Statement, x: Any, multipliers: Mapping[str, Any] | None) -> Hints:
    """The guess that an answer makes; what is missing or not finite in it is taken as 0."""
    z = _kept(statement, x)
    given = _spread_less(statement, z, multipliers or {})
    rows = [_positive(block, given) for block in statement.inequalities]
    sides, tight = [], []
    for g, samples in enumerate(statement.samples):
        side, resting = _sides(samples, z, _shares(samples, given))
        sides.append(side)
        tight += [(g, i, k) for i, k in resting]
    return Hints(z, rows, sides, tight)


def _positive(block: AffineRows, given: Mapping[str, Any]) -> Indices:
    """The rows of a block with a multiplier; none where these are missing."""
    lam = _vector(given.get(block.block.name), block.size)
    return np.empty(0, np.intp) if lam is None else np.flatnonzero(lam > NEGLIGIBLE_SHARE * lam.max(initial=0.0))


def _shares(samples: Samples, given: Mapping[str, Any]) -> Array | None:
    """The multipliers by line and sample, None where some are missing."""
    shares = [_vector(given.get(line.block.name), samples.size) for line in samples.lines]
    return None if any(share is None for share in shares) else np.array(shares)


def _spread_less(statement: Statement, z: Array, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same multipliers, on fewer rows where they are more than a vertex has."""
    # blocks with the rows that have multipliers between their bounds, and the number of the first sample (-1: none)
    parts: list[tuple[AffineRows, Indices, int]]
    parts = [(block, _positive(block, given), -1) for block in statement.inequalities]
    first, unsure = 0, sum(index.size for _, index, _ in parts)
    for samples in statement.samples:
        shares = _shares(samples, given)
        if shares is not None and len(samples.lines) > 1:
            split = np.flatnonzero(_sides(samples, z, shares)[0] == OPEN)
            parts += [(line, split, first) for line in samples.lines]
            unsure += split.size
        first += samples.size
    if unsure <= statement.size + 1:
        return given
    rows = np.vstack([_dense(measured, index) for measured, index, _ in parts])
    owners = np.concatenate([index + start if start >= 0 else np.full(index.size, -1) for _, index, start in parts])
    values = np.concatenate([np.asarray(given[m.block.name], dtype=float)[i] for m, i, _ in parts if i.size])
    fewer, at, out = thinned(rows, np.maximum(values, 0.0), owners.tolist()), 0, dict(given)
    for measured, index, _ in parts:
        if index.size:
            changed = np.array(out[measured.block.name], dtype=float)
            changed[index] = fewer[at : at + index.size]
            out[measured.block.name] = changed
            at += index.size
    return out


def _dense(measured: AffineRows, index: Indices) -> Array:
    return np.zeros((index.size, measured.width)) if measured.rows is None else measured.rows[index].to_dense()


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


def _sides(samples: Samples, z: Array, shares: Array | None) -> tuple[Indices, list[tuple[int, int]]]:
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
    split = np.flatnonzero(counts & (part.max(axis=0) < 1.0 - NEGLIGIBLE_SHARE))
    side[split] = OPEN
    return side, [(int(i), int(k)) for i in split for k in np.flatnonzero(part[:, i] > NEGLIGIBLE_SHARE)]


def thinned(rows: Array, multipliers: Array, owners: Sequence[int]) -> Array:
    """Multipliers >= 0 with the same sum of multiplier times row, the same sum for each owner (-1: none), and as few as
    a vertex has; those given where none is found.

    Where many rows are tight at once, as on a grid of points or with repeated samples, an answer in doubles may spread
    its multipliers over all of them. A vertex of the set of all multipliers with the same pull has as many between
    their bounds as there are unknowns; it is found by a linear program in doubles, and is a guess like any other.
    """
    from scipy.optimize import linprog

    count = rows.shape[0]
    if count > MAX_THINNED_MULTIPLIERS or not np.all(np.isfinite(rows)):
        return multipliers
    owner = np.asarray(owners)
    held = np.flatnonzero(owner >= 0)
    groups = np.unique(owner[held], return_inverse=True)[1]
    sums = sparse.csr_array((np.ones(held.size), (groups, held)), shape=(int(groups.max(initial=-1)) + 1, count))
    reach = np.abs(rows).max(axis=0, initial=0.0)
    scaled = rows / np.where(reach > 0, reach, 1.0)
    size = float(np.abs(multipliers).max(initial=0.0)) or 1.0
    system = sparse.vstack([sparse.csr_array(scaled.T), sums], format="csr")
    target = system @ (multipliers / size)
    try:
        found = linprog(np.zeros(count), A_eq=system, b_eq=target, bounds=(0, None), method="highs-ds")
    except ValueError:
        return multipliers
    return multipliers if found.x is None else np.maximum(found.x, 0.0) * size
