"""Minima of smooth losses to forty digits, by Newton's method in decimals, sharing nothing with the package."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction

Numbers = list[Decimal]
DIGITS = 40
CONTEXT = Context(prec=DIGITS + 30)


def decimal(value) -> Decimal:
    exact = Fraction(value)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def decimal_of(value: Fraction) -> Decimal:
    """To more digits than are asked for."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def softmax_of(margins: Sequence[Decimal]) -> tuple[Decimal, Numbers, list[Numbers]]:
    """log(1 + sum e^-m) with its slopes and curvatures."""
    powers = [(-m).exp() for m in margins]
    total = 1 + sum(powers)
    p = [v / total for v in powers]
    curvature = [[(p[j] if j == k else Decimal(0)) - p[j] * p[k] for k in range(len(p))] for j in range(len(p))]
    return total.ln(), [-v for v in p], curvature


def exponential_of(margins: Sequence[Decimal]) -> tuple[Decimal, Numbers, list[Numbers]]:
    """e^-m likewise."""
    (m,) = margins
    value = (-m).exp()
    return value, [-value], [[value]]


def minimum(
    samples: Sequence[Sequence[Sequence[object]]], weights, penalty, loss: Callable = softmax_of
) -> Decimal | float:
    """min sum_i w_i loss(Z_i v) + 1/2 sum_j penalty_j v_j^2, Z_i the rows of sample i; not a number where Newton's
    method does not get there, because features and penalty are of very different sizes."""
    with localcontext() as context:
        context.prec = DIGITS + 30
        context.traps[Overflow] = context.traps[InvalidOperation] = False  # a step too far is infinite: not taken
        rows = [[[decimal(v) for v in row] for row in sample] for sample in samples]
        # unknowns in units of their largest coefficient: Newton's method does not notice, elimination does
        sizes = [max(abs(row[j]) for sample in rows for row in sample) or Decimal(1) for j in range(len(penalty))]
        rows = [[[v / size for v, size in zip(row, sizes, strict=True)] for row in sample] for sample in rows]
        curvature = [decimal(p) / size / size for p, size in zip(penalty, sizes, strict=True)]
        try:
            return _newton(rows, [decimal(w) for w in weights], curvature, loss)
        except DivisionByZero:
            return math.nan


def _dot(u, v) -> Decimal:
    return sum((a * b for a, b in zip(u, v, strict=True)), Decimal(0))


def _newton(rows, weights, penalty, loss) -> Decimal | float:
    m, tiny = len(penalty), Decimal(10) ** -DIGITS
    v = [Decimal(0)] * m
    for _ in range(60):
        value, gradient, hessian = _expansion(rows, weights, penalty, loss, v)
        step = _solve(hessian, [-g for g in gradient])
        slope = _dot(gradient, step)
        if -slope <= tiny * tiny * value:
            return value
        size = Decimal(1)
        while size > Decimal(10) ** -9:
            moved = [a + size * s for a, s in zip(v, step, strict=True)]
            if _value(rows, weights, penalty, loss, moved) <= value + size * slope / 10:
                break
            size /= 2
        v = moved
    return math.nan


def _value(rows, weights, penalty, loss, v) -> Decimal:
    total = sum((p * a * a for p, a in zip(penalty, v, strict=True)), Decimal(0)) / 2
    return total + sum((w * loss([_dot(z, v) for z in s])[0] for s, w in zip(rows, weights, strict=True)), Decimal(0))


def _expansion(rows, weights, penalty, loss, v):
    m = len(v)
    total = sum((p * a * a for p, a in zip(penalty, v, strict=True)), Decimal(0)) / 2
    gradient = [p * a for p, a in zip(penalty, v, strict=True)]
    hessian = [[penalty[j] if j == k else Decimal(0) for k in range(m)] for j in range(m)]
    for sample, w in zip(rows, weights, strict=True):
        value, slopes, curvature = loss([_dot(z, v) for z in sample])
        total += w * value
        for a, z in enumerate(sample):
            for j in range(m):
                if not z[j]:
                    continue
                gradient[j] += w * slopes[a] * z[j]
                for b, other in enumerate(sample):
                    factor = w * curvature[a][b] * z[j]
                    hessian[j] = [h + factor * o for h, o in zip(hessian[j], other, strict=True)]
    return total, gradient, hessian


def _solve(matrix, rhs) -> Numbers:
    n = len(rhs)
    rows = [[*row, b] for row, b in zip(matrix, rhs, strict=True)]
    for j in range(n):
        best = max(range(j, n), key=lambda i: abs(rows[i][j]))
        rows[j], rows[best] = rows[best], rows[j]
        for i in range(n):
            if i != j and rows[i][j]:
                factor = rows[i][j] / rows[j][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [rows[j][n] / rows[j][j] for j in range(n)]
