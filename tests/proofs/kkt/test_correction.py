"""How far multipliers are from satisfying stationarity exactly: bounds, and what they are worked out from."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.kkt import correction
from convexcls.proofs.kkt.correction import FreeRows
from convexcls.proofs.rigorous.rounding import Ball

WEIGHTS = {"even": None, "by sample": np.geomspace(1e-2, 10.0, 60)}


def samples(n, d, seed=0):
    """Correlated features, and a class of each sample."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.5)
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


def all_rows(group):
    return np.vstack([rows.to_dense() for rows in group.maps])


@pytest.mark.parametrize("costs", WEIGHTS)
def test_no_residual_within_its_rounding_asks_for_a_larger_change(costs):
    model = cc.LogisticMLE if costs == "even" else cc.LeastAbsolute
    problem = model(*samples(60, 4), sample_weight=WEIGHTS[costs])
    (group,) = problem.remembered(FreeRows).kinds
    K, prices = all_rows(group), np.concatenate(group.costs)
    off = np.array([1e-9, 3e-8, 2e-9, 5e-9, 1e-8])
    inverse = np.linalg.inv(K.T @ (prices[:, None] * K))
    worst = max(np.abs(K @ (inverse @ (off * signs))).max() for signs in product((-1.0, 1.0), repeat=off.size))
    assert worst <= group.whole.largest_change(off) <= 10.0 * worst * np.sqrt(len(K))
    assert (np.ptp(prices) == 0.0) == (costs == "even")


def test_a_few_rows_and_some_passes_over_all_do_for_a_change_near_the_least():
    problem = cc.LogisticMLE(*samples(4000, 5))
    (group,) = problem.remembered(FreeRows).kinds
    K, r = all_rows(group), np.array([1e-6, -2e-6, 3e-6, 1e-6, -1e-6, 2e-6])
    least = np.abs(K @ np.linalg.solve(K.T @ K, r)).max()
    nothing = np.zeros(r.size)
    found = group.correction(Ball(r, nothing), enough=1.2 * least)
    assert least <= found.size <= 1.2 * least
    assert found.whole
    assert "whole" not in vars(group)  # no factor of all rows was asked for
    assert group.few.change(r) > 1.2 * least  # nor is a change of the few enough


def test_rounding_counts_towards_what_is_enough():
    problem = cc.LogisticMLE(*samples(4000, 5))
    (group,) = problem.remembered(FreeRows).kinds
    r = np.full(6, 1e-6)
    off = 0.3 * r
    K = all_rows(group)
    least = np.abs(K @ np.linalg.solve(K.T @ K, r)).max()
    found = group.correction(Ball(r, off), enough=1.01 * least)
    assert found.rounding == group.whole.largest_change(off) > 0.01 * least
    assert found.size == pytest.approx(least, rel=1e-9)


def test_categories_that_add_up_are_told_without_a_rank(monkeypatch):
    rng = np.random.default_rng(3)
    category = rng.integers(0, 4, 400)
    X = np.column_stack([np.eye(4)[category], rng.integers(0, 90, 400), rng.standard_normal(400)])
    y = (X[:, 4] + 40.0 * rng.standard_normal(400) > 45).astype(int)
    monkeypatch.setattr(correction, "_known_rank", lambda _: pytest.fail("a rank was worked out"))
    assert cc.FisherLDA(X, y).solve().status == "optimal"


def test_categories_that_hardly_fail_to_add_up_are_not_taken_to():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.eye(4)[rng.integers(0, 4, 400)], rng.standard_normal(400)])
    X[7, 2] += 2.0**-50
    y = (X[:, 4] + rng.standard_normal(400) > 0).astype(int)
    problem = cc.FisherLDA(X, y)
    assert not problem.remembered(FreeRows).kinds[0].is_exact
