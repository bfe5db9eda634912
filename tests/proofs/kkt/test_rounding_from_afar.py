"""Bounds on rounding that cost nothing, against rationals; what a problem remembers, and for how long."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.proofs.kkt import check as kkt
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.products import Gradient, plain_values
from convexcls.proofs.rigorous.products import entry_error, error_from_afar
from convexcls.proofs.rigorous.rounding import UNIT_ROUNDOFF
from convexcls.rows import CentredRows, ClassMarginRows, ConstantRows, PickedRows, Rows, as_rows, summation
from convexcls.rows.rounded import summed

SIZES = (1, 7, 8, 9, 33, 150)


def rows_of(n: int, rng: np.random.Generator) -> dict[str, Rows]:
    X = rng.standard_normal((n, 3)) * 10.0 ** rng.integers(-3, 4, (n, 3))
    groups = np.arange(n) % 2
    return {
        "dense": as_rows(X),
        "by column": as_rows(np.asfortranarray(X)),
        "every other row": as_rows(np.repeat(X, 2, axis=0)[::2]),
        "labels": as_rows(X).scaled(np.where(groups, 1.0, -1.0), np.array([1.0, -3.0, 0.1])),
        "sparse by row": as_rows(sparse.csr_array(np.where(np.abs(X) > 0.1, X, 0.0))),
        "sparse by column": as_rows(sparse.csc_array(np.where(np.abs(X) > 0.1, X, 0.0))),
        "sizes": abs(as_rows(X)),
        "ones": ConstantRows(n),
        "picked": PickedRows(X[:, 0], groups.astype(np.intp), 2),
        "classes": ClassMarginRows(as_rows(X), np.arange(n) % 3, 3),
        "joined": cc.HardMarginSVM(X, np.where(np.arange(n) % 2, 1, -1)).constraints[0].entries["coef"]
        if n > 1
        else as_rows(X),
    }


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", rows_of(1, np.random.default_rng(0)))
def test_sums_are_within_the_bound_of_their_additions(n, kind):
    """gamma_k |R|'|u| with k the number of additions that the rows tell, and a few for factors."""
    rng = np.random.default_rng(n)
    rows = rows_of(n, rng)[kind]
    u = rng.standard_normal(rows.shape[0]) * 10.0 ** rng.integers(-3, 4, rows.shape[0])
    with patch.object(summation, "SUMMED_ROWS", 4), patch.object(summation, "BLOCK_ROWS", 16):
        found, lengths = rows.added_up(u)
    exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(column, u, strict=True)) for column in rows.to_dense().T]
    room = 1.01 * (np.broadcast_to(lengths, found.shape) + 6) * UNIT_ROUNDOFF * (np.abs(rows.to_dense()).T @ np.abs(u))
    assert found.shape == (rows.shape[1],)
    assert all(abs(Fraction(f) - e) <= Fraction(r) for f, e, r in zip(found, exact, room, strict=True))


