"""Linear systems of rationals, by elimination."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.rational.numbers import has_flint

Vector = list[Fraction]
Matrix = list[Vector]
Given = Sequence[Sequence[Fraction]]

#: Products of two residues fit into 63 bits.
PRIME = 2**31 - 1
#: Below so many entries the way to python-flint and back costs more than it saves.
MIN_FLINT_ENTRIES = 24


def dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """The inner product."""
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), Fraction(0))


def solve(system: Given, target: Sequence[Fraction]) -> Vector | None:
    """A solution z of ``system z = target``, its free entries 0; None where there is none."""
    width = len(system[0]) if system else 0
    square = 0 < len(system) == width
    if square and has_flint() and len(system) * width > MIN_FLINT_ENTRIES:
        try:
            found = _to_flint(system).solve(_to_flint([[t] for t in target]))
            return [z for (z,) in _from_flint(found, width)]
        except ZeroDivisionError:  # singular: there may be a solution all the same
            pass
    rows, pivots = reduced([[*row, t] for row, t in zip(system, target, strict=True)], width + 1)
    if pivots and pivots[-1] == width:  # 0 = 1
        return None
    z = [Fraction(0)] * width
    for row, column in zip(rows, pivots, strict=False):
        z[column] = row[width]
    return z


def null_space(matrix: Given) -> Matrix:
    """A basis of all z with ``matrix z = 0``, each with a one in a place where the others have a zero."""
    width = len(matrix[0]) if matrix else 0
    rows, pivots = reduced(matrix, width)
    basis = []
    for free in sorted(set(range(width)) - set(pivots)):
        z = [Fraction(0)] * width
        z[free] = Fraction(1)
        for row, column in zip(rows, pivots, strict=False):
            z[column] = -row[free]
        basis.append(z)
    return basis


def null_vector_near(matrix: Given, given: Sequence[Fraction]) -> Vector | None:
    """A vector that every row annihilates, near the one given: its free entries are as given, the others are solved
    for. The largest entries are kept free, so that what is solved for stays small. None where there is only 0."""
    distinct = [list(row) for row in dict.fromkeys(tuple(row) for row in matrix) if any(row)]
    if not distinct:
        return list(given)
    order = sorted(range(len(given)), key=lambda j: abs(given[j]))
    out = [Fraction(0)] * len(given)
    for vector in null_space([[row[j] for j in order] for row in distinct]):
        free = max(k for k, value in enumerate(vector) if value)  # a one, where the others have a zero
        for k, value in enumerate(vector):
            out[order[k]] += given[order[free]] * value
    return out if any(out) else None


def rank(matrix: Given) -> int:
    """The rank of a matrix."""
    return len(independent_columns(matrix))


def rank_modulo_prime(matrix: Given) -> int:
    """The rank of a matrix modulo a prime, each column in whole numbers: at most its rank, and almost always equal. It
    costs no more for long numbers than for short ones."""
    width = len(matrix[0]) if matrix else 0
    scales = [lcm(*(row[j].denominator for row in matrix)) for j in range(width)]
    whole = [[v.numerator * (s // v.denominator) % PRIME for v, s in zip(row, scales, strict=True)] for row in matrix]
    return rank_of_residues(np.array(whole, dtype=np.int64), PRIME)


def rank_of_residues(work: NDArray[np.int64], prime: int) -> int:
    """The rank modulo a prime below 2^31 of whole numbers below it, which are used up."""
    top = 0
    for column in range(work.shape[1] if work.size else 0):
        found = np.flatnonzero(work[top:, column])
        if not found.size:
            continue
        work[[top, top + found[0]]] = work[[top + found[0], top]]
        work[top] = work[top] * pow(int(work[top, column]), -1, prime) % prime
        below = work[top + 1 :]
        below -= below[:, column, None] * work[top] % prime
        below %= prime
        top += 1
        if top == len(work):
            break
    return top


def transposed(matrix: Given) -> Matrix:
    """The columns."""
    return [list(column) for column in zip(*matrix, strict=True)]


def independent_rows(matrix: Given) -> list[int]:
    """Rows that span what all rows span, each one that does not depend on those before it."""
    return independent_columns(transposed(matrix))


def independent_columns(matrix: Given) -> list[int]:
    """Columns that span what all columns span, each one that does not depend on those before it."""
    return reduced(matrix, len(matrix[0]))[1] if matrix else []


def inverse(matrix: Given) -> Matrix | None:
    """The inverse of a square matrix; None where it is singular."""
    size = len(matrix)
    if has_flint() and size * size > MIN_FLINT_ENTRIES:
        try:
            return _from_flint(_to_flint(matrix).inv(), size)
        except ZeroDivisionError:
            return None
    units = [[Fraction(int(j == k)) for j in range(size)] for k in range(size)]
    rows, pivots = reduced([[*row, *unit] for row, unit in zip(matrix, units, strict=True)], 2 * size)
    return [row[size:] for row in rows] if pivots == list(range(size)) else None


def determinant(matrix: Given) -> Fraction:
    """The determinant of a square matrix."""
    if has_flint() and len(matrix) ** 2 > MIN_FLINT_ENTRIES:
        return _fraction(_to_flint(matrix).det())
    work, out = [list(row) for row in matrix], Fraction(1)
    for k in range(len(work)):
        found = next((i for i in range(k, len(work)) if work[i][k]), None)
        if found is None:
            return Fraction(0)
        if found != k:
            work[k], work[found], out = work[found], work[k], -out
        out *= work[k][k]
        for i in range(k + 1, len(work)):
            if factor := work[i][k] / work[k][k]:
                work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    return out


def is_semidefinite(matrix: Given) -> bool:
    """Whether a matrix is symmetric and positive semidefinite: elimination without division (Bareiss) meets no negative
    pivot, and where a pivot is 0, so is its row."""
    unit, n = lcm(*(v.denominator for row in matrix for v in row)), len(matrix)
    work, last = [[v.numerator * (unit // v.denominator) for v in row] for row in matrix], 1
    if any(work[j][k] != work[k][j] for j in range(n) for k in range(j)):
        return False
    for j in range(n):
        pivot, row = work[j][j], work[j]
        if pivot < 0 or (pivot == 0 and any(row[j:])):
            return False
        for i in range(j + 1, n) if pivot else ():
            factor = work[i][j]
            work[i] = [(pivot * a - factor * b) // last for a, b in zip(work[i], row, strict=True)]
        last = pivot or last
    return True


def reduced(matrix: Given, width: int) -> tuple[Matrix, list[int]]:
    """The rows in reduced echelon form, and the columns of their pivots."""
    if has_flint() and len(matrix) * width > MIN_FLINT_ENTRIES:
        form, found = _to_flint(matrix).rref()
        rows = _from_flint(form, found)
        return rows, [next(j for j, value in enumerate(row) if value) for row in rows]
    work = [list(row) for row in matrix]
    pivots: list[int] = []
    for column in range(width):
        top = len(pivots)
        found = next((i for i in range(top, len(work)) if work[i][column]), None)
        if found is None:
            continue
        work[top], work[found] = work[found], work[top]
        lead = work[top][column]
        work[top] = [value / lead for value in work[top]]
        for i, row in enumerate(work):
            if i != top and (factor := row[column]):
                work[i] = [a - factor * b for a, b in zip(row, work[top], strict=True)]
        pivots.append(column)
    return work[: len(pivots)], pivots


def _to_flint(matrix: Given) -> Any:
    from flint import fmpq, fmpq_mat

    entries = [fmpq(v.numerator, v.denominator) if v else 0 for row in matrix for v in row]
    return fmpq_mat(len(matrix), len(matrix[0]), entries)


def _from_flint(matrix: Any, height: int) -> Matrix:
    """The first rows of a matrix."""
    return [[_fraction(matrix[i, j]) for j in range(matrix.ncols())] for i in range(height)]


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
