"""The solution of a sample as the place to begin: near the optimum, within bounds, and of no effect on the answer."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.solvers.kernel import sample
from convexcls.solvers.kernel.box_program import BoxProgram
from convexcls.solvers.kernel.sample import from_a_sample
from convexcls.solvers.kernel.smo_iterate import feasible


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch):
    monkeypatch.setattr(sample, "MAX_UNKNOWNS_AT_ONCE", 300)


def rings(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X**2).sum(axis=1) + rng.normal(size=n) > 3.0


def machine(n: int = 800, **options) -> cc.KernelSVM:
    return cc.KernelSVM(*rings(n), **{"gamma": 0.3, "C": 2.0, **options})


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_point_is_nearer_the_optimum_than_zero_is(C, intercept):
    problem = machine(1200, C=C, intercept=intercept)
    program, optimum = BoxProgram.of(problem), problem.solve("smo").values["margin"]
    b = feasible(program, from_a_sample(program, None))
    assert np.all((b >= program.low) & (b <= program.high))
    if intercept:
        assert abs(b.sum()) < 1e-9 * C * b.size
    at_bounds = (optimum == 0.0) | (optimum == C)
    right = np.abs(program.point(b) - optimum)[at_bounds] < 0.5 * C
    assert right.mean() > max(0.75, np.mean(optimum[at_bounds] == 0.0))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_answer_is_that_of_a_start_from_zero(intercept, monkeypatch):
    problem = machine(intercept=intercept)
    begun = problem.solve("smo")
    monkeypatch.setattr(sample, "MAX_UNKNOWNS_AT_ONCE", 10_000)
    plain = machine(intercept=intercept).solve("smo")
    assert begun.status == plain.status == "optimal"
    np.testing.assert_allclose(begun.values["margin"], plain.values["margin"], atol=1e-9)
    assert begun.support.tolist() == plain.support.tolist()


def test_samples_of_different_weight_keep_their_own_bounds():
    X, y = rings(600)
    weights = np.where(np.arange(600) % 3 == 0, 5.0, 0.2)
    solution = cc.KernelSVM(X, y, gamma=0.3, C=1.0, sample_weight=weights).solve("smo")
    assert solution.status == "optimal"
    assert np.all(solution.values["margin"] <= weights)
    assert np.any(solution.values["margin"] == 5.0)


def test_a_hard_margin_and_a_few_samples_begin_at_zero():
    X, _ = rings(600)
    separable = cc.KernelSVM(X, X[:, 0] > 0, C=None)
    assert not np.any(from_a_sample(BoxProgram.of(separable), None))
    assert not np.any(from_a_sample(BoxProgram.of(machine(200)), None))


def test_a_class_that_the_sample_does_not_meet():
    X, _ = rings(600)
    for place in range(4):
        y = np.arange(600) == place
        solution = cc.KernelSVM(X, y, gamma=0.3, C=1.0).solve("smo")
        assert solution.status == "optimal"
