"""Kernel machines: against libsvm, cvxpy and the linear models, and what must not be accepted."""

from __future__ import annotations

import json
import sys
from collections import Counter
from fractions import Fraction

import cvxpy as cp
import mutated_answers
import numpy as np
import pytest
from click.testing import CliRunner
from datasets import SEPARABLE, overlapping
from flint import arb, ctx, fmpq
from scipy import sparse
from sklearn.metrics import pairwise
from sklearn.svm import SVC

import convexcls as cc
from convexcls import gallery
from convexcls.cli import main
from convexcls.data import DataError
from convexcls.models.kernels import Kernel, _dense
from convexcls.proofs.kkt.check import check_kkt
from convexcls.solve import accepting

RNG = np.random.default_rng(3)
RING = RNG.normal(size=(60, 2))
RING_Y = np.where((RING**2).sum(axis=1) + 0.4 * RNG.normal(size=60) > 1.4, "out", "in")
NEW = RNG.normal(size=(25, 2))
SIX, SIX_Y = SEPARABLE
SETTINGS = {
    "linear": {"kernel": "linear", "C": 0.5},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0, "C": 2.0},
    "quadratic": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.0, "C": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.7, "C": 1.0},
    "rbf, C large": {"kernel": "rbf", "gamma": 0.7, "C": 50.0},
    "sharp rbf": {"kernel": "rbf", "gamma": 5.0, "C": 1e3},
}
every_setting = pytest.mark.parametrize("setting", SETTINGS)


def solved(X, y, **setting) -> cc.Solution:
    solution = cc.KernelSVM(X, y, **setting).solve()
    assert solution.status == "optimal", solution.certificate.explain()
    return solution


# ---- against others ---------------------------------------------------------------------------------------------


@every_setting
def test_libsvm_agrees(setting):
    """libsvm keeps its kernel in single precision, so its own answer is good to about 1e-7."""
    setting = SETTINGS[setting]
    ours, theirs = solved(RING, RING_Y, **setting), SVC(tol=1e-10, **setting).fit(RING, RING_Y)
    alpha = np.zeros(len(RING_Y))
    alpha[theirs.support_] = theirs.dual_coef_[0]
    K = pairwise.pairwise_kernels(RING, metric=setting["kernel"], filter_params=True, **setting)
    objective = np.abs(alpha).sum() - 0.5 * alpha @ K @ alpha
    assert ours.objective == pytest.approx(objective, rel=1e-6)
    scores = theirs.decision_function(NEW)
    np.testing.assert_allclose(ours.decision_function(NEW), scores, atol=1e-6 * np.abs(scores).max())
    assert ours.intercept == pytest.approx(theirs.intercept_[0], abs=1e-6 * np.abs(scores).max())
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    assert set(ours.support) == set(theirs.support_)


def test_a_very_large_C_with_repeated_samples():
    solved(np.vstack([RING, RING]), np.tile(RING_Y, 2), kernel="rbf", gamma=5.0, C=1e6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [None, 0.8])
def test_cvxpy_written_by_hand_agrees(C, intercept):
    ours = solved(RING, RING_Y, kernel="rbf", gamma=3.0, C=C, intercept=intercept)
    y, n = np.where(RING_Y == "out", 1.0, -1.0), len(RING_Y)
    K = np.exp(-3.0 * ((RING[:, None] - RING[None]) ** 2).sum(axis=2))
    root = np.linalg.cholesky(K + 1e-15 * np.eye(n))
    a = cp.Variable(n)
    rules = [a >= 0] + [a <= C] * (C is not None) + [y @ a == 0] * intercept
    by_hand = cp.Problem(cp.Maximize(cp.sum(a) - 0.5 * cp.sum_squares(root.T @ cp.multiply(y, a))), rules)
    by_hand.solve(solver="CLARABEL", tol_gap_rel=1e-12, tol_gap_abs=1e-12, tol_feas=1e-12)
    assert ours.objective == pytest.approx(by_hand.value, rel=1e-8)
    np.testing.assert_allclose(ours.values["margin"], a.value, atol=1e-6 * np.abs(a.value).max())


