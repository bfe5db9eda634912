"""Slacks of many rows at their kink: the point is moved clear of it where working the rows out would cost more."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.kkt import settling
from convexcls.proofs.kkt.products import row_values


def test_many_rows_at_their_kink_are_cleared_in_doubles(monkeypatch):
    """All of these samples are support points with slacks of 0, so that one linear system has the answer. C is so high
    that slacks of a rounding would cost more than the tolerance, but no row is worked out closely for them."""
    n = 60
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3000)), np.where(np.arange(n) % 2, 1.0, -1.0)
    system = np.block([[X @ X.T, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    signed = np.linalg.solve(system, np.append(y, 0.0))[:n]
    assert np.all(y * signed > 0)  # the multipliers
    wanted = []
    monkeypatch.setattr(settling, "row_values", lambda *args: wanted.append(args[-1]) or row_values(*args))
    s = cc.SoftMarginSVM(X, y, C=1000.0).solve("coordinate-descent")
    assert s.status == "optimal", s.certificate.explain()
    assert s.objective == pytest.approx(0.5 * signed @ (X @ X.T) @ signed, rel=1e-9)
    assert np.all(s.values["slack"] == 0.0)
    assert wanted
    assert np.all(np.isinf(wanted[0]))  # of the margins: each is surely met
    monkeypatch.setattr(settling, "MAX_DOUBLED_ENTRIES", 10**9)
    other = cc.SoftMarginSVM(X, y, C=1000.0).solve("coordinate-descent")
    assert not np.all(np.isinf(wanted[2]))  # worked out, with the same answer
    assert s.objective == pytest.approx(other.objective, rel=1e-9)


@pytest.mark.parametrize("tol", [1e-8, 1e-13])
def test_a_point_is_not_stretched_by_more_than_the_tolerance_leaves(tol, monkeypatch):
    """Few rows, or many and a tolerance near rounding: slacks are worked out, and the coefficients are left alone."""
    monkeypatch.setattr(settling, "MAX_DOUBLED_ENTRIES", 10**9 if tol == 1e-8 else 0)
    problem = cc.SoftMarginSVM([[-1.0], [-1.0], [1.0], [1.0]], [0, 0, 1, 1], C=1.0)
    x = np.concatenate([[1.0], [0.0], np.zeros(4)])
    np.testing.assert_array_equal(settling.settled(problem, x, tol), x)


def test_slacks_that_are_paid_are_those_of_the_rows():
    """Of two samples on the wrong side, the slacks are what their margins lack, whatever the point said."""
    problem = cc.SoftMarginSVM([[-1.0], [-3.0], [1.0], [2.0]], [0, 1, 1, 0], C=1.0)
    x = np.concatenate([[1.0], [0.5], np.full(4, 7.0)])
    np.testing.assert_array_equal(settling.settled(problem, x, 1e-8)[2:], [0.5, 3.5, 0.0, 3.5])
