"""Small linear systems in exact rational arithmetic.

A double is the dyadic rational that it is, so a proof that rests on few rows can be checked without any rounding: sums
that have to be zero are zero. Where a system is too large for that, the caller falls back on a bound for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls import rational
from convexcls.rows.doubled import two_product

Array = NDArray[np.float64]

#: Systems with more entries than this are left to floating point.
LARGEST = 1600
#: Of larger matrices the rank is left to floating point.
LARGEST_RANK = 4_000_000
#: The two largest below 2^31: products of remainders fit into 63 bits.
PRIMES = (2_147_483_647, 2_147_483_629)


def fractions(values: Any) -> list[list[Fraction]]:
    """A matrix of doubles as rationals."""
    return [[Fraction(float(v)) for v in row] for row in np.asarray(values)]


def solve(system: Array, target: Sequence[float]) -> list[Fraction] | None:
    """A solution of ``system @ z = target``, the free entries 0; None where there is none."""
    if not system.shape[0]:
        return [Fraction(0)] * system.shape[1]
    return rational.solve(fractions(system), [Fraction(float(t)) for t in target])


def rank(matrix: Array) -> int:
    """The rank of a matrix of doubles, worked out modulo two primes: never more than the rank, and less only if every
    minor of that size is a multiple of both primes."""
    return max(_rank_modulo(matrix, prime) for prime in PRIMES)


def _rank_modulo(matrix: Array, prime: int) -> int:
    mantissas, exponents = np.frexp(matrix)
    whole = np.ldexp(mantissas, 53).astype(np.int64)  # a double is a whole number of 53 bits times a power of two
    # a row times a power of two has the same rank, so powers are counted from the smallest of the row
    shifts = exponents - np.where(whole != 0, exponents, np.iinfo(np.int32).max).min(
        axis=1, keepdims=True, initial=2**30
    )
    different, place = np.unique(np.where(whole != 0, shifts, 0), return_inverse=True)
    powers = np.array([pow(2, int(e), prime) for e in different], dtype=np.int64)[place.reshape(matrix.shape)]
    rows = whole % prime * powers % prime
    found = 0
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[found:, column])
        if not below.size:
            continue
        rows[[found, found + below[0]]] = rows[[found + below[0], found]]
        pivot = rows[found] * pow(int(rows[found, column]), -1, prime) % prime
        rows[found + 1 :] = (rows[found + 1 :] - rows[found + 1 :, column : column + 1] * pivot % prime) % prime
        found += 1
    return found


def project(rows: Array, direction: Array) -> list[Fraction] | None:
    """A direction orthogonal to all rows and near the one given: free entries as given, the others solved for. None
    where the rows leave no such direction."""
    width = rows.shape[1]
    # the columns with the largest entries are kept free, so that what is solved for stays small
    order = list(np.argsort(np.abs(direction), kind="stable"))
    work, pivots = rational.reduced(fractions(rows[:, order]), width)
    if len(pivots) == width:
        return None
    d = [Fraction(float(direction[j])) for j in order]
    for row, column in zip(work, pivots, strict=False):
        d[column] = -sum((row[j] * d[j] for j in range(width) if j not in set(pivots)), Fraction(0))
    out = [Fraction(0)] * width
    for j, value in zip(order, d, strict=True):
        out[j] = value
    return out


def null_vector(matrix: Array) -> list[Fraction] | None:
    """A vector that every row annihilates, with a one among its entries; None where there is only 0."""
    if not matrix.shape[0]:
        return [Fraction(j == 0) for j in range(matrix.shape[1])] or None
    basis = rational.null_space(fractions(matrix))
    return basis[0] if basis else None


def dots(rows: Array, vector: Array) -> Array:
    """Each row times the vector, rounded once: products without rounding error (Dekker 1971), added by ``fsum``."""
    high, low = two_product(rows, vector)
    return np.array([math.fsum([*h, *e]) for h, e in zip(high.tolist(), low.tolist(), strict=True)])
