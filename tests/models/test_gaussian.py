"""Gaussian classes: closed form and log-determinant program, moments, posteriors, and where no maximum exists."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal

import convexcls as cc
from convexcls.losses import LogDet
from convexcls.losses.log_det import lower_triangle
from convexcls.proofs.claims.direction import check_direction
from convexcls.proofs.verdict import certify

pytestmark = pytest.mark.by_block


def three_classes(mixing: np.ndarray, n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 3)) @ mixing + rng.normal(size=(3, 3))[y], y


X, Y = three_classes(np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.5], [0.3, 0.0, 1.0]]))
#: A combination of the features that hardly varies within the classes.
HARD, _ = three_classes(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.02]]))
COVARIANCES = ("shared", "by-class")


def by_hand(X, y, covariance, unbiased, weights=None):
    """Means, covariances and minus the log-likelihood, by the textbook."""
    w = np.ones(len(y)) if weights is None else weights
    K, d = int(y.max()) + 1, X.shape[1]
    means = np.array([np.average(X[y == k], axis=0, weights=w[y == k]) for k in range(K)])
    scatters = np.array([((X - means[k]).T * (w * (y == k))) @ (X - means[k]) for k in range(K)])
    counts = np.array([w[y == k].sum() for k in range(K)])
    if covariance == "shared":
        sigma = scatters.sum(axis=0) / (counts.sum() - K * unbiased)
        divisor = counts.sum() - K * unbiased
        loss = 0.5 * (np.trace(np.linalg.solve(sigma, scatters.sum(axis=0))) + divisor * np.linalg.slogdet(sigma)[1])
        return means, sigma, loss + 0.5 * divisor * d * np.log(2 * np.pi)
    sigma = scatters / (counts - unbiased)[:, None, None]
    loss = sum(
        0.5 * (np.trace(np.linalg.solve(s, t)) + (c - unbiased) * (np.linalg.slogdet(s)[1] + d * np.log(2 * np.pi)))
        for s, t, c in zip(sigma, scatters, counts, strict=True)
    )
    return means, sigma, loss


# ---- the loss ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("halved", [False, True])
def test_log_det_derivatives_and_conjugate(halved):
    loss, rng = LogDet(3, halved), np.random.default_rng(0)
    i, j = lower_triangle(3)
    half = rng.normal(size=(3, 3))
    matrix = half @ half.T + np.eye(3)
    u = np.where(i == j, 1.0, 2.0 if halved else 1.0) * matrix[i, j]
    assert loss.value(u)[0] == pytest.approx(-np.log(np.linalg.det(matrix)) - 3 * halved, rel=1e-13)
    step = 1e-6
    for k in range(6):
        nudge = step * np.eye(6)[k]
        change = (loss.value(u + nudge)[0] - loss.value(u - nudge)[0]) / (2 * step)
        assert change == pytest.approx(loss.slope(u)[k], rel=1e-7, abs=1e-8)
        change = (loss.slope(u + nudge) - loss.slope(u - nudge)) / (2 * step)
        np.testing.assert_allclose(change, loss.curvature(u)[0][k], rtol=1e-6, atol=1e-8)
    tight = -loss.slope(u)
    assert loss.value(u)[0] + loss.conjugate.value(tight)[0] == pytest.approx(-tight @ u, rel=1e-12)
    other = tight * rng.uniform(0.9, 1.1, size=6)
    assert loss.value(u)[0] + loss.conjugate.value(other)[0] > -other @ u
    assert loss.conjugate.conjugate == loss
    assert loss.value(-u)[0] == np.inf
    assert not loss.inside(-u)


# ---- both ways give the textbook's answer ------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, 0.5 + np.arange(60) % 4])
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("solver", ["auto", "newton-kkt", "cvxpy:CLARABEL"])
def test_the_estimates(solver, covariance, unbiased, weights):
    p = cc.GaussianMLE(X, Y, covariance=covariance, unbiased=unbiased, sample_weight=weights)
    tight = solver != "cvxpy:CLARABEL"
    s = p.solve(solver, tol=1e-8 if tight else 1e-5)
    assert s.status == "optimal", s.certificate.reason
    means, sigma, loss = by_hand(X, Y, covariance, unbiased, weights)
    assert s.objective == pytest.approx(loss, rel=1e-11 if tight else 1e-7)
    tol = 1e-9 if tight else 1e-3
    np.testing.assert_allclose(s.estimates.means, means, rtol=tol, atol=tol)
    np.testing.assert_allclose(s.estimates.covariance, sigma, rtol=tol, atol=tol)


@pytest.mark.parametrize("solver", ["moments", "newton-kkt"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_nearly_constant_combinations(covariance, solver):
    """Conditions of some thousands: our own solvers do not mind."""
    p = cc.GaussianMLE(HARD, Y, covariance=covariance)
    s = p.solve(solver)
    assert s.status == "optimal", s.certificate.reason
    assert np.linalg.cond(s.estimates.covariance).max() > 1000
    # the objective is what is left of terms of about 165 and -160, with a condition of 1e5 behind the second
    assert s.objective == pytest.approx(by_hand(HARD, Y, covariance, False)[2], abs=165 * 1e-11)
    if covariance == "shared":
        assert p.dual().solve("newton-kkt").status == "optimal"


def test_the_formula_is_the_first_choice():
    assert cc.GaussianMLE(X, Y).solve().solver == "moments"


def test_the_objective_is_minus_the_log_likelihood():
    s = cc.GaussianMLE(X, Y).solve()
    e = s.estimates
    total = sum(multivariate_normal(e.means[k], e.covariance).logpdf(X[k == Y]).sum() for k in range(3))
    assert s.objective == pytest.approx(-total, rel=1e-12)


def test_the_dual_is_the_moments():
    p = cc.GaussianMLE(X, Y)
    dual = p.dual()
    assert dual.dual() == p
    s = dual.solve()
    assert s.status == "optimal"
    assert s.objective == pytest.approx(p.solve().objective, rel=1e-12)
    z = np.hstack([X - X.mean(axis=0), np.eye(3)[Y]])
    i, j = lower_triangle(6)
    np.testing.assert_allclose(s.values["determinant"], np.where(i == j, 0.5, 1.0) * (z.T @ z)[i, j], atol=1e-8)
    assert s.primal().status == "optimal"


# ---- posteriors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("classes", [2, 3])
def test_posteriors_follow_from_bayes(classes, covariance, unbiased):
    x, y = X[classes > Y], Y[classes > Y]
    s = cc.GaussianMLE(x, y, covariance=covariance, unbiased=unbiased).solve()
    means, sigma, _ = by_hand(x, y, covariance, unbiased)
    densities = [
        np.mean(y == k) * multivariate_normal(means[k], sigma if sigma.ndim == 2 else sigma[k]).pdf(x)
        for k in range(classes)
    ]
    posteriors = np.column_stack(densities) / np.sum(densities, axis=0)[:, None]
    np.testing.assert_allclose(s.predict_proba(x), posteriors, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(s.predict(x), posteriors.argmax(axis=1))


def test_against_scikit_learn():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

    linear = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, Y)
    s = cc.GaussianMLE(X, Y).solve()
    np.testing.assert_allclose(s.estimates.covariance, linear.covariance_, rtol=1e-10)
    np.testing.assert_allclose(s.predict_proba(X), linear.predict_proba(X), rtol=1e-8, atol=1e-12)
    quadratic = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, Y)
    t = cc.GaussianMLE(X, Y, covariance="by-class").solve()
    scale = np.array(quadratic.covariance_) / t.estimates.covariance  # its releases divide by n_k or by n_k - 1
    unbiased = bool(np.allclose(scale, 20 / 19))
    t = cc.GaussianMLE(X, Y, covariance="by-class", unbiased=unbiased).solve()
    np.testing.assert_allclose(t.predict_proba(X), quadratic.predict_proba(X), rtol=1e-8, atol=1e-12)


def test_two_classes_have_a_logistic_posterior():
    x, y = X[Y < 2], Y[Y < 2]
    s = cc.GaussianMLE(x, y).solve()
    means, sigma, _ = by_hand(x, y, "shared", False)
    np.testing.assert_allclose(s.coef, np.linalg.solve(sigma, means[1] - means[0]), rtol=1e-9)
    np.testing.assert_allclose(s.decision_function(x), x @ s.coef + s.intercept, rtol=1e-9, atol=1e-10)
    odds = s.predict_proba(x)
    np.testing.assert_allclose(np.log(odds[:, 1] / odds[:, 0]), s.decision_function(x), rtol=1e-8, atol=1e-9)
    fisher = cc.FisherLDA(x, y).solve()
    np.testing.assert_allclose(s.coef / np.linalg.norm(s.coef), fisher.coef / np.linalg.norm(fisher.coef), rtol=1e-9)


def test_quadratic_discriminants_have_no_coef():
    s = cc.GaussianMLE(X, Y, covariance="by-class").solve()
    with pytest.raises(cc.NoAnswer, match="quadratic"):
        _ = s.coef
    with pytest.raises(cc.NoAnswer, match="quadratic"):
        _ = s.intercept
    with pytest.raises(cc.NoAnswer, match="means or covariances"):
        _ = cc.LogisticMLE(X[Y < 2], Y[Y < 2], l2=1.0).solve().estimates


# ---- where no maximum exists -------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_repeated_column_has_no_likelihood(covariance):
    whole = np.round(8 * X)
    p = cc.GaussianMLE(np.column_stack([whole, whole[:, 0] - 2 * whole[:, 1]]), Y, covariance=covariance)
    for solver in ("auto", "newton-kkt"):
        s = p.solve(solver)
        assert s.status == "unattained"
        assert "does not vary" in s.certificate.explain()
        assert check_direction(p, s.certificate.direction.x) is not None


def test_too_few_samples():
    x, y = X[:5], np.array([0, 0, 0, 1, 1])
    assert cc.GaussianMLE(x, y).solve().status == "optimal"  # 5 samples less 2 means, 3 features: just enough
    assert cc.GaussianMLE(x[:4], y[:4]).solve().status == "unattained"
    assert cc.GaussianMLE(x, y, covariance="by-class").solve().status == "unattained"
    with pytest.raises(cc.DataError, match="too few samples"):
        cc.GaussianMLE(x[[0, 1, 3]], y[[0, 1, 3]], covariance="by-class", unbiased=True)


def test_nearly_repeated_columns_are_not_called_repeated():
    near = np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1] ** 2])
    assert cc.GaussianMLE(near, Y).solve().status != "unattained"


def test_no_false_direction():
    p = cc.GaussianMLE(X, Y)
    assert p.candidate_directions() == []
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert check_direction(p, rng.normal(size=p.size)) is None


# ---- what the core's models pass, too ----------------------------------------------------------------------


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_every_nudge_is_refused(covariance):
    p = cc.GaussianMLE(X, Y, covariance=covariance)
    s = p.solve()
    for k in range(p.size):
        for sign in (1, -1):
            moved = s.x.copy()
            moved[k] += sign * 1e-4 * max(abs(moved[k]), 1e-2)
            assert certify(p, moved, {}, 1e-8).status == "undecided", k
    assert certify(p, -s.x, {}, 1e-8).status == "undecided"
    assert certify(p, 1.0001 * s.x, {}, 1e-8).status == "undecided"


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_changes_of_the_data(covariance):
    s = cc.GaussianMLE(X, Y, covariance=covariance).solve()
    order = np.random.default_rng(2).permutation(len(Y))
    permuted = cc.GaussianMLE(X[order], Y[order], covariance=covariance).solve()
    np.testing.assert_allclose(permuted.estimates.covariance, s.estimates.covariance, rtol=1e-9, atol=1e-10)
    renamed = np.array([2, 0, 1])
    other = cc.GaussianMLE(X, renamed[Y], covariance=covariance).solve()
    np.testing.assert_allclose(other.estimates.means[renamed], s.estimates.means, rtol=1e-9, atol=1e-10)
    scaled = cc.GaussianMLE(X * 1024.0, Y, covariance=covariance).solve()
    np.testing.assert_allclose(scaled.estimates.covariance / 1024.0**2, s.estimates.covariance, rtol=1e-9, atol=1e-10)
    assert scaled.objective == pytest.approx(s.objective + X.size * np.log(1024.0), rel=1e-11)
    doubled = cc.GaussianMLE(np.vstack([X, X]), np.tile(Y, 2), covariance=covariance).solve()
    np.testing.assert_allclose(doubled.estimates.covariance, s.estimates.covariance, rtol=1e-9, atol=1e-10)
    moved = cc.GaussianMLE(X + 1e4, Y, covariance=covariance).solve()
    assert moved.status == "optimal"
    np.testing.assert_allclose(moved.estimates.covariance, s.estimates.covariance, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(moved.estimates.means - 1e4, s.estimates.means, rtol=1e-8, atol=1e-8)


def test_features_of_very_different_size():
    sizes = np.array([1e5, 1.0, 1e-5])
    s, plain = cc.GaussianMLE(X * sizes, Y).solve(), cc.GaussianMLE(X, Y).solve()
    assert s.status == "optimal"
    np.testing.assert_allclose(s.estimates.covariance / np.outer(sizes, sizes), plain.estimates.covariance, rtol=1e-8)


def test_sparse_samples_and_what_is_said():
    s = cc.GaussianMLE(sparse.csr_array(X), Y).solve()
    np.testing.assert_allclose(s.predict_proba(X), cc.GaussianMLE(X, Y).solve().predict_proba(X), rtol=1e-10)
    assert "divided by n (maximum" in cc.GaussianMLE(X, Y).explain()
    assert "n - K = n - 3" in cc.GaussianMLE(X, Y, unbiased=True).explain()
    assert "n_k - 1" in cc.GaussianMLE(X, Y, covariance="by-class", unbiased=True).solve().estimates.divisor
    with pytest.raises(ValueError, match="covariance"):
        cc.GaussianMLE(X, Y, covariance="diagonal")
    with pytest.raises(cc.DataError, match="overflow"):
        cc.GaussianMLE(X * 1e200, Y)


def test_a_combination_that_varies_in_the_last_bits_is_not_called_constant():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2**20, 20_000) / 2.0**20, rng.integers(0, 2, 20_000) * 2.0**-44
    x, y = np.column_stack([a, a + b, rng.integers(0, 8, (20_000, 2))]), rng.integers(0, 2, 20_000)
    assert cc.GaussianMLE(x, y).solve().status == "undecided"
    assert cc.GaussianMLE(np.column_stack([x, 2 * a]), y).solve().status == "unattained"


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1])
def test_a_constant_feature_has_no_likelihood(constant):
    assert cc.GaussianMLE(np.column_stack([X, np.full(60, constant)]), Y).solve().status == "unattained"


def test_two_classes_in_the_plane_have_a_conic():
    x, y = X[Y < 2][:, :2], Y[Y < 2]
    s = cc.GaussianMLE(x, y, covariance="by-class").solve()
    boundary = cc.conic(s)
    assert np.abs(s.decision_function(boundary.points(50))).max() < 1e-9
    np.testing.assert_allclose(boundary(x), s.decision_function(x), rtol=1e-9, atol=1e-9)
    assert cc.conic(cc.GaussianMLE(x, y).solve()).kind == "line"


def test_a_precision_that_doubles_do_not_hold():
    """The features differ by 1e-15 of themselves: the optimum is known, but of the precision, near 1e30, doubles keep
    nothing that could be inverted."""
    eps = 2.0**-52
    first = [1.0, 0.5, 0.25, -1.0, -0.5, 0.75]
    X = [[a, a * (1 + k * eps)] for a, k in zip(first, (1, 3, 0, 2, 5, 1), strict=True)]
    s = cc.GaussianMLE(X, [0, 0, 0, 1, 1, 1]).solve(level="exact")
    assert s.status == "optimal"
    for read in (lambda: s.estimates, lambda: s.predict(X), lambda: s.intercept):
        with pytest.raises(cc.NoAnswer, match="leave one of them out"):
            read()
    assert "OPTIMAL" in s.explain()


def test_two_equal_features_are_no_optimum_though_rounding_says_so():
    X, y = (
        [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]],
        [1, 1, 1, 0, 0, 1],
    )
    assert cc.GaussianMLE(X, y).solve().status == "unattained"


def test_features_far_from_units():
    """Coefficients of features 1e18 times as large are as many times smaller: the precision matrix has entries from
    1e-39 to 1, in which elimination with pivots loses whole rows."""
    X = [[29, 39], [35, 10], [-8, 16], [-42, -21], [29, 15], [-43, 15], [27, 7], [-22, 21], [-32, -42], [-16, -7]]
    X, y = np.array([*X, [39, -31]], dtype=float), [1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1]
    near, far = cc.GaussianMLE(X, y).solve(), cc.GaussianMLE(X * 1e18, y).solve()
    assert near.status == far.status == "optimal"
    np.testing.assert_allclose(far.coef * 1e18, near.coef, rtol=1e-7)


def test_large_pivots_show_what_the_basis_of_the_columns_shows():
    rng = np.random.default_rng(4)
    seen = set()
    for near in (1.0, 1e-1, 1e-2, 1e-4, 1e-7, 0.0):
        X = rng.normal(size=(30, 3))
        X[:, 2] = X[:, 0] - X[:, 1] + near * X[:, 2]
        (part,) = cc.GaussianMLE(X, np.arange(30) % 3).parts
        columns = part.columns
        condition = np.inf if columns is None or columns.others.size else columns.condition
        assert not part._has_fair_condition or condition <= 1e6
        seen.add(part._has_fair_condition)
    assert seen == {True, False}
