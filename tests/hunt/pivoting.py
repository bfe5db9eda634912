"""Linear and quadratic programs in rational arithmetic, by Lemke's complementary pivoting.

    minimise  1/2 x'Px + q'x   subject to  G x >= h,   x_j >= 0 for j >= free

The KKT conditions are a linear complementarity problem, w = M z + q0, w, z >= 0, w'z = 0. A solution is checked against
them before it is given back: what comes out is proved, however it was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

Vector = list[Any]
Matrix = Sequence[Sequence[Any]]
ZERO, ONE = fmpq(0), fmpq(1)


@dataclass(frozen=True)
class Optimum:
    """The optimal value with a point and multipliers that prove it."""

    value: Any
    x: Vector
    multipliers: Vector


def matrix(rows: Matrix, columns: int) -> Any:
    """The rows as a matrix of rationals."""
    return fmpq_mat(len(rows), columns, [v for row in rows for v in row])


def dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), ZERO)


def minimise(P: Matrix, q: Vector, G: Matrix, h: Vector, free: int = 0) -> Optimum | None:
    """The optimum, None where the program is infeasible or falls for ever. Free unknowns are written y - t with one
    t >= 0 for all of them."""
    n, m, shift = len(q), len(h), 1 if free else 0
    places = [*range(free), *[None] * shift, *range(free, n)]  # of the unknowns in z; None is t

    def widened(row: Sequence[Any]) -> Vector:
        t = -sum(row[:free], ZERO)
        return [t if j is None else row[j] for j in places]

    columns = [widened(row) for row in P] if any(map(any, P)) else [[ZERO] * (n + shift)] * n
    bend = [widened([row[k] for row in columns]) for k in range(n + shift)]
    rows = [widened(row) for row in G]
    size = n + shift + m
    M = [[*bend[j], *(-row[j] for row in rows)] for j in range(n + shift)]
    M += [[*row, *[ZERO] * m] for row in rows]
    q0 = [*widened(q), *(-v for v in h)]
    z = guessed(M, q0) or lemke(matrix(M, size), q0)
    if z is None:
        return None
    t = z[free] if shift else ZERO
    x = [v - t for v in z[:free]] + z[free + shift : n + shift]
    return _proved(P, q, G, h, free, x, z[n + shift :])


def _proved(P: Matrix, q: Vector, G: Matrix, h: Vector, free: int, x: Vector, u: Vector) -> Optimum:
    """The optimum, if the KKT conditions hold without rounding."""
    bent = [dot(row, x) for row in P]
    slope = [a + b for a, b in zip(bent, q, strict=True)]
    for row, multiplier in zip(G, u, strict=True):
        if multiplier:
            slope = [s - multiplier * v for s, v in zip(slope, row, strict=True)]
    held = [dot(row, x) - v for row, v in zip(G, h, strict=True)]
    assert not any(slope[:free])
    assert min([*slope[free:], *x[free:], *held, *u], default=ZERO) >= 0
    assert not any(a * b for a, b in zip([*slope[free:], *held], [*x[free:], *u], strict=True) if a)
    return Optimum(dot(x, bent) / 2 + dot(q, x), x, u)


def guessed(M: Matrix, q: Vector) -> Vector | None:
    """The same by way of doubles: pivots in doubles guess which unknowns are positive, and the equations of these are
    solved in rationals. None where that is no solution: rounding may have led anywhere."""
    support = _support_in_doubles(M, q)
    if support is None:
        return None
    z = [ZERO] * len(q)
    if support:
        try:
            solved = matrix([[M[i][j] for j in support] for i in support], len(support)).solve(
                fmpq_mat(len(support), 1, [-q[i] for i in support])
            )
        except ZeroDivisionError:  # a singular matrix
            return None
        for i, value in zip(support, solved.entries(), strict=True):
            z[i] = value
    held = (dot(row, z) + v for row, v in zip(M, q, strict=True))
    return z if min(z) >= 0 and all(v >= 0 for v in held) else None


def _support_in_doubles(M: Matrix, q: Vector) -> list[int] | None:
    n = len(q)
    try:
        T = np.array([[*(-float(Fraction(int(v.p), int(v.q))) for v in row)] for row in M])
        right = np.array([float(Fraction(int(v.p), int(v.q))) for v in q])
    except OverflowError:
        return None
    T = np.column_stack([np.eye(n), T, -np.ones(n), right])
    basis, leave, enter = list(range(n)), int(np.argmin(right)), 2 * n
    if right[leave] >= 0:
        return []
    with np.errstate(all="ignore"):
        for _ in range(5 * n):
            T[leave] /= T[leave, enter]
            others = np.arange(n) != leave
            T[others] -= np.outer(T[others, enter], T[leave])
            gone, basis[leave] = basis[leave], enter
            if gone == 2 * n:
                return sorted(k - n for k in basis if n <= k < 2 * n)
            enter = gone + n if gone < n else gone - n
            ratios = np.where(T[:, enter] > 1e-11, np.maximum(T[:, -1], 0.0) / T[:, enter], np.inf)
            leave = int(np.argmin(ratios))
            if not np.isfinite(ratios[leave]):
                return None
            tied = np.flatnonzero(ratios <= ratios[leave] + 1e-12 * abs(ratios[leave]))
            leave = next((int(i) for i in tied if basis[i] == 2 * n), int(tied[np.argmax(T[tied, enter])]))
    return None


def lemke(M: Any, q: Vector) -> Vector | None:
    """z >= 0 with M z + q >= 0 and z'(M z + q) = 0; None where a ray shows that there is none, as it does for M that
    are positive semidefinite. Ties are broken lexicographically, so no basis comes twice."""
    n = len(q)
    if min(q, default=ZERO) >= 0:
        return [ZERO] * n
    entries = M.table()
    cells: Vector = []
    for i in range(n):  # columns: w, z, the artificial z0, the right-hand side
        cells += [*(ONE if k == i else ZERO for k in range(n)), *(-v for v in entries[i]), -ONE, q[i]]
    width, basis = 2 * n + 2, list(range(n))
    T = fmpq_mat(n, width, cells)
    leave, enter = max(i for i in range(n) if q[i] == min(q)), 2 * n  # the lexicographically least row
    while True:
        head = T[leave, enter]
        row = fmpq_mat(1, width, [T[leave, j] / head for j in range(width)])
        # with head - 1 in its own row, subtracting column row leaves that row divided by its head
        column = fmpq_mat(n, 1, [T[i, enter] - (ONE if i == leave else ZERO) for i in range(n)])
        T = T - column * row
        gone, basis[leave] = basis[leave], enter
        if gone == 2 * n:
            break
        enter = gone + n if gone < n else gone - n
        rising = [(i, T[i, enter]) for i in range(n)]
        ratios = [(T[i, width - 1] / head, i, head) for i, head in rising if head > 0]
        if not ratios:
            return None
        least = min(ratio for ratio, _, _ in ratios)
        tied = [(i, head) for ratio, i, head in ratios if ratio == least]
        artificial = [i for i, _ in tied if basis[i] == 2 * n]
        leave = artificial[0] if artificial else min(tied, key=lambda t: [T[t[0], j] / t[1] for j in range(n)])[0]
    z = [ZERO] * n
    for i, k in enumerate(basis):
        if n <= k < 2 * n:
            z[k - n] = T[i, width - 1]
    return z


def solve_linear(A: Matrix, b: Vector) -> Vector | None:
    """One solution of A x = b, None where there is none; unknowns that may be chosen are 0."""
    n = len(A[0])
    reduced, rank = matrix([[*row, v] for row, v in zip(A, b, strict=True)], n + 1).rref()
    x = [ZERO] * n
    for i in range(rank):
        pivot = next(j for j in range(n + 1) if reduced[i, j])
        if pivot == n:
            return None
        x[pivot] = reduced[i, n]
    return x


def independent_columns(rows: Matrix) -> list[int]:
    """Columns that span the others."""
    width = len(rows[0])
    reduced, rank = matrix(rows, width).rref()
    return [next(j for j in range(width) if reduced[i, j]) for i in range(rank)]