def test_sample_weights_agree_with_libsvm():
    weights = np.arange(60) % 4 / 2.0  # some are zero
    ours = solved(RING, RING_Y, kernel="rbf", C=1.0, sample_weight=weights)
    theirs = SVC(kernel="rbf", gamma=1.0, C=1.0, tol=1e-10).fit(RING, RING_Y, sample_weight=weights)
    np.testing.assert_allclose(ours.decision_function(NEW), theirs.decision_function(NEW), atol=1e-6)
    assert np.abs(ours.values["margin"][weights == 0]).max() < 1e-15
    assert not set(ours.support) & set(np.flatnonzero(weights == 0))


def test_a_sample_of_tiny_weight_at_its_bound_is_a_support_point():
    X, y = overlapping()
    weights = np.where(np.arange(len(y)) < 20, 1.0, 1e-9)
    ours = solved(X, y, kernel="linear", C=0.5, sample_weight=weights)
    slack = ours.multipliers["slack"]
    assert np.any(slack[20:] > 1e-3)
    assert set(np.flatnonzero(slack > 1e-3)) <= set(ours.support)
    np.testing.assert_allclose(ours.margins, 1 + ours.multipliers["margin_sign"] - slack, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_linear_kernel_is_the_linear_model(intercept):
    X, y = overlapping()
    pairs = [
        (cc.SoftMarginSVM(X, y, C=0.7, intercept=intercept), solved(X, y, kernel="linear", C=0.7, intercept=intercept))
    ]
    A, b = (SIX, SIX_Y) if intercept else (np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -3.0]]), np.array([1, 1, 0]))
    pairs.append((cc.HardMarginSVM(A, b, intercept=intercept), solved(A, b, kernel="linear", intercept=intercept)))
    for linear, kernel in pairs:
        expected = linear.solve()
        assert kernel.objective == pytest.approx(expected.objective, rel=1e-10)
        np.testing.assert_allclose(kernel.coef, expected.coef, atol=1e-9)
        assert kernel.intercept == pytest.approx(expected.intercept, abs=1e-9)
        np.testing.assert_array_equal(kernel.support, expected.support)
        np.testing.assert_allclose(kernel.margins, expected.margins, atol=1e-9)
        np.testing.assert_allclose(kernel.geometric_margins, expected.geometric_margins, atol=1e-9)
        np.testing.assert_allclose(kernel.dual_coef, kernel.data.signs * kernel.values["margin"])


def test_the_linear_dual_is_the_mechanical_dual_with_its_square_multiplied_out():
    X, y = overlapping()
    mechanical, stated = cc.SoftMarginSVM(X, y, C=0.7).dual(), cc.KernelSVM(X, y, kernel="linear", C=0.7)
    assert mechanical.variables == stated.variables
    assert {c.name: c for c in mechanical.constraints} == {c.name: c for c in stated.constraints}
    for alpha in np.random.default_rng(0).uniform(size=(4, len(y))):
        assert stated.objective(alpha) == pytest.approx(mechanical.objective(alpha), rel=1e-12)


def test_heart_scale_to_nine_digits():
    known = gallery.entry("heart_scale").known
    data = gallery.entry("heart_scale").problem.data
    ours = solved(data.matrix, data.given, kernel="linear", C=1.0)
    assert abs(Fraction(ours.objective) / known.optimum.value - 1) < Fraction(1, 10**12)
    np.testing.assert_allclose(ours.coef, [float(c) for c in known.coef], atol=1e-10)
    assert tuple(ours.support) == known.support


