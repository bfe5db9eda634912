"""The true bounds of the package's verifier, from any numbers: what the formulas say, and the optimum between them."""

from __future__ import annotations

import random
import sys
from fractions import Fraction as F
from types import SimpleNamespace as Plain

import exact as oracle
import numpy as np
import pytest
from stand_alone import guess, weighty

import convexcls as cc
from convexcls.proofs.claims.rational_bounds import MAX_BOUNDED_ENTRIES, NEAR_BOUND, affordable, true_bounds
from convexcls.proofs.claims.rational_lower_bounds import dual_bound, linearised_bound, single_ends
from convexcls.proofs.claims.statement import state

dot = oracle.dot


# ---- statements made by hand -------------------------------------------------------------------------------


def block(name, rows):
    """Rows with their shifts, under a name."""

    def rational(index=None):
        return [list(rows[i]) for i in (range(len(rows)) if index is None else index)]

    return Plain(block=Plain(name=name), size=len(rows), rational=rational)


def _samples(c, p, lines):
    known = {"cost": list(map(F, c)), "curvature": list(map(F, p))}
    return Plain(cost=np.array(c, dtype=float), curvature=np.array(p, dtype=float), lines=lines, rational=known.get)


def statement(quadratic, linear, constant=0, equalities=(), inequalities=(), samples=()):
    """minimise 1/2 z'Hz + g'z + constant + the costs of samples; rows are (R_i, s_i) with R_i z + s_i = 0 or <= 0."""
    one = [_samples(c, p, lines) for c, p, lines in samples]
    return Plain(
        size=len(linear),
        quadratic=[list(map(F, row)) for row in quadratic],
        linear=list(map(F, linear)),
        constant=F(constant),
        equalities=tuple(equalities),
        inequalities=tuple(inequalities),
        samples=tuple(one),
    )


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


# ---- over a box, by the curvature at a point -------------------------------------------------------------------


def test_the_ends_of_single_unknowns():
    """3 z_1 <= 6, z_1 <= 1, -2 z_2 <= 4 (z_2 >= -2), -z_2 <= 1; rows of two unknowns or none say nothing."""
    rows = [[F(v) for v in row] for row in ([3, 0, -6], [1, 0, -1], [0, -2, -4], [0, -1, -1], [1, 1, 0], [0, 0, 5])]
    assert single_ends(rows, 2) == single_ends(rows[::-1], 2) == ([None, -1], [1, None])
    assert single_ends([rows[0], rows[2]], 2) == ([None, -2], [2, None])
    assert single_ends([], 1) == ([None], [None])


def over_a_box(seed):
    """A program over a box with or without ends, a point, and perhaps a multiplier of its equation."""
    rng = random.Random(seed)
    size = rng.randint(1, 4)
    roots = [[F(rng.randint(-2, 2)) for _ in range(size)] for _ in range(rng.randint(1, size))]
    H = [[sum(r[j] * r[k] for r in roots) for k in range(size)] for j in range(size)]
    kinds = rng.choice(((1, 1), (1, 0), (0, 1), (0, 0), None))
    low, high = [None] * size, [None] * size
    for j in range(size):
        below, above = kinds or rng.choice(((1, 1), (1, 0), (0, 1)))
        low[j] = F(rng.randint(-2, 0)) if below else None
        high[j] = F(rng.choice((0, 1, 2, 50))) if above else None
    equation = [F(rng.choice((-1, 0, 1, 2))) for _ in range(size)] + [F(rng.randint(-1, 1))]
    equation = equation if rng.random() < 0.7 else None
    g, z = [F(rng.randint(-2, 2)) for _ in range(size)], [F(rng.randint(-2, 4), rng.randint(1, 3)) for _ in range(size)]
    given = {"equal": {0: F(rng.randint(-2, 2), 3)}} if rng.random() < 0.5 else {}
    return H, g, F(rng.randint(-1, 1)), low, high, equation, z, given


def boxed(H, g, constant, low, high, equation):
    ends = [
        [*(F(sign * (j == k)) for k in range(len(g))), -sign * end]
        for side, sign in ((low, -1), (high, 1))
        for j, end in enumerate(side)
        if end is not None
    ]
    return statement(
        H, g, constant, [block("equal", [equation])] if equation else [], [block("below", ends)] if ends else []
    )


