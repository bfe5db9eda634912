"""A score depends on the sample alone: not on the batch, its order, its layout in memory; and ties are settled."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.rows.scores import SUMMED_PRODUCTS, linear_scores, row_products, settled
from convexcls.rows.summation import rounding

RNG = np.random.default_rng(5)
X = np.vstack([RNG.normal(size=(30, 3)), RNG.normal(1.0, size=(30, 3))])
TWO = np.repeat(["a", "b"], 30)
THREE = np.tile(["a", "b", "c"], 20)
NEW = np.vstack([RNG.normal(size=(300, 3)) * 10.0 ** RNG.integers(-3, 4, size=(300, 1)), np.zeros((1, 3)), X])

SOLUTIONS = {
    "soft margin": lambda: cc.SoftMarginSVM(X, TWO).solve(),
    "logistic": lambda: cc.LogisticMLE(X, TWO).solve(),
    "softmax": lambda: cc.SoftmaxMLE(X, THREE).solve(),
    "least squares": lambda: cc.LeastSquares(X, TWO, coding="01").solve(),
    "real targets": lambda: cc.LeastSquares(X, X[:, 0] + RNG.normal(size=60), coding="real").solve(),
    "fisher": lambda: cc.FisherLDA(X, TWO).solve(),
    "fisher of three": lambda: cc.FisherLDA(X, THREE).solve(),
    "gaussian": lambda: cc.GaussianMLE(X, TWO).solve(),
    "gaussian by class": lambda: cc.GaussianMLE(X, THREE, covariance="by-class").solve(),
    "rbf": lambda: cc.KernelSVM(X, TWO, kernel="rbf", gamma=0.5, C=1.0).solve(),
    "poly": lambda: cc.KernelSVM(X, TWO, kernel="poly", gamma=0.5, coef0=1.0, degree=2, C=1.0).solve(),
    "linear kernel": lambda: cc.KernelSVM(X, TWO, kernel="linear", C=1.0).solve(),
    "basis": lambda: cc.LogisticMLE(cc.basis.Polynomial(2)(X), TWO, l2=1.0).solve(),
}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_score_is_that_of_the_sample_alone(name):
    s = SOLUTIONS[name]()
    whole = s.decision_function(NEW)
    order = np.random.default_rng(1).permutation(len(NEW))
    assert np.array_equal(s.decision_function(NEW[order]), whole[order])
    for size in (1, 2, 3, 7, 130):
        parts = [s.decision_function(NEW[k : k + size]) for k in range(0, len(NEW), size)]
        assert np.array_equal(np.concatenate(parts), whole)
    for layout in (np.asfortranarray(NEW), np.repeat(NEW, 2, axis=1)[:, ::2], NEW[::-1].copy()[::-1]):
        assert np.array_equal(s.decision_function(layout), whole)
        assert np.array_equal(s.decision_function(layout[4:5]), whole[4:5])


@pytest.mark.parametrize("d", [1, 2, 7, 50, 129, SUMMED_PRODUCTS - 1, SUMMED_PRODUCTS + 1, 3 * SUMMED_PRODUCTS])
def test_products_have_one_order(d):
    """einsum splits sums that are longer than its buffer where the batch has it: ours never reach it."""
    R, v = RNG.normal(size=(11, d)), RNG.normal(size=d)
    whole = row_products(R, v)
    assert [row_products(R[i : i + 1], v)[0] for i in range(11)] == whole.tolist()
    assert np.array_equal(row_products(np.asfortranarray(R)[3:9], np.repeat(v, 2)[::2]), whole[3:9])
    assert np.array_equal(row_products(R, np.column_stack([v, -v])), np.column_stack([whole, -whole]))
    np.testing.assert_allclose(whole, R @ v, rtol=0, atol=1e-15 * float((abs(R) @ abs(v)).max()) * (1 + d**0.5))


def test_sparse_rows_have_one_order_in_any_format():
    R, v = RNG.normal(size=(40, 30)) * (RNG.random((40, 30)) < 0.3), RNG.normal(size=30)
    whole = linear_scores(sparse.csr_array(R), v, 0.5)
    assert np.array_equal(linear_scores(sparse.csc_array(R), v, 0.5), whole)
    for i in range(40):
        assert linear_scores(sparse.csr_array(R[i : i + 1]), v, 0.5)[0] == whole[i]


# ---- ties -----------------------------------------------------------------------------------------------------


def truth(x, coef, intercept):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, coef, strict=True)), Fraction(intercept))


def test_a_score_is_zero_only_where_rounding_leaves_no_sign():
    """Decimals near the plane 0.1 x + 0.2 y - 0.3 z = 0, against rationals."""
    rng = np.random.default_rng(8)
    coef = np.array([0.1, 0.2, -0.3])
    on = rng.integers(-50, 50, size=(400, 2)).astype(float)
    plane = np.column_stack([on[:, 0], on[:, 1], (on @ [1, 2]) / 3.0])
    near = plane + np.outer(10.0 ** rng.uniform(-17, -12, size=400), [1, 0, 0]) * np.abs(plane).max()
    for rows in (plane, near):
        scores = linear_scores(rows, coef, 0.0)
        for x, score in zip(rows.tolist(), scores.tolist(), strict=True):
            true, bound = truth(x, coef.tolist(), 0), rounding(float(np.abs(x) @ np.abs(coef)), 3)
            if score == 0:
                assert abs(true) <= 2 * bound
            else:
                assert (score > 0) == (true > 0)
                assert abs(score - true) <= bound
    assert np.all(linear_scores(plane, coef, 0.0) == 0)
    assert np.any(linear_scores(near, coef, 0.0) != 0)


def test_a_tie_belongs_to_the_first_label():
    s = cc.HardMarginSVM([[0.1], [0.7]], ["left", "right"]).solve()
    plane = -s.intercept / s.coef[0]
    spread = [plane * (1 + k * 2.0**-53) for k in (-1, 0, 1)]
    assert s.decision_function(np.array([spread]).T).tolist() == [0.0, 0.0, 0.0]
    assert s.predict(np.array([spread]).T).tolist() == ["left"] * 3
    assert s.predict([[plane - 1e-12], [plane + 1e-12]]).tolist() == ["left", "right"]


def test_the_first_of_several_classes_wins_a_tie():
    """Three rays from the origin, 120 degrees apart: on the bisectors two scores are equal, at the origin all three."""
    angles = np.radians([90, 210, 330])
    coef = np.column_stack([np.cos(angles), np.sin(angles)])
    bisectors = -np.outer([1.0, 2.0, 7.0], coef[0])  # between the second and the third
    scores = linear_scores(np.vstack([bisectors, np.zeros((1, 2))]), coef, np.zeros(3))
    assert scores.argmax(axis=1).tolist() == [1, 1, 1, 0]
    assert np.array_equal(scores[:, 1], scores[:, 2])
    assert np.all(scores[:3, 0] < scores[:3, 1])


def test_ties_are_made_equal_and_nothing_else():
    scores = np.array([[1.0, 1.0 + 1e-15, 0.5], [3.0, 2.0, 1.0]])
    out = settled(scores, np.full(scores.shape, 1e-15))
    assert out[0].tolist() == [1.0 + 1e-15, 1.0 + 1e-15, 0.5]
    assert np.array_equal(out[1], scores[1])
    assert settled(np.array([1e-16, -1e-16, 1e-3]), np.full(3, 1e-15)).tolist() == [0.0, 0.0, 1e-3]


def test_the_axes_are_on_the_boundary_of_the_kernel_machine_of_xor():
    s = cc.load("kernel_xor").solve()
    t = np.linspace(-2, 2, 41)
    assert np.all(s.decision_function(np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t, t])])) == 0)
    assert np.all(s.decision_function([[1e-3, 1e-3], [-1e-3, 1e-3]]) * [1, -1] != 0)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_scores_of_extreme_samples_do_not_warn(scale):
    rows = NEW[:5] / np.abs(NEW[:5]).max() * scale
    scores = linear_scores(rows, np.array([1.0, -1.0, 1e10]), 0.0)
    assert not np.any(np.isnan(scores))
    for x, score in zip(rows.tolist(), scores.tolist(), strict=True):
        true = truth(x, [1.0, -1.0, 1e10], 0)
        assert np.isinf(score) or abs(Fraction(score) - true) <= Fraction(1, 10**13) * abs(true) + Fraction(1, 10**320)


def test_an_estimator_predicts_a_batch_as_it_does_each_sample():
    """Integer data with many samples on the plane."""
    rng = np.random.default_rng(3)
    Z = rng.integers(-3, 4, size=(80, 4)).astype(float)
    y = np.where(Z @ [1, -2, 1, 1] > 0, "up", "down")
    keep = np.abs(Z @ [1, -2, 1, 1]) > 0
    model = cc.PerceptronClassifier(method="lp").fit(Z[keep], y[keep])
    whole = model.predict(Z)
    assert [model.predict(Z[i : i + 1])[0] for i in range(80)] == whole.tolist()
    scores = model.decision_function(Z)
    assert np.array_equal(whole == model.classes_[1], scores > 0)
