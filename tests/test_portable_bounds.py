"""The true bounds of the package's verifier, from any numbers: what the formulas say, and the optimum between them."""

from __future__ import annotations

import random
import sys
from fractions import Fraction as F
from types import SimpleNamespace as Plain

import exact as oracle
import numpy as np
import pytest
from test_verifier_bounds import guess, weighty

import convexcls as cc
from convexcls.exact.dual_bound import dual_bound
from convexcls.exact.true_bounds import MOST_ENTRIES, affordable, true_bounds

dot = oracle.dot


# ---- statements made by hand -------------------------------------------------------------------------------


def block(name, rows):
    """Rows with their shifts, under a name."""
    return Plain(block=Plain(name=name), size=len(rows), rational=lambda index: [list(rows[i]) for i in index])


def statement(quadratic, linear, constant=0, equalities=(), inequalities=(), samples=()):
    """minimise 1/2 z'Hz + g'z + constant + the costs of samples; rows are (R_i, s_i) with R_i z + s_i = 0 or <= 0."""
    one = [
        Plain(cost=np.array(c, dtype=float), curvature=np.array(p, dtype=float), lines=lines) for c, p, lines in samples
    ]
    return Plain(
        size=len(linear), quadratic=[list(map(F, row)) for row in quadratic], linear=list(map(F, linear)),
        constant=F(constant), equalities=tuple(equalities), inequalities=tuple(inequalities), samples=tuple(one),
    )  # fmt: skip


def drawn(seed):
    """A small statement of every shape, with multipliers that have nothing to do with it."""
    rng = random.Random(seed)
    size = rng.randint(1, 3)

    def rows(n):
        return [[F(rng.randint(-2, 2)) for _ in range(size + 1)] for _ in range(n)]

    def numbers(n):
        return {i: F(rng.randint(-2, 6), rng.randint(1, 3)) for i in range(n) if rng.random() < 0.8}

    curved = [F(rng.choice((0, 1, 2))) for _ in range(size)]
    quadratic = [[curved[j] * (j == k) for k in range(size)] for j in range(size)]
    if rng.random() < 0.3:
        u = [F(rng.randint(-1, 2)) for _ in range(size)]
        quadratic = [[a * b for b in u] for a in u]
    n = rng.randint(1, 4)
    costs, curvature = [rng.choice((0.0, 0.25, 1.0, 2.0, 3.0)) for _ in range(n)], [0.0] * n
    lines = (block("first", rows(n)), block("second", rows(n) if rng.random() < 0.5 else [[F(0)] * (size + 1)] * n))
    if rng.random() < 0.3:
        costs, curvature, lines = curvature, costs, lines[:1]
    equalities = [block("equal", rows(1))] if rng.random() < 0.4 else []
    inequalities = [block("below", rows(rng.randint(1, 3)))] if rng.random() < 0.5 else []
    linear = [F(rng.randint(-1, 1)) for _ in range(size)]
    given = {"first": numbers(n), "equal": numbers(1), "below": numbers(3), "unknown": {0: F(1)}}
    return statement(
        quadratic, linear, rng.randint(-2, 2), equalities, inequalities, [(costs, curvature, lines)]
    ), given


