"""What the losses of a term pull at the unknowns with, and what is known of the rounding of that.

Of rows that are read by block, it is worked out where each block is, in one reading: arguments, slopes and their bounds
are never all there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, top
from convexcls.engines.base import tree_depth, tree_sum
from convexcls.losses import HalfSquare, Loss
from convexcls.problem import Constraint, Term
from convexcls.rows import JoinedRows, Rows


class Slopes(NamedTuple):
    """Slopes times weights, how large they are (see ``Loss.slope_size``), and how far they may be off because their
    arguments are."""

    weighed: Array
    sizes: Array
    error: Array


class Pull(NamedTuple):
    """The sums over the rows of a term: its value, R'z of the weighed slopes z with the number of additions, |R|' of
    their sizes and the sum of these; the largest z; what the errors of slopes cost; and how far all z may be off."""

    value: float
    total: Array
    additions: Array | int
    magnitude: Array
    size: float
    largest: float
    cost: float
    inherited: float


def slopes_at(loss: Loss, u: Array, rad: Array | float, weights: Array, all_count: bool) -> Slopes:
    """Those at the arguments u, each known to ``rad``; what has no weight does not count, even where it is infinite."""
    slopes = loss.slope(u)
    sizes = weights * loss.slope_size(u, slopes)
    error = pull_error(loss, u, rad, weights, all_count)
    if not all_count:
        slopes, sizes = np.where(weights > 0, slopes, 0.0), np.where(weights > 0, sizes, 0.0)
    return Slopes(weights * slopes, sizes, error)


def pull_error(loss: Loss, u: Array, rad: Array | float, weights: Array, all_count: bool) -> Array:
    """How far slopes times weights may be off because their arguments are."""
    out = weights * (rad if isinstance(loss, HalfSquare) else 2.0 * loss.slope_change(u, rad))
    return out if all_count else np.where(weights > 0, out, 0.0)


def pull_by_block(rows: JoinedRows, term: Term, x: Array, rad: float, roundings: int) -> Pull | None:
    """The pull at x, with arguments known to ``rad`` and so many roundings of a slope, in one reading of rows that are
    read by block; None of others, or where numbers overflow."""
    told = (x, rad, term.loss, roundings, term.all_count)
    parts = rows.each_block(_pull_of_block, term.offset, term.weights, common=told)
    if parts is None:
        return None
    found = list(parts)
    if any(part is None for part in found):
        return None

    def added(field: str) -> Array:
        return np.asarray(tree_sum(getattr(part, field) for part in found))

    sums = {field: float(added(field)) for field in ("value", "size", "cost", "inherited")}
    longest = np.max([np.broadcast_to(part.additions, x.shape) for part in found], axis=0) + tree_depth(len(found))
    return Pull(
        total=added("total"),
        additions=longest,
        magnitude=added("magnitude"),
        largest=max(part.largest for part in found),
        **sums,
    )


class Excess(NamedTuple):
    """What Rx - h of rows of inequalities, known to some rounding each, comes to: the largest violation and their sum,
    the same of what rounding may add to each, and the sum, the sum of sizes and the largest of the products with minus
    the multipliers."""

    violation: float
    violations: float
    off: float
    offs: float
    cost: float
    size: float
    product: float


def excess_by_block(rows: JoinedRows, c: Constraint, x: Array, multiplier: Array, rad: float) -> Excess | None:
    """That of rows that are read by block, in one reading; None of others, or where numbers overflow."""
    parts = rows.each_block(_excess_of_block, c.rhs, multiplier, common=(x, rad))
    if parts is None:
        return None
    found = list(parts)
    if any(part is None for part in found):
        return None

    def added(field: str) -> float:
        return float(np.asarray(tree_sum(getattr(part, field) for part in found)))

    sums = {field: added(field) for field in ("violations", "offs", "cost", "size")}
    most = {field: max(getattr(part, field) for part in found) for field in ("violation", "off", "product")}
    return Excess(**sums, **most)


def _excess_of_block(rows: Rows, rhs: Array, multiplier: Array, x: Array, rad: float) -> Excess | None:
    with np.errstate(all="ignore"):
        mid = rows @ x - rhs
        if not np.isfinite(mid.sum()):
            return None
        violation = np.maximum(mid, 0.0)
        off = np.maximum(mid + rad, 0.0) - violation
        products = -np.asarray(multiplier) * mid
        sizes = np.abs(products)
        parts = (
            float(violation.sum()),
            top(off),
            float(off.sum()),
            float(products.sum()),
            float(sizes.sum()),
            top(sizes),
        )
        return Excess(top(violation), *parts)


def _pull_of_block(
    rows: Rows, offset: Array, weights: Array, x: Array, rad: float, loss: Loss, roundings: int, all_count: bool
) -> Pull | None:
    with np.errstate(all="ignore"):
        u = rows @ x + offset
        if not np.isfinite(u.sum()):
            return None
        by_row = weights if loss.width == 1 else np.repeat(weights, loss.width)
        z, sizes, error = slopes_at(loss, u, rad, by_row, all_count)
        total, additions, magnitude = rows.added_up_with_sizes(z, sizes)
        values = loss.value(u)
        counts = slice(None) if all_count else weights > 0
        return Pull(
            float(weights[counts] @ values[counts]),
            total,
            additions,
            magnitude,
            float(sizes.sum()),
            top(np.abs(z)),
            0.5 * float((error * rad).sum()),
            float((roundings * UNIT_ROUNDOFF * sizes + error).sum()),
        )
