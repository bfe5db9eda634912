"""Likelihoods without a penalty on tables as people have them: one-hot columns beside an intercept, categories that one
class alone has, columns that repeat others or nearly, and margins that are nearly separated. A linear program that
shares no code with the package says whether a maximum exists."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import convexcls as cc
from convexcls.rows.signs import exact_signs
from convexcls.solvers.smooth.descent import threshold_direction
from convexcls.solvers.smooth.objective import SmoothObjective


def moves(X, y):
    """Whether some direction raises a margin and lowers none: the largest sum of margins, none negative, in a box."""
    margins = np.where(y > 0, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(X))])
    found = linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(X)), bounds=(-1, 1), method="highs")
    return -found.fun > 1e-7


def one_hot(rng, n, sizes):
    parts = [np.eye(k)[rng.integers(k, size=n)] for k in sizes]
    return np.hstack(parts)


def drawn(rng, scores):
    return (rng.random(scores.size) < 1 / (1 + np.exp(-scores))).astype(int)


def dummy_trap(rng, n=700):
    X = one_hot(rng, n, (3, 4, 2))
    return X, drawn(rng, X @ rng.normal(size=9))


def rare_category(rng, n=2400):
    """One category that only samples of one class have, few of them."""
    X, y = dummy_trap(rng, n)
    rare = np.zeros((n, 1))
    rare[np.flatnonzero(y == 1)[:3]] = 1.0
    return np.hstack([X, rare]), y


def standardised(rng, n=2400):
    """The same in standard units: the columns depend on each other by numbers that doubles do not hold."""
    X, y = rare_category(rng, n)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def repeated(rng, n=900):
    X = rng.normal(size=(n, 4))
    return np.hstack([X, X[:, :2], np.zeros((n, 1))]), drawn(rng, X @ rng.normal(size=4))


def ill_conditioned(rng, n=900):
    U = rng.normal(size=(n, 5))
    X = U * np.logspace(0, -7, 5) @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    return X, drawn(rng, U.sum(axis=1))


def nearly_separated(rng, n=600):
    """One sample on the wrong side keeps the others from being separated."""
    x = np.sort(rng.normal(size=n))
    y = (x > x[n // 2]).astype(int)
    y[n // 2 + 3] = 0
    return np.column_stack([x, rng.normal(size=n)]), y


FAMILIES = [dummy_trap, rare_category, standardised, repeated, ill_conditioned, nearly_separated]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", FAMILIES)
def test_the_verdict_is_that_of_a_linear_program(family, seed):
    X, y = family(np.random.default_rng(seed))
    s = cc.LogisticMLE(X, y).solve("newton")
    assert s.status == ("unattained" if moves(X, y) else "optimal")
    if s.status == "unattained":
        margins = np.where(y > 0, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(X))])
        moved = margins @ s.certificate.direction.x
        assert moved.min() > -1e-9 * np.abs(moved).max()
        assert moved.max() > 0
        assert s.certificate.direction.rows.tolist() == np.flatnonzero(moved > 1e-6 * moved.max()).tolist()


@pytest.mark.parametrize("family", [rare_category, standardised])
def test_a_direction_holds_without_rounding(family):
    """Of a table with many entries it is the solver's: no margin shrinks along it, in rationals."""
    X, y = family(np.random.default_rng(5))
    s = cc.LogisticMLE(X, y).solve("newton")
    direction = s.certificate.direction
    assert s.iterations < 30
    assert direction.exactly is not None
    signs = exact_signs(s.problem.rows(s.problem.terms[0]), [Fraction(v) for v in direction.exactly])
    assert np.all(signs >= 0)
    assert np.flatnonzero(signs).tolist() == direction.rows.tolist()


def test_repeated_columns_do_not_slow_a_fit_down():
    """The same scores as without them, in about as many steps."""
    X, y = repeated(np.random.default_rng(3), 3000)
    alone, together = (cc.LogisticMLE(Z, y).solve("newton") for Z in (X[:, :4], X))
    assert together.status == "optimal"
    assert together.iterations <= alone.iterations + 10
    assert np.allclose(X @ together.coef, X[:, :4] @ alone.coef + alone.intercept - together.intercept, atol=1e-6)


def test_columns_that_depend_by_rounding_alone_are_no_optimum():
    """A sum of columns, rounded: doubles cannot show where the optimum is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8))
    X[:, 7] = X[:, :7].sum(axis=1)
    assert cc.LogisticMLE(X, drawn(rng, X[:, 0])).solve("newton").status == "undecided"


def test_wide_softmax_is_proved():
    """More unknowns than a dense Hessian is made for; nearly separated, so that the heaviest samples are few."""
    rng = np.random.default_rng(0)
    classes = rng.integers(5, size=1500)
    X = np.maximum(rng.normal(size=(1500, 420)) + 0.35 * rng.normal(size=(5, 420))[classes], 0.0)
    s = cc.SoftmaxMLE(X, classes, l2=1.0).solve("newton")
    assert s.problem.size > 2000
    assert s.status == "optimal"
    assert s.iterations < 150


def standardised_categories(n=600, rare=True, seed=3):
    """Two features one-hot, every column of mean 0 and deviation 1; with ``rare``, a category of one class only."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, 2))
    y = rng.integers(0, 2, n)
    if rare:
        codes[:5, 0], y[:5] = 4, 1
    X = np.column_stack([np.eye(5 if rare else 4)[codes[:, 0]], np.eye(4)[codes[:, 1]]])
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_a_category_of_one_class_is_seen_in_standardised_columns():
    X, y = standardised_categories()
    found = cc.LogisticMLE(X, y).solve()
    assert (found.status, found.solver) == ("unattained", "newton")
    direction = found.certificate.direction.x
    scores = [
        sum((Fraction(a) * Fraction(v) for a, v in zip(row, direction[:-1], strict=True)), Fraction(direction[-1]))
        for row in X.tolist()
    ]
    margins = np.array([float(s if label else -s) for s, label in zip(scores, y, strict=True)])
    assert np.all(margins[:5] > 0.1)
    assert np.all(margins > -1e-12)


@pytest.mark.parametrize("rare", [True, False])
def test_a_threshold_has_no_sample_on_its_wrong_side(rare):
    """By sorted values of each feature: the rare category alone, and of overlapping ones none."""
    X, y = standardised_categories(rare=rare)
    problem = cc.LogisticMLE(X, y)
    direction = threshold_direction(SmoothObjective(problem).at(np.zeros(problem.size)))
    if not rare:
        assert direction is None
        assert problem.solve().status == "optimal"
        return
    assert np.flatnonzero(direction[:-1]).tolist() == [4]
    moved = np.where(y, 1, -1) * (X @ direction[:-1] + direction[-1])
    assert np.all(moved >= -1e-15)
    assert np.all(moved[:5] > 0)
    assert np.all(np.abs(moved[5:]) < 1e-15)


def test_a_threshold_is_not_looked_for_without_an_intercept_that_is_free():
    X, y = standardised_categories()
    problem = cc.LogisticMLE(X, y, intercept=False)
    assert threshold_direction(SmoothObjective(problem).at(np.zeros(problem.size))) is None