def test_many_rows_are_added_up_in_few_additions():
    """What is added up one number after the other would be known to n roundings only."""
    n = 100_000
    X = np.ones((n, 2))
    for rows in (
        as_rows(X),
        as_rows(X).scaled(-1.0),
        ConstantRows(n),
        CentredRows.by_group(as_rows(X), np.arange(n) % 2, 2),
    ):
        assert np.max(rows.added_up(np.ones(n))[1]) < 500
    assert np.max(as_rows(np.asfortranarray(X)).added_up(np.ones(n))[1]) < 3000
    assert as_rows(sparse.csr_array(np.eye(1000))).added_up(np.ones(1000))[1] == 1


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("n", [6, 31])
def test_entries_are_within_the_bound_from_afar(n, offset):
    """Rows minus the mean of their group, differences of means, and sums over samples, as the data were given."""
    rng = np.random.default_rng(n)
    X = [[Fraction(int(k), 1000) + Fraction(offset) for k in row] for row in rng.integers(-5000, 5000, (n, 2))]
    y = np.arange(n) % 2
    with patch.object(summation, "BLOCK_ROWS", 4):
        fisher = cc.FisherLDA(X, y)
        perceptron = cc.PerceptronCriterion(X, y, normalization="mean-margin")
        parts = [fisher.centred, *fisher.constraints[0].entries.values()]
        parts += [rows for c in perceptron.constraints for rows in c.entries.values() if not np.isfinite(rows.rounding)]
        assert len(parts) == 4
        for rows in parts:
            afar = error_from_afar(rows)
            assert afar is not None
            off = np.array(
                [
                    [float(abs(t - Fraction(d))) for t, d in zip(*pair, strict=True)]
                    for pair in zip(rows.rational(), rows.to_dense().tolist(), strict=True)
                ]
            )
            assert np.all(off <= afar.absolute)
            assert np.all(afar.absolute <= 1e-13 * (10.0 + offset) * n)  # not far above
            assert np.all(entry_error(rows).absolute <= 2.0 * afar.absolute)  # a closer look may be rounded up


def test_a_sum_of_sparse_rows_is_bounded_from_afar():
    X = sparse.csr_array(np.array([[0.1, 0.0], [0.2, 0.3], [0.0, -0.3]]))
    rows = summed(as_rows(X), np.array([0.7, -0.3, 0.9]))
    afar = error_from_afar(rows)
    assert afar is not None
    off = [abs(t - Fraction(d)) for t, d in zip(rows.rational()[0], rows.to_dense()[0].tolist(), strict=True)]
    assert all(o <= Fraction(a) for o, a in zip(off, afar.absolute, strict=True))


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e150])
def test_one_bound_holds_for_all_rows(scale):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    problem = cc.SoftMarginSVM(X, y)
    x = rng.standard_normal(problem.size) * scale
    c = problem.constraints[0]
    mid, rad = plain_values(problem.rows(c), x, c, "rhs")
    point = [Fraction(v) for v in x]
    for value, row, side in zip(mid, problem.rows(c).rational(), c.rhs, strict=True):
        true = sum((a * b for a, b in zip(row, point, strict=True)), Fraction(0)) - Fraction(side)
        assert abs(true - Fraction(value)) <= Fraction(rad)
    assert 0 < rad <= 1e-14 * (np.abs(x).sum() * 4.0 + 1.0)


def test_what_cannot_be_bounded_is_not():
    problem = cc.SoftMarginSVM([[1e200, 0.0], [0.0, 1.0]], [0, 1])
    c = problem.constraints[0]
    with np.errstate(over="ignore", invalid="ignore"):
        assert plain_values(problem.rows(c), np.full(problem.size, 1e200), c, "rhs")[1] == np.inf


@pytest.mark.parametrize("declare", [cc.LeastSquares, cc.FisherLDA, cc.GaussianMLE, cc.LogisticMLE])
def test_what_is_told_from_afar_is_not_looked_at_closely(declare):
    """Everyday problems are decided by bounds that take no time, however many samples there are."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 8))
    y = X[:, 0] + rng.standard_normal(30_000) > 0
    with (
        patch.object(Gradient, "refined", side_effect=AssertionError),
        patch.object(kkt, "row_values", side_effect=AssertionError),
    ):
        assert declare(X, y).solve().status == "optimal"


@pytest.mark.parametrize("declare", [cc.LeastSquares, cc.FisherLDA, cc.GaussianMLE])
def test_a_problem_is_gone_when_nobody_holds_it(declare):
    """What a problem remembers does not keep it, and its data, alive."""
    rng = np.random.default_rng(0)
    problem = declare(rng.standard_normal((20, 2)), np.arange(20) % 2)
    there = weakref.ref(problem)
    solution = problem.solve()
    assert check_kkt(problem, solution.x, solution.multipliers).holds(1e-8)
    gc.disable()
    try:
        del problem, solution
        assert there() is None
    finally:
        gc.enable()
