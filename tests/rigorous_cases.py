"""Random problems of every model with their optimum, exact or to forty digits, by means that share nothing with the
package. The data are drawn in many styles: small integers, doubles, scales of 1e-100 to 1e100, columns that nearly
repeat each other, samples far from the origin, nearly the same or repeated."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import exact
import likelihoods
import numpy as np

import convexcls as cc

Optimum = Fraction | Decimal | float

#: Styles in which problems are well conditioned, and those in which they are not.
FAIR = ("integers", "doubles", "scaled")
STYLES = (*FAIR, "huge", "tiny", "mixed", "near", "far", "repeated")
#: One penalty for features of very different sizes: there Newton's method in decimals does not get to the minimum.
ONE_SIZE = tuple(style for style in STYLES if style != "mixed")


@dataclass(frozen=True)
class Case:
    """A problem, the optimum of its minimised form (infinite where there is no feasible point), how it was drawn."""

    problem: cc.Problem
    optimum: Optimum
    style: str

    @property
    def fair(self) -> bool:
        return self.style in FAIR


@dataclass(frozen=True)
class Draw:
    """Samples, labels -1 and 1, and a source of parameters."""

    X: np.ndarray
    y: np.ndarray
    style: str
    rng: random.Random

    def power(self, low: int, high: int) -> float:
        """A power of two: multiplying with it rounds nothing."""
        return 2.0 ** self.rng.randint(low, high)

    def penalty(self) -> float:
        """A penalty that goes with the size of the samples."""
        return self.power(-3, 3) * 2.0 ** {"huge": 664, "tiny": -664}.get(self.style, 0)

    def flag(self) -> bool:
        return self.rng.random() < 0.7

    def weights(self) -> np.ndarray | None:
        if self.rng.random() < 0.6:
            return None
        return np.array([self.rng.choice((0.5, 1.0, 2.0, 0.3)) for _ in self.y])


def draw(
    rng: random.Random,
    n: tuple[int, int] = (4, 7),
    d: tuple[int, int] = (1, 3),
    apart: float = 0.0,
    styles: tuple[str, ...] = STYLES,
) -> Draw:
    """Samples of two classes; ``apart`` is the chance that they are moved apart."""
    style = rng.choice(styles)
    rows, columns = rng.randint(*n), rng.randint(*d)
    if style == "integers":
        X = np.array([[rng.randint(-4, 4) for _ in range(columns)] for _ in range(rows)], dtype=float)
    else:
        X = np.array([[rng.gauss(0, 1) for _ in range(columns)] for _ in range(rows)])
    y = np.array([-1, 1] + [rng.choice((-1, 1)) for _ in range(rows - 2)])
    if rng.random() < apart:
        X = X + 3.0 * y[:, None]
    return Draw(_styled(X, style, rng), y, style, rng)


def _styled(X: np.ndarray, style: str, rng: random.Random) -> np.ndarray:
    n, d = X.shape
    if style == "scaled":
        X = X * np.array([10.0 ** rng.randint(-3, 3) for _ in range(d)])
    elif style == "huge":
        X = X * 1e100
    elif style == "tiny":
        X = X * 1e-100
    elif style == "mixed":
        X = X * np.array([10.0 ** rng.randint(-100, 100) for _ in range(d)])
    elif style == "near" and d > 1:
        X[:, 1] = X[:, 0] + 10.0 ** -rng.randint(5, 12) * X[:, 1]
    elif style == "near":
        X[1] = X[0] * (1 + 10.0 ** -rng.randint(6, 14))
    elif style == "far":
        X = X + 10.0 ** rng.randint(3, 8)
    elif style == "repeated":
        X[rng.randrange(n)] = X[rng.randrange(n)]
    return X


def minimised(value: Fraction | None) -> Optimum:
    return math.inf if value is None else value


# ---- one maker for each model ----------------------------------------------------------------------------------


def hard_margin(rng: random.Random) -> Case:
    s = draw(rng, apart=0.8)
    intercept = s.flag()
    found = exact.hard_margin(s.X.tolist(), s.y.tolist(), intercept)
    return Case(cc.HardMarginSVM(s.X, s.y, intercept=intercept), minimised(found and found[0]), s.style)


def max_margin(rng: random.Random) -> Case:
    s = draw(rng, apart=0.8)
    intercept = s.flag()
    found = exact.hard_margin(s.X.tolist(), s.y.tolist(), intercept)
    best: Optimum = Fraction(0)
    if found is not None:  # the margin is 1/‖coef‖ = 1/sqrt(2 optimum)
        best = -likelihoods.decimal_of(1 / (2 * found[0])).sqrt(likelihoods.CONTEXT)
    return Case(cc.MaxMargin(s.X, s.y, intercept=intercept), best, s.style)


def soft_margin(rng: random.Random) -> Case:
    s = draw(rng, n=(4, 6), apart=0.2)
    C, intercept, weights = s.power(-3, 3), s.flag(), s.weights()
    loss = rng.choice(("hinge", "hinge", "squared_hinge"))
    best = exact.soft_margin(s.X.tolist(), s.y.tolist(), C, loss, intercept, weights)[0]
    problem = cc.SoftMarginSVM(s.X, s.y, C=C, loss=loss, intercept=intercept, sample_weight=weights)
    return Case(problem, best, s.style)


def least_squares(rng: random.Random) -> Case:
    s = draw(rng)
    l2, intercept, weights = rng.choice((0.0, 0.0, s.power(-3, 3))), s.flag(), s.weights()
    target = np.array([rng.gauss(0, 1) for _ in s.y])
    best = exact.least_squares(s.X.tolist(), target.tolist(), l2, intercept, weights)[0]
    problem = cc.LeastSquares(s.X, target, l2=l2, coding="real", intercept=intercept, sample_weight=weights)
    return Case(problem, best, s.style)


def least_absolute(rng: random.Random) -> Case:
    s = draw(rng)
    intercept, weights = s.flag(), s.weights()
    best = exact.least_absolute(s.X.tolist(), s.y.tolist(), intercept, weights)
    return Case(cc.LeastAbsolute(s.X, s.y, intercept=intercept, sample_weight=weights), best, s.style)


def perceptron(rng: random.Random) -> Case:
    s = draw(rng, apart=0.2)
    intercept = s.flag()
    best = exact.perceptron(s.X.tolist(), s.y.tolist(), intercept)
    return Case(cc.PerceptronCriterion(s.X, s.y, intercept=intercept), minimised(best), s.style)


def fisher(rng: random.Random) -> Case:
    s = draw(rng, n=(6, 8))
    found = exact.fisher(s.X.tolist(), s.y.tolist())
    return Case(cc.FisherLDA(s.X, s.y), minimised(found and found[0]), s.style)


def fisher_classes(rng: random.Random) -> Case:
    s = draw(rng, n=(7, 9), d=(2, 3))
    classes = np.array([0, 1, 2] + [rng.randrange(3) for _ in range(len(s.y) - 3)])
    problem = cc.FisherLDA(s.X, classes)
    return Case(problem, _several_fisher(s.X.tolist(), classes.tolist(), problem.chosen), s.style)


def _several_fisher(X, classes, chosen) -> Fraction:
    """The sum over directions of min 1/2 w'Sw with (mean_k - mean_0)'w = 1 for its own k and 0 for the others."""
    F, d = exact.fractions(X), len(X[0])
    groups = [[row for row, c in zip(F, classes, strict=True) if c == k] for k in range(max(classes) + 1)]
    means = [[sum(column) / len(g) for column in zip(*g, strict=True)] for g in groups]
    centred = [[v - m for v, m in zip(row, means[c], strict=True)] for row, c in zip(F, classes, strict=True)]
    S = [[sum((row[j] * row[k] for row in centred), Fraction(0)) for k in range(d)] for j in range(d)]
    steps = [[b - a for a, b in zip(means[0], means[k + 1], strict=True)] for k in chosen]
    zero = [Fraction(0)] * len(steps)
    system = [[*S[j], *(step[j] for step in steps)] for j in range(d)] + [[*step, *zero] for step in steps]
    total = Fraction(0)
    for k in range(len(steps)):
        rhs = [Fraction(0)] * d + [Fraction(int(j == k)) for j in range(len(steps))]
        solution = exact.solve_linear(system, rhs)
        assert solution is not None
        w = solution[:d]
        total += sum(w[j] * S[j][k2] * w[k2] for j in range(d) for k2 in range(d)) / 2
    return total


def logistic(rng: random.Random) -> Case:
    s = draw(rng)
    l2, intercept, weights = rng.choice((0.0, s.penalty() * (s.style != "mixed"))), s.flag(), s.weights()
    problem = cc.LogisticMLE(s.X, s.y, l2=l2, intercept=intercept, sample_weight=weights)
    if not l2:
        kind = exact.separability(s.X.tolist(), s.y.tolist(), intercept)
        if kind != "overlap":
            return Case(problem, Fraction(0) if kind == "strict" else math.nan, s.style)
        best: Optimum = exact.logistic(s.X.tolist(), s.y.tolist(), 0, intercept, weights)
        return Case(problem, best, s.style)
    Z = exact.signed_rows(s.X.tolist(), s.y.tolist(), intercept)
    penalty = [l2] * s.X.shape[1] + [0] * intercept
    if intercept and len(set(s.y.tolist())) < 2:
        return Case(problem, math.nan, s.style)
    best = likelihoods.minimum([[z] for z in Z], np.ones(len(Z)) if weights is None else weights, penalty)
    return Case(problem, best, s.style)


def exponential(rng: random.Random) -> Case:
    s = draw(rng, styles=ONE_SIZE)
    l2, intercept = s.penalty(), s.flag()
    Z = exact.signed_rows(s.X.tolist(), s.y.tolist(), intercept)
    penalty = [l2] * s.X.shape[1] + [0] * intercept
    best = likelihoods.minimum([[z] for z in Z], [1] * len(Z), penalty, likelihoods.exponential_of)
    problem = cc.EmpiricalRisk(s.X, s.y, loss="exponential", l2=l2, intercept=intercept)
    return Case(problem, best, s.style)


def softmax(rng: random.Random) -> Case:
    s = draw(rng, n=(5, 7), d=(1, 2), styles=ONE_SIZE)
    classes = np.array([0, 1, 2] + [rng.randrange(3) for _ in range(len(s.y) - 3)])
    l2, intercept = s.penalty(), s.flag()
    F, d = exact.fractions(s.X.tolist()), s.X.shape[1]
    size = 3 * d + 2 * intercept  # the last intercept is 0
    samples = []
    for row, c in zip(F, classes.tolist(), strict=True):
        rows = []
        for k in (k for k in range(3) if k != c):
            z = [Fraction(0)] * size
            for label, sign in ((c, 1), (k, -1)):
                z[label * d : (label + 1) * d] = [sign * v for v in row]
                if intercept and label < 2:
                    z[3 * d + label] = Fraction(sign)
            rows.append(z)
        samples.append(rows)
    best = likelihoods.minimum(samples, [1] * len(F), [l2] * (3 * d) + [0] * (2 * intercept))
    return Case(cc.SoftmaxMLE(s.X, classes, l2=l2, intercept=intercept), best, s.style)


def kernel(rng: random.Random) -> Case:
    s = draw(rng, n=(4, 6), apart=0.3)
    C, intercept = rng.choice((None, s.power(-2, 2))), s.flag()
    which = rng.choice(("linear", "rbf", "precomputed"))
    if which == "precomputed":
        K = np.clip(s.X / np.abs(s.X).max(), -1, 1)
        problem = cc.KernelSVM(np.round(64 * K @ K.T) + 2 * np.eye(len(K)), s.y, kernel=which, C=C, intercept=intercept)
    else:
        problem = cc.KernelSVM(s.X, s.y, kernel=which, C=C, gamma=0.5, intercept=intercept)
    if which == "linear":
        if C is None:
            found = exact.hard_margin(s.X.tolist(), s.y.tolist(), intercept)
            return Case(problem, -math.inf if found is None else -found[0], s.style)
        return Case(problem, -exact.soft_margin(s.X.tolist(), s.y.tolist(), C, "hinge", intercept)[0], s.style)
    return Case(problem, _kernel_optimum(problem.quadratic["margin"].to_dense(), s.y, C, intercept), s.style)


def _kernel_optimum(Q: np.ndarray, y: np.ndarray, C: float | None, intercept: bool) -> Optimum:
    """min 1/2 a'Qa - 1'a over a >= 0, a <= C, y'a = 0 for the doubles Q, by Lemke's method; not a number where Q is not
    positive definite."""
    F, n = exact.fractions(Q.tolist()), len(y)
    if not _definite(F):
        return math.nan
    size = n + (n if C is not None else 0) + 2 * intercept
    M = [[Fraction(0)] * size for _ in range(size)]
    q = [Fraction(0)] * size
    for r in range(n):
        M[r][:n], q[r] = F[r], Fraction(-1)
        if C is not None:
            M[r][n + r], M[n + r][r], q[n + r] = Fraction(1), Fraction(-1), Fraction(C)
        if intercept:
            sign = Fraction(int(y[r]))
            M[r][-2], M[r][-1], M[-2][r], M[-1][r] = sign, -sign, -sign, sign
    z = exact.lemke(M, q)
    assert z is not None
    a = z[:n]
    return exact.dot(a, [exact.dot(row, a) for row in F]) / 2 - sum(a)


def _definite(F) -> bool:
    """Whether all pivots of Gaussian elimination are positive."""
    rows = [row[:] for row in F]
    for k in range(len(rows)):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def hinge_l1(rng: random.Random) -> Case:
    """min sum slack + l1 |w|_1 as a linear program."""
    s = draw(rng, n=(4, 6))
    l1, intercept = s.power(-2, 1), s.flag()
    Z, n = exact.signed_rows(s.X.tolist(), s.y.tolist(), intercept), len(s.y)
    m, d, zero, one = len(Z[0]), s.X.shape[1], Fraction(0), Fraction(1)
    unit = [[one if k == i else zero for k in range(n)] for i in range(n)]
    rows = [[*z, *(-v for v in z), *unit[i], *(-v for v in unit[i])] for i, z in enumerate(Z)]
    cost = ([Fraction(l1)] * d + [zero] * (m - d)) * 2 + [one] * n + [zero] * n
    found = exact.simplex(cost, rows, [one] * n)
    assert found is not None
    return Case(cc.EmpiricalRisk(s.X, s.y, loss="hinge", l1=l1, intercept=intercept), found[0], s.style)


MAKERS: dict[str, Callable[[random.Random], Case]] = {
    f.__name__: f
    for f in (
        hard_margin,
        max_margin,
        soft_margin,
        least_squares,
        least_absolute,
        perceptron,
        fisher,
        fisher_classes,
        logistic,
        exponential,
        softmax,
        kernel,
        hinge_l1,
    )
}


def contains(lower: float, optimum: Optimum, upper: float) -> bool:
    """lower <= optimum <= upper, decimals to their digits."""
    if isinstance(optimum, float):
        return math.isnan(optimum) or lower <= optimum <= upper
    if isinstance(optimum, Fraction):
        return (lower == -math.inf or Fraction(lower) <= optimum) and (upper == math.inf or optimum <= Fraction(upper))
    room = abs(optimum) * Decimal(10) ** -(likelihoods.DIGITS - 10)
    return (lower == -math.inf or Decimal(lower) <= optimum + room) and (
        upper == math.inf or optimum - room <= Decimal(upper)
    )


def point_of(solution: Any) -> np.ndarray:
    """x as one vector."""
    return np.concatenate([solution.last_point[v.name] for v in solution.problem.variables])
