"""A small linear system A v = r that is known up to rounding: a bound of |v|, with the proof that A is regular.

With any matrix R, if |I - RA| <= C entry by entry and the largest row sum of C is beta < 1, then A is regular and

    |v| <= |R| |r| + beta / (1 - beta) max(|R| |r|).

A = sum over units of M'DM is a Gram matrix with weights D >= 0, worked out in doubles: by Cauchy and Schwarz its entry
j, k is off by at most gamma sqrt(A_jj A_kk), and where the entries of M are off by e, by e_k sqrt(A_jj sum D) too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.proofs.rigorous.products import BESIDES, Products
from convexcls.proofs.rigorous.rounding import UNIT, gamma, raised, upward_sum
from convexcls.rows import JoinedRows, Rows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gram:
    """A matrix of doubles and a bound of how far it is off, entry by entry."""

    matrix: Array
    off: Array

    def __add__(self, other: Gram) -> Gram:
        total = self.matrix + other.matrix
        return Gram(total, raised(self.off + other.off + UNIT * np.abs(total)))

    def times(self, power: float) -> Gram:
        """Multiplied by a power of two."""
        return Gram(self.matrix * power, self.off * power)

    def bound(self, r: Array) -> Array | None:
        """A bound of |v| for all v with A v = r', |r'| <= r; None where A may be singular."""
        diagonal = np.diag(self.matrix)
        if not np.all(np.isfinite(self.matrix)) or not np.all(diagonal > 0):
            return None
        unit = np.exp2(-np.round(0.5 * np.log2(diagonal)))
        matrix, off = self.matrix * np.outer(unit, unit), self.off * np.outer(unit, unit)
        try:
            inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            return None
        k = matrix.shape[0] + 4
        size = np.abs(inverse)
        left = np.abs(np.eye(k - 4) - inverse @ matrix) + size @ (4 * gamma(k) * np.abs(matrix) + 2 * off) + 4 * UNIT
        beta = float(left.sum(axis=1).max()) * (1.0 + 4 * k * UNIT)
        if not beta < 0.5:
            return None
        y = raised(size @ (r * unit) * (1.0 + 4 * k * UNIT))
        return np.asarray(raised((y + 2.0 * beta * y.max(initial=0.0)) * unit))


def gram(
    problem: Problem, products: Products, rows: Mapping[str, Rows], room: Array, chosen: NDArray[np.intp], size: Array
) -> Gram | None:
    """M'DM over some unknowns in units of ``size``, for rows by variable and D = ``room`` up to 1; None where the rows
    do not speak of them."""
    names = [v.name for v in problem.variables if np.any(np.isin(chosen, problem.places([v.name])))]
    narrow = problem.narrow_rows(rows, names)
    used = np.flatnonzero(room > 0)
    if narrow is None or used.size == 0:
        return None
    places = problem.places(names)
    at = np.searchsorted(places, chosen)
    matrix = _matrix(products, narrow, room, used, 1.0 / size[places])
    k = used.size + BESIDES + 8
    reach = np.sqrt(_diagonal_reach(problem, rows, names, np.diag(matrix)))
    off = 1.01 * gamma(k) * np.outer(reach, reach) + used.size * 1e-290
    off = off + _entry_part(problem, products, rows, names, size[places], reach, upward_sum(room))
    pick = np.ix_(at, at)
    return Gram(matrix[pick], raised(off[pick]))


def _matrix(products: Products, rows: JoinedRows, room: Array, used: NDArray[np.intp], scale: Array) -> Array:
    """R'DR in other units."""
    if len(rows.parts) == 1:
        (where, part), out = rows.parts[0], np.zeros((scale.size, scale.size))
        out[where, where] = _single(products, part, room, used, scale[where])
        return out
    if short := 2 * used.size < room.size:
        rows, room = rows[used], room[used]
    matrix = rows.scaled(1.0, scale).gram(room)
    if not short:
        products.count(max((part.factors().core for _, part in rows.parts), key=lambda core: core.entries))
    return np.asarray(matrix)


def _single(products: Products, rows: Rows, room: Array, used: NDArray[np.intp], scale: Array) -> Array:
    """The same over one variable; several directions of the same rows with the same room share it."""
    for known, weights, units, matrix in products.grams:
        if known is rows and np.array_equal(weights, room) and np.array_equal(units, scale):
            return matrix
    short = 2 * used.size < room.size
    matrix = np.asarray((rows[used] if short else rows).scaled(1.0, scale).gram(room[used] if short else room))
    if not short:
        products.count(rows.factors().core)
    products.grams.append((rows, room, scale, matrix))
    return matrix


def _diagonal_reach(problem: Problem, rows: Mapping[str, Rows], names: list[str], diagonal: Array) -> Array:
    """The squares that Cauchy and Schwarz ask for; rows of several classes are added up by class pairs, so there the
    squares of all classes count."""
    out, start = np.abs(diagonal), 0
    for v in names:
        stop = start + problem.variable(v).size
        margins = rows[v].factors().core.as_class_margins if v in rows else None
        if margins is not None:
            by_class = np.abs(diagonal[start:stop]).reshape(margins.count, -1)
            out[start:stop] = np.tile(4.0 * margins.count * by_class.sum(axis=0), margins.count)
        start = stop
    return np.asarray(1.01 * out)


def _entry_part(
    problem: Problem,
    products: Products,
    rows: Mapping[str, Rows],
    names: list[str],
    size: Array,
    reach: Array,
    D: float,
) -> Array:
    """What the entries' own errors add."""
    absolute, relative, start = np.zeros(size.size), 0.0, 0
    for v in names:
        stop = start + problem.variable(v).size
        if v in rows:
            f = rows[v].factors()
            error = products.error_of(f.core)
            side = (1.0 if f.right is None else np.abs(f.right)) * (1.0 if f.left is None else np.abs(f.left).max())
            absolute[start:stop] = raised(error.absolute * side) / size[start:stop]
            relative = max(relative, error.relative)
        start = stop
    root = np.sqrt(D) * absolute
    cross = np.outer(root, reach)
    return np.asarray(raised(1.01 * (cross + cross.T + np.outer(root, root) + 2.1 * relative * np.outer(reach, reach))))