def by_the_curve(H, g, constant, low, high, equation, z, given):
    """The best of constant + t b e - t^2/2 z'Hz + min (g + t (Hz + b a))'x over all b and t that are tried."""
    size, h = range(len(g)), [dot(row, z) for row in H]
    *a, e = equation or [F(0)] * (len(g) + 1)
    tried = {F(0)}
    if any([*a, e]):
        tried = {-(g[j] + h[j]) / a[j] for j in size if a[j]} | set(given.get("equal", {}).values())
        up, down = [(h[j], a[j]) for j in size if a[j] > 0], [(h[j], a[j]) for j in size if a[j] < 0]
        if up and down:
            tried.add((min(down)[0] - min(up)[0]) / (min(up)[1] - min(down)[1]))
    best = None
    for b in tried:
        for capped in (True, False):
            t = F(1)
            for j in size:
                pull = h[j] + b * a[j]
                if (high[j] is None or not capped) and g[j] + t * pull < 0 < pull:
                    t = -g[j] / pull
                if low[j] is None and g[j] + t * pull > 0 > pull:
                    t = -g[j] / pull
            r = [g[j] + t * (h[j] + b * a[j]) for j in size]
            ends = [low[j] if r[j] > 0 else high[j] for j in size if r[j]]
            if None not in ends:
                value = constant + t * b * e - t * t * dot(h, z) / 2 + dot([v for v in r if v], ends)
                best = value if best is None else max(best, value)
    return best


@pytest.mark.parametrize("seed", range(0, 1200, 40))
def test_the_bound_over_a_box_is_what_its_formula_says(seed):
    for k in range(seed, seed + 40):
        *stated, z, given = over_a_box(k)
        assert linearised_bound(boxed(*stated), z, given) == by_the_curve(*stated, z, given), k


def test_bounds_over_a_box_that_are_the_optimum():
    """1/2 z^2 - z over 0 <= z, by any point; with z_1 = z_2 and a matrix of rank one; with a bound far away."""
    one = boxed([[F(1)]], [F(-1)], F(0), [F(0)], [None], None)
    assert linearised_bound(one, [F(1)], {}) == linearised_bound(one, [F(1, 9)], {}) == F(-1, 2)
    assert linearised_bound(one, [F(0)], {}) is None
    pair = boxed([[F(1), F(1)], [F(1), F(1)]], [F(-1)] * 2, F(3), [F(0)] * 2, [None] * 2, [F(1), F(-1), F(0)])
    assert linearised_bound(pair, [F(1, 4)] * 2, {}) == 3 - F(1, 2)
    far = boxed([[F(1)]], [F(-1)], F(0), [F(0)], [F(10**9)], None)
    assert linearised_bound(far, [1 - F(1, 10**6)], {}) == F(-1, 2)


def test_only_a_box_is_one():
    line = block("first", [[F(1), F(1)]])
    assert linearised_bound(statement([[1]], [0], samples=[([1.0], [0.0], (line, line))]), [F(0)], {}) is None
    two = [block("equal", [[F(1), F(0)], [F(2), F(0)]])]
    assert linearised_bound(statement([[1]], [0], equalities=two), [F(0)], {}) is None
    assert linearised_bound(statement([[1]], [0], equalities=[block("equal", [[F(1), F(0)]])]), [F(0)], {}) == 0
    for row, bound in (([1, 1, 0], None), ([0, 0, 0], None), ([0, 1, 0], 0)):
        inner = [block("below", [list(map(F, row))])]
        assert linearised_bound(statement([[1, 0], [0, 1]], [0, 0], inequalities=inner), [F(0)] * 2, {}) == bound


@pytest.mark.parametrize("seed", range(12))
def test_no_point_of_a_kernel_machine_shows_more_than_the_optimum(seed):
    rng = random.Random(seed)
    X = [[rng.randint(-3, 3)] for _ in range(5)]
    y, intercept = [0, 1, 1, 0, 1], seed % 2 == 0
    signs = [2 * k - 1 for k in y]
    optimum = oracle.soft_margin(X, signs, F(2), "hinge", intercept)[0]
    problem = cc.KernelSVM(X, y, kernel="linear", C=2.0, intercept=intercept)
    for _ in range(5):
        point = {"margin": [F(rng.randint(-1, 9), 4) for _ in range(5)]}
        assert true_bounds(problem, point, {"intercept": {0: F(rng.randint(-2, 2))}})[0] <= -optimum


# ---- the upper bound -----------------------------------------------------------------------------------------


