"""Units: what is near one is left alone, what is not is measured in powers of two, and both give the same answer."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.problem.scaling import equilibrate


def samples(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("model", [cc.LogisticMLE, cc.LeastSquares, cc.FisherLDA, cc.GaussianMLE, cc.HardMarginSVM])
def test_a_problem_whose_entries_are_near_one_is_solved_as_it_stands(model):
    problem = model(*samples())
    scaled = equilibrate(problem)
    assert scaled.changes_nothing
    assert scaled.problem is problem


@pytest.mark.parametrize("exponents", [(40, 0, 0), (-40, 0, 0), (4, -4, 0), (4, 4, 4)])
def test_columns_in_other_units_have_the_same_answer_in_these(exponents):
    X, y = samples()
    here = cc.LogisticMLE(X, y, intercept=True).solve()
    problem = cc.LogisticMLE(np.ldexp(X, exponents), y, intercept=True)
    scaled, there = equilibrate(problem), problem.solve()
    assert scaled.changes_nothing == (max(map(abs, exponents)) < 2)
    assert there.status == here.status == "optimal"
    np.testing.assert_allclose(np.ldexp(there.coef, exponents), here.coef, rtol=1e-9)


def test_one_entry_far_from_one_is_seen_among_many_near_it():
    X, y = samples()
    X[7, 1] = 2.0**12
    assert not equilibrate(cc.LogisticMLE(X, y)).changes_nothing


def test_the_objective_of_losses_counts_samples_and_that_of_rows_is_measured():
    X, y = samples()
    assert equilibrate(cc.LogisticMLE(X, y, sample_weight=np.full(40, 1000.0))).objective == 0
    assert equilibrate(cc.LogisticMLE(X, y, sample_weight=np.full(40, 2.0**40))).objective == -40
    assert equilibrate(cc.SoftMarginSVM(X, y, C=2.0**10)).objective == -10


def test_points_and_multipliers_in_the_same_units_are_copies():
    scaled = equilibrate(cc.HardMarginSVM([[0.0], [2.0]], [0, 1]))
    x = np.array([1.0, -1.0])
    restored = scaled.restore_point(x)
    restored[0] = 5.0
    assert x[0] == 1.0