# ---- the problem and its dual -----------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [None, 2.0])
def test_the_dual_is_the_primal_in_the_coefficients(C):
    problem = cc.KernelSVM(RING, RING_Y, kernel="rbf", gamma=5.0, C=C)
    dual, Q, y = problem.dual(), problem.quadratic["margin"].to_dense(), problem.data.signs
    assert dual.sense == "min"
    assert [v.name for v in dual.variables] == ["margin_copy", "intercept", *(["slack"] if C else [])]
    a, b, xi = RNG.normal(size=60), 0.3, RNG.uniform(size=60)
    x = np.concatenate([a, [b], *([xi] if C else [])])
    assert dual.objective(x) == pytest.approx(0.5 * a @ Q @ a + (C * xi.sum() if C else 0.0), rel=1e-13)
    (margin,) = [c for c in dual.constraints if c.name == "margin"]
    np.testing.assert_allclose(dual.rows(margin) @ x, -(Q @ a + y * b + (xi if C else 0.0)), rtol=1e-12)
    assert np.all(margin.rhs == -1.0)
    assert dual.dual() == problem
    assert r"\sum_k Q_{ik} \tilde{\alpha}_k + y_i \beta_0" in dual.latex()
    assert r"\tfrac12 \tilde{\alpha}^{\top} Q \tilde{\alpha}" in dual.latex()
    assert "Q need not be invertible, so α stays in the dual as a variable" in dual.explain()
    assert "Qᵢⱼ = yᵢ yⱼ k(xᵢ, xⱼ) with k(x, z) = exp(-5 ‖x - z‖²)" in problem.explain()
    assert "Σₖ Qᵢₖ αₖ + yᵢ β₀" in problem.explain()


@every_setting
def test_the_multipliers_are_intercept_slack_and_margins(setting):
    ours = solved(RING, RING_Y, **SETTINGS[setting])
    primal = ours.problem.dual().solve()
    assert primal.objective == pytest.approx(ours.objective, rel=1e-8)
    assert primal.values["intercept"][0] == pytest.approx(ours.multipliers["intercept"][0], abs=1e-6)
    np.testing.assert_allclose(primal.values["slack"], ours.multipliers["slack"], atol=1e-6)
    np.testing.assert_allclose(ours.margins, 1 + ours.multipliers["margin_sign"] - ours.multipliers["slack"], atol=1e-7)
    np.testing.assert_allclose(ours.multipliers["slack"], np.maximum(0, 1 - ours.margins), atol=1e-7)


@pytest.mark.parametrize("name", ["kernel_at_bound", "kernel_xor"])
def test_the_intercept_interval(name):
    known, ours = gallery.entry(name).known, cc.load(name).solve()
    wanted = known.intercept_interval or (known.intercept, known.intercept)
    np.testing.assert_allclose(ours.intercept_interval, [float(v) for v in wanted], atol=1e-9)


def test_the_intercept_interval_is_that_of_the_linear_model():
    linear = cc.load("soft_margin_all_at_bound")
    kernel = solved(linear.data.matrix, linear.data.given, kernel="linear", C=linear.parameters["C"])
    low, high = linear.solve().intercept_interval
    assert high > low + 0.1
    np.testing.assert_allclose(kernel.intercept_interval, (low, high), atol=1e-9)
    for b in (low, high):  # both ends are optimal: the slack takes up the difference
        margins = kernel.margins + kernel.data.signs * (b - kernel.intercept)
        multipliers = {
            "intercept": np.array([b]),
            "slack": np.maximum(0, 1 - margins),
            "margin_sign": np.maximum(0, margins - 1),
        }
        assert check_kkt(kernel.problem, kernel.x, multipliers).holds(1e-8)


# ---- prediction -------------------------------------------------------------------------------------------------


