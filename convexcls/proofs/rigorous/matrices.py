"""Matrices that are known up to rounding: quadratic forms, least eigenvalues, and small linear systems.

Quadratic forms 1/2 x'Px. The entries of P are taken as the doubles that they are; the linear kernel, which knows its
root R, as R'R, and other kernels as what they are on the samples as given, within the ``spread`` of their values: these
are positive semidefinite. A matrix of doubles that ought to be so may miss it by rounding, so that is not assumed:
where a Cholesky factorization of B = P - sI runs through in doubles, B is at most gamma_{n+1} tr B / (1 - gamma_{n+1})
away from a positive semidefinite matrix (Rump 2006), and the least eigenvalue of P is at least s less that.

Linear systems A v = r, a bound of |v|. With any matrix R, if |I - RA| <= C entry by entry and the largest row sum of C
is beta < 1, then A is regular and

    |v| <= |R| |r| + beta / (1 - beta) max(|R| |r|).

A = sum over blocks of M'DM is a Gram matrix with weights D >= 0, worked out in doubles: by Cauchy and Schwarz its entry
j, k is off by at most gamma sqrt(A_jj A_kk), and where the entries of M are off by e, by e_k sqrt(A_jj sum D) too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices
from convexcls.problem import Problem
from convexcls.proofs.rigorous.products import EntryError, Products, largest_factors, product
from convexcls.proofs.rigorous.rounding import ROUNDINGS_BESIDE_SUM, Ball, gamma, raised, upward_sum
from convexcls.rows import DenseRows, Rows

#: Larger matrices are not factored.
MAX_FACTORED_ROWS = 3000


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """P, or its root R where P = R'R."""

    rows: Rows
    is_root: bool
    spread: Array | None = None

    @classmethod
    def of(cls, p: Rows) -> QuadraticForm | None:
        """None where the matrix is too large to be looked at, or not symmetric to the last bit."""
        if p.root is not None:
            return cls(p.root, True)
        if p.shape[0] > MAX_FACTORED_ROWS or p.beyond_memory:
            return None
        dense = p.to_dense()
        return cls(DenseRows(dense), False, p.spread()) if np.array_equal(dense, dense.T) else None

    def at(self, x: Ball) -> tuple[Ball, Ball]:
        """P x and x'Px / 2."""
        first = _times(self.rows, x)
        if self.spread is not None:
            first = first.widened(raised(2.0 * self.spread * float(self.spread @ x.size)))
        square = first.squared().total() if self.is_root else (x * first).total()
        return (_times(self.rows.T, first) if self.is_root else first), square.half()

    @cached_property
    def least(self) -> float:
        """A lower bound of the least eigenvalue."""
        if self.is_root:
            return 0.0
        least = least_eigenvalue(self.rows.to_dense())
        return least if self.spread is None else max(0.0, least - 1.01 * float(self.spread @ self.spread))


def _times(rows: Rows, x: Ball) -> Ball:
    return product(rows, [x], EntryError(2.0 * rows.rounding * UNIT_ROUNDOFF, np.zeros(rows.shape[1])))[0]


def least_eigenvalue(matrix: Array) -> float:
    """A lower bound of the least eigenvalue of a symmetric matrix of doubles."""
    n = matrix.shape[0]
    top = float(np.abs(matrix).max(initial=0.0))
    if n == 0 or top == 0:
        return 0.0
    if not math.isfinite(top):
        return -math.inf
    scale = 2.0 ** -math.frexp(top)[1]
    unit = matrix * scale
    if not np.array_equal(unit / scale, matrix):  # entries that underflow
        return -math.inf
    trace = float(np.abs(np.diag(unit)).sum())
    step = 4.0 * (n + 8) * UNIT_ROUNDOFF * (trace + n) + 1e-300
    guess = float(np.linalg.eigvalsh(unit)[0])
    for shift in (guess - step, guess - 16 * step, -1024 * step + min(guess, 0.0)):
        shifted = unit - shift * np.eye(n)
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            continue
        g = gamma(n + 4)
        off = 2.0 * g * float(np.abs(np.diag(shifted)).sum()) + 4 * UNIT_ROUNDOFF * (1.0 + abs(shift)) + n * 1e-290
        return float(np.nextafter((shift - off) / scale, -np.inf))
    return -math.inf