class Reference:
    """The dual bound as its module's docstring has it, by the linear algebra of the tests."""

    def __init__(self, stated, given):
        self.stated, self.base = stated, [*stated.linear, stated.constant]
        self.rows, self.value, self.most, self.curvature = [], [], [], []  # most: "free", None (no end) or a number
        for blocks, most in ((stated.equalities, "free"), (stated.inequalities, None)):
            for b in blocks:
                for i, row in enumerate(b.rational(range(b.size))):
                    self.add(row, given.get(b.block.name, {}).get(i, F(0)), most)
        for samples in stated.samples:
            lines = [line.rational(range(line.size)) for line in samples.lines]
            used = given.get(samples.lines[0].block.name, {})
            for i, (c, p) in enumerate(zip(map(F, samples.cost), map(F, samples.curvature), strict=True)):
                if p:
                    self.add(lines[0][i], used.get(i, F(0)), None, p)
                elif c:
                    self.base = [b + c * v for b, v in zip(self.base, lines[1][i], strict=True)]
                    self.add([u - v for u, v in zip(lines[0][i], lines[1][i], strict=True)], used.get(i, F(0)), c)
        H = stated.quadratic
        self.flat = (
            oracle.null_space(H) if any(map(any, H)) else [[F(j == k) for k in range(len(H))] for j in range(len(H))]
        )
        self.clipped = [self.into(v, m) for v, m in zip(self.value, self.most, strict=True)]

    def add(self, row, value, most, curvature=None):
        self.rows.append(row)
        self.value.append(value)
        self.most.append(most)
        self.curvature.append(curvature)

    def into(self, value, most):
        if most == "free":
            return value
        return max(value, F(0)) if most is None else min(max(value, F(0)), most)

    def room(self, j):
        if self.most[j] == "free":
            return F(1)
        return self.clipped[j] if self.most[j] is None else min(self.clipped[j], self.most[j] - self.clipped[j])

    def width(self, j):
        if self.most[j] == "free":
            return F(1)
        if self.most[j] is not None:
            return self.most[j]
        endless = [a for a, m in zip(self.clipped, self.most, strict=True) if m is None]
        return sum(endless, F(0)) / len(endless)

    def flattened(self, a, weights):
        """a - W U (U'WU)^-1 U'(base + a), U the slopes along the flat directions."""
        slopes = [[dot(n, row[:-1]) for n in self.flat] for row in self.rows]
        off = [
            dot(n, self.base[:-1]) + sum(v * u[k] for v, u in zip(a, slopes, strict=True))
            for k, n in enumerate(self.flat)
        ]
        if not any(off):
            return a
        bend = [
            [sum(w * u[j] * u[k] for w, u in zip(weights, slopes, strict=True)) for k in range(len(off))]
            for j in range(len(off))
        ]
        step = oracle.solve_linear(bend, off)
        return None if step is None else [v - w * dot(u, step) for v, w, u in zip(a, weights, slopes, strict=True)]

    def bound(self):
        everyone = range(len(self.rows))
        widths = [self.width(j) for j in everyone]
        for weights in ([self.room(j) for j in everyone], widths):
            a = self.flattened(self.clipped, weights)
            a = a and self.mixed(a, widths)
            if a is not None:
                return self.at(a)
        return None

    def mixed(self, a, widths):
        if all(self.into(v, m) == v for v, m in zip(a, self.most, strict=True)):
            return a
        centre = [v if m == "free" else w / 2 for v, m, w in zip(self.value, self.most, widths, strict=True)]
        middle = self.flattened(centre, widths)
        if middle is None:
            return None
        part = F(0)
        for v, inner, m in zip(a, middle, self.most, strict=True):
            edge = self.into(v, m)
            if edge != v:
                part = max(part, abs(v - edge) / (abs(v - edge) + abs(inner - edge)))
        out = [v + part * (inner - v) for v, inner in zip(a, middle, strict=True)]
        return out if all(self.into(v, m) == v for v, m in zip(out, self.most, strict=True)) else None

    def at(self, a):
        *slope, total = [
            b + sum(v * row[k] for v, row in zip(a, self.rows, strict=True)) for k, b in enumerate(self.base)
        ]
        solution = oracle.solve_linear(self.stated.quadratic, slope)
        if solution is None:
            return None
        return (
            total
            - sum(v * v / p for v, p in zip(a, self.curvature, strict=True) if p) * F(1, 2)
            - dot(slope, solution) / 2
        )


@pytest.mark.parametrize("seed", range(0, 600, 20))
def test_the_dual_bound_is_what_its_formula_says(seed):
    for k in range(seed, seed + 20):
        stated, given = drawn(k)
        assert dual_bound(stated, given) == Reference(stated, given).bound(), k


def test_every_way_to_the_dual_bound_is_met_with():
    """The draws above have bounds with and without a repair, and statements without a bound."""
    found = {"none": 0, "as given": 0, "moved": 0, "mixed": 0}
    for k in range(600):
        reference = Reference(*drawn(k))
        if reference.bound() is None:
            found["none"] += 1
            continue
        widths = [reference.width(j) for j in range(len(reference.rows))]
        a = reference.flattened(reference.clipped, [reference.room(j) for j in range(len(reference.rows))])
        if a == reference.clipped:
            found["as given"] += 1
        else:
            found["moved" if a is not None and reference.mixed(a, widths) == a else "mixed"] += 1
    assert min(found.values()) >= 20, found


