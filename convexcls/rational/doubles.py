"""Matrices of doubles without rounding: products A'B over many rows, rank, null vectors.

A column of doubles is a whole number of a small power of two, so it is a sum of slices, each a column of whole numbers
of few bits times one power of two (Ozaki et al. 2012). The product of two slices is added up by BLAS without rounding
error, because no partial sum leaves 53 bits. A handful of matrix products so gives the exact sums of 1e6 rows.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.rational.elimination import null_space

Matrix = list[list[Fraction]]

#: Columns whose entries need more slices than this are multiplied as rationals: their sizes differ too much.
MOST_SLICES = 16
#: So many rows are sliced at a time: they stay in the cache, and the sums of their products in 53 bits.
BLOCK = 4096
#: The bits of a slice: two of them and those of BLOCK are 52.
BITS = 20
#: So many sums of 52 bits fit into 63.
MOST_BLOCKS = 2000
#: Many rows are taken together into so many more combinations of them than there are columns.
MORE_COMBINATIONS = 8
#: The two largest below 2^31: products of remainders fit into 63 bits.
PRIMES = (2_147_483_647, 2_147_483_629)


def product(left: Array, right: Array) -> Matrix:
    """left' right, exactly, of two matrices of doubles with as many rows."""
    together = left if right is left else np.hstack([left, right])
    total = [[Fraction(0)] * together.shape[1] for _ in range(together.shape[1])]
    for start in range(0, left.shape[0], BLOCK * MOST_BLOCKS):
        rows = together[start : start + BLOCK * MOST_BLOCKS]
        part = _sliced_gram(rows)
        if part is None:
            fractions = as_fractions(rows)
            part = rational_product(fractions, fractions)
        total = [[a + b for a, b in zip(u, v, strict=True)] for u, v in zip(total, part, strict=True)]
    return total if right is left else [row[left.shape[1] :] for row in total[: left.shape[1]]]


def as_fractions(matrix: Array) -> Matrix:
    """A matrix of doubles as rationals."""
    return [[Fraction(v) for v in row] for row in matrix.tolist()]


def rational_product(left: Matrix, right: Matrix) -> Matrix:
    """left' right of two matrices of rationals: their columns are scaled to whole numbers first."""
    if not left or not left[0] or not right[0]:
        return [[Fraction(0)] * (len(right[0]) if right else 0) for _ in range(len(left[0]) if left else 0)]
    columns, scales = _whole_columns(left)
    others, other_scales = (columns, scales) if right is left else _whole_columns(right)
    sums = _whole_product(columns, others)
    return [
        [Fraction(int(value), s * t) for value, t in zip(row, other_scales, strict=True)]
        for row, s in zip(sums, scales, strict=True)
    ]