class Recording:
    """An RBF kernel that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []

    def __call__(self, A, B):
        self.asked.append(np.array(B))
        return np.exp(-0.7 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_prediction_asks_for_support_points_only():
    kernel = Recording()
    ours, named = solved(RING, RING_Y, kernel=kernel, C=1.0), solved(RING, RING_Y, kernel="rbf", gamma=0.7, C=1.0)
    assert 0 < ours.support.size < 60
    kernel.asked.clear()
    scores = ours.decision_function(NEW)
    (samples,) = kernel.asked
    np.testing.assert_array_equal(samples, RING[ours.support])
    np.testing.assert_allclose(scores, named.decision_function(NEW), atol=1e-12)
    assert ours.problem.parameters["kernel"] == "Recording"
    assert ours.certificate.summary()["parameters"]["kernel"] == "Recording"


def test_long_tables_are_scored_in_parts(monkeypatch):
    ours = solved(RING, RING_Y, kernel="rbf", C=1.0)
    whole = ours.decision_function(NEW)
    monkeypatch.setattr(sys.modules["convexcls.models.scorers"], "ROWS_PER_BLOCK", 4)
    np.testing.assert_allclose(ours.decision_function(NEW), whole, rtol=1e-13)
    assert ours.decision_function(NEW[:0]).shape == (0,)


def test_a_precomputed_kernel_is_the_kernel():
    K, between = pairwise.rbf_kernel(RING, gamma=0.7), pairwise.rbf_kernel(NEW, RING, gamma=0.7)
    named, given = solved(RING, RING_Y, kernel="rbf", gamma=0.7, C=1.0), solved(K, RING_Y, kernel="precomputed", C=1.0)
    np.testing.assert_allclose(given.decision_function(between), named.decision_function(NEW), atol=1e-9)
    np.testing.assert_allclose(given.margins, named.margins, atol=1e-9)
    np.testing.assert_array_equal(given.support, named.support)
    untouched = between.copy()
    untouched[:, np.setdiff1d(np.arange(60), given.support)] = 1e9  # not support points: not looked at
    np.testing.assert_array_equal(given.decision_function(untouched), given.decision_function(between))
    with pytest.raises(DataError, match=r"X has 2 columns, but .* k\(new row, training sample\), 60 columns"):
        given.predict(NEW)
    with pytest.raises(DataError, match="X has 3 columns, but the classifier was declared with 2"):
        named.predict(np.zeros((1, 3)))


def test_a_model_is_declared_again_on_some_of_its_samples():
    K = pairwise.rbf_kernel(RING, gamma=0.7)
    for problem, same in (
        (cc.KernelSVM(K, RING_Y, kernel="precomputed", C=1.0), solved(RING[5:], RING_Y[5:], gamma=0.7, C=1.0)),
        (cc.KernelSVM(RING, RING_Y, kernel=Recording(), C=1.0), solved(RING[5:], RING_Y[5:], gamma=0.7, C=1.0)),
    ):
        rest, held_out = problem.holding_out([0, 1, 2, 3, 4])
        np.testing.assert_allclose(
            rest.solve().decision_function(held_out), same.decision_function(RING[:5]), atol=1e-9
        )


def test_sparse_samples_give_the_same_answer():
    for setting in ("linear", "poly", "rbf"):
        dense = solved(RING, RING_Y, **SETTINGS[setting])
        other = solved(sparse.csr_array(RING), RING_Y, **SETTINGS[setting])
        assert other.objective == pytest.approx(dense.objective, rel=1e-10)
        np.testing.assert_allclose(
            other.decision_function(sparse.csr_array(NEW)), dense.decision_function(NEW), atol=1e-8
        )


def test_only_the_linear_kernel_has_coef():
    ours = solved(RING, RING_Y, kernel="rbf", C=1.0)
    with pytest.raises(cc.NoAnswer, match=r"rbf kernel has no coef.*\.dual_coef"):
        _ = ours.coef
    assert ours.dual_coef.sum() == pytest.approx(0.0, abs=1e-12)
    norm = np.sqrt(ours.dual_coef @ pairwise.rbf_kernel(RING, gamma=1.0) @ ours.dual_coef)
    np.testing.assert_allclose(ours.geometric_margins, ours.margins / norm)
    with pytest.raises(cc.NoAnswer, match="not stated in coefficients of the samples"):
        _ = cc.HardMarginSVM(SIX, SIX_Y).solve().dual_coef


@pytest.mark.parametrize("kernel", ["laplacian", "cosine", "chi2"])
def test_other_kernels_of_scikit_learn(kernel):
    X = np.abs(RING) + 0.1
    ours = solved(X, RING_Y, kernel=kernel, C=1.0, gamma=0.5)
    parameters = {} if kernel == "cosine" else {"gamma": 0.5}
    K = pairwise.pairwise_kernels(X, metric=kernel, **parameters)
    theirs = SVC(kernel="precomputed", C=1.0, tol=1e-10).fit(K, RING_Y)
    alpha = np.zeros(60)
    alpha[theirs.support_] = theirs.dual_coef_[0]
    assert ours.objective == pytest.approx(np.abs(alpha).sum() - 0.5 * alpha @ K @ alpha, rel=1e-6)
    low, high = ours.intercept_interval  # for the cosine more than a point
    assert low - 1e-6 <= theirs.intercept_[0] <= high + 1e-6
    scores = ours.decision_function(X) - ours.intercept
    np.testing.assert_allclose(
        scores, theirs.decision_function(K) - theirs.intercept_, atol=1e-6 * np.abs(scores).max()
    )


def test_far_from_the_origin_the_radial_kernel_keeps_its_digits():
    near = solved(RING, RING_Y, kernel="rbf", C=1.0)
    far = solved(RING + 2.0**20, RING_Y, kernel="rbf", C=1.0)  # squares of 1e6 would leave four digits of a distance
    assert far.objective == pytest.approx(near.objective, rel=1e-8)


# ---- what is refused --------------------------------------------------------------------------------------------


def test_an_indefinite_kernel_is_refused_with_its_eigenvalue():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(DataError, match=r"not positive semidefinite .* eigenvalue -1 \(the largest is 3\)"):
        cc.KernelSVM(K, [0, 1], kernel="precomputed")
    values = np.linalg.eigvalsh(np.tanh(RING @ RING.T))
    with pytest.raises(DataError, match=rf"sigmoid kernel .* eigenvalue {values[0]:.6g} .* {values[-1]:.6g}\)"):
        cc.KernelSVM(RING, RING_Y, kernel="sigmoid")
    with pytest.raises(DataError, match="additive_chi2 kernel is not positive semidefinite"):
        cc.KernelSVM(np.abs(RING), RING_Y, kernel="additive_chi2")
    almost = np.outer(SIX[:, 0], SIX[:, 0]) - 1e-8 * np.eye(6)
    with pytest.raises(DataError, match="if that is rounding, add 1e-08 to its diagonal"):
        cc.KernelSVM(almost, SIX_Y, kernel="precomputed")


def test_rounding_is_not_taken_for_indefiniteness():
    for n, d in ((50, 1), (400, 2)):
        X = np.random.default_rng(n).normal(size=(n, d)) * 1e3 + 1e4
        y = np.arange(n) % 2
        for setting in ({"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"kernel": "rbf"}):
            lowest = np.linalg.eigvalsh(cc.KernelSVM(X, y, C=1.0, **setting).quadratic["margin"].to_dense())[0]
            if setting["kernel"] != "rbf":
                assert lowest < 0  # what rounding left of a matrix of low rank


@pytest.mark.parametrize(
    ("X", "setting", "message"),
    [
        (SIX, {"kernel": "gauss"}, "kernel is 'gauss': choose one of 'linear', 'poly'"),
        (SIX, {"gamma": 0.0}, "gamma is 0.0: it must be a number above 0"),
        (SIX, {"gamma": "scale"}, "gamma is 'scale': it must be a number"),
        (SIX, {"kernel": "poly", "degree": -1}, "degree is -1"),
        (SIX, {"kernel": "poly", "coef0": np.nan}, "coef0 is nan"),
        (SIX, {"C": 0.0}, "C is 0.0"),
        (SIX, {"intercept": 1}, "intercept is 1"),
        (SIX, {"sample_weight": np.ones(6)}, "sample_weight multiplies C, and the hard margin has none"),
        (SIX, {"kernel": "precomputed"}, "square matrix, one row and one column a sample; X is 6 x 2"),
        (np.triu(np.ones((6, 6))), {"kernel": "precomputed"}, "it is 1 for rows 0 and 1, and 0 for rows 1 and 0"),
        (SIX, {"kernel": lambda A, B: A @ B.T + np.arange(6.0)}, "not symmetric: it is .* for rows"),
        (SIX, {"kernel": lambda a, b: 1.0}, r"gave float64 of shape \(\) for 6 and 6 rows.*lambda A, B"),
        (SIX, {"kernel": lambda A, B: np.full((6, 6), "x")}, "it must give numbers"),
        (SIX, {"kernel": lambda A, B: np.where(np.eye(6) > 0, np.inf, 0.0)}, "row 0 and sample 0 is inf"),
        (SIX * 1e200, {"kernel": "linear"}, "linear kernel of row 0 and sample 0 is inf: divide X by its largest"),
        (-np.abs(SIX), {"kernel": "chi2"}, "chi2 kernel does not take these samples: .*negative"),
    ],
)
def test_what_cannot_be_meant_is_refused(X, setting, message):
    with pytest.raises(ValueError, match=message):
        cc.KernelSVM(X, SIX_Y, **setting)


def test_without_scikit_learn_two_kernels_work_and_others_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.metrics.pairwise", None)
    for kernel in ("linear", "rbf"):
        assert cc.KernelSVM(SIX, SIX_Y, kernel=kernel).solve().status == "optimal"
    with pytest.raises(ImportError, match=r"laplacian kernel is scikit-learn's.*pip install 'convexcls\[sklearn\]'"):
        cc.KernelSVM(SIX, SIX_Y, kernel="laplacian")


def test_the_callers_arrays_are_left_alone():
    X, K = RING.copy(), pairwise.rbf_kernel(RING)
    before = K.copy()
    solved(X, RING_Y, kernel="rbf", C=1.0).predict(X)
    solved(K, RING_Y, kernel="precomputed", C=1.0).predict(K)
    np.testing.assert_array_equal(X, RING)
    np.testing.assert_array_equal(K, before)


# ---- no maximum -------------------------------------------------------------------------------------------------


def test_the_same_point_in_both_classes_is_told_apart_by_no_kernel():
    X = np.vstack([RING[:40], RING[7]])
    y = np.append(RING_Y[:40], "in" if RING_Y[7] == "out" else "out")
    for setting in ({"kernel": "rbf"}, {"kernel": "poly", "coef0": 1.0}, {"kernel": "linear"}, {"intercept": False}):
        problem = cc.KernelSVM(X, y, **setting)
        solution = problem.solve()
        assert solution.status == "unattained", setting
        d = solution.certificate.direction.x
        assert d.min() >= 0 < d.sum()
        assert np.abs(problem.quadratic["margin"] @ d).max() <= 1e-12 * np.abs(d).sum()
        text = solution.certificate.explain()
        assert "has no upper bound" in text
        assert "No hyperplane in the feature space of the kernel separates the classes" in text
    for info in accepting(cc.KernelSVM(X, y)):
        assert cc.KernelSVM(X, y).solve(info.name).status == "unattained", info.name


@pytest.mark.parametrize("intercept", [True, False])
def test_the_linear_kernel_knows_when_hulls_meet(intercept):
    """The verdict of the linear hard margin, and never the opposite."""
    told = {"optimal": 0, "unattained": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(12, 3)), np.arange(12) % 2
        truth = cc.HardMarginSVM(X, y, intercept=intercept).solve().status
        assert truth in ("optimal", "infeasible")
        found = cc.KernelSVM(X, y, kernel="linear", intercept=intercept).solve().status
        assert found == {"optimal": "optimal", "infeasible": "unattained"}[truth], seed
        told[found] += 1
    assert min(told.values()) > 0


@pytest.mark.parametrize(("n", "gamma"), [(10, 0.01), (20, 0.1), (60, 1.0)])
def test_a_matrix_that_is_singular_to_rounding_proves_nothing(n, gamma):
    """Different points are independent in the feature space of the radial kernel, so a maximum exists; where it is
    beyond doubles, the verdict is open."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.uniform(-1, 1, size=(n, 1)), rng.permutation(np.arange(n) % 2)
        problem = cc.KernelSVM(X, y, kernel="rbf", gamma=gamma)
        assert problem.solve("clarabel").status in ("optimal", "undecided")


