"""The whole path without rounding, against exact solves at single values by other code."""

import random
from fractions import Fraction as F
from itertools import pairwise, product

import exact as oracle
import pytest

import convexcls as cc
from convexcls.problem import NoAnswer


def drawn(seed, n, d):
    rng = random.Random(seed)
    X = [[F(rng.randint(-9, 9), rng.choice([1, 2])) for _ in range(d)] for _ in range(n)]
    return X, [0, 1, *(rng.randint(0, 1) for _ in range(n - 2))], rng


def lasso(X, signs, l1, l2):
    """The least objective of squared loss with both penalties: over all signs of the coefficients, the solutions of the
    normal equations that have them; the intercept is free."""
    best = None
    for pattern in product((-1, 0, 1), repeat=len(X[0])):
        used = [j for j, s in enumerate(pattern) if s]
        Z, k = [[row[j] for j in used] + [F(1)] for row in X], len(used) + 1
        gram = [[2 * sum((r[i] * r[j] for r in Z), F(0)) for j in range(k)] for i in range(k)]
        right = [2 * sum((r[i] * s for r, s in zip(Z, signs, strict=True)), F(0)) for i in range(k)]
        for i, j in enumerate(used):
            gram[i][i] += l2
            right[i] -= l1 * pattern[j]
        if (found := oracle.solve_linear(gram, right)) is None:
            continue
        residuals = [oracle.dot(r, found) - s for r, s in zip(Z, signs, strict=True)]
        coef = found[:-1]
        value = oracle.dot(residuals, residuals) + l1 * sum(map(abs, coef)) + l2 / 2 * oracle.dot(coef, coef)
        best = value if best is None else min(best, value)
    return best


@pytest.mark.parametrize("seed", range(20))
def test_the_path_in_C_agrees_with_an_oracle_at_random_values(seed):
    """20 problems, 40 values each."""
    X, y, rng = drawn(seed, 5 + seed % 3, 1 + seed % 2)
    intercept = seed % 3 != 0
    path = cc.path(cc.SoftMarginSVM, X, y, exact=True, intercept=intercept)
    signs = [2 * v - 1 for v in y]
    for _ in range(40):
        C = F(rng.randint(1, 400), rng.choice([1, 7, 100, 1000]))
        assert path.optimum(C) == oracle.soft_margin(X, signs, C, "hinge", intercept)[0]


@pytest.mark.parametrize("seed", range(10))
def test_coefficients_are_those_of_exact_solves(seed):
    X, y, rng = drawn(100 + seed, 6, 2)
    weights = [F(rng.randint(1, 5), rng.randint(1, 3)) for _ in X]
    path = cc.path(cc.SoftMarginSVM, X, y, exact=True, sample_weight=weights)
    for segment in path.segments:
        found = cc.SoftMarginSVM(X, y, C=segment.middle, sample_weight=weights).solve(level="exact").certificate
        assert found.coef == path.coef(segment.middle)
        assert found.optimum == path.optimum(segment.middle)


@pytest.mark.parametrize("seed", range(10))
def test_the_path_in_l1_agrees_with_all_sign_patterns(seed):
    """10 problems, 20 values each."""
    X, y, rng = drawn(200 + seed, 6, 2)
    l2 = F(seed % 2, 3)
    path = cc.path(cc.EmpiricalRisk, X, y, loss="squared", l2=l2, exact=True)
    assert not any(path.coef(10**6))
    for _ in range(20):
        l1 = F(rng.randint(1, 500), rng.choice([1, 7, 100]))
        assert path.optimum(l1) == lasso(X, [2 * v - 1 for v in y], l1, l2)


def test_breakpoints_are_where_the_active_set_changes():
    for seed in range(10):
        X, y, _ = drawn(300 + seed, 7, 2)
        path = cc.path(cc.SoftMarginSVM, X, y, exact=True)
        assert path.segments[0].low == 0
        assert path.segments[-1].high is None
        for one, other in pairwise(path.segments):
            assert one.high == other.low
            assert one.coef_at(one.high) == other.coef_at(one.high)
            assert one.multipliers_at(one.high) == other.multipliers_at(one.high)
            assert one.sides != other.sides or one.intercept_slope != other.intercept_slope


def test_of_separable_classes_the_path_ends_at_the_hard_margin():
    m = cc.load("twenty_points")
    path = cc.path(cc.SoftMarginSVM, m.data.samples, m.data.given, exact=True)
    last = path.segments[-1]
    assert last.coef_slope == [0, 0]
    assert last.coef == [F(2, 3), F(2, 3)]
    assert last.low == F(4, 9)  # the largest multiplier of the hard margin
    assert path.optimum(100) == F(4, 9)


def test_the_table_and_its_text():
    path = cc.path(cc.SoftMarginSVM, [[0], [1], [3], [4]], [0, 1, 0, 1], exact=True)
    assert path.to_dict()["segments"][1]["from"] == "1/4"
    assert str(path).splitlines()[0].split("  ")[0] == "C from"
    assert F(1, 8) in path[0]
    with pytest.raises(ValueError, match="goes from 0"):
        path.coef(-1)


@pytest.mark.parametrize(
    ("model", "settings", "error", "words"),
    [
        (cc.SoftMarginSVM, {"C": 1.0}, ValueError, "leave it out"),
        (cc.SoftMarginSVM, {"loss": "squared_hinge"}, NoAnswer, "with the hinge"),
        (cc.LogisticMLE, {}, NoAnswer, "linear piece by piece"),
    ],
)
def test_other_paths_are_refused(model, settings, error, words):
    with pytest.raises(error, match=words):
        cc.path(model, [[0], [1], [3], [4]], [0, 1, 0, 1], exact=True, **settings)
