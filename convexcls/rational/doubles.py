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
from convexcls.rational.elimination import Matrix, null_space, rank_of_residues

#: Columns whose entries need more slices than this are multiplied as rationals: their sizes differ too much.
MAX_SLICES = 16
#: So many rows are sliced at a time: they stay in the cache, and the sums of their products in 53 bits.
SLICED_ROWS = 4096
#: The bits of a slice: two of them and those of SLICED_ROWS are 52.
SLICE_BITS = 20
#: So many sums of 52 bits fit into 63.
MAX_SUMS = 2000
#: So many more random combinations of rows than columns have their rank, with factors of so many bits.
MORE_COMBINATIONS, FACTOR_BITS = 8, 16
#: The two largest below 2^31: products of remainders fit into 63 bits.
PRIMES = (2_147_483_647, 2_147_483_629)


def product(left: Array, right: Array) -> Matrix:
    """left' right, exactly, of two matrices of doubles with as many rows."""
    together = left if right is left else np.hstack([left, right])
    total = [[Fraction(0)] * together.shape[1] for _ in range(together.shape[1])]
    for start in range(0, left.shape[0], SLICED_ROWS * MAX_SUMS):
        rows = together[start : start + SLICED_ROWS * MAX_SUMS]
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
    for start in range(0, matrix.shape[0], SLICED_ROWS):
        slices = _slices(matrix[start : start + SLICED_ROWS], units)
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
        total = total * (1 << SLICE_BITS) + part
    shift = -SLICE_BITS * 2 * depth if depth else 0
    # Horner's rule left the last slice at the power SLICE_BITS times 2 depth
    return [
        [int(value) * Fraction(2) ** (e + f + shift) for value, f in zip(row, units, strict=True)]
        for row, e in zip(total, units, strict=True)
    ]


def _slices(matrix: Array, units: NDArray[np.int64]) -> Array | None:
    """Slices S_1, S_2, ... side by side, of whole numbers below 2^SLICE_BITS in size, with

    matrix = 2^units (S_1 2^-SLICE_BITS + S_2 2^-2BITS + ...).
    """
    rest = matrix * np.exp2(-units)
    if np.count_nonzero(rest) != np.count_nonzero(matrix):  # too small for a double in these units
        return None
    parts: list[Array] = []
    while rest.any():
        if len(parts) == MAX_SLICES:
            return None
        rest *= 2.0**SLICE_BITS
        part = np.trunc(rest)
        rest -= part
        parts.append(part)
    return np.hstack(parts) if parts else np.zeros((matrix.shape[0], 0))


def rank(matrix: Array) -> int:
    """The rank of a matrix of doubles, worked out modulo two primes: never more than the rank, and less only if every
    minor of that size is a multiple of both primes. Of many rows as many random combinations as there are columns, and
    a few more, have the same rank, but for a chance of 2^-100."""
    return max(rank_of_residues(_few_combinations(matrix, prime), prime) for prime in PRIMES)


def _few_combinations(matrix: Array, prime: int) -> NDArray[np.int64]:
    """Rows of residues with the same rank: those of the matrix, or combinations of these."""
    count = matrix.shape[1] + MORE_COMBINATIONS
    if matrix.shape[0] <= count:
        return _residues(matrix, prime)
    random, out = np.random.default_rng(prime), np.zeros((count, matrix.shape[1]), dtype=np.int64)
    for start in range(0, matrix.shape[0], SLICED_ROWS):
        rows = _residues(matrix[start : start + SLICED_ROWS], prime)
        factors = random.integers(0, 2**FACTOR_BITS, (count, rows.shape[0])).astype(float)
        # halves of 16 bits times factors of as many, added up over a block, stay in 53 bits
        high, low = (factors @ part.astype(float) for part in np.divmod(rows, 2**16))
        out = (out + high.astype(np.int64) % prime * 2**16 + low.astype(np.int64)) % prime
    return out


def _residues(matrix: Array, prime: int) -> NDArray[np.int64]:
    """The rows, each times a power of two that makes it whole, modulo a prime."""
    mantissas, exponents = np.frexp(matrix)
    whole = np.ldexp(mantissas, 53).astype(np.int64)  # a double is a whole number of 53 bits times a power of two
    # a row times a power of two has the same rank, so powers are counted from the smallest of the row
    least = np.where(whole != 0, exponents, np.iinfo(np.int32).max).min(axis=1, keepdims=True, initial=2**30)
    shifts = np.where(whole != 0, exponents - least, 0)
    powers = np.array([pow(2, k, prime) for k in range(int(shifts.max(initial=0)) + 1)], dtype=np.int64)
    return whole % prime * powers[shifts] % prime


def null_vector(matrix: Array) -> list[Fraction] | None:
    """A vector that every row annihilates, with a one among its entries; None where there is only 0."""
    if not matrix.shape[0]:
        return [Fraction(j == 0) for j in range(matrix.shape[1])] or None
    basis = null_space(as_fractions(matrix))
    return basis[0] if basis else None
