"""What is measured by block is what is measured of the same rows in memory, with bounds that hold for both."""

from __future__ import annotations

import numpy as np
import pytest

import convexcls as cc
from convexcls.data import Sparse
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.products import plain_rounding
from convexcls.proofs.kkt.pulls import pull_by_block

N, ROWS = 3000, 700


def both(model, weights=None, **arguments):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 3))
    score = X @ [1.0, -2.0, 0.5] + rng.logistic(size=N)
    y = np.digitize(score, [-1.0, 1.0]) if model is cc.SoftmaxMLE else score > 0
    y = score if arguments.get("coding") == "real" else y
    read = cc.read_blocks(X, target=y, rows=ROWS)
    return [model(*samples, sample_weight=weights, **arguments) for samples in (read, (X, y))], read.rows


MODELS = {
    "least squares": (cc.LeastSquares, {}),
    "regression": (cc.LeastSquares, {"coding": "real", "l2": 0.5}),
    "logistic": (cc.LogisticMLE, {"weights": np.arange(N) % 3}),
    "exponential": (cc.EmpiricalRisk, {"loss": "exponential", "l2": 1.0, "weights": np.arange(N) % 2}),
    "softmax": (cc.SoftmaxMLE, {"l2": 1.0}),
}


@pytest.mark.parametrize("name", MODELS)
def test_sums_over_blocks(name):
    model, arguments = MODELS[name]
    (blocks, memory), rows = both(model, **arguments)
    x = np.random.default_rng(1).normal(size=blocks.size)
    term, plain = blocks.terms[0], memory.terms[0]
    joined, whole = blocks.rows(term), memory.rows(plain).to_dense()
    rad, before = plain_rounding(joined, x, term, "offset"), rows.passes
    pull = pull_by_block(joined, term, x, rad, 8)
    assert rows.passes == before + 1
    u, weights = whole @ x + plain.offset, plain.row_weights
    z = np.where(weights > 0, weights * plain.loss.slope(u), 0.0)
    sizes = np.where(weights > 0, weights * plain.loss.slope_size(u, plain.loss.slope(u)), 0.0)
    np.testing.assert_allclose(pull.value, plain.value(u), rtol=1e-12)
    np.testing.assert_allclose(pull.total, whole.T @ z, atol=1e-12 * np.abs(whole).sum())
    np.testing.assert_allclose(pull.magnitude, np.abs(whole).T @ sizes, rtol=1e-12)
    np.testing.assert_allclose([pull.size, pull.largest], [sizes.sum(), np.abs(z).max()], rtol=1e-12)
    error = np.where(weights > 0, weights * (rad if plain.is_half_square else 2 * plain.loss.slope_change(u, rad)), 0.0)
    np.testing.assert_allclose(pull.cost, 0.5 * float((error * rad).sum()), rtol=1e-12)
    np.testing.assert_allclose(pull.inherited, float((8 * 2.0**-53 * sizes + error).sum()), rtol=1e-12)
    assert np.all(pull.additions >= ROWS / 256)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("moved", [0.0, 1e-9, 1e-3])
def test_the_measures_are_those_in_memory(name, moved):
    """At the optimum, next to it and far from it: measures agree, and each bound is above the other's measure."""
    model, arguments = MODELS[name]
    (blocks, memory), _ = both(model, **arguments)
    x = memory.solve().x + moved
    mine, theirs = check_kkt(blocks, x, {}), check_kkt(memory, x, {})
    assert mine.objective == pytest.approx(theirs.objective, rel=1e-12)
    for name, value in mine.measures().items():
        assert value <= theirs.bounds()[name] * (1 + 1e-6)
        assert theirs.measures()[name] <= mine.bounds()[name] * 1.3 + 1e-15
    if moved > 1e-6:
        assert mine.stationarity.relative == pytest.approx(theirs.stationarity.relative, rel=0.3)


def test_what_overflows_is_left_to_the_long_way():
    (blocks, memory), _ = both(cc.LogisticMLE)
    term = blocks.terms[0]
    assert pull_by_block(blocks.rows(term), term, np.array([1e308, 1e308, 1e308, 0.0]), 1.0, 8) is None
    term = memory.terms[0]
    assert pull_by_block(memory.rows(term), term, np.zeros(4), 1.0, 8) is None


def margins():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(N, 3))
    y = X @ [1.0, -2.0, 0.5] > 0
    X = X + np.where(y, 0.2, -0.2)[:, None] * [1.0, -2.0, 0.5]
    read = cc.read_blocks(X, target=y, rows=ROWS)
    return cc.HardMarginSVM(*read), cc.HardMarginSVM(X, y), read.rows


def moved(x, z, how):
    """Wrong answers: another point, other multipliers, one of the wrong sign, one at a row that has room."""
    z = z.copy()
    if how == "point":
        return x * (1 - 1e-4), z
    if how == "multipliers":
        return x, z * 1.001
    if how == "sign":
        z[np.argmax(z)] *= -1
    if how == "row with room":
        z[np.flatnonzero(z == 0)[5]] = 0.1
    return x, z


@pytest.mark.parametrize("how", ["optimum", "point", "multipliers", "sign", "row with room"])
@pytest.mark.parametrize("sparse", [True, False])
def test_hard_rows_are_measured_as_in_memory(how, sparse):
    blocks, memory, rows = margins()
    solution = memory.solve()
    x, z = moved(solution.x, solution.multipliers["margin"], how)
    before = rows.passes
    mine = check_kkt(blocks, x, {"margin": Sparse(N, np.flatnonzero(z), z[z != 0]) if sparse else z}, 1e-8)
    assert rows.passes == before + 1 or how != "optimum"
    theirs = check_kkt(memory, x, {"margin": z}, 1e-8)
    assert mine.holds(1e-8) == theirs.holds(1e-8) == (how == "optimum")
    for name, value in mine.measures().items():
        assert value == pytest.approx(theirs.measures()[name], rel=1e-6, abs=1e-12)
    for name in ("primal_feasibility", "dual_feasibility", "complementary_slackness"):
        own, other = getattr(mine, name), getattr(theirs, name)
        np.testing.assert_allclose(np.asarray(own.values["margin"]), other.values["margin"], atol=1e-12)
        np.testing.assert_allclose(
            own.relative_values["margin"], other.relative_values["margin"], rtol=1e-6, atol=1e-11
        )
        if other.relative > 1e-10:
            assert own.worst == other.worst


def test_a_hard_margin_has_sparse_multipliers():
    blocks, memory, _ = margins()
    mine, theirs = blocks.solve(), memory.solve()
    assert isinstance(mine.multipliers["margin"], Sparse)
    np.testing.assert_allclose(
        np.asarray(mine.multipliers["margin"]), theirs.multipliers["margin"], rtol=1e-7, atol=1e-9
    )
    np.testing.assert_array_equal(mine.support, theirs.support)
    np.testing.assert_allclose(mine.margins, theirs.margins, rtol=1e-9)
    np.testing.assert_allclose(mine.intercept_interval, theirs.intercept_interval, rtol=1e-9)
    assert mine.kkt.complementary_slackness.worst[0] == "margin"
    assert "OPTIMAL" in mine.explain()