def test_a_rational_kernel_is_judged_in_rationals():
    """Whole numbers: XOR with the linear kernel plus one, as a matrix without a root."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    solution = cc.KernelSVM(X @ X.T + 1.0, [0, 0, 1, 1], kernel="precomputed").solve()
    assert solution.status == "unattained"
    np.testing.assert_allclose(solution.certificate.direction.x, solution.certificate.direction.x[0])


# ---- mutations and metamorphoses --------------------------------------------------------------------------------

KERNELS = {
    "rbf": lambda X, y: cc.KernelSVM(X, y, kernel="rbf", gamma=0.5),
    "rbf, C": lambda X, y: cc.KernelSVM(X, y, kernel="rbf", gamma=0.5, C=0.5),
    "poly, through 0": lambda X, y: cc.KernelSVM(X, y, kernel="poly", degree=2, coef0=1.0, C=0.25, intercept=False),
    "linear, C": lambda X, y: cc.KernelSVM(X, y, kernel="linear", C=1.0),
}


class InMargins(mutated_answers.Definition):
    """The multipliers of a Wolfe dual are margins: the cost of alpha, one, is their unit where all are smaller."""

    def dual_error(self, x, multipliers):
        return super().dual_error(x, {**multipliers, "cost of alpha": np.ones(1)})


@pytest.mark.parametrize("solver", ["auto", "osqp", "cvxpy:CLARABEL", "dual:clarabel"])
@pytest.mark.parametrize("name", KERNELS)
def test_mutations_of_accepted_answers_are_refused(name, solver, monkeypatch):
    monkeypatch.setitem(mutated_answers.MODELS, name, KERNELS[name])
    monkeypatch.setattr(mutated_answers, "Definition", InMargins)
    total = Counter()
    for data in mutated_answers.SETS:
        counts, fooled = mutated_answers.judge(name, data, solver)
        assert not fooled, "\n".join(fooled)
        total += counts
    assert total["refused"] > max(total["accepted"], 100), total


def assert_same_classifier(new: cc.Solution, old: cc.Solution, X=NEW, sign: float = 1.0) -> None:
    assert new.objective == pytest.approx(old.objective, rel=1e-9)
    np.testing.assert_allclose(sign * new.decision_function(X), old.decision_function(NEW), atol=1e-8)


@every_setting
def test_order_labels_and_copies(setting):
    setting = SETTINGS[setting]
    old = solved(RING, RING_Y, **setting)
    order = np.random.default_rng(0).permutation(60)
    shuffled = solved(RING[order], RING_Y[order], **setting)
    assert_same_classifier(shuffled, old)
    np.testing.assert_array_equal(np.sort(order[shuffled.support]), old.support)
    swapped = solved(RING, np.where(RING_Y == "in", 1, 0), **setting)  # in was the first label, now it is the second
    assert_same_classifier(swapped, old, sign=-1.0)
    twice = solved(np.vstack([RING, RING[:9]]), np.append(RING_Y, RING_Y[:9]), **setting)
    weights = np.where(np.arange(60) < 9, 2.0, 1.0)
    assert_same_classifier(solved(RING, RING_Y, sample_weight=weights, **setting), twice)


@pytest.mark.parametrize("e", [-20, 3, 12])
def test_other_units(e):
    s = 2.0**e
    radial = {"kernel": "rbf", "C": 1.0}
    assert_same_classifier(
        solved(RING * s, RING_Y, gamma=0.5 / s**2, **radial), solved(RING, RING_Y, gamma=0.5, **radial), NEW * s
    )
    old = solved(RING, RING_Y, kernel="poly", degree=2, coef0=0.0, C=1.0)
    new = solved(RING * s, RING_Y, kernel="poly", degree=2, coef0=0.0, C=1.0 / s**4)  # k grows by s^4, so alpha shrinks
    assert new.objective * s**4 == pytest.approx(old.objective, rel=1e-9)
    np.testing.assert_allclose(new.decision_function(NEW * s), old.decision_function(NEW), atol=1e-8)


# ---- the command line -------------------------------------------------------------------------------------------


def test_the_command_line(tmp_path):
    rows = "\n".join(f"{a},{b},{label}" for (a, b), label in zip(RING, RING_Y, strict=True))
    (tmp_path / "ring.csv").write_text(f"x1,x2,y\n{rows}\n", encoding="utf-8")
    settings = ["--param", "kernel=rbf", "--param", "gamma=0.7", "--param", "C=1"]
    arguments = [str(tmp_path / "ring.csv"), "--target", "y", "--model", "kernel", *settings]
    ours = solved(RING, RING_Y, kernel="rbf", gamma=0.7, C=1.0)
    text = CliRunner().invoke(main, ["solve", *arguments]).output
    assert f"{ours.support.size} of 60 rows, counted from 0" in text
    assert "kernel=rbf, C=1.0, gamma=0.7" in text
    assert "support point" in text
    found = json.loads(CliRunner().invoke(main, ["solve", "--json", *arguments]).output)
    assert found["support"] == ours.support.tolist()
    assert found["intercept"] == pytest.approx(ours.intercept)
    assert found["coef"][f"row {ours.support[0]}"] == pytest.approx(ours.dual_coef[ours.support[0]])
    shown = CliRunner().invoke(main, ["show", *arguments, "--dual"]).output
    assert "Σₖ Qᵢₖ α̃ₖ + yᵢ β₀ + ξᵢ ≥ 1" in shown
    refused = CliRunner().invoke(main, ["solve", *arguments[:5], "--param", "kernel=sigmoid"])
    assert refused.exit_code == 2
    assert "eigenvalue" in refused.output


def test_an_objective_that_doubles_cannot_measure_is_told_as_proved():
    """The kernel's values, 1 + x x', are near the largest double, so that products with multipliers overflow."""
    X, y = [[3e150], [-1e150], [1e150], [0.0], [-1e150], [1e150], [-4e150]], [1, 1, 1, 0, 0, 1, 0]
    s = cc.KernelSVM(X, y, kernel="poly", C=10.0, degree=1, coef0=1.0, gamma=1.0).solve()
    exact = cc.KernelSVM(X, y, kernel="poly", C=10.0, degree=1, coef0=1.0, gamma=1.0).solve(level="exact")
    assert s.status == exact.status == "optimal"
    assert s.objective == pytest.approx(float(exact.certificate.optimum), rel=1e-8)


# ---- how far values may be off ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("gamma", [1e-3, 0.05, 3.0])
def test_values_by_products_are_within_what_is_said_of_them(storage, gamma):
    """Against balls of 200 bits. One sample is far away: what is said of pairs without it hardly changes."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(520, 12))
    near = Kernel("rbf", gamma=gamma).blur(X, False)[0]
    X[0] += 40.0
    X = X if storage == "dense" else sparse.csr_array(X)
    kernel = Kernel("rbf", gamma=gamma)
    blur = kernel.blur(X, False)
    s, e, heights = blur[:3]
    values = kernel.between(X, X)
    samples = [[fmpq(*v.as_integer_ratio()) for v in row] for row in _dense(X).tolist()]
    for i, j in [(0, 0), (0, 1), (0, 519), *rng.integers(0, 520, (300, 2)).tolist()]:
        distance = sum((u - v) ** 2 for u, v in zip(samples[i], samples[j], strict=True))
        with ctx.workprec(200):
            exact = (-arb(fmpq(*gamma.as_integer_ratio()) * distance)).exp()
            off = abs(exact - arb(values[i, j]))
            assert off <= s[i] * s[j] + e * e
            assert off <= blur.flat + (blur.least + blur.tilt * (heights[i] + heights[j])) * values[i, j]
    if storage == "dense":
        assert np.median(s) < 2.0 * np.median(near)
        assert s[0] > 3.0 * s[1]
