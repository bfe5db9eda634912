"""The nearest point of a lattice, nearly: steps are reduced first (Lenstra, Lenstra and Lovász 1982), then the point is
rounded plane by plane (Babai 1986). A lattice is known by the inner products of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from convexcls.rational.elimination import Vector

Whole = list[list[int]]

#: How much shorter the next step may be, squared, before two are exchanged.
LOVASZ = Fraction(3, 4)


def nearest_multiples(gram: Whole, along: Sequence[int]) -> list[int]:
    """How often to take each step so that their sum is near a target t. ``gram`` has the inner products of the steps,
    which do not depend on each other, ``along`` those of each step with t."""
    basis = _reduced(gram)
    lower, squares = _orthogonal(_transformed(basis, gram))
    t = [sum(c * v for c, v in zip(row, along, strict=True)) for row in basis]
    height: Vector = []  # inner products with the orthogonal steps
    for i, value in enumerate(t):
        height.append(value - sum((lower[i][k] * height[k] for k in range(i)), Fraction(0)))
    times = [0] * len(basis)
    for i in reversed(range(len(basis))):
        beyond = sum((times[k] * lower[k][i] for k in range(i + 1, len(basis))), Fraction(0))
        times[i] = round(height[i] / squares[i] - beyond)
    return [sum(c * row[j] for c, row in zip(times, basis, strict=True)) for j in range(len(basis))]


def _reduced(gram: Whole) -> Whole:
    """Short combinations of the steps that generate the same lattice, one a row."""
    size = len(gram)
    basis = [[int(i == j) for j in range(size)] for i in range(size)]
    lower, squares = _orthogonal(gram)
    k = 1
    while k < size:
        for j in reversed(range(k)):
            if times := round(lower[k][j]):
                basis[k] = [a - times * b for a, b in zip(basis[k], basis[j], strict=True)]
                lower[k] = [a - times * b for a, b in zip(lower[k], lower[j], strict=True)]
        if squares[k] >= (LOVASZ - lower[k][k - 1] ** 2) * squares[k - 1]:
            k += 1
            continue
        _exchange(basis, lower, squares, k)
        k = max(k - 1, 1)
    return basis


def _exchange(basis: Whole, lower: list[Vector], squares: Vector, k: int) -> None:
    """Exchange the steps k and k - 1, with their orthogonal parts."""
    slope, above = lower[k][k - 1], squares[k - 1]
    squares[k - 1] = squares[k] + slope * slope * above
    lower[k][k - 1] = slope * above / squares[k - 1]
    squares[k] *= above / squares[k - 1]
    basis[k - 1], basis[k] = basis[k], basis[k - 1]
    for j in range(k - 1):
        lower[k - 1][j], lower[k][j] = lower[k][j], lower[k - 1][j]
    for i in range(k + 1, len(basis)):
        old = lower[i][k]
        lower[i][k] = lower[i][k - 1] - slope * old
        lower[i][k - 1] = old + lower[k][k - 1] * lower[i][k]


def _orthogonal(gram: Whole) -> tuple[list[Vector], Vector]:
    """The Gram-Schmidt coefficients, 1 on the diagonal, and the squared lengths of the orthogonal steps."""
    size = len(gram)
    lower = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    squares: Vector = []
    for i in range(size):
        for j in range(i):
            inner = gram[i][j] - sum((lower[i][k] * lower[j][k] * squares[k] for k in range(j)), Fraction(0))
            lower[i][j] = inner / squares[j]
        squares.append(gram[i][i] - sum((lower[i][k] ** 2 * squares[k] for k in range(i)), Fraction(0)))
    return lower, squares


def _transformed(basis: Whole, gram: Whole) -> Whole:
    half = [
        [sum(a * g for a, g in zip(row, column, strict=True)) for column in zip(*gram, strict=True)] for row in basis
    ]
    return [[sum(a * b for a, b in zip(row, other, strict=True)) for other in basis] for row in half]
