"""Known answers of models for several classes, proved in fractions and decimals without the package."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = Decimal(10) ** -24
TWO_PI = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True))


def cut(flat, width: int) -> list[list]:
    return [flat[k : k + width] for k in range(0, len(flat), width)]


def numbers(e, name: str) -> list[Fraction]:
    return [v.value for v in e.known.values[name]]


# ---- softmax ---------------------------------------------------------------------------------------------------


def prove_softmax(e) -> None:
    """The gradient sum_i (p_i - e_{y_i}) (x_i, 1) + l2 coef vanishes, in decimals; the sums over classes are zero."""
    with localcontext() as context:
        context.prec = 60
        d, K, l2 = len(e.X[0]), max(e.classes) + 1, Decimal(e.parameters["l2"])
        coef = cut([decimal(v) for v in numbers(e, "coef")], d)
        intercept = [decimal(v) for v in numbers(e, "intercept")]
        for sums in ([sum(column) for column in zip(*coef, strict=True)], [sum(intercept)]):
            assert all(abs(s) < DIGITS for s in sums)
        total = l2 / 2 * sum(c * c for row in coef for c in row)
        gradient = [[l2 * c for c in row] + [Decimal(0)] for row in coef]
        for x, c, w in zip(e.X, e.classes, e.weights, strict=True):
            row = [decimal(v) for v in x]
            powers = [(dot(coef[k], row) + intercept[k]).exp() for k in range(K)]
            total -= decimal(w) * (powers[c] / sum(powers)).ln()
            for k in range(K):
                pull = decimal(w) * (powers[k] / sum(powers) - (k == c))
                gradient[k] = [g + pull * v for g, v in zip(gradient[k], [*row, Decimal(1)], strict=True)]
        assert all(abs(g) < DIGITS for row in gradient for g in row)
        assert abs(total - decimal(e.optimum)) < DIGITS


def prove_softmax_direction(e) -> None:
    """No margin shrinks and some grow; classes that stay level at a point share it equally, and cost no less than
    the logarithm of their number."""
    d, K = len(e.X[0]), max(e.classes) + 1
    flat = [v.value for v in e.known.direction]
    coef, intercept = cut(flat[: K * d], d), flat[K * d :]
    with localcontext() as context:
        context.prec = 60
        total, moved = Decimal(0), False
        for x, c in zip(e.X, e.classes, strict=True):
            margins = [dot(coef[c], x) + intercept[c] - dot(coef[k], x) - intercept[k] for k in range(K)]
            assert min(margins) == 0
            moved = moved or max(margins) > 0
            level = [k for k, m in enumerate(margins) if m == 0]
            here = [k for z, k in zip(e.X, e.classes, strict=True) if z == x]
            assert all(here.count(k) == here.count(c) for k in level)
            total += Decimal(len(level)).ln()
        assert moved
        assert abs(total - decimal(e.optimum)) < DIGITS


# ---- Gaussian classes --------------------------------------------------------------------------------------------


def moments(e, classes: list[int]) -> list[list[Fraction]]:
    """sum_i z_i z_i' of the samples of some classes, z = (x - mean of all, indicators)."""
    centre = [Fraction(sum(column), len(e.X)) for column in zip(*e.X, strict=True)]
    size = len(centre) + len(classes)
    out = [[Fraction(0)] * size for _ in range(size)]
    for x, c in zip(e.X, e.classes, strict=True):
        if c in classes:
            z = [v - m for v, m in zip(x, centre, strict=True)] + [Fraction(c == k) for k in classes]
            out = [[o + a * b for o, b in zip(row, z, strict=True)] for row, a in zip(out, z, strict=True)]
    return out


def parts(e) -> list[tuple[str, list[int]]]:
    K = max(e.classes) + 1
    return [("", list(range(K)))] if e.parameters["covariance"] == "shared" else [(f"_{k + 1}", [k]) for k in range(K)]