def test_samples_with_other_lines_have_no_bound():
    line = block("first", [[F(1), F(1)]])
    for cost, curvature, lines in (
        ([1.0], [0.0], (line,)),
        ([1.0], [0.0], (line,) * 3),
        ([0.0], [1.0], (line,) * 2),
        ([1.0], [1.0], (line,) * 2),
    ):
        assert dual_bound(statement([[1]], [0], samples=[(cost, curvature, lines)]), {}) is None
    assert dual_bound(statement([[1]], [0], samples=[([0.0], [0.0], (line,) * 3)]), {}) == 0


# ---- the upper bound -----------------------------------------------------------------------------------------


def upper(stated, z, monkeypatch):
    module = sys.modules["convexcls.exact.true_bounds"]
    monkeypatch.setattr(module, "state", lambda problem: problem)
    stated.kept = ("z",)
    return true_bounds(stated, {"z": [F(v) for v in z]}, {})[1:]


def test_the_upper_bound_is_the_objective_at_a_feasible_point(monkeypatch):
    """1/2 z'Hz + g'z + constant + c max(lines) + p/2 max(0, line)^2."""

    def at(stated, *z):
        return upper(stated, z, monkeypatch)

    plain = statement([[2, 1], [1, 4]], [1, -1], F(1, 2))
    assert at(plain, 3, 2) == ((2 * 9 + 2 * 6 + 4 * 4) / F(2) + 3 - 2 + F(1, 2),) * 2
    lines = (block("first", [[F(1), F(0), F(-1)]] * 2), block("second", [[F(0), F(1), F(-9)], [F(0), F(-1), F(0)]]))
    kinks = statement([[0, 0], [0, 0]], [0, 0], samples=[([2.0, 3.0], [0.0, 0.0], lines)])
    assert at(kinks, 3, 1) == (2 * 2 + 3 * 2,) * 2
    assert at(kinks, -3, 1) == (2 * -4 + 3 * -1,) * 2
    squares = statement([[0, 0], [0, 0]], [0, 0], samples=[([0.0, 0.0], [3.0, 5.0], lines[1:])])
    assert at(squares, 0, 12) == (F(3, 2) * 9,) * 2
    assert at(squares, 0, -3) == (F(5, 2) * 9,) * 2
    # moved onto z_1 + z_2 = 4 by the shortest way; the objective at the point itself is told, too
    equal = statement([[1, 0], [0, 1]], [0, 0], equalities=[block("equal", [[F(1), F(1), F(-4)]])])
    assert at(equal, 2, 2) == (4, 4)
    assert at(equal, 1, 2) == (F(9 + 25, 8), F(5, 2))
    twice = statement([[1, 0], [0, 1]], [0, 0], equalities=[block("equal", [[F(1), F(0), F(-4)], [F(1), F(0), F(-5)]])])
    assert at(twice, 1, 2) == (None, F(5, 2))
    # scaled where all rows say at least: z_1 >= 2, z_1 + z_2 >= 2, as little as makes all true
    least = statement(
        [[1, 0], [0, 1]], [0, 0], inequalities=[block("below", [[F(-1), F(0), F(2)], [F(-1), F(-1), F(2)]])]
    )
    assert at(least, 1, 1) == (4, 1)
    assert at(least, 4, 0) == (2, 8)
    assert at(least, 2, 1) == (F(5, 2), F(5, 2))
    assert at(least, 0, 1) == (None, F(1, 2))
    assert at(least, 3, -2) == (18 + 8, F(13, 2))
    # not scaled where a row says at most, or where there are equations
    mixed = statement(
        [[1, 0], [0, 1]], [0, 0], inequalities=[block("below", [[F(-1), F(0), F(2)], [F(1), F(0), F(-3)]])]
    )
    assert at(mixed, 3, 0) == (F(9, 2), F(9, 2))
    assert at(mixed, 2, 0) == (2, 2)
    assert at(mixed, 4, 0) == (None, 8)
    assert at(mixed, 1, 0) == (None, F(1, 2))
    zero = statement([[1, 0], [0, 1]], [0, 0], inequalities=[block("below", [[F(-1), F(0), F(0)]])])
    assert at(zero, 3, 0) == (F(9, 2), F(9, 2))
    assert at(zero, -1, 0) == (None, F(1, 2))
    both = statement(
        [[1, 0], [0, 1]], [0, 0], equalities=[block("equal", [[F(0), F(1), F(-1)]])],
        inequalities=[block("below", [[F(-1), F(0), F(2)]])])  # fmt: skip
    assert at(both, 4, 1) == (F(17, 2), F(17, 2))
    assert at(both, 4, 0) == (F(17, 2), 8)
    assert at(both, 1, 1) == (None, 1)


