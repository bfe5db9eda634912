"""Exact sums over many rows: A'B without any rounding.

A column of doubles is a whole number of a small power of two, so it is a sum of slices, each a column of whole numbers
of few bits times one power of two (Ozaki et al. 2012). The product of two slices is added up by BLAS without rounding
error, because no partial sum leaves 53 bits. A handful of matrix products so gives the exact sums of 1e6 rows.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Matrix = list[list[Fraction]]

#: Columns whose entries need more slices than this are multiplied as rationals: their sizes differ too much.
MOST_SLICES = 16
#: So many rows are sliced at a time, to bound the memory.
BLOCK = 1 << 17


def product(left: Array, right: Array) -> Matrix:
    """left' right, exactly, of two matrices of doubles with as many rows."""
    total = [[Fraction(0)] * right.shape[1] for _ in range(left.shape[1])]
    for start in range(0, left.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        part = _sliced_product(left[rows], right[rows])
        if part is None:
            part = rational_product(as_fractions(left[rows]), as_fractions(right[rows]))
        total = [[a + b for a, b in zip(u, v, strict=True)] for u, v in zip(total, part, strict=True)]
    return total


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


def _sliced_product(left: Array, right: Array) -> Matrix | None:
    """left' right by slices; None where the entries of a column differ too much in size."""
    bits = (53 - ceil(log2(max(left.shape[0], 2)))) // 2
    slices = _slices(left, bits)
    others = slices if right is left else _slices(right, bits)
    if slices is None or others is None:
        return None
    (units, parts), (other_units, other_parts) = slices, others
    depth = len(parts) + len(other_parts)
    sums = [[0] * right.shape[1] for _ in range(left.shape[1])]
    for s, part in enumerate(parts, 1):
        for t, other in enumerate(other_parts, 1):
            if right is left and t < s:
                continue  # the transpose of what was counted
            whole = part.T @ other
            whole = whole + whole.T if right is left and t > s else whole
            shift = bits * (depth - s - t)
            for row, values in zip(sums, whole.tolist(), strict=True):
                for k, value in enumerate(values):
                    row[k] += int(value) << shift
    return [
        [_times_power(value, int(e) + int(f) - bits * depth) for value, f in zip(row, other_units, strict=True)]
        for row, e in zip(sums, units, strict=True)
    ]


def _times_power(value: int, exponent: int) -> Fraction:
    return Fraction(value << exponent) if exponent >= 0 else Fraction(value, 1 << -exponent)


def _slices(matrix: Array, bits: int) -> tuple[NDArray[np.int64], list[Array]] | None:
    """Exponents e by column and slices S_1, S_2, ... of whole numbers below 2^bits in size, with

    matrix = 2^e (S_1 2^-bits + S_2 2^-2bits + ...).
    """
    reach = np.abs(matrix).max(axis=0, initial=0.0)
    units = np.frexp(reach)[1].astype(np.int64)
    if np.any(units > 1000) or np.any(units < -900):  # scaling them would leave the range of doubles
        return None
    rest = np.ldexp(matrix, -units)
    if np.any((rest == 0) != (matrix == 0)) or np.any((np.abs(rest) < 1e-290) & (rest != 0)):
        return None
    parts: list[Array] = []
    while np.any(rest):
        if len(parts) == MOST_SLICES:
            return None
        rest = np.ldexp(rest, bits)
        part = np.trunc(rest)
        rest -= part
        parts.append(part)
    return units, parts
