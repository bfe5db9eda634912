"""Exact answers to small problems, in rational arithmetic, sharing nothing with the package under test.

Data are lists of rows of integers, fractions or floats (a float is the dyadic rational it is), labels are
-1 and +1. Every optimum found here is checked before it is returned: a simplex or Lemke solution carries a
primal and a dual point whose objectives agree exactly, so a slip in the pivoting cannot pass unseen.
"""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from math import gcd, lcm

ZERO, ONE = Fraction(0), Fraction(1)

Vector = list[Fraction]
Matrix = list[Vector]


def fractions(rows) -> Matrix:
    """A table of numbers as fractions."""
    return [[Fraction(v) for v in row] for row in rows]


def dot(u, v) -> Fraction:
    """The inner product."""
    return sum((a * b for a, b in zip(u, v, strict=True)), ZERO)


def signed_rows(X, y, intercept: bool) -> Matrix:
    """z_i = y_i (x_i, 1), or y_i x_i without intercept: the margins are z_i'v."""
    tail = [ONE] if intercept else []
    return [[Fraction(s) * v for v in [*row, *tail]] for row, s in zip(fractions(X), y, strict=True)]


# ---- linear systems -------------------------------------------------------------------------------------


def reduced(matrix: Matrix) -> tuple[Matrix, list[int]]:
    """The reduced row echelon form without its zero rows, and the pivot columns."""
    rows, pivots, at = [row[:] for row in matrix], [], 0
    for column in range(len(rows[0]) if rows else 0):
        found = next((i for i in range(at, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        head = rows[at][column]
        rows[at] = [v / head for v in rows[at]]
        for i in range(len(rows)):
            if i != at and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[at], strict=True)]
        pivots.append(column)
        at += 1
    return rows[:at], pivots


def rank(matrix: Matrix) -> int:
    """The rank."""
    return len(reduced(matrix)[1])


def solve_linear(matrix: Matrix, rhs: Vector) -> Vector | None:
    """A solution of matrix @ x = rhs (free unknowns 0), or None where there is none."""
    width = len(matrix[0])
    rows, pivots = reduced([[*row, b] for row, b in zip(matrix, rhs, strict=True)])
    if width in pivots:
        return None
    x = [ZERO] * width
    for row, column in zip(rows, pivots, strict=True):
        x[column] = row[-1]
    return x


def null_space(matrix: Matrix) -> Matrix:
    """A basis of the solutions of matrix @ x = 0."""
    rows, pivots = reduced(matrix)
    width, basis = len(matrix[0]), []
    for free in (j for j in range(width) if j not in pivots):
        x = [ZERO] * width
        x[free] = ONE
        for row, column in zip(rows, pivots, strict=True):
            x[column] = -row[free]
        basis.append(x)
    return basis


# ---- pivoting in integers: the tableau is its integer entries over one common denominator ---------------


def _whole(row: Vector) -> Vector:
    """The row times the least number that makes it integers: the same equation."""
    scale = reduce(lcm, (v.denominator for v in row), 1)
    return [v * scale for v in row]


class _Tableau:
    """A tableau of integers that holds a unit basis; every pivot divides exactly (Edmonds, Bareiss)."""

    def __init__(self, rows: Matrix) -> None:
        assert all(v.denominator == 1 for row in rows for v in row)
        self.rows = [[v.numerator for v in row] for row in rows]
        self.denominator = 1

    def pivot(self, i: int, j: int) -> None:
        head, pivot_row, old = self.rows[i][j], self.rows[i], self.denominator
        for k, row in enumerate(self.rows):
            if k != i:
                factor = row[j]
                self.rows[k] = [(v * head - factor * w) // old for v, w in zip(row, pivot_row, strict=True)]
        self.denominator = head
        if head < 0:
            self.rows = [[-v for v in row] for row in self.rows]
            self.denominator = -head

    def value(self, i: int, j: int) -> Fraction:
        return Fraction(self.rows[i][j], self.denominator)


class Unbounded(Exception):
    """The linear program has no lower bound."""


def simplex(cost: Vector, matrix: Matrix, rhs: Vector) -> tuple[Fraction, Vector, Vector] | None:
    """min cost'x over matrix @ x = rhs, x >= 0, by Bland's rule in two phases: the optimum, x and the
    multipliers of the equations. None where infeasible; raises ``Unbounded``."""
    m, n = len(matrix), len(cost)
    rows = []
    for i, (row, b) in enumerate(zip(matrix, rhs, strict=True)):
        *left, right = _whole([-v for v in [*row, b]] if b < 0 else [*row, b])
        rows.append([*left, *(ONE if k == i else ZERO for k in range(m)), right])
    first = [-sum((row[j] for row in rows), ZERO) for j in range(n)] + [ZERO] * m
    first.append(-sum((row[-1] for row in rows), ZERO))
    second = [*_whole(cost), *[ZERO] * m, ZERO]
    tableau = _Tableau([*rows, first, second])
    basis = [n + i for i in range(m)]
    _bland(tableau, basis, m, m, n)
    if tableau.rows[m][-1] != 0:
        return None
    for i in range(m):  # artificial variables that stay at zero leave where they can
        if basis[i] >= n:
            column = next((j for j in range(n) if tableau.rows[i][j]), None)
            if column is not None:
                tableau.pivot(i, column)
                basis[i] = column
    _bland(tableau, basis, m, m + 1, n)
    x = [ZERO] * n
    for i, column in enumerate(basis):
        if column < n:
            x[column] = tableau.value(i, -1)
    used = [c for c in basis if c < n]
    dual = solve_linear([[row[c] for row in matrix] for c in used], [cost[c] for c in used]) if used else [ZERO] * m
    assert dual is not None
    optimum = dot(cost, x)
    assert all(v >= 0 for v in x)
    assert all(dot(row, x) == b for row, b in zip(matrix, rhs, strict=True))
    assert optimum == dot(rhs, dual)
    assert all(sum((matrix[i][j] * dual[i] for i in range(m)), ZERO) <= cost[j] for j in range(n))
    return optimum, x, dual


def _bland(tableau: _Tableau, basis: list[int], m: int, objective: int, columns: int) -> None:
    while True:
        enter = next((j for j in range(columns) if tableau.rows[objective][j] < 0), None)
        if enter is None:
            return
        best = None
        for i in range(m):
            head = tableau.rows[i][enter]
            if head > 0:
                ratio = Fraction(tableau.rows[i][-1], head)
                if best is None or (ratio, basis[i]) < (best[0], basis[best[1]]):
                    best = (ratio, i)
        if best is None:
            raise Unbounded
        tableau.pivot(best[1], enter)
        basis[best[1]] = enter


def lemke(M: Matrix, q: Vector) -> Vector | None:
    """z >= 0 with Mz + q >= 0 and z'(Mz + q) = 0, for M positive semidefinite (not symmetric), by Lemke's
    method with lexicographic ties; None where there is none."""
    n = len(q)
    if all(v >= 0 for v in q):
        return [ZERO] * n
    # columns: slacks w (0..n-1), z (n..2n-1), the artificial z0 (2n), then the right-hand side
    rows = []
    for i in range(n):
        unit = [ONE if k == i else ZERO for k in range(n)]
        *left, right = _whole([*(-v for v in M[i]), q[i]])
        rows.append([*unit, *left, -ONE, right])
    tableau, basis = _Tableau(rows), list(range(n))
    leave = min(range(n), key=lambda i: [rows[i][-1], *rows[i][:n]])
    enter = 2 * n
    while True:
        tableau.pivot(leave, enter)
        gone, basis[leave] = basis[leave], enter
        if gone == 2 * n:
            break
        enter = gone + n if gone < n else gone - n
        rising = [i for i in range(n) if tableau.rows[i][enter] > 0]
        if not rising:
            return None

        def order(i: int, column: int = enter) -> list[Fraction]:
            row, head = tableau.rows[i], tableau.rows[i][column]
            return [Fraction(row[-1], head), *(Fraction(v, head) for v in row[:n])]

        least = min(Fraction(tableau.rows[i][-1], tableau.rows[i][enter]) for i in rising)
        tied = [i for i in rising if Fraction(tableau.rows[i][-1], tableau.rows[i][enter]) == least]
        artificial = [i for i in tied if basis[i] == 2 * n]
        leave = artificial[0] if artificial else min(tied, key=order)
    z = [ZERO] * n
    for i, column in enumerate(basis):
        if n <= column < 2 * n:
            z[column - n] = tableau.value(i, -1)
    w = [dot(row, z) + v for row, v in zip(M, q, strict=True)]
    assert all(v >= 0 for v in z)
    assert all(v >= 0 for v in w)
    assert all(a * b == 0 for a, b in zip(z, w, strict=True))
    return z


# ---- separability ---------------------------------------------------------------------------------------


def separability(X, y, intercept: bool = True) -> str:
    """``strict``: some v has every margin above 0. ``weak``: not that, but some v has no margin below 0 and
    one above. ``overlap``: neither. By exact linear programs."""
    Z = signed_rows(X, y, intercept)
    if _separate_by_one(Z):
        return "strict"
    n, m = len(Z), len(Z[0])
    # margins s >= 0 with Z v - s = 0 and a bounded sum: can any be positive?
    rows = [[*z, *(-v for v in z), *(-ONE if k == i else ZERO for k in range(n)), ZERO] for i, z in enumerate(Z)]
    rows.append([ZERO] * (2 * m) + [ONE] * (n + 1))
    found = simplex([ZERO] * (2 * m) + [-ONE] * n + [ZERO], rows, [ZERO] * n + [ONE])
    assert found is not None
    return "weak" if found[0] < 0 else "overlap"


def _separate_by_one(Z: Matrix) -> bool:
    n, m = len(Z), len(Z[0])
    rows = [[*z, *(-v for v in z), *(-ONE if k == i else ZERO for k in range(n))] for i, z in enumerate(Z)]
    return simplex([ZERO] * (2 * m + n), rows, [ONE] * n) is not None


def separability_by_circuits(X, y, intercept: bool = True) -> str:
    """The same verdict with no linear program: by Caratheodory's theorem 0 is in the hull of the z_i iff some
    minimal dependent subset (at most d + 2 of them, Kirchberger) has a positive dependency; and by Stiemke's
    the classes overlap iff every sample occurs in one."""
    Z = signed_rows(X, y, intercept)
    n, m = len(Z), len(Z[0])
    covered: set[int] = set()
    for size in range(1, m + 2):
        for chosen in combinations(range(n), size):
            if set(chosen) <= covered:
                continue
            basis = null_space([[Z[i][k] for i in chosen] for k in range(m)])
            if len(basis) == 1 and (all(v > 0 for v in basis[0]) or all(v < 0 for v in basis[0])):
                covered |= set(chosen)
    return "strict" if not covered else "overlap" if len(covered) == n else "weak"


# ---- margins --------------------------------------------------------------------------------------------


def hard_margin(X, y, intercept: bool = True) -> tuple[Fraction, Vector, Fraction, Vector] | None:
    """min 1/2 |w|^2 with every margin at least 1: optimum, w, b, multipliers; None where infeasible. By trying
    support sets: some optimal support has independent z_i, and then the KKT equations are regular."""
    Z, d = signed_rows(X, y, intercept), len(X[0])
    n, m = len(Z), len(Z[0])
    for size in range(1, m + 1):
        for chosen in combinations(range(n), size):
            found = _tight(Z, d, chosen)
            if found is None:
                continue
            v, alpha = found
            if all(dot(z, v) >= 1 for z in Z):
                w, b = v[:d], v[d] if intercept else ZERO
                value = dot(w, w) / 2
                assert value == sum(alpha) - value  # primal = dual
                return value, w, b, alpha
    return None


def _tight(Z: Matrix, d: int, chosen: tuple[int, ...]) -> tuple[Vector, Vector] | None:
    """v with margin 1 on the chosen samples and w in their positive span; None where there is none."""
    size, free = len(chosen), len(Z[0]) - d
    gram = [[dot(Z[i][:d], Z[k][:d]) for k in chosen] + Z[i][d:] for i in chosen]
    gram += [[Z[k][d + j] for k in chosen] + [ZERO] * free for j in range(free)]
    if rank(gram) < size + free:
        return None
    solution = solve_linear(gram, [ONE] * size + [ZERO] * free)
    if solution is None or any(a < 0 for a in solution[:size]):
        return None
    alpha = [ZERO] * len(Z)
    for i, a in zip(chosen, solution, strict=False):
        alpha[i] = a
    w = [sum((alpha[i] * Z[i][j] for i in chosen), ZERO) for j in range(d)]
    return [*w, *solution[size:]], alpha


def soft_margin(
    X, y, C=1, loss: str = "hinge", intercept: bool = True, weights=None
) -> tuple[Fraction, Vector, Vector]:
    """min 1/2 |w|^2 + sum_i C_i slack_i (or slack_i^2): optimum, w and multipliers, by Lemke's method on the
    dual; the primal value is computed from w and the best intercept and must equal the dual one."""
    Z, d, n = signed_rows(X, y, intercept), len(X[0]), len(X)
    caps = [Fraction(C) * Fraction(1 if weights is None else weights[i]) for i in range(n)]
    used = [i for i in range(n) if caps[i] > 0]
    k, free = len(used), (1 if intercept else 0)
    Q = [[dot(Z[i][:d], Z[j][:d]) for j in used] for i in used]
    if loss == "squared_hinge":
        for r, i in enumerate(used):
            Q[r][r] += 1 / (2 * caps[i])
    capped = loss == "hinge"
    size = k + (k if capped else 0) + 2 * free
    M = [[ZERO] * size for _ in range(size)]
    q = [ZERO] * size
    for r in range(k):
        M[r][:k] = Q[r]
        q[r] = -ONE
        if capped:
            M[r][k + r], M[k + r][r], q[k + r] = ONE, -ONE, caps[used[r]]
        if free:
            sign = Z[used[r]][d]
            M[r][-2], M[r][-1], M[-2][r], M[-1][r] = sign, -sign, -sign, sign
    z = lemke(M, q)
    assert z is not None
    alpha = [ZERO] * n
    for r, i in enumerate(used):
        alpha[i] = z[r]
    w = [sum((alpha[i] * Z[i][j] for i in used), ZERO) for j in range(d)]
    b = z[-2] - z[-1] if free else ZERO
    slack = [max(ZERO, 1 - dot(Z[i][:d], w) - (Z[i][d] * b if free else ZERO)) for i in range(n)]
    power = 1 if capped else 2
    primal = dot(w, w) / 2 + sum((c * s**power for c, s in zip(caps, slack, strict=True)), ZERO)
    dual = sum(alpha) - dot(w, w) / 2
    if not capped:
        dual -= sum((alpha[i] ** 2 / (4 * caps[i]) for i in used), ZERO)
    assert primal == dual
    assert not free or sum((alpha[i] * Z[i][d] for i in used), ZERO) == 0
    return primal, w, alpha


def soft_margin_by_enumeration(X, y, C=1, intercept: bool = True) -> Fraction:
    """The hinge optimum again, by trying which multipliers are at 0, between and at C: for very small n."""
    Z, d, n = signed_rows(X, y, intercept), len(X[0]), len(X)
    C, free = Fraction(C), (1 if intercept else 0)
    best = None
    for state in product((0, 1, 2), repeat=n):
        inner, upper = [i for i in range(n) if state[i] == 1], [i for i in range(n) if state[i] == 2]
        rows = [[dot(Z[i][:d], Z[k][:d]) for k in inner] + Z[i][d:] for i in inner]
        rhs = [1 - C * sum((dot(Z[i][:d], Z[k][:d]) for k in upper), ZERO) for i in inner]
        if free:
            rows.append([Z[k][d] for k in inner] + [ZERO])
            rhs.append(-C * sum((Z[k][d] for k in upper), ZERO))
        alpha = [C if s == 2 else ZERO for s in state]
        if inner:
            solution = solve_linear(rows, rhs)
            if solution is None or any(not 0 <= a <= C for a in solution[: len(inner)]):
                continue
            for i, a in zip(inner, solution, strict=False):
                alpha[i] = a
        elif free and rhs[-1] != 0:
            continue
        w = [sum((a * z[j] for a, z in zip(alpha, Z, strict=True)), ZERO) for j in range(d)]
        value = sum(alpha) - dot(w, w) / 2  # feasible for the dual, so a lower bound; the best one is the optimum
        best = value if best is None or value > best else best
    assert best is not None
    return best


# ---- linear programs ------------------------------------------------------------------------------------


def least_absolute(X, target, intercept: bool = True, weights=None) -> Fraction:
    """min sum_i c_i |w'x_i + b - t_i|."""
    F = [[*row, *([ONE] if intercept else [])] for row in fractions(X)]
    t, n = [Fraction(v) for v in target], len(F)
    c = [Fraction(1 if weights is None else weights[i]) for i in range(n)]
    unit = [[ONE if k == i else ZERO for k in range(n)] for i in range(n)]
    rows = [[*f, *(-v for v in f), *unit[i], *(-v for v in unit[i])] for i, f in enumerate(F)]
    found = simplex([ZERO] * (2 * len(F[0])) + c + c, rows, t)
    assert found is not None
    return found[0]


def perceptron(X, y, intercept: bool = True, weights=None) -> Fraction | None:
    """min sum_i c_i max(0, -margin_i) with sum_i c_i margin_i = sum_i c_i; None where infeasible."""
    Z, n = signed_rows(X, y, intercept), len(X)
    c = [Fraction(1 if weights is None else weights[i]) for i in range(n)]
    m, unit = len(Z[0]), [[ONE if k == i else ZERO for k in range(n)] for i in range(n)]
    rows = [[*z, *(-v for v in z), *unit[i], *(-v for v in unit[i])] for i, z in enumerate(Z)]
    total = [sum((c[i] * Z[i][j] for i in range(n)), ZERO) for j in range(m)]
    rows.append([*total, *(-v for v in total), *[ZERO] * (2 * n)])
    found = simplex([ZERO] * (2 * m) + c + [ZERO] * n, rows, [ZERO] * n + [sum(c, ZERO)])
    return None if found is None else found[0]


# ---- quadratics with a formula --------------------------------------------------------------------------


def least_squares(X, target, l2=0, intercept: bool = True, weights=None) -> tuple[Fraction, Vector]:
    """min 1/2 sum_i c_i (w'x_i + b - t_i)^2 + l2/2 |w|^2: the optimum and one (w, b), by normal equations."""
    F = [[*row, *([ONE] if intercept else [])] for row in fractions(X)]
    t, n, m, d = [Fraction(v) for v in target], len(F), len(F[0]), len(X[0])
    c = [Fraction(1 if weights is None else weights[i]) for i in range(n)]
    normal = [[sum((c[i] * F[i][j] * F[i][k] for i in range(n)), ZERO) for k in range(m)] for j in range(m)]
    for j in range(d):
        normal[j][j] += Fraction(l2)
    v = solve_linear(normal, [sum((c[i] * F[i][j] * t[i] for i in range(n)), ZERO) for j in range(m)])
    assert v is not None
    cost = sum((c[i] * (dot(F[i], v) - t[i]) ** 2 for i in range(n)), ZERO) / 2
    return cost + Fraction(l2) * dot(v[:d], v[:d]) / 2, v


def fisher(X, y) -> tuple[Fraction, Vector] | None:
    """min 1/2 w'S_W w with (mean_2 - mean_1)'w = 1: the optimum and one w; None where the means agree."""
    F, d = fractions(X), len(X[0])
    scatter, means = [[ZERO] * d for _ in range(d)], []
    for sign in (-1, 1):
        part = [row for row, s in zip(F, y, strict=True) if s == sign]
        mean = [sum((row[j] for row in part), ZERO) / len(part) for j in range(d)]
        means.append(mean)
        for row in part:
            off = [v - m for v, m in zip(row, mean, strict=True)]
            scatter = [[scatter[j][k] + off[j] * off[k] for k in range(d)] for j in range(d)]
    step = [b - a for a, b in zip(*means, strict=True)]
    if not any(step):
        return None
    solution = solve_linear([[*scatter[j], step[j]] for j in range(d)] + [[*step, ZERO]], [ZERO] * d + [ONE])
    assert solution is not None
    w = solution[:d]
    return sum((w[j] * scatter[j][k] * w[k] for j in range(d) for k in range(d)), ZERO) / 2, w


# ---- logistic likelihood: not rational, to 40 digits ----------------------------------------------------


def logistic(X, y, l2=0, intercept: bool = True, weights=None, digits: int = 40) -> Decimal:
    """min sum_i c_i log(1 + exp(-margin_i)) + l2/2 |w|^2 where it is attained, by Newton's method in decimal
    arithmetic; repeated columns are left out, which changes no margin (only without a penalty)."""
    Z = signed_rows(X, y, intercept)
    c = [Fraction(1 if weights is None else weights[i]) for i in range(len(Z))]
    Z, c = [z for z, v in zip(Z, c, strict=True) if v > 0], [v for v in c if v > 0]
    d = len(X[0])
    if not l2:
        keep = reduced(Z)[1]
        Z, d = [[z[j] for j in keep] for z in Z], 0
    with localcontext() as context:
        context.prec = digits + 20
        rows = [[_decimal(v) for v in z] for z in Z]
        penalty = [_decimal(Fraction(l2)) if j < d else Decimal(0) for j in range(len(rows[0]))]
        return +_newton(rows, [_decimal(v) for v in c], penalty, Decimal(10) ** (-digits))


def _decimal(v: Fraction) -> Decimal:
    return Decimal(v.numerator) / Decimal(v.denominator)


def _newton(rows, weights, penalty, tiny: Decimal) -> Decimal:
    m = len(rows[0])

    def value(v) -> Decimal:
        total = sum((p * a * a for p, a in zip(penalty, v, strict=True)), Decimal(0)) / 2
        for z, c in zip(rows, weights, strict=True):
            total += c * (1 + (-sum((a * b for a, b in zip(z, v, strict=True)), Decimal(0))).exp()).ln()
        return total

    v = [Decimal(0)] * m
    now = value(v)
    for _ in range(400):
        gradient = [p * a for p, a in zip(penalty, v, strict=True)]
        hessian = [[penalty[j] if j == k else Decimal(0) for k in range(m)] for j in range(m)]
        for z, c in zip(rows, weights, strict=True):
            share = 1 / (1 + sum((a * b for a, b in zip(z, v, strict=True)), Decimal(0)).exp())
            for j in range(m):
                gradient[j] -= c * share * z[j]
                for k in range(m):
                    hessian[j][k] += c * share * (1 - share) * z[j] * z[k]
        step = _solve_decimal(hessian, [-g for g in gradient])
        slope = sum((g * s for g, s in zip(gradient, step, strict=True)), Decimal(0))
        if -slope <= tiny * tiny:
            return now
        size = Decimal(1)
        while True:
            new = [a + size * s for a, s in zip(v, step, strict=True)]
            then = value(new)
            if then <= now + size * slope / 10 or size < tiny:
                break
            size /= 2
        if -slope <= tiny:
            return min(now, then)
        v, now = new, then
    raise AssertionError("Newton's method did not settle: is the minimum attained?")


def _solve_decimal(matrix, rhs):
    n = len(rhs)
    rows = [[*row, b] for row, b in zip(matrix, rhs, strict=True)]
    for j in range(n):
        best = max(range(j, n), key=lambda i: abs(rows[i][j]))
        rows[j], rows[best] = rows[best], rows[j]
        for i in range(n):
            if i != j:
                factor = rows[i][j] / rows[j][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [rows[j][n] / rows[j][j] for j in range(n)]


# ---- proofs -----------------------------------------------------------------------------------------------


def meets_at(X, y, alpha, intercept: bool = True) -> bool:
    """Whether multipliers alpha >= 0, alpha != 0 satisfy sum alpha_i z_i = 0 exactly: no strict separation."""
    Z = signed_rows(X, y, intercept)
    if all(a == 0 for a in alpha) or any(a < 0 for a in alpha):
        return False
    return all(sum((a * z[j] for a, z in zip(alpha, Z, strict=True)), ZERO) == 0 for j in range(len(Z[0])))


def rationalised(values, rows: Matrix, support: list[int]) -> Vector | None:
    """The exact vector on ``support`` with rows' sum zero that a float vector stands for, scaled like it: the
    point of the exact null space nearest to it. None where the null space is trivial."""
    basis = null_space([[rows[i][j] for i in support] for j in range(len(rows[0]))])
    if not basis:
        return None
    target = [Fraction(values[i]) for i in support]
    normal = [[dot(u, v) for v in basis] for u in basis]
    weights = solve_linear(normal, [dot(u, target) for u in basis])
    assert weights is not None
    exact = [sum((c * u[k] for c, u in zip(weights, basis, strict=True)), ZERO) for k in range(len(support))]
    out = [ZERO] * len(rows)
    for i, v in zip(support, exact, strict=True):
        out[i] = v
    return out


def integer_direction(values) -> list[int]:
    """A rational direction in its smallest integers."""
    exact = [Fraction(v) for v in values]
    scale = reduce(lcm, (v.denominator for v in exact), 1)
    whole = [int(v * scale) for v in exact]
    common = reduce(gcd, whole, 0) or 1
    return [v // common for v in whole]


def feasible(strict: list[tuple[int, ...]], weak: list[tuple[int, ...]]) -> bool:
    """Whether some v has a'v > 0 for all a in ``strict`` and a'v >= 0 for all a in ``weak``."""
    rows = {(a, True) for a in strict} | {(a, False) for a in weak}
    for k in range(len(next(iter(rows))[0])):
        up = [r for r in rows if r[0][k] > 0]
        down = [r for r in rows if r[0][k] < 0]
        rows = {r for r in rows if r[0][k] == 0}
        for a, s in up:
            for b, t in down:
                rows.add((tuple(-b[k] * p + a[k] * q for p, q in zip(a, b, strict=True)), s or t))
    return not any(s for _, s in rows)  # what is left says 0 > 0 or 0 >= 0


def integer_sets(seed: int, count: int, d_max: int = 2):
    """Labelled integer points, many of them degenerate."""
    rng = random.Random(seed)
    for _ in range(count):
        d, n, reach = rng.randint(1, d_max), rng.randint(2, 8), rng.choice((1, 2, 3, 9))
        X = [[rng.randint(-reach, reach) for _ in range(d)] for _ in range(n)]
        y = [rng.choice((-1, 1)) for _ in range(n)]
        style = rng.randrange(5)
        if style == 1:
            y = [1 if sum(row) >= 0 else -1 for row in X]
        elif style == 2:
            y = [1 if row[0] > 0 else -1 if row[0] < 0 else rng.choice((-1, 1)) for row in X]
        elif style == 3:
            X[rng.randrange(n)] = list(X[rng.randrange(n)])
        elif style == 4:
            for row in X:
                row[-1] = 2
        if len(set(y)) == 1:
            y[0] = -y[0]
        yield X, y, rng.random() < 0.8