def test_the_objective_is_told_at_the_point_itself(monkeypatch):
    """A line 1 - z that rounding left above 0 costs what it costs, though z / (1 - gap) would cost less."""
    margins = block("first", [[F(-1), F(1)], [F(-2), F(1)]])
    flat = block("second", [[F(0), F(0)]] * 2)
    stated = statement([[1]], [0], samples=[([1e9, 1e9], [0.0, 0.0], (margins, flat))])
    for gap in (F(1, 10**20), F(1, 10**7), F(1, 10)):
        value = (1 - gap) ** 2 / 2 + 10**9 * gap
        assert upper(stated, [1 - gap], monkeypatch) == (value, value)


# ---- the optimum lies between them ----------------------------------------------------------------------------


def contained(problem, point, multipliers, optimum):
    lower, upper, _ = true_bounds(problem, point, multipliers)
    assert lower is None or lower <= optimum
    assert upper is None or optimum <= upper
    return lower


@pytest.mark.parametrize("seed", range(15))
def test_the_optimum_lies_between_the_bounds_whatever_the_numbers(seed):
    X, signs, weights, v, given, _, _, nu = guess(seed)
    X, signs, given, weights = weighty(weights, X, signs, given, weights)
    if len(set(signs)) < 2:
        return
    y, doubles, rows = [s > 0 for s in signs], [float(w) for w in weights], dict(enumerate(given))
    point = {"coef": v[: len(X[0])], "intercept": [v[-1]]}
    other = {i: value - 1 for i, value in rows.items()}
    if (hard := oracle.hard_margin(X, signs)) is not None:
        contained(cc.HardMarginSVM(X, y), point, {"margin": rows}, hard[0])
    for loss in ("hinge", "squared_hinge"):
        optimum = oracle.soft_margin(X, signs, F(1, 2), loss, True, weights)[0]
        contained(cc.SoftMarginSVM(X, y, C=0.5, loss=loss, sample_weight=doubles), point, {"margin": rows}, optimum)
    optimum = oracle.least_absolute(X, signs, True, weights)
    both = {"residual_above": rows, "residual_below": other}
    contained(cc.LeastAbsolute(X, y, sample_weight=doubles), point, both, optimum)
    optimum = oracle.least_squares(X, signs, F(1, 2), True, weights)[0]
    assert contained(cc.LeastSquares(X, y, l2=0.5, sample_weight=doubles), point, {}, optimum) == optimum
    if (optimum := oracle.perceptron(X, signs, True, weights)) is not None:
        multipliers = {"margin": rows, "normalization": {0: nu}}
        contained(cc.PerceptronCriterion(X, y, sample_weight=doubles), point, multipliers, optimum)


def test_what_is_affordable():
    def problem(n, d, **more):
        return cc.HardMarginSVM(np.ones((n, d)), [0] + [1] * (n - 1), **more)

    assert MOST_ENTRIES == 200_000
    for n, d, fits in ((100_000, 1, True), (100_001, 1, False), (50_000, 3, True), (40_000, 5, False)):
        assert affordable(problem(n, d, intercept=False)) is fits
    assert not affordable(problem(100_000, 1))
    assert affordable(cc.SoftMarginSVM(np.ones((20_000, 4)), [0] + [1] * 19_999, intercept=False))  # 2 x 20,000 rows
    assert not affordable(cc.SoftMarginSVM(np.ones((20_001, 4)), [0] + [1] * 20_000, intercept=False))
    assert affordable(cc.LeastSquares(np.ones((40_000, 4)), [0] + [1] * 39_999, intercept=False))
    assert not affordable(cc.LeastSquares(np.ones((40_001, 4)), [0] + [1] * 40_000, intercept=False))
    assert affordable(cc.KernelSVM([[0.0], [1.0]], [0, 1], kernel="linear"))
