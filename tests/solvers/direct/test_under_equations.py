"""Least squares under equations: the way of small problems and the null space give the same."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.solvers.direct.under_equations import _at_once, _by_null_space, _groups


def problem(seed: int, n: int = 30, d: int = 4, m: int = 2, condition: float = 1.0) -> cc.Problem:
    """Two weighted terms with targets, under m equations; the columns are scaled and nearly repeat each other."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d)
    M[:, -1] = M[:, 0] + M[:, -1] / condition
    x = cc.Variable("x", d, "x")
    terms = [
        cc.Term("first", {"x": M}, offset=rng.normal(size=n), weights=rng.uniform(0.5, 2.0, n)),
        cc.Term("second", {"x": M[:3] + M[3:6]}, offset=rng.normal(size=3)),
    ]
    rows = cc.Constraint("rows", {"x": rng.normal(size=(m, d))}, rhs=rng.normal(size=m), relation="==")
    return cc.Problem("fit", [x], terms=terms, constraints=[rows])


@pytest.mark.parametrize("seed", range(8))
def test_both_ways_give_the_same(seed):
    (group,) = _groups(problem(seed))
    (X, nu), (other, prices) = _at_once(group), _by_null_space(group, 1e-13)
    size = np.abs(other).max()
    assert np.abs(X - other).max() <= 1e-12 * size
    M, t = group.weighted()
    assert np.abs(nu - prices).max() <= 1e-12 * (np.abs(M).T @ np.abs(t)).max()  # what they cancel against
    assert np.abs(group.A @ X - group.b).max() <= 1e-13 * size * np.abs(group.A).max()


@pytest.mark.parametrize("condition", [1e4, 1e9, 1e17])
def test_columns_that_nearly_repeat_each_other_go_the_other_way(condition):
    stated = problem(1, condition=condition)
    assert _at_once(_groups(stated)[0]) is None
    assert stated.solve("closed-form").status == "optimal"


def test_equations_that_repeat_each_other_go_the_other_way():
    stated = problem(2, m=1)
    (rows,) = stated.constraints
    A = np.vstack([rows.entries["x"].to_dense()] * 2)
    again = cc.Constraint("rows", {"x": A}, rhs=np.repeat(rows.rhs, 2), relation="==")
    twice = cc.Problem("fit", stated.variables, terms=stated.terms, constraints=[again])
    assert _at_once(_groups(twice)[0]) is None
    assert twice.solve("closed-form").x == pytest.approx(stated.solve("closed-form").x, rel=1e-10)