def upper(stated, z, monkeypatch):
    module = sys.modules["convexcls.proofs.claims.rational_bounds"]
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
    # and an unknown that costs nothing put in the middle, as far as the point itself can be scaled
    sides = block("below", [[F(-1), F(-2), F(1)], [F(-1), F(2), F(1)], [F(-3), F(2), F(1)]])
    flat = statement([[1, 0], [0, 0]], [0, 0], inequalities=[sides])
    assert at(flat, 1, F(1, 4)) == (F(1, 2), 1)  # margins 3/2, 1/2
    assert at(flat, 4, F(-1, 4)) == (F(1, 2), 8)  # more than enough
    assert at(flat, 1, F(1, 2)) == (None, F(1, 2))  # margins 2, 0
    double = block("below", [[F(-2), F(-4), F(2)], [F(-1), F(2), F(1)], [F(-3), F(2), F(1)]])
    assert at(statement([[1, 0], [0, 0]], [0, 0], inequalities=[double]), 1, F(1, 4)) == (F(1, 2), 1)
    gentle = block("below", [[F(-1), F(-1), F(1)], [F(-1), F(1), F(1)]])
    assert at(statement([[1, 0], [0, 0]], [0, 0], inequalities=[gentle]), 1, F(1, 4))[0] == F(1, 2)
    weighed = [([1.0], [0.0], (block("line", [[F(0), F(1), F(0)]]),))]  # where samples want it elsewhere it stays
    soft = statement([[1, 0], [0, 0]], [0, 0], inequalities=[sides], samples=weighed)
    assert at(soft, 1, F(1, 4)) == (F(5, 2), F(3, 4))
    costly = statement([[1, 0], [0, 0]], [0, 1], inequalities=[sides])
    assert at(costly, 1, F(1, 4)) == (F(1, 2) * 4 + F(1, 2), F(3, 4))
    curved = statement([[1, 0], [0, 1]], [0, 0], inequalities=[sides])
    assert at(curved, 1, F(1, 4)) == (F(17, 32) * 4, F(17, 32))
    uneven = block("below", [[F(-1), F(-2), F(1)], [F(-1), F(1), F(1)]])
    assert at(statement([[1, 0], [0, 0]], [0, 0], inequalities=[uneven]), 1, F(1, 2)) == (2, F(1, 2))
    unused = block("below", [[F(-1), F(0), F(1)]])
    assert at(statement([[1, 0], [0, 0]], [0, 0], inequalities=[unused]), F(1, 2), 3) == (F(1, 2), F(1, 8))
    # not scaled where a row says at most, or where there are equations: moved within the bounds of single unknowns
    mixed = statement(
        [[1, 0], [0, 1]], [0, 0], inequalities=[block("below", [[F(-1), F(0), F(2)], [F(1), F(0), F(-3)]])]
    )
    assert at(mixed, 3, 0) == (F(9, 2), F(9, 2))
    assert at(mixed, 2, 0) == (2, 2)
    assert at(mixed, 4, 0) == (None, 8)
    assert at(mixed, 3 + F(1, 10**6), 0)[0] == F(9, 2)
    assert at(mixed, 3 + F(29, 10**7), 0)[0] == F(9, 2)  # a millionth of 3
    assert at(mixed, 3 + F(31, 10**7), 0)[0] is None
    assert at(mixed, 1, 0) == (None, F(1, 2))
    zero = statement([[1, 0], [0, 1]], [0, 0], inequalities=[block("below", [[F(-1), F(0), F(0)]])])
    assert at(zero, 3, 0) == (F(9, 2), F(9, 2))
    assert at(zero, -1, 0) == (None, F(1, 2))
    both = statement(
        [[1, 0], [0, 1]],
        [0, 0],
        equalities=[block("equal", [[F(0), F(1), F(-1)]])],
        inequalities=[block("below", [[F(-1), F(0), F(2)]])],
    )
    assert at(both, 4, 1) == (F(17, 2), F(17, 2))
    assert at(both, 4, 0) == (F(17, 2), 8)
    assert at(both, 1, 1) == (None, 1)


def test_a_point_is_scaled_onto_its_equation(monkeypatch):
    """10^6 (z_1 - z_2)^2 / 2 with z_1 + 3 z_2 = 8: the multiple of (2 + e, 2) costs nothing, the nearest point does."""
    steep = statement(
        [[10**6, -(10**6)], [-(10**6), 10**6]], [0, 0], equalities=[block("equal", [[F(1), F(3), F(-8)]])]
    )
    assert upper(steep, [1, 1], monkeypatch) == (0, 0)
    assert upper(steep, [4, 4], monkeypatch) == (0, 0)
    for row in ([F(0), F(2), F(-4)], [F(2), F(0), F(-4)]):
        along = statement([[1, -1], [-1, 1]], [0, 0], equalities=[block("equal", [row])])
        assert upper(along, [1, 1], monkeypatch) == (0, 0)
    level = statement([[1, 0], [0, 1]], [0, 0], equalities=[block("equal", [[F(1), F(-1), F(0)]])])
    assert upper(level, [1, 0], monkeypatch) == (F(1, 4), F(1, 2))  # 0 is not a multiple of any use
    # a multiple that leaves a bound is not taken, nor one where there are equations that it does not satisfy
    held = statement(
        [[1, 0], [0, 0]],
        [0, 0],
        equalities=[block("equal", [[F(0), F(1), F(-2)]])],
        inequalities=[block("below", [[F(1), F(0), F(-1)]])],
    )
    assert upper(held, [1, 1], monkeypatch) == (F(1, 2), F(1, 2))
    both = [block("equal", [[F(1), F(0), F(-2)], [F(0), F(1), F(-3)]])]
    assert upper(statement([[1, 0], [0, 1]], [0, 0], equalities=both), [1, 1], monkeypatch) == (F(13, 2), 1)
    flat = [block("equal", [[F(1), F(-1), F(0)], [F(1), F(1), F(-2)]])]
    assert upper(statement([[1, 0], [0, 1]], [0, 0], equalities=flat), [3, 3], monkeypatch) == (1, 9)
    assert upper(statement([[1, 0], [0, 1]], [0, 0], equalities=flat), [0, 0], monkeypatch) == (1, 0)