def _whole_columns(matrix: Matrix) -> tuple[list[list[int]], list[int]]:
    """The columns times the least numbers that make them whole, and these numbers."""
    columns, scales = [], []
    for column in zip(*matrix, strict=True):
        scale = lcm(*{v.denominator for v in column})
        columns.append([v.numerator * (scale // v.denominator) for v in column])
        scales.append(scale)
    return columns, scales


def _whole_product(columns: list[list[int]], others: list[list[int]]) -> list[list[Any]]:
    """The inner products of two lists of columns of whole numbers."""
    try:
        from flint import fmpz_mat
    except ImportError:
        return [[sum(map(int.__mul__, a, b)) for b in others] for a in columns]
    first = fmpz_mat(columns)
    second = first if others is columns else fmpz_mat(others)
    return (first * second.transpose()).tolist()


def _sliced_gram(matrix: Array) -> Matrix | None:
    """matrix' matrix by slices; None where the entries of a column differ too much in size."""
    width = matrix.shape[1]
    units = np.frexp(np.abs(matrix).max(axis=0, initial=0.0))[1].astype(np.int64)
    if np.any(np.abs(units) > 900):  # scaling them would leave the range of doubles
        return None
    sums = np.zeros((0, width, 0, width), dtype=np.int64)
    for start in range(0, matrix.shape[0], BLOCK):
        slices = _slices(matrix[start : start + BLOCK], units)
        if slices is None:
            return None
        depth = slices.shape[1] // width
        if depth > sums.shape[0]:
            more = depth - sums.shape[0]
            sums = np.pad(sums, ((0, more), (0, 0), (0, more), (0, 0)))
        sums[:depth, :, :depth] += (slices.T @ slices).astype(np.int64).reshape(depth, width, depth, width)
    return _joined(sums, units.tolist())


def _joined(sums: NDArray[np.int64], units: list[int]) -> Matrix:
    """The sums of products of slices, put together."""
    depth, width = sums.shape[:2]
    by_power = np.zeros((max(2 * depth - 1, 0), width, width), dtype=object)
    for s in range(depth):
        for t in range(depth):
            by_power[s + t] += sums[s, :, t].astype(object)
    total = np.zeros((width, width), dtype=object)
    for part in by_power:
        total = total * (1 << BITS) + part
    shift = -BITS * 2 * depth if depth else 0
    # Horner's rule left the last slice at the power BITS times 2 depth
    return [
        [_times_power(int(value), e + f + shift) for value, f in zip(row, units, strict=True)]
        for row, e in zip(total, units, strict=True)
    ]


def _times_power(value: int, exponent: int) -> Fraction:
    return Fraction(value << exponent) if exponent >= 0 else Fraction(value, 1 << -exponent)


def _slices(matrix: Array, units: NDArray[np.int64]) -> Array | None:
    """Slices S_1, S_2, ... side by side, of whole numbers below 2^BITS in size, with

    matrix = 2^units (S_1 2^-BITS + S_2 2^-2BITS + ...).
    """
    rest = matrix * np.exp2(-units)
    if np.count_nonzero(rest) != np.count_nonzero(matrix):  # too small for a double in these units
        return None
    parts: list[Array] = []
    while rest.any():
        if len(parts) == MOST_SLICES:
            return None
        rest *= 2.0**BITS
        part = np.trunc(rest)
        rest -= part
        parts.append(part)
    return np.hstack(parts) if parts else np.zeros((matrix.shape[0], 0))


def rank(matrix: Array) -> int:
    """The rank of a matrix of doubles, worked out modulo two primes: never more than the rank, and less only if every
    minor of that size is a multiple of both primes or, of many rows, if both draws of combinations are unlucky."""
    return max(_rank_modulo(matrix, prime) for prime in PRIMES)


def _rank_modulo(matrix: Array, prime: int) -> int:
    n, d = matrix.shape
    rows = _residues(matrix, prime) if n <= 2 * d + MORE_COMBINATIONS else _combinations(matrix, prime)
    found = 0
    for column in range(d):
        below = np.flatnonzero(rows[found:, column])
        if not below.size:
            continue
        rows[[found, found + below[0]]] = rows[[found + below[0], found]]
        pivot = rows[found, column:] * pow(int(rows[found, column]), -1, prime) % prime
        under = rows[found + 1 :, column:]
        under -= under[:, :1] * pivot % prime
        under %= prime
        found += 1
    return found


def _residues(matrix: Array, prime: int) -> NDArray[np.int64]:
    """Each row times a power of two that makes it whole, modulo the prime."""
    if np.abs(matrix).max(initial=0.0) < prime and np.array_equal(matrix, np.rint(matrix)):
        rows = matrix.astype(np.int64)
        rows[rows < 0] += prime
        return rows
    mantissas, exponents = np.frexp(matrix)
    whole = np.ldexp(mantissas, 53).astype(np.int64)  # a double is a whole number of 53 bits times a power of two
    # a row times a power of two has the same rank, so powers are counted from the smallest of the row
    shifts = exponents - np.where(whole != 0, exponents, np.iinfo(np.int32).max).min(
        axis=1, keepdims=True, initial=2**30
    )
    shifts[whole == 0] = 0
    powers = [1]
    for _ in range(int(shifts.max(initial=0))):
        powers.append(powers[-1] * 2 % prime)
    return np.asarray(whole % prime * np.array(powers, dtype=np.int64)[shifts] % prime)


def _combinations(matrix: Array, prime: int) -> NDArray[np.int64]:
    """A few more combinations of the rows than there are columns, with coefficients drawn by chance, modulo the prime:
    of the same rank but for an unlucky draw. Their sums are worked out by BLAS, in 52 bits."""
    n, d = matrix.shape
    rng, total = np.random.default_rng(prime), np.zeros((d + MORE_COMBINATIONS, d), dtype=np.int64)
    for start in range(0, n, BLOCK):
        rows = _residues(matrix[start : start + BLOCK], prime)
        drawn = rng.integers(0, 1 << BITS, (total.shape[0], rows.shape[0])).astype(float)
        for part, shift in ((rows & 0xFFFF, 0), (rows >> 16, 16)):
            if part.any():
                total += ((drawn @ part.astype(float)) % prime).astype(np.int64) << shift
        total %= prime
    return total


def null_vector(matrix: Array) -> list[Fraction] | None:
    """A vector that every row annihilates, with a one among its entries; None where there is only 0."""
    if not matrix.shape[0]:
        return [Fraction(j == 0) for j in range(matrix.shape[1])] or None
    basis = null_space(as_fractions(matrix))
    return basis[0] if basis else None