def triangle(flat, order: int) -> list[list[Fraction]]:
    entries = iter(flat)
    out = [[Fraction(0)] * order for _ in range(order)]
    for i in range(order):
        for j in range(i + 1):
            out[i][j] = out[j][i] = next(entries)
    return out


def prove_gaussian(e) -> None:
    """Omega times the moments is the divisor times the identity, exactly; the optimum in decimals."""
    d = len(e.X[0])
    with localcontext() as context:
        context.prec = 60
        total = Decimal(0)
        for suffix, classes in parts(e):
            S = moments(e, classes)
            divisor = sum(S[d + k][d + k] for k in range(len(classes))) - len(classes) * e.parameters["unbiased"]
            precision = triangle(numbers(e, f"precision{suffix}"), d)
            eta = cut(numbers(e, f"natural_mean{suffix}"), d)
            corner = triangle(numbers(e, f"corner{suffix}"), len(classes))
            omega = [row + [-eta[k][j] for k in range(len(classes))] for j, row in enumerate(precision)]
            omega += [[-v for v in eta[k]] + corner[k] for k in range(len(classes))]
            columns = list(zip(*S, strict=True))
            for i, row in enumerate(omega):
                assert [dot(row, column) for column in columns] == [divisor * (i == j) for j in range(len(columns))]
            m = decimal(divisor)
            total += m / 2 * (d * TWO_PI.ln() + d - decimal(determinant(precision)).ln())
        assert abs(total - decimal(e.optimum)) < DIGITS


def determinant(matrix) -> Fraction:
    if len(matrix) == 1:
        return matrix[0][0]
    minors = [[row[:k] + row[k + 1 :] for row in matrix[1:]] for k in range(len(matrix))]
    return sum((-1) ** k * matrix[0][k] * determinant(minor) for k, minor in enumerate(minors))


def prove_gaussian_direction(e) -> None:
    """Omega may grow by w w' with w'z_i = 0 for every sample."""
    d, ((_, classes),) = len(e.X[0]), parts(e)
    flat = [v.value for v in e.known.direction]
    first = d * (d + 1) // 2
    precision, eta = triangle(flat[:first], d), cut(flat[first : first + d * len(classes)], d)
    corner = triangle(flat[first + d * len(classes) :], len(classes))
    step = [row + [-eta[k][j] for k in range(len(classes))] for j, row in enumerate(precision)]
    step += [[-v for v in eta[k]] + corner[k] for k in range(len(classes))]
    w = step[0]  # the step is the square of its first row, which has a one in front
    assert w[0] == 1
    assert step == [[a * b for b in w] for a in w]
    S = moments(e, classes)
    assert dot(w, [dot(row, w) for row in S]) == 0


# ---- Fisher's discriminants of several classes ----------------------------------------------------------------


def prove_fisher_classes(e) -> None:
    """Each direction separates its class by one and no other, with S_W coef = -M'nu."""
    K = max(e.classes) + 1
    by_class = [[x for x, c in zip(e.X, e.classes, strict=True) if c == k] for k in range(K)]
    means = [[sum(column) / len(rows) for column in zip(*rows, strict=True)] for rows in by_class]
    centred = [[a - b for a, b in zip(x, means[c], strict=True)] for x, c in zip(e.X, e.classes, strict=True)]
    chosen = [k + 1 for k in e.entry.problem.chosen]
    M = [[a - b for a, b in zip(means[k], means[0], strict=True)] for k in chosen]
    total = Fraction(0)
    for j in range(len(chosen)):
        coef, nu = numbers(e, f"coef_{j + 1}"), e.multipliers(f"separation_{j + 1}")
        assert [dot(row, coef) for row in M] == [int(k == j) for k in range(len(M))]
        projected = [dot(x, coef) for x in centred]
        scatter = [dot(projected, [x[i] for x in centred]) for i in range(len(coef))]
        assert scatter == [-dot(nu, [row[i] for row in M]) for i in range(len(coef))]
        total += sum(p * p for p in projected) / 2
    assert total == e.optimum