# ---- linear systems -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Gram:
    """A matrix of doubles and a bound of how far it is off, entry by entry."""

    matrix: Array
    off: Array

    def __add__(self, other: Gram) -> Gram:
        total = self.matrix + other.matrix
        return Gram(total, raised(self.off + other.off + UNIT_ROUNDOFF * np.abs(total)))

    def times(self, power: float) -> Gram:
        """Multiplied by a power of two."""
        return Gram(self.matrix * power, self.off * power)

    def only(self, at: Indices) -> Gram:
        """Some rows, and the same columns."""
        pick = np.ix_(at, at)
        return Gram(self.matrix[pick], self.off[pick])

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
        C = (
            np.abs(np.eye(k - 4) - inverse @ matrix)
            + size @ (4 * gamma(k) * np.abs(matrix) + 2 * off)
            + 4 * UNIT_ROUNDOFF
        )
        beta = float(C.sum(axis=1).max()) * (1.0 + 4 * k * UNIT_ROUNDOFF)
        if not beta < 0.5:
            return None
        y = raised(size @ (r * unit) * (1.0 + 4 * k * UNIT_ROUNDOFF))
        return np.asarray(raised((y + 2.0 * beta * y.max(initial=0.0)) * unit))


class Grams:
    """The Gram matrices of one proof; several directions of the same rows with the same weights share one."""

    def __init__(self, problem: Problem, products: Products) -> None:
        self.problem, self.products = problem, products
        self._known: list[tuple[Rows, Array, Array, Array]] = []

    def gram(self, rows: Mapping[str, Rows], D: Array, chosen: Indices, size: Array) -> Gram | None:
        """M'DM over some unknowns in units of ``size``, for rows by variable and D up to 1; None where the rows do not
        speak of them."""
        names = [v.name for v in self.problem.variables if np.any(np.isin(chosen, self.problem.places([v.name])))]
        M = self.problem.narrow_rows(rows, names)
        used = int(np.count_nonzero(D > 0))
        if M is None or used == 0:
            return None
        places = self.problem.places(names)
        matrix = np.zeros((places.size, places.size))
        where, whole = M.parts[0] if len(M.parts) == 1 else (slice(None), M)
        core = max((part.factors().core for _, part in M.parts), key=lambda core: core.entries)
        matrix[where, where] = self._weighted(whole, core, D, 1.0 / size[places[where]])
        squares, absolute, relative = np.abs(np.diag(matrix)), np.zeros(places.size), 0.0
        for where, part in M.parts:
            f = part.factors()
            error = self.products.error_of(f.core)
            absolute[where] = raised(error.absolute * largest_factors(f)) / size[places[where]]
            relative = max(relative, error.relative)
            if (margins := f.core.as_class_margins) is not None:  # added up by pairs: the squares of all classes count
                by_class = squares[where].reshape(margins.count, -1)
                squares[where] = np.tile(4.0 * margins.count * by_class.sum(axis=0), margins.count)
        reach = np.sqrt(1.01 * squares)
        root = np.sqrt(upward_sum(D)) * absolute
        products, cross = np.outer(reach, reach), np.outer(root, reach)
        off = 1.01 * gamma(used + ROUNDINGS_BESIDE_SUM + 8) * products + used * 1e-290
        off = off + raised(1.01 * (cross + cross.T + np.outer(root, root) + 2.1 * relative * products))
        return Gram(matrix, raised(off)).only(np.searchsorted(places, chosen))

    def _weighted(self, rows: Rows, core: Rows, D: Array, scale: Array) -> Array:
        """R'DR in other units; ``core`` is what a pass over the rows is a pass over."""
        for known, weights, units, matrix in self._known:
            if known is rows and np.array_equal(weights, D) and np.array_equal(units, scale):
                return matrix
        used = np.flatnonzero(D > 0)
        if 2 * used.size < D.size:
            matrix = np.asarray(rows[used].scaled(1.0, scale).gram(D[used]))
        else:
            matrix = np.asarray(rows.scaled(1.0, scale).gram(D))
            self.products.count(core)
        self._known.append((rows, D, scale, matrix))
        return matrix
