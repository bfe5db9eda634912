"""Softmax, logistic and exponential losses in decimals, written down from their formulas without the package: an oracle
for many digits."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

#: Digits of all decimals here.
DIGITS = 110


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def softmax_fit(
    rows: Sequence[Sequence[Fraction]],
    classes: Sequence[int],
    coef: Sequence[Sequence[Fraction]],
    weights: Sequence[Fraction],
    l2: Fraction,
) -> tuple[Fraction, list[list[Fraction]]]:
    """Minus the log-likelihood + l2/2 ‖coef‖^2 without its last column, and its gradient by class. The rows end with a
    one for the intercept; without intercept, let the last entry be 0."""
    with localcontext() as context:
        context.prec = DIGITS
        W = [[decimal(v) for v in row] for row in coef]
        penalty = decimal(l2)
        total = penalty / 2 * sum(v * v for row in W for v in row[:-1])
        gradient = [[*(penalty * v for v in row[:-1]), Decimal(0)] for row in W]
        for x, own, w in zip(rows, classes, weights, strict=True):
            point, weight = [decimal(v) for v in x], decimal(w)
            powers = [sum(a * b for a, b in zip(row, point, strict=True)).exp() for row in W]
            total -= weight * (powers[own] / sum(powers)).ln()
            for k, power in enumerate(powers):
                pull = weight * (power / sum(powers) - (k == own))
                gradient[k] = [g + pull * v for g, v in zip(gradient[k], point, strict=True)]
        return Fraction(total), [[Fraction(g) for g in row] for row in gradient]


def newton(slope_and_curvature, rows, l2: Fraction, steps: int) -> list[Fraction]:
    """Newton's method for sum_i loss(r_i'x) + l2/2 ‖x without its last entry‖^2 with steps in decimals; the linear
    systems are solved in rationals. ``slope_and_curvature`` is that of the loss."""
    size = len(rows[0])
    x = [Fraction(0)] * size
    for _ in range(steps):
        gradient = [*(l2 * v for v in x[:-1]), Fraction(0)]
        hessian = [[l2 * (j == k and j < size - 1) for j in range(size)] for k in range(size)]
        with localcontext() as context:
            context.prec = DIGITS
            for row in rows:
                u = decimal(sum(a * b for a, b in zip(row, x, strict=True)))
                slope, curvature = (Fraction(v) for v in slope_and_curvature(u))
                gradient = [g + slope * v for g, v in zip(gradient, row, strict=True)]
                hessian = [
                    [h + curvature * a * b for h, b in zip(line, row, strict=True)]
                    for line, a in zip(hessian, row, strict=True)
                ]
        step = eliminate(hessian, gradient)
        with localcontext() as context:
            context.prec = DIGITS
            x = [Fraction(decimal(v - s)) for v, s in zip(x, step, strict=True)]
    return x


def eliminate(system: list[list[Fraction]], target: list[Fraction]) -> list[Fraction]:
    """The solution of a linear system with a positive definite matrix."""
    rows = [[*row, t] for row, t in zip(system, target, strict=True)]
    for k, _ in enumerate(rows):
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i, row in enumerate(rows):
            if i != k:
                rows[i] = [a - row[k] * b for a, b in zip(row, rows[k], strict=True)]
    return [row[-1] for row in rows]


def logistic_slope(u: Decimal) -> tuple[Decimal, Decimal]:
    power = u.exp()
    return -1 / (1 + power), power / (1 + power) ** 2


def exponential_slope(u: Decimal) -> tuple[Decimal, Decimal]:
    return -(-u).exp(), (-u).exp()