def test_what_moves_is_what_has_room(monkeypatch):
    """z_1 + z_2 + z_3 = 10 from (3, 5, 1) with 0 <= z_1 <= 16/5, 0 <= z_2 <= 10: room for 1/5, 5 and 1. No multiple
    of the point is within the bounds."""
    ends = [[1, 0, 0, F(-16, 5)], [-1, 0, 0, 0], [0, 1, 0, -10], [0, -1, 0, 0]]
    tied = statement(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [0] * 3,
        equalities=[block("equal", [[F(1)] * 3 + [F(-10)]])],
        inequalities=[block("below", [list(map(F, row)) for row in ends])],
    )
    step = 1 / (F(1, 5) + 5 + 1)
    moved = [3 + step / 5, 5 + 5 * step, 1 + step]
    assert upper(tied, [3, 5, 1], monkeypatch) == (dot(moved, moved) / 2, F(35, 2))
    # without an equation a point outside by rounding is moved to the bounds, and to no other multiple of itself
    for linear, end, z, inside in (([-9], [2, 9], 2 - NEAR_BOUND, 2), ([0], [-1, 3], 3 + NEAR_BOUND, 3)):
        rows = [[F(-1), F(end[0])], [F(1), F(-end[1])]]
        within = statement([[1]], linear, inequalities=[block("below", rows)])
        assert upper(within, [z], monkeypatch)[0] == F(inside**2, 2) + linear[0] * inside


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


def test_the_better_of_two_lower_bounds_is_taken():
    """A kernel of rank one: by the multipliers a little off there is little, by the point there is all; and the other
    way round."""
    problem = cc.KernelSVM([[1.0], [2.0], [-1.0]], [1, 1, 0], kernel="linear", C=1.0, intercept=False)
    point, multipliers = {"margin": [F(1, 2), F(0), F(1, 2)]}, {"margin_sign": {1: F(1)}}
    assert true_bounds(problem, point, multipliers)[:2] == (F(-1, 2), F(-1, 2))
    off = {"slack": {0: F(1), 1: F(1), 2: F(1)}}
    assert dual_bound(state(problem), off) < F(-1, 2)
    assert true_bounds(problem, point, off)[0] == F(-1, 2)
    assert true_bounds(problem, {"margin": [F(9)] * 3}, multipliers)[0] == F(-1, 2)
    assert linearised_bound(state(problem), [F(9)] * 3, {}) < F(-1, 2)


def test_what_is_affordable():
    def problem(n, d, **more):
        return cc.HardMarginSVM(np.ones((n, d)), [0] + [1] * (n - 1), **more)

    assert MAX_BOUNDED_ENTRIES == 200_000
    for n, d, fits in ((100_000, 1, True), (100_001, 1, False), (50_000, 3, True), (40_000, 5, False)):
        assert affordable(problem(n, d, intercept=False)) is fits
    assert not affordable(problem(100_000, 1))
    assert affordable(cc.SoftMarginSVM(np.ones((20_000, 4)), [0] + [1] * 19_999, intercept=False))  # 2 x 20,000 rows
    assert not affordable(cc.SoftMarginSVM(np.ones((20_001, 4)), [0] + [1] * 20_000, intercept=False))
    assert affordable(cc.LeastSquares(np.ones((40_000, 4)), [0] + [1] * 39_999, intercept=False))
    assert not affordable(cc.LeastSquares(np.ones((40_001, 4)), [0] + [1] * 40_000, intercept=False))
    assert affordable(cc.KernelSVM([[0.0], [1.0]], [0, 1], kernel="linear"))
    assert affordable(cc.LeastSquares(np.ones((4, 70)), [0, 1, 1, 1], l2=1.0))  # of a kernel only is the matrix counted
    for n, fits in ((60, True), (61, False)):
        assert affordable(cc.KernelSVM(np.ones((n, 1)), [0] + [1] * (n - 1), kernel="linear")) is fits
